# SPDX-License-Identifier: Apache-2.0
"""A flow processing core: events in; segments, payload, commands, messages and TCBs out. It runs a
hundred concurrent connections, more than TCBs on chip, from SYN to RELEASE, including resets and
purges, each with a peer and a host (fpc_world). All sides withhold ready at random. The test checks
what peers, hosts and memory receive, not the timing."""

from collections import Counter, deque

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge, Timer

from gateware.lib.bench import Offers, begin, finds, reset, seeded, simulate
from gateware.src.toe.tb.contract import AROUND, HW, TICK, TOE, parts
from gateware.src.toe.tb.fpc_world import KIND, QP_OF, Flow

FLOW_BITS, HOT_BITS = 7, 6
FLOWS, QPS = 1 << FLOW_BITS, (1 << FLOW_BITS) // QP_OF
LISTS, TOP, MODULE = ["src/toe/toe_fpc.f"], "toe_fpc", "gateware.src.toe.tb.test_fpc"
PARAMETERS = {"FlowBits": FLOW_BITS, "HotBits": HOT_BITS}


class World:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.now = rng.getrandbits(62)
        self.ticks: deque[int] = deque([self.tick()], 3000)  # cycles: no segment waits longer
        self.count: Counter = Counter()
        self.writes = Offers(dut, "write")
        self.segments = Offers(dut, "tx")
        self.messages = Offers(dut, "conn")
        self.fetches = Offers(dut, "fetch", "fetch_flow_o")
        self.saves = Offers(dut, "save", "save_flow_o")
        self.begin()

    def begin(self) -> None:
        self.flows = [Flow(self, i) for i in range(FLOWS)]
        self.busy: set[int] = set()  # in use, or with outputs pending
        self.buffers = set(range(1024))
        self.position = self.rng.getrandbits(32)
        self.to_do = [0] * QPS  # commands accepted, not reported as done
        self.offer: tuple[Flow | None, dict, object] | None = None
        self.deadlines: dict[int, int] = {}
        self.due: deque[int] = deque()
        self.places = [0] * QPS  # HW ring entries held by the FPC
        self.memory: dict[int, int] = {}
        self.saving: deque[tuple[int, int]] = deque()
        self.fetching: deque[int] = deque()
        self.fetched: int | None = None
        self.seen: Counter = Counter()  # the expected counters
        self.said: Counter = Counter()
        self.drained: set[int] = set()
        self.odds, self.calm, self.idle = 0.5, False, 0
        self.full: set[int] = set()
        self.turn, self.turns = 0, 1  # toe_hwroom polls this FPC every `turns` cycles
        for stream in (self.writes, self.segments, self.messages, self.fetches, self.saves):
            stream.forget()

    # ---- for the flows ----

    def tick(self) -> int:
        return self.now // TICK % AROUND

    def buffer(self) -> int | None:
        return self.buffers.pop() if self.buffers else None

    def drops(self, flow: Flow) -> None:
        """Drops pending segments of an ended flow: its tuple is no longer in the table."""
        for event, meaning in list(flow.events):
            if event["kind"] == KIND["EvSegment"] and (
                self.offer is None or self.offer[1] is not event
            ):
                flow.events.remove((event, meaning))
                self.buffers.add(meaning[0])

    def purge(self, flow: Flow) -> None:
        self.drops(flow)
        kept = [e for e in flow.events if self.offer and self.offer[1] is e[0]]
        flow.events.clear()
        flow.events.extend(kept)
        flow.events.append(({"kind": KIND["EvPurge"]}, None))
        flow.peer_over = flow.purging = True
        self.count["purged"] += 1

    # ---- the environment ----

    def outside(self) -> None:
        rng = self.rng
        self.now += rng.choice([0, 100, 1000, 20000])
        # Peers have time to answer before the next deadline.
        if self.deadlines and (self.idle > 100 if self.calm else rng.random() < 0.01):
            self.idle = 0
            first = min(self.deadlines.values(), key=self.ahead)
            self.now += max(self.ahead(first), 0) * TICK
        self.ticks.append(self.tick())
        for index, at in list(self.deadlines.items()):
            if self.ahead(at) <= 0:
                del self.deadlines[index]
                self.due.append(index)
        if not self.calm and len(self.busy) < 100 and rng.random() < 0.1:
            flow = self.flows[rng.randrange(FLOWS)]
            if flow.index not in self.busy:
                flow.open()
                self.busy.add(flow.index)
                self.count["opened"] += 1
        for index in rng.sample(sorted(self.busy), min(4, len(self.busy))):
            flow = self.flows[index]
            if flow.free or flow.purging:
                continue
            flow.peer()
            flow.host()
            if flow.fate == "silent" and not flow.over and rng.random() < 0.001:
                flow.events.append(({"kind": KIND["EvReset"]}, None))
                flow.fate = "unlistened"
            elif rng.random() < 0.0003 and flow.begun and not (flow.over or flow.released):
                self.purge(flow)
        self.full = {q for q in self.full if rng.random() < 0.995 and not self.calm}
        if rng.random() < 0.002:
            self.full.add(rng.randrange(QPS))

    def ahead(self, at: int) -> int:
        return (at - self.tick() + AROUND // 2) % AROUND - AROUND // 2

    def next_event(self) -> None:
        rng = self.rng
        if self.offer is not None or rng.random() >= self.odds:
            return
        if self.due and rng.random() < 0.5:
            self.offer = (None, {"kind": KIND["EvTimer"], "flow": self.due.popleft()}, None)
            return
        able = [i for i in self.busy if self.flows[i].events]
        if not able:
            return
        flow = self.flows[rng.choice(sorted(able))]
        event, meaning = flow.events[0]
        event |= {"flow": flow.index, "qp": flow.qp}
        self.offer = (flow, event, meaning)

    def drive(self) -> None:
        dut, rng = self.dut, self.rng
        dut.now_i.value = self.now % (1 << 64)
        dut.event_valid_i.value = self.offer is not None
        if self.offer:
            dut.event_i.value = TOE.pack("event_t", self.offer[1])
        for stream in (self.writes, self.segments, self.messages, self.fetches, self.saves):
            stream.take(rng.random() < self.odds)
        if self.fetched is None and self.fetching and rng.random() < self.odds:
            self.fetched = self.fetching.popleft()
        dut.fetched_valid_i.value = self.fetched is not None
        if self.fetched is not None:
            dut.fetched_i.value = self.memory[self.fetched]
        saved = bool(self.saving) and rng.random() < self.odds
        if saved:
            index, tcb = self.saving.popleft()
            self.memory[index] = tcb
        dut.saved_i.value = saved

    # ---- outputs ----

    def sees(self, grants: bool) -> None:
        dut = self.dut
        self.idle += 1
        if self.offer and dut.event_ready_o.value:
            self.idle = 0
            flow, event, meaning = self.offer
            if flow is not None:
                assert flow.events.popleft()[0] is event
                flow.taken(event, meaning)
            self.offer = None
        if dut.tell_take_o.value:
            assert grants, "a place that was not granted"
            self.places[dut.tell_qp_o.value.to_unsigned()] += 1
        if dut.tell_return_o.value:
            self.gives_back(dut.tell_return_qp_o.value.to_unsigned())
            self.count["places back"] += 1
        if dut.done_o.value:
            qp = dut.done_qp_o.value.to_unsigned()
            self.to_do[qp] -= 1
            assert self.to_do[qp] >= 0, "a command is done that nobody gave"
        if dut.timer_write_o.value:
            index = dut.timer_flow_o.value.to_unsigned()
            self.deadlines.pop(index, None)
            if dut.timer_on_o.value:
                self.deadlines[index] = dut.timer_at_o.value.to_unsigned()
        counts = dut.counts_o.value.to_unsigned()
        if counts:
            for name, value in TOE.unpack("fpc_counts_t", counts).items():
                self.said[name] += value
        self.sees_memory()
        self.sees_streams()

    def gives_back(self, qp: int) -> None:
        self.places[qp] -= 1
        assert self.places[qp] >= 0, "a place is used that nobody had"

    def sees_memory(self) -> None:
        dut = self.dut
        if self.fetched is not None and dut.fetched_ready_o.value:
            self.fetched = None
        if said := self.fetches.sees():
            assert said[0] in self.memory, "a TCB that was never saved"
            assert said[0] not in [i for i, _ in self.saving], "what is not there yet is fetched"
            self.fetching.append(said[0])
            self.seen["fetched"] += 1
        if said := self.saves.sees():
            tcb, index = said
            t = TOE.unpack("tcb_t", tcb)
            flow = self.flows[index]
            assert t["qp"] == flow.qp or t["state"] == KIND["StClosed"], "another flow's TCB"
            self.saving.append((index, tcb))
            self.seen["evicted"] += 1

    def sees_streams(self) -> None:
        if said := self.segments.sees():
            d = TOE.unpack("tx_desc_t", said[0])
            flow = self.flows[d["flow"]]
            assert flow.index in self.busy, "a segment of no flow"
            flow.sent(d)
            self.seen["segment_sent"] += 1
            self.seen["rst_sent"] += d["flags"]["rst"]
            if not flow.peer_over and self.rng.random() < 0.97:
                flow.receives(d)
        if said := self.writes.sees():
            self.write(TOE.unpack("write_t", said[0]))
        if said := self.messages.sees():
            m = TOE.unpack("conn_msg_t", said[0])
            self.flows[m["flow"]].message(m)
            self.count["messages"] += 1
            self.count["time-wait"] += m["kind"] == KIND["CnTimeWait"]
        # A free flow begins again when no queue holds outputs of its last life.
        for stream in (self.writes, self.segments):
            if not stream.valid.value:
                self.drained |= {(stream.name, i) for i in self.busy if self.flows[i].free}
        for index in list(self.busy):
            flow = self.flows[index]
            over = {("write", index), ("tx", index)}
            if flow.free and over <= self.drained and not (flow.places or flow.events):
                assert not flow.commands, "a wrong command is not refused"
                assert flow.fate != "refuse" or flow.failed or flow.purged, "no CONNECT_FAILED"
                self.drained -= over
                self.busy.discard(index)
                self.count[flow.fate] += 1
                self.count["untold"] += flow.established and not flow.known

    def write(self, job: dict) -> None:
        flow = self.flows[job["flow"]]
        assert flow.index in self.busy, "something of no flow"
        if job["kind"] == KIND["WrPlace"]:
            self.buffers.add(flow.place(job))
            return
        assert job["qp"] == flow.qp
        flow.hears(job)
        kind = parts(job["cmd"])["kind"]
        self.count["heard"] += 1
        if kind == HW["ERROR"]:
            self.seen["bad_command"] += 1
        else:
            self.gives_back(job["qp"])
            self.seen["established"] += kind in (
                HW["LISTEN_ESTABLISHED"],
                HW["CONNECT_ESTABLISHED"],
            )
        if job["record"]:
            self.record(flow, job["tcb"])

    def record(self, flow: Flow, t: dict) -> None:
        """Checks the TCB that is written to the flow's record."""
        assert (t["qp"], t["v6"], t["own_mss"]) == (flow.qp, flow.v6, flow.own_mss)
        assert (t["iss"], t["irs"]) == (flow.iss, flow.irs)
        assert t["rcv_nxt"] <= AROUND and (t["tx_log"], t["rx_log"]) == (flow.tx_log, flow.rx_log)
        assert (t["ts"], t["sack"], t["ws"]) == (flow.ts, flow.sack, flow.ws)
        assert t["mss"] == flow.mss and (t["rcv_read"] - flow.irs - 1) % AROUND <= flow.read
        end = (t["snd_end"] - flow.iss - 1) % AROUND
        assert end <= flow.out_said and (t["snd_una"] - flow.iss - 1) % AROUND <= end + 1
        self.count["records"] += 1

    async def cycle(self) -> None:
        dut = self.dut
        self.outside()
        self.next_event()
        self.drive()
        await Timer(1, unit="ns")  # requests for ring entries change with the clock
        grants = refuses = False
        self.turn = (self.turn + 1) % self.turns
        if dut.tell_valid_o.value and self.turn == 0 and self.rng.random() < self.odds:
            grants = dut.tell_qp_o.value.to_unsigned() not in self.full
            refuses = not grants
        dut.tell_grant_i.value, dut.tell_refuse_i.value = grants, refuses
        await ReadOnly()
        self.sees(grants)
        await RisingEdge(dut.clk_i)


async def life(world: World, cycles: int) -> None:
    for n in range(cycles):
        if n % 200 == 0:
            world.odds = world.rng.choice([0.2, 0.6, 0.95, 1])
            world.turns = world.rng.choice([1, 1, 2, 3, 4])
        await world.cycle()


async def ends(world: World) -> None:
    """Runs until all flows have ended."""
    world.odds, world.calm = 1, True
    for _ in range(40000):
        await world.cycle()
        if not world.busy and world.offer is None:
            break
    left = [(i, f.fate, f.closed, vars(f)) for i, f in enumerate(world.flows) if i in world.busy]
    assert not left, f"{len(left)} flows never end, so {left[0]}"
    for _ in range(300):
        await world.cycle()
    assert len(world.buffers) == 1024, "a packet buffer is lost"
    assert not any(world.places), "a place in a HW ring is lost"
    assert not any(world.to_do), "a command is never done"
    for name, value in world.seen.items():
        # A flow purged at that moment is established without a notification to its host.
        most = value + (world.count["untold"] if name == "established" else 0)
        assert value <= world.said[name] <= most, (
            f"{name} is counted {world.said[name]}, not {value}"
        )
    world.count += world.said


@cocotb.test()
async def connections_from_syn_to_release(dut):
    rng = seeded()
    dut.gone_i.value = dut.drain_i.value = 0
    await begin(dut)
    world = World(dut, rng)
    await life(world, 400)
    world.begin()  # reset in the middle of handshakes
    dut.event_valid_i.value = dut.fetched_valid_i.value = dut.saved_i.value = 0
    await reset(dut)
    await life(world, 9000)
    await ends(world)
    count = world.count
    print(dict(count))
    fates = ("close", "peer", "abort", "reset", "refuse", "silent", "purged", "time-wait")
    assert min(count[f] for f in fates) > 1, count
    happened = ("resent", "timeout", "fast_recovery", "evicted", "fetched", "bad_command", "probe")
    assert min(count[f] for f in happened) > 3 and count["established"] > 100, count


def test_fpc():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


FAULTS = {
    "payload of a segment is placed where the one before it ended": (
        "src/toe/rtl/fpc_text.sv",
        "    c.text.to = in.text.seq - in.t.irs - 32'd1;",
        "    c.text.to = in.t.rcv_nxt - in.t.irs - 32'd1;",
    ),
    "more is sent than the peer has room for": (
        "src/toe/rtl/fpc_plan.sv",
        "    else c.plan.width = room_full ? p.room : full;",
        "    else c.plan.width = (room_full && p.room > 32'd64) ? p.room : full;",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on an FPC with this fault."""
    finds(FAULTS[why], LISTS, TOP, MODULE, parameters=PARAMETERS)
