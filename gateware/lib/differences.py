# SPDX-License-Identifier: Apache-2.0
"""The expected differences between the gateware TOE and core/ in packetdrill's scripts, by name.

tests/packetdrill/gateware-differences has a line SCRIPT:LINE NAME for each script that the gateware
does not pass; docs/gateware-differences.md a section for each name."""

import re
from pathlib import Path

from tests.packetdrill.api import Result
from tests.packetdrill.judge import SCRIPTS

from .tools import ROOT

TABLE = SCRIPTS / "gateware-differences"
PAGE = ROOT / "docs" / "gateware-differences.md"


def expected(table: Path = TABLE) -> dict[str, tuple[int, str]]:
    """Returns by script: the line that fails and the name of the difference."""
    out = {}
    for line in table.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        found = re.fullmatch(r"(\S+\.pkt):(\d+) ([a-z0-9-]+)", line)
        if not found:
            raise ValueError(f"{table.name}: '{line}' is not SCRIPT:LINE NAME")
        if found[1] in out:
            raise ValueError(f"{table.name}: {found[1]} is listed twice")
        out[found[1]] = int(found[2]), found[3]
    return out


def names(page: Path = PAGE) -> list[str]:
    return re.findall(r"^\*\*([a-z0-9-]+)\*\*", page.read_text(), re.M)


def line_of(result: Result) -> int:
    found = re.search(r"\.pkt:(\d+): ", result.message)
    return int(found[1]) if found else 0


def complaints(results: dict[str, Result], known: dict[str, tuple[int, str]]) -> list[str]:
    """Returns a message for each result that does not match the table."""
    out = []
    for script, result in results.items():
        line, name = known.get(script, (0, ""))
        if result.kind == "ok":
            if name:
                out.append(f"{script}:{line} {name}: it passes now; take the line out")
        elif line_of(result) != line or not name:
            what = f"differs, which {TABLE.name} does not have"
            if name:
                what = f"differed at line {line} ({name}), and does at another now"
            out.append(f"{script}:{line_of(result)} {what}:\n{result.message}")
    for script in known.keys() - results.keys():
        out.append(f"{script}: listed in {TABLE.name}, but there is no such script")
    return out
