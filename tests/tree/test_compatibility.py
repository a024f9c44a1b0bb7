# SPDX-License-Identifier: Apache-2.0
"""docs/COMPATIBILITY.md: it lists every call, and tests prove its claims."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from tests.lab import proc

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "compatibility"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


def test_table_is_what_the_marks_say():
    done = subprocess.run(
        [SCRIPT, "check"], capture_output=True, text=True, timeout=proc.seconds(60)
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_call_is_in_the_table(script):
    """Lists every name that the preload library takes; PRELOAD.md has the others with the
    reason."""
    names = re.findall(r"^\s+(\w+);", (ROOT / "manager/src/preload/preload.map").read_text(), re.M)
    rows = {row.split()[0] for row in script["collect"]()}
    assert len(names) > 100
    assert set(names) - rows == set()


RESULT = """<testsuites><testsuite>
<testcase classname="tests.system.test_a" name="test_x[one]"/>
<testcase classname="tests.system.test_a" name="test_x[two]">{}</testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("toehold", "linux", "works"),
    [
        ("", "", True),
        ("<failure/>", "", False),
        ("", "<error/>", False),
        ("<skipped/>", "", True),
        ("", None, False),
    ],
)
def test_row_without_its_test_does_not_work(script, tmp_path, toehold, linux, works):
    files = []
    for mode, fault in (("toehold", toehold), ("linux", linux)):
        if fault is not None:
            files.append(tmp_path / f"{mode}.xml")
            files[-1].write_text(RESULT.format(fault))
    row = script["Row"]({"works"}, {"tests/system/test_a.py::test_x": True})
    text = script["table"]({"recv MSG_PEEK": row}, script["Results"](files))
    assert ("| `recv` | MSG_PEEK | works |" in text) == works
    assert ("did not pass" in text) != works


def test_wrong_verdict_is_told(script):
    with pytest.raises(script["Wrong"], match="no verdict"):
        script["_add"]({}, "recv", "maybe", "tests/system/test_a.py::test_x", True)


def test_every_option_of_the_tables_has_a_row(script):
    tables = script["options"]()
    assert tables["setsockopt"][("IPPROTO_TCP", "TCP_ULP")] == "refuse"
    assert ("IPPROTO_TCP", "TOE_TCP_CARRIER") in tables["getsockopt"]
    page = (ROOT / "docs/COMPATIBILITY.md").read_text()
    for rows in tables.values():
        assert len(rows) > 40
        for level, option in rows:
            assert f"| {level} | {option} |" in page


@pytest.mark.parametrize(
    ("name", "verdict", "wrong"),
    [
        ("setsockopt TCP_NODELAY", "works", None),
        ("setsockopt TCP_ULP", "refused", None),
        ("setsockopt unknown option", "works", None),
        ("recv MSG_PEEK", "works", None),
        ("setsockopt TCP_NO_SUCH", "works", "add a row to manager/src/socket/sockopt.c"),
        ("getsockopt TCP_NO_SUCH", "works", "add a row to manager/src/socket/sockopt_get.c"),
        ("setsockopt TCP_NODELAY", "refused", "the tests show refused"),
        ("setsockopt TCP_ULP", "works", "the table of .* has refuse"),
    ],
)
def test_a_row_without_its_table_entry_is_an_error(script, name, verdict, wrong):
    rows = {name: script["Row"]({verdict}, {"tests/system/test_a.py::test_x": True})}
    if wrong is None:
        script["match"](rows, script["options"]())
    else:
        with pytest.raises(script["Wrong"], match=wrong):
            script["match"](rows, script["options"]())
