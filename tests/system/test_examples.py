# SPDX-License-Identifier: Apache-2.0
"""examples/: each echo server against Linux peers: ping, a megabyte, many connections, loss.

Each test runs on each example. If a requirement of an example is missing (libuv, DPDK, QEMU), its
tests are skipped with the reason: `scripts/setup build test` installs it."""

from __future__ import annotations

import contextlib
import os
import random
import selectors
import shutil
import socket
import struct
import threading

import pytest

from tests.lab import lab as labs
from tests.lab import netns, paths, proc

pytestmark = pytest.mark.toehold_only

PORT = 7
EXAMPLES = ["echo_tap", "echo_tap_one", "echo_uv", "echo_dpdk", "bare_riscv32", "bare_riscv64"]


def bare_riscv(bits: str) -> list[object]:
    qemu = f"qemu-system-riscv{bits}"
    if not shutil.which(qemu):
        pytest.skip(f"{qemu} is not installed (Debian's qemu-system-misc)")
    return [
        *[qemu, "-machine", "virt", "-m", "64", "-bios", "none", "-kernel"],
        *[built(f"bare_echo{bits}"), "-global", "virtio-mmio.force-legacy=false"],
        *["-display", "none", "-monitor", "none", "-serial", "stdio"],
        *["-netdev", "tap,id=n,ifname=tap0,script=no,downscript=no"],
        *["-device", "virtio-net-device,netdev=n", "-device", "virtio-rng-device"],
    ]


def built(name: str) -> object:
    try:
        return paths.built(name)
    except FileNotFoundError:
        pytest.skip(
            f"{name} is not built: what it needs is not installed (scripts/setup build test)"
        )


def dpdk() -> list[object]:
    """On a TAP device that DPDK makes, without hugepages, apart from any other DPDK here."""
    cpus = ",".join(map(str, os.sched_getaffinity(0)))
    return [
        *[built("echo_dpdk"), "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "64"],
        *[f"--file-prefix=toehold{os.getpid()}", "--lcores", f"0@({cpus})"],
        *["--vdev=net_tap0,iface=dtap0", "--", "10.77.0.1/24", PORT],
    ]


def command(example: str) -> list[object]:
    if example == "echo_dpdk":
        return dpdk()
    if example.startswith("bare"):
        return bare_riscv(example[-2:])
    return [built(example), "tap0", "10.77.0.1/24", PORT]


class Server:
    """A pair of namespaces with an example on the server's end."""

    def __init__(self, example: str):
        argv = command(example)
        self.filtered = False
        self.pair = netns.Pair(tap=True)
        try:
            self.ip = self.pair.server_ip
            self.client = self.pair.client
            self.proc = self.pair.server.start(argv, name=example)
            proc.wait_until(
                lambda: "listening" in self.proc.text(),
                f"{example} listens",
                proc=self.proc,
                timeout=60,
            )
            if example == "echo_dpdk":
                # The kernel's end of the device has the card's address, which is now the server's.
                port = ["ip", "link", "set", "dtap0", "address", "02:00:00:00:00:99"]
                self.pair.server.run(port + ["master", "br0", "up"])
                proc.wait_until(
                    self.answers, "the bridge carries frames", timeout=30, proc=self.proc
                )
        except BaseException:
            self.close()
            raise

    def answers(self) -> bool:
        ping = ["ping", "-q", "-c", "1", "-W", "1", self.ip]
        return self.client.run(ping, check=False).returncode == 0

    def close(self) -> None:
        self.pair.delete()

    def connect(self) -> socket.socket:
        return self.client.connect(self.ip, PORT)

    def filter(self, *rules: str) -> None:
        """Rules of nft for the frames between the example and its peers."""
        ns = self.pair.server
        self.filtered = True
        ns.run(["nft", "add", "table", "bridge", "wire"])
        hook = "{ type filter hook forward priority 0; }"
        ns.run(["nft", "add", "chain", "bridge", "wire", "forward", hook])
        for rule in rules:
            ns.run(["nft", "add", "rule", "bridge", "wire", "forward", *rule.split()])

    def counted(self) -> int:
        """Frames that the rule with a counter has seen."""
        words = self.pair.server.run(["nft", "list", "table", "bridge", "wire"]).stdout.split()
        return int(words[words.index("packets") + 1])

    def unfilter(self) -> None:
        self.filtered = False
        self.pair.server.run(["nft", "delete", "table", "bridge", "wire"])


@pytest.fixture(params=EXAMPLES, scope="module")
def _running(request: pytest.FixtureRequest):
    s = Server(request.param)
    yield s
    s.close()


@pytest.fixture
def server(_running: Server):
    """The same for all tests of an example: it must live through them."""
    yield _running
    if _running.filtered:
        _running.unfilter()
    assert _running.proc.poll() is None, f"it has ended{_running.proc.tail()}"


def echo(s: socket.socket, data: bytes) -> bytes:
    """Returns the echo until the server closes too, while sending data."""
    got = bytearray()

    def receive() -> None:
        with contextlib.suppress(TimeoutError):
            while piece := s.recv(1 << 16):
                got.extend(piece)

    reader = threading.Thread(target=receive)
    reader.start()
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    reader.join()
    return bytes(got)


def test_echo(server: Server):
    """Ping, small and in fragments; a megabyte each way at once; then a reset, and it serves on."""
    server.client.ping(server.ip)
    server.client.ping(server.ip, "-s", 4000)
    data = random.Random(labs.SEED).randbytes(1 << 20)
    with server.connect() as s:
        assert echo(s, data) == data
    with server.connect() as s:
        s.sendall(b"never read")
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with server.connect() as s:
        assert echo(s, b"after") == b"after"
    with pytest.raises(ConnectionRefusedError):
        server.client.connect(server.ip, PORT + 1)


def test_many_connections(server: Server):
    """200 at once, each with its own bytes, answered in any order; then 100 one after another."""
    conns = [server.connect() for _ in range(200)]
    for i, s in enumerate(conns):
        s.sendall(f"{i};".encode() * 100)
    for i, s in reversed(list(enumerate(conns))):
        data, got = f"{i};".encode() * 100, b""
        while len(got) < len(data):
            piece = s.recv(4096)
            assert piece
            got += piece
        assert got == data
    for s in conns:
        s.close()
    for i in range(100):
        with server.connect() as s:
            assert echo(s, str(i).encode()) == str(i).encode()


def test_more_connections_than_it_has_room_for(server: Server):
    """Further clients get no reply, and the server survives; freed room is used."""
    conns = [server.connect() for _ in range(256)]
    extra = server.client.socket()
    extra.settimeout(0.3)
    with pytest.raises(TimeoutError):
        extra.connect((server.ip, PORT))
    extra.close()
    for s in conns:
        assert echo(s, b"x") == b"x"
        s.close()

    def served() -> bool:
        try:
            with server.client.connect(server.ip, PORT, timeout=1) as s:
                return echo(s, b"again") == b"again"
        except TimeoutError:
            return False

    proc.wait_until(served, "room is free again")


def test_loss(server: Server):
    """One frame of 50 is lost: every byte of ten concurrent connections is still echoed
    correctly."""
    data = random.Random(labs.SEED).randbytes(200_000)
    server.filter("numgen inc mod 50 49 counter drop")
    sockets = [server.connect() for _ in range(10)]
    sent, got = [0] * 10, [bytearray() for _ in range(10)]
    with selectors.DefaultSelector() as ready:
        for i, s in enumerate(sockets):
            s.setblocking(False)
            ready.register(s, selectors.EVENT_READ | selectors.EVENT_WRITE, i)
        while ready.get_map():
            events = ready.select(proc.seconds(20))
            assert events, f"no event: {list(map(len, got))} of {len(data)} bytes"
            for key, what in events:
                i, s = key.data, key.fileobj
                if what & selectors.EVENT_WRITE:
                    sent[i] += s.send(data[sent[i] : sent[i] + 65536])
                    if sent[i] == len(data):
                        s.shutdown(socket.SHUT_WR)
                        ready.modify(s, selectors.EVENT_READ, i)
                if what & selectors.EVENT_READ:
                    piece = s.recv(1 << 16)
                    got[i] += piece
                    if not piece:
                        ready.unregister(s)
    for i, s in enumerate(sockets):
        assert got[i] == data
        s.close()
    assert server.counted() > 20


def test_time(server: Server):
    """It wakes by timer: if ACKs are lost and no packet arrives, data is retransmitted."""
    with server.connect() as s:
        s.sendall(b"x")
        assert s.recv(10) == b"x"
        server.filter("iifname srv0 ip length < 100 drop", "oifname srv0 ip length > 500 counter")
        s.sendall(b"y" * 1000)
        proc.wait_until(
            lambda: server.counted() >= 3, "two retransmissions", timeout=30, proc=server.proc
        )
        server.unfilter()
        assert echo(s, b"z") == b"y" * 1000 + b"z"


@pytest.mark.parametrize("example", ["echo_tap", "echo_tap_one", "echo_uv"])
def test_the_device_goes_away(example: str):
    """Set down, it comes back; removed, the example reports it and exits instead of spinning."""
    s = Server(example)
    try:
        s.pair.server.run(["ip", "link", "set", "tap0", "down"])
        s.pair.server.run(["ip", "link", "set", "tap0", "up"])
        proc.wait_until(s.answers, "it answers again", proc=s.proc)
        s.pair.server.run(["ip", "link", "del", "tap0"])
        assert s.proc.wait(10) == 1
        assert "bad" in s.proc.text()
    finally:
        s.close()


WRONG = [
    ([], 2, "usage"),
    (["10.77.0.1"], 2, "usage"),
    (["10.77.0.300/24"], 2, "usage"),
    (["10.77.0.1/280"], 2, "usage"),
    (["10.77.0.1/24x"], 2, "usage"),
    (["10.77.0.1/33"], 1, "cannot be used"),
    (["224.0.0.1/24"], 1, "cannot be used"),
    (["10.77.0.1/24", "65536"], 1, "cannot be used"),
    (["10.77.0.1/24", "echo"], 1, "cannot be used"),
]


def test_wrong_arguments():
    """Numbers out of range are not truncated, and none is used as a memory size."""
    with netns.Pair() as pair:
        for example in ("echo_tap", "echo_uv"):
            for words, code, said in WRONG:
                argv = [built(example), "tap0", *words]
                done = pair.server.run(argv, check=False, timeout=5)
                assert (done.returncode, said in done.stderr) == (code, True), (argv, done.stderr)
            argv = [built(example), "a_name_of_16_chr", "10.77.0.1/24"]
            done = pair.server.run(argv, check=False, timeout=5)
            assert (done.returncode, "too long" in done.stderr) == (1, True), done.stderr


def test_dpdk_without_memory_for_the_stack():
    eal = ["--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "20"]
    eal += [f"--file-prefix=toehold{os.getpid()}", "--vdev=net_null0"]
    done = proc.run([built("echo_dpdk"), *eal, "--", "10.77.0.1/24"], check=False, timeout=20)
    assert (done.returncode, "no memory" in done.stderr) == (1, True), done.stderr
