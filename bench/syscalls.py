# SPDX-License-Identifier: Apache-2.0
"""System calls of a running process, counted by strace."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.lab import proc

# "% time  seconds  usecs/call  calls  [errors]  syscall"
_ROW = re.compile(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", re.MULTILINE)


def count(pids: list[int], work: Callable[[], int], log: Path) -> dict[str, float]:
    """Return system calls per unit of work; work() returns the number of units.

    strace slows the process down many times: only the counts are valid, not times.
    """
    attach = [argument for pid in pids for argument in ("-p", pid)]
    with proc.Proc(["strace", "-c", "-f", *attach], log=log) as strace:
        proc.wait_until(lambda: "attached" in strace.text(), "strace attaches", proc=strace)
        done = work()
        strace.stop()
        rows = _ROW.findall(strace.text())
    per_unit = {name: int(calls) / done for calls, name in rows if name != "total"}
    # Ignore calls that occur less than once in a hundred units.
    return {name: round(n, 2) for name, n in per_unit.items() if n >= 0.01}
