# SPDX-License-Identifier: Apache-2.0
"""OpenSSH: sshd at a TOE's address, which executes itself for each connection, and the clients."""

from __future__ import annotations

import random

import pytest

from tests.lab import lab as labs
from tests.lab import ssh

MB = 1_000_000


@pytest.fixture(autouse=True)
def on_the_toe(lab):
    before = lab.counter("tcp_rx")
    yield
    assert labs.LINUX or lab.counter("tcp_rx") - before > 20


@pytest.fixture(params=["server", "client"])
def ends(request, lab, tmp_path):
    """The namespace of the client, the command that starts a client there, the server's address,
    for a server under test and for a client; the server's log."""
    if request.param == "server":
        with lab.app(ssh.server(tmp_path, lab.ip), name="sshd", port=ssh.PORT) as server:
            yield lab.client, list, lab.ip, server.text
            assert server.poll() is None
    else:
        wrapped = lab.toed.wrapped if lab.toed else list
        with lab.peer(ssh.server(tmp_path, lab.peer_ip), name="sshd", port=ssh.PORT) as server:
            yield lab.server, wrapped, lab.peer_ip, server.text


def test_commands(ends, tmp_path):
    """Several connections, one after the other; the exit code is returned."""
    ns, wrapped, address, _log = ends
    for n in range(3):
        argv = ssh.client(tmp_path, address, f"echo hello {n}; exit {n}")
        done = ns.run(wrapped(argv), check=False)
        assert (done.stdout, done.returncode) == (f"hello {n}\n", n), done.stderr


def test_session(ends, tmp_path):
    """A shell answers line by line and sees the client's address; the log has it too."""
    ns, wrapped, address, log = ends
    with ssh.Session(ns, wrapped(ssh.client(tmp_path, address, "sh"))) as session:
        client, port, server, at = session("echo $SSH_CONNECTION").split()
        assert (server, int(at)) == (address, ssh.PORT)
        assert client != address
        assert f"Accepted publickey for root from {client} port {port} " in log()
        for n in range(50):
            assert session(f"echo $(({n} * {n}))") == str(n * n)
        assert session.end() == 0


def test_files(ends, tmp_path):
    """scp of 10 MB, there and back."""
    ns, wrapped, address, _log = ends
    data = random.Random(labs.SEED).randbytes(10 * MB)
    (tmp_path / "here").write_bytes(data)
    there = f"{address}:{tmp_path}/there"
    for paths in ((tmp_path / "here", there), (there, tmp_path / "back")):
        ns.run(wrapped(ssh.client(tmp_path, *paths, program="scp")))
    assert (tmp_path / "there").read_bytes() == data
    assert (tmp_path / "back").read_bytes() == data
