# SPDX-License-Identifier: Apache-2.0
"""docs/CARDS.md is what scripts/cards makes of the record of its last run."""

import importlib.machinery
import importlib.util
import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/cards"


def load():
    loader = importlib.machinery.SourceFileLoader("cards_script", str(SCRIPT))
    spec = importlib.util.spec_from_loader("cards_script", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_page_is_of_the_record():
    done = subprocess.run([SCRIPT, "check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_cell_is_on_the_page():
    script = load()
    record = json.loads(script.RECORD.read_text())
    assert set(record["cells"]) <= set(script.CELLS)
    cells = {f"{c} {b}" for c in script.cards.CARDS for b in script.BACK_ENDS}
    page = script.page(record)
    assert all(f"| {name.replace(' ', ' | ')} |" in page for name in cells)
    served = next(cell for cell in record["cells"].values() if "switched" in cell)
    served["link"] = "something else"
    assert "something else" in script.page(record) != page


def test_the_page_names_each_run():
    script = load()
    record = json.loads(script.RECORD.read_text())
    first = next(iter(record["cells"].values()))
    first["run"] = {"date": "2031-02-03", "commit": "abcdef0", "size": 77}
    assert "- 2031-02-03, commit abcdef0, 77 bytes: 1 cell\n" in script.page(record)


WRONG = [[], ["run", "0"], ["run", "x"], ["run", "9", "e1000 wire"], ["write", "it"], ["--help"]]


@pytest.mark.parametrize("words", WRONG)
def test_usage(words):
    done = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "scripts/cards run" in done.stderr
    assert done.stdout == ""
