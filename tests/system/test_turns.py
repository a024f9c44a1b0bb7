# SPDX-License-Identifier: Apache-2.0
"""Workers that share listeners and take turns at accept(), by a lock across processes.

Linux has one accept queue for all of them: a connection waits there for the worker that holds the
lock. Servers that do so: uWSGI with thunder-lock, Apache with two Listen lines.
"""

from __future__ import annotations

import pytest

from tests.lab import lab as labs
from tests.lab.robot import PORT, take

# Each worker has every listener in an epoll instance, whether it uses that or not, as uWSGI.
_WORKERS = """
import fcntl, select, tempfile
lock = tempfile.NamedTemporaryFile()
workers = []

def serve(n):
    own = open(lock.name, "w")
    epoll, poll = select.epoll(), select.poll()
    for l in listeners:
        epoll.register(l, select.EPOLLIN)
        poll.register(l, select.POLLIN)
    by_number = {l.fileno(): l for l in listeners}
    while True:
        fcntl.lockf(own, fcntl.LOCK_EX)
        if how == "accept":
            at = listeners[0]
        else:
            at = by_number[(epoll if how == "epoll" else poll).poll()[0][0]]
        s, _ = at.accept()
        fcntl.lockf(own, fcntl.LOCK_UN)
        s.sendall(s.recv(100) + b" by a worker")
        s.close()

for n in range(4):
    pid = os.fork()
    if not pid:
        serve(n)
    workers.append(pid)
"""


@labs.gateware_lacks("no-moves")
@pytest.mark.parametrize(
    ("how", "ports"), [("accept", 1), ("epoll", 1), ("poll", 1), ("epoll", 2), ("poll", 2)]
)
def test_a_connection_goes_to_the_worker_that_holds_the_lock(lab, robot, how, ports):
    robot.listen(lab.ip, PORT)
    robot("listeners = [listener]")
    for n in range(1, ports):
        robot("l = socket.socket(); l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
        robot("l.bind((ip, at)); l.listen(64)", ip=lab.ip, at=PORT + n)
        robot("listeners.append(l)")
    robot(_WORKERS, how=how)
    for n in range(40):
        with lab.connect(PORT + n % ports) as s:
            s.settimeout(20)
            s.sendall(b"%d" % n)
            assert take(s, 100) == b"%d by a worker" % n
    robot("for pid in workers:\n    os.kill(pid, 9)\n    os.waitpid(pid, 0)")
    robot("for l in listeners: l.close()")
