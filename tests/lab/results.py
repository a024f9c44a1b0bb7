# SPDX-License-Identifier: Apache-2.0
"""Results of pytest, written as they come: a run that is killed leaves those it had.

    TOEHOLD_RESULTS=FILE pytest -p tests.lab.results ...

writes one JSON object per line: {"test": ID} when a test begins, and {"test": ID, "phase": P,
"outcome": O, "seconds": S} after its setup, call and teardown. read() makes verdicts of them.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "TOEHOLD_RESULTS"


@dataclass
class Result:
    outcome: str = "running"  # or "passed", "failed", "skipped"
    seconds: float = 0.0
    skipped: bool = False

    def add(self, phase: str, outcome: str, seconds: float) -> None:
        self.seconds += seconds
        self.skipped |= outcome == "skipped"
        if outcome == "failed":
            self.outcome = "failed"
        elif phase == "teardown" and self.outcome == "running":
            self.outcome = "skipped" if self.skipped else "passed"


def read(path: Path) -> dict[str, Result]:
    """The verdict of each test that has begun; "running" when the run ended before the test."""
    found: dict[str, Result] = {}
    for line in path.read_text().splitlines():
        event = json.loads(line)
        result = found.setdefault(event["test"], Result())
        if "outcome" in event:
            result.add(event["phase"], event["outcome"], event["seconds"])
    return found


class Writer:
    """The plugin. Of pytest-xdist's processes only the one that distributes the tests writes."""

    def __init__(self, path: Path):
        self.path = path

    def write(self, test: str, **more: object) -> None:
        with self.path.open("a") as f:
            f.write(json.dumps({"test": test, **more}) + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(nodeid)

    def pytest_runtest_logreport(self, report) -> None:
        self.write(
            report.nodeid, phase=report.when, outcome=report.outcome, seconds=report.duration
        )

    def pytest_collectreport(self, report) -> None:
        if report.failed:
            self.write(report.nodeid, phase="collect", outcome="failed", seconds=0)


def pytest_configure(config) -> None:
    if (path := os.environ.get(VARIABLE)) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Writer(Path(path)), "toehold-results")
