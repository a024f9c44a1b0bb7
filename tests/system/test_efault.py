# SPDX-License-Identifier: Apache-2.0
"""Pointers to what is not mapped, or that no program can have: EFAULT, as Linux returns, on any
descriptor."""

from __future__ import annotations

import errno
import signal

import pytest

from tests.lab.robot import PORT, take

# Addresses that no program can have; else how the robot maps a page that cannot be used.
BAD = [16, 4096, 0xFFFF_8000_0000_0000, "unmapped", "PROT_NONE"]

# page(kind) returns the address of such a page, which follows a good one.
PAGES = """
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 5]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def page(kind):
    at = libc.mmap(None, 8192, 3, 0x22, 2**64 - 1, 0) + 4096
    if kind == "unmapped":
        libc.munmap(at, 4096)
    else:
        libc.mprotect(at, 4096, {"PROT_NONE": 0, "PROT_READ": 1}[kind])
    return at
"""

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
@pytest.mark.shows("a bad pointer: EFAULT")
@pytest.mark.parametrize("pointer", BAD, ids=str)
def test_bad_pointers(ready, accepted, pointer):
    ready(PAGES)
    p = ready("page(p)", p=pointer) if isinstance(pointer, str) else pointer
    ready("bad = ctypes.c_void_p(p)", p=p)
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
        p=p,
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


@pytest.mark.shows("epoll_wait EFAULT")
@pytest.mark.parametrize("pointer", [16, "unmapped", "PROT_NONE", "PROT_READ"], ids=str)
def test_no_room_for_events(ready, accepted, pointer):
    """Only an event that cannot be stored is EFAULT; it is reported by the next wait."""
    ready(PAGES)
    p = ready("page(p)", p=pointer) if isinstance(pointer, str) else pointer
    ready("bad = ctypes.c_void_p(p); room = ctypes.create_string_buffer(12)", p=p)
    assert ready("call('epoll_wait', ep, bad, 4, 0)") == 0
    ready("epoll.register(s, select.EPOLLIN)")
    assert ready("call('epoll_wait', ep, bad, 4, 0)") == -errno.EFAULT
    assert ready("call('epoll_wait', ep, room, 1, 0)") == 1
    ready("epoll.unregister(s)")
    high = "ctypes.c_void_p(0xffff800000000000)"
    assert ready(f"call('epoll_wait', ep, {high}, 4, 0)") == -errno.EFAULT


@pytest.mark.shows("accept EFAULT")
def test_no_room_for_the_address(lab, libc):
    """accept() looks at it once there is a connection, which it then closes."""
    libc(PAGES)
    libc("bad = ctypes.c_void_p(16); s = socket.socket(); fd = s.fileno()")
    assert libc("call('accept', fd, bad, bad)") == -errno.EINVAL
    libc.listen(lab.ip, PORT)
    libc("listener.setblocking(False); fd = listener.fileno()")
    assert libc("call('accept', fd, bad, bad)") == -errno.EAGAIN
    with lab.connect(PORT) as peer:
        libc("listener.setblocking(True)")
        assert libc("call('accept', fd, bad, bad)") == -errno.EFAULT
        assert peer.recv(1) == b""
    libc("s.close(); listener.close()")


def test_buffers_that_end_in_bad_pages(ready, accepted):
    """The bytes that do not fit stay in the socket; of a buffer that ends early none is sent."""
    ready(PAGES)
    ready("at = page('unmapped')")
    assert ready("call('recv', s.fileno(), ctypes.c_void_p(at - 4), 10, 0)") == -errno.EFAULT
    assert ready("call('recv', s.fileno(), ctypes.c_void_p(at - 4), 4, 0)") == 4
    assert ready("ctypes.string_at(at - 4, 4)") == b"0123"
    # as much as there is room for is taken, although the buffer would continue
    assert ready("call('recv', s.fileno(), ctypes.c_void_p(at - 6), 100, 0)") == 6
    assert ready("call('send', s.fileno(), ctypes.c_void_p(at - 4), 10, 0)") == -errno.EFAULT
    accepted.send(b"more")
    ready("select.select([s], [], []); only = page('PROT_READ')")
    assert ready("call('recv', s.fileno(), ctypes.c_void_p(only), 4, 0)") == -errno.EFAULT
    ready("length = ctypes.c_uint(16)")
    name = "s.fileno(), ctypes.c_void_p(only), ctypes.byref(length)"
    assert ready(f"call('getsockname', {name})") == -errno.EFAULT
    ready("s.send(b'end')")
    assert take(accepted, 3) == b"end"
    assert ready("s.recv(100)") == b"more"


HANDLERS = """
import faulthandler, resource, signal, time
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
def dies(code):
    pid = os.fork()
    if not pid:
        exec(code, globals())
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGBUS"])
def test_faults_of_the_program_are_its_own(ready, name):
    """The action that the program sets is taken, and can be read back."""
    ready(HANDLERS)
    ready(f"number = signal.{name}; raise_ = 'os.kill(os.getpid(), number);'")
    assert ready("signal.getsignal(number)") == signal.SIG_DFL
    assert ready("dies(raise_)") == -getattr(signal, name)
    assert ready("dies('signal.signal(number, signal.SIG_IGN);' + raise_)") == 0
    handler = "signal.signal(number, lambda *_: os._exit(7));"
    assert ready(f"dies({handler!r} + raise_ + 'time.sleep(10)')") == 7
    if name == "SIGBUS":
        return
    crash = "ctypes.string_at(16)"
    assert ready(f"dies({crash!r})") == -signal.SIGSEGV
    # ignored when it is sent, not when an instruction raises it
    ignored = f"signal.signal(number, signal.SIG_IGN); {crash}"
    assert ready(f"dies({ignored!r})") == -signal.SIGSEGV
    # a handler with a stack of its own, set by sigaction()
    ready("r, w = os.pipe()")
    assert ready(f"dies('faulthandler.enable(w); {crash}')") == -signal.SIGSEGV
    assert b"Segmentation fault" in ready("os.read(r, 100000)")
