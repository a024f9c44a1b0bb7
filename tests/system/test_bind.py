# SPDX-License-Identifier: Apache-2.0
"""bind() to a port with connections, some in TIME-WAIT, after their listener has closed.

Linux is the reference: inet_csk_bind_conflict().
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import socket

import pytest
from test_ip6 import OWN as OWN6
from test_ip6 import PEER as PEER6
from test_ip6 import add_peer, wait_usable

from tests.lab import lab as labs
from tests.lab.robot import PORT, Robot

NONE, ADDR, SHARE, BOTH = WAYS = ((), ("ADDR",), ("PORT",), ("ADDR", "PORT"))
PORTS = itertools.count(PORT)
NAMES = ["none", "reuseaddr", "reuseport", "both"]


def agree(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Each pair must let the other in by one of the ways."""
    return bool(set(a) & set(b))


@pytest.fixture(scope="module")
def _shared_lab():
    args = () if labs.LINUX else ("--ip6", f"{OWN6}/64")
    with labs.Lab(args=args) as lab:
        add_peer(lab)
        if labs.LINUX:
            add = ["ip", "-6", "address", "add", f"{OWN6}/64", "dev", lab.pair.server_if, "nodad"]
            lab.server.run(add)
        wait_usable(lab, OWN6)
        yield lab


@pytest.fixture
def port():
    """One that no test before has left in TIME-WAIT."""
    return next(PORTS)


def make(robot: Robot, name: str, ways: tuple[str, ...], at: tuple[str, int], only6=False) -> None:
    """A socket of that name, bound there."""
    six = ":" in at[0]
    robot(f"{name} = socket.socket(socket.{'AF_INET6' if six else 'AF_INET'})")
    if six:
        robot(f"{name}.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, v)", v=int(only6))
    for way in ways:
        robot(f"{name}.setsockopt(socket.SOL_SOCKET, socket.SO_REUSE{way}, 1)")
    robot(f"{name}.bind(at)", at=at)


def bind(robot: Robot, at: tuple[str, int], ways: tuple[str, ...], only6=False) -> bool:
    """May a new socket be bound there? Then it listens, too."""
    try:
        make(robot, "new", ways, at, only6)
        robot("new.listen()")
    except OSError as e:
        assert e.errno == errno.EADDRINUSE
        return False
    finally:
        robot("new.close()")
    return True


def connect(lab: labs.Lab, own: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in own else socket.AF_INET
    s = lab.client.socket(family)
    s.settimeout(labs.proc.seconds(20))
    s.connect((own, port))
    return s


def serve(lab: labs.Lab, robot: Robot, own: str, port: int, ways=ADDR) -> socket.socket:
    """A connection that a listener accepted as `s`; the listener is closed."""
    make(robot, "listener", ways, (own, port))
    robot("listener.listen()")
    peer = connect(lab, own, port)
    robot.accept()
    robot("listener.close()")
    return peer


def to_time_wait(robot: Robot, peer: socket.socket) -> None:
    """The robot closes first."""
    robot("s.shutdown(socket.SHUT_WR)")
    assert peer.recv(1) == b""
    peer.close()
    assert robot("s.recv(1)") == b""
    robot("s.close()")


def own_of(lab: labs.Lab, family: str) -> str:
    return lab.ip if family == "4" else OWN6


@pytest.mark.sanitize
@pytest.mark.shows(
    "bind EADDRINUSE over a connection", "setsockopt SO_REUSEADDR", "setsockopt SO_REUSEPORT"
)
@pytest.mark.parametrize("family", ["4", "6"])
@pytest.mark.parametrize("ways", WAYS, ids=NAMES)
def test_over_a_connection(lab, robot, port, family, ways):
    """A connection has the reuse options that its listener had."""
    at = own_of(lab, family), port
    with serve(lab, robot, *at, ways) as peer:
        for new in WAYS:
            assert bind(robot, at, new) == agree(ways, new), new
        peer.sendall(b"on")
        assert robot("s.recv(10)") == b"on"
        robot("s.close()")


@pytest.mark.sanitize
@pytest.mark.shows("bind EADDRINUSE over TIME-WAIT")
@pytest.mark.parametrize("family", ["4", "6"])
@pytest.mark.parametrize("ways", WAYS, ids=NAMES)
def test_over_time_wait(lab, robot, port, family, ways):
    at = own_of(lab, family), port
    to_time_wait(robot, serve(lab, robot, *at, ways))
    lab.wait_no_flows(timeout=10)
    for new in WAYS:
        assert bind(robot, at, new) == agree(ways, new), new


def test_a_reset_leaves_nothing(lab, robot, port):
    with serve(lab, robot, lab.ip, port):
        robot(
            "s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close()"
        )
        assert bind(robot, (lab.ip, port), NONE)


def test_options_of_the_connection_count(lab, robot, port):
    """... its current options, not those of its listener."""
    at = lab.ip, port
    with serve(lab, robot, *at, ADDR):
        robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)")
        assert not bind(robot, at, ADDR)
        robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
        assert bind(robot, at, ADDR)
        robot("s.close()")


@pytest.mark.parametrize(
    ("held", "at", "only6", "may"),
    [
        ("4", "0.0.0.0", False, False),
        ("4", "127.0.0.1", False, True),
        ("4", "::", False, False),
        ("4", "::", True, True),
        ("4", OWN6, False, True),
        ("6", "::", False, False),
        ("6", "::", True, False),
        ("6", "::1", False, True),
        ("6", "0.0.0.0", False, True),
    ],
)
def test_addresses(lab, robot, port, held, at, only6, may):
    """An address conflicts with itself and with the wildcards that include it."""
    with serve(lab, robot, own_of(lab, held), port):
        assert bind(robot, (at, port), NONE, only6) == may
        assert bind(robot, (at, port), ADDR, only6)
        robot("s.close()")


def test_another_port_is_free(lab, robot, port):
    with serve(lab, robot, lab.ip, port):
        assert bind(robot, (lab.ip, port + 2000), NONE)
        robot("s.close()")


@pytest.mark.parametrize("family", ["4", "6"])
@pytest.mark.parametrize("ways", WAYS, ids=NAMES)
def test_a_port_that_was_connected_from(lab, robot, port, family, ways):
    """bind(), connect(), close(); then another bind() to the same port, and connect()."""
    peer_ip = lab.peer_ip if family == "4" else PEER6
    own = own_of(lab, family), port
    with lab.client.socket(socket.AF_INET if family == "4" else socket.AF_INET6) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((peer_ip, port + 2000))
        listener.listen()
        listener.settimeout(labs.proc.seconds(20))
        make(robot, "s", ways, own)
        robot("s.connect(at)", at=(peer_ip, port + 2000))
        peer, _ = listener.accept()
        with peer:
            assert not bind(robot, own, NONE), "while it is there"
            to_time_wait(robot, peer)
        lab.wait_no_flows(timeout=10)
        for new in WAYS:
            assert bind(robot, own, new) == agree(ways, new), new
        if not ways:
            return
        # to another place, from the port that is in TIME-WAIT to the first
        with lab.client.socket(socket.AF_INET if family == "4" else socket.AF_INET6) as second:
            second.bind((peer_ip, port + 3000))
            second.listen()
            second.settimeout(labs.proc.seconds(20))
            make(robot, "s", ways, own)
            robot("s.connect(at)", at=(peer_ip, port + 3000))
            with second.accept()[0] as other:
                assert other.getpeername()[:2] == own
                robot("s.close()")


def test_a_port_that_connect_chose(lab, robot, port):
    with lab.client.socket() as listener:
        listener.bind((lab.peer_ip, port + 2000))
        listener.listen()
        listener.settimeout(labs.proc.seconds(20))
        robot("s = socket.create_connection(at)", at=(lab.peer_ip, port + 2000))
        with listener.accept()[0]:
            own = robot("s.getsockname()")
            assert not bind(robot, own, NONE)
            assert not bind(robot, own, ADDR), "the other has not set the option"
            robot("s.close()")


def test_a_second_bind_is_invalid_all_the_same(lab, robot, port):
    with serve(lab, robot, lab.ip, port):
        make(robot, "t", ADDR, (lab.ip, port))
        robot("t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)")
        with pytest.raises(OSError, match="Invalid argument"):
            robot("t.bind(at)", at=(lab.ip, port))
        robot("t.close(); s.close()")


@pytest.mark.sanitize
@pytest.mark.parametrize("how", ["exit", "kill"])
def test_a_server_that_comes_back(lab, port, how):
    """The previous server has just ended, with connections in TIME-WAIT."""
    at = lab.ip, port
    first = Robot(lab)
    to_time_wait(first, serve(lab, first, *at))
    if how == "kill":
        first.proc.kill()
    with contextlib.suppress(OSError):  # the peer may be gone
        first.close()
    with Robot(lab) as second:
        assert not bind(second, at, NONE)
        make(second, "listener", ADDR, at)
        second("listener.listen()")
        with connect(lab, *at) as peer:
            second.accept()
            second("s.sendall(b'back')")
            assert peer.recv(10) == b"back"
            second("s.close(); listener.close()")


def test_several_engines(make_lab, port):
    """Each has some of the connections; each is checked."""
    lab = make_lab(engines=2)
    with Robot(lab) as robot:
        at = lab.ip, port
        for _ in range(8):
            peer = serve(lab, robot, *at)
            assert not bind(robot, at, NONE)
            robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))")
            robot("s.close()")
            peer.close()
            assert bind(robot, at, NONE)


CYCLES = """
found = 0
for _ in range(n):
    c = socket.socket(listener.family)
    if reuse: c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    c.bind((own, 0))
    c.connect(listener.getsockname()[:2])
    s, _ = listener.accept()
    c.close(); s.recv(1); s.close()
    found += 1
found
"""


@pytest.mark.shows("bind to port 0 over TIME-WAIT")
@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("family", ["4", "6"])
@pytest.mark.parametrize("any_address", [False, True])
def test_port_0_is_never_one_in_time_wait(lab, robot, port, family, reuse, any_address):
    """The client closes first, so each port that bind() chose stays in TIME-WAIT."""
    own = own_of(lab, family)
    make(robot, "listener", ADDR, (own, port))
    robot("listener.listen()")
    bound = own if not any_address else "0.0.0.0" if family == "4" else "::"
    assert robot(CYCLES, timeout=60, n=1500, reuse=reuse, own=bound) == 1500
    robot("listener.close()")


def test_port_0_later(lab, robot, port):
    """IP_BIND_ADDRESS_NO_PORT: connect() chooses the port."""
    make(robot, "listener", ADDR, (lab.ip, port))
    robot("listener.listen(); c = socket.socket()")
    robot("c.setsockopt(socket.SOL_IP, 24, 1); c.bind((own, 0))", own=lab.ip)
    assert tuple(robot("c.getsockname()")) == (lab.ip, 0)
    robot("c.connect(listener.getsockname()); s, who = listener.accept()")
    assert robot("who == c.getsockname() and who[1] != 0")
    robot("c.close(); s.close(); listener.close()")
