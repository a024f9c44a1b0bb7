# SPDX-License-Identifier: Apache-2.0
"""Runs wrk, the HTTP load generator, in a namespace."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.netns import Namespace
from tests.lab.proc import Failed

_REPORT = Path(__file__).with_name("wrk_report.lua")
_PATHS = Path(__file__).with_name("wrk_paths.lua")


@dataclass(frozen=True)
class Result:
    requests: int
    seconds: float
    p50_us: float
    p99_us: float
    bytes: int

    @property
    def requests_per_s(self) -> float:
        return self.requests / self.seconds


def load(
    ns: Namespace,
    url: str,
    *,
    seconds: int,
    connections: int,
    threads: int = 1,
    prefix: Sequence[object] = (),
    paths: Sequence[str] = (),
) -> Result:
    """Keep connections busy with GETs of url, or of these paths in turn at its server. Raise Failed
    when a request failed. prefix: a command that starts wrk."""
    with tempfile.TemporaryDirectory(prefix="toehold-wrk-") as folder:
        script, listed = _REPORT, Path(folder) / "paths"
        if paths:
            script = Path(folder) / "paths.lua"
            script.write_text(_REPORT.read_text() + _PATHS.read_text())
            listed.write_text("\n".join(paths) + "\n")
        done = ns.run(
            [*prefix, "wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s"]
            + [
                "--timeout",
                "5s",
                "--latency",
                "-s",
                script,
                url,
                *(["--", listed] if paths else []),
            ],
            timeout=seconds + 30,
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    if not lines:
        raise Failed(f"wrk on {url} reported nothing:\n{done.stdout}{done.stderr}")
    found = json.loads(lines[0].removeprefix("REPORT "))
    errors = {name: count for name, count in found["errors"].items() if count}
    if errors or not found["requests"]:
        raise Failed(f"wrk on {url}: {found['requests']} requests, errors {errors}")
    return Result(
        requests=found["requests"],
        seconds=found["duration_us"] / 1e6,
        p50_us=found["p50_us"],
        p99_us=found["p99_us"],
        bytes=found["bytes"],
    )
