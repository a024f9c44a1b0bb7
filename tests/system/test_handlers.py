# SPDX-License-Identifier: Apache-2.0
"""Handlers of signals that interrupt calls on sockets, and do as they like."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab.robot import PORT

SOURCE = Path(__file__).parents[1] / "programs" / "handler.c"


def echo(s: socket.socket) -> None:
    with s, contextlib.suppress(OSError):
        while data := s.recv(65536):
            s.sendall(data)


@pytest.fixture
def server(peer_listener):
    """The peer echoes, on each connection by a thread."""
    threads = []

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                s, _ = peer_listener.accept()
                s.settimeout(labs.proc.seconds(20))
                threads.append(threading.Thread(target=echo, args=(s,)))
                threads[-1].start()

    threads.append(threading.Thread(target=accept))
    threads[-1].start()
    yield
    with contextlib.suppress(OSError):
        peer_listener.shutdown(socket.SHUT_RDWR)
    for t in threads:
        t.join()


@pytest.mark.shows("fork: in a signal handler")
@pytest.mark.parametrize("threads", ["", "+"])
@pytest.mark.parametrize("how", ["fork", "use", "exec"])
def test_handler(lab, server, tmp_path, how, threads):
    program = tmp_path / "handler"
    labs.proc.run(["cc", "-O1", "-pthread", "-o", program, SOURCE])
    rounds = {"fork": 400, "use": 1000, "exec": 60}[how]
    with lab.app([program, how + threads, lab.peer_ip, PORT, rounds]) as running:
        assert running.wait(60) == 0, running.text()
        assert int(running.text().split()[-2]) >= rounds  # one more may have come at the end
