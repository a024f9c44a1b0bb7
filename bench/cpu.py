# SPDX-License-Identifier: Apache-2.0
"""CPU time of a process, as the kernel accounts it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class CpuTime:
    """Seconds that all threads of a process have run, in its own code and in the kernel."""

    user: float
    system: float

    @property
    def total(self) -> float:
        return self.user + self.system

    def __sub__(self, earlier: CpuTime) -> CpuTime:
        return CpuTime(self.user - earlier.user, self.system - earlier.system)

    def __add__(self, other: CpuTime) -> CpuTime:
        return CpuTime(self.user + other.user, self.system + other.system)


def of(pid: int) -> CpuTime:
    """Until now, from /proc/PID/stat: exact in sum, in steps of one tick (10 ms).

    How the sum divides into user and system is sampled by the kernel at its timer interrupt, so a
    measurement must last thousands of ticks' worth of samples in all.
    """
    # The name in parentheses may hold anything, spaces too.
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return CpuTime(int(fields[11]) / _TICKS_PER_S, int(fields[12]) / _TICKS_PER_S)


def by_thread(pid: int) -> dict[str, float]:
    """Seconds that each thread has run, by its name, exact to the nanosecond; of those with one
    name the sum."""
    found: dict[str, float] = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        found[name] = found.get(name, 0.0) + int((task / "schedstat").read_text().split()[0]) / 1e9
    return found


def of_all(pids: list[int]) -> CpuTime:
    """The sum over several processes."""
    return sum((of(pid) for pid in pids), CpuTime(0.0, 0.0))
