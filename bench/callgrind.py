# SPDX-License-Identifier: Apache-2.0
"""Instructions of a program by function, counted by callgrind; for machines without perf."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path


def command(out: Path, argv: list[object], *, within: str) -> list[object]:
    """Return argv under callgrind, which counts within a function; each process writes out.PID."""
    options = [f"--callgrind-out-file={out}.%p", f"--toggle-collect={within}"]
    return ["valgrind", "-q", "--tool=callgrind", *options, *argv]


def costs(path: Path) -> Counter[tuple[str, str]]:
    """Return the instructions by object file and function.

    The format is that of valgrind's manual, "Callgrind Format Specification": ob= and fn= name the
    owner of the cost lines that follow, a name is written once and then referenced by number, and
    the line after calls= is the cost of the called function.
    """
    names: dict[tuple[str, str], str] = {}
    found: Counter[tuple[str, str]] = Counter()
    now = {"ob": "", "fn": ""}
    called = False
    for line in path.read_text().splitlines():
        if match := re.match(r"(c?ob|c?fn)=\((\d+)\)(?: (.*))?$", line):
            kind, number, name = match.groups()
            key = (kind[-2:], number)
            names.setdefault(key, name or "")
            if not kind.startswith("c"):
                now[kind] = names[key]
        elif line.startswith("calls="):
            called = True
        elif line and line[0] in "+-*0123456789":
            if not called:
                found[now["ob"], now["fn"]] += int(line.split()[1])
            called = False
    return found


def total(path: Path) -> int:
    """Return the instructions counted in a file, or in one dump of several."""
    found = re.search(r"^totals: (\d+)$", path.read_text(), re.MULTILINE)
    if not found:
        raise ValueError(f"{path} has no totals: is it written by callgrind?")
    return int(found[1])


def read(path: Path) -> dict:
    """Return the instructions by object file and by function, in percent."""
    found = costs(path)
    total = sum(found.values())
    parts: Counter[str] = Counter()
    for (file, _), cost in found.items():
        parts[Path(file).name] += cost

    def percent(cost: int) -> float:
        return round(100 * cost / total, 2)

    return {
        "by": "callgrind",
        "samples": total,
        "parts": {name: percent(cost) for name, cost in parts.most_common() if total},
        "functions": [
            {"percent": percent(cost), "file": Path(file).name, "function": function}
            for (file, function), cost in found.most_common(40)
        ],
    }
