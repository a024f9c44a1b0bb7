# SPDX-License-Identifier: Apache-2.0
"""Random moves of TCBs to a memory and back. An FPC fetches the TCB last saved for the flow, or a
closed one after a memory error. Each save is confirmed to its FPC once and in order. The memory
delays addresses and data, and answers reads of several FPCs in any order and interleaved. FPCs
delay ready."""

from collections import deque

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, finds, reset, seeded, simulate

FPC_BITS, WIDTH, BASE = 1, 1100, 0x12_3400_0000
FPCS, BEATS, BYTES = 1 << FPC_BITS, 3, 256  # a TCB: beats of a burst, bytes of its place
FLOWS = 12
LISTS, TOP, MODULE = ["src/toe/toe_dram.f"], "toe_dram", "gateware.src.toe.tb.test_dram"
PARAMETERS = {"Width": WIDTH, "FpcBits": FPC_BITS, "Base": f"64'h{BASE:x}"}
LINE = (1 << 512) - 1


def lanes(values, width: int) -> int:
    return sum(int(value) << width * i for i, value in enumerate(values))


class Fpc:
    """The flows of one FPC: each TCB is on chip or in memory, as in fpc_tcbs."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.flows = [index + FPCS * i for i in range(FLOWS)] + [65536 - FPCS + index]
        self.begin()

    def begin(self) -> None:
        self.fetch: int | None = None  # requested, not accepted
        self.save: tuple[int, int] | None = None
        self.saving: deque[int] = deque()  # accepted, not saved yet
        self.fetching: deque[int] = deque()
        self.brought: deque[list] = deque()  # completely read: flow, data, bad beats
        self.offered = False
        self.there = 0  # saved, not confirmed yet
        self.waits = {"fetch": 0, "save": 0}

    def wants(self, rng, odds: float) -> None:
        free = [f for f in self.flows if f not in self.saving]
        if self.fetch is None and free and len(self.fetching) < 8 and rng.random() < odds:
            held = self.save[0] if self.save else None
            self.fetch = rng.choice([f for f in free if f != held] or [None])
        if self.save is None and rng.random() < odds:
            flying = [*self.fetching, self.fetch, *self.saving]
            flow = rng.choice([f for f in self.flows if f not in flying] or [None])
            self.save = None if flow is None else (flow, rng.getrandbits(WIDTH))


class Memory:
    """Bursts of one TCB each; data are read when the burst is accepted."""

    def __init__(self) -> None:
        self.content: dict[int, int] = {}  # flow: its TCB
        self.begin()

    def begin(self) -> None:
        self.reads: list[deque] = [deque() for _ in range(FPCS)]  # [flow, data, bad beats, beat]
        self.addresses: deque[int] = deque()
        self.lines: deque[int] = deque()
        self.answers: deque[int] = deque()
        self.expected: deque[tuple[int, int, int]] = deque()  # FPC, flow, TCB, as accepted
        self.ar_held = self.aw_held = self.w_held = self.r_now = None
        self.answering = False


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.fpcs = [Fpc(i) for i in range(FPCS)]
        self.memory = Memory()
        self.odds = [0.5] * 4
        self.count = dict.fromkeys(("fetched", "saved", "refused", "bad", "mixed", "seen"), 0)
        self.count["seen bad"] = 0

    def drive(self, *, more: bool) -> None:
        dut, rng, memory = self.dut, self.rng, self.memory
        asks, takes, ready, answers = self.odds
        for fpc in self.fpcs:
            fpc.wants(rng, asks if more else 0)
        fetches = [fpc.fetch for fpc in self.fpcs]
        saves = [fpc.save for fpc in self.fpcs]
        dut.fetch_valid_i.value = lanes((f is not None for f in fetches), 1)
        dut.fetch_flow_i.value = lanes((f or 0 for f in fetches), 16)
        dut.save_valid_i.value = lanes((s is not None for s in saves), 1)
        dut.save_flow_i.value = lanes((s[0] if s else 0 for s in saves), 16)
        dut.save_i.value = lanes((s[1] if s else 0 for s in saves), WIDTH)
        self.takes = [rng.random() < takes for _ in range(FPCS)]
        dut.fetched_ready_i.value = lanes(self.takes, 1)
        self.ar_ready, self.aw_ready, self.w_ready = (rng.random() < ready for _ in range(3))
        dut.m_arready_i.value, dut.m_awready_i.value = self.ar_ready, self.aw_ready
        dut.m_wready_i.value = self.w_ready
        if memory.r_now is None and rng.random() < answers:
            some = [i for i in range(FPCS) if memory.reads[i]]
            memory.r_now = rng.choice(some) if some else None
        dut.m_rvalid_i.value = memory.r_now is not None
        if memory.r_now is not None:
            _, data, bad, beat = memory.reads[memory.r_now][0]
            dut.m_rid_i.value = memory.r_now
            # The bits after the TCB are random.
            dut.m_rdata_i.value = data >> 512 * beat & LINE
            dut.m_rresp_i.value = rng.choice([2, 3]) if beat in bad else rng.choice([0, 1])
        memory.answering = bool(memory.answers) and rng.random() < answers
        self.refuses = memory.answering and rng.random() < 0.05
        dut.m_bvalid_i.value = memory.answering
        dut.m_bresp_i.value = rng.choice([2, 3]) if self.refuses else rng.choice([0, 1])

    # ---- reads ----

    def fetches(self) -> None:
        dut, rng, memory = self.dut, self.rng, self.memory
        if dut.m_arvalid_o.value:
            said = (dut.m_araddr_o.value.to_unsigned(), int(dut.m_arid_o.value))
            assert memory.ar_held in (None, said), "an address became another"
            assert dut.m_arlen_o.value.to_unsigned() == BEATS - 1
            memory.ar_held = None if self.ar_ready else said
            if self.ar_ready:
                flow, rest = divmod(said[0] - BASE, BYTES)
                assert rest == 0 and flow in self.fpcs[said[1]].fetching, "what nobody fetches"
                bad = {rng.randrange(BEATS)} if rng.random() < 0.1 else set()
                data = memory.content.get(flow, rng.getrandbits(512 * BEATS))
                memory.content.setdefault(flow, data)
                memory.reads[said[1]].append([flow, data, bad, 0])
        else:
            assert memory.ar_held is None, "an address was taken back"
        valid = dut.fetched_valid_o.value.to_unsigned()
        for fpc in self.fpcs:
            if valid >> fpc.index & 1:
                assert fpc.brought, "a TCB that nobody fetched, or not all of it"
                flow, data, bad = fpc.brought[0]
                tcb = dut.fetched_o.value.to_unsigned() >> WIDTH * fpc.index & (1 << WIDTH) - 1
                want = 0 if bad else data & (1 << WIDTH) - 1
                assert tcb == want, f"flow {flow} is another"
                fpc.offered = not self.takes[fpc.index]
                if self.takes[fpc.index]:
                    fpc.brought.popleft()
                    fpc.fetching.popleft()
                    self.count["fetched"] += 1
                    self.count["bad"] += bool(bad)
            else:
                assert not fpc.offered, "a TCB is taken back"
        if memory.r_now is not None and dut.m_rready_o.value:
            read = memory.reads[memory.r_now][0]
            self.count["mixed"] += any(
                r and r[0][3] for r in memory.reads if r and r[0] is not read
            )
            self.count["refused"] += read[3] in read[2]
            read[3] += 1
            if read[3] == BEATS:
                memory.reads[memory.r_now].popleft()
                self.fpcs[memory.r_now].brought.append(read[:3])
            memory.r_now = None
        taken = dut.fetch_ready_o.value.to_unsigned()
        for fpc in self.fpcs:
            if fpc.fetch is not None and taken >> fpc.index & 1:
                fpc.fetching.append(fpc.fetch)
                fpc.fetch = None
                for other in self.fpcs:
                    other.waits["fetch"] += other.fetch is not None
                fpc.waits["fetch"] = 0
            assert fpc.waits["fetch"] < FPCS, "one fetches, and the other waits"
        self.count["seen"] += bool(dut.read_error_o.value)

    # ---- writes ----

    def saves(self) -> None:
        dut, memory = self.dut, self.memory
        if dut.m_awvalid_o.value:
            said = dut.m_awaddr_o.value.to_unsigned()
            assert memory.aw_held in (None, said), "an address became another"
            assert dut.m_awlen_o.value.to_unsigned() == BEATS - 1
            memory.aw_held = None if self.aw_ready else said
            if self.aw_ready:
                memory.addresses.append(said)
        else:
            assert memory.aw_held is None, "an address was taken back"
        if dut.m_wvalid_o.value:
            beat = dut.m_wdata_o.value.to_unsigned(), bool(dut.m_wlast_o.value)
            assert memory.w_held in (None, beat), "a beat became another"
            memory.w_held = None if self.w_ready else beat
            if self.w_ready:
                memory.lines.append(beat[0])
                assert beat[1] == (len(memory.lines) % BEATS == 0), "which beat is the last"
        else:
            assert memory.w_held is None, "a beat was taken back"
        saved = dut.saved_o.value.to_unsigned()
        if memory.answering:
            self.fpcs[memory.answers.popleft()].there += 1
        for fpc in self.fpcs:
            if saved >> fpc.index & 1:
                assert fpc.there, "what is not there yet is told of, or another's"
                fpc.there -= 1
                fpc.saving.popleft()
                self.count["saved"] += 1
        while memory.addresses and len(memory.lines) >= BEATS:
            fpc, flow, tcb = memory.expected.popleft()
            data = sum(memory.lines.popleft() << 512 * i for i in range(BEATS))
            assert memory.addresses.popleft() == BASE + flow * BYTES, "where a TCB goes"
            assert data & (1 << WIDTH) - 1 == tcb, "another TCB"
            memory.content[flow] = data
            memory.answers.append(fpc)
        taken = dut.save_ready_o.value.to_unsigned()
        for fpc in self.fpcs:
            if fpc.save and taken >> fpc.index & 1:
                memory.expected.append((fpc.index, *fpc.save))
                fpc.saving.append(fpc.save[0])
                fpc.save = None
                for other in self.fpcs:
                    other.waits["save"] += other.save is not None
                fpc.waits["save"] = 0
            assert fpc.waits["save"] < FPCS, "one saves, and the other waits"
        self.count["seen bad"] += bool(dut.write_error_o.value)
        self.count["bad writes"] = self.count.get("bad writes", 0) + self.refuses

    async def cycle(self, *, more: bool = True) -> None:
        self.drive(more=more)
        await ReadOnly()
        self.fetches()
        self.saves()
        await RisingEdge(self.dut.clk_i)

    async def restart(self) -> None:
        """Resets during operation and discards outstanding accesses."""
        dut = self.dut
        for fpc in self.fpcs:
            fpc.begin()
        self.memory.begin()
        dut.fetch_valid_i.value = dut.save_valid_i.value = 0
        dut.m_rvalid_i.value = dut.m_bvalid_i.value = 0
        await reset(dut)


@cocotb.test()
async def what_was_saved_is_fetched(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    for _ in range(4):
        await bench.restart()
        for n in range(3000):
            if n % 100 == 0:
                bench.odds = [rng.choice([0.1, 0.5, 1]) for _ in range(4)]
            await bench.cycle()
        bench.odds = [1] * 4
        for _ in range(1000):
            await bench.cycle(more=False)
        for fpc in bench.fpcs:
            assert not (fpc.fetching or fpc.saving or fpc.fetch or fpc.save), "a TCB is lost"
        for _ in range(rng.randrange(20)):
            await bench.cycle()  # work is pending at the next reset
    count = bench.count
    assert count["seen"] == count["refused"] > 20, count
    assert count["seen bad"] == count["bad writes"] > 20, count
    assert min(count["fetched"], count["saved"]) > 500 and count["mixed"] > 50, count


def test_dram():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


FAULTS = {
    "half of a TCB was refused, and it counts": (
        "bad_q[f] <= m_rresp_i[1] || (bad_q[f] && beat_q[f] != '0);", "bad_q[f] <= m_rresp_i[1];",
    ),
    "a refusal is not forgotten": (
        "bad_q[f] <= m_rresp_i[1] || (bad_q[f] && beat_q[f] != '0);",
        "bad_q[f] <= m_rresp_i[1] || bad_q[f];",
    ),
    "beats of two FPCs are mixed": (
        "data_q[f][beat_q[f]] <= m_rdata_i;", "data_q[f][beat_q[0]] <= m_rdata_i;",
    ),
    "the first FPC always goes first": (
        "if (ask[i] && fpc_t'(i) > turn) pick", "if (ask[i] && fpc_t'(i) > turn && 1'b0) pick",
    ),
    "two writes that wait at the memory": (
        ".push_i(begin_write), .data_i(w_next)", ".push_i(begin_write), .data_i(w_of_q)",
    ),
    "reset leaves half a TCB": (
        "        beat_q[f] <= '0;\n      end\n    end\n  end", "      end\n    end\n  end",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on a toe_dram with this fault."""
    fault = ("src/toe/rtl/toe_dram.sv", *FAULTS[why])
    finds(fault, LISTS, TOP, MODULE, parameters=PARAMETERS)
