# SPDX-License-Identifier: Apache-2.0
"""Linux as the reference for the scripts of tests/packetdrill/ (tests/packetdrill/judge.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab import proc
from tests.packetdrill.api import Result
from tests.packetdrill.errors import ScriptError
from tests.packetdrill.judge import LACKS, SCRIPTS, complaints, differences, duration, judge


def test_linux_does_the_same_or_we_say_why() -> None:
    explained = differences()
    results = judge(sorted(SCRIPTS.rglob("*.pkt")), explained)
    assert len(results) > 10
    found = complaints(results, explained)
    assert not found, "\n\n".join(found)


def test_the_judge_can_fail(tmp_path: Path) -> None:
    script = tmp_path / "wrong.pkt"
    script.write_text(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 listen(3, 1) = -1 EBADF (x)\n"
    )
    (result,) = judge([script]).values()
    assert result.kind == "failed"
    assert "Expected result -1 but got 0" in result.message


@pytest.mark.parametrize(
    ("word", "code", "said"),
    [("--help", 0, "Linux as the reference"), ("nowhere.pkt", 2, "no such file: nowhere.pkt")],
)
def test_the_command_reads_its_arguments(word: str, code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "packetdrill.judge", word],
        cwd=SCRIPTS.parent.parent,
        capture_output=True,
        text=True,
        timeout=proc.seconds(60),
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_complaints(tmp_path: Path) -> None:
    same, other = tmp_path / "same.pkt", tmp_path / "other.pkt"
    same.touch()
    other.touch()
    results = {same: Result("ok"), other: Result("failed", "why")}
    assert complaints(results, {"other.pkt": "explained at length"}, tmp_path) == []
    assert len(complaints(results, {}, tmp_path)) == 1
    assert len(complaints(results, {"other.pkt": "x", "same.pkt": "x"}, tmp_path)) == 1
    assert len(complaints(results, {"other.pkt": "x", "gone.pkt": "x"}, tmp_path)) == 1
    results = {other: Result("unsupported", f"{LACKS}: x")}  # nothing is known
    assert complaints(results, {}, tmp_path) == []
    assert complaints(results, {"other.pkt": "x"}, tmp_path) == []


def test_table(tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_text("# words\n\na/b.pkt the reason, in a sentence\n")
    assert differences(table) == {"a/b.pkt": "the reason, in a sentence"}
    table.write_text("a/b.pkt no\n")
    with pytest.raises(ScriptError):
        differences(table)


def test_duration(tmp_path: Path) -> None:
    script = tmp_path / "x.pkt"
    script.write_text("0 close(3) = 0\n+1 close(3) = 0\n5 close(3) = 0\n+.5...+3 close(3) = 0\n"
                      .replace("+3", "3"))  # fmt: skip
    assert duration(script) == 8.0
