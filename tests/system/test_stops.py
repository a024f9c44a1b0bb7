# SPDX-License-Identifier: Apache-2.0
"""Stopped processes and clock jumps: connections survive both (docs/FAULTS.md)."""

from __future__ import annotations

import contextlib
import signal
import time
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import proc
from tests.lab.flow import Flow
from tests.lab.robot import PORT, Robot, take

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
WRAP_S = (1 << 52) // 1_000_000_000  # when the core's count of ticks has been through 32 bits


@contextlib.contextmanager
def flowing(lab, *, port: int = PORT, env: dict | None = None):
    """A connection with data both ways, compared completely at the end."""
    with Robot(lab, env=env) as robot:
        robot.listen(lab.ip, port)
        with lab.connect(port) as peer:
            robot.accept()
            flow = Flow(robot, peer)
            flow.goes_on()
            yield flow
            flow.goes_on()
            flow.end()


def stop_for(process: proc.Proc, seconds: float) -> None:
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


# ---- toed


@pytest.mark.toehold_only
@pytest.mark.sanitize
def test_toed_stands_still(make_lab):
    """As on a suspended machine. A late timer is no timeout if its ACK has already arrived: 200
    ACKs, a delay of up to a second."""
    lab = make_lab()
    with flowing(lab) as flow, labs.closing_all() as peers:
        robot = flow.robot
        robot("kept = []")
        for _ in range(200):
            peers.append(lab.connect(PORT))
            robot("""
c, _ = listener.accept()
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000)
c.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
kept.append(c)
""")
        for _ in range(20):  # until the peer has no reason to acknowledge at once
            robot("for c in kept: c.send(b'x')")
        for _ in range(2):
            robot("for c in kept: c.send(b'x')")
            stop_for(lab.toed.proc, 3)
            flow.goes_on()
        assert lab.counter("tcp_timed_out") == 0
        robot("for c in kept: c.send(b'x')")
        for s in peers:
            s.settimeout(proc.seconds(20))
            assert take(s, 23) == b"x" * 23
    lab.wait_idle()


@pytest.mark.toehold_only
@pytest.mark.skipif(not FAKETIME, reason="no libfaketime: apt-get install faketime")
def test_the_clock_on_the_wall_jumps(make_lab, tmp_path):
    """toed does not use that clock."""
    now = tmp_path / "now"
    now.write_text("+0")
    env = {
        "FAKETIME_TIMESTAMP_FILE": str(now),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DISABLE_SHM": "1",
    }
    lab = make_lab(shared=True, env={**env, "LD_PRELOAD": str(FAKETIME)})
    with flowing(lab) as flow:
        assert FAKETIME.name in Path(f"/proc/{lab.toed.proc.pid}/maps").read_text()
        for jump in ("+400d", "-4000d"):
            now.write_text(jump)
            flow.goes_on()
            with lab.connect(PORT):
                flow.robot.accept("other")
    lab.wait_idle()


@pytest.mark.toehold_only
@pytest.mark.sanitize
def test_the_count_of_ticks_wraps(make_lab):
    """After 52 days of uptime: toed starts five seconds before the count wraps."""
    lab = make_lab()
    lab.toed.stop()
    up = float(Path("/proc/uptime").read_text().split()[0])
    lab.toed.prefix = ["unshare", "-T", "--monotonic", str(int(WRAP_S - up - 4))]
    lab.toed.start()
    with flowing(lab) as flow:
        end = time.monotonic() + 6
        while time.monotonic() < end:
            flow.goes_on(100_000)
        with lab.connect(PORT) as s:
            flow.robot.accept("other")
            flow.robot("other.sendall(b'hello')")
            assert take(s, 5) == b"hello"
        assert lab.counter("tcp_timed_out") == 0
    lab.wait_idle()


# ---- a program


@pytest.mark.sanitize
@pytest.mark.parametrize("seconds", [3, pytest.param(60, marks=pytest.mark.long)])
def test_a_program_stands_still(make_lab, seconds):
    """While its peers send: windows close, no connection times out, and then every byte arrives.
    Other programs are served throughout."""
    lab = make_lab()
    chunk = bytes(range(256)) * 64
    with flowing(lab) as flow, labs.closing_all() as peers, flowing(lab, port=PORT + 1) as other:
        robot = flow.robot
        robot("kept = []")
        for _ in range(50):
            peers.append(lab.connect(PORT))
            robot("kept.append(listener.accept()[0])")
        robot.proc.send_signal(signal.SIGSTOP)
        sent = [0] * len(peers)
        for n, s in enumerate(peers):  # until the buffer is full
            s.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while sent[n] < 400_000:
                    sent[n] += s.send(chunk[sent[n] % len(chunk) :])
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            other.goes_on()

        def shut() -> bool:
            before = flow.mine.sent
            other.goes_on()
            return flow.mine.sent == before

        proc.wait_until(shut, "its window is shut", timeout=60)
        robot.proc.send_signal(signal.SIGCONT)
        flow.goes_on()
        robot("""
def whole(c, n):
    got = b""
    while len(got) < n:
        got += c.recv(n - len(got))
    return got == (chunk * (n // len(chunk) + 1))[:n]
peers = {c.getpeername(): c for c in kept}
""")
        robot("chunk = given", given=chunk)
        for n, s in enumerate(peers):
            assert robot("whole(peers[at], n)", at=s.getsockname(), n=sent[n])
    lab.wait_idle(timeout=60)


@pytest.mark.toehold_only
def test_a_program_that_reads_no_notification(make_lab):
    """9,000 segments for 600 connections: they become one notification each, and no connection
    waits."""
    lab = make_lab()
    connections = 600
    room = {"TOEHOLD_SLOTS": "1024", "TOEHOLD_TX_SIZE": "4096", "TOEHOLD_RX_SIZE": "4096"}
    with (
        Robot(lab, env=room) as robot,
        labs.closing_all() as peers,
        flowing(lab, port=PORT + 1) as f,
    ):
        robot.listen(lab.ip, PORT, backlog=1000)
        robot("kept = []")
        for _ in range(connections):
            peers.append(lab.connect(PORT))
            robot("kept.append(listener.accept()[0])")
        robot.proc.send_signal(signal.SIGSTOP)
        for size in range(1, 16):
            for s in peers:
                s.send(bytes([size]) * size)
            f.goes_on(50_000)
        robot.proc.send_signal(signal.SIGCONT)
        expected = b"".join(bytes([size]) * size for size in range(1, 16))
        for s in peers:
            s.sendall(b"end")
        assert robot(
            "all(c.recv(n, socket.MSG_WAITALL) == data for c in kept)",
            n=len(expected) + 3,
            data=expected + b"end",
        )
    lab.wait_idle(timeout=60)
