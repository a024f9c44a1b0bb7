# SPDX-License-Identifier: Apache-2.0
"""The engine within the program (docs/INLINE.md): in its calls, and in a separate thread."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_upgrade import CONTRACT, HELLO

from tests.lab import lab as labs
from tests.lab import netns, nginx, paths, proc, toed

TOE_ECHO = paths.build_dir("toe_echo") / "manager/tests/toe_echo"
TOEHOLD = paths.built("toehold")
PORT = 7300
QUERY = HELLO.pack(0x31454F54, CONTRACT, 2, 0, b"test")

pytestmark = pytest.mark.toehold_only


class Inline(labs.Lab):
    """A lab whose programs contain their engine."""

    def __init__(self, engine: str = "inline"):
        self.engine = engine
        self.pair = netns.Pair()
        self.toed = None
        self.server, self.client = self.pair.server, self.pair.client
        self.ip, self.peer_ip = self.pair.server_ip, self.pair.client_ip

    def options(self) -> list[object]:
        return ["--netif", f"af_xdp:{self.pair.server_if}", "--ip", f"{self.ip}/24"]

    def wrapped(self, argv: list[object], *more: object) -> list[object]:
        words = [TOEHOLD, "run", "--require", "--engine", self.engine, *self.options(), *more]
        return [*words, "--", *argv]

    def app(self, argv, *, name=None, port=None, says=None, more=(), env=None):
        name = name or Path(str(argv[0])).name
        p = self.server.start(self.wrapped(argv, *more), name=name, env=env)
        return self._started(p, self.client, self.ip, port, says)

    def run(self, argv, *, more=(), **options):
        return self.server.run(self.wrapped(argv, *more), **options)


@pytest.fixture(scope="module", params=["inline", "thread"])
def either(request):
    with Inline(request.param) as lab:
        yield lab


@pytest.fixture(scope="module")
def inline():
    with Inline() as lab:
        yield lab


def stats(socket: object) -> dict:
    return json.loads(proc.run([TOEHOLD, "stats", "--json", "--socket", socket]).stdout)


def flows(socket: object, *words: str) -> dict:
    done = proc.run([TOEHOLD, "flows", "--json", "--socket", socket, *words])
    return json.loads(done.stdout)


def asked(verb: str, socket: object, *words: str) -> dict:
    return json.loads(proc.run([TOEHOLD, verb, "--json", "--socket", socket, *words]).stdout)


def redis(lab: labs.Lab) -> list[str]:
    return ["redis-server", "--bind", lab.ip, "--protected-mode", "no", "--save", ""]


def wire(tmp_path: Path, side: str, *more: object, impair: str = "") -> dict[str, str]:
    """The environment of a program whose engine is on a wire: side a is 10.9.0.1, b 10.9.0.2."""
    netif = f"wire:{tmp_path}/w,side={side}"
    netif = f"impair({impair}):{netif}" if impair else netif
    words = ["--netif", netif, "--ip", f"10.9.0.{'ab'.index(side) + 1}/24", *map(str, more)]
    return {"TOEHOLD_ENGINE": "inline", "TOEHOLD_INLINE_OPTIONS": " ".join(words)}


# ---- real programs, a Linux peer, AF_XDP


def test_a_kernel_without_epoll_pwait2(either, tmp_path):
    """Before Linux 5.11: the program's waits, and the work that remains after its end."""
    hidden = [labs.PYTHON, labs.PROGRAMS / "without_call.py", 441]
    with nginx.start_on_peer(either, tmp_path, port=8080):
        nginx.make_file(tmp_path / "files/x", 2_000_000)
        out = tmp_path / "got"
        curl = ["curl", "-sSf", "-o", out, f"http://{either.peer_ip}:8080/x"]
        either.run([*hidden, *curl], timeout=20)
        assert out.read_bytes() == (tmp_path / "files/x").read_bytes()


def test_nginx_of_one_worker(either, tmp_path):
    argv = nginx.configuration(tmp_path, f"{either.ip}:80")
    digest = nginx.make_file(tmp_path / "files/x", 3_000_000)
    with either.app(argv, port=80) as server:
        (worker,) = server.children()
        with nginx.Http(either) as http:
            assert http.get("/hello") == b"hello\n"
            assert http.digest("/x") == digest
            sock = f"/run/toehold/inline-{worker}.sock"
            [flow] = flows(sock, "sport = :80")["flows"]
            assert (flow["pid"], flow["toe"]) == (worker, either.engine)

            def acked() -> int:
                return flows(sock, "sport = :80")["flows"][0]["bytes_acked"]

            # the client has read the last bytes before it acknowledges them
            proc.wait_until(lambda: acked() > 3_000_000, "all bytes are acknowledged")
            answer = asked("trace", sock, flow["flow"])
            assert [e["event"] for e in answer["events"][:2]] == ["syn_received", "established"]
            assert answer["now"]["flow"] == flow["flow"]
            words = ["--batch", "1", "--every", "1"]
            [engine] = asked("top", sock, *words)["engines"]
            assert (engine["cpu_percent"] is None) == (either.engine == "inline")
        either.client.run(["wrk", "-d1", "-t1", "-c20", f"http://{either.ip}/hello"])
        said = stats(f"/run/toehold/inline-{worker}.sock")
        assert said["engines"][0]["counters"]["tcp_established"] > 20
        assert server.stop() == 0
    assert not Path(f"/run/toehold/inline-{worker}.sock").exists()


def test_what_a_killed_process_left_is_taken_away(inline):
    """The next process removes it; the sockets of live processes stay."""
    waits = "import socket\ns = socket.create_server(('', 7300))\nwhile s.accept():\n  pass"
    argv = [labs.PYTHON, "-c", waits]
    killed = inline.app(argv, port=PORT)
    left = Path(f"/run/toehold/inline-{killed.pid}.sock")
    assert left.is_socket()
    killed.kill()  # any program's next start takes it away: one of a test beside this one, too
    with Inline() as other, other.app(argv, port=PORT) as lives:
        assert not left.exists()
        with inline.app(argv, port=PORT):
            assert stats(f"/run/toehold/inline-{lives.pid}.sock")["engines"]


def test_nginx_whose_worker_has_no_rights(inline, tmp_path):
    argv = nginx.configuration(tmp_path, f"{inline.ip}:80", user="www-data")
    with inline.app(argv, port=80) as server:
        assert nginx.get(inline, "/hello") == b"hello\n"
        assert server.stop() == 0


def test_redis(inline):
    with inline.app(redis(inline), port=6379) as server:
        cli = ["redis-cli", "-h", inline.ip]
        assert inline.client.run([*cli, "set", "k", "v"]).stdout == "OK\n"
        assert inline.client.run([*cli, "get", "k"]).stdout == "v\n"
        bench = ["redis-benchmark", "-h", inline.ip, "-n", "5000", "-c", "32", "-q", "-t", "get"]
        assert "requests per second" in inline.client.run(bench).stdout
        assert server.stop() == 0


def test_curl_as_client(either, tmp_path):
    with nginx.start_on_peer(either, tmp_path, port=8080):
        nginx.make_file(tmp_path / "files/x", 2_000_000)
        out = tmp_path / "got"
        either.run(["curl", "-sSf", "-o", out, f"http://{either.peer_ip}:8080/x"], timeout=20)
        assert out.read_bytes() == (tmp_path / "files/x").read_bytes()


def test_iperf3_as_server(either):
    argv = ["iperf3", "-s", "-1", "-B", either.ip, "--forceflush"]
    with either.app(argv, says="Server listening") as server:
        argv = ["iperf3", "-J", "-n", "100M", "-P", "2", "-c", either.ip]
        end = json.loads(either.client.run(argv, timeout=20).stdout)["end"]
        assert 0 < end["sum_received"]["bytes"] <= end["sum_sent"]["bytes"]
        server.wait(10)


def test_server_in_python_threads_and_kernel_sockets(either):
    with either.app(
        [labs.PYTHON, "-u", labs.PROGRAMS / "echo_asyncio.py", "serve", "0.0.0.0", PORT],
        says="ready",
    ) as server:
        for ns, ip in ((either.client, either.ip), (either.server, "127.0.0.1")):
            done = ns.run(
                [labs.PYTHON, labs.PROGRAMS / "echo_asyncio.py", "client", ip, PORT, 20, 5, 50000],
                timeout=30,
            )
            assert json.loads(done.stdout) == {"connections": 20}
        server.kill()


def test_a_program_reaches_itself(inline):
    """Both ends in one program and its one engine, which runs in its calls only."""
    script = f"""
import contextlib, socket
at = ("{inline.ip}", {PORT})
listener = socket.create_server(at)
c = socket.create_connection(at)
s, _ = listener.accept()
c.setblocking(False), s.setblocking(False)
data, total, sent, got = bytes(range(256)) * 256, 5_000_000, 0, 0
while got < total:
    with contextlib.suppress(BlockingIOError):
        sent += c.send(data[sent % 256 :][: total - sent]) if sent < total else 0
    with contextlib.suppress(BlockingIOError):
        part = s.recv(50_000)
        assert part == (data * 2)[got % 256 :][: len(part)], got
        got += len(part)
print(sent, got)
"""
    assert inline.run([labs.PYTHON, "-c", script]).stdout == "5000000 5000000\n"


def test_what_is_sent_leaves_before_send_returns(inline):
    """A program that computes after a send makes no call in which the engine could run."""
    script = f"""
import socket, time
listener = socket.create_server(("{inline.ip}", {PORT}))
print("listening", flush=True)
s = listener.accept()[0]
s.sendall(b"now")
time.sleep(600)
"""
    server = inline.app([labs.PYTHON, "-c", script], says="listening")
    with contextlib.closing(inline.connect(PORT, timeout=20)) as s:
        assert s.recv(3, socket.MSG_WAITALL) == b"now"
    server.kill()


def test_what_is_sent_before_the_end_arrives(inline):
    """exit() right after send() and close(): the engine runs on until the peer has all data."""
    script = (
        "import socket,sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2])));"
        "s.sendall(b'x' * 3000000); s.close()"
    )
    peer = inline.client.socket()
    peer.bind((inline.peer_ip, PORT))
    peer.listen()
    peer.settimeout(proc.seconds(10))
    argv = inline.wrapped([labs.PYTHON, "-c", script, inline.peer_ip, PORT])
    with peer, inline.server.start(argv, name="sender") as sender:
        got, (c, _) = 0, peer.accept()
        with c:
            c.settimeout(proc.seconds(10))
            while data := c.recv(1 << 20):
                got += len(data)
        assert got == 3_000_000
        assert sender.wait(10) == 0


def test_a_question_comes_just_before_it_sleeps(inline):
    """A poll without sleep consumes the event of a pending query; the next one sleeps."""
    script = f"""
import os, select, socket
listener = socket.create_server(("{inline.ip}", {PORT}))
e = select.epoll()
e.register(listener, select.EPOLLIN)
e.poll(3)  # its address has been announced twice: nothing pending would wake it
asker = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
asker.connect(f"/run/toehold/inline-{{os.getpid()}}.sock")
asker.send({QUERY!r})
e.register(asker, select.EPOLLIN)
e.poll(0)
print(e.poll(20) and asker.recv(9).decode())
"""
    assert inline.run([labs.PYTHON, "-c", script]).stdout == '{"version\n'


def test_idle_sleeps(either):
    with either.app(redis(either), port=6379) as p:
        s = either.connect(6379)
        stat = Path(f"/proc/{p.pid}/stat")
        before = sum(map(int, stat.read_text().rsplit(")")[1].split()[11:13]))
        time.sleep(1)
        assert sum(map(int, stat.read_text().rsplit(")")[1].split()[11:13])) - before <= 10
        s.close()


# ---- deaths and forks


def test_killed_program_leaves_the_interface_as_it_was(inline):
    argv = redis(inline)
    for _ in range(2):
        with inline.app(argv, port=6379) as p:
            p.kill()
        links = inline.server.run(["ip", "link", "show", inline.pair.server_if]).stdout
        assert "xdp" not in links


def test_second_program_on_an_interface_is_refused(inline):
    with inline.app(redis(inline), port=6379):
        done = inline.run(["true"], check=False)
        assert done.returncode == 4
        assert "already served by process" in done.stderr


def test_second_worker_takes_over(inline, tmp_path):
    """One queue: one worker owns the interface. The other gets it when the first has exited."""
    argv = nginx.configuration(tmp_path, f"{inline.ip}:80", workers=2)
    with inline.app(argv, port=80) as server:
        proc.wait_until(lambda: len(server.children()) == 2, "two workers", proc=server)
        proc.wait_until(lambda: "already served" in server.text(), "the second is notified")
        first = int(nginx.get(inline, "/pid"))
        assert first in server.children()
        (second,) = set(server.children()) - {first}
        netns.os.kill(first, signal.SIGKILL)

        def served() -> bool:
            try:
                return int(nginx.get(inline, "/pid")) != first
            except OSError:
                return False

        proc.wait_until(served, f"worker {second} or a new one serves", proc=server)


# ---- wires


@contextlib.contextmanager
def wire_server(env: dict[str, str]) -> Iterator[None]:
    """Its listener is the kernel's too; a separate namespace guarantees that the port is free."""
    argv = [TOE_ECHO, "server", PORT]
    with netns.Pair() as pair, pair.server.start(argv, env=env, name="server") as server:
        proc.wait_until(lambda: "ready" in server.text(), "server", proc=server)
        yield


@pytest.mark.sanitize
def test_two_programs_on_a_wire(tmp_path):
    with wire_server(wire(tmp_path, "a")):
        for connections, size in ((1, 1), (50, 3000), (4, 1_000_000)):
            argv = [TOE_ECHO, "client", "10.9.0.1", PORT, connections, size]
            done = proc.run(argv, env=wire(tmp_path, "b"), timeout=20)
            assert done.stdout == f"done {connections} {size}\n"


def test_impaired_wire(tmp_path):
    bad = f"loss=2,delay=1ms,jitter=1ms,reorder=2,duplicate=1,seed={labs.SEED}"
    with wire_server(wire(tmp_path, "a", impair=bad)):
        argv = [TOE_ECHO, "client", "10.9.0.1", PORT, 8, 200_000]
        done = proc.run(argv, env=wire(tmp_path, "b"), timeout=30)
        assert done.stdout == "done 8 200000\n"


ROOM = {"TOEHOLD_SLOTS": "64", "TOEHOLD_TX_SIZE": "1048576"}
# Its connections' send buffers: of the first, of the last, and of that one when it wants more.
BUFFERS = """
import socket, sys
def size(s):
    return s.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
c = [socket.create_connection((sys.argv[1], int(sys.argv[2]))) for _ in range(40)]
before = size(c[0]), size(c[-1])
c[-1].setblocking(False)
sent = c[-1].send(bytes(4 << 20))
print(*before, size(c[-1]), sent)
"""


def test_many_share_their_send_buffers(tmp_path):
    """Until one wants more, and its path is so long that a share would be its limit."""
    slow = "delay=2ms"
    env = {**wire(tmp_path, "b", impair=slow), **ROOM}
    env["LD_PRELOAD"] = str(paths.built("libtoe_preload.so"))
    with wire_server(wire(tmp_path, "a", impair=slow)):
        done = proc.run(["/usr/bin/python3", "-c", BUFFERS, "10.9.0.1", PORT], env=env, timeout=30)
    assert done.stdout.split() == ["1048576", "65536", "1048576", "1048576"]


@pytest.mark.sanitize
def test_buffers_that_grow_on_an_impaired_wire(tmp_path):
    bad = f"loss=2,delay=1ms,jitter=1ms,reorder=2,duplicate=1,seed={labs.SEED}"
    with wire_server({**wire(tmp_path, "a", impair=bad), **ROOM}):
        argv = [TOE_ECHO, "client", "10.9.0.1", PORT, 40, 200_000]
        done = proc.run(argv, env={**wire(tmp_path, "b"), **ROOM}, timeout=50)
        assert done.stdout == "done 40 200000\n"


@pytest.mark.sanitize
def test_wire_to_toed(tmp_path):
    with netns.Pair() as pair:
        pair.server_ip = "10.9.0.1"
        with toed.Toed(pair, netif=f"wire:{tmp_path}/w,side=a") as daemon:
            argv, env = [TOE_ECHO, "server", PORT], {"TOEHOLD_SOCKET": str(daemon.socket)}
            with pair.server.start(argv, env=env, name="toe_echo") as server:
                proc.wait_until(lambda: "ready" in server.text(), "server", proc=server)
                argv = [TOE_ECHO, "client", "10.9.0.1", PORT, 8, 100_000]
                done = proc.run(argv, env=wire(tmp_path, "b"), timeout=20)
                assert done.stdout == "done 8 100000\n"


# ---- settings

ON_A_WIRE = ["--netif", "wire:/no/w", "--ip", "10.0.0.1/8"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--engine", "inside"], 2, "want toed, inline, thread, gateware or hybrid"),
        (["--netif", "wire:/x"], 2, "need --engine"),
        (["--engine", "inline"], 2, "--netif is missing"),
        (["--engine", "inline", "--netif", "wire:/x"], 2, "--ip is missing"),
        (["--engine", "inline", "--netif", "wire:/x", "--ip", "10.0.0.300/8"], 2, "10.0.0.300"),
        (["--engine", "inline", "--netif", "wire:/x", "--mtu", "1"], 2, "--mtu"),
        (["--engine", "inline", "--netif", "a b"], 2, "white space"),
        (["--engine", "inline", "--netif", "none:/x", "--ip", "10.0.0.1/8"], 4, "none"),
        (["--engine", "thread", "--netif", "wire:/no/w", "--ip", "10.0.0.1/8"], 4, "/no/w"),
        (["--engine", "thread", *ON_A_WIRE, "--cpu", "1023"], 4, "--cpu 1023: this machine has no"),
        (["--engine", "inline", *ON_A_WIRE, "--cpu", "1023"], 4, "--cpu 1023: this machine has no"),
    ],
)
def test_wrong_options_are_refused(words, code, says):
    done = proc.run([TOEHOLD, "run", "--require", *words, "--", "true"], check=False)
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("TOEHOLD_ENGINE", "elsewhere", "none of toed, inline and thread"),
        ("TOEHOLD_INLINE_OPTIONS", "--netif wire:/x --ip 1", "--ip 1"),
        ("TOEHOLD_INLINE_OPTIONS", "--engines 2", "there is no option '--engines'"),
        ("TOEHOLD_INLINE_LIBRARY", "/no/such.so", "/no/such.so"),
    ],
)
def test_wrong_variables_are_said(tmp_path, name, value, says):
    env = {**wire(tmp_path, "a"), name: value, "TOEHOLD_REQUIRE": "1"}
    done = proc.run([TOE_ECHO, "client", "10.9.0.1", PORT, 1, 1], env=env, check=False)
    assert done.returncode == 1
    assert says in done.stderr
