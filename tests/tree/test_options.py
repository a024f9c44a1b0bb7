# SPDX-License-Identifier: Apache-2.0
"""The options of toed in its table, in its help, and in `toehold run` are the same."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROCESS = ROOT / "engine/src/process"
ALIASES = {"netio"}


def accepted(place: str) -> dict[str, bool]:
    """The options that are valid there (TOED, INSIDE), and whether a value follows."""
    rows = re.findall(
        r'^    \{"([a-z0-9-]+)", OPT_\w+, ([01]), OF_(\w+)\}',
        (PROCESS / "options.c").read_text(),
        re.MULTILINE,
    )
    assert len(rows) > 30
    return {name: value == "1" for name, value, of in rows if of in (place, "BOTH")}


def explained() -> dict[str, bool]:
    """The options that toed --help begins a line with."""
    text = "".join(re.findall(r'"(.*?)"', (PROCESS / "options_help.c").read_text()))
    lines = re.findall(r"^  --([a-z0-9-]+)(?: (\S+))?", text.replace("\\n", "\n"), re.MULTILINE)
    # the first line of an option counts: "--ip shared" is another form of --ip
    return {name: bool(value) for name, value in reversed(lines)}


def test_help_of_toed():
    assert set(accepted("TOED")) - ALIASES - {"help", "version"} == set(explained())
    assert {n for n, value in accepted("TOED").items() if value} - ALIASES == {
        n for n, value in explained().items() if value
    }


def test_options_of_an_engine_in_a_program():
    text = (ROOT / "cli/run/run.c").read_text()
    taken = dict.fromkeys(re.findall(r' FOR_ENGINE\("([a-z0-9-]+)"', text), True)
    taken |= dict.fromkeys(re.findall(r'FLAG_FOR_ENGINE\("([a-z0-9-]+)"', text), False)
    inside = accepted("INSIDE")
    assert inside.pop("socket")  # of toehold run itself
    assert taken == inside
