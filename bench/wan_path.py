# SPDX-License-Identifier: Apache-2.0
"""The long path of wan.py: hosts with Linux's TCP or a TOE on both sides of an impaired link.

    sending hosts                                                      receiving hosts
    linux, linux_2 --+                                                   +-- linux
    toed           --+-- br0 -- tap snd0 -- relay -- tap rcv0 -- br1 ----+-- toed
    inline         --+

relay (relay/) is a program of this tree: rate, queue, loss, delay and reordering are those of
netio's impairing wire, so no kernel module is needed and a seed repeats the random numbers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from bench import links, loadgen
from tests.lab import netns, paths, proc
from tests.lab.toed import Toed

SUBNET = "10.90.0"
FRAME = 1514
SENDERS = {"linux": 11, "linux_2": 12, "toed": 13, "inline": 14}
RECEIVERS = {"linux": 21, "toed": 23}
BUFFER = 16 << 20  # of a TOE, the most there is; Linux's grow to twice of it
CONNECTIONS = 64
PORT = 7300
# Connections must not inherit the thresholds of earlier ones, and buffers must not be the limit.
SETTINGS = (
    "net.ipv4.tcp_no_metrics_save=1",
    f"net.ipv4.tcp_wmem=4096 65536 {2 * BUFFER}",
    f"net.ipv4.tcp_rmem=4096 131072 {2 * BUFFER}",
)


@dataclass(frozen=True)
class Link:
    """An impaired link. buffer: of the bottleneck, in bandwidth-delay products. loss and reorder in
    percent; burst: ENTER/LEAVE of the Gilbert-Elliott model, in percent."""

    rate: int  # bit/s
    rtt_ms: float
    buffer: float = 1
    loss: float = 0
    burst: str = ""
    reorder: float = 0

    @property
    def name(self) -> str:
        words = [f"{self.rate / 1e6:g}M", f"{self.rtt_ms:g}ms", f"{self.buffer:g}BDP"]
        words += [f"loss={self.loss:g}%"] if self.loss else []
        words += [f"burst={self.burst}"] if self.burst else []
        words += [f"reorder={self.reorder:g}%"] if self.reorder else []
        return " ".join(words)

    def bdp_frames(self) -> float:
        return self.rate * self.rtt_ms / 1000 / 8 / FRAME

    def queue(self) -> int:
        """Return the frames of the bottleneck's buffer, at least 8."""
        return min(65536, max(8, round(self.buffer * self.bdp_frames())))

    def specs(self, seed: int) -> tuple[str, str]:
        """Return the back ends of the relay at the senders and at the receivers."""
        half = f"{self.rtt_ms / 2:g}ms"
        memory = min(65536, round(self.queue() + 2 * self.bdp_frames()) + 1024)
        there = [f"rate={self.rate}", f"queue={self.queue()}", f"seed={seed}"]
        there += [f"loss={self.loss:g}"] if self.loss else []
        there += [f"burst={self.burst}"] if self.burst else []
        there += [f"reorder={self.reorder:g}"] if self.reorder else []
        both = f"dir=tx,delay={half},memory={memory}"
        return f"impair({both}):tap:snd0", f"impair({both},{','.join(there)}):tap:rcv0"


class Host:
    """A host at a bridge: how programs run on it."""

    def __init__(self, hub: netns.Hub, number: int, kind: str, cc: str, stack: ExitStack):
        linux = kind.startswith("linux")
        self.ip = f"{SUBNET}.{number}"
        kernel = f"{self.ip}/24" if linux else None
        self.pair = stack.enter_context(netns.Pair(hub=hub, host=number, kernel_ip=kernel))
        self.ns, self.env = self.pair.server, links.room(CONNECTIONS, BUFFER)
        self.wrap = loadgen.plain
        netif = f"af_xdp:{self.pair.server_if}"
        if linux:
            off = ["tso", "off", "gso", "off", "gro", "off"]
            self.ns.run(["ethtool", "-K", self.pair.server_if, *off])
            self.ns.run(["sysctl", "-qw", *SETTINGS])
            # The sysctl of a namespace takes only what the whole machine allows; a route any.
            route = [f"{SUBNET}.0/24", "dev", self.pair.server_if, "src", self.ip]
            self.ns.run(["ip", "route", "replace", *route, "proto", "kernel", "congctl", cc])
        elif kind == "toed":
            toed = stack.enter_context(Toed(self.pair, netif=netif, args=["--congestion", cc]))
            self.wrap = toed.wrapped
        else:
            run = [paths.built("toehold"), "run", "--require", "--engine", "inline"]
            run += ["--netif", netif, "--ip", f"{self.ip}/24", "--congestion", cc, "--"]
            self.wrap = lambda argv: [*run, *argv]

    def serve(self, role: str, *args: object) -> proc.Proc:
        where = f"{self.ip}:{PORT}"
        return loadgen.serve(self.ns, role, where, *args, wrap=self.wrap, env=self.env)

    def load(self, mode: str, source: Host, *args: object, seconds: float) -> dict:
        """Run a client of `toehold bench` here, which lasts that long, against a sending host."""
        where = f"{source.ip}:{PORT}"
        to = ["--url", f"http://{where}/"] if mode == "http" else ["--to", where]
        options = {"wrap": self.wrap, "env": self.env, "timeout": seconds + 90}
        return loadgen.run(self.ns, mode, *to, *args, **options)


class Path:
    """All hosts, with one congestion control; a context manager."""

    def __init__(self, cc: str, senders: Sequence[str], receivers: Sequence[str]):
        self.cc = cc
        self._stack = ExitStack()
        try:
            self._open(senders, receivers)
        except BaseException:
            self._stack.close()
            raise

    def _open(self, senders: Sequence[str], receivers: Sequence[str]) -> None:
        near = self._stack.enter_context(netns.Hub(SUBNET))
        far = self._stack.enter_context(netns.Hub(SUBNET))
        self.ns = near.ns
        for hub in (near, far):
            hub.ns.run(["ip", "address", "flush", "dev", hub.client_if])
        add = ["ip", "link", "add"]
        near.ns.run([*add, "br1", "type", "bridge"])
        near.ns.run([*add, "far0", "type", "veth", "peer", "name", "near0", "netns", far.ns.name])
        for name in ("snd0", "rcv0"):
            near.ns.run(["ip", "tuntap", "add", "dev", name, "mode", "tap"])
        ports = ((near.ns, "snd0", "br0"), (near.ns, "rcv0", "br1"), (near.ns, "far0", "br1"))
        for ns, name, bridge in (*ports, (far.ns, "near0", "br0")):
            ns.run(["ip", "link", "set", name, "txqueuelen", 10000, "addrgenmode", "none"])
            ns.run(["ip", "link", "set", name, "master", bridge, "up"])
        near.ns.run(["ip", "link", "set", "br1", "addrgenmode", "none", "up"])
        near.ns.run(["ethtool", "-K", "far0", "tx", "off", "tso", "off"])
        far.ns.run(["ethtool", "-K", "near0", "tx", "off", "tso", "off"])
        self.senders = {kind: self._host(near, SENDERS[kind], kind) for kind in senders}
        self.receivers = {kind: self._host(far, RECEIVERS[kind], kind) for kind in receivers}

    def _host(self, hub: netns.Hub, number: int, kind: str) -> Host:
        return Host(hub, number, kind, self.cc, self._stack)

    def __enter__(self) -> Path:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def relay(self, link: Link, seed: int) -> Relay:
        return Relay(self.ns, link, seed)


class Relay:
    """The running relay; after the `with`, report has its counters."""

    def __init__(self, ns: netns.Namespace, link: Link, seed: int):
        self.report: dict = {}
        # It takes the place of a cable: with a higher priority than ends that have a real-time one.
        first = ["chrt", "-f", 10] if os.sched_getscheduler(0) == os.SCHED_RR else []
        argv = [*first, paths.built("relay"), *link.specs(seed)]
        self._proc = ns.start(argv, name="relay")
        try:
            proc.wait_until(lambda: "ready" in self._proc.text(), "relay", proc=self._proc)
        except BaseException:
            self._proc.kill()
            raise

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, kind: type | None, *_exc: object) -> None:
        code = self._proc.stop()
        if kind:
            return
        if code != 0:
            raise proc.Failed(f"relay ended with {code}{self._proc.tail()}")
        self.report = json.loads(self._proc.text().splitlines()[-1])

    def resent(self, host: Host) -> float:
        """Return the part of a sending host's payload that it had sent before."""
        counted = self.report["from_a"]["senders"].get(host.ip, {"bytes": 0, "repeated": 0})
        return counted["repeated"] / max(1, counted["bytes"])
