# SPDX-License-Identifier: Apache-2.0
"""MSG_ZEROCOPY as its users see it: `serve ADDRESS PORT`, a sink, and `client ADDRESS PORT`.

The client reports what it saw as JSON, except whether the bytes were copied anyway.
"""

import errno
import fcntl
import json
import select
import socket
import struct
import sys
import time

SO_ZEROCOPY, MSG_ZEROCOPY = 60, 0x4000000
SIOCOUTQ = 0x5411
COPIED = 1

kept = []  # sent memory must stay unchanged
saw = {}


def send(sock, size, flags=MSG_ZEROCOPY):
    kept.append(bytes(size))
    return sock.send(kept[-1], flags)


def acknowledged(sock):
    while struct.unpack("i", fcntl.ioctl(sock, SIOCOUTQ, bytes(4)))[0]:
        time.sleep(0.001)


def errqueue(sock, room=256):
    """Describes a completion; None if there is none."""
    try:
        data, control, flags, name = sock.recvmsg(16, room, socket.MSG_ERRQUEUE)
    except BlockingIOError:
        return None
    said = {"bytes": len(data), "flags": flags, "name": name}
    for level, kind, value in control:
        if len(value) < 16:
            said.update(level=level, kind=kind, size=len(value))
            continue
        error, origin, type_, code, _, info, more = struct.unpack_from("IBBBBII", value)
        said.update(
            level=level, kind=kind, error=error, origin=origin, type=type_, code=code & ~COPIED
        )
        said.update(first=info, last=more, size=len(value), offender=any(value[16:]))
    return said


def all_of(sock, last):
    """Completions until that of call `last`; the range they make, which must have no hole."""
    first = next_ = None
    while next_ is None or next_ <= last:
        select.select([], [], [sock], 0.001)
        found = errqueue(sock)
        if found is None:
            continue
        first = found["first"] if first is None else first
        if next_ not in (None, found["first"]):
            raise SystemExit(f"completions leave a hole: {found}")
        next_ = found["last"] + 1
    return [first, next_ - 1]


def set_option(sock, value):
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, value)
    except OSError as e:
        return errno.errorcode[e.errno]
    return sock.getsockopt(socket.SOL_SOCKET, SO_ZEROCOPY)


def events(sock):
    poller = select.epoll()
    poller.register(sock, select.EPOLLIN | select.EPOLLOUT)
    return [event for _, event in poller.poll(0)]


def run(sock):
    saw["option"] = [sock.getsockopt(socket.SOL_SOCKET, SO_ZEROCOPY)]
    send(sock, 100000)
    acknowledged(sock)
    saw["without the option"] = errqueue(sock)
    saw["option"] += [set_option(sock, value) for value in (2, -1, 1)]
    saw["without the flag"] = [send(sock, 100000, 0), acknowledged(sock), errqueue(sock)]
    saw["nothing"] = [send(sock, 0), errqueue(sock)]
    saw["each"] = []
    for size in (1, 5000, 300000):
        sent = send(sock, size)
        acknowledged(sock)
        while not events(sock)[0] & select.EPOLLERR:
            pass
        waiting = events(sock)
        found = errqueue(sock)
        saw["each"].append([sent, waiting, found, errqueue(sock), events(sock)])
    saw["SO_ERROR"] = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    vector = [b"a" * 10000, b"", b"b" * 7, b"c" * 20000]
    kept.append(vector)
    sent = sock.sendmsg(vector, [], MSG_ZEROCOPY)
    saw["vector"] = [sent, all_of(sock, 3)]
    for _ in range(20):
        send(sock, 20000)
    saw["many"] = all_of(sock, 23)
    send(sock, 9)
    while not events(sock)[0] & select.EPOLLERR:
        pass
    saw["little room"] = errqueue(sock, 24)
    send(sock, 9)
    while not events(sock)[0] & select.EPOLLERR:
        pass
    saw["recv takes it"] = [len(sock.recv(10, socket.MSG_ERRQUEUE)), errqueue(sock)]


def full(address, port):
    """Calls that accept no bytes have no number: the peer reads when a second connection comes."""
    with socket.create_connection((address, port)) as sock:
        set_option(sock, 1)
        sock.setblocking(False)
        taken = refused = 0
        while refused < 20:  # one after the other
            try:
                send(sock, 50000)
                taken += 1
                refused = 0
            except BlockingIOError:
                refused += 1
                time.sleep(0.01)
        with socket.create_connection((address, port)):
            return all_of(sock, taken - 1) == [0, taken - 1] and errqueue(sock) is None


def accepted():
    """A listener's option is its connections'."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        set_option(listener, 1)
        with socket.create_connection(listener.getsockname()) as c, listener.accept()[0] as a:
            return [s.getsockopt(socket.SOL_SOCKET, SO_ZEROCOPY) for s in (c, a)]


def read_to_the_end(sock):
    with sock:
        while sock.recv(1 << 16):
            pass


def serve(address, port):
    with (
        socket.create_server((address, port)) as one,
        socket.create_server((address, port + 1)) as two,
    ):
        print("ready", flush=True)
        while True:
            read_to_the_end(one.accept()[0])
            sock = two.accept()[0]
            two.accept()[0].close()
            read_to_the_end(sock)


def client(address, port):
    with socket.create_connection((address, port)) as sock:
        run(sock)
        sock.shutdown(socket.SHUT_WR)
        saw["the end"] = [errqueue(sock), len(sock.recv(10))]
    saw["full"] = full(address, port + 1)
    saw["accepted"] = accepted()
    print(json.dumps(saw))


{"serve": serve, "client": client}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
