# SPDX-License-Identifier: Apache-2.0
"""The histogram alone: each sample is in its bin, also when every cycle hits the same bin, and in
exactly one snapshot."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate

from .model import bin_of

BINS = 1024
READ = 3  # cycles from bin_i to count_o


async def start(dut) -> None:
    for name in ("token", "valid", "time", "clear", "bin", "base"):
        getattr(dut, f"{name}_i").value = 0
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1


class Traffic:
    """Samples with gaps: bursts of one time, times near the base, times in all octaves."""

    def __init__(self, dut, rng, base: int) -> None:
        self.dut, self.rng, self.base = dut, rng, base
        self.now = [0] * BINS  # the bins since the last token
        self.burst, self.ticks = 0, 0

    def drive(self, *, token: bool = False) -> list[int]:
        """Drives a cycle. With the token, returns the bins before it."""
        rng = self.rng
        before = self.now
        if token:
            self.now = [0] * BINS
        if not self.burst:
            self.burst = rng.choice([1, 1, 2, 3, 5, 9])
            kind = rng.randrange(4)
            span = 1 << rng.randrange(1, 33)
            self.ticks = (
                [self.base, self.base + 1, self.base + 511, max(self.base - 1, 0)][rng.randrange(4)]
                if kind == 0
                else (self.base + rng.randrange(600 if kind == 1 else span)) & 0xFFFFFFFF
            )
        valid = rng.random() < 0.8
        self.dut.valid_i.value = valid
        self.dut.time_i.value = self.ticks if valid else rng.getrandbits(32)
        if valid:
            self.burst -= 1
            self.now[bin_of(self.ticks, self.base)] += 1
        return before


async def bins(dut) -> list[int]:
    found = []
    for n in range(BINS + READ):
        dut.bin_i.value = min(n, BINS - 1)
        await ReadOnly()
        if n >= READ:
            found.append(dut.count_o.value.to_unsigned())
        await RisingEdge(dut.clk_i)
    return found


@cocotb.test()
async def every_sample_is_in_one_bin_of_one_snapshot(dut):
    rng = seeded()
    await start(dut)
    base = rng.randrange(5000)
    dut.base_i.value = base
    traffic = Traffic(dut, rng, base)
    total = 0
    for _ in range(4):
        dut.clear_i.value = 1
        for _ in range(rng.randrange(1100, 1500)):
            traffic.drive()
            await RisingEdge(dut.clk_i)
            dut.clear_i.value = 0
        dut.token_i.value = 1
        want = traffic.drive(token=True)
        await RisingEdge(dut.clk_i)
        dut.token_i.value = 0
        for _ in range(12):  # samples before the token are in the pipeline
            traffic.drive()
            await RisingEdge(dut.clk_i)
        dut.valid_i.value = 0  # test_rtt.py tests reading under traffic
        assert await bins(dut) == want
        total += sum(want)
    assert total > 3000


@cocotb.test()
async def clearing_takes_every_bin(dut):
    await start(dut)
    dut.clear_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.clear_i.value = 0
    cycles = 1
    await ReadOnly()
    while not dut.cleared_o.value:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        cycles += 1
        assert cycles <= BINS
    assert cycles == BINS
    await RisingEdge(dut.clk_i)
    assert await bins(dut) == [0] * BINS


def test_hist():
    simulate(["src/rtt/rtt_core.f"], "rtt_hist", "gateware.src.rtt.tb.test_hist")
