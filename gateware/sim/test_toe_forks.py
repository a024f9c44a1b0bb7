# SPDX-License-Identifier: Apache-2.0
"""Listeners of programs that fork, on a TOE whose flows stay with the queue pair that they arrived
on: a peer is served whether it connects before or after the fork."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateware.lib.tools import ROOT
from tests.lab import proc

from .toe_lab import PORT, PYTHON, Toe

# Listens, creates the file argv[3] to report it, then runs argv[2].
SERVER = """
import os, select, socket, subprocess, sys, time
told = sys.argv[3]
never, open_end = os.pipe()
def listener():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("0.0.0.0", int(sys.argv[1]) + ("again" in sys.argv)))
    s.listen(8)
    return s
s = listener()
def tell(): open(told, "w").close()
def serve():
    while True:
        c, _ = s.accept()
        c.sendall(c.recv(100) + b" back")
        c.close()
exec(sys.argv[2])
serve()
"""

# A master that does other reads and writes before it forks its worker.
MASTER = """
a, b = socket.socketpair()
tell()
for _ in range(14):
    time.sleep(0.05)
    a.send(b"a log"), s.getsockname()
    print("busy", flush=True)
    open("/dev/urandom", "rb").read(10), open("/etc/passwd", "rb").read()
if os.fork():
    time.sleep(1000)
"""

# The same after exec, with a listener that has not started.
EXEC = (
    """
if "again" not in sys.argv:
    s.set_inheritable(True)
    os.execv(sys.executable, [sys.executable, "-c", os.environ["SERVER"], *sys.argv[1:], "again"])
"""
    + MASTER
)

# The parent serves; the child does something else.
PARENT = "tell(); time.sleep(0.5); os.fork() or time.sleep(1000)"

# The listener is passed to the process that serves it; the sender waits for something else.
PASSED = """
s.close()
a, b = socket.socketpair()
if os.fork() == 0:
    s = socket.socket(fileno=socket.recv_fds(b, 1, 1)[1][0])
    serve()
s = listener()
socket.send_fds(a, [b"x"], [s.fileno()])
tell()
os.read(never, 1)
"""

# Does not call accept(): waits for another event, as if another program reported the peer.
WAITS = {
    "read": "tell(); os.read(never, 1)",
    "poll": "p = select.poll(); p.register(never, select.POLLIN); tell(); p.poll()",
    "select": "tell(); select.select([never], [], [])",
    "epoll": "e = select.epoll(); e.register(never, select.EPOLLIN); tell(); e.poll()",
    "recv": "a, b = socket.socketpair(); tell(); a.recv(1)",
    "accept": "u = socket.socket(socket.AF_UNIX); u.bind(told + 'u'); u.listen()\n"
    "tell(); u.accept()",
    # ... in calls that libtoe does not intercept
    "sleep": "tell(); time.sleep(1000)",
    "signal": "import signal; tell(); signal.pause()",
    "child": "tell(); os.waitpid(os.posix_spawn('/bin/sleep', ['sleep', '1000'], os.environ), 0)",
}


@pytest.fixture(scope="module")
def toe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toe]:
    toe = Toe(tmp_path_factory.mktemp("toe"), None)
    yield toe
    counts = toe.close()
    assert counts["strayed"] == counts["unlawful"] == 0


def started(toe: Toe, tmp_path: Path, does: str) -> proc.Proc:
    told = tmp_path / "listens"
    env = toe.env() | {"SERVER": SERVER}
    p = toe.server.start([PYTHON, "-c", SERVER, PORT, does, told], env=env)
    proc.wait_until(told.exists, "it does not listen", proc=p, timeout=30)
    return p


def answer(s: socket.socket) -> bytes:
    s.settimeout(proc.seconds(30))
    s.sendall(b"there")
    return s.recv(100)


KINDS = {
    "master": (MASTER, PORT),
    "parent": (PARENT, PORT),
    "exec": (EXEC, PORT + 1),
    "passed": (PASSED, PORT),
}


@pytest.mark.parametrize("kind", KINDS)
def test_who_connects_before_the_fork_is_served(toe: Toe, tmp_path: Path, kind: str) -> None:
    does, port = KINDS[kind]
    with started(toe, tmp_path, does):
        with toe.client.connect(toe.ip, port, timeout=30) as early:
            assert answer(early) == b"there back"
        for _ in range(20):
            with toe.client.connect(toe.ip, port) as later:
                assert answer(later) == b"there back"


@pytest.mark.parametrize("how", WAITS)
def test_who_waits_for_its_peer_otherwise_is_reached(toe: Toe, tmp_path: Path, how: str) -> None:
    """A peer connects while the program waits for another event, as an FTP server does for a report
    on its control connection."""
    with started(toe, tmp_path, WAITS[how]), toe.client.connect(toe.ip, PORT, timeout=30):
        pass


def test_a_handler_reads_within_a_call(toe: Toe) -> None:
    """A handler of a memory fault's signal may read: it does not wait for the interrupted call."""
    with toe.client.socket() as listener:
        listener.bind((toe.peer_ip, PORT))
        listener.listen()
        argv = [ROOT / "build" / "tests" / "fault_reads", toe.peer_ip, PORT]
        p = toe.server.start(argv, env=toe.env())
        assert p.wait(20) == 0, p.tail()
