# SPDX-License-Identifier: Apache-2.0
"""haproxy under the TOE in front of nginx: on the peer, on the loopback, under the TOE too."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tests.lab import nginx

MB = 1_000_000
FRONT = 8080

_CONFIG = """
global
    maxconn 2000
    nbthread {threads}
defaults
    mode {mode}
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend web
    bind {listen}
    default_backend servers
backend servers
    server one {backend}
"""


def start(lab, folder: Path, backend: str, *, mode: str = "http", threads: int = 1):
    config = folder / "haproxy.cfg"
    listen = f"{lab.ip}:{FRONT}"
    config.write_text(_CONFIG.format(mode=mode, listen=listen, backend=backend, threads=threads))
    return lab.app(["haproxy", "-db", "-f", config], port=FRONT)


@pytest.fixture(params=["peer", "loopback", "both"])
def backend(request, lab, tmp_path):
    """Starts nginx, serving tmp_path/files, at a given place; returns its HOST:PORT."""
    with contextlib.ExitStack() as stack:
        if request.param == "peer":
            stack.enter_context(nginx.start_on_peer(lab, tmp_path))
            yield f"{lab.peer_ip}:80"
        elif request.param == "loopback":
            argv = nginx.configuration(tmp_path, "127.0.0.1:80")
            server = stack.enter_context(lab.server.start(argv, name="kernel-nginx"))
            nginx.proc.wait_port(lab.server, "127.0.0.1", 80, proc=server)
            yield "127.0.0.1:80"
        else:
            # Under the TOE and on the wildcard address: the kernel's loopback reaches it too.
            argv = nginx.configuration(tmp_path, "80")
            stack.enter_context(lab.app(argv, port=80))
            yield "127.0.0.1:80"


@pytest.mark.sanitize
@pytest.mark.parametrize("threads", [1, 2])
def test_requests_pass(lab, tmp_path, backend, threads):
    with start(lab, tmp_path, backend, threads=threads):
        for _ in range(100):
            assert nginx.get(lab, "/hello", FRONT) == b"hello\n"
        connections = [nginx.Http(lab, FRONT) for _ in range(20)]
        for _ in range(20):
            for http in connections:
                assert http.get("/hello") == b"hello\n"
        for http in connections:
            http.__exit__()


@pytest.mark.parametrize("mode", ["http", "tcp"])
def test_files_pass_both_ways(lab, tmp_path, backend, mode):
    """Buffers of haproxy are smaller than the file: its flow control and the TOE's meet."""
    digest = nginx.make_file(tmp_path / "files/large", 20 * MB)
    with start(lab, tmp_path, backend, mode=mode), nginx.Http(lab, FRONT) as http:
        assert http.digest("/large") == digest
        body = (tmp_path / "files/large").read_bytes()
        response = http.start("PUT", "/uploaded", body=body)
        assert response.status == 201
        response.read()
        assert (tmp_path / "files/uploaded").read_bytes() == body


def test_backend_down_and_up_again(lab, tmp_path):
    with start(lab, tmp_path, f"{lab.peer_ip}:80"):
        with nginx.Http(lab, FRONT) as http:
            assert http.start("GET", "/hello").status == 503
        with nginx.start_on_peer(lab, tmp_path):
            assert nginx.get(lab, "/hello", FRONT) == b"hello\n"
