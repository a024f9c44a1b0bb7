# SPDX-License-Identifier: Apache-2.0
"""Long and lossy paths: senders with Linux's TCP and Toehold's through the same impaired link.

streams     one connection from its beginning: bytes per second at the receiver, bytes sent again
to_toed     the same to a receiver on toed
objects     GETs of 10 KB to 1 MB, each over a connection of its own: p50 and p99
fairness    a Toehold and a Linux flow in one bottleneck, beside two Linux flows: Jain's index

Systems take turns: for each seed, each of them runs through the same link, which is that of
wan_path.py. Links of more than 100 Mbit/s are measured and not judged: they show the machine.
Writes out/bench/wan.json.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from statistics import geometric_mean, median

from bench import links, report, running, terminal
from bench.wan_path import Link, Path
from tests.lab import netsim, proc
from tests.lab.toed import af_xdp_missing

M, G = 10**6, 10**9
SYSTEMS = {"linux": "Linux", "toed": "toed, AF_XDP", "inline": "inline, AF_XDP"}
CONTROLS = {"cubic": "CUBIC", "bbr": "BBR"}
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
TO_TOED = (BASE, Link(100 * M, 40, loss=0.1))
OBJECTS = {"10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000}
OBJECT_LINKS = (Link(20 * M, 40, loss=1), Link(50 * M, 100))
FETCHERS = 2  # GETs in progress at once
FAIR_LINK = Link(20 * M, 20)
FAIR_TIMES = 2  # flows need longer to share a link than to fill it
QUICK = {"samples": 1, "seconds": 4.0, "controls": ["cubic"], "parts": ["streams", "objects"]}
QUICK_LINKS = (
    BASE,
    Link(100 * M, 10, buffer=0.5),
    Link(20 * M, 20, loss=1),
    Link(50 * M, 40, reorder=1),
    Link(20 * M, 200),
)
QUICK_OBJECT_LINKS = (Link(50 * M, 40),)
# Goals: ratios to Linux.
THROUGHPUT, MEAN, TIMES, FAIR, RESENT = 0.95, 1.0, 1.0, 0.95, 1.1
# Differences of the share sent again that are not judged: a few segments of a run.
RESENT_NOISE = 0.001

Sample = dict
# A link's name, a system and its measurement.
Job = tuple[str, str, Callable[[], Sample]]


# ---- measurements ----


def times_of(seconds: float) -> list[object]:
    return ["--duration", seconds, "--warmup", 0, "--timeout", 20]


def relay_brief(counted: Mapping) -> Sample:
    """Return what the bottleneck did, and the part of wake-ups that were over 1 ms late."""
    there = counted["from_a"]
    brief = {name: there[name] for name in ("lost", "overflowed", "reordered")}
    return {**brief, "late": round(counted["late"] / max(1, counted["woken"]), 5)}


def stream(path: Path, link: Link, seed: int, sender: str, receiver: str, seconds: float) -> Sample:
    """Measure one connection from its beginning."""
    source, sink = path.senders[sender], path.receivers[receiver]
    with path.relay(link, seed) as relay, source.serve("bulk"):
        args = ["--direction", "down", *times_of(seconds)]
        found = sink.load("bulk", source, *args, seconds=seconds)
    brief = {"bytes_per_s": found["bytes_per_s"], "resent": relay.resent(source)}
    return {**brief, **relay_brief(relay.report)}


def objects(path: Path, link: Link, seed: int, sender: str, size: int, seconds: float) -> Sample:
    """Measure GETs of an object, each over a new connection."""
    source, sink = path.senders[sender], path.receivers["linux"]
    with path.relay(link, seed) as relay, source.serve("http", "--size", size):
        args = ["--fresh", "--connections", FETCHERS, *times_of(seconds)]
        times = sink.load("http", source, *args, seconds=seconds)["latency_ns"]
    if not times["count"]:
        raise proc.Failed(f"{sender}: no object of {size} bytes arrived in {seconds:g} s")
    found = {"count": times["count"], **{f"{p}_ms": times[p] / 1e6 for p in ("p50", "p99")}}
    return {**found, **relay_brief(relay.report)}


def shared(path: Path, link: Link, seed: int, senders: Sequence[str], seconds: float) -> Sample:
    """Measure flows of two senders in one bottleneck."""
    hosts, sink = [path.senders[name] for name in senders], path.receivers["linux"]
    args = ["--direction", "down", *times_of(seconds)]
    with path.relay(link, seed) as relay, ExitStack() as stack:
        for host in hosts:
            stack.enter_context(host.serve("bulk"))
        pool = stack.enter_context(ThreadPoolExecutor(len(hosts)))
        runs = [pool.submit(sink.load, "bulk", h, *args, seconds=seconds) for h in hosts]
        rates = [run.result()["bytes_per_s"] for run in runs]
    return {"bytes_per_s": rates, "jain": netsim.jain(rates), **relay_brief(relay.report)}


def streams(path: Path, o: argparse.Namespace, own: Sequence[str]) -> Iterator[Job]:
    for link in o.links:
        for seed in range(1, o.samples + 1):
            for name in ("linux", *own):
                yield link.name, name, partial(stream, path, link, seed, name, "linux", o.seconds)


def to_toed(path: Path, o: argparse.Namespace, own: Sequence[str]) -> Iterator[Job]:
    for link in TO_TOED if "toed" in own else ():
        for seed in range(1, o.samples + 1):
            for name in ("linux", "toed"):
                yield link.name, name, partial(stream, path, link, seed, name, "toed", o.seconds)


def fetches(path: Path, o: argparse.Namespace, own: Sequence[str]) -> Iterator[Job]:
    for link in o.object_links:
        for title, size in OBJECTS.items():
            at = f"{title}, {link.name}"
            for seed in range(1, o.samples + 1):
                for name in ("linux", *own):
                    yield at, name, partial(objects, path, link, seed, name, size, o.seconds)


def fairness(path: Path, o: argparse.Namespace, own: Sequence[str]) -> Iterator[Job]:
    seconds = FAIR_TIMES * o.seconds
    for seed in range(1, o.samples + 1):
        for name in ("linux", *own):
            both = ("linux_2" if name == "linux" else name, "linux")
            yield FAIR_LINK.name, name, partial(shared, path, FAIR_LINK, seed, both, seconds)


# Each yields (link, system, measurement) in the order of measuring: systems in turn.
PARTS = {"streams": streams, "to_toed": to_toed, "objects": fetches, "fairness": fairness}


def measure(options: argparse.Namespace, own: Sequence[str]) -> dict:
    """Take all samples: samples[part][control][link][system] is a list, one of each seed."""
    samples: dict = {part: {} for part in options.parts}
    receivers = ["linux", *(["toed"] if "toed" in own else [])]
    for control in options.controls:
        with Path(control, ["linux", "linux_2", *own], receivers) as path:
            for part in options.parts:
                rows = samples[part][control] = {}
                for at, system, take in PARTS[part](path, options, own):
                    terminal.progress(f"{CONTROLS[control]}, {part}, {at}: {SYSTEMS[system]}")
                    rows.setdefault(at, {}).setdefault(system, []).append(take())
    terminal.end_progress()
    return samples


# ---- judgement ----


def medians(samples: Mapping) -> dict:
    """Replace each list of samples by a row of medians, without the rates of shared links."""

    def row(list_: Sequence[Sample]) -> dict:
        keys = [key for key, value in list_[0].items() if not isinstance(value, list)]
        return {key: median(sample[key] for sample in list_) for key in keys}

    return {
        part: {
            control: {at: {s: row(list_) for s, list_ in by.items()} for at, by in ats.items()}
            for control, ats in controls.items()
        }
        for part, controls in samples.items()
    }


def is_judged(at: str) -> bool:
    """Whether the link of this name is slow enough for its rate, not the machine, to bind."""
    return at not in {link.name for link in LINKS if link.rate > JUDGED_RATE}


def ratios(found: Mapping, part: str, control: str, system: str, key: str) -> dict[str, float]:
    """Return a system's values to Linux's by link."""
    ats = found.get(part, {}).get(control, {})
    return {
        at: by[system][key] / by["linux"][key]
        for at, by in ats.items()
        if system in by and by.get("linux", {}).get(key) and is_judged(at)
    }


def _worst(
    name: str, by: Mapping[str, float], goal: float, *, at_most: bool = False
) -> list[report.Goal]:
    """Return a goal about the worst link, which its name has."""
    if not by:
        return []
    at = (max if at_most else min)(by, key=by.__getitem__)
    value = round(by[at], 3)
    return [report.Goal(f"{name} ({at})", value, "ratio", goal, at_most=at_most)]


def resent_ratios(found: Mapping, control: str, system: str) -> dict[str, float]:
    """Return the shares sent again, to those of Linux with the noise that is not judged."""
    ats = found.get("streams", {}).get(control, {})
    return {
        at: by[system]["resent"] / (by["linux"]["resent"] + RESENT_NOISE)
        for at, by in ats.items()
        if system in by and "linux" in by and is_judged(at)
    }


def goals_of(found: Mapping) -> list[report.Goal]:
    """Judge medians: one goal of each kind for each system and congestion control."""
    goals: list[report.Goal] = []
    controls = {control for part in found.values() for control in part}
    for control in sorted(controls, reverse=True):
        for system in ("toed", "inline"):
            title = f"{SYSTEMS[system]}, {CONTROLS[control]}"
            for part, words in (("streams", "throughput"), ("to_toed", "throughput to toed")):
                by = ratios(found, part, control, system, "bytes_per_s")
                goals += _worst(f"{title}: least {words} / Linux", by, THROUGHPUT)
                if by and part == "streams":
                    mean = round(geometric_mean(by.values()), 3)
                    name = f"{title}: geometric mean of throughput / Linux"
                    goals.append(report.Goal(name, mean, "ratio", MEAN, at_most=False))
            by = resent_ratios(found, control, system)
            goals += _worst(f"{title}: most bytes sent again / Linux", by, RESENT, at_most=True)
            for p in ("p50", "p99"):
                by = ratios(found, "objects", control, system, f"{p}_ms")
                name = f"{title}: longest {p} of objects / Linux"
                goals += _worst(name, by, TIMES, at_most=True)
            by = ratios(found, "fairness", control, system, "jain")
            goals += _worst(f"{title}: Jain's index beside Linux / two of Linux", by, FAIR)
    return goals


# ---- the report ----


def cells(part: str, values: Mapping, linux: Mapping | None) -> list[str]:
    def to_linux(key: str) -> str:
        return f"{values[key] / linux[key]:.2f}" if linux and linux.get(key) else "-"

    if part == "objects":
        figures = [f"{values[f'{p}_ms']:,.0f} ms" for p in ("p50", "p99")]
        return [*figures, to_linux("p50_ms"), to_linux("p99_ms")]
    if part == "fairness":
        return [f"{values['jain']:.3f}", "-", to_linux("jain"), "-"]
    rate = f"{8 * values['bytes_per_s'] / M:,.2f} Mbit/s"
    again = f"{100 * values['resent']:.2f} %"
    return [rate, again, to_linux("bytes_per_s"), to_linux("resent")]


HEADS = {
    "streams": ["throughput", "sent again", "to Linux", "to Linux"],
    "to_toed": ["throughput", "sent again", "to Linux", "to Linux"],
    "objects": ["p50", "p99", "to Linux", "to Linux"],
    "fairness": ["Jain's index", "", "to Linux", ""],
}


def tables(found: Mapping) -> str:
    """Format medians: a table for each part and congestion control."""
    parts = []
    for part, controls in found.items():
        for control, ats in controls.items():
            rows = [
                [at, SYSTEMS[system], *cells(part, values, by.get("linux"))]
                for at, by in ats.items()
                for system, values in by.items()
            ]
            head = [f"{part}, {CONTROLS[control]}", "sender", *HEADS[part]]
            parts += [terminal.table(head, rows)] if rows else []
    return "\n\n".join(parts)


def missing(name: str) -> str | None:
    """Return why a system cannot be measured here, or None."""
    why = None if name == "linux" else af_xdp_missing()
    if name == "inline" and not why and not links.has_inline():
        why = "this toehold has no `run --engine inline`"
    return why


def first_in_line() -> None:
    """Let this process and its children run before others, so that other work delays no frame. They
    need less than a core. Where that is not allowed, "late" in the JSON shows the delays."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError as e:
        terminal.say(f"wan: no real-time priority ({e.strerror}): other work may delay frames")


def run(options: argparse.Namespace) -> None:
    absent = {name: why for name in options.systems if (why := missing(name))}
    own = [name for name in options.systems if name != "linux" and name not in absent]
    first_in_line()
    samples = measure(options, own)
    found = medians(samples)
    goals = goals_of(found)
    print(f"\n{tables(found)}\n")
    report.print_goals({SYSTEMS[name]: why for name, why in absent.items()}, goals)
    settings = running.settings(options)
    settings |= {name: [link.name for link in settings[name]] for name in ("links", "object_links")}
    body = {"settings": settings, "systems": {n: SYSTEMS[n] for n in ("linux", *own)}}
    body |= {"not_available": absent, "medians": found, "samples": samples}
    report.write(options.out, body, goals)


def chosen_links(text: str) -> list[Link]:
    """Parse words that the names of the chosen links contain, as in "reorder,200ms"."""
    found = [link for link in LINKS if any(word in link.name for word in text.split(","))]
    if not found:
        names = "; ".join(link.name for link in LINKS)
        raise argparse.ArgumentTypeError(f"no link '{text}'; there are: {names}")
    return found


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = running.arguments("wan", __doc__, SYSTEMS, seconds=30, samples=5)
    parser.set_defaults(no_plots=True, warmup=0, object_links=list(OBJECT_LINKS))
    controls, parts = ",".join(CONTROLS), ",".join(PARTS)
    parser.add_argument(
        "--controls", type=running.chosen(CONTROLS), default=list(CONTROLS), help=controls
    )
    parser.add_argument("--parts", type=running.chosen(PARTS), default=list(PARTS), help=parts)
    parser.add_argument(
        "--links", type=chosen_links, default=list(LINKS), help='of streams: "reorder,200ms"'
    )
    parser.add_argument(
        "--quick", action="store_true", help="one short sample of a few links, in under 5 minutes"
    )
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(QUICK)
        options.systems = [name for name in options.systems if name != "inline"]
        options.links, options.object_links = list(QUICK_LINKS), list(QUICK_OBJECT_LINKS)
    return options


def main() -> int:
    return running.carry_out("wan", parse(), run)


if __name__ == "__main__":
    sys.exit(main())
