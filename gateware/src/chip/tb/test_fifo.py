# SPDX-License-Identifier: Apache-2.0
"""The FIFO between two clocks: words arrive once and in order, whichever clock is faster."""

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import finds, seeded, simulate

LIST, TOP = "src/chip/chip_fifo.f", "chip_fifo"
WORDS = 400


async def write(dut, rng, words: list[int]) -> None:
    queue = list(words)
    offered = False
    while queue:
        offered = offered or rng.random() < 0.8
        dut.w_valid_i.value = offered
        dut.w_data_i.value = queue[0]
        await ReadOnly()
        if offered and dut.w_ready_o.value:
            queue.pop(0)
            offered = False
        await RisingEdge(dut.w_clk_i)
    dut.w_valid_i.value = 0


@cocotb.test()
@cocotb.parametrize(write_ps=[8000], read_ps=[8000, 13334, 3002])
async def words_pass(dut, write_ps: int, read_ps: int):
    rng = seeded()
    for name in ("w_valid_i", "w_data_i", "r_ready_i", "w_rst_ni", "r_rst_ni"):
        getattr(dut, name).value = 0
    Clock(dut.w_clk_i, write_ps, unit="ps").start()
    Clock(dut.r_clk_i, read_ps, unit="ps").start()
    for clock in (dut.w_clk_i, dut.r_clk_i) * 3:
        await RisingEdge(clock)
    dut.w_rst_ni.value = dut.r_rst_ni.value = 1
    words = [rng.getrandbits(36) for _ in range(WORDS)]
    writer = cocotb.start_soon(write(dut, rng, words))
    got: list[int] = []
    clocks = 0
    while len(got) < WORDS:
        clocks += 1
        assert clocks < 10_000, "words are lost"
        ready = (clocks // 100) % 2 == 1 and rng.random() < 0.8  # it fills up, and empties
        dut.r_ready_i.value = ready
        await ReadOnly()
        if dut.r_valid_o.value and ready:
            got.append(int(dut.r_data_o.value))
        await RisingEdge(dut.r_clk_i)
    assert got == words
    await writer
    for _ in range(8):  # until both sides know both counts
        await RisingEdge(dut.w_clk_i)
        await RisingEdge(dut.r_clk_i)
    assert not dut.r_valid_o.value, "a word comes twice"


def test_fifo():
    simulate([LIST], TOP, __name__)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assign w_ready_o = w_gray_q !=", "assign w_ready_o = 1'b1 || w_gray_q !="),
        ("assign r_valid_o = r_gray_q != w_seen_q;", "assign r_valid_o = 1'b1;"),
    ],
    ids=["full", "empty"],
)
def test_it_finds(old, new):
    finds(("src/chip/rtl/chip_fifo.sv", old, new), [LIST], TOP, __name__)
