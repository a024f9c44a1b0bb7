# SPDX-License-Identifier: Apache-2.0
"""Processes that share listeners and take turns at accept(), by a lock across processes.

Linux has one accept queue for all of them: a connection waits there for the process that holds the
lock. Servers that do so: uWSGI with thunder-lock, Apache with two Listen lines.
"""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

from tests.lab import lab as labs
from tests.lab import proc
from tests.lab.robot import PORT, Robot, take

pytestmark = labs.gateware_lacks("no-moves")

# What each process runs: serve(listeners, how, lock). A lock has two functions.
_SERVE = r"""
import ctypes, fcntl, mmap, multiprocessing, os, select, socket, sys, tempfile

def lock_of(kind):
    if kind == "semaphore":
        semaphore = multiprocessing.get_context("fork").Semaphore()
        return semaphore.acquire, semaphore.release
    if kind == "mutex":
        libc = ctypes.CDLL(None)
        memory = mmap.mmap(-1, 4096)
        mutex = ctypes.byref((ctypes.c_char * 64).from_buffer(memory))
        attr = ctypes.create_string_buffer(64)
        libc.pthread_mutexattr_init(attr)
        libc.pthread_mutexattr_setpshared(attr, 1)
        libc.pthread_mutex_init(mutex, attr)
        return lambda: libc.pthread_mutex_lock(mutex), lambda: libc.pthread_mutex_unlock(mutex)
    return file_lock(kind, tempfile.mkstemp()[1])

def file_lock(kind, path):
    opened = {}
    def by(operation):
        # flock() belongs to the open file: each process opens its own
        if os.getpid() not in opened:
            opened[os.getpid()] = open(path, "w")
        (fcntl.flock if kind == "flock" else fcntl.lockf)(opened[os.getpid()], operation)
    return lambda: by(fcntl.LOCK_EX), lambda: by(fcntl.LOCK_UN)

def serve(listeners, how, lock):
    acquire, release = lock
    epoll, poll = select.epoll(), select.poll()
    outer = select.epoll()
    outer.register(epoll, select.EPOLLIN)
    for l in listeners:
        # each has them in an epoll instance, whether it uses that or not, as uWSGI
        epoll.register(l, select.EPOLLIN)
        poll.register(l, select.POLLIN)
    by_number = {l.fileno(): l for l in listeners}
    waits = {
        "epoll": lambda: [by_number[fd] for fd, _ in epoll.poll()],
        "poll": lambda: [by_number[fd] for fd, _ in poll.poll()],
        "select": lambda: select.select(listeners, [], [])[0],
        "nested": lambda: (outer.poll(), [by_number[fd] for fd, _ in epoll.poll()])[1],
        "accept": lambda: listeners,
    }
    name, _, word = how.partition("-")
    if word in ("nonblocking", "first"):
        for l in listeners:
            l.setblocking(False)
    while True:
        ready = waits[name]() if word == "first" else None
        acquire()
        try:
            at = (ready or waits[name]())[0]
            s, _ = at.accept()
        except BlockingIOError: # another process was faster
            continue
        finally:
            release()
        s.setblocking(True)
        asked = s.recv(100)
        s.sendall(asked + b" by %d" % os.getpid())
        s.close()
"""

_FORK = """
workers = []
for n in range(count):
    pid = os.fork()
    if not pid:
        serve(listeners, hows[n % len(hows)], lock)
    workers.append(pid)
workers
"""


def listen(robot, lab: labs.Lab, ports: int = 1) -> None:
    robot(_SERVE)
    robot("listeners = []")
    for n in range(ports):
        robot.listen(lab.ip, PORT + n)
        robot("listeners.append(listener)")


@contextlib.contextmanager
def workers(robot, *hows: str, lock: str = "fcntl", count: int = 4):
    """The robot's children take turns while it sleeps, as a master does."""
    robot("lock = lock_of(kind)", kind=lock)
    pids = robot(_FORK, hows=hows, count=count)
    try:
        yield pids
    finally:
        end(robot, "workers")
        robot("for l in listeners: l.close()")


def end(robot, name: str) -> None:
    robot(f"for pid in {name}:\n    os.kill(pid, 9)\n    os.waitpid(pid, 0)\n{name} = []")


def ask(lab: labs.Lab, n: int, port: int = PORT) -> int:
    """One request. Returns the process that answered."""
    with lab.connect(port) as s:
        s.settimeout(proc.seconds(20))
        s.sendall(b"%d" % n)
        return answer(s, n)


def answer(s, n: int) -> int:
    asked, _, pid = take(s, 100).partition(b" by ")
    assert asked == b"%d" % n
    return int(pid)


@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize(
    "how",
    ["accept", "epoll", "poll", "select", "nested", "epoll-nonblocking", "poll-first"],
)
def test_a_connection_goes_to_the_worker_that_holds_the_lock(lab, robot, how, ports):
    if how == "accept" and ports > 1:
        pytest.skip("accept() waits for one listener")
    listen(robot, lab, ports)
    with workers(robot, how):
        for n in range(24):
            ask(lab, n, PORT + n % ports)


@pytest.mark.parametrize("lock", ["flock", "mutex", "semaphore"])
def test_any_lock(lab, robot, lock):
    listen(robot, lab)
    with workers(robot, "epoll", lock=lock):
        for n in range(12):
            ask(lab, n)


def test_workers_that_wait_before_they_lock_beside_one_that_accepts(lab, robot):
    """A worker that poll() has woken waits for the lock, which another one holds in accept()."""
    listen(robot, lab)
    robot("listeners[0].setblocking(True)")
    with workers(robot, "poll-first", "accept", count=2):
        for n in range(12):
            ask(lab, n)


def test_connections_at_once(lab, robot):
    listen(robot, lab)
    with workers(robot, "epoll"), contextlib.ExitStack() as stack:
        asked = []
        for _ in range(8):
            for n in range(8):
                s = stack.enter_context(lab.connect(PORT))
                s.settimeout(proc.seconds(20))
                s.sendall(b"%d" % n)
                asked.append((s, n))
        for s, n in asked:
            answer(s, n)


def test_connections_that_wait_when_workers_die(lab, robot):
    """All wait for the lock, which the master has. Half of the workers are killed, whatever waits
    with them goes to the others."""
    listen(robot, lab)
    robot("lock = lock_of('flock'); lock[0]()")
    pids = robot(_FORK, hows=["accept"], count=4)
    with contextlib.ExitStack() as stack:
        asked = []
        for n in range(16):
            s = stack.enter_context(lab.connect(PORT))
            s.settimeout(proc.seconds(20))
            s.sendall(b"%d" % n)
            asked.append((s, n))
        for pid in pids[:2]:
            os.kill(pid, signal.SIGKILL)
        robot("for pid in workers[:2]: os.waitpid(pid, 0)\nworkers = workers[2:]; lock[1]()")
        for s, n in asked:
            assert answer(s, n) in pids[2:]
    end(robot, "workers")
    robot("for l in listeners: l.close()")


def test_executed_workers(lab, robot):
    """Each worker is a program of its own that inherits the listener by its number."""
    listen(robot, lab)
    robot(
        """
import subprocess
path = tempfile.mkstemp()[1]
program = source + '''
serve([socket.socket(fileno=int(sys.argv[1]))], "epoll", file_lock("flock", sys.argv[2]))
'''
fd = listener.fileno()
programs = [subprocess.Popen([sys.executable, "-c", program, str(fd), path], pass_fds=[fd])
            for n in range(3)]
""",
        source=_SERVE,
    )
    try:
        for n in range(12):
            ask(lab, n)
    finally:
        robot("for p in programs: p.kill(); p.wait()\nlistener.close()")


def test_beside_a_socket_of_its_own(lab, robot):
    """SO_REUSEPORT: another socket on the port, whose process takes no turns."""
    robot(_SERVE)
    robot(
        """
def bound():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind((ip, port))
    s.listen(64)
    return s
listeners = [bound()]
""",
        ip=lab.ip,
        port=PORT,
    )
    with workers(robot, "epoll", count=3):
        robot(
            """
r, w = os.pipe()
own = os.fork()
if not own:
    listeners[0].close()
    s = bound()
    os.write(w, b"x")
    serve([s], "epoll-nonblocking", (lambda: None, lambda: None))
os.read(r, 1)
workers.append(own)
"""
        )
        for n in range(24):
            ask(lab, n)


def test_threads_that_accept(lab, robot):
    """A process with several threads in accept(): its turn lasts while one of them waits."""
    listen(robot, lab)
    robot(
        """
import threading
workers = [os.fork()]
if not workers[0]:
    for n in range(3):
        work = [listeners, "accept", (lambda: None, lambda: None)]
        threading.Thread(target=serve, args=work).start()
    threading.Event().wait()
"""
    )
    for n in range(12):
        ask(lab, n)
    end(robot, "workers")
    robot("listener.close()")


def test_a_master_that_sleeps_keeps_nothing(lab, robot):
    """Connections that wait with the master while its workers are busy leave no slot of it in use
    when a worker has them."""
    if not lab.toed:
        pytest.skip("slots are the TOE's")
    listen(robot, lab)
    with workers(robot, "epoll"):
        for n in range(200):
            ask(lab, n)

        def used() -> bool:
            return any(qp["pid"] == robot.pid and qp["slots_used"] for qp in lab.toed.queue_pairs())

        proc.wait_until(lambda: not used(), "no slot of the master is in use")


def test_connections_that_wait_at_an_upgrade(lab, robot):
    listen(robot, lab)
    robot("lock = lock_of('flock'); lock[0]()")
    robot(_FORK, hows=["poll"], count=3)
    with contextlib.ExitStack() as stack:
        asked = []
        for n in range(8):
            s = stack.enter_context(lab.connect(PORT))
            s.settimeout(proc.seconds(20))
            s.sendall(b"%d" % n)
            asked.append((s, n))
        if lab.toed:
            lab.toed.take_over()
        robot("lock[1]()")
        for s, n in asked:
            answer(s, n)
    end(robot, "workers")
    robot("for l in listeners: l.close()")


@pytest.mark.toehold_only
@pytest.mark.parametrize("given", [{"engines": 2}, {"args": ["--manager", "polling"]}])
def test_engines_and_managers(make_lab, given):
    """Each engine has a queue pair of each process, and parks flows of its own."""
    lab = make_lab(**given)
    with Robot(lab) as robot:
        listen(robot, lab, ports=2)
        with workers(robot, "epoll"):
            for n in range(24):
                ask(lab, n, PORT + n % 2)
    lab.wait_idle()
