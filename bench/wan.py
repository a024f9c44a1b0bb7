# SPDX-License-Identifier: Apache-2.0
"""Long and lossy paths: senders with Linux's TCP and Toehold's through the same impaired link.

Streams: one connection through a link of some rate, round-trip time, buffer, loss and reordering;
bytes per second at the receiver and bytes sent again. Objects: times of GETs of 10 KB to 1 MB, each
over a connection of its own. Fairness: a Toehold and a Linux flow in one bottleneck, beside two
Linux flows. Every system uses the same congestion control and the same seed, one after the other,
for each seed. Slow start is part of what is measured.

Only links of at most 100 Mbit/s are judged: faster ones measure the machine. The link is wan_path.py's;
a seed repeats its random numbers. Writes out/bench/wan.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from statistics import geometric_mean, median

from bench import report, running, terminal
from bench.wan_path import BUFFER, PORT, Host, Link, Path
from tests.lab import netsim, proc
from tests.lab.toed import af_xdp_missing

M, G = 10**6, 10**9
SYSTEMS = {"linux": "Linux", "toed": "toed, AF_XDP", "inline": "inline, AF_XDP"}
CONTROLS = ("cubic", "bbr")
JUDGED_RATE = 100 * M
BASE = Link(100 * M, 40)
LINKS = (
    *(Link(100 * M, rtt) for rtt in (1, 10, 40, 100, 200)),
    *(Link(100 * M, 40, buffer=part) for part in (0.1, 0.25, 0.5, 2, 4)),
    *(Link(100 * M, 40, loss=percent) for percent in (0.01, 0.1, 1, 3)),
    *(Link(100 * M, rtt, loss=1) for rtt in (1, 10, 200)),
    Link(100 * M, 40, burst="0.05/30"),
    Link(20 * M, 100, burst="0.2/20"),
    *(Link(100 * M, 40, reorder=percent) for percent in (0.1, 2)),
    *(Link(10 * M, rtt) for rtt in (20, 200)),
    *(Link(G, rtt) for rtt in (1, 40)),
)
QUICK_LINKS = (BASE, Link(100 * M, 10, buffer=0.25), Link(20 * M, 20, loss=1), Link(50 * M, 40, reorder=1))
# Links that both directions of "to each other" are measured over.
TO_TOES = (BASE, Link(100 * M, 40, loss=0.1))
OBJECTS = {"10KB": 10_000, "100KB": 100_000, "1MB": 1_000_000}
OBJECT_LINKS = (Link(20 * M, 40, loss=1), Link(50 * M, 100))
FETCHERS = 2  # GETs under way at once
FAIR_LINK = Link(20 * M, 20)
THROUGHPUT, MEAN, TIMES, FAIR, RESENT = 0.95, 1.0, 1.0, 0.95, 1.1
FLOOR_RESENT = 0.001  # a tenth of a percent more is no difference


# ---- measurements ----


def stream(path: Path, link: Link, seed: int, sender: str, receiver: str, seconds: float) -> dict:
    """Measure one connection from its beginning."""
    source, sink = path.senders[sender], path.receivers[receiver]
    for host in (source, sink):
        host.room(16)
    with path.relay(link, seed) as relay, source.serve("bulk"):
        args = ["--to", f"{source.ip}:{PORT}", "--direction", "down", *times_of(seconds)]
        found = sink.load("bulk", *args, timeout=seconds + 90)
    return {
        "bytes_per_s": found["bytes_per_s"],
        "resent": relay.resent(source),
        **relay_brief(relay.report),
    }


def objects(path: Path, link: Link, seed: int, sender: str, size: int, seconds: float) -> dict:
    """Measure GETs of an object, each over a new connection."""
    source, sink = path.senders[sender], path.receivers["linux"]
    source.room(512, 2 << 20)
    with path.relay(link, seed) as relay, source.serve("http", "--size", size):
        args = ["--url", f"http://{source.ip}:{PORT}/", "--fresh", "--connections", FETCHERS]
        found = sink.load("http", *args, *times_of(seconds), timeout=seconds + 90)
    times = found["latency_ns"]
    if not times["count"]:
        raise proc.Failed(f"{sender}: no object of {size} bytes arrived in {seconds:g} s")
    return {
        "count": times["count"],
        **{p: times[p] / 1e6 for p in ("p50", "p99")},
        **relay_brief(relay.report),
    }


def shared(path: Path, link: Link, seed: int, senders: Sequence[str], seconds: float) -> dict:
    """Measure flows of two senders in one bottleneck."""
    hosts = [path.senders[name] for name in senders]
    sink = path.receivers["linux"]
    with ExitStack() as stack:
        relay = stack.enter_context(path.relay(link, seed))
        for host in hosts:
            host.room(16)
            stack.callback(host.serve("bulk").stop)
        found = sink.load_all(
            [
                ["bulk", "--to", f"{h.ip}:{PORT}", "--direction", "down", *times_of(seconds)]
                for h in hosts
            ],
            timeout=seconds + 90,
        )
    rates = [one["bytes_per_s"] for one in found]
    return {"bytes_per_s": rates, "jain": netsim.jain(rates), **relay_brief(relay.report)}


def times_of(seconds: float) -> list[object]:
    return ["--time", seconds, "--warmup", 0, "--timeout", 20]


def relay_brief(counted: Mapping) -> dict:
    """Return what the bottleneck did, and how late the relay was: above a millisecond is load."""
    there = counted["from_a"]
    return {
        **{name: there[name] for name in ("lost", "overflowed", "reordered")},
        "late": counted["late"] / max(1, counted["woken"]),
    }


def measure(options: argparse.Namespace) -> dict:
    """Take all samples: samples[part][control][what][system] is a list, a sample for each seed."""
    samples: dict = {"streams": {}, "to_toed": {}, "objects": {}, "fairness": {}}
    own = [name for name in options.systems if name != "linux"]
    for control in options.controls:
        for part in samples.values():
            part[control] = {}
        senders = ["linux", "linux_2", *own]
        with Path(control, senders, ["linux", *(["toed"] if "toed" in own else [])]) as path:
            for part, at, system, take in jobs(path, options, own):
                terminal.progress(f"{control}, {part}, {at}: {system}")
                rows = samples[part][control].setdefault(at, {}).setdefault(system, [])
                rows.append(take())
    terminal.end_progress()
    return samples


def jobs(path: Path, options: argparse.Namespace, own: Sequence[str]):
    """Yield (part, at, system, measurement) in the order of measuring: systems in turn."""
    s = options.seconds
    for link in options.links:
        for seed in range(1, options.samples + 1):
            for name in ("linux", *own):
                yield "streams", link.name, name, lambda a=(link, seed, name, "linux", s): stream(path, *a)
    for link in TO_TOES if "toed" in own and not options.quick else ():
        for seed in range(1, options.samples + 1):
            for name in ("linux", "toed"):
                yield "to_toed", link.name, name, lambda a=(link, seed, name, "toed", s): stream(path, *a)
    for link in options.object_links:
        for title, size in OBJECTS.items():
            for seed in range(1, options.samples + 1):
                for name in ("linux", *own):
                    at = f"{title} {link.name}"
                    yield "objects", at, name, lambda a=(link, seed, name, size, s): objects(path, *a)
    for seed in range(1, options.samples + 1):
        for name in ("linux", *own):
            both = ("linux_2" if name == "linux" else name, "linux")
            yield (
                "fairness",
                FAIR_LINK.name,
                name,
                lambda a=(FAIR_LINK, seed, both, options.fair_seconds): shared(path, *a),
            )
