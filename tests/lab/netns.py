# SPDX-License-Identifier: Apache-2.0
"""Network namespaces with no way out: a server and a client joined by one veth pair.

      namespace PREFIX-N-server              namespace PREFIX-N-client
    +-------------------------+            +---------------------------+
    | toed (or the kernel)    |            | Linux: wrk, curl, ...     |
    | 10.77.0.1/24       srv0 |------------| cli0         10.77.0.2/24 |
    +-------------------------+    veth    +---------------------------+

No namespace has a default route or any other interface. Names contain the process id of the
creator, so runs do not disturb each other. Namespaces are deleted at the end of the `with`, by a
guard process if the creator dies before, and by the next run if the guard was killed too.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.lab import patience, proc

PREFIX = "toehold"
_NETNS = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_serial = itertools.count(1)
_guard: subprocess.Popen[bytes] | None = None

# Waits until its standard input closes, which the kernel does when the creator ends; then deletes
# the namespaces with the creator's prefix.
_GUARD = """
trap '' INT TERM HUP
cat >/dev/null
for ns in $(ip netns list | cut -d' ' -f1); do
    case $ns in "$1"-*)
        pids=$(ip netns pids "$ns")
        [ -z "$pids" ] || kill -KILL $pids
        ip netns del "$ns" ;;
    esac
done
"""


def _libc_setns(fd: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def _my_prefix() -> str:
    return f"{PREFIX}-{os.getpid()}"


def sweep() -> None:
    """Deletes namespaces whose creator has ended."""
    for path in _NETNS.glob(f"{PREFIX}-*-*"):
        maker = re.match(rf"{PREFIX}-(\d+)-", path.name)
        if maker and not Path(f"/proc/{maker[1]}").exists():
            Namespace(path.name).delete()


def _start_guard() -> None:
    global _guard
    if _guard is None:
        sweep()
        _guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "toehold-guard", _my_prefix()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def end_on_signals() -> None:
    """Makes SIGTERM and SIGHUP end the program by SystemExit, so that `with` blocks clean up."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)


class Namespace:
    """One network namespace by name."""

    def __init__(self, name: str):
        self.name = name

    @classmethod
    def create(cls, name: str) -> Namespace:
        """Creates it, with the loopback interface up. Needs root."""
        if os.geteuid() != 0:
            raise PermissionError("network namespaces need root: run this as root (sudo)")
        _start_guard()
        ns = cls(name)
        proc.run(["ip", "netns", "add", name])
        ns.run(["ip", "link", "set", "lo", "up"])
        return ns

    def run(self, argv: Sequence[object], **options: object) -> subprocess.CompletedProcess[str]:
        """proc.run() inside."""
        return proc.run(argv, ns=self, **options)

    def start(self, argv: Sequence[object], **options: object) -> proc.Proc:
        """proc.Proc inside."""
        return proc.Proc(argv, ns=self, **options)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Moves the calling thread inside: sockets that it creates stay in this namespace."""
        home = os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY)
        try:
            there = os.open(_NETNS / self.name, os.O_RDONLY)
            try:
                _libc_setns(there)
            finally:
                os.close(there)
            try:
                yield
            finally:
                _libc_setns(home)
        finally:
            os.close(home)

    def socket(self, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM) -> socket.socket:
        """A socket of this namespace, for a Python test to use from outside."""
        with self.entered():
            return socket.socket(family, kind)

    def connect(self, address: str, port: int, *, timeout: float = 10) -> socket.socket:
        """A TCP connection from this namespace; its timeout stays set."""
        s = self.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        s.settimeout(patience.seconds(timeout))
        try:
            s.connect((address, port))
        except TimeoutError as e:
            own = s.getsockname()[1]
            s.close()
            raise TimeoutError(
                f"connect() from {self.name} port {own} to {address} port {port}: {e} ({timeout} s)"
            ) from None
        except BaseException:
            s.close()
            raise
        return s

    def ping(self, address: str, *options: object, count: int = 3) -> str:
        """Asserts that the first `count` requests are all answered. Returns the output of ping.

        With -c alone, ping waits for the last answer one interval or twice the longest RTT,
        whatever -W is: too short on a busy machine. With -w it sends until it has all answers.
        """
        argv = ["ping", "-c", count, "-i", "0.01", "-w", 30, *options, address]
        said = self.run(argv, check=False).stdout
        answered = {int(n) for n in re.findall(r"icmp_seq=(\d+)[^\n]*ttl=", said)}
        assert answered >= set(range(1, count + 1)), said
        return said

    def pids(self) -> list[int]:
        """The processes inside."""
        done = proc.run(["ip", "netns", "pids", self.name], check=False)
        return [int(pid) for pid in done.stdout.split()]

    def delete(self) -> None:
        """Kills the processes inside and deletes it. Silent if it does not exist."""
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        proc.run(["ip", "netns", "del", self.name], check=False)


class Hub:
    """A client namespace that several servers are linked to, each of them the server of a Pair.

    They reach each other and the client by a bridge:

        Pair(hub=hub, host=1)   server 10.77.0.1 --+
        Pair(hub=hub, host=3)   server 10.77.0.3 --+-- br0 10.77.0.2, the client of all
    """

    def __init__(self, subnet: str = "10.77.0"):
        self.subnet = subnet
        self.client_if = "br0"
        self.ns = Namespace.create(f"{_my_prefix()}-{next(_serial)}-client")
        try:
            self.ns.run(["ip", "link", "add", "br0", "type", "bridge"])
            self.ns.run(["ip", "link", "set", "br0", "addrgenmode", "none"])
            self.ns.run(["ethtool", "-K", "br0", "tx", "off", "tso", "off"])
            self.ns.run(["ip", "address", "add", f"{subnet}.2/24", "dev", "br0"])
            self.ns.run(["ip", "link", "set", "br0", "up"])
        except BaseException:
            self.delete()
            raise

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.delete()

    def delete(self) -> None:
        """After the pairs that use it."""
        self.ns.delete()


class Pair:
    """Two namespaces and the link between them; see the picture above.

    kernel_ip    address of the server's kernel on srv0 ("10.77.0.1/24" for a server on Linux TCP);
                 None leaves srv0 without an address, for toed to own.
    queues       receive and send queues of both ends: one for each engine of toed.
    offload      False turns the client's checksum and segmentation offload off: frames then carry
                 the checksums and sizes that a wire would. AF_XDP sees frames as they are on the
                 wire, and veth leaves out what a wire needs.
    tap          the server end is bridged to a TAP device tap0, for toed's tap back end.
    hub          the client is the hub's, which outlives the pair; host: the server's number there.
    """

    def __init__(
        self,
        *,
        subnet: str = "10.77.0",
        kernel_ip: str | None = None,
        queues: int = 1,
        offload: bool = False,
        mtu: int = 1500,
        tap: bool = False,
        hub: Hub | None = None,
        host: int = 1,
    ):
        if hub:
            subnet = hub.subnet
        self.hub = hub
        self.server_ip = f"{subnet}.{host}"
        self.client_ip = f"{subnet}.2"
        self.prefix_len = 24
        self.server_if = "srv0"
        self.client_if = f"cli{host}" if hub else "cli0"
        self.tap_if = "tap0" if tap else None
        self.mtu = mtu
        self.queues = queues
        stem = f"{_my_prefix()}-{next(_serial)}"
        self.server = Namespace(f"{stem}-server")
        self.client = hub.ns if hub else Namespace(f"{stem}-client")
        try:
            Namespace.create(self.server.name)
            if not hub:
                Namespace.create(self.client.name)
            self._join()
            if not offload:
                self.client.run(["ethtool", "-K", self.client_if, "tx", "off", "tso", "off"])
            if kernel_ip:
                self.server.run(["ip", "address", "add", kernel_ip, "dev", self.server_if])
            if tap:
                self._bridge_tap()
        except BaseException:
            self.delete()
            raise

    def _join(self) -> None:
        size = ["mtu", self.mtu, "numrxqueues", self.queues, "numtxqueues", self.queues]
        # addrgenmode none: no IPv6 link-local chatter on a link that tests count frames of.
        self.server.run(
            ["ip", "link", "add", self.server_if, *size, "type", "veth"]
            + ["peer", "name", self.client_if, "netns", self.client.name, *size]
        )
        for ns, interface in ((self.server, self.server_if), (self.client, self.client_if)):
            ns.run(["ip", "link", "set", interface, "addrgenmode", "none"])
            ns.run(["ip", "link", "set", interface, "up"])
        if self.hub:
            master = ["master", self.hub.client_if]
            self.client.run(["ip", "link", "set", self.client_if, *master])
            return
        self.client.run(
            ["ip", "address", "add", f"{self.client_ip}/{self.prefix_len}"]
            + ["dev", self.client_if]
        )

    def _bridge_tap(self) -> None:
        self.server.run(["ip", "link", "add", "br0", "type", "bridge"])
        self.server.run(["ip", "tuntap", "add", "dev", self.tap_if, "mode", "tap"])
        for interface in ("br0", self.tap_if):
            self.server.run(["ip", "link", "set", interface, "addrgenmode", "none"])
        self.server.run(["ip", "link", "set", self.server_if, "master", "br0"])
        self.server.run(["ip", "link", "set", self.tap_if, "mtu", self.mtu, "master", "br0", "up"])
        self.server.run(["ip", "link", "set", "br0", "up"])

    def __enter__(self) -> Pair:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.delete()

    def delete(self) -> None:
        """Removes both namespaces, and with them the link and whatever still runs inside."""
        if not self.hub:
            self.client.delete()
        self.server.delete()
