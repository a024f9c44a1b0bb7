# SPDX-License-Identifier: Apache-2.0
"""Socket calls by name, for tests/lab/random_calls.py: Carrier(own, peer).do(call, name, argument).

A carrier has named sockets, epoll instances and one address for each end. A result is what a
program sees: a value, or the name of an errno. Addresses are replaced by their owner, numbers of
descriptors by the socket's name.
"""

import array
import contextlib
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import termios

MAPPED = "::ffff:"
MSG_FASTOPEN = 0x20000000
CLOSED, LISTENS = 7, 10  # of TCP_INFO
SIOCATMARK = 0x8905
MTUS = (socket.IPPROTO_IP, 14), (socket.IPPROTO_IPV6, 24)
libc = ctypes.CDLL(None, use_errno=True)


def pattern(size):
    return bytes(i * 7 & 255 for i in range(size))


def linger(s):
    return s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def number(s, request):
    if request == termios.TIOCOUTQ and info(s, None) == CLOSED:
        return None  # Linux: what tcp_disconnect() adds to the number of the next byte
    there = array.array("i", [0])
    fcntl.ioctl(s, request, there)
    return there[0]


def ready(s, events):
    p = select.poll()
    p.register(s, events)
    found = p.poll(0)
    return found[0][1] if found else 0


def selected(s, _):
    return [bool(found) for found in select.select([s], [s], [s], 0)]


def received(data, flags):
    return len(data), 0 if flags & socket.MSG_TRUNC else sum(data)


def control(found):
    """Types of ancillary data, and their values where those are the same on all machines."""
    same = {(socket.IPPROTO_TCP, 36)}  # TCP_INQ; not stamps
    return [
        (level, kind, data if (level, kind) in same else len(data)) for level, kind, data in found
    ]


def message(s, a):
    sizes, room, flags = a
    buffers = [bytearray(n) for n in sizes]
    got, found, out, _ = s.recvmsg_into(buffers, room, flags)
    return got, control(found), out & ~socket.MSG_CMSG_CLOEXEC, sum(map(sum, buffers))


def errors(s, _):
    """Completions of MSG_ZEROCOPY: the ranges of numbers."""
    _, found, out, _ = s.recvmsg(0, 200, socket.MSG_ERRQUEUE)
    return out, [struct.unpack("IBBBBII", data[:16])[5:] for _, _, data in found]


def blocked(s, call):
    """A call on the blocking socket that gives up after 20 ms (SO_RCVTIMEO)."""
    before = fcntl.fcntl(s, fcntl.F_GETFL)
    old = s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 20000))
    fcntl.fcntl(s, fcntl.F_SETFL, before & ~os.O_NONBLOCK)
    try:
        return call()
    finally:
        fcntl.fcntl(s, fcntl.F_SETFL, before)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, old)


def flags(s, on):
    """FIONBIO and F_SETFL change the same flag; it is set afterwards, as before."""
    found = []
    for value in on:
        fcntl.ioctl(s, termios.FIONBIO, array.array("i", [value]))
        found.append(fcntl.fcntl(s, fcntl.F_GETFL) & os.O_NONBLOCK)
        fcntl.fcntl(s, fcntl.F_SETFL, os.O_NONBLOCK)
        found.append(fcntl.fcntl(s, fcntl.F_GETFL))
    return found, fcntl.fcntl(s, fcntl.F_GETFD)


def dissolve(s):
    check(libc.connect(s.fileno(), bytes(16), 16))


def sent_file(s, at, size):
    with open("/proc/self/exe", "rb") as f:
        if at is None:
            return os.sendfile(s.fileno(), f.fileno(), None, size), f.tell()
        return os.sendfile(s.fileno(), f.fileno(), at, size)


@contextlib.contextmanager
def pipe():
    r, w = os.pipe()
    try:
        yield r, w
    finally:
        os.close(r), os.close(w)


def piped(s, size):
    with pipe() as (r, w):
        os.write(w, pattern(size))
        return os.splice(r, s.fileno(), size)


def drained(s, size):
    if info(s, None) != LISTENS and number(s, SIOCATMARK):
        return None  # manager/PRELOAD.md, Limits
    with pipe() as (r, w):
        got = os.splice(s.fileno(), w, size, flags=2)  # SPLICE_F_NONBLOCK
        return got, sum(os.read(r, got)) if got else 0


def forked(s, closes):
    """A child that leaves the connection alone."""
    child = os.fork()
    if not child:
        if closes:
            s.close()
        os._exit(7)
    return os.waitpid(child, 0)[1] >> 8


def got(s, a):
    if a[:2] in MTUS and info(s, None) == CLOSED:
        return None  # Linux remembers the route of a connection that has ended
    return s.getsockopt(*a)


def info(s, _):
    return s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[0]


CALLS = {
    "dissolve": lambda s, _: dissolve(s),
    "send": lambda s, a: s.send(pattern(a[0]), a[1]),
    "sendmsg": lambda s, a: s.sendmsg([pattern(n) for n in a[0]], [], a[1]),
    "writev": lambda s, sizes: os.writev(s.fileno(), [pattern(n) for n in sizes]),
    "sendfile": lambda s, a: sent_file(s, *a),
    "splice": piped,
    "drain": drained,
    "recv": lambda s, a: received(s.recv(*a), a[1]),
    "recvmsg": message,
    "errors": errors,
    "blocked": lambda s, a: blocked(s, lambda: received(s.recv(*a), a[1])),
    "readv": lambda s, sizes: os.readv(s.fileno(), [bytearray(n) for n in sizes]),
    "set": lambda s, a: s.setsockopt(*a),
    "get": got,
    "state": info,
    "linger": lambda s, _: linger(s),
    "ioctl": number,
    "flags": flags,
    "poll": ready,
    "select": selected,
    "fork": forked,
}


class Carrier:
    def __init__(self, own, peer, v6=False):
        """v6: sockets are of AF_INET6, whatever the addresses."""
        self.own, self.peer = own, peer
        self.family = socket.AF_INET6 if v6 else socket.AF_INET
        self.sockets = {}
        self.epolls = [select.epoll() for _ in range(2)]
        self.watched = {}  # number: name
        self.past = {}  # what has happened to a socket; duplicates share it
        self.calls = CALLS | {
            "bind": self._bind,
            "connect": self._connect,
            "fast": self._fast,
            "shutdown": self._shutdown,
            "names": lambda s, _: self._names(s),
            "watch": self._watch,
            "listen": self._listen,
            "dup": self._dup,
            "dup2": self._dup2,
        }

    def _named(self, address):
        if not address:
            return None
        owners = {self.own: "own", self.peer: "peer"}
        ip = address[0]
        port = "ephemeral" if address[1] >= 10000 else address[1] % 100
        return owners.get(ip, ip), port, *address[2:]

    def _past(self, s):
        return self.past.setdefault(s, {"connected": False, "shut": False})

    def _put(self, name, s):
        if name in self.sockets:
            self.sockets.pop(name).close()
        s.setblocking(False)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sockets[name] = s
        return "ok"

    def _bind(self, s, port):
        # On Linux a connection that has ended can be bound, to no purpose: nothing else works.
        return None if self._past(s)["connected"] else s.bind((self.own, port))

    def _listen(self, s, backlog):
        # A connection that was dissolved may listen there, as it may be bound.
        ended = self._past(s)["connected"] and info(s, None) == CLOSED
        return None if ended else s.listen(backlog)

    def _dup(self, s, name):
        copy = s.dup()
        self.past[copy] = self._past(s)
        return self._put(name, copy)

    def _shutdown(self, s, how):
        self._past(s)["shut"] = True
        s.shutdown(how)

    def look(self):
        """The TOE resets a connection that is shut down both ways once a call sees its data."""
        for s, past in self.past.items():
            if past["shut"] and s.fileno() >= 0:
                ready(s, 0)

    def _fast(self, s, a):
        if not self._bind_own(s):
            return None
        return s.sendto(pattern(a[0]), MSG_FASTOPEN, (self.peer, a[1]))

    def _bind_own(self, s):
        """So that each carrier has its own address. False: it has lost its own, not its port."""
        self._past(s)["connected"] = True
        ip, port = s.getsockname()[:2]
        if port == 0:
            # an error: it is bound, and has no name since it was dissolved
            with contextlib.suppress(OSError):
                s.bind((self.own, 0))
        return port == 0 or ip == self.own

    def _connect(self, s, port):
        return s.connect((self.peer, port)) if self._bind_own(s) else None

    def _names(self, s):
        found = []
        for name in s.getsockname, s.getpeername:
            try:
                found.append(self._named(name()))
            except OSError as e:
                found.append(errno.errorcode[e.errno])
        return found

    def _watch(self, s, a):
        at, op, events = a
        epoll = self.epolls[at]
        self.watched[s.fileno()] = next(n for n, x in self.sockets.items() if x is s)
        if op == "register":
            epoll.register(s, events)
        elif op == "modify":
            epoll.modify(s, events)
        else:
            epoll.unregister(s)

    def _wait(self, a):
        at, most = a
        found = self.epolls[at].poll(0.01, most)
        return sorted((self.watched.get(number, "?"), events) for number, events in found)

    def _dup2(self, s, name):
        other = self.sockets.get(name)
        if other:
            os.dup2(s.fileno(), other.fileno())
            self.past[other] = self._past(s)

    def _accept(self, s, name, how):
        room, size = ctypes.create_string_buffer(28), ctypes.c_int(28)
        fd = check(libc.accept4(s.fileno(), room, ctypes.byref(size), how))
        with socket.socket(fileno=fd) as c:
            found = fcntl.fcntl(c, fcntl.F_GETFL), fcntl.fcntl(c, fcntl.F_GETFD), size.value
            address = self._named(c.getpeername()) if how & 1 else self._names(c)
            accepted = socket.socket(fileno=c.detach())
            self._past(accepted)["connected"] = True
            return self._put(name, accepted), address, found

    def do(self, call, name, a):
        try:
            if call == "socket":
                return self._put(name, socket.socket(self.family))
            if call == "wait":
                return self._wait(a)
            s = self.sockets.get(name)
            if not s:
                return None
            if call == "close":
                return self.sockets.pop(name).close()
            if call == "accept":
                return self._accept(s, *a)
            return self.calls[call](s, a)
        except OSError as e:
            return errno.errorcode[e.errno]

    def end(self):
        for s in self.sockets.values():
            with contextlib.suppress(OSError):
                linger(s)
            s.close()
        for epoll in self.epolls:
            epoll.close()
