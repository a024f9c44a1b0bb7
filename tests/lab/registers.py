# SPDX-License-Identifier: Apache-2.0
"""Windows of registers for tests: images, and a simulation behind a Unix socket."""

from __future__ import annotations

import socket
import struct
import threading
from pathlib import Path

RTT = 0x4D545452  # "RTTM"


def header(kind: int, size: int, next_at: int, version: int = 0x10000) -> bytes:
    """The header of a register block (device/block.rdl)."""
    return struct.pack("<4I", kind, version, size, next_at)


def image(blocks: dict[int, bytes], size: int = 0x9000) -> bytearray:
    out = bytearray(size)
    for at, content in blocks.items():
        out[at : at + len(content)] = content
    return out


class Simulation:
    """Registers behind a Unix socket, as gateware/sim has them.

    counts    address: increment of the register after each read.
    """

    def __init__(self, path: Path, content: bytearray):
        self.content = content
        self.counts: dict[int, int] = {}
        self.spec = f"sim:{path}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(path))
        self.socket.listen(4)
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return
            with peer:
                while len(request := peer.recv(16, socket.MSG_WAITALL)) == 16:
                    peer.sendall(self._answer(*struct.unpack("<4I", request)))

    def _answer(self, op: int, at: int, value: int, _status: int) -> bytes:
        if at + 4 > len(self.content):
            return struct.pack("<4I", op, at, 0, 3)  # DECERR
        if op == 2:
            self.put(at, value)
            self.written(at, value)
        value = self.get(at)
        if op == 1 and at in self.counts:
            self.put(at, value + self.counts[at])
        return struct.pack("<4I", op, at, value, 0)

    def get(self, at: int) -> int:
        return struct.unpack_from("<I", self.content, at)[0]

    def put(self, at: int, value: int) -> None:
        struct.pack_into("<I", self.content, at, value & 0xFFFFFFFF)

    def written(self, at: int, value: int) -> None:
        """Carries out the effects of a write."""

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


class Module(Simulation):
    """The measuring module (device/rtt.rdl) with samples put in by hand, in ticks of 4 ns."""

    LINEAR, PER_OCTAVE, RING = 512, 32, 512
    CLOCK_HZ, HIST_SHAPE, RING_ENTRIES = 0x10, 0x18, 0x1C
    CONTROL, PORTS, TAG_OFFSET, TIMEOUT = 0x40, 0x44, 0x48, 0x4C
    HIST_BASE, COMMAND, STATUS, RING_HEAD, RING_TAIL = 0x50, 0x58, 0x5C, 0x64, 0x68
    S_COUNT, S_MIN, S_MAX, S_SUM, S_SQUARES = 0x110, 0x118, 0x11C, 0x120, 0x128
    S_PROBES, S_LOST, S_ANSWERS, S_DUPLICATES = 0x148, 0x15C, 0x164, 0x168
    HIST, SAMPLES = 0x1000, 0x2000

    def __init__(self, path: Path):
        super().__init__(path, image({0: header(RTT, 0x4000, 0)}, 0x4000))
        self.fresh: list[int] = []  # samples since the last snapshot
        self.lost = 0
        self.lock = threading.Lock()
        self.ready = False  # the ring was emptied: the last step of the set-up
        self.put(self.CLOCK_HZ, 250_000_000)
        self.put(self.HIST_SHAPE, self.PER_OCTAVE << 16 | self.LINEAR)
        self.put(self.RING_ENTRIES, self.RING)

    def sample(self, *ticks: int, lost: int = 0) -> None:
        """Adds round trips, as if just measured."""
        with self.lock:
            self.fresh += ticks
            self.lost += lost
            for t in ticks:
                head = self.get(self.RING_HEAD)
                self.put(self.SAMPLES + 16 * (head % self.RING), t)
                self.put(self.RING_HEAD, head + 1)

    def read(self) -> bool:
        """Whether the program has taken all samples from the ring."""
        with self.lock:
            return self.get(self.RING_TAIL) == self.get(self.RING_HEAD)

    def bin(self, ticks: int) -> int:
        distance = ticks - self.get(self.HIST_BASE)
        if distance < 0:
            return 1023
        if distance < self.LINEAR:
            return distance
        octave = (distance // self.LINEAR).bit_length() - 1
        start = self.LINEAR << octave
        return (
            self.LINEAR
            + (octave * self.PER_OCTAVE)
            + (distance - start) // (start // self.PER_OCTAVE)
        )

    def written(self, at: int, value: int) -> None:
        self.ready = self.ready or at == self.RING_TAIL
        if at == self.COMMAND:
            self.put(at, 0)
            if value & 1:
                self.snapshot()

    def snapshot(self) -> None:
        with self.lock:
            fresh, self.fresh = self.fresh, []
            lost, self.lost = self.lost, 0
        self.put(self.S_COUNT, len(fresh))
        self.put(self.S_MIN, min(fresh, default=0xFFFFFFFF))
        self.put(self.S_MAX, max(fresh, default=0))
        for at, total, words in (
            (self.S_SUM, sum(fresh), 2),
            (self.S_SQUARES, sum(t * t for t in fresh), 3),
        ):
            for word in range(words):
                self.put(at + 4 * word, total >> 32 * word)
        self.put(self.S_PROBES, len(fresh) + lost)
        self.put(self.S_ANSWERS, len(fresh))
        self.put(self.S_LOST, lost)
        self.content[self.HIST : self.HIST + 4096] = bytes(4096)
        for t in fresh:
            at = self.HIST + 4 * self.bin(t)
            self.put(at, self.get(at) + 1)
