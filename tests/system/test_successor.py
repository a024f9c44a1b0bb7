# SPDX-License-Identifier: Apache-2.0
"""A program with its own engine, or a toed, that starts again: the first SYN of the successor opens
a connection that the peer has in TIME-WAIT (RFC 6191), as with Linux, whose secret lasts until the
next boot.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_inline import Inline

from tests.lab import lab as labs
from tests.lab import proc
from tests.lab.frames import ACK, RST, SYN
from tests.lab.robot import PORT, Robot

pytestmark = pytest.mark.toehold_only

OWN_PORT = 47000
# With secrets of their own all these would follow by chance once in a hundred runs.
TIMES = 6

# Connects from a port of its own choice, and closes after the peer.
_CLIENT = """
import socket, sys
own, port, peer, peer_port = sys.argv[1:]
with socket.socket() as s:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((own, int(port)))
    s.connect((peer, int(peer_port)))
    assert s.recv(1) == b""
"""


@contextlib.contextmanager
def listener(lab: labs.Lab) -> Iterator[socket.socket]:
    with lab.client.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((lab.peer_ip, PORT))
        s.listen()
        s.settimeout(30)
        yield s


def in_time_wait(lab: labs.Lab) -> bool:
    asked = ["ss", "-Htan", "state", "time-wait", "sport", "=", f":{PORT}"]
    return f"{lab.ip}:{OWN_PORT}" in lab.client.run(asked).stdout


def sent(capture: Path, own: str) -> list[int]:
    """The flags of the TCP segments that the address has sent, from a pcap file."""
    data, at, flags = capture.read_bytes(), 24, []
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frame = data[at + 16 : at + 16 + length]
        at += 16 + length
        if frame[12:14] == b"\x08\x00" and frame[23] == 6:
            header = 14 + 4 * (frame[14] & 15)
            if frame[26:30] == socket.inet_aton(own):
                flags.append(frame[header + 13])
    return flags


@pytest.mark.parametrize("engine", ["inline", "thread"])
def test_a_program_that_starts_again(tmp_path, engine):
    with Inline(engine) as lab, listener(lab) as peer:
        argv = [labs.PYTHON, "-c", _CLIENT, lab.ip, OWN_PORT, lab.peer_ip, PORT]
        for n in range(TIMES):
            capture = tmp_path / f"{n}.pcap"
            netif = f"tee({capture}):af_xdp:{lab.pair.server_if}"
            with lab.app(argv, more=["--netif", netif]) as client:
                peer.accept()[0].close()
                assert client.wait(30) == 0
            proc.wait_until(lambda: in_time_wait(lab), "the peer is in TIME-WAIT")
            flags = sent(capture, lab.ip)
            assert not [f for f in flags if f & RST], f"start {n}: {flags}"
            assert len([f for f in flags if f & (SYN | ACK) == SYN]) == 1, f"start {n}: {flags}"


def test_a_toed_that_starts_again(lab):
    """... after it was killed, so that it hands nothing over."""
    with listener(lab) as peer:
        for _ in range(TIMES):
            with Robot(lab) as robot:
                robot("s = socket.socket()")
                robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
                robot("s.bind(at)", at=(lab.ip, OWN_PORT))
                robot.tell("s.connect(at)", at=(lab.peer_ip, PORT))
                peer.accept()[0].close()
                robot.result()
                assert robot("s.recv(1)") == b""
                robot("s.close()")
                proc.wait_until(lambda: in_time_wait(lab), "the peer is in TIME-WAIT")
                assert (lab.counter("tcp_rst_sent"), lab.counter("tcp_bad_ack")) == (0, 0)
            lab.wait_idle()
            lab.toed.kill()
            lab.toed.start()
