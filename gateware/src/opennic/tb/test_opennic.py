# SPDX-License-Identifier: Apache-2.0
"""The box for OpenNIC: two interfaces, registers in another clock domain, unchanged packets."""

import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import simulate
from gateware.src.rtt.tb import frames
from gateware.src.rtt.tb.bench import REGS

WINDOW = 0x100000


async def access(dut, address: int, value: int | None = None) -> tuple[int, int]:
    """Writes, or reads without value. Returns (value read, bus response)."""
    ask, back = ("ar", "r") if value is None else ("aw", "b")
    getattr(dut, f"s_axil_{ask}addr").value = WINDOW + address
    getattr(dut, f"s_axil_{ask}valid").value = 1
    getattr(dut, f"s_axil_{back}ready").value = 1
    if value is not None:
        dut.s_axil_wdata.value = value
        dut.s_axil_wvalid.value = 1
    for _ in range(500):
        await ReadOnly()
        taken = getattr(dut, f"s_axil_{ask}ready").value
        done = getattr(dut, f"s_axil_{back}valid").value
        got = dut.s_axil_rdata.value.to_unsigned() if done and value is None else 0
        response = getattr(dut, f"s_axil_{back}resp").value.to_unsigned() if done else 0
        await RisingEdge(dut.axil_aclk)
        if taken:
            getattr(dut, f"s_axil_{ask}valid").value = 0
            dut.s_axil_wvalid.value = 0
        if done:
            getattr(dut, f"s_axil_{back}ready").value = 0
            return got, response
    raise AssertionError("no answer")


async def start(dut) -> None:
    for name in ("awvalid", "wvalid", "arvalid", "bready", "rready"):
        getattr(dut, f"s_axil_{name}").value = 0
    for stream in ("s_axis_qdma_h2c", "s_axis_adap_rx_250mhz"):
        getattr(dut, f"{stream}_tvalid").value = 0
    dut.m_axis_adap_tx_250mhz_tready.value = 3
    dut.m_axis_qdma_c2h_tready.value = 3
    dut.mod_rstn.value = 0
    Clock(dut.axil_aclk, 8, unit="ns").start()
    Clock(dut.axis_aclk, 4, unit="ns").start()
    for _ in range(4):
        await RisingEdge(dut.axil_aclk)
    dut.mod_rstn.value = 1
    while not dut.mod_rst_done.value:
        await RisingEdge(dut.axil_aclk)


@cocotb.test()
async def blocks_are_found(dut):
    await start(dut)
    at, found = 0, []
    while True:
        kind, _ = await access(dut, at + REGS["BLOCK.TYPE"])
        found.append((at, kind.to_bytes(4, "little")))
        await access(dut, at + REGS["SCRATCH"], at + 7)
        at, _ = await access(dut, at + REGS["BLOCK.NEXT"])
        if at == 0:
            break
    assert found == [(0, b"RTTM"), (0x4000, b"RTTM")]
    assert (await access(dut, REGS["SCRATCH"]))[0] == 7
    assert (await access(dut, 0x4000 + REGS["SCRATCH"]))[0] == 0x4007
    assert (await access(dut, 0xFC))[1] == 2  # an unmapped address


@cocotb.test()
async def packets_pass_untouched_and_are_measured(dut):
    """Outputs equal inputs in each cycle, including valid and ready; only the destination is set,
    as the shell requires. Interface 1 measures."""
    await start(dut)
    rng = random.Random(1)
    await access(dut, 0x4000 + REGS["CONTROL"], 0x131)
    while (await access(dut, 0x4000 + REGS["STATUS"]))[0] & 2:
        pass
    pairs = [
        ("s_axis_qdma_h2c", "m_axis_adap_tx_250mhz", 1 << 23 | 1 << 6),
        ("s_axis_adap_rx_250mhz", "m_axis_qdma_c2h", 2 << 16 | 1),
    ]
    waiting = []  # sent on interface 1, returns 50 cycles later
    sent = 0
    for cycle in range(700):
        for source, sink, _ in pairs:
            for part, bits in (
                ("tdata", 1024), ("tkeep", 128), ("tuser_size", 32), ("tuser_src", 32),
            ):  # fmt: skip
                getattr(dut, f"{source}_{part}").value = rng.getrandbits(bits)
            getattr(dut, f"{source}_tlast").value = 3
            getattr(dut, f"{sink}_tready").value = rng.randrange(4)
            getattr(dut, f"{source}_tvalid").value = rng.randrange(2)  # interface 0: noise
        tx = rx = None
        if sent < 100 and cycle % 3 == 0:
            tx = frames.udp(struct.pack(">I", sent))
            sent += 1
            set_beat(dut, pairs[0], tx, rng)
            waiting.append((cycle + 50, tx))
        if waiting and waiting[0][0] <= cycle:
            rx = waiting.pop(0)[1]
            set_beat(dut, pairs[1], rx, rng)
        await ReadOnly()
        for source, sink, destination in pairs:
            for part in ("tvalid", "tdata", "tkeep", "tlast", "tuser_size", "tuser_src"):
                assert (
                    getattr(dut, f"{source}_{part}").value == getattr(dut, f"{sink}_{part}").value
                )
            assert getattr(dut, f"{sink}_tuser_dst").value.to_unsigned() == destination
            assert getattr(dut, f"{source}_tready").value == getattr(dut, f"{sink}_tready").value
        await RisingEdge(dut.axis_aclk)
    for source, _, _ in pairs:
        getattr(dut, f"{source}_tvalid").value = 0
    await access(dut, 0x4000 + REGS["COMMAND"], 1)
    while (await access(dut, 0x4000 + REGS["STATUS"]))[0] & 1:
        pass
    for name, want in (("COUNT", 100), ("MIN", 50), ("MAX", 50), ("LOST", 0)):
        assert (await access(dut, 0x4000 + REGS[f"S_{name}"]))[0] == want
    assert (await access(dut, REGS["S_COUNT"]))[0] == 0


def set_beat(dut, pair, frame: bytes, rng: random.Random) -> None:
    """Drives a frame of one beat on interface 1, accepted in this cycle."""
    source, sink, _ = pair
    noise = rng.getrandbits(512)
    getattr(dut, f"{source}_tdata").value = int.from_bytes(frame, "little") << 512 | noise
    getattr(dut, f"{source}_tkeep").value = ((1 << len(frame)) - 1) << 64 | (1 << 64) - 1
    getattr(dut, f"{source}_tvalid").value = 2 | rng.randrange(2)
    getattr(dut, f"{sink}_tready").value = 2 | rng.randrange(2)


def test_opennic():
    simulate(
        ["src/opennic/rtt_250mhz.f"],
        "rtt_250mhz",
        "gateware.src.opennic.tb.test_opennic",
        parameters={"NUM_INTF": 2},
    )
