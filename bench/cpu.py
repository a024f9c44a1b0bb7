# SPDX-License-Identifier: Apache-2.0
"""CPU time of processes, from the kernel's accounting."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class CpuTime:
    """CPU seconds of all threads of a process, user and system."""

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
    """Read /proc/PID/stat: the sum is exact, in steps of one tick (10 ms).

    The kernel samples the division into user and system at its timer interrupt, so a measurement
    must last thousands of ticks.
    """
    # The name in parentheses may contain any character, including blanks.
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return CpuTime(int(fields[11]) / _TICKS_PER_S, int(fields[12]) / _TICKS_PER_S)


def by_thread(pid: int) -> dict[str, float]:
    """Return the CPU seconds of each thread by its name, exact to the nanosecond; threads of one
    name are summed."""
    found: dict[str, float] = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        found[name] = found.get(name, 0.0) + int((task / "schedstat").read_text().split()[0]) / 1e9
    return found


def of_all(pids: list[int]) -> CpuTime:
    """Return the sum over several processes."""
    return sum((of(pid) for pid in pids), CpuTime(0.0, 0.0))
