# SPDX-License-Identifier: Apache-2.0
"""ARP, echo and neighbour discovery, checked with scapy: valid requests are answered, invalid ones
are not; an announced neighbour is known for a minute; an unknown one is solicited. Link and buffers
withhold ready at random."""

import ipaddress

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from gateware.lib.bench import finds, seeded, simulate

ENTRIES = 4
LISTS, TOP, MODULE = ["src/toe/toe_resp.f"], "toe_resp", "gateware.src.toe.tb.test_resp"
PARAMETERS = {"Entries": ENTRIES}
MAC, IP4, IP6, LINK = "02:54:4f:45:00:01", "10.0.0.1", "fd00::1", "fe80::1"
ARP_KIND, ECHO_KIND = 2, 3
FRESH = 61 * 10**9  # ns: more than a minute
# Widths of packet_t after `bytes`, around the buffer: vlan and the fields of seg_t before it.
BEFORE_BUFFER, BUFFER, AFTER_BUFFER = 1 + 122, 10, 8 + 347


def number(address: str) -> int:
    return int(ipaddress.ip_address(address))


def octets(mac: str) -> int:
    return int(mac.replace(":", ""), 16)


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.now = 10**12
        self.memory: dict[int, bytes] = {}
        self.frames: list[bytes] = []
        self.freed: list[int] = []
        self.part = b""
        self.held = self.answer = None
        self.took = False
        self.patience = 0.5

    async def begin(self) -> None:
        dut = self.dut
        own = 0
        for value, width in (
            [(octets(MAC), 48), (number(IP4), 32), (24, 6), (0, 32), (1, 1)]
            + [(number(IP6), 128), (number(LINK), 128), (64, 8), (0, 128), (1500, 16), (0, 4)]
            + [(0, 128), (0, 384)]
        ):
            own = own << width | value
        assert len(dut.own_i) == 48 + 32 + 6 + 32 + 1 + 256 + 8 + 128 + 16 + 4 + 512
        dut.own_i.value = own
        dut.packet_valid_i.value = dut.ask_valid_i.value = dut.free_ready_i.value = 0
        dut.packet_i.value = dut.ask_i.value = dut.ask_v6_i.value = dut.read_data_i.value = 0
        dut.m_tready_i.value, dut.now_i.value = 0, self.now
        Clock(dut.clk_i, 4, unit="ns").start()
        dut.rst_ni.value = 0
        for _ in range(3):
            await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1

    async def cycle(self) -> None:
        """Runs one cycle with random ready, and records sent frames and freed buffers."""
        dut = self.dut
        dut.now_i.value = self.now
        dut.m_tready_i.value = ready = self.rng.random() < self.patience
        dut.free_ready_i.value = frees = self.rng.random() < self.patience
        await ReadOnly()
        if dut.m_tvalid_o.value:
            n = dut.m_tkeep_o.value.to_unsigned().bit_length()
            assert dut.m_tkeep_o.value.to_unsigned() == (1 << n) - 1
            data = dut.m_tdata_o.value.to_unsigned().to_bytes(64, "little")[:n]
            beat = (data, bool(dut.m_tlast_o.value))
            assert self.held in (None, beat), "a beat that nobody took did not stay"
            self.held = None if ready else beat
            if ready:
                assert n == 64 or beat[1]
                self.part += data
                if beat[1]:
                    self.frames.append(self.part)
                    self.part = b""
        else:
            assert self.held is None, "a beat was taken back"
        if dut.free_valid_o.value and frees:
            self.freed.append(dut.free_o.value.to_unsigned())
        self.took = bool(dut.packet_valid_i.value) and bool(dut.packet_ready_o.value)
        self.answer = None
        if dut.answer_o.value:
            mac = dut.mac_o.value.to_unsigned().to_bytes(6, "big").hex(":")
            self.answer = (bool(dut.known_o.value), mac)
        at = 64 * dut.read_line_o.value.to_unsigned()
        frame = self.memory.get(dut.read_buffer_o.value.to_unsigned(), b"")
        line = frame[at : at + 64].ljust(64, b"\xa5")
        await RisingEdge(dut.clk_i)
        dut.read_data_i.value = int.from_bytes(line, "little")

    async def packet(self, kind: int, frame: bytes, *, v6: bool = False, vlan: bool = False):
        """Offers a packet, waits until its buffer is freed, and returns the resulting frames."""
        buffer = self.rng.randrange(1 << BUFFER)
        self.memory = {buffer: frame}
        src = int.from_bytes(frame[6:12], "big")
        value = kind << 1 | v6
        value = (value << 288 | self.rng.getrandbits(288)) << 48 | src
        value = (value << 12 | len(frame)) << BEFORE_BUFFER | (vlan << (BEFORE_BUFFER - 1))
        value = (value << BUFFER | buffer) << AFTER_BUFFER
        assert len(self.dut.packet_i) == 2 + 289 + 48 + 12 + BEFORE_BUFFER + BUFFER + AFTER_BUFFER
        self.dut.packet_i.value = value
        self.dut.packet_valid_i.value = 1
        before, freed = len(self.frames), len(self.freed)
        taken = False
        for _ in range(2000):
            self.dut.packet_valid_i.value = not taken
            await self.cycle()
            taken |= self.took
            if len(self.freed) > freed:
                break
        else:
            raise AssertionError("its buffer is not given back")
        self.dut.packet_valid_i.value = 0
        for _ in range(self.rng.randrange(4)):
            await self.cycle()
        assert self.freed[freed:] == [buffer], "a buffer is given back twice"
        return self.frames[before:]

    async def ask(self, address: str) -> tuple[bool, str, list[bytes]]:
        """Returns whether a neighbour is known, its address, and the frames that solicit it."""
        dut, before = self.dut, len(self.frames)
        dut.ask_valid_i.value = 1
        dut.ask_v6_i.value, dut.ask_i.value = ":" in address, number(address)
        await self.cycle()
        dut.ask_valid_i.value = 0
        await self.cycle()
        await self.cycle()
        assert self.answer is not None, "no answer two cycles later"
        known, mac = self.answer
        for _ in range(100):
            await self.cycle()
        return known, mac, self.frames[before:]


def padding(rng, header: int) -> Raw:
    """Returns padding for a frame with `header` bytes before it: up to a full packet buffer."""
    most = 2048 - header
    sizes = [1, 8, 21, 22, 23, 56, 85, 86, 87, 700, 1400, most - 64, most - 63, most - 1, most]
    return Raw(rng.randbytes(rng.choice(sizes)))


def peer(rng) -> tuple[str, str, str]:
    n = rng.randrange(1, 7)
    return f"02:00:00:00:{rng.randrange(4):02x}:{n:02x}", f"10.0.0.{n + 1}", f"fd00::{n + 1:x}"


class Known:
    """A model of the table: the oldest entry is replaced first."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, int] | None] = [None] * ENTRIES
        self.next = 0

    def learn(self, address: str, mac: str, now: int) -> None:
        for i, row in enumerate(self.rows):
            if row and row[0] == address:
                self.rows[i] = (address, mac, now)
                return
        self.rows[self.next] = (address, mac, now)
        self.next = (self.next + 1) % ENTRIES

    def find(self, address: str, now: int) -> str | None:
        rows = (r for r in self.rows if r and r[0] == address)
        return next((mac for _, mac, seen in rows if now - seen < 60 * 10**9), None)


def arp(rng, known: Known, now: int):
    mac, ip, _ = peer(rng)
    wrong = rng.choice([None, None, None, "target", "mac", "vlan", "form"])
    op = rng.choice([1, 2])
    sender = "03" + mac[2:] if wrong == "mac" else mac
    target = "10.0.0.99" if wrong == "target" else IP4
    frame = Ether(src=mac, dst=MAC) / ARP(op=op, hwsrc=sender, psrc=ip, hwdst=MAC, pdst=target)
    if wrong == "form":
        frame[ARP].hwtype = 6
    if wrong is None:
        known.learn(ip, mac, now)
    answer = Ether(src=MAC, dst=mac) / ARP(op=2, hwsrc=MAC, psrc=IP4, hwdst=mac, pdst=ip)
    due = [bytes(answer)] if op == 1 and wrong is None else []
    return (ARP_KIND, bytes(frame)), {"vlan": wrong == "vlan"}, due


def echo(rng, known: Known, now: int):
    mac, ip, _ = peer(rng)
    data, ident, seq = padding(rng, 42), rng.randrange(1 << 16), rng.randrange(1 << 16)
    ttl, vlan = rng.randrange(1, 256), rng.random() < 0.1
    ask = IP(src=ip, dst=IP4, ttl=ttl, id=ident) / ICMP(type=8, id=ident, seq=seq) / data
    said = IP(src=IP4, dst=ip, ttl=ttl, id=ident) / ICMP(type=0, id=ident, seq=seq) / data
    due = [] if vlan else [bytes(Ether(src=MAC, dst=mac) / said)]
    return (ECHO_KIND, bytes(Ether(src=mac, dst=MAC) / ask)), {"vlan": vlan}, due


def echo6(rng, known: Known, now: int):
    mac, _, ip = peer(rng)
    data, ident, seq = padding(rng, 62), rng.randrange(1 << 16), rng.randrange(1 << 16)
    hops = rng.randrange(1, 256)
    kind = ICMPv6EchoRequest if rng.random() < 0.8 else ICMPv6EchoReply
    ask = IPv6(src=ip, dst=IP6, hlim=hops) / kind(id=ident, seq=seq) / data
    said = IPv6(src=IP6, dst=ip, hlim=hops) / ICMPv6EchoReply(id=ident, seq=seq) / data
    due = [bytes(Ether(src=MAC, dst=mac) / said)] if kind is ICMPv6EchoRequest else []
    return (ECHO_KIND, bytes(Ether(src=mac, dst=MAC) / ask)), {"v6": True}, due


def solicitation(rng, known: Known, now: int):
    mac, _, ip = peer(rng)
    wrong = rng.choice([None, None, None, "target", "hops", "vlan"])
    target = "fd00::99" if wrong == "target" else rng.choice([IP6, LINK])
    ask = IPv6(src=ip, dst=target, hlim=254 if wrong == "hops" else 255) / ICMPv6ND_NS(tgt=target)
    link = rng.random() < 0.7
    if link:
        ask = ask / ICMPv6NDOptSrcLLAddr(lladdr=mac)
    if wrong is None and link:
        known.learn(ip, mac, now)
    said = IPv6(src=target, dst=ip, hlim=255) / ICMPv6ND_NA(R=0, S=1, O=1, tgt=target)
    said = Ether(src=MAC, dst=mac) / said / ICMPv6NDOptDstLLAddr(lladdr=MAC)
    due = [bytes(said)] if wrong is None else []
    return (
        (ECHO_KIND, bytes(Ether(src=mac, dst=MAC) / ask)),
        {"v6": True, "vlan": wrong == "vlan"},
        due,
    )


def advertisement(rng, known: Known, now: int):
    mac, _, ip = peer(rng)
    wrong = rng.choice([None, None, "hops", "vlan"])
    said = IPv6(src=ip, dst=IP6, hlim=254 if wrong == "hops" else 255) / ICMPv6ND_NA(tgt=ip)
    told = mac
    if rng.random() < 0.7:
        told = "06" + mac[2:]  # different from the frame's source
        said = said / ICMPv6NDOptDstLLAddr(lladdr=told)
    if wrong is None:
        known.learn(ip, told, now)
    return (
        (ECHO_KIND, bytes(Ether(src=mac, dst=MAC) / said)),
        {"v6": True, "vlan": wrong == "vlan"},
        [],
    )


def question(address: str) -> bytes:
    if ":" not in address:
        ask = ARP(op=1, hwsrc=MAC, psrc=IP4, hwdst="00:00:00:00:00:00", pdst=address)
        return bytes(Ether(src=MAC, dst="ff:ff:ff:ff:ff:ff") / ask)
    low = number(address) & 0xFFFFFF
    group = str(ipaddress.ip_address(number("ff02::1:ff00:0") | low))
    mac = "33:33:ff:" + low.to_bytes(3, "big").hex(":")
    ask = IPv6(src=LINK, dst=group, hlim=255) / ICMPv6ND_NS(tgt=address)
    return bytes(Ether(src=MAC, dst=mac) / ask / ICMPv6NDOptSrcLLAddr(lladdr=MAC))


@cocotb.test()
async def answers_and_neighbours(dut):
    rng = seeded()
    bench, known = Bench(dut, rng), Known()
    await bench.begin()
    counts = {"answers": 0, "silent": 0, "known": 0, "asked": 0}
    for _ in range(400):
        bench.patience = rng.choice([0.1, 0.5, 1.0])
        if rng.random() < 0.3:
            address = peer(rng)[rng.choice([1, 2])]
            wanted = known.find(address, bench.now)
            found, mac, frames = await bench.ask(address)
            assert found == (wanted is not None), f"{address}: known {found}, {wanted}"
            if found:
                assert mac == wanted, f"{address}: {mac}, it is {wanted}"
            assert frames == ([] if found else [question(address)])
            counts["known" if found else "asked"] += 1
            continue
        made = rng.choice([arp, echo, echo6, solicitation, advertisement])
        packet, how, due = made(rng, known, bench.now)
        frames = await bench.packet(*packet, **how)
        assert frames == due, f"{made.__name__} {how}: {frames}, not {due}"
        counts["answers" if due else "silent"] += 1
        if rng.random() < 0.03:
            bench.now += FRESH
    assert min(counts.values()) > 20, counts


def test_resp():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


FAULTS = {
    "the last line of a packet buffer is never the last": (
        "wire copy_last = p_q.bytes <= at + 12'd64;",
        "wire copy_last = p_q.bytes <= {1'b0, at[10:0] + 11'd64};",
    ),
    "an echo of a whole buffer has no bytes": (
        "wire copy_last = p_q.bytes <= at + 12'd64;",
        "wire copy_last = 12'(p_q.bytes[10:0]) <= at + 12'd64;",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on a toe_resp with this fault."""
    fault = ("src/toe/rtl/toe_resp.sv", *FAULTS[why])
    finds(fault, LISTS, TOP, MODULE, parameters=PARAMETERS)
