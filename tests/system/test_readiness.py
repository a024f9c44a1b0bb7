# SPDX-License-Identifier: Apache-2.0
"""epoll, poll and select: a process under the TOE against sockets of the Linux peer.

Each test is a dialogue of two ends: `robot` is the process under test, `peer` a socket of
the test's own.
"""

from __future__ import annotations

import select
import socket

import pytest

from tests.lab import lab as labs
from tests.lab.robot import PORT

# ---- readiness


@pytest.mark.shows("epoll_wait level-triggered")
def test_level_triggered(robot, peer):
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN)")
    fd = robot("s.fileno()")
    assert robot("ep.poll(0)") == []
    peer.sendall(b"ab")
    assert robot("ep.poll(20)") == [(fd, select.EPOLLIN)]
    robot("s.recv(1)")
    assert robot("ep.poll(20)") == [(fd, select.EPOLLIN)]
    robot("s.recv(1)")
    assert robot("ep.poll(0)") == []


@pytest.mark.shows("epoll_ctl EPOLLET")
def test_edge_triggered(robot, peer):
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN | select.EPOLLET)")
    fd = robot("s.fileno()")
    peer.sendall(b"ab")
    assert robot("ep.poll(20)") == [(fd, select.EPOLLIN)]
    assert robot("ep.poll(0.1)") == []
    peer.sendall(b"cd")
    assert robot("ep.poll(20)") == [(fd, select.EPOLLIN)]
    labs.proc.wait_until(lambda: robot("s.recv(9, socket.MSG_PEEK)") == b"abcd", "all is there")
    assert robot("ep.poll(0)") == []


@pytest.mark.shows("epoll_ctl EPOLLONESHOT")
def test_one_shot(robot, peer):
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN | select.EPOLLONESHOT)")
    fd = robot("s.fileno()")
    peer.sendall(b"ab")
    assert robot("ep.poll(20)") == [(fd, select.EPOLLIN)]
    peer.sendall(b"cd")
    assert robot("ep.poll(0.1)") == []
    robot("ep.modify(s, select.EPOLLIN | select.EPOLLONESHOT)")
    assert robot("ep.poll(20)") == [(fd, select.EPOLLIN)]


def test_registered_when_already_ready(robot, peer):
    peer.sendall(b"early")
    robot("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    for trigger in ("0", "select.EPOLLET"):
        robot(f"ep = select.epoll(); ep.register(s, select.EPOLLIN | {trigger})")
        assert robot("ep.poll(20)") == [(robot("s.fileno()"), select.EPOLLIN)]


@pytest.mark.shows("epoll_ctl EPOLLRDHUP")
def test_peer_closes_half(robot, peer):
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN | select.EPOLLRDHUP)")
    peer.shutdown(socket.SHUT_WR)
    assert robot("ep.poll(20)") == [(robot("s.fileno()"), select.EPOLLIN | select.EPOLLRDHUP)]


@pytest.mark.shows("close of a registered socket")
def test_closed_descriptor_leaves_the_epoll(lab, robot, accepted):
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN)")
    robot("ep.register(listener, select.EPOLLIN)")
    accepted.sendall(b"x")
    assert robot("ep.poll(20)") == [(robot("s.fileno()"), select.EPOLLIN)]
    robot("s.close()")
    assert robot("ep.poll(0)") == []
    with lab.connect(PORT):
        assert robot("ep.poll(20)") == [(robot("listener.fileno()"), select.EPOLLIN)]
        robot("listener.accept()[0].close()")


MAKE_KERNEL_ENDS = """
pipe_r, pipe_w = os.pipe()
unix_a, unix_b = socket.socketpair()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(('127.0.0.1', 0))
inner = socket.create_server(('127.0.0.1', 0))
fds = {pipe_r: 'pipe', unix_a.fileno(): 'unix', udp.fileno(): 'udp', inner.fileno(): 'inner',
       s.fileno(): 'toe', listener.fileno(): 'listener'}
"""
WAITS = {
    "epoll": "[ep := select.epoll(), [ep.register(f, select.EPOLLIN) for f in fds]]\n"
    "wait = lambda t: sorted(fds[f] for f, _ in ep.poll(t))",
    "poll": "[ep := select.poll(), [ep.register(f, select.POLLIN) for f in fds]]\n"
    "wait = lambda t: sorted(fds[f] for f, _ in ep.poll(t * 1000))",
    "select": "wait = lambda t: sorted(fds[f] for f in select.select(list(fds), [], [], t)[0])",
}


@pytest.mark.parametrize("how", WAITS)
@pytest.mark.shows("epoll_wait of both worlds")
def test_toe_and_kernel_descriptors_together(lab, robot, accepted, how):
    robot(MAKE_KERNEL_ENDS)
    robot(WAITS[how])
    assert robot("wait(0)") == []
    assert robot("wait(0.05)") == []
    in_robot = {
        "pipe": ("os.write(pipe_w, b'x')", "os.read(pipe_r, 9)"),
        "unix": ("unix_b.send(b'x')", "unix_a.recv(9)"),
        "udp": ("udp.sendto(b'x', udp.getsockname())", "udp.recv(9)"),
    }
    for name, (make, take) in in_robot.items():
        robot(make)
        assert robot("wait(20)") == [name]
        # One that stays ready does not hide the TOE's, nor the other way round.
        accepted.sendall(b"y")
        both = sorted([name, "toe"])
        labs.proc.wait_until(lambda both=both: robot("wait(20)") == both, "both are ready")
        robot("s.recv(9)")
        assert robot("wait(20)") == [name]
        robot(take)
        assert robot("wait(0)") == []
    # A sleeper is woken by either kind.
    for late in ("os.write(pipe_w, b'x')", "unix_b.send(b'x')"):
        robot(f"threading.Timer(0.2, lambda: {late}).start()")
        assert len(robot("wait(20)")) == 1
        robot("os.read(pipe_r, 9)" if "pipe" in late else "unix_a.recv(9)")
    robot.tell("wait(20)")
    robot.sleeps()
    accepted.sendall(b"z")
    assert robot.result() == ["toe"]
    robot("s.recv(9)")
    robot.tell("wait(20)")
    robot.sleeps()
    with lab.connect(PORT):
        assert robot.result() == ["listener"]
        robot("listener.accept()[0].close()")
    robot("inner_client = socket.create_connection(inner.getsockname())")
    assert robot("wait(20)") == ["inner"]


@pytest.mark.shows("poll of an epoll instance")
def test_epoll_inside_a_poll(robot, peer):
    """An epoll descriptor is itself readable when one in it is ready (libev and others do this)."""
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN)")
    robot("p = select.poll(); p.register(ep, select.POLLIN)")
    assert robot("p.poll(0)") == []
    peer.sendall(b"x")
    assert robot("p.poll(20000)") == [(robot("ep.fileno()"), select.POLLIN)]


def test_epoll_tells_all_that_is_ready_at_once(robot, peer):
    """As many of the kernel's descriptors as there is room for, and the connection with them."""
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN)")
    robot("pipes = [os.pipe() for _ in range(200)]")
    robot("[ep.register(write, select.EPOLLOUT) for _, write in pipes]")
    ready = {fd for fd, _ in robot("ep.poll(20, 1000)")}
    assert ready == set(robot("[write for _, write in pipes]"))
    peer.sendall(b"x")
    robot("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    # A connection that stays ready does not suppress the events of others.
    ready = {fd for _ in range(100) for fd, _ in robot("ep.poll(20, 1000)")}
    assert ready == {robot("s.fileno()"), *robot("[write for _, write in pipes]")}
    robot("s.recv(1)")
    assert len(robot("ep.poll(20, 50)")) == 50
