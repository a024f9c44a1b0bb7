# SPDX-License-Identifier: Apache-2.0
"""The outcome of a simulation, by the ends of its tests and its simulator."""

from pathlib import Path

import pytest

from gateware.lib import bench


class Runner:
    """A simulator that ends as given and reports the given numbers of run and failed tests."""

    def __init__(self, ran: int, failed: int, ends: BaseException | None) -> None:
        self.suite, self.ends = f"<testsuite tests='{ran}' failures='{failed}'/>", ends

    def build(self, **_more: object) -> None:
        pass

    def test(self, *, results_xml: str, log_file: Path, **_more: object) -> None:
        Path(log_file).write_text("said\n")
        Path(results_xml).write_text(f"<testsuites>{self.suite}</testsuites>")
        if self.ends:
            raise self.ends


def ended(monkeypatch, ran: int, failed: int, ends: BaseException | None) -> None:
    monkeypatch.setattr(bench, "get_runner", lambda _name: Runner(ran, failed, ends))
    module = f"ends.{type(ends).__name__}.{ran}.{failed}"  # a folder of its own
    bench.simulate(["src/toe/fpc_tell.f"], "fpc_tell", module)


def test_all_is_well(monkeypatch):
    ended(monkeypatch, 2, 0, None)


@pytest.mark.parametrize("ends", [None, SystemExit(1), RuntimeError("an assertion")])
def test_a_test_that_fails_is_told(monkeypatch, ends):
    with pytest.raises(AssertionError, match="1 of 2 failed"):
        ended(monkeypatch, 2, 1, ends)


@pytest.mark.parametrize("ends", [SystemExit(1), RuntimeError("crashed")])
def test_a_simulator_that_ends_badly_behind_tests_that_pass_is_told(monkeypatch, ends):
    with pytest.raises(AssertionError, match="all passed, and the simulator ended with"):
        ended(monkeypatch, 2, 0, ends)


def test_no_test_at_all_is_told(monkeypatch):
    with pytest.raises(AssertionError, match="no test ran"):
        ended(monkeypatch, 0, 0, None)
