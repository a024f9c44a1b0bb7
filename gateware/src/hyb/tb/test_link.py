# SPDX-License-Identifier: Apache-2.0
"""Frames in and out of the hybrid TOE: RX buffers and TX slots hold what the link carried, in
order; what finds no buffer or is too long is dropped and counted; no offered beat changes."""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, seeded, simulate

LINE = 64


def beats(frame: bytes) -> list[tuple[int, int, bool]]:
    parts = [frame[i : i + LINE] for i in range(0, len(frame), LINE)]
    return [
        (int.from_bytes(p, "little"), (1 << len(p)) - 1, n == len(parts) - 1)
        for n, p in enumerate(parts)
    ]


async def read(dut, buffer: int, length: int) -> bytes:
    data = b""
    for line in range((length + LINE - 1) // LINE):
        dut.a_line_i.value = dut.b_line_i.value = buffer * 32 + line
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        one = dut.a_data_o.value.to_unsigned()
        assert one == dut.b_data_o.value.to_unsigned()
        data += one.to_bytes(LINE, "little")
        await RisingEdge(dut.clk_i)
    return data[:length]


@cocotb.test()
async def frames_come(dut):
    rng = seeded()
    await begin(dut)
    held: list[bytes] = []
    tail, dropped, long, seen = 0, 0, 0, [0, 0]
    for _ in range(120):
        length = rng.choice([14, 60, 64, 65, 1514, 2047, 2048, 2049, 3000, rng.randrange(14, 2049)])
        frame = rng.randbytes(length)
        full = len(held) == 16
        for data, keep, last in beats(frame):
            dut.s_tdata_i.value, dut.s_tkeep_i.value = data, keep
            dut.s_tvalid_i.value, dut.s_tlast_i.value = 1, last
            await RisingEdge(dut.clk_i)
        dut.s_tvalid_i.value = 0
        for _ in range(3):
            await ReadOnly()
            seen[0] += int(dut.no_buffer_o.value)
            seen[1] += int(dut.too_long_o.value)
            await RisingEdge(dut.clk_i)
        dropped += full
        long += not full and length > 2048
        if not full and length <= 2048:
            held.append(frame)
        assert dut.head_o.value.to_unsigned() == tail + len(held)
        while held and rng.random() < 0.45:
            assert dut.length_o.value.to_unsigned() == len(held[0])
            assert await read(dut, tail % 16, len(held[0])) == held.pop(0)
            tail += 1
            dut.tail_i.value = tail
            await RisingEdge(dut.clk_i)
    assert seen == [dropped, long] and dropped and long


@cocotb.test()
async def frames_go(dut):
    rng = seeded()
    await begin(dut)
    frames = [rng.randbytes(rng.choice([14, 60, 64, 65, 1514, 2048])) for _ in range(60)]
    got, part, held, given = [], b"", None, 0

    async def cycle() -> None:
        nonlocal part, held
        dut.m_tready_i.value = ready = rng.random() < 0.7
        await ReadOnly()
        beat = None
        if dut.m_tvalid_o.value:
            beat = tuple(int(v.value) for v in (dut.m_tdata_o, dut.m_tkeep_o, dut.m_tlast_o))
        assert held in (None, beat), "an offered beat changed"
        held = None if ready else beat
        if beat and ready:
            part += beat[0].to_bytes(LINE, "little")[: beat[1].bit_count()]
            if beat[2]:
                got.append(part)
                part = b""
        await RisingEdge(dut.clk_i)

    for n, frame in enumerate(frames):
        while given - dut.tail_o.value.to_unsigned() == 16:
            await cycle()
        # The start by words, the rest by lines, as headers and payload.
        slot, padded = n % 16, frame + bytes(-len(frame) % LINE)
        for line in range(len(padded) // LINE):
            dut.fill_i.value, dut.fill_line_i.value = 1, slot * 32 + line
            dut.fill_bytes_i.value = (1 << LINE) - 1 - (0xFFFF if line == 0 else 0)
            dut.fill_data_i.value = int.from_bytes(padded[line * LINE :][:LINE], "little")
            await cycle()
        dut.fill_i.value = 0
        for word in range(4):
            dut.word_i.value, dut.word_write_i.value = slot * 512 + word, 15
            dut.word_data_i.value = int.from_bytes(padded[4 * word :][:4], "little")
            await cycle()
        dut.word_write_i.value = 0
        await cycle()
        await cycle()
        assert dut.word_data_o.value.to_unsigned() == int.from_bytes(padded[12:16], "little")
        for length in (13, 2049, len(frame)):  # only the last is a frame's
            dut.give_i.value, dut.length_i.value = 1, length
            await cycle()
        dut.give_i.value = 0
        given += 1
    for _ in range(3000):
        await cycle()
    assert got == frames
    assert dut.tail_o.value.to_unsigned() == dut.head_o.value.to_unsigned() == given


def test_rx():
    simulate(["src/hyb/hyb_rx.f"], "hyb_rx", __name__, testcase="frames_come")


def test_tx():
    simulate(["src/hyb/hyb_tx.f"], "hyb_tx", __name__, testcase="frames_go")
