# SPDX-License-Identifier: Apache-2.0
"""Ping-pong over 1 to 4096 connections: Linux, toed and the inline TOE, over veth and the wire.

The same client and server (`toehold bench`) run on each system, both ends of a link on the same
one, each end on its own core. Samples are taken in turn. Also measures the effect of 400 idle
connections on one active connection, and latency against offered load (open loop). For AF_XDP,
frames without TCP over the same veth give the upper limit. Writes out/bench/pingpong.json and its
plots.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median

from bench import links, report, running, terminal
from tests.lab import paths, proc

CONNECTIONS, SIZES = (1, 32, 256, 4096), (1, 64)
IDLE = 400
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
PERCENTILES = ("p50", "p90", "p99", "p99_9", "p99_99", "max")
# Connections and size of the ratios that have a goal, and of the curves.
AT = (32, 64)


def brief(found: dict) -> dict:
    """Reduce a sample to rate, latencies in nanoseconds, and the rate of each second."""
    return {
        "requests_per_s": round(found["requests_per_s"], 1),
        **{name: found["latency_ns"][name] for name in PERCENTILES},
        "count": found["latency_ns"]["count"],
        "by_second": [second["count"] for second in found["by_second"]],
    }


def point(connections: int, size: int) -> str:
    return f"{connections}x{size}"


class Bench:
    def __init__(self, options: argparse.Namespace, stack: ExitStack):
        self.options = options
        self.links, self.absent = links.open_all(
            links.LINKS, options.systems, stack, pin=not options.unpinned
        )
        self.bare = None
        if "inline_af_xdp" in self.links:
            self.bare = stack.enter_context(links.Bare(pin=not options.unpinned))
        self.done = 0
        self.line: list[float] = []
        self.alone: list[dict] = []

    def note_line(self) -> None:
        """Measure the round trip of a cache line to the other core, in ns, if there are two."""
        if not self.options.unpinned and os.cpu_count() > 1:
            cores = (links.SERVER_CORE, links.CLIENT_CORE)
            self.line.append(float(proc.run([paths.built("line"), *cores]).stdout))

    def note_alone(self) -> None:
        """Measure frames without TCP at the point of the goal."""
        if self.bare and AT[0] in self.options.connections and AT[1] in self.options.sizes:
            terminal.progress(f"{self.bare.title}, {AT[0]} under way, {AT[1]} bytes")
            times = {"seconds": self.options.seconds, "warmup": self.options.warmup}
            self.alone.append(self.bare.exchange(*AT, **times))

    def sample(self, name: str, connections: int, size: int, **more: object) -> dict:
        self.done += 1
        terminal.progress(f"sample {self.done}: {name}, {connections} connections, {size} bytes")
        found = self.links[name].sample(
            connections, size, seconds=self.options.seconds, warmup=self.options.warmup, **more
        )
        return brief(found)

    def closed_loop(self) -> dict:
        """Measure the closed loop: samples[system][point] is a list."""
        points = [(c, s) for c in self.options.connections for s in self.options.sizes]
        samples = {name: {point(*p): [] for p in points} for name in self.links}
        for _ in range(self.options.samples):
            self.note_line()
            self.note_alone()
            for connections, size in points:
                for name in self.links:
                    found = self.sample(name, connections, size)
                    samples[name][point(connections, size)].append(found)
        return samples

    def idle(self) -> dict:
        """Measure one active connection without and with idle ones: samples[system][idle]."""
        samples = {name: {"0": [], str(IDLE): []} for name in self.links}
        for _ in range(self.options.samples):
            for name in self.links:
                for idle in (0, IDLE):
                    samples[name][str(idle)].append(self.sample(name, 1, 64, idle=idle))
        return samples

    def load(self, rates: dict[str, float]) -> dict:
        """Measure the open loop at fractions of the closed loop's rate: samples[system]."""
        samples = {name: [] for name in self.links}
        for part in self.options.loads:
            for name in self.links:
                rate = round(part * rates[name], 3)
                samples[name].append({"rate": rate, **self.sample(name, *AT, rate=rate)})
        return samples


def medians(samples: dict) -> dict:
    """Return the median of each figure of each list of samples."""
    names = ("requests_per_s", *PERCENTILES)
    return {
        system: {
            at: {n: round(median(s[n] for s in list_), 1) for n in names}
            for at, list_ in by_point.items()
        }
        for system, by_point in samples.items()
    }


def summarise(
    closed: dict, idle: dict, alone: Sequence[dict] = ()
) -> tuple[dict, list[report.Goal]]:
    """Return medians and goals. alone: samples of frames without TCP over AF_XDP."""
    found = {"closed": medians(closed), "idle": medians(idle)}
    if alone:
        found["frames_alone"] = round(median(s["per_s"] for s in alone), 1)
    at, goals = point(*AT), []
    linux = found["closed"].get("linux", {}).get(at)
    for system, least in (("inline_af_xdp", 5), ("inline_wire", 16)):
        own = found["closed"].get(system, {}).get(at)
        if own and linux:
            ratio = round(own["requests_per_s"] / linux["requests_per_s"], 3)
            title = f"{links.LINKS[system].title} / Linux epoll, {AT[0]} connections"
            limit = None
            if alone and system == "inline_af_xdp":
                limit = round(found["frames_alone"] / linux["requests_per_s"], 3)
            goals.append(report.Goal(title, ratio, "ratio", least, at_most=False, limit=limit))
    one = found["closed"].get("inline_wire", {}).get(point(1, 64))
    if one:
        p50 = round(one["p50"] / 1000, 3)
        goals.append(report.Goal("inline, wire, 1 connection, p50", p50, "us", 1.0))
    own = found["idle"].get("inline_wire")
    if own:
        more = round(own[str(IDLE)]["p50"] / own["0"]["p50"] - 1, 4)
        title = f"inline, wire: {IDLE} idle connections add to one's p50"
        goals.append(report.Goal(title, more, "part", 0.03))
    return found, goals


def show(found: dict, goals: list[report.Goal], absent: dict) -> None:
    points = list(next(iter(found["closed"].values()), {}))
    head = ["requests/s (p50 us)", *points]
    rows = []
    for system, by_point in found["closed"].items():
        cells = [f"{f['requests_per_s']:,.0f} ({f['p50'] / 1000:,.1f})" for f in by_point.values()]
        rows.append([links.LINKS[system].title, *cells])
    if rows:
        print(f"\n{terminal.table(head, rows)}\n")
    report.print_goals({links.LINKS[name].title: why for name, why in absent.items()}, goals)


def parts(text: str) -> list[float]:
    return [float(part) for part in text.split(",") if part]


def run(options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        bench = Bench(options, stack)
        closed = bench.closed_loop()
        idle = bench.idle()
        rates = {
            name: median(s["requests_per_s"] for s in by_point.get(point(*AT), []) or [{}])
            for name, by_point in closed.items()
            if by_point.get(point(*AT))
        }
        load = bench.load(rates) if rates and options.loads else {}
        links.check_all(bench.links)
    terminal.end_progress()
    found, goals = summarise(closed, idle, bench.alone)
    show(found, goals, bench.absent)
    if bench.line:
        print(
            f"a cache line goes from core to core and back in {median(bench.line):.0f} ns"
            f" ({min(bench.line):.0f} to {max(bench.line):.0f})"
        )
    body = {
        "settings": running.settings(options),
        "systems": {name: links.LINKS[name].title for name in bench.links},
        "not_available": bench.absent,
        "line_ns": bench.line,
        "medians": found,
        "samples": {"closed": closed, "idle": idle, "load": load, "frames_alone": bench.alone},
    }
    report.write(options.out, body, goals)


def main() -> int:
    parser = running.arguments("pingpong", __doc__, links.LINKS, seconds=2, samples=5)
    parser.add_argument("--connections", type=running.numbers, default=list(CONNECTIONS))
    parser.add_argument("--sizes", type=running.numbers, default=list(SIZES))
    parser.add_argument("--loads", type=parts, default=list(LOADS), help="of the open loop")
    parser.add_argument("--unpinned", action="store_true", help="let the kernel choose cores")
    return running.carry_out("pingpong", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
