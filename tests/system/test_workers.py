# SPDX-License-Identifier: Apache-2.0
"""Several processes with engines of their own on one address: workers(N) (docs/INLINE.md)."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_inline import TOEHOLD, Inline, stats
from test_ip6 import OWN, add_peer

from tests.lab import lab as labs
from tests.lab import nginx, paths, proc

pytestmark = pytest.mark.toehold_only

TOED = paths.build_dir("toed") / "engine/toed"
SIZE = 3_000_000


class Workers(Inline):
    """Programs whose processes share the interface."""

    def options(self) -> list[object]:
        netif = f"workers(8):af_xdp:{self.pair.server_if}"
        return ["--netif", netif, "--ip", f"{self.ip}/24", "--ip6", f"{OWN}/64"]


class TapWorkers(Inline):
    """The same on a TAP device, whose other side is the kernel of that namespace."""

    def __init__(self):
        super().__init__()
        self.client, self.ip, self.peer_ip = self.server, "10.78.0.2", "10.78.0.1"

    def options(self) -> list[object]:
        netif = f"workers(8):tap:toe0,host={self.peer_ip}/24"
        return ["--netif", netif, "--ip", f"{self.ip}/24"]


@pytest.fixture(scope="module")
def xdp():
    with Workers() as lab:
        yield lab


@pytest.fixture(scope="module")
def tap():
    with TapWorkers() as lab:
        yield lab


@pytest.fixture(scope="module")
def thread():
    with Workers("thread") as lab:
        yield lab


@pytest.fixture(params=["xdp", "tap", "thread"])
def either(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that www-data may read, unlike tmp_path."""
    with tempfile.TemporaryDirectory(prefix="toehold-workers-") as made:
        yield Path(made)


def said(pid: int) -> dict:
    return stats(f"/run/toehold/inline-{pid}.sock")["engines"][0]


def usage(answer: str) -> dict:
    return json.loads(answer)["engines"][0]["usage"]


def steers(pid: int) -> bool:
    return ", steers " in said(pid)["netio"]["mode"]


def listening(pid: int) -> bool:
    """Whether the worker has its engine, and a listener; one that has ended has none."""
    argv = [TOEHOLD, "stats", "--json", "--socket", f"/run/toehold/inline-{pid}.sock"]
    done = proc.run(argv, check=False)
    return done.returncode == 0 and usage(done.stdout)["listeners"] > 0


def at_each(lab: labs.Lab, pids: set[int], server: proc.Proc) -> dict[int, nginx.Http]:
    """A connection to each worker that stays open."""
    found: dict[int, nginx.Http] = {}

    def one_more() -> bool:
        http = nginx.Http(lab)
        pid = int(http.get("/pid"))
        if pid in found or pid not in pids:
            http.__exit__()
        else:
            found[pid] = http
        return set(found) == pids

    proc.wait_until(one_more, f"connections to workers {pids}", proc=server)
    return found


class Download:
    """A file of which the first part has been read."""

    def __init__(self, http: nginx.Http):
        self.response = http.start("GET", "/x")
        self.begun = self.response.read(1000)

    def finish(self) -> bytes:
        return self.begun + self.response.read()


@contextlib.contextmanager
def start(
    lab: labs.Lab, folder: Path, listen: str = "", **options: object
) -> Iterator[tuple[proc.Proc, bytes]]:
    """nginx of two workers, and its file /x."""
    argv = nginx.configuration(folder, f"{lab.ip}:80{listen}", workers=2, **options)
    nginx.make_file(folder / "files/x", SIZE)
    with lab.app(argv, port=80) as server:
        proc.wait_until(lambda: len(server.children()) == 2, "two workers", proc=server)
        proc.wait_until(lambda: all(map(listening, server.children())), "they listen", proc=server)
        yield server, (folder / "files/x").read_bytes()
        assert server.stop() == 0


def test_a_killed_worker_is_replaced(either, folder):
    """The workers have given up their rights; the one that remains takes the interface over."""
    with start(either, folder, user="www-data") as (server, data):
        workers = set(server.children())
        at = at_each(either, workers, server)
        (first,) = filter(steers, workers)
        (second,) = workers - {first}
        assert at[first].digest("/x") == at[second].digest("/x")
        download = Download(at[second])
        os.kill(server.pid, signal.SIGSTOP)  # it starts no new worker, which could take over too
        os.kill(first, signal.SIGKILL)
        assert download.finish() == data
        assert int(at[second].get("/pid")) == second  # over the same connection
        assert steers(second)
        at[first].__exit__()
        os.kill(server.pid, signal.SIGCONT)
        (third,) = proc.wait_until(
            lambda: set(server.children()) - workers, "a new worker", proc=server
        )
        proc.wait_until(lambda: listening(third), "it listens", proc=server)
        with at_each(either, {third}, server)[third] as http:
            assert not steers(third)
            os.kill(third, signal.SIGKILL)  # this one's end changes nothing for others
            assert int(at[second].get("/pid")) == second
            with pytest.raises((ConnectionError, TimeoutError)):
                http.get("/pid")  # the other one answers for it
        at[second].__exit__()


def test_a_reload_keeps_connections(xdp, folder):
    """New workers beside old ones, which finish what they have begun."""
    with start(xdp, folder) as (server, data):
        old = set(server.children())
        at = at_each(xdp, old, server)
        downloads = [Download(http) for http in at.values()]
        os.kill(server.pid, signal.SIGHUP)
        proc.wait_until(lambda: len(server.children()) == 4, "new workers", proc=server)
        new = set(server.children()) - old
        proc.wait_until(lambda: all(map(listening, new)), "they listen", proc=server)
        proc.wait_until(lambda: not any(map(listening, old)), "old ones do not", proc=server)
        fresh = at_each(xdp, new, server)
        for http in fresh.values():
            assert http.get("/hello") == b"hello\n"
        assert [d.finish() for d in downloads] == [data, data]
        for http in at.values():
            http.__exit__()
        proc.wait_until(lambda: set(server.children()) == new, "old workers end", proc=server)
        for pid, http in fresh.items():
            assert int(http.get("/pid")) == pid
            http.__exit__()
        assert any(map(steers, new))


def test_a_listener_of_each_worker(xdp, folder):
    """SO_REUSEPORT: nginx opens a listener for each worker, and each one serves its own."""
    with start(xdp, folder, " reuseport") as (server, _):
        for http in at_each(xdp, set(server.children()), server).values():
            assert http.get("/hello") == b"hello\n"
            http.__exit__()


def test_over_ip6(xdp, folder):
    """Neighbour discovery too continues when another worker takes over."""
    add_peer(xdp)

    def pid() -> int:
        curl = ["curl", "-gsSf", "--retry", "9", "--retry-all-errors", f"http://[{OWN}]/pid"]
        return int(xdp.client.run(curl, timeout=60).stdout)

    with start(xdp, folder, "; listen [::]:80", user="www-data") as (server, _):
        workers, seen = set(server.children()), set()
        proc.wait_until(lambda: seen.add(pid()) or seen == workers, "both serve", proc=server)
        (first,) = filter(steers, workers)
        os.kill(server.pid, signal.SIGSTOP)
        os.kill(first, signal.SIGKILL)
        xdp.client.run(["ip", "neigh", "flush", "all"])
        assert {pid()} == workers - {first}
        os.kill(server.pid, signal.SIGCONT)


RANGE = "/proc/sys/net/ipv4/ip_local_port_range"

CONNECTS = """
import socket, sys
made = [socket.create_connection((sys.argv[1], 7400)) for _ in range(40)]
print(*(s.getsockname()[1] for s in made), flush=True)
sys.stdin.read()
"""


def test_clients_connect_from_ports_of_their_own(xdp):
    with xdp.client.socket() as peer:
        peer.bind((xdp.peer_ip, 7400))
        peer.listen(100)
        argv = xdp.wrapped([labs.PYTHON, "-c", CONNECTS, xdp.peer_ip])
        with xdp.server.start(argv, name="one") as one, xdp.server.start(argv, name="two") as two:
            both = (one, two)
            proc.wait_until(lambda: all(" " in p.text() for p in both), "80 connections")
            first, last = map(int, xdp.server.run(["cat", RANGE]).stdout.split())
            parts = {
                frozenset((int(word) - first) // ((last - first + 1) // 8) for word in words)
                for words in ([w for w in p.text().split() if w.isdigit()] for p in both)
            }
            assert parts == {frozenset({0}), frozenset({1})}  # one eighth of the ports for each


SERVES = "import socket\ns = socket.create_server(('', 7300))\nwhile s.accept():\n  pass"


def test_what_does_not_go_together_is_refused(xdp):
    netif = f"af_xdp:{xdp.pair.server_if}"

    def refusal(*netif_words: object, ip: str = xdp.ip) -> str:
        words = [labs.PYTHON, "-c", "import socket; socket.create_connection(('10.9.9.9', 9))"]
        options = ["--netif", *netif_words, "--ip", f"{ip}/24", "--ip6", f"{OWN}/64"]
        argv = [TOEHOLD, "run", "--require", "--engine", "inline", *options, "--"]
        done = xdp.server.run([*argv, *words], check=False)
        assert done.returncode != 0
        return done.stderr

    argv = [labs.PYTHON, "-c", SERVES]
    with xdp.app(argv, port=7300) as server:
        assert "already served by process" in refusal(netif)
        assert "another number in workers(): use the same" in refusal(f"workers(4):{netif}")
        other = refusal(f"workers(8):{netif}", ip="10.77.0.9")
        assert "another interface or address: use the same options" in other
        assert "workers(1): write workers(N):SPEC, N from 2 to 64" in refusal(f"workers(1):{netif}")
        server.kill()
    assert "several workers need af_xdp:IFNAME" in refusal("workers(4):pcap:in=/dev/null")
    toed = xdp.server.run(
        [TOED, "--netif", "workers(4):tap:toe9", "--ip", "10.78.9.2/24"], check=False
    )
    assert toed.returncode == 3
    assert "only for an engine within a program" in toed.stderr
