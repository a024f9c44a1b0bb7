# SPDX-License-Identifier: Apache-2.0
"""Reports size and speed: synthesis for UltraScale+ (LUTs to logic depth) and place-and-route for
ECP5 (clock), as tables between the markers of docs/GATEWARE.md. The last column of a row is the
digest of its inputs. Results are cached by it (synth.py), and stale rows are detected by it."""

import re
import sys
from argparse import ArgumentParser, Namespace

from .blocks import GLUE
from .synth import Design, Failed, designs, ecp5, forget_others, made, part_of, ultrascale
from .tools import ROOT

PAGE = ROOT / "docs" / "GATEWARE.md"
BEGIN, END = "<!-- report begin -->", "<!-- report end -->"

HEAD = ["design", "LUT", "FF", "BRAM36", "URAM", "DSP", "logic depth", "ECP5 MHz", "sources"]
PARTS_HEAD = ["part", "LUT", "FF", "BRAM36", "URAM", "DSP", "logic depth"]
PATHS_HEAD = ["design", "logic depth", "from", "to"]
LONG, FIRST = 10, 5  # the limit of depth at 250 MHz; how many paths are listed per design
COUNTS = ("LUT", "FF", "BRAM36", "URAM", "DSP")


def line(words: list[str]) -> str:
    return f"| {' | '.join(words)} |"


def head(words: list[str]) -> list[str]:
    return [line(words), "|---" * len(words) + "|"]


def clock(by_seed: dict[str, str]) -> str:
    """Returns the lowest and the highest clock of all seeds."""
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
    """Returns the table of parts: their cells, and the depth of the logic that ends in them."""
    x = ultrascale(design)
    deepest: dict[str, int] = {}
    for route in x["routes"]:  # longest first
        deepest.setdefault(part_of(route["last"]), route["depth"])
    lines = [f"The parts of `{design.name()}`:", "", *head(PARTS_HEAD)]
    for part, by in x["parts"].items():
        figures = [f"{by[c]:g}" for c in COUNTS]
        name = f"`{part}`" if part else "the rest"
        lines.append(line([name, *figures, str(deepest.get(part, 0))]))
    return lines


def paths(design: Design) -> list[str]:
    """Returns rows for the longest of the paths longer than LONG."""
    longest: dict[str, dict] = {}
    for route in ultrascale(design)["routes"]:
        if route["depth"] > LONG:  # memory.0.1 and memory.0.0 are one memory
            longest.setdefault(re.sub(r"(\.\d+)+$", "", route["last"]), route)
    chosen = list(longest.items())[:FIRST]
    return [
        line([f"`{design.top}`", str(r["depth"]), f"`{r['first']}`", f"`{last}`"])
        for last, r in chosen
    ]


def rows_of(page: str) -> dict[str, str]:
    """Returns the rows of the table by design."""
    table = page.split(BEGIN)[1].split(END)[0]
    return {m[1]: m[0] for m in re.finditer(r"^\| `([^`|]+)` \|.*\| [0-9a-f]{12} \|$", table, re.M)}


def paths_of(page: str, top: str) -> list[str]:
    """Returns the rows of the table of paths for a design."""
    return re.findall(rf"^\| `{top}` \| \d+ \| `[^`]+` \| `[^`]+` \|$", page, re.M)


def parts_of(page: str, design: Design) -> list[str]:
    """Returns the table of parts of a design."""
    found = re.search(rf"^The parts of `{re.escape(design.name())}`:\n\n(\|.*\n)+", page, re.M)
    return found[0].splitlines() if found else []


def write(chosen: list[Design], before: dict[str, str]) -> None:
    """Writes the tables; rows in `before`, their paths and parts are kept unchanged."""
    page = PAGE.read_text()
    rows = [before.get(d.name()) or row(d) for d in chosen]
    lines = [*head(HEAD), *rows]
    # Similar for other parameters; the first that is not kept, if there is one.
    first = {d.top: d for d in reversed(chosen) if d.parts}
    first |= {d.top: d for d in reversed(chosen) if d.parts and d.name() not in before}
    if first:
        text = f"Paths longer than {LONG}, of each design the longest that end in different places:"
        lines += ["", text, "", *head(PATHS_HEAD)]
        for design in reversed(first.values()):
            kept = design.name() in before
            lines += paths_of(page, design.top) if kept else paths(design)
    for design in first.values():
        if design.top in GLUE:
            kept = design.name() in before
            lines += ["", *(parts_of(page, design) if kept else parts(design))]
    above, rest = page.split(BEGIN)
    _, below = rest.split(END)
    text = "\n".join(lines)
    print(text)
    PAGE.write_text(f"{above}{BEGIN}\n{text}\n{END}{below}")


def stale(page: str, chosen: list[Design]) -> list[str]:
    """Returns a message for each row that does not match the sources."""
    rows = {name: line.split()[-2] for name, line in rows_of(page).items()}
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
    parser.add_argument("--kept", action="store_true", help="write what is made already")
    parser.add_argument("only", nargs="*", help="make the rows whose name has this, write no table")
    try:
        return report(parser.parse_args(argv))
    except Failed as e:
        print(f"scripts/gateware report: {e}", file=sys.stderr)
        return 1


def report(options: Namespace) -> int:
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
        old = rows_of(PAGE.read_text())
        before = {d.name(): old[d.name()] for d in chosen if not made(d) and d.name() in old}
        write([d for d in chosen if made(d) or d.name() in before], before)
        return 0
    write(chosen, {})
    forget_others(chosen)
    return 0
