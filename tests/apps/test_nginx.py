# SPDX-License-Identifier: Apache-2.0
"""Debian's nginx, unmodified, under the TOE; Linux clients."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import socket
import threading
from collections import Counter

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, proc

MB = 1_000_000


@pytest.fixture(params=[1, 2], ids=["1-worker", "2-workers"])
def workers(request):
    return request.param


@pytest.mark.sanitize
def test_keep_alive(lab, tmp_path, workers):
    with nginx.start(lab, tmp_path, workers=workers):
        connections = [nginx.Http(lab) for _ in range(20)]
        for _ in range(100):
            for connection in connections:
                assert connection.get("/hello") == b"hello\n"
        for connection in connections:
            connection.sock.close()


@pytest.mark.sanitize
def test_one_request_per_connection(lab, tmp_path, workers):
    with nginx.start(lab, tmp_path, workers=workers):
        for _ in range(500):
            assert nginx.get(lab, "/hello") == b"hello\n"


def test_workers_that_gave_up_their_rights(lab, tmp_path, workers):
    """User `nobody` may not open toed's socket: a worker attaches before it drops its rights."""
    with nginx.start(lab, tmp_path, workers=workers, user="nobody nogroup"):
        for _ in range(50):
            assert nginx.get(lab, "/hello") == b"hello\n"


def test_pipelined_requests(lab, tmp_path, workers):
    count = 500
    request = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with nginx.start(lab, tmp_path, workers=workers), lab.connect(80) as s:
        s.sendall(request * (count - 1) + last)
        got = b"".join(iter(lambda: s.recv(65536), b""))
        assert got.count(b"HTTP/1.1 200 OK\r\n") == count
        assert got.count(b"hello\n") == count


@pytest.mark.sanitize
@pytest.mark.parametrize("sendfile", [True, False], ids=["sendfile", "writev"])
def test_get_100_mb(lab, tmp_path, sendfile):
    with nginx.start(lab, tmp_path, sendfile=sendfile):
        digest = nginx.make_file(tmp_path / "files/large", 100 * MB)
        with nginx.Http(lab) as web:
            assert web.digest("/large") == digest


@pytest.mark.sanitize
def test_put_100_mb(lab, tmp_path):
    with nginx.start(lab, tmp_path):
        digest = nginx.make_file(tmp_path / "large", 100 * MB)
        with nginx.Http(lab) as web:
            with (tmp_path / "large").open("rb") as body:
                headers = {"Content-Length": str(100 * MB)}
                response = web.start("PUT", "/uploaded", body=body, headers=headers)
                assert response.status == 201
                response.read()
            data = (tmp_path / "files/uploaded").read_bytes()
            assert nginx.hashlib.sha256(data).hexdigest() == digest


def test_files_of_every_small_size(lab, tmp_path):
    sizes = [0, 1, 255, 1447, 1448, 1449, 2896, 4095, 4096, 65535, 65536, 65537, 131072, 200_001]
    with nginx.start(lab, tmp_path):
        digests = {n: nginx.make_file(tmp_path / f"files/{n}", n, seed=n) for n in sizes}
        with nginx.Http(lab) as web:
            for n in sizes + sizes[::-1]:
                assert web.digest(f"/{n}") == digests[n]


def test_both_workers_get_connections(lab, tmp_path):
    with nginx.start(lab, tmp_path, workers=2) as server:
        served = Counter()
        # Connections held open at once, as a browser does: neither worker may take all of them.
        with labs.closing_all() as sockets:
            for _ in range(100):
                web = nginx.Http(lab)
                sockets.append(web.sock)
                served[int(web.get("/pid"))] += 1
        assert len(served) == 2, served
        assert set(served) <= set(server.children())
        if not labs.LINUX:  # spread by hash; Linux may wake any worker
            assert min(served.values()) >= 20, served


@pytest.mark.sanitize
def test_load_by_wrk(lab, tmp_path, workers):
    with nginx.start(lab, tmp_path, workers=workers):
        url = f"http://{lab.ip}/hello"
        out = lab.client.run(["wrk", "-t1", "-c64", "-d1s", *nginx.PATIENT, url]).stdout
        assert "Socket errors" not in out, out
        assert "Non-2xx" not in out, out
        assert int(re.search(r"(\d+) requests in", out)[1]) > 64


@labs.gateware_lacks("no-moves")
def test_reload_keeps_serving(lab, tmp_path):
    with nginx.start(lab, tmp_path, workers=2) as server, lab.explaining_resets():
        before = set(server.children())
        with nginx.Http(lab) as kept:
            kept.get("/hello")
            server.send_signal(signal.SIGHUP)
            proc.wait_until(
                lambda: len(set(server.children()) - before) == 2, "new workers", proc=server
            )
            for _ in range(50):
                assert nginx.get(lab, "/hello") == b"hello\n"
        # Those of before end once their connections have.
        proc.wait_until(
            lambda: not before & set(server.children()), "old workers end", proc=server, timeout=30
        )
        for _ in range(50):
            assert int(nginx.get(lab, "/pid")) not in before


def test_clients_that_come_while_it_starts(lab, tmp_path):
    """Between listen() and the first worker: served, refused or reset, but not left hanging."""
    outcomes = Counter()
    ended = threading.Event()

    def client():
        while not ended.is_set():
            try:
                assert nginx.get(lab, "/hello") == b"hello\n"
                outcomes["served"] += 1  # (+= reads first: not around the get)
            except (ConnectionError, http.client.BadStatusLine):
                outcomes["turned away"] += 1

    threads = [threading.Thread(target=client) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            with nginx.start(lab, tmp_path, workers=2):
                before = outcomes["served"]
                proc.wait_until(lambda n=before: outcomes["served"] > n + 20, "clients are served")
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert not any(thread.is_alive() for thread in threads)
    assert outcomes["served"] > 100


def test_worker_killed_is_replaced(lab, tmp_path):
    with nginx.start(lab, tmp_path, workers=1) as server:
        with nginx.Http(lab) as web:
            worker = int(web.get("/pid"))
            os.kill(worker, signal.SIGKILL)
            web.sock.settimeout(proc.seconds(10))
            with contextlib.suppress(ConnectionResetError):
                assert web.sock.recv(1) == b""

        def served_by_another() -> bool:
            try:
                return int(nginx.get(lab, "/pid")) != worker
            except OSError:
                return False

        proc.wait_until(served_by_another, "a new worker serves", proc=server)


def test_graceful_quit_finishes_what_it_serves(lab, tmp_path):
    with nginx.start(lab, tmp_path) as server:
        digest = nginx.make_file(tmp_path / "files/large", 20 * MB)
        with nginx.Http(lab) as web:
            response = web.start("GET", "/large")
            server.send_signal(signal.SIGQUIT)
            assert nginx.hashlib.sha256(response.read()).hexdigest() == digest
        assert server.wait(20) == 0


@labs.gateware_lacks("1024-flows")
def test_1000_connections_at_once(lab, tmp_path):
    with nginx.start(lab, tmp_path, workers=2), labs.closing_all() as sockets:
        request = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
        for _ in range(1000):
            sockets.append(lab.connect(80))
        for s in sockets:
            s.sendall(request)
        for s in sockets:
            got = b""
            while not got.endswith(b"hello\n"):
                chunk = s.recv(4096)
                assert chunk, got
                got += chunk


def test_port_is_free_again_after_the_end(lab, tmp_path):
    for _ in range(3):
        with nginx.start(lab, tmp_path, workers=2):
            assert nginx.get(lab, "/hello") == b"hello\n"
        with pytest.raises(ConnectionRefusedError):
            lab.connect(80)


def test_port_is_free_again_for_an_old_client(lab, tmp_path):
    """Also refused if it comes from a port whose last connection is in TIME-WAIT."""

    def connect():
        s = lab.client.socket(socket.AF_INET)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.settimeout(proc.seconds(10))
        s.bind(("", 722))  # below the range from which connect() chooses
        s.connect((lab.ip, 80))
        return s

    with nginx.start(lab, tmp_path), connect() as s:
        s.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        while s.recv(65536):
            pass
    with pytest.raises(ConnectionRefusedError):
        connect()
