# SPDX-License-Identifier: Apache-2.0
"""Both ends of a toe_box's connections in Python: peers on the link, and a host that uses only what
docs/device-contract.md permits. Both send random data, and each checks every byte that it receives
from the other."""

import ipaddress
import struct
from collections import deque
from dataclasses import dataclass

from gateware.src.toe.tb.contract import AROUND, FLAGS, NAME, SW, command, parts

MAC = bytes.fromhex("02c0ffee0001")
IP4, IP6 = ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("fd00::1")
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
AGAIN = 300_000_000  # ns: the retransmission timeout of a peer


def checksum(data: bytes) -> int:
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def pseudo(source: bytes, target: bytes, length: int) -> bytes:
    if len(source) == 4:
        return source + target + struct.pack(">BBH", 0, 6, length)
    return source + target + struct.pack(">II", length, 6)


@dataclass
class Segment:
    source: bytes
    target: bytes
    sport: int
    dport: int
    seq: int
    ack: int
    flags: int
    wnd: int
    options: bytes
    data: bytes


def parsed(frame: bytes) -> Segment:
    """Parses a frame from the TOE, and checks all checksums."""
    kind = frame[12:14]
    if kind == b"\x08\x00":
        net, size = frame[14:34], int.from_bytes(frame[16:18], "big")
        assert net[0] == 0x45 and net[9] == 6 and checksum(net) == 0, "an IPv4 header"
        source, target, segment = net[12:16], net[16:20], frame[34 : 14 + size]
        assert len(frame) == 14 + size, "a frame is longer than its packet"
    else:
        assert kind == b"\x86\xdd" and frame[20] == 6, f"a frame of kind {kind.hex()}"
        source, target, segment = frame[22:38], frame[38:54], frame[54:]
        assert int.from_bytes(frame[18:20], "big") == len(segment), "a length of IPv6"
    assert checksum(pseudo(source, target, len(segment)) + segment) == 0, "a TCP checksum"
    sport, dport, seq, ack, offset, flags, wnd = struct.unpack_from(">HHIIBBH", segment)
    begins = offset >> 4 << 2
    options, data = segment[20:begins], segment[begins:]
    return Segment(source, target, sport, dport, seq, ack, flags, wnd, options, data)


def ping(peer: "Peer", text: bytes) -> tuple[bytes, bytes]:
    """Returns an IPv4 echo request and the expected reply."""
    found = []
    for kind, source, target in ((8, peer.ip, IP4.packed), (0, IP4.packed, peer.ip)):
        body = struct.pack(">BBHHH", kind, 0, 0, 7, 9) + text
        body = body[:2] + checksum(body).to_bytes(2, "big") + body[4:]
        net = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0x4000, 64, 1, 0)
        net += source + target
        net = net[:10] + checksum(net).to_bytes(2, "big") + net[12:]
        macs = MAC + peer.mac if kind == 8 else peer.mac + MAC
        found.append(macs + b"\x08\x00" + net + body)
    return found[0], found[1]


class Peer:
    """One connection of the peer, over a lossless link."""

    def __init__(self, world, rng, number: int, port: int, *, v6: bool, text: bytes) -> None:
        self.world, self.rng, self.dport = world, rng, port
        net = ipaddress.ip_network("fd00::/64" if v6 else "10.0.0.0/24")
        self.ip, self.own = net[10 + number].packed, (IP6 if v6 else IP4).packed
        self.mac, self.sport = b"\x02\0\0\0\0" + bytes([number]), rng.randrange(1024, 65536)
        self.seq = self.una = rng.getrandbits(32)  # una: the first unacknowledged number
        self.nxt = 0  # next number of the TOE
        self.text, self.got = text, bytearray()
        self.sent = self.most = 0  # bytes of text sent; the most ever sent, with FIN
        self.wnd, self.mss = 0, 1460 - 20 * v6
        self.stamps, self.recent = rng.random() < 0.5, 0
        self.open = self.closing = self.fin = self.fin_acked = self.ended = self.reset = False
        self.timer = 0
        self.how = ""  # which side ends it
        self.hold = len(text)  # send limit for now

    @property
    def key(self) -> tuple[bytes, int]:
        return self.ip, self.sport

    def syn(self) -> None:
        options = struct.pack(">BBH", 2, 4, self.mss)
        if self.stamps:
            options += b"\x04\x02" + self.stamp()
        self.out(SYN, self.seq, b"", options)
        self.timer = self.world.now + AGAIN

    def stamp(self) -> bytes:
        return struct.pack(">BBII", 8, 10, self.world.now >> 20 & AROUND - 1, self.recent)

    def out(self, flags: int, seq: int, data: bytes = b"", options: bytes | None = None) -> None:
        if options is None:
            options = b"\1\1" + self.stamp() if self.stamps else b""
        ack = self.nxt if flags & ACK else 0
        head = struct.pack(
            ">HHIIBBHHH", self.sport, self.dport, seq % AROUND, ack,
            5 + len(options) // 4 << 4, flags, 65535, 0, 0,
        )  # fmt: skip
        segment = head + options + data
        total = checksum(pseudo(self.ip, self.own, len(segment)) + segment)
        segment = segment[:16] + total.to_bytes(2, "big") + segment[18:]
        if len(self.ip) == 4:
            net = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 7, 0, 64, 6, 0)
            net += self.ip + self.own
            net = net[:10] + checksum(net).to_bytes(2, "big") + net[12:]
            kind = b"\x08\x00"
        else:
            net = struct.pack(">IHBB", 6 << 28, len(segment), 6, 64) + self.ip + self.own
            kind = b"\x86\xdd"
        frame = MAC + self.mac + kind + net + segment
        frame += self.rng.randbytes(max(0, 60 - len(frame)))
        self.world.link.waiting.append(frame)

    def acked(self) -> int:
        """Returns the bytes of the text that are acknowledged."""
        return min((self.una - self.seq - 1) % AROUND, len(self.text)) if self.open else 0

    def step(self) -> None:
        """Sends what the window allows."""
        if self.reset or not self.open:
            if not self.reset and self.world.now > self.timer:
                self.syn()
            return
        if self.world.now > self.timer:
            self.sent = self.acked()  # retransmit all
            self.fin = self.fin_acked
            self.timer = self.world.now + AGAIN
        while self.sent < self.hold:
            room = self.wnd - (self.sent - self.acked())
            count = self.rng.choice([1, 100, self.mss, self.mss]) - 12 * self.stamps
            count = min(max(count, 1), self.hold - self.sent, room)
            if count <= 0:
                return
            data = self.text[self.sent : self.sent + count]
            flags = ACK | (PSH if self.rng.random() < 0.5 else 0)
            self.out(flags, self.seq + 1 + self.sent, data)
            self.sent += count
            self.most = max(self.most, self.sent)
        if self.closing and not self.fin:
            self.fin = True
            self.most = len(self.text) + 1
            self.out(FIN | ACK, self.seq + 1 + len(self.text))

    def abort(self) -> None:
        self.reset = True
        self.out(RST | ACK, self.seq + 1 + self.sent)

    def takes(self, s: Segment) -> None:
        assert s.target == self.ip and s.source == self.own, "another's address"
        if self.reset:
            return
        if s.flags & RST:
            self.reset = True
            return
        self.options(s)
        assert s.flags & ACK, "a segment without ACK"
        self.wnd = s.wnd
        if not self.open:
            assert s.flags & SYN and s.ack == (self.seq + 1) % AROUND, "the answer to a SYN"
            self.open, self.una, self.nxt = True, s.ack, (s.seq + 1) % AROUND
            self.out(ACK, self.seq + 1)
            self.timer = self.world.now + AGAIN
            return
        assert (s.ack - self.seq) % AROUND <= self.most + 1, "what was not sent is acknowledged"
        if (s.ack - self.una) % AROUND < 1 << 31 and s.ack != self.una:
            self.una = s.ack
            self.timer = self.world.now + AGAIN
        self.fin_acked |= self.fin and (s.ack - self.seq) % AROUND == len(self.text) + 2
        self.data(s)
        self.step()

    def options(self, s: Segment) -> None:
        at = 0
        while at < len(s.options):
            if s.options[at] == 1:
                at += 1
                continue
            if s.options[at] == 8:
                assert self.stamps, "a timestamp that nobody wanted"
                self.recent = int.from_bytes(s.options[at + 2 : at + 6], "big")
            at += s.options[at + 1]
        assert at == len(s.options), "options end elsewhere"

    def data(self, s: Segment) -> None:
        again = (self.nxt - s.seq) % AROUND
        assert again < 1 << 31, "a gap, and the link loses nothing"
        takes = s.data[again:]
        self.got += takes
        self.nxt = (self.nxt + len(takes)) % AROUND
        if s.flags & FIN and not self.ended and again <= len(s.data):
            self.nxt = (self.nxt + 1) % AROUND
            self.ended = True
        if s.data or s.flags & (FIN | SYN):
            self.out(ACK, self.seq + 1 + self.sent + self.fin)


@dataclass(eq=False)
class Flow:
    peer: Peer
    received: int = 0
    owed: int = 0  # read but not freed with RECV
    sending: bytes = b""  # waits for room in the buffer
    sent: int = 0
    acked: int = 0
    half: bool = False  # the peer has closed
    closed: bool = False  # by us
    over: int | None = None  # the reason of its end


class Host:
    """A queue pair with an application that answers each byte with another and then closes. It
    sleeps until an interrupt."""

    SW, HW, TX, RX = 64, 64, 8192, 8192

    def __init__(self, world, rng, number: int, *, slots_log: int, first: int) -> None:
        self.world, self.rng, self.number = world, rng, number
        self.slots, self.first, self.slots_log = 1 << slots_log, first, slots_log
        self.area = rng.getrandbits(20) << 40 | (number + 1) << 24
        self.status, self.sw_ring, self.hw_ring, self.records = 4096, 8192, 12288, 16384
        self.addresses = self.records + -(-192 * self.slots // 4096) * 4096
        self.buffers = self.addresses + 4096  # one address: all zero, any
        self.size = self.buffers + self.slots * (self.TX + self.RX)
        self.peers: dict[tuple[bytes, int], Peer] = {}  # expected peers
        self.flows: dict[int, Flow] = {}
        self.sw_head = self.hw_tail = self.seq = self.arm_tail = 0
        self.todo: deque[int] = deque()  # commands that wait for a ring entry
        self.armed = False
        self.woken = True
        self.ends: dict[Peer, str] = {}  # how each connection ends
        self.done: list[Flow] = []

    # ---- the driver: registers ----

    async def attach(self) -> None:
        world = self.world
        for address in [a for a in world.host.content if a - self.area in range(self.size)]:
            del world.host.content[address]
        world.areas[self.number] = (self.area, self.size)
        await self.configure(enable=True)
        while not await self.state() & 1:
            pass

    async def configure(self, *, enable: bool, detach: bool = False) -> None:
        write = self.world.write
        await write(0x180, self.number)
        await write(0x184, self.area % AROUND)
        await write(0x188, self.area // AROUND)
        await write(0x18C, 6 | 6 << 8 | self.slots_log << 16)
        await write(0x190, 13 | 13 << 8 | 1 << 16)
        await write(0x194, self.first)
        places = (self.status, self.sw_ring, self.hw_ring, self.records, self.addresses)
        for i, place in enumerate((*places, self.buffers)):
            await write(0x198 + 4 * i, place)
        await write(0x1B0, enable | detach << 1 | 4)

    async def state(self) -> int:
        await self.world.write(0x180, self.number)
        return await self.world.read(0x1B4)

    async def leave(self) -> None:
        await self.configure(enable=True, detach=True)
        while not await self.state() & 2:
            pass
        del self.world.areas[self.number]  # no access is allowed from here on
        await self.configure(enable=False)

    # ---- rings ----

    def word(self, at: int) -> int:
        return int.from_bytes(self.world.host.get(self.area + at, 4), "little")

    async def bell(self, at: int, value: int) -> None:
        await self.world.write(0x1000 * (self.number + 1) + at, value % AROUND)

    def say(self, name: str, *, flags: str = "", **fields: int) -> None:
        bits = sum(FLAGS[name][flag] for flag in flags.split())
        self.todo.append(command(SW[name], flags=bits, **fields))

    def interrupt(self) -> None:
        """Checks that the interrupt was armed and that its notification is in memory."""
        assert self.armed, "an interrupt that nobody armed"
        assert self.word(self.status + 64) > self.arm_tail, "an interrupt before what it tells of"
        self.armed, self.woken = False, True

    async def step(self) -> None:
        """Handles all notifications while awake, then sleeps."""
        while self.woken or self.todo:
            self.woken = False
            await self.handle()
            await self.put()
            if not self.armed:
                self.seq += 1
                self.arm_tail, self.armed = self.hw_tail, True
                await self.bell(0x80, 1)
                await self.bell(0x84, self.seq)
            self.woken |= self.word(self.status + 64) != self.hw_tail
            if self.todo and not self.woken:
                return  # no room until the ring moves

    async def handle(self) -> None:
        before, head = self.hw_tail, self.word(self.status + 64)
        assert 0 <= head - self.hw_tail <= self.HW, "a head beyond its ring"
        while self.hw_tail < head:
            at = self.area + self.hw_ring + 16 * (self.hw_tail % self.HW)
            bits = int.from_bytes(self.world.host.get(at, 16), "little")
            said = parts(bits)
            assert said["phase"] == (self.hw_tail // self.HW + 1) % 2, "a head before its command"
            self.hw_tail += 1
            await self.untorn(said)
            self.hears(said)
        if self.hw_tail != before:
            await self.bell(0x40, self.hw_tail)
        for slot, flow in self.flows.items():
            self.goes_on(slot, flow)

    async def untorn(self, said: dict[str, int]) -> None:
        """Waits until the record of a new flow is complete: it may be written a second time now."""
        if NAME[said["kind"]] == "LISTEN_ESTABLISHED":
            for _ in range(2000):
                if self.word(self.records + 192 * said["flow"]) % 2 == 0:
                    return
                await self.world.cycle()
            raise AssertionError("a record stays torn")

    async def put(self) -> None:
        before = self.sw_head
        while self.todo and self.sw_head - self.word(self.status) < self.SW:
            phase = (self.sw_head // self.SW + 1) % 2
            at = self.area + self.sw_ring + 16 * (self.sw_head % self.SW)
            bits = self.todo.popleft() | phase << 15
            self.world.host.put(at, bits.to_bytes(16, "little"))
            self.sw_head += 1
        if self.sw_head != before:
            await self.bell(0, self.sw_head)

    # ---- the application ----

    def buffer(self, slot: int, *, rx: bool) -> int:
        return self.area + self.buffers + slot * (self.TX + self.RX) + (self.TX if rx else 0)

    def hears(self, c: dict[str, int]) -> None:
        name, slot = NAME[c["kind"]], c["flow"]
        assert name != "ERROR", f"an ERROR, {c}"
        if name == "LISTEN_ESTABLISHED":
            self.established(slot, c)
            return
        flow = self.flows[slot]
        assert flow.over is None, f"{name} after the end"
        ends = name == "CLOSE_EVENT" and not c["flags"]
        crosses = name != "DATA_RECEIVED"  # notified before CLOSE was handled
        assert not flow.closed or ends or crosses, f"{name} after CLOSE"
        if name == "DATA_RECEIVED":
            self.reads(slot, flow, c["arg0"])
        elif name == "SEND_COMPLETE":
            flow.acked += c["arg0"]
            assert flow.acked <= flow.sent, "more is acknowledged than was sent"
        elif ends:
            flow.over = c["aux"]
            self.say("RELEASE", flow=slot)
            self.done.append(flow)
        else:
            assert name == "CLOSE_EVENT" and c["flags"] == FLAGS[name]["HALF"] and not flow.half
            assert flow.received == len(flow.peer.text), "the peer's end, and not all of its bytes"
            flow.half = True

    def established(self, slot: int, c: dict[str, int]) -> None:
        assert slot < self.slots and slot not in self.open_slots(), "a slot that is taken"
        record = self.world.host.get(self.area + self.records + 192 * slot, 192)
        remote, port = record[24:40], int.from_bytes(record[42:44], "little")
        assert port == c["aux"], "its record"
        v4 = remote[:12] == bytes(10) + b"\xff\xff"
        assert c["arg0"] == (int.from_bytes(remote[12:], "big") if v4 else 0), "its peer"
        peer = self.peers.pop((remote[12:] if v4 else remote, port))
        assert c["arg1"] == peer.dport, "its listener"
        self.flows[slot] = Flow(peer)
        self.say("ACCEPT", flow=slot)

    def open_slots(self) -> list[int]:
        return [slot for slot, flow in self.flows.items() if flow.over is None]

    def reads(self, slot: int, flow: Flow, count: int) -> None:
        ring = self.world.host.get(self.buffer(slot, rx=True), self.RX)
        at = flow.received % self.RX
        got = (ring + ring)[at : at + count]
        assert got == flow.peer.text[flow.received : flow.received + count], "other bytes"
        flow.received += count
        flow.owed += count
        flow.sending += answer(got)

    def goes_on(self, slot: int, flow: Flow) -> None:
        if flow.over is not None or flow.closed:
            return
        if flow.owed:
            self.say("RECV", flow=slot, arg0=flow.owed)
            flow.owed = 0
        count = min(len(flow.sending), self.TX - (flow.sent - flow.acked))
        if count:
            start = self.buffer(slot, rx=False)
            for i, octet in enumerate(flow.sending[:count], flow.sent):
                self.world.host.put(start + i % self.TX, bytes([octet]))
            flow.sending = flow.sending[count:]
            flow.sent += count
            push = "" if flow.sending or self.rng.random() < 0.2 else "PUSH"
            self.say("SEND", flow=slot, flags=push, arg0=count)
        whole = flow.sent == len(flow.peer.text)
        how = self.ends.get(flow.peer, "")
        if whole and (flow.half or how in ("host", "abort")):
            flow.closed = True
            self.say("CLOSE", flags="ABORT" if how == "abort" else "", flow=slot)


def answer(text: bytes) -> bytes:
    """Returns the application's answer."""
    return bytes(octet ^ 0x5A for octet in text)
