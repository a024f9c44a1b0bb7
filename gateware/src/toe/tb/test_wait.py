# SPDX-License-Identifier: Apache-2.0
"""Issue of events to an FPC's pipeline, at random, while TCBs move. No event is lost, duplicated or
overtaken by another of its flow. None is issued while its flow is in the pipeline or its TCB is not
on chip; each has the TCB's current place. An event that may be issued is issued. A TCB with waiting
events is not evicted."""

from collections import deque
from dataclasses import dataclass

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, finds, reset, seeded, simulate
from gateware.src.toe.tb.contract import TOE

PLACES, HOT, STAGES, FLOWS = 4, 4, 3, 9
LISTS, TOP, MODULE = ["src/toe/fpc_wait.f"], "fpc_wait", "gateware.src.toe.tb.test_wait"
PARAMETERS = {"PlaceBits": 2, "HotBits": 2, "Stages": STAGES}


@dataclass
class Event:
    flow: int
    bits: int
    fresh: bool


class Tcbs:
    """The place of each TCB, as in fpc_tcbs: on chip, in memory, or in transit."""

    def __init__(self) -> None:
        self.at: dict[int, int] = {}
        self.coming: list[int] = []

    def free(self) -> list[int]:
        return [place for place in range(HOT) if place not in self.at.values()]


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.tcbs = Tcbs()
        self.waiting: deque[Event] = deque()  # in order of arrival
        self.offer: Event | None = None
        self.pipeline: deque[int | None] = deque([None] * STAGES)
        self.fresh = set(range(FLOWS))
        self.odds = [0.5] * 4
        self.count = dict.fromkeys(("went", "passed", "came", "evicted", "full", "pinned"), 0)

    async def cycle(self, *, more: bool = True) -> None:
        dut, rng, tcbs = self.dut, self.rng, self.tcbs
        comes, goes, takes, brings = self.odds
        if self.offer is None and more and rng.random() < comes:
            flow = rng.randrange(FLOWS)
            bits = TOE.pack("event_t", {"flow": flow, "body": rng.getrandbits(400)})
            self.offer = Event(flow, bits, flow in self.fresh)
        event = self.offer
        hot = event is not None and event.flow in tcbs.at
        dut.valid_i.value = event is not None
        dut.event_i.value = event.bits if event else rng.getrandbits(500)
        dut.hot_i.value = hot if event else rng.random() < 0.5
        dut.at_i.value = tcbs.at[event.flow] if hot else rng.randrange(HOT)
        dut.fresh_i.value = event is not None and event.fresh
        dut.go_i.value = go = rng.random() < goes
        dut.flying_i.value = sum((f is not None) << i for i, f in enumerate(self.pipeline))
        dut.flow_i.value = sum((f or 0) << 16 * i for i, f in enumerate(self.pipeline))
        dut.want_ready_i.value = wanted = rng.random() < takes
        # A requested TCB arrives if there is a free place.
        came = None
        if tcbs.coming and tcbs.free() and rng.random() < brings:
            came = tcbs.coming.pop(rng.randrange(len(tcbs.coming)))
        place = rng.choice(tcbs.free() or [0])
        dut.came_i.value = came is not None
        dut.came_flow_i.value = came if came is not None else rng.randrange(FLOWS)
        dut.came_at_i.value = place
        victim = rng.choice(list(tcbs.at)) if tcbs.at else rng.randrange(FLOWS)
        dut.victim_i.value = victim
        await ReadOnly()
        self.pinned(victim)
        self.wants(wanted, came)
        full = len(self.waiting) >= PLACES
        went = self.goes(event, go, hot)
        if event is not None and dut.ready_o.value:
            if went is not event:
                self.waiting.append(event)
                self.fresh.discard(event.flow)
            self.offer = None
        elif event is not None:
            self.count["full"] += 1
            assert full, "there is room, and it does not come in"
        self.pipeline.pop()
        self.pipeline.appendleft(None if went is None else went.flow)
        if came is not None:
            tcbs.at[came] = place
            self.count["came"] += 1
        self.evicts(victim, went, came)
        await RisingEdge(dut.clk_i)

    def pinned(self, victim: int) -> None:
        waits = any(e.flow == victim for e in self.waiting)
        assert bool(self.dut.pinned_o.value) == waits, "whether an event keeps a TCB"
        self.count["pinned"] += waits

    def wants(self, taken: bool, came: int | None) -> None:
        dut, tcbs = self.dut, self.tcbs
        if not dut.want_o.value:
            return
        flow = dut.want_flow_o.value.to_unsigned()
        found = [e for e in self.waiting if e.flow == flow]
        assert found and flow not in tcbs.at, "a TCB that nobody waits for"
        assert bool(dut.want_fresh_o.value) in [e.fresh for e in found]
        if taken and flow not in (*tcbs.coming, came):
            tcbs.coming.append(flow)

    def may_go(self, event: Event) -> bool:
        return event.flow in self.tcbs.at and event.flow not in self.pipeline

    def goes(self, event: Event | None, go: bool, hot: bool) -> Event | None:
        dut = self.dut
        able = [e for e in self.waiting if self.may_go(e)]
        if not able and event is not None and hot and event.flow not in self.pipeline:
            able = [event]
        assert bool(dut.valid_o.value) == bool(go and able), "whether one goes"
        if not dut.valid_o.value:
            return None
        bits = dut.event_o.value.to_unsigned()
        same = [e for e in [*self.waiting, event] if e is not None and e.bits == bits]
        assert same, "an event that nobody brought, or that went before"
        went = same[0]
        first = next(e for e in [*self.waiting, event] if e and e.flow == went.flow)
        assert went is first, "an event overtakes one of its flow"
        assert went.flow not in self.pipeline, "its flow is in the pipeline"
        assert dut.at_o.value.to_unsigned() == self.tcbs.at.get(went.flow), "where its TCB is"
        if went in self.waiting:
            self.count["passed"] += went is not self.waiting[0]
            self.waiting.remove(went)
        self.fresh.discard(went.flow)
        self.count["went"] += 1
        return went

    def evicts(self, victim: int, went: Event | None, came: int | None) -> None:
        """Evicts a TCB that no event waits for, looks up or uses."""
        tcbs = self.tcbs
        if victim not in tcbs.at or self.rng.random() < 0.5:
            return
        used = [e.flow for e in self.waiting] + list(self.pipeline) + [came]
        if self.offer is not None:
            used.append(self.offer.flow)
        if victim not in used:
            del tcbs.at[victim]
            self.count["evicted"] += 1

    async def restart(self) -> None:
        dut = self.dut
        self.waiting.clear()
        self.offer, self.tcbs = None, Tcbs()
        self.pipeline = deque([None] * STAGES)
        dut.valid_i.value = dut.came_i.value = dut.flying_i.value = 0
        await reset(dut)


@cocotb.test()
async def events_of_a_flow_stay_in_order(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    for _ in range(4):
        await bench.restart()
        for n in range(4000):
            if n % 100 == 0:
                bench.odds = [rng.choice([0.1, 0.5, 0.9, 1]) for _ in range(4)]
            await bench.cycle()
        bench.odds = [1] * 4
        for _ in range(100):
            await bench.cycle(more=False)
        assert not bench.waiting and bench.offer is None, "an event is lost"
        for _ in range(rng.randrange(10)):
            await bench.cycle()  # some wait at the next reset
    assert min(bench.count.values()) > 100, bench.count


def test_wait():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


FAULTS = {
    "an event is asked for, and its place is not noted": (
        "        entry_d[i].at = came_at_i;", "        entry_d[i].at = entry_q[i].at;",
    ),
    "what comes in while its TCB arrives waits for ever": (
        "hot: hot_i || new_came,", "hot: hot_i,",
    ),
    "what comes in while its TCB arrives looks for it elsewhere": (
        "at: new_came ? came_at_i : at_i", "at: at_i",
    ),
    "only the first that waits keeps its TCB": (
        "assign pinned_o = (there_q & like_victim) != '0;",
        "assign pinned_o = there_q[0] && like_victim[0];",
    ),
    "a new one goes where one of its flow waits": (
        "wire take_new = go_i && !any_old && valid_i && new_free;",
        "wire take_new = go_i && valid_i && new_free;",
    ),
    "the pipeline's last stage is not looked at": (
        "for (int i = 0; i < int'(Stages); i++) any = any | (flying[i] && flows[i] == flow);",
        "for (int i = 0; i < int'(Stages) - 1; i++) any = any | (flying[i] && flows[i] == flow);",
    ),
    "a full list takes one more": (
        "wire room = there_q != '1;", "wire room = 1'b1;",
    ),
    "a place that is taken anew counts as older": (
        "else if (free[j]) older_q[i][j] <= 1'b0;", "",
    ),
    "one whose flow has just gone is not held back": (
        "flies_on(entry_q[i].flow) || (take_old && (first & same_q[i]) != '0)",
        "flies_on(entry_q[i].flow)",
    ),
    "a new one is taken to be of the flow of what had its place": (
        "else if (free[j]) same_q[i][j] <= like_new[i];", "",
    ),
    "a TCB is asked for that has just come": (
        "else if (picked) want_q <= (picks & like_came) == '0;", "else if (picked) want_q <= 1'b1;",
    ),
    "a TCB is asked for that came while it waited to be": (
        "!want_ready_i && !(came_i && came_flow_i == want_flow_q)", "!want_ready_i",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on an fpc_wait with this fault."""
    fault = ("src/toe/rtl/fpc_wait.sv", *FAULTS[why])
    finds(fault, LISTS, TOP, MODULE, parameters=PARAMETERS)
