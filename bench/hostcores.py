# SPDX-License-Identifier: Apache-2.0
"""Host cores for 128-byte segments (Figure 3 of the thesis): Linux, toed, the gateware TOE.

A program receives streams of 128-byte segments, one stream per host core, 128 bytes per recv(), on
1, 2, 4, ... cores; the sender has its own cores. On Linux the host cores run TCP: the softirqs are
steered to them, as a card's interrupts would be, with GRO. With a TOE they run only the program and
libtoe. Then the same with segments as large as the sender makes them from messages of 128 bytes
(TSO, MTU 1500), as the thesis measured Linux. The gateware's figures are simulated cycles
(gateware.py); its program would be that of toed. Samples are taken in turn. Writes
out/bench/hostcores.json and its plot.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import gateware, loadgen, multicore, report, running, terminal
from tests.lab import proc
from tests.lab.toed import af_xdp_missing

TITLES = {
    "linux": "Linux",
    "toed": "toed",
    "linux_joined": "Linux, segments as its sender makes them",
    "toed_joined": "toed, segments as its sender makes them",
    "gateware": "gateware TOE, 250 MHz",
}
SEGMENT = 128
HEADERS = 20 + 20 + 12  # IPv4, TCP, time stamps
MTU = HEADERS + SEGMENT
# A window of 64 KB, as toed's: with more, the kernel's queue of 1000 frames would overflow.
BUFFER = 131072
PORT = 7000
LINK_GBPS = 100
FEWER = 0.5  # S1.17: 2 to 4 times fewer cores than Linux
TICKS = os.sysconf("SC_CLK_TCK")


def unused(cores: Sequence[int], stat: str | None = None) -> float:
    """Return the idle and stolen seconds of these cores. They are exact, while used time is sampled
    by a tick."""
    text = Path("/proc/stat").read_text() if stat is None else stat
    total = 0
    for line in text.splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu" and int(name[3:]) in cores:
            _user, _nice, _system, idle, iowait, _irq, _softirq, steal = map(int, fields[:8])
            total += idle + iowait + steal
    return total / TICKS


def mask(cores: Sequence[int]) -> str:
    """Format a mask for rps_cpus: hexadecimal, 32 cores a word."""
    bits = sum(1 << core for core in cores)
    words = [f"{bits >> at & 0xFFFFFFFF:08x}" for at in range(0, max(bits.bit_length(), 1), 32)]
    return ",".join(reversed(words))


class Host(multicore.System):
    """A receiver's host, a sender, and the link between them; a context manager."""

    def __init__(self, name: str, hosts: int):
        self._small = not name.endswith("_joined")
        linux = name.startswith("linux")
        super().__init__("linux" if linux else "interrupts", hosts, offload=linux)

    def _prepare(self) -> None:
        if self._small:
            self.pair.client.run(["ip", "link", "set", "cli0", "mtu", MTU])
            self.pair.client.run(["ethtool", "-K", "cli0", "tso", "off", "gso", "off"])
        if self._name == "linux":  # as a card's interrupts would be
            self.pair.server.run(["ethtool", "-K", "srv0", "gro", "on"])
            self.pair.server.run(["sysctl", "-w", f"net.ipv4.tcp_rmem=4096 {BUFFER} {BUFFER}"])
            where = "/sys/class/net/srv0/queues/rx-0/rps_cpus"
            words = f"echo {mask(self.place['application'])} > {where}"
            proc.run(["ip", "netns", "exec", self.pair.server.name, "sh", "-c", words])

    def receive(self, options: argparse.Namespace) -> dict:
        """Take a sample: received payload, and used time of the host cores."""
        hosts, (sender,) = self.place["application"], self.place["client"]
        where = f"{self.pair.client_ip}:{PORT}"
        about = ["--message", SEGMENT, "--threads", len(hosts)]
        server = loadgen.serve(self.pair.client, "bulk", where, *about, core=sender)
        wrap = self.toed.wrapped if self.toed else loadgen.plain
        args = ["bulk", "--to", where, "--direction", "down", *about, "--connections", len(hosts)]
        args += ["--duration", options.seconds, "--warmup", options.warmup]
        before = self._now(hosts)
        try:
            found = loadgen.run(
                self.pair.server,
                *args,
                wrap=lambda argv: self.on_host(wrap(argv)),
                timeout=options.seconds + 60,
            )
        finally:
            server.stop()
        after = self._now(hosts)
        passed = after["at"] - before["at"]
        names = ("OutOctets", "OutRequests", "OutSegs", "RetransSegs")
        sent = {name: after[name] - before[name] for name in names}
        segments = sent["OutSegs"] + sent["RetransSegs"]
        # A packet of IP may contain many segments, which are divided later (TSO).
        payload = sent["OutOctets"] - HEADERS * sent["OutRequests"]
        # At least one tick, the resolution.
        used = max(len(hosts) * passed - (after["unused"] - before["unused"]), 1 / TICKS)
        return {
            "gbps": round(8 * found["bytes_per_s"] / 1e9, 4),
            "segment": round(payload / segments, 1),
            "sent_again": round(sent["RetransSegs"] / segments, 4),
            "bytes_per_core_s": round(found["bytes_in_all"] / used),
            "host_cores": round(used / passed, 3),
        }

    def _now(self, hosts: Sequence[int]) -> dict:
        """Return the clock, the unused time of the host cores, and the segments sent."""
        text = self.pair.client.run(["cat", "/proc/net/snmp", "/proc/net/netstat"]).stdout
        sent = counters(text, "Ip:") | counters(text, "Tcp:") | counters(text, "IpExt:")
        return {**sent, "at": time.monotonic(), "unused": unused(hosts)}


def counters(text: str, table: str) -> dict[str, int]:
    """Parse a file such as /proc/net/snmp: a line of names, then a line of numbers."""
    names, values = (line.split()[1:] for line in text.splitlines() if line.startswith(table))
    return dict(zip(names, map(int, values), strict=True))


def card(options: argparse.Namespace) -> dict:
    """Measure the gateware once: its cycles do not vary."""
    program = gateware.build(gateware.FPCS[1])
    words = ["receive", "--payload", SEGMENT, "--flows", 64, "--delay", 200]
    done = proc.run([program, *words, "--packets", options.packets], timeout=900)
    return gateware.rates(json.loads(done.stdout))


def measure(options: argparse.Namespace) -> dict:
    cores = len(os.sched_getaffinity(0))
    if cores < 2:  # the sender needs its own core, or the host's cores would do its work
        raise OSError("it takes two cores, one of them the sender's; there is one")
    absent, made = {}, None
    if "gateware" in options.systems:
        terminal.progress("building and running the gateware")
        try:
            made = card(options)
        except (proc.Failed, OSError) as e:
            absent["gateware"] = str(e).splitlines()[0]
    if why := af_xdp_missing():
        absent |= {name: why for name in options.systems if name.startswith("toed")}
    for name, why in absent.items():
        terminal.say(f"not measured: {TITLES[name]}: {why}")
    names = [n for n in options.systems if n not in absent and n != "gateware"]
    counts = [n for n in multicore.steps(cores - 1) if n <= options.hosts]
    samples: dict = {name: {str(n): [] for n in counts} for name in names}
    for number in range(options.samples):
        for name in names:
            for n in counts:
                said = f"{TITLES[name]}, {n} host core{'s' if n > 1 else ''}"
                terminal.progress(f"sample {number + 1} of {options.samples}: {said}")
                with Host(name, n) as host:
                    samples[name][str(n)].append(host.receive(options))
    terminal.end_progress()
    return {"samples": samples, "gateware": made, "not_available": absent}


def needed(gbps: float, bytes_per_core_s: float) -> float:
    """Return the host cores for that much payload."""
    return round(gbps * 1e9 / 8 / bytes_per_core_s, 2)


def summarise(body: dict) -> tuple[dict, list[report.Goal]]:
    """Return medians with each system's cores for a full link, and the goals."""
    found: dict = {
        name: {n: multicore.medians(list_) for n, list_ in by_hosts.items() if list_}
        for name, by_hosts in body["samples"].items()
    }
    payload = LINK_GBPS * SEGMENT / gateware.on_wire(SEGMENT)
    link = {
        name: needed(payload, max(f["bytes_per_core_s"] for f in by.values()))
        for name, by in found.items()
    }
    goals = []
    for of, what in (("", "segments"), ("_joined", "messages, segments as the sender makes them")):
        if (own := link.get(f"toed{of}")) and (against := link.get(f"linux{of}")):
            title = f"host cores for 62 Gbit/s of 128-byte {what}, TOE / Linux"
            goals.append(report.Goal(title, round(own / against, 3), "ratio", FEWER))
    if made := body["gateware"]:
        title = "gateware, wire rate received, 128 bytes of payload, 64 flows"
        goals.append(report.Goal(title, made["wire_gbps"], "Gbit/s", LINK_GBPS, at_most=False))
    return {"by_host_cores": found, "payload_of_link_gbps": round(payload, 2), "cores": link}, goals


def show(found: dict, body: dict, goals: list[report.Goal]) -> None:
    head = ["128 bytes a recv()", "host cores", "Gbit/s", "bytes a segment", "% sent again"]
    head += ["cores' time used", "Gbit/s a core's time"]
    rows = [
        [TITLES[name], n, f"{f['gbps']:.3f}", f"{f['segment']:.0f}", f"{100 * f['sent_again']:.2f}"]
        + [f"{f['host_cores']:.2f}", f"{8 * f['bytes_per_core_s'] / 1e9:.3f}"]
        for name, by in found["by_host_cores"].items()
        for n, f in by.items()
    ]
    print(f"\n{terminal.table(head, rows)}\n")
    gbps = found["payload_of_link_gbps"]
    link = f"{LINK_GBPS} Gbit/s of the wire ({gbps} of payload)"
    for name, cores in found["cores"].items():
        print(f"{link}, {TITLES[name]}: {cores} host cores")
    if made := body["gateware"]:
        print(
            f"{TITLES['gateware']} receives {made['wire_gbps']} Gbit/s of the wire "
            f"({made['gbps']} of payload), whatever the host has"
        )
    report.print_goals({TITLES[n]: why for n, why in body["not_available"].items()}, goals)


def run(options: argparse.Namespace) -> None:
    body = measure(options)
    found, goals = summarise(body)
    show(found, body, goals)
    body = {"systems": TITLES, "medians": found, **body}
    report.write(options.out, {"settings": running.settings(options), **body}, goals)


def main() -> int:
    parser = running.arguments("hostcores", __doc__, TITLES, seconds=3, samples=5)
    parser.add_argument(
        "--hosts", type=running.number, default=64, help="host cores, at most so many (64)"
    )
    parser.add_argument(
        "--packets", type=running.number, default=1000, help="of the gateware's stream (1000)"
    )
    return running.carry_out("hostcores", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
