# SPDX-License-Identifier: Apache-2.0
"""The gain of offloads: socket buffers, TSO and checksums, delayed interrupts, a busy web server.

Both ends run on the same system, each on its own core; a core's busy time, interrupts included, is
that of its end. Experiments on Linux, toed and the inline TOE over veth:

buffers     bulk against the socket buffer, changed at the sender alone, at the receiver alone, and
            at both
messages    bulk by message size, with TSO and checksum offload on and off
echo        round trip of 50,000 bytes: ICMP echo, in fragments, and TCP; offloads on and off
jumbo       bulk with frames of 1500 and 9000 bytes, offloads on and off, delays of toed
moderation  frames to toed delayed by 0 to 500 us and as the load asks for (auto): bulk with the
            receiver's CPU, and p50 of 64-byte requests
load        the same for requests at 10 and 90 percent of what the link can do
step        toed's delay over time, while the load goes from 10 to 90 percent and back
web         nginx with SPECweb99's mix of files and a page cache too small for them, its core busy
clients     nginx with up to thousands of clients of one file: the CPU time of a request

--rate paces the link (1G: the link is the limit and the CPU varies), by a token bucket on Linux and
by the impairing back end on Toehold, which leaves checksums and segments to the engine: offloads
are compared with --rate 0 alone. Writes out/bench/offload.json.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median

from bench import (
    cores,
    links,
    offload_moderation,
    offload_report,
    offload_web,
    pingpong,
    report,
    running,
    terminal,
)
from bench.offload_links import LINKS

PARTS = ("buffers", "messages", "echo", "jumbo", "moderation", "load", "step", "web", "clients")
BUFFERS = (4096, 16384, 65536, 262144, 1048576)
CHANGED = ("sender", "receiver", "both")
MESSAGES = (64, 1460, 8192, 65536)
CONNECTIONS = (1, 32, 256)
LARGE = 1 << 20  # the buffer of the end that is not changed
MESSAGE = 65536
ECHO, ECHOES = 50_000, 20
ON, WITHOUT = "on", "off"
MTUS = (1500, 9000)
CLIENTS = (64, 256, 1024)
MB = 1e6
ENDS = 0.25  # seconds before and after a sample in which programs start and end

Row = dict[str, float]


def bulk(link: links.Link, message: int, options: argparse.Namespace) -> Row:
    """Return a sample's rate, the share of each end's core, and the core's time for a MB."""
    args = ["--connections", 1, "--message", message]
    times = {"seconds": options.seconds, "warmup": options.warmup}
    before, engine = link.counted(), link.engine_seconds()
    with cores.Watch() as watch:
        found = link.measure("bulk", *args, role="sink", **times)
    row = {"gbit_per_s": 8 * found["bytes_per_s"] / 1e9}
    if counted := {name: n - before[name] for name, n in link.counted().items()}:
        mb = max(1.0, counted["rx_bytes"] / MB)
        row["sleeps_per_mb"] = counted["sleeps"] / mb
        row["interrupts_per_mb"] = counted["interrupts"] / mb
        row["toe_us_per_mb"] = link.spent(engine) * 1e6 / mb
    # Programs start before the warm-up and end after the measurement: neither is counted.
    length = max(0.1, options.seconds + options.warmup - 2 * ENDS)
    for side, core in (("receiver", links.SERVER_CORE), ("sender", links.CLIENT_CORE)):
        share = watch.share(core, length, ENDS)
        row[f"{side}_cpu"] = share
        row[f"{side}_us_per_mb"] = share * 1e6 / max(1.0, found["bytes_per_s"] / MB)
    return row


def requests(link: links.Link, connections: int, size: int, options: argparse.Namespace) -> Row:
    times = {"seconds": options.seconds, "warmup": options.warmup}
    found = pingpong.brief(link.sample(connections, size, **times))
    return {
        "requests_per_s": found["requests_per_s"],
        "p50_us": found["p50"] / 1000,
        "p99_us": found["p99"] / 1000,
    }


def pings(text: str) -> list[float]:
    """Return the round trips that ping(8) printed, in microseconds."""
    return [1000 * float(ms) for ms in re.findall(r"time=([\d.]+) ms", text)]


def buffers(link: links.Link, options: argparse.Namespace) -> Callable[[], dict[str, Row]]:
    def take() -> dict[str, Row]:
        found = {}
        for changed in CHANGED:
            for size in options.buffers:
                sender = LARGE if changed == "receiver" else size
                receiver = LARGE if changed == "sender" else size
                link.buffers(sender, receiver)
                found[f"{changed} {size}"] = bulk(link, MESSAGE, options)
        link.buffers(LARGE, LARGE)
        return found

    return take


def switched(link: links.Link, words: list[str], value: bool) -> None:
    link.switch(dict.fromkeys(words, value))


def by_offload(
    link: links.Link, take: Callable[[], dict[str, Row]]
) -> Callable[[], dict[str, Row]]:
    """Return what takes samples with the offloads on, and then off."""
    words = [w for w in link.offloads() if w in ("tso", "gso", "tx", "rx")]

    def both() -> dict[str, Row]:
        found = {f"{ON} {at}": row for at, row in take().items()}
        switched(link, words, False)
        try:
            found.update({f"{WITHOUT} {at}": row for at, row in take().items()})
        finally:
            switched(link, words, True)
        return found

    return both


def messages(link: links.Link, options: argparse.Namespace) -> Callable[[], dict[str, Row]]:
    return by_offload(link, lambda: {str(m): bulk(link, m, options) for m in options.messages})


def echo(link: links.Link, options: argparse.Namespace) -> Callable[[], dict[str, Row]]:
    def take() -> dict[str, Row]:
        found = {"tcp": requests(link, 1, ECHO, options)}
        if text := link.pinged(ECHO, ECHOES):
            found["icmp"] = {"p50_us": median(pings(text))}
        return found

    return by_offload(link, take)


def jumbo(link: links.Link, options: argparse.Namespace) -> Callable[[], dict[str, Row]]:
    def take() -> dict[str, Row]:
        found = {}
        for mtu in MTUS:
            with type(link)(rate=link.rate, mtu=mtu) as one:
                rows = by_offload(one, lambda o=one: {"bulk": bulk(o, MESSAGE, options)})()
                found.update({f"{mtu} {at.split()[0]}": row for at, row in rows.items()})
                for point in ("0", "100") if link.system == "toed" else ():
                    offload_moderation.choose(one, point)
                    found[f"{mtu} {point} us"] = bulk(one, MESSAGE, options)
        return found

    return take


def moderation(link: links.Link, options: argparse.Namespace) -> Callable[[], dict[str, Row]]:
    return lambda: offload_moderation.moderation(
        link,
        options,
        lambda: bulk(link, MESSAGE, options),
        lambda connections: requests(link, connections, 64, options),
    )


EXPERIMENTS = {
    "buffers": buffers,
    "messages": messages,
    "echo": echo,
    "jumbo": jumbo,
    "moderation": moderation,
    "load": lambda link, options: lambda: offload_moderation.load(link, options),
    "step": lambda link, options: lambda: {"step": offload_moderation.step(link, options)},
    "web": lambda link, options: lambda: offload_web.web(link.system, options),
    "clients": lambda link, options: lambda: offload_web.clients(link.system, options),
}
# Of toed alone: Linux's veth has no interrupts, inline none to a host.
OF_TOED = ("moderation", "load", "step")
# With a link of their own, which is not paced.
UNPACED = ("load", "step", "web", "clients")


def applies(part: str, system: str, rate: int) -> bool:
    """Return whether an experiment says something of a system at that rate."""
    if rate and part in UNPACED:
        return False
    if part in OF_TOED:
        return system == "toed"
    return not (rate and part in ("messages", "echo") and system != "linux")


def measure(options: argparse.Namespace) -> dict:
    """Take samples in turn: samples[rate][part][system] is a list of rows by point."""
    samples: dict = {}
    absent: dict[str, str] = {}
    for rate in options.rates:
        with ExitStack() as stack:
            opened, absent = links.open_all(LINKS, options.systems, stack, rate=rate)
            if why := offload_web.why_missing():
                absent["web"] = why
            by_part = samples.setdefault(str(rate), {})
            for number in range(options.samples):
                for part in options.parts:
                    for name, link in opened.items():
                        if not applies(part, name, rate) or part in absent:
                            continue
                        where = f"{name}, {part}, {rate or 'no'} bit/s"
                        terminal.progress(f"sample {number + 1} of {options.samples}: {where}")
                        rows = EXPERIMENTS[part](link, options)()
                        by_part.setdefault(part, {}).setdefault(name, []).append(rows)
            links.check_all(opened)
    terminal.end_progress()
    return {"samples": samples, "not_available": absent}


def show(body: dict, goals: list[report.Goal], options: argparse.Namespace) -> None:
    titles = body["systems"]
    for rate, by_part in body["medians"].items():
        for part, by_system in by_part.items():
            print(f"\n{part}, {f'{int(rate):,} bit/s' if int(rate) else 'unpaced'}")
            print(offload_report.table(by_system, titles))
            for system, rows in by_system.items():
                for said in offload_report.conclusions(part, rows, options.buffers, options.delays):
                    print(f"{titles[system]}: {said}")
            for line in offload_report.profiles(by_system, titles):
                print(line)
    print()
    absent = {LINKS[n].title if n in LINKS else n: w for n, w in body["not_available"].items()}
    report.print_goals(absent, goals)


def run(options: argparse.Namespace) -> None:
    if options.quick:
        options.samples, options.seconds, options.warmup = 1, 0.2, 0.05
        options.buffers, options.messages = [4096, LARGE], [MESSAGE]
        options.delays, options.connections, options.clients = [0, 100, 250], [1], [64]
        options.directories, options.cache_mib = min(8, options.directories), 32
    body = measure(options)
    found = offload_report.medians(body["samples"])
    goals = offload_report.goals_of(found, options.delays)
    titles = {name: LINKS[name].title for name in options.systems}
    body = {"settings": running.settings(options), "systems": titles, "medians": found, **body}
    show(body, goals, options)
    report.write(options.out, body, goals)


def rates(text: str) -> list[int]:
    """Parse rates in bit/s, as in "0,1G"."""
    found = []
    for part in text.split(","):
        parsed = re.fullmatch(r"(\d+)([MG]?)", part)
        if not parsed:
            raise argparse.ArgumentTypeError(f"'{part}': want bit/s, as in 1G, or 0: unpaced")
        found.append(int(parsed[1]) * {"": 1, "M": 10**6, "G": 10**9}[parsed[2]])
    return found


def delays(text: str) -> list[int]:
    """Parse delays that toed has, as in "0,100"."""
    found = [running.number_or_none(part) for part in text.split(",")]
    if unknown := set(found) - set(offload_moderation.DELAYS):
        known = ", ".join(map(str, offload_moderation.DELAYS))
        raise argparse.ArgumentTypeError(f"{min(unknown)} us: toed --moderation has {known}")
    return found


def main() -> int:
    parser = running.arguments("offload", __doc__, LINKS, seconds=1, samples=3)
    parser.add_argument("--rates", type=rates, default=[0, 10**9], help="of the link (0,1G)")
    parts = ",".join(PARTS)
    parser.add_argument("--parts", type=running.chosen(EXPERIMENTS), default=[*PARTS], help=parts)
    parser.add_argument("--buffers", type=running.numbers, default=list(BUFFERS))
    parser.add_argument("--messages", type=running.numbers, default=list(MESSAGES))
    parser.add_argument(
        "--delays", type=delays, default=[*offload_moderation.DELAYS], help="microseconds"
    )
    parser.add_argument("--connections", type=running.numbers, default=list(CONNECTIONS))
    parser.add_argument("--clients", type=running.numbers, default=list(CLIENTS))
    what = "of the web server's files, 5 MB each (64)"
    parser.add_argument("--directories", type=running.number, default=64, help=what)
    what = "memory of the web server, page cache included (48)"
    parser.add_argument("--cache-mib", type=running.number, default=48, help=what)
    parser.add_argument("--no-profiles", dest="profiles", action="store_false", help="without perf")
    parser.add_argument("--quick", action="store_true", help="one short sample: does it work?")
    return running.carry_out("offload", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
