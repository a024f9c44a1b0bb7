# SPDX-License-Identifier: Apache-2.0
"""Time limits that grow with the machine's load.

A limit ends what hangs. It is given in seconds of a quiet machine; where other programs want the
processors too, a second counts for less. `make test` itself keeps USUAL processes runnable per
processor, which the limits already allow for.
"""

from __future__ import annotations

import os
import time

USUAL = 2.0
LONGEST = 8.0  # a limit grows no further: what hangs must end
# A load average follows a burst of a few seconds late, and does not show processors that the
# machine's host takes away. A wait that succeeds never uses this reserve.
RESERVE = 3.0


def processors() -> int:
    return len(os.sched_getaffinity(0))


def factor(load: float | None = None) -> float:
    """How many times longer than on a quiet machine work may take now: 1 to LONGEST.

    load is the load average of the last minute, read from the kernel unless given.
    """
    if load is None:
        load = os.getloadavg()[0]
    return min(LONGEST, max(1.0, load / (USUAL * processors())))


def seconds(quiet: float) -> float:
    """The limit of one wait, of `quiet` seconds on a quiet machine."""
    return quiet * RESERVE * factor()


def reason() -> str:
    """The measured values behind factor(), for messages."""
    return f"load average {os.getloadavg()[0]:.1f} on {processors()} processors"


class Limit:
    """A limit of so many seconds of a quiet machine, from now on."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.start = self._last = time.monotonic()
        self._used = 0.0

    def over(self) -> bool:
        """Whether the limit has passed. Call it regularly: the time since the last call counts
        by the load of now."""
        now = time.monotonic()
        self._used += (now - self._last) / factor()
        self._last = now
        return self._used > self.seconds

    def elapsed(self) -> float:
        return time.monotonic() - self.start
