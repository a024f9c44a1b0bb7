# SPDX-License-Identifier: Apache-2.0
"""Who owns a port: what bind() to port 0 and connect() choose, when it is free again, and the
settings that limit the choice, on an address of the TOE's own and on one shared with the kernel.

Linux is the reference: inet_csk_get_port(), inet_hash_connect(), inet_sk_get_local_port_range().
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import socket
import struct

import pytest

from tests.lab import lab as labs
from tests.lab import proc
from tests.lab.robot import Robot

# Ports that a test names, or takes from a range. Others are from below ELSEWHERE or above BEYOND:
# one chosen at random for an earlier connection may be in TIME-WAIT.
PORTS = itertools.count(43100, 20)
RANGES = itertools.count(50000, 1000)
ELSEWHERE, BEYOND = 42000, 60000
MANY = 200  # ports of a range; a search at random finds the last free one too rarely
CLOSED = 9  # no peer listens there
DEFAULTS = (f"{labs.FIRST_EPHEMERAL} 65535", "")


@pytest.fixture(scope="module", params=["own", "shared"])
def lab_of(request):
    if request.param == "shared" and (labs.LINUX or labs.GATEWARE):
        pytest.skip("no shared address in this mode")
    with labs.Lab(shared=request.param == "shared") as lab:
        yield lab


_NEW = """
import struct
elsewhere = v
def new():
    s = socket.socket()
    s.setsockopt(socket.SOL_IP, 51, elsewhere)  # IP_LOCAL_PORT_RANGE
    return s
"""


def within(low: int, high: int) -> bytes:
    return struct.pack("I", low | high << 16)


@pytest.fixture
def robot(lab_of):
    with Robot(lab_of) as r:
        r(_NEW, v=within(labs.FIRST_EPHEMERAL, ELSEWHERE))
        yield r


@pytest.fixture
def peer(lab_of):
    """Two ports of the peer that accept."""
    port = next(PORTS)
    with contextlib.ExitStack() as stack:
        for n in range(2):
            listener = stack.enter_context(lab_of.client.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((lab_of.peer_ip, port + n))
            listener.listen(100)
        yield lab_of.peer_ip, port


def ephemeral(lab: labs.Lab, range_: str, reserved: str) -> None:
    """Sets the namespace's ephemeral ports."""
    for name, value in (("port_range", range_), ("reserved_ports", reserved)):
        lab.server.run(["sysctl", "-qw", f"net.ipv4.ip_local_{name}={value}"])


def until_followed(robot: Robot, peer: tuple[str, int], low: int) -> int:
    """Connects until toed, which reads the settings once a second, chooses from ten ports from
    `low` on. Returns the port that it chose."""

    def chosen() -> int:
        robot("s = new(); s.connect(at)", at=(peer[0], peer[1] + 1))
        port = robot("s.getsockname()[1]")
        robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))")
        robot("s.close()")
        return port if low <= port < low + 10 else 0

    return proc.wait_until(chosen, "connect() follows the settings", timeout=20)


def until_default(robot: Robot, at: tuple[str, int], low: int, high: int) -> None:
    """Connects until toed, which reads the settings once a second, chooses from the default range
    again."""

    def chosen() -> bool:
        if error_of(robot, "s = new(); s.connect(at)", at=at) == errno.EADDRNOTAVAIL:
            return False
        port = robot("s.getsockname()[1]")
        robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))")
        robot("s.close()")
        return not low <= port <= high

    proc.wait_until(chosen, "connect() follows the settings", timeout=20)


def until_within(robot: Robot, at: tuple[str, int], low: int, high: int) -> None:
    """Connects from a range of the socket until it counts. At a shared address the kernel chooses
    the other ports, which shows nothing of what toed has read."""

    def chosen() -> bool:
        one = "s = new(); s.setsockopt(socket.SOL_IP, 51, v); s.connect(at)"
        if error_of(robot, one, v=within(low, high), at=at) == errno.EADDRNOTAVAIL:
            return False
        port = robot("s.getsockname()[1]")
        robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))")
        robot("s.close()")
        return low <= port <= high

    proc.wait_until(chosen, "the range of a socket counts", timeout=20)


def another(robot: Robot, low: int, begin: str, **names: object) -> int:
    """Begins a connection or a listener s, and keeps it. Returns its port: of ten from `low` on.
    With a shared address the kernel chooses new ports by its settings at once, and toed uses those
    that it has until it reads them."""

    def chosen() -> int:
        robot(f"s = new(); {begin}", **names)
        port = robot("s.getsockname()[1]")
        if low <= port < low + 10:
            robot("kept.append(s)")
            return port
        robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))")
        robot("s.close()")
        return 0

    return proc.wait_until(chosen, "ports follow the settings", timeout=20)


def refused(robot: Robot, lab: labs.Lab) -> None:
    with pytest.raises(ConnectionRefusedError):
        robot("s.connect(at)", at=(lab.peer_ip, CLOSED))


def error_of(robot: Robot, statement: str, **values: object) -> int:
    """The errno of a statement, 0 if there is none."""
    try:
        robot(statement, **values)
    except OSError as e:
        return e.errno
    return 0


@pytest.mark.shows("bind to port 0, then a refused connect")
@pytest.mark.parametrize("reuse", [0, 1])
def test_a_refused_connect_releases_a_port_that_bind_chose(lab_of, robot, peer, reuse):
    """... but not the address. The next connect() chooses another port."""
    robot("s = new(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, v)", v=reuse)
    robot("s.bind((own, 0))", own=lab_of.ip)
    name = tuple(robot("s.getsockname()"))
    refused(robot, lab_of)
    assert tuple(robot("s.getsockname()")) == name
    assert error_of(robot, "t = new(); t.bind(at)", at=name) == 0
    refused(robot, lab_of)
    robot("s.connect(at)", at=peer)
    again = tuple(robot("s.getsockname()"))
    assert again[0] == lab_of.ip
    assert again[1] not in (0, name[1])
    robot("t.connect(at)", at=peer)
    assert tuple(robot("t.getsockname()")) == name
    robot("s.close(); t.close()")


def test_a_socket_can_be_bound_again_after_a_refused_connect(lab_of, robot):
    robot("s = new(); s.bind((own, 0))", own=lab_of.ip)
    refused(robot, lab_of)
    robot("s.bind((own, 0))", own=lab_of.ip)
    name = robot("s.getsockname()")
    robot("s.listen()")
    assert robot("s.getsockname()") == name
    robot("s.close()")


@pytest.mark.parametrize("reuse", [0, 1])
def test_a_refused_connect_keeps_a_port_that_the_program_chose(lab_of, robot, peer, reuse):
    name = lab_of.ip, peer[1] + 10
    robot("s = new(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, v)", v=reuse)
    robot("s.bind(at)", at=name)
    refused(robot, lab_of)
    assert error_of(robot, "t = new(); t.bind(at)", at=name) == errno.EADDRINUSE
    assert error_of(robot, "s.bind(at)", at=(lab_of.ip, 0)) == errno.EINVAL
    robot("s.connect(at)", at=peer)
    assert tuple(robot("s.getsockname()")) == name
    robot("s.close(); t.close()")


def test_a_port_that_a_refused_connect_chose_is_free(lab_of, robot, peer):
    """... unless an earlier connection from it may be in TIME-WAIT."""
    fresh = within(peer[1], peer[1] + 9)
    robot("s = new(); s.setsockopt(socket.SOL_IP, 51, v)", v=fresh)
    refused(robot, lab_of)
    name = lab_of.ip, robot("s.getsockname()[1]")
    assert name[1]
    assert error_of(robot, "t = new(); t.bind(at)", at=name) == 0
    robot("t.connect(at)", at=peer)
    robot("s.connect(at)", at=peer)
    assert robot("s.getsockname()[1]") != name[1]
    robot("s.close(); t.close()")


@pytest.mark.shows("connect EADDRNOTAVAIL")
def test_two_connections_of_one_name_and_one_peer(lab_of, robot, peer):
    name = lab_of.ip, peer[1] + 10
    for s in "st":
        robot(f"{s} = new(); {s}.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
        robot(f"{s}.bind(at)", at=name)
    robot("s.connect(at)", at=peer)
    assert error_of(robot, "t.connect(at)", at=peer) == errno.EADDRNOTAVAIL
    robot("t.connect(at)", at=(peer[0], peer[1] + 1))
    robot("s.close(); t.close()")


@pytest.mark.parametrize("reuse", [0, 1])
def test_bind_without_a_port_and_a_refused_connect(lab_of, robot, peer, reuse):
    """IP_BIND_ADDRESS_NO_PORT."""
    robot("s = new(); s.setsockopt(socket.SOL_IP, 24, 1)")
    robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, v)", v=reuse)
    robot("s.bind((own, 0)); s.bind((own, 0))", own=lab_of.ip)
    assert tuple(robot("s.getsockname()")) == (lab_of.ip, 0)
    refused(robot, lab_of)
    robot("s.connect(at)", at=peer)
    assert robot("s.getsockname()[1]")
    robot("s.close()")


@pytest.mark.shows("connect within IP_LOCAL_PORT_RANGE")
@pytest.mark.parametrize("bound", [False, True])
def test_a_range_of_a_socket(lab_of, robot, peer, bound):
    low = peer[1]
    robot("kept = []")
    one = "s = new(); s.setsockopt(socket.SOL_IP, 51, v); kept.append(s)"  # IP_LOCAL_PORT_RANGE
    if bound:
        one += "; s.setsockopt(socket.SOL_IP, 24, 1); s.bind((own, 0))"
    found = set()
    for _ in range(10):
        robot(one, v=within(low, low + 9), own=lab_of.ip)
        robot("s.connect(at)", at=peer)
        found.add(robot("s.getsockname()[1]"))
    assert found == set(range(low, low + 10))
    robot(one, v=within(low, low + 9), own=lab_of.ip)
    assert error_of(robot, "s.connect(at)", at=peer) == errno.EADDRNOTAVAIL
    robot("s.connect(at)", at=(peer[0], peer[1] + 1))
    assert low <= robot("s.getsockname()[1]") < low + 10
    robot("[k.close() for k in kept]; kept = []")


@pytest.mark.parametrize(("low", "high"), [(0, ELSEWHERE), (BEYOND, 0), (11000, ELSEWHERE)])
def test_one_bound_of_a_range(lab_of, robot, peer, low, high):
    """A bound that is 0, or no ephemeral port, does not limit the choice."""
    robot("s = new(); s.setsockopt(socket.SOL_IP, 51, v)", v=within(low, high))
    robot("s.connect(at)", at=peer)
    port = robot("s.getsockname()[1]")
    assert max(low, labs.FIRST_EPHEMERAL) <= port <= (high or 65535)
    robot("s.close()")


@labs.gateware_lacks("no-port-ranges")
@pytest.mark.shows("connect within net.ipv4.ip_local_port_range")
def test_the_settings_of_the_machine(lab_of, robot, peer):
    low = peer[1]
    ephemeral(lab_of, f"{low} {low + 9}", f"{low + 1}-{low + 3},{low + 5}")
    allowed = {low, low + 4, *range(low + 6, low + 10)}
    try:
        until_followed(robot, peer, low)
        robot("kept = []")
        for _ in allowed:
            robot("s = new(); kept.append(s); s.connect(at)", at=peer)
        assert {robot(f"kept[{i}].getsockname()[1]") for i in range(len(allowed))} == allowed
        robot("s = new()")
        assert error_of(robot, "s.connect(at)", at=peer) == errno.EADDRNOTAVAIL
        robot("s.bind(at)", at=(lab_of.ip, low + 5))  # a reserved port is not chosen, but allowed
        robot("s.connect(at); [k.close() for k in kept]; s.close()", at=peer)
    finally:
        ephemeral(lab_of, *DEFAULTS)
        until_default(robot, peer, low, low + 9)


@pytest.fixture
def many(lab_of):
    """A listener of the peer that many connections wait for."""
    with lab_of.client.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((lab_of.peer_ip, next(PORTS)))
        s.listen(2 * MANY)
        s.settimeout(30)
        yield s


# Connects from each port of a range, but one that stays free; a port that another connection still
# has in TIME-WAIT is as good. Returns the number of connections.
_FILL = """
kept = []
for port in range(low, high + 1):
    s = new()
    try:
        if port != free:
            s.bind((own, port))
            s.connect(at)
            kept.append(s)
    except OSError as e:
        if e.errno != 98: raise
len(kept)
"""


def to_time_wait(robot: Robot, accepted: list[socket.socket]) -> None:
    """The robot closes the connections in `kept` first."""
    robot("[s.shutdown(socket.SHUT_WR) for s in kept]")
    for c in accepted:
        c.settimeout(30)
        assert c.recv(1) == b""
        c.close()
    assert set(robot("[s.recv(1) for s in kept]")) == {b""}
    robot("[s.close() for s in kept]; kept = []")


@pytest.mark.shows("bind to port 0 finds the last free port")
def test_bind_finds_the_only_port_that_is_not_in_time_wait(lab_of, robot, many):
    low = next(RANGES)
    high, free = low + MANY - 1, low + 123
    at = many.getsockname()
    count = robot(_FILL, timeout=90, low=low, high=high, free=free, own=lab_of.ip, at=at)
    assert count > MANY / 2
    to_time_wait(robot, [many.accept()[0] for _ in range(count)])
    ephemeral(lab_of, f"{low} {high}", "")
    try:
        for _ in range(3):
            robot("s = new(); s.bind((own, 0))", own=lab_of.ip)
            assert robot("s.getsockname()[1]") == free
            robot("s.close()")
        ephemeral(lab_of, f"{low} {high}", f"{free}")
        assert error_of(robot, "s = new(); s.bind((own, 0))", own=lab_of.ip) == errno.EADDRINUSE
    finally:
        ephemeral(lab_of, *DEFAULTS)
        until_default(robot, at, low, high)


@pytest.mark.shows("connect finds the last free port")
def test_connect_finds_the_only_port_that_is_free(lab_of, robot, many):
    """... for this peer, in a range of the socket."""
    low = next(RANGES)
    limit = within(low, low + MANY - 1)
    robot("""
def start():
    s = new()
    s.setsockopt(socket.SOL_IP, 51, limit)
    s.connect(at)
    kept.append(s)
    return s.getsockname()[1]
kept = []
""")
    given = {"limit": limit, "at": many.getsockname()}
    until_within(robot, many.getsockname(), low, low + MANY - 1)
    found = robot("[start() for _ in range(many)]", timeout=90, many=MANY, **given)
    assert set(found) == set(range(low, low + MANY))
    assert error_of(robot, "start()", **given) == errno.EADDRNOTAVAIL
    for n in (57, 0, MANY - 3):
        robot("s = kept.pop(n); port = s.getsockname()[1]", n=n)
        robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))")
        robot("s.close()")
        assert robot("start() == port", **given)
    robot("[s.close() for s in kept]; kept = []")


@pytest.mark.shows("bind over TIME-WAIT of a port that a program named")
@pytest.mark.parametrize("reuse", [0, 1])
def test_a_named_port_in_time_wait(lab_of, robot, many, reuse):
    """No other socket gets it, of the kernel's neither, unless both have SO_REUSEADDR."""
    name = lab_of.ip, many.getsockname()[1] + 10
    robot("s = new(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, v)", v=reuse)
    robot("s.bind(name); s.connect(at); kept = [s]", name=name, at=many.getsockname())
    to_time_wait(robot, [many.accept()[0]])
    for mine in (0, 1):
        want = 0 if mine and reuse else errno.EADDRINUSE
        robot("t = new(); t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, v)", v=mine)
        assert error_of(robot, "t.bind(name)", name=name) == want
        robot("t.close()")
        if labs.LINUX or _is_shared(lab_of):
            with lab_of.server.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, mine)
                assert bind_error(s, name) == want
    robot("s.close()")


def bind_error(s: socket.socket, name: tuple[str, int]) -> int:
    try:
        s.bind(name)
    except OSError as e:
        return e.errno
    return 0


@pytest.mark.skipif(labs.LINUX or labs.GATEWARE, reason="about a shared address")
def test_the_kernel_and_the_toe_choose_different_ports(lab_of, robot, peer):
    """Ports of the TOE's connections, listeners and TIME-WAITs are not the kernel's to choose."""
    if not _is_shared(lab_of):
        pytest.skip("an address of the TOE's own")
    low = peer[1]
    ephemeral(lab_of, f"{low} {low + 9}", "")
    try:
        robot("kept = []")
        toes = {another(robot, low, "s.connect(at)", at=peer) for _ in range(4)}
        robot("kept[0].close(); kept[1].close()")
        toes.add(another(robot, low, "s.bind((own, 0)); s.listen()", own=lab_of.ip))
        kernels = set()
        with contextlib.ExitStack() as stack:
            for _ in range(10 - len(toes)):
                s = stack.enter_context(lab_of.server.socket())
                s.connect(peer)
                kernels.add(s.getsockname()[1])
            assert kernels == set(range(low, low + 10)) - toes, sorted(toes)
            with lab_of.server.socket() as s, pytest.raises(OSError, match="Cannot assign"):
                s.connect(peer)
            # and the reverse: to another place, from a port that is the TOE's
            at = (peer[0], peer[1] + 1)
            assert another(robot, low, "s.connect(at)", at=at) in toes
        robot("[k.close() for k in kept]")
    finally:
        ephemeral(lab_of, *DEFAULTS)


def _is_shared(lab: labs.Lab) -> bool:
    found = lab.server.run(["ip", "-4", "-o", "address", "show"]).stdout
    return f" {lab.ip}/" in found
