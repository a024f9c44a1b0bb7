# SPDX-License-Identifier: Apache-2.0
"""Listeners of queue pairs that attach and detach: LISTEN, UNLISTEN and SYNs compared with a model.
A SYN goes to a matching listener with room, of the queue pair with the fewest flows; listeners that
were passed over are reported; a change never affects another listener."""

from dataclasses import dataclass

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, packed, seeded, simulate

QPS, PLACES = 3, 32
NOTHING, HEAR, ADD, REMOVE = range(4)
V6, WEAK, V6ONLY = 1, 2, 4  # flags of LISTEN (docs/device-contract.md)
IP4, IP6, LINK = 0x0A000001, 0xFD << 120 | 1, 0xFE8 << 116 | 1
MAPPED = 0xFFFF << 32
OTHERS = (IP4 + 1, IP6 + 1)
PORTS = (80, 443, 8080)


@dataclass
class Listener:
    qp: int
    id: int
    port: int
    any4: bool
    any6: bool
    addr: int
    v6: bool
    weak: bool
    backlog: int
    held: int = 0

    def where(self) -> tuple:
        return (self.port, self.any4, self.any6, self.addr)

    def hears(self, v6: bool, own: int, port: int) -> bool:
        if port != self.port:
            return False
        if v6:
            return self.any6 or (self.v6 and self.addr == own)
        return self.any4 or (not self.v6 and not self.any6 and self.addr == own)

    def bits(self) -> int:
        fields = [(1, 1), (self.qp, 6), (self.id, 32), (self.port, 16), (self.any4, 1)]
        fields += [(self.any6, 1), (self.addr, 128), (self.v6, 1), (self.weak, 1)]
        return packed(*fields, (self.backlog, 32), (self.held, 32))


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.places: list[Listener | None] = [None] * PLACES
        self.free, self.flows, self.closed = [1] * QPS, [0] * QPS, [False] * QPS
        dut.own_i.value = packed(
            *[(0, 48), (IP4, 32), (0, 6 + 32), (1, 1), (IP6, 128), (LINK, 128), (0, 8 + 128)],
            (0, 16 + 4 + 128 + 384),
        )
        assert len(dut.listener_o) == 251 and len(dut.tuple_i) == 1 + 256 + 32

    async def cycle(self, op: int = NOTHING, qp: int | None = None, **does: int) -> None:
        """Runs one cycle with these inputs; unused inputs are random."""
        dut, rng = self.dut, self.rng
        dut.op_i.value = op
        for name in ("clear", "put", "more", "less", "forget"):
            getattr(dut, f"{name}_i").value = name in does
        dut.qp_i.value = rng.randrange(QPS) if qp is None else qp
        for name in ("tuple", "cmd", "entry"):
            handle = getattr(dut, f"{name}_i")
            handle.value = does.get(name, rng.getrandbits(len(handle)))
        who = does.get("less", rng.randrange(PLACES))
        dut.who_i.value = dut.less_who_i.value = who
        dut.full_i.value = sum((n == 0) << q for q, n in enumerate(self.free))
        dut.flows_i.value = sum(n << 16 * q for q, n in enumerate(self.flows))
        dut.closed_i.value = sum(1 << q for q in range(QPS) if self.closed[q])
        await ReadOnly()
        if self.places[who]:
            assert dut.who_o.value.to_unsigned() == self.places[who].bits()
        else:
            assert not dut.who_o.value.to_unsigned() >> 250, "a listener that is gone"
        counts = dut.count_o.value.to_unsigned()
        for q in range(QPS):
            n = sum(1 for p in self.places if p and p.qp == q)
            assert counts >> 8 * q & 0xFF == n, f"how many listeners {q} has"
        self.best = dut.best_o.value.to_unsigned()
        self.listener = dut.listener_o.value.to_unsigned()
        for name in ("valid", "last", "same", "equal", "found", "passed"):
            setattr(self, name, bool(getattr(dut, f"{name}_o").value))
        await RisingEdge(dut.clk_i)

    async def walk(self, op: int, **does: int) -> None:
        """Walks through all places; the outputs are those of the last cycle."""
        await self.cycle(clear=1)
        for _ in range(PLACES + 1):  # one cycle of read latency
            await self.cycle(op, **does)
            if self.last:
                return
        raise AssertionError("a walk has no end")

    def find(self, qp: int, number: int) -> int | None:
        found = (i for i, p in enumerate(self.places) if p and (p.qp, p.id) == (qp, number))
        return next(found, None)

    def asked(self, qp: int, number: int) -> tuple[Listener, bool, int, int]:
        """Returns a random LISTEN: the listener, whether it is valid, its command and entry."""
        rng = self.rng
        weak, only = rng.random() < 0.2, rng.random() < 0.5
        port, backlog = rng.choice(PORTS), rng.randrange(3)
        flags, arg0, remote, right = weak * WEAK, 0, rng.getrandbits(128), True
        new = Listener(qp, number, port, False, False, 0, False, weak, backlog)
        match rng.choice(["any4", "one4", "any6", "one6", "mapped"]):
            case "any4":
                new.any4, flags = True, flags | only * V6ONLY  # no effect for IPv4
            case "one4":
                new.addr = arg0 = rng.choice([IP4, IP4, OTHERS[0]])
                right = arg0 == IP4
            case "any6":
                new.any6, new.any4, remote = True, not only, 0
                flags |= V6 | only * V6ONLY
            case "one6":
                new.v6, flags = True, flags | V6
                new.addr = remote = rng.choice([IP6, LINK, OTHERS[1]])
                right = remote != OTHERS[1]
            case "mapped":
                new.addr, flags = rng.choice([IP4, IP4, OTHERS[0]]), flags | V6
                remote, right = MAPPED | new.addr, new.addr == IP4
        fields = [(backlog, 32), (arg0, 32), (number, 32), (port, 16), (rng.randrange(2), 1)]
        return new, right, packed(*fields, (flags, 7), (1, 8)), remote << 128

    async def listen(self) -> str:
        rng = self.rng
        qp, number = rng.randrange(QPS), rng.randrange(16)
        new, right, cmd, entry = self.asked(qp, number)
        await self.cycle(qp=qp, cmd=cmd, entry=entry)
        assert self.valid == right, "whether an address is ours"
        if not right:
            return "wrong"
        at = self.find(qp, number)
        await self.walk(ADD, qp=qp, cmd=cmd, entry=entry)
        assert self.same == (at is not None)
        if at is not None:
            old = self.places[at]
            assert self.equal == (old.where() == new.where())
            if self.equal:
                old.backlog, old.weak = new.backlog, new.weak
            return "again" if self.equal else "other"
        # The result is known a cycle later.
        await self.cycle(qp=qp, cmd=cmd, entry=entry)
        assert self.found == (None in self.places), "whether there is room"
        if not self.found:
            return "full"
        await self.cycle(qp=qp, cmd=cmd, entry=entry, put=1)
        assert self.places[self.best] is None, "a listener takes the place of another"
        self.places[self.best] = new
        return "new"

    async def unlisten(self) -> str:
        qp, number = self.rng.randrange(QPS), self.rng.randrange(16)
        at = self.find(qp, number)
        cmd = self.rng.getrandbits(64) << 64 | number << 32 | self.rng.getrandbits(32)
        await self.walk(REMOVE, qp=qp, cmd=cmd)
        assert self.same == (at is not None), "whether there is one of that id"
        if at is None:
            return "nobody"
        self.places[at] = None
        await self.cycle()
        assert self.best == at, "which one it was"
        return "gone"

    async def syn(self) -> str:
        rng = self.rng
        v6 = rng.random() < 0.5
        own = rng.choice([IP6, LINK]) if v6 else IP4
        port = rng.choice((*PORTS, 81))
        fields = [(v6, 1), (rng.getrandbits(128), 128), (own, 128), (rng.getrandbits(16), 16)]
        await self.walk(HEAR, tuple=packed(*fields, (port, 16)))
        hear = [(i, p) for i, p in enumerate(self.places) if p and p.hears(v6, own, port)]
        fit = [
            (self.flows[p.qp], i)
            for i, p in hear
            if p.held <= p.backlog and self.free[p.qp] and not self.closed[p.qp] and not p.weak
        ]
        await self.cycle()
        assert self.found == bool(fit), "whether somebody takes a SYN"
        assert self.passed == (len(fit) < len(hear)), "whether somebody was passed over"
        if not fit:
            return "passed" if hear else "unheard"
        at = min(fit)[1]
        assert self.best == at, f"{self.best} takes a SYN, not {at}"
        assert self.listener == self.places[at].bits()
        if rng.random() < 0.9:
            await self.cycle(more=1)
            self.places[at].held += 1
        return "taken"

    async def less(self) -> None:
        held = [i for i, p in enumerate(self.places) if p and p.held]
        if held:
            at = self.rng.choice(held)
            await self.cycle(less=at)
            self.places[at].held -= 1

    async def forget(self) -> str:
        qp = self.rng.randrange(QPS)
        await self.cycle(qp=qp, forget=1)
        self.places = [None if p and p.qp == qp else p for p in self.places]
        return "forgotten"


@cocotb.test()
async def each_syn_has_its_listener(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    kinds = ("new", "again", "other", "wrong", "full", "gone", "nobody", "taken", "passed")
    count = dict.fromkeys((*kinds, "unheard", "forgotten"), 0)
    grows = 0.5
    for n in range(4000):
        if n % 100 == 0:
            grows = rng.choice([0.1, 0.9])
        if rng.random() < 0.2:
            bench.free = [rng.choice([0, 1, 9]) for _ in range(QPS)]
            bench.flows = [rng.randrange(4) for _ in range(QPS)]
            bench.closed = [rng.random() < 0.2 for _ in range(QPS)]
        kind = rng.random()
        if kind < 0.5:
            said = await bench.syn()
        elif kind < 0.99:
            said = await (bench.listen() if rng.random() < grows else bench.unlisten())
        else:
            said = await bench.forget()
        count[said] += 1
        if rng.random() < 0.4:
            await bench.less()
        for _ in range(rng.choice([0, 0, 1, 3])):
            await bench.cycle()
    assert min(count.values()) > 10, count


def test_listeners():
    simulate(
        ["src/toe/conn_listeners.f"],
        "conn_listeners",
        "gateware.src.toe.tb.test_listeners",
        parameters={"Qps": QPS},
    )
