# SPDX-License-Identifier: Apache-2.0
"""Socket calls in the less common states of a socket: dissolved, refused, reset, shut down both
ways; the expected results are Linux's."""

from __future__ import annotations

import errno
import select
import socket
import struct
import time

import pytest

from tests.lab import proc
from tests.lab.robot import PORT, take

UNSPEC = bytes(16)
CLOSED, FIN_WAIT_2 = 7, 5  # of Linux's TCP_INFO

HANG_UP = select.POLLIN | select.POLLOUT | select.POLLHUP | select.POLLRDHUP


def poll(robot) -> int:
    return robot(
        "p = select.poll(); p.register(s, select.POLLPRI | select.POLLRDHUP | 5); r = p.poll(0);"
        "r[0][1] if r else 0"
    )


def fails(robot, code: str, error: int, **given: object) -> None:
    with pytest.raises(OSError) as found:
        robot(code, **given)
    assert found.value.errno == error, code


def dissolve(libc) -> None:
    assert libc("call('connect', s.fileno(), a, 16)", a=UNSPEC) == 0


@pytest.mark.shows("connect AF_UNSPEC of a listener")
def test_a_listener_is_dissolved(lab, libc):
    """It listens no more, keeps its port, and may listen again."""
    libc.listen(lab.ip, PORT, name="s")
    dissolve(libc)
    assert poll(libc) == select.POLLOUT | select.POLLHUP
    assert tuple(libc("s.getsockname()")) == (lab.ip, PORT)
    with pytest.raises(ConnectionRefusedError):
        lab.connect(PORT)
    libc("s.listen()")
    with lab.connect(PORT):
        libc("c, _ = s.accept(); c.close(); s.close()")


def unreported(lab, robot, peer_listener):
    """A connection whose connect() has not returned 0 yet; the peer's end."""
    robot("s = socket.socket(); s.setblocking(False); s.connect_ex(at)", at=(lab.peer_ip, PORT))
    return peer_listener.accept()[0]


def test_connect_after_the_end_of_an_unreported_connection(lab, robot, peer_listener):
    """The second connect() reports ECONNABORTED, and the third one connects."""
    peer = unreported(lab, robot, peer_listener)
    robot("s.send(b'x')")
    take(peer, 1)
    proc.wait_until(lambda: poll(robot) == select.POLLOUT, "the connection")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes((1, 0, 0, 0, 0, 0, 0, 0)))
    peer.close()
    proc.wait_until(lambda: poll(robot) & select.POLLHUP, "the reset")
    assert robot("s.getsockopt(1, 4)") == errno.ECONNRESET
    at = (lab.peer_ip, PORT)
    assert robot("s.connect_ex(at)", at=at) == errno.ECONNABORTED
    assert robot("s.connect_ex(at)", at=at) == errno.EINPROGRESS
    with peer_listener.accept()[0]:
        robot("s.close()")


def test_the_end_of_an_unreported_connection_leaves_nothing(lab, robot, peer_listener):
    """Once connect() has reported it the socket is as new: neither data nor the peer's FIN."""
    peer = unreported(lab, robot, peer_listener)
    peer.send(b"data")
    peer.shutdown(socket.SHUT_WR)
    proc.wait_until(lambda: poll(robot) & select.POLLRDHUP, "the FIN")
    robot("s.send(b'x')")
    take(peer, 1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes((1, 0, 0, 0, 0, 0, 0, 0)))
    peer.close()
    proc.wait_until(lambda: poll(robot) & select.POLLHUP, "the reset")
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT)) == errno.EPIPE
    fails(robot, "s.recv(1)", errno.ENOTCONN)
    assert poll(robot) == select.POLLOUT | select.POLLHUP
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT)) == errno.EINPROGRESS
    with peer_listener.accept()[0]:
        robot("s.close()")


def test_connect_after_a_refused_one_that_was_reported(lab, robot):
    """SO_ERROR has the reason, the next connect() ECONNABORTED; then the socket is as new."""
    at = (lab.peer_ip, PORT + 1)
    robot("s = socket.socket(); s.setblocking(False)")
    assert robot("s.connect_ex(at)", at=at) == errno.EINPROGRESS
    proc.wait_until(lambda: poll(robot) & select.POLLHUP, "the refusal")
    assert robot("s.getsockopt(1, 4)") == errno.ECONNREFUSED
    assert robot("s.connect_ex(at)", at=at) == errno.ECONNABORTED
    assert robot("s.connect_ex(at)", at=at) == errno.EINPROGRESS
    robot("s.close()")


def test_connect_after_shutdown_of_a_refused_one(libc, lab):
    """A socket that is shut down before the refusal is reported connects only once dissolved."""
    at = (lab.peer_ip, PORT + 1)
    libc("s = socket.socket(); s.setblocking(False)")
    assert libc("s.connect_ex(at)", at=at) == errno.EINPROGRESS
    proc.wait_until(lambda: poll(libc) & select.POLLHUP, "the refusal")
    fails(libc, "s.shutdown(socket.SHUT_WR)", errno.ENOTCONN)
    assert [libc("s.connect_ex(at)", at=at) for _ in range(2)] == [errno.EINVAL] * 2
    dissolve(libc)
    assert libc("s.connect_ex(at)", at=at) == errno.EINPROGRESS
    libc("s.close()")


def test_connect_after_shutdown_of_an_unreported_connection_that_was_reset(
    libc, lab, peer_listener
):
    """As after a refusal: it connects only once dissolved."""
    peer = unreported(lab, libc, peer_listener)
    proc.wait_until(lambda: poll(libc) == select.POLLOUT, "the connection")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes((1, 0, 0, 0, 0, 0, 0, 0)))
    peer.close()
    proc.wait_until(lambda: poll(libc) & select.POLLHUP, "the reset")
    fails(libc, "s.shutdown(socket.SHUT_WR)", errno.ENOTCONN)
    at = (lab.peer_ip, PORT)
    assert [libc("s.connect_ex(at)", at=at) for _ in range(2)] == [errno.EINVAL] * 2
    dissolve(libc)
    assert libc("s.connect_ex(at)", at=at) == errno.EINPROGRESS
    with peer_listener.accept()[0]:
        libc("s.close()")


def test_connect_after_shutdown(lab, robot, peer_listener):
    """shutdown() counts as the report that the connection is established."""
    with unreported(lab, robot, peer_listener):
        proc.wait_until(lambda: poll(robot) == select.POLLOUT, "the connection")
        robot("s.shutdown(socket.SHUT_WR)")
        assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT)) == errno.EISCONN
        robot("s.close()")


def test_shutdown_sees_a_refusal(lab, robot):
    """Nothing but shutdown() has looked at the socket since it was refused."""
    robot("s = socket.socket(); s.setblocking(False)")
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT + 1)) == errno.EINPROGRESS
    proc.wait_until(lambda: robot("s.getsockopt(6, 11, 8)[0]") == CLOSED, "the refusal")
    fails(robot, "s.shutdown(socket.SHUT_RD)", errno.ENOTCONN)
    robot("s.close()")


@pytest.mark.shows("writev of nothing", "readv of nothing", "sendfile of nothing")
def test_nothing_is_written_in_any_state(libc, peer):
    """Of no bytes, writev() and sendfile() return 0, send() fails; at the end of a file too."""
    libc("""
f = open('/bin/true', 'rb'); size = os.fstat(f.fileno()).st_size
nothing = ("os.writev(s.fileno(), [b''])", "os.writev(s.fileno(), [b'', b''])",
           "os.readv(s.fileno(), [bytearray()])", "os.sendfile(s.fileno(), f.fileno(), 0, 0)",
           "os.sendfile(s.fileno(), f.fileno(), size, 100)",
           "os.sendfile(s.fileno(), f.fileno(), size + 9, 100)")
""")
    libc("s.shutdown(socket.SHUT_WR)")
    assert libc("[eval(c) for c in nothing]") == [0] * 6
    fails(libc, "s.send(b'')", errno.EPIPE)
    fails(libc, "s.sendmsg([])", errno.EPIPE)
    fails(libc, "os.sendfile(s.fileno(), f.fileno(), 0, 1)", errno.EPIPE)
    dissolve(libc)
    assert libc("[eval(c) for c in nothing]") == [0] * 6
    assert libc("s.getsockopt(1, 4)") == errno.ECONNRESET
    libc("s.close(); f.close()")


def test_the_end_of_a_file_while_the_buffer_is_full(robot, peer):
    """sendfile() does not wait for room that it does not need."""
    robot("""
s.setblocking(False)
try:
    while True: s.send(bytes(65536))
except BlockingIOError: pass
f = open('/bin/true', 'rb'); size = os.fstat(f.fileno()).st_size
""")
    assert robot("os.sendfile(s.fileno(), f.fileno(), size, 100)") == 0
    robot("s.close(); f.close()")


def test_splice_into_a_listener(lab, robot):
    robot.listen(lab.ip, PORT, name="s")
    robot("import signal; r, w = os.pipe(); os.write(w, b'x')")
    fails(robot, "os.splice(r, s.fileno(), 1)", errno.EPIPE)
    robot("s.close(); os.close(r); os.close(w)")


def test_short_values_of_options(libc, peer):
    """Less than an int is EINVAL, also of options that a socket does not have, except names."""
    for level in socket.SOL_SOCKET, socket.IPPROTO_TCP:
        for name in 3, 4, 29, 30, 38, 39, 9999:
            set_short = "call('setsockopt', s.fileno(), level, name, b'12', n)"
            for n in 0, 1, 3:
                found = libc(set_short, level=level, name=name, n=n)
                assert found == -errno.EINVAL, (level, name, n)
    assert libc("call('setsockopt', s.fileno(), 6, 13, b'reno', 4)") == 0
    libc("s.close()")


def test_fast_open_of_a_dissolved_socket(libc, lab):
    """TCP_FASTOPEN and TCP_FASTOPEN_CONNECT (30) are of closed sockets, not of connected ones."""
    libc.listen(lab.ip, PORT)
    with lab.connect(PORT):
        libc.accept()
        fails(libc, "s.setsockopt(6, socket.TCP_FASTOPEN, 5)", errno.EINVAL)
        fails(libc, "s.setsockopt(6, 30, 1)", errno.EINVAL)
        dissolve(libc)
        libc("s.setsockopt(6, socket.TCP_FASTOPEN, 5)")
        libc("s.setsockopt(6, 30, 1); s.close(); listener.close()")


def test_shutdown_of_a_dissolved_socket(libc, peer):
    """It fails, and marks the socket all the same: a read returns the end of the stream."""
    dissolve(libc)
    assert libc("s.getsockopt(1, 4)") == errno.ECONNRESET
    fails(libc, "s.recv(1)", errno.ENOTCONN)
    fails(libc, "s.shutdown(socket.SHUT_RD)", errno.ENOTCONN)
    assert libc("s.recv(1)") == b""
    assert poll(libc) == HANG_UP
    libc("s.close()")


def test_a_read_passes_the_urgent_byte(robot, peer):
    """Also when nothing follows it: it is neither unread nor urgent any more."""
    robot("s.setblocking(False)")
    peer.send(b"!", socket.MSG_OOB)
    proc.wait_until(lambda: poll(robot) & select.POLLPRI, "the urgent byte")
    fails(robot, "s.recv(1, socket.MSG_PEEK)", errno.EAGAIN)
    assert poll(robot) & select.POLLPRI
    fails(robot, "s.recv(1)", errno.EAGAIN)
    assert poll(robot) == select.POLLOUT
    fails(robot, "s.recv(1, socket.MSG_OOB)", errno.EINVAL)
    robot("s.close()")
    assert peer.recv(1) == b""  # no reset: no byte was left unread


def test_urgent_data_outlives_the_connection(robot, peer):
    peer.send(b"!", socket.MSG_OOB)
    proc.wait_until(lambda: poll(robot) & select.POLLPRI, "the urgent byte")
    peer.shutdown(socket.SHUT_WR)
    robot("s.shutdown(socket.SHUT_WR)")
    assert peer.recv(1) == b""
    peer.close()
    proc.wait_until(lambda: poll(robot) == HANG_UP | select.POLLPRI, "the end")
    assert robot("s.recv(1, socket.MSG_OOB)") == b"!"
    robot("s.close()")


def test_data_after_both_ways_were_shut_down(robot, peer):
    """The peer learns by a reset that it is not read, although the descriptor is open."""
    robot("s.shutdown(socket.SHUT_RDWR)")
    assert peer.recv(1) == b""
    peer.send(b"unwanted")
    proc.wait_until(lambda: robot("s.getsockopt(6, 11, 8)[0]") == CLOSED, "the reset")
    proc.wait_until(lambda: peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), "its arrival")
    with pytest.raises(BrokenPipeError):
        peer.send(b"more")
    assert robot("s.getsockopt(1, 4)") == errno.ECONNRESET
    assert robot("s.recv(10)") == b""
    robot("s.close()")


def test_unread_data_before_both_ways_are_shut_down(robot, peer):
    """What has arrived before can be read."""
    peer.send(b"wanted")
    proc.wait_until(lambda: poll(robot) & select.POLLIN, "the data")
    robot("s.shutdown(socket.SHUT_RDWR)")
    assert robot("s.recv(10)") == b"wanted"
    robot("s.close()")


def test_the_state_of_a_quiet_connection(robot, peer):
    """TCP_INFO follows a shutdown() that nothing else happens after."""
    settled = "s.getsockopt(6, 11, 8)[0]"
    assert robot(f"import time; time.sleep(0.1); {settled}") == 1  # past the last refresh
    robot("s.shutdown(socket.SHUT_WR)")
    proc.wait_until(lambda: robot(settled) == FIN_WAIT_2, "the peer's ACK")
    robot("s.close()")


@pytest.mark.shows("bind keeps IP_FREEBIND")
def test_options_that_bind_needs_are_the_programs(lab, robot):
    """IP_FREEBIND (15) of a bound socket is what the program has set."""
    robot("s = socket.socket(); s.bind((ip, 0))", ip=lab.ip)
    assert robot("s.getsockopt(0, 15)") == 0
    robot("s.listen()")
    assert robot("s.getsockopt(0, 15)") == 0
    robot("s.setsockopt(0, 15, 1)")
    assert robot("s.getsockopt(0, 15)") == 1
    robot("s.close()")


# ---- Fast Open (MSG_FASTOPEN)

FAST = 0x20000000


def fast(robot, data: bytes, at: tuple) -> int:
    """Returns the result of sendto() on the robot's non-blocking socket, or -errno."""
    return robot(
        """
try: r = s.sendto(data, flag, at)
except OSError as e: r = -e.errno
r""",
        data=data,
        flag=FAST,
        at=at,
    )


@pytest.mark.shows("sendto MSG_FASTOPEN on a connection")
@pytest.mark.parametrize("data", [b"", b"abc"])
def test_fast_open_reports_that_a_connection_is_established(lab, robot, peer_listener, data):
    """Until connect() has returned 0, it does what the second connect() does, and sends."""
    with unreported(lab, robot, peer_listener) as peer:
        proc.wait_until(lambda: poll(robot) == select.POLLOUT, "the connection")
        at = (lab.peer_ip, PORT)
        assert fast(robot, data, at) == len(data)
        assert take(peer, len(data)) == data
        assert fast(robot, data, at) == -errno.EISCONN
        robot("s.close()")


@pytest.mark.shows("sendto MSG_FASTOPEN that is refused")
def test_fast_open_does_not_wait_for_a_refusal(lab, robot):
    """On a non-blocking socket the next call reports it, however soon the peer answers."""
    at = (lab.peer_ip, PORT + 1)
    robot("s = socket.socket(); s.setblocking(False)")
    assert fast(robot, b"abc", at) == -errno.EINPROGRESS
    proc.wait_until(lambda: poll(robot) & select.POLLHUP, "the refusal")
    assert fast(robot, b"abc", at) == -errno.ECONNREFUSED
    assert fast(robot, b"abc", at) == -errno.EINPROGRESS
    proc.wait_until(lambda: poll(robot) & select.POLLHUP, "the refusal")
    assert robot("s.getsockopt(1, 4)") == errno.ECONNREFUSED
    assert fast(robot, b"abc", at) == -errno.ECONNABORTED
    robot("s.close()")


def test_fast_open_does_not_dissolve(libc, peer):
    """An address of AF_UNSPEC is EOPNOTSUPP there."""
    done = "call('sendto', s.fileno(), b'x', 1, flag, at, 16)"
    assert libc(done, flag=FAST, at=UNSPEC) == -errno.EOPNOTSUPP
    libc("s.send(b'y')")
    assert peer.recv(2) == b"y"
    libc("s.close()")


def test_fast_open_options_after_an_end_that_no_call_has_seen(robot, peer):
    """TCP_FASTOPEN_NO_COOKIE (34) is of closed sockets: the reset has closed this one."""
    fails(robot, "s.setsockopt(6, 34, 1)", errno.EINVAL)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes((1, 0, 0, 0, 0, 0, 0, 0)))
    peer.close()
    robot("""
for _ in range(30000):
    try: s.setsockopt(6, 34, 1); break
    except OSError: time.sleep(0.001)
""")
    assert robot("s.getsockopt(6, 34)") == 1
    robot("s.close()")


# ---- epoll


@pytest.mark.shows("epoll_ctl EPOLLONESHOT before connect")
@pytest.mark.parametrize("modified", [False, True])
def test_one_shot_before_connect(lab, robot, peer_listener, modified):
    """What was reported before the connection is reported again only after EPOLL_CTL_MOD."""
    robot("""
s = socket.socket(); s.setblocking(False)
ep = select.epoll(); events = select.EPOLLOUT | select.EPOLLONESHOT
""")
    if modified:
        robot("ep.register(s, select.EPOLLIN); ep.modify(s, events)")
    else:
        robot("ep.register(s, events)")
    assert robot("ep.poll(20)[0][1]") == select.EPOLLOUT | select.EPOLLHUP
    robot("s.connect_ex(at)", at=(lab.peer_ip, PORT))
    with peer_listener.accept()[0]:
        proc.wait_until(lambda: poll(robot) == select.POLLOUT, "the connection")
        assert robot("ep.poll(0)") == []
        robot("ep.modify(s, events)")
        assert robot("ep.poll(20)[0][1]") == select.EPOLLOUT
        assert robot("ep.poll(0)") == []
        robot("s.close(); ep.close()")


def test_one_shot_that_has_not_been_reported(lab, robot, peer_listener):
    """The connection reports what was registered before connect()."""
    robot(
        """
s = socket.socket(); s.setblocking(False)
ep = select.epoll(); ep.register(s, select.EPOLLIN | select.EPOLLONESHOT)
s.connect_ex(at)
""",
        at=(lab.peer_ip, PORT),
    )
    with peer_listener.accept()[0] as peer:
        proc.wait_until(lambda: poll(robot) == select.POLLOUT, "the connection")
        peer.send(b"x")
        assert robot("ep.poll(20)[0][1]") == select.EPOLLIN
        assert robot("ep.poll(0)") == []
        robot("s.close(); ep.close()")


def test_one_shot_of_a_socket_that_the_kernel_carries(robot):
    """It has the program's data, whatever libtoe has put there before the carrier was decided."""
    robot("""
listener = socket.create_server(("127.0.0.1", 0))
s = socket.socket(); s.setblocking(False)
ep = select.epoll(); ep.register(s, select.EPOLLOUT | select.EPOLLONESHOT)
first = ep.poll(20); s.connect_ex(listener.getsockname()); c, _ = listener.accept()
ep.modify(s, select.EPOLLOUT | select.EPOLLONESHOT); second = ep.poll(20)
""")
    assert robot("[f for f, _ in first + second] == [s.fileno()] * 2")
    assert robot("second[0][1]") == select.EPOLLOUT
    robot("s.close(); c.close(); listener.close(); ep.close()")


@pytest.mark.shows("epoll_ctl EPOLLEXCLUSIVE with other flags")
def test_what_exclusive_goes_with(robot, peer):
    robot("""
ep = select.epoll(); exclusive = select.EPOLLIN | select.EPOLLEXCLUSIVE
def refused(call, *args):
    try: call(*args)
    except OSError as e: return e.errno
    return 0
""")
    for more in select.EPOLLONESHOT, select.EPOLLRDHUP, select.EPOLLPRI:
        assert robot("refused(ep.register, s, exclusive | e)", e=more) == errno.EINVAL
    assert robot("refused(ep.modify, s, exclusive)") == errno.EINVAL  # not registered: all the same
    assert robot("refused(ep.register, s, exclusive | select.EPOLLET | select.EPOLLOUT)") == 0
    assert robot("refused(ep.register, s, exclusive | select.EPOLLPRI)") == errno.EINVAL
    assert robot("refused(ep.register, s, exclusive)") == errno.EEXIST
    assert robot("refused(ep.modify, s, select.EPOLLIN)") == errno.EINVAL
    robot("inner = select.epoll(); inner.register(s, select.EPOLLIN)")
    assert robot("refused(ep.register, inner, exclusive)") == errno.EINVAL
    robot("s.close(); ep.close(); inner.close()")


# ---- control messages of recvmsg()


@pytest.mark.shows("setsockopt TCP_INQ")
def test_what_is_left_to_read(robot, peer):
    """TCP_INQ (36): also with a peek; the peer's FIN counts as one byte, read or not."""
    robot("""
s.setsockopt(6, 36, 1); TEN = select.poll(); TEN.register(s, select.POLLIN)
def left(n, flags=0, room=64):
    data, control, out, _ = s.recvmsg(n, room, flags)
    return data, [(k, struct.unpack('i', v)[0]) for _, k, v in control], out
""")
    peer.sendall(b"0123456789")
    proc.wait_until(lambda: robot("len(s.recv(20, socket.MSG_PEEK))") == 10, "the bytes")
    assert robot("left(4, socket.MSG_PEEK)") == (b"0123", [(36, 10)], 0)
    assert robot("left(4)") == (b"0123", [(36, 6)], 0)
    assert robot("left(1, 0, 0)") == (b"4", [], socket.MSG_CTRUNC)
    peer.shutdown(socket.SHUT_WR)
    proc.wait_until(lambda: poll(robot) & select.POLLRDHUP, "the FIN")
    assert robot("left(3)") == (b"567", [(36, 3)], 0)
    assert robot("left(9)") == (b"89", [(36, 1)], 0)
    assert robot("left(9)") == (b"", [(36, 1)], 0)
    assert robot("s.getsockopt(6, 36)") == 1
    robot("s.close()")


STAMPS = {
    "SO_TIMESTAMP": 29,
    "SO_TIMESTAMPNS": 35,
    "SO_TIMESTAMP_NEW": 63,
    "SO_TIMESTAMPNS_NEW": 64,
}


@pytest.mark.shows("setsockopt SO_TIMESTAMP", "setsockopt SO_TIMESTAMPNS")
@pytest.mark.parametrize("name", STAMPS.values(), ids=STAMPS.keys())
def test_when_bytes_were_received(robot, peer, name):
    """The time is that of the arrival, not of the read; it comes with recvmsg() alone."""
    robot("s.setsockopt(1, name, 1)", name=name)
    before = time.time()
    peer.sendall(b"x")
    proc.wait_until(lambda: poll(robot) & select.POLLIN, "the byte")
    after = time.time()
    proc.wait_until(lambda: time.time() > after + 0.2, "a later time")
    data, control, flags, _ = robot("s.recvmsg(10, 64)")
    (level, kind, value) = control[0]
    assert (data, level, kind, flags, len(control)) == (b"x", socket.SOL_SOCKET, name, 0, 1)
    seconds, part = struct.unpack("qq", value)
    assert part < (1e9 if name in (35, 64) else 1e6)
    stamp = seconds + part / (1e9 if name in (35, 64) else 1e6)
    assert before - 30 <= stamp <= after + 0.01  # toed reads its clock before it reads the frames
    robot("s.close()")


@pytest.mark.shows("setsockopt SO_TIMESTAMPING")
def test_timestamping(robot, peer):
    """SO_TIMESTAMPING (37): the software time of received bytes, and none of hardware."""
    robot("s.setsockopt(1, 37, 16 | 8)")
    assert robot("struct.unpack('ii', s.getsockopt(1, 37, 16))") == (24, 0)
    before = time.time()
    peer.sendall(b"x")
    _, control, _, _ = robot("s.recvmsg(10, 200)")
    assert [c[:2] for c in control] == [(socket.SOL_SOCKET, 37)]
    times = struct.unpack("6q", control[0][2])
    assert before - 30 <= times[0] + times[1] / 1e9 <= time.time() + 0.01
    assert times[2:] == (0, 0, 0, 0)
    robot("s.close()")


def test_accepted_connections_have_the_listeners_stamps(lab, robot):
    robot.listen(lab.ip, PORT)
    robot("listener.setsockopt(1, 29, 1)")
    with lab.connect(PORT) as peer:
        robot.accept()
        peer.sendall(b"x")
        assert robot("[c[1] for c in s.recvmsg(10, 64)[1]]") == [29]
        robot("s.close(); listener.close()")
