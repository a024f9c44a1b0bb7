# SPDX-License-Identifier: Apache-2.0
"""The DFU's bursts become reads of send buffers: each word is the buffer's, in order; no line
outside of a send buffer is read; a slot that is not there and a queue pair that leaves are refused,
and a queue pair is at work as long as host memory owes it a line."""

from collections import deque

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, finds, seeded, simulate

from .host import LINE, QPS, Host

BURST = 256
SLOTS = 4
FILE = "src/hyb/rtl/hyb_buffers.sv"


def address(q: int, slot: int, offset: int, carry: int = 0) -> int:
    return slot << 48 | q << 40 | carry << 32 | offset


class World:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng, self.host = dut, rng, Host(dut, rng)
        self.bursts: deque[tuple[int, int]] = deque()  # address, words
        self.words: list[tuple[int, bool]] = []  # that came: value, refused
        self.lines: deque[tuple[int, int, bool]] = deque()  # due, address, the bus refuses it
        self.line_offered = self.burst_offered = False
        self.leaves = 0
        self.read: list[int] = []
        self.owed = [0] * QPS
        self.speed = 1.0
        self.bus_fails = False
        self.cycles = 0
        self.held: tuple[int, int] | None = None

    def qp_of(self, line: int) -> int:
        """The queue pair whose send buffers have this line; it must be within one."""
        for q in range(QPS):
            for slot in range(SLOTS):
                base, size = self.host.buffer(q, slot)
                if base <= line < base + size:
                    return q
        raise AssertionError(f"{line:#x} is read, and is in no send buffer")

    def drive(self) -> None:
        dut, rng = self.dut, self.rng
        self.burst_offered = self.burst_offered or (bool(self.bursts) and rng.random() < self.speed)
        dut.s_ar_valid_i.value = self.burst_offered
        if self.burst_offered:
            dut.s_ar_addr_i.value = self.bursts[0][0]
            dut.s_ar_len_i.value = self.bursts[0][1] - 1
        dut.s_r_ready_i.value = rng.random() < self.speed
        dut.ar_ready_i.value = rng.random() < self.speed
        self.line_offered = self.line_offered or (
            bool(self.lines) and self.lines[0][0] <= self.cycles and rng.random() < self.speed
        )
        dut.r_valid_i.value = self.line_offered
        if self.line_offered:
            _, at, bad = self.lines[0]
            dut.r_data_i.value = self.host.line(at)
            dut.r_bad_i.value = bad
        dut.leaves_i.value = self.leaves

    def see(self) -> None:
        """Before the edge."""
        dut = self.dut
        at_work = int(dut.at_work_o.value)
        for q in range(QPS):
            if self.owed[q]:
                assert at_work >> q & 1, "host memory owes a line of an idle queue pair"
        if self.burst_offered and dut.s_ar_ready_o.value:
            self.bursts.popleft()
            self.burst_offered = False
        if dut.ar_valid_o.value:
            first, n = int(dut.ar_addr_o.value), int(dut.ar_len_o.value) + 1
            for at in range(first, first + n * LINE, LINE):
                q = self.qp_of(at)
                assert not self.leaves >> q & 1, "a queue pair leaves, and is read"
                if dut.ar_ready_i.value:
                    self.read.append(at)
                    self.owed[q] += 1
                    bad = self.bus_fails and self.rng.random() < 0.2
                    self.lines.append((self.cycles + self.rng.randrange(1, 9), at, bad))
        if dut.s_r_valid_o.value and dut.s_r_ready_i.value:
            self.words.append((int(dut.s_r_data_o.value), bool(dut.s_r_bad_o.value)))
        if self.line_offered and dut.r_ready_o.value:
            self.owed[self.qp_of(self.lines.popleft()[1])] -= 1
            self.line_offered = False

    async def cycle(self) -> None:
        self.drive()
        await ReadOnly()
        self.see()
        await RisingEdge(self.dut.clk_i)
        self.cycles += 1

    async def answered(self, words: int) -> list[tuple[int, bool]]:
        """Runs until so many words have come, and returns them."""
        for _ in range(20000):
            if len(self.words) >= words and not self.lines:
                break
            await self.cycle()
        for _ in range(3):
            await self.cycle()
        assert len(self.words) == words and not self.lines
        found, self.words = self.words, []
        return found


def burst(rng, host: Host) -> tuple[int, int, list[int]]:
    """Returns an address within a send buffer, words, and what they are."""
    q, slot = rng.randrange(QPS), rng.randrange(SLOTS)
    base, size = host.buffer(q, slot)
    words = rng.randrange(1, BURST // 8 + 1)
    in_burst = rng.randrange(BURST // 8 - words + 1) * 8
    offset = rng.choice([rng.randrange(1 << 32), (1 << 32) - 1]) // BURST * BURST + in_burst
    want = [
        sum(host.byte(base + offset % size + 8 * w + i) << (8 * i) for i in range(8))
        for w in range(words)
    ]
    return address(q, slot, offset, rng.randrange(256)), words, want


@cocotb.test()
async def words_are_the_buffers(dut):
    rng = seeded()
    await begin(dut)
    world = World(dut, rng)
    await RisingEdge(dut.clk_i)
    for _ in range(12):
        world.speed = rng.choice([0.3, 1])
        want = []
        for _ in range(25):
            at, words, expected = burst(rng, world.host)
            world.bursts.append((at, words))
            want += [(word, False) for word in expected]
        assert await world.answered(len(want)) == want


@cocotb.test()
async def refused_bursts_read_nothing(dut):
    rng = seeded()
    await begin(dut)
    world = World(dut, rng)
    await RisingEdge(dut.clk_i)
    for q, slot in ((0, SLOTS), (0, 0xFFFF), (QPS, 0), (63, 0)):
        world.bursts.append((address(q, slot, 0x100), 32))
        world.bursts.append((address(q, slot, 0x208), 1))
        assert await world.answered(33) == [(0, True)] * 33
    world.leaves = 2
    world.bursts.append((address(1, 0, 0), 32))
    assert await world.answered(32) == [(0, True)] * 32
    assert not world.read


@cocotb.test()
async def a_queue_pair_leaves_in_between(dut):
    """Of each burst all words are the buffer's or all are refused; when it is idle nothing more is
    read."""
    rng = seeded()
    await begin(dut)
    world = World(dut, rng)
    await RisingEdge(dut.clk_i)
    refused = served = 0
    for _ in range(40):
        world.speed = rng.choice([0.4, 1])
        expected = []
        for _ in range(8):
            at, words, want = burst(rng, world.host)
            world.bursts.append((at, words))
            expected.append((at >> 40 & 63, want))
        world.leaves = 0
        for _ in range(rng.randrange(25)):
            await world.cycle()
        world.leaves = 1
        got = await world.answered(sum(len(want) for _, want in expected))
        for q, want in expected:
            part, got = got[: len(want)], got[len(want) :]
            bad = part[0][1]
            assert part == ([(0, True)] * len(want) if bad else [(w, False) for w in want])
            assert q == 0 or not bad
            refused += bad
            served += not bad
        assert int(dut.at_work_o.value) == 0
    assert refused > 20 and served > 20


@cocotb.test()
async def errors_of_the_bus_are_passed_on(dut):
    rng = seeded()
    await begin(dut)
    world = World(dut, rng)
    await RisingEdge(dut.clk_i)
    world.bus_fails = True
    bad = 0
    for _ in range(40):
        at, words, _ = burst(rng, world.host)
        world.bursts.append((at, words))
        first = len(world.read)
        failing: set[int] = set()
        for _ in range(400):
            await world.cycle()
            failing |= {a for _, a, b in world.lines if b}
            if len(world.words) == words and not world.lines:
                break
        base = world.read[first] + at % LINE
        want = [(base + 8 * w) // LINE * LINE in failing for w in range(words)]
        assert [b for _, b in await world.answered(words)] == want
        bad += sum(want)
    assert bad


def test_buffers():
    simulate(["src/hyb/hyb_buffers.f"], "hyb_buffers", __name__, parameters={"Qps": QPS})


# Faults beside those of the proof (formal/proofs.toml).
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(last || lane == 3'd7);", "(lane == 3'd7);"),
        ("assign s_r_bad_o = burst.bad || r_bad_i;", "assign s_r_bad_o = burst.bad;"),
        ("wire more = asks && reads &&", "wire more = asks && 1'b0 &&"),
    ],
    ids=["end", "error", "work"],
)
def test_it_finds(old, new):
    fault = (FILE, old, new)
    finds(fault, ["src/hyb/hyb_buffers.f"], "hyb_buffers", __name__, parameters={"Qps": QPS})
