# SPDX-License-Identifier: Apache-2.0
"""Python's own servers and clients under the TOE: http.server, asyncio, threads, forks."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading

import pytest

from tests.lab import lab as labs
from tests.lab import nginx

PORT = 9000


def exchange(s: socket.socket, data: bytes) -> None:
    """Sends data and compares the echo."""
    sender = threading.Thread(target=s.sendall, args=[data])
    sender.start()
    got = bytearray()
    while len(got) < len(data):
        chunk = s.recv(1 << 16)
        assert chunk, f"closed after {len(got)} of {len(data)} bytes"
        got += chunk
    sender.join()
    assert got == data


@pytest.mark.sanitize
def test_http_server(lab, tmp_path):
    digest = nginx.make_file(tmp_path / "large", 10_000_000)
    argv = [labs.PYTHON, "-u", "-m", "http.server", PORT, "--bind", lab.ip]
    with lab.app([*argv, "--directory", tmp_path], name="http.server", port=PORT):
        for _ in range(20):
            with nginx.Http(lab, PORT) as http:
                assert http.digest("/large") == digest


@pytest.mark.sanitize
def test_asyncio_server(lab):
    rng = random.Random(labs.SEED)
    server = lab.script("echo_asyncio.py", "serve", lab.ip, PORT, says="ready")
    with server, labs.closing_all() as sockets:
        for _ in range(100):
            sockets.append(lab.connect(PORT))
        for _ in range(3):
            for s in sockets:
                exchange(s, rng.randbytes(rng.randrange(1, 20_000)))
        exchange(sockets[0], rng.randbytes(5_000_000))


@pytest.mark.sanitize
def test_asyncio_client(lab):
    with lab.peer_script("echo_asyncio.py", "serve", lab.peer_ip, PORT, says="ready"):
        args = ["client", lab.peer_ip, PORT, 50, 20, 100_000]
        assert lab.case("echo_asyncio.py", *args) == {"connections": 50}


@pytest.mark.parametrize("kind", ["threads", "forking", "prefork", "epoll1", "shared"])
def test_servers(lab, kind):
    rng = random.Random(labs.SEED)
    told = set()
    with lab.script("servers.py", kind, lab.ip, PORT, says="ready"):
        with labs.closing_all() as sockets:
            # Each process of the pre-forking kinds that block serves one connection at a time.
            for _ in range(3 if kind == "prefork" else 60):
                s = lab.connect(PORT)
                sockets.append(s)
                if kind in ("prefork", "epoll1"):
                    told.add(int(s.makefile("rb", buffering=0).readline()))
                exchange(s, rng.randbytes(100_000))
            exchange(sockets[-1], rng.randbytes(1_000_000))
        for _ in range(100):
            with lab.connect(PORT) as s:
                if kind in ("prefork", "epoll1"):
                    told.add(int(s.makefile("rb", buffering=0).readline()))
                exchange(s, b"one more")
    if kind in ("prefork", "epoll1") and not labs.LINUX:
        assert len(told) == 4, told


def test_prefork_child_killed_others_serve(lab):
    with lab.script("servers.py", "epoll1", lab.ip, PORT, says="ready") as server:
        victim = server.children()[0]
        os.kill(victim, signal.SIGKILL)
        # The others take over its share; a connection already assigned to it may be reset.
        served = 0
        for _ in range(100):
            try:
                with lab.connect(PORT) as s:
                    told = int(s.makefile("rb", buffering=0).readline())
                    assert told != victim
                    exchange(s, b"hello")
                    served += 1
            except (ConnectionError, ValueError):
                pass
        assert served >= 95
