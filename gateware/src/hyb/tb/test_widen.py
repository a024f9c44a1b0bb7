# SPDX-License-Identifier: Apache-2.0
"""Frames of 8 bytes a beat leave as the same frames of 64 bytes a beat; no offered beat changes,
and a stream that is taken at once never waits."""

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, finds, seeded, simulate

FILE = "src/hyb/rtl/hyb_widen.sv"


def beats(frame: bytes) -> list[tuple[int, int, bool]]:
    parts = [frame[i : i + 8] for i in range(0, len(frame), 8)]
    return [
        (int.from_bytes(p, "little"), (1 << len(p)) - 1, n == len(parts) - 1)
        for n, p in enumerate(parts)
    ]


@cocotb.test()
async def frames_pass(dut):
    rng = seeded()
    await begin(dut)
    frames = [rng.randbytes(rng.choice([1, 8, 60, 64, 65, 127, 1514, 2048])) for _ in range(80)]
    queue = [beat for frame in frames for beat in beats(frame)]
    got, part, held, offered, n = [], b"", None, False, 0
    slow = len(queue) // 2  # the first half without a pause
    while len(got) < len(frames):
        n += 1
        assert n < 100_000, "a frame does not leave"
        paused = len(queue) < slow
        offered = offered or (bool(queue) and (not paused or rng.random() < 0.6))
        dut.s_tvalid_i.value = offered
        if offered:
            dut.s_tdata_i.value, dut.s_tkeep_i.value, dut.s_tlast_i.value = queue[0]
        ready = not paused or rng.random() < 0.4
        dut.m_tready_i.value = ready
        await ReadOnly()
        if not paused and offered:
            assert dut.s_tready_o.value, "it waits for nothing"
        if offered and dut.s_tready_o.value:
            queue.pop(0)
            offered = False
        beat = None
        if dut.m_tvalid_o.value:
            keep = int(dut.m_tkeep_o.value)
            data = int(dut.m_tdata_o.value) & sum(0xFF << 8 * i for i in range(64) if keep >> i & 1)
            beat = (data, keep, bool(dut.m_tlast_o.value))
            assert held in (None, beat), "an offered beat changes"
            if ready:
                assert keep & keep + 1 == 0, "a gap"
                part += data.to_bytes(64, "little")[: keep.bit_length()]
                if beat[2]:
                    got.append(part)
                    part = b""
        else:
            assert held is None, "an offered beat is withdrawn"
        held = None if ready else beat
        await RisingEdge(dut.clk_i)
    assert got == frames


def test_widen():
    simulate(["src/hyb/hyb_widen.f"], "hyb_widen", __name__)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if (at_q == '0) keep_q <= '0;     // the beats before have left", ""),
        ("assign s_tready_o = !full_q || m_tready_i;", "assign s_tready_o = 1'b1;"),
        ("full_q <= s_tlast_i || at_q == 3'd7;", "full_q <= at_q == 3'd7;"),
    ],
    ids=["keep", "ready", "last"],
)
def test_it_finds(old, new):
    finds((FILE, old, new), ["src/hyb/hyb_widen.f"], "hyb_widen", __name__)
