# SPDX-License-Identifier: Apache-2.0
"""Attacks on a whole TOE that serves nginx; docs/SECURITY.md lists the others.

During each attack honest clients are served and memory does not grow; afterwards no state remains.
"""

from __future__ import annotations

import os
import socket

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, proc

ROOM = {"TOEHOLD_SLOTS": "4096", "TOEHOLD_TX_SIZE": "8192", "TOEHOLD_RX_SIZE": "8192"}
HELD = 2000


def anon_kib(lab: labs.Lab) -> int:
    """Memory of toed; 0 for one with sanitizers, which keep freed memory."""
    return 0 if "TOEHOLD_TOED_BUILD" in os.environ else lab.footprint()["anon_kib"]


def test_flood_of_syns_from_everywhere(make_lab, tmp_path):
    # Replies to the flood are sent to the peer, as to a router.
    lab = make_lab(args=["--gateway", "10.77.0.2"])
    with nginx.start(lab, tmp_path):
        assert nginx.get(lab, "/hello") == b"hello\n"
        before = anon_kib(lab)
        flood = lab.peer(["hping3", "--flood", "--rand-source", "-q", "-S", "-p", "80", lab.ip])
        try:
            proc.wait_until(lambda: lab.counter("tcp_cookies_sent") > 10_000, "the flood is on")
            for _ in range(20):
                assert nginx.get(lab, "/hello") == b"hello\n"
            proc.wait_until(lambda: lab.counter("tcp_cookies_sent") > 100_000, "it continues")
            assert lab.usage("flows") <= 1024
            assert anon_kib(lab) <= before + 4096
        finally:
            flood.kill()
        assert nginx.get(lab, "/hello") == b"hello\n"
    lab.wait_idle(timeout=120)


@pytest.mark.parametrize("clients", [HELD, pytest.param(10_000, marks=pytest.mark.long)])
def test_slow_clients(make_lab, tmp_path, clients):
    lab = make_lab(args=["--max-flows", clients + 1000])
    env = ROOM | {"TOEHOLD_SLOTS": "16384"} if clients > 4000 else ROOM
    started = nginx.start(lab, tmp_path, connections=clients + 1000, env=env)
    with started, labs.closing_all() as slow:
        for _ in range(clients):
            slow.append(lab.connect(80, timeout=60))
        request = b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        for byte in request[:20]:
            for s in slow:
                s.send(bytes([byte]))
            assert nginx.get(lab, "/hello") == b"hello\n"
        for s in slow[:50]:  # slow, and served in the end
            s.sendall(request[20:])
        for s in slow[:50]:
            got = b""
            while chunk := s.recv(4096):
                got += chunk
            assert got.endswith(b"hello\n")
    lab.wait_no_flows()


def test_windows_shut(make_lab, tmp_path):
    lab = make_lab(args=["--max-flows", 3000])
    with nginx.start(lab, tmp_path, connections=3000, env=ROOM):
        nginx.make_file(tmp_path / "files" / "1m", 1 << 20)
        assert nginx.get(lab, "/hello") == b"hello\n"
        with labs.closing_all() as held:
            for _ in range(HELD):
                s = lab.connect(80, timeout=60)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                s.sendall(b"GET /1m HTTP/1.1\r\nHost: x\r\n\r\n")
                held.append(s)
            # Each uses the buffers allocated with its slot, and no others.
            most = anon_kib(lab)
            for _ in range(20):
                assert nginx.get(lab, "/hello") == b"hello\n"
            assert anon_kib(lab) <= most + 1024
            assert lab.usage("flows") >= HELD
        lab.wait_no_flows(timeout=60)
        assert nginx.get(lab, "/hello") == b"hello\n"
