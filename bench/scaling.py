# SPDX-License-Identifier: Apache-2.0
"""One core against two (and four, ...): each runs a closed pair of engines over its own wire.

A pair is the host and the engine of a client and of a server, in one thread pinned to one core
(pairs/). Pairs share nothing, so two should do twice the work of one. Samples of one core and of
several are taken in turn. Rates are per second of CPU time of the pair; on an idle machine that is
per second. "share" is the part of its cores that a sample got.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys

from bench import report, running
from tests.lab import paths, proc

WORKLOADS = {
    "ping-pong": (32, 64),
    "many": (1024, 64),
    "bulk": (32, 16384),
}
TITLES = {
    "ping-pong": "64 bytes there and back, 32 connections",
    "many": "64 bytes there and back, 1024 connections",
    "bulk": "16 KiB there and back, 32 connections",
}
LEAST = 1.95  # of two cores


def steps(cores: list[int]) -> list[list[int]]:
    """Return each core alone, then the first 2, 4, ... and all of them."""
    sizes = sorted({n for n in (2, 4, 8, 16, 32, 64) if n <= len(cores)} | {len(cores)} - {1})
    return [[core] for core in cores] + [cores[:n] for n in sizes]


def sample(cores: list[int], workload: str, seconds: float) -> list[dict]:
    """Run a pair on each of these cores at once; return their results."""
    connections, size = WORKLOADS[workload]
    argv = [paths.built("pairs"), ",".join(map(str, cores)), connections, size]
    done = proc.run([*argv, round(seconds * 1000)], timeout=60 + 10 * seconds)
    return json.loads(done.stdout)


def rate(pair: dict) -> float:
    """Return answers per second of CPU time."""
    return pair["answered"] / pair["cpu_ns"] * 1e9


def share(pairs: list[dict]) -> float:
    return sum(pair["cpu_ns"] for pair in pairs) / sum(pair["ns"] for pair in pairs)


def summarise(samples: dict[str, dict[str, list[list[dict]]]]) -> tuple[dict, list[report.Goal]]:
    """Return the rate and the ratio to one core, for each workload and number of cores.

    One core is the mean of the same cores, each measured alone in the same round.
    """
    found: dict[str, dict] = {}
    goals = []
    for workload, by_cores in samples.items():
        alone = {int(key): runs for key, runs in by_cores.items() if "," not in key}
        rates = [rate(run[0]) for runs in alone.values() for run in runs]
        found[workload] = {"1": {"answers_per_s": round(statistics.median(rates)), "ratio": 1.0}}
        for key, runs in by_cores.items():
            if "," not in key:
                continue
            cores = [int(core) for core in key.split(",")]
            ratios = [
                sum(map(rate, run)) / statistics.mean(rate(alone[core][i][0]) for core in cores)
                for i, run in enumerate(runs)
            ]
            together = statistics.median(sum(map(rate, run)) for run in runs)
            ratio = round(statistics.median(ratios), 3)
            found[workload][str(len(cores))] = {"answers_per_s": round(together), "ratio": ratio}
            if len(cores) == 2:
                name = f"two cores against one, {TITLES[workload]}"
                goals.append(report.Goal(name, ratio, "ratio", LEAST, at_most=False))
    return found, goals


def table(found: dict[str, dict]) -> str:
    lines = [f"{'':44} {'cores':>5} {'answers/s':>12} {'ratio':>6}"]
    for workload, by_count in found.items():
        for count, row in by_count.items():
            ratio = f"{row['ratio']:.3f}"
            title = TITLES[workload]
            lines.append(f"{title:44} {count:>5} {row['answers_per_s']:12,} {ratio:>6}")
    return "\n".join(lines)


def run(options: argparse.Namespace) -> None:
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    groups = steps(cores)
    samples: dict[str, dict[str, list]] = {
        w: {",".join(map(str, g)): [] for g in groups} for w in options.workloads
    }
    for i in range(options.samples):
        print(f"round {i + 1} of {options.samples}", file=sys.stderr)
        for workload in options.workloads:
            for group in groups:
                key = ",".join(map(str, group))
                samples[workload][key].append(sample(group, workload, options.seconds))
    found, goals = summarise(samples)
    shares = [share(run) for by in samples.values() for runs in by.values() for run in runs]
    body = {
        "settings": running.settings(options),
        "titles": TITLES,
        "share": {"least": round(min(shares), 3), "median": round(statistics.median(shares), 3)},
        "medians": found,
        "samples": samples,
    }
    report.write(options.out, body, goals)
    print(table(found))
    if min(shares) < 0.98:
        print(f"the machine does other work: pairs had {min(shares):.0%} of their cores at least")
    absent = {} if len(cores) > 1 else {"two cores": f"there is one, core {cores[0]}"}
    report.print_goals(absent, goals)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make bench NAME=scaling",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--seconds", type=running.duration, default=1.0, help="a sample (1)")
    parser.add_argument("--samples", type=running.number, default=7, help="of each (7)")
    parser.add_argument("--cores", type=running.number, default=64, help="at most so many (64)")
    parser.add_argument(
        "--workloads",
        type=running.chosen(WORKLOADS),
        default=list(WORKLOADS),
        help=",".join(WORKLOADS),
    )
    parser.add_argument("--no-plots", action="store_true", help="without matplotlib")
    parser.add_argument("--plots-only", action="store_true", help="draw what --out holds")
    parser.add_argument("--out", type=running.result, default=paths.OUT / "bench" / "scaling.json")
    return running.carry_out("scaling", parser.parse_args(), run, root=False)


if __name__ == "__main__":
    sys.exit(main())
