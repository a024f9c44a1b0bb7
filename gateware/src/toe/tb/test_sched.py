# SPDX-License-Identifier: Apache-2.0
"""Scheduling of events to the FPCs: each arrives once, at its flow's FPC, in order per source, and
segments are not starved by other events."""

from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate

FPCS = 2
SEGMENT, TIMER = 0, 2
BEFORE = 2  # places before each FPC
SOURCES = ("hit", "command", "conn")


class Sources:
    """The pending event of each source, and the events that each FPC must still receive."""

    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.body = len(dut.command_i) - 26  # kind, flow, queue pair; then the body
        self.offered = dict.fromkeys(SOURCES)
        self.due = [None] * FPCS
        self.want = [{name: deque() for name in (*SOURCES, "due")} for _ in range(FPCS)]
        self.serial = 0

    def event(self, kind: int, flow: int, qp: int, body: int) -> int:
        return ((kind << 16 | flow) << 6 | qp) << self.body | body

    def new(self, name: str) -> tuple[int, int]:
        """Returns a flow and its event, whose body has a unique number."""
        self.serial += 1
        flow, qp = self.rng.getrandbits(16), self.rng.getrandbits(6)
        body = self.rng.getrandbits(self.body - 32) << 32 | self.serial
        if name == "hit":
            return flow, self.event(SEGMENT, flow, 0, body)
        return flow, self.event(1 if name == "command" else 5, flow, qp, body)

    def offer(self, chance: float) -> None:
        dut, rng = self.dut, self.rng
        for name in SOURCES:
            if self.offered[name] is None and rng.random() < chance:
                self.offered[name] = self.new(name)
        for f in range(FPCS):
            if self.due[f] is None and rng.random() < chance:
                self.due[f] = rng.getrandbits(15) << 1 | f
        flow, event = self.offered["hit"] or (rng.getrandbits(16), 0)
        dut.hit_valid_i.value = self.offered["hit"] is not None
        dut.hit_flow_i.value = flow
        above = rng.getrandbits(len(dut.hit_i) - self.body)  # of the packet, unused by the FPC
        dut.hit_i.value = above << self.body | event & (1 << self.body) - 1
        for name in ("command", "conn"):
            getattr(dut, f"{name}_valid_i").value = self.offered[name] is not None
            getattr(dut, f"{name}_i").value = (self.offered[name] or (0, 0))[1]
        dut.due_valid_i.value = sum(1 << f for f in range(FPCS) if self.due[f] is not None)
        dut.due_flow_i.value = sum((self.due[f] or 0) << 16 * f for f in range(FPCS))

    def taken(self) -> None:
        for name in SOURCES:
            if self.offered[name] and getattr(self.dut, f"{name}_ready_o").value:
                flow, event = self.offered[name]
                self.want[flow % FPCS][name].append(event)
                self.offered[name] = None
        for f in range(FPCS):
            if self.due[f] is not None and self.dut.due_ready_o.value.to_unsigned() >> f & 1:
                self.want[f]["due"].append(self.event(TIMER, self.due[f], 0, 0))
                self.due[f] = None


@cocotb.test()
async def each_event_arrives_once_and_in_order(dut):
    rng = seeded()
    for name in ("hit_valid", "command_valid", "conn_valid", "due_valid", "event_ready"):
        getattr(dut, f"{name}_i").value = 0
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    sources = Sources(dut, rng)
    width = len(dut.command_i)
    count = dict.fromkeys((*SOURCES, "due"), 0)
    passed = [dict.fromkeys((*SOURCES, "due"), 0) for _ in range(FPCS)]
    chance = ready = [1.0] * FPCS
    for n in range(5000):
        if n % 100 == 0:
            chance = rng.choice([0.1, 0.5, 1])
            ready = [rng.choice([0, 0.3, 1]) for _ in range(FPCS)]
        ending = n >= 4900
        sources.offer(0 if ending else chance)
        goes = [ending or rng.random() < ready[f] for f in range(FPCS)]
        dut.event_ready_i.value = sum(1 << f for f in range(FPCS) if goes[f])
        await ReadOnly()
        waited = [bool(sources.want[f]["hit"]) for f in range(FPCS)]
        sources.taken()
        for f in range(FPCS):
            if not (goes[f] and dut.event_valid_o.value.to_unsigned() >> f & 1):
                continue
            event = dut.event_o.value.to_unsigned() >> width * f & (1 << width) - 1
            found = [name for name, queue in sources.want[f].items() if queue and queue[0] == event]
            assert found, f"FPC {f} got {event:x}, which nobody sent"
            name = found[0]
            sources.want[f][name].popleft()
            count[name] += 1
            # Segments have their own queue; at most three other events precede them, beside those
            # already queued at the FPC.
            passed[f]["hit"] = 0 if name == "hit" or not waited[f] else passed[f]["hit"] + 1
            assert passed[f]["hit"] <= 3 + BEFORE, "segments wait while all others pass"
        await RisingEdge(dut.clk_i)
    assert not any(sources.offered.values()), "a source waits for nothing"
    assert not any(queue for want in sources.want for queue in want.values()), "an event is lost"
    assert all(n > 200 for n in count.values()), count


def test_sched():
    simulate(
        ["src/toe/toe_sched.f"],
        "toe_sched",
        "gateware.src.toe.tb.test_sched",
        parameters={"FpcBits": 1},
    )
