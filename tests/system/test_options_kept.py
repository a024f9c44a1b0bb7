# SPDX-License-Identifier: Apache-2.0
"""Options of IP, IPv6 and sockets that the program reads back: of an accepted connection, which
begins with its listener's, and of one that it opened. The expected values are Linux's."""

from __future__ import annotations

import socket

import pytest

from tests.lab.robot import PORT

IP = [("IP_TOS", 1, 0x10), ("IP_TTL", 2, 33), ("IP_RECVTOS", 13, 1), ("IP_RECVTTL", 12, 1)]
IP += [("IP_MTU_DISCOVER", 10, 2), ("IP_MINTTL", 21, 3)]
IPV6 = [("IPV6_TCLASS", 67, 0x20), ("IPV6_UNICAST_HOPS", 16, 44), ("IPV6_RECVTCLASS", 66, 1)]
IPV6 += [("IPV6_RECVHOPLIMIT", 51, 1), ("IPV6_MTU_DISCOVER", 23, 3), ("IPV6_MINHOPCOUNT", 73, 5)]
SOCKET = [("SO_PRIORITY", 12, 3), ("SO_RXQ_OVFL", 40, 1)]
OPTIONS = [(socket.SOL_IP, *o) for o in IP] + [(socket.SOL_SOCKET, *o) for o in SOCKET]
OPTIONS6 = OPTIONS + [(socket.IPPROTO_IPV6, *o) for o in IPV6]
CHOSEN = {"4": OPTIONS, "6": OPTIONS6}

SETUP = """
import errno
def set_all(s, options):
    found = []
    for level, name, number, value in options:
        try:
            s.setsockopt(level, number, value)
        except OSError as e:
            found.append((name, errno.errorcode[e.errno]))
    return found
def get_all(s, options):
    found = {}
    for level, name, number, _ in options:
        try:
            found[name] = s.getsockopt(level, number)
        except OSError as e:
            found[name] = errno.errorcode[e.errno]
    return found
def server(family, port):
    s = socket.socket(family)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("", port))
    return s
"""


@pytest.fixture
def options(robot):
    robot(SETUP)
    return robot


def values(options: list, *, accepted=False) -> dict:
    """Linux resets the priority of an accepted connection (sk_clone_lock())."""
    found = {name: value for _, name, _, value in options}
    return found | {"SO_PRIORITY": 0} if accepted else found


def listen(options, family: str) -> None:
    kind = socket.AF_INET6 if family == "6" else socket.AF_INET
    options("listener = server(f, p)", f=int(kind), p=PORT)


@pytest.mark.parametrize("when", ["before listen", "after listen"])
@pytest.mark.parametrize("family", ["4", "6"])
def test_a_connection_begins_with_its_listeners(lab, options, family, when):
    chosen = CHOSEN[family]
    listen(options, family)
    if when == "before listen":
        assert options("set_all(listener, o)", o=chosen) == []
    options("listener.listen()")
    if when == "after listen":
        assert options("set_all(listener, o)", o=chosen) == []
    with lab.connect(PORT):
        options.accept()
        assert options("get_all(listener, o)", o=chosen) == values(chosen)
        assert options("get_all(s, o)", o=chosen) == values(chosen, accepted=True)
        options("s.close()")
    options("listener.close()")


@pytest.mark.parametrize("family", ["4", "6"])
def test_each_connection_has_its_own(lab, options, family):
    chosen = CHOSEN[family]
    listen(options, family)
    options("listener.listen()")
    with lab.connect(PORT), lab.connect(PORT):
        options.accept("s")
        options.accept("t")
        before = options("get_all(s, o)", o=chosen)
        assert before == options("get_all(listener, o)", o=chosen)
        assert options("set_all(s, o)", o=chosen) == []
        assert options("get_all(s, o)", o=chosen) == values(chosen)
        assert options("get_all(t, o)", o=chosen) == before
        options("s.close(); t.close()")
    options("listener.close()")


@pytest.mark.parametrize("when", ["before connect", "after connect"])
@pytest.mark.parametrize("family", ["4", "6"])
def test_of_a_connection_that_was_opened(lab, options, peer_listener, family, when):
    kind, host = ("AF_INET6", "::ffff:") if family == "6" else ("AF_INET", "")
    chosen, at = CHOSEN[family], (host + lab.peer_ip, PORT)
    options(f"s = socket.socket(socket.{kind})")
    if when == "before connect":
        assert options("set_all(s, o)", o=chosen) == []
    options("s.connect(at)", at=at)
    if when == "after connect":
        assert options("set_all(s, o)", o=chosen) == []
    with peer_listener.accept()[0]:
        assert options("get_all(s, o)", o=chosen) == values(chosen)
        options("s.close()")


def test_options_of_ipv6_of_an_ipv4_socket(accepted, options):
    """They are an error, and change nothing."""
    ipv6 = OPTIONS6[len(OPTIONS) :]
    assert [error for _, error in options("set_all(s, o)", o=ipv6)] == ["ENOPROTOOPT"] * len(ipv6)
    assert set(options("get_all(s, o)", o=ipv6).values()) == {"ENOTSUP"}
    assert options("s.getsockopt(socket.SOL_IP, socket.IP_TOS)") == 0
    options("s.close()")


def test_a_family_of_its_own(lab, options):
    """IPV6_V6ONLY is the listener's, and fixed; a wrong value changes nothing."""
    listen(options, "6")
    options("listener.listen()")
    with lab.connect(PORT):
        options.accept()
        assert options("s.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)") == 0
        with pytest.raises(OSError, match="Invalid argument"):
            options("s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)")
        with pytest.raises(OSError, match="Invalid argument"):
            options("s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 256)")
        hops = options("s.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS)")
        assert hops == options("socket.socket(socket.AF_INET6).getsockopt(41, 16)")
        options("s.close()")
    options("listener.close()")
