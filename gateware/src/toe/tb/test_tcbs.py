# SPDX-License-Identifier: Apache-2.0
"""The places of an FPC's TCBs, at random, with more flows than places on chip. Each event learns
the place of its TCB and reads what the flow's previous event has written, or zero for the first
one. The last written TCB goes to memory once and returns unchanged. A TCB is not evicted while an
event waits for it, while the pipeline uses it, or right after its use. No more TCBs are in transit
than there is room for, and fetched ones are admitted. Memory answers after random delays. After a
reset no flow has a TCB. In addition to formal/tcbs.sv, this covers many flows of one of two FPCs,
all transfers, the order of evictions, and resets."""

from collections import deque
from dataclasses import dataclass

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge, Timer

from gateware.lib.bench import begin, finds, reset, seeded, simulate
from gateware.src.toe.tb.contract import TOE

WIDTH, INDEX_BITS, FPC_BITS, FPC, HOT_BITS, STAGES = 100, 6, 1, 1, 4, 3
FLOWS, HOT, PLACES, UNDER_WAY = 1 << INDEX_BITS, 1 << HOT_BITS, 6, 4
LISTS, TOP, MODULE = ["src/toe/fpc_tcbs.f"], "fpc_tcbs", "gateware.src.toe.tb.test_tcbs"
PARAMETERS = {
    "Width": WIDTH, "IndexBits": INDEX_BITS, "FpcBits": FPC_BITS, "Fpc": FPC,
    "HotBits": HOT_BITS, "Stages": STAGES,
}  # fmt: skip
ALL_HOT = {**PARAMETERS, "HotBits": INDEX_BITS}


@dataclass(eq=False)
class Event:
    flow: int
    bits: int
    fresh: bool = False
    asked: bool = False


@dataclass(eq=False)
class Flight:
    flow: int
    at: int


class Memory:
    """DRAM: a save is complete when it is confirmed; fetches are answered in order."""

    def __init__(self, rng) -> None:
        self.rng = rng
        self.content: dict[int, int] = {}
        self.begin()

    def begin(self) -> None:
        self.saving: deque[tuple[int, int]] = deque()  # accepted, not complete
        self.fetching: deque[int] = deque()  # the fetched TCBs
        self.offered = False


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.all_hot = len(dut.at_o) == INDEX_BITS  # as many places as flows
        self.flows = [FPC + (i << FPC_BITS) for i in range(FLOWS)]
        self.memory = Memory(rng)
        self.odds = [0.5] * 6
        self.among = self.flows
        names = ("went", "evicted", "fetched", "fresh", "forwarded", "held", "full", "doubled")
        self.count = dict.fromkeys(names, 0)
        self.now = 0
        self.begin()

    def begin(self) -> None:
        self.memory.begin()
        places = range(FLOWS) if self.all_hot else ()
        self.where = {self.flows[i]: i for i in places}  # of TCBs on chip
        self.truth: dict[int, int] = {}  # the last written TCB
        self.out: set[int] = set()  # evicted, not returned yet
        self.offer: Event | None = None
        self.looking: Event | None = None  # accepted, without output yet
        self.waiting: deque[Event] = deque()
        self.want: Event | None = None
        self.asked: deque[tuple[int, bool]] = deque()  # in order: flow, fresh
        self.to_save: deque[tuple[int, int]] = deque()  # evicted, not accepted by the memory
        self.pipeline: deque[Flight | None] = deque([None] * STAGES)
        self.reads: int | None = None  # the flow whose TCB is read
        self.used: dict[int, int] = {}  # by place: the cycle of its last use
        self.fetch_held = self.save_held = None
        self.patience = 0

    def some(self) -> Event:
        flow = self.rng.choice(self.among)
        return Event(flow, TOE.pack("event_t", {"flow": flow, "body": self.rng.getrandbits(300)}))

    # ---- inputs: first those independent of outputs, then the others ----

    def drive(self, *, more: bool) -> None:
        dut, rng, memory = self.dut, self.rng, self.memory
        comes, _, wants, brings, takes, done = self.odds
        if self.offer is None and more and rng.random() < comes:
            self.offer = self.some()
        dut.event_valid_i.value = self.offer is not None
        dut.event_i.value = self.offer.bits if self.offer else rng.getrandbits(300)
        missing = [e for e in self.waiting if e.flow not in self.where and not e.asked]
        if self.want is None and missing and rng.random() < wants:
            self.want = missing[0]
            self.want.asked = True
        dut.want_i.value = self.want is not None
        if self.want:
            dut.want_flow_i.value, dut.want_fresh_i.value = self.want.flow, self.want.fresh
        dut.flying_i.value = sum((f is not None) << i for i, f in enumerate(self.pipeline))
        dut.flying_flow_i.value = sum(f.flow << 16 * i for i, f in enumerate(self.pipeline) if f)
        last = self.pipeline[-1]
        self.writes = (last, rng.choice([rng.getrandbits(WIDTH), 0])) if last else None
        dut.write_i.value = last is not None
        dut.write_at_i.value = last.at if last else rng.randrange(HOT)
        dut.write_tcb_i.value = self.writes[1] if last else rng.getrandbits(WIDTH)
        self.fetch_ready, self.save_ready = rng.random() < brings, rng.random() < takes
        dut.fetch_ready_i.value, dut.save_ready_i.value = self.fetch_ready, self.save_ready
        memory.offered |= bool(memory.fetching) and rng.random() < brings
        dut.fetched_valid_i.value = memory.offered
        brought = memory.fetching[0] if memory.offered else rng.getrandbits(WIDTH)
        dut.fetched_i.value = brought
        self.saved = bool(memory.saving) and rng.random() < done
        dut.saved_i.value = self.saved

    async def settle(self) -> None:
        """Drives the inputs that fpc_wait computes in the same cycle: whether an event waits for
        the flow at the clock hand, and which event is issued when there is no hole."""
        dut, rng = self.dut, self.rng
        dut.pinned_i.value = dut.issue_i.value = 0
        await Timer(1, unit="ns")
        victim = dut.victim_o.value.to_unsigned()
        pinned = any(e.flow == victim for e in self.waiting)
        dut.pinned_i.value = pinned
        self.count["held"] += pinned
        await Timer(1, unit="ns")
        go = rng.random() < self.odds[1] and not dut.hole_o.value
        able = [e for e in self.waiting if self.may_go(e)] if go else []
        event = self.looking if dut.event_valid_o.value else None
        room = len(self.waiting) < PLACES
        self.went, self.took = (able[0] if able else None), event is not None and room
        if go and not able and event and self.may_go(event):
            self.went, self.took = event, True
        self.count["full"] += event is not None and not self.took
        dut.event_ready_i.value = self.took or (event is None and room)
        dut.issue_i.value = self.went is not None
        at = self.where[self.went.flow] if self.went else rng.randrange(HOT)
        dut.issue_at_i.value = at
        await ReadOnly()

    def may_go(self, event: Event) -> bool:
        """Returns whether an event may be issued: its TCB is on chip, the pipeline has none of its
        flow before the last stage, and no earlier event of the flow waits."""
        flies = [f.flow for f in list(self.pipeline)[:-1] if f]
        first = next((e for e in self.waiting if e.flow == event.flow), event)
        return event.flow in self.where and event.flow not in flies and first is event

    # ---- outputs ----

    def looks(self) -> None:
        """Checks the place of the TCB of the event in lookup."""
        dut, event = self.dut, self.looking
        if not self.all_hot:
            assert bool(dut.event_valid_o.value) == (event is not None), "an event is lost"
        if event is None or not dut.event_valid_o.value:
            return
        assert dut.event_o.value.to_unsigned() == event.bits, "an event has become another"
        assert bool(dut.hot_o.value) == (event.flow in self.where), "whether its TCB is here"
        if event.flow in self.where:
            assert dut.at_o.value.to_unsigned() == self.where[event.flow], "where its TCB is"
        else:
            assert bool(dut.fresh_o.value) == (event.flow not in self.out), "whether it had a TCB"
            event.fresh = event.flow not in self.out

    def reads_right(self) -> None:
        if self.reads is None:
            return
        want = self.truth.get(self.reads, 0)
        got = self.dut.tcb_o.value.to_unsigned()
        assert got == want, f"flow {self.reads} reads {got:x}, not {want:x}"

    def wanted(self) -> None:
        dut, memory = self.dut, self.memory
        want = self.want
        fetch = dut.fetch_flow_o.value.to_unsigned() if dut.fetch_valid_o.value else None
        if fetch is not None:
            assert want and want.flow == fetch and not want.fresh, "a TCB that nobody wants"
            on_way = [f for f, _ in [*self.to_save, *memory.saving]]
            assert fetch not in on_way, "a TCB is fetched that is not there yet"
            assert fetch not in [f for f, _ in self.asked], "a TCB is fetched twice"
            assert len(self.asked) < UNDER_WAY, "more is asked for than there is room for"
        assert self.fetch_held in (None, fetch), "a fetch is taken back"
        self.fetch_held = None if self.fetch_ready else fetch
        if not want or not dut.want_ready_o.value:
            return
        under_way = any(f == want.flow for f, _ in self.asked)
        self.count["doubled"] += under_way
        if not under_way:
            assert want.fresh or (fetch is not None and self.fetch_ready), "it is not on its way"
            assert len(self.asked) < UNDER_WAY, "more is asked for than there is room for"
            self.new_asked = (want.flow, want.fresh)
            if not want.fresh:
                memory.fetching.append(memory.content[want.flow])
                self.count["fetched"] += 1
        self.want = None

    def comes(self) -> int | None:
        """Returns the flow of the TCB that has arrived, if any."""
        dut, memory = self.dut, self.memory
        ready = bool(dut.fetched_ready_o.value)
        if not dut.came_o.value:
            assert self.all_hot or not (ready and memory.offered), "what was fetched is lost"
            return None
        assert self.asked, "a TCB comes that nobody asked for"
        flow, fresh = self.asked.popleft()
        at = dut.came_at_o.value.to_unsigned()
        assert dut.came_flow_o.value.to_unsigned() == flow, "TCBs come in another order"
        assert at not in self.where.values(), "a TCB comes where another is"
        assert flow not in self.where and self.writes is None, "it comes in the pipeline's cycle"
        assert (ready and memory.offered) or fresh, "what nobody brought comes"
        assert not (fresh and ready and memory.offered), "what was fetched is lost"
        if not fresh:
            memory.fetching.popleft()
            memory.offered = False
        self.count["fresh"] += fresh
        self.out.discard(flow)
        self.came = (flow, at)
        return flow

    def evicts(self) -> None:
        dut = self.dut
        if not dut.evicted_o.value:
            return
        victim = dut.victim_o.value.to_unsigned()
        assert victim in self.where, "nobody is evicted"
        assert not any(e.flow == victim for e in self.waiting), "an event waits for it"
        assert not any(f and f.flow == victim for f in self.pipeline), "the pipeline has it"
        seen = dut.event_valid_o.value and self.looking and self.looking.flow == victim
        assert not seen, "an event has just seen it here"
        assert dut.hole_o.value, "it is read while an event begins"
        at = self.where[victim]
        assert self.now - self.used.get(at, -1000) > 2 * HOT, "what was used just now is evicted"
        under_way = len(self.to_save) + len(self.memory.saving)
        assert under_way < UNDER_WAY, "more is saved than there is room for"
        self.gone = victim
        self.count["evicted"] += 1

    def saves(self) -> None:
        dut, memory = self.dut, self.memory
        said = None
        if dut.save_valid_o.value:
            said = dut.save_flow_o.value.to_unsigned(), dut.save_o.value.to_unsigned()
            assert self.to_save and said == self.to_save[0], "what is saved is not what was evicted"
        assert self.save_held in (None, said), "a save is taken back"
        self.save_held = None if self.save_ready else said
        if self.saved:
            flow, tcb = memory.saving.popleft()
            memory.content[flow] = tcb
        if said and self.save_ready:
            memory.saving.append(self.to_save.popleft())

    def let_in(self, came: int | None) -> None:
        """Checks that an arrived TCB is admitted if others can be evicted."""
        arrived = self.asked and (self.asked[0][1] or self.memory.offered)
        stuck = len(self.to_save) or len(self.memory.saving) >= UNDER_WAY
        self.patience = self.patience + 1 if arrived and not stuck and came is None else 0
        assert self.patience < 10 * HOT, "what has arrived is not let in"

    def ends(self, came: int | None) -> None:
        """Updates the model at the end of a cycle."""
        dut = self.dut
        self.now += 1
        if self.writes:
            flight, tcb = self.writes
            self.truth[flight.flow] = tcb
            self.count["forwarded"] += self.went is not None and self.went.flow == flight.flow
        self.reads = self.went.flow if self.went else None
        self.pipeline.pop()
        flight = Flight(self.went.flow, self.where[self.went.flow]) if self.went else None
        self.pipeline.appendleft(flight)
        if self.went:
            self.count["went"] += 1
            self.used[flight.at] = self.now - 1
            if self.went in self.waiting:
                self.waiting.remove(self.went)
        if self.took:
            if self.went is not self.looking:
                self.waiting.append(self.looking)
            self.looking = None
        if self.new_asked:
            self.asked.append(self.new_asked)
        if self.came:
            self.where[self.came[0]] = self.came[1]
            self.used[self.came[1]] = self.now - 1
            if self.want and self.want.flow == self.came[0]:
                self.want = None
        if self.gone is not None:
            self.to_save.append((self.gone, self.truth.get(self.gone, 0)))
            self.out.add(self.gone)
            del self.where[self.gone]
        if self.offer and dut.event_ready_o.value:
            if self.all_hot:
                assert self.took, "an event is taken that nobody takes"
            self.looking, self.offer = (None if self.all_hot else self.offer), None

    async def cycle(self, *, more: bool = True) -> None:
        self.new_asked = self.came = self.gone = None
        self.drive(more=more)
        if self.all_hot:
            self.looking = self.offer
        await self.settle()
        self.looks()
        self.reads_right()
        self.wanted()
        self.evicts()
        came = self.comes()
        self.saves()
        self.let_in(came)
        self.ends(came)
        await RisingEdge(self.dut.clk_i)

    async def restart(self) -> None:
        dut = self.dut
        self.begin()
        for name in ("want", "issue", "flying", "write", "fetched_valid", "saved"):
            getattr(dut, f"{name}_i").value = 0
        dut.event_valid_i.value = dut.event_ready_i.value = 1
        await reset(dut)
        for cleared in range(FLOWS):
            await ReadOnly()
            assert not dut.ready_o.value, f"it is ready, and {cleared} flows are without a TCB"
            assert not (dut.event_ready_o.value or dut.event_valid_o.value), "an event begins"
            assert not (dut.save_valid_o.value or dut.fetch_valid_o.value), "of before the reset"
            await RisingEdge(dut.clk_i)
        dut.event_valid_i.value = 0
        await ReadOnly()
        assert dut.ready_o.value
        await RisingEdge(dut.clk_i)


async def by_chance(bench: Bench, rng) -> None:
    """Runs phases with few or all flows at random paces; then checks that all work is completed."""
    for n in range(1500):
        if n % 150 == 0:
            bench.odds = [rng.choice([0.05, 0.5, 0.9, 1]) for _ in range(6)]
            bench.among = rng.sample(bench.flows, rng.choice([2, 5, 12, 18, 30, FLOWS]))
        await bench.cycle()
    bench.odds = [1] * 6
    for _ in range(400):
        await bench.cycle(more=False)
    left = (bench.offer, bench.looking, bench.want)
    assert left == (None,) * 3 and not bench.waiting, "an event is lost"
    assert not (bench.asked or bench.to_save or bench.memory.saving), "a TCB is lost"
    bench.odds = [1, 1, 1, 0.9, rng.choice([0.05, 0.9]), rng.choice([0.02, 0.5])]
    for _ in range(rng.randrange(50, 150)):
        await bench.cycle()  # work is pending at the next reset


@cocotb.test()
async def tcbs_come_and_go(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    for _ in range(12):
        await bench.restart()
        await by_chance(bench, rng)
    if bench.all_hot:
        assert min(bench.count[name] for name in ("went", "forwarded", "full")) > 100, bench.count
        assert bench.count["evicted"] == bench.count["fetched"] == 0
    else:
        assert min(bench.count.values()) > 100, bench.count


@cocotb.test()
async def who_arrives_is_let_in(dut):
    """Issues events of flows on chip in each cycle: other TCBs must be admitted nevertheless."""
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    if bench.all_hot:
        return
    await bench.restart()
    here = bench.flows[: STAGES + 1]
    bench.odds = [1] * 6
    for n in range(6000):
        bench.among = [here[n % len(here)]]
        if n % 100 == 99:
            bench.among = [rng.choice(bench.flows)]
        await bench.cycle()
    assert bench.count["went"] > 5500 and bench.count["evicted"] > 20, bench.count


def test_tcbs():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


def test_all_hot():
    simulate(LISTS, TOP, MODULE, parameters=ALL_HOT)


FAULTS = {
    "an evicted TCB is of another FPC's flow": (
        "return (flow_t'(index) << FpcBits) | flow_t'(Fpc);",
        "return (flow_t'(index) << FpcBits) | flow_t'(0);",
    ),
    "after reset half the flows have a TCB": (
        "if (clear_q == '1) clearing_q <= 1'b0;",
        "if (clear_q[IndexBits-2:0] == '1) clearing_q <= 1'b0;",
    ),
    "what is on its way is noted behind what has just come to be there": (
        "saving_q[2'(saving_n_q - 3'(saved_i))] <= victim;", "saving_q[2'(saving_n_q)] <= victim;",
    ),
    "five are on their way to the memory": (
        "wire save_room = !save_q && !save_full_q && !saving_n_q[2];",
        "wire save_room = !save_q && !save_full_q;",
    ),
    "one is evicted before the last is taken": (
        "wire save_room = !save_q && !save_full_q && !saving_n_q[2];",
        "wire save_room = !save_q && !saving_n_q[2];",
    ),
    "a fifth TCB is asked for": (
        "wire room = !asked_n_q[AskedBits];",
        "wire room = !asked_n_q[AskedBits] || asked_q[Asked-1].fresh;",
    ),
    "a TCB that comes while another is asked for leaves a gap": (
        "asked_d[AskedBits'(asked_n_d)] =", "asked_d[AskedBits'(asked_n_q)] =",
    ),
    "what was fetched is taken when one comes that never was": (
        "assign fetched_ready_o = comes && !asked_q[0].fresh;", "assign fetched_ready_o = comes;",
    ),
    "what an event has just used is evicted": (
        "      if (issue_i) used_q[issue_at_i] <= 1'b1;\n", "",
    ),
    "the hand forgets what was used in the cycle in which it passes": (
        "      if (pass) used_q[hand_q] <= 1'b0;\n      if (issue_i) used_q[issue_at_i] <= 1'b1;",
        "      if (issue_i) used_q[issue_at_i] <= 1'b1;\n      if (pass) used_q[hand_q] <= 1'b0;",
    ),
    "no hole for what has arrived": (
        "wire wants_hole = arrived && write_i && !hole_q;", "wire wants_hole = 1'b0;",
    ),
    "an eviction is counted until its TCB is taken": (
        "assign evicted_o = takes;", "assign evicted_o = takes || save_full_q;",
    ),
    "reset leaves a TCB to be saved": (
        "        save_q <= 1'b0;\n        save_full_q <= 1'b0;", "        save_q <= 1'b0;",
    ),
    "reset leaves places taken": (
        "        never_q <= '0;\n        spare_q <= 1'b0;", "        spare_q <= 1'b0;",
    ),
    "reset leaves fetches under way": (
        "asked_n_q <= rst_ni ? asked_n_d : '0;", "asked_n_q <= asked_n_d;",
    ),
    "reset leaves evictions under way": (
        "saving_n_q <= rst_ni ? saving_n_q + 3'(evict) - 3'(saved_i) : 3'd0;",
        "saving_n_q <= saving_n_q + 3'(evict) - 3'(saved_i);",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on an fpc_tcbs with this fault."""
    fault = ("src/toe/rtl/fpc_tcbs.sv", *FAULTS[why])
    finds(fault, LISTS, TOP, MODULE, parameters=PARAMETERS)


ALL_FAULTS = {
    "all are on chip, and reset leaves their TCBs": (
        ".wdata_i(clearing_q ? '0 : write_tcb_i),\n      .raddr_i(issue_at_i),",
        ".wdata_i(write_tcb_i),\n      .raddr_i(issue_at_i),",
    ),
    "all are on chip, and two flows have one place": (
        "assign at_o = at_t'(index_t'(event_i.flow >> FpcBits));",
        "assign at_o = at_t'(index_t'(event_i.flow));",
    ),
    "events begin before the memory is cleared": (
        "assign event_ready_o = event_ready_i && !clearing_q;",
        "assign event_ready_o = event_ready_i;",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", ALL_FAULTS)
def test_finds_all_hot(why):
    """The tests fail on an fpc_tcbs with as many places as flows and this fault."""
    fault = ("src/toe/rtl/fpc_tcbs.sv", *ALL_FAULTS[why])
    finds(fault, LISTS, TOP, MODULE, parameters=ALL_HOT)
