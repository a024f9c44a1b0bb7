# SPDX-License-Identifier: Apache-2.0
"""AXI4-Lite between two clocks: each access arrives once, complete, and gets its own answer, at any
ratio of the clocks, with random delays at both ends."""

import os

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate

ACCESSES = 150


async def slave(dut, rng, memory: dict[int, int], seen: list) -> None:
    """The registers behind it: accepts and answers accesses after random delays."""
    while True:
        for name in ("awready", "wready", "arready", "bvalid", "rvalid"):
            getattr(dut, f"m_{name}_i").value = 0
        await ReadOnly()
        write, read = dut.m_awvalid_o.value, dut.m_arvalid_o.value
        assert not (write and read)
        await RisingEdge(dut.m_clk_i)
        if not (write or read):
            continue
        for _ in range(rng.randrange(4)):
            await RisingEdge(dut.m_clk_i)
        await ReadOnly()
        address = (dut.m_awaddr_o if write else dut.m_araddr_o).value.to_unsigned()
        data = dut.m_wdata_o.value.to_unsigned()
        await RisingEdge(dut.m_clk_i)
        for names in rng.choice([[("aw", "w")], [("aw",), ("w",)], [("w",), ("aw",)]]):
            for name in names if write else ("ar",):
                getattr(dut, f"m_{name}ready_i").value = 1
            await RisingEdge(dut.m_clk_i)
            for name in ("aw", "w", "ar"):
                getattr(dut, f"m_{name}ready_i").value = 0
            if read:
                break
        for _ in range(rng.randrange(4)):
            await RisingEdge(dut.m_clk_i)
        back = "b" if write else "r"
        error = 2 if address % 7 == 3 else 0
        if write:
            memory[address] = data
            dut.m_bresp_i.value = error
        else:
            dut.m_rdata_i.value = memory.get(address, 0)
            dut.m_rresp_i.value = error
        seen.append(("write" if write else "read", address))
        getattr(dut, f"m_{back}valid_i").value = 1
        while True:
            await ReadOnly()
            taken = getattr(dut, f"m_{back}ready_o").value
            await RisingEdge(dut.m_clk_i)
            if taken:
                break


async def access(dut, rng, address: int, value: int | None) -> tuple[int, int]:
    """Returns (value read, response). Delays ready at random: the answer must stay stable."""
    ask, back = ("ar", "r") if value is None else ("aw", "b")
    getattr(dut, f"s_{ask}addr_i").value = address
    getattr(dut, f"s_{ask}valid_i").value = 1
    if value is not None:
        dut.s_wdata_i.value, dut.s_wvalid_i.value = value, 1
    asked, answer = True, None
    for _ in range(1000):
        ready = rng.random() < 0.4
        getattr(dut, f"s_{back}ready_i").value = ready
        await ReadOnly()
        taken = asked and getattr(dut, f"s_{ask}ready_o").value
        valid = getattr(dut, f"s_{back}valid_o").value
        assert not (valid and asked), "an answer before its question was taken"
        assert not getattr(dut, f"s_{'b' if back == 'r' else 'r'}valid_o").value
        if valid:
            response = getattr(dut, f"s_{back}resp_o").value.to_unsigned()
            now = (0 if value is not None else dut.s_rdata_o.value.to_unsigned(), response)
            assert answer in (None, now), "the answer has changed while it waited"
            answer = now
        else:
            assert answer is None, "the answer went before it was taken"
        await RisingEdge(dut.s_clk_i)
        if taken:
            asked = False
            getattr(dut, f"s_{ask}valid_i").value = dut.s_wvalid_i.value = 0
        if valid and ready:
            getattr(dut, f"s_{back}ready_i").value = 0
            return answer
    raise AssertionError("no answer")


@cocotb.test()
async def accesses_arrive_once_and_are_answered(dut):
    rng = seeded()
    for side, names in (
        ("s", ("awvalid", "awaddr", "wvalid", "wdata", "bready", "arvalid", "araddr", "rready")),
        ("m", ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")),
    ):
        for name in names:
            getattr(dut, f"{side}_{name}_i").value = 0
    dut.s_rst_ni.value = dut.m_rst_ni.value = 0
    ours, theirs = (2 * rng.randrange(800, 6000) for _ in range(2))
    Clock(dut.s_clk_i, ours, unit="ps").start()
    Clock(dut.m_clk_i, theirs, unit="ps").start()
    for _ in range(8):
        await RisingEdge(dut.s_clk_i)
        await RisingEdge(dut.m_clk_i)
    dut.m_rst_ni.value = 1
    await RisingEdge(dut.s_clk_i)
    dut.s_rst_ni.value = 1
    memory: dict[int, int] = {}
    seen: list = []
    cocotb.start_soon(slave(dut, rng, memory, seen))
    await RisingEdge(dut.s_clk_i)
    wrote: dict[int, int] = {}
    asked = []
    for _ in range(ACCESSES):
        address = 4 * rng.randrange(30)
        value = rng.getrandbits(32) if rng.random() < 0.5 else None
        asked.append(("read" if value is None else "write", address))
        got, response = await access(dut, rng, address, value)
        assert response == (2 if address % 7 == 3 else 0)
        if value is None:
            assert got == wrote.get(address, 0)
        else:
            wrote[address] = value
        for _ in range(rng.choice([0, 0, 1, 5])):
            await RisingEdge(dut.s_clk_i)
    assert seen == asked
    assert memory == wrote


def test_axil_cross():
    """Each seed uses different clocks."""
    for seed in range(1, 5):
        simulate(
            ["src/axil/axil_cross.f"],
            "axil_cross",
            "gateware.src.axil.tb.test_axil_cross",
            env={"TOE_TEST_SEED": os.environ.get("TOE_TEST_SEED", str(seed))},
        )
