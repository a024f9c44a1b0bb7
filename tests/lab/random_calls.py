# SPDX-License-Identifier: Apache-2.0
"""Random socket calls, made on a socket of the TOE and on one of the kernel's at the same time.

    calls = random_calls.Calls(robot, peer_robot, ip, kernel_ip, peer_ip)
    calls.compare(random_calls.script(seed))   # None, or the first call that differs

A script is a list of (end, call, socket, argument). "own" is the program under test, "peer" a Linux
program at the other end of the wire; each has a few named sockets. Both carriers' results are
compared after each call: the value, or the name of the errno, with addresses by their owner.
"""

from __future__ import annotations

import random
import select
import socket
import time
from dataclasses import dataclass

from tests.lab.robot import Robot

PORT = 7100
KERNEL_PORT = 7300  # the peer has one listener for each carrier
UNUSED = 9
OWN, PEER = ("a0", "a1", "a2"), ("b0", "b1", "b2")

_EVENTS = select.POLLIN | select.POLLPRI | select.POLLOUT | select.POLLRDHUP
_EDGES = select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET
_SEND = [int(f) for f in (0, socket.MSG_NOSIGNAL, socket.MSG_OOB, socket.MSG_DONTROUTE)]
_RECV = [int(f) for f in (0, socket.MSG_PEEK, socket.MSG_TRUNC, socket.MSG_OOB, socket.MSG_WAITALL)]
_SIZES = (0, 1, 2, 10, 100, 1000, 1448, 2000, 4000)
_OPTIONS = [
    *((socket.SOL_SOCKET, n) for n in (2, 3, 4, 5, 6, 9, 10, 13, 15, 18, 20, 21, 30, 38, 39, 46)),
    *((socket.IPPROTO_TCP, n) for n in (1, 3, 4, 5, 6, 7, 8, 9, 12, 18, 20, 23, 30, 37)),
    *((socket.IPPROTO_IP, n) for n in (1, 2, 8, 10, 11, 12, 13)),
]

# What a robot runs for one call. Sockets are by (carrier, name).
_AGENT = """
sockets, polls = {}, {}

def named(address):
    return None if not address else (
        {own: "own", peer: "peer"}.get(address[0], address[0]),
        "ephemeral" if address[1] >= 10000 else address[1] % 100)

def put(name, s):
    if (by, name) in sockets:
        sockets.pop((by, name)).close()
    s.setblocking(False)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sockets[by, name] = s
    return "ok"

def linger(s):
    return s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

def connect(s, port):
    if s.getsockname()[1] == 0:
        try:
            s.bind((own, 0))
        except OSError:
            pass  # it is bound, and has no name since it was dissolved
    s.connect((peer, port))

def names(s):
    found = []
    for name in s.getsockname, s.getpeername:
        try:
            found.append(named(name()))
        except OSError as e:
            found.append(errno.errorcode[e.errno])
    return found

def ready(s, events):
    p = select.poll()
    p.register(s, events)
    found = p.poll(0)
    return found[0][1] if found else 0

def received(data, flags):
    return len(data), 0 if flags & socket.MSG_TRUNC else sum(data)

def watch(s, events):
    epoll = polls.setdefault((by, s.fileno()), select.epoll())
    try:
        epoll.register(s, events)
    except FileExistsError:
        epoll.modify(s, events)
    return [e for _, e in epoll.poll(0.01)]

def queued(s):
    there = array.array("i", [0])
    fcntl.ioctl(s, termios.FIONREAD, there)
    return there[0]

def dissolve(s):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.connect(s.fileno(), bytes(16), 16) != 0:
        raise OSError(ctypes.get_errno(), "")

def sent_file(s, at, size):
    with open("/proc/self/exe", "rb") as f:
        return os.sendfile(s.fileno(), f.fileno(), at, size)

def piped(s, size):
    r, w = os.pipe()
    try:
        os.write(w, bytes(size))
        return os.splice(r, s.fileno(), size)
    finally:
        os.close(r), os.close(w)

calls = {
    "bind": lambda s, port: s.bind((own, port)),
    "listen": lambda s, backlog: s.listen(backlog),
    "connect": connect,
    "dissolve": lambda s, _: dissolve(s),
    "send": lambda s, a: s.send(bytes(i * 7 & 255 for i in range(a[0])), a[1]),
    "writev": lambda s, sizes: os.writev(s.fileno(), [bytes(n) for n in sizes]),
    "sendfile": lambda s, a: sent_file(s, *a),
    "splice": piped,
    "recv": lambda s, a: received(s.recv(*a), a[1]),
    "readv": lambda s, sizes: os.readv(s.fileno(), [bytearray(n) for n in sizes]),
    "shutdown": lambda s, how: s.shutdown(how),
    "set": lambda s, a: s.setsockopt(*a),
    "get": lambda s, a: s.getsockopt(*a),
    "state": lambda s, _: s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[0],
    "linger": lambda s, _: linger(s),
    "queued": lambda s, _: queued(s),
    "names": lambda s, _: names(s),
    "poll": ready,
    "epoll": watch,
    "dup": lambda s, name: put(name, s.dup()),
}

def do(call, name, a):
    try:
        if call == "socket":
            return put(name, socket.socket())
        s = sockets.get((by, name))
        if not s:
            return None
        if call == "close":
            return sockets.pop((by, name)).close()
        if call == "accept":
            c, address = s.accept()
            return put(a, c), named(address)
        ready(s, 0)  # the TOE's notifications wait in a ring until a call reads it
        return calls[call](s, a)
    except OSError as e:
        return errno.errorcode[e.errno]

def end():
    for epoll in polls.values():
        epoll.close()
    for s in sockets.values():
        linger(s)
        s.close()
    polls.clear(), sockets.clear()
"""


def _begin(choose: random.Random) -> tuple[list, str, str]:
    """Calls that make a connection, or not; and the names of its ends."""
    calls = [("own", "socket", "a0", None), ("peer", "socket", "b0", None)]
    kind = choose.choice(["accepted", "connected", "none"])
    if kind == "accepted":
        calls += [("own", "bind", "a0", PORT), ("own", "listen", "a0", choose.choice([0, 1, 5]))]
        return [*calls, ("peer", "connect", "b0", PORT), ("own", "accept", "a0", "a1")], "a1", "b0"
    if kind == "connected":
        calls += [("peer", "bind", "b0", PORT), ("peer", "listen", "b0", 5)]
        return [*calls, ("own", "connect", "a0", PORT), ("peer", "accept", "b0", "b1")], "a0", "b1"
    return calls, "a0", "b0"


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


def _of_own(choose: random.Random) -> list:
    sizes = [choose.choice([0, 3, 700]) for _ in range(choose.randint(1, 4))]
    option = choose.choice(_OPTIONS)
    return [
        *(("poll", _EVENTS), ("state", None), ("queued", None)) * 2,
        ("set", (*option, choose.choice([0, 1, 2, 5, 100, 1000, 65536, -1]))),
        ("set", (*option, bytes(choose.choice([1, 2, 4, 8])))),
        ("get", option),
        ("get", (socket.SOL_SOCKET, socket.SO_ERROR)),
        ("epoll", choose.choice([select.EPOLLIN, select.EPOLLOUT, _EDGES])),
        ("writev", sizes),
        ("readv", sizes),
        ("sendfile", (choose.choice([0, 100, 1 << 40]), choose.choice([0, 1, 500, 3000]))),
        ("splice", choose.choice([1, 500])),
        ("dissolve", None),
        ("connect", choose.choice([PORT, PORT + UNUSED])),
        ("dup", choose.choice(OWN)),
        ("socket", None),
    ]


def script(seed: int) -> list:
    """Returns up to 60 random calls around one connection."""
    choose = random.Random(seed)
    calls, own, peer = _begin(choose)
    for _ in range(choose.randint(8, 60)):
        if choose.random() < 0.7:
            of, name = "own", choose.choice([own] * 4 + list(OWN))
            kinds = _of_both(choose) + _of_own(choose)
        else:
            of, name, kinds = "peer", choose.choice([peer] * 3 + list(PEER)), _of_both(choose)
        call, argument = choose.choice(kinds)
        calls.append((of, call, name, argument))
    return calls


@dataclass
class Difference:
    calls: list  # up to the one that differs, with both results
    toe: object
    linux: object

    def __str__(self) -> str:
        return "\n".join(f"{call}: TOE {toe}, Linux {linux}" for call, toe, linux in self.calls)


class Calls:
    def __init__(self, own: Robot, peer: Robot, ip: str, kernel_ip: str, peer_ip: str):
        self.robots = {"own": own, "peer": peer}
        self.carriers = {"toe": (ip, PORT), "linux": (kernel_ip, KERNEL_PORT)}
        self.peer_ip = peer_ip
        for robot in self.robots.values():
            robot(_AGENT)

    def _one(self, by: str, end: str, call: str, name: str, argument: object) -> object:
        ip, port = self.carriers[by]
        if call in ("bind", "connect"):
            argument += port - PORT
        ends = (ip, self.peer_ip) if end == "own" else (self.peer_ip, ip)
        given = {"by": by, "own": ends[0], "peer": ends[1]}
        return self.robots[end]("do(call, name, a)", call=call, name=name, a=argument, **given)

    def _play(self, calls: list, pause: float) -> Difference | None:
        done = []
        try:
            for call in calls:
                toe, linux = (self._one(by, *call) for by in self.carriers)
                done.append((call, toe, linux))
                if toe != linux:
                    return Difference(done, toe, linux)
                time.sleep(pause)
            return None
        finally:
            for robot in self.robots.values():
                robot("end()")

    def compare(self, calls: list) -> Difference | None:
        """Returns a difference that is there again when the wire has more time after each call."""
        found = self._play(calls, 0.01)
        return found and self._play(calls, 0.1)
