# SPDX-License-Identifier: Apache-2.0
"""The ring of samples alone, compared with a list; the reader is slow or stopped."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate

BITS = 3
PLACES = 1 << BITS
READ = 2  # cycles from word_i to word_o


@cocotb.test()
async def samples_are_whole_in_order_or_dropped(dut):
    rng = seeded()
    for name in ("valid", "sample", "tail", "word"):
        getattr(dut, f"{name}_i").value = 0
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    stands: dict[int, int] = {}
    asked: list[int | None] = [None] * READ  # what word_o must show, oldest first
    head = tail = drops = read = 0
    for cycle in range(4000):
        eager = cycle // 500 % 2
        valid, sample = rng.random() < 0.6, rng.getrandbits(128)
        dut.valid_i.value, dut.sample_i.value = valid, sample
        want = None
        if head > tail and rng.random() < (0.9 if eager else 0.2):
            place, part = tail, rng.randrange(4)
            dut.word_i.value = place % PLACES << 2 | part
            want = stands[place] >> 32 * part & 0xFFFFFFFF
        if head > tail and rng.random() < (0.7 if eager else 0.1):
            tail += rng.randint(1, head - tail)  # seen by the ring in this cycle
        dut.tail_i.value = tail
        await ReadOnly()
        full = head - tail == PLACES
        assert dut.head_o.value.to_unsigned() == head
        assert bool(dut.drop_o.value) == (valid and full)
        due = asked.pop(0)
        if due is not None:
            assert dut.word_o.value.to_unsigned() == due
            read += 1
        asked.append(want)
        await RisingEdge(dut.clk_i)
        if valid and full:
            drops += 1
        elif valid:
            stands[head] = sample
            head += 1
    assert head > 1000 and drops > 100 and read > 500


def test_ring():
    simulate(
        ["src/rtt/rtt_core.f"],
        "rtt_ring",
        "gateware.src.rtt.tb.test_ring",
        parameters={"Bits": BITS},
    )
