# SPDX-License-Identifier: Apache-2.0
"""Random socket calls, made on a socket of the TOE and on one of the kernel's at the same time.

    calls = random_calls.Calls(robot, peer_robot, toe, linux, peer)
    calls.compare(random_calls.script(seed))   # None, or the first call that differs

A script is a kind of address and a list of (end, call, socket, argument). "own" is the program
under test, "peer" a Linux program at the other end of the wire; each has a few named sockets
(tests/programs/socket_calls.py). Both carriers' results are compared after each call: the value, or
the name of the errno, with addresses by their owner.
"""

from __future__ import annotations

import random
import select
import socket
import struct
import termios
import time
from collections.abc import Mapping
from dataclasses import dataclass

from tests.lab.robot import Robot

PORT = 7100
KERNEL_PORT = 7300  # the peer has one listener for each carrier
UNUSED = 9
KINDS = ("v4", "v6", "mapped")
OWN, PEER = ("a0", "a1", "a2", "a3"), ("b0", "b1", "b2")

_EVENTS = select.POLLIN | select.POLLPRI | select.POLLOUT | select.POLLRDHUP
_WATCHED = [
    select.EPOLLIN,
    select.EPOLLOUT,
    select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET,
    select.EPOLLIN | select.EPOLLET,
    select.EPOLLIN | select.EPOLLOUT | select.EPOLLONESHOT,
    select.EPOLLIN | select.EPOLLONESHOT | select.EPOLLET,
    select.EPOLLIN | select.EPOLLEXCLUSIVE,
    0,
]
ZEROCOPY, EOR, MORE = 0x4000000, int(socket.MSG_EOR), int(socket.MSG_MORE)
_SEND = [
    *(0, 0, int(socket.MSG_NOSIGNAL), int(socket.MSG_OOB), int(socket.MSG_DONTROUTE)),
    *(EOR, MORE, ZEROCOPY, MORE | EOR),
]
_RECV = [
    *(0, 0, int(socket.MSG_PEEK), int(socket.MSG_TRUNC), int(socket.MSG_OOB)),
    *(int(socket.MSG_WAITALL), int(socket.MSG_DONTWAIT), int(socket.MSG_PEEK | socket.MSG_TRUNC)),
    *(int(socket.MSG_PEEK | socket.MSG_WAITALL), int(socket.MSG_OOB | socket.MSG_PEEK)),
]
_SIZES = (0, 1, 2, 10, 100, 1000, 1448, 2000, 4000)
_NAMES = {
    socket.SOL_SOCKET: (
        *(2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 15, 16, 18, 19, 20, 21, 29, 30, 34, 35, 36, 38),
        *(39, 40, 41, 44, 45, 46, 47, 60, 63, 64, 69, 72, 74, 75),
    ),
    socket.IPPROTO_TCP: (1, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 18, 20, 23, 27, 30, 34, 36, 37),
    socket.IPPROTO_IP: (
        1,
        2,
        3,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        13,
        14,
        15,
        18,
        20,
        21,
        22,
        23,
        24,
        26,
        51,
    ),
    socket.IPPROTO_IPV6: (
        *(4, 16, 19, 23, 24, 25, 26, 29, 31, 33, 49, 51, 52, 53, 54, 56, 58, 60),
        *(62, 66, 67, 70, 72, 73, 74, 75, 76, 78),
    ),
}
_OPTIONS = [(level, name) for level, names in _NAMES.items() for name in names]
_VALUES = (0, 1, 2, 5, 24, 100, 1000, 65536, -1)
_SHORT_TIME = struct.pack("ll", 0, 30000)
_REQUESTS = (termios.FIONREAD, termios.TIOCOUTQ, 0x8905)  # the last one: SIOCATMARK


def _begin(choose: random.Random) -> tuple[list, str, str]:
    """Calls that make a connection, or not; and the names of its ends."""
    calls = [("own", "socket", "a0", None), ("peer", "socket", "b0", None)]
    kind = choose.choice(["accepted", "connected", "none"])
    if kind == "accepted":
        calls += [("own", "bind", "a0", PORT), ("own", "listen", "a0", choose.choice([0, 1, 5]))]
        calls += [("peer", "connect", "b0", PORT), ("own", "accept", "a0", ("a1", 0))]
        return calls, "a1", "b0"
    if kind == "connected":
        calls += [("peer", "bind", "b0", PORT), ("peer", "listen", "b0", 5)]
        calls += [("own", "connect", "a0", PORT), ("peer", "accept", "b0", ("b1", 0))]
        return calls, "a0", "b1"
    return calls, "a0", "b0"


def _sizes(choose: random.Random) -> list[int]:
    return [choose.choice([0, 3, 700]) for _ in range(choose.randint(1, 4))]


def _of_both(choose: random.Random) -> list:
    size = choose.choice(_SIZES)
    return [
        *(("send", (size, choose.choice(_SEND))) for _ in range(2)),
        *(("recv", (choose.choice(_SIZES), choose.choice(_RECV))) for _ in range(2)),
        ("shutdown", choose.choice([0, 1, 1, 2, 3])),
        ("close", None),
        ("names", None),
        ("poll", _EVENTS),
        ("linger", None),
    ]


def _moves(choose: random.Random) -> list:
    """Ways to move bytes that only the program under test tries."""
    return [
        ("sendmsg", (_sizes(choose), choose.choice(_SEND))),
        ("recvmsg", (_sizes(choose), choose.choice([0, 16, 30, 200]), choose.choice(_RECV))),
        ("blocked", (choose.choice(_SIZES), choose.choice(_RECV))),
        ("errors", None),
        ("writev", _sizes(choose)),
        ("readv", _sizes(choose)),
        ("sendfile", (choose.choice([None, 0, 100, 1 << 40]), choose.choice([0, 1, 500, 3000]))),
        ("splice", choose.choice([1, 500])),
        ("drain", choose.choice([1, 500, 5000])),
        ("ioctl", choose.choice(_REQUESTS)),
        ("ioctl", choose.choice(_REQUESTS)),
    ]


def _options(choose: random.Random) -> list:
    option = choose.choice(_OPTIONS)
    return [
        ("set", (*option, choose.choice(_VALUES))),
        ("set", (*option, choose.choice([*map(bytes, (1, 2, 4, 8, 16)), _SHORT_TIME]))),
        ("set", (socket.SOL_SOCKET, choose.choice([18, 60]), choose.choice([1, 5, 1000]))),
        ("set", (socket.IPPROTO_TCP, choose.choice([1, 3, 12, 36]), choose.choice([0, 1]))),
        ("set", (socket.SOL_SOCKET, choose.choice([10, 29, 35, 63, 64]), choose.choice([0, 1]))),
        ("set", (socket.SOL_SOCKET, choose.choice([37, 65]), choose.choice([0, 8, 16, 24]))),
        ("get", (socket.SOL_SOCKET, choose.choice([37, 65]), choose.choice([4, 8, 16]))),
        ("get", (*option, choose.choice([1, 2, 4, 4, 8, 16]))),
        ("get", option),
        ("get", (socket.SOL_SOCKET, socket.SO_ERROR)),
    ]


def _waits(choose: random.Random) -> list:
    at = choose.randint(0, 1)
    op = choose.choice(["register", "register", "modify", "unregister"])
    return [
        *(("poll", _EVENTS), ("wait", (at, choose.choice([1, 8])))) * 2,
        ("select", None),
        ("watch", (at, op, choose.choice(_WATCHED))),
        ("watch", (at, op, choose.choice(_WATCHED))),
    ]


def _changes(choose: random.Random) -> list:
    return [
        *(("state", None),) * 2,
        ("dissolve", None),
        ("connect", choose.choice([PORT, PORT + UNUSED])),
        ("fast", (choose.choice([0, 1, 2000]), choose.choice([PORT, PORT + UNUSED]))),
        ("accept", (choose.choice(OWN), choose.choice([0, socket.SOCK_NONBLOCK, 0x80000, 5]))),
        ("listen", choose.choice([0, 1, 5])),
        ("bind", PORT),
        ("dup", choose.choice(OWN)),
        ("dup2", choose.choice(OWN)),
        ("fork", choose.choice([False, True])),
        ("flags", [choose.choice([0, 1]) for _ in range(2)]),
        ("socket", None),
    ]


def script(seed: int) -> tuple[str, list]:
    """Returns a kind of address, and up to 60 random calls around one connection."""
    choose = random.Random(seed)
    kind = choose.choice(KINDS)
    calls, own, peer = _begin(choose)
    groups = [_of_both, _moves, _options, _waits, _changes]
    for _ in range(choose.randint(8, 60)):
        if choose.random() < 0.7:
            of, name = "own", choose.choice([own] * 6 + list(OWN))
            kinds = choose.choice(groups)(choose)
        else:
            of, name, kinds = "peer", choose.choice([peer] * 3 + list(PEER)), _of_both(choose)
            kinds.append(("connect", PORT))
        call, argument = choose.choice(kinds)
        calls.append((of, call, name, argument))
    return kind, calls


@dataclass
class Difference:
    kind: str
    calls: list  # up to the one that differs, with both results
    toe: object
    linux: object

    def __str__(self) -> str:
        lines = [f"{call}: TOE {toe}, Linux {linux}" for call, toe, linux in self.calls]
        return "\n".join([f"addresses: {self.kind}", *lines])


class Calls:
    """toe, linux, peer: the addresses of each, by "v4" and "v6"."""

    def __init__(
        self,
        own: Robot,
        peer: Robot,
        toe: Mapping[str, str],
        linux: Mapping[str, str],
        peer_at: Mapping[str, str],
    ):
        self.robots = {"own": own, "peer": peer}
        self.carriers = {"toe": (toe, PORT), "linux": (linux, KERNEL_PORT)}
        self.peer_at = peer_at
        for robot in self.robots.values():
            robot("import socket_calls; carriers = {}")

    def _begin(self, kind: str) -> None:
        family = "v6" if kind == "v6" else "v4"
        before = "::ffff:" if kind == "mapped" else ""
        for end, robot in self.robots.items():
            for by, (at, _) in self.carriers.items():
                ends = [before + at[family], before + self.peer_at[family]]
                robot(
                    "carriers[by] = socket_calls.Carrier(*ends, v6)",
                    by=by,
                    ends=ends if end == "own" else ends[::-1],
                    v6=kind != "v4",
                )

    def _one(self, by: str, end: str, call: str, name: str, argument: object) -> object:
        shift = self.carriers[by][1] - PORT
        if call in ("bind", "connect"):
            argument += shift
        elif call == "fast":
            argument = argument[0], argument[1] + shift
        if end == "peer":
            self.robots["own"]("carriers[by].look()", by=by)
        return self.robots[end]("carriers[by].do(*a)", by=by, a=(call, name, argument))

    def _play(self, kind: str, calls: list, pause: float) -> Difference | None:
        done = []
        self._begin(kind)
        try:
            for call in calls:
                toe, linux = (self._one(by, *call) for by in self.carriers)
                done.append((call, toe, linux))
                if toe != linux:
                    return Difference(kind, done, toe, linux)
                time.sleep(pause)
            return None
        finally:
            for robot in self.robots.values():
                robot("[c.end() for c in carriers.values()]; carriers.clear()")

    def compare(self, script: tuple[str, list]) -> Difference | None:
        """Returns a difference that is there again when the wire has more time after each call."""
        found = None
        for pause in 0.01, 0.1, 0.25:
            found = self._play(*script, pause)
            if not found:
                return None
        return found
