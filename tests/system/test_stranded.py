# SPDX-License-Identifier: Apache-2.0
"""Workers that can never accept from the listener of their parent: they get no queue pair, or the
TOE refuses the listener. Their clients are reset, as a program that runs can always accept on
Linux; and where a worker can accept after all, its clients are served.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest
from test_toed import NOBODY
from test_upgrade import CONTRACT, HELLO

from tests.lab import lab as labs
from tests.lab import proc
from tests.lab.robot import PORT, Robot, take

pytestmark = pytest.mark.toehold_only

STRANDED = 11  # TOEDEV_HELLO_STRANDED of toe/attach.h

# A child that serves the robot's listener by one of the ways to wait.
WORKER = """
import os, select, socket

STRANDED = 11  # TOEDEV_HELLO_STRANDED of toe/attach.h
worker = os.fork()
if not worker:
    try:
        poll = select.poll() if how == "poll" else select.epoll()
        poll.register(listener, 1)
        listener.setblocking(how == "accept")
        while True:
            if how != "accept":
                poll.poll()
            try:
                c, _ = listener.accept()
            except BlockingIOError:
                continue
            c.setblocking(True)
            c.sendall(c.recv(100))
            c.close()
    finally:
        os._exit(1)
"""

# Two listeners, and a child that accepts from both. It prints the errors of accept().
REFUSED = """
import os, select, socket, sys, time
how, ip, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
listeners = [socket.create_server((ip, port + n)) for n in range(2)]
if not os.fork():
    poll = select.poll() if how == "poll" else select.epoll()
    for l in listeners:
        poll.register(l, 1)
        l.setblocking(False)
    turns = 0
    while True:
        if how == "accept":
            listeners[1].setblocking(True)
        else:
            poll.poll()
        for l in listeners:
            try:
                l.accept()
            except BlockingIOError:
                pass
            except OSError as e:
                print(f"accept: {os.strerror(e.errno)}", flush=True)
                if how == "accept":
                    time.sleep(1000)
        turns += 1
        print("turn", turns, flush=True)
os.wait()
"""


@contextlib.contextmanager
def worker(robot: Robot, how: str) -> Iterator[None]:
    """A child of the robot."""
    robot(WORKER, how=how)
    try:
        yield
    finally:
        robot("os.kill(worker, 9); os.waitpid(worker, 0)")


def outcome(lab: labs.Lab, port: int = PORT) -> str:
    """What happens to a client within its patience."""
    try:
        with lab.connect(port, timeout=30) as s:
            s.settimeout(30)
            s.sendall(b"question")
            return "served" if take(s, 8) == b"question" else "closed"
    except ConnectionResetError:
        return "reset"
    except ConnectionRefusedError:
        return "refused"


def test_a_client_that_waits_is_reset_and_the_next_ones_too(make_lab):
    """The worker gets no queue pair, as another program has the last one; later it gets that."""
    lab = make_lab(args=["--max-qps", "2"])
    with Robot(lab) as other, Robot(lab) as robot:
        other.listen(lab.ip, PORT + 9)
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as early, worker(robot, "accept"):
            early.settimeout(30)
            with pytest.raises(ConnectionResetError):
                early.recv(1)
            assert [outcome(lab) for _ in range(3)] == ["reset"] * 3
            assert lab.counter("stranded") == 4
            other.proc.kill()
            proc.wait_until(lambda: outcome(lab) == "served", "the worker serves", timeout=20)
            assert [outcome(lab) for _ in range(3)] == ["served"] * 3


@pytest.mark.parametrize("how", ["poll", "epoll"])
def test_workers_that_poll(make_lab, how):
    lab = make_lab(args=["--max-qps", "1"])
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as early, worker(robot, how):
            early.settimeout(30)
            with pytest.raises(ConnectionResetError):
                early.recv(1)
            assert outcome(lab) == "reset"


def test_a_sibling_that_accepts_keeps_its_clients(make_lab):
    """Of two workers one has a queue pair: it serves, sooner or later."""
    lab = make_lab(args=["--max-qps", "2"])
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with worker(robot, "accept"):
            proc.wait_until(lambda: lab.queue_pairs() == 2, "the first worker is attached")
            robot("first = worker")
            with worker(robot, "accept"):
                proc.wait_until(
                    lambda: "engine 0 has all of its" in lab.toed.proc.text(), "the second is not"
                )
                assert [outcome(lab) for _ in range(4)] == ["served"] * 4
            robot("worker = first")
    assert "cannot accept on port" not in lab.toed.proc.text()


@pytest.mark.parametrize("how", ["accept", "poll", "epoll"])
def test_a_listener_that_is_refused(make_lab, how):
    """The user may have two listeners on the TOE, and one more where processes take turns: that of
    the child on the second port is an error of its accept(), and a message."""
    lab = make_lab(args=["--user", "nobody", "--user-limits", "listeners=2"])
    argv = [*NOBODY, *lab.toed.wrapped([labs.PYTHON, "-c", REFUSED, how, lab.ip, PORT])]
    with lab.server.start(argv, name="refused") as server:
        proc.wait_until(lambda: "accept: No buffer" in server.text(), "accept() fails", proc=server)
        assert f"refuses to listen on port {PORT + 1}: No buffer space" in server.text()
        assert outcome(lab, PORT + 1) == "reset"
        # A program that polls does not spin: it gets the error once for each LISTEN.
        turns = server.text().count("turn")
        assert turns <= 2 * server.text().count("accept: ") + 1


def test_reports_that_have_no_effect(lab, robot):
    """Of a port that the process has no part in, and of none."""
    robot.listen(lab.ip, PORT)
    for name in (b"%d" % PORT, b"0", b"65536", b"-1", b"", b"80x", b"9" * 31):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(20)
            s.connect(str(lab.toed.socket))
            s.sendall(HELLO.pack(0x31454F54, CONTRACT, STRANDED, 0, name))
            assert s.recv(100) == b""  # toed has closed it: no answer
    with lab.connect(PORT) as peer:
        robot.accept()
        robot("s.sendall(b'here')")
        assert take(peer, 4) == b"here"
        robot("s.close(); listener.close()")
