# SPDX-License-Identifier: Apache-2.0
"""The contents of hosts' memory, in addition to the bytes that formal/dmaw_random.sv checks one by
one: flow records as in device.h, never torn; the peer of a new flow; heads and tails that only
cover written entries; one interrupt per arming, in time; queue pairs that are halted, detach and
attach."""

import struct
from collections import deque

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import Offers, begin, finds, reset, seeded, simulate
from gateware.src.toe.tb.contract import AROUND, HW, REASON, TOE, command, parts

QPS, SOURCES, BUFFERS, FLOWS = 3, 2, 16, 2
LISTS, TOP, MODULE = ["src/toe/toe_dmaw.f"], "toe_dmaw", "gateware.src.toe.tb.test_dmaw"
PARAMETERS = {"Qps": QPS, "Sources": SOURCES}
STATUS, RING, RECORDS, DATA = 0x1000, 0x2000, 0x3000, 0x4000  # offsets in an area
TAIL, HEAD, HALTED = 0, 64, 192  # in the status block
RECORD = struct.Struct("<I4B16s16s4H10I3Q2I2Q2BHIQ6IH3B11x")
MS = 15625 / 16384  # ticks


def usec(stamps: int) -> int:
    return (stamps * 16777 >> 14) % AROUND


def rto(t: dict) -> int:
    """Returns the RTO (RFC 6298 2) in ticks, with the bounds of fpc_pkg."""
    ticks = (t["srtt"] >> 13) + max((t["rttvar"] >> 10) + 1, int(200 * MS) + 1)
    ticks = ticks + 4 & 0xFFFFFFFC
    if t["srtt"] == 0:
        ticks = int((3000 if t["state"] >= TOE.names["StEstablished"] else 1000) * MS) & ~3
    most = int(120000 * MS)
    return min(min(ticks, most) << t["backoff"], most) + 1


def record(t: dict, path: dict) -> tuple:
    """Returns the fields after the count of a record."""
    tup = path["tuple"]

    def octets(address: int) -> bytes:
        return (address if tup["v6"] else 0xFFFF << 32 | address).to_bytes(16, "big")

    def stream(laps: str, at: str, start: str) -> int:
        return t[laps] << 32 | (t[at] - t[start] - 1) % AROUND

    sacked = sum((r["stop"] - r["start"]) % AROUND for r in t["board"][: t["sacked"]])
    state = {TOE.names["RecLoss"]: 4, TOE.names["RecFast"]: 3}.get(
        t["recovery"], int(bool(t["sacked"] or t["dupacks"]))
    )
    return (
        *(t["state"], t["ts"] | t["sack"] << 1 | t["ws"] << 2, t["snd_scale"], t["rcv_scale"]),
        *(octets(tup["own"]), octets(tup["remote"]), tup["local_port"], tup["remote_port"]),
        *(t["mss"], t["own_mss"], usec(t["srtt"] >> 3), usec(t["rttvar"] >> 2)),
        *(usec(rto(t) << 10), usec(t["min_rtt"]), t["cc"]["cwnd"], t["cc"]["ssthresh"]),
        *(t["snd_wnd"], (t["rcv_adv"] - t["rcv_nxt"]) % AROUND, t["retransmits"]),
        *((t["snd_nxt"] - t["snd_una"]) % AROUND, stream("tx_wraps", "snd_nxt", "iss")),
        *(stream("tx_wraps", "snd_una", "iss"), stream("rx_wraps", "rcv_nxt", "irs")),
        *(t["generation"], 0, 0, 0, t["cc"]["algorithm"], 0),
        *((t["own_mss"] + (60 if t["v6"] else 40)) % 65536, sacked % AROUND, 0, 0, 0, 0, 0, 0, 0),
        *(0, state, t["timeouts"], t["backoff"]),
    )


def path_of(flow: int) -> dict:
    v6 = flow & 1
    remote = (0x20010DB8 << 96 | flow * 0x9E3779B97F4A7C15) if v6 else 0x0A000000 + flow
    own = 0x20010DB8 << 96 | 1 if v6 else 0x0A000001
    ports = {"remote_port": flow * 40503 % 65536, "local_port": 80 + flow}
    return {"tuple": {"v6": v6, "remote": remote, "own": own, **ports}, "mac": 0}


class Qp:
    """A host and its queue pair."""

    def __init__(self, index: int) -> None:
        self.index, self.on = index, False

    def begin(self, rng) -> None:
        self.on, self.closed, self.rested, self.halts = True, False, False, False
        self.area = rng.getrandbits(20) << 40 | (self.index + 1) << 32
        self.hw_log, self.tx_log = rng.randrange(1, 5), rng.randrange(6, 9)
        self.rx_log, self.first = rng.randrange(6, 12), FLOWS * rng.randrange(4 * self.index, 30)
        offsets = {"status_at": STATUS, "hw_at": RING, "records_at": RECORDS, "buffers_at": DATA}
        config = {"enable": 1, "area": self.area, "hw_log": self.hw_log, "slots_log": 1}
        config |= {"tx_log": self.tx_log, "rx_log": self.rx_log, "first": self.first}
        self.config = TOE.pack("qp_config_t", config | offsets)
        self.written = self.said = self.taken = 0  # commands
        self.at_rest, self.patience = False, 0
        self.arm = self.seq = self.seen = self.armed_before = self.head_before = 0
        self.count, self.usec = rng.choice([0, 1, 2, 3, 6]), rng.choice([0, 20, 200])
        self.first_at: int | None = None
        self.ripe: deque[bool] = deque([False] * 4, 4)
        self.records: dict[int, int] = {}

    def slot(self, flow: int) -> int:
        each = (1 << self.tx_log) + (1 << self.rx_log)
        return self.area + DATA + (flow - self.first) * each + (1 << self.tx_log)


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.now = 10**12
        self.count = dict.fromkeys(
            ("placed", "records", "peers", "irqs", "merged", "halts", "tails", "errors", "left"), 0
        )
        self.odds = 0.5
        self.addresses = Offers(dut, "aw", "aw_addr_o", "aw_len_o")
        self.beats = Offers(dut, "w", "w_data_o", "w_strb_o", "w_last_o")
        self.begin()

    def begin(self) -> None:
        self.qps = [Qp(i) for i in range(QPS)]
        self.offers: list[dict | None] = [None] * SOURCES
        self.tail: tuple[int, int, Qp] | None = None
        self.tail_due: tuple[Qp, int] | None = None
        self.jobs: deque[dict] = deque()  # accepted, not written
        self.memory: dict[int, int] = {}  # a byte each
        self.bursts: deque[list[int]] = deque()
        self.content: dict[int, bytes] = {}  # of packet buffers in use
        self.free = set(range(BUFFERS))
        self.read = self.path = 0
        self.dones = 0  # ERRORs written, not reported
        self.tellings: deque[int] = deque()  # queue pairs of commands written, not reported
        self.halt: Qp | None = None
        self.addresses.forget()
        self.beats.forget()

    # ---- inputs ----

    def some_job(self) -> dict | None:
        rng = self.rng
        qp = rng.choice(self.qps)
        if not qp.on or qp.rested or (qp.closed and rng.random() < 0.8):
            return None
        flow = qp.first + rng.randrange(FLOWS)
        job = {"flow": flow, "qp": qp.index}
        if rng.random() < 0.5 and self.free:
            buffer = rng.choice(sorted(self.free))
            self.free.discard(buffer)
            self.content[buffer] = rng.randbytes(2048)
            most = min(1 << qp.rx_log, 1460)
            length = rng.choice([0, 1, most, rng.randrange(most + 1)])
            job |= {"kind": TOE.names["WrPlace"], "buffer": buffer, "len": length}
            job |= {"offset": rng.randrange(54, 134), "to": rng.getrandbits(32)}
        else:
            kind = rng.choice(list(HW.values()))
            cmd = command(kind, aux=rng.getrandbits(16), flow=rng.getrandbits(32))
            cmd |= rng.getrandbits(64) << 64
            job |= {"kind": TOE.names["WrCommand"], "cmd": cmd, "record": rng.random() < 0.4}
            job |= {"done": rng.random() < 0.2, "tcb": TOE.unpack("tcb_t", rng.getrandbits(2414))}
            job["tcb"]["sacked"] = rng.randrange(5)
            job["tcb"]["srtt"] = rng.choice([0, rng.getrandbits(rng.randrange(8, 30))])
            job["tcb"]["rttvar"] = rng.getrandbits(rng.randrange(8, 30))
        job["record"] = int(job.get("record", 0))
        job["done"] = int(job.get("done", 0))
        return job

    def hosts(self) -> None:
        rng = self.rng
        for qp in self.qps:
            if not qp.on:
                if rng.random() < 0.05:
                    qp.begin(rng)
                continue
            if rng.random() < 0.02 and not qp.closed:
                qp.taken += rng.randrange(qp.written - qp.taken + 1)
            elif rng.random() < 0.05:  # registers are written in sequence
                qp.arm, qp.seq = rng.random() < 0.9, (qp.seq + 1) % AROUND
            if self.halt is None and not qp.halts and rng.random() < 0.001:
                self.halt = qp
            if not qp.closed and rng.random() < 0.0008:
                qp.closed, qp.at_rest = True, False
            named = [o for o in self.offers if o] + list(self.jobs)
            busy = any(job["qp"] == qp.index for job in named) or (self.tail and self.tail[2] is qp)
            if qp.closed and qp.at_rest and not busy:
                qp.rested = True
                if rng.random() < 0.1:
                    qp.on = False
                    self.count["left"] += 1
                    self.memory = {a: v for a, v in self.memory.items() if self.of(a) is not qp}

    def of(self, address: int) -> Qp | None:
        return next((q for q in self.qps if q.on and q.area <= address < q.area + (1 << 20)), None)

    def drive(self, *, more: bool) -> None:
        dut, rng = self.dut, self.rng
        self.hosts()
        width = TOE.widths["qp_config_t"]
        on = [q for q in self.qps if q.on]
        dut.qp_i.value = sum(q.config << width * q.index for q in on)
        dut.closed_i.value = sum(q.closed << q.index for q in on)
        for name, value in (("hw_tail", "taken"), ("irq_arm", "arm"), ("irq_seq", "seq")):
            getattr(dut, f"{name}_i").value = sum(getattr(q, value) << 32 * q.index for q in on)
        dut.irq_count_i.value = sum(q.count << 32 * q.index for q in on)
        dut.irq_usec_i.value = sum(q.usec << 32 * q.index for q in on)
        for s in range(SOURCES):
            if self.offers[s] is None and more and rng.random() < self.odds:
                self.offers[s] = self.some_job()
                if self.offers[s]:
                    self.offers[s]["bits"] = TOE.pack("write_t", self.offers[s])
        width = TOE.widths["write_t"]
        dut.write_valid_i.value = sum((o is not None) << s for s, o in enumerate(self.offers))
        dut.write_i.value = sum(o["bits"] << width * s for s, o in enumerate(self.offers) if o)
        if self.tail is None and self.tail_due is None and more and rng.random() < 0.03:
            able = [q for q in on if not q.closed]
            if able:
                self.tail = (rng.getrandbits(32), 0, rng.choice(able))
        dut.tail_valid_i.value = self.tail is not None
        if self.tail:
            dut.tail_i.value, dut.tail_qp_i.value = self.tail[0], self.tail[2].index
        dut.halt_i.value = self.halt is not None
        dut.halt_qp_i.value = self.halt.index if self.halt else 0
        self.now += rng.choice([4, 4, 4, 1024, 20000])
        dut.now_i.value = self.now
        dut.read_data_i.value, dut.path_i.value = self.read, self.path
        self.addresses.take(rng.random() < self.odds)
        self.beats.take(rng.random() < self.odds)

    # ---- writes ----

    def beat(self, data: int, strobes: int, last: int) -> None:
        assert self.bursts, "a beat without an address"
        address, left = self.bursts[0]
        assert bool(last) == (left == 1), "the last beat is another"
        qp = self.of(address)
        assert qp is not None and not qp.rested, f"{address:x} is nobody's"
        lane = data.to_bytes(64, "little")
        touched = [i for i in range(64) if strobes >> i & 1]
        offset = address - qp.area
        if RECORDS <= offset < DATA:
            self.counts_of_records(qp, offset, lane)
        for i in touched:
            self.memory[address + i] = lane[i]
        if STATUS <= offset < RING:
            self.status(qp, offset - STATUS, touched, lane)
        elif RING <= offset < RECORDS:
            self.command(qp, offset - RING + touched[0], touched)
        self.bursts[0] = [address + 64, left - 1]
        if left == 1:
            self.bursts.popleft()

    def counts_of_records(self, qp: Qp, offset: int, lane: bytes) -> None:
        """Checks the count of a record, which is odd during an update."""
        slot, line = divmod((offset - RECORDS) // 64, 3)
        if line == 0:
            count = int.from_bytes(lane[:4], "little")
            before = qp.records.get(slot, 0)
            assert count & 1 != before & 1, "a reader cannot see that a record is torn"
            qp.records[slot] = count
        else:
            assert qp.records.get(slot, 0) & 1, "a record is written, and its count is even"

    def status(self, qp: Qp, at: int, touched: list[int], lane: bytes) -> None:
        assert touched == [0, 1, 2, 3], "a status word"
        value = int.from_bytes(lane[:4], "little")
        if at == TAIL:
            assert self.tail_due and self.tail_due[0] is qp, "a tail that nobody moved"
            assert value == self.tail_due[1], "another tail"
            assert not any(job.get("before") for job in self.jobs), "a tail before what it tells of"
            self.tail_due = None
            self.count["tails"] += 1
        elif at == HEAD:
            assert qp.said <= value <= qp.written, f"a head {value}, and {qp.written} are there"
            qp.said = value
        else:
            assert at == HALTED and qp.halts and value == REASON["PROTO"], "a halt"
            qp.halts = False
            self.count["halts"] += 1

    def bytes_at(self, address: int, n: int) -> bytes:
        return bytes(self.memory.get(address + i, 0xAA) for i in range(n))

    def command(self, qp: Qp, at: int, touched: list[int]) -> None:
        """Checks a command: all earlier jobs must be written before it."""
        assert len(touched) == 16 and at == 16 * (qp.written % (1 << qp.hw_log)), "its place"
        while self.jobs and self.jobs[0]["kind"] == TOE.names["WrPlace"]:
            self.placed(self.jobs.popleft())
        assert self.jobs, "a command that nobody gave"
        job = self.jobs.popleft()
        assert job["qp"] == qp.index, "a command of another queue pair"
        got = parts(int.from_bytes(self.bytes_at(qp.area + RING + at, 16), "little"))
        want = parts(job["cmd"])
        path = path_of(job["flow"])
        if want["kind"] not in (HW["CONNECT_FAILED"], HW["ERROR"]):
            want["flow"] = job["flow"] - qp.first
        if want["kind"] == HW["LISTEN_ESTABLISHED"]:
            want["aux"] = path["tuple"]["remote_port"]
            want["arg0"] = 0 if path["tuple"]["v6"] else path["tuple"]["remote"]
            self.count["peers"] += 1
        if want["kind"] == HW["CONNECT_ESTABLISHED"]:
            want["aux"] = path["tuple"]["local_port"]
            self.count["peers"] += 1
        want["phase"] = int(not qp.written >> qp.hw_log & 1)
        assert got == want, (got, want)
        if job["record"]:
            slot = job["flow"] - qp.first
            found = RECORD.unpack(self.bytes_at(qp.area + RECORDS + 192 * slot, 192))
            assert found[0] & 1 == 0, "a command, and its record is torn"
            assert found[1:] == record(job["tcb"], path), (found[1:], record(job["tcb"], path))
            self.count["records"] += 1
        qp.written += 1
        self.dones += job["done"]
        self.tellings.append(qp.index)

    def nothing(self, job: dict) -> bool:
        qp = self.qps[job["qp"]]
        return not qp.on or qp.closed

    def drops(self, job: dict) -> None:
        self.dones += job["done"]
        self.tellings.append(job["qp"])

    def placed(self, job: dict) -> None:
        """Checks that the payload is in memory, unless its queue pair detaches."""
        qp = self.qps[job["qp"]]
        if self.nothing(job):
            return
        whole, size = self.content[job["buffer"]], 1 << qp.rx_log
        data = whole[job["offset"] : job["offset"] + job["len"]]
        at = job["to"] % size
        there = self.bytes_at(qp.slot(job["flow"]) + at, min(len(data), size - at))
        there += self.bytes_at(qp.slot(job["flow"]), len(data) - len(there))
        assert there == data, f"payload of flow {job['flow']} is another"
        self.count["placed"] += 1

    # ---- outputs ----

    def sees(self) -> None:
        dut = self.dut
        work = dut.at_work_o.value.to_unsigned()
        for qp in self.qps:
            qp.at_rest = not work >> qp.index & 1
        if dut.free_valid_o.value:
            buffer = dut.free_o.value.to_unsigned()
            assert buffer in self.content and buffer not in self.free, "a buffer is freed twice"
            self.freed(buffer)
        if said := self.addresses.sees():
            assert said[0] % 64 == 0
            self.bursts.append([said[0], said[1] + 1])
        if said := self.beats.sees():
            self.beat(*said)
        if dut.written_o.value:
            self.told(dut.written_qp_o.value.to_unsigned())
        if dut.error_done_o.value:
            if not self.dones:
                self.drop_first()
            assert self.dones, "an ERROR is said to be written"
            self.dones -= 1
            self.count["errors"] += 1
        self.interrupts()
        ready = dut.write_ready_o.value.to_unsigned()
        for s, job in enumerate(self.offers):
            if job is not None and ready >> s & 1:
                self.jobs.append(job)
                self.offers[s] = None
        if self.tail and dut.tail_ready_o.value:
            qp = self.tail[2]
            self.tail_due = (qp, self.tail[0]) if not qp.closed else None
            for job in self.jobs:
                job["before"] = not self.nothing(job)
            self.tail = None
        if self.tail_due and self.tail_due[0].closed:
            self.tail_due = None
        if self.halt:
            self.halt.halts = True
            self.halt = None
        line = dut.read_line_o.value.to_unsigned()
        whole = self.content.get(dut.read_buffer_o.value.to_unsigned(), bytes(2048))
        self.read = int.from_bytes(whole[64 * line : 64 * line + 64], "little")
        at = TOE.unpack("place_t", dut.path_at_o.value.to_unsigned())
        self.path = TOE.pack("path_t", path_of(at["index"]))

    def freed(self, buffer: int) -> None:
        """Checks that all payload of a freed buffer is in memory."""
        for job in self.jobs:
            if job["kind"] == TOE.names["WrPlace"] and job["buffer"] == buffer:
                self.placed(job)
                self.jobs.remove(job)
                break
        del self.content[buffer]
        self.free.add(buffer)

    def drop_first(self) -> None:
        """Drops the first command: that of a detaching queue pair is not written but counts as
        written."""
        job = next(j for j in self.jobs if j["kind"] == TOE.names["WrCommand"])
        assert self.nothing(job), "a command is lost"
        self.jobs.remove(job)
        self.drops(job)

    def told(self, index: int) -> None:
        if not self.tellings:
            self.drop_first()
        assert self.tellings and self.tellings.popleft() == index, "a command is told of too early"

    def interrupts(self) -> None:
        dut = self.dut
        irqs = dut.irq_o.value.to_unsigned()
        heads = dut.hw_head_o.value.to_unsigned()
        for qp in self.qps:
            if not qp.on:
                continue
            head = heads >> 32 * qp.index & AROUND - 1
            untaken = head - qp.taken
            if irqs >> qp.index & 1:
                assert qp.armed_before != qp.seen, "an interrupt that nobody armed"
                assert any(qp.ripe), "an interrupt too early"
                there = self.bytes_at(qp.area + STATUS + HEAD, 4)
                assert int.from_bytes(there, "little") >= qp.head_before, (
                    "it tells of an older head"
                )
                self.count["irqs"] += 1
                self.count["merged"] += untaken > 1
                qp.seen = qp.armed_before
                qp.patience = 0
            now = self.now >> 10
            if untaken == 0:
                qp.first_at = None
            elif qp.first_at is None:
                qp.first_at = now
            ripe = untaken > 0 and (
                qp.count <= 1 or qp.usec == 0 or untaken >= qp.count
                or now - qp.first_at >= qp.usec
            )  # fmt: skip
            qp.ripe.append(bool(ripe and qp.arm))
            qp.armed_before = qp.seq if qp.arm else qp.seen
            qp.head_before = head
            waits = ripe and qp.arm and qp.seq != qp.seen and not qp.closed
            qp.patience = qp.patience + 1 if waits else 0
            assert qp.patience < 5000, "an interrupt does not come"

    async def cycle(self, *, more: bool = True) -> None:
        self.drive(more=more)
        await ReadOnly()
        self.sees()
        await RisingEdge(self.dut.clk_i)


@cocotb.test()
async def hosts_find_what_was_written(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    for _ in range(3):
        bench.begin()
        dut.qp_i.value = dut.write_valid_i.value = dut.tail_valid_i.value = 0
        dut.halt_i.value = 0
        await reset(dut)
        for n in range(5000):
            if n % 100 == 0:
                bench.odds = rng.choice([0.1, 0.5, 0.9, 1])
            await bench.cycle(more=n // 100 % 4 != 3)  # with pauses
        bench.odds = 1
        for _ in range(600):
            await bench.cycle(more=False)
        assert not bench.bursts and not bench.tail_due and bench.dones == 0
        assert all(bench.nothing(job) for job in bench.jobs) and not any(bench.offers)
        assert len(bench.free) == BUFFERS, "a buffer is never freed"
        heads = dut.hw_head_o.value.to_unsigned()
        for qp in bench.qps:
            if qp.on and not qp.closed:
                assert heads >> 32 * qp.index & AROUND - 1 == qp.written
                there = int.from_bytes(bench.bytes_at(qp.area + STATUS + HEAD, 4), "little")
                assert there == qp.written or not qp.written, "the last head is not told"
                assert not qp.halts, "a halt is not told"
        for _ in range(rng.randrange(60)):
            await bench.cycle()  # work is pending at the next reset
    count = bench.count
    assert min(count[n] for n in ("placed", "records", "irqs")) > 100, count
    assert min(count.values()) > 3, count


def test_dmaw():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


FAULTS = {
    "an interrupt before the head is there": (
        "due_q && !stale_q[i]) begin",
        "due_q) begin",
    ),
    "an arming brings interrupts again and again": (
        "        seen_q <= irq_seq_i[i];", "        seen_q <= seen_q;",
    ),
    "commands do not wait for their number": (
        "untaken >= irq_count_i[i] ||", "untaken >= 32'd1 ||",
    ),
    "the time runs from the last command": (
        "if (!any_left || !pending_q) first_q2 <= usec;",
        "if (!any_left || command_written) first_q2 <= usec;",
    ),
    "a record of two halves": (
        "2'd3: record_beat = {record_now[511:32], record_count | 32'd1};",
        "2'd3: record_beat = {record_now[511:32], record_count};",
    ),
    "a record has another's round trip": (
        "r[51:48] = usec_of(t.srtt >> 3);", "r[51:48] = usec_of(t.srtt >> 2);",
    ),
    "an IPv6 peer is named by half": (
        "cmd[95:64] = path.tuple.v6 ? 32'd0 : path.tuple.remote[31:0];",
        "cmd[95:64] = path.tuple.remote[31:0];",
    ),
    "a dropped ERROR is waited for": (
        "assign error_done_o = dropped ? next_q.done : (command_written && burst_q.done);",
        "assign error_done_o = command_written && burst_q.done;",
    ),
    "who is gone is told a last head": (
        "        if (closed_i[i]) begin\n          dirty_q[i]",
        "        if (1'b0) begin\n          dirty_q[i]",
    ),
    "a halt is told twice": (
        "if (aims_status && !chosen_q.tail && !chosen_q.head) halted_q",
        "if (aims_status && !chosen_q.tail && 1'b0) halted_q",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on a toe_dmaw with this fault."""
    fault = ("src/toe/rtl/toe_dmaw.sv", *FAULTS[why])
    finds(fault, LISTS, TOP, MODULE, parameters=PARAMETERS)
