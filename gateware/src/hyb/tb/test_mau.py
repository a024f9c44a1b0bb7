# SPDX-License-Identifier: Apache-2.0
"""Slots are taken and freed at random, some twice: beside a set in Python."""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, seeded, simulate

SLOT_BITS = 4
SLOTS = 1 << SLOT_BITS


@cocotb.test()
async def each_slot_has_one_user(dut):
    rng = seeded()
    await begin(dut)
    out: set[int] = set()
    taken = strays = full = 0
    waited = 0  # cycles without an offer while a slot is free
    speed = 0.0
    for n in range(20000):
        if n % 200 == 0:
            speed = rng.choice([0.1, 0.5, 1])
        frees = []
        for port in range(2):
            valid = rng.random() < 0.4
            slot = rng.choice(sorted(out)) if out and rng.random() < 0.9 else rng.randrange(SLOTS)
            dut.free_valid_i[port].value = valid
            dut.free_slot_i[port].value = slot
            frees += [slot] if valid else []
        take = rng.random() < speed
        dut.take_i.value = take
        await ReadOnly()
        ready, slot = int(dut.ready_o.value), int(dut.slot_o.value)
        stray = len(set(frees) & out) < len(frees)
        assert int(dut.stray_o.value) == stray
        assert not (ready and slot in out), f"slot {slot} is given, and is out"
        waited = 0 if ready or len(out) == SLOTS else waited + 1
        assert waited <= 1, "a slot is free, and none is offered"
        strays += stray
        full += len(out) == SLOTS
        await RisingEdge(dut.clk_i)
        out -= set(frees)
        if ready and take:
            out.add(slot)
            taken += 1
    assert taken > 2000 and strays > 100 and full > 100, (taken, strays, full)


def test_mau():
    simulate(
        ["src/hyb/hyb_send.f"],
        "hyb_mau",
        "gateware.src.hyb.tb.test_mau",
        parameters={"SlotBits": SLOT_BITS},
    )
