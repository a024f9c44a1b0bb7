# SPDX-License-Identifier: Apache-2.0
"""The send path: payload of all lengths and alignments, in one piece or two, from host memory that
stalls, while the processor writes headers into slots; its sums, and the frames that leave."""

from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, seeded, simulate

SLOT_BITS = 4
SLOT = 2048
BURST = 256


def byte(address: int) -> int:
    return (address * 167 + (address >> 8) * 59) & 0xFF


def words_sum(data: dict[int, int]) -> int:
    """Returns the folded sum of bytes by address, of little-endian words at even addresses."""
    total = sum(value << (8 * (at & 1)) for at, value in data.items())
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Host:
    """Host memory: answers reads in order, after a while."""

    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.beats: deque[int] = deque()
        self.offers = False
        self.speed = 1.0

    def drive(self) -> None:
        self.offers = self.offers or (bool(self.beats) and self.rng.random() < self.speed)
        self.dut.r_valid_i.value = self.offers
        self.dut.ar_ready_i.value = self.rng.random() < self.speed
        if self.offers:
            at = self.beats[0]
            self.dut.r_data_i.value = sum(byte(at + i) << (8 * i) for i in range(8))

    def see(self) -> None:
        """Before the edge."""
        dut = self.dut
        if self.offers and dut.r_ready_o.value:
            self.beats.popleft()
            self.offers = False
        if dut.ar_valid_o.value and dut.ar_ready_i.value:
            at, n = int(dut.ar_addr_o.value), int(dut.ar_len_o.value) + 1
            assert at % 8 == 0 and at // BURST == (at + 8 * n - 1) // BURST, f"{at:x}, {n} beats"
            self.beats.extend(at + 8 * i for i in range(n))


class World:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.host = Host(dut, rng)
        self.frames: list[bytes] = []
        self.frame = bytearray()

    async def cycle(self, **inputs: int) -> None:
        """One cycle with these inputs; the others of the processor are 0."""
        dut = self.dut
        for name in ("req_i", "write_i", "take_i", "free_i", "go_i", "leave_i"):
            getattr(dut, name).value = inputs.pop(name, 0)
        for name, value in inputs.items():
            getattr(dut, name).value = value
        self.host.drive()
        dut.m_tready_i.value = self.rng.random() < self.host.speed
        await ReadOnly()
        self.host.see()
        if dut.m_tvalid_o.value and dut.m_tready_i.value:
            keep = int(dut.m_tkeep_o.value)
            line = int(dut.m_tdata_o.value).to_bytes(8, "little")
            self.frame += bytes(b for i, b in enumerate(line) if keep >> i & 1)
            if dut.m_tlast_o.value:
                self.frames.append(bytes(self.frame))
                self.frame.clear()
        await RisingEdge(dut.clk_i)

    async def take(self) -> int:
        for _ in range(20000):
            await self.cycle()
            if self.dut.ready_o.value:
                slot = int(self.dut.slot_o.value)
                await self.cycle(take_i=1)
                return slot
        raise AssertionError("no slot becomes free")

    async def go(self, slot: int, offset: int, host: int, length: int, more: int = 0) -> None:
        await self.cycle(
            go_i=1,
            go_host_i=host,
            go_length_i=length,
            go_slot_i=slot,
            go_offset_i=offset,
            go_more_i=more,
        )

    async def write(self, slot: int, word: int, value: int) -> None:
        at = slot * SLOT // 4 + word
        await self.cycle(req_i=1, write_i=15, word_i=at, data_i=value)

    async def wait_done(self, slot: int) -> None:
        for _ in range(20000):
            if int(self.dut.done_o.value) >> slot & 1:
                return
            await self.cycle()
        raise AssertionError(f"slot {slot} is never done")

    def psum(self, slot: int) -> int:
        return int(self.dut.psum_o.value) >> (16 * slot) & 0xFFFF


async def send(world: World, length: int, offset: int, host: int, first: int) -> None:
    """Sends a frame of `offset` bytes of headers and payload in pieces of `first` and the rest."""
    rng = world.rng
    slot = await world.take()
    second = rng.randrange(1 << 30)
    payload = [byte(host + i) for i in range(first)]
    payload += [byte(second + i) for i in range(length - first)]
    await world.go(slot, offset, host, first, more=int(first < length))
    if first < length:
        await world.go(slot, offset + first, second, length - first)
    headers = bytes(rng.randrange(256) for _ in range(offset))
    whole = offset // 4 * 4
    for at in range(0, whole, 4):
        await world.write(slot, at // 4, int.from_bytes(headers[at : at + 4], "little"))
    for at in range(whole, offset):
        word = slot * SLOT // 4 + whole // 4
        value = headers[at] << (8 * (at % 4))
        await world.cycle(req_i=1, write_i=1 << (at % 4), word_i=word, data_i=value)
    await world.wait_done(slot)
    want = words_sum({offset + i: b for i, b in enumerate(payload)})
    assert world.psum(slot) == want, (length, offset, host, first)
    assert not int(world.dut.bad_o.value) >> slot & 1
    before = len(world.frames)
    await world.cycle(leave_i=1, leave_slot_i=slot, leave_length_i=offset + length)
    for _ in range(20000):
        if len(world.frames) > before:
            break
        await world.cycle()
    assert world.frames[before] == headers + bytes(payload), (length, offset, host, first)


@cocotb.test()
async def all_alignments(dut):
    """Each pair of alignments with short lengths, where the first and the last beat are one."""
    rng = seeded()
    await begin(dut)
    world = World(dut, rng)
    for source in range(8):
        for offset in range(8):
            for length in (1, rng.randrange(2, 8), rng.randrange(8, 20)):
                world.host.speed = rng.choice([0.5, 1])
                host = rng.randrange(1 << 40) // 8 * 8 + source
                await send(world, length, offset + 8, host, length)


@cocotb.test()
async def frames_of_any_length(dut):
    rng = seeded()
    await begin(dut)
    world = World(dut, rng)
    for _ in range(60):
        world.host.speed = rng.choice([0.3, 1])
        offset = rng.choice([54, 66, 74, rng.randrange(1, 128)])
        length = rng.choice([1024, 1448, SLOT - offset, rng.randrange(1, SLOT - offset)])
        first = rng.choice([length, rng.randrange(1, length + 1)])
        await send(world, length, offset, rng.randrange(1 << 40), first)


@cocotb.test()
async def unlawful_jobs_touch_nothing(dut):
    rng = seeded()
    await begin(dut)
    world = World(dut, rng)
    for offset, length in ((0, 0), (0, SLOT + 1), (1, SLOT), (SLOT - 1, 2), (100, 4095)):
        slot = await world.take()
        await world.go(slot, offset, 0x1000, length)
        await world.wait_done(slot)
        assert int(dut.bad_o.value) >> slot & 1
        assert world.psum(slot) == 0 and not dut.ar_valid_o.value and not world.host.beats
        await world.cycle(free_i=1, free_slot_i=slot)


def test_send():
    simulate(["src/hyb/hyb_send.f"], "hyb_send", "gateware.src.hyb.tb.test_send")
