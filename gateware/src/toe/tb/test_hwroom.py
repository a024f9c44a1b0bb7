# SPDX-License-Identifier: Apache-2.0
"""Credit for HW ring entries, taken, returned and written at random; some hosts break their ring.
No more credit than entries is granted, none is withheld, each requester has its turn, and a host
that broke its ring gets none."""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, packed, seeded, simulate

QPS, ASKERS = 3, 3
AROUND = 1 << 32
LATE = 4  # cycles until a returned, written or consumed entry counts as room
RECENT = 3  # cycles between two grants of a ring with few free entries


class Ring:
    """One queue pair: entries consumed by the host, entries written, and credit by requester."""

    def __init__(self) -> None:
        self.on = self.bad = False
        self.log = self.head = self.tail = self.seen = 0
        self.promised = 0
        self.steady = 0  # cycles in which there was room
        self.since = 0  # ... since the last grant

    def begin(self, rng) -> None:
        self.on, self.bad, self.log = True, False, rng.randrange(1, 6)
        # All counts start at zero; here all are advanced together, so that they wrap in the test.
        self.head = self.tail = rng.choice([0, AROUND - rng.randrange(1, 40)])
        self.seen = 0

    def broken(self) -> bool:
        """Returns whether the tail is outside of the range from the old tail to the head, modulo
        2^32."""
        return (self.tail - self.seen) % AROUND > (self.head - self.seen) % AROUND

    def room(self) -> bool:
        used = (self.head - self.seen) % AROUND + self.promised
        return self.on and not self.bad and used < 1 << self.log

    def sure(self) -> bool:
        """Returns whether there has been room for so long that a request must be granted."""
        return self.room() and self.steady >= LATE and self.since >= RECENT

    def takes(self, rng) -> None:
        """Moves the tail, as the host."""
        ahead = (self.head - self.tail) % AROUND
        if not self.bad and rng.random() < 0.3:
            self.tail = (self.tail + rng.randrange(ahead + 1)) % AROUND
        if rng.random() < 0.002:
            self.tail = (self.tail + rng.choice([-1, -2, ahead + 1, AROUND // 2])) % AROUND

    def clock(self, granted: bool) -> None:
        self.steady = self.steady + 1 if self.room() and not self.broken() else 0
        self.since = 0 if granted else self.since + 1
        if not self.on:
            self.bad, self.seen = False, 0
        elif self.broken():
            self.bad = True
        else:
            self.seen = self.tail


def config(ring: Ring) -> int:
    return packed((ring.on, 1), (0, 64), (0, 5), (ring.log, 5), (0, 15 + 13 + 16 + 6 * 32))


def lanes(values, width: int) -> int:
    return sum(value << width * i for i, value in enumerate(values))


@cocotb.test()
async def no_ring_is_overrun(dut):
    rng = seeded()
    await begin(dut)
    width = len(dut.qp_i) // QPS
    assert width == 1 + 64 + 10 + 15 + 13 + 16 + 6 * 32
    rings = [Ring() for _ in range(QPS)]
    held: list[list[int]] = [[] for _ in range(ASKERS)]  # credit of each: the queue pairs
    asks: list[int | None] = [None] * ASKERS
    waited = [0] * ASKERS
    unanswered = [0] * ASKERS
    count = {"granted": 0, "returned": 0, "written": 0, "broken": 0, "left": 0, "refused": 0}
    busy = 0.5
    for n in range(20000):
        if n % 100 == 0:
            busy = rng.choice([0.1, 0.5, 1])
        for i in range(ASKERS):
            if asks[i] is None and rng.random() < busy:
                asks[i] = rng.randrange(QPS)
        back = [
            held[i].pop(rng.randrange(len(held[i]))) if held[i] and rng.random() < 0.2 else None
            for i in range(ASKERS)
        ]
        writers = [places for places in held if places]
        writes = rng.choice(writers).pop(0) if writers and rng.random() < 0.6 else None
        dut.qp_i.value = lanes([config(ring) for ring in rings], width)
        dut.hw_head_i.value = lanes([ring.head for ring in rings], 32)
        dut.hw_tail_i.value = lanes([ring.tail for ring in rings], 32)
        dut.ask_i.value = lanes([a is not None for a in asks], 1)
        dut.ask_qp_i.value = lanes([a or 0 for a in asks], 6)
        takes = [rng.random() < 0.8 for _ in range(ASKERS)]
        dut.take_i.value = 0
        dut.return_i.value = lanes([b is not None for b in back], 1)
        dut.return_qp_i.value = lanes([b or 0 for b in back], 6)
        dut.written_i.value, dut.written_qp_i.value = writes is not None, writes or 0
        # A granted entry may be taken in the same cycle only.
        dut.take_i.value = lanes(takes, 1)
        await ReadOnly()
        grants = dut.grant_o.value.to_unsigned()
        bad = dut.bad_tail_o.value.to_unsigned()
        assert bad == lanes([ring.bad for ring in rings], 1), "whose tail is wrong"
        refuses = dut.refuse_o.value.to_unsigned()
        assert grants.bit_count() + refuses.bit_count() <= 1
        for i in range(ASKERS):
            if refuses >> i & 1:
                assert asks[i] is not None, "a refusal of what nobody asked for"
                ring = rings[asks[i]]
                settled = ring.room() and min(ring.steady, ring.since) > LATE + RECENT
                assert not settled, f"a place of {asks[i]} is refused"
                count["refused"] += 1
            # A request to a full ring must be answered.
            full = asks[i] is not None and rings[asks[i]].steady == 0 and rings[asks[i]].on
            unanswered[i] = 0 if (grants | refuses) >> i & 1 or not full else unanswered[i] + 1
            assert unanswered[i] <= (ASKERS - 1) * (1 + RECENT) + LATE, f"asker {i} hears nothing"
            if grants >> i & 1:
                assert asks[i] is not None, "a grant that nobody asked for"
                assert rings[asks[i]].room(), f"a place of {asks[i]}, which has none"
            may = asks[i] is not None and rings[asks[i]].sure() and not grants >> i & 1
            waited[i] = waited[i] + 1 if may else 0
            # Each of the others has a turn, which is kept while its ring pauses after a grant.
            most = (ASKERS - 1) * (1 + RECENT)
            assert waited[i] <= most, f"asker {i} does not get a place that there is"
        await RisingEdge(dut.clk_i)
        for q, ring in enumerate(rings):
            ring.clock(any(grants >> i & 1 and takes[i] and asks[i] == q for i in range(ASKERS)))
        for i in range(ASKERS):
            if grants >> i & 1 and takes[i]:
                rings[asks[i]].promised += 1
                held[i].append(asks[i])
                asks[i] = None
                count["granted"] += 1
            elif asks[i] is not None and rng.random() < 0.1:
                asks[i] = None
            if back[i] is not None:
                rings[back[i]].promised -= 1
                count["returned"] += 1
        if writes is not None:
            rings[writes].promised -= 1
            rings[writes].head = (rings[writes].head + 1) % AROUND
            count["written"] += 1
        for ring in rings:
            if ring.on:
                ring.takes(rng)
                assert ring.promised <= 1 << ring.log
            if ring.on and rng.random() < (0.02 if ring.bad else 0.001):
                ring.on = False
                count["broken" if ring.bad else "left"] += 1
            elif not ring.on and ring.promised == 0 and rng.random() < 0.05:
                ring.begin(rng)
    assert count["granted"] > 1000 and min(count.values()) > 10, count


def test_hwroom():
    simulate(
        ["src/toe/toe_hwroom.f"],
        "toe_hwroom",
        "gateware.src.toe.tb.test_hwroom",
        parameters={"Qps": QPS, "Askers": ASKERS},
    )
