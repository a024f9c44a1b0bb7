# SPDX-License-Identifier: Apache-2.0
"""Pointers that no program can have: EFAULT, as Linux returns, on any descriptor."""

from __future__ import annotations

import errno

import pytest

from tests.lab.robot import take

NO_PROGRAM_HAS = [16, 4096, 0xFFFF_8000_0000_0000]

CALLS = [
    ("poll", "p, 1, 0"),
    ("ppoll", "p, 1, 0, 0"),
    ("select", "s.fileno() + 1, p, 0, 0, ctypes.byref(zero)"),
    ("epoll_ctl", "ep, 1, s.fileno(), p"),
    ("sendmsg", "fd, p, 0"),
    ("recvmsg", "fd, p, 0x40"),
    ("sendmmsg", "fd, p, 2, 0"),
    ("recvmmsg", "fd, p, 2, 0x40, 0"),
    ("writev", "fd, p, 2"),
    ("readv", "fd, p, 2"),
    ("send", "fd, p, 5, 0"),
    ("write", "fd, p, 5"),
    ("recv", "fd, p, 1, 0x40"),
    ("read", "fd, p, 1"),
    ("connect", "fresh, p, 16"),
    ("bind", "fresh, p, 16"),
    ("getsockname", "fd, p, p"),
    ("getpeername", "fd, p, p"),
    ("getsockopt", "fd, 1, 4, p, p"),
    ("setsockopt", "fd, 1, 2, p, 4"),
]
# of a socket pair, which is the kernel's
FOREIGN = {"poll", "ppoll", "select", "epoll_ctl", "sendmsg", "recvmsg", "sendmmsg", "writev"}


@pytest.fixture
def ready(libc, accepted):
    """A connection with 10 unread bytes at the program, a pair of Unix sockets, an epoll."""
    accepted.send(b"0123456789")
    libc("""
import select
select.select([s], [], [])
u, v = socket.socketpair()
v.send(b"x")
unbound = socket.socket()
fresh = unbound.fileno()
epoll = select.epoll()
ep = epoll.fileno()
class Timeval(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("us", ctypes.c_long)]
zero = Timeval(0, 0)
libc.select.argtypes = None
""")
    return libc


@pytest.mark.sanitize
@pytest.mark.parametrize("pointer", NO_PROGRAM_HAS, ids=hex)
def test_bad_pointers(ready, accepted, pointer):
    ready("bad = ctypes.c_void_p(p)", p=pointer)
    for name, arguments in CALLS:
        words = ", ".join("bad" if w == "p" else w for w in arguments.split(", "))
        for fd in ["s.fileno()", "u.fileno()"][: 2 if name in FOREIGN else 1]:
            got = ready(f"call({name!r}, {words})".replace("fd,", f"{fd},"))
            assert got == -errno.EFAULT, (name, fd, got)
    # a piece of a message
    ready(
        """
piece = struct.pack("PN", p, 5)
v = ctypes.create_string_buffer(piece)
m = ctypes.create_string_buffer(struct.pack("PiPNPNi", 0, 0, ctypes.addressof(v), 1, 0, 0, 0))
""",
        p=pointer,
    )
    for name in ("sendmsg", "recvmsg"):
        assert ready(f"call({name!r}, s.fileno(), m, 0x40)") == -errno.EFAULT
    for name in ("writev", "readv"):
        assert ready(f"call({name!r}, s.fileno(), v, 1)") == -errno.EFAULT
    # by number: masks of 8 bytes, and the struct of clone3()
    ready("""
entry = ctypes.create_string_buffer(struct.pack("ihh", s.fileno(), 1, 0))
n = ctypes.c_long
""")
    for call in (
        "n(271), entry, n(1), ctypes.byref(zero), bad, n(8)",  # ppoll
        "n(270), n(0), None, None, None, ctypes.byref(zero), bad",  # pselect6
        "n(435), bad, n(88)",
    ):  # clone3
        assert ready(f"call('syscall', {call})") == -errno.EFAULT, call
    # the connection has neither lost nor sent a byte
    assert ready("s.recv(100)") == b"0123456789"
    ready("s.send(b'end')")
    assert take(accepted, 3) == b"end"
