# SPDX-License-Identifier: Apache-2.0
"""The options of toed in its table, in its help, and in `toehold run` are the same."""

import json
import re
from pathlib import Path

from tests.lab import paths, proc

ROOT = Path(__file__).resolve().parents[2]
PROCESS = ROOT / "engine/src/process"
# Options of toed that are no settings: config.c of engine/ has them, and whether a value follows.
PLAIN = {"take-over": False, "config": True}  # --no-config is in the text of --config


def accepted(section: str) -> dict[str, bool]:
    """The options of toed or of an engine in a program, and whether a value follows."""
    said = proc.run([paths.built("toehold"), "config", "settings", "--json"]).stdout
    found = {}
    for s in json.loads(said)["settings"]:
        of, _, name = s["name"].rpartition(".")
        if name and of in ((section, "", "log") if section == "toed" else (section,)):
            found[s["option"]] = s["accepts"] != "true or false"
    assert len(found) > 20
    return found


def explained() -> dict[str, bool]:
    """The options that toed --help begins a line with."""
    text = "".join(re.findall(r'"(.*?)"', (PROCESS / "options_help.c").read_text()))
    lines = re.findall(r"^  --([a-z0-9-]+)(?: (\S+))?", text.replace("\\n", "\n"), re.MULTILINE)
    # the first line of an option counts: "--ip shared" is another form of --ip
    return {name: bool(value) for name, value in reversed(lines)}


def test_help_of_toed():
    known = {**accepted("toed"), **PLAIN}
    # the help has a flag that is on by default as the word that switches it off
    known["no-sandbox"] = known.pop("sandbox")
    shown = explained()
    shown.pop("seed")  # for tests: no file has it
    shown.pop("no-")  # --no-FLAG
    assert known == shown


def test_options_of_an_engine_in_a_program():
    text = (ROOT / "cli/run/run.c").read_text()
    taken = dict.fromkeys(re.findall(r' FOR_ENGINE\("([a-z0-9-]+)"', text), True)
    taken |= dict.fromkeys(re.findall(r'FLAG_FOR_ENGINE\("([a-z0-9-]+)"', text), False)
    assert taken.pop("netio")  # the name of --netif in the first release
    assert taken.pop("seed")
    inside = accepted("inline")
    assert inside.pop("socket")  # of toehold run itself
    assert taken == inside
