# SPDX-License-Identifier: Apache-2.0
"""The socket calls, one by one: a process under the TOE against sockets of the Linux peer.

Each test is a dialogue of two ends: `robot` is the process under test, `peer` a socket of
the test's own.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import threading
import time

import lab as labs
import pytest
from robot import Robot

PORT = 7000


def take(s: socket.socket, count: int) -> bytes:
    """The next `count` bytes; fewer only at the end of the stream."""
    got = bytearray()
    while len(got) < count and (chunk := s.recv(count - len(got))):
        got += chunk
    return bytes(got)


@pytest.fixture
def robot(lab):
    with Robot(lab) as r:
        yield r


@pytest.fixture
def peer_listener(lab):
    """A listening socket of the peer."""
    with lab.client.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((lab.peer_ip, PORT))
        s.listen(128)
        s.settimeout(20)
        yield s


@pytest.fixture
def accepted(lab, robot):
    """A connection from the peer that the robot accepted as `s`; the peer's end."""
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer:
        assert tuple(robot.accept()) == peer.getsockname()
        yield peer


@pytest.fixture
def connected(lab, robot, peer_listener):
    """A connection that the robot made as `s`; the peer's end."""
    robot("s = socket.create_connection(at)", at=(lab.peer_ip, PORT))
    peer, _ = peer_listener.accept()
    with peer:
        peer.settimeout(20)
        yield peer


@pytest.fixture(params=["accepted", "connected"])
def peer(request):
    """Both of them."""
    return request.getfixturevalue(request.param)


# ---- connecting


def test_names_of_a_connection(lab, robot, connected):
    assert robot("s.getpeername()") == (lab.peer_ip, PORT)
    assert robot("s.getsockname()") == connected.getpeername()
    assert connected.getpeername()[0] == lab.ip


def test_names_of_an_accepted_connection(lab, robot, accepted):
    assert robot("s.getpeername()") == accepted.getsockname()
    assert robot("s.getsockname()") == (lab.ip, PORT)
    assert robot("listener.getsockname()") == (lab.ip, PORT)


def test_non_blocking_connect(lab, robot, peer_listener):
    robot("s = socket.socket(); s.setblocking(False)")
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT)) == errno.EINPROGRESS
    assert robot("p = select.poll(); p.register(s, select.POLLOUT); p.poll(20000)") == [
        (robot("s.fileno()"), select.POLLOUT)
    ]
    assert robot("s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)") == 0
    assert robot("s.connect_ex(at)") in (0, errno.EISCONN)
    peer, _ = peer_listener.accept()
    with peer:
        robot("s.send(b'hello')")
        assert peer.recv(5) == b"hello"


def test_connect_refused(lab, robot):
    with pytest.raises(ConnectionRefusedError):
        robot("socket.create_connection(at)", at=(lab.peer_ip, PORT + 1))


def test_non_blocking_connect_refused(lab, robot):
    robot("s = socket.socket(); s.setblocking(False)")
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT + 1)) == errno.EINPROGRESS
    [(_, events)] = robot("p = select.poll(); p.register(s, select.POLLOUT); p.poll(20000)")
    assert events & (select.POLLERR | select.POLLHUP) == select.POLLERR | select.POLLHUP
    assert robot("s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)") == errno.ECONNREFUSED
    assert robot("s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)") == 0


def test_connect_again_after_refused(lab, robot, peer_listener):
    robot("s = socket.socket()")
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT + 1)) == errno.ECONNREFUSED
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT)) == 0
    peer_listener.accept()[0].close()


def test_connect_to_an_absent_host(lab, robot):
    with pytest.raises(OSError, match="No route to host"):
        robot("socket.create_connection(at)", at=("10.77.0.99", PORT))


def test_connect_off_the_network(lab, robot):
    with pytest.raises(OSError, match="Network is unreachable"):
        robot("socket.create_connection(at)", at=("192.0.2.1", PORT))


@pytest.mark.toehold_only
def test_connect_to_the_toe_itself(lab):
    """Refused at once, with or without a listener there: frames to oneself are not looped yet."""
    with Robot(lab, env={"TOEHOLD_REQUIRE": "1"}) as robot:
        robot.listen(lab.ip, PORT)
        with pytest.raises(OSError, match="Network is unreachable"):
            robot("socket.create_connection(at)", at=(lab.ip, PORT))


def test_connect_twice(lab, robot, connected):
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT)) == errno.EISCONN


def test_calls_on_an_unconnected_socket(lab, robot):
    robot("s = socket.socket()")
    for call in ("s.recv(1)", "s.getpeername()", "s.shutdown(socket.SHUT_WR)"):
        with pytest.raises(OSError, match="not connected"):
            robot(call)
    with pytest.raises(BrokenPipeError):
        robot("s.send(b'x')")
    with pytest.raises(OSError, match="Invalid argument"):
        robot("s.accept()")


def test_connect_from_a_chosen_port(lab, robot, peer_listener):
    robot("s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
    robot("s.bind((ip, 45678)); s.connect(at)", ip=lab.ip, at=(lab.peer_ip, PORT))
    peer, at = peer_listener.accept()
    assert at == (lab.ip, 45678)
    peer.close()


# ---- listening


def test_listen_on_any_free_port(lab, robot):
    port = robot.listen(lab.ip, 0)
    assert port > 0
    with lab.connect(port) as peer:
        robot.accept()
        robot("s.send(b'hello')")
        assert peer.recv(5) == b"hello"


def test_port_in_use(lab, robot):
    robot.listen(lab.ip, PORT)
    with Robot(lab) as other, pytest.raises(OSError, match="Address already in use"):
        other("s = socket.socket(); s.bind(at); s.listen()", at=(lab.ip, PORT))
    # It has not disturbed the first.
    with lab.connect(PORT):
        robot.accept()


def test_bind_to_an_address_of_nobody(lab, robot):
    with pytest.raises(OSError, match="assign requested address"):
        robot("s = socket.socket(); s.bind(at); s.listen()", at=("10.77.0.99", PORT))


def test_backlog_holds_connections_until_accepted(lab, robot):
    robot.listen(lab.ip, PORT, backlog=200)
    with labs.closing_all() as sockets:
        for n in range(200):
            sockets.append(lab.connect(PORT))
            sockets[-1].sendall(b"%3d" % n)
        got = robot(
            "[(lambda c: (kept.append(c), c.recv(3)))(listener.accept()[0])[1] for _ in range(200)]"
        )
        assert sorted(got) == [b"%3d" % n for n in range(200)]
        robot("[c.close() for c in kept]")


def test_backlog_refuses_no_one_for_good(lab, robot):
    """More clients than the backlog: those above it wait, and are served as room comes."""
    robot.listen(lab.ip, PORT, backlog=4)
    answers = []

    def client():
        with lab.connect(PORT, timeout=60) as s:
            s.sendall(b"hello")
            answers.append(take(s, 5))

    threads = [threading.Thread(target=client) for _ in range(12)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    robot("for _ in range(12): c, _ = listener.accept(); c.send(c.recv(5)); c.close()", timeout=60)
    for thread in threads:
        thread.join()
    assert answers == [b"hello"] * 12


def test_closed_before_accept(lab, robot):
    """What a client sent and closed at once is there for the accept that comes later."""
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer:
        peer.sendall(b"farewell")
    robot.accept()
    assert robot("s.recv(100)") == b"farewell"
    assert robot("s.recv(100)") == b""


def test_listener_closed_with_connections_waiting(lab, robot):
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer:
        robot("listener.close()")
        with pytest.raises(ConnectionResetError):
            peer.recv(1)
    with pytest.raises(ConnectionRefusedError):
        lab.connect(PORT)


def test_accept_without_a_client(lab, robot):
    robot.listen(lab.ip, PORT)
    robot("listener.setblocking(False)")
    with pytest.raises(BlockingIOError):
        robot("listener.accept()")
    with pytest.raises(TimeoutError):
        robot("listener.settimeout(0.1); listener.accept()")


def test_wildcard_listener_is_reached_both_ways(lab, robot):
    robot.listen("", PORT)
    reached = [(lab.client, lab.ip), (lab.client, lab.kernel_ip), (lab.server, "127.0.0.1")]
    for ns, address in reached * 3:
        with ns.connect(address, PORT) as peer:
            assert tuple(robot.accept()) == peer.getsockname()
            assert robot("s.getsockname()") == (address, PORT)
            peer.sendall(b"ping")
            assert robot("s.recv(10)") == b"ping"
            robot("s.send(b'pong')")
            assert peer.recv(10) == b"pong"
            robot("s.close()")


def test_ipv6_wildcard_listener_takes_ipv4(lab, robot):
    robot(
        "listener = socket.create_server(('::', port), family=socket.AF_INET6,"
        " dualstack_ipv6=True)",
        port=PORT,
    )
    with lab.connect(PORT) as peer:
        host, port = robot.accept()[:2]
        assert (host, port) == ("::ffff:" + lab.peer_ip, peer.getsockname()[1])
        assert robot("s.getsockname()")[:2] == ("::ffff:" + lab.ip, PORT)
        assert robot("s.getpeername()")[:2] == (host, port)
        peer.sendall(b"hello")
        assert robot("s.recv(10)") == b"hello"


# ---- data


def test_data_both_ways(robot, peer):
    data = os.urandom(50_000)
    peer.sendall(data)
    assert robot("s.recv(50000, socket.MSG_WAITALL)") == data
    robot("s.sendall(data)", data=data)
    assert take(peer, 50_000) == data


def test_blocking_recv_wakes(robot, peer):
    robot.tell("s.recv(100)")
    time.sleep(0.2)
    peer.sendall(b"wake")
    assert robot.result() == b"wake"


def test_receive_timeout(robot, peer):
    robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 0, 100000))")
    with pytest.raises(BlockingIOError):
        robot("s.recv(1)")
    peer.sendall(b"x")
    assert robot("s.recv(1)") == b"x"


def test_peek_and_do_not_wait(robot, peer):
    with pytest.raises(BlockingIOError):
        robot("s.recv(1, socket.MSG_DONTWAIT)")
    peer.sendall(b"abcdef")
    assert robot("s.recv(3, socket.MSG_PEEK)") == b"abc"
    assert robot("s.recv(6, socket.MSG_PEEK | socket.MSG_WAITALL)") == b"abcdef"
    assert robot("s.recv(2)") == b"ab"
    assert robot("s.recv(100, socket.MSG_PEEK | socket.MSG_DONTWAIT)") == b"cdef"
    assert robot("s.recv(4, socket.MSG_WAITALL)") == b"cdef"


def test_bytes_waiting_are_told(robot, peer):
    ask = "struct.unpack('i', fcntl.ioctl(s, termios.FIONREAD, b'    '))[0]"
    assert robot(ask) == 0
    peer.sendall(bytes(1234))
    robot("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    labs.proc.wait_until(lambda: robot(ask) == 1234, "FIONREAD says 1234")


def test_scatter_and_gather(robot, peer):
    assert robot("os.writev(s.fileno(), [b'ab', b'', b'cde'])") == 5
    assert robot("s.sendmsg([b'f', b'gh'])") == 3
    assert take(peer, 8) == b"abcdefgh"
    peer.sendall(b"0123456789")
    robot("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    robot("a, b = bytearray(3), bytearray(4)")
    assert robot("os.readv(s.fileno(), [a, b]), bytes(a), bytes(b)") == (7, b"012", b"3456")
    assert robot("s.recvmsg(100)[0]") == b"789"


def test_read_and_write(robot, peer):
    assert robot("os.write(s.fileno(), b'hello')") == 5
    assert peer.recv(5) == b"hello"
    peer.sendall(b"hello")
    assert robot("os.read(s.fileno(), 100)") == b"hello"


def test_sendfile(robot, peer, tmp_path):
    data = os.urandom(300_000)
    (tmp_path / "file").write_bytes(data)
    path = str(tmp_path / "file")
    robot.tell("with open(path, 'rb') as f: sent = s.sendfile(f)\nsent", path=path)
    assert take(peer, len(data)) == data
    assert robot.result() == len(data)
    robot("f = open(path, 'rb'); f.seek(7)")
    # With an offset the file's own position stays, without one it moves.
    assert robot("os.sendfile(s.fileno(), f.fileno(), 100, 50), f.tell()") == (50, 7)
    assert robot("os.sendfile(s.fileno(), f.fileno(), None, 10), os.lseek(f.fileno(), 0, 1)") == (
        10,
        17,
    )
    assert robot("os.sendfile(s.fileno(), f.fileno(), 300000, 10)") == 0
    assert take(peer, 60) == data[100:150] + data[7:17]


def test_send_until_full_then_again(robot, peer):
    """EAGAIN when the peer does not read; EPOLLOUT when it has; every byte arrives."""
    robot("s.setblocking(False); ep = select.epoll(); ep.register(s, select.EPOLLOUT)")
    fill = """
sent = 0
block = bytes(range(256)) * 256
while ep.poll(0.3):  # the peer's buffer fills too
    try:
        while True:
            sent += s.send(block[sent % 256:])
    except BlockingIOError:
        pass
sent"""
    sent = robot(fill)
    assert sent > 0
    robot.tell("ep.poll(20)")
    got = take(peer, sent)
    assert got == (bytes(range(256)) * (sent // 256 + 1))[:sent]
    assert robot.result() == [(robot("s.fileno()"), select.EPOLLOUT)]


def test_peer_does_not_read_for_a_while(robot, peer):
    """The window closes and opens: nothing is lost."""
    data = os.urandom(20_000_000)
    robot.tell("s.sendall(data)", data=data)
    time.sleep(1)
    assert take(peer, len(data)) == data
    robot.result(60)


def test_program_does_not_read_for_a_while(robot, peer):
    data = os.urandom(5_000_000)
    peer.settimeout(60)
    thread = threading.Thread(target=peer.sendall, args=[data])
    thread.start()
    time.sleep(1)
    assert thread.is_alive()  # it does not fit the buffers
    got = robot("s.recv(n, socket.MSG_WAITALL)", n=len(data), timeout=60)
    thread.join()
    assert got == data


# ---- closing


def test_orderly_close_by_the_peer(robot, peer):
    peer.sendall(b"last words")
    peer.shutdown(socket.SHUT_WR)
    assert robot("s.recv(10, socket.MSG_WAITALL)") == b"last words"
    assert robot("s.recv(10)") == b""
    # The other direction is still open.
    robot("s.sendall(b'and mine')")
    assert take(peer, 8) == b"and mine"
    robot("s.close()")
    assert peer.recv(1) == b""


def test_half_close_by_the_program(robot, peer):
    robot("s.sendall(b'last words'); s.shutdown(socket.SHUT_WR)")
    assert take(peer, 10) == b"last words"
    assert peer.recv(1) == b""
    with pytest.raises(BrokenPipeError):
        robot("s.send(b'more')")
    data = os.urandom(200_000)
    peer.settimeout(20)
    robot.tell("s.recv(200000, socket.MSG_WAITALL)")
    peer.sendall(data)
    assert robot.result() == data
    peer.close()
    assert robot("s.recv(1)") == b""


def test_shutdown_of_receiving(robot, peer):
    robot("s.shutdown(socket.SHUT_RD)")
    assert robot("s.recv(10)") == b""
    robot("s.sendall(b'still here')")
    assert take(peer, 10) == b"still here"


def test_close_sends_what_is_buffered(robot, peer):
    robot("s.setblocking(False); n = s.send(bytes(60000)); s.close()")
    n = robot("n")
    assert n > 0
    assert len(take(peer, n + 1)) == n


def test_linger_zero_resets_the_peer(robot, peer):
    robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close()")
    with pytest.raises(ConnectionResetError):
        peer.recv(1)


def test_close_with_unread_data_resets_the_peer(robot, peer):
    peer.sendall(b"never read")
    robot("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    robot("s.close()")
    with pytest.raises(ConnectionResetError):
        peer.recv(1)


def test_reset_by_the_peer(robot, peer):
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN | select.EPOLLRDHUP)")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    [(_, events)] = robot("ep.poll(20)")
    assert events & select.EPOLLERR
    assert events & select.EPOLLHUP
    with pytest.raises(ConnectionResetError):
        robot("s.recv(1)")
    assert robot("s.recv(1)") == b""
    with pytest.raises(BrokenPipeError):
        robot("s.send(b'x')")


def test_blocked_recv_ends_by_a_reset(robot, peer):
    robot.tell("s.recv(1)")
    time.sleep(0.1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    with pytest.raises(ConnectionResetError):
        robot.result()


def test_send_to_a_closed_peer(robot, peer):
    peer.close()
    assert robot("s.recv(1)") == b""
    robot("s.send(b'x')")
    labs.proc.wait_until(
        lambda: robot("p = select.poll(); p.register(s, 0); p.poll(0)"), "POLLHUP after its RST"
    )
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        robot("s.send(b'x'); s.send(b'x')")


def test_exit_of_a_program_closes_its_connections(lab, robot, peer):
    with Robot(lab) as other:
        other.listen(lab.ip, PORT + 1)
        with lab.connect(PORT + 1) as s:
            other.accept()
            other("s.send(b'hello')")
            assert s.recv(5) == b"hello"
            other.tell("ctypes.CDLL(None).exit(0)")
            assert s.recv(1) == b""
    robot("s.send(b'undisturbed')")
    assert take(peer, 11) == b"undisturbed"


# ---- readiness


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


def test_peer_closes_half(robot, peer):
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN | select.EPOLLRDHUP)")
    peer.shutdown(socket.SHUT_WR)
    assert robot("ep.poll(20)") == [(robot("s.fileno()"), select.EPOLLIN | select.EPOLLRDHUP)]


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
    time.sleep(0.2)
    accepted.sendall(b"z")
    assert robot.result() == ["toe"]
    robot("s.recv(9)")
    robot.tell("wait(20)")
    time.sleep(0.2)
    with lab.connect(PORT):
        assert robot.result() == ["listener"]
        robot("listener.accept()[0].close()")
    robot("inner_client = socket.create_connection(inner.getsockname())")
    assert robot("wait(20)") == ["inner"]


def test_epoll_inside_a_poll(robot, peer):
    """An epoll descriptor is itself readable when one in it is ready (libev and others do this)."""
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN)")
    robot("p = select.poll(); p.register(ep, select.POLLIN)")
    assert robot("p.poll(0)") == []
    peer.sendall(b"x")
    assert robot("p.poll(20000)") == [(robot("ep.fileno()"), select.POLLIN)]


# ---- options and descriptors


def test_options_are_kept(robot, peer):
    for level, name, value in (
        ("SOL_SOCKET", "SO_KEEPALIVE", 1),
        ("IPPROTO_TCP", "TCP_NODELAY", 1),
        ("IPPROTO_TCP", "TCP_KEEPIDLE", 77),
        ("IPPROTO_TCP", "TCP_KEEPINTVL", 33),
        ("IPPROTO_TCP", "TCP_KEEPCNT", 4),
        ("IPPROTO_TCP", "TCP_USER_TIMEOUT", 12345),
        ("IPPROTO_TCP", "TCP_CORK", 1),
        ("IPPROTO_TCP", "TCP_CORK", 0),
    ):
        option = f"socket.{level}, socket.{name}"
        robot(f"s.setsockopt({option}, {value})")
        assert robot(f"s.getsockopt({option})") == value, name
    get = "s.getsockopt(socket.SOL_SOCKET, socket.{})".format
    assert robot(get("SO_TYPE")) == socket.SOCK_STREAM
    assert robot(get("SO_PROTOCOL")) == socket.IPPROTO_TCP
    assert robot(get("SO_DOMAIN")) == socket.AF_INET
    assert robot(get("SO_ACCEPTCONN")) == 0
    assert robot(get("SO_ERROR")) == 0
    assert robot(get("SO_SNDBUF")) >= 4096
    assert robot(get("SO_RCVBUF")) >= 4096
    assert 500 <= robot("s.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)") <= 1460
    established = 1
    assert robot("s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)")[0] == established


def test_listener_says_so(lab, robot):
    robot.listen(lab.ip, PORT)
    assert robot("listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)") == 1


def test_cork_holds_back_until_uncorked(robot, peer):
    robot("s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1); s.send(b'ab'); s.send(b'cd')")
    robot("s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)")
    assert take(peer, 4) == b"abcd"


def test_duplicates_share_a_connection(robot, peer):
    robot("t = s.dup(); s.close()")
    robot("t.send(b'by the duplicate')")
    assert take(peer, 16) == b"by the duplicate"
    peer.sendall(b"hello")
    assert robot("t.recv(10)") == b"hello"
    robot("os.dup2(t.fileno(), 200); t.close(); os.write(200, b'dup2')")
    assert take(peer, 4) == b"dup2"
    robot("os.close(200)")
    assert peer.recv(1) == b""


def test_flags_of_descriptors(robot, peer):
    assert robot("fcntl.fcntl(s, fcntl.F_GETFL) & os.O_NONBLOCK") == 0
    robot("fcntl.fcntl(s, fcntl.F_SETFL, fcntl.fcntl(s, fcntl.F_GETFL) | os.O_NONBLOCK)")
    with pytest.raises(BlockingIOError):
        robot("s.recv(1)")
    robot("os.set_blocking(s.fileno(), True)")
    assert robot("os.get_blocking(s.fileno())") is True
    assert robot("os.fstat(s.fileno()).st_mode & 0o170000 == 0o140000")


def test_fork_leaves_the_connection_with_the_parent(robot, peer):
    robot("""
pid = os.fork()
if pid == 0:
    s.close()
    os._exit(0)
os.waitpid(pid, 0)""")
    robot("s.send(b'still open')")
    assert take(peer, 10) == b"still open"


def test_threads_send_and_receive_at_once(robot, peer):
    """One thread blocked in recv() does not keep another from sending."""
    robot("""
got = []
def receive():
    while data := s.recv(65536):
        got.append(data)
reader = threading.Thread(target=receive)
reader.start()""")
    data = os.urandom(1_000_000)
    robot.tell("s.sendall(data)", data=data)
    assert take(peer, len(data)) == data
    robot.result()
    peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
    robot("reader.join(20)")
    assert robot("b''.join(got)") == data
