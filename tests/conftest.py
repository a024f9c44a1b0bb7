# SPDX-License-Identifier: Apache-2.0
"""Fixtures and markers of the tests with real programs."""

from __future__ import annotations

import os
import resource
import socket
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.lab import lab as labs
from tests.lab.robot import PORT, Robot


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "long: takes minutes, for `make test-long`; skipped elsewhere",
        "sanitize: also run with a toed that was built with ASan and UBSan",
        "toehold_only: about toed itself; has no meaning in other modes",
        "shows(*rows, verdict): rows of docs/COMPATIBILITY.md that the test is evidence for",
    ):
        config.addinivalue_line("markers", line)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def pytest_report_header() -> str:
    return f"mode: {labs.MODE}, TOEHOLD_SEED={labs.SEED}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = config.getoption("markexpr")
    for item in items:
        if item.get_closest_marker("long") and "long" not in chosen:
            item.add_marker(pytest.mark.skip(reason="takes minutes: make test-long"))
        if item.get_closest_marker("toehold_only") and (labs.LINUX or labs.GATEWARE):
            item.add_marker(pytest.mark.skip(reason=f"mode {labs.MODE}"))


@pytest.fixture(scope="module")
def _shared_lab():
    if os.geteuid() != 0:
        pytest.fail("these tests make network namespaces: run them as root (sudo)")
    with labs.Lab(kernel=True) as lab:
        yield lab


@pytest.fixture
def lab(_shared_lab: labs.Lab):
    """The lab that the tests of a module share. Each test must leave the TOE as it was."""
    toed = _shared_lab.toed
    if toed and toed.proc.poll() is not None:
        toed.start()
    yield _shared_lab
    if toed:
        assert toed.proc.poll() is None, f"toed has ended{toed.proc.tail()}"
        _shared_lab.wait_idle()


@pytest.fixture
def make_lab():
    """Makes a lab for this test alone: make_lab(**arguments of Lab)."""
    made: list[labs.Lab] = []

    def make(**options: object) -> labs.Lab:
        made.append(labs.Lab(**options))
        return made[-1]

    yield make
    for lab in made:
        lab.close()


# ---- a process under test and its peer: test_sockets.py, test_streams.py, test_readiness.py, ...


@pytest.fixture
def robot(request, lab):
    """A process under test. An indirect parameter of the test is its environment."""
    with Robot(lab, env=getattr(request, "param", None)) as r:
        yield r


@pytest.fixture
def libc(robot):
    """The robot with call(name, ...), which returns the result of a libc function, or -errno."""
    robot("""
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    r = getattr(libc, name)(*args)
    return r if r != -1 else -ctypes.get_errno()
def words(*v):
    return struct.pack(f'{len(v)}i', *v)
""")
    return robot


@pytest.fixture
def peer_listener(lab):
    """A listening socket of the peer."""
    with lab.client.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((lab.peer_ip, PORT))
        s.listen(128)
        s.settimeout(labs.proc.seconds(20))
        yield s


@pytest.fixture
def accepted(lab, robot):
    """A connection from the peer that the robot accepted as `s`; the peer's end."""
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer:
        assert tuple(robot.accept()) == peer.getsockname()
        yield peer


@pytest.fixture
def connected(lab, robot, peer_listener):
    """A connection that the robot made as `s`; the peer's end."""
    robot("s = socket.create_connection(at)", at=(lab.peer_ip, PORT))
    peer, _ = peer_listener.accept()
    with peer:
        peer.settimeout(labs.proc.seconds(20))
        yield peer


@pytest.fixture(params=["accepted", "connected"])
def peer(request):
    """Both of them."""
    return request.getfixturevalue(request.param)
