# SPDX-License-Identifier: Apache-2.0
"""The send path with the header unit: frames of IPv4 and IPv6, with and without timestamps, of all
lengths, beside frames that the processor builds; compared with frames made in Python."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from gateware.lib.bench import begin, seeded, simulate

from .test_send import SLOT, World, byte, send, words_sum

FLOWS = 64
DONT_FRAGMENT = 0x40
TIMEOUT = 20000


def ones(data: bytes) -> int:
    """Returns the Internet checksum (RFC 1071) of data, big endian."""
    total = sum(b << (8 * (1 - i % 2)) for i, b in enumerate(data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


class Flow:
    def __init__(self, rng: random.Random, index: int) -> None:
        self.index, self.v6 = index, rng.random() < 0.5
        self.macs, self.ports = rng.randbytes(12), rng.randbytes(4)
        self.addresses = rng.randbytes(32 if self.v6 else 8)
        self.hops, self.label = rng.randrange(1, 256), rng.randrange(1 << 20)

    def ip(self, length: int, tos: int) -> bytes:
        """The IP header before so many bytes of TCP; its checksum is right."""
        if self.v6:
            first = 6 << 28 | tos << 20 | self.label
            return (
                first.to_bytes(4, "big")
                + length.to_bytes(2, "big")
                + bytes([6, self.hops])
                + self.addresses
            )
        head = bytes([0x45, tos]) + (20 + length).to_bytes(2, "big")
        head += bytes([0, 0, DONT_FRAGMENT, 0, self.hops, 6])
        return head + ones(head + self.addresses).to_bytes(2, "big") + self.addresses

    def kind(self) -> bytes:
        return b"\x86\xdd" if self.v6 else b"\x08\x00"

    def template(self, rng: random.Random) -> bytes:
        """What varies is random: it must not be read. The sums are of little-endian words."""
        ip = bytearray(self.ip(0, 0))
        constant = bytes(ip[0:2]) + bytes(2) + bytes(ip[4:10]) + bytes(2) + bytes(ip[12:])
        if self.v6:
            ip[1] = ip[1] & 0x0F | rng.randrange(16) << 4
            ip[4:6] = rng.randbytes(2)
        else:
            ip[1:4] = rng.randbytes(3)
            ip[10:12] = rng.randbytes(2)
        t = (self.macs + self.kind() + bytes(ip) + self.ports).ljust(60, b"\0")
        t += words_sum(dict(enumerate(constant))).to_bytes(2, "little")
        pseudo = self.addresses + b"\0\x06" + self.ports
        return t + words_sum(dict(enumerate(pseudo))).to_bytes(2, "little")

    def frame(self, d: dict[str, int], payload: bytes) -> bytes:
        options = b""
        if d["stamps"]:
            options = (
                b"\x01\x01\x08\x0a" + d["val"].to_bytes(4, "big") + d["ecr"].to_bytes(4, "big")
            )
        tcp = self.ports + d["seq"].to_bytes(4, "big") + d["ack"].to_bytes(4, "big")
        tcp += bytes([(20 + len(options)) // 4 << 4, d["flags"]]) + d["window"].to_bytes(2, "big")
        length = 20 + len(options) + len(payload)
        pseudo = self.addresses + length.to_bytes(4, "big") + b"\0\0\0\x06"
        total = ones(pseudo + tcp + bytes(4) + options + payload)
        tcp += total.to_bytes(2, "big") + bytes(2)
        return self.macs + self.kind() + self.ip(length, d["tos"]) + tcp + options + payload


async def learn(world: World, flow: Flow) -> None:
    data = flow.template(world.rng)
    for word in range(16):
        await world.cycle(
            template_i=1,
            template_word_i=flow.index * 16 + word,
            template_data_i=int.from_bytes(data[4 * word : 4 * word + 4], "little"),
        )


def descriptor(rng: random.Random, flow: Flow) -> dict[str, int]:
    """Some values are those whose sums carry."""
    pick = lambda bits: rng.choice([rng.randrange(1 << bits), (1 << bits) - 1, 0])  # noqa: E731
    return {
        "flow": flow.index,
        "v6": int(flow.v6),
        "stamps": rng.randrange(2),
        "seq": pick(32),
        "ack": pick(32),
        "val": pick(32),
        "ecr": pick(32),
        "window": pick(16),
        "flags": rng.randrange(256),
        "tos": rng.randrange(256),
    }


class Headers(World):
    async def cycle(self, **inputs: int) -> None:
        for name in ("template_i", "header_i"):
            getattr(self.dut, name).value = inputs.pop(name, 0)
        await super().cycle(**inputs)

    async def describe(self, flow: Flow, length: int) -> bytes:
        """Gives a descriptor; returns the frame that it is of."""
        d = descriptor(self.rng, flow)
        host = self.rng.randrange(1 << 40)
        slot = await self.take()
        fields = {f"header_{k}_i": v for k, v in d.items()}
        await self.cycle(
            header_i=1, header_host_i=host, header_slot_i=slot, header_length_i=length, **fields
        )
        return flow.frame(d, bytes(byte(host + i) for i in range(length)))

    async def until(self, frames: int) -> None:
        for _ in range(TIMEOUT):
            if len(self.frames) >= frames:
                return
            await self.cycle()
        raise AssertionError(f"{len(self.frames)} of {frames} frames have left")


async def start(dut) -> tuple[Headers, list[Flow]]:
    rng = seeded()
    await begin(dut)
    world = Headers(dut, rng)
    flows = [Flow(rng, i) for i in rng.sample(range(FLOWS), 6)]
    flows[0].v6, flows[1].v6 = False, True
    flows[0].addresses, flows[1].addresses = rng.randbytes(8), rng.randbytes(32)
    for flow in flows:
        await learn(world, flow)
    return world, flows


@cocotb.test()
async def frames_of_all_lengths(dut):
    """Many are under way at once, and leave in order; the processor's writes come between."""
    world, flows = await start(dut)
    rng, want = world.rng, []
    lengths = [*range(40), 1024, 1448, 1460, SLOT - 86 - 1, SLOT - 86]
    rng.shuffle(lengths)
    for length in lengths:
        world.host.speed = rng.choice([0.3, 1])
        want.append(await world.describe(rng.choice(flows), length))
        for _ in range(rng.choice([0, 0, 30])):
            # of a slot that may be under way: bytes behind its frame
            await world.write(rng.randrange(16), SLOT // 4 - 1, rng.randrange(1 << 32))
    await world.until(len(want))
    assert world.frames == want
    for _ in range(4):
        await world.cycle()
    assert not dut.header_busy_o.value
    assert int(dut.left_o.value) == len(want) and int(dut.header_dropped_o.value) == 0


@cocotb.test()
async def template_changes(dut):
    """A flow's template is written again between two of its frames."""
    world, flows = await start(dut)
    index, want = flows[0].index, []
    for _ in range(4):
        flow = Flow(world.rng, index)
        while dut.header_busy_o.value:
            await world.cycle()
        await learn(world, flow)
        want.append(await world.describe(flow, world.rng.randrange(1, 200)))
        await world.cycle()  # busy is seen after the descriptor
    await world.until(len(want))
    assert world.frames == want


@cocotb.test()
async def beside_frames_of_the_processor(dut):
    world, flows = await start(dut)
    for _ in range(12):
        length = world.rng.randrange(1, 300)
        want = await world.describe(world.rng.choice(flows), length)
        await world.until(1)
        assert world.frames == [want]
        world.frames.clear()
        await send(world, length, 66, world.rng.randrange(1 << 40), length)
        world.frames.clear()


@cocotb.test()
async def refused_payload_drops_the_frame(dut):
    """Host memory refuses a read, or the payload does not fit its slot: the frame does not leave,
    its slot is free, and the next frame leaves."""
    world, flows = await start(dut)
    for n in range(20):
        dut.r_bad_i.value = n % 2 == 0
        await world.describe(flows[0], 100 if n % 2 == 0 else SLOT - 1)
        for _ in range(TIMEOUT):
            await world.cycle()
            if int(dut.header_dropped_o.value) == n + 1:
                break
        else:
            raise AssertionError("a frame without payload is not dropped")
    dut.r_bad_i.value = 0
    assert not world.frames
    want = await world.describe(flows[1], 100)
    await world.until(1)
    assert world.frames == [want]


@cocotb.test()
async def pure_ack_leaves_at_once(dut):
    """Without payload nothing is fetched: the first beat is there within 20 cycles."""
    world, flows = await start(dut)
    await world.describe(flows[0], 0)
    waited = 0
    while not dut.m_tvalid_o.value:
        assert waited < 20 and not dut.ar_valid_o.value
        waited += 1
        await RisingEdge(dut.clk_i)


def test_header():
    simulate(
        ["src/hyb/hyb_send.f"],
        "hyb_send",
        "gateware.src.hyb.tb.test_header",
        parameters={"Headers": 1},
    )
