# SPDX-License-Identifier: Apache-2.0
"""SW rings of several hosts at random. Each command reaches its destination once and in order, or
is rejected with the right reason. The tail never passes an unhandled command. No credit for a HW
ring is lost. Only a host that breaks its ring is halted, and a queue pair that detaches is
released. All sides withhold ready and delay answers at random."""

from collections import deque

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge, Timer

from gateware.lib.bench import Offers, begin, finds, reset, seeded, simulate
from gateware.src.toe.tb.contract import (
    AROUND,
    FLAGS,
    HW,
    NAME,
    REASON,
    SW,
    TOE,
    command,
    error,
    parts,
)

QPS, FPCS = 3, 2
LACKS = ("BIND", "PORT")  # commands that the gateware rejects as unknown ones
LACKING = {"SEND": FLAGS["SEND"]["EOR"]}  # flags that the gateware refuses
FLOW_COMMANDS = ("SEND", "RECV", "CLOSE", "ACCEPT", "RELEASE")
LISTS, TOP, MODULE = ["src/toe/toe_cmd.f"], "toe_cmd", "gateware.src.toe.tb.test_cmd"
PARAMETERS = {"Qps": QPS, "Fpcs": FPCS}
LONGEST = 4000  # idle cycles at most for a correct host


def entry_bytes(address: int) -> bytes:
    """Returns the host's address table entry."""
    return b"".join(((address + i) * 0x9E3779B1 >> 7 & 0xFF).to_bytes(1, "big") for i in range(64))


class Qp:
    """A host's queue pair and its expected outputs."""

    def __init__(self, index: int) -> None:
        self.index, self.on = index, False
        self.closed = self.broken = self.bad_tail = False
        self.places = 0

    def begin(self, rng) -> None:
        self.on, self.closed, self.broken, self.bad_tail = True, False, False, False
        self.log, self.slots, self.addresses = (
            rng.randrange(2, 6),
            rng.randrange(4),
            rng.randrange(4),
        )
        self.first = rng.randrange(16) << self.slots
        self.area = rng.getrandbits(20) << 40 | (self.index + 1) << 32
        config = {"enable": 1, "area": self.area, "sw_log": self.log, "slots_log": self.slots}
        config |= {"addresses": self.addresses, "first": self.first}
        self.config = TOE.pack("qp_config_t", config | {"sw_at": 0x1000, "addresses_at": 0x2000})
        self.head = self.said = self.next = 0  # written; the tail; the next output
        # Unwritten entries: the phase is not that of the first lap.
        self.ring = [rng.getrandbits(128) & ~(1 << 15) for _ in range(self.size)]
        self.breaks: str | None = None
        self.phase_at: int | None = None
        self.unhandled: set[int] = set()
        self.generous, self.starved, self.silent, self.rested = True, 0, 0, False

    @property
    def size(self) -> int:
        return 1 << self.log

    def some(self, rng) -> int:
        """Returns a random command, valid or not."""
        kind = rng.choice(list(SW.values()) if rng.random() < 0.95 else [0, 11, 135, 255])
        flags = 0
        if kind in NAME and rng.random() < 0.5:
            flags = rng.choice([0, *FLAGS[NAME[kind]].values()])
        if rng.random() < 0.03:
            flags = 1 << rng.randrange(7)
        flow = rng.randrange(1 << self.slots)
        if rng.random() < 0.05:
            flow = rng.choice([1 << self.slots, 1 << 16, rng.getrandbits(32)])
        arg0 = rng.randrange(5) if rng.random() < 0.5 else rng.getrandbits(32)
        return command(
            kind, flags=flags, aux=rng.getrandbits(16), flow=flow, arg0=arg0,
            arg1=rng.getrandbits(32),
        )  # fmt: skip

    def writes(self, rng) -> None:
        room = self.size - (self.head - self.said)
        for _ in range(rng.randrange(min(room, 7) + 1)):
            cmd = self.some(rng) | ((self.head & self.size) == 0) << 15
            self.ring[self.head % self.size] = cmd
            self.head += 1

    def breaks_ring(self, rng) -> None:
        self.breaks = rng.choice(["head", "phase", "tail"])
        if self.breaks == "phase" and self.head - self.said >= self.size:
            self.breaks = "head"
        if self.breaks == "head":
            self.phase_at = self.head
            self.head = self.said + self.size + rng.choice([1, 2, 7, AROUND // 2 - self.size])
        elif self.breaks == "phase":
            # The entry is still that of the previous lap.
            self.phase_at = self.head
            self.ring[self.head % self.size] &= ~(1 << 15)
            self.ring[self.head % self.size] |= ((self.head & self.size) != 0) << 15
            self.head += 1
        else:
            self.bad_tail = True

    def due(self) -> tuple[str, int]:
        """Returns the expected result of the next command: its destination or the reason of
        rejection."""
        cmd = self.ring[self.next % self.size]
        c = parts(cmd)
        name = NAME.get(c["kind"]) if c["kind"] in SW.values() else None
        if name is None or name in LACKS:
            return "NOSYS", cmd
        if c["flags"] & ~(sum(FLAGS[name].values()) - LACKING.get(name, 0)):
            return "INVAL", cmd
        if name in FLOW_COMMANDS or (name == "OPTION" and not c["flags"]):
            return ("flow" if c["flow"] < 1 << self.slots else "BADF"), cmd
        if self.entry(cmd) and c["arg0"] >= self.addresses:
            return "INVAL", cmd
        return "conn", cmd

    @staticmethod
    def entry(cmd: int) -> bool:
        c = parts(cmd)
        name = NAME.get(c["kind"])
        return name in ("LISTEN", "CONNECT") and bool(c["flags"] & FLAGS[name]["V6"])


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.qps = [Qp(i) for i in range(QPS)]
        self.odds = self.handling = 0.5
        self.events = Offers(dut, "event")
        self.conns = Offers(dut, "conn", "conn_qp_o", "conn_entry_o")
        self.errors = Offers(dut, "write")
        self.tails = Offers(dut, "tail", "tail_qp_o")
        self.asks = Offers(dut, "ar", "ar_addr_o")
        self.begin()

    def begin(self) -> None:
        self.reads: deque[int] = deque()
        self.answering = False
        self.under_way: list[tuple[Qp, int, str]] = []  # dispatched, not handled
        self.granted = False
        self.count = dict.fromkeys(
            ("flow", "conn", "refused", "tails", "tired", "halted", "proto", "left"), 0
        )
        for stream in (self.events, self.conns, self.errors, self.tails, self.asks):
            stream.forget()

    def often(self) -> bool:
        return self.rng.random() < self.odds

    # ---- the hosts ----

    def hosts(self, *, calm: bool) -> None:
        rng = self.rng
        for qp in self.qps:
            if not qp.on:
                if qp.places == 0 and rng.random() < 0.05:
                    qp.begin(rng)
                continue
            if rng.random() < 0.01:
                qp.generous = calm or rng.random() < 0.7
            if calm:
                qp.generous = True
            over = qp.broken or qp.closed
            if not (over or qp.breaks or calm) and rng.random() < 0.15:
                qp.writes(rng)
                if rng.random() < 0.01:
                    qp.breaks_ring(rng)
            if not calm and not qp.closed and rng.random() < (0.01 if qp.broken else 0.0005):
                qp.closed = True
            if qp.closed and qp.rested and not qp.unhandled and rng.random() < 0.1:
                self.count["left"] += 1
                qp.on = False

    def drive(self) -> None:
        dut, rng = self.dut, self.rng
        width = TOE.widths["qp_config_t"]
        dut.qp_i.value = sum(q.config << width * q.index for q in self.qps if q.on)
        dut.sw_head_i.value = sum(
            (q.head % AROUND if q.on else 0) << 32 * q.index for q in self.qps
        )
        dut.bad_tail_i.value = sum((q.on and q.bad_tail) << q.index for q in self.qps)
        dut.closed_i.value = sum((q.on and q.closed) << q.index for q in self.qps)
        for stream in (self.events, self.conns, self.errors, self.tails, self.asks):
            stream.take(self.often())
        self.answering = bool(self.reads) and self.often()
        dut.r_valid_i.value = self.answering
        if self.answering:
            dut.r_data_i.value = self.memory(self.reads[0])
        elif rng.random() < 0.1:
            dut.r_data_i.value = rng.getrandbits(512)  # of another reader
        # Grants a ring entry to the requester, which only changes with the clock.
        self.granted = self.often()

    def memory(self, address: int) -> int:
        qp = next(q for q in self.qps if q.on and q.area <= address < q.area + (1 << 20))
        offset = address - qp.area
        if offset < 0x2000:
            at = (offset - 0x1000) // 16
            return sum(qp.ring[at + i] << 128 * i for i in range(4))
        return int.from_bytes(entry_bytes(address), "little")

    # ---- the destinations of commands ----

    def handles(self) -> None:
        """Handles some dispatched commands in this cycle, at most one per FPC."""
        dut, rng = self.dut, self.rng
        done = conn_done = error_done = 0
        for item in list(self.under_way):
            if rng.random() >= self.handling:
                continue
            qp, position, how = item
            if how == "flow":
                f = rng.randrange(FPCS)
                if done >> f & 1:
                    continue
                done |= 1 << f
            elif how == "conn":
                if conn_done:
                    continue
                conn_done = 1
            else:
                if error_done:
                    continue
                error_done = 1
            self.under_way.remove(item)
            if position is not None:
                qp.unhandled.discard(position)
        dut.done_i.value, dut.conn_done_i.value = done, conn_done
        dut.error_done_i.value = error_done

    def handed(self, qp: Qp, how: str) -> None:
        """Records a dispatch. The destination may reject the command: the ring entry is its
        ERROR's."""
        self.count["refused" if how == "error" else how] += 1
        if how == "error" or self.rng.random() < 0.2:
            qp.places -= 1
            assert qp.places >= 0, "an ERROR without a place"
            how = "error"
        self.under_way.append((qp, qp.next, how))
        qp.unhandled.add(qp.next)
        qp.next += 1
        qp.silent = 0

    # ---- outputs ----

    def sees(self) -> None:
        dut = self.dut
        at_work = dut.at_work_o.value.to_unsigned()
        for qp in self.qps:
            at_rest = not at_work >> qp.index & 1
            if qp.on:
                qp.rested = qp.closed and (qp.rested or at_rest)
        if dut.ask_o.value:
            qp = self.qps[dut.ask_qp_o.value.to_unsigned()]
            if dut.grant_i.value:
                qp.places += 1
                qp.starved = 0
            else:
                qp.starved += 1
        if dut.return_o.value:
            qp = self.qps[dut.return_qp_o.value.to_unsigned()]
            qp.places -= 1
            assert qp.places >= 0, "a place is given back that nobody had"
        if (said := self.asks.sees()) is not None:
            self.reading(said[0], at_work)
        if said := self.events.sees():
            self.event(TOE.unpack("event_t", said[0]))
        if said := self.conns.sees():
            self.conn(*said)
        if said := self.errors.sees():
            self.write(TOE.unpack("write_t", said[0]))
        if said := self.tails.sees():
            self.tail(*said)
        if dut.halt_o.value:
            qp = self.qps[dut.halt_qp_o.value.to_unsigned()]
            assert qp.on and qp.breaks and not qp.broken, "halted, and it broke nothing"
            qp.broken = True
            self.count["halted"] += 1
        halted = dut.halted_o.value.to_unsigned()
        for qp in self.qps:
            assert not qp.on or bool(halted >> qp.index & 1) == qp.broken, "who is halted"
            idle = not qp.on or qp.breaks or qp.closed or not qp.generous or qp.next == qp.head
            qp.silent = 0 if idle else qp.silent + 1
            assert qp.silent < LONGEST, f"commands of {qp.index} are not taken"
        if self.answering:
            self.reads.popleft()

    def current(self, index: int) -> Qp:
        qp = self.qps[index]
        assert qp.on and not qp.broken and not qp.rested, f"something of {index}, which is gone"
        return qp

    def reading(self, address: int, at_work: int) -> None:
        assert address % 64 == 0
        found = [q for q in self.qps if q.on and q.area <= address < q.area + (1 << 20)]
        assert found, f"a read at {address:x} is nobody's"
        qp = self.current(found[0].index)
        assert at_work >> qp.index & 1, "its memory is read, and it is not at work"
        offset = address - qp.area
        if offset < 0x2000:
            last = (offset - 0x1000) // 16
            assert 0 <= last < qp.size, "what is read is not the ring"
            wanted = {p % qp.size & ~3 for p in range(qp.next, min(qp.head, qp.next + qp.size))}
            assert last in wanted, "a line without a new command"
        else:
            entries = {
                parts(qp.ring[p % qp.size])["arg0"]
                for p in range(qp.next, min(qp.head, qp.next + qp.size))
                if qp.entry(qp.ring[p % qp.size])
            }
            at = (offset - 0x2000) // 64
            assert at in entries and at < qp.addresses, "an entry that no command names"
        self.reads.append(address)

    def due(self, qp: Qp) -> tuple[str, int]:
        assert qp.next != qp.phase_at, "what nobody has written is a command"
        assert qp.next < qp.head, "more commands than there are"
        return qp.due()

    def event(self, ev: dict) -> None:
        qp = self.current(ev["qp"])
        how, cmd = self.due(qp)
        assert how == "flow", (how, parts(cmd))
        assert ev["kind"] == TOE.names["EvCommand"]
        assert ev["flow"] == qp.first + parts(cmd)["flow"], "another flow"
        assert ev["body"] == cmd << 32 | qp.next, "another command, or place of it"
        self.handed(qp, "flow")

    def conn(self, bits: int, index: int, entry: int) -> None:
        qp = self.current(index)
        how, cmd = self.due(qp)
        assert how == "conn", (how, parts(cmd))
        assert bits == cmd << 32 | qp.next, "another command, or place of it"
        if qp.entry(cmd):
            written = entry_bytes(qp.area + 0x2000 + 64 * parts(cmd)["arg0"])
            assert entry == int.from_bytes(written[:32], "big"), "another entry of the table"
        self.handed(qp, "conn")

    def write(self, job: dict) -> None:
        qp = self.current(job["qp"])
        assert job["kind"] == TOE.names["WrCommand"] and job["done"] and not job["record"]
        if parts(job["cmd"])["aux"] == REASON["PROTO"]:
            assert qp.breaks, "a sound ring is said to be broken"
            want = command(HW["ERROR"], aux=REASON["PROTO"], arg0=qp.said)
            assert job["cmd"] == want and qp.said == qp.next, "where the ring is broken"
            if qp.breaks == "phase":
                assert qp.said == qp.phase_at, "a command before the wrong one is lost"
            qp.places -= 1
            assert qp.places >= 0
            self.under_way.append((qp, None, "error"))
            self.count["proto"] += 1
            return
        how, cmd = self.due(qp)
        assert how not in ("flow", "conn"), f"{parts(cmd)} is refused"
        assert job["cmd"] == error(how, cmd, qp.next), (how, parts(cmd), parts(job["cmd"]))
        self.handed(qp, "error")

    def tail(self, value: int, index: int) -> None:
        qp = self.current(index)
        assert qp.said <= value <= qp.next, f"a tail {value} of {qp.said} to {qp.next}"
        assert all(p >= value for p in qp.unhandled), "a tail passes what is not handled"
        self.count["tired"] += value == qp.said
        qp.said = value
        self.count["tails"] += 1

    async def cycle(self, *, calm: bool = False) -> None:
        dut = self.dut
        self.hosts(calm=calm)
        self.drive()
        self.handles()
        await Timer(1, unit="ns")  # the requester changes with the clock
        asks = bool(dut.ask_o.value) and self.qps[dut.ask_qp_o.value.to_unsigned()]
        dut.grant_i.value = bool(asks) and asks.generous and self.granted
        await ReadOnly()
        self.sees()
        await RisingEdge(dut.clk_i)


@cocotb.test()
async def commands_are_handled_once(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    totals: dict[str, int] = {}
    for life in range(3):
        for n in range(6000):
            if n % 100 == 0:
                bench.odds = rng.choice([0.1, 0.5, 0.9, 1])
                bench.handling = rng.choice([0.02, 0.1, 0.5, 1])
            await bench.cycle()
        if life < 2:  # reset with operations pending
            for name, value in bench.count.items():
                totals[name] = totals.get(name, 0) + value
            for qp in bench.qps:
                qp.on, qp.places = False, 0
            bench.begin()
            bench.drive()
            dut.r_valid_i.value = dut.grant_i.value = 0
            dut.done_i.value = dut.conn_done_i.value = dut.error_done_i.value = 0
            await reset(dut)
    bench.odds = bench.handling = 1
    for _ in range(2000):
        await bench.cycle(calm=True)
    for qp in bench.qps:
        assert qp.breaks or qp.closed or not qp.on or qp.head == qp.said, "commands are left"
        assert qp.breaks is None or qp.broken or qp.closed, "who broke his ring is not halted"
        assert qp.places == 0, "a place in a HW ring is lost"
    totals = {name: totals.get(name, 0) + value for name, value in bench.count.items()}
    assert min(totals[n] for n in ("flow", "conn", "refused", "tails")) > 100, totals
    assert min(totals[n] for n in ("tired", "halted", "proto", "left")) > 5, totals
    assert totals["halted"] > totals["proto"], totals  # also with a full HW ring


def test_cmd():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


RTL = "src/toe/rtl/toe_cmd.sv"
FAULTS = {
    "a slot that there is not": (
        "slot_ok = !to_flow || (cmd_flow(cmd) >> q.slots_log) == 32'd0;",
        "slot_ok = !to_flow || (cmd_flow(cmd)[15:0] >> q.slots_log) == 16'd0;",
    ),
    "a flag of another command": (
        "flags_ok = (cmd_flags(cmd) & ~allowed)", "flags_ok = (7'd0 & ~allowed)",
    ),
    "the tail passes what is under way": (
        "Wait: if (out_q == '0 && back_q == '0) step_q <= Tail;",
        "Wait: if (back_q == '0) step_q <= Tail;",
    ),
    "two places that come back at once are one": (
        "back_q <= back_q + dones - 3'(return_o);",
        "back_q <= back_q + 3'(dones != '0) - 3'(return_o);",
    ),
    "who waits for a place holds up all others": (
        "wire tired = waited_q == 6'(Patience);", "wire tired = 1'b0;",
    ),
    "who is gone is served": (
        "!broken_q[next_q] && !closed_i[next_q];", "!broken_q[next_q];",
    ),
    "a queue pair begins where the last one ended": (
        "          tail_q[i] <= '0;\n          broken_q[i] <= 1'b0;",
        "          broken_q[i] <= 1'b0;",
    ),
    "the entry of another command": (
        "64'(q.addresses_at) + (64'(cmd_arg0(cmd)) << 6)};",
        "64'(q.addresses_at) + (64'(cmd_arg0(cmd)[1:0] & 2'd2) << 6)};",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on a toe_cmd with this fault."""
    finds((RTL, *FAULTS[why]), LISTS, TOP, MODULE, parameters=PARAMETERS)
