# SPDX-License-Identifier: Apache-2.0
"""The path of one segment and of one command through the TOE: the cycle in which each edge fires,
from gateware/sim's toe_bench (case walk). docs/gateware/walk.md has the tables."""

import json
import subprocess
from itertools import groupby

from . import live
from .tools import ROOT, Missing

PAGE = ROOT / "docs" / "gateware" / "walk.md"
CASE = ("walk", "--payload", "128", "--flows", "1")


def measure(*more: str) -> dict:
    done = subprocess.run([live.build("toe_bench"), *CASE, *more], capture_output=True, text=True)
    if done.returncode:
        raise Missing(done.stderr.strip())
    return json.loads(done.stdout)


def rows(edges: list[list]) -> list[tuple[int, int, str]]:
    """Returns (first cycle, last, edge) in order; consecutive cycles of an edge are one row."""
    found = []
    by_name = sorted(edges, key=lambda e: (e[1], e[0]))
    for name, fired in groupby(by_name, key=lambda e: e[1]):
        cycles = [cycle for cycle, _ in fired]
        for _, run in groupby(enumerate(cycles), key=lambda at: at[1] - at[0]):
            _, whole = zip(*run, strict=True)
            found.append((whole[0], whole[-1], name))
    return sorted(found, key=lambda row: row[0])


def table(edges: list[list]) -> str:
    """Formats the rows in order of cycles; within a cycle, in the order of toe_walk.sv."""
    order = list(dict.fromkeys(name for _, name in edges))
    lines = ["| cycle | edge | what passes |", "|---|---|---|"]
    for first, last, name in sorted(rows(edges), key=lambda r: (r[0], order.index(r[2]))):
        edge, _, what = name.partition(": ")
        cycle = f"{first}" if first == last else f"{first} to {last}"
        lines.append(f"| {cycle} | {edge} | {what} |")
    return "\n".join(lines)


def placed(page: str, found: dict) -> str:
    """Returns the page with these tables between its marks."""
    for way in ("segment", "command"):
        begin, end = f"<!-- {way} begin -->\n", f"\n<!-- {way} end -->"
        before, _, rest = page.partition(begin)
        _, mark, after = rest.partition(end)
        if not mark:
            raise Missing(f"{PAGE.name}: no '{begin.strip()}' with its end")
        page = before + begin + table(found[way]) + mark + after
    return page


def main(argv: list[str]) -> int:
    """scripts/gateware walk [--write] [OPTION of toe_bench...]: prints the tables; --write puts
    them into docs/gateware/walk.md."""
    if {"-h", "--help"} & set(argv):
        print(main.__doc__)
        return 0
    write = "--write" in argv
    more = [a for a in argv if a != "--write"]
    if write and more:
        raise Missing(f"walk --write: the page has no {' '.join(more)}; leave it out")
    found = measure(*more)
    if write:
        PAGE.write_text(placed(PAGE.read_text(), found))
        print(f"written: {PAGE.relative_to(ROOT)}")
        return 0
    for way in ("segment", "command"):
        print(f"{way}\n{table(found[way])}\n")
    return 0
