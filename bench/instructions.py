# SPDX-License-Identifier: Apache-2.0
"""Instructions of core/ and the engine per segment, ACK, request and connection.

callgrind counts them in the programs of bench/count/, in virtual time, compiled with release flags
in every build. Only Toehold's own code counts: the C library is excluded, as its choice of memcpy()
depends on the CPU, and so are the doubles of network and program. So a count changes only with the
code and the compiler. The baseline is bench/instructions.json; tests/tree/test_instructions.py
compares with it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench import callgrind, report
from tests.lab import paths

BASELINE = paths.ROOT / "bench" / "instructions.json"
RECORD = "make bench NAME=instructions ARGS=--write-baseline"
TOLERANCE = 0.03

CALLS = [f"toec_{name}" for name in ("input", "poll", "send", "recv", "connect", "close")]


@dataclass(frozen=True)
class Case:
    """A case that a program repeats `events` times; counting is limited to these functions."""

    program: str
    case: str
    unit: str
    title: str
    within: tuple[str, ...]
    events: int = 512
    per: float = 1  # units per event


def _core(case: str, unit: str, title: str, *within: str, events: int = 512) -> Case:
    counted = within or tuple(CALLS)
    return Case("count_core", case, unit, title, (*counted, "toec_port_*"), events)


def _engine(case: str, unit: str, title: str, *, per: float = 1) -> Case:
    return Case("count_engine", case, unit, title, ("engine_step", "netio_*"), 256, per)


FULL = 1448  # payload of a full segment with time stamps
BULK = 16384  # of a write

CASES = [
    _core("data_in", "segment", "in-order data received, polled every 2 (with its read, and ACKs)"),
    _core("data_in_batch", "segment", "... polled every 16"),
    _core("data_out", "segment", "data sent, one segment a write", "toec_send", "toec_poll"),
    _core("data_out_batch", "segment", "... 16 segments a write", "toec_send", "toec_poll"),
    _core(
        "data_out_gso", "segment", "... 16 segments a write, left to TSO", "toec_send", "toec_poll"
    ),
    _core("ack_in", "ACK", "ACK of two segments that lets none go", "toec_input", "toec_poll"),
    _core("request", "request", "64 bytes received and read, 64 bytes answered"),
    _core("connection_passive", "connection", "accepted, closed by the peer, then here"),
    _core("connection_active", "connection", "opened and closed here, then by the peer"),
    _engine("request", "request", "64 bytes there and back, both ends"),
    _engine("bulk", "segment", "16 KiB writes, both ends, no offloads", per=BULK / FULL),
    _engine("bulk_joined", "segment", "... with GSO and GRO", per=BULK / FULL),
    _engine("connection", "connection", "opened, closed, released, both ends"),
]


def name(case: Case) -> str:
    return f"{case.program.removeprefix('count_')} {case.case}"


def count(case: Case) -> float:
    """Return instructions per unit."""
    program = paths.built(case.program)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        options = [f"--callgrind-out-file={out}", "--zero-before=count_begin"]
        options += ["--collect-atstart=no", *(f"--toggle-collect={at}" for at in case.within)]
        done = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", *options, program, case.case, str(case.events)],
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{name(case)}: {done.stdout}{done.stderr[-500:]}")
        costs = callgrind.costs(out)
    own = sum(cost for (file, _), cost in costs.items() if Path(file).name == program.name)
    if own == 0:
        raise RuntimeError(f"{name(case)}: no instruction was counted in {program.name}")
    return own / (case.events * case.per)


def measure() -> dict[str, float]:
    with ThreadPoolExecutor(2) as pool:
        return {
            name(case): round(n, 1) for case, n in zip(CASES, pool.map(count, CASES), strict=True)
        }


def compiler() -> str:
    """Return the compiler and the target recorded in the programs: "GCC 12.2.0 x86_64"."""
    done = subprocess.run(
        ["readelf", "--string-dump=.comment", paths.built("count_core")],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.findall(r"(GCC|clang)\b.*?(\d+\.\d+\.\d+)$", done.stdout, re.MULTILINE)
    return " ".join(sorted({" ".join(pair) for pair in found}) + [os.uname().machine])


def moved(counts: dict[str, float], baseline: dict[str, float]) -> list[str]:
    """Return a sentence for each count outside TOLERANCE of the baseline, better or worse."""
    findings = []
    for key in sorted(counts.keys() | baseline.keys()):
        if key not in baseline:
            findings.append(f"{key}: {counts[key]:g}, not in the baseline")
        elif key not in counts:
            findings.append(f"{key}: in the baseline, but no such case")
        elif abs(counts[key] / baseline[key] - 1) > TOLERANCE:
            change = 100 * (counts[key] / baseline[key] - 1)
            findings.append(
                f"{key}: {counts[key]:g} instructions, baseline {baseline[key]:g} ({change:+.1f} %)"
            )
    return findings


def goals(counts: dict[str, float], baseline: dict[str, float]) -> list[report.Goal]:
    return [
        report.Goal(key, counts[key], "instructions", round(baseline[key] * (1 + TOLERANCE), 1))
        for key in counts
        if key in baseline
    ]


def read_baseline() -> dict:
    return json.loads(BASELINE.read_text())


def write_baseline(counts: dict[str, float]) -> None:
    BASELINE.write_text(json.dumps({"compiler": compiler(), "counts": counts}, indent=2) + "\n")


def table(counts: dict[str, float], baseline: dict[str, float]) -> str:
    lines = [f"{'':26} {'instructions':>12} {'baseline':>9} {'':>7}  per"]
    for case in CASES:
        key = name(case)
        before = baseline.get(key)
        change = f"{100 * (counts[key] / before - 1):+.1f} %" if before else ""
        known = f"{before:9.0f}" if before else f"{'-':>9}"
        lines.append(f"{key:26} {counts[key]:12.0f} {known} {change:>7}  {case.unit}: {case.title}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make bench NAME=instructions",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument(
        "--write-baseline", action="store_true", help=f"write {BASELINE.relative_to(paths.ROOT)}"
    )
    options = parser.parse_args()
    print("counting instructions, about 20 s", file=sys.stderr)
    counts = measure()
    if options.write_baseline:
        write_baseline(counts)
    baseline = read_baseline()
    report.write(
        paths.OUT / "bench" / "instructions.json",
        {"compiler": compiler(), "instructions": counts, "baseline": baseline},
        goals(counts, baseline["counts"]),
    )
    print(table(counts, baseline["counts"]))
    if baseline["compiler"] != compiler():
        print(f"the baseline is of {baseline['compiler']}, this of {compiler()}")
    findings = moved(counts, baseline["counts"])
    if findings:
        print(f"not within {TOLERANCE:.0%} of the baseline; `{RECORD}` records a new one")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
