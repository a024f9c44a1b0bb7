# SPDX-License-Identifier: Apache-2.0
"""A new toed takes over from the running one (docs/UPGRADE.md): programs and peers do not notice.
In Linux mode there is no take-over; the same is expected of the connections."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import select
import signal
import socket
import ssl
import struct
import threading
import time
import traceback
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, paths, proc
from tests.lab.flow import Flow
from tests.lab.robot import PORT, Robot, take

MB = 1_000_000
POLL = "7 "  # the number of poll() in /proc/PID/syscall (x86-64)


def upgrade(lab: labs.Lab) -> None:
    if lab.toed:
        said = lab.toed.take_over()
        assert "taken over from pid" in said


def resets(lab: labs.Lab) -> int:
    """RSTs that the peer's kernel has received or sent."""
    out = lab.client.run(
        ["nstat", "-asz", "TcpEstabResets", "TcpOutRsts", "TcpAttemptFails"]
    ).stdout
    return sum(int(n) for n in re.findall(r"^Tcp\w+\s+(\d+)", out, re.M))


# ---- programs


class Load:
    """Clients that send requests continuously, over kept connections and over new ones."""

    def __init__(self, lab: labs.Lab, keep: int = 4, fresh: int = 2):
        self.asked = 0
        self.failed: list[str] = []
        self._lab, self._end = lab, threading.Event()
        kinds = [self._keep] * keep + [self._fresh] * fresh
        self._threads = [threading.Thread(target=self._run, args=[kind]) for kind in kinds]

    def _run(self, ask) -> None:
        try:
            ask()
        except BaseException as e:  # for any error, a request has failed
            self.failed.append(f"{ask.__name__[1:]}: {''.join(traceback.format_exception(e))}")
            if not isinstance(e, TimeoutError):  # whose message has the report already
                self.failed.append(self._lab.report())

    def _keep(self) -> None:
        with nginx.Http(self._lab) as web:
            while not self._end.is_set():
                assert web.get("/hello") == b"hello\n"
                self.asked += 1

    def _fresh(self) -> None:
        while not self._end.is_set():
            assert nginx.get(self._lab, "/hello") == b"hello\n"
            self.asked += 1

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def check(self) -> None:
        """No request has failed."""
        if self.failed:
            raise proc.Failed("\n".join([f"after {self.asked} requests", *self.failed]))


def load_through_upgrades(lab: labs.Lab, folder, count: int = 3) -> None:
    with nginx.start(lab, folder, workers=2), Load(lab) as load:
        for _ in range(count):
            before = load.asked
            upgrade(lab)
            proc.wait_until(lambda least=before: load.asked > least + 50 or load.failed, "requests")
    load.check()


@pytest.mark.sanitize
def test_web_server_under_load(lab, tmp_path):
    """Three upgrades in a row, and not one request has failed."""
    load_through_upgrades(lab, tmp_path)


def test_tls(lab, tmp_path):
    """One record number wrong, and the session is over."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=x", "-days", "2", "-keyout", key, "-out", cert]
    proc.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject])
    more = f"listen {lab.ip}:443 ssl; ssl_certificate {cert}; ssl_certificate_key {key};"
    digest = []
    with nginx.start(lab, tmp_path, more=more):
        expected = nginx.make_file(tmp_path / "files/large", 30 * MB)
        with nginx.Http(lab, 443) as web, nginx.Http(lab, 443) as other:
            context = ssl._create_unverified_context()
            for one in (web, other):
                one.sock = one._c.sock = context.wrap_socket(one.sock)
            thread = threading.Thread(target=lambda: digest.append(other.digest("/large")))
            thread.start()
            for _ in range(3):
                upgrade(lab)
                assert web.get("/hello") == b"hello\n"
            thread.join()
    assert digest == [expected]


def test_shared_address(make_lab, tmp_path):
    """The kernel, with the same address, resets nothing while no toed receives frames."""
    lab = make_lab(shared=True)
    with nginx.start(lab, tmp_path, workers=2), Load(lab, fresh=0) as load:
        proc.wait_until(lambda: load.asked > 50 or load.failed, "requests")
        before = resets(lab)
        for _ in range(3):
            asked = load.asked
            upgrade(lab)
            proc.wait_until(lambda least=asked: load.asked > least + 50 or load.failed, "requests")
        assert resets(lab) == before
    load.check()
    load_through_upgrades(lab, tmp_path, 1)


@pytest.mark.toehold_only
@pytest.mark.parametrize("mode", ["tap", "two-engines", "manager"])
def test_elsewhere(make_lab, tmp_path, mode):
    given = {"tap": {"mode": "tap"}, "two-engines": {"engines": 2}}
    lab = make_lab(**given.get(mode, {"args": ["--manager", "polling"]}))
    load_through_upgrades(lab, tmp_path, 2)


def test_transfers_both_ways(lab):
    """Data flows both ways, every byte of it compared, while the toed changes three times."""
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            flow = Flow(robot, peer)
            for _ in range(3):
                flow.goes_on(3 * MB)
                upgrade(lab)
            flow.goes_on(3 * MB)
            flow.end()


def test_loss(make_lab):
    """Recovery continues in the new toed with the old one's state: SACKed, lost, retransmitted."""
    total = 5 * MB
    lab = make_lab(impair="loss=3,delay=5ms,seed=5")
    server = lab.script("transfer.py", "serve", lab.ip, PORT, total, 7, says="ready")
    peer = lab.peer_script("transfer.py", "client", lab.ip, PORT, total, 7)
    for _ in range(2):
        time.sleep(0.2)
        upgrade(lab)
    for end in (server, peer):
        assert end.wait(60) == 0, end.tail()


# ---- connections in every condition


@pytest.mark.sanitize
def test_idle(lab, robot, peer):
    upgrade(lab)
    peer.sendall(b"to the program")
    assert robot("s.recv(100)") == b"to the program"
    robot("s.sendall(b'to the peer')")
    assert peer.recv(100) == b"to the peer"


def test_unread(lab, robot, peer):
    """Unread data is read afterwards, followed by later data."""
    peer.sendall(b"before ")
    robot("assert s.recv(1, socket.MSG_PEEK) == b'b'")
    upgrade(lab)
    peer.sendall(b"after")
    peer.shutdown(socket.SHUT_WR)
    assert robot("b''.join(iter(lambda: s.recv(100), b''))") == b"before after"


def test_half_closed(lab, robot, peer):
    """By either side: its FIN is kept, and the other direction continues."""
    peer.shutdown(socket.SHUT_WR)
    assert robot("s.recv(10)") == b""
    upgrade(lab)
    robot("s.sendall(b'still'); s.shutdown(socket.SHUT_WR)")
    assert take(peer, 100) == b"still"


def test_half_closed_by_the_program(lab, robot, peer):
    robot("s.shutdown(socket.SHUT_WR)")
    assert peer.recv(10) == b""
    upgrade(lab)
    peer.sendall(b"still")
    assert robot("s.recv(10)") == b"still"
    peer.close()
    assert robot("s.recv(10)") == b""


def test_peers_window_closed(lab, robot, peer):
    """A writer blocked by a peer that does not read continues when it does."""
    total = 8 * MB
    robot.tell(f"s.sendall(bytes({total}))")
    assert robot.waits(0.5)
    upgrade(lab)
    assert robot.waits()
    assert len(take(peer, total)) == total
    robot.result()


def test_own_window_closed(lab, robot, peer):
    """A peer that waits for a program that does not read."""
    total = 8 * MB
    data = bytes(range(256)) * (total // 256)
    writer = threading.Thread(target=peer.sendall, args=[data])
    writer.start()
    time.sleep(0.5)
    upgrade(lab)
    code = f"d = bytearray()\nwhile len(d) < {len(data)}: d += s.recv(1 << 20)\nbytes(d)"
    got = robot(code)
    writer.join()
    assert got == data


def test_blocked_calls(lab, robot):
    """accept(), recv() and epoll_wait() that wait are not disturbed, and end when they should."""
    robot.listen(lab.ip, PORT)
    robot.tell("s, _ = listener.accept(); _")
    upgrade(lab)
    assert robot.waits()
    with lab.connect(PORT) as peer:
        assert tuple(robot.result()) == peer.getsockname()
        robot.tell("s.recv(100)")
        upgrade(lab)
        assert robot.waits()
        peer.sendall(b"received")
        assert robot.result() == b"received"
        robot("import select; e = select.epoll(); e.register(s, select.EPOLLIN)")
        robot.tell("e.poll(20)")
        upgrade(lab)
        assert robot.waits()
        peer.sendall(b"polled")
        assert len(robot.result()) == 1
        assert robot("s.recv(100)") == b"polled"


def test_backlog(lab, robot):
    """Connections not yet accepted, and the listener's backlog."""
    robot.listen(lab.ip, PORT)
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(lab.connect(PORT)) for _ in range(10)]
        for i, peer in enumerate(peers):
            peer.sendall(b"%d" % i)
        upgrade(lab)
        peers += [stack.enter_context(lab.connect(PORT)) for _ in range(10)]
        for i, peer in enumerate(peers[10:]):
            peer.sendall(b"%d" % (i + 10))
        got = robot("[listener.accept()[0].recv(10) for _ in range(20)]")
        assert sorted(int(one) for one in got) == list(range(20))


def test_closed_afterwards(lab, robot, peer):
    """TIME-WAIT, and a program that exits: no state remains in the new toed."""
    upgrade(lab)
    robot("s.close()")
    assert peer.recv(10) == b""
    peer.close()
    lab.wait_no_flows()
    upgrade(lab)
    lab.wait_no_flows()


def test_attach_afterwards(lab, robot):
    """Programs that start while it changes, and after, find the socket."""
    done = []
    end = threading.Event()

    def attach() -> None:
        while not end.is_set():
            done.append(lab.run([labs.PYTHON, "-c", "import socket; socket.socket().close()"]))

    thread = threading.Thread(target=attach)
    thread.start()
    for _ in range(2):
        upgrade(lab)
    end.set()
    thread.join()
    assert done and all(one.returncode == 0 for one in done)
    with Robot(lab) as other:
        other.listen(lab.ip, PORT + 1)
        with lab.connect(PORT + 1) as peer:
            assert tuple(other.accept()) == peer.getsockname()


def test_ip6(make_lab):
    """Duplicate address detection is not repeated, and neighbours are kept."""
    import test_ip6

    lab = test_ip6.make(make_lab)
    with Robot(lab) as robot:
        robot(
            "listener = socket.create_server((ip, port), family=socket.AF_INET6)\nNone",
            ip=lab.ip,
            port=PORT,
        )
        with lab.connect(PORT) as peer:
            robot("s, _ = listener.accept()\nNone")
            upgrade(lab)
            peer.sendall(b"six")
            assert robot("s.recv(10)") == b"six"
            with lab.connect(PORT) as another:
                robot("q, _ = listener.accept()\nq.sendall(b'too')")
                assert another.recv(10) == b"too"


# ---- messages


@pytest.mark.toehold_only
def test_tools_and_counters(lab, robot, accepted):
    before = lab.counter("tcp_established")
    assert before > 0
    proc.wait_until(lambda: lab.toed.stats()["uptime_s"] > 0, "a second")
    said = lab.toed.take_over()
    found = re.search(
        r"taken over from pid \d+: (\d+) queue pairs, (\d+) connections, (\d+) list", said
    )
    assert found and int(found[2]) == lab.usage("flows") and int(found[1]) == lab.queue_pairs()
    assert "paused for" in said
    assert lab.counter("tcp_established") == before
    assert lab.toed.stats()["uptime_s"] > 0


# ---- failed take-overs


def wait_said(toed: proc.Proc, what: str, since: int = 0) -> None:
    proc.wait_until(lambda: what in toed.text()[since:], f"toed says {what!r}", proc=toed)


@contextlib.contextmanager
def then_says(lab: labs.Lab, *what: str):
    """The serving toed reports these during the `with`; earlier output does not count."""
    toed = lab.toed.proc
    since = len(toed.text())
    yield
    for each in what:
        wait_said(toed, each, since)


def still_serves(robot: Robot, peer: socket.socket) -> None:
    peer.sendall(b"on")
    assert robot("s.recv(10)") == b"on"


@pytest.mark.toehold_only
@pytest.mark.parametrize(
    "args, sentence",
    [
        (
            ["--ip", "10.77.0.9/24"],
            "--ip is 10.77.0.9/24 here and 10.77.0.1/24 in the running toed",
        ),
        (["--engines", "2"], "--engines is 2 here and 1"),
        (["--ip6", "fd00::1/64"], "--ip6 is fd00::1/64 here and off/0"),
        (["--mtu", "1400"], "--mtu is 1400 here and 1500"),
    ],
)
def test_other_options(lab, robot, peer, args, sentence):
    with then_says(lab, "does not take over"):
        code, said = lab.toed.refused_take_over(*args)
    assert code == 3
    assert sentence in said
    still_serves(robot, peer)


@pytest.mark.toehold_only
def test_too_small(lab, robot, accepted):
    """Only the image shows it: the old one has stopped already, and resumes."""
    with lab.connect(PORT) as another:
        robot.accept("q")
        code, said = lab.toed.refused_take_over("--max-flows", "1")
        assert code == 1
        assert "more flows than there is room for" in said
        still_serves(robot, accepted)
        another.sendall(b"on too")
        assert robot("q.recv(10)") == b"on too"
    upgrade(lab)
    still_serves(robot, accepted)


@pytest.mark.toehold_only
def test_back_to_a_manager(make_lab):
    """The old one resumes with all its threads."""
    lab = make_lab(args=["--manager", "polling"])
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            assert lab.toed.refused_take_over("--cpu", "999")[0] == 3
            still_serves(robot, peer)


@pytest.mark.toehold_only
def test_no_such_cpu(lab, robot, peer):
    """Its threads run before the old one ends, or the old one does not end."""
    with then_says(lab, "serving on"):
        code, said = lab.toed.refused_take_over("--cpu", "999")
    assert code == 3
    assert "--cpu 999: this machine has no such CPU" in said
    still_serves(robot, peer)


@pytest.mark.toehold_only
def test_too_few_descriptors(lab, robot, peer):
    was, lab.toed.prefix = lab.toed.prefix, [*lab.toed.prefix, "prlimit", "--nofile=12:12"]
    with then_says(lab, "serving on"):
        code, said = lab.toed.refused_take_over()
    lab.toed.prefix = was
    assert code == 1
    assert "more descriptors than this process may have (RLIMIT_NOFILE)" in said
    still_serves(robot, peer)


def interrupts_of(robot: Robot) -> list[int]:
    """Descriptors of the robot's eventfds, which are the same for toed."""
    get = ctypes.CDLL(None, use_errno=True).syscall
    pidfd = os.pidfd_open(robot.pid)
    found = []
    for fd in os.listdir(f"/proc/{robot.pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            if "eventfd" in os.readlink(f"/proc/{robot.pid}/fd/{fd}"):
                found.append(get(438, pidfd, int(fd), 0))  # pidfd_getfd(2)
    os.close(pidfd)
    assert found and min(found) >= 0
    return found


@pytest.mark.toehold_only
def test_what_a_host_can_change(lab, robot, peer):
    """Its eventfds block, which toed refuses when it attaches: no veto."""
    fds = interrupts_of(robot)
    for fd in fds:
        os.set_blocking(fd, True)
    upgrade(lab)
    for fd in fds:
        os.set_blocking(fd, False)
        os.close(fd)
    still_serves(robot, peer)


@pytest.mark.toehold_only
def test_nobody_there(lab):
    lab.toed.kill()
    code, said = lab.toed.refused_take_over()
    assert code == 3
    assert "no toed serves at" in said
    lab.toed.start()


CONTRACT = int(
    re.search(
        r"define TOEDEV_CONTRACT_VERSION\s+(\d+)u?",
        (paths.ROOT / "device/include/toe/device.h").read_text(),
    )[1]
)
HELLO = struct.Struct("<4I24x32s")
ASK = HELLO.pack(0x31454F54, CONTRACT, 5, 0, b"test")


@contextlib.contextmanager
def asking(lab: labs.Lab):
    """A connection that requests the take-over, up to the options of the running toed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(proc.seconds(30))
        s.connect(str(lab.toed.socket))
        s.send(ASK)
        welcome = s.recv(1000)
        assert struct.unpack_from("<I", welcome, 8)[0] == 0
        assert b"netif " in s.recv(5000)
        yield s


@pytest.mark.toehold_only
@pytest.mark.parametrize("when", ["asked", "stopped", "sent"])
def test_the_new_one_dies(lab, robot, peer, when):
    """Immediately, while the old one writes its image, and when that is complete."""
    with then_says(lab, *(["serving on"] if when != "asked" else [])), asking(lab) as s:
        if when != "asked":
            s.send(b"GO")
        if when == "sent":
            assert s.recv(100).startswith(b"IMAGE")
            assert s.recv(100) == b"FDS"
    still_serves(robot, peer)
    upgrade(lab)
    still_serves(robot, peer)


@pytest.mark.toehold_only
def test_the_new_one_has_a_reason(lab, robot, peer):
    with then_says(lab, "does not take over: it cannot"), asking(lab) as s:
        s.send(b"GO")
        while s.recv(100) != b"FDS":
            pass
        s.send(b"it cannot")
        assert s.recv(10) == b"BACK"
    still_serves(robot, peer)


@pytest.mark.toehold_only
def test_the_kernel_gets_nothing(lab, robot, peer):
    """While no toed serves: the kernel would forward packets for an address that it does not
    have."""

    def seen() -> int:
        out = lab.server.run(["nstat", "-asz", "IpInReceives"]).stdout
        return int(re.search(r"^IpInReceives\s+(\d+)", out, re.M)[1])

    with asking(lab) as s:
        s.send(b"GO")
        while s.recv(100) != b"FDS":
            pass
        before = seen()
        peer.sendall(b"in vain")
        with lab.client.socket(kind=socket.SOCK_DGRAM) as udp:
            for _ in range(5):
                udp.sendto(b"nobody", (lab.ip, 7))
        assert seen() == before
    assert robot("s.recv(100)") == b"in vain"


HOLDS = f"""
import signal, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.send({ASK!r}), s.recv(1000), s.recv(5000), s.send(b"GO")
image, fds, _, _ = socket.recv_fds(s, 100, 253)
print("has it", flush=True)
s.send(b"it cannot")
while True:
    signal.pause()
"""


@pytest.mark.toehold_only
def test_the_new_one_does_not_let_go(lab, robot, peer):
    """It hangs, with the interface in its hands perhaps: it is ended first."""
    with (
        then_says(lab, "does not let go", "serving on"),
        lab.server.start([labs.PYTHON, "-c", HOLDS, lab.toed.socket]) as new,
    ):
        assert new.wait(30) == -signal.SIGKILL
        assert "has it" in new.text()
    still_serves(robot, peer)


@pytest.mark.toehold_only
def test_the_old_one_dies(lab):
    """Before it has handed over anything: the new one exits too and releases the interface."""
    lab.toed.proc.send_signal(signal.SIGSTOP)
    new = lab.toed._launch("--take-over")
    call = Path(f"/proc/{new.pid}/syscall")
    proc.wait_until(lambda: call.read_text().startswith(POLL), "it waits for the answer", proc=new)
    lab.toed.proc.kill()
    assert new.wait(20) == 3
    assert "does not answer" in new.text()
    lab.toed.start()


@contextlib.contextmanager
def before_the_last_word(lab: labs.Lab, path):
    """Starts a new toed behind a relay; it has everything and sends DONE. The relay withholds DONE
    from the old one unless the second yielded value is called. The end of the `with` closes both
    connections."""
    with contextlib.ExitStack() as stack:

        def new_socket() -> socket.socket:
            return stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))

        listener, old = new_socket(), new_socket()
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(proc.seconds(20))
        started = lab.toed._launch("--take-over", "--socket", path)
        new, _ = listener.accept()
        stack.enter_context(new)
        old.connect(str(lab.toed.socket))
        said = b""
        while said != b"DONE":
            ready, _, _ = select.select([old, new], [], [], proc.seconds(20))
            assert ready, started.tail()
            said, fds, _, _ = socket.recv_fds(ready[0], 1 << 16, 253)
            assert said, (started.tail(), lab.toed.proc.tail())
            if said != b"DONE":
                socket.send_fds(new if ready[0] is old else old, [said], fds)
            for fd in fds:
                os.close(fd)

        def go_on() -> None:
            old.settimeout(proc.seconds(20))
            old.send(b"DONE")
            new.send(old.recv(100))

        yield started, go_on


@pytest.mark.toehold_only
def test_the_new_one_dies_with_everything(lab, robot, peer, tmp_path):
    """Its XDP program and its name were in place already."""
    before = holder(lab)
    with before_the_last_word(lab, tmp_path / "relay") as (new, _):
        assert holder(lab) != before
        new.kill()
    proc.wait_until(lambda: holder(lab) == before, "its name on the socket again")
    still_serves(robot, peer)
    upgrade(lab)
    still_serves(robot, peer)


def holder(lab: labs.Lab) -> int:
    """The process that the control socket names."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(str(lab.toed.socket))
        return struct.unpack("iII", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


@pytest.mark.toehold_only
@pytest.mark.sanitize
def test_the_old_one_dies_before_its_last_word(lab, robot, peer, tmp_path):
    """The new one has everything, and no other toed can serve: it continues."""
    with before_the_last_word(lab, tmp_path / "relay") as (started, _):
        lab.toed.kill()
    lab.toed.proc, lab.toed._killed = started, False
    wait_said(started, "ended before it confirmed the end of the take-over")
    wait_said(started, "ready")
    still_serves(robot, peer)
    upgrade(lab)
    still_serves(robot, peer)


@pytest.mark.toehold_only
def test_users(make_lab):
    """A user with the right to attach may not take over."""
    lab = make_lab(args=["--user", "nobody"])
    script = (
        f"import os, socket, struct; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
        f"os.setuid(65534); s.connect({str(lab.toed.socket)!r}); s.send({ASK!r}); w = s.recv(1000);"
        f"print(struct.unpack_from('<I', w, 8)[0], w[40:].split(bytes(1))[0].decode())"
    )
    done = lab.server.run([labs.PYTHON, "-c", script])
    assert not done.stdout.startswith("0 ")
    assert "only root, or the user of the running toed, may take over" in done.stdout
