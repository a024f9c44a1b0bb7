# SPDX-License-Identifier: Apache-2.0
"""The MAC, each direction by itself: frames as words on one side, bytes of a GMII on the other."""

import os
import zlib

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from gateware.lib.bench import begin, finds, packed, seeded, simulate

PREAMBLE = bytes([0x55] * 7 + [0xD5])
LENGTHS = (14, 42, 57, 58, 59, 60, 61, 62, 63, 64, 65, 1513, 1514)


def fcs(frame: bytes) -> bytes:
    return zlib.crc32(frame).to_bytes(4, "little")


def on_link(frame: bytes) -> bytes:
    """Returns the frame's bytes between preamble and gap."""
    padded = frame.ljust(60, b"\0")
    return padded + fcs(padded)


def words(frame: bytes) -> list[int]:
    """Returns the frame as word_t: bad, last, more, data."""
    parts = [frame[at : at + 4] for at in range(0, len(frame), 4)]
    return [
        packed((0, 1), (n == len(parts) - 1, 1), (len(p) - 1, 2), (int.from_bytes(p, "little"), 32))
        for n, p in enumerate(parts)
    ]


async def sends(dut, frames: list[bytes], late: int = 0) -> list[tuple[bytes, bool, int]]:
    """Gives the words, `late` cycles apart. Returns what the GMII has: bytes, whether one of them
    had an error, and the idle clocks before them."""
    queue = [word for frame in frames for word in words(frame)]
    got: list[tuple[bytes, bool, int]] = []
    part, error, gap, wait, clocks = b"", False, 0, 0, 0
    while len(got) < len(frames):
        clocks += 1
        assert clocks < 60_000, "a frame does not leave"
        dut.valid_i.value = bool(queue) and wait == 0
        if queue:
            dut.word_i.value = queue[0]
        wait = max(0, wait - 1)
        await ReadOnly()
        if dut.valid_i.value and dut.ready_o.value:
            queue.pop(0)
            wait = late
        if dut.tx_en_o.value:
            part += bytes([int(dut.txd_o.value)])
            error = error or bool(dut.tx_er_o.value)
        elif part:
            got.append((part, error, gap))
            part, error, gap = b"", False, 1
        else:
            gap += 1
        await RisingEdge(dut.clk_i)
    return got


@cocotb.test(skip=os.environ.get("TOP") != "tx")
async def frames_leave(dut):
    rng = seeded()
    await begin(dut)
    frames = [rng.randbytes(n) for n in LENGTHS]
    got = await sends(dut, frames)
    assert [part for part, _, _ in got] == [PREAMBLE + on_link(f) for f in frames]
    assert not any(error for _, error, _ in got)
    assert {gap for _, _, gap in got[1:]} == {12}, "the gap is that of IEEE 802.3, and no longer"


@cocotb.test(skip=os.environ.get("TOP") != "tx")
async def a_late_word_spoils_its_frame_alone(dut):
    """A frame whose words come too slowly is sent with an error, and counted; the next passes."""
    rng = seeded()
    await begin(dut)
    before = int(dut.underrun_o.value)
    (bad,) = await sends(dut, [rng.randbytes(100)], late=9)
    assert bad[1] and int(dut.underrun_o.value) != before
    frame = rng.randbytes(70)
    (good,) = await sends(dut, [frame])
    assert good[:2] == (PREAMBLE + on_link(frame), False)


async def receives(dut, pieces: list[tuple[bytes, int]]) -> list[tuple[bytes, bool]]:
    """Puts bytes on the GMII, with an error at an index (-1: none), a gap behind each. Returns the
    frames that come, and whether they are marked."""
    got: list[tuple[bytes, bool]] = []
    part = b""
    dut.ready_i.value = 1
    for piece, wrong in pieces:
        for at, byte in enumerate([*piece, *[None] * 12]):
            await FallingEdge(dut.clk_i)
            dut.rx_dv_i.value = byte is not None
            dut.rxd_i.value = byte or 0
            dut.rx_er_i.value = at == wrong
            await ReadOnly()
            if dut.valid_o.value:
                word = int(dut.word_o.value)
                part += (word & 0xFFFFFFFF).to_bytes(4, "little")[: (word >> 32 & 3) + 1]
                if word >> 34 & 1:
                    got.append((part, bool(word >> 35)))
                    part = b""
    assert not part
    return got


@cocotb.test(skip=os.environ.get("TOP") != "rx")
async def frames_come(dut):
    rng = seeded()
    await begin(dut)
    frames = [on_link(rng.randbytes(n)) for n in LENGTHS]
    cut = [PREAMBLE[rng.randrange(7) :] + frame for frame in frames]  # a PHY may lose some of it
    assert await receives(dut, [(f, -1) for f in cut]) == [(frame, False) for frame in frames]


@cocotb.test(skip=os.environ.get("TOP") != "rx")
async def wrong_frames_are_marked(dut):
    rng = seeded()
    await begin(dut)
    good = on_link(rng.randbytes(100))
    flipped = bytearray(good)
    flipped[50] ^= 4
    got = await receives(
        dut,
        [
            (PREAMBLE + bytes(flipped), -1),
            (PREAMBLE + good, 60),  # the PHY reports an error
            (PREAMBLE + good[:-1], -1),  # cut
            (b"\x55\x55\x57" + PREAMBLE + good, -1),  # no preamble: nothing comes
            (PREAMBLE + good, -1),
        ],
    )
    assert got == [(bytes(flipped), True), (good, True), (good[:-1], True), (good, False)]


@cocotb.test(skip=os.environ.get("TOP") != "rx")
async def a_word_without_room_marks_its_frame(dut):
    rng = seeded()
    await begin(dut)
    good = PREAMBLE + on_link(rng.randbytes(80))
    last = None
    for at, byte in enumerate([*good, *[None] * 12]):
        await FallingEdge(dut.clk_i)
        dut.ready_i.value = not 40 <= at < 48
        dut.rx_dv_i.value = byte is not None
        dut.rxd_i.value = byte or 0
        await ReadOnly()
        if dut.valid_o.value and dut.ready_i.value:
            last = int(dut.word_o.value)
    assert last is not None and last >> 34 == 3, "last and bad"


def run(name: str, *mutation: str) -> None:
    os.environ["TOP"] = name
    top = f"chip_mac_{name}"
    if mutation:
        finds((f"src/chip/rtl/{top}.sv", *mutation), [f"src/chip/{top}.f"], top, __name__)
    else:
        simulate([f"src/chip/{top}.f"], top, __name__)


def test_transmit():
    run("tx")


def test_receive():
    run("rx")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("tx", "long ? Fcs : Pad", "Fcs"),
        ("tx", "underrun_o <= !underrun_o;", ""),
        ("rx", "bad_q || crc_q != CrcGood", "bad_q"),
        ("rx", "|| rx_er_i || (full && !ready_i)", "|| rx_er_i"),
    ],
    ids=["padding", "late", "fcs", "room"],
)
def test_it_finds(name, old, new):
    run(name, old, new)
