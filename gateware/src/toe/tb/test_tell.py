# SPDX-License-Identifier: Apache-2.0
"""Flows with pending notifications, at random, of queue pairs whose HW rings are full, have room,
or are detached. Each listed flow is issued once, with credit for its queue pair's ring unless that
is detached, and no credit is wasted. Full rings do not delay other flows, however often toe_hwroom
polls this FPC and however long its list is."""

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge, Timer

from gateware.lib.bench import begin, finds, reset, seeded, simulate

INDEX_BITS, QPS = 4, 5
FLOWS = 1 << INDEX_BITS
LISTS, TOP, MODULE = ["src/toe/fpc_tell.f"], "fpc_tell", "gateware.src.toe.tb.test_tell"
PARAMETERS = {"IndexBits": INDEX_BITS}


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.count = dict.fromkeys(("told", "gone", "refused", "full"), 0)
        self.begin()

    def begin(self) -> None:
        self.listed: dict[int, int] = {}  # flow: its queue pair
        self.places = [0] * QPS  # credit taken, not used
        self.full: set[int] = set()
        self.gone: set[int] = set()
        self.turn, self.turns = 0, 1
        self.odds = [0.5] * 3

    async def cycle(self, *, more: bool = True) -> None:
        dut, rng = self.dut, self.rng
        comes, pops, grants = self.odds
        unlisted = [f for f in range(FLOWS) if f not in self.listed]
        push = more and unlisted and rng.random() < comes
        flow, qp = rng.choice(unlisted or [0]), rng.randrange(QPS)
        dut.push_i.value, dut.flow_i.value, dut.qp_i.value = bool(push), flow, qp
        dut.gone_i.value = sum(1 << q for q in self.gone)
        dut.pop_i.value = 0
        await Timer(1, unit="ns")
        self.turn = (self.turn + 1) % self.turns
        grant = refuse = False
        asked = dut.ask_qp_o.value.to_unsigned()
        if dut.ask_o.value:
            assert asked not in self.gone, "a place for who is gone"
            if self.turn == 0 and rng.random() < grants:
                grant, refuse = asked not in self.full, asked in self.full
        dut.grant_i.value, dut.refuse_i.value = grant, refuse
        pop = bool(dut.valid_o.value) and rng.random() < pops
        dut.pop_i.value = pop
        await ReadOnly()
        assert bool(dut.take_o.value) == grant, "what is granted is not taken"
        self.places[asked] += grant
        self.count["refused"] += refuse
        if pop:
            self.tells()
        if push:
            self.listed[flow] = qp
        await RisingEdge(dut.clk_i)

    def tells(self) -> None:
        dut = self.dut
        flow, qp = dut.flow_o.value.to_unsigned(), dut.qp_o.value.to_unsigned()
        assert self.listed.pop(flow, None) == qp, "a flow that is not listed, or of another"
        if dut.placed_o.value:
            self.places[qp] -= 1
            assert self.places[qp] >= 0, "a place that was not granted"
            self.count["told"] += 1
        else:
            self.count["gone"] += 1

    async def calm(self) -> None:
        """Adds no flow: each flow with room is issued, one every few turns."""
        self.odds = [0, 1, 1]
        for _ in range(3 * FLOWS * self.turns + 10):
            await self.cycle(more=False)
        left = [f for f, qp in self.listed.items() if qp not in self.full - self.gone]
        assert not left, f"{left} wait for those whose rings are full"
        self.count["full"] += len(self.listed)
        assert not any(self.places), "a place is taken, and nothing told with it"


@cocotb.test()
async def each_is_told(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    for n in range(400):
        if n % 40 == 0:
            bench.begin()
            dut.push_i.value = dut.pop_i.value = 0
            await reset(dut)
        bench.turns = rng.randrange(1, 7)
        bench.full = {q for q in range(QPS) if rng.random() < 0.5}
        bench.gone = {q for q in range(QPS) if rng.random() < 0.2}
        bench.odds = [rng.choice([0.1, 0.5, 1]) for _ in range(3)]
        for _ in range(rng.randrange(100)):
            await bench.cycle()
        await bench.calm()
    bench.full = set()
    await bench.calm()
    assert not bench.listed
    assert min(bench.count.values()) > 100, bench.count


def test_tell():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


FAULTS = {
    "who gives way does so when nobody was asked": (
        "refused_q <= rst_ni && ask_o && refuse_i && listed;",
        "refused_q <= rst_ni && ask_o && !grant_i && listed;",
    ),
    "who is refused stays first": (
        "wire rotates = refused_q && listed && !push_i;", "wire rotates = 1'b0;",
    ),
    "what is pushed takes the place of who gives way": (
        "refused_q && listed && !push_i;", "refused_q && listed;",
    ),
    "who gives way has a place after all": (
        "wire may = asks_q && !refused_q &&", "wire may = asks_q &&",
    ),
    "a place is taken for who is gone": (
        "assign ask_o = may && !gone;", "assign ask_o = may;",
    ),
    "one that leaves is told twice": (
        "(asks_q && !leaves)", "(asks_q && !(leaves && listed))",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on an fpc_tell with this fault."""
    fault = ("src/toe/rtl/fpc_tell.sv", *FAULTS[why])
    finds(fault, LISTS, TOP, MODULE, parameters=PARAMETERS)
