# SPDX-License-Identifier: Apache-2.0
"""The reference model of the measuring module: computes results from packets and their ticks.
Written from device/rtt.rdl and the RFCs."""

import struct
from dataclasses import dataclass, field

ANY, UDP, ICMP, TAG, TCP = range(5)
MASK32 = 0xFFFFFFFF
HEAD = 128  # bytes of a packet that are parsed


@dataclass
class Config:
    mode: int = ANY
    looped: bool = False
    local_port: int = 0
    remote_port: int = 0
    tag_offset: int = 0
    hist_base: int = 0
    slot_bits: int = 10
    flow_bits: int = 8


@dataclass
class Event:
    flow: tuple[int, int, int]  # mix of the addresses, two ports
    value: int
    seq: int = 0
    syn: bool = False


def seq_lt(a: int, b: int) -> bool:
    return (a - b) & 0x80000000 != 0


def crc(data: int) -> int:
    r = 0
    for i in range(255, -1, -1):
        top = (r >> 31) ^ (data >> i & 1)
        r = (r << 1) & MASK32 ^ (0x1EDC6F41 if top else 0)
    return r


def as_number(address: bytes) -> int:
    return int.from_bytes(address, "little")


def mix(local: bytes, remote: bytes, protocol: int) -> int:
    return crc(as_number(local)) ^ crc(as_number(remote) << 128) ^ protocol


def parse(frame: bytes, c: Config, arriving: bool) -> Event | None:
    """Returns the transmitted probe or the received answer; None: neither."""
    if c.mode == ANY:
        return Event((0, 0, 0), 0)
    head = frame[:HEAD]
    at = 12
    for _ in range(2):
        if head[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
    kind, l3 = head[at : at + 2], head[at + 2 :]
    if kind == b"\x08\x00" and l3 and l3[0] >> 4 == 4 and l3[0] & 15 >= 5:
        size = 4 * (l3[0] & 15)
        if len(l3) < size:
            return None
        length, protocol = struct.unpack(">H", l3[2:4])[0] - size, l3[9]
        if length < 0 or struct.unpack(">H", l3[6:8])[0] & 0x3FFF:
            return None
        src, dst, echo = l3[12:16], l3[16:20], (1, 8, 0)
    elif kind == b"\x86\xdd" and l3 and l3[0] >> 4 == 6 and len(l3) >= 40:
        size = 40
        length, protocol = struct.unpack(">H", l3[4:6])[0], l3[6]
        src, dst, echo = l3[8:24], l3[24:40], (58, 128, 129)
    else:
        return None
    l4 = l3[size:]
    swap = arriving and not c.looped
    local, remote = (dst, src) if swap else (src, dst)
    m = mix(local, remote, protocol)

    if c.mode == ICMP:
        wanted = echo[2] if swap else echo[1]
        if protocol != echo[0] or min(len(l4), length) < 8 or l4[:2] != bytes((wanted, 0)):
            return None
        return Event((m, 0, 0), struct.unpack(">I", l4[4:8])[0])

    if protocol == 17 and min(len(l4), length) >= 8:
        payload_at = 8
    elif protocol == 6 and len(l4) >= 20 and l4[12] >> 4 >= 5 and length >= 4 * (l4[12] >> 4):
        payload_at = 4 * (l4[12] >> 4)
    else:
        return None
    sport, dport = struct.unpack(">HH", l4[:4])
    lport, rport = (dport, sport) if swap else (sport, dport)
    if (c.local_port and c.local_port != lport) or (c.remote_port and c.remote_port != rport):
        return None
    flow = (m, lport, rport)
    if c.mode == UDP:
        return Event(flow, 0) if protocol == 17 else None
    if c.mode == TAG:
        at = payload_at + c.tag_offset
        if min(len(l4), length) < at + 4:
            return None
        return Event(flow, struct.unpack(">I", l4[at : at + 4])[0])
    if protocol != 6:
        return None
    seq, ack = struct.unpack(">II", l4[4:12])
    flags = l4[13]
    fin, syn, rst, has_ack = flags & 1, flags >> 1 & 1, flags & 4, flags & 16
    if rst:
        return None
    if swap:
        return Event(flow, ack, seq, bool(syn)) if has_ack else None
    taken = length - payload_at + syn + fin
    return Event(flow, (seq + taken) & MASK32, seq, bool(syn)) if taken else None


def fold(value: int, bits: int) -> int:
    """Returns value modulo 2^bits - 1 as end-around carry yields it: 0 has two representations."""
    ones, total = (1 << bits) - 1, 0
    while True:
        total += value & ones
        total = (total & ones) + (total >> bits)
        value >>= bits
        if not value:
            return total


def flow_hash(flow: tuple[int, int, int]) -> int:
    return flow[0] & 0xFFFF ^ flow[1] ^ flow[2]


def bin_of(ticks: int, base: int) -> int:
    x = ticks - base
    if x < 0:
        return 1023
    if x < 512:
        return x
    place = x.bit_length() - 1
    return 512 + 16 * (place - 9) + (x >> (place - 4) & 15)


@dataclass
class Results:
    """The results of one snapshot."""

    counts: dict[str, int] = field(default_factory=dict)
    samples: list[int] = field(default_factory=list)
    hist: dict[int, int] = field(default_factory=dict)
    ring: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, what: str, n: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + n


@dataclass
class Entry:
    event: Event
    stamp: int
    order: int
    live: bool = True
    void: bool = False


@dataclass
class Sent:
    flow: tuple[int, int, int]
    highest: int
    mark: int | None = None


class Model:
    def __init__(self, config: Config) -> None:
        self.c = config
        self.flush()
        self.order = 0
        self.results = Results()
        self.last = 0

    def flush(self) -> None:
        self.slots: dict[int, Entry] = {}
        self.sent: dict[int, Sent] = {}
        self.acked: dict[int, tuple[tuple[int, int, int], int]] = {}
        self.newest: int | None = None

    def slot(self, e: Event) -> int:
        ones = (1 << self.c.slot_bits) - 1
        return (fold(e.value, self.c.slot_bits) ^ flow_hash(e.flow)) & ones

    def flow(self, e: Event) -> int:
        return flow_hash(e.flow) & ((1 << self.c.flow_bits) - 1)

    def left(self, stamp: int, frame: bytes) -> None:
        r, c = self.results, self.c
        r.add("TX_PACKETS")
        e = parse(frame, c, arriving=False)
        if e is None:
            return
        r.add("PROBES")
        slot = self.slot(e)
        old = self.slots.get(slot)
        live = old is not None and old.live
        same = old is not None and (old.event.flow, old.event.value) == (e.flow, e.value)
        before = False
        twice = live and same and c.mode not in (ANY, UDP)
        if c.mode == TCP:
            s = self.sent.get(self.flow(e))
            known = s is not None and s.flow == e.flow
            before = known and (e.value == s.highest if e.syn else seq_lt(e.seq, s.highest))
            if not known or (e.syn and not before):
                s = Sent(e.flow, e.value)
                self.sent[self.flow(e)] = s
            else:
                if s.mark is not None and (e.value - s.mark) & MASK32 >= 1 << 30:
                    s.mark = None
                if not seq_lt(e.value, s.highest):
                    s.highest = e.value
            if before or twice:
                s.mark = s.highest
        if before or twice:
            r.add("RESENT")
            if twice:
                old.void = True
            return
        if live:
            r.add("REPLACED")
        self.slots[slot] = Entry(e, stamp, self.order)
        self.order += 1

    def arrived(self, stamp: int, frame: bytes) -> None:
        r, c = self.results, self.c
        r.add("RX_PACKETS")
        e = parse(frame, c, arriving=True)
        if e is None:
            return
        r.add("ANSWERS")
        old = self.slots.get(self.slot(e))
        karn = False
        if c.mode == TCP:
            s = self.sent.get(self.flow(e))
            karn = s is not None and s.flow == e.flow and s.mark is not None
            karn = karn and not seq_lt(s.mark, e.value)
            a = self.acked.get(self.flow(e))
            if a is None or a[0] != e.flow or e.syn or seq_lt(a[1], e.value):
                self.acked[self.flow(e)] = (e.flow, e.value)
        if old is None or (old.event.flow, old.event.value) != (e.flow, e.value):
            r.add("UNMATCHED")
        elif not old.live:
            r.add("DUPLICATES")
        else:
            old.live = False
            if old.void or karn:
                r.add("AMBIGUOUS")
                return
            self.sample(stamp, old, e)

    def sample(self, stamp: int, old: Entry, e: Event) -> None:
        r = self.results
        ticks = (stamp - old.stamp) & MASK32
        r.add("COUNT")
        if self.newest is not None and old.order < self.newest:
            r.add("REORDERED")
        else:
            self.newest = old.order
        self.last = ticks
        r.samples.append(ticks)
        b = bin_of(ticks, self.c.hist_base)
        r.hist[b] = r.hist.get(b, 0) + 1
        r.ring.append((ticks, e.value, stamp))

    def expire_all(self) -> None:
        """Expires all probes in flight, as after the timeout."""
        for entry in self.slots.values():
            if entry.live:
                entry.live = False
                a = self.acked.get(self.flow(entry.event))
                covered = self.c.mode == TCP and a is not None and a[0] == entry.event.flow
                covered = covered and not seq_lt(a[1], entry.event.value)
                self.results.add("COVERED" if covered else "LOST")

    def in_flight(self) -> int:
        return sum(e.live for e in self.slots.values())

    def snapshot(self) -> Results:
        done, self.results = self.results, Results()
        return done
