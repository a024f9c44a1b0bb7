# SPDX-License-Identifier: Apache-2.0
"""Connections that a process and its children both use, in every order."""

from __future__ import annotations

import socket
import sys

import pytest

from tests.lab.robot import take

# In the robot: child(code) forks one that runs the code, reads a byte and answers "go" to it, and
# ends; done() is its status.
CHILD = """
import subprocess
def child(code, **given):
    pid = os.fork()
    if not pid:
        status = 1
        try:
            exec(code, globals() | given)
            status = 0
        finally:
            os._exit(status)
    return pid
def done(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
def take(n):
    got = b''
    while len(got) < n and (more := s.recv(n - len(got))):
        got += more
    return got
"""


@pytest.fixture
def r(robot, peer):
    robot(CHILD)
    return robot


@pytest.mark.shows("fork: the child uses the connection, and the parent keeps it")
def test_child_reads_while_parent_writes(r, peer):
    """The order of rsync's client, and of git push."""
    r("pid = child('assert take(100000) == bytes(100000); s.sendall(b\"got\")')")
    r("s.sendall(b'x' * 50000)")
    peer.sendall(bytes(100000))
    assert sorted(take(peer, 50003)) == sorted(b"x" * 50000 + b"got")
    assert r("done(pid)") == 0


def test_parent_reads_while_child_writes(r, peer):
    r("pid = child('s.sendall(bytes(100000))')")
    peer.sendall(b"hello")
    assert r("take(5)") == b"hello"
    assert take(peer, 100000) == bytes(100000)
    assert r("done(pid)") == 0
    r("s.sendall(b'after')")
    assert take(peer, 5) == b"after"


def test_turns(r, peer):
    """Any process that reads gets the next bytes; unread bytes are not lost."""
    r("""
a, b = socket.socketpair()
pid = child('''
a.close()
while b.recv(1):
    b.sendall(take(3))
''')
b.close()""")
    peer.sendall(b"one2223334445556")
    assert r("a.sendall(b'.'); a.recv(3)") == b"one"
    assert r("take(3)") == b"222"
    assert r("a.sendall(b'.'); a.recv(3)") == b"333"
    assert r("take(3)") == b"444"
    assert r("a.sendall(b'.'); a.recv(3)") == b"555"
    r("a.close()")
    assert r("done(pid)") == 0
    assert r("take(1)") == b"6"
    peer.sendall(b"more")
    assert r("take(4)") == b"more"


@pytest.mark.shows("fork: the child ends without reading")
def test_child_that_reads_nothing(r, peer):
    """The child has polled for data, and the parent reads it."""
    peer.sendall(b"hello")
    assert r("done(child('select.select([s], [], [])'))") == 0
    assert r("take(5)") == b"hello"
    peer.sendall(b"world")
    assert r("take(5)") == b"world"


def test_child_that_does_nothing(r, peer):
    assert r("done(child('pass'))") == 0
    peer.sendall(b"hello")
    assert r("take(5)") == b"hello"
    r("s.close()")
    assert peer.recv(1) == b""


@pytest.mark.shows("fork: the parent closes the connection")
def test_parent_closes(r, peer):
    r("pid = child('assert take(5) == b\"hello\"; s.sendall(bytes(100000)); s.close()')")
    r("s.close()")
    peer.sendall(b"hello")
    assert take(peer, 100001) == bytes(100000)
    assert r("done(pid)") == 0


def test_parent_closes_later(r, peer):
    r("pid = child('s.sendall(take(5)); s.sendall(take(5))')")
    peer.sendall(b"hello")
    assert take(peer, 5) == b"hello"
    r("s.close()")
    peer.sendall(b"world")
    assert take(peer, 6) == b"world"
    assert r("done(pid)") == 0


def test_two_children_and_grandchildren(r, peer):
    does = "p = child('s.sendall(take(4))'); assert done(p) == 0; s.sendall(take(4))"
    r("first = child(does); second = child(does)", does=does)
    for n in range(4):
        peer.sendall(b"%04d" % n)
        assert take(peer, 4) == b"%04d" % n
    assert r("done(first), done(second)") == (0, 0)
    r("s.sendall(b'parent')")
    assert take(peer, 6) == b"parent"


def test_children_of_a_closed_parent(r, peer):
    """Both receive after the parent has closed its descriptor."""
    r("a, b = socket.socketpair()")
    r("pids = [child('a.recv(1); s.sendall(take(4))') for _ in 'ab']; s.close()")
    r("b.sendall(b'.')")
    peer.sendall(b"1111")
    assert take(peer, 4) == b"1111"
    r("b.sendall(b'.')")
    peer.sendall(b"2222")
    assert take(peer, 5) == b"2222"
    assert r("[done(p) for p in pids]") == [0, 0]


def test_blocked_parent(r, peer):
    """It sleeps in recv() when the child begins."""
    r("a, b = socket.socketpair(); got = []")
    r("pid = child('b.recv(1); select.select([s], [], [], 0); b.sendall(b\"x\")')")
    r("t = threading.Thread(target=lambda: got.append(take(5))); t.start()")
    r.threads_sleep(1)
    r("a.sendall(b'.'); a.recv(1)")
    peer.sendall(b"hello")
    r("t.join()")
    assert r("got") == [b"hello"]
    assert r("done(pid)") == 0


def test_parent_blocked_in_send(r, peer):
    """All data of its send() arrives, even if the child starts in the middle."""
    r("a, b = socket.socketpair()")
    r("pid = child('b.recv(1); s.getpeername(); select.select([s], [], [])')")
    r("t = threading.Thread(target=s.sendall, args=(bytes(20_000_000),)); t.start()")
    r("a.sendall(b'.')")
    assert take(peer, 20_000_000) == bytes(20_000_000)
    r("t.join()")
    peer.sendall(b"x")
    assert r("done(pid)") == 0


def test_parent_blocked_in_sendfile(r, peer, tmp_path):
    """Nor is anything of a file lost: sendfile() returns all that was asked for."""
    data = bytes(i * 7 % 251 for i in range(5_000_000))
    (tmp_path / "file").write_bytes(data)
    r("a, b = socket.socketpair(); sent = []; f = open(path, 'rb')", path=str(tmp_path / "file"))
    r("pid = child('b.recv(1); s.getpeername(); select.select([s], [], [])')")
    r("move = lambda: sent.append(os.sendfile(s.fileno(), f.fileno(), 0, 5_000_000))")
    r("t = threading.Thread(target=move); t.start()")
    r.threads_sleep(1)
    r("a.sendall(b'.')")
    assert take(peer, len(data)) == data
    r("t.join()")
    assert r("sent") == [len(data)]
    peer.sendall(b"x")
    assert r("done(pid)") == 0


@pytest.mark.parametrize("wait", ["poll", "select", "epoll"])
def test_waits(r, peer, wait):
    """Both wait for the connection with objects made before and after the fork."""
    r("""
def poll(): p = select.poll(); p.register(s, select.POLLIN); return lambda: p.poll()[0][0]
def epoll(): p = select.epoll(); p.register(s, select.EPOLLIN); return lambda: p.poll()[0][0]
def select_(): return lambda: select.select([s], [], [])[0][0].fileno()
""")
    name = {"select": "select_"}.get(wait, wait)
    r(f"wait = {name}()")
    does = "assert wait() == s.fileno(); s.sendall(take(5)); w = %s(); assert w() == s.fileno()"
    r("pid = child(does)", does=does % name + "; s.sendall(take(5))")
    for _ in range(2):
        peer.sendall(b"hello")
        assert take(peer, 5) == b"hello"
    assert r("done(pid)") == 0
    peer.sendall(b"again")
    assert r("assert wait() == s.fileno()\ntake(5)") == b"again"


def test_names_and_flags(r, peer):
    """The child can name the peer, and flags of the open file are shared."""
    r("""
def see():
    return (s.getpeername(), s.getsockname(), s.getsockopt(1, socket.SO_TYPE),
            s.getsockopt(1, socket.SO_DOMAIN), s.getsockopt(6, socket.TCP_NODELAY))
s.setsockopt(6, socket.TCP_NODELAY, 1)
before = see()
pid = child('''
assert see() == before
s.setblocking(False)
s.sendall(b"x")
assert see() == before
''')
""")
    assert r("done(pid)") == 0
    assert take(peer, 1) == b"x"
    assert r("before == see()")
    assert r("before[0]") == peer.getsockname()
    with pytest.raises(BlockingIOError):
        r("s.recv(1)")


def test_ends_of_the_stream(r, peer):
    r("pid = child('assert take(6) == b\"hello\"; s.shutdown(socket.SHUT_WR)')")
    peer.sendall(b"hello")
    peer.shutdown(socket.SHUT_WR)
    assert peer.recv(1) == b""
    assert r("done(pid)") == 0
    assert r("s.recv(1)") == b""


@pytest.mark.shows("fork: what the child executes has the connection on any number")
@pytest.mark.parametrize("how", ["fork", "posix_spawn", "subprocess"])
@pytest.mark.parametrize("library", [True, False])
def test_executed_program(r, peer, how, library):
    """The parent continues with it."""
    r("os.set_inheritable(s.fileno(), True)")
    r(
        "env = {k: v for k, v in os.environ.items() if library or k != 'LD_PRELOAD'}",
        library=library,
    )
    r(f"""
argv = ['bash', '-c', 'head -c 5 <&{{0}} >&{{0}}; echo done >&{{0}}'.format(s.fileno())]
if {how == "fork"}:
    pid = os.fork()
    if not pid:
        os.execve('/bin/bash', argv, env)
elif {how == "posix_spawn"}:
    pid = os.posix_spawn('/bin/bash', argv, env)
else:
    pid = subprocess.Popen(argv, env=env, close_fds=False).pid""")
    peer.sendall(b"hello")
    assert take(peer, 10) == b"hellodone\n"
    assert r("done(pid)") == 0
    peer.sendall(b"world")
    assert r("take(5)") == b"world"
    r("s.sendall(b'!')")
    assert take(peer, 1) == b"!"


def test_program_knows_the_peer(r, peer):
    r("os.set_inheritable(s.fileno(), True)")
    code = (
        "import socket, sys\ns = socket.socket(fileno=int(sys.argv[1]))\n"
        "assert s.family == socket.AF_INET and s.proto == 6\n"
        "s.sendall(b'%s %d.' % (s.getpeername()[0].encode(), s.getpeername()[1]))"
    )
    argv = [sys.executable, "-c", code]
    r("assert done(os.posix_spawn(argv[0], [*argv, str(s.fileno())], os.environ)) == 0", argv=argv)
    name = peer.getsockname()
    want = f"{name[0]} {name[1]}.".encode()
    assert take(peer, len(want)) == want


@pytest.mark.shows("SCM_RIGHTS: the sender goes on with the connection")
def test_passed_on_twice(r, peer):
    """To two processes, and the sender keeps using it."""
    r("""
code = '''
n, fds, _, _ = socket.recv_fds(b, 1, 1)
t = socket.socket(fileno=fds[0])
assert t.getpeername() == name
t.sendall(t.recv(4))
'''
pids = []
for _ in 'ab':
    a, b = socket.socketpair()
    keep, s = s, None
    pids.append((child(code, name=keep.getpeername()), a))
    s = keep
for _, a in pids:
    socket.send_fds(a, [b'x'], [s.fileno()])""")
    for n in range(2):
        peer.sendall(b"%04d" % n)
        assert take(peer, 4) == b"%04d" % n
    assert r("[done(p) for p, _ in pids]") == [0, 0]
    peer.sendall(b"self")
    assert r("take(4)") == b"self"


def test_many_forks(r, peer):
    """Each child answers; no state of it remains."""
    r("before = len(os.listdir('/proc/self/fd'))")
    for n in range(20):
        r("pid = child('s.sendall(take(4))')")
        peer.sendall(b"%04d" % n)
        assert take(peer, 4) == b"%04d" % n
        assert r("done(pid)") == 0
    assert r("len(os.listdir('/proc/self/fd')) - before") < 10


@pytest.mark.toehold_only
def test_parent_stays_on_the_toe(r, peer, lab):
    """A child that does not use the connection costs nothing: bytes take the direct path."""
    r("a, b = socket.socketpair(); pid = child('b.recv(1)')")
    r("flow = s.getsockopt(6, socket.TCP_INFO, 200)")
    peer.sendall(b"hello")
    assert r("take(5)") == b"hello"
    assert r("os.readlink(f'/proc/self/fd/{s.fileno()}') != ''")
    r("a.sendall(b'.')")
    assert r("done(pid)") == 0
    r("s.close()")
    assert peer.recv(1) == b""


@pytest.mark.toehold_only
def test_no_thread_can_be_made(lab, r, peer):
    """Then the child does not get the connection, and that is reported."""
    r("""
import resource
class Wanted(ctypes.Structure): pass
os.setgid(65534); os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))""")
    peer.sendall(b"hello")
    with pytest.raises(BlockingIOError):
        r("child('pass')")
    assert r("take(5)") == b"hello"
    assert "no thread can be made" in r.proc.text()


@pytest.mark.shows("fork: the parent ends before the child", "_exit", "_Exit")
@pytest.mark.parametrize("how", ["exit", "_exit", "_Exit"])
@pytest.mark.parametrize("asked", [True, False])
def test_parent_ends(lab, r, peer, asked, how):
    """The child's last bytes arrive too."""
    r("x, y = socket.socketpair()")
    does = "s.sendall(b'1'); " if asked else ""
    r("child(does)", does=f"{does}y.recv(1); s.sendall(take(5)); s.sendall(bytes(100000))")
    assert take(peer, 1 if asked else 0) == (b"1" if asked else b"")
    r("how = name", name=how)
    r.tell("s.sendall(b'bye'); os.write(x.fileno(), b'.'); getattr(ctypes.CDLL(None), how)(0)")
    assert take(peer, 3) == b"bye"
    peer.sendall(b"hello")
    assert take(peer, 100006) == b"hello" + bytes(100000)


@pytest.mark.shows("execve in a process whose children use its connection")
@pytest.mark.parametrize("asked", [True, False])
def test_parent_executes(r, peer, asked):
    """A server that executes itself, while a child is at work (sshd at SIGHUP)."""
    r("x, y = socket.socketpair()")
    does = "s.sendall(b'1'); " if asked else ""
    r("child(does)", does=f"{does}y.recv(1); s.sendall(take(5)); s.sendall(bytes(100000))")
    assert take(peer, 1 if asked else 0) == (b"1" if asked else b"")
    r("os.set_inheritable(s.fileno(), True)")
    program = (
        "import socket, sys\ns = socket.socket(fileno=int(sys.argv[1]))\n"
        "s.sendall(b'bye'); s.close(); sys.stdin.close()"
    )
    argv = [sys.executable, "-c", program]
    r.tell("os.write(x.fileno(), b'.'); os.execv(argv[0], [*argv, str(s.fileno())])", argv=argv)
    assert take(peer, 3) == b"bye"
    peer.sendall(b"hello")
    assert take(peer, 100006) == b"hello" + bytes(100000)


def test_passed_to_itself(r, peer):
    """By SCM_RIGHTS: two numbers of one connection."""
    r("a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [s.fileno()])")
    r("t = socket.socket(fileno=socket.recv_fds(b, 1, 1)[1][0])")
    peer.sendall(b"hello world")
    assert r("t.recv(5) + take(6)") == b"hello world"
    r("s.sendall(b'one'); s.close(); t.sendall(b'two'); t.close()")
    assert take(peer, 7) == b"onetwo"


def test_program_reads_while_nobody_takes_what_is_sent(r, peer):
    """A child has filled the path to the peer; the program it executes can still read."""
    r("os.set_inheritable(s.fileno(), True)")
    program = (
        "import socket, sys\ns = socket.socket(fileno=int(sys.argv[1]))\n"
        "s.setblocking(True); sys.stdout.write('got ' + s.recv(5).decode()); sys.stdout.flush()"
    )
    does = (
        "s.setblocking(False)\ntry:\n while True: s.send(bytes(65536)); time.sleep(0.001)\n"
        "except BlockingIOError: os.execv(argv[0], argv)"
    )
    argv = [sys.executable, "-c", program]
    r("pid = child(does, argv=[*argv, str(s.fileno())])", does=does, argv=argv)
    peer.sendall(b"hello")
    assert r("done(pid)") == 0
    assert "got hello" in r.proc.text()
    r("s.close()")
    while peer.recv(1 << 20):
        pass
