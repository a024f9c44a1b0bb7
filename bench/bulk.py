# SPDX-License-Identifier: Apache-2.0
"""Bulk transfer by message size, over 1 and 100 connections: Linux, toed and the inline TOE; with
each offload and zero copy off in turn; zero copy against copy by message size, and held and
borrowed received frames against copied ones.

`toehold bench bulk` writes as fast as possible to a sink; both run on the same system, each on its
own core. Samples are taken in turn. For AF_XDP, frames without TCP over the same veth give the
upper limit. Writes out/bench/bulk.json and its plot.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from statistics import median

from bench import features, links, report, running, terminal

LINKS: dict[str, type[links.Link]] = {
    "linux": links.Linux,
    "linux_no_tso": links.LinuxNoTso,
    **{name: link for name, link in links.LINKS.items() if not name.startswith("linux")},
}
MESSAGES, CONNECTIONS = (64, 1024, 16384, 65536, 1048576), (1, 100)
AT = 65536  # bytes of a message, for the goals
GB = 1e9


def point(connections: int, message: int) -> str:
    return f"{connections}x{message}"


def once(
    link: links.Link,
    connections: int,
    message: int,
    options: argparse.Namespace,
    *,
    zero_copy: bool = False,
) -> dict:
    """A sample."""
    args = ["--connections", connections, "--message", message]
    args += ["--zero-copy"] if zero_copy else []
    found = link.measure("bulk", *args, role="sink", seconds=options.seconds, warmup=options.warmup)
    by_second = [second["bytes"] for second in found["by_second"]]
    return {
        "bytes_per_s": round(found["bytes_per_s"]),
        "bytes_per_cpu_s": round(found["bytes_in_all"] / found["cpu_s"]),
        "by_second": by_second,
    }


def measure(options: argparse.Namespace) -> dict:
    points = [(c, m) for c in options.connections for m in options.messages]
    alone = []
    with ExitStack() as stack:
        opened, absent = links.open_streams(LINKS, options.systems, stack, options)
        samples = {name: {point(*p): [] for p in points} for name in opened}
        bare = None
        if any(name.endswith("_af_xdp") for name in opened):
            bare = stack.enter_context(links.Bare(pin=not options.unpinned))
        for number in range(options.samples):
            if bare:
                terminal.progress(f"sample {number + 1} of {options.samples}: {bare.title}")
                alone.append(bare.pour(seconds=options.seconds, warmup=options.warmup))
            for connections, message in points:
                for name, link in opened.items():
                    at = point(connections, message)
                    terminal.progress(f"sample {number + 1} of {options.samples}: {name}, {at}")
                    samples[name][at].append(once(link, connections, message, options))
        links.check_all(opened)
    terminal.end_progress()
    return {"samples": samples, "frames_alone": alone, "not_available": absent}


def summarise(body: dict) -> tuple[dict, list[report.Goal]]:
    """Return medians in bytes per second, and the goals."""
    found = {
        system: {at: median(s["bytes_per_s"] for s in list_) for at, list_ in by_point.items()}
        for system, by_point in body["samples"].items()
    }
    goals = []
    one, many = point(1, AT), point(100, AT)
    alone = [s["bytes_per_s"] for s in body.get("frames_alone", ())]

    def goal(title: str, system: str, at: str, other: str, other_at: str, least: float) -> None:
        own, against = found.get(system, {}).get(at), found.get(other, {}).get(other_at)
        if own and against:
            ratio = round(own / against, 3)
            limit = None
            if alone and other == "linux_no_tso":
                limit = round(median(alone) / against, 3)
            goals.append(report.Goal(title, ratio, "ratio", least, at_most=False, limit=limit))

    for system, link in LINKS.items():
        if system.endswith("_wire"):
            goal(f"{link.title} / Linux with TSO", system, one, "linux", one, 3)
        elif system.endswith("_af_xdp"):
            goal(f"{link.title} / Linux without TSO", system, one, "linux_no_tso", one, 1)
        if not system.startswith("linux"):
            goal(f"{link.title}: 100 connections / one", system, many, system, one, 0.95)
    return found, goals


def compare(options: argparse.Namespace) -> dict:
    """Measure with each feature off, and zero copy against copy; return samples and medians."""

    def take(link: links.Link, connections: int, message: int, *, zero_copy: bool) -> dict:
        return once(link, connections, message, options, zero_copy=zero_copy)

    off = features.measure_features(LINKS, options, take, AT)
    zero = features.measure_zero_copy(LINKS, options, take)
    received = features.measure_receiving(LINKS, options)
    ratios = {
        rate: {n: features.sizes(by, rate) for n, by in features.medians(zero).items()}
        for rate in features.RATES
    }
    return {
        "features": off,
        "features_change_percent": {
            name: features.change(by) for name, by in features.medians(off).items()
        },
        "zero_copy": zero,
        "zero_copy_ratio": ratios,
        "zero_copy_from": {
            name: features.threshold(by) for name, by in ratios["bytes_per_cpu_s"].items()
        },
        "receiving": received,
        "receiving_ratio": features.received_ratios(features.medians(received)),
    }


def show_compared(body: dict) -> None:
    changes, ratios = body["features_change_percent"], body["zero_copy_ratio"]
    names = list(dict.fromkeys(row for by in changes.values() for row in by))
    if changes:
        head = [f"percent with it off, {AT} bytes", *[LINKS[s].title for s in changes]]
        rows = [
            [row, *[f"{by[row]:+.1f}" if row in by else "-" for by in changes.values()]]
            for row in names
        ]
        print(f"{terminal.table(head, rows)}\n")
    for rate, by_system in ratios.items() if body["zero_copy"] else ():
        head = [f"zero copy / copy, {rate}", *next(iter(by_system.values()))]
        rows = [
            [LINKS[s].title, *["-" if v is None else f"{v:.2f}" for v in by.values()]]
            for s, by in by_system.items()
        ]
        print(f"{terminal.table(head, rows)}\n")
    for system, by_frames in body["receiving_ratio"].items():
        messages = list(next(iter(by_frames.values())))
        ways = [way for way in features.RECEIVING if way != "copied"]
        head = [
            f"{LINKS[system].title}: to copied, bytes per CPU time",
            *[f"{way}, {m}" for m in messages for way in ways],
        ]
        rows = [
            [f"frames: {frames}", *[str(by[m][way] or "-") for m in messages for way in ways]]
            for frames, by in by_frames.items()
        ]
        print(f"{terminal.table(head, rows)}\n")
    for system, size in body["zero_copy_from"].items():
        print(f"{LINKS[system].title}: zero copy costs no more CPU from {size} bytes on")


def show(found: dict, body: dict, goals: list[report.Goal]) -> None:
    rows = [
        [LINKS[system].title, *[f"{v / GB:.3f}" for v in by_point.values()]]
        for system, by_point in found.items()
    ]
    if found:
        print(f"\n{terminal.table(['GB/s', *next(iter(found.values()))], rows)}\n")
    show_compared(body)
    report.print_goals({LINKS[n].title: why for n, why in body["not_available"].items()}, goals)


def run(options: argparse.Namespace) -> None:
    body = {**measure(options), **compare(options)}
    found, goals = summarise(body)
    show(found, body, goals)
    measured = (*found, *body["features"], *body["zero_copy"], *body["receiving"])
    titles = {n: LINKS[n].title for n in measured}
    body = {"settings": running.settings(options), "systems": titles, "medians": found, **body}
    report.write(options.out, body, goals)


def main() -> int:
    parser = running.arguments("bulk", __doc__, LINKS, seconds=2, samples=5)
    parser.add_argument("--connections", type=running.numbers, default=list(CONNECTIONS))
    parser.add_argument("--messages", type=running.numbers, default=list(MESSAGES))
    for name, default, what in (
        ("--features-of", features.SYSTEMS, "features are off in turn on these"),
        ("--zero-copy-of", features.WITH_ZERO_COPY, "zero copy against copy on these"),
        ("--receive-of", features.RECEIVERS, "received frames held and lent on these"),
    ):
        text = f"{what}; or none ({','.join(default)})"
        parser.add_argument(name, type=running.chosen(LINKS), default=list(default), help=text)
    parser.add_argument("--off", type=lambda text: text.split(","), help="features (all in use)")
    parser.add_argument(
        "--zero-copy-messages", type=running.numbers, default=list(features.MESSAGES)
    )
    parser.add_argument(
        "--receive-messages", type=running.numbers, default=list(features.RECEIVE_MESSAGES)
    )
    parser.add_argument("--unpinned", action="store_true", help="let the kernel choose cores")
    return running.carry_out("bulk", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
