# SPDX-License-Identifier: Apache-2.0
"""Every RFC requirement is cited where it is met and where it is tested (scripts/rfc)."""

import subprocess
from pathlib import Path

import pytest

from tests.lab import proc

ROOT = Path(__file__).resolve().parents[2]
HEAD = "id,rfc,section,level,requirement,status,note\n"
# The ids of made-up rows are put together here: written out they would be citations themselves.
ONE, TWO = "R9999" + "-01", "R9999" + "-02"


def rfc(*words: str, root: Path = ROOT) -> subprocess.CompletedProcess:
    return subprocess.run(
        [ROOT / "scripts" / "rfc", "--root", root, *words],
        capture_output=True,
        text=True,
        timeout=proc.seconds(60),
    )


@pytest.fixture
def tree(tmp_path):
    """A separate tree: make(table, code, test) writes it and returns the faults found."""

    def make(table: str, code: str = "", test: str = "") -> str:
        for name, text in (
            ("docs/rfc.csv", HEAD + table),
            ("src/a.c", code),
            ("src/tests/b.c", test),
        ):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        rfc("write", root=tmp_path)
        done = rfc("check", root=tmp_path)
        assert done.returncode == (1 if done.stderr else 0)
        return done.stderr

    return make


def row(id_=ONE, status="met", note="", level="MUST"):
    return f"{id_},9999,1,{level},Do it,{status},{note}\n"


def test_every_requirement_is_cited():
    done = rfc("check")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("table", "code", "test", "fault"),
    [
        (row(), ONE, ONE, ""),
        (row(), "", ONE, "no code cites it"),
        (row(), ONE, "", "no test cites it"),
        (row(), f"{ONE} {TWO}", ONE, f"src/a.c:1: cites {TWO}"),
        (row(), ONE, f"{ONE}\n{TWO}", f"src/tests/b.c:2: cites {TWO}"),
        (row(status="done"), ONE, ONE, "status 'done'"),
        (row(level="OUGHT"), ONE, ONE, "level 'OUGHT'"),
        (row(status="deviation"), ONE, ONE, "without a note"),
        (row(status="deviation", note="slower"), "", "", "no test cites it"),
        (row(status="deviation", note="slower"), "", ONE, ""),
        (row(status="not applicable"), "", "", "without a note"),
        (row(status="not applicable", note="no such thing"), "", "", ""),
        (row() + row(), ONE, ONE, "stands there twice"),
        (row(id_="X-1"), "", "", "cannot be cited"),
        (row() + "only,two\n", ONE, ONE, "not 7 fields"),
    ],
)
def test_faults_are_found(tree, table, code, test, fault):
    said = tree(table, code, test)
    assert (fault in said) if fault else (said == "")


def test_an_old_page_is_found(tree, tmp_path):
    assert tree(row(), ONE, ONE) == ""
    page = tmp_path / "docs" / "RFC.md"
    page.write_text(page.read_text().replace("Do it", "Done"))
    assert "RFC.md is old" in rfc("check", root=tmp_path).stderr
