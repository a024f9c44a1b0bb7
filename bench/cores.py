# SPDX-License-Identifier: Apache-2.0
"""How busy each processor was, interrupts included, from /proc/stat.

A process's own CPU time leaves out what its packets cost in interrupts that other processes were
charged with. With each end of a link on a processor of its own, the processor's time is the end's.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_IDLE, _IOWAIT = 3, 4
_GUEST = 8  # from here on: counted in user time already


def parse(text: str) -> dict[int, float]:
    """Return the busy seconds of each processor since the start of the machine, from /proc/stat."""
    found = {}
    for line in text.splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdecimal():
            ticks = [int(f) for f in fields[:_GUEST]]
            found[int(name[3:])] = (sum(ticks) - ticks[_IDLE] - ticks[_IOWAIT]) / _TICKS_PER_S
    return found


@dataclass(frozen=True)
class Busy:
    """A moment, and the busy seconds of each processor until then."""

    at: float
    seconds: dict[int, float]

    def share(self, earlier: Busy, core: int) -> float:
        """Return the busy share of a processor since then, 0 to 1."""
        elapsed = self.at - earlier.at
        spent = self.seconds[core] - earlier.seconds[core]
        return max(0.0, min(1.0, spent / elapsed)) if elapsed > 0 else 0.0


def now() -> Busy:
    return Busy(time.monotonic(), parse(Path("/proc/stat").read_text()))


class Watch:
    """Reads the processors' times every 20 ms for the time of a `with`."""

    EVERY = 0.02

    def __init__(self) -> None:
        self.moments: list[Busy] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        while not self._stop.is_set():
            self.moments.append(now())
            self._stop.wait(self.EVERY)
        self.moments.append(now())

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stop.set()
        self._thread.join()

    def share(self, core: int, length: float, before_end: float) -> float:
        """Return the busy share of a processor in a window of `length` seconds that ends
        `before_end` seconds before the end; at least between two readings."""
        end = self.moments[-1].at - before_end
        within = [m for m in self.moments if end - length <= m.at <= end]
        if len(within) < 2:
            within = self.moments
        return within[-1].share(within[0], core)
