# SPDX-License-Identifier: Apache-2.0
"""The AXI4 master between its clients and a memory with random delays and errors that interleaves
the data of both readers. Each reader gets its lines in order, failed ones as zeros. Writes arrive
with their strobes, in bursts within 4 KiB. Offers are stable."""

from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, seeded, simulate

PAGE, LINE = 4096, 64
CMD, TX = 0, 1
MOST = 200  # outstanding lines up to which the memory accepts requests


def content(address: int) -> int:
    """Returns the contents of a line; all lines differ."""
    return (address // LINE + 1) * 0x9E3779B97F4A7C15 % (1 << 512)


def place(rng, lines: int) -> int:
    """Returns an address for a burst, often just before the end of a page."""
    page = rng.choice([0, rng.getrandbits(51), (1 << 32) // PAGE - 1])
    line = rng.choice([rng.randrange(64), 64 - rng.randrange(1, min(lines + 2, 64))])
    return page * PAGE + line * LINE


class Reads:
    """Both readers, and the memory's side of the bus."""

    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.asks: list[tuple[int, int] | None] = [None, None]
        self.want = [deque(), deque()]  # addresses of lines each reader must get
        self.due = [deque(), deque()]  # ... of bursts not yet on the bus
        self.bus = [deque(), deque()]  # ... of outstanding lines, and whether they fail
        self.answer = None
        self.held = None
        self.passed = 0
        self.lines = [0, 0]
        self.refused = self.halves = self.seen_errors = 0

    def offer(self, busy: float, ready: float, answers: float) -> None:
        dut, rng = self.dut, self.rng
        for i in (CMD, TX):
            if self.asks[i] is None and rng.random() < busy:
                lines = 1 if i == CMD else rng.choice([1, 2, rng.randrange(1, 34)])
                self.asks[i] = (place(rng, lines), lines)
        dut.cmd_ar_valid_i.value = self.asks[CMD] is not None
        dut.cmd_ar_addr_i.value = (self.asks[CMD] or (rng.getrandbits(58) * LINE, 0))[0]
        dut.tx_ar_valid_i.value = self.asks[TX] is not None
        address, lines = self.asks[TX] or (rng.getrandbits(58) * LINE, 1)
        dut.tx_ar_addr_i.value, dut.tx_ar_len_i.value = address, lines - 1
        full = sum(map(len, self.bus)) > MOST
        dut.m_arready_i.value = self.ready = not full and rng.random() < ready
        if self.answer is None and rng.random() < answers:
            ids = [i for i in (CMD, TX) if self.bus[i]]
            self.answer = rng.choice(ids) if ids else None
        dut.m_rvalid_i.value = self.answer is not None
        if self.answer is not None:
            address, refused = self.bus[self.answer][0]
            dut.m_rid_i.value, dut.m_rdata_i.value = self.answer, content(address)
            dut.m_rresp_i.value = rng.choice([2, 3]) if refused else rng.choice([0, 1])
        else:
            dut.m_rid_i.value = rng.randrange(2)
        dut.tx_r_ready_i.value = rng.random() < ready

    def address(self) -> None:
        dut = self.dut
        if not dut.m_arvalid_o.value:
            assert self.held is None, "a read's address was taken back"
            return
        who = int(dut.m_arid_o.value)
        at, lines = dut.m_araddr_o.value.to_unsigned(), dut.m_arlen_o.value.to_unsigned() + 1
        assert self.held in (None, (who, at, lines)), "a read's address became another"
        self.held = None if self.ready else (who, at, lines)
        if not self.ready:
            return
        assert at // PAGE == (at + lines * LINE - 1) // PAGE, "a read crosses a page"
        assert self.due[who], "a read that nobody asked for"
        first, asked = self.due[who].popleft()
        whole = min(asked, (PAGE - first % PAGE) // LINE)
        assert (at, lines) == (first, whole), "another read than was asked for"
        if whole < asked:
            self.due[who].appendleft((first + whole * LINE, asked - whole))
            self.halves += 1
        # Round robin: at most one burst precedes a waiting command.
        self.passed = self.passed + 1 if who == TX and self.due[CMD] else 0
        assert self.passed <= 1, "payload keeps commands waiting"
        for n in range(lines):
            self.bus[who].append((at + n * LINE, self.rng.random() < 0.05))

    def sees(self) -> None:
        dut = self.dut
        self.address()
        self.seen_errors += bool(dut.read_error_o.value)
        for i, name in ((CMD, "cmd"), (TX, "tx")):
            takes = i == CMD or bool(dut.tx_r_ready_i.value)
            valid = bool(getattr(dut, f"{name}_r_valid_o").value)
            assert valid == (self.answer == i), "data goes to its reader, and to no other"
            if valid:
                assert bool(dut.m_rready_o.value) == takes
            if valid and takes:
                address, refused = self.bus[i].popleft()
                data = getattr(dut, f"{name}_r_data_o").value.to_unsigned()
                assert self.want[i].popleft() == address, "lines come in another order"
                assert data == (0 if refused else content(address))
                self.lines[i] += 1
                self.refused += refused
                self.answer = None
            ready = getattr(dut, f"{name}_ar_ready_o").value
            if self.asks[i] and ready:
                address, lines = self.asks[i]
                self.due[i].append(self.asks[i])
                self.want[i].extend(address + n * LINE for n in range(lines))
                self.asks[i] = None


class Writes:
    """The writer, and the memory's side of the bus."""

    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.ask = self.rest = None
        self.beats: deque[tuple[int, int]] = deque()  # data and strobes that follow
        self.beat = None
        self.bursts: deque[list[int]] = deque()  # accepted: the addresses of lines to come
        self.answers = 0  # outstanding responses
        self.held = self.held_beat = None
        self.asked = self.done = self.halves = self.lines = 0
        self.refused = self.seen_errors = 0
        self.answering = False

    def offer(self, busy: float, ready: float, answers: float, *, more: bool) -> None:
        dut, rng = self.dut, self.rng
        if more and self.ask is None and rng.random() < busy:
            lines = rng.choice([1, 1, 2, rng.randrange(1, 34)])
            self.ask = (place(rng, lines), lines)
            for _ in range(lines):
                self.beats.append((rng.getrandbits(512), rng.getrandbits(64)))
        if self.beat is None and self.beats and rng.random() < busy:
            self.beat = self.beats[0]
        address, lines = self.ask or (rng.getrandbits(58) * LINE, 1)
        dut.aw_valid_i.value = self.ask is not None
        dut.aw_addr_i.value, dut.aw_len_i.value = address, lines - 1
        dut.w_valid_i.value = self.beat is not None
        dut.w_data_i.value, dut.w_strb_i.value = self.beat or (0, 0)
        dut.m_awready_i.value = self.ready = rng.random() < ready
        dut.m_wready_i.value = self.takes = rng.random() < answers  # independent of addresses
        self.answering = self.answers > 0 and rng.random() < answers
        bad = self.answering and rng.random() < 0.05
        dut.m_bvalid_i.value = self.answering
        dut.m_bresp_i.value = rng.choice([2, 3]) if bad else rng.choice([0, 1])
        self.refused += bad

    def address(self) -> list[int] | None:
        dut = self.dut
        if not dut.m_awvalid_o.value:
            assert self.held is None, "a write's address was taken back"
            return None
        at, lines = dut.m_awaddr_o.value.to_unsigned(), dut.m_awlen_o.value.to_unsigned() + 1
        assert self.held in (None, (at, lines)), "a write's address became another"
        self.held = None if self.ready else (at, lines)
        first, asked = self.rest or self.ask or (None, 0)
        assert first is not None, "a write that nobody asked for"
        whole = min(asked, (PAGE - first % PAGE) // LINE)
        assert (at, lines) == (first, whole), "another write than was asked for"
        taken = bool(dut.aw_ready_o.value)
        assert taken == (self.ready and self.rest is None), "when the writer's address is taken"
        if not self.ready:
            return None
        self.rest = (first + whole * LINE, asked - whole) if whole < asked else None
        self.halves += whole < asked
        if taken:
            self.ask = None
        return [at, lines]

    def line(self) -> None:
        dut = self.dut
        if not dut.m_wvalid_o.value:
            assert self.held_beat is None, "a beat was taken back"
            assert self.beat is None or not self.bursts, "a beat of an open burst is not offered"
            assert not dut.w_ready_o.value or self.beat is None
            return
        beat = (dut.m_wdata_o.value.to_unsigned(), dut.m_wstrb_o.value.to_unsigned())
        assert self.bursts, "a beat before its address"
        assert self.beat is not None and beat == self.beats[0], "another beat than was given"
        last = bool(dut.m_wlast_o.value)
        assert last == (self.bursts[0][1] == 1), "the last beat of a burst is marked, no other"
        self.held_beat = None if self.takes else beat
        assert bool(dut.w_ready_o.value) == self.takes
        if self.takes:
            self.beats.popleft()
            self.beat = None
            self.lines += 1
            self.bursts[0][1] -= 1
            if last:
                self.bursts.popleft()
                self.answers += 1

    def sees(self) -> None:
        dut = self.dut
        assert dut.asked_o.value.to_unsigned() == self.asked % (1 << 16)
        assert dut.done_o.value.to_unsigned() == self.done % (1 << 16)
        assert dut.m_bready_o.value
        self.seen_errors += bool(dut.write_error_o.value)
        if self.answering:
            self.answers -= 1
            self.done += 1
        taken = self.address()
        self.line()
        if taken:
            self.bursts.append(taken)
            self.asked += 1
        assert len(self.bursts) <= 4, "more bursts ahead than there is room for"


@cocotb.test()
async def lines_arrive(dut):
    rng = seeded()
    await begin(dut)
    reads, writes = Reads(dut, rng), Writes(dut, rng)
    busy = ready = answers = 1.0
    for n in range(12000):
        if n % 100 == 0:
            busy, ready, answers = (rng.choice([0.1, 0.6, 1]) for _ in range(3))
        ending = n >= 11000
        if ending:
            busy, ready, answers = 1, 1, 1
        reads.offer(0 if ending else busy, ready, answers)
        writes.offer(busy, ready, answers, more=not ending)
        await ReadOnly()
        reads.sees()
        writes.sees()
        await RisingEdge(dut.clk_i)
    assert not any(reads.want) and not writes.beats and not writes.bursts, "a line is lost"
    assert reads.seen_errors == reads.refused > 50, (reads.seen_errors, reads.refused)
    assert writes.seen_errors == writes.refused > 20, (writes.seen_errors, writes.refused)
    assert min(*reads.lines, writes.lines) > 500 and min(reads.halves, writes.halves) > 50


def test_axi():
    simulate(["src/toe/toe_axi.f"], "toe_axi", "gateware.src.toe.tb.test_axi")
