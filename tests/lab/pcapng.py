# SPDX-License-Identifier: Apache-2.0
"""Reads capture files in pcapng format (draft-ietf-opsawg-pcapng) of this machine's byte order."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
IN, OUT = 1, 2


@dataclass
class Packet:
    interface: int
    time_ns: int
    data: bytes  # as captured
    length: int  # on the wire
    direction: int  # IN, OUT; 0: not known
    comment: str


@dataclass
class Interface:
    name: str
    description: str
    filter: str
    snaplen: int
    resolution: int
    received: int | None = None  # of its statistics; None: the file has none
    dropped: int | None = None
    accepted: int | None = None


@dataclass
class Capture:
    program: str = ""
    interfaces: list[Interface] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)


def _options(body: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at + 4 <= len(body):
        code, size = struct.unpack_from("=HH", body, at)
        if code == 0:
            break
        found[code] = body[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4
    return found


def _number(options: dict[int, bytes], code: int) -> int:
    return struct.unpack("=Q", options[code])[0]


def _packet(body: bytes) -> Packet:
    interface, high, low, size, length = struct.unpack_from("=5I", body)
    options = _options(body[20 + (size + 3) // 4 * 4 :])
    return Packet(
        interface=interface,
        time_ns=high << 32 | low,
        data=body[20 : 20 + size],
        length=length,
        direction=struct.unpack("=I", options[2])[0] & 3,
        comment=options.get(1, b"").decode(),
    )


def _interface(body: bytes) -> Interface:
    link, _, snaplen = struct.unpack_from("=HHI", body)
    assert link == 1, "Ethernet"
    options = _options(body[8:])
    return Interface(
        name=options.get(2, b"").decode(),
        description=options.get(3, b"").decode(),
        filter=options.get(11, b"\0")[1:].decode(),
        snaplen=snaplen,
        resolution=options[9][0],
    )


def _statistics(capture: Capture, body: bytes) -> None:
    (which,) = struct.unpack_from("=I", body)
    options = _options(body[12:])
    of = capture.interfaces[which]
    of.received, of.dropped = _number(options, 4), _number(options, 5)
    of.accepted = _number(options, 6)


def read(path: Path) -> Capture:
    """The content of a file. AssertionError when a block is not as the format demands."""
    data, at, capture = path.read_bytes(), 0, Capture()
    while at < len(data):
        kind, total = struct.unpack_from("=II", data, at)
        assert total % 4 == 0 and at + total <= len(data), (kind, total, at, len(data))
        assert struct.unpack_from("=I", data, at + total - 4) == (total,)
        body = data[at + 8 : at + total - 4]
        if kind == SECTION:
            assert struct.unpack_from("=IHH", body) == (0x1A2B3C4D, 1, 0)
            capture.program = _options(body[16:])[4].decode()
        elif kind == INTERFACE:
            capture.interfaces.append(_interface(body))
        elif kind == PACKET:
            capture.packets.append(_packet(body))
        else:
            assert kind == STATISTICS, kind
            _statistics(capture, body)
        at += total
    return capture
