# SPDX-License-Identifier: Apache-2.0
"""Patterns of requests on Linux, toed and the inline TOE, and the ACKs that each of them costs.

write-write-read: a request in two writes, then its answer. request-response: one write, one answer.
pipelined: 16 requests, one write each, then 16 answers. bulk: a MiB, then an answer. Each over one
connection (kept) and over a connection of its own (new, with connect() in its time), by blocking
sockets without TCP_NODELAY: Nagle's algorithm and delayed ACKs meet as in ordinary programs.

The system is at one end of a veth link, once as server and once as client; Linux's TCP is at the
other. Both ends have a core. Samples are taken in turn. Then 200 exchanges (bulk: 8) are captured
at Linux's end: the pure ACKs that the system sent, per data segment that it received. The link has
no segmentation offload, so that segments are those of a wire. Writes out/bench/patterns.json.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from statistics import median

from bench import links, loadgen, report, running, terminal
from tests.lab import netns, paths, proc
from tests.lab.toed import Toed, af_xdp_missing

PATTERNS = ("write-write-read", "request-response", "pipelined", "bulk")
CONNECTIONS = ("kept", "new")
SIDES = ("server", "client")  # what the system is
SYSTEMS = {"linux": "Linux", "toed": "toed, AF_XDP", "inline": "inline, AF_XDP"}
PORT = 7100
# Captured exchanges.
COUNT, COUNT_BULK = 200, 8
SETTINGS = ("net.ipv4.ip_local_port_range=1024 65535",)
FIN, SYN, RST = 1, 2, 4
SO_RCVBUFFORCE, SOL_PACKET, PACKET_STATISTICS = 33, 263, 6
ETH_P_ALL, ETH_P_IP, TCP = 3, 0x0800, 6
ALL = [f"{p} {c} {s}" for p in PATTERNS for c in CONNECTIONS for s in SIDES]


class System:
    """A system at srv0, and Linux at cli0."""

    def __init__(self, name: str, stack: ExitStack, number: int):
        kernel = f"10.8{number}.0.1/24" if name == "linux" else None
        self.pair = stack.enter_context(netns.Pair(subnet=f"10.8{number}.0", kernel_ip=kernel))
        self.wrap = loadgen.plain
        self.env = links.room(2048, 1 << 20)
        netif = f"af_xdp:{self.pair.server_if}"
        for ns in (self.pair.server, self.pair.client):
            ns.run(["sysctl", "-qw", *SETTINGS])
        if name == "linux":
            off = ["tso", "off", "gso", "off", "gro", "off"]
            self.pair.server.run(["ethtool", "-K", self.pair.server_if, *off])
        if name == "toed":
            toed = stack.enter_context(Toed(self.pair, netif=netif, args=["--spin-us", 0]))
            proc.run(["taskset", "-a", "-p", "-c", links.SERVER_CORE, toed.proc.pid])
            self.wrap = toed.wrapped
        if name == "inline":
            run = [paths.built("toehold"), "run", "--require", "--engine", "inline"]
            run += ["--netif", netif, "--ip", f"{self.pair.server_ip}/{self.pair.prefix_len}", "--"]
            self.wrap = lambda argv: [*run, *argv]

    def argv(self, own: bool, *words: object) -> list[object]:
        """Return the command of the system's end, or of Linux's, on its core."""
        argv = [paths.built("patterns"), *words]
        core = links.SERVER_CORE if own else links.CLIENT_CORE
        return loadgen.pinned(core, self.wrap(argv) if own else argv)

    def exchange(
        self, at: str, *, seconds: float = 60.0, warmup: float = 0.0, count: int = 0
    ) -> dict:
        """Run exchanges of a pattern, connection and side for a time, or a count of them."""
        pattern, connection, side = at.split()
        own = side == "server"
        ends = (self.pair.server, self.pair.client)
        served, asking = ends if own else ends[::-1]
        where = [self.pair.server_ip if own else self.pair.client_ip, PORT]
        argv = self.argv(own, "serve", pattern, connection, *where)
        times = [max(1, round(1000 * seconds)), round(1000 * warmup), count]
        with served.start(argv, name="patterns", env=self.env) as server:
            proc.wait_until(lambda: "serving" in server.text(), f"serve {at}", proc=server)
            argv = self.argv(not own, "ask", pattern, connection, *where, *times)
            done = asking.run(argv, env=self.env, timeout=seconds + warmup + 120)
        return json.loads(done.stdout.splitlines()[-1])

    def acks(self, at: str) -> dict:
        """Capture exchanges at Linux's end; return the segments of the system's connection."""
        capture = self.pair.client.socket(socket.AF_PACKET, socket.SOCK_RAW)
        with capture:
            capture.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)
            capture.bind((self.pair.client_if, ETH_P_ALL))
            capture.setblocking(False)
            self.exchange(at, count=COUNT_BULK if at.startswith("bulk") else COUNT)
            found = count_segments(frames_of(capture), self.pair.server_ip)
            _, lost = struct.unpack("=II", capture.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        if lost:
            raise proc.Failed(f"{at}: {lost} frames were not captured: ACKs cannot be counted")
        return found


def frames_of(capture: socket.socket) -> Iterable[bytes]:
    """Yield what a capturing socket holds."""
    while True:
        try:
            yield capture.recv(65536)
        except BlockingIOError:
            return


def count_segments(frames: Iterable[bytes], ip: str) -> dict:
    """Count the pure ACKs that the host of this address sent and the data segments it received."""
    own = socket.inet_aton(ip)
    acks = data = 0
    for frame in frames:
        if len(frame) < 34 or struct.unpack_from("!H", frame, 12)[0] != ETH_P_IP:
            continue
        packet = frame[14:]
        head = (packet[0] & 15) * 4
        if packet[9] != TCP:
            continue
        length = struct.unpack_from("!H", packet, 2)[0] - head - (packet[head + 12] >> 4) * 4
        flags = packet[head + 13]
        if packet[16:20] == own and length > 0:
            data += 1
        elif packet[12:16] == own and length == 0 and not flags & (FIN | SYN | RST):
            acks += 1
    return {"acks": acks, "data_segments": data}


def brief(found: dict) -> dict:
    seconds = found["ns"] / 1e9
    return {
        "p50_us": round(found["p50_ns"] / 1000, 3),
        "p99_us": round(found["p99_ns"] / 1000, 3),
        "requests_per_s": round(found["requests"] / seconds, 1),
        "bytes_per_s": round(found["bytes"] / seconds),
    }


def summarise(samples: dict, segments: dict) -> tuple[dict, list[report.Goal]]:
    """Return medians with ACKs and ratios to Linux, and a goal for each TOE: no pattern's median
    time is longer than Linux's. samples[system][at] is a list, segments[system][at] a count."""
    found = {
        system: {at: {n: median(s[n] for s in list_) for n in list_[0]} for at, list_ in by.items()}
        for system, by in samples.items()
    }
    for system, by in segments.items():
        for at, counted in by.items():
            per = counted["acks"] / max(1, counted["data_segments"])
            found[system][at]["acks_per_segment"] = round(per, 3)
    goals = []
    for system in (s for s in found if s != "linux" and "linux" in found):
        for at, values in found[system].items():
            values["to_linux"] = round(values["p50_us"] / found["linux"][at]["p50_us"], 3)
        worst = max(found[system], key=lambda at: found[system][at]["to_linux"])
        title = f"{SYSTEMS[system]}: p50 of its slowest pattern ({worst}) / Linux"
        goals.append(report.Goal(title, found[system][worst]["to_linux"], "ratio", 1.0))
    return found, goals


def show(found: dict, goals: list[report.Goal], absent: dict) -> None:
    head = ["pattern, connection, system's side", "system"]
    head += ["p50 us", "p99 us", "to Linux", "requests/s", "MB/s", "ACKs/segment"]
    rows = []
    for at in next(iter(found.values()), {}):
        for system, by in found.items():
            v = by[at]
            ratio = f"{v['to_linux']:.2f}" if "to_linux" in v else "-"
            rows.append([at, SYSTEMS[system], f"{v['p50_us']:,.1f}", f"{v['p99_us']:,.1f}", ratio])
            rows[-1] += [f"{v['requests_per_s']:,.0f}", f"{v['bytes_per_s'] / 1e6:,.1f}"]
            rows[-1].append(f"{v['acks_per_segment']:.2f}")
    print(f"\n{terminal.table(head, rows)}\n")
    report.print_goals({SYSTEMS[name]: why for name, why in absent.items()}, goals)


def missing(name: str) -> str | None:
    """Return why a system cannot be measured here, or None."""
    why = None if name == "linux" else af_xdp_missing()
    if name == "inline" and not why and not links.has_inline():
        why = "this toehold has no `run --engine inline`"
    return why


def run(options: argparse.Namespace) -> None:
    absent = {name: why for name in options.systems if (why := missing(name))}
    with ExitStack() as stack:
        systems = {
            name: System(name, stack, number)
            for number, name in enumerate(options.systems)
            if name not in absent
        }
        samples = {name: {at: [] for at in options.only} for name in systems}
        for number in range(options.samples):
            for at in options.only:
                for name, system in systems.items():
                    terminal.progress(f"sample {number + 1} of {options.samples}: {name}, {at}")
                    times = {"seconds": options.seconds, "warmup": options.warmup}
                    samples[name][at].append(brief(system.exchange(at, **times)))
        segments = {name: {at: s.acks(at) for at in options.only} for name, s in systems.items()}
    terminal.end_progress()
    found, goals = summarise(samples, segments)
    show(found, goals, absent)
    body = {
        "settings": running.settings(options),
        "systems": {name: SYSTEMS[name] for name in systems},
        "not_available": absent,
        "medians": found,
        "samples": samples,
        "segments": segments,
    }
    report.write(options.out, body, goals)


def only(text: str) -> list[str]:
    """Parse words that the chosen measurements contain, as in "bulk" or "kept"."""
    words = text.split(",")
    found = [at for at in ALL if any(word in at for word in words)]
    if not found:
        raise argparse.ArgumentTypeError(f"no pattern '{text}'; there are: {', '.join(ALL)}")
    return found


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = running.arguments("patterns", __doc__, SYSTEMS, seconds=2, samples=5)
    parser.add_argument("--only", type=only, default=ALL, help='words, as in "bulk,kept"')
    parser.add_argument("--quick", action="store_true", help="one sample of 0.2 s: does it work?")
    options = parser.parse_args(argv)
    if options.quick:
        options.samples, options.seconds, options.warmup = 1, 0.2, 0.05
    options.no_plots = True
    return options


def main() -> int:
    return running.carry_out("patterns", parse(), run)


if __name__ == "__main__":
    sys.exit(main())
