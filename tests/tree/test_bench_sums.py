# SPDX-License-Identifier: Apache-2.0
"""bench sums: its computations, and a complete run."""

import json
import sys

from bench import sums
from tests.lab import paths, proc


def sample(way: str, length: int, ns: list[float], *, copy: bool = False) -> dict:
    return {"way": way, "copy": copy, "length": length, "ns": ns}


def test_ratios_are_of_the_same_round():
    samples = [sample("plain", 1448, [10, 100, 12]), sample("avx2", 1448, [5, 50, 4])]
    found = sums.medians(samples)
    assert found["sum"] == {"plain": {"1448": 1.0}, "avx2": {"1448": 2.0}}
    assert [(goal.value, goal.met) for goal in sums.goals(found)] == [(2.0, True)]
    slow = sums.medians([sample("plain", 1448, [10]), sample("avx2", 1448, [20])])
    assert [goal.met for goal in sums.goals(slow)] == [False]


def test_it_runs_to_its_end(tmp_path):
    out = tmp_path / "sums.json"
    proc.run(
        [sys.executable, "-m", "bench.sums", "--rounds", "3", "--out", out],
        cwd=paths.ROOT,
        timeout=120,
    )
    body = json.loads(out.read_text())
    assert all(len(row["ns"]) == 3 and min(row["ns"]) > 0 for row in body["samples"])
    for what in ("sum", "copy"):
        assert body["times_as_fast"][what]["plain"] == {str(n): 1.0 for n in sums.LENGTHS}


def test_wrong_arguments_are_refused():
    for argv in (["0", "64"], ["3"], ["3", "0"], ["3", "70000"], ["1001", "64"]):
        done = proc.run([paths.built("sums"), *argv], check=False)
        assert (done.returncode, done.stdout) == (2, ""), argv
