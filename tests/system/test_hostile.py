# SPDX-License-Identifier: Apache-2.0
"""Programs that attach to toed and break every rule (programs/hostile.c), beside honest ones."""

from __future__ import annotations

import contextlib
import json
import socket
import threading

import pytest

from tests.lab import lab as labs
from tests.lab import paths, proc
from tests.lab.flow import Flow
from tests.lab.robot import PORT, Robot

pytestmark = pytest.mark.toehold_only

MARK = "what one program sends no other sees"
ECHO = 7100
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
REFUSALS = ["bad_type", "bad_flow", "bad_length", "bad_state", "bad_value", "refused", "crossed"]


def echo(s: socket.socket) -> None:
    with s, contextlib.suppress(OSError):
        while data := s.recv(65536):
            s.sendall(data)


def serve(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            s, _ = listener.accept()
            threading.Thread(target=echo, args=[s], daemon=True).start()


@pytest.fixture
def server(make_lab):
    """A toed that user `nobody` may attach to, and an echo server on the peer."""
    lab = make_lab(args=["--user", "nobody"])
    with lab.client.socket() as listener:
        listener.bind((lab.peer_ip, ECHO))
        listener.listen(128)
        threading.Thread(target=serve, args=[listener], daemon=True).start()
        yield lab
        listener.shutdown(socket.SHUT_RDWR)


def hostile(lab, seed: int, lives: int) -> proc.Proc:
    argv = [paths.built("hostile"), lab.toed.socket, seed, lives, lab.peer_ip, PORT, ECHO, MARK]
    return lab.server.start([*NOBODY, *argv], name="hostile")


@pytest.mark.sanitize
@pytest.mark.parametrize("lives", [25, pytest.param(1500, marks=pytest.mark.long)])
def test_hostile_programs(server, lives):
    """They harm only themselves; each rejection is counted; all their resources are freed."""
    lab = server
    before = lab.footprint()
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            flow = Flow(robot, peer, mark=MARK.encode())
            flow.goes_on()
            bad = [hostile(lab, labs.SEED * 10 + n, lives) for n in range(3)]
            rounds = 0
            while any(b.poll() is None for b in bad):
                flow.goes_on(100_000)
                # No other process gets connections to the port of an honest one.
                with lab.connect(PORT) as s:
                    robot.accept("other")
                    s.sendall(b"hello")
                    assert robot("other.recv(5)") == b"hello"
                    robot("other.close()")
                rounds += 1
            assert rounds >= 1
            counters = lab.toed.stats()
            told = [json.loads(b.text().splitlines()[-1]) for b in bad]
            flow.goes_on()
            flow.end()
        robot("s.close(); listener.close()")
    total = {name: sum(t[name] for t in told) for name in told[0]}
    assert (total["leaks"], total["resized"], total["written"]) == (0, 0, 0)
    assert min(total["attached"], total["refused"], total["halted"]) > 0, total
    engine = counters["engines"][0]["counters"]
    for name in [f"cmd_{what}" for what in REFUSALS] + ["qp_halted", "port_refused"]:
        assert engine[name] > 0, (name, engine)
    assert counters["control"]["refused"] >= total["refused"] > 0
    lab.wait_idle(timeout=90)
    proc.wait_until(lambda: lab.footprint()["fds"] <= before["fds"], "its descriptors are back")


OTHER = """
import errno, socket, sys
ip, port, peer, echo = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
def outcome(call):
    try:
        call()
    except OSError as e:
        return errno.errorcode[e.errno]
for at in (ip, ""):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    print(outcome(lambda: (s.bind((at, port)), s.listen())))
print(outcome(lambda: socket.create_connection((peer, echo), source_address=(ip, port))))
"""


def test_port_of_another_user(server):
    """The port is in use, as on Linux, even with SO_REUSEPORT; also as a source port."""
    lab = server
    ask = [*NOBODY, *lab.toed.wrapped(["/usr/bin/python3", "-c", OTHER])]
    with Robot(lab) as robot:
        robot.listen("0.0.0.0", PORT)
        said = lab.server.run([*ask, lab.ip, PORT, lab.peer_ip, ECHO], check=False)
        assert said.stdout.split() == ["EADDRINUSE"] * 3, said.stderr
        said = lab.server.run([*ask, lab.ip, PORT + 1, lab.peer_ip, ECHO], check=False)
        assert said.stdout.split()[0] == "None", said.stderr
