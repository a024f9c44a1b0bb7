# SPDX-License-Identifier: Apache-2.0
"""Sockets that a program binds, and another one that it executes listens on or connects: launchers
such as `uvicorn --workers` do this."""

from __future__ import annotations

import pytest

from tests.lab import lab as labs
from tests.lab.robot import PORT

PARENT = """
import socket, subprocess, sys
child, host, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((host, port))
argv = [sys.executable, "-u", "-c", child, str(s.fileno()), *sys.argv[5:]]
children = [subprocess.Popen(argv, pass_fds=[s.fileno()]) for _ in range(count)]
for child in children:
    child.wait()
"""

SERVER = """
import os, socket, sys
s = socket.socket(fileno=int(sys.argv[1]))
s.listen(16)
os.write(1, b"listens\\n")  # at once: print() of several processes would mix
while True:
    c, _ = s.accept()
    c.sendall(b"%d" % os.getpid())
    c.close()
"""

CLIENT = """
import socket, sys
s = socket.socket(fileno=int(sys.argv[1]))
s.connect((sys.argv[2], int(sys.argv[3])))
print(s.getsockname()[:2], s.recv(10).decode())
"""


def ask(lab) -> str:
    with lab.connect(PORT) as c:
        got = b""
        while chunk := c.recv(100):
            got += chunk
    return got.decode()


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "own"])
def test_children_listen(lab, host, count):
    """Under --require: the TOE carries them."""
    at = lab.ip if host == "own" else host
    argv = [labs.PYTHON, "-u", "-c", PARENT, SERVER, at, PORT, count]
    with lab.app(argv, name="parent", says="listens\n" * count):
        found = {ask(lab) for _ in range(50)}
    assert all(found)
    assert len(found) <= count


def test_a_child_connects(lab, peer_listener):
    argv = [labs.PYTHON, "-u", "-c", PARENT, CLIENT, lab.ip, 7123, 1, lab.peer_ip, PORT]
    with lab.app(argv, name="parent") as parent:
        peer, name = peer_listener.accept()
        with peer:
            assert name == (lab.ip, 7123)
            peer.sendall(b"hello")
            peer.shutdown(1)
            assert parent.wait(20) == 0
        assert f"('{lab.ip}', 7123) hello" in parent.text()
