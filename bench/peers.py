# SPDX-License-Identifier: Apache-2.0
"""Toehold beside its peers in one run: requests of 1 byte over 1, 32 and 256 connections, and bulk.

Both ends of each row run on the same system, each end on its own core, and samples are taken in
turn. A row has medians with their spread, the ratio to Linux and the ratio to the best peer. Frames
alone over the same veth are the upper limit of any TCP over AF_XDP.

lwIP of Debian (liblwip-dev, lwip/) is a row over AF_XDP and one over TAP, if this build has it. A
stack that you have built is a row of its own:

    --peer 'iip=COMMAND'    an echo server, as bench-iip's. In COMMAND, {interface}, {ip} and {port}
                            are those to serve at. The client is that of "inline, AF_XDP".

Without --peer there is no such row. The client of every peer is the same, so that rows differ in
the server alone. Writes out/bench/peers.json.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from bench import bulk, links, loadgen, pingpong, report, running, terminal
from tests.lab import paths, proc

LINKS: dict[str, type[links.Link]] = bulk.LINKS
CONNECTIONS, SIZE, MESSAGE = (1, 32, 256), 1, 65536
QUICK = {"samples": 2, "seconds": 0.2, "warmup": 0.1, "connections": [1, 32]}
ALONE, BULK = "frames_alone", "bulk"
LWIP = ("lwip", "lwip_tap")
# Rates of the inline TOE over AF_XDP, times those of Linux's epoll; and where frames alone are
# slower than that, the part of their rate.
TIMES_LINUX, OF_ALONE = {1: 17.0, 32: 4.3, 256: 3.8}, 0.9
TIMES_PEER = 1.3
BULK_OF_LINUX, BULK_OF_ALONE = 1.0, 0.95
TOED_TIMES_PEER, TOED_CONNECTIONS = 1.0, (32, 256)


@dataclass(frozen=True)
class Command:
    """The command of a peer's server. tap: its interface is the TAP device tap0."""

    name: str
    words: str
    tap: bool = False


def command(text: str) -> Command:
    """Parse NAME=COMMAND."""
    name, found, words = text.partition("=")
    if not (name.isidentifier() and found and words.strip()) or name in (*LINKS, ALONE, *LWIP):
        raise argparse.ArgumentTypeError(
            f"'{text}': want NAME=COMMAND, with a name of letters and digits that no system has"
        )
    try:
        words.format(interface="", ip="", port="")
    except (KeyError, IndexError, ValueError):
        raise argparse.ArgumentTypeError(
            f"'{text}': the placeholders are {{interface}}, {{ip}} and {{port}}"
        ) from None
    return Command(name, words)


def lwip() -> list[Command]:
    """Return lwIP's servers, none when this build has no lwIP."""
    try:
        program = shlex.quote(str(paths.built("lwip_echo")))
    except FileNotFoundError:
        return []
    return [
        Command("lwip", f"{program} af_xdp:{{interface}} {{ip}} {{port}}"),
        Command("lwip_tap", f"{program} tap:{{interface}} {{ip}} {{port}}", tap=True),
    ]


class _Running:
    """A server that runs for all samples."""

    def stop(self) -> int:
        return 0


class Peer(links.InlineVeth):
    """A peer's echo server over AF_XDP or TAP; the client is the inline TOE's over AF_XDP."""

    def __init__(self, of: Command, **options: object):
        super().__init__(**options)
        self.of, self.title, self.tap = of, f"{of.name} (server)", of.tap

    def open(self, stack: ExitStack) -> None:
        super().open(stack)
        interface = self.pair.tap_if or self.pair.server_if
        places = {"interface": interface, "ip": self.ip, "port": links.PORT}
        argv = shlex.split(self.of.words.format(**places))
        server = self.server.start(loadgen.pinned(self.cores[0], argv), name=self.of.name)
        stack.callback(server.kill)
        proc.wait_until(self._answers, f"{self.of.name} answers", proc=server, timeout=30)

    def _answers(self) -> bool:
        try:
            args = ["--to", f"{self.ip}:{links.PORT}", "--duration", 0.1, "--timeout", 2, "--busy"]
            options = {"wrap": self.on_client, "core": self.cores[1], "env": self.env}
            loadgen.run(self.client, "pingpong", *args, **options)
        except proc.Failed:
            return False
        return True

    def _serve(self, role: str, *args: object) -> _Running:
        if role != "pingpong":
            raise proc.Failed(f"{self.title} only echoes")
        return _Running()


def measure(options: argparse.Namespace) -> dict:
    """Take samples in turn: samples[system][connections or "bulk"] is a list."""
    streams = ("--connections", 1, "--message", MESSAGE)
    times = {"seconds": options.seconds, "warmup": options.warmup}
    pin = {"pin": not options.unpinned}
    with ExitStack() as stack:
        opened, absent = links.open_all(LINKS, options.systems, stack, **pin)
        poured, _ = links.open_streams(LINKS, list(opened), stack, options)
        peers = {p.name: stack.enter_context(Peer(p, **pin)) for p in options.peer}
        bare = None
        if "inline_af_xdp" in opened or "toed_af_xdp" in opened:
            bare = stack.enter_context(links.Bare(**pin))
        names = [*opened, *peers, *([ALONE] if bare else [])]
        points = [*map(str, options.connections), BULK]
        samples: dict = {name: {at: [] for at in points} for name in names}
        for number in range(options.samples):
            for connections in options.connections:
                terminal.progress(f"sample {number + 1}: {connections} connections")
                at = str(connections)
                for name, link in (*opened.items(), *peers.items()):
                    found = pingpong.brief(link.sample(connections, SIZE, **times))
                    samples[name][at].append({"rate": found["requests_per_s"], **found})
                if bare:
                    alone = bare.exchange(connections, SIZE, **times)
                    samples[ALONE][at].append({"rate": alone["per_s"], **alone})
            terminal.progress(f"sample {number + 1}: bulk")
            for name, link in poured.items():
                found = link.measure("bulk", *streams, role="sink", **times)
                samples[name][BULK].append({"rate": 8 * found["bytes_per_s"]})
            if bare:
                found = bare.pour(**times)
                samples[ALONE][BULK].append({"rate": 8 * found["bytes_per_s"], **found})
        links.check_all(opened)
    terminal.end_progress()
    return {"samples": samples, "not_available": absent}


def medians(samples: dict) -> dict:
    """Return rate, its spread and, where there are latencies, their p50 of each list of samples."""
    found: dict = {}
    for system, by_point in samples.items():
        found[system] = {}
        for at, list_ in by_point.items():
            rates = [s["rate"] for s in list_]
            if not rates:
                continue
            row = {"rate": round(median(rates), 1), "least": min(rates), "most": max(rates)}
            if "p50" in list_[0]:
                row["p50"] = median(s["p50"] for s in list_)
            found[system][at] = row
    return found


def add_ratios(found: dict, peers: Sequence[str]) -> None:
    """Add to each figure its ratio to Linux and to the best of the peers, if they were there."""
    points = {at for by_point in found.values() for at in by_point}
    for at in points:
        linux = found.get("linux", {}).get(at)
        best = max((found[p][at]["rate"] for p in peers if at in found.get(p, {})), default=None)
        for by_point in found.values():
            if at in by_point and linux and linux["rate"]:
                by_point[at]["to_linux"] = round(by_point[at]["rate"] / linux["rate"], 3)
            if at in by_point and best:
                by_point[at]["to_best_peer"] = round(by_point[at]["rate"] / best, 3)


def _at_least(name: str, value: float, goal: float, limit: float | None = None) -> report.Goal:
    return report.Goal(name, round(value, 3), "ratio", round(goal, 3), at_most=False, limit=limit)


def goals_of(found: dict, peers: Sequence[str], *, has_core: bool) -> list[report.Goal]:
    """Judge the medians. has_core: toed had a core of its own."""
    goals = []

    def row(system: str, at: str) -> dict | None:
        there = found.get(system, {}).get(at)
        return there if there and there["rate"] else None

    def best(at: str) -> dict | None:
        there = [row(p, at) for p in peers if row(p, at)]
        return max(there, key=lambda f: f["rate"], default=None)

    for connections, times in TIMES_LINUX.items():
        at = str(connections)
        own, linux, alone = row("inline_af_xdp", at), row("linux", at), row(ALONE, at)
        title = f"inline, AF_XDP, {connections} connection{'s' * (connections > 1)}"
        if own and linux:
            limit = round(alone["rate"] / linux["rate"], 3) if alone else None
            goal = min(times, OF_ALONE * limit) if limit else times
            goals.append(_at_least(f"{title} / Linux", own["rate"] / linux["rate"], goal, limit))
        if own and best(at):
            ratio = own["rate"] / best(at)["rate"]
            goals.append(_at_least(f"{title} / best peer", ratio, TIMES_PEER))
            ratio = round(own["p50"] / best(at)["p50"], 3)
            goals.append(report.Goal(f"{title}: p50 / best peer", ratio, "ratio", 1.0))
    own, linux, alone = (row(s, BULK) for s in ("inline_af_xdp", "linux_no_tso", ALONE))
    if own and linux:
        limit = round(alone["rate"] / linux["rate"], 3) if alone else None
        goal = min(BULK_OF_LINUX, BULK_OF_ALONE * limit) if limit else BULK_OF_LINUX
        ratio = own["rate"] / linux["rate"]
        goals.append(_at_least("inline, AF_XDP, bulk / Linux without TSO", ratio, goal, limit))
    for connections in TOED_CONNECTIONS if has_core else ():
        own, other = row("toed_af_xdp", str(connections)), best(str(connections))
        if own and other:
            title = f"toed, AF_XDP, {connections} connections / best peer"
            goals.append(_at_least(title, own["rate"] / other["rate"], TOED_TIMES_PEER))
    return goals


def titles(peers: Sequence[str]) -> dict[str, str]:
    own = {name: link.title for name, link in LINKS.items()}
    return {**own, **{p: f"{p} (server)" for p in peers}, ALONE: links.Bare.title}


def table(found: dict, names: dict[str, str]) -> str:
    """Format medians, spread and ratios: a line for each system and point."""
    rows = []
    for system, by_point in found.items():
        for at, f in by_point.items():
            unit, what = (1e9, "bulk, Gbit/s") if at == BULK else (1e3, f"{at}, 1000/s")
            spread = f"{f['least'] / unit:,.1f} to {f['most'] / unit:,.1f}"
            p50 = f"{f['p50'] / 1000:,.1f}" if "p50" in f else "-"
            ratios = [f"{f[r]:.2f}" if r in f else "-" for r in ("to_linux", "to_best_peer")]
            cells = [what, f"{f['rate'] / unit:,.1f}", spread, p50, *ratios]
            rows.append([names[system], *cells])
    head = ["", "connections", "median", "spread", "p50 us", "to Linux", "to best peer"]
    return terminal.table(head, rows)


def run(options: argparse.Namespace) -> None:
    if options.quick:
        vars(options).update(QUICK)
    own = [] if options.no_lwip else lwip()
    options.peer = [*own, *options.peer]
    body = measure(options)
    if not own and not options.no_lwip:
        body["not_available"]["lwip"] = "this build has no lwIP: install liblwip-dev, build again"
    peers = [p.name for p in options.peer]
    found = medians(body["samples"])
    add_ratios(found, peers)
    has_core = options.unpinned and report.machine()["cores"] >= 4
    goals = goals_of(found, peers, has_core=has_core)
    names = titles(peers)
    if found:
        print(f"\n{table(found, names)}\n")
    absent = {names.get(name, "lwIP"): why for name, why in body["not_available"].items()}
    report.print_goals(absent, goals)
    settings = {**running.settings(options), "peer": {p.name: p.words for p in options.peer}}
    body = {"settings": settings, "systems": names, "medians": found, **body}
    report.write(options.out, body, goals)


def main() -> int:
    parser = running.arguments("peers", __doc__, LINKS, seconds=1, samples=5)
    parser.set_defaults(no_plots=True)
    parser.add_argument("--connections", type=running.numbers, default=list(CONNECTIONS))
    parser.add_argument(
        "--peer", type=command, action="append", default=[], metavar="NAME=COMMAND", help="a row"
    )
    parser.add_argument("--no-lwip", action="store_true", help="without the rows of lwIP")
    parser.add_argument("--quick", action="store_true", help="a first look, less than a minute")
    parser.add_argument("--unpinned", action="store_true", help="let the kernel choose cores")
    return running.carry_out("peers", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
