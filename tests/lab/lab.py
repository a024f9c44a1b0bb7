# SPDX-License-Identifier: Apache-2.0
"""The lab of a test: a server namespace with toed, a Linux peer, and the tools of both ends.

TOEHOLD_MODE=linux runs the same tests with the programs on Linux TCP: Linux decides what a test may
expect. TOEHOLD_MODE=gateware runs them on the simulated gateware TOE and skips what it does not
support.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.lab import netns, paths, proc, toe_sim, toed

MODE = os.environ.get("TOEHOLD_MODE", "toehold")
LINUX = MODE == "linux"
GATEWARE = MODE == "gateware"
SEED = int(os.environ.get("TOEHOLD_SEED", "1"), 0)


def gateware_lacks(what: str) -> pytest.MarkDecorator:
    """Skips the test in gateware mode. what: a name of docs/gateware-differences.md."""
    return pytest.mark.skipif(GATEWARE, reason=f"docs/gateware-differences.md: {what}")


PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
PYTHON = sys.executable

# The peer opens more connections per minute than its kernel's default range has ports. Servers of
# the tests use ports below the range: a port of an earlier connection may be in TIME-WAIT.
FIRST_EPHEMERAL = 12000
_PEER_SETTINGS = {
    "net.ipv4.ip_local_port_range": f"{FIRST_EPHEMERAL} 65535",
    "net.ipv4.tcp_tw_reuse": "1",
    "net.core.somaxconn": "4096",
    # The tests cause ICMP errors on purpose: the kernel must not limit their rate.
    "net.ipv4.icmp_ratelimit": "0",
}


class Lab:
    """A pair of namespaces and, except in Linux mode, a toed that serves the server's address.

    ip, peer_ip   addresses of the side under test and of the Linux peer.
    kernel_ip     a further address, of the server's kernel, on the same interface; None without
                  `kernel`.
    shared        toed and the kernel share one address.
    hub, host     the hub's client is the peer of several labs; this server is its host number
                  `host` (netns.Hub).
    """

    def __init__(
        self,
        *,
        kernel: bool = False,
        shared: bool = False,
        impair: str | None = None,
        tee: Path | None = None,
        mode: str = "af_xdp",
        netif: str | None = None,
        engines: int = 1,
        mtu: int = 1500,
        args: Sequence[object] = (),
        env: Mapping[str, str] | None = None,
        hub: netns.Hub | None = None,
        host: int = 1,
    ):
        if GATEWARE:
            asked = {"a shared address": shared, "options of toed": args, "variables of toed": env}
            asked |= {"several servers": hub, "another back end": netif}
            asked |= {"engines": engines > 1, "jumbo frames": mtu > 1500}
            if wants := [what for what, is_asked in asked.items() if is_asked]:
                pytest.skip(f"gateware mode: it has not {', '.join(wants)}")
        own = "10.77.0.3/24" if kernel else None
        self.pair = netns.Pair(
            hub=hub,
            host=host,
            kernel_ip=f"10.77.0.{host}/24" if LINUX or shared else (None if GATEWARE else own),
            queues=engines,
            mtu=mtu,
            tap=mode == "tap" or GATEWARE,
        )
        self.toed: toed.Toed | None = None
        try:
            self.server = self.pair.server
            self.client = self.pair.client
            self.ip = self.pair.server_ip
            self.peer_ip = self.pair.client_ip
            self.kernel_ip = own.split("/")[0] if own else None
            if (LINUX or GATEWARE) and own:
                interface = "br0" if GATEWARE else self.pair.server_if
                self.server.run(["ip", "address", "add", own, "dev", interface])
            for ns in (self.server, self.client):
                settings = [f"{name}={value}" for name, value in _PEER_SETTINGS.items()]
                ns.run(["sysctl", "-qw", *settings])
            if GATEWARE:
                netif = f"tee({tee}):tap:tap0" if tee else "tap:tap0"
                netif = f"impair({impair}):{netif}" if impair else netif
                self.toed = toe_sim.ToeSim(self.pair, netif=netif)
            elif not LINUX:
                known = {"af_xdp": f"af_xdp:{self.pair.server_if}", "tap": "tap:tap0"}
                netif = netif.format(self.pair.server_if) if netif else known[mode]
                netif = f"tee({tee}):{netif}" if tee else netif
                netif = f"impair({impair}):{netif}" if impair else netif
                self.toed = toed.Toed(
                    self.pair, netif=netif, engines=engines, shared=shared, args=args, env=env
                )
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self.toed:
            self.toed.close()
        self.pair.delete()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    # ---- the side under test

    def app(
        self,
        argv: Sequence[object],
        *,
        require: bool = True,
        env: Mapping[str, str] | None = None,
        name: str | None = None,
        port: int | None = None,
        says: str | None = None,
    ) -> proc.Proc:
        """Starts a program under test. Returns when it accepts on `port`, or has printed `says`."""
        name = name or Path(str(argv[0])).name
        if self.toed:
            p = self.toed.app(argv, require=require, env=env, name=name)
        else:
            p = self.server.start(argv, env=env, name=name)
        return self._started(p, self.client, self.ip, port, says)

    def script(self, script: str, *args: object, **options: object) -> proc.Proc:
        """Starts a Python program of tests/programs under test."""
        argv = [PYTHON, "-u", PROGRAMS / script, *args]
        return self.app(argv, name=Path(script).stem, **options)

    def run(
        self, argv: Sequence[object], *, require: bool = True, **options: object
    ) -> proc.subprocess.CompletedProcess[str]:
        """Runs a program under test to its end."""
        wrapped = self.toed.wrapped(argv, require=require) if self.toed else argv
        return self.server.run(wrapped, **options)

    def case(self, script: str, *args: object, timeout: float = 60) -> dict:
        """Runs a Python program of tests/programs under test. Returns the JSON that it prints."""
        done = self.run([PYTHON, PROGRAMS / script, *args], timeout=timeout)
        return json.loads(done.stdout)

    # ---- the peer

    def peer(
        self,
        argv: Sequence[object],
        *,
        env: Mapping[str, str] | None = None,
        name: str | None = None,
        port: int | None = None,
        says: str | None = None,
    ) -> proc.Proc:
        """Starts a program on the Linux peer."""
        p = self.client.start(argv, env=env, name="peer-" + (name or Path(str(argv[0])).name))
        return self._started(p, self.client, self.peer_ip, port, says)

    def peer_script(self, script: str, *args: object, **options: object) -> proc.Proc:
        """Starts a Python program of tests/programs on the Linux peer."""
        argv = [PYTHON, "-u", PROGRAMS / script, *args]
        return self.peer(argv, name=Path(script).stem, **options)

    def connect(self, port: int, *, timeout: float = 10) -> proc.netns.socket.socket:
        """A connection from the peer to the address under test."""
        try:
            return self.client.connect(self.ip, port, timeout=timeout)
        except TimeoutError as e:
            raise TimeoutError(f"{e}\n{self.report()}") from None

    @staticmethod
    def _started(
        p: proc.Proc, ns: netns.Namespace, address: str, port: int | None, says: str | None
    ) -> proc.Proc:
        try:
            if port is not None:
                proc.wait_port(ns, address, port, proc=p, timeout=20)
            if says is not None:
                proc.wait_until(
                    lambda: says in p.text(), f"{p.name} says {says!r}", proc=p, timeout=20
                )
        except BaseException:
            p.kill()
            raise
        return p

    # ---- what the TOE holds

    def usage(self, name: str) -> int:
        """How many of a pool are in use; 0 in Linux mode."""
        return self.toed.usage(name) if self.toed else 0

    def counter(self, name: str) -> int:
        return self.toed.counter(name) if self.toed else 0

    def queue_pairs(self) -> int:
        return len(self.toed.queue_pairs()) if self.toed else 0

    def listening(self) -> set[int]:
        """The processes that listen on the TOE, on each of its engines."""
        if not self.toed:
            return set()
        return set.intersection(
            *(
                {qp["pid"] for qp in engine["queue_pairs"] if qp["listeners"]}
                for engine in self.toed.stats()["engines"]
            )
        )

    def slots_used(self) -> int:
        """Slots of all queue pairs that hold a connection."""
        if not self.toed:
            return 0
        return sum(qp["slots_used"] for qp in self.toed.queue_pairs())

    def wait_no_flows(self, *, timeout: float = 30) -> None:
        """Waits until the TOE holds no connection; those in TIME-WAIT are in another pool."""
        if self.toed:
            proc.wait_until(
                lambda: self.usage("flows") == 0 and self.usage("half_open") == 0,
                "the TOE holds no flow",
                timeout=timeout,
                proc=self.toed.proc,
            )

    def wait_no_slots(self, *, timeout: float = 30) -> None:
        """Waits until no application holds a connection: its close follows the end of the flow."""
        proc.wait_until(lambda: self.slots_used() == 0, "no slot is in use", timeout=timeout)

    def wait_idle(self, *, timeout: float = 30) -> None:
        """Waits until the TOE holds no flow, no listener and no queue pair."""
        self.wait_no_flows(timeout=timeout)
        if self.toed:
            proc.wait_until(
                lambda: self.usage("listeners") == 0 and not self.toed.queue_pairs(),
                "the TOE holds no listener and no queue pair",
                timeout=timeout,
                proc=self.toed.proc,
            )

    def report(self) -> str:
        """The state of both ends and of each thread, for the message of a failure."""
        said = [f"load average: {Path('/proc/loadavg').read_text().strip()}"]
        stats = [self.toed.socket] if self.toed else []
        for pid in self.server.pids():
            said += threads(pid)
            stats += Path("/run/toehold").glob(f"inline-{pid}.sock")
        asked = [(self.client, ["ss", "-tinoe", "dst", self.ip])]
        asked += [(self.server, [paths.built("toehold"), "stats", "--socket", s]) for s in stats]
        for ns, argv in asked:
            try:
                done = ns.run(argv, check=False, timeout=15)
                said.append(f"{' '.join(map(str, argv))}:\n{done.stdout}{done.stderr}")
            except proc.Failed as e:
                said.append(str(e))
        return "\n".join(said)

    @contextlib.contextmanager
    def explaining_resets(self) -> Iterator[None]:
        """Adds a report() to an unexpected ConnectionResetError."""
        try:
            yield
        except ConnectionResetError as e:
            raise ConnectionResetError(f"{e}\n{self.report()}") from e

    def footprint(self) -> dict[str, int]:
        """The open descriptors of toed, and its private memory in KiB."""
        return footprint(self.toed.proc.pid) if self.toed else {"fds": 0, "anon_kib": 0}


class Talk:
    """A protocol over a connected socket, closed at the end."""

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.file = sock.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_exc):
        self.file.close()
        self.sock.close()


def threads(pid: int) -> list[str]:
    """The name and state of each thread of a process, and where it sleeps."""
    found = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        with contextlib.suppress(OSError):
            name, rest = (task / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            state, where = rest.split()[0], (task / "wchan").read_text()
            found.append(f"pid {pid} thread {task.name} {name}: {state} {where}")
    return found


def footprint(pid: int) -> dict[str, int]:
    """The open descriptors of a process, and its private memory in KiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return {
        "fds": len(os.listdir(f"/proc/{pid}/fd")),
        "anon_kib": int(fields["RssAnon"].split()[0]),
    }


def cpu_ticks(pid: int) -> int:
    """Processor time of a process in clock ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


@contextlib.contextmanager
def closing_all():
    """Yields a list; closes every socket appended to it."""
    with contextlib.ExitStack() as stack:

        class Sockets(list):
            def append(self, s):
                stack.enter_context(contextlib.closing(s))
                super().append(s)

        yield Sockets()
