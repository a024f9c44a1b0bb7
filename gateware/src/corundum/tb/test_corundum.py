# SPDX-License-Identifier: Apache-2.0
"""The block for Corundum: registers on the control port; packets pass unchanged, including user
bits, and are measured."""

import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate
from gateware.src.rtt.tb import frames
from gateware.src.rtt.tb.bench import REGS

PARTS = {"tdata": 512, "tkeep": 64, "tlast": 1}
USER = {"tx": 17, "rx": 97}
BACK = 60  # cycles until a packet comes back


async def access(dut, address: int, value: int | None = None) -> tuple[int, int]:
    """Writes, or reads without value. Returns (value read, bus response)."""
    ask, back = ("ar", "r") if value is None else ("aw", "b")

    def port(name: str):
        return getattr(dut, f"s_axil_app_ctrl_{name}")

    port(f"{ask}addr").value = address
    port(f"{ask}valid").value = 1
    port(f"{back}ready").value = 1
    if value is not None:
        port("wdata").value, port("wstrb").value, port("wvalid").value = value, 15, 1
    for _ in range(200):
        await ReadOnly()
        taken, done = port(f"{ask}ready").value, port(f"{back}valid").value
        got = port("rdata").value.to_unsigned() if done and value is None else 0
        response = port(f"{back}resp").value.to_unsigned() if done else 0
        await RisingEdge(dut.clk)
        if taken:
            port(f"{ask}valid").value = port("wvalid").value = 0
        if done:
            port(f"{back}ready").value = 0
            return got, response
    raise AssertionError("no answer")


async def start(dut) -> None:
    for name in ("awvalid", "wvalid", "arvalid", "bready", "rready"):
        getattr(dut, f"s_axil_app_ctrl_{name}").value = 0
    for way in USER:
        getattr(dut, f"s_axis_sync_{way}_tvalid").value = 0
        getattr(dut, f"m_axis_sync_{way}_tready").value = 1
    dut.rst.value = 1
    Clock(dut.clk, 4, unit="ns").start()
    for _ in range(4):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)


class Way:
    """One of the two streams: outputs must equal inputs in each cycle."""

    def __init__(self, dut, name: str, rng) -> None:
        self.dut, self.name, self.rng = dut, name, rng

    def signal(self, side: str, part: str):
        return getattr(self.dut, f"{side}_axis_sync_{self.name}_{part}")

    def drive(self, frame: bytes | None) -> None:
        """Drives a frame of one beat, accepted in this cycle; None: a cycle without valid."""
        noise = self.rng.getrandbits
        data, keep = noise(512), noise(64)
        if frame is not None:
            keep = (1 << len(frame)) - 1
            data = int.from_bytes(frame, "little") | (data >> 8 * len(frame)) << 8 * len(frame)
        self.signal("s", "tdata").value, self.signal("s", "tkeep").value = data, keep
        self.signal("s", "tlast").value = 1 if frame is not None else noise(1)
        self.signal("s", "tuser").value = noise(USER[self.name])
        self.signal("s", "tvalid").value = int(frame is not None)
        self.signal("m", "tready").value = 1 if frame is not None else noise(1)

    def check(self) -> None:
        for part in ("tvalid", "tuser", *PARTS):
            assert self.signal("s", part).value == self.signal("m", part).value
        assert self.signal("s", "tready").value == self.signal("m", "tready").value


@cocotb.test()
async def registers_answer(dut):
    await start(dut)
    kind, response = await access(dut, REGS["BLOCK.TYPE"])
    assert (kind.to_bytes(4, "little"), response) == (b"RTTM", 0)
    await access(dut, REGS["SCRATCH"], 0xC0FFEE)
    assert (await access(dut, REGS["SCRATCH"]))[0] == 0xC0FFEE
    assert (await access(dut, 0xFC))[1] == 2  # an unmapped address


@cocotb.test()
async def packets_pass_untouched_and_are_measured(dut):
    rng = seeded()
    await start(dut)
    await access(dut, REGS["CONTROL"], 0x131)  # tagged packets
    while (await access(dut, REGS["STATUS"]))[0] & 2:
        pass
    tx, rx = Way(dut, "tx", rng), Way(dut, "rx", rng)
    waiting: list[tuple[int, bytes]] = []
    sent = lost = 0
    for cycle in range(900):
        leaves = comes = None
        if sent < 150 and rng.random() < 0.5:
            leaves = frames.udp(struct.pack(">I", sent))
            sent += 1
            if rng.random() < 0.1:
                lost += 1
            else:
                waiting.append((cycle + BACK, leaves))
        if waiting and waiting[0][0] <= cycle:
            comes = waiting.pop(0)[1]
        tx.drive(leaves)
        rx.drive(comes)
        await ReadOnly()
        tx.check()
        rx.check()
        await RisingEdge(dut.clk)
    assert sent == 150 and lost and not waiting
    tx.drive(None)
    rx.drive(None)
    await access(dut, REGS["COMMAND"], 1)
    while (await access(dut, REGS["STATUS"]))[0] & 1:
        pass
    for name, want in (("COUNT", sent - lost), ("MIN", BACK), ("MAX", BACK), ("PROBES", sent)):
        assert (await access(dut, REGS[f"S_{name}"]))[0] == want


def test_corundum():
    simulate(
        ["src/corundum/rtt_corundum.f"], "rtt_corundum", "gateware.src.corundum.tb.test_corundum"
    )
