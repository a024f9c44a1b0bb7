# SPDX-License-Identifier: Apache-2.0
"""The gain of offloads: socket buffers, TSO and checksums, interrupt moderation.

Both ends run on the same system, each on its own core; a core's busy time, interrupts included, is
that of its end. Four experiments on Linux, toed and the inline TOE over veth:

buffers     bulk against the socket buffer, changed at the sender alone, at the receiver alone, and
            at both
messages    bulk by message size, with TSO and checksum offload on and off
echo        round trip of 50,000 bytes: ICMP echo, in fragments, and TCP; offloads on and off
moderation  toed's interrupts delayed by 0 to 500 us and as the load asks for (auto): bulk with the
            receiver's CPU, and p50 of 64-byte requests

--rate paces the link (1G: the link is the limit and the CPU varies), by a token bucket on Linux and
by the impairing back end on Toehold, which leaves checksums and segments to the engine: offloads
are compared with --rate 0 alone. Writes out/bench/offload.json.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from statistics import median

from bench import cores, links, pingpong, report, running, terminal
from bench.offload_links import LINKS

PARTS = ("buffers", "messages", "echo", "moderation")
BUFFERS = (4096, 16384, 65536, 262144, 1048576)
CHANGED = ("sender", "receiver", "both")
MESSAGES = (64, 1460, 8192, 65536)
DELAYS = (0, 10, 25, 50, 100, 250, 500)  # microseconds
CONNECTIONS = (1, 32, 256)
LARGE = 1 << 20  # the buffer of the end that is not changed
MESSAGE = 65536
ECHO, ECHOES = 50_000, 20
AUTO = "auto"
ON, WITHOUT = "on", "off"
# Goals of moderation (S3.3): what 250 us may cost, what 100 us must save.
KEPT, SAVED = 0.98, 0.70
MB = 1e6
ENDS = 0.25  # seconds before and after a sample in which programs start and end

Row = dict[str, float]


def bulk(link: links.Link, message: int, options: argparse.Namespace) -> Row:
    """Return a sample's rate, the share of each end's core, and the core's time for a MB."""
    args = ["--connections", 1, "--message", message]
    times = {"seconds": options.seconds, "warmup": options.warmup}
    with cores.Watch() as watch:
        found = link.measure("bulk", *args, role="sink", **times)
    row = {"gbit_per_s": 8 * found["bytes_per_s"] / 1e9}
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


def moderation(link: links.Link, options: argparse.Namespace) -> Callable[[], dict[str, Row]]:
    def take() -> dict[str, Row]:
        found = {}
        for us in (*options.delays, None):
            at = AUTO if us is None else str(us)
            link.delay(us)
            found[f"{at} bulk"] = bulk(link, MESSAGE, options)
            for connections in options.connections:
                found[f"{at} {connections}"] = requests(link, connections, 64, options)
        link.delay(None)
        return found

    return take


EXPERIMENTS = {"buffers": buffers, "messages": messages, "echo": echo, "moderation": moderation}


def applies(part: str, system: str, rate: int) -> bool:
    """Return whether an experiment says something of a system at that rate."""
    if part == "moderation":
        return system == "toed"  # Linux's veth has no interrupts, inline no interrupt to a host
    return not (rate and part in ("messages", "echo") and system != "linux")


def measure(options: argparse.Namespace) -> dict:
    """Take samples in turn: samples[rate][part][system] is a list of rows by point."""
    samples: dict = {}
    absent: dict[str, str] = {}
    for rate in options.rates:
        with ExitStack() as stack:
            opened, absent = links.open_all(LINKS, options.systems, stack, rate=rate)
            by_part = samples.setdefault(str(rate), {})
            for number in range(options.samples):
                for part in options.parts:
                    for name, link in opened.items():
                        if not applies(part, name, rate):
                            continue
                        where = f"{name}, {part}, {rate or 'no'} bit/s"
                        terminal.progress(f"sample {number + 1} of {options.samples}: {where}")
                        rows = EXPERIMENTS[part](link, options)()
                        by_part.setdefault(part, {}).setdefault(name, []).append(rows)
            links.check_all(opened)
    terminal.end_progress()
    return {"samples": samples, "not_available": absent}


def medians(samples: Mapping) -> dict:
    """Replace the list of each system by one row of medians for each point."""
    return {
        rate: {
            part: {
                system: {
                    at: {key: median(rows[at][key] for rows in list_) for key in list_[0][at]}
                    for at in list_[0]
                }
                for system, list_ in by_system.items()
            }
            for part, by_system in by_part.items()
        }
        for rate, by_part in samples.items()
    }


def binding(rows: Mapping[str, Row], small: int) -> str:
    """Return the end whose small buffer costs more throughput."""
    return min(CHANGED[:2], key=lambda end: rows[f"{end} {small}"]["gbit_per_s"])


def knee(rows: Mapping[str, Row], delays: list[int]) -> int:
    """Return the shortest delay whose receiver's CPU is within a tenth of the least."""
    costs = {us: rows[f"{us} bulk"]["receiver_us_per_mb"] for us in delays}
    return min(us for us, cost in costs.items() if cost <= 1.1 * min(costs.values()))


def goals_of(found: Mapping, delays: list[int]) -> list[report.Goal]:
    goals = []
    for rate, by_part in found.items():
        link = f"{int(rate) / 1e9:g} Gbit/s" if int(rate) else "unpaced"
        for system, rows in by_part.get("moderation", {}).items():
            none = rows.get("0 bulk")
            title = f"{system}, {link}: interrupts delayed by"
            if none and "250 bulk" in rows:
                kept = rows["250 bulk"]["gbit_per_s"] / none["gbit_per_s"]
                what = f"{title} 250 us, throughput"
                goals.append(report.Goal(what, round(kept, 3), "ratio", KEPT, at_most=False))
            if none and "100 bulk" in rows and none["receiver_us_per_mb"]:
                cost = rows["100 bulk"]["receiver_us_per_mb"] / none["receiver_us_per_mb"]
                what = f"{title} 100 us, receiver's CPU"
                goals.append(report.Goal(what, round(cost, 3), "ratio", SAVED))
    return goals


def cells(row: Row) -> list[str]:
    if "gbit_per_s" in row:
        shares = [f"{100 * row[f'{side}_cpu']:.0f}" for side in ("sender", "receiver")]
        costs = [f"{row[f'{side}_us_per_mb']:,.0f}" for side in ("sender", "receiver")]
        return [f"{row['gbit_per_s']:.3f}", *shares, *costs, "-"]
    return [*["-"] * 5, f"{row['p50_us']:,.1f}"]


def show(body: dict, goals: list[report.Goal], options: argparse.Namespace) -> None:
    head = ["system", "at", "Gbit/s", "sender %", "receiver %"]
    head += ["sender us/MB", "receiver us/MB", "p50 us"]
    for rate, by_part in body["medians"].items():
        for part, by_system in by_part.items():
            print(f"\n{part}, {f'{int(rate):,} bit/s' if int(rate) else 'unpaced'}")
            rows = [
                [body["systems"][s], at, *cells(row)]
                for s, by_point in by_system.items()
                for at, row in by_point.items()
            ]
            print(terminal.table(head, rows))
            for system, by_point in by_system.items():
                name = body["systems"][system]
                if part == "buffers":
                    end = binding(by_point, min(options.buffers))
                    print(f"{name}: the {end}'s buffer binds")
                if part == "moderation":
                    print(f"{name}: the knee is at {knee(by_point, options.delays)} us")
    print()
    titles = {LINKS[n].title: why for n, why in body["not_available"].items()}
    report.print_goals(titles, goals)


def run(options: argparse.Namespace) -> None:
    if options.quick:
        options.samples, options.seconds, options.warmup = 1, 0.2, 0.05
        options.buffers, options.messages = [4096, LARGE], [MESSAGE]
        options.delays, options.connections = [0, 100, 250], [1]
    body = measure(options)
    found = medians(body["samples"])
    goals = goals_of(found, options.delays)
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
    """Parse whole numbers from 0, as in "0,100"."""
    return [running.number_or_none(part) for part in text.split(",")]


def chosen(text: str) -> list[str]:
    """Parse names of experiments, as in "buffers,echo"."""
    if unknown := set(text.split(",")) - set(PARTS):
        raise argparse.ArgumentTypeError(
            f"no experiment {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}"
        )
    return text.split(",")


def main() -> int:
    parser = running.arguments("offload", __doc__, LINKS, seconds=1, samples=3)
    parser.add_argument("--rates", type=rates, default=[0, 10**9], help="of the link (0,1G)")
    parts = ",".join(PARTS)
    parser.add_argument(
        "--parts", type=running.chosen(EXPERIMENTS), default=list(PARTS), help=parts
    )
    parser.add_argument("--buffers", type=running.numbers, default=list(BUFFERS))
    parser.add_argument("--messages", type=running.numbers, default=list(MESSAGES))
    parser.add_argument("--delays", type=delays, default=list(DELAYS), help="microseconds")
    parser.add_argument("--connections", type=running.numbers, default=list(CONNECTIONS))
    parser.add_argument("--quick", action="store_true", help="one short sample: does it work?")
    return running.carry_out("offload", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
