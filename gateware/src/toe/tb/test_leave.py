# SPDX-License-Identifier: Apache-2.0
"""Queue pairs detach in sequence and at once, beside a queue that moves at random: none is reported
as detached while it has waiting or active work, and each is when none is left."""

from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, seeded, simulate

QPS = 4
DEPTH = 12
LONGEST = 3 * DEPTH  # cycles of a moving queue: the previous round and the own one


class Queue:
    """The requests of FPCs: queue pairs in order; the first one is active for a while."""

    def __init__(self, rng) -> None:
        self.rng = rng
        self.waits: deque[int] = deque()
        self.old = 0  # of them were queued at the start of a round
        self.works: int | None = None

    def step(self, may: list[int], speed: float) -> None:
        if self.works is not None and self.rng.random() < speed:
            self.works = None
        if self.works is None and self.waits:
            self.works = self.waits.popleft()
            self.old = max(self.old - 1, 0)
        if may and len(self.waits) < DEPTH and self.rng.random() < 0.6:
            self.waits.append(self.rng.choice(may))


@cocotb.test()
async def who_is_gone_has_nothing_left(dut):
    rng = seeded()
    await begin(dut)
    queue = Queue(rng)
    reset = [False] * QPS
    patience = [0] * QPS
    gone = together = 0
    speed = leaving = 0.0
    late = was = False  # drain may be reported a cycle later
    for n in range(20000):
        if n % 200 == 0:
            speed, leaving = rng.choice([0.05, 0.5, 1]), rng.choice([0.005, 0.05, 0.5])
            late = rng.random() < 0.5
        dut.reset_i.value = sum(1 << q for q in range(QPS) if reset[q])
        dut.draining_i.value = was if late else queue.old > 0
        was = queue.old > 0
        dut.at_work_i.value = 0 if queue.works is None else 1 << queue.works
        await ReadOnly()
        detached = dut.detached_o.value.to_unsigned()
        drains = bool(dut.drain_o.value)
        for q in range(QPS):
            if detached >> q & 1:
                assert reset[q], f"{q} is gone, and was not to go"
                assert q not in queue.waits, f"{q} is gone, and something of it waits"
                assert q != queue.works, f"{q} is gone, and something of it is at work"
            moved = speed == 1 and reset[q] and not detached >> q & 1
            patience[q] = patience[q] + 1 if moved else 0
            assert patience[q] <= LONGEST, f"{q} is never gone"
        together += detached.bit_count() > 1
        await RisingEdge(dut.clk_i)
        if drains:  # the entries queued now; those of this cycle follow
            queue.old = len(queue.waits)
        for q in range(QPS):
            if detached >> q & 1 and rng.random() < 0.5:
                reset[q] = False  # its number may be reused at once
                gone += 1
        queue.step([q for q in range(QPS) if not reset[q]], speed)
        for q in range(QPS):
            # Not in the cycle in which it is reported: toe_conn must see that first.
            if not reset[q] and not detached >> q & 1 and rng.random() < leaving:
                reset[q] = True
    assert gone > 500 and together > 100, (gone, together)


def test_leave():
    simulate(
        ["src/toe/toe_leave.f"],
        "toe_leave",
        "gateware.src.toe.tb.test_leave",
        parameters={"Qps": QPS},
    )
