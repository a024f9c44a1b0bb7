# SPDX-License-Identifier: Apache-2.0
"""Hosts are not trusted by the gateware TOE: invalid descriptors, broken rules, abrupt ends.
Whatever one host does, the others keep working, and the next host finds no trace of it."""

import contextlib
import json
import mmap
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateware.lib.tools import ROOT
from tests.lab import proc

from . import raw_host as raw
from .raw_host import Host, Shape
from .toe_lab import ECHO, MANY, PORT, PYTHON, Toe

CONFIG = Shape()


def gone(toe: Toe) -> None:
    """Waits until no queue pair is left."""
    proc.wait_until(
        lambda: not toe.stats()["engines"][0]["queue_pairs"], "a queue pair stays", timeout=30
    )


def reached(toe: Toe, port: int) -> str:
    """Returns the outcome of a connection to this port."""
    with toe.client.socket() as s:
        s.settimeout(proc.seconds(20))
        try:
            s.connect((toe.ip, port))
        except OSError as e:
            return type(e).__name__
        return "connected"


@contextlib.contextmanager
def peers(toe: Toe, host: Host, n: int, port: int) -> Iterator[list[socket.socket]]:
    """Opens n connections to a host's listener, accepts each, and yields them in slot order."""
    host.listen(port)
    with contextlib.ExitStack() as all_:
        found = {}
        for _ in range(n):
            s = all_.enter_context(toe.client.connect(toe.ip, port))
            heard = host.hear()
            assert (heard.type, heard.aux) == (raw.LISTEN_ESTABLISHED, s.getsockname()[1])
            host.do(raw.ACCEPT, flow=heard.flow)
            found[heard.flow] = s
        yield [found[slot] for slot in sorted(found)]


def ended(s: socket.socket) -> str:
    s.settimeout(proc.seconds(20))
    try:
        return repr(s.recv(1))
    except OSError as e:
        return type(e).__name__


# ---- descriptors and hellos ----


def wrong_area(kind: str) -> int:
    if kind == "unsealed":
        return raw.area(CONFIG.total, 0)
    if kind == "sealed against writing":
        return raw.area(CONFIG.total, raw.SEALS | 0x0008)
    return raw.area(CONFIG.total + 4096)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("unsealed", "the area is not a memfd sealed against shrinking, growing and sealing"),
        ("sealed against writing", "the area is sealed against writing"),
        ("too large", f"the area has {CONFIG.total + 4096} bytes, this configuration needs"),
        ("a pipe", "the interrupt is not an eventfd"),
        ("blocking", "the interrupt eventfd is not EFD_NONBLOCK"),
    ],
)
def test_what_it_brings_is_looked_at(toe: Toe, kind: str, says: str) -> None:
    with pytest.raises(raw.Refused, match=says):
        if kind == "a pipe":
            ends = os.pipe()
            os.close(ends[0])
            Host(toe.socket, irq=ends[1])
        elif kind == "blocking":
            Host(toe.socket, irq=os.eventfd(0, os.EFD_CLOEXEC))
        else:
            Host(toe.socket, memory=wrong_area(kind))
    gone(toe)


def test_register_page_is_for_reading(toe: Toe) -> None:
    with Host(toe.socket) as host:
        with pytest.raises(PermissionError):
            mmap.mmap(host.page, raw.PAGE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        with pytest.raises(PermissionError):
            os.pwrite(host.page, b"\0", 0)
        with pytest.raises(PermissionError):
            os.ftruncate(host.page, 0)
        page = mmap.mmap(host.page, raw.PAGE, mmap.MAP_SHARED, mmap.PROT_READ)
        assert struct.unpack_from("<I", page)[0] == raw.MAGIC


@pytest.mark.parametrize("n", [50, pytest.param(100, marks=pytest.mark.long)])
def test_who_says_nothing_keeps_nobody_out(toe: Toe, n: int) -> None:
    """Excess silent connections are closed at once, the others after a timeout."""
    with contextlib.ExitStack() as all_:
        silent = [
            all_.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            for _ in range(n)
        ]
        for s in silent:
            s.connect(str(toe.socket))
        if n > 64:
            for s in silent:
                s.settimeout(proc.seconds(20))
                assert s.recv(1) == b""
        with Host(toe.socket) as host:
            host.listen(PORT)
            assert reached(toe, PORT) == "connected"


# ---- the owner of a queue pair ----


def test_a_child_keeps_nothing_alive(toe: Toe) -> None:
    """The child inherits all descriptors, but its parent owned the queue pair."""
    read, write = os.pipe()
    parent = os.fork()
    if parent == 0:
        with contextlib.suppress(BaseException):
            host = Host(toe.socket)
            child = os.fork()
            if child == 0:
                signal.pause()
            os.write(write, struct.pack("<ii", child, host.number))
            signal.pause()
        os._exit(0)
    child, _ = struct.unpack("<ii", os.read(read, 8))
    try:
        assert [q["pid"] for q in toe.stats()["engines"][0]["queue_pairs"]] == [parent]
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
        gone(toe)
        os.kill(child, 0)  # the child is alive
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(read)
        os.close(write)


def test_queue_pair_moves_to_another_process(toe: Toe) -> None:
    """The queue pair ends with its new owner, although the connection stays open here."""
    with contextlib.ExitStack() as all_:
        host = all_.enter_context(Host(toe.socket))
        other = all_.enter_context(subprocess.Popen(["sleep", "1000"]))
        all_.callback(other.kill)
        pidfd = os.pidfd_open(other.pid)
        raw.say(host.control, raw.MOVED, [pidfd])
        os.close(pidfd)

        def whose() -> list[int]:
            return [q["pid"] for q in toe.stats()["engines"][0]["queue_pairs"]]

        proc.wait_until(lambda: whose() == [other.pid], "it does not move", timeout=30)
        host.listen(PORT)
        other.kill()
        gone(toe)
    with Host(toe.socket) as host:  # moved to no process: the queue pair ends
        raw.say(host.control, raw.MOVED, [host.page])
        gone(toe)


# ---- a full HW ring ----


def test_full_hw_ring_holds_up_nobody_else(toe: Toe) -> None:
    """Not even while toe_conn has a notification for it: that a CONNECT has failed."""
    nobody = struct.unpack(">I", socket.inet_aton(toe.peer_ip))[0] ^ 0x55
    with Host(toe.socket) as full, Host(toe.socket) as other:
        full.fill(CONFIG.hw - 1)
        # One entry is left; the second of the two commands takes it.
        full.do(raw.CONNECT, aux=9, flow=77, arg0=nobody)
        full.fill(1)
        full.put(raw.NO_SUCH)
        full.ring()
        other.do(raw.CONNECT, aux=9, flow=78, arg0=nobody)
        heard = other.hear()
        assert (heard.type, heard.arg0) == (raw.CONNECT_FAILED, 78)
        server = toe.echo()
        toe.talk(100000)
        assert full.sw_tail == full.sw_head - 1
        heard = [full.hear() for _ in range(CONFIG.hw + 2)]
        failed = [c for c in heard if c.type == raw.CONNECT_FAILED]
        assert [c.arg0 for c in failed] == [77]
        assert sum(c.type == raw.ERROR for c in heard) == CONFIG.hw + 1
        assert full.take() is None
        server.stop()


# ---- the end of a host ----


def test_what_it_was_about_to_say_is_not_done(toe: Toe) -> None:
    """LISTENs still in the ring when the host ends never take effect."""
    ports = range(6000, 6016)
    for _ in range(8):
        host = Host(toe.socket, Shape(sw=1024))
        for _ in range(60):
            for n, port in enumerate(ports):
                host.put(raw.LISTEN, aux=port, flow=n, arg1=4)
        host.ring()
        host.close()
        gone(toe)
        assert {reached(toe, port) for port in ports} == {"ConnectionRefusedError"}
    with Host(toe.socket) as host:
        for n, port in enumerate(ports):
            host.listen(port, n)
        assert host.take() is None
        with toe.client.connect(toe.ip, ports[3]):
            assert host.hear().arg1 == 3


@pytest.mark.parametrize("number", ["its number", "another number"])
def test_slots_of_another_life(toe: Toe, number: str) -> None:
    """Pending notifications of ended flows are discarded; the next host reuses the slots."""
    shape = Shape(slots=4)
    for life in range(4):
        with contextlib.ExitStack() as all_:
            first = Host(toe.socket, shape)
            with peers(toe, first, 4, PORT) as four:
                if life % 2:  # their notifications become pending
                    first.fill(CONFIG.hw)
                for s in four:
                    s.sendall(b"y" * 1000)
                first.close()
                assert {ended(s) for s in four} == {"ConnectionResetError"}
            gone(toe)
            assert reached(toe, PORT) == "ConnectionRefusedError"
            if number == "another number":  # another host takes its number, reads nothing
                between = all_.enter_context(Host(toe.socket, Shape(slots=8)))
                between.fill(CONFIG.hw)
            second = all_.enter_context(Host(toe.socket, shape))
            assert (first.number == second.number) == (number == "its number")
            four = all_.enter_context(peers(toe, second, 4, PORT))
            assert second.take() is None
            for slot, s in enumerate(four):
                said = b"z" * (100 + slot)
                s.sendall(said)
                heard = second.hear()
                assert (heard.type, heard.flow, heard.arg0) == (raw.DATA_RECEIVED, slot, len(said))
                at = shape.buffers + slot * (shape.tx + shape.rx) + shape.tx
                assert second.memory[at : at + 200] == said.ljust(200, b"\0")
            second.fill(CONFIG.hw)  # all entries of its HW ring are available
        gone(toe)


@pytest.mark.parametrize("way", ["dies", "stops listening"])
def test_many_connections_at_once(toe: Toe, way: str) -> None:
    """More connections than any queue of the TOE holds: each is reset, and others can connect."""
    host = Host(toe.socket, Shape(slots=128, hw=1024))
    host.listen(PORT, 1, 128)
    with contextlib.ExitStack() as all_:
        conns = [all_.enter_context(toe.client.connect(toe.ip, PORT)) for _ in range(100)]
        for _ in conns:
            assert host.hear().type == raw.LISTEN_ESTABLISHED
        if way == "dies":
            host.close()
        else:
            host.put(raw.UNLISTEN, flow=1)
            host.put(raw.LISTEN, aux=PORT + 1, flow=2, arg1=4)
            host.ring()
        assert {ended(s) for s in conns} == {"ConnectionResetError"}
    if way == "dies":
        gone(toe)
    else:
        host.handled()
        assert reached(toe, PORT + 1) == "connected"
        host.close()
    server = toe.echo()
    toe.talk(1000)
    server.stop()


def test_memory_that_it_takes_along(tmp_path: Path) -> None:
    """DETACHED is set only when no access to the memory is outstanding, however slow it is."""
    toe = Toe(tmp_path, None, "--stall", 60, "--delay", 200)
    try:
        for _ in range(3):
            server = toe.server.start([PYTHON, "-c", MANY, PORT], env=toe.env())
            proc.wait_until(lambda s=server: "listening" in s.text(), "no listener", timeout=30)
            busy = (
                "import socket, sys, threading\n"
                "at = sys.argv[1], int(sys.argv[2])\n"
                "c = [socket.create_connection(at, timeout=60) for _ in range(8)]\n"
                "def take(s):\n while s.recv(65536): pass\n"
                "for s in c: threading.Thread(target=take, args=[s], daemon=True).start()\n"
                "while True:\n for s in c: s.sendall(bytes(20000)); print('on', flush=True)\n"
            )
            peer = toe.client.start([PYTHON, "-c", busy, toe.ip, PORT])
            proc.wait_until(lambda p=peer: p.text().count("on") > 20, "no data", timeout=60)
            os.kill(server.pid, signal.SIGKILL)
            server.stop()
            assert peer.wait(30) == 1
            gone(toe)
    finally:
        counts = toe.close()
    assert counts["strayed"] == counts["unlawful"] == 0


# ---- random violations ----


@pytest.mark.parametrize(
    "lives", [5, pytest.param(15, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_hostile_programs_then_an_honest_one(toe: Toe, tmp_path: Path, lives: int) -> None:
    """Programs that break every rule, by seed (tests/programs/hostile.c); then nginx and curl."""
    listener = toe.client.start([PYTHON, "-c", ECHO, PORT + 1])
    proc.wait_until(lambda: "listening" in listener.text(), "it does not listen", timeout=30)
    hostile = ROOT / "build" / "tests" / "hostile"
    total = {"attached": 0, "halted": 0}
    for seed in range(1, 60):
        # On a busy machine few of them run long enough to be halted.
        if seed > 3 and min(total["attached"], total["halted"]) > 0:
            break
        argv = [hostile, toe.socket, seed, lives, toe.peer_ip, PORT, PORT + 1, "no mark"]
        rogue = toe.server.start(argv)
        assert rogue.wait(60) == 0, rogue.tail()
        said = json.loads(rogue.text().splitlines()[-1])
        total = {name: total.get(name, 0) + n for name, n in said.items()}
    assert (total["resized"], total["written"]) == (0, 0)
    assert min(total["attached"], total["halted"]) > 0, total
    gone(toe)
    assert sum(q["listeners"] for q in toe.stats()["engines"][0]["queue_pairs"]) == 0
    config = tmp_path / "nginx.conf"
    (tmp_path / "logs").mkdir()
    config.write_text(
        f"daemon off; user root; worker_processes 1; pid {tmp_path}/pid;"
        f"error_log {tmp_path}/logs/error; events {{ }} http {{ access_log off;"
        f" server {{ listen {PORT}; location / {{ return 200 hello; }} }} }}\n"
    )
    server = toe.server.start(["nginx", "-p", tmp_path, "-c", config], env=toe.env())
    proc.wait_until(lambda: reached(toe, PORT) == "connected", "nginx does not listen", timeout=30)
    for _ in range(5):
        get = ["curl", "-sS", "-m", "20", f"http://{toe.ip}:{PORT}/"]
        assert toe.client.run(get).stdout == "hello"
    server.stop()
    listener.stop()
