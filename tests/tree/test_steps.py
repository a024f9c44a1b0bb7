# SPDX-License-Identifier: Apache-2.0
"""scripts/test: a step counts the tests that ended, also when it is killed."""

import importlib.machinery
import importlib.util
import json
import os
import re
import sys
import threading

import pytest

from tests.lab import paths, patience, results

PYTEST = ["/usr/bin/python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]


@pytest.fixture
def script(tmp_path, monkeypatch):
    """scripts/test as a module that writes into a folder of this test."""
    loader = importlib.machinery.SourceFileLoader("steps", str(paths.ROOT / "scripts" / "test"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("steps", loader))
    monkeypatch.setitem(sys.modules, "steps", module)
    loader.exec_module(module)
    monkeypatch.setattr(module, "OUT", tmp_path)
    return module


@pytest.fixture
def step(script, tmp_path):
    with (tmp_path / "log").open("wb") as log:
        yield script.Step("this", log, gentle=False)


TESTS = """
import pytest, time

@pytest.fixture
def broken_at_the_end():
    yield
    assert False

def test_passes(): pass
def test_fails(): assert False
def test_fails_at_the_end(broken_at_the_end): pass
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_expected_to_fail(): assert False
"""


def test_outcomes_are_counted(step, script, tmp_path):
    path = tmp_path / "test_all.py"
    path.write_text(TESTS)
    assert step.count_pytest([*PYTEST, str(path)], {}, 60) == script.Count(1, 2, 2)
    assert step.cpu > 0


def test_a_file_that_cannot_be_read_is_a_failure(step, script, tmp_path):
    path = tmp_path / "test_bad.py"
    path.write_text("import nothing_of_this_name\n")
    assert step.count_pytest([*PYTEST, str(path)], {}, 60).failed == 1


def test_no_test_at_all_is_a_failure(step, script, tmp_path):
    path = tmp_path / "test_none.py"
    path.write_text("")
    assert step.count_pytest([*PYTEST, str(path)], {}, 60) == script.Count(failed=1)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
def test_a_timeout_keeps_what_has_passed_and_names_the_test_that_ran(
    step, script, tmp_path, capsys, monkeypatch, workers
):
    ready = tmp_path / "ready"
    path = tmp_path / "test_some.py"
    path.write_text(
        TESTS + "def test_hangs():\n"
        f"    open({str(ready)!r}, 'w').close()\n    time.sleep(600)\n"
        "def test_never_begins(): pass\n"
    )
    # The limit is over as soon as the last test hangs.
    monkeypatch.setattr(patience.Limit, "over", lambda self: ready.exists())
    command = [*PYTEST, *workers, *(["--dist", "loadfile"] if workers else []), str(path)]
    count = step.count_pytest(command, {}, 60)
    assert count == script.Count(1, 3, 2)
    said = capsys.readouterr().err
    assert re.search(r"^this: \S+ did not end in \d+ s; not ended: \S+::test_hangs$", said, re.M)


def test_a_crash_of_pytest_is_a_failure(step, script, tmp_path, capsys):
    path = tmp_path / "test_crash.py"
    path.write_text("import os\ndef test_passes(): pass\ndef test_ends(): os._exit(7)\n")
    assert step.count_pytest([*PYTEST, str(path)], {}, 60) == script.Count(1, 1)
    assert "ended with 7; not ended: " in capsys.readouterr().err


def test_lines_of_json_are_counted_when_the_command_is_killed(
    step, script, tmp_path, capsys, monkeypatch
):
    program, ready = tmp_path / "program", tmp_path / "ready"
    lines = "\n".join(json.dumps({"passed": p}) for p in (True, True, False))
    program.write_text(f"#!/bin/sh\ncat >$2 <<'E'\n{lines}\nE\n>{ready}\nexec sleep 600\n")
    program.chmod(0o755)
    # The limit is over as soon as all lines are written.
    monkeypatch.setattr(patience.Limit, "over", lambda self: ready.exists())
    count = step.json_lines([str(program)], 60, lambda result: result["passed"])
    assert count == script.Count(2, 2)
    assert re.search(r"program did not end in \d+ s; 3 had ended", capsys.readouterr().err)


def test_a_command_that_fails_otherwise_is_a_failure(step, script):
    assert step.json_lines(["false"], 10, bool) == script.Count()  # the step reports "no test"
    assert step.json_lines(["sh", "-c", "exit 2"], 10, bool) == script.Count(failed=1)


def test_the_slowest_tests_are_listed_first(script, tmp_path):
    script.TIMES.extend([(1.0, "unit", "a"), (20.5, "unit", "b")])
    script.write_slowest(tmp_path / "slowest")
    lines = (tmp_path / "slowest").read_text().splitlines()
    assert [line.split() for line in lines] == [["20.5", "unit", "b"], ["1.0", "unit", "a"]]


def test_limits_grow_with_the_load():
    cores = patience.processors()
    assert patience.factor(0) == patience.factor(2 * cores) == 1
    assert patience.factor(6 * cores) == 3
    assert patience.factor(1000 * cores) == patience.LONGEST


def test_the_limit_of_a_wait_has_a_reserve(monkeypatch):
    """A load average follows a burst late."""
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0, 0))
    assert patience.seconds(10) == 10 * patience.RESERVE
    monkeypatch.setattr(os, "getloadavg", lambda: (6.0 * patience.processors(), 0, 0))
    assert patience.seconds(10) == 10 * patience.RESERVE * 3


def test_a_limit_counts_less_of_a_busy_second(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(patience.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(os, "getloadavg", lambda: (6.0 * patience.processors(), 0, 0))
    limit = patience.Limit(10)
    now[0] += 29
    assert not limit.over()
    now[0] += 2
    assert limit.over()
    assert limit.elapsed() == 31


def test_a_step_says_that_it_extends_a_limit(step, monkeypatch, capsys):
    monkeypatch.setattr(patience, "factor", lambda: 100.0)
    assert step.call(["sleep", "0.6"], 0.4) == 0
    assert "this: limit of 0 s extended: load average" in capsys.readouterr().err


def test_results_of_a_test_that_has_only_begun(tmp_path):
    path = tmp_path / "results"
    path.write_text(
        '{"test": "a"}\n{"test": "a", "phase": "setup", "outcome": "passed", "seconds": 2}\n'
    )
    assert results.read(path) == {"a": results.Result("running", 2)}


def test_a_lane_that_has_finished_takes_steps_of_the_other(script, monkeypatch):
    both = threading.Barrier(2, timeout=30)
    ran = []

    def step(name: str, wait: bool):
        def run(_step) -> object:
            ran.append(name)
            if wait:
                both.wait()  # two real-program steps run at once
            return script.Count(passed=1)

        return run, name

    steps = {"w1": step("w1", True), "w2": step("w2", True), "c1": step("c1", False)}
    monkeypatch.setattr(script, "STEPS", steps)
    monkeypatch.setattr(script, "WAITING", ("w1", "w2"))
    reports = script.run_lanes(list(steps))
    assert sorted(ran) == ["c1", "w1", "w2"]
    assert [r.count for r in reports.values()] == [script.Count(passed=1)] * 3
