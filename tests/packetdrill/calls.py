# SPDX-License-Identifier: Apache-2.0
"""The system calls of the language: converts arguments of the script to memory, and compares
results with the script. Each call prepares a Prepared; run.py makes the call."""

from __future__ import annotations

import ctypes as c
import os
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.packetdrill import pattern
from tests.packetdrill import sockets as s
from tests.packetdrill.errors import Mismatch, ScriptError
from tests.packetdrill.messages import Message
from tests.packetdrill.script import ELLIPSIS, Address, Call, IoVec, SockAddr, Struct
from tests.packetdrill.symbols import evaluate, integer

if TYPE_CHECKING:
    from tests.packetdrill.run import Run

MSG_PEEK, MSG_TRUNC, MSG_OOB, MSG_ERRQUEUE = 2, 0x20, 1, 0x2000


@dataclass
class Prepared:
    name: str
    args: list[int]
    is_fd: bool = False  # the script's value means any descriptor
    after: Callable[[int], None] = lambda result: None  # result >= 0: checks the returned values
    keep: list[object] = field(default_factory=list)  # memory that the call uses


class Calls:
    def __init__(self, run: Run) -> None:
        self.run = run

    def prepare(self, call: Call) -> Prepared:
        maker = getattr(self, f"do_{call.name}", None)
        if maker is None:
            raise ScriptError(f"Unknown system call: '{call.name}'")
        self.call = call
        self.arguments = call.args
        return maker()

    # ---- arguments ----

    def count(self, *counts: int) -> None:
        if len(self.arguments) not in counts:
            wanted = "-".join(map(str, counts))
            raise ScriptError(f"Expected {wanted} args but got {len(self.arguments)}")

    def number(self, i: int) -> int:
        return integer(self.arguments[i], f"a number as argument {i + 1}")

    def fd(self, i: int = 0) -> int:
        return self.live_fd(self.number(i))

    def live_fd(self, script_fd: int) -> int:
        if script_fd not in self.run.fds:
            raise ScriptError(f"unable to find fd with script fd {script_fd}")
        return self.run.fds[script_fd]

    def sock(self, i: int = 0) -> s.Sock | None:
        return self.run.sock_of_fd(self.number(i))

    def ellipsis(self, *which: int) -> None:
        for i in which:
            if self.arguments[i] is not ELLIPSIS:
                raise ScriptError(f"expected ... as argument {i + 1}")

    def bracketed(self, i: int) -> object:
        e = self.arguments[i]
        if not isinstance(e, list) or len(e) != 1:
            raise ScriptError(f"expected [<value>] as argument {i + 1}")
        return evaluate(e[0])

    def sockaddr(self, i: int, port: int, remote: bool) -> bytes:
        """Returns the address for `...`, an explicit address, or a family alone."""
        e = self.arguments[i]
        config = self.run.config
        if e is ELLIPSIS:
            ip = config.remote_ip if remote else config.local_ip
            return sockaddr_bytes(config.ip_version, ip, port)
        if isinstance(e, SockAddr):
            version = "ipv6" if e.family == "AF_INET6" else "ipv4"
            return sockaddr_bytes(version, e.address, e.port)
        return struct.pack("=H14x", integer(e, "an address"))

    def result_fd(self) -> int:
        value = evaluate(self.call.result)
        return value if isinstance(value, int) else -1

    # ---- sockets ----

    def do_socket(self) -> Prepared:
        self.count(3)
        family = self.arguments[0]
        domain = self.run.socket_domain if family is ELLIPSIS else self.number(0)
        kind, protocol = self.number(1), self.number(2)
        script_fd = self.result_fd()
        self.run.backend_takes(domain, kind, protocol)

        def after(result: int) -> None:
            number = protocol or (6 if kind & 15 == socket.SOCK_STREAM else 17)
            self.run.new_fd(script_fd, result)
            sock = s.Sock(protocol=number, script_fd=script_fd, live_fd=result)
            self.run.sockets.append(sock)
            self.run.under_test = sock

        return Prepared("socket", [domain, kind, protocol], True, after)

    def do_bind(self) -> Prepared:
        self.count(3)
        raw = c.create_string_buffer(self.sockaddr(1, self.run.config.bind_port, False))
        n = len(raw) - 1 if self.arguments[2] is ELLIPSIS else self.number(2)
        return Prepared("bind", [self.fd(), c.addressof(raw), n], keep=[raw])

    def do_listen(self) -> Prepared:
        self.count(2)
        sock = self.sock()

        def after(result: int) -> None:
            if sock:
                sock.state = s.LISTENING

        return Prepared("listen", [self.fd(), self.number(1)], after=after)

    def do_accept(self) -> Prepared:
        self.count(3)
        self.ellipsis(1, 2)
        raw, n = c.create_string_buffer(128), c.c_uint32(128)
        script_fd = self.result_fd()

        def after(result: int) -> None:
            self.run.new_fd(script_fd, result)
            port = struct.unpack("!H", raw.raw[2:4])[0]
            self.run.accepted(script_fd, result, port)

        args = [self.fd(), c.addressof(raw), c.addressof(n)]
        return Prepared("accept", args, True, after, [raw, n])

    def do_connect(self) -> Prepared:
        self.count(3)
        raw = c.create_string_buffer(self.sockaddr(1, self.run.config.connect_port, True))
        self.run.connecting(self.sock(), raw.raw)
        n = len(raw) - 1 if self.arguments[2] is ELLIPSIS else self.number(2)
        return Prepared("connect", [self.fd(), c.addressof(raw), n], keep=[raw])

    def do_close(self) -> Prepared:
        self.count(1)
        script_fd = self.number(0)
        live = self.fd()

        def after(result: int) -> None:
            self.run.fds.pop(script_fd, None)

        return Prepared("close", [live], after=after)

    def do_shutdown(self) -> Prepared:
        self.count(2)
        return Prepared("shutdown", [self.fd(), self.number(1)])

    # ---- reading ----

    def reading(self, sock: s.Sock | None, got: bytes, flags: int) -> None:
        """Checks that the bytes are those of the stream at this offset."""
        if not sock or sock.read is None or sock.protocol != 6 or flags & (MSG_OOB | MSG_ERRQUEUE):
            return
        if not flags & MSG_TRUNC and got != pattern.stream(sock.read, len(got)):
            raise Mismatch(f"wrong bytes read at offset {sock.read} of the stream")
        if not flags & MSG_PEEK:
            sock.read += len(got)

    def buffer(self, i: int, n: int) -> tuple[object, int]:
        e = self.arguments[i]
        if e is not ELLIPSIS and evaluate(e) != 0:
            raise ScriptError("Expected ... or NULL for buffer")
        if e is not ELLIPSIS:
            return None, 0
        raw = c.create_string_buffer(max(n, 1))
        return raw, c.addressof(raw)

    def do_read(self) -> Prepared:
        self.count(3)
        return self.receive("read", [])

    def do_recv(self) -> Prepared:
        self.count(4)
        return self.receive("recv", [self.number(3)])

    def do_recvfrom(self) -> Prepared:
        self.count(6)
        self.ellipsis(4, 5)
        name, n = c.create_string_buffer(128), c.c_uint32(128)
        p = self.receive("recvfrom", [self.number(3), c.addressof(name), c.addressof(n)])
        p.keep += [name, n]
        return p

    def receive(self, name: str, rest: list[int]) -> Prepared:
        n, sock = self.number(2), self.sock()
        raw, at = self.buffer(1, n)
        flags = rest[0] if rest else 0

        def after(result: int) -> None:
            got = raw.raw[: min(result, n)] if raw else b""
            if raw is None and sock and result > 0:
                got = pattern.stream(sock.read or 0, result)
            self.reading(sock, got, flags)

        return Prepared(name, [self.fd(), at, n, *rest], after=after, keep=[raw])

    def iovec(self, e: object, data: bytes | None = None) -> tuple[object, int, list[object]]:
        """Returns the array, its length, and its buffers; data: their content."""
        if not isinstance(e, list) or not all(isinstance(item, IoVec) for item in e):
            raise ScriptError("expected an iovec array: [{..., 10}, {..., 20}]")
        sizes = [integer(item.length) for item in e]
        if data is None:
            buffers = [c.create_string_buffer(max(n, 1)) for n in sizes]
        else:
            buffers, at = [], 0
            for n in sizes:
                buffers.append(c.create_string_buffer(data[at : at + n], n + 1))
                at += n
        words = [w for b, n in zip(buffers, sizes, strict=True) for w in (c.addressof(b), n)]
        return (c.c_uint64 * max(len(words), 1))(*words), len(sizes), buffers

    def iovec_sum(self, e: object) -> int:
        items = e if isinstance(e, list) else []
        return sum(integer(item.length) for item in items if isinstance(item, IoVec))

    def do_readv(self) -> Prepared:
        self.count(3)
        array, n, buffers = self.iovec(self.arguments[1])
        self.same_count(n, 2)
        sock, sizes = self.sock(), [integer(item.length) for item in self.arguments[1]]

        def after(result: int) -> None:
            whole = b"".join(b.raw[:k] for b, k in zip(buffers, sizes, strict=True))
            self.reading(sock, whole[:result], 0)

        keep = [array, *buffers]
        return Prepared("readv", [self.fd(), c.addressof(array), n], after=after, keep=keep)

    def same_count(self, n: int, i: int) -> None:
        if self.number(i) != n:
            raise ScriptError(f"iov_count {self.number(i)} does not match {n}-element iovec array")

    def do_recvmsg(self) -> Prepared:
        self.count(3)
        flags, sock = self.number(2), self.sock()
        m = Message(self, self.arguments[1], None)

        def after(result: int) -> None:
            self.reading(sock, m.data()[:result], flags)
            m.check()

        args = [self.fd(), m.address, flags]
        return Prepared("recvmsg", args, after=after, keep=[m])

    # ---- writing ----

    def to_write(self, sock: s.Sock | None, n: int, flags: int = 0) -> bytes:
        at = sock.written if sock and sock.written is not None else 0
        return pattern.stream(at, n)

    def wrote(self, sock: s.Sock | None, result: int) -> None:
        if sock and sock.written is not None and sock.protocol == 6:
            sock.written += result

    def do_write(self) -> Prepared:
        self.count(3)
        return self.send("write", [])

    def do_send(self) -> Prepared:
        self.count(4)
        return self.send("send", [self.number(3)])

    def do_sendto(self) -> Prepared:
        self.count(6)
        raw = c.create_string_buffer(self.sockaddr(4, self.run.config.connect_port, True))
        self.run.connecting(self.sock(), raw.raw)
        n = len(raw) - 1 if self.arguments[5] is ELLIPSIS else self.number(5)
        p = self.send("sendto", [self.number(3), c.addressof(raw), n])
        p.keep.append(raw)
        return p

    def send(self, name: str, rest: list[int]) -> Prepared:
        n, sock = self.number(2), self.sock()
        raw, at = self.buffer(1, n)
        if raw is not None:
            c.memmove(raw, self.to_write(sock, n), n)

        def after(result: int) -> None:
            self.wrote(sock, result)

        return Prepared(name, [self.fd(), at, n, *rest], after=after, keep=[raw])

    def do_writev(self) -> Prepared:
        self.count(3)
        sock = self.sock()
        data = self.to_write(sock, self.iovec_sum(self.arguments[1]))
        array, n, buffers = self.iovec(self.arguments[1], data)
        self.same_count(n, 2)
        return Prepared(
            "writev",
            [self.fd(), c.addressof(array), n],
            after=lambda result: self.wrote(sock, result),
            keep=[array, *buffers],
        )

    def do_sendmsg(self) -> Prepared:
        self.count(3)
        sock = self.sock()
        e = self.arguments[1]
        vectors = e.members.get("msg_iov", (0, []))[1] if isinstance(e, Struct) else []
        m = Message(self, e, self.to_write(sock, self.iovec_sum(vectors)))
        if m.name is not None:
            self.run.connecting(sock, m.name.raw)
        if m.flags:
            raise ScriptError("sendmsg ignores msg_flags field in msghdr")
        return Prepared(
            "sendmsg",
            [self.fd(), m.address, self.number(2)],
            after=lambda result: self.wrote(sock, result),
            keep=[m],
        )

    # ---- descriptors ----

    def do_fcntl(self) -> Prepared:
        self.count(2, 3)
        arg = self.number(2) if len(self.arguments) == 3 else 0
        return Prepared("fcntl", [self.fd(), self.number(1), arg])

    def do_ioctl(self) -> Prepared:
        self.count(2, 3)
        if len(self.arguments) == 2:
            return Prepared("ioctl", [self.fd(), self.number(1), 0])
        wanted, value = self.bracketed(2), c.c_int()

        def after(result: int) -> None:
            if value.value != wanted:
                raise Mismatch(f"Bad ioctl optval: expected: {wanted} actual: {value.value}")

        args = [self.fd(), self.number(1), c.addressof(value)]
        return Prepared("ioctl", args, after=after, keep=[value])

    def do_open(self) -> Prepared:
        self.count(2)
        path, flags, script_fd = evaluate(self.arguments[0]), self.number(1), self.result_fd()
        if not isinstance(path, str):
            raise ScriptError("expected a file name")
        live = -1
        try:
            live = os.open(path, flags)
        except OSError as e:
            return Prepared("", [-1, e.errno], True)

        return Prepared("", [live, 0], True, lambda result: self.run.new_fd(script_fd, result))

    def do_sendfile(self) -> Prepared:
        self.count(4)
        sock = self.sock()
        offset = c.c_int64(int(self.bracketed(2)))
        args = [self.fd(0), self.fd(1), c.addressof(offset), self.number(3)]
        if sock:
            sock.written = None  # the file's bytes, not the pattern's
        return Prepared("sendfile", args, keep=[offset])

    def do_pipe(self) -> Prepared:
        self.count(1)
        ends = self.arguments[0]
        if not isinstance(ends, list) or len(ends) != 2:
            raise ScriptError("expected [fd, fd]")
        live = (c.c_int * 2)()

        def after(result: int) -> None:
            for e, fd in zip(ends, live, strict=True):
                self.run.new_fd(integer(e), fd)

        return Prepared("pipe", [c.addressof(live)], after=after, keep=[live])

    def do_splice(self) -> Prepared:
        self.count(6)
        offsets = [c.c_int64(self.number(1)), c.c_int64(self.number(3))]
        for i in (0, 2):
            if sock := self.sock(i):
                sock.written = sock.read = None
        first, second = (c.addressof(o) if o.value else 0 for o in offsets)
        args = [self.fd(0), first, self.fd(2), second, self.number(4), self.number(5)]
        return Prepared("splice", args, keep=offsets)

    # ---- options ----

    def do_getsockopt(self) -> Prepared:
        self.count(5)
        n = self.bracketed(4)
        if not isinstance(n, int):
            raise ScriptError("expected [length]")
        raw, size = c.create_string_buffer(max(n, 1) + 8), c.c_uint32(n)
        wanted = self.arguments[3]

        def after(result: int) -> None:
            if size.value != n:
                raise Mismatch(f"Bad getsockopt optlen: expected: {n} actual: {size.value}")
            check_option(wanted, raw.raw[:n])

        args = [self.fd(), self.number(1), self.number(2), c.addressof(raw), c.addressof(size)]
        return Prepared("getsockopt", args, after=after, keep=[raw, size])

    def do_setsockopt(self) -> Prepared:
        self.count(5)
        value = option_value(self.arguments[3])
        n = self.number(4)
        raw = c.create_string_buffer(value, max(len(value), n) + 1)
        args = [self.fd(), self.number(1), self.number(2), c.addressof(raw), n]
        return Prepared("setsockopt", args, keep=[raw])

    # ---- waiting ----

    def do_poll(self) -> Prepared:
        self.count(3)
        entries = self.arguments[0]
        if not isinstance(entries, list) or len(entries) != self.number(1):
            raise ScriptError("nfds does not match the pollfd array")
        wanted, words = [], b""
        for e in entries:
            if not isinstance(e, Struct):
                raise ScriptError("expected {fd=..., events=..., revents=...}")
            m = e.members
            revents = integer(m.get("revents", 0))
            wanted.append(revents)
            live = self.live_fd(integer(m["fd"]))
            words += struct.pack("=ihh", live, integer(m["events"]), revents)
        raw = c.create_string_buffer(words, len(words) + 1)

        def after(result: int) -> None:
            for i, revents in enumerate(wanted):
                got = struct.unpack_from("=h", raw.raw, i * 8 + 6)[0]
                if got != revents:
                    raise Mismatch(
                        f"Expected revents of {poll_text(revents)} but got {poll_text(got)} "
                        f"for pollfd {i}"
                    )

        args = [c.addressof(raw), len(wanted), self.number(2)]
        return Prepared("poll", args, after=after, keep=[raw])

    def do_epoll_create(self) -> Prepared:
        self.count(1)
        script_fd = self.result_fd()
        after = lambda result: self.run.new_fd(script_fd, result)  # noqa: E731
        return Prepared("epoll_create", [self.number(0)], True, after)

    def epoll_event(self, e: object) -> tuple[int, int]:
        """Returns events and data; fd is converted to the live number."""
        if not isinstance(e, Struct) or "events" not in e.members:
            raise ScriptError("expected {events=..., fd=...}")
        events = integer(e.members["events"]) & 0xFFFFFFFF
        for name in ("ptr", "u64", "u32"):
            if name in e.members:
                return events, integer(e.members[name])
        if "fd" not in e.members:
            raise ScriptError("epoll_event specified incorrectly")
        return events, self.live_fd(integer(e.members["fd"]))

    def do_epoll_ctl(self) -> Prepared:
        self.count(4)
        e = self.arguments[3]
        raw = None
        at = 0
        if not isinstance(e, int):
            events, data = self.epoll_event(e)
            raw = c.create_string_buffer(struct.pack("=Iq", events, data))
            at = c.addressof(raw)
        args = [self.fd(0), self.number(1), self.fd(2), at]
        return Prepared("epoll_ctl", args, keep=[raw])

    def do_epoll_wait(self) -> Prepared:
        self.count(4)
        e = self.arguments[1]
        items = [] if e is ELLIPSIS else e if isinstance(e, list) else [e]
        wanted = [self.epoll_event(item) for item in items]
        most = self.number(2)
        raw = c.create_string_buffer(max(most, 1) * 12)

        def after(result: int) -> None:
            if result == 0 or e is ELLIPSIS:
                return
            for i, (events, data) in enumerate(wanted[:result]):
                got, got_data = struct.unpack_from("=Iq", raw.raw, i * 12)
                if got != events:
                    raise Mismatch(
                        "epoll_event->events does not match script: "
                        f"expected: {events:#x} actual: {got:#x}"
                    )
                if got_data != data:
                    raise Mismatch(
                        "epoll_event->data does not match script: "
                        f"expected: {data} actual: {got_data}"
                    )

        args = [self.fd(0), c.addressof(raw), most, self.number(3)]
        return Prepared("epoll_wait", args, after=after, keep=[raw])


# ---- bytes of structures ----


def sockaddr_bytes(version: str, ip: str, port: int) -> bytes:
    if version == "ipv4" and ":" not in ip:
        return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton(ip))
    text = ip if ":" in ip else f"::ffff:{ip}"
    raw = socket.inet_pton(socket.AF_INET6, text)
    return struct.pack("=H", socket.AF_INET6) + struct.pack("!HI16sI", port, 0, raw, 0)


def option_value(e: object) -> bytes:
    value = evaluate(e)
    if isinstance(value, list):
        if len(value) != 1:
            return struct.pack(f"={len(value)}i", *(signed(integer(v)) for v in value))
        return struct.pack("=i", signed(integer(value[0])))
    if isinstance(value, str):
        return value.encode("latin-1")
    if isinstance(value, Struct) and "onoff" in value.members:
        m = value.members
        return struct.pack("=ii", integer(m["onoff"]), integer(m["linger"]))
    if isinstance(value, Struct) and "tv_sec" in value.members:  # beyond packetdrill: SO_RCVTIMEO
        m = value.members
        return struct.pack("=qq", integer(m["tv_sec"]), integer(m.get("tv_usec", 0)))
    if isinstance(value, Address):
        return socket.inet_pton(socket.AF_INET6, value.text)
    raise ScriptError("unsupported setsockopt value")


def signed(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def check_option(wanted: object, got: bytes) -> None:
    if wanted is ELLIPSIS:
        return
    value = evaluate(wanted)
    if isinstance(value, str):
        text = value.encode("latin-1").ljust(len(got), b"\0")
        if got[: len(text)] != text[: len(got)]:
            raise Mismatch(f"Bad getsockopt optval: expected: '{value}' actual: {got!r}")
        return
    if isinstance(value, list) and len(value) == 1 and len(got) in (1, 2, 4, 8):
        actual = int.from_bytes(got, "little")
        if len(got) == 4:
            actual = signed(actual)
        want = value[0] if value[0] is ELLIPSIS else integer(value[0])
        if want is not ELLIPSIS and actual != want:
            raise Mismatch(f"Bad getsockopt optval: expected: {want} actual: {actual}")
        return
    expected = option_value(wanted)
    if expected != got[: len(expected)]:
        raise Mismatch(f"Bad getsockopt optval: expected: {expected!r} actual: {got!r}")


def poll_text(events: int) -> str:
    names = ["POLLIN", "POLLPRI", "POLLOUT", "POLLERR", "POLLHUP", "POLLNVAL", "POLLRDNORM"]
    names += ["POLLRDBAND", "POLLWRNORM", "POLLWRBAND", "POLLMSG"]
    found = [name for i, name in enumerate(names) if events >> i & 1]
    if events & 0x2000:
        found.append("POLLRDHUP")
    return "|".join(found) or "0"
