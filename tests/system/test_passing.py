# SPDX-License-Identifier: Apache-2.0
"""Sockets passed on to other programs: by SCM_RIGHTS, and inherited over fork() and exec()."""

from __future__ import annotations

import os

import pytest

from tests.lab.robot import PORT, Robot, take


@pytest.fixture
def c(libc):
    return libc


def join(one, other):
    """A Unix socket between two programs: v in each."""
    path = f"/tmp/toehold-scm-{os.getpid()}"
    other("u = socket.socket(socket.AF_UNIX); u.bind(path); u.listen()", path=path)
    one("v = socket.socket(socket.AF_UNIX); v.connect(path)", path=path)
    os.unlink(path)
    other("v, _ = u.accept(); u.close()")


@pytest.mark.shows("sendmsg SCM_RIGHTS of a connection", "recvmsg SCM_RIGHTS of a connection")
def test_descriptor_by_scm_rights(lab, c, peer):
    """To another program, which gets it by a Unix socket."""
    with Robot(lab) as other:
        join(c, other)
        c("socket.send_fds(v, [b'x'], [s.fileno()]); s.close()")
        other("_, fds, _, _ = socket.recv_fds(v, 1, 4); fd = fds[0]")
        peer.sendall(b"hello")
        assert other("os.read(fd, 100)") == b"hello"
        other("os.write(fd, b'world')")
        assert take(peer, 5) == b"world"
        other("os.close(fd)")
        assert peer.recv(1) == b""


def test_scm_rights_tried_again(lab, c, peer):
    """A send that failed has passed nothing on, and no flag is lost by the one that succeeds."""
    with Robot(lab) as other:
        join(c, other)
        c("s.setblocking(False); v.setblocking(False)")
        filled = c("""
n = 0
try:
    while True:
        n += v.send(bytes(1024))
except BlockingIOError:
    pass
n""")
        with pytest.raises(BlockingIOError):
            c("socket.send_fds(v, [b'x'], [s.fileno()])")
        peer.sendall(b"mine")
        assert c("p = select.poll(); p.register(s, 1); p.poll(20000); s.recv(10)") == b"mine"
        other("while n: n -= len(v.recv(n))", n=filled)
        c("socket.send_fds(v, [b'x'], [s.fileno()]); s.close()")
        other("_, fds, _, _ = socket.recv_fds(v, 1, 4); fd = fds[0]")
        assert other("os.get_blocking(fd)") is False
        peer.sendall(b"hello")
        other("p = select.poll(); p.register(fd, 1); p.poll(20000)")
        assert other("os.read(fd, 100)") == b"hello"
        other("os.write(fd, b'world')")
        assert take(peer, 5) == b"world"


@pytest.mark.shows("sendmmsg SCM_RIGHTS of a connection", "recvmmsg SCM_RIGHTS of a listener")
def test_rights_in_many_messages(lab, c, accepted):
    """A connection and a listener, in two messages of one call each way."""
    many = """
data = ctypes.create_string_buffer(b'xy', 2)
controls = [ctypes.create_string_buffer(24) for _ in range(2)]
iovs = [(ctypes.c_uint64 * 2)(ctypes.addressof(data) + i, 1) for i in range(2)]
msgs = (ctypes.c_uint64 * 16)(*[w for i in range(2) for w in (
    0, 0, ctypes.addressof(iovs[i]), 1, ctypes.addressof(controls[i]), 24, 0, 0)])"""
    with Robot(lab) as other:
        join(c, other)
        c(many)
        c("""
for control, x in zip(controls, (s, listener)):
    control.raw = struct.pack('Qiii4x', 20, socket.SOL_SOCKET, socket.SCM_RIGHTS, x.fileno())""")
        assert c("call('sendmmsg', v.fileno(), msgs, 2, 0), msgs[7], msgs[15]") == (2, 1, 1)
        c("s.close(); listener.close()")
        other("libc = ctypes.CDLL(None)" + many)
        assert other("libc.recvmmsg(v.fileno(), msgs, 2, 0x100, None)") == 2
        other("fd, d = [struct.unpack('Qiii4x', x.raw)[3] for x in controls]")
        accepted.sendall(b"hello")
        assert other("os.read(fd, 100)") == b"hello"
        other("os.write(fd, b'world'); os.close(fd); listener = socket.socket(fileno=d)")
        assert take(accepted, 6) == b"world"
        other.tell("s, _ = listener.accept(); s.recv(5)")
        other.waits()
        with lab.connect(PORT) as peer:
            peer.sendall(b"again")
            assert other.result() == b"again"
        other("s.close(); listener.close()")


@pytest.mark.shows("sendmsg SCM_RIGHTS of an epoll instance with sockets", verdict="refused")
@pytest.mark.toehold_only
def test_epoll_by_scm_rights_is_refused(c, accepted):
    c("ep = select.epoll(); ep.register(s, select.EPOLLIN); u, v = socket.socketpair()")
    with pytest.raises(OSError, match="not supported"):
        c("socket.send_fds(u, [b'x'], [ep.fileno()])")
    assert c("ep.unregister(s); socket.send_fds(u, [b'x'], [ep.fileno()])") == 1


@pytest.mark.shows("sendmsg SCM_RIGHTS of a listener", "recvmsg SCM_RIGHTS of a listener")
def test_listener_by_scm_rights(lab, robot):
    with Robot(lab) as other:
        robot.listen(lab.ip, PORT)
        join(robot, other)
        robot("socket.send_fds(v, [b'x'], [listener.fileno()]); listener.close()")
        other("_, fds, _, _ = socket.recv_fds(v, 1, 4); listener = socket.socket(fileno=fds[0])")
        other.tell("s, _ = listener.accept(); s.recv(5)")
        other.sleeps()  # in accept(): from here on the TOE handles the call
        with lab.connect(PORT) as peer:
            peer.sendall(b"hello")
            assert other.result() == b"hello"
        other("s.close(); listener.close()")


ECHO = "import os; d = os.read(0, 100); os.write(1, b'<' + d + b'>')"


@pytest.mark.shows("wait", "wait3", "wait4", "waitpid", "waitid")
@pytest.mark.parametrize(
    "wait",
    [
        "call('wait', None)",
        "call('wait3', None, 0, None)",
        "call('wait4', pid, None, 0, None)",
        "call('waitpid', pid, None, 0)",
        "call('waitid', 1, pid, bytes(128), 4)",  # P_PID, WEXITED
    ],
)
def test_parent_that_keeps_the_connection_and_waits(c, peer, wait):
    c("import sys")
    c(
        """
pid = os.fork()
if not pid:
    os.dup2(s.fileno(), 0); os.dup2(s.fileno(), 1)
    os.execv(sys.executable, [sys.executable, '-c', e])""",
        e=ECHO,
    )
    c.tell(wait)
    peer.sendall(b"hello")
    assert take(peer, 7) == b"<hello>"
    assert c.result() >= 0
    peer.sendall(b"mine")
    assert c("s.recv(10)") == b"mine"
    c("s.send(b'end')")
    assert take(peer, 3) == b"end"


@pytest.mark.parametrize("how", ["subprocess", "fork", "posix_spawn", "posix_spawnp"])
@pytest.mark.shows(
    "posix_spawnp",
    "posix_spawn with a connection",
    "vfork with a connection",
    "execve in a child of fork",
)
def test_connection_inherited_by_a_program(c, peer, how):
    c("import subprocess, sys")
    if how == "subprocess":
        start = "pid = subprocess.Popen([sys.executable, '-c', e], stdin=s, stdout=s).pid"
    elif how == "fork":
        start = """
pid = os.fork()
if not pid:
    os.dup2(s.fileno(), 0); os.dup2(s.fileno(), 1)
    os.execv(sys.executable, [sys.executable, '-c', e])"""
    else:
        start = """
acts = [(os.POSIX_SPAWN_DUP2, s.fileno(), 0), (os.POSIX_SPAWN_DUP2, s.fileno(), 1)]
pid = os.HOW(sys.executable, [sys.executable, '-c', e], os.environ, file_actions=acts)"""
    c(start.replace("HOW", how), e=ECHO)
    c("s.close()")
    peer.sendall(b"hello")
    assert take(peer, 7) == b"<hello>"
    assert peer.recv(1) == b""
    c("os.waitpid(pid, 0)")


@pytest.mark.parametrize("how", ["vfork", "posix_spawn"])
@pytest.mark.shows("vfork", "posix_spawn")
def test_program_that_writes_and_reads_nothing(c, peer, how):
    """Its output arrives, however soon it exits and whatever the peer has sent."""
    peer.sendall(bytes(1 << 16))
    c("import subprocess")
    if how == "vfork":
        c("subprocess.run(['sh', '-c', 'echo hello'], stdin=s, stdout=s)")
    else:
        c("""
acts = [(os.POSIX_SPAWN_DUP2, s.fileno(), n) for n in (0, 1)]
os.waitpid(os.posix_spawn('/bin/echo', ['echo', 'hello'], os.environ, file_actions=acts), 0)""")
    assert take(peer, 6) == b"hello\n"


@pytest.mark.toehold_only
def test_listener_that_a_program_has_and_does_not_use(lab, c):
    """It uses no resource of toed for it and does not change the open file."""
    c.listen("", PORT)
    with lab.connect(PORT):
        c.accept()
    before = lab.queue_pairs(), c("fcntl.fcntl(listener, fcntl.F_GETFL)")
    c("""
import subprocess
p = subprocess.Popen(['cat'], pass_fds=[listener.fileno()], stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE)
p.stdin.write(b'x')
p.stdin.flush()
p.stdout.read(1)""")
    assert (lab.queue_pairs(), c("fcntl.fcntl(listener, fcntl.F_GETFL)")) == before
    c("p.stdin.close(); p.wait(20)")
    for _ in range(2):
        with lab.connect(PORT) as peer:
            assert tuple(c.accept()) == peer.getsockname()


SERVE = """
import os, select, socket
l = socket.socket(fileno=int(os.environ['FD']))
select.select([l], [], [], 0)
print('ready', flush=True)
s, _ = l.accept()
s.sendall(b'<' + s.recv(100) + b'>')
"""


@pytest.mark.parametrize("address", ["own", "any"])
@pytest.mark.shows("execve with a listener")
def test_listener_inherited_by_a_program(lab, c, address):
    c.listen(lab.ip if address == "own" else "", PORT)
    c("import subprocess, sys; os.environ['FD'] = str(listener.fileno())")
    c(
        "p = subprocess.Popen([sys.executable, '-c', e], pass_fds=[listener.fileno()],"
        " stdout=subprocess.PIPE); p.stdout.readline(); listener.close()",
        e=SERVE,
    )
    with lab.connect(PORT) as peer:
        peer.sendall(b"hello")
        assert take(peer, 7) == b"<hello>"
    assert c("p.wait(20)") == 0
