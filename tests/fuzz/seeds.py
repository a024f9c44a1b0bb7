#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Valid inputs of every fuzz target, the seeds of fuzzers and replays.

tests/fuzz/seeds.py FOLDER writes FOLDER/TARGET/NAME for each. They are generated, not stored, so
that they follow the formats described at the top of the targets."""

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from firmware_seeds import firmwares

OWN, PEER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
OWN_MAC, PEER_MAC = bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 2])
FIX = 1 | 2 | 8  # of the target `frame`: checksums and our Ethernet address


def u16(*values: int) -> bytes:
    return struct.pack(f">{len(values)}H", *(v & 0xFFFF for v in values))


def u32(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *(v & 0xFFFFFFFF for v in values))


# ---- frame ----


def ip4(
    proto: int,
    payload: bytes,
    frag: int = 0,
    options: bytes = b"",
    ident: int = 1,
    src: bytes = PEER,
    dst: bytes = OWN,
) -> bytes:
    head = bytes([0x45 + len(options) // 4, 0]) + u16(20 + len(options) + len(payload), ident, frag)
    head += bytes([64, proto]) + u16(0) + src + dst + options
    return OWN_MAC + PEER_MAC + u16(0x0800) + head + payload


def tcp(flags: int, seq: int, ack: int, options: bytes = b"", payload: bytes = b"") -> bytes:
    offset = (20 + len(options)) // 4 << 4
    return (
        u16(5000, 80)
        + u32(seq, ack)
        + bytes([offset, flags])
        + u16(65535, 0, 0)
        + options
        + payload
    )


# Datagrams: how long (the target chooses by it how it answers) and the control byte.
UDP_SEEDS = [(8, FIX), (9, FIX), (10, FIX | 128), (12, FIX | 128), (16, FIX), (11, FIX | 128)]
SYN_OPTIONS = bytes([2, 4, 5, 0xB4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7])


def record(frame: bytes, control: int = FIX) -> bytes:
    return bytes([control]) + u16(len(frame)) + frame


def frames() -> Iterator[tuple[str, bytes]]:
    arp = u16(1, 0x0800) + bytes([6, 4]) + u16(1) + PEER_MAC + PEER + bytes(6) + OWN
    known = record(b"\xff" * 6 + PEER_MAC + u16(0x0806) + arp + bytes(18), 0)
    echo = bytes([8, 0]) + u16(0, 7, 1) + bytes(range(64))
    yield "arp", known
    yield "echo", known + record(ip4(1, echo))
    yield "echo_options", known + record(ip4(1, echo, options=bytes([7, 7, 4, 0, 0, 0, 0, 1])))
    yield "source_route", known + record(ip4(1, echo, options=bytes([131, 7, 4, 1, 2, 3, 4, 0])))
    yield "udp", known + record(ip4(17, u16(9, 53, 16, 0) + bytes(8)))
    yield "unknown", known + record(ip4(253, bytes(16)))
    yield "syn", known + record(ip4(6, tcp(2, 1000, 0, SYN_OPTIONS)))
    yield "segment", known + record(ip4(6, tcp(16, 1001, 5, bytes([1, 1, 8, 10]) + bytes(8), b"x")))
    sack = bytes([1, 1, 5, 18]) + u32(1, 2, 5, 9)
    yield "sack", known + record(ip4(6, tcp(16, 1001, 5, sack)))
    asking = [record(ip4(17, u16(9, 53, 8 + n, 0) + bytes(n)), how) for n, how in UDP_SEEDS]
    yield "udp_answers", known + b"".join(asking)
    yield "udp_client", known + asking[0] + record(ip4(17, u16(9, 54, 16, 0) + bytes(8)))
    gone = ip4(17, u16(53, 9, 16, 0) + bytes(8), src=OWN, dst=PEER)[14:42]
    for code in 3, 4:
        refused = bytes([3, code]) + u16(0, 0, 600) + gone
        yield f"udp_error{code}", known + record(ip4(1, refused)) + asking[0]
    quote = ip4(6, tcp(16, 1, 1))[14:42]
    yield "unreachable", known + record(ip4(1, bytes([3, 4]) + u16(0, 0, 1280) + quote))
    parts = [(0, echo[:24], 0x2000), (3, echo[24:48], 0x2000), (6, echo[48:], 0)]
    split = [ip4(1, part, frag=at | more) for at, part, more in parts]
    yield "fragments", known + b"".join(map(record, split))
    yield "fragments_back", known + b"".join(record(f) for f in reversed(split))
    yield "fragments_timeout", known + record(split[0]) + record(b"", 32) * 5
    yield "overlap", known + record(split[0]) + record(ip4(1, echo[8:40], frag=1 | 0x2000))
    yield from frames6()


OWN6, PEER6 = (bytes([0x20, 1, 0xD, 0xB8]) + bytes(11) + bytes([n]) for n in (1, 2))
ROUTER = bytes([0xFE, 0x80]) + bytes(13) + bytes([0xFE])
ALL_NODES = bytes([0xFF, 2]) + bytes(13) + bytes([1])


def ip6(proto: int, payload: bytes, src: bytes = PEER6, dst: bytes = OWN6, hops: int = 64) -> bytes:
    head = u32(0x60000000) + u16(len(payload)) + bytes([proto, hops]) + src + dst
    return OWN_MAC + PEER_MAC + u16(0x86DD) + head + payload


def frames6() -> Iterator[tuple[str, bytes]]:
    solicit = bytes([135, 0]) + u16(0, 0, 0) + OWN6 + bytes([1, 1]) + PEER_MAC
    known = record(ip6(58, solicit, hops=255))
    yield "solicit6", known
    advert = bytes([136, 0]) + u16(0) + u32(0x60000000) + PEER6 + bytes([2, 1]) + PEER_MAC
    yield "advert6", known + record(ip6(58, advert, hops=255))
    prefix = bytes([3, 4, 64, 0xC0]) + u32(9000, 9000, 0) + OWN6[:8] + bytes(8)
    router = bytes([134, 0]) + u16(0) + bytes([64, 0]) + u16(1800) + u32(0, 0)
    router += bytes([1, 1]) + PEER_MAC + bytes([5, 1, 0, 0]) + u32(1400) + prefix
    yield "router6", record(ip6(58, router, ROUTER, ALL_NODES, 255), 3)
    redirect = bytes([137, 0]) + u16(0, 0, 0) + ROUTER + PEER6
    yield "redirect6", known + record(ip6(58, redirect, ROUTER, hops=255))
    echo = bytes([128, 0]) + u16(0, 7, 1) + bytes(range(64))
    yield "echo6", known + record(ip6(58, echo))
    extended = bytes([60, 0, 5, 2, 0, 0, 1, 0, 43, 0, 1, 4, 0, 0, 0, 0, 58, 0, 4, 0, 0, 0, 0, 0])
    yield "extensions6", known + record(ip6(0, extended + echo))
    yield "syn6", known + record(ip6(6, tcp(2, 1000, 0, SYN_OPTIONS)))
    for n, how in UDP_SEEDS:
        yield f"udp6_{n}", known + record(ip6(17, u16(9, 53, 8 + n, 0) + bytes(n)), how)
    gone = ip6(17, u16(53, 9, 16, 0) + bytes(8), OWN6, PEER6)[14:]
    for kind, code in (1, 4), (2, 0):
        refused = bytes([kind, code]) + u16(0) + u32(1280) + gone
        yield f"udp_error6_{kind}", known + record(ip6(58, refused))
    ours = bytes([135, 0]) + u16(0, 0, 0) + bytes(16)
    advertised = record(ip6(58, router, ROUTER, ALL_NODES, 255), 3)
    again = advertised + record(ip6(58, ours, bytes(16), ALL_NODES, 255), FIX | 64)
    yield "duplicate6", again
    claimed = bytes([136, 0]) + u16(0) + u32(0x20000000) + bytes(16) + bytes([2, 1]) + PEER_MAC
    yield "claimed6", advertised + record(ip6(58, claimed, PEER6, ALL_NODES, 255), FIX | 64)
    far = bytes([0x20, 1, 0xD, 0xB8, 9]) + bytes(10) + bytes([7])
    elsewhere = bytes([137, 0]) + u16(0, 0, 0) + PEER6 + far + bytes([2, 1]) + PEER_MAC
    ask = record(ip6(17, u16(9, 53, 16, 0) + bytes(8), far))
    redirected = record(ip6(58, elsewhere, ROUTER, hops=255))
    yield "redirected6", advertised + ask + redirected + ask
    quote = ip6(6, tcp(16, 1, 1), OWN6, PEER6)[14:]
    yield "too_big6", known + record(ip6(58, bytes([2, 0]) + u16(0) + u32(1280) + quote))
    query = bytes([130, 0]) + u16(0, 100, 0) + bytes(20)
    yield "listeners6", record(ip6(58, query, ROUTER, ALL_NODES, 1), 3)
    parts = [(0, echo[:24], 1), (24, echo[24:48], 1), (48, echo[48:], 0)]
    split = [ip6(44, bytes([58, 0]) + u16(at | more) + u32(9) + part) for at, part, more in parts]
    yield "fragments6", known + b"".join(map(record, split))
    yield "overlap6", known + record(split[0]) + record(split[0][:-8]) + record(split[2])


# ---- options ----


def options() -> Iterator[tuple[str, bytes]]:
    head = bytes([2, 7]) + u16(1460) + bytes([7]) + u32(1, 2)
    yield "none", head
    yield "syn", head + SYN_OPTIONS
    yield "timestamp", head + bytes([1, 1, 8, 10]) + u32(7, 8)
    yield "sack", head + bytes([1, 1, 5, 34]) + u32(*range(8))
    yield "unknown", head + bytes([254, 6, 1, 2, 3, 4, 34, 2, 28, 4, 0, 5, 0])
    yield "cut", head + bytes([1, 1, 8])
    ao = bytes([29, 16, 2, 1, *range(12)])
    yield "ao", head + bytes([1, 1, 8, 10]) + u32(7, 8) + ao
    yield "ao_twice", head + ao + ao
    yield "ao_md5", head + ao + bytes([19, 18, *range(16), 1, 1])


# ---- talk ----

ACK, PUSH, FIN, SYN, SYNACK, RST = 0, 2, 3, 4, 5, 6
# Set-ups of the rarer features of `talk`: congestion control, ECN, search for the path MTU, ...
TALK_RARE = {
    "dctcp": 2 | 2 << 2,
    "bbr": 3,
    "probing": 3 << 4,
    "bare": 7 << 6,
    "few": 512,
    "jumbo": 1024 | 2048,
    "fast": 4096,
    "open": 4096 | 8192,
    "keys": 16384,
    "key": 32768,
}


def segment(
    flag: int,
    seq: int = 0,
    ack: int = 0,
    wnd: int = 255,
    length: int = 0,
    what: int = 0,
    port: int = 0,
    rare: bool = False,
) -> bytes:
    """Distances, window, payload in units of 8 and options."""
    acked = b"" if flag in (SYN, RST) else bytes([ack])
    text = b"" if flag in (SYN, SYNACK) and not rare else bytes([length])
    return bytes([flag << 2 | port, seq]) + acked + bytes([wnd]) + text + bytes([what])


def other(n: int, *rest: int) -> bytes:
    return bytes([(40 + n) << 2, *rest])


def conversations(rare: bool) -> Iterator[tuple[str, int, bytes]]:
    """Each with the set-up it wants; rare: as they are written with rarer features."""

    def syn(what: int, port: int = 0) -> bytes:
        return segment(SYN, what=what, port=port, rare=rare)

    hello = syn(16 | 128) + segment(ACK)
    hello_ts = syn(1 | 16 | 64 | 128) + bytes([7]) + segment(ACK, what=1)
    answer = segment(SYNACK, what=16, rare=rare)
    write, read = other(0, 0x20, 0x00, 1), other(3)
    yield "handshake", 0, hello
    yield "options", 6, hello_ts
    yield "receive", 0, hello + segment(PUSH, length=100) + read + segment(ACK, length=50) + read
    yield "send", 0, hello + (write + segment(ACK)) * 2 + other(9, 250) * 4
    behind = segment(ACK, seq=130, length=50) + segment(ACK, seq=170, length=90)
    yield "out_of_order", 0, hello + behind
    sacked = segment(ACK, ack=170, what=128) + bytes([186, 0]) + segment(ACK) * 4
    yield "sack", 0, hello + write + sacked
    yield "zero_window", 0, hello + segment(ACK, wnd=0) + write + other(12, 9) + segment(ACK) * 2
    yield "peer_closes", 0, hello + segment(FIN) + other(5, 3) + segment(ACK) * 2
    yield "we_close", 0, hello + other(5, 3) + segment(ACK) + segment(FIN) + other(12, 100)
    yield "active", 0, other(5, 5, 0) + answer + write + segment(ACK)
    yield "reset", 0, hello + segment(RST)
    syns = b"".join(syn(0, port) for port in range(4))
    acks = b"".join(segment(ACK, port=port) for port in range(4))
    yield "cookies", 16, syns + acks
    yield "timeout", 0, hello + write + other(12, 200) * 8
    yield "icmp", 0, hello + write + other(14, 9, 5, 0, 0)
    for kind in 1, 9:
        quoted = other(14, kind, 5, 0, 170)
        yield f"too_big{kind}", 2, hello + write + quoted + other(12, 3) + segment(ACK) * 3
    yield "black_hole", 2, hello_ts + write + other(12, 4) * 5 + segment(ACK) * 4 + other(12, 200)
    yield "round_trips", 14, hello_ts + (write * 2 + other(9, 20) + segment(ACK, what=1)) * 8
    urgent = other(21, 0x30, 0, 0, 255, 10, 0, 0, 60)
    yield "urgent", 0, hello + write + other(20, 0) + segment(ACK) + urgent + read
    marked = other(20, 2, 3) + segment(ACK, length=90) * 3 + other(20, 2, 2)
    ecn = other(21, 0xC2, 0, 255, *([0] if rare else []), 16 | 128) + segment(ACK)
    yield "ecn", 0, ecn + marked + write + other(21, 0x50, 0, 0, 255, 0, 0) + segment(ACK) * 2
    every = b"".join(other(20, 1, which, 3) for which in range(17))
    yield "every_option", 0, every + hello + every + write + segment(ACK) * 3 + other(12, 20)


def fast_conversations() -> Iterator[tuple[str, int, bytes]]:
    """Fast Open: the option is requested, answered and used."""
    write, wait = other(0, 1, 0, 1), other(12, 9)

    def syn(kind: int, length: int, port: int) -> bytes:
        return segment(SYN, length=length, what=8 | 16, port=port, rare=True) + bytes([kind])

    ask = syn(2, 0, 0) + segment(ACK) + segment(RST)
    data = syn(2 | 4, 20, 1) + bytes([write[0] | 1]) + write[1:]
    yield "server", 0, ask + data + segment(ACK, port=1) + segment(FIN, port=1) + wait
    yield "server_lost", 0, ask + data + wait + segment(ACK, port=1) + wait
    yield "server_forged", 0, ask + syn(2 | 8 | 128, 20, 1) + bytes(8) + segment(ACK, port=1)
    grant = segment(SYNACK, what=8 | 16, rare=True) + bytes([2 | 8 | 128]) + bytes(range(8))
    first = other(5, 5, 2) + grant + segment(RST, port=0)
    again = other(5, 5, 2 | 64)
    yield "client", 0, first + again + segment(SYNACK, what=16, rare=True) + segment(ACK) * 2
    part = segment(SYNACK, ack=170, what=16, rare=True)
    yield "client_in_part", 0, first + again + part + segment(ACK) + wait
    yield "client_lost", 0, first + (again + wait * 3 + segment(RST)) * 2
    yield "client_open", 0, other(5, 5, 6 | 64) + segment(SYNACK, what=16, rare=True) + wait


def talks() -> Iterator[tuple[str, bytes]]:
    for name, set_up, acts in conversations(False):
        yield name, bytes([set_up]) + acts
        yield name + "_ip6", bytes([set_up | 64]) + acts
    for n, (feature, rare) in enumerate(TALK_RARE.items()):
        for name, set_up, acts in conversations(True):
            yield f"{name}_{feature}", bytes([set_up | 128 | 64 * (n & 1)]) + u16(rare) + acts
    for name, set_up, acts in fast_conversations():
        for n, feature in enumerate(("fast", "open")):
            head = bytes([set_up | 128 | 64 * n]) + u16(TALK_RARE[feature])
            yield f"fast_{name}_{feature}", head + acts


# ---- pair ----

PAIR_RARE = {
    "dctcp": 2 | 2 << 2 | 2048,
    "ecn": 2 << 2 | 2048,
    "bbr": 3,
    "probing": 3 << 4 | 1 << 8,
    "black_hole": 2 << 4 | 2 << 8,
    "told": 1 << 8 | 1024,
    "fast": 64,
    "open": 128,
    "few": 4096,
    "jumbo": 8192 | 16384,
    "keys": 32768,
}


def exchanges() -> Iterator[tuple[str, int, bytes]]:
    connect, both = bytes([6, 0]), bytes([6, 8])
    wait, longer = bytes([3 | 31 << 3]), bytes([4 | 31 << 3])

    def write(side: int, n: int) -> bytes:
        return bytes([6, side | 9 << 3]) + u16(n)

    def read(side: int, n: int) -> bytes:
        return bytes([6, side | 6 << 3]) + u16(n)

    def option(side: int, which: int, value: int) -> bytes:
        return bytes([6, side | 5 << 3, which, value])

    open_ = connect + wait * 3
    yield "connect", 0, open_
    yield "transfer", 0, open_ + (write(0, 4096) + wait + read(1, 4096)) * 6
    yield "both_ways", 27, connect + longer * 3 + (write(0, 9000) + write(1, 9000) + longer) * 4
    yield "loss", 24, open_ + (write(0, 60000) + wait + bytes([0, 8, 16])) * 4
    yield "reorder", 24, open_ + (write(0, 60000) + bytes([9, 200]) + wait) * 4
    yield "repeat", 24, open_ + (write(0, 60000) + bytes([2, 99]) + wait) * 4
    yield "simultaneous", 0, both + wait * 4 + write(0, 100) + write(1, 100) + wait * 4
    yield "half_close", 0, open_ + bytes([6, 16]) + wait + write(1, 500) + wait
    urgent = bytes([6, 14 << 3])
    yield "urgent", 0, open_ + (write(0, 2000) + urgent + wait + read(1, 9999)) * 3
    fast = [bytes([6, 15 << 3 | side, how]) for side, how in ((0, 0), (0, 32), (1, 64), (0, 255))]
    yield "fast", 24, b"".join(one + longer + write(0, 3000) + longer for one in fast)
    yield "fast_lost", 24, fast[0] + longer * 2 + fast[1] + bytes([0]) + longer + wait * 9
    paced = option(0, 200, 3) + option(0, 131, 9) + option(0, 129, 9)
    yield "paced", 24, open_ + paced + (write(0, 60000) + longer + read(1, 65535)) * 4


def pairs() -> Iterator[tuple[str, bytes]]:
    for name, set_up, acts in exchanges():
        yield name, bytes([set_up]) + acts
        yield name + "_ip6", bytes([set_up | 32]) + acts
        for n, (feature, rare) in enumerate(PAIR_RARE.items()):
            yield f"{name}_{feature}", bytes([set_up | 128 | 32 * (n & 1)]) + u16(rare) + acts


# ---- rings, toe, wire ----


def command(kind: int, aux: int, flow: int, arg0: int, arg1: int, flags: int = 0) -> bytes:
    """Numbers as the target's number() reads them: up to 15, or 128 + the place in its list."""
    choice = kind - 1
    return bytes([(choice & 7) | (choice & 8) << 4, flags, aux, flow, arg0, arg1])


def rings() -> Iterator[tuple[str, bytes]]:
    listen = command(1, 128 + 8, 3, 0, 4)
    connect = command(3, 128 + 9, 5, 128 + 15, 0)
    wait = bytes([0xFD])
    yield "listen", b"\0" + listen + wait
    yield "connect", b"\0" + listen + connect + wait * 2
    yield "send", b"\0" + connect + wait + command(4, 0, 0, 128 + 10, 0) * 4 + wait
    yield (
        "close",
        b"\0" + connect + wait + command(6, 0, 0, 0, 0) + wait + command(9, 0, 0, 0, 0),
    )
    yield "good", b"\0" + (bytes([11]) + wait) * 6
    yield "answers", b"\0" + connect + wait + bytes([0xFA]) + bytes([9, 1, 3])
    yield "scribble", b"\0" + connect + bytes([8]) + u32(4096) + bytes([31]) + bytes(32) + wait
    yield "again", b"\0" + connect + bytes([0xEC]) + connect + wait
    six = bytes([0x0C, 16 | 1, 1, 0x0C, 0, 0x0C, 16 | 32 | 2, 2, 1])
    listen6 = command(1, 128 + 8, 3, 0, 4, 64 | 1)
    connect6 = command(3, 128 + 9, 5, 2, 0, 64 | 1)
    yield "ip6", b"\1" + six + listen6 + connect6 + wait * 2 + command(4, 0, 0, 128 + 10, 0) + wait
    fast = command(3, 128 + 9, 5, 128 + 15, 0, 64 | 2 | 4)
    yield "fast", b"\0" + fast + command(4, 0, 0, 100, 0) + wait + command(6, 0, 0, 0, 0) + wait
    every = b"".join(command(7, n, 0, 1, 0) + command(7, n, 5, 3, 0, 64 | 1) for n in range(16))
    yield "options", b"\0" + connect + every + wait + every + wait
    aborted = command(6, 0, 0, 0, 0, 64 | 2) + wait
    yield "abort", b"\0" + connect + wait + command(6, 0, 0, 0, 0, 64 | 1) + wait + aborted


def hellos() -> Iterator[tuple[str, bytes]]:
    """Receiver, descriptors, edits: offset, index of a likely value."""
    yield "toed", bytes([0, 2, 0, 1])
    yield "libtoe", bytes([1, 2, 0, 1])
    yield "wire", bytes([2, 1, 0])
    for hearer, kinds in ((0, (0, 1)), (1, (0, 1)), (2, (0,))):
        head = bytes([hearer])
        for count in 0, 1, 2, 3, 5, 8:
            yield (
                f"fds{count}_{hearer}",
                head + bytes([count, *([*kinds, 1, 0, 5, 4, 1, 6, 1][:count])]),
            )
        for offset in range(0, 40, 4):
            edits = bytes([offset, 4, 0, offset + 4, 15, 0])
            yield f"edit{offset}_{hearer}", head + bytes([len(kinds), *kinds]) + edits
        for kind in range(7):
            yield f"kind{kind}_{hearer}", head + bytes([len(kinds), kind, *kinds[1:]])


def batches() -> Iterator[tuple[str, bytes]]:
    yield "joined", bytes([0, 0, 8, 0]) * 6
    yield "summed", bytes([0, 0, 0, 0]) * 6 + bytes([0, 130, 1, 0])
    yield "ip6", bytes([1, 0, 4, 0]) * 9
    yield "mixed", bytes([0, 0, 8, 0, 1, 0, 8, 0, 2, 0, 12, 0, 3, 0, 12, 0]) * 5
    yield "wrong", bytes([0, 0, 0, 0]) * 2 + bytes([0, 0, 0, 192, 50, 9]) + bytes([0, 0, 0, 0]) * 2
    yield "cut", bytes([0, 0, 8, 0]) * 2 + bytes([0, 0, 24, 0, 3]) + bytes([0, 0, 40, 0]) * 2


def steers() -> Iterator[tuple[str, bytes]]:
    segment_ = tcp(16, 1, 1)
    quoted = bytes([3, 4]) + u16(0, 0, 1280) + ip4(6, segment_)[14:]
    quoted6 = bytes([2, 0]) + u16(0) + u32(1280) + ip6(6, segment_)[14:]
    fragment = bytes([6, 0]) + u16(1) + u32(9) + segment_
    extended = bytes([43, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0]) + segment_
    for n, frame in enumerate(
        (
            ip4(6, segment_),
            ip4(6, segment_, options=bytes(8)),
            ip4(6, segment_, frag=0x2000),
            ip4(1, quoted),
            ip6(6, segment_),
            ip6(44, fragment),
            ip6(0, extended),
            ip6(58, quoted6),
            ip6(58, bytes([135, 0]) + bytes(22), bytes(16)),
            ip6(58, bytes([134, 0]) + bytes(14)),
            OWN_MAC + PEER_MAC + u16(0x0806) + u16(1, 0x0800, 0x0604, 2) + bytes(20),
        )
    ):
        yield f"frame{n}", bytes([3, 1]) + frame


def toes() -> Iterator[tuple[str, bytes]]:
    connect, listen = bytes([1, 0]), bytes([2, 1])

    def emit(kind: int, flow: int, arg0: int, arg1: int = 0) -> bytes:
        return bytes([128 | kind, 0, 160 + 16, flow, arg0, arg1])

    look = bytes([15, 0])
    open_ = connect + emit(5, 0, 96) + look
    yield "connect", open_
    yield "refused", connect + emit(3, 0, 96) + look
    yield "receive", open_ + emit(0, 0, 160 + 6) + bytes([6, 0]) + u16(4000) + look
    yield "send", open_ + bytes([4, 0]) + u16(2000) + emit(1, 0, 160 + 6) + look
    yield "accept", listen + emit(2, 1, 0, 96) + bytes([3, 1, 2]) + look
    yield "closed", open_ + emit(4, 0, 0) + bytes([6, 0, 0, 9]) + bytes([9, 0]) + look
    yield "epoll", open_ + bytes([10, 0]) + emit(0, 0, 3) + look
    yield "dies", open_ + bytes([128 | 0x7C]) + look * 3
    page = bytes([128 | 15, 1 | 2 << 2 | 128, 1]) + bytes([64] * 7)
    for what in 0, 4, 5, 2:
        yield f"ip6_{what}", connect + page + bytes([14 | what << 4, 2]) + emit(5, 0, 96) + look
    yield "info", open_ + bytes([11, 0]) + emit(0, 0, 3) + bytes([11, 0])


def wires() -> Iterator[tuple[str, bytes]]:
    frame = bytes([0]) + u16(64) + bytes([1, 0])
    yield "receive", bytes([1]) + frame * 5 + bytes([1])
    yield "send", bytes([0]) + bytes([3 | 2 << 3]) * 5 + bytes([6])
    yield (
        "scribble",
        bytes([1]) + frame + bytes([4]) + u32(128) + bytes([8]) + bytes(9) + bytes([1]),
    )
    yield "gone", bytes([1]) + frame + bytes([0xFF, 20, 1, 1])


# ---- text and files ----


def pcaps() -> Iterator[tuple[str, bytes]]:
    frame = record(ip4(1, bytes([8, 0]) + u16(0, 7, 1) + bytes(32)))[3:]
    body = struct.pack("<IIII", 1, 500, len(frame), len(frame)) + frame
    for name, magic in ("usec", 0xA1B2C3D4), ("nsec", 0xA1B23C4D):
        head = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
        yield name, b"\0" + head + body * 2
        yield name + "_paced", b"\1" + head + body * 2
    yield "cut", b"\0" + head + body[:-5]
    block = struct.pack("<IIIHHq", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1) + struct.pack("<I", 28)
    interface = struct.pack("<IIHHII", 1, 20, 1, 0, 65535, 20)
    packet = frame + bytes(-len(frame) % 4)
    size = 32 + len(packet)
    enhanced = struct.pack("<IIIIIII", 6, size, 0, 0, 5, len(frame), len(frame)) + packet
    yield "ng", b"\0" + block + interface + enhanced + struct.pack("<I", size)


def specs() -> Iterator[tuple[str, bytes]]:
    for n, text in enumerate(
        (
            "tap:toe0,host=192.0.2.1/24",
            "af_xdp:eth1,queue=1,mode=native,copy=auto",
            "wire:/tmp/w,side=a,mtu=9000",
            "pcap:in=a.pcap,out=b.pcap,pace=recorded",
            "impair(loss=1%,delay=20ms,jitter=1ms,rate=1.5G,burst=1/25,seed=0x7):tap:x",
            "tee(x.pcap):impair(reorder=1,gap=3,hold=1s,bits=2,queue=9,dir=rx):wire:p",
        )
    ):
        yield f"spec{n}", text.encode()


def configs() -> Iterator[tuple[str, bytes]]:
    for n, words in enumerate(
        (
            ("--netif", "tap:x", "--ip", "192.0.2.10/24", "--gateway", "192.0.2.1"),
            ("--netif=wire:p", "--ip=10.0.0.1/8", "--mac=02:00:00:00:00:01", "--mtu=9000"),
            ("--netif=x", "--ip=10.0.0.1/31", "--engines=2", "--seed=00ff", "--spin-us=0"),
            ("--netif=x", "--ip=10.0.0.1/31", "--vlan=4094"),
            ("TOEHOLD_SLOTS=64", "TOEHOLD_TX_SIZE=65536", "TOEHOLD_REQUIRE=1", "--help"),
            ("TOEHOLD_SOCKET=/run/x", "TOEHOLD_IRQ_USEC=50", "TOEHOLD_REPORT=0", "--version"),
        )
    ):
        yield f"config{n}", "\n".join(words).encode()


def images() -> Iterator[tuple[str, bytes]]:
    """One edit each: a field of a record set to a small, a large or an odd number; or a record
    left out, given twice, or the last."""
    for scene in range(4):
        yield f"whole{scene}", bytes([scene])
        for n in range(60):
            value = (b"\1", b"\xff" * 4, b"\0\0\0\x80", b"", b"\xff\xff")[n % 5]
            edit = u16(n * 37) + bytes([n * 29 % 248, len(value)]) + value
            yield f"field{scene}.{n}", bytes([scene]) + edit
        for n, what in enumerate((248, 251, 254) * 4):
            yield f"record{scene}.{n}", bytes([scene]) + u16(n * 41) + bytes([what])


# What `make test` executes of each: 2 to 4 seconds on two cores of 2026.
SHORT = {
    "frame": 15_000,
    "options": 1_000_000,
    "talk": 3_500,
    "pair": 1_100,
    "rings": 1_800,
    "hello": 6_000,
    "steer": 600_000,
    "gro": 70_000,
    "image": 4_000,
    "wire": 150_000,
    "pcap": 70_000,
    "spec": 350_000,
    "config": 200_000,
    "toe": 22_000,
    "firmware": 4_000,
}

SEEDS = {
    "frame": frames,
    "options": options,
    "talk": talks,
    "pair": pairs,
    "rings": rings,
    "hello": hellos,
    "steer": steers,
    "gro": batches,
    "image": images,
    "wire": wires,
    "pcap": pcaps,
    "spec": specs,
    "config": configs,
    "toe": toes,
    "firmware": firmwares,
}


def write(folder: Path, target: str) -> list[Path]:
    place = folder / target
    place.mkdir(parents=True, exist_ok=True)
    made = []
    for name, data in SEEDS[target]():
        made.append(place / name)
        made[-1].write_bytes(data)
    return made


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tests/fuzz/seeds.py FOLDER")
    for target_name in SEEDS:
        write(Path(sys.argv[1]), target_name)
