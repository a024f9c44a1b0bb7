# SPDX-License-Identifier: Apache-2.0
"""Slots of queue pairs that attach and detach, allocated and freed at random: no slot has two
owners, each belongs to its queue pair, all free ones can be allocated, and the data of each are
kept."""

from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, packed, seeded, simulate

QPS, FLOW_BITS = 4, 5
FLOWS = 1 << FLOW_BITS
SHARE = FLOWS // QPS  # slots of a queue pair at most
HALF = 1 << 5  # of info_t: above its listener


class Slots:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.qp = 0
        self.log = [0] * QPS
        self.free: list[deque[int] | None] = [None] * QPS  # None: not attached yet
        self.info = [0] * FLOWS  # used, pending, cookie, half, listener
        assert len(dut.info_o) == 1 + 1 + 32 + 1 + 5
        self.used = 1 << len(dut.info_o) - 1
        self.looked: int | None = None

    def first(self, qp: int) -> int:
        return qp * SHARE

    async def cycle(self, *, look: int | None = None, **does: int) -> None:
        """Runs one cycle with these inputs; unused inputs are random."""
        dut, rng = self.dut, self.rng
        for name in ("fill", "filled", "take", "give", "accept"):
            getattr(dut, f"{name}_i").value = name in does
        slot = rng.randrange(FLOWS)
        for name in ("fill", "give", "accept"):
            slot = does.get(name, slot)
        dut.slot_i.value = slot
        dut.taken_i.value = does.get("take", rng.randrange(FLOWS))
        dut.info_i.value = does.get("info", rng.getrandbits(len(dut.info_i)))
        dut.qp_i.value = self.qp
        look = rng.randrange(FLOWS) if look is None else look
        dut.look_i.value = look
        dut.config_i.value = sum(
            packed((1, 1), (0, 64 + 10), (self.log[q], 5), (0, 23), (self.first(q), 16), (0, 192))
            << q * (len(dut.config_i) // QPS)
            for q in range(QPS)
        )
        await ReadOnly()
        if self.looked is not None:
            assert dut.info_o.value.to_unsigned() == self.looked, "what is known of a slot"
        self.looked = self.info[look]  # as it was before this cycle
        self.next = dut.next_o.value.to_unsigned()
        free = dut.free_o.value.to_unsigned()
        used = dut.used_o.value.to_unsigned()
        for q in range(QPS):
            if self.free[q] is None:
                continue
            n = len(self.free[q])
            assert free >> 16 * q & 0xFFFF == n, f"how many slots of {q} are free"
            assert used >> 16 * q & 0xFFFF == (1 << self.log[q]) - n
        await RisingEdge(dut.clk_i)

    async def attach(self, qp: int) -> None:
        self.qp, self.free[qp] = qp, None
        self.log[qp] = self.rng.randrange(SHARE.bit_length())
        slots = range(self.first(qp), self.first(qp) + (1 << self.log[qp]))
        for slot in slots:
            await self.cycle(fill=slot)
            self.info[slot] = 0
        await self.cycle(filled=1)
        self.free[qp] = deque(slots)

    async def take(self, qp: int) -> int:
        self.qp = qp
        for _ in range(self.rng.randrange(2, 4)):
            await self.cycle()
        slot = self.next
        assert slot in self.free[qp], f"{slot} is not a free one of {qp}"
        info = self.used | self.rng.getrandbits(len(self.dut.info_i) - 1)
        await self.cycle(take=slot, info=info)
        self.free[qp].remove(slot)
        self.info[slot] = info
        return slot

    async def give(self, qp: int, slot: int) -> None:
        self.qp = qp
        await self.cycle(look=slot)
        await self.cycle(give=slot)
        if self.info[slot] & self.used:
            self.free[qp].append(slot)
        self.info[slot] = 0

    async def accept(self, qp: int, slot: int) -> None:
        self.qp = qp
        await self.cycle(look=slot)
        await self.cycle(accept=slot)
        self.info[slot] &= ~HALF


@cocotb.test()
async def each_slot_has_one_owner(dut):
    rng = seeded()
    await begin(dut)
    slots = Slots(dut, rng)
    count = dict.fromkeys(("attach", "take", "give", "twice", "accept", "all"), 0)
    for qp in range(QPS):
        await slots.attach(qp)
    takes = 0.5
    for n in range(4000):
        if n % 50 == 0:
            takes = rng.choice([0.2, 0.5, 0.9])
        qp = rng.randrange(QPS)
        mine = range(slots.first(qp), slots.first(qp) + (1 << slots.log[qp]))
        busy = [slot for slot in mine if slots.info[slot] & slots.used]
        if rng.random() < 0.01:
            await slots.attach(qp)
            count["attach"] += 1
        elif slots.free[qp] and rng.random() < takes:
            await slots.take(qp)
            count["take"] += 1
            count["all"] += not slots.free[qp]
        elif busy and rng.random() < 0.3:
            await slots.accept(qp, rng.choice(busy))
            count["accept"] += 1
        elif busy:
            slot = rng.choice(busy)
            await slots.give(qp, slot)
            count["give"] += 1
            if rng.random() < 0.1:  # its host frees it again
                await slots.give(qp, slot)
                count["twice"] += 1
        for _ in range(rng.choice([0, 0, 1, 3])):
            slots.qp = rng.randrange(QPS)
            await slots.cycle()
    assert min(count.values()) > 10, count


def test_slots():
    simulate(
        ["src/toe/conn_slots.f"],
        "conn_slots",
        "gateware.src.toe.tb.test_slots",
        parameters={"Qps": QPS, "FlowBits": FLOW_BITS},
    )
