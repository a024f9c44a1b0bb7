# SPDX-License-Identifier: Apache-2.0
"""Applications and toed end, in order or not: no process hangs, no state remains."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import time

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, paths, proc
from tests.lab.robot import Robot

PORT = 7000
HELD = 100
TICKS = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def robot(lab):
    with Robot(lab) as r:
        yield r


def ended_within(s: socket.socket, seconds: float) -> None:
    """The peer sees FIN or RST, after the data still in flight."""
    s.settimeout(proc.seconds(seconds))
    try:
        while s.recv(65536):
            pass
    except ConnectionResetError:
        pass


# ---- an application dies


@pytest.mark.sanitize
def test_killed_program_ends_its_connections(lab, robot):
    robot.listen(lab.ip, PORT, backlog=HELD)
    with labs.closing_all() as sockets:
        for _ in range(HELD):
            sockets.append(lab.connect(PORT))
        # Half of them are accepted, the rest wait in the backlog; some have data unread or unsent.
        robot("for _ in range(50): kept.append(listener.accept()[0])")
        for s in sockets[:20]:
            s.sendall(b"never read")
        robot("for c in kept[:20]: c.setblocking(False); c.send(bytes(60000))")
        if lab.toed:
            assert lab.usage("flows") == HELD
        robot.proc.kill()
        for s in sockets:
            ended_within(s, 5)
    lab.wait_idle()
    with pytest.raises(ConnectionRefusedError):
        lab.connect(PORT)


def test_killed_program_with_half_closed_connections(lab, robot):
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer_closed, lab.connect(PORT) as we_closed:
        robot("kept.append(listener.accept()[0]); kept.append(listener.accept()[0])")
        peer_closed.shutdown(socket.SHUT_WR)
        robot(
            "[c.shutdown(socket.SHUT_WR) for c in kept if c.getpeername() == at]",
            at=we_closed.getsockname(),
        )
        assert we_closed.recv(1) == b""
        robot.proc.kill()
        ended_within(peer_closed, 5)
        if not labs.LINUX:  # Linux leaves it in FIN-WAIT-2, where only sending finds out
            proc.wait_until(lambda: failing(we_closed), "a reset")
    lab.wait_idle()


def failing(s: socket.socket) -> bool:
    try:
        s.send(b"x")
    except OSError:
        return True
    return False


def test_killed_program_while_connecting(lab, robot):
    robot("s = socket.socket(); s.setblocking(False); s.connect_ex(at)", at=("10.77.0.99", 1))
    robot.proc.kill()
    lab.wait_idle()


def test_killed_nginx(lab, tmp_path):
    with nginx.start(lab, tmp_path, workers=2) as server, labs.closing_all() as sockets:
        for _ in range(HELD):
            http = nginx.Http(lab)
            sockets.append(http.sock)
            assert http.get("/hello") == b"hello\n"
        server.kill()
        for s in sockets:
            ended_within(s, 5)
    lab.wait_idle()
    # The port is free at once.
    with nginx.start(lab, tmp_path, workers=2):
        assert nginx.get(lab, "/hello") == b"hello\n"


def test_killed_in_the_middle_of_a_transfer(lab, tmp_path):
    with nginx.start(lab, tmp_path) as server:
        nginx.make_file(tmp_path / "files/large", 50_000_000)
        with nginx.Http(lab) as http:
            response = http.start("GET", "/large")
            response.read(1_000_000)
            server.kill()
            ended_within(http.sock, 5)
    lab.wait_idle()


# ---- toed dies


@contextlib.contextmanager
def silent(lab: labs.Lab):
    """An address of the peer that answers no SYN, for minutes: its accept queue is full."""
    with lab.client.socket() as full:
        full.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        full.bind((lab.peer_ip, PORT + 1))
        full.listen(0)
        with lab.client.connect(lab.peer_ip, PORT + 1):
            yield full.getsockname()


@pytest.mark.toehold_only
def test_killed_toed_resets_every_connection(lab, robot):
    """Every blocking call returns; accept() continues when toed runs again."""
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT), lab.connect(PORT), lab.connect(PORT), silent(lab) as at:
        robot.accept("a")
        robot.accept("b")
        robot.accept("f")
        robot(
            """
import tempfile
outcome = {}
def note(name, call):
    def work():
        try:
            outcome[name] = call()
        except OSError as e:
            outcome[name] = e.errno
    t = threading.Thread(target=work, daemon=True)
    t.start()
    return t
def send_all():
    while True:
        b.send(bytes(65536))
def send_file():
    while True:
        with open('/dev/zero', 'rb') as zero, tempfile.TemporaryFile() as file:
            file.write(zero.read(1 << 20)); file.flush()
            os.sendfile(f.fileno(), file.fileno(), 0, 1 << 20)
ep = select.epoll(); ep.register(a, select.EPOLLIN)
c = socket.socket(); c.setblocking(False); c.connect_ex(at); c.settimeout(None)
p = select.poll(); p.register(c, select.POLLOUT)
d = socket.socket()
threads = [note('recv', lambda: a.recv(1)), note('epoll', lambda: ep.poll()),
           note('send', send_all), note('poll', lambda: p.poll()),
           note('select', lambda: select.select([a], [], [])), note('sendfile', send_file),
           note('connect', lambda: d.connect(at))]
accepting = note('accept', lambda: listener.accept()[0].recv(5))
""",
            at=at,
        )
        # These wait; send() and sendfile() may still be filling a buffer.
        robot.threads_sleep(6)
        lab.toed.kill()
        robot("[t.join(10) for t in threads]", timeout=60)
        robot("outcome['select'] = [x.fileno() for x in outcome['select'][0]]")
        outcome = robot("outcome")
        assert outcome["recv"] == errno.ECONNRESET
        assert outcome["send"] in (errno.ECONNRESET, errno.EPIPE)
        assert outcome["sendfile"] in (errno.ECONNRESET, errno.EPIPE)
        assert outcome["connect"] == errno.ECONNRESET
        assert outcome["select"] == [robot("a.fileno()")]
        assert "accept" not in outcome
        [(_, events)] = outcome["epoll"]
        assert events & (select.EPOLLERR | select.EPOLLHUP)
        [(_, events)] = outcome["poll"]
        assert events & (select.POLLERR | select.POLLHUP)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            robot("a.send(b'x'); a.send(b'x')")
        robot("[x.close() for x in (a, b, c, d, f)]")
        # The listener serves again when toed does.
        lab.toed.start()
        with reconnect(lab, PORT) as s:
            s.sendall(b"hello")
            robot("accepting.join(20)")
            assert robot("outcome['accept']") == b"hello"


def reconnect(lab: labs.Lab, port: int) -> socket.socket:
    """A connection to a server whose toed has just been started again."""

    def attempt():
        try:
            return lab.connect(port, timeout=2)
        except OSError:
            return None

    return proc.wait_until(attempt, "a connection", timeout=20)


@pytest.mark.toehold_only
def test_nginx_serves_again_after_a_restart_of_toed(lab, tmp_path):
    with nginx.start(lab, tmp_path, workers=2) as server:
        workers = server.children()
        for end in (lab.toed.kill, lab.toed.stop, lab.toed.kill):
            with nginx.Http(lab) as http:
                assert http.get("/hello") == b"hello\n"
            end()
            lab.toed.start()
            proc.wait_until(lambda: set(workers) <= lab.listening(), "nginx's workers listen again")
            served = {nginx.get(lab, "/pid") for _ in range(50)}
            assert {int(pid) for pid in served} <= set(workers)
            assert len(served) == 2
        assert server.children() == workers


@pytest.mark.toehold_only
def test_clients_end_when_toed_is_killed(lab, tmp_path):
    """curl, redis-benchmark and iperf3 in the middle of their work fail; they do not hang."""
    files = tmp_path / "files"
    with nginx.start_on_peer(lab, tmp_path):
        nginx.make_file(files / "large", 50_000_000)
        slowly = ["curl", "-sS", "--limit-rate", "1M", "-o", "/dev/null"]
        with lab.app([*slowly, f"http://{lab.peer_ip}/large"]) as curl:
            proc.wait_until(lambda: lab.usage("flows") == 1, "a connection", proc=curl)
            lab.toed.kill()
            assert curl.wait(10) != 0
        lab.toed.start()
    with lab.peer(["iperf3", "-s", "-B", lab.peer_ip, "--forceflush"], says="listening"):
        with lab.app(["iperf3", "-c", lab.peer_ip, "-t", 30]) as iperf3:
            proc.wait_until(lambda: lab.usage("flows") == 2, "a test", proc=iperf3)
            lab.toed.kill()
            assert iperf3.wait(10) != 0
        lab.toed.start()


@pytest.mark.toehold_only
@pytest.mark.sanitize
def test_stopped_toed_says_goodbye(lab, robot):
    """SIGTERM: peers are reset, the socket's path is removed, the interface is restored."""
    robot.listen(lab.ip, PORT)
    for number in (signal.SIGTERM, signal.SIGINT):
        # libtoe has no thread: it attaches to a new toed within the program's calls.
        robot.tell("s, _ = listener.accept()")
        with reconnect(lab, PORT) as peer:
            robot.result()
            lab.toed.proc.send_signal(number)
            assert lab.toed.proc.wait(10) == 0, lab.toed.proc.tail()
            with pytest.raises(ConnectionResetError):
                peer.recv(1)
            with pytest.raises(ConnectionResetError):
                robot("s.recv(1)")
        assert not lab.toed.socket.exists()
        link = lab.server.run(["ip", "-d", "link", "show", lab.pair.server_if]).stdout
        assert "xdp" not in link
        lab.toed.start()


@pytest.mark.toehold_only
def test_toed_starts_again_at_once(make_lab):
    """Remains of a kill (the path, the kernel's AF_XDP queue) do not block a restart."""
    lab = make_lab()
    for n in range(6):
        (lab.toed.kill, lab.toed.stop)[n % 2]()
        lab.toed.start()
        # (The first reply may be lost: the new toed has not resolved the client yet.)
        lab.client.run(["ping", "-c3", "-i0.2", "-w30", lab.ip])


@pytest.mark.toehold_only
def test_second_toed_on_an_interface_is_refused(lab, robot, tmp_path):
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer:
        robot.accept()
        argv = [paths.built("toed"), "--netif", lab.toed.netif, "--ip", "10.77.0.9/24"]
        done = lab.server.run([*argv, "--socket", tmp_path / "other.sock"], check=False)
        assert done.returncode not in (0, 2)
        assert lab.pair.server_if in done.stderr
        assert not (tmp_path / "other.sock").exists()
        # One on the same socket path is rejected too, and does not remove the path.
        argv = [paths.built("toed"), "--netif", "tap:tap9", "--ip", "10.78.0.9/24"]
        done = lab.server.run([*argv, "--socket", lab.toed.socket], check=False)
        assert done.returncode not in (0, 2)
        assert str(lab.toed.socket) in done.stderr
        # The first has not noticed.
        peer.sendall(b"hello")
        assert robot("s.recv(5)") == b"hello"
        assert lab.usage("flows") == 1


# ---- nothing to do


@pytest.mark.toehold_only
def test_idle_costs_next_to_nothing(make_lab, tmp_path):
    """100 idle connections: toed and nginx use under 1% of a core."""
    lab = make_lab()
    with nginx.start(lab, tmp_path) as server, labs.closing_all() as sockets:
        for _ in range(100):
            http = nginx.Http(lab)
            sockets.append(http.sock)
            assert http.get("/hello") == b"hello\n"
        idle = {"toed": lab.toed.proc.pid, "nginx": server.children()[0]}
        time.sleep(1)  # busy polling and delayed ACKs end
        seconds = 5
        before = {name: labs.cpu_ticks(pid) for name, pid in idle.items()}
        time.sleep(seconds)
        for name, pid in idle.items():
            used = labs.cpu_ticks(pid) - before[name]
            assert used < seconds * TICKS * 0.01, f"{name} used {used} ticks in {seconds} s"
        for s in sockets:
            s.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
            assert s.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.toehold_only
@pytest.mark.parametrize("mode", ["af_xdp", "tap"])
def test_interface_down_and_up_and_gone(make_lab, mode):
    """Connections survive an interface that is down; a removed one ends toed, with a message."""
    lab = make_lab(mode=mode)
    interface = {"af_xdp": lab.pair.server_if, "tap": "tap0"}[mode]
    with Robot(lab) as robot, labs.closing_all() as sockets:
        robot.listen(lab.ip, PORT)
        s = lab.connect(PORT)
        sockets.append(s)
        robot.accept()
        lab.server.run(["ip", "link", "set", interface, "down"])
        proc.wait_until(lambda: "the interface is down" in lab.toed.proc.text(), "it says so")
        robot("s.send(b'through')")
        lab.server.run(["ip", "link", "set", interface, "up"])
        proc.wait_until(lambda: "up again" in lab.toed.proc.text(), "it says so")
        assert s.recv(7) == b"through"
        lab.server.run(["ip", "link", "delete", interface])
        assert lab.toed.proc.wait(10) == 1
        assert "the interface is gone" in lab.toed.proc.text()
        with pytest.raises(ConnectionResetError):
            robot("s.recv(1)")
        lab.toed.kill()  # it has ended, and not with 0
