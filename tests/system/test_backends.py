# SPDX-License-Identifier: Apache-2.0
"""The other ways to the network: TAP, a wire between two toeds, several engines."""

from __future__ import annotations

import contextlib
import types

import pytest
import test_impaired

from tests.apps import test_memcached
from tests.lab import lab as labs
from tests.lab import netns, nginx, proc, toed

MB = 1_000_000

pytestmark = pytest.mark.toehold_only


@pytest.mark.sanitize
def test_tap(make_lab, tmp_path):
    lab = make_lab(mode="tap")
    with nginx.start(lab, tmp_path, workers=2):
        for _ in range(100):
            assert nginx.get(lab, "/hello") == b"hello\n"
        digest = nginx.make_file(tmp_path / "files/large", 20 * MB)
        with nginx.Http(lab) as http:
            assert http.digest("/large") == digest
    test_impaired.transfer(lab, 5 * MB, server_under_test=False, limit=60)
    lab.client.ping(lab.ip, "-s", 4000)
    lab.wait_idle()


@contextlib.contextmanager
def two_toeds(tmp_path, *, args=(), server_args=(), capture=None):
    """A server side and a client side, both on Toehold: no kernel between them. The file `capture`
    gets the client's traffic."""
    with netns.Pair() as pair, contextlib.ExitStack() as stack:
        wire = f"wire:{tmp_path}/wire"
        args_a = [*args, *server_args]
        server = stack.enter_context(toed.Toed(pair, netif=f"{wire},side=a", args=args_a))
        other = types.SimpleNamespace(
            server=pair.client,
            server_ip=pair.client_ip,
            prefix_len=pair.prefix_len,
            mtu=pair.mtu,
            server_if=None,
        )
        tee = f"tee({capture}):" if capture else ""
        client = stack.enter_context(toed.Toed(other, netif=f"{tee}{wire},side=b", args=args))
        yield server, client


@pytest.mark.sanitize
def test_wire_between_two_toeds(tmp_path):
    with two_toeds(tmp_path) as (server, client):
        argv = nginx.configuration(tmp_path, f"{server.ip}:80")
        with server.app(argv) as web:
            digest = nginx.make_file(tmp_path / "files/large", 50 * MB)
            nginx.proc.wait_until(
                lambda: server.usage("listeners") > 0, "nginx listens", proc=web, timeout=20
            )
            got = tmp_path / "got"
            curl = ["curl", "-sS", "--max-time", 60, "-o", got, f"http://{server.ip}/large"]
            client.pair.server.run(client.wrapped(curl))
            assert nginx.hashlib.sha256(got.read_bytes()).hexdigest() == digest
            curl = ["curl", "-sS", "--max-time", 60, "-T", got, f"http://{server.ip}/uploaded"]
            client.pair.server.run(client.wrapped(curl))
            data = (tmp_path / "files/uploaded").read_bytes()
            assert nginx.hashlib.sha256(data).hexdigest() == digest
            wrk = ["wrk", "-t1", "-c16", "-d1s", *nginx.PATIENT, f"http://{server.ip}/hello"]
            out = client.pair.server.run(client.wrapped(wrk)).stdout
            assert "Socket errors" not in out, out
            assert "Requests/sec" in out
        for end in (server, client):
            nginx.proc.wait_until(lambda end=end: end.usage("flows") == 0, "no flow", timeout=30)


@pytest.mark.sanitize
def test_two_engines(make_lab, tmp_path):
    """Flows live on either engine; each process attaches to both."""
    lab = make_lab(engines=2)
    with nginx.start(lab, tmp_path, workers=2):
        with labs.closing_all() as sockets:
            served = set()
            for _ in range(64):
                http = nginx.Http(lab)
                sockets.append(http.sock)
                served.add(http.get("/pid"))
            flows = [engine["usage"]["flows"] for engine in lab.toed.stats()["engines"]]
            assert len(flows) == 2
            assert min(flows) >= 10, flows
            assert sum(flows) == 64 == lab.toed.stats()["total"]["usage"]["flows"]
            assert len(served) == 2
        digest = nginx.make_file(tmp_path / "files/large", 20 * MB)
        for _ in range(4):
            with nginx.Http(lab) as http:
                assert http.digest("/large") == digest
    with nginx.start_on_peer(lab, tmp_path):
        # Active opens use a local port for which replies arrive at the same engine.
        out = lab.run(["curl", "-sS", "-Z", f"http://{lab.peer_ip}/hello?[1-60]"]).stdout
        assert out == "hello\n" * 60
    memcached = ["memcached", "-u", "root", "-l", lab.ip, "-p", 11211, "-U", 0, "-t", 4]
    with lab.app(memcached, port=11211):
        # If one engine serves the port, the other may not yet.
        proc.wait_until(
            lambda: all(e["usage"]["listeners"] for e in lab.toed.stats()["engines"]),
            "both engines have the listener",
        )
        clients = [test_memcached.Client(lab.connect(11211)) for _ in range(50)]
        for n, c in enumerate(clients):
            c.set(b"k%d" % n, b"v%d" % n)
        for n, c in enumerate(clients):
            assert c.get(b"k%d" % (49 - n)) == b"v%d" % (49 - n)
            c.__exit__()
    lab.wait_idle()


@pytest.mark.sanitize
def test_capture_of_what_passes(make_lab, tmp_path):
    """tee(FILE) writes both directions as tcpdump can read them."""
    capture = tmp_path / "wire.pcap"
    lab = make_lab(tee=capture)
    with nginx.start(lab, tmp_path):
        assert nginx.get(lab, "/hello") == b"hello\n"
    lab.wait_idle()
    lab.toed.stop()
    out = lab.server.run(["tcpdump", "-nn", "-r", capture, "tcp"]).stdout
    for one_way in (f"{lab.peer_ip}.", f"{lab.ip}.80 > {lab.peer_ip}."):
        assert one_way in out
    assert "Flags [S]" in out
    assert "Flags [S.]" in out
    assert "HTTP/1.1 200 OK" in out


def test_queues_without_an_engine_are_reported():
    """Flows that a card spreads over them would be lost."""
    with netns.Pair(queues=2) as pair:
        with toed.Toed(pair) as one:
            proc.wait_until(lambda: "ready" in one.proc.text(), "ready", proc=one.proc)
            assert "2 receive queues, and 1 in use" in one.proc.text()
            assert "--engines 2" in one.proc.text()
        with toed.Toed(pair, engines=2) as both:
            proc.wait_until(lambda: "ready" in both.proc.text(), "ready", proc=both.proc)
            assert "in use" not in both.proc.text()
