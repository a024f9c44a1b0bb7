# SPDX-License-Identifier: Apache-2.0
"""A bound address is the source of the connection, whichever stack has that address (bind(2))."""

from __future__ import annotations

import socket

import pytest

from tests.lab import lab as labs

CONNECT = """
import errno, socket, sys
family, own, at = int(sys.argv[1]), sys.argv[2], (sys.argv[3], int(sys.argv[4]))
c = socket.socket(family)
if sys.argv[5] == "no_port":
    c.setsockopt(socket.SOL_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
c.bind((own, 0))
try:
    c.connect(at)
    print(c.getsockname()[0])
except OSError as e:
    print(errno.errorcode[e.errno])
"""


def connect(lab, own: str, at: tuple[str, int], *, no_port=False, require=False) -> str:
    """Connects from `own` to `at`. Returns the socket's own address, or the name of the error."""
    family = socket.AF_INET6 if ":" in own else socket.AF_INET
    if family == socket.AF_INET6:
        at = (f"::ffff:{at[0]}", at[1])
    argv = [labs.PYTHON, "-c", CONNECT, int(family), own, *at, "no_port" if no_port else "-"]
    return lab.run(argv, require=require).stdout.strip()


@pytest.mark.parametrize("mapped", ["", "::ffff:"])
@pytest.mark.parametrize("no_port", [False, True])
def test_an_address_of_the_kernel(lab, peer_listener, no_port, mapped):
    own = mapped + lab.kernel_ip
    assert connect(lab, own, peer_listener.getsockname(), no_port=no_port) == own
    with peer_listener.accept()[0] as peer:
        assert peer.getpeername()[0] == lab.kernel_ip


@pytest.mark.parametrize("mapped", ["", "::ffff:"])
@pytest.mark.parametrize("no_port", [False, True])
def test_an_address_of_the_toe(lab, peer_listener, no_port, mapped):
    own = mapped + lab.ip
    found = connect(lab, own, peer_listener.getsockname(), no_port=no_port, require=True)
    assert found == own
    with peer_listener.accept()[0] as peer:
        assert peer.getpeername()[0] == lab.ip


@pytest.mark.toehold_only
def test_required(lab, peer_listener):
    """Under --require the connection fails, as listen() at that address does."""
    at = peer_listener.getsockname()
    assert connect(lab, lab.kernel_ip, at, require=True) == "EADDRNOTAVAIL"


def test_loopback_as_the_source(lab, peer_listener):
    """Linux does not route from 127.0.0.0/8 to another host."""
    assert connect(lab, "127.0.0.2", peer_listener.getsockname()) == "EINVAL"
