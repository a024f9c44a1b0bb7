# SPDX-License-Identifier: Apache-2.0
"""Values at the edges of socket calls; the expected ones are Linux's."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from tests.lab.robot import PORT

V6 = socket.IPPROTO_IPV6


def test_linger_is_read_back(libc, peer):
    """l_onoff is 0 or 1; switching it off keeps the time."""
    wanted = [((1, 5), (1, 5)), ((0, 7), (0, 5)), ((2, 9), (1, 9)), ((0, 0), (0, 9))]
    for given, found in wanted:
        libc("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, words(*v))", v=given)
        got = libc("s.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)")
        assert struct.unpack("ii", got) == found, given
    libc("s.close()")


def test_linger2_is_read_back(robot, peer):
    """At most two minutes; a negative time is -1, and 0 the default."""
    for given, found in [(9, 9), (120, 120), (121, 120), (10**6, 120), (-1, -1), (-5, -1)]:
        robot("s.setsockopt(6, socket.TCP_LINGER2, v)", v=given)
        assert robot("s.getsockopt(6, socket.TCP_LINGER2)") == found, given
    robot("s.close()")


def test_window_clamp_is_read_back(robot, peer):
    """Half of the smallest receive buffer at least."""
    for given in 100000, 1000, 5000:
        robot("s.setsockopt(6, socket.TCP_WINDOW_CLAMP, v)", v=given)
        assert robot("s.getsockopt(6, socket.TCP_WINDOW_CLAMP)") == max(given, 1152)
    robot("s.close()")


def test_quickack_is_read_as_one(robot, peer):
    """No socket begins in pingpong mode."""
    assert robot("socket.socket().getsockopt(6, socket.TCP_QUICKACK)") == 1
    assert robot("s.getsockopt(6, socket.TCP_QUICKACK)") == 1
    for given, found in [(0, 0), (1, 1), (0, 0), (2, 1), (3, 1)]:
        robot("s.setsockopt(6, socket.TCP_QUICKACK, v)", v=given)
        assert robot("s.getsockopt(6, socket.TCP_QUICKACK)") == found
    robot("s.close()")


@pytest.mark.shows("setsockopt TCP_NOTSENT_LOWAT")
def test_notsent_lowat_bounds_what_is_not_sent(robot, peer):
    """The writer stops at the mark, long before its buffer is full; a reader lets it continue."""
    low, step = 16384, 65536
    robot("s.setsockopt(6, socket.TCP_NOTSENT_LOWAT, v)", v=low)
    assert robot("s.getsockopt(6, socket.TCP_NOTSENT_LOWAT)") == low
    robot("s.setblocking(False)")
    robot("""
import fcntl, select, struct, time
def fill():
    n = 0
    while select.select([], [s], [], 0.3)[1]:
        n += s.send(bytes(4096))
    return n, struct.unpack("i", fcntl.ioctl(s, 0x894B, bytes(4)))[0]
""")
    total, waiting = robot("fill()")
    assert low // 2 <= waiting < low + step
    got = 0
    while got < total:
        got += len(peer.recv(1 << 20))
    more, waiting = robot("fill()")
    assert more > 0
    assert waiting < low + step
    robot("s.close()")


def data_segments(s: socket.socket) -> int:
    """Returns tcpi_data_segs_in."""
    return struct.unpack_from("=I", s.getsockopt(6, socket.TCP_INFO, 160), 152)[0]


@pytest.mark.shows("send MSG_EOR")
def test_records_share_no_segment(robot, peer):
    """Of 20 small sends under TCP_CORK, each that ends a record has a segment of its own."""
    for flags, least, most in ((socket.MSG_EOR, 20, 25), (0, 1, 5)):
        before = data_segments(peer)
        robot("s.setsockopt(6, socket.TCP_CORK, 1)")
        robot("for _ in range(20): assert s.send(b'r' * 10, flags) == 10", flags=int(flags))
        robot("s.setsockopt(6, socket.TCP_CORK, 0)")
        got = 0
        while got < 200:
            got += len(peer.recv(200))
        assert least <= data_segments(peer) - before <= most
    robot("s.close()")


def test_no_window_clamp(lab, robot, peer_listener):
    """0 takes the clamp away, of a closed socket alone; a connection then has its whole buffer."""
    at = (lab.peer_ip, PORT)
    robot("s = socket.socket(); clamp = lambda *v: s.setsockopt(6, socket.TCP_WINDOW_CLAMP, *v)")
    robot("s.setsockopt(6, socket.TCP_WINDOW_CLAMP, 5000); clamp(0)")
    assert robot("s.getsockopt(6, socket.TCP_WINDOW_CLAMP)") == 0
    robot("s.connect(at)", at=at)
    assert robot("s.getsockopt(6, socket.TCP_WINDOW_CLAMP)") > 10000
    for value, found in (0, None), (4000, 4000), (0, None), (2**31 - 1, 2**31 - 1):
        if found is None:
            with pytest.raises(OSError, match=f"Errno {errno.EINVAL}"):
                robot("clamp(v)", v=value)
        else:
            robot("clamp(v)", v=value)
            assert robot("s.getsockopt(6, socket.TCP_WINDOW_CLAMP)") == found
    robot("s.close()")
    robot("s = listener = socket.socket(); s.bind((ip, 0)); clamp(0); s.listen()", ip=lab.ip)
    with pytest.raises(OSError, match=f"Errno {errno.EINVAL}"):
        robot("clamp(0)")
    robot("clamp(4000)")
    with lab.connect(robot("s.getsockname()[1]")):
        robot("s, who = listener.accept()")
        assert robot("s.getsockopt(6, socket.TCP_WINDOW_CLAMP)") == 4000
        with pytest.raises(OSError, match=f"Errno {errno.EINVAL}"):
            robot("clamp(0)")
        robot("s.close(); listener.close()")


NAME = "s.getsockname()"


@pytest.mark.shows("getsockname while connecting")
def test_own_name_while_connecting(lab, robot, peer_listener):
    """Known as soon as connect() has returned."""
    # in one breath: nothing else has handled the TOE's answer
    robot(
        "s = socket.socket(); s.setblocking(False); s.connect_ex(at); name = s.getsockname()",
        at=(lab.peer_ip, PORT),
    )
    name = tuple(robot("name"))
    assert name[0] == lab.ip and name[1]
    conn, where = peer_listener.accept()
    with conn:
        assert where == name
        robot("import select; select.select([], [s], [])")
        assert tuple(robot(NAME)) == name
        robot("s.close()")


@pytest.mark.shows("getsockname after a refused connect")
def test_own_name_after_a_refused_connect(lab, robot):
    """Until the error is reported all of it, then the port alone."""
    at = (lab.peer_ip, PORT + 1)
    robot("s = socket.socket()")
    assert robot("s.connect_ex(at)", at=at) == errno.ECONNREFUSED
    address, port = robot(NAME)
    assert (address, bool(port)) == ("0.0.0.0", True)
    # ... and the port is free for others, as it was not bound
    robot("t = socket.socket(); t.bind((ip, p)); t.close()", ip=lab.ip, p=port)
    robot("s.bind((ip, 0)); s.listen()", ip=lab.ip)
    address, bound = robot(NAME)
    assert address == lab.ip and bound
    robot("s.close(); s = socket.socket(); s.setblocking(False)")
    assert robot("s.connect_ex(at)", at=at) == errno.EINPROGRESS
    robot("import select; p = select.poll(); p.register(s); p.poll()")
    address, port = robot(NAME)
    assert address == lab.ip and port
    assert robot("s.getsockopt(1, 4)") == errno.ECONNREFUSED
    assert tuple(robot(NAME)) == (address, port)
    robot("s.close()")


@pytest.mark.shows("sendmmsg of more than UIO_MAXIOV")
def test_sendmmsg_takes_1024_messages(libc, peer):
    libc("""
word, size = ctypes.c_void_p, ctypes.c_size_t
class Iov(ctypes.Structure): _fields_ = [("base", ctypes.c_char_p), ("len", size)]
class Msg(ctypes.Structure):
    _fields_ = [("name", word), ("namelen", ctypes.c_uint), ("iov", ctypes.POINTER(Iov)),
                ("iovlen", size), ("control", word), ("controllen", size), ("flags", size),
                ("len", size)]
iov, msgs = Iov(b"x", 1), (Msg * 1030)()
for m in msgs:
    m.iov, m.iovlen = ctypes.pointer(iov), 1
""")
    assert libc("call('sendmmsg', s.fileno(), msgs, 1030, 0)") == 1024
    libc("s.close()")


@pytest.mark.shows("connect EAFNOSUPPORT")
def test_an_address_of_another_family(libc, lab):
    """An AF_INET socket does not connect to an address of IPv6, even a mapped one."""
    mapped = bytes(10) + b"\xff\xff" + socket.inet_aton(lab.peer_ip)
    for address in mapped, bytes(15) + b"\1":
        name = struct.pack("=HHI16sI", socket.AF_INET6, socket.htons(PORT), 0, address, 0)
        libc("s = socket.socket()")
        assert libc("call('connect', s.fileno(), n, len(n))", n=name) == -errno.EAFNOSUPPORT
    name = struct.pack("=HH4s20x", socket.AF_INET, socket.htons(PORT), socket.inet_aton(lab.ip))
    libc("s = socket.socket(socket.AF_INET6)")
    assert libc("call('connect', s.fileno(), n, len(n))", n=name) == -errno.EAFNOSUPPORT


@pytest.mark.shows("listen at ::ffff:0.0.0.0")
def test_a_listener_at_the_mapped_wildcard(lab, robot):
    robot("listener = socket.socket(socket.AF_INET6); listener.bind(('::ffff:0.0.0.0', 0))")
    port = robot("listener.listen(); listener.getsockname()[1]")
    with lab.connect(port) as peer:
        assert robot.accept()[:2] == (f"::ffff:{lab.peer_ip}", peer.getsockname()[1])
        robot("s.close()")
    robot("c = socket.create_connection(('127.0.0.1', p)); s, who = listener.accept()", p=port)
    assert robot("who[0]") == "::ffff:127.0.0.1"


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_options_reach_the_kernels_half(robot, host):
    """Options that a wildcard listener gets after listen(), of a connection over loopback."""
    options = [(1, socket.SO_KEEPALIVE, 1), (6, socket.TCP_NODELAY, 1), (6, 18, 12345)]
    options += [(6, socket.TCP_KEEPIDLE, 33), (6, socket.TCP_KEEPINTVL, 7)]
    options += [(6, socket.TCP_KEEPCNT, 4), (0, socket.IP_TOS, 0x10), (6, socket.TCP_LINGER2, 9)]
    six = ":" in host
    code = "listener = socket.create_server((h, p), family=f, dualstack_ipv6=six)"
    robot(code, h=host, p=PORT, f=socket.AF_INET6 if six else socket.AF_INET, six=six)
    for o in options:
        robot("listener.setsockopt(*o)", o=o)
    robot("c = socket.create_connection(('127.0.0.1', p)); s, _ = listener.accept()", p=PORT)
    for level, name, value in options:
        assert robot("s.getsockopt(level, name)", level=level, name=name) == value, (level, name)
    robot("listener.close()")


def test_backlog_0(lab, robot):
    """One connection waits; a second one is not completed."""
    robot.listen(lab.ip, PORT, backlog=0)
    with lab.connect(PORT), lab.client.socket() as second:
        second.settimeout(0.5)
        with pytest.raises(TimeoutError):
            second.connect((lab.ip, PORT))
        robot("listener.close()")


@pytest.mark.parametrize("first", ["getsockopt", "recv"])
def test_recv_after_a_refused_connect(lab, robot, first):
    """EOF, once the error has been fetched; a connect() that returned it leaves a new socket."""
    robot("import errno, select; s = socket.socket(); s.setblocking(False)")
    robot("s.connect_ex(at); p = select.poll(); p.register(s, 4)", at=(lab.peer_ip, 9))
    robot("p.poll(9000)")
    if first == "getsockopt":
        error = robot("s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)")
        assert error == errno.ECONNREFUSED
    else:
        with pytest.raises(ConnectionRefusedError):
            robot("s.recv(1)")
    assert robot("s.recv(1)") == b""
    with pytest.raises(ConnectionRefusedError):
        robot("s = socket.create_connection(at)", at=(lab.peer_ip, 9))
    robot("s = socket.socket(); s.connect_ex(at)", at=(lab.peer_ip, 9))
    with pytest.raises(OSError, match=r"not connected"):
        robot("s.recv(1)")
