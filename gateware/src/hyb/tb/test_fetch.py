# SPDX-License-Identifier: Apache-2.0
"""Fetches from send buffers into TX slots: each byte goes where it belongs and no other changes; no
address outside the flow's send buffer is read; what the firmware may not ask for is refused."""

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, finds, seeded, simulate

from .host import LINE, QPS, Host

SLOTS_BYTES = 1 << 15
FILE = "src/hyb/rtl/hyb_fetch.sv"


async def fetch(dut, host: Host, memory: bytearray, q, slot, start, length, to, leaves_at=-1):
    """Runs one fetch. Returns whether it was refused."""
    rng = host.rng
    dut.go_i.value = 1
    dut.of_qp_i.value, dut.of_slot_i.value, dut.from_i.value = q, slot, start
    dut.length_i.value, dut.to_i.value = length, to
    pending: list[list[int]] = []
    for cycle in range(20000):
        if cycle == leaves_at:
            dut.leaves_i.value = 1 << q
        dut.ar_ready_i.value = rng.random() < 0.6
        offers = bool(pending) and pending[0][0] <= cycle
        dut.r_valid_i.value = offers
        if offers:
            dut.r_data_i.value = host.line(pending[0][1])
        await ReadOnly()
        if dut.ar_valid_o.value and dut.ar_ready_i.value:
            address = dut.ar_addr_o.value.to_unsigned()
            host.read.add(address)
            pending.append([cycle + rng.randrange(1, 6), address])
        if offers and dut.r_ready_o.value:
            pending.pop(0)
        if dut.fill_o.value:
            line, strobes = (
                dut.fill_line_o.value.to_unsigned(),
                dut.fill_bytes_o.value.to_unsigned(),
            )
            data = dut.fill_data_o.value.to_unsigned().to_bytes(LINE, "little")
            for i in range(LINE):
                if strobes >> i & 1:
                    memory[line * LINE + i] = data[i]
        busy, refused = bool(dut.busy_o.value), bool(dut.refused_o.value)
        await RisingEdge(dut.clk_i)
        dut.go_i.value = 0
        if cycle > 1 and not busy:
            dut.leaves_i.value = 0
            assert not pending, "a read is left behind"
            return refused
    raise AssertionError("the fetch does not end")


@cocotb.test()
async def bytes_are_where_they_belong(dut):
    rng = seeded()
    await begin(dut)
    host = Host(dut, rng)
    await RisingEdge(dut.clk_i)
    for n in range(250):
        q, slot = rng.randrange(QPS), rng.randrange(4)
        base, size = host.buffer(q, slot)
        length = min(rng.choice([1, 2, 63, 64, 65, 1448, 2048, rng.randrange(1, 2049)]), size)
        start = rng.choice([rng.randrange(1 << 32), (1 << 32) - rng.randrange(1, 2000)])
        to = rng.randrange(SLOTS_BYTES - length + 1)
        memory = bytearray(b"\xee" * SLOTS_BYTES)
        want = bytearray(memory)
        for i in range(length):
            want[to + i] = host.byte(base + (start + i) % size)
        host.read.clear()
        refused = await fetch(dut, host, memory, q, slot, start, length, to)
        assert not refused, n
        assert memory == want, (n, q, slot, start, length, to)
        assert all(base <= a < base + size for a in host.read), "read outside of the send buffer"


@cocotb.test()
async def what_may_not_be_is_refused(dut):
    rng = seeded()
    await begin(dut)
    host = Host(dut, rng)
    await RisingEdge(dut.clk_i)
    memory = bytearray(SLOTS_BYTES)
    host.read.clear()
    for q, slot, length, to in (
        (0, 4, 64, 0),  # no such slot
        (QPS, 0, 64, 0),  # no such queue pair
        (0, 0, 0, 0),
        (0, 0, 2049, 0),
        (0, 0, 64, SLOTS_BYTES - 63),  # beyond the TX slots
    ):
        assert await fetch(dut, host, memory, q, slot, 0, length, to), (q, slot, length, to)
    assert not host.read and memory == bytearray(SLOTS_BYTES)
    # A queue pair that leaves, before or during a fetch: no address follows.
    for leaves_at in (0, 5, 20, 50):
        assert await fetch(dut, host, memory, 1, 0, 0, 2048, 0, leaves_at)
    assert not await fetch(dut, host, memory, 1, 0, 0, 64, 0)


def test_fetch():
    simulate(["src/hyb/hyb_fetch.f"], "hyb_fetch", __name__, parameters={"Qps": QPS})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shift_q <= to_q[5:0] - addr[5:0];", "shift_q <= to_q[5:0];"),
        ("(64'(slot_q) << setup.rx_log);", "64'd0;"),
        ("7'(i) + 7'd64 < lane_end", "1'b0"),
        ("(32'(slot_q) >> setup.slots_log) == '0;", "1'b1;"),
    ],
    ids=["shift", "stride", "second line", "slot"],
)
def test_it_finds(old, new):
    finds((FILE, old, new), ["src/hyb/hyb_fetch.f"], "hyb_fetch", __name__, parameters={"Qps": QPS})
