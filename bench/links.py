# SPDX-License-Identifier: Apache-2.0
"""Two ends of a link, both on the same system: Linux, two toeds, or the TOE within the programs.

Each end has its own core if there are two: the server and its toed on the first, the client and its
toed on the second. The comparison is fair: the same two cores do all work, including that of the
medium.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

from bench import loadgen, terminal
from tests.lab import netns, paths, proc
from tests.lab.toed import Toed, af_xdp_missing

SERVER_CORE, CLIENT_CORE = 0, 1
PORT = 7000


def room(slots: int, size: int) -> dict[str, str]:
    """Environment for the number of connections and the buffer sizes of a program on a TOE."""
    sizes = dict.fromkeys(("TOEHOLD_TX_SIZE", "TOEHOLD_RX_SIZE"), str(size))
    return {"TOEHOLD_SLOTS": str(slots), **sizes}


def has_inline() -> bool:
    """Return whether this build has the inline TOE."""
    return "--engine" in proc.run([paths.built("toehold"), "run", "--help"]).stdout


def _flipped(pair: netns.Pair) -> SimpleNamespace:
    """Present the client's end of a pair as a server's end, for a second toed."""
    return SimpleNamespace(
        server=pair.client,
        client=pair.server,
        server_ip=pair.client_ip,
        server_if=pair.client_if,
        prefix_len=pair.prefix_len,
        mtu=pair.mtu,
    )


class Link:
    """Both ends; a context manager. sample() measures once."""

    title = ""
    busy = False

    def __init__(self, *, pin: bool = True, env: Mapping[str, str] | None = None, mtu: int = 1500):
        """pin: each end on its core; else the kernel chooses. env: see room(); the default suits
        thousands of connections with few bytes each."""
        self.env = dict(env or room(8192, 8192))
        self.mtu = mtu
        self.cores = (SERVER_CORE, CLIENT_CORE) if pin else (None, None)
        self._stack = ExitStack()

    @classmethod
    def missing(cls) -> str | None:
        """Return why it does not work here, or None."""
        return None

    def __enter__(self) -> Link:
        try:
            self.open(self._stack)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def open(self, stack: ExitStack) -> None:
        raise NotImplementedError

    # Set by open(): namespaces, the server's address, how programs run on the system.
    server: netns.Namespace
    client: netns.Namespace
    ip: str

    def on_server(self, argv: Sequence[object]) -> list[object]:
        return list(argv)

    def on_client(self, argv: Sequence[object]) -> list[object]:
        return list(argv)

    def offloads(self) -> list[str]:
        """Return ethtool's names of the offloads in use at the server's end."""
        return []

    def switch(self, changes: Mapping[str, bool]) -> None:
        """Switch offloads on or off at both ends for the following measurements."""
        if changes:
            raise ValueError(f"{self.title} has no offloads to switch")

    def _serve(self, role: str, *args: object) -> proc.Proc:
        return loadgen.serve(
            self.server,
            role,
            f"{self.ip}:{PORT}",
            *args,
            wrap=self.on_server,
            core=self.cores[0],
            env=self.env,
        )

    def measure(
        self,
        mode: str,
        *args: object,
        role: str = "pingpong",
        serve: Sequence[object] = (),
        seconds: float,
        warmup: float = 0.5,
    ) -> dict:
        """Run a client of `toehold bench` against its server once; return its result."""
        busy = ["--busy"] if self.busy else []
        server = self._serve(role, *serve, *busy)
        times = ["--duration", seconds, "--warmup", warmup, "--timeout", 20]
        try:
            return loadgen.run(
                self.client,
                mode,
                *["--to", f"{self.ip}:{PORT}", *args, *times, *busy],
                wrap=self.on_client,
                core=self.cores[1],
                env=self.env,
                timeout=seconds + warmup + 60,
            )
        finally:
            self._ending(server)
            server.stop()

    def _ending(self, server: proc.Proc) -> None:
        """Called before the server of a measurement is stopped."""

    def check(self) -> None:
        """Raise Failed when an answer differs from what was sent."""
        try:
            self.measure("pingpong", "--connections", 4, "--verify", seconds=0.2, warmup=0)
        except proc.Failed as e:
            raise proc.Failed(f"{self.title}: wrong answers: {e}") from e

    def sample(
        self,
        connections: int,
        size: int,
        *,
        seconds: float,
        warmup: float = 0.5,
        rate: float | None = None,
        idle: int = 0,
    ) -> dict:
        """Run ping-pong once."""
        args = ["--connections", connections, "--size", size, "--idle", idle]
        args += ["--rate", rate] if rate else []
        return self.measure("pingpong", *args, seconds=seconds, warmup=warmup)


class Linux(Link):
    title = "Linux, epoll"

    def open(self, stack: ExitStack) -> None:
        # With every offload that veth has.
        pair = stack.enter_context(
            netns.Pair(subnet="10.78.0", kernel_ip="10.78.0.1/24", offload=True, mtu=self.mtu)
        )
        self.server, self.client, self.ip = pair.server, pair.client, pair.server_ip


class LinuxNoTso(Linux):
    """Without segmentation offloads and GRO: TCP sees the segments of the wire."""

    title = "Linux, no TSO"

    def open(self, stack: ExitStack) -> None:
        super().open(stack)
        for ns, interface in ((self.client, "cli0"), (self.server, "srv0")):
            ns.run(["ethtool", "-K", interface, "tso", "off", "gso", "off", "gro", "off"])


class LinuxBusy(Linux):
    title = "Linux, busy epoll"
    busy = True


def _in_use(socket: object) -> list[str]:
    """Return the names of the enabled offloads of an engine."""
    argv = [paths.built("toehold"), "offload", "--json", "--socket", socket]
    return [o["word"] for o in json.loads(proc.run(argv).stdout) if o["active"]]


class _OverVeth(Link):
    """A pair without kernel addresses: TOEs on AF_XDP are at both ends. With tap, the server's end
    is bridged to a TAP device for a server that uses that."""

    tap = False

    @classmethod
    def missing(cls) -> str | None:
        return af_xdp_missing()

    def open(self, stack: ExitStack) -> None:
        # With every offload that veth has, as for Linux; XDP programs disable TSO.
        self.pair = stack.enter_context(netns.Pair(offload=True, tap=self.tap, mtu=self.mtu))
        self.server, self.client = self.pair.server, self.pair.client
        self.ip = self.pair.server_ip
        for ns, interface in ((self.client, "cli0"), (self.server, "srv0")):
            ns.run(["ip", "address", "flush", "dev", interface])
        self.netifs = [self.spec(self.pair.server_if), self.spec(self.pair.client_if)]

    def spec(self, interface: str) -> str:
        """Return the back end of an end, as --netif takes it."""
        return f"af_xdp:{interface}"


class _OverWire(Link):
    """The shared-memory wire; the namespaces only separate the programs."""

    def open(self, stack: ExitStack) -> None:
        self.pair = stack.enter_context(netns.Pair())
        self.server, self.client = self.pair.server, self.pair.client
        self.ip = self.pair.server_ip
        folder = Path(tempfile.mkdtemp(prefix="toehold-wire-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self.netifs = [f"wire:{folder}/wire,side=a", f"wire:{folder}/wire,side=b"]


class _Toeds:
    """Software TOE: a toed at each end, which sleeps when idle. A toed that shares the core with
    its program sleeps at once, as the program cannot run while toed polls."""

    toed_args: Sequence[object] = ()

    def open(self, stack: ExitStack) -> None:
        super().open(stack)
        ends = (self.pair, _flipped(self.pair))
        self.toeds = []
        for end, netif, core in zip(ends, self.netifs, self.cores, strict=True):
            args = [*self.toed_args, *(["--spin-us", 0] if core is not None else [])]
            self.toeds.append(stack.enter_context(Toed(end, netif=netif, args=args)))
            if core is not None:
                proc.run(["taskset", "-a", "-p", "-c", core, self.toeds[-1].proc.pid])

    def offloads(self) -> list[str]:
        return _in_use(self.toeds[0].socket)

    def switch(self, changes: Mapping[str, bool]) -> None:
        words = [w for word, on in changes.items() for w in (word, "on" if on else "off")]
        for toed in self.toeds if words else ():
            proc.run([paths.built("toehold"), "offload", "--socket", toed.socket, *words])

    def on_server(self, argv: Sequence[object]) -> list[object]:
        return self.toeds[0].wrapped(argv)

    def on_client(self, argv: Sequence[object]) -> list[object]:
        return self.toeds[1].wrapped(argv)


class _Inline:
    """The inline TOE in each program, which polls."""

    busy = True
    changes: Mapping[str, bool] = {}
    words: Sequence[object] = ()  # more options of the engines

    def offloads(self) -> list[str]:
        server = self._serve("sink")
        try:
            return _in_use(f"/run/toehold/inline-{server.pid}.sock")
        finally:
            server.stop()

    def switch(self, changes: Mapping[str, bool]) -> None:
        self.changes = {**self.changes, **changes}

    @classmethod
    def missing(cls) -> str | None:
        why = super().missing()
        return why if why or has_inline() else "this toehold has no `run --engine inline`"

    def _wrapped(self, argv: Sequence[object], end: int, ip: str) -> list[object]:
        switched = ",".join(f"{w}={'on' if on else 'off'}" for w, on in self.changes.items())
        return [paths.built("toehold"), "run", "--require", "--engine", "inline"] + [
            *("--netif", self.netifs[end], "--ip", f"{ip}/{self.pair.prefix_len}"),
            *(["--offload", switched] if switched else []),
            *(*self.words, "--", *argv),
        ]

    def on_server(self, argv: Sequence[object]) -> list[object]:
        return self._wrapped(argv, 0, self.pair.server_ip)

    def on_client(self, argv: Sequence[object]) -> list[object]:
        return self._wrapped(argv, 1, self.pair.client_ip)


class ToedVeth(_Toeds, _OverVeth):
    title = "toed, AF_XDP"


class ToedWire(_Toeds, _OverWire):
    title = "toed, wire"


class InlineVeth(_Inline, _OverVeth):
    title = "inline, AF_XDP"


class InlineWire(_Inline, _OverWire):
    title = "inline, wire"


class Bare(_OverVeth):
    """AF_XDP over veth without TCP: exchanges frames without reading them (bare/). Its rate is the
    upper limit of any TCP on this link."""

    title = "AF_XDP, frames alone"
    # Ethernet, IP, and TCP with time stamps: the headers before the payload.
    HEADERS = 14 + 20 + 32
    FULL = 1448  # payload of a full frame

    def _bare(self, end: int, *args: object) -> list[object]:
        ips = [self.pair.server_ip, self.pair.client_ip]
        own, peer = ips if end == 0 else ips[::-1]
        argv = [paths.built("bare"), self.netifs[end], own, peer, *args]
        return loadgen.pinned(self.cores[end], argv)

    def _ask(
        self, every: int, under_way: int, payload: int, back: int, seconds: float, warmup: float
    ) -> dict:
        """Send frames of that payload; one frame of `back` bytes answers every `every` of them."""
        answers = ["answer", every, self.HEADERS + back]
        times = [round(1000 * t) for t in (warmup, seconds)]
        with self.server.start(self._bare(0, *answers), name="bare") as server:
            proc.wait_until(lambda: "ready" in server.text(), "bare", proc=server)
            asks = ["ask", under_way, self.HEADERS + payload, *times]
            done = self.client.run(self._bare(1, *asks), timeout=seconds + warmup + 60)
        found = json.loads(done.stdout)
        return {**found, "per_s": round(found["frames"] / found["ns"] * 1e9, 1)}

    def exchange(self, under_way: int, size: int, *, seconds: float, warmup: float = 0.5) -> dict:
        """Behave as that many connections with requests of that size: each frame is answered by an
        equal one.
        """
        return self._ask(1, under_way, size, size, seconds, warmup)

    def pour(self, *, seconds: float, warmup: float = 0.5) -> dict:
        """Behave as a stream: full frames, up to 512 in flight, an answer to every 64."""
        found = self._ask(64, 512, self.FULL, 0, seconds, warmup)
        return {**found, "bytes_per_s": round(found["per_s"] * self.FULL)}


LINKS: dict[str, type[Link]] = {
    "linux": Linux,
    "linux_busy": LinuxBusy,
    "toed_af_xdp": ToedVeth,
    "toed_wire": ToedWire,
    "inline_af_xdp": InlineVeth,
    "inline_wire": InlineWire,
}


def open_all(
    table: Mapping[str, type[Link]], names: Sequence[str], stack: ExitStack, **options: object
) -> tuple[dict[str, Link], dict[str, str]]:
    """Open the links of these names until stack closes, and check the answers of each. Also return
    why others are missing."""
    opened, absent = {}, {}
    for name in names:
        why = table[name].missing()
        if why:
            absent[name] = why
            terminal.say(f"not measured: {table[name].title}: {why}")
        else:
            opened[name] = stack.enter_context(table[name](**options))
            opened[name].check()
    return opened, absent


def check_all(opened: Mapping[str, Link]) -> None:
    """Check after the measurement that all links still answer correctly."""
    for link in opened.values():
        link.check()


def open_streams(
    table: Mapping[str, type[Link]],
    names: Sequence[str],
    stack: ExitStack,
    options: argparse.Namespace,
    **env: str,
) -> tuple[dict[str, Link], dict[str, str]]:
    """open_all() with buffers sized for streams."""
    env = {**room(256, 1 << 20), **env}
    return open_all(table, names, stack, pin=not options.unpinned, env=env)
