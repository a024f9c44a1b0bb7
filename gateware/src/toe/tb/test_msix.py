# SPDX-License-Identifier: Apache-2.0
"""MSI-X messages: each interrupt is followed by a message, which is sent after all writes requested
before it are answered; an offered message is stable until accepted."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate

QPS = 5


@cocotb.test()
async def messages_follow_their_writes(dut):
    rng = seeded()
    dut.irq_i.value = dut.asked_i.value = dut.done_i.value = dut.ready_i.value = 0
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    asked = done = 65000  # the counts wrap
    mark = [None] * QPS  # of interrupts without a message: all that must be done before it
    held, messages, interrupts = None, 0, 0
    before, seen_done = mark[:], done  # a message is chosen in the cycle before it is seen
    for n in range(9000):
        last = n >= 8900
        asked += 0 if last else rng.random() < 0.4
        if done < asked and (last or rng.random() < 0.45):
            done += 1
        irq = 0 if last else sum(1 << q for q in range(QPS) if rng.random() < 0.02)
        ready = last or rng.random() < 0.4
        dut.asked_i.value, dut.done_i.value = asked & 0xFFFF, done & 0xFFFF
        dut.irq_i.value, dut.ready_i.value = irq, ready
        await ReadOnly()
        if held is not None:
            assert dut.valid_o.value, "a message was taken back"
        if dut.valid_o.value:
            vector = dut.vector_o.value.to_unsigned()
            if held is not None:
                assert vector == held, "a message became another"
            else:
                assert vector < QPS
                assert before[vector] is not None, "a message of no interrupt"
                assert seen_done >= before[vector][0], "a message before its writes"
                messages += 1
                if mark[vector] == before[vector]:
                    mark[vector] = None
            held = None if ready else vector
        before = mark[:]
        for q in range(QPS):
            if irq >> q & 1:
                mark[q] = (asked, n)
                interrupts += 1
        seen_done = done
        await RisingEdge(dut.clk_i)
    assert mark == [None] * QPS, "an interrupt without a message"
    assert interrupts >= messages > 200


def test_msix():
    simulate(
        ["src/toe/toe_msix.f"],
        "toe_msix",
        "gateware.src.toe.tb.test_msix",
        parameters={"Qps": QPS},
    )
