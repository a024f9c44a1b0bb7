# SPDX-License-Identifier: Apache-2.0
"""bare, frames without TCP: every frame is counted once, and lost ones are replaced."""

from __future__ import annotations

import json

import pytest

from tests.lab import paths, proc

A, B = "10.0.0.1", "10.0.0.2"


def answering(spec: str, every: int, size: int) -> proc.Proc:
    server = proc.Proc([paths.built("bare"), spec, A, B, "answer", every, size])
    try:
        proc.wait_until(lambda: "ready" in server.text(), "bare answers", proc=server)
    except BaseException:
        server.kill()
        raise
    return server


def ask(spec: str, *args: object) -> dict:
    return json.loads(proc.run([paths.built("bare"), spec, B, A, "ask", *args]).stdout)


@pytest.mark.parametrize(
    ("every", "under_way", "size"), [(1, 1, 60), (1, 32, 130), (64, 512, 1514), (64, 8, 60)]
)
def test_frames_are_answered(tmp_path, every, under_way, size):
    wire = f"wire:{tmp_path}/wire"
    with answering(f"{wire},side=a", every, 130):
        found = ask(f"{wire},side=b", under_way, size, 100, 200)
    assert found["frames"] > 0
    assert found["ns"] >= 200_000_000
    if every == 1:  # under way at the beginning and at the end
        assert abs(found["frames"] - found["answers"]) <= under_way + found["lost"]
    else:
        assert found["answers"] <= found["frames"] + 1


def test_a_second_one_is_counted_for_itself(tmp_path):
    wire = f"wire:{tmp_path}/wire"
    with answering(f"{wire},side=a", 1, 60):
        ask(f"{wire},side=b", 8, 60, 0, 100)
        found = ask(f"{wire},side=b", 8, 60, 100, 100)
    assert 0 < found["frames"] <= found["answers"] + 8


def test_what_is_lost_is_made_good(tmp_path):
    wire = f"wire:{tmp_path}/wire"
    with answering(f"{wire},side=a", 1, 60):
        found = ask(f"impair(loss=10,seed=1):{wire},side=b", 4, 60, 200, 400)
    assert found["lost"] > 0
    assert found["frames"] > 0


def test_nobody_there_is_said(tmp_path):
    args = [paths.built("bare"), f"wire:{tmp_path}/wire", B, A, "ask", 1, 60, 0, 50]
    done = proc.run(args, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "does not answer" in done.stderr


def test_wrong_arguments_are_refused(tmp_path):
    wire = f"wire:{tmp_path}/wire"
    for argv in (
        [wire, A, B],
        [wire, A, "b", "answer", "1", "60"],
        [wire, A, B, "answer", "0", "60"],
        [wire, A, B, "answer", "1", "59"],
        [wire, A, B, "ask", "0", "60", "0", "1"],
        [wire, A, B, "ask", "1", "1515", "0", "1"],
        [wire, A, B, "ask", "1", "60", "0", "0"],
    ):
        done = proc.run([paths.built("bare"), *argv], check=False)
        assert (done.returncode, done.stdout) == (2, ""), argv
