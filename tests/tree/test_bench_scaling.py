# SPDX-License-Identifier: Apache-2.0
"""bench scaling: its computations, and complete runs of its pairs."""

import json
import os
import sys

import pytest

from bench import scaling
from tests.lab import paths, proc


def pair(core: int, rate: int, share: float = 1.0) -> dict:
    """As bench/pairs/ prints it: `rate` answers in a second of the core's time."""
    second = 1_000_000_000
    return {
        "core": core,
        "answered": round(rate * share),
        "ns": second,
        "cpu_ns": round(second * share),
    }


def test_each_core_alone_then_more_and_more_of_them():
    assert scaling.steps([0]) == [[0]]
    assert scaling.steps([2, 3]) == [[2], [3], [2, 3]]
    assert scaling.steps([0, 1, 2])[3:] == [[0, 1], [0, 1, 2]]


def test_two_are_compared_with_the_mean_of_each_alone_in_the_same_round():
    samples = {
        "bulk": {
            "0": [[pair(0, 100)], [pair(0, 10)], [pair(0, 100)]],
            "1": [[pair(1, 200)], [pair(1, 20)], [pair(1, 200)]],
            "0,1": [
                [pair(0, 90), pair(1, 180)],
                [pair(0, 10), pair(1, 20, share=0.5)],
                [pair(0, 90), pair(1, 180)],
            ],
        }
    }
    found, goals = scaling.summarise(samples)
    assert found["bulk"]["2"] == {"answers_per_s": 270, "ratio": 1.8}
    assert [(goal.value, goal.goal, goal.met) for goal in goals] == [(1.8, 1.95, False)]
    assert scaling.summarise({"bulk": {"0": [[pair(0, 100)]]}})[1] == []


def test_the_share_of_the_cores_is_told():
    assert scaling.share([pair(0, 1), pair(1, 1, share=0.5)]) == 0.75


def test_it_runs_to_its_end(tmp_path):
    out = tmp_path / "scaling.json"
    argv = [sys.executable, "-m", "bench.scaling", "--samples", "1", "--seconds", "0.2"]
    proc.run([*argv, "--no-plots", "--out", out], cwd=paths.ROOT, timeout=120)
    body = json.loads(out.read_text())
    cores = min(2, len(os.sched_getaffinity(0)))
    assert body["samples"].keys() == set(scaling.WORKLOADS)
    for workload, by_count in body["medians"].items():
        assert by_count["1"]["answers_per_s"] > 0, workload
        assert len(body["samples"][workload]["0,1" if cores == 2 else "0"][0]) == cores
    assert len(body["goals"]) == (len(scaling.WORKLOADS) if cores == 2 else 0)


@pytest.mark.parametrize("argv", [["0", "0", "64", "9"], ["0", "1", "100", "9"], ["0", "1", "64"]])
def test_wrong_arguments_of_pairs_are_refused(argv):
    done = proc.run([paths.built("pairs"), *argv], check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: pairs" in done.stderr


def test_a_core_that_is_not_there_is_told():
    done = proc.run([paths.built("pairs"), "1000", "1", "64", "9"], check=False)
    assert done.returncode == 1
    assert "core 1000: cannot run on this core" in done.stderr
