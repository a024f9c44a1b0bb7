# SPDX-License-Identifier: Apache-2.0
"""Checksum of payload, alone and with its copy: vector instructions against plain C, by length.

Ways that the CPU lacks are left out. Ratios are those of CPU time within one run, in which the ways
take turns (bench/sums/).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys

from bench import report, running
from tests.lab import paths, proc

LENGTHS = [64, 128, 256, 512, 1448, 8948, 61440]
SEGMENT = 1448  # the deciding payload: a way that is not faster with it is of no use
PLAIN = "plain"


def measure(rounds: int) -> list[dict]:
    """Return {way, copy, length, ns: nanoseconds a call in each round} for each combination."""
    done = proc.run([paths.built("sums"), rounds, *LENGTHS], timeout=300)
    return json.loads(done.stdout)


def medians(samples: list[dict]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the speed relative to plain C for "sum" and "copy", by way and length."""
    by = {(s["copy"], s["way"], s["length"]): s["ns"] for s in samples}
    found: dict[str, dict[str, dict[str, float]]] = {"sum": {}, "copy": {}}
    for (copy, way, length), ns in by.items():
        plain = by[copy, PLAIN, length]
        ratio = statistics.median(p / n for p, n in zip(plain, ns, strict=True))
        rows = found["copy" if copy else "sum"].setdefault(way, {})
        rows[str(length)] = round(ratio, 2)
    return found


def goals(found: dict) -> list[report.Goal]:
    return [
        report.Goal(
            f"{what} of {SEGMENT} bytes, {way} against plain C",
            rows[str(SEGMENT)],
            "times as fast",
            1.0,
            at_most=False,
        )
        for what, ways in found.items()
        for way, rows in ways.items()
        if way != PLAIN
    ]


def table(found: dict) -> str:
    lines = [f"{'times as fast as plain C, bytes':32}" + "".join(f"{n:>8}" for n in LENGTHS)]
    for what, ways in found.items():
        for way, rows in ways.items():
            if way != PLAIN:
                values = "".join(f"{rows[str(n)]:8.2f}" for n in LENGTHS)
                lines.append(f"{what + ', ' + way:32}{values}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make bench NAME=sums",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--rounds", type=running.number, default=31, help="of each (31)")
    parser.add_argument("--out", type=running.result, default=paths.OUT / "bench" / "sums.json")
    options = parser.parse_args()
    samples = measure(options.rounds)
    found = medians(samples)
    judged = goals(found)
    report.write(options.out, {"times_as_fast": found, "samples": samples}, judged)
    print(table(found))
    report.print_goals({} if judged else {"vectors": "this CPU has none that we use"}, judged)
    return 0


if __name__ == "__main__":
    sys.exit(main())
