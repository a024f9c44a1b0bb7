# SPDX-License-Identifier: Apache-2.0
"""Size and speed: synthesis for UltraScale+ (LUTs to logic depth), place-and-route
for ECP5 (clock), as tables between the markers of docs/GATEWARE.md. What a row was made from is
its last column: a digest, by which results are kept (synth.py) and old rows are noticed."""

import re
from argparse import ArgumentParser

from .synth import Design, designs, ecp5, forget_others, made, part_of, ultrascale
from .tools import ROOT

PAGE = ROOT / "docs" / "GATEWARE.md"
BEGIN, END = "<!-- report begin -->", "<!-- report end -->"

HEAD = ["design", "LUT", "FF", "BRAM36", "URAM", "DSP", "logic depth", "ECP5 MHz", "sources"]
PARTS_HEAD = ["part", "LUT", "FF", "BRAM36", "URAM", "DSP", "depth", "longest path from", "to"]
COUNTS = ("LUT", "FF", "BRAM36", "URAM", "DSP")


def line(words: list[str]) -> str:
    return f"| {' | '.join(words)} |"


def head(words: list[str]) -> list[str]:
    return [line(words), "|---" * len(words) + "|"]


def clock(by_seed: dict[str, str]) -> str:
    """Of all seeds, the lowest and the highest."""
    if not by_seed:
        return "-"
    said = set(by_seed.values())
    if any(x.startswith("too large") for x in said):
        return "; ".join(sorted(said))
    mhz = sorted(said, key=float)
    return mhz[0] if len(mhz) == 1 else f"{mhz[0]} to {mhz[-1]}"


def row(design: Design) -> str:
    x = ultrascale(design)
    figures = [f"{x[c]:g}" if c == "BRAM36" else str(x[c]) for c in COUNTS]
    mhz = clock(ecp5(design) if design.ecp5 else {})
    return line([f"`{design.name()}`", *figures, str(x["depth"]), mhz, design.digest])


def parts(design: Design) -> list[str]:
    """What each part of it takes, and its longest path: the routes come longest first."""
    x = ultrascale(design)
    longest: dict[str, dict] = {}
    for route in x["routes"]:
        longest.setdefault(part_of(route["last"]), route)
    lines = [f"The parts of `{design.name()}`:", "", *head(PARTS_HEAD)]
    for part, by in x["parts"].items():
        route = longest.get(part, {"depth": 0, "first": "", "last": ""})
        ends = [f"`{route[end]}`" if route[end] else "" for end in ("first", "last")]
        figures = [f"{by[c]:g}" for c in COUNTS]
        lines.append(
            line([f"`{part}`" if part else "the rest", *figures, str(route["depth"]), *ends])
        )
    return lines


def write(chosen: list[Design]) -> None:
    lines = [*head(HEAD), *(row(d) for d in chosen)]
    shown = next((d for d in chosen if d.parts), None)
    if shown:
        lines += ["", *parts(shown)]
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    text = "\n".join(lines)
    print(text)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def stale(page: str, chosen: list[Design]) -> list[str]:
    """What in the table is not of these sources."""
    table = page.split(BEGIN)[1].split(END)[0]
    rows = dict(re.findall(r"^\| `([^`|]+)` \|.*\| ([0-9a-f]{12}) \|$", table, re.M))
    names = {d.name() for d in chosen}
    said = [f"{d.name()}: not in the table" for d in chosen if d.name() not in rows]
    said += [f"{name}: in the table, not in report.jsonl" for name in rows if name not in names]
    for d in chosen:
        if rows.get(d.name(), d.digest) != d.digest:
            said.append(f"{d.name()}: of sources {rows[d.name()]}, they are {d.digest} now")
    return said


def main(argv: list[str]) -> int:
    parser = ArgumentParser(prog="scripts/gateware report")
    parser.add_argument("--check", action="store_true", help="say which rows are old, make none")
    parser.add_argument("--kept", action="store_true", help="write the rows that are made already")
    parser.add_argument("only", nargs="*", help="make the rows whose name has this, write no table")
    options = parser.parse_args(argv)
    chosen = designs()
    if options.check:
        said = stale(PAGE.read_text(), chosen)
        for text in said:
            print(text)
        if said:
            print(f"{PAGE.relative_to(ROOT)} is old: run make gateware-report")
        return 1 if said else 0
    if options.only:
        for design in chosen:
            if any(word in design.name() for word in options.only):
                print(row(design), flush=True)
        return 0
    if options.kept:
        write([d for d in chosen if made(d)])
        return 0
    write(chosen)
    forget_others(chosen)
    return 0
