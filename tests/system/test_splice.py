# SPDX-License-Identifier: Apache-2.0
"""splice() between pipes and sockets, and tee(): counts, waiting and refusals as on Linux."""

from __future__ import annotations

import errno
import random
import socket

import pytest

from tests.lab import lab as labs
from tests.lab.robot import take

NONBLOCK, MORE = 2, 4
F_SETPIPE_SZ = 1031


@pytest.fixture
def c(libc, peer):
    """The robot with a connection, and a pipe (r, w)."""
    libc("""
def splice(i, o, n, flags=0):
    return call('splice', i, None, o, None, ctypes.c_size_t(n), flags)
r, w = os.pipe()
wait = select.poll()
wait.register(s, select.POLLIN)""")
    return libc


@pytest.mark.shows("splice into a pipe")
def test_into_a_pipe(c, peer):
    """Moves as much as is available; bytes beyond the requested length stay readable."""
    peer.sendall(b"hello world")
    assert c("splice(s.fileno(), w, 5), os.read(r, 100)") == (5, b"hello")
    assert c("splice(s.fileno(), w, 100, flags), os.read(r, 100)", flags=NONBLOCK) == (6, b" world")
    assert c("splice(s.fileno(), w, 0)") == 0
    peer.shutdown(socket.SHUT_WR)
    assert c("splice(s.fileno(), w, 100)") == 0


def test_into_a_pipe_of_a_page(c, peer):
    c("fcntl.fcntl(w, op, 4096)", op=F_SETPIPE_SZ)
    sent = random.Random(labs.SEED).randbytes(1 << 15)
    peer.sendall(sent)
    got = b""
    while len(got) < len(sent):
        c("wait.poll(20000); n = splice(s.fileno(), w, 1 << 20)")
        assert 0 < c("n") <= 4096
        got += c("os.read(r, n)")
    assert got == sent


@pytest.mark.shows("splice SPLICE_F_NONBLOCK")
def test_into_a_full_pipe(c, peer):
    """No bytes are consumed from the socket."""
    c("fcntl.fcntl(w, op, 4096); os.write(w, bytes(4096))", op=F_SETPIPE_SZ)
    peer.sendall(b"hello")
    c("wait.poll(20000)")
    assert c("splice(s.fileno(), w, 5, flags)", flags=NONBLOCK) == -errno.EAGAIN
    c("os.set_blocking(w, False)")
    assert c("splice(s.fileno(), w, 5)") == -errno.EAGAIN
    c("os.set_blocking(w, True)")
    c("t = threading.Timer(0.3, os.read, (r, 4096)); t.start()")
    assert c("splice(s.fileno(), w, 5)") == 5
    assert c("os.read(r, 100)") == b"hello"


def test_waits_for_the_peer(c, peer):
    """SPLICE_F_NONBLOCK is of the pipe; of the socket O_NONBLOCK counts."""
    c.tell("splice(s.fileno(), w, 100, flags)", flags=NONBLOCK)
    assert c.waits()
    peer.sendall(b"late")
    assert c.result() == 4
    assert c("os.read(r, 100)") == b"late"
    c("s.setblocking(False)")
    assert c("splice(s.fileno(), w, 100)") == -errno.EAGAIN


@pytest.mark.shows("splice out of a pipe", "splice SPLICE_F_MORE")
def test_out_of_a_pipe(c, peer):
    c("os.write(w, b'hello world')")
    assert c("splice(r, s.fileno(), 5)") == 5
    assert c("splice(r, s.fileno(), 100, flags)", flags=MORE) == 6
    assert take(peer, 11) == b"hello world"
    assert c("splice(r, s.fileno(), 100, flags)", flags=NONBLOCK) == -errno.EAGAIN
    w = c("w")
    c.tell("splice(r, s.fileno(), 100)")
    assert c.waits()
    with open(f"/proc/{c.pid}/fd/{w}", "wb", buffering=0) as pipe:
        pipe.write(b"more")
    assert c.result() == 4
    assert take(peer, 4) == b"more"
    c("os.close(w)")
    assert c("splice(r, s.fileno(), 100)") == 0


def test_out_of_a_pipe_that_does_not_wait(c, peer):
    c("os.set_blocking(r, False)")
    assert c("splice(r, s.fileno(), 100)") == -errno.EAGAIN


@pytest.mark.shows("splice partial count")
def test_to_a_slow_peer(c, peer):
    """Bytes that the socket does not accept stay in the pipe."""
    data = random.Random(labs.SEED).randbytes(1 << 16)
    c("s.setblocking(False); total = 0", data=data)
    total, left = c("""
while True:
    os.write(w, data)
    here = 0
    while here < len(data) and (n := splice(r, s.fileno(), len(data))) > 0:
        here += n
    total += here
    if here < len(data):
        break
assert n == -errno.EAGAIN
total, len(data) - here""")
    assert (total + left) % len(data) == 0
    whole = data * ((total + left) // len(data))
    assert take(peer, total) == whole[:total]
    c("s.setblocking(True)")
    assert c("splice(r, s.fileno(), left)", left=left) == left
    assert take(peer, left) == whole[total:]


@pytest.mark.shows("splice EPIPE and SIGPIPE")
def test_broken_ends(c, peer):
    c("signal.signal(signal.SIGPIPE, lambda *_: hits.append(1)); hits = []")
    c("os.write(w, b'x'); s.shutdown(socket.SHUT_WR)")
    assert c("splice(r, s.fileno(), 1), hits") == (-errno.EPIPE, [1])
    peer.sendall(b"x")
    c("wait.poll(20000); os.close(r)")
    assert c("splice(s.fileno(), w, 1), hits") == (-errno.EPIPE, [1, 1])
    assert c("s.recv(5)") == b"x"


@pytest.mark.shows("splice errors")
def test_refusals(c, peer):
    c("at = ctypes.c_int64(0); p = ctypes.byref(at); o = os.open('/dev/null', os.O_RDWR)")
    c("""
def raw(*args):
    return call('splice', *args)
one = ctypes.c_size_t(1)""")
    assert c("raw(s.fileno(), None, s.fileno(), None, one, 0)") == -errno.EINVAL
    assert c("raw(s.fileno(), None, o, None, one, 0)") == -errno.EINVAL
    assert c("raw(s.fileno(), None, w, None, one, 64)") == -errno.EINVAL
    assert c("raw(s.fileno(), None, w, p, one, 0)") == -errno.ESPIPE
    assert c("raw(s.fileno(), p, w, None, one, 0)") == -errno.EINVAL
    assert c("raw(r, p, s.fileno(), None, one, 0)") == -errno.ESPIPE
    assert c("raw(r, None, s.fileno(), p, one, 0)") == -errno.EINVAL
    assert c("raw(s.fileno(), None, r, None, one, 0)") == -errno.EBADF
    assert c("raw(w, None, s.fileno(), None, one, 0)") == -errno.EBADF
    assert c("raw(s.fileno(), None, 999, None, one, 0)") == -errno.EBADF


@pytest.mark.shows("tee")
def test_tee(c, peer):
    """Pipes alone: the kernel's."""
    assert c("call('tee', s.fileno(), w, ctypes.c_size_t(1), 0)") == -errno.EINVAL
    c("r2, w2 = os.pipe(); os.write(w, b'twice')")
    assert c("call('tee', r, w2, ctypes.c_size_t(100), 0)") == 5
    assert c("splice(r, s.fileno(), 100), splice(r2, s.fileno(), 100)") == (5, 5)
    assert take(peer, 10) == b"twicetwice"
