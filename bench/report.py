# SPDX-License-Identifier: Apache-2.0
"""The common parts of every bench's JSON: machine, commit, date, goals."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import terminal
from tests.lab import paths


@dataclass(frozen=True)
class Goal:
    """Return a goal: a value that must be at most, or at least, the goal.

    limit: the result of the same measurement without Toehold, if measured.
    """

    name: str
    value: float
    unit: str
    goal: float
    at_most: bool = True
    limit: float | None = None

    @property
    def met(self) -> bool:
        return self.value <= self.goal if self.at_most else self.value >= self.goal

    def as_json(self) -> dict:
        found = {**asdict(self), "met": self.met}
        if self.limit is None:
            del found["limit"]
        return found


def machine() -> dict:
    """Describe the machine."""
    cpuinfo = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")]
    memory_kib = int(Path("/proc/meminfo").read_text().split("MemTotal:")[1].split()[0])
    return {
        "cpu": models[0] if models else os.uname().machine,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": f"{os.uname().sysname} {os.uname().release}",
        "memory_gib": round(memory_kib / 2**20, 1),
    }


def commit() -> str:
    """Return the measured commit, "-dirty" when the tree differs from it, "unknown" outside git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty"],
            cwd=paths.ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def print_goals(absent: dict[str, str], goals: list[Goal]) -> None:
    """Print which systems were missing, and which goals are met."""
    for title, why in absent.items():
        print(f"not available: {title}: {why}")
    print(terminal.bold("Goals"))
    for goal in goals:
        verdict = terminal.good("met") if goal.met else terminal.bad("NOT MET")
        word = "at most" if goal.at_most else "at least"
        limit = "" if goal.limit is None else f" (frames alone: {goal.limit:g})"
        print(f"  {goal.name}: {goal.value:g} {goal.unit}, {word} {goal.goal:g}: {verdict}{limit}")
    if not goals:
        print("  none can be judged by what was measured")


def write(path: Path, body: dict, goals: list[Goal]) -> None:
    """Write a bench's JSON: body, machine, commit, date and goals."""
    whole = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        **body,
        "goals": [goal.as_json() for goal in goals],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, indent=2) + "\n")
