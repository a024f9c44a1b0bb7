# SPDX-License-Identifier: Apache-2.0
"""Node.js, Java, libuv and libevent under the TOE: their pollers, servers and clients."""

from __future__ import annotations

import hashlib
import json
import random

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, paths, proc

PORT = 8080
MB = 1_000_000
CLASSPATH = ":".join(
    f"/usr/share/java/netty-{part}.jar"
    for part in ("buffer", "codec", "codec-http", "common", "handler", "resolver", "transport")
)


@pytest.fixture(autouse=True)
def on_the_toe(lab):
    before = lab.counter("tcp_rx")
    yield
    assert labs.LINUX or lab.counter("tcp_rx") - before > 500


@pytest.fixture(scope="module")
def java(tmp_path_factory):
    """The command line of HttpJava."""
    folder = tmp_path_factory.mktemp("java")
    source = labs.PROGRAMS / "HttpJava.java"
    proc.run(["javac", "-cp", CLASSPATH, "-d", folder, source], timeout=120)
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{folder}:{CLASSPATH}", "HttpJava"]


@pytest.fixture(params=["node", "java", "netty", "libevent"])
def kind(request):
    return request.param


def command(request, kind: str, what: str) -> list[object]:
    """The command line of a server or client of that kind, without address and port."""
    if kind == "node":
        return ["node", labs.PROGRAMS / "http_node.js", what]
    if kind == "libevent":
        return [paths.built("http_libevent"), what]
    return [*request.getfixturevalue("java"), "netty" if kind == "netty" else what]


def check_server(lab) -> None:
    """A Linux client: kept and closed connections, 5 MB echoed, 10 MB."""
    kept = [nginx.Http(lab, PORT) for _ in range(20)]
    for _ in range(20):
        for web in kept:
            assert web.get("/hello") == b"hello\n"
    body = random.Random(labs.SEED).randbytes(5 * MB)
    response = kept[0].start("POST", "/echo", body=body)
    assert response.status == 200
    assert response.read() == body
    expected = b"0123456789abcdef" * (10 * MB // 16)
    assert kept[1].digest("/bytes/10000000") == hashlib.sha256(expected).hexdigest()
    for web in kept:
        web.__exit__()
    for _ in range(50):
        assert nginx.get(lab, "/hello", PORT) == b"hello\n"


def test_http_server(lab, request, kind):
    argv = command(request, kind, "serve")
    with lab.app([*argv, lab.ip, PORT], name=kind, says="ready"):
        check_server(lab)


@pytest.mark.parametrize("kind", ["node", "java", "libevent"])
def test_http_client(lab, request, kind):
    """Of the server of the same kind on the peer."""
    server = [*command(request, kind, "serve"), lab.peer_ip, PORT]
    with lab.peer(server, name=kind, says="ready"):
        said = lab.run([*command(request, kind, "client"), lab.peer_ip, PORT])
        told = json.loads(said.stdout)
    assert told.pop("hellos") == {"node": 500, "java": 400, "libevent": 300}[kind]
    assert told == {"echoed": True, "bytes": True}


@pytest.mark.parametrize("side", ["server", "client"])
def test_libuv(lab, side):
    """30 connections at once, 1 MB each way on each."""
    echo = paths.built("echo_libuv")
    start, run = (lab.app, lab.client.run) if side == "server" else (lab.peer, lab.run)
    ip = lab.ip if side == "server" else lab.peer_ip
    with start([echo, "serve", ip, PORT], says="ready"):
        assert run([echo, "client", ip, PORT, 30, MB]).stdout == "ok\n"
