# SPDX-License-Identifier: Apache-2.0
"""curl under the TOE as the client of a Linux nginx."""

from __future__ import annotations

import hashlib

import pytest

from tests.lab import nginx

MB = 1_000_000
REFUSED = 7  # curl's exit code


@pytest.fixture
def web(lab, tmp_path):
    """The address of an nginx on the peer; its files are in tmp_path/files."""
    with nginx.start_on_peer(lab, tmp_path):
        yield f"http://{lab.peer_ip}"


@pytest.mark.sanitize
def test_get(lab, web):
    assert lab.run(["curl", "-sS", f"{web}/hello"]).stdout == "hello\n"


def test_address_of_the_client(lab, tmp_path):
    """The peer sees the TOE's address (its kernel's own, in Linux mode)."""
    more = 'location = /who { return 200 "$remote_addr"; }'
    with nginx.start_on_peer(lab, tmp_path, more=more):
        out = lab.run(["curl", "-sS", f"http://{lab.peer_ip}/who", "-w", " %{local_ip}"]).stdout
        assert out == f"{lab.ip} {lab.ip}"


@pytest.mark.sanitize
def test_get_100_mb(lab, web, tmp_path):
    digest = nginx.make_file(tmp_path / "files/large", 100 * MB)
    lab.run(["curl", "-sS", "-o", tmp_path / "got", f"{web}/large"])
    assert hashlib.sha256((tmp_path / "got").read_bytes()).hexdigest() == digest


@pytest.mark.sanitize
def test_put_100_mb(lab, web, tmp_path):
    digest = nginx.make_file(tmp_path / "large", 100 * MB)
    lab.run(["curl", "-sS", "-f", "-T", tmp_path / "large", f"{web}/uploaded"])
    assert hashlib.sha256((tmp_path / "files/uploaded").read_bytes()).hexdigest() == digest


def test_many_requests_over_one_connection(lab, web):
    argv = ["curl", "-sS", "-w", "%{num_connects} ", f"{web}/hello?[1-200]"]
    out = lab.run(argv).stdout
    assert out.count("hello\n") == 200
    assert sum(int(n) for n in out.split() if n != "hello") == 1


def test_parallel_transfers(lab, web, tmp_path):
    digest = nginx.make_file(tmp_path / "files/some", 3 * MB)
    argv = ["curl", "-sS", "-Z", "--parallel-max", 30, "-o", tmp_path / "got#1"]
    lab.run([*argv, f"{web}/some?[1-60]"])
    for n in range(1, 61):
        assert hashlib.sha256((tmp_path / f"got{n}").read_bytes()).hexdigest() == digest


def test_refused(lab):
    done = lab.run(["curl", "-v", f"http://{lab.peer_ip}:81/"], check=False)
    assert done.returncode == REFUSED
    assert "Connection refused" in done.stderr


def test_ipv6_loopback_and_unix_stay_with_the_kernel(lab, tmp_path):
    """Without --require, connections that the TOE does not carry work as usual."""
    listen = "127.0.0.1:8080; listen [::1]:8080; listen unix:" + str(tmp_path / "web.sock")
    argv = nginx.configuration(tmp_path, listen)
    with lab.server.start(argv, name="kernel-nginx") as server:
        sock = tmp_path / "web.sock"
        nginx.proc.wait_until(sock.exists, "nginx listens", proc=server)
        for how in (
            ["http://127.0.0.1:8080/hello"],
            ["http://[::1]:8080/hello"],
            ["--unix-socket", sock, "http://x/hello"],
        ):
            done = lab.run(["curl", "-sS", *how], require=False)
            assert done.stdout == "hello\n"
