# SPDX-License-Identifier: Apache-2.0
"""The sums alone: each snapshot holds the events since the previous token, whatever happens in the
cycles around it."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate

# pulses_t, from its lowest bit.
PULSES = [
    *("sample", "reordered", "unmatched", "duplicate", "answer", "lost", "covered", "ambiguous"),
    *("replaced", "resent", "probe", "rx_packet", "tx_packet"),
]
MASK32 = 0xFFFFFFFF


class Sums:
    def __init__(self) -> None:
        self.count = dict.fromkeys(PULSES, 0)
        self.dropped = 0
        self.times: list[int] = []

    def add(self, pulses: set[str], ticks: int, dropped: bool) -> None:
        for name in pulses:
            self.count[name] += 1
        self.dropped += dropped
        if "sample" in pulses:
            self.times.append(ticks)


@cocotb.test()
async def snapshots_are_of_what_came_between_two_tokens(dut):
    rng = seeded()
    for name in ("now", "token", "flushing", "pulses", "dropped", "time"):
        getattr(dut, f"{name}_i").value = 0
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    sums, in_flight, last, now, ended = Sums(), 0, 0, 1 << 40, 0
    for _ in range(30):
        for left in reversed(range(rng.choice([8, 9, 40, 200]))):
            token = left == 0
            pulses = {p for p in PULSES if rng.random() < 0.4}
            ticks = rng.choice([0, 1, MASK32, rng.getrandbits(32), rng.randrange(1000)])
            dropped = rng.random() < 0.2
            if token:
                want, at, flying, before = sums, now, in_flight, last
                sums = Sums()
            sums.add(pulses, ticks, dropped)
            in_flight += {"probe", "resent", "replaced"} & pulses == {"probe"}
            in_flight -= bool(pulses & {"sample", "ambiguous", "lost", "covered"})
            if "sample" in pulses:
                last = ticks
            dut.pulses_i.value = sum(1 << PULSES.index(p) for p in pulses)
            dut.time_i.value, dut.dropped_i.value = ticks, dropped
            dut.token_i.value, dut.now_i.value = token, now
            await RisingEdge(dut.clk_i)
            now += 1
        dut.token_i.value = dut.pulses_i.value = dut.dropped_i.value = 0
        for _ in range(6):  # the latency of the squares
            await RisingEdge(dut.clk_i)
        await ReadOnly()
        got = {p: dut.count_o[n].value.to_unsigned() for n, p in enumerate(PULSES)}
        assert got == want.count
        assert dut.dropped_o.value.to_unsigned() == want.dropped
        assert dut.in_flight_o.value.to_unsigned() == flying & MASK32
        assert dut.s_last_o.value.to_unsigned() == before
        assert dut.last_o.value.to_unsigned() == last
        assert dut.min_o.value.to_unsigned() == min(want.times, default=MASK32)
        assert dut.max_o.value.to_unsigned() == max(want.times, default=0)
        assert dut.sum_o.value.to_unsigned() == sum(want.times)
        assert dut.sumsq_o.value.to_unsigned() == sum(t * t for t in want.times)
        assert (dut.begin_o.value.to_unsigned(), dut.end_o.value.to_unsigned()) == (ended, at)
        ended = at
        await RisingEdge(dut.clk_i)


def test_stats():
    simulate(["src/rtt/rtt_core.f"], "rtt_stats", "gateware.src.rtt.tb.test_stats")
