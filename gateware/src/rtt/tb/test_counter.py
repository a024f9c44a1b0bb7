# SPDX-License-Identifier: Apache-2.0
"""The counter: one count per cycle, correct across the wrap of its lower half."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import simulate

START = 0x7_FFFF_FFE0


@cocotb.test()
async def counts_across_the_wrap(dut):
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await ReadOnly()
    assert dut.now_o.value.to_unsigned() == START
    for n in range(1, 100):
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        assert dut.now_o.value.to_unsigned() == START + n


def test_counter():
    simulate(
        ["src/rtt/rtt_counter.f"],
        "rtt_counter",
        "gateware.src.rtt.tb.test_counter",
        parameters={"Start": f"64'h{START:x}"},
    )
