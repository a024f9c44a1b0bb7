# SPDX-License-Identifier: Apache-2.0
"""A host of the device contract without libtoe, for tests of what libtoe never does."""

from __future__ import annotations

import array
import contextlib
import fcntl
import mmap
import os
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from tests.lab import proc

MAGIC, VERSION, PAGE = 0x31454F54, 1, 4096
ATTACH, MOVED = 1, 7
HELLO = struct.Struct("<4I6I32s")
WELCOME = struct.Struct("<6I6s4sBB4s128s")
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL

# From device/commands.json.
LISTEN, UNLISTEN, CONNECT, SEND, RECV, CLOSE, ACCEPT, RELEASE = 1, 2, 3, 4, 5, 6, 8, 9
LISTEN_ESTABLISHED, CONNECT_FAILED, DATA_RECEIVED, ERROR = 129, 131, 132, 135
NO_SUCH = 99
HALF, PUSH = 1, 1


class Refused(Exception):
    pass


@dataclass(frozen=True)
class Command:
    type: int
    flags: int = 0
    aux: int = 0
    flow: int = 0
    arg0: int = 0
    arg1: int = 0


@dataclass(frozen=True)
class Shape:
    """struct toedev_qp_config, and the layout that follows from it (device/src/layout.c)."""

    sw: int = 64
    hw: int = 64
    slots: int = 4
    tx: int = 4096
    rx: int = 4096
    addresses: int = 0

    @property
    def hw_ring(self) -> int:
        return 2 * PAGE + -(-self.sw * 16 // PAGE) * PAGE

    @property
    def buffers(self) -> int:
        return (
            self.hw_ring
            + -(-self.hw * 16 // PAGE) * PAGE
            + -(-self.slots * 192 // PAGE) * PAGE
            + -(-self.addresses * 64 // PAGE) * PAGE
        )

    @property
    def total(self) -> int:
        return self.buffers + self.slots * (self.tx + self.rx)

    def words(self) -> tuple[int, ...]:
        return (self.sw, self.hw, self.slots, self.tx, self.rx, self.addresses)


def area(size: int, seals: int = SEALS) -> int:
    fd = os.memfd_create("raw host", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def say(control: socket.socket, kind: int, fds: list[int], shape: Shape | None = None) -> None:
    hello = HELLO.pack(MAGIC, VERSION, kind, 0, *(shape or Shape()).words(), b"raw")
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
    control.sendmsg([hello], rights)


class Host:
    """An attached queue pair. memory, irq: descriptors to use instead of the usual ones."""

    def __init__(
        self, path: Path, shape: Shape | None = None, *, memory: int = -1, irq: int = -1
    ) -> None:
        self.shape = shape or Shape()
        memory = area(self.shape.total) if memory < 0 else memory
        irq = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC) if irq < 0 else irq
        self.control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(proc.seconds(20))
        self.control.connect(str(path))
        say(self.control, ATTACH, [memory, irq], self.shape)
        data, rights, _, _ = self.control.recvmsg(WELCOME.size, socket.CMSG_SPACE(8))
        fields = WELCOME.unpack(data)
        if fields[2]:
            for fd in (memory, irq):
                os.close(fd)
            self.control.close()
            raise Refused(fields[-1].rstrip(b"\0").decode())
        self.page, self.doorbell = array.array("i", rights[0][2])
        self.number = fields[3]
        self.memory = mmap.mmap(memory, self.shape.total)
        self.fds = [memory, irq, self.page, self.doorbell]
        self.sw_head = self.hw_tail = 0

    def close(self) -> None:
        """Closes all descriptors, as the end of its process does."""
        self.control.close()
        for fd in self.fds:
            os.close(fd)
        self.fds = []

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self.fds:
            self.close()

    def word(self, at: int) -> int:
        return struct.unpack_from("<I", self.memory, at)[0]

    @property
    def sw_tail(self) -> int:
        return self.word(PAGE)

    @property
    def hw_head(self) -> int:
        return self.word(PAGE + 64)

    def put(self, kind: int, **fields: int) -> None:
        """Writes a command into the SW ring; ring() publishes it."""
        f = Command(kind, **fields)
        phase = 0 if self.sw_head & self.shape.sw else 1
        at = 2 * PAGE + self.sw_head % self.shape.sw * 16
        first = f.type | f.flags << 8 | phase << 15 | f.aux << 16 | f.flow << 32
        struct.pack_into("<QII", self.memory, at, first, f.arg0, f.arg1)
        self.sw_head += 1

    def ring(self) -> None:
        struct.pack_into("<I", self.memory, 0, self.sw_head)
        with contextlib.suppress(BlockingIOError):
            os.eventfd_write(self.doorbell, 1)

    def do(self, kind: int, **fields: int) -> None:
        """Sends one command and waits until it is handled."""
        self.put(kind, **fields)
        self.ring()
        self.handled()

    def handled(self, n: int | None = None) -> None:
        """Waits until n commands are handled; by default all."""
        wanted = self.sw_head if n is None else n
        self.wait(lambda: self.sw_tail == wanted, f"{wanted} commands handled")

    @staticmethod
    def wait(what, said: str, seconds: float = 30) -> None:
        end = time.monotonic() + proc.seconds(seconds)
        while not what():
            if time.monotonic() > end:
                raise AssertionError(f"{said}: not after {seconds} s")
            time.sleep(0.001)

    def take(self) -> Command | None:
        """Takes the TOE's next notification, if there is one."""
        at = self.shape.hw_ring + self.hw_tail % self.shape.hw * 16
        first, arg0, arg1 = struct.unpack_from("<QII", self.memory, at)
        if (first >> 15 & 1) == (1 if self.hw_tail & self.shape.hw else 0):
            return None
        self.hw_tail += 1
        struct.pack_into("<I", self.memory, 64, self.hw_tail)
        return Command(
            first & 0xFF, first >> 8 & 0x7F, first >> 16 & 0xFFFF, first >> 32, arg0, arg1
        )

    def hear(self) -> Command:
        got: list[Command] = []

        def one() -> bool:
            if c := self.take():
                got.append(c)
            return bool(got)

        self.wait(one, "a command from the TOE")
        return got[0]

    def listen(self, port: int, number: int = 1, backlog: int = 16) -> None:
        self.do(LISTEN, aux=port, flow=number, arg1=backlog)

    def fill(self, n: int) -> None:
        """Makes the TOE write n ERRORs into the HW ring and leaves them there."""
        for _ in range(n):
            self.put(NO_SUCH)
        self.ring()
        self.handled()
        self.wait(lambda: self.hw_head - self.hw_tail >= n, f"{n} ERRORs")
