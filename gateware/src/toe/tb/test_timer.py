# SPDX-License-Identifier: Apache-2.0
"""The deadlines of one FPC: each is reported once and not early, and the last written one counts,
also with writes during the scan and with a long wait until a due one is accepted."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate

FLOWS = 16  # of two FPCs; this is the second one
MINE = range(1, FLOWS, 2)
TICK = 1 << 20
NEVER = 1 << 20  # ticks


class Deadlines:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.now = rng.getrandbits(40) * TICK
        self.writes: list[tuple[int, bool, int]] = []
        self.told: list[tuple[int, int]] = []

    async def cycle(self, *, ready: float, write: bool) -> None:
        rng, dut = self.rng, self.dut
        self.now += rng.choice([4, 4, TICK // 2, TICK])
        dut.now_i.value = self.now
        flow, on, at = self.writes.pop(0) if write else (rng.choice(MINE), rng.random() < 0.5, 0)
        dut.write_i.value = write
        dut.flow_i.value = flow
        dut.on_i.value = on
        dut.at_i.value = at & 0xFFFFFFFF
        dut.due_ready_i.value = rng.random() < ready
        await ReadOnly()
        if dut.due_valid_o.value and dut.due_ready_i.value:
            self.told.append((dut.due_flow_o.value.to_unsigned(), self.now // TICK))
        await RisingEdge(dut.clk_i)


async def start(dut, rng) -> Deadlines:
    for name in ("write", "now", "flow", "on", "at", "due_ready"):
        getattr(dut, f"{name}_i").value = 0
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for _ in range(FLOWS):  # the memory is cleared
        await RisingEdge(dut.clk_i)
    return Deadlines(dut, rng)


@cocotb.test()
async def each_deadline_is_told_once_and_in_time(dut):
    rng = seeded()
    deadlines = await start(dut, rng)
    total = 0
    for _ in range(200):
        last, least, most = {}, {}, {}
        for flow in MINE:
            least[flow] = most[flow] = 0
        few = rng.choice([MINE, MINE[:1], MINE[2:4]])  # few flows: repeated writes to one
        for _ in range(rng.randrange(1, 60)):
            flow = rng.choice(few)
            now = deadlines.now // TICK
            # A deadline replaced near its time may have been reported; a distant one was not.
            kind = rng.choice(["near", "near", "near", "past", "never", "off"])
            at = now + {"near": rng.randrange(24), "past": -rng.randrange(99)}.get(kind, NEVER)
            deadlines.writes.append((flow, kind != "off", at))
            most[flow] += kind in ("near", "past")
            least[flow] = int(kind in ("near", "past"))
            last[flow] = at if least[flow] else None
        earliest = min([at for _, on, at in deadlines.writes if on], default=0)
        deadlines.told.clear()
        ready, busy = rng.choice([0, 0.1, 0.5, 1]), rng.choice([0.2, 0.7, 1])
        while deadlines.writes:
            await deadlines.cycle(ready=ready, write=rng.random() < busy)
        while deadlines.now // TICK < max(at or 0 for at in last.values()):
            await deadlines.cycle(ready=ready, write=False)
        for _ in range(4 * FLOWS):
            await deadlines.cycle(ready=1, write=False)
        for flow, when in deadlines.told:
            assert flow in MINE
            assert when >= earliest
        for flow in MINE:
            times = [when for f, when in deadlines.told if f == flow]
            assert least[flow] <= len(times) <= most[flow], (flow, times)
            if least[flow]:
                assert times[-1] >= last[flow]
        total += len(deadlines.told)
    assert total > 300


def test_timer():
    simulate(
        ["src/toe/toe_timer.f"],
        "toe_timer",
        "gateware.src.toe.tb.test_timer",
        parameters={"FlowBits": 4, "FpcBits": 1, "Fpc": 1},
    )
