# SPDX-License-Identifier: Apache-2.0
"""CPU time of a process by function, from samples of perf."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.lab import paths, proc

_HZ = 2000


def missing() -> str | None:
    """Return why perf does not work here."""
    if not shutil.which("perf"):
        return "perf is not installed"
    done = proc.run(["perf", "record", *_event(), "-o", "/dev/null", "true"], check=False)
    return None if done.returncode == 0 else f"perf record: {done.stderr.strip()[-200:]}"


def _event() -> list[str]:
    # cpu-clock needs no hardware counter, which a virtual machine may lack.
    return ["-e", "cpu-clock", "-F", str(_HZ)]


def _rows(data: Path, sort: str) -> list[tuple[str, ...]]:
    """Parse (percent, key...) of perf report."""
    args = ["--stdio", "--sort", sort, "--field-separator", ";", "--percent-limit", "0.05"]
    done = proc.run(["perf", "report", "-i", data, *args], timeout=120)
    rows = []
    for line in done.stdout.splitlines():
        fields = [field.strip() for field in line.split(";")]
        if re.fullmatch(r"\d+\.\d+%", fields[0]):
            rows.append((fields[0].rstrip("%"), *fields[1:]))
    return rows


def _count(data: Path) -> int:
    return len(proc.run(["perf", "script", "-i", data, "-F", "pid"], timeout=120).stdout.split())


def profile(
    pid: int,
    seconds: float,
    work: Callable[[], object],
    *,
    core: int | None = None,
    most: int = 40,
) -> dict:
    """Run work() while perf samples pid for that long, or a core and all that runs there, its
    idling included; return percent by object file and by the most frequent functions.

    "samples" is their number: percentages of a few dozen samples mean nothing.
    """
    data = paths.OUT / "log" / f"perf-{pid if core is None else f'core{core}'}.data"
    data.parent.mkdir(parents=True, exist_ok=True)
    which = ["-p", pid] if core is None else ["-C", core]
    argv = ["perf", "record", *_event(), "-o", data, *which, "--", "sleep", seconds]
    try:
        with proc.Proc(argv, name="perf") as recorder:
            work()
            recorder.wait(seconds + 30)
        return {
            "by": "perf",
            "samples": _count(data),
            "parts": {name: float(part) for part, name in _rows(data, "dso")},
            "functions": [
                {"percent": float(part), "file": file, "function": function}
                for part, file, function in _rows(data, "dso,sym")[:most]
            ],
        }
    finally:
        data.unlink(missing_ok=True)
