# SPDX-License-Identifier: Apache-2.0
"""bench multicore: its placement of processes, its computations, and a complete run."""

import json
import os
import sys
import threading
from pathlib import Path

import pytest

from bench import cpu, multicore
from tests.lab import paths, proc


def test_everybody_has_a_core_of_his_own_while_there_are_such():
    place = multicore.placement("polling", [0, 1, 2, 3, 4], 2)
    assert place == {"application": [0, 1], "engine": [4], "client": [3], "manager": [2]}
    assert multicore.shared(place) == {}
    assert multicore.placement("linux", [0, 1, 2, 3, 4], 4)["client"] == [4]
    assert multicore.placement("interrupts", [5], 1) == {
        "application": [5],
        "engine": [5],
        "client": [5],
    }


def test_on_two_cores_it_is_told_who_shares():
    place = multicore.placement("polling", [0, 1], 1)
    assert multicore.shared(place) == {1: ["engine", "client", "manager"]}
    assert multicore.shared(multicore.placement("linux", [0, 1], 1)) == {}
    assert multicore.shared(multicore.placement("linux", [0, 1], 2)) == {
        1: ["application", "client"]
    }
    assert multicore.steps(1) == [1]
    assert multicore.steps(6) == [1, 2, 4]


def served(rate: float, *, application: float, engine: float, idle: float) -> dict:
    return {
        "requests_per_s": rate,
        "answered": 1,
        "p50_us": 1,
        "p99_us": 2,
        "cpu_us": {"application": application, "engine": engine, "manager": 0},
        "idle_percent": {"application": 0, "engine": idle, "manager": 0},
    }


def woken(asleep: float, polls: float) -> dict:
    return {"asleep": {"p50": asleep, "p99": asleep}, "polls": {"p50": polls, "p99": polls}}


def test_ratios_are_to_linux_by_medians():
    samples = {
        "serving": {
            "linux": {"1": [served(x, application=10, engine=0, idle=0) for x in (1, 100, 900)]},
            "interrupts": {"1": [served(250, application=2, engine=3, idle=1.5)]},
        },
        "waking": {"linux": [woken(50, 20)], "interrupts": [woken(x, 10) for x in (1, 30, 99)]},
    }
    found, goals = multicore.summarise(samples)
    assert found["ratio"]["interrupts"] == {
        "1": {"requests_per_s": 2.5, "application_cpu_us": 0.2, "cpu_us": 0.5},
        "asleep": {"p50": 0.6, "p99": 0.6},
    }
    assert found["waking"]["interrupts"]["waking"] == {"p50": 20, "p99": 20}
    assert [(goal.value, goal.met) for goal in goals] == [(1.5, False)]
    del samples["serving"]["linux"], samples["waking"]["linux"]
    assert multicore.summarise(samples)[0]["ratio"] == {}


def test_cpu_time_is_told_by_thread():
    end = threading.Event()

    def work() -> None:
        Path("/proc/thread-self/comm").write_text("worker-of-test")
        while not end.is_set():
            pass

    thread = threading.Thread(target=work)
    thread.start()
    try:
        proc.wait_until(
            lambda: (
                "worker-of-test" in cpu.by_thread(os.getpid())
                and cpu.by_thread(os.getpid())["worker-of-test"] > 0.05
            ),
            "it has used CPU time",
        )
    finally:
        end.set()
        thread.join()


TITLE_LINE = "{}, 1: cores of application"
SERVE = {"linux": set(), "interrupts": {"engine"}, "polling": {"engine", "manager"}}


@pytest.mark.toehold_only
def test_it_runs_to_its_end(tmp_path):
    out = tmp_path / "multicore.json"
    argv = [sys.executable, "-m", "bench.multicore", "--samples", "1", "--seconds", "0.3"]
    argv += ["--warmup", "0.1", "--idle", "0.3", "--rate", "200", "--hosts", "1", "--out", out]
    done = proc.run([*argv, "--no-plots"], cwd=paths.ROOT, timeout=120)
    body = json.loads(out.read_text())
    assert body["not_available"] == {}
    found = body["medians"]
    assert list(found["serving"]) == list(found["waking"]) == list(multicore.TITLES)
    for name, by_hosts in found["serving"].items():
        sample = by_hosts["1"]
        assert sample["requests_per_s"] > 0
        assert sample["p50_us"] <= sample["p99_us"]
        used = {role for role, us in sample["cpu_us"].items() if us > 0}
        assert used == {"application"} | SERVE[name]
        assert 0 < found["waking"][name]["asleep"]["p50"] <= found["waking"][name]["asleep"]["p99"]
        assert TITLE_LINE.format(multicore.TITLES[name]) in done.stdout
    assert found["ratio"]["linux"]["1"]["requests_per_s"] == 1
    assert len(body["goals"]) == 1
