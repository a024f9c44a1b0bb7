# SPDX-License-Identifier: Apache-2.0
"""System calls as a C program makes them, with the errno of each: on the TOE as on Linux."""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import time

import pytest

from tests.lab import lab as labs
from tests.lab.robot import PORT, take


@pytest.fixture
def c(libc):
    return libc


# ---- receiving and sending


@pytest.mark.shows("recv MSG_TRUNC")
def test_truncating_recv_discards(c, peer):
    peer.sendall(b"0123456789")
    c("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    c("b = ctypes.create_string_buffer(16)")
    assert c("call('recv', s.fileno(), None, 4, socket.MSG_TRUNC)") == 4
    assert c("s.recv(100)") == b"456789"


@pytest.mark.shows("recv of no bytes", "read of no bytes", "send of no bytes")
def test_recv_of_nothing(c, peer):
    """read() of no bytes is done at once; recv() waits until there would be some."""
    assert c("call('read', s.fileno(), None, 0)") == 0
    assert c("call('recv', s.fileno(), None, 0, socket.MSG_DONTWAIT)") == -errno.EAGAIN
    assert c("call('send', s.fileno(), None, 0, 0)") == 0
    assert c("call('write', s.fileno(), None, 0)") == 0
    c.tell("call('recv', s.fileno(), None, 0, 0)")
    c.sleeps()
    peer.sendall(b"x")
    assert c.result() == 0
    assert c("s.recv(10)") == b"x"


@pytest.mark.shows("send MSG_MORE")
def test_more_then_push(c, peer):
    c("s.send(b'ab', socket.MSG_MORE); s.send(b'cd', socket.MSG_MORE); s.send(b'ef')")
    assert take(peer, 6) == b"abcdef"


@pytest.mark.shows("recv MSG_WAITALL")
def test_wait_for_all_ends_at_eof(c, peer):
    c.tell("s.recv(10, socket.MSG_WAITALL)")
    peer.sendall(b"abc")
    c.sleeps()
    peer.shutdown(socket.SHUT_WR)
    assert c.result() == b"abc"


@pytest.mark.shows("sendmmsg", "recvmmsg", "recvmmsg MSG_WAITFORONE")
def test_message_calls_of_many(c, peer):
    c("""
class iovec(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
class msghdr(ctypes.Structure):
    _fields_ = [('name', ctypes.c_void_p), ('namelen', ctypes.c_uint), ('iov', ctypes.c_void_p),
                ('iovlen', ctypes.c_size_t), ('control', ctypes.c_void_p),
                ('controllen', ctypes.c_size_t), ('flags', ctypes.c_int)]
class mmsghdr(ctypes.Structure):
    _fields_ = [('hdr', msghdr), ('len', ctypes.c_uint)]
bufs = [ctypes.create_string_buffer(b'abc', 3), ctypes.create_string_buffer(b'defg', 4)]
iov = (iovec * 2)(*[(ctypes.addressof(b), len(b)) for b in bufs])
msgs = (mmsghdr * 2)()
for i in range(2):
    msgs[i].hdr.iov = ctypes.addressof(iov) + i * ctypes.sizeof(iovec)
    msgs[i].hdr.iovlen = 1
""")
    assert c("call('sendmmsg', s.fileno(), msgs, 2, 0), msgs[0].len, msgs[1].len") == (2, 3, 4)
    assert take(peer, 7) == b"abcdefg"
    peer.sendall(b"1234567")
    c("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    assert c("call('recvmmsg', s.fileno(), msgs, 2, 0x10000, None), msgs[0].len, msgs[1].len") == (
        2,
        3,
        4,
    )
    assert c("bufs[0].raw, bufs[1].raw") == (b"123", b"4567")


@pytest.mark.shows("recvmsg control data", "sendmsg control data")
def test_control_data_of_a_stream(c, peer):
    """A stream message has no control data and no name, and passes no descriptors."""
    peer.sendall(b"hello")
    c("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    assert c("s.recvmsg(100, 1000)") == (b"hello", [], 0, None)
    assert c("s.sendmsg([b'hi'], [])") == 2
    c("s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0]))])")
    assert take(peer, 3) == b"hix"


def test_positions_of_a_socket(c, peer):
    assert c("call('pread', s.fileno(), None, 0, 0)") == -errno.ESPIPE
    assert c("call('lseek', s.fileno(), 0, 1)") == -errno.ESPIPE


# ---- stdio


@pytest.mark.shows("fdopen reading and writing", "fileno", "dprintf")
def test_file_of_a_descriptor(c, peer):
    c("""
libc.fdopen.restype = ctypes.c_void_p
f = ctypes.c_void_p(libc.fdopen(s.fileno(), b'r+'))""")
    assert c("call('fprintf', f, b'%s %d\\r\\n', b'hello', ctypes.c_int(42))") == 10
    assert c("call('fflush', f)") == 0
    assert take(peer, 10) == b"hello 42\r\n"
    peer.sendall(b"one\ntwo\n")
    c("b = ctypes.create_string_buffer(100); libc.fgets.restype = ctypes.c_void_p")
    assert c("libc.fgets(b, 100, f) and b.value") == b"one\n"
    assert c("libc.fgets(b, 100, f) and b.value") == b"two\n"
    assert c("call('fileno', f)") == c("s.fileno()")
    assert c("call('dprintf', s.fileno(), b'%d', ctypes.c_int(7))") == 1
    assert take(peer, 1) == b"7"
    c("call('fputs', b'bye', f)")
    assert c("call('fclose', f)") == 0
    c("s.detach()")
    assert take(peer, 3) == b"bye"
    assert peer.recv(1) == b""


@pytest.mark.shows("dup2 of standard output")
def test_printf_over_a_copied_standard_output(c, peer):
    c("saved = os.dup(1); os.dup2(s.fileno(), 1)")
    assert c("call('printf', b'%d apples\\n', ctypes.c_int(3))") == 9
    c("call('fflush', None)")
    assert take(peer, 9) == b"3 apples\n"
    c("call('puts', b'pears'); call('fflush', None)")
    assert take(peer, 6) == b"pears\n"
    c("os.dup2(saved, 1); call('puts', b'to the log'); call('fflush', None)")
    c("s.send(b'end')")
    assert take(peer, 3) == b"end"


@pytest.mark.shows("freopen of standard output")
def test_standard_output_reopened(c, peer, tmp_path):
    """freopen() of a standard file that has led to a socket."""
    c("saved = os.dup(1); os.dup2(s.fileno(), 1)")
    c("call('puts', b'to the peer'); libc.freopen.restype = ctypes.c_void_p")
    c(
        "f = libc.freopen(path, b'w', ctypes.c_void_p.in_dll(libc, 'stdout'))",
        path=str(tmp_path / "out").encode(),
    )
    assert c("f is not None")
    assert take(peer, 12) == b"to the peer\n"
    c("call('puts', b'to the file'); call('fflush', None); os.dup2(saved, 1)")
    assert (tmp_path / "out").read_bytes() == b"to the file\n"
    c("s.send(b'end')")
    assert take(peer, 3) == b"end"


@pytest.mark.shows("freopen of a file over a socket")
def test_file_over_a_socket_reopened(c, peer, tmp_path):
    """The same FILE and descriptor: earlier output goes to the peer, later output to the file."""
    c("libc.freopen.restype = libc.fdopen.restype = libc.fgets.restype = ctypes.c_void_p")
    c("n = os.dup(s.fileno()); f = libc.fdopen(n, b'r+'); s.close()")
    peer.sendall(b"one\ntwo\n")
    c("f_ = ctypes.c_void_p(f); b = ctypes.create_string_buffer(100)")
    assert c("libc.fgets(b, 100, f_) and b.value") == b"one\n"
    path = str(tmp_path / "file").encode()
    assert c("libc.freopen(path, b'w', f_) == f and call('fileno', f_) == n", path=path)
    assert peer.recv(10) == b""
    assert c("call('fputs', b'first\\nsecond\\n', f_)") >= 0
    assert c("libc.fgets(b, 100, f_)") is None  # it is for writing
    assert c("libc.freopen(path, b'a+', f_) == f", path=path)
    assert c("call('fputs', b'third\\n', f_)") >= 0
    assert c("call('fseek', f_, ctypes.c_long(6), 0), call('ftell', f_)") == (0, 6)
    assert c("libc.fgets(b, 100, f_) and b.value") == b"second\n"
    assert c("libc.freopen(None, b'r', f_) == f and libc.fgets(b, 100, f_) and b.value") == (
        b"first\n"
    )
    assert c("libc.freopen(path + b'/none', b'r', f_)", path=path) is None
    with pytest.raises(OSError):
        c("os.fstat(n)")


def test_shell_with_a_connection(lab, peer_listener):
    """bash's /dev/tcp: its echo is the C library's buffered output, over a copied descriptor."""
    code = "exec 3<>/dev/tcp/$0/$1; echo hello >&3; read -u 3 x; echo got $x"
    with lab.app(["bash", "-c", code, lab.peer_ip, PORT]) as shell:
        peer, _ = peer_listener.accept()
        with peer:
            assert take(peer, 6) == b"hello\n"
            peer.sendall(b"world\n")
            labs.proc.wait_until(lambda: "got world" in shell.text(), "the shell has read it")


def test_exit_sends_and_waits_for_no_reader(c, peer):
    """A FILE over a socket is flushed; a thread that blocks in another FILE is not disturbed."""
    c("""
libc.fdopen.restype = ctypes.c_void_p
f = ctypes.c_void_p(libc.fdopen(s.fileno(), b'w'))
ends = os.pipe()
g = ctypes.c_void_p(libc.fdopen(ends[0], b'r'))
threading.Thread(target=call, args=('getc', g), daemon=True).start()""")
    c.threads_sleep(1)
    c("call('fputs', b'bye', f)")
    c.tell("libc.exit(0)")
    assert take(peer, 4) == b"bye"
    assert c.proc.wait(20) == 0


# ---- states


@pytest.mark.shows("listen after a failed connect")
def test_listen_after_a_failed_connect(lab, robot):
    robot("s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
    robot("s.bind((ip, port))", ip=lab.ip, port=PORT)
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT + 1)) == errno.ECONNREFUSED
    robot("s.listen(); listener = s")
    with lab.connect(PORT) as peer:
        robot.accept()
        robot("s.send(b'served')")
        assert take(peer, 6) == b"served"


@pytest.mark.shows("listen after shutdown")
def test_listen_again_after_shutdown(lab, robot):
    robot.listen(lab.ip, PORT)
    robot("listener.shutdown(socket.SHUT_RD); listener.listen()")
    with lab.connect(PORT) as peer:
        robot.accept()
        robot("s.send(b'served')")
        assert take(peer, 6) == b"served"


@pytest.mark.shows("bind SO_REUSEADDR over TIME-WAIT")
def test_bind_over_time_wait(lab, c, accepted):
    """The side that closes first has TIME-WAIT: a listener binds over it."""
    c("s.close(); listener.close()")
    assert accepted.recv(1) == b""
    accepted.close()
    time.sleep(0.1)
    c("s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
    c("s.bind((ip, port)); s.listen(); listener = s", ip=lab.ip, port=PORT)
    with lab.connect(PORT) as peer:
        c.accept()
        c("s.send(b'back')")
        assert take(peer, 4) == b"back"


@pytest.mark.shows("bind SO_REUSEADDR over a connection")
def test_bind_over_a_connection_needs_no_listener(lab, c, accepted):
    c("listener.close()")
    c("t = socket.socket(); t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
    c("t.bind((ip, port)); t.listen()", ip=lab.ip, port=PORT)
    with lab.connect(PORT):
        c("u, _ = t.accept()")
    c("s.send(b'old')")
    assert take(accepted, 3) == b"old"


# ---- signals

HANDLERS = """
hits = []
signal.signal(signal.SIGUSR1, lambda *_: hits.append(1))
signal.siginterrupt(signal.SIGUSR1, False)
signal.signal(signal.SIGUSR2, lambda *_: hits.append(2))
signal.siginterrupt(signal.SIGUSR2, True)
b = ctypes.create_string_buffer(1 << 20)
"""


@pytest.mark.shows("recv EINTR and SA_RESTART")
def test_signals_and_recv(c, peer):
    c(HANDLERS)
    c.tell("call('recv', s.fileno(), b, 5, 0)")
    c.sleeps()
    os.kill(c.pid, signal.SIGUSR1)
    time.sleep(0.2)
    peer.sendall(b"hello")
    assert c.result() == 5
    assert c("hits") == [1]
    c.tell("call('recv', s.fileno(), b, 5, 0)")
    c.sleeps()
    os.kill(c.pid, signal.SIGUSR2)
    assert c.result() == -errno.EINTR
    # With a time limit never again.
    c("s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 20, 0))")
    c.tell("call('recv', s.fileno(), b, 5, 0)")
    c.sleeps()
    os.kill(c.pid, signal.SIGUSR1)
    assert c.result() == -errno.EINTR


@pytest.mark.shows("accept EINTR and SA_RESTART")
def test_signals_and_accept(lab, c):
    c(HANDLERS)
    c.listen(lab.ip, PORT)
    c.tell("call('accept', listener.fileno(), None, None) > 0")
    c.sleeps()
    os.kill(c.pid, signal.SIGUSR1)
    time.sleep(0.2)
    with lab.connect(PORT):
        assert c.result()
    c.tell("call('accept', listener.fileno(), None, None)")
    c.sleeps()
    os.kill(c.pid, signal.SIGUSR2)
    assert c.result() == -errno.EINTR
    c("os.closerange(listener.fileno() + 1, 1000)")


@pytest.mark.shows("send EINTR, partial count")
def test_signals_and_send(c, peer):
    c(HANDLERS)
    c("""
full = 0
while full < 15:
    try:
        s.send(bytes(1 << 16), socket.MSG_DONTWAIT)
        full = 0
    except BlockingIOError:
        full += 1
        time.sleep(0.1)""")
    c.tell("call('send', s.fileno(), b, 100000, 0)")
    c.sleeps()
    os.kill(c.pid, signal.SIGUSR1)
    assert c.waits()
    os.kill(c.pid, signal.SIGUSR2)
    assert c.result() == -errno.EINTR
    assert c("hits") == [1, 2]


def test_a_wait_takes_no_number(c, peer):
    """While recv() sleeps the program's lowest free number stays free."""
    c(HANDLERS)
    c("""
got = []
t = threading.Thread(target=lambda: got.append(call('recv', s.fileno(), b, 5, 0)))
free = os.dup(0)
os.close(free)
t.start()""")
    c.threads_sleep(1)
    c("taken = os.dup(0); os.close(taken)")
    assert c("taken == free")
    peer.sendall(b"hello")
    assert c("t.join(20); got") == [5]


WAITS = {
    "poll": "call('poll', fds, 1, -1)",
    "epoll_wait": "call('epoll_wait', ep.fileno(), b, 1, -1)",
    "select": "call('select', s.fileno() + 1, ctypes.c_char_p(bytes([0] * (s.fileno() // 8)"
    " + [1 << s.fileno() % 8] + [0] * 127)), None, None, None)",
    "recv": "call('recv', s.fileno(), b, 5, 0)",
}


def signal_in(c, how, sig):
    c(HANDLERS)
    c("ep = select.epoll(); ep.register(s, select.EPOLLIN)")
    c("fds = words(s.fileno(), select.POLLIN)")
    c.tell(WAITS[how])
    time.sleep(0.2)
    os.kill(c.pid, sig)


def end_of(c, sig):
    """The result of the wait. A signal before the wait does not end it, as on Linux."""
    for _ in range(10):
        if not c.waits(2):
            break
        os.kill(c.pid, sig)
    return c.result()


@pytest.mark.parametrize("how", ["poll", "epoll_wait", "select"])
@pytest.mark.shows("poll EINTR", "select EINTR", "epoll_wait EINTR")
def test_signals_end_every_wait(c, peer, how):
    signal_in(c, how, signal.SIGUSR1)
    assert end_of(c, signal.SIGUSR1) == -errno.EINTR


@pytest.mark.parametrize("robot", [{"TOEHOLD_BUSY_POLL_US": "1000000"}], indirect=True)
@pytest.mark.parametrize("how", WAITS)
def test_signals_end_a_wait_that_still_polls(c, accepted, how):
    """The kernel, which would return EINTR, is called when the polling time has elapsed."""
    signal_in(c, how, signal.SIGUSR2)
    assert end_of(c, signal.SIGUSR2) == -errno.EINTR


@pytest.mark.parametrize("robot", [{"TOEHOLD_BUSY_POLL_US": "1000000"}], indirect=True)
def test_one_that_restarts_ends_no_recv_that_still_polls(c, accepted):
    signal_in(c, "recv", signal.SIGUSR1)
    time.sleep(0.2)
    accepted.sendall(b"hello")
    assert c.result() == 5
    assert c("hits") == [1]


@pytest.mark.shows("send SIGPIPE", "send MSG_NOSIGNAL", "write SIGPIPE", "sendfile SIGPIPE")
def test_broken_pipe_signals(c, peer):
    c("signal.signal(signal.SIGPIPE, lambda *_: hits.append(1)); hits = []")
    c("s.shutdown(socket.SHUT_WR)")
    for send, hits in (
        ("call('send', s.fileno(), b'x', 1, socket.MSG_NOSIGNAL)", 0),
        ("call('send', s.fileno(), b'x', 1, 0)", 1),
        ("call('write', s.fileno(), b'x', 1)", 1),
        ("call('sendfile', s.fileno(), f.fileno(), None, 1)", 1),
    ):
        c("hits.clear(); f = open('/proc/self/exe', 'rb')")
        assert c(send) == -errno.EPIPE, send
        assert c("len(hits)") == hits, send


# ---- options


@pytest.mark.shows(
    "setsockopt SO_REUSEADDR",
    "setsockopt SO_REUSEPORT",
    "setsockopt SO_RCVBUF",
    "setsockopt SO_SNDBUF",
    "setsockopt SO_RCVLOWAT",
    "setsockopt SO_PRIORITY",
    "setsockopt SO_LINGER",
    "setsockopt TCP_QUICKACK",
    "setsockopt TCP_LINGER2",
    "setsockopt TCP_USER_TIMEOUT",
    "setsockopt TCP_WINDOW_CLAMP",
    "setsockopt IP_TOS",
    "setsockopt IP_TTL",
    "setsockopt unknown option",
)
def test_every_option_there_is(c, peer):
    """Options that were set can be read; values that Linux rejects are rejected."""
    c("""
def opt(level, name, *value):
    b = words(*value)
    return call('setsockopt', s.fileno(), level, name, b, len(b))""")
    sol, tcp = socket.SOL_SOCKET, socket.IPPROTO_TCP
    for level, name, value in (
        (sol, socket.SO_REUSEADDR, (1,)),
        (sol, socket.SO_REUSEPORT, (1,)),
        (sol, socket.SO_RCVBUF, (65536,)),
        (sol, socket.SO_SNDBUF, (65536,)),
        (sol, socket.SO_RCVLOWAT, (1,)),
        (sol, socket.SO_PRIORITY, (1,)),
        (sol, socket.SO_LINGER, (1, 5)),
        (tcp, socket.TCP_QUICKACK, (1,)),
        (tcp, socket.TCP_DEFER_ACCEPT, (5,)),
        (tcp, socket.TCP_LINGER2, (5,)),
        (tcp, socket.TCP_NOTSENT_LOWAT, (16384,)),
        (tcp, socket.TCP_USER_TIMEOUT, (1000,)),
        (tcp, socket.TCP_WINDOW_CLAMP, (65536,)),
        (socket.IPPROTO_IP, socket.IP_TOS, (0x10,)),
        (socket.IPPROTO_IP, socket.IP_TTL, (64,)),
    ):
        assert c("opt(level, name, *value)", level=level, name=name, value=value) == 0, name
        got = c("s.getsockopt(level, name, 4 * len(value))")
        if name in (socket.SO_RCVBUF, socket.SO_SNDBUF) and level == sol:
            assert got > bytes(4), name  # the kernel doubles it, the TOE returns its actual size
        elif name == socket.TCP_DEFER_ACCEPT and level == tcp:
            assert got in (c("words(5)"), c("words(7)")), name  # in steps of its retransmissions
        else:
            assert got == c("words(*value)"), name
    assert c("opt(6, 4711, 1)") == -errno.ENOPROTOOPT
    assert c("opt(1, 4711, 1)") == -errno.ENOPROTOOPT
    assert c("opt(6, socket.TCP_KEEPCNT, 0)") == -errno.EINVAL
    assert c("call('setsockopt', s.fileno(), 6, 1, b'', 1)") == -errno.EINVAL


@pytest.mark.shows("close_range", "close_range CLOSE_RANGE_CLOEXEC")
def test_close_range(c, peer):
    c("fd = s.detach(); call('dup2', fd, 300); call('close', fd)")
    assert c("call('close_range', 300, 300, 4)") == 0  # close on exec only
    assert c("fcntl.fcntl(300, fcntl.F_GETFD)") == 1
    assert c("call('write', 300, b'ok', 2)") == 2
    assert take(peer, 2) == b"ok"
    assert c("call('close_range', 290, 310, 0)") == 0
    assert peer.recv(1) == b""
    assert c("call('write', 300, b'ok', 2)") == -errno.EBADF
    assert c("call('close_range', 310, 300, 0)") == -errno.EINVAL


@pytest.mark.shows("close EBADF")
def test_bad_descriptors(c, peer):
    c("fd = s.detach(); call('close', fd)")
    for name, args in (
        ("close", ""),
        ("read", ", None, 0"),
        ("send", ", b'x', 1, 0"),
        ("listen", ", 1"),
        ("shutdown", ", 0"),
        ("dup", ""),
        ("fcntl", ", 3, 0"),
    ):
        assert c(f"call('{name}', fd{args})") == -errno.EBADF, name


# ---- epoll


@pytest.mark.shows("epoll_ctl EPOLLEXCLUSIVE")
def test_exclusive_wakes_one(lab, c, accepted):
    c("""
ep1, ep2 = eps = select.epoll(), select.epoll()
woken = []
threads = [threading.Thread(target=lambda e=e: woken.append(len(e.poll(20)))) for e in eps]
for e, t in zip(eps, threads):
    e.register(s, select.EPOLLIN | select.EPOLLEXCLUSIVE)
    t.start()""")
    c.threads_sleep(2)
    accepted.sendall(b"x")
    labs.proc.wait_until(lambda: c("woken"), "one of them is woken")
    time.sleep(0.3)  # in which the other one must not wake
    assert c("woken") == [1]
    c("s.recv(1)")
    accepted.sendall(b"y")
    assert c("[t.join(20) for t in threads]; woken") == [1, 1]
    with pytest.raises(OSError, match="Invalid argument"):
        c("ep1.modify(s, select.EPOLLIN | select.EPOLLEXCLUSIVE)")


@pytest.mark.shows("epoll_ctl errors", "epoll_wait errors")
def test_epoll_errors(c, peer):
    c("ep = select.epoll(); ep.register(s, select.EPOLLIN)")
    ev = "words(1, 0, 0)"
    assert c(f"call('epoll_ctl', ep.fileno(), 1, s.fileno(), {ev})") == -errno.EEXIST
    assert c(f"call('epoll_ctl', ep.fileno(), 2, s.fileno(), {ev})") == 0
    assert c(f"call('epoll_ctl', ep.fileno(), 3, s.fileno(), {ev})") == -errno.ENOENT
    assert c(f"call('epoll_ctl', ep.fileno(), 2, s.fileno(), {ev})") == -errno.ENOENT
    assert c(f"call('epoll_ctl', s.fileno(), 1, ep.fileno(), {ev})") == -errno.EINVAL
    assert c(f"call('epoll_ctl', ep.fileno(), 1, ep.fileno(), {ev})") == -errno.EINVAL
    assert c("call('epoll_wait', ep.fileno(), words(0, 0, 0), 0, 0)") == -errno.EINVAL
    assert c("call('epoll_wait', s.fileno(), words(0, 0, 0), 1, 0)") == -errno.EINVAL


@pytest.mark.shows("epoll_ctl nested")
def test_nested_epoll(c, peer):
    c("inner, outer = select.epoll(), select.epoll()")
    c("inner.register(s, select.EPOLLIN); outer.register(inner, select.EPOLLIN)")
    assert c("outer.poll(0)") == []
    c.tell("outer.poll(20)")
    c.sleeps()
    peer.sendall(b"x")
    assert c.result() == [(c("inner.fileno()"), select.EPOLLIN)]
    assert c("inner.poll(0)") == [(c("s.fileno()"), select.EPOLLIN)]
    c("s.recv(1)")
    assert c("outer.poll(0)") == []
