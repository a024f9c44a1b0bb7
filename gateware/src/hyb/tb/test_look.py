# SPDX-License-Identifier: Apache-2.0
"""Descriptions of received frames: each is that of a model in Python that reads the frame's bytes
and lets scapy sum them, for segments of every length and option, and for frames with one fault
each; frames come back to back and with pauses."""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import checksum

from gateware.lib.bench import begin, seeded, simulate
from gateware.src.hyb.tb.test_link import beats

MAC = bytes.fromhex("020000000001")
STAMPS = bytes.fromhex("0101080a")
BUFFERS = 16
FRAMES = 700


def half(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")


def word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4].ljust(4, b"\0"), "big")


# ---- the expected description ----


def verified(f: bytes) -> tuple[bool, bool, int, bytes, bytes]:
    """Returns: the checksum of an IPv4 header is right, that of the segment behind an IP header is
    right, where the segment begins, its bytes, the peer's address."""
    if half(f, 12) == 0x0800:
        total, stop = half(f, 16), 14 + half(f, 16)
        ip4 = f[14] == 0x45 and total >= 20 and stop <= len(f) and not checksum(f[14:34])
        tcp, pseudo, peer = f[34:stop], f[26:34], f[26:30]
        ok = ip4 and half(f, 20) & 0x3FFF == 0 and f[23] == 6
    elif half(f, 12) == 0x86DD:
        stop, ip4 = 54 + half(f, 18), False
        tcp, pseudo, peer = f[54:stop], f[22:54], f[22:38]
        ok = f[14] >> 4 == 6 and f[20] == 6 and stop <= len(f)
    else:
        return False, False, 0, b"", b""
    ok = ok and len(tcp) >= 20 and not checksum(pseudo + bytes([0, 6]) + tcp_length(tcp) + tcp)
    return ip4, ok, stop - len(tcp), tcp, peer


def tcp_length(tcp: bytes) -> bytes:
    return len(tcp).to_bytes(2, "big")


def description(f: bytes) -> list[int | None]:
    """Returns the words; None: of no meaning."""
    ip4, ok, at, tcp, peer = verified(f)
    if not ok:
        return [6 & ip4 << 1, *7 * [None]]
    header, flags = tcp[12] >> 4 << 2, tcp[13]
    stamps = header == 32 and tcp[20:24] == STAMPS
    usual = f[:6] == MAC and (header == 20 or stamps) and len(tcp) >= header
    usual = usual and tcp[12] & 15 == 0 and flags & 0b11_0110 == 0b01_0000
    if not usual:
        return [ip4 << 1 | 4, *7 * [None]]
    v6 = at == 54
    tos = half(f, 14) >> 4 & 0xFF if v6 else f[15]
    mixed = half(tcp, 0) ^ half(tcp, 2)
    for i in range(0, len(peer), 2):
        mixed ^= half(peer, i)
    first = 1 | ip4 << 1 | 4 | v6 << 3 | stamps << 4 | tos << 8 | (mixed >> 8 ^ mixed & 255) << 16
    sizes = at + header | len(tcp) - header << 8 | len(f) << 20
    said = [first, flags | half(tcp, 14) << 16, sizes, word(tcp, 4), word(tcp, 8)]
    stamp = [word(tcp, 24), word(tcp, 28)] if stamps else [None, None]
    return [*said, *stamp, half(tcp, 0) | half(tcp, 2) << 16]


# ---- frames ----


def segment(rng, payload: int) -> Ether:
    options = rng.choice(
        [
            [],
            [("NOP", None), ("NOP", None), ("Timestamp", (rng.getrandbits(32), 7))],
            [("Timestamp", (1, 2)), ("NOP", None), ("NOP", None)],
            [("NOP", None), ("NOP", None), ("SAck", (1, 2))],
        ]
    )
    flags = rng.choice(["A", "PA", "FA", "A", "PAE", "AC", "S", "SA", "R", "RA", "UA", "F", "AN"])
    tcp = TCP(
        sport=rng.getrandbits(16),
        dport=rng.getrandbits(16),
        seq=rng.getrandbits(32),
        ack=rng.getrandbits(32),
        window=rng.getrandbits(16),
        flags=flags,
        options=options,
    )
    if rng.random() < 0.5:
        address = ".".join(str(rng.randrange(1, 224)) for _ in range(4))
        ip = IP(src=address, dst="10.0.0.1", tos=rng.getrandbits(8))
    else:
        address = f"fe80::{rng.getrandbits(16):x}:{rng.getrandbits(16):x}"
        ip = IPv6(src=address, dst="2001:db8::1", tc=rng.getrandbits(8))
    return Ether(dst=MAC.hex(":"), src="02:00:00:00:00:02") / ip / tcp / Raw(rng.randbytes(payload))


def other(rng) -> bytes:
    link = Ether(dst=MAC.hex(":"), src="02:00:00:00:00:02")
    tcp = TCP(flags="A") / Raw(rng.randbytes(40))
    return bytes(
        rng.choice(
            [
                link / ARP(),
                link / Dot1Q(vlan=0) / IP(src="10.0.0.2") / tcp,
                link / IP(src="10.0.0.2", options=[b"\x01\x01\x01\x00"]) / tcp,
                link / IP(src="10.0.0.2", frag=3) / tcp,
                link / IP(src="10.0.0.2", flags="MF") / tcp,
                link / IP(src="10.0.0.2", flags="DF") / UDP() / Raw(b"abc"),
                link / IPv6(src="fe80::2") / IPv6ExtHdrHopByHop() / tcp,
                link / IPv6(src="fe80::2") / UDP() / Raw(b"abc"),
            ]
        )
    )


def frame(rng) -> bytes:
    if rng.random() < 0.1:
        return rng.randbytes(rng.randrange(14, 200)) if rng.random() < 0.3 else other(rng)
    payload = rng.choice([0, 0, 1, 2, 3, 9, 10, 11, 1024, 1448, 1460, rng.randrange(1400)])
    f = bytearray(bytes(segment(rng, payload)))
    if rng.random() < 0.3:  # padding, as of short frames; not summed
        f += rng.randbytes(rng.randrange(1, 70))
    fault = rng.random()
    if fault < 0.2:  # in the headers
        f[rng.randrange(min(len(f), 86))] ^= 1 << rng.randrange(8)
    elif fault < 0.3:
        f[rng.randrange(len(f))] ^= 1 << rng.randrange(8)
    elif fault < 0.35:
        del f[rng.randrange(14, len(f)) :]
    return bytes(f)


@cocotb.test()
async def frames_are_described(dut):
    rng = seeded()
    await begin(dut)
    dut.mac_i.value = int.from_bytes(MAC, "big")
    sent: list[bytes] = []
    handled, usual, described = 0, 0, 0

    async def check() -> None:
        nonlocal handled, usual, described
        f = sent[handled]
        said = []
        for n in range(8):
            dut.look_word_i.value = handled % BUFFERS * 8 + n
            await RisingEdge(dut.clk_i)
            await ReadOnly()
            said.append(dut.look_data_o.value.to_unsigned())
            await RisingEdge(dut.clk_i)
        expected = description(f)
        if expected[1] is None:
            assert said[0] & 7 == expected[0], (said[0], expected[0], f.hex())
        else:
            usual += 1
            for got, right in zip(said, expected, strict=True):
                assert right in (None, got), (handled, said, expected, f.hex())
        described += 1
        handled += 1
        dut.tail_i.value = handled
        await RisingEdge(dut.clk_i)

    while len(sent) < FRAMES:
        for _ in range(rng.randrange(1, BUFFERS + 1)):
            f = frame(rng)
            for data, keep, last in beats(f):
                dut.s_tdata_i.value, dut.s_tkeep_i.value = data, keep
                dut.s_tvalid_i.value, dut.s_tlast_i.value = 1, last
                await RisingEdge(dut.clk_i)
                if rng.random() < 0.1:
                    dut.s_tvalid_i.value = 0
                    await RisingEdge(dut.clk_i)
            dut.s_tvalid_i.value = 0
            sent.append(f)
        for _ in range(12):
            await RisingEdge(dut.clk_i)
        assert dut.head_o.value.to_unsigned() == len(sent)
        while handled < len(sent):
            await check()
    assert described == len(sent) and usual > FRAMES // 8


@cocotb.test()
async def a_frame_counts_when_it_is_described(dut):
    """A frame that is too long is not: what follows is described as if it had not come."""
    rng = seeded()
    await begin(dut)
    dut.mac_i.value = int.from_bytes(MAC, "big")
    short = bytes(segment(rng, 0))
    for f, count in ((short, 1), (rng.randbytes(2200), 1), (short, 2)):
        for data, keep, last in beats(f):
            dut.s_tdata_i.value, dut.s_tkeep_i.value = data, keep
            dut.s_tvalid_i.value, dut.s_tlast_i.value = 1, last
            await RisingEdge(dut.clk_i)
        dut.s_tvalid_i.value = 0
        seen = []
        for _ in range(14):
            await ReadOnly()
            seen.append(dut.head_o.value.to_unsigned())
            await RisingEdge(dut.clk_i)
        assert seen[-1] == count and (f is not short or seen[0] == count - 1)
    for buffer in (0, 1):
        dut.look_word_i.value = buffer * 8 + 2
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        assert dut.look_data_o.value.to_unsigned() >> 20 == len(short)
        await RisingEdge(dut.clk_i)


def test_look():
    simulate(["src/hyb/hyb_rx.f"], "hyb_rx", __name__, parameters={"Look": 1})
