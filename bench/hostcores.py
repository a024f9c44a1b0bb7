# SPDX-License-Identifier: Apache-2.0
"""How many host cores 128-byte segments take (S1's Figure 3): Linux, toed, the gateware TOE.

A program receives streams whose segments have 128 bytes, one stream for each host core, 128 bytes
a recv(), on 1, 2, 4, ... cores; the sender has cores of its own. On Linux the host's cores do TCP:
its softirqs are steered there, as a card's interrupts would be, with GRO. On a TOE they have the
program and libtoe alone. Then the same with segments as large as the sender makes them of messages
of 128 bytes (TSO, MTU 1500), which is how the thesis measured Linux. What the gateware receives is
cycles of simulation (gateware.py); its program would be that of toed. Samples are taken in turn.
Writes out/bench/hostcores.json, and a plot of that file beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench import gateware, loadgen, multicore, report, running, terminal
from harness import netns, proc
from harness.toed import Toed, af_xdp_missing

TITLES = {
    "linux": "Linux",
    "toed": "toed",
    "linux_joined": "Linux, segments as its sender makes them",
    "toed_joined": "toed, segments as its sender makes them",
    "gateware": "gateware TOE, 250 MHz",
}
SEGMENT = 128
MTU = 20 + 20 + 12 + SEGMENT  # IPv4, TCP, time stamps
PORT = 7000
LINK_GBPS = 100
FEWER = 0.5  # S1.17: 2 to 4 times fewer cores than Linux
TICKS = os.sysconf("SC_CLK_TCK")


def unused(cores: Sequence[int], stat: str | None = None) -> float:
    """Seconds until now in which these cores had nothing to do, or were another guest's: exact,
    where who used the others is sampled by a tick."""
    text = Path("/proc/stat").read_text() if stat is None else stat
    total = 0
    for line in text.splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu" and int(name[3:]) in cores:
            _user, _nice, _system, idle, iowait, _irq, _softirq, steal = map(int, fields[:8])
            total += idle + iowait + steal
    return total / TICKS


def mask(cores: Sequence[int]) -> str:
    """As rps_cpus wants it: hexadecimal, 32 cores a word."""
    bits = sum(1 << core for core in cores)
    words = [f"{bits >> at & 0xFFFFFFFF:08x}" for at in range(0, max(bits.bit_length(), 1), 32)]
    return ",".join(reversed(words))


class System:
    """A receiver's host, a sender, and a link of small frames, for as long as the with lasts."""

    def __init__(self, name: str, hosts: int):
        self.place = multicore.placement(
            "linux" if name.startswith("linux") else "interrupts",
            sorted(os.sched_getaffinity(0)),
            hosts,
        )
        self._name, self._stack = name, ExitStack()
        self.toed: Toed | None = None

    def __enter__(self) -> System:
        linux, joined = self._name.startswith("linux"), self._name.endswith("_joined")
        more = {"subnet": "10.79.0", "kernel_ip": "10.79.0.1/24"} if linux else {}
        try:
            self.pair = self._stack.enter_context(netns.Pair(offload=linux, **more))
            if not joined:
                self.pair.client.run(["ip", "link", "set", "cli0", "mtu", MTU])
                self.pair.client.run(["ethtool", "-K", "cli0", "tso", "off", "gso", "off"])
            if linux:
                self._steer()
            else:
                self.toed = self._stack.enter_context(Toed(self.pair, args=self._toed_args()))
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def _steer(self) -> None:
        """The host's cores have what a card's interrupts would bring them."""
        self.pair.server.run(["ethtool", "-K", "srv0", "gro", "on"])
        where = "/sys/class/net/srv0/queues/rx-0/rps_cpus"
        words = f"echo {mask(self.place['application'])} > {where}"
        proc.run(["ip", "netns", "exec", self.pair.server.name, "sh", "-c", words])

    def _toed_args(self) -> list[object]:
        (engine,) = self.place["engine"]
        spin = ["--spin-us", 0] if engine in multicore.shared(self.place) else []
        return ["--cpu", engine, *spin]

    def receive(self, options: argparse.Namespace) -> dict:
        """A sample: what came, and the time of the host's cores that it took."""
        hosts, (sender,) = self.place["application"], self.place["client"]
        where = f"{self.pair.client_ip}:{PORT}"
        about = ["--message", SEGMENT, "--threads", len(hosts)]
        server = loadgen.serve(
            self.pair.client,
            "bulk",
            where,
            "--message",
            SEGMENT,
            "--threads",
            len(hosts),
            core=sender,
        )
        wrap = self.toed.wrapped if self.toed else loadgen.plain
        on_hosts = ",".join(map(str, hosts))
        args = ["bulk", "--to", where, "--direction", "down", *about, "--connections", len(hosts)]
        args += ["--time", options.seconds, "--warmup", options.warmup]
        before = self._now(hosts)
        try:
            found = loadgen.run(
                self.pair.server,
                *args,
                wrap=lambda argv: ["taskset", "-c", on_hosts, *wrap(argv)],
                timeout=options.seconds + 60,
            )
        finally:
            server.stop()
        after = self._now(hosts)
        passed = after["at"] - before["at"]
        used = len(hosts) * passed - (after["unused"] - before["unused"])
        return {
            "gbps": round(8 * found["bytes_per_s"] / 1e9, 4),
            "segment": round(found["bytes_in_all"] / (after["segments"] - before["segments"]), 1),
            "bytes_per_core_s": round(found["bytes_in_all"] / used),
            "host_cores": round(used / passed, 3),
        }

    def _now(self, hosts: Sequence[int]) -> dict:
        """Of the host's cores and the clock; segments that the sender's kernel has sent."""
        text = self.pair.client.run(["cat", "/proc/net/snmp"]).stdout
        names, values = (line.split()[1:] for line in text.splitlines() if line.startswith("Tcp:"))
        segments = int(dict(zip(names, values, strict=True))["OutSegs"])
        return {"segments": segments, "at": time.monotonic(), "unused": unused(hosts)}


def card(options: argparse.Namespace) -> dict:
    """What the gateware receives of such segments: cycles, so that once is enough."""
    program = gateware.build(gateware.FPCS[1])
    words = ["receive", "--payload", SEGMENT, "--flows", 64, "--delay", 200]
    done = proc.run([program, *words, "--packets", options.packets], timeout=900)
    return gateware.rates(json.loads(done.stdout))


def measure(options: argparse.Namespace) -> dict:
    absent, made = {}, None
    if "gateware" in options.systems:
        terminal.progress("building and running the gateware")
        try:
            made = card(options)
        except (proc.Failed, OSError) as e:
            absent["gateware"] = str(e).splitlines()[0]
    if "toed" in options.systems and (why := af_xdp_missing()):
        absent["toed"] = why
    for name, why in absent.items():
        terminal.say(f"not measured: {TITLES[name]}: {why}")
    names = [n for n in options.systems if n not in absent and n != "gateware"]
    cores = sorted(os.sched_getaffinity(0))
    # The sender's cores are its own, or the host's would have worked for it.
    counts = [n for n in multicore.steps(max(len(cores) - 1, 1)) if n <= options.hosts]
    samples: dict = {name: {str(n): [] for n in counts} for name in names}
    for number in range(options.samples):
        for name in names:
            for n in counts:
                said = f"{TITLES[name]}, {n} host core{'s' if n > 1 else ''}"
                terminal.progress(f"sample {number + 1} of {options.samples}: {said}")
                with System(name, n) as system:
                    samples[name][str(n)].append(system.receive(options))
    terminal.end_progress()
    return {"samples": samples, "gateware": made, "not_available": absent}


def needed(gbps: float, bytes_per_core_s: float) -> float:
    """Host cores that so much payload takes."""
    return round(gbps * 1e9 / 8 / bytes_per_core_s, 2)


def summarise(body: dict) -> tuple[dict, list[report.Goal]]:
    """Medians; cores that a full link would take of each; and what the gateware takes of them."""
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
    head = ["128 bytes a recv()", "host cores", "Gbit/s", "bytes a segment"]
    head += ["cores' time used", "Gbit/s a core's time"]
    rows = [
        [TITLES[name], n, f"{f['gbps']:.3f}", f"{f['segment']:.0f}", f"{f['host_cores']:.2f}"]
        + [f"{8 * f['bytes_per_core_s'] / 1e9:.3f}"]
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
    report.tell_goals({TITLES[n]: why for n, why in body["not_available"].items()}, goals)


def run(options: argparse.Namespace) -> None:
    body = measure(options)
    found, goals = summarise(body)
    show(found, body, goals)
    body = {"systems": TITLES, "medians": found, **body}
    report.write(options.out, {"settings": running.settings(options), **body}, goals)


def main() -> int:
    parser = running.arguments("hostcores", __doc__, TITLES, seconds=3, samples=5)
    parser.add_argument("--hosts", type=int, default=64, help="host cores, at most so many (64)")
    parser.add_argument("--packets", type=int, default=1000, help="of the gateware's stream (1000)")
    return running.carry_out("hostcores", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
