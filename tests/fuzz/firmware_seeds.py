# SPDX-License-Identifier: Apache-2.0
"""Seeds of the target `firmware` (firmware.c)."""

import struct
from collections.abc import Iterator


def u16(value: int) -> bytes:
    return struct.pack(">H", value)


def firmware_command(kind: int, *numbers: int, qp: int = 0, flags: int = 0) -> bytes:
    """Numbers as the target reads them: up to 7, or 64 + the place in its list."""
    return bytes([kind - 1, flags << 3 | qp, *numbers])


def firmware_segment(length: int = 0, flags: int = 0, window: int = 0xFFFF) -> bytes:
    return bytes([150, flags]) + u16(length) + u16(window)


def firmwares() -> Iterator[tuple[str, bytes]]:
    """A list has 80 at 6, 1000 at 7, 10.0.0.2 at 17."""
    listen = firmware_command(1, 64 + 6, 3, 0, 4)
    connect = firmware_command(3, 64 + 6, 5, 64 + 17, 0)
    opened = bytes([100, 7]) + u16(0xFFFF)  # a SYN from port 40007
    passive = listen + opened + firmware_segment() + firmware_command(8, 0, 0, 0, 0)
    # The peer's SYN with its ACK, then an ACK.
    active = connect + firmware_segment(0, 2) + firmware_segment()
    send = firmware_command(4, 0, 0, 64 + 7, 0, flags=1)
    recv = firmware_command(5, 0, 0, 64 + 7, 0)
    close, half, abort = (firmware_command(6, 0, 0, 0, 0, flags=n) for n in (0, 1, 2))
    release = firmware_command(9, 0, 0, 0, 0)
    unlisten = firmware_command(2, 0, 3, 0, 0)
    wait = bytes([212, 10])  # 2^10 ms
    fin = firmware_segment(0, 1)
    yield "passive", passive + firmware_segment(1000) + recv + send + firmware_segment()
    yield "active", active + send + firmware_segment(1000) + recv + wait
    yield "closed", passive + close + firmware_segment() + fin + wait + release + opened
    yield "by_peer", passive + fin + half + firmware_segment() + wait + release
    yield "aborted", active + send + abort + release + connect
    yield "reset", active + firmware_segment(0, 4) + release + connect + wait
    yield "refused", connect + firmware_segment(0, 4) + connect + firmware_command(10, 0, 5, 0, 0)
    yield "lost", passive + send * 3 + wait * 4 + firmware_segment(0) * 4
    yield "out_of_order", passive + bytes([150, 128]) + b"\1\0\x64" + bytes(2) + recv + wait
    full = bytes([232, 0])  # no room in the HW ring of queue pair 0
    yield "no_room", passive + full + firmware_segment(1000) + send + fin + wait + bytes([232, 9])
    yield "no_slot", passive + bytes([240, 9]) + send * 4 + firmware_segment()
    yield "leaves", passive + send + bytes([252, 0]) + wait + bytes([248]) + passive
    yield "half_open", listen + opened * 3 + unlisten + wait
    yield "unaccepted", listen + opened + firmware_segment() + unlisten + wait + release
    two = bytes([245]) + firmware_command(1, 64 + 6, 3, 0, 4, qp=1)
    yield "shared", two + passive + opened * 4 + firmware_segment() * 3 + bytes([252, 1]) + opened
    every = b"".join(firmware_command(7, 64 + n, 0, 1, 0) for n in range(7))
    yield "options", passive + every + firmware_command(7, 2, 3, 1, 0, flags=2) + send
    yield "burst", passive + send * 3 + bytes([216 + 15]) + firmware_segment(100) * 16 + wait
    # Each behind the one before (CONTINUES): joined. 33703 % 1461 is 100.
    joined = firmware_segment(100) + firmware_segment(33703) * 14
    yield "merged", passive + bytes([216 + 14]) + joined + recv + wait
    yield "merged_psh", passive + bytes([216 + 14]) + joined[:12] + firmware_segment(33703, 8) * 13
    yield (
        "frame",
        bytes([208, 44, 8, 0])
        + bytes.fromhex("4500002a 00010000 4001 0000 0a000002 0a000001")
        + bytes(22),
    )
