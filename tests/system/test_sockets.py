# SPDX-License-Identifier: Apache-2.0
"""The socket calls, one by one: a process under the TOE against sockets of the Linux peer.

Each test is a dialogue of two ends: `robot` is the process under test, `peer` a socket of
the test's own.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import threading
import time

import pytest

from tests.lab import lab as labs
from tests.lab.robot import PORT, Robot, take

# ---- connecting


@pytest.mark.shows("getsockname", "getpeername")
def test_names_of_a_connection(lab, robot, connected):
    assert robot("s.getpeername()") == (lab.peer_ip, PORT)
    assert robot("s.getsockname()") == connected.getpeername()
    assert connected.getpeername()[0] == lab.ip


def test_names_of_an_accepted_connection(lab, robot, accepted):
    assert robot("s.getpeername()") == accepted.getsockname()
    assert robot("s.getsockname()") == (lab.ip, PORT)
    assert robot("listener.getsockname()") == (lab.ip, PORT)


@pytest.mark.shows("connect O_NONBLOCK")
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


@pytest.mark.shows("connect ECONNREFUSED")
def test_connect_refused(lab, robot):
    with pytest.raises(ConnectionRefusedError):
        robot("socket.create_connection(at)", at=(lab.peer_ip, PORT + 1))


@pytest.mark.shows("getsockopt SO_ERROR")
def test_non_blocking_connect_refused(lab, robot):
    robot("s = socket.socket(); s.setblocking(False)")
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT + 1)) == errno.EINPROGRESS
    [(_, events)] = robot("p = select.poll(); p.register(s, select.POLLOUT); p.poll(20000)")
    assert events & (select.POLLERR | select.POLLHUP) == select.POLLERR | select.POLLHUP
    assert robot("s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)") == errno.ECONNREFUSED
    assert robot("s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)") == 0


@pytest.mark.shows("connect after a refusal")
def test_connect_again_after_refused(lab, robot, peer_listener):
    robot("s = socket.socket()")
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT + 1)) == errno.ECONNREFUSED
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT)) == 0
    peer_listener.accept()[0].close()


@pytest.mark.shows("connect EHOSTUNREACH")
def test_connect_to_an_absent_host(lab, robot):
    with pytest.raises(OSError, match="No route to host"):
        robot("socket.create_connection(at)", at=("10.77.0.99", PORT))


def test_connect_off_the_network(lab, robot):
    with pytest.raises(OSError, match="Network is unreachable"):
        robot("socket.create_connection(at)", at=("192.0.2.1", PORT))


@pytest.mark.shows("connect EISCONN")
def test_connect_twice(lab, robot, connected):
    assert robot("s.connect_ex(at)", at=(lab.peer_ip, PORT)) == errno.EISCONN


@pytest.mark.shows("send before connect", "recv before connect")
def test_calls_on_an_unconnected_socket(lab, robot):
    robot("s = socket.socket()")
    for call in ("s.recv(1)", "s.getpeername()", "s.shutdown(socket.SHUT_WR)"):
        with pytest.raises(OSError, match="not connected"):
            robot(call)
    with pytest.raises(BrokenPipeError):
        robot("s.send(b'x')")
    with pytest.raises(OSError, match="Invalid argument"):
        robot("s.accept()")


@pytest.mark.shows("bind before connect")
def test_connect_from_a_chosen_port(lab, robot, peer_listener):
    robot("s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
    robot("s.bind((ip, 11678)); s.connect(at)", ip=lab.ip, at=(lab.peer_ip, PORT))
    peer, at = peer_listener.accept()
    assert at == (lab.ip, 11678)
    peer.close()


# ---- listening


@pytest.mark.shows("listen without bind")
def test_listen_on_any_free_port(lab, robot):
    port = robot.listen(lab.ip, 0)
    assert port > 0
    with lab.connect(port) as peer:
        robot.accept()
        robot("s.send(b'hello')")
        assert peer.recv(5) == b"hello"


@pytest.mark.shows("bind EADDRINUSE")
def test_port_in_use(lab, robot):
    robot.listen(lab.ip, PORT)
    with Robot(lab) as other, pytest.raises(OSError, match="Address already in use"):
        other("s = socket.socket(); s.bind(at); s.listen()", at=(lab.ip, PORT))
    # It has not disturbed the first.
    with lab.connect(PORT):
        robot.accept()


@pytest.mark.shows("bind EADDRNOTAVAIL")
def test_bind_to_an_address_of_nobody(lab, robot):
    with pytest.raises(OSError, match="assign requested address"):
        robot("s = socket.socket(); s.bind(at); s.listen()", at=("10.77.0.99", PORT))


@pytest.mark.shows("listen backlog")
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
    """More clients than the backlog: those above it wait, and are served as room appears."""
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


@pytest.mark.shows("accept of a closed connection")
def test_closed_before_accept(lab, robot):
    """Data from a client that sent and closed immediately is there for a later accept."""
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


@pytest.mark.shows("accept EAGAIN")
def test_accept_without_a_client(lab, robot):
    robot.listen(lab.ip, PORT)
    robot("listener.setblocking(False)")
    with pytest.raises(BlockingIOError):
        robot("listener.accept()")
    with pytest.raises(TimeoutError):
        robot("listener.settimeout(0.1); listener.accept()")


@pytest.mark.shows("bind to any address")
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


@pytest.mark.shows("bind to any address of IPv6")
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


# ---- options and descriptors


@pytest.mark.shows(
    "setsockopt SO_KEEPALIVE",
    "setsockopt TCP_NODELAY",
    "setsockopt TCP_KEEPIDLE",
    "setsockopt TCP_KEEPINTVL",
    "setsockopt TCP_KEEPCNT",
    "getsockopt SO_TYPE",
    "getsockopt SO_PROTOCOL",
    "getsockopt SO_DOMAIN",
    "getsockopt TCP_MAXSEG",
)
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


@pytest.mark.shows("getsockopt SO_ACCEPTCONN")
def test_listener_says_so(lab, robot):
    robot.listen(lab.ip, PORT)
    assert robot("listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)") == 1


@pytest.mark.shows("setsockopt TCP_CORK")
def test_cork_holds_back_until_uncorked(robot, peer):
    robot("s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1); s.send(b'ab'); s.send(b'cd')")
    robot("s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)")
    assert take(peer, 4) == b"abcd"


@pytest.mark.shows("dup", "dup2")
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


@pytest.mark.shows("fcntl F_SETFL O_NONBLOCK")
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


# ---- TCP_DEFER_ACCEPT


DEFER = "listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, seconds)"


@labs.gateware_lacks("no-options-of-listeners")
@pytest.mark.shows("setsockopt TCP_DEFER_ACCEPT")
def test_deferred_accept_comes_with_data(lab, robot):
    robot.listen(lab.ip, PORT)
    robot(DEFER, seconds=30)
    robot("p = select.poll(); p.register(listener, select.POLLIN); listener.setblocking(False)")
    with lab.connect(PORT) as peer:
        assert robot("p.poll(500)") == []
        with pytest.raises(BlockingIOError):
            robot("listener.accept()")
        peer.sendall(b"hello")
        assert robot("len(p.poll(20000))") == 1
        robot("listener.setblocking(True)")
        assert tuple(robot.accept()) == peer.getsockname()
        assert robot("s.recv(10)") == b"hello"
        robot("s.send(b'world')")
        assert take(peer, 5) == b"world"


def test_deferred_accept_comes_with_the_end(lab, robot):
    """A peer that sends nothing and closes is accepted too."""
    robot.listen(lab.ip, PORT)
    robot(DEFER, seconds=30)
    with lab.connect(PORT) as peer:
        peer.shutdown(socket.SHUT_WR)
        robot.accept()
        assert robot("s.recv(10)") == b""


@labs.gateware_lacks("no-options-of-listeners")
@pytest.mark.shows("setsockopt TCP_DEFER_ACCEPT")
def test_deferred_accept_has_a_limit(lab, robot):
    """After the timeout, in steps of the SYN-ACK timer, a silent client is accepted too."""
    robot.listen(lab.ip, PORT)
    robot(DEFER, seconds=2)
    with lab.connect(PORT) as peer:
        robot.tell("s, _ = listener.accept(); s.send(b'you first')")
        assert robot.waits()
        robot.result()
        assert take(peer, 9) == b"you first"


@pytest.mark.shows("getsockopt TCP_DEFER_ACCEPT")
def test_deferred_accept_is_rounded(lab, robot):
    robot.listen(lab.ip, PORT)
    for seconds, got in ((0, 0), (1, 1), (2, 3), (5, 7), (10, 15), (100, 127), (400, 487)):
        robot(DEFER, seconds=seconds)
        asked = robot("listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT)")
        assert asked == got, seconds
    with lab.connect(PORT):
        robot(DEFER, seconds=0)


# ---- connections not yet accepted, and other listeners of the port

_SERVE = """
pid = os.fork()
if pid == 0:
    for n in range(count):
        if n == 1:
            os.read(begin, 1)
        s, _ = listener.accept()
        s.sendall(s.recv(100) + b" by a child")
        s.close()
    os._exit(0)
"""


@labs.gateware_lacks("no-moves")
def test_what_came_before_the_fork_is_the_childs(lab, robot):
    """A master that listens, and a client that connects before the first worker exists."""
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as first:
        first.sendall(b"early")
        robot("begin, go = os.pipe(); os.write(go, b'x')")
        robot(_SERVE, count=2)
        with lab.connect(PORT) as second:
            second.sendall(b"late")
            assert take(first, 100) == b"early by a child"
            assert take(second, 100) == b"late by a child"
    robot("os.waitpid(pid, 0); listener.close()")


_MASTER = """
begin, go = os.pipe()
ready, say = os.pipe()
master = os.fork()
if master == 0:
    if os.fork() == 0:
        os.write(say, b'x')
        os.read(begin, 1)
        s, _ = listener.accept()
        s.sendall(s.recv(100) + b" by a child")
        s.close()
        os._exit(0)
    os.wait()
    os._exit(0)
os.read(ready, 1)
listener.close()
"""


@labs.gateware_lacks("no-moves")
def test_what_came_while_nobody_accepted_is_the_first_workers(lab, robot):
    """A daemon's master, whose parent has exited: it has the listener from a fork, and so has its
    worker. Clients are connected and wait."""
    robot.listen(lab.ip, PORT)
    robot(_MASTER)
    with lab.connect(PORT) as one, lab.connect(PORT) as two:
        one.sendall(b"hello")
        robot("os.write(go, b'x')")
        assert take(one, 100) == b"hello by a child"
        two.settimeout(labs.proc.seconds(20))
        with pytest.raises(ConnectionResetError):  # no process is left to accept
            two.recv(1)
    robot("os.waitpid(master, 0)")


_WORKER = """
import os, socket, sys
at = int(sys.argv[1])
if sys.argv[2] == "passed":
    at = socket.recv_fds(socket.socket(fileno=at), 1, 1)[1][0]
listener = socket.socket(fileno=at)
while True:
    s, _ = listener.accept()
    s.sendall(s.recv(100) + b" by a worker")
    s.close()
"""
_GIVES = """
import subprocess
mine, its = socket.socketpair()
listener.set_inheritable(True)
given = its if how == "passed" else listener
argv = [python, "-c", worker, str(given.fileno()), how]
if how == "spawned":
    pid = os.posix_spawn(python, argv, os.environ)
elif how == "inherited":
    pid = subprocess.Popen(argv, close_fds=False).pid
else:
    pid = subprocess.Popen(argv, pass_fds=[given.fileno()]).pid
if how == "passed":
    socket.send_fds(mine, [b"x"], [listener.fileno()])
"""


@labs.gateware_lacks("no-moves")
@pytest.mark.parametrize("how", ["spawned", "inherited", "named", "passed"])
def test_who_gives_its_listener_away_takes_none_of_what_comes(lab, robot, how):
    """To a program started by vfork() or posix_spawn(), or by SCM_RIGHTS; and it keeps its own."""
    robot.listen(lab.ip, PORT)
    robot(_GIVES, how=how, worker=_WORKER, python=labs.PYTHON)
    for n in range(24):
        with lab.connect(PORT) as s:
            s.sendall(b"%d" % n)
            assert take(s, 100) == b"%d by a worker" % n
    robot("os.kill(pid, 9); os.waitpid(pid, 0); listener.close()")


_LOOKS = """
import os, socket, sys
listener = socket.socket(fileno=int(sys.argv[1]))
listener.getsockname()
os.write(int(sys.argv[3]), b'x')
os.read(int(sys.argv[2]), 1)
s, _ = listener.accept()
s.sendall(s.recv(100) + b' by another program')
"""
_GIVE = """
begin, go = os.pipe()
ready, say = os.pipe()
fds = listener.fileno(), begin, say
pid = os.fork()
if pid == 0:
    for fd in fds:
        os.set_inheritable(fd, True)
    os.execv(python, [python, "-c", looks, *map(str, fds)])
os.read(ready, 1)
listener.close()
"""


@labs.gateware_lacks("no-moves")
def test_a_program_that_has_looked_at_its_listener_keeps_the_port_open(lab, robot):
    """It reads the name of its inherited socket; it accepts when the parent has exited."""
    robot.listen(lab.ip, PORT)
    robot(_GIVE, looks=_LOOKS, python=labs.PYTHON)
    with lab.connect(PORT) as s:
        s.sendall(b"hello")
        robot("os.write(go, b'x')")
        assert take(s, 100) == b"hello by another program"
    robot("os.waitpid(pid, 0)")


@labs.gateware_lacks("no-moves")
@pytest.mark.parametrize("how", ["close", "kill"])
def test_what_a_process_leaves_in_its_queue_is_the_others(lab, robot, how):
    """Two accept from one port; one leaves connections unaccepted, by close() or killed."""
    robot.listen(lab.ip, PORT)
    robot("begin, go = os.pipe()")
    robot(_SERVE, count=31)
    with lab.connect(PORT) as s:
        s.sendall(b"first")
        assert take(s, 100) == b"first by a child"
    with pytest.raises(BlockingIOError):
        robot("listener.setblocking(False); listener.accept()")  # it accepts too from now on
    with labs.closing_all() as clients:
        for n in range(30):
            clients.append(lab.connect(PORT))
            clients[-1].sendall(b"%d" % n)
        if how == "close":
            robot("listener.close(); os.write(go, b'x')")
        else:
            robot("os.write(go, b'x')")
            os.kill(robot.pid, signal.SIGKILL)
        for n, s in enumerate(clients):
            assert take(s, 100) == b"%d by a child" % n


_EXECUTE = """
pid = os.fork()
if pid == 0:
    code = "import os, socket; os.environ.clear()\\n"
    code += "s, _ = socket.socket(fileno=%d).accept(); s.sendall(b'anew')"
    os.set_inheritable(listener.fileno(), True)
    os.execve(python, [python, "-c", code % listener.fileno()], {"TZ": "UTC"})
"""


@labs.gateware_lacks("no-moves")
def test_a_program_with_a_cleaned_environment_serves_the_listener_it_is_given(lab, robot):
    """As nginx starts its new binary, with only the variables that it is configured to keep; the
    new one clears its own too."""
    robot.listen(lab.ip, PORT)
    robot(_EXECUTE, python=labs.PYTHON)
    with lab.connect(PORT, timeout=20) as s:
        assert take(s, 100) == b"anew"
    robot("os.waitpid(pid, 0); listener.close()")


def test_a_program_that_cleans_its_environment_first(lab, robot):
    robot("os.environ.clear()")
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as s:
        robot.accept()
        s.sendall(b"hello")
        assert robot("s.recv(10)") == b"hello"
    robot("s.close(); listener.close()")
