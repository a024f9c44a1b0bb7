# SPDX-License-Identifier: Apache-2.0
"""CONNECTs that wait for a neighbour: each is retried in time and not early, and times out once.
CANCEL and OPTION find only those of their queue pair; none affects another."""

from dataclasses import dataclass

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, packed, seeded, simulate

PLACES = 8
AROUND = 1 << 32
TICK = 1 << 20  # ns
PATIENCE, AGAIN = 3 * 10**9 // TICK, 100 * 10**6 // TICK
FLOW, AUX, ARG0 = 32, 16, 64  # bits of a command (docs/device-contract.md)
USER_TIMEOUT, SYNCNT, TOS = 7, 20, 42  # in AUX of OPTION
OPTIONS = (SYNCNT, USER_TIMEOUT, TOS, 1, 8, 21)


def before(a: int, b: int) -> bool:
    return (a - b) % AROUND >= AROUND // 2


@dataclass
class Waiting:
    qp: int
    cookie: int
    command: int
    entry: int
    deadline: int
    again: int
    syncnt: int = 0
    user_timeout: int = 0
    tos: int = 0

    def bits(self) -> int:
        ahead = [(self.syncnt, 7), (self.user_timeout, 32), (self.tos, 8)]
        whole = [(1, 1), (self.qp, 6), (self.command, 160), (self.entry, 256), *ahead]
        return packed(*whole, (self.deadline, 32), (self.again, 32))


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.now = AROUND - 4 * PATIENCE
        self.places: list[Waiting | None] = [None] * PLACES
        self.due: set[int] = set()  # of the previous cycle
        assert len(dut.item_o) == 1 + 6 + 160 + 256 + 47 + 64

    def command(self, cookie: int, option: int = 0, value: int = 0) -> int:
        """Returns a command with its position in the ring; the other bits are random."""
        rng = self.rng
        cmd = rng.getrandbits(128)
        for at, width, number in ((FLOW, 32, cookie), (AUX, 16, option), (ARG0, 32, value)):
            cmd = cmd & ~((1 << width) - 1 << at) | number << at
        return cmd << 32 | rng.getrandbits(32)

    async def cycle(self, *, at: int | None = None, qp: int = 0, command: int = 0, **does) -> None:
        """Runs one cycle with these inputs; unused inputs are random. Checks the outputs."""
        dut, rng = self.dut, self.rng
        for name in ("put", "again", "drop", "cancel", "option", "forget"):
            getattr(dut, f"{name}_i").value = name in does
        at = rng.randrange(PLACES) if at is None else at
        dut.tick_i.value, dut.at_i.value, dut.qp_i.value = self.now % AROUND, at, qp
        dut.command_i.value, dut.entry_i.value = command, does.get("entry", 0)
        await ReadOnly()
        due, self.due = self.due, set()
        if not {"again", "drop", "cancel", "forget"} & set(does):
            self.due = {i for i, w in enumerate(self.places) if w and not before(self.now, w.again)}
        assert bool(dut.due_o.value) == bool(due), "whether one is to be tried"
        if due:
            self.next = dut.next_o.value.to_unsigned()
            assert self.next in due, "who is tried, and it is not its time"
            assert dut.item_o.value.to_unsigned() == self.places[self.next].bits()
        assert bool(dut.room_o.value) == (None in self.places)
        if self.places[at]:
            patient = before(self.now, self.places[at].deadline)
            assert bool(dut.patient_o.value) == patient, "whether its patience has ended"
        cookie = command >> 32 + FLOW & 0xFFFFFFFF
        self.same = [i for i, w in enumerate(self.places) if w and (w.qp, w.cookie) == (qp, cookie)]
        assert bool(dut.named_o.value) == bool(self.same), "whether one is named"
        await RisingEdge(dut.clk_i)

    async def put(self) -> None:
        rng = self.rng
        qp, cookie, entry = rng.randrange(3), rng.randrange(6), rng.getrandbits(256)
        command = self.command(cookie)
        await self.cycle(qp=qp, command=command, put=1, entry=entry)
        new = Waiting(qp, cookie, command, entry, self.now + PATIENCE, self.now + 1)
        new.deadline %= AROUND
        new.again %= AROUND
        self.places[self.places.index(None)] = new

    async def again(self, at: int) -> None:
        await self.cycle(at=at, again=1)
        self.places[at].again = (self.now + AGAIN) % AROUND

    async def drop(self, at: int) -> None:
        await self.cycle(at=at, drop=1)
        self.places[at] = None

    async def cancel(self) -> int:
        rng = self.rng
        await self.cycle(qp=rng.randrange(3), command=self.command(rng.randrange(6)), cancel=1)
        for i in self.same:
            self.places[i] = None
        return len(self.same)

    async def option(self) -> int:
        rng = self.rng
        number, value = rng.choice(OPTIONS), rng.choice([0, 127, 128, 255, 256, rng.randrange(300)])
        command = self.command(rng.randrange(6), number, value)
        await self.cycle(qp=rng.randrange(3), command=command, option=1)
        for i in self.same:
            kept = self.places[i]
            if number == SYNCNT and value <= 127:
                kept.syncnt = value
            elif number == USER_TIMEOUT:
                kept.user_timeout = value
            elif number == TOS and value <= 255:
                kept.tos = value & 0xFC  # ECN's bits are not the host's
        return len(self.same)

    async def forget(self) -> int:
        qp = self.rng.randrange(3)
        await self.cycle(qp=qp, forget=1)
        gone = [i for i, w in enumerate(self.places) if w and w.qp == qp]
        for i in gone:
            self.places[i] = None
        return len(gone)


@cocotb.test()
async def who_waits_is_tried_until_its_patience_ends(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    count = dict.fromkeys(("put", "full", "again", "over", "cancel", "option", "forget"), 0)
    puts = 0.3
    for n in range(12000):
        if n % 200 == 0:
            puts = rng.choice([0.02, 0.1, 0.5])
        bench.now += rng.choice([0, 0, 0, 1, 1, 10, AGAIN])
        await bench.cycle()
        kind = rng.random()
        if kind < puts:
            if None in bench.places:
                await bench.put()
                count["put"] += 1
            else:
                count["full"] += 1
        elif kind > 0.98:
            count["cancel"] += await bench.cancel()
        elif kind > 0.9:
            count["option"] += await bench.option()
        elif kind > 0.898:
            count["forget"] += await bench.forget()
        due = [i for i, w in enumerate(bench.places) if w and not before(bench.now, w.again)]
        if due and rng.random() < 0.8:
            await bench.cycle()
            await bench.cycle()
            at = bench.next
            if before(bench.now, bench.places[at].deadline) and rng.random() < 0.95:
                await bench.again(at)
                count["again"] += 1
            else:
                await bench.drop(at)
                count["over"] += 1
    assert bench.now > AROUND, "the clock did not go around"
    assert min(count.values()) > 20, count


def test_waits():
    simulate(["src/toe/conn_waits.f"], "conn_waits", "gateware.src.toe.tb.test_waits")
