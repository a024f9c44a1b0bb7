# SPDX-License-Identifier: Apache-2.0
"""Which system calls a running process makes, counted by strace."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.lab import proc

# "% time  seconds  usecs/call  calls  [errors]  syscall"
_ROW = re.compile(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", re.MULTILINE)


def count(pids: list[int], work: Callable[[], int], log: Path) -> dict[str, float]:
    """System calls per unit of what work() does, which returns how many units it did.

    strace slows the process down manyfold: the counts are good, times would not be.
    """
    attach = [argument for pid in pids for argument in ("-p", pid)]
    with proc.Proc(["strace", "-c", "-f", *attach], log=log) as strace:
        proc.wait_until(lambda: "attached" in strace.text(), "strace attaches", proc=strace)
        done = work()
        strace.stop()
        rows = _ROW.findall(strace.text())
    per_unit = {name: int(calls) / done for calls, name in rows if name != "total"}
    # What happens less than once in a hundred units is not part of the work.
    return {name: round(n, 2) for name, n in per_unit.items() if n >= 0.01}
