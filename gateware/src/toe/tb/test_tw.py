# SPDX-License-Identifier: Apache-2.0
"""TIME-WAIT: connections leave in order and not early, and each segment is handled as RFC 9293,
RFC 6191 and RFC 5961 require, across wraps of the clock and of the sequence space."""

from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, packed, seeded, simulate

FLOW_BITS = 3
SIZE = 1 << FLOW_BITS
AROUND = 1 << 32
TICK = 1 << 20  # ns
TWO_MSL = 60 * 10**9 // TICK
HALF_SECOND = 500 * 10**6 // TICK
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


def before(a: int, b: int) -> bool:
    return (a - b) % AROUND >= AROUND // 2


@dataclass
class Item:
    snd_nxt: int
    rcv_nxt: int
    ts: bool
    ts_recent: int
    ts_offset: int
    said_at: int
    at: int = 0

    def bits(self, live: int) -> int:
        fields = [(self.snd_nxt, 32), (self.rcv_nxt, 32), (self.ts, 1), (self.ts_recent, 32)]
        return packed(*fields, (self.ts_offset, 32), (self.said_at, 32), (self.at, 32), (live, 1))


@dataclass
class Segment:
    seq: int
    flags: int
    length: int
    stamped: bool
    tsval: int

    def bits(self) -> int:
        options = packed((0, 17 + 5 + 1), (self.stamped, 1), (self.tsval, 32), (0, 32 + 3 + 256))
        before_len = packed((self.seq, 32), (0, 32 + 16 + 16), (self.flags, 8), (0, 2))
        return (before_len << 16 | self.length) << 18 + 347 | options


def judged(item: Item, s: Segment, full: bool, now: int) -> dict[str, bool]:
    both = item.ts and s.stamped
    stale = both and before(s.tsval, item.ts_recent)
    newer = both and before(item.ts_recent, s.tsval)
    syn = s.flags & (SYN | ACK | RST | FIN) == SYN
    fin = s.flags & (FIN | SYN | RST) == FIN
    # RFC 6191 2: a later stamp, or else a later number.
    anew = syn and (newer or (not stale and before(item.rcv_nxt, s.seq)))
    last = (s.seq + s.length + 1) % AROUND == item.rcv_nxt
    odd = s.flags & (SYN | FIN) or s.length or s.seq != item.rcv_nxt or stale
    odd = bool(odd) and not s.flags & RST
    rested = (now - item.said_at) % AROUND >= HALF_SECOND
    return {
        "anew": anew,
        "again": fin and last and not stale and not full,
        "says": odd and rested,
        "limited": odd and not rested,
    }


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.now = AROUND - 20 * TWO_MSL
        self.ring: deque[tuple[int, Item]] = deque()
        self.head = 0
        assert len(dut.item_o) == 32 * 6 + 2 and len(dut.seg_i) == 32 * 3 + 8 + 2 + 16 + 18 + 347

    async def cycle(self, **does) -> None:
        """Runs one cycle with these inputs; unused inputs are random."""
        dut, rng = self.dut, self.rng
        dut.tick_i.value = self.now % AROUND
        for name in ("push", "pop", "said"):
            getattr(dut, f"{name}_i").value = name in does
        index = does.get("look")
        dut.look_i.value = index is not None
        dut.index_i.value = rng.randrange(SIZE) if index is None else index
        item = does.get("push")
        dut.push_item_i.value = item.bits(0) if item else rng.getrandbits(len(dut.push_item_i))
        if "segment" in does:
            dut.seg_i.value = does["segment"].bits()
            dut.end_i.value = (does["segment"].seq + does["segment"].length + 1) % AROUND
        await ReadOnly()
        assert bool(dut.some_o.value) == bool(self.ring)
        assert bool(dut.full_o.value) == (len(self.ring) == SIZE)
        assert dut.head_o.value.to_unsigned() == self.head
        if self.ring:
            assert dut.tail_o.value.to_unsigned() == self.ring[0][0]
        self.seen = {n: bool(getattr(dut, f"{n}_o").value) for n in VERDICTS}
        self.item = dut.item_o.value.to_unsigned()
        self.due = bool(dut.due_o.value)
        await RisingEdge(dut.clk_i)

    async def push(self) -> None:
        rng = self.rng
        said_at = rng.choice([self.now - HALF_SECOND, self.now])
        item = Item(
            rng.getrandbits(32),
            rng.choice([rng.randrange(9), rng.getrandbits(32)]),
            rng.random() < 0.6,
            rng.choice([rng.randrange(9), rng.getrandbits(32)]),
            rng.getrandbits(32),
            said_at % AROUND,
        )
        await self.cycle(push=item)
        item.at = (self.now + TWO_MSL) % AROUND
        self.ring.append((self.head, item))
        self.head = (self.head + 1) % SIZE

    async def tail(self) -> bool:
        """Returns whether the oldest is due, which is known two cycles after it became the
        oldest."""
        await self.cycle()
        await self.cycle()
        due = bool(self.ring) and not before(self.now % AROUND, self.ring[0][1].at)
        assert self.due == due, "who leaves, and when"
        if self.ring:
            assert self.item == self.ring[0][1].bits(1), "what is kept of the oldest"
        return due

    async def pop(self) -> None:
        await self.cycle(pop=1)
        self.ring.popleft()

    def segment(self, item: Item) -> Segment:
        rng = self.rng
        flags = rng.choice([ACK, ACK, SYN, FIN | ACK, FIN | ACK, SYN | ACK, RST, RST | FIN, FIN])
        flags |= rng.choice([0, 0, PSH])
        length = rng.choice([0, 0, 1, 1460])
        near = rng.choice([-1, 0, 0, 1, -1 - length, -1 - length, AROUND // 2])
        seq = (item.rcv_nxt + near) % AROUND
        tsval = (item.ts_recent + rng.choice([-1, 0, 1, rng.getrandbits(32)])) % AROUND
        return Segment(seq, flags, length, rng.random() < 0.6, tsval)

    async def judge(self) -> dict[str, bool]:
        index, item = self.rng.choice(self.ring)
        segment = self.segment(item)
        await self.cycle(look=index, segment=segment)
        await self.cycle(look=index)
        assert self.item == item.bits(1), "what is kept of one"
        due = judged(item, segment, len(self.ring) == SIZE, self.now)
        assert self.seen == due, f"{item} {segment}: {self.seen}, not {due}"
        if self.seen["says"]:
            await self.cycle(look=index, said=1)
            item.said_at = self.now % AROUND
        return self.seen


VERDICTS = ("anew", "again", "says", "limited")


@cocotb.test()
async def who_waits_and_what_is_said(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    count = dict.fromkeys((*VERDICTS, "left", "early", "full", "none"), 0)
    fills = 0.3
    for n in range(6000):
        if n % 100 == 0:
            fills = rng.choice([0.05, 0.2, 0.6])
        bench.now += rng.choice([0, 0, 1, 100, HALF_SECOND - 1, HALF_SECOND, TWO_MSL // 9])
        if await bench.tail():
            await bench.pop()
            count["left"] += 1
        elif len(bench.ring) < SIZE and rng.random() < fills:
            await bench.push()
        elif len(bench.ring) == SIZE and rng.random() < 0.2:
            await bench.pop()  # evicted for a newer one
            count["early"] += 1
        elif bench.ring:
            for name, yes in (await bench.judge()).items():
                count[name] += yes
            count["full"] += len(bench.ring) == SIZE
        else:
            count["none"] += 1
    assert bench.now > AROUND, "the clock did not go around"
    assert min(count.values()) > 20, count


def test_tw():
    simulate(
        ["src/toe/conn_tw.f"],
        "conn_tw",
        "gateware.src.toe.tb.test_tw",
        parameters={"FlowBits": FLOW_BITS},
    )
