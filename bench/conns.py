# SPDX-License-Identifier: Apache-2.0
"""Connections opened and closed per second, and many flows at once.

Opened and closed on Linux, toed and the inline TOE: `toehold bench conns` with 16 attempts at once,
both ends on the same system, each on its own core. "short": one exchange of 64 bytes, the server
closes and keeps the TIME-WAIT. "reset": no exchange, the client resets.

Many flows (bench/flows.py): requests per second over 1,000 to 1,000,000 established ones, inline on
the shared-memory wire, and the memory of an idle one.

Samples are taken in turn. Writes out/bench/conns.json and its plots.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from statistics import median

from bench import flows, links, report, running, terminal

UNDER_WAY = 16
# Arguments of the client, and of its server.
KINDS = {
    "short": (["--size", 64, "--close", "wait"], ["--once"]),
    "reset": (["--size", 0, "--close", "rst"], []),
}
# The default port range of Linux lasts for about a second.
_SETTINGS = ("net.ipv4.ip_local_port_range=1024 65535", "net.core.somaxconn=4096")


def measure(options: argparse.Namespace) -> dict:
    with ExitStack() as stack:
        opened, absent = links.open_all(
            links.LINKS, options.systems, stack, pin=not options.unpinned
        )
        for link in opened.values():
            for ns in (link.server, link.client):
                ns.run(["sysctl", "-qw", *_SETTINGS])
        samples = {name: {kind: [] for kind in KINDS} for name in opened}
        for number in range(options.samples):
            for kind, (args, serve) in KINDS.items():
                for name, link in opened.items():
                    terminal.progress(f"sample {number + 1} of {options.samples}: {name}, {kind}")
                    found = link.measure(
                        "conns",
                        *["--connections", UNDER_WAY, *args],
                        serve=serve,
                        seconds=options.seconds,
                        warmup=options.warmup,
                    )
                    latency = found["latency_ns"]
                    samples[name][kind].append(
                        {
                            "per_s": round(found["requests_per_s"], 1),
                            "p50_us": latency["p50"] / 1000,
                            "p99_us": latency["p99"] / 1000,
                        }
                    )
        links.check_all(opened)
    terminal.end_progress()
    return {"samples": samples, "not_available": absent}


def summarise(samples: dict) -> tuple[dict, dict]:
    """Return medians, and the ratio of each system's rate to that of Linux."""
    found = {
        system: {
            kind: {name: round(median(s[name] for s in list_), 3) for name in list_[0]}
            for kind, list_ in kinds.items()
        }
        for system, kinds in samples.items()
    }
    linux = found.get("linux")
    ratios = {
        system: {kind: round(f["per_s"] / linux[kind]["per_s"], 3) for kind, f in kinds.items()}
        for system, kinds in found.items()
        if linux and system != "linux"
    }
    return found, ratios


def run(options: argparse.Namespace) -> None:
    body = measure(options) if options.systems else {"samples": {}, "not_available": {}}
    found, ratios = summarise(body["samples"])
    head = ["connections/s (p50 us)", *KINDS, "/ Linux"]
    goals: list[report.Goal] = []
    many = {}
    if options.flows or options.memory_flows:
        many = flows.measure(
            options.flows,
            options.memory_flows,
            options.samples,
            options.seconds,
            pin=not options.unpinned,
        )
        many["medians"], goals = flows.summarise(many)
    rows = [
        [links.LINKS[system].title]
        + [f"{f['per_s']:,.0f} ({f['p50_us']:,.1f})" for f in kinds.values()]
        + [", ".join(f"{r:g}" for r in ratios.get(system, {}).values())]
        for system, kinds in found.items()
    ]
    if rows:
        print(f"\n{terminal.table(head, rows)}\n")
    absent = {links.LINKS[n].title: w for n, w in body["not_available"].items()}
    if many:
        flows.show(many, many["medians"])
        absent |= {f"{int(n):,} flows": why for n, why in many["absent"].items()}
    report.print_goals(absent, goals)
    titles = {name: links.LINKS[name].title for name in found}
    body = {"systems": titles, "medians": found, "ratios": ratios, "flows": many, **body}
    report.write(options.out, {"settings": running.settings(options), **body}, goals)


def counts(text: str) -> list[int]:
    return [] if text == "none" else running.numbers(text)


def main() -> int:
    parser = running.arguments("conns", __doc__, links.LINKS, seconds=3, samples=5)
    parser.add_argument("--unpinned", action="store_true", help="let the kernel choose cores")
    parser.add_argument(
        "--flows",
        type=counts,
        default=[1000, 10_000, 100_000, 1_000_000],
        help="established at once: 1000,10000,100000,1000000; none: not measured",
    )
    parser.add_argument(
        "--memory-flows",
        type=running.number_or_none,
        default=50_000,
        metavar="N",
        help="idle ones, and twice as many, whose memory is compared (50000); 0: not measured",
    )
    # A SYN that arrives before the other end is open is retransmitted after a second.
    parser.set_defaults(warmup=1.5)
    return running.carry_out("conns", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
