# SPDX-License-Identifier: Apache-2.0
"""Each profile of settings against the defaults, with the load that it is meant for.

For each profile two toeds run, one with `--profile NAME`, and a server on each under `toehold run`
with the same profile. Samples are taken in turn by a Linux client over veth. A profile must not be
worse than the defaults at its own measure, within the tolerance of such samples; the gain is
reported. Writes out/bench/profiles.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from bench import cpu, loadgen, report, running, terminal, webserver
from tests.lab import netns, paths, proc
from tests.lab.toed import Toed, af_xdp_missing

PORT = 7
TOLERANCE = 0.05  # what medians of the same settings differ by
QUICK = {"samples": 1, "seconds": 0.3, "warmup": 0.1}


@dataclass(frozen=True)
class Load:
    """A load of `toehold bench`, and the figure by which a profile is judged."""

    mode: str
    args: tuple[object, ...]
    figure: str
    unit: str
    at_most: bool = False  # less is better
    rate: bool = False  # open loop: the same work per second for both


LOADS = {
    "latency": Load("pingpong", ("--connections", 1, "--size", 1), "p50_us", "us", at_most=True),
    "throughput": Load("bulk", ("--connections", 4), "bytes_per_s", "byte/s"),
    "low-cpu": Load(
        "pingpong", ("--connections", 16, "--rate", 2000), "cpu_us", "us", at_most=True, rate=True
    ),
    "nginx": Load("http", ("--connections", 64), "requests_per_s", "1/s"),
    "redis": Load("pingpong", ("--connections", 8, "--size", 64), "requests_per_s", "1/s"),
}


class Side:
    """toed and a server on it, with a profile or without (None)."""

    def __init__(self, load: Load, profile: str | None, stack: ExitStack):
        self.load, self.pair = load, stack.enter_context(netns.Pair(offload=True))
        chosen = ["--profile", profile] if profile else []
        self.toed = stack.enter_context(Toed(self.pair, args=chosen))
        self.run = [paths.built("toehold"), "run", "--require", *chosen, "--socket"]
        self.run += [self.toed.socket, "--"]
        if load.mode == "http":
            name = f"profiles-{profile or 'default'}"
            web = webserver.Nginx(self.pair, wrap=self.wrap, name=name)
            self.server = stack.enter_context(web).proc
            self.where = ["--url", web.url("return200")]
        else:
            role = "sink" if load.mode == "bulk" else "pingpong"
            where = f"{self.pair.server_ip}:{PORT}"
            self.server = loadgen.serve(self.pair.server, role, where, wrap=self.wrap)
            stack.enter_context(self.server)
            self.where = ["--to", where]

    def wrap(self, argv: Sequence[object]) -> list[object]:
        return [*self.run, *argv]

    def used(self) -> cpu.CpuTime:
        """CPU time of toed, the server and its workers."""
        return cpu.of_all([self.toed.proc.pid, self.server.pid, *self.server.children()])

    def sample(self, options: argparse.Namespace) -> float:
        """Measure once; return the figure of the load."""
        before = self.used()
        found = loadgen.run(
            self.pair.client,
            self.load.mode,
            *[*self.where, *self.load.args, "--duration", options.seconds],
            *["--warmup", options.warmup, "--timeout", 20],
            timeout=options.seconds + options.warmup + 60,
        )
        if self.load.figure == "cpu_us":
            return (self.used() - before).total * 1e6 / max(1, found["answered"])
        if self.load.figure == "p50_us":
            return found["latency_ns"]["p50"] / 1000
        return float(found[self.load.figure])


def measure(options: argparse.Namespace) -> dict:
    samples: dict[str, dict[str, list[float]]] = {}
    for name in options.systems:
        with ExitStack() as stack:
            sides = {
                "default": Side(LOADS[name], None, stack),
                "profile": Side(LOADS[name], name, stack),
            }
            taken = samples[name] = {side: [] for side in sides}
            for number in range(options.samples):
                terminal.progress(f"{name}: sample {number + 1} of {options.samples}")
                for side in sides:
                    taken[side].append(round(sides[side].sample(options), 3))
    terminal.end_progress()
    return samples


def summarise(samples: dict) -> tuple[dict, list[report.Goal]]:
    """Return the medians with the gain, and the goals."""
    found, goals = {}, []
    for name, taken in samples.items():
        load = LOADS[name]
        before, after = median(taken["default"]), median(taken["profile"])
        ratio = after / before if before else 0.0
        gain = (1 / ratio if load.at_most else ratio) - 1 if ratio else 0.0
        found[name] = {
            "figure": load.figure,
            "unit": load.unit,
            "default": before,
            "profile": after,
            "gain_percent": round(100 * gain, 1),
        }
        limit = 1 + TOLERANCE if load.at_most else 1 - TOLERANCE
        title = f"{name}: {load.figure}, profile / default"
        goals.append(report.Goal(title, round(ratio, 3), "ratio", limit, load.at_most))
    return found, goals


def show(found: dict, goals: list[report.Goal]) -> None:
    head = ["profile", "figure", "default", "with it", "gain"]
    rows = [
        [name, f"{f['figure']} ({f['unit']})", f"{f['default']:,.1f}", f"{f['profile']:,.1f}"]
        + [f"{f['gain_percent']:+.1f} %"]
        for name, f in found.items()
    ]
    print(f"\n{terminal.table(head, rows)}\n")
    report.print_goals({}, goals)


def run(options: argparse.Namespace) -> None:
    if why := af_xdp_missing():
        raise proc.Failed(why)
    samples = measure(options)
    found, goals = summarise(samples)
    show(found, goals)
    body = {"settings": running.settings(options), "medians": found, "samples": samples}
    report.write(options.out, body, goals)


def main() -> int:
    parser = running.arguments("profiles", __doc__, LOADS, seconds=3, samples=5)
    parser.add_argument("--quick", action="store_true", help="one short sample of each")
    parser.set_defaults(no_plots=True)
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    return running.carry_out("profiles", options, run)


if __name__ == "__main__":
    sys.exit(main())
