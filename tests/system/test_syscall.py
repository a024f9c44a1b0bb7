# SPDX-License-Identifier: Apache-2.0
"""System calls that libraries make by syscall(2): carried as the C library's functions are."""

from __future__ import annotations

import socket

import pytest

from tests.lab import paths, proc
from tests.lab.robot import take

PORT = 7100
# On Linux a child on its parent's stack returns through the C library's frame and breaks it, so no
# program makes one by syscall(2) there. libtoe gives it a copy of the memory.
ON_ITS_PARENTS_STACK = [
    pytest.param(how, marks=pytest.mark.toehold_only) for how in ("vfork", "clone-vfork")
]
CHILDREN = ["fork", "clone", "clone3", "clone-pid", *ON_ITS_PARENTS_STACK]


def converse(connect, process: proc.Proc) -> str:
    """Twelve bytes each way, then the peer ends after the program. Returns what that printed."""
    with connect() as peer:
        peer.settimeout(proc.seconds(20))
        peer.sendall(b"abcdefghijkl")
        assert take(peer, 12) == b"xy" * 6
        assert peer.recv(1) == b""  # the program's shutdown
    assert process.wait(timeout=20) == 0, process.tail()
    return process.text()


def start(lab, how: str) -> proc.Proc:
    argv = [paths.built("bynumber"), how, lab.ip, PORT]
    return lab.app(argv, name=f"bynumber-{how}", says="listen: 0")


@pytest.mark.sanitize
@pytest.mark.shows("syscall", verdict="works")
def test_every_call_returns_what_linux_returns(lab):
    ours = converse(lambda: lab.connect(PORT), start(lab, "calls"))
    argv = [paths.built("bynumber"), "calls", lab.peer_ip, PORT]
    linux = lab.peer(argv, name="bynumber", says="listen: 0")
    there = converse(lambda: lab.client.connect(lab.peer_ip, PORT, timeout=10), linux)
    lines = [line for line in ours.splitlines() if not line.startswith("toehold:")]
    assert lines == there.splitlines()
    assert len(lines) > 40
    lab.wait_no_flows()  # every close reached the TOE


@pytest.mark.sanitize
@pytest.mark.parametrize("how", CHILDREN)
@pytest.mark.shows("syscall: clone, clone3, fork, vfork", verdict="works")
def test_a_child_has_the_connection(lab, how):
    """Children made without pthread_atfork() handlers: as after fork(), also by another number."""
    server = start(lab, how)
    for n in range(5):
        with lab.connect(PORT) as peer:
            peer.settimeout(proc.seconds(20))
            port = peer.getsockname()[1]
            greeting = f"child by {how}, family {socket.AF_INET:d}, port {port}\n".encode()
            assert take(peer, len(greeting)) == greeting
            data = bytes([n]) * 40000
            peer.sendall(data)
            assert take(peer, len(data)) == data
        proc.wait_until(
            lambda n=n: server.text().count("child ended with 0") == n + 1, "the child's end"
        )
    lab.wait_no_flows()
    server.stop()
