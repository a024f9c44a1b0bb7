# SPDX-License-Identifier: Apache-2.0
"""The less common names of the C library's calls, and the options: each acts as Linux's does."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket

import pytest

from tests.lab import proc
from tests.lab.robot import PORT, take

CARRIER = 0x5483  # TOE_TCP_CARRIER of toe.h


@pytest.fixture
def c(libc):
    libc("b = ctypes.create_string_buffer(100)")
    return libc


# ---- other names of the same calls


@pytest.mark.shows(
    "__write", "__send", "__read", "__recv", "__fcntl", "__poll", "__dup2", "__close"
)
def test_private_names_of_a_connection(c, peer):
    assert c("call('__write', s.fileno(), b'one', 3)") == 3
    assert c("call('__send', s.fileno(), b'two', 3, 0)") == 3
    assert take(peer, 6) == b"onetwo"
    peer.sendall(b"three")
    c("p = (ctypes.c_uint64 * 1).from_buffer_copy(struct.pack('ihh', s.fileno(), 1, 0))")
    assert c("call('__poll', p, ctypes.c_ulong(1), 20000), bytes(p)[6]") == (1, 1)
    assert c("call('__read', s.fileno(), b, 2), b.raw[:2]") == (2, b"th")
    assert c("call('__recv', s.fileno(), b, 100, 0), b.raw[:3]") == (3, b"ree")
    assert c("call('__fcntl', s.fileno(), fcntl.F_GETFL, 0) & os.O_RDWR") == os.O_RDWR
    assert c("call('__dup2', s.fileno(), 200)") == 200
    c("s.close()")
    assert c("call('__write', 200, b'four', 4), call('__close', 200)") == (4, 0)
    assert take(peer, 5) == b"four"


@pytest.mark.shows("__socket", "__connect", "__select", "__sendmmsg")
def test_private_names_of_a_client(lab, c, peer_listener):
    name = (lab.peer_ip, PORT)
    c(
        """
d = call('__socket', socket.AF_INET, socket.SOCK_STREAM, 0)
at = struct.pack('=H', socket.AF_INET) + struct.pack('!H', name[1]) + socket.inet_aton(name[0])
r = call('__connect', d, at + bytes(8), 16)""",
        name=name,
    )
    assert c("r") == 0
    peer, _ = peer_listener.accept()
    with peer:
        c("""
bits = (ctypes.c_uint64 * 16)()
bits[d // 64] = 1 << d % 64
one = ctypes.create_string_buffer(b'hello', 5)
iov = (ctypes.c_uint64 * 2)(ctypes.addressof(one), 5)
msg = (ctypes.c_uint64 * 8)(0, 0, ctypes.addressof(iov), 1, 0, 0, 0, 0)""")
        assert c("call('__select', d + 1, None, bits, None, None)") == 1
        assert c("call('__sendmmsg', d, msg, 1, 0), msg[7]") == (1, 5)
        assert take(peer, 5) == b"hello"
    c("os.close(d)")


@pytest.mark.shows("dprintf", "vdprintf", "__dprintf_chk", "__vdprintf_chk")
def test_formatted_output(c, peer):
    c("none = ctypes.create_string_buffer(64)")  # a va_list that nothing is taken from
    assert c("call('dprintf', s.fileno(), b'%d,', ctypes.c_int(1))") == 2
    assert c("call('__dprintf_chk', s.fileno(), 1, b'%d,', ctypes.c_int(22))") == 3
    assert c("call('vdprintf', s.fileno(), b'three,', none)") == 6
    assert c("call('__vdprintf_chk', s.fileno(), 1, b'four', none)") == 4
    assert take(peer, 15) == b"1,22,three,four"


@pytest.mark.shows("preadv64v2", "pwritev64v2")
def test_vectors_with_flags(c, peer):
    c("iov = (ctypes.c_uint64 * 2)(ctypes.addressof(b), 5); b.raw = b'hello' + bytes(95)")
    at = "ctypes.c_int64(-1)"
    assert c(f"call('pwritev64v2', s.fileno(), iov, 1, {at}, 0)") == 5
    assert take(peer, 5) == b"hello"
    peer.sendall(b"world")
    assert c(f"call('preadv64v2', s.fileno(), iov, 1, {at}, 0), b.raw[:5]") == (5, b"world")
    assert c("call('preadv64v2', s.fileno(), iov, 1, ctypes.c_int64(0), 0)") == -errno.ESPIPE
    assert c(f"call('preadv64v2', s.fileno(), iov, 1, {at}, 8)") == -errno.EAGAIN  # RWF_NOWAIT


@pytest.mark.shows("fdopen", "fileno", "fileno_unlocked", "freopen64")
def test_numbers_of_files(c, peer, tmp_path):
    c("libc.fdopen.restype = libc.freopen64.restype = ctypes.c_void_p")
    c("f = ctypes.c_void_p(libc.fdopen(os.dup(s.fileno()), b'w')); n = call('fileno', f)")
    assert c("call('fileno_unlocked', f) == n != s.fileno()")
    c("call('fputs', b'bye', f); call('fclose', f)")
    assert take(peer, 3) == b"bye"
    c("saved = os.dup(1); os.dup2(s.fileno(), 1); out = ctypes.c_void_p.in_dll(libc, 'stdout')")
    assert c("libc.freopen64(path, b'w', out) is not None", path=bytes(tmp_path / "out"))
    c("call('puts', b'to the file'); call('fflush', None); os.dup2(saved, 1)")
    assert (tmp_path / "out").read_bytes() == b"to the file\n"


@pytest.mark.shows("sockatmark")
def test_at_the_mark(c, peer):
    peer.sendall(b"ab")
    peer.send(b"!", socket.MSG_OOB)
    peer.sendall(b"c")
    c("p = select.poll(); p.register(s, select.POLLPRI); p.poll(20000)")
    assert c("call('sockatmark', s.fileno())") == 0
    assert c("s.recv(10), call('sockatmark', s.fileno())") == (b"ab", 1)
    assert c("s.recv(10), call('sockatmark', s.fileno())") == (b"c", 0)


# ---- signals and users

HANDLER = """
hits = []
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda n: hits.append(n))
def act(name, *args):
    getattr(libc, name).restype = ctypes.c_long
    return getattr(libc, name)(*args) != -1
"""


@pytest.mark.shows(
    "signal", "bsd_signal", "ssignal", "sysv_signal", "__sysv_signal", "sigset", "siginterrupt"
)
@pytest.mark.parametrize(
    ("name", "restarts"),
    [
        ("signal", True),
        ("bsd_signal", True),
        ("ssignal", True),
        ("sysv_signal", False),
        ("__sysv_signal", False),
        ("sigset", False),
        ("siginterrupt", False),
    ],
)
def test_which_signals_end_a_call(c, accepted, name, restarts):
    c(HANDLER)
    if name == "siginterrupt":
        assert c("act('signal', signal.SIGUSR1, handler), call('siginterrupt', 10, 1)") == (True, 0)
    else:
        assert c("act(name, signal.SIGUSR1, handler)", name=name)
    # so that no other handler reports it after the one-shot handler is reset (SA_RESETHAND)
    c("signal.signal(signal.SIGINT, signal.SIG_IGN)")
    c.tell("call('recv', s.fileno(), b, 100, 0), hits")
    assert c.waits()
    c.sleeps()  # a signal that comes before the sleep ends no call, on Linux neither
    os.kill(c.pid, signal.SIGUSR1)
    if restarts:
        assert c.waits()
        accepted.sendall(b"on")
    assert c.result() == (2 if restarts else -errno.EINTR, [signal.SIGUSR1])


@pytest.mark.shows("sigignore")
def test_ignored_signal(c, accepted):
    assert c("call('sigignore', signal.SIGUSR1)") == 0
    c.tell("s.recv(10)")
    assert c.waits()
    os.kill(c.pid, signal.SIGUSR1)
    assert c.waits()
    accepted.sendall(b"on")
    assert c.result() == b"on"


@pytest.mark.shows("sigaction", "__sigaction")
@pytest.mark.parametrize("name", ["sigaction", "__sigaction"])
def test_sigaction(c, accepted, name):
    c(HANDLER)
    # struct sigaction of the C library: handler, mask, flags, restorer; none: SA_RESTART is not set
    c("a = ctypes.cast(handler, ctypes.c_void_p).value")
    c("act_ = struct.pack('Q128siiQ', a, b'', 0, 0, 0)")
    assert c("call(name, signal.SIGUSR1, act_, None)", name=name) == 0
    c.tell("call('recv', s.fileno(), b, 100, 0)")
    assert c.waits()
    os.kill(c.pid, signal.SIGUSR1)
    assert c.result() == -errno.EINTR


@pytest.mark.shows(
    "setuid", "seteuid", "setreuid", "setresuid", "setgid", "setegid", "setregid", "setresgid"
)
@pytest.mark.shows("setgroups", "initgroups")
@pytest.mark.parametrize(
    "change",
    [
        "call('setuid', 65534)",
        "call('seteuid', 65534)",
        "call('setreuid', 65534, 65534)",
        "call('setresuid', 65534, 65534, 65534)",
        "call('setgid', 65534), call('setuid', 65534)",
        "call('setegid', 65534), call('setuid', 65534)",
        "call('setregid', 65534, 65534), call('setuid', 65534)",
        "call('setresgid', 65534, 65534, 65534), call('setuid', 65534)",
        "call('setgroups', 0, None), call('setuid', 65534)",
        "call('initgroups', b'nobody', 65534), call('setuid', 65534)",
    ],
)
def test_worker_that_gives_up_its_rights(lab, c, change):
    """It serves the listener of its master all the same."""
    c.listen(lab.ip, PORT)
    change = f"r = {change}\n"
    body = (
        "pid = os.fork()\nif not pid:\n try:\n  " + change + "  s, _ = listener.accept()\n"
        "  s.sendall(repr((r, os.geteuid())).encode())\n  s.recv(1)\n finally:\n  os._exit(0)"
    )
    c(body)
    zero = "0" if change.count("call") == 1 else "(0, 0)"
    with connect_soon(lab) as peer:
        want = f"({zero}, 65534)".encode()
        assert take(peer, len(want)) == want
    c("os.waitpid(pid, 0)")


def connect_soon(lab):
    """A served connection: one made before the worker accepts may be reset."""

    def served() -> socket.socket | None:
        with contextlib.suppress(OSError):
            peer = lab.connect(PORT)
            if peer.recv(1, socket.MSG_PEEK):
                return peer
            peer.close()
        return None

    return proc.wait_until(served, "a worker serves", timeout=20)


# ---- exec by its other names


@pytest.mark.shows("execv", "execve", "execvp", "execvpe", "execl", "execlp", "execle")
@pytest.mark.shows("execveat", "fexecve")
@pytest.mark.parametrize(
    "how",
    [
        "libc.execv(b'/bin/sh', v)",
        "libc.execve(b'/bin/sh', v, env)",
        "libc.execvp(b'sh', v)",
        "libc.execvpe(b'sh', v, env)",
        "libc.execl(b'/bin/sh', b'sh', b'-c', code, None)",
        "libc.execlp(b'sh', b'sh', b'-c', code, None)",
        "libc.execle(b'/bin/sh', b'sh', b'-c', code, None, env)",
        "libc.execveat(-100, b'/bin/sh', v, env, 0)",
        "libc.fexecve(os.open('/bin/sh', os.O_RDONLY), v, env)",
    ],
)
def test_exec_by_each_name(c, accepted, how):
    c("""
code = b'read x <&9; echo "<$x>" >&9'
v = (ctypes.c_char_p * 4)(b'sh', b'-c', code, None)
env = (ctypes.c_char_p * (len(os.environ) + 1))(
    *[f'{k}={x}'.encode() for k, x in os.environ.items()], None)
os.dup2(s.fileno(), 9)""")
    c.tell(how)
    accepted.sendall(b"hello\n")
    assert take(accepted, 8) == b"<hello>\n"


# ---- options


@pytest.mark.shows(
    "setsockopt SO_ATTACH_FILTER",
    "setsockopt SO_BINDTODEVICE",
    "setsockopt SO_PEEK_OFF",
    "setsockopt TCP_ULP",
    "setsockopt TCP_MD5SIG",
    "setsockopt TCP_REPAIR",
    "setsockopt TCP_ZEROCOPY_RECEIVE",
    verdict="refused",
)
@pytest.mark.toehold_only
def test_options_that_promise_too_much(c, accepted):
    for level, name in (
        (1, 26),
        (1, 25),
        (1, 42),
        (6, 31),
        (6, 14),
        (6, 19),
        (6, 35),
    ):
        assert c("call('setsockopt', s.fileno(), *o, bytes(64), 64)", o=(level, name)) == (
            -errno.ENOPROTOOPT
        ), name
    for sent in 1, 2, 0x100, 0x200:  # SOF_TIMESTAMPING_TX_*
        done = c("call('setsockopt', s.fileno(), 1, 37, words(24 | sent, 0), 8)", sent=sent)
        assert done == -errno.ENOPROTOOPT


@pytest.mark.shows("getsockopt TOE_TCP_CARRIER")
@pytest.mark.toehold_only
def test_who_carries_a_socket(lab, c, accepted):
    c(
        """
def carrier(t):
    try:
        return t.getsockopt(socket.IPPROTO_TCP, option, 128).rstrip(b'\\0').decode()
    except OSError as e:
        return -e.errno""",
        option=CARRIER,
    )
    assert c("carrier(s)") == "toe"
    assert c("carrier(listener)") == "toe"
    assert c("t = socket.socket(); carrier(t)") == "undecided"
    c("t.bind(('127.0.0.1', 0)); t.listen()")
    assert c("carrier(t)") == "kernel: loopback addresses stay with the kernel"
    assert c("u = socket.create_connection(t.getsockname()); carrier(u)") == c("carrier(t)")
    assert c("v, _ = t.accept(); carrier(v)") == c("carrier(t)")
    c("[x.close() for x in (t, u, v)]")
    c("t = socket.create_server(('', 7001))")
    assert c("carrier(t)") == "toe and kernel"
    c("u = socket.create_connection(('127.0.0.1', 7001)); v, _ = t.accept()")
    assert c("carrier(v)") == "kernel: accepted from an interface of the kernel's"
    assert c("carrier(socket.socket(socket.AF_UNIX))") == "kernel"
    c("r, w = os.pipe()")
    assert c("call('getsockopt', r, 6, option, b, b)") == -errno.ENOTSOCK
    assert c("call('getsockopt', 999, 6, option, b, b)") == -errno.EBADF
    c("[x.close() for x in (t, u, v)]")
    with pytest.raises(OSError, match="Protocol not available"):
        c("s.setsockopt(6, option, 1)")
