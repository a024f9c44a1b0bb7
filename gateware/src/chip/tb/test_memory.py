# SPDX-License-Identifier: Apache-2.0
"""RX buffers against a list of frames; the shared memory against an array of bytes."""

import os

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, finds, packed, seeded, simulate

from .test_mac import words

BUFFERS = 4


async def tick(dut) -> None:
    await RisingEdge(dut.clk_i)


async def comes(dut, frame: bytes, bad: bool = False) -> None:
    """Gives the words of a frame with its FCS."""
    queue = words(frame)
    for n, word in enumerate(queue):
        dut.valid_i.value = 1
        dut.word_i.value = word | (bad and n == len(queue) - 1) << 35
        await tick(dut)
    dut.valid_i.value = 0
    await tick(dut)


async def read(dut, buffer: int, n: int) -> bytes:
    got = b""
    for at in range((n + 3) // 4):
        dut.read_i.value = buffer << 9 | at
        await tick(dut)
        await ReadOnly()
        got += int(dut.data_o.value).to_bytes(4, "little")
        await tick(dut)
    return got[:n]


def counts(dut) -> tuple[int, int, int]:
    return int(dut.head_o.value), int(dut.bad_o.value), int(dut.full_o.value)


@cocotb.test(skip=os.environ.get("TOP") != "rx")
async def frames_are_kept(dut):
    rng = seeded()
    await begin(dut)
    for n, length in enumerate([64, 65, 66, 67, 1518, 2048, 100]):
        frame = rng.randbytes(length)
        await comes(dut, frame)
        assert counts(dut) == (n + 1, 0, 0)
        dut.tail_i.value = n
        await tick(dut)
        assert int(dut.length_o.value) == length - 4, "without FCS"
        assert await read(dut, n % BUFFERS, length - 4) == frame[:-4]
        dut.tail_i.value = n + 1


@cocotb.test(skip=os.environ.get("TOP") != "rx")
async def frames_are_dropped(dut):
    rng = seeded()
    await begin(dut)
    await comes(dut, rng.randbytes(63))
    await comes(dut, rng.randbytes(2049))
    await comes(dut, rng.randbytes(9000))
    await comes(dut, rng.randbytes(100), bad=True)
    assert counts(dut) == (0, 4, 0)
    kept = [rng.randbytes(200) for _ in range(BUFFERS)]
    for frame in kept:
        await comes(dut, frame)
    await comes(dut, rng.randbytes(200))
    await comes(dut, rng.randbytes(63))
    assert counts(dut) == (BUFFERS, 5, 1)
    dut.tail_i.value = 1
    await comes(dut, last := rng.randbytes(300))
    assert counts(dut) == (BUFFERS + 1, 5, 1)
    for n, frame in enumerate([last, *kept[1:]]):
        assert await read(dut, n, len(frame) - 4) == frame[:-4]


# ---- the shared memory: chip_shared's defaults ----

BYTES, SENT, STRIDE, TX = 88 << 10, 20 << 10, 4096, 2048


def is_sent(at: int) -> bool:
    """Returns whether a send buffer has the byte."""
    return 0 <= at - SENT < 16 * STRIDE and (at - SENT) % STRIDE < TX


class Processor:
    """Accesses at random; checks what it reads. Each has bytes of its own to write."""

    def __init__(self, rng, side: int, memory: bytearray) -> None:
        self.rng, self.side, self.memory = rng, side, memory
        self.waits: tuple[int, bytes | None] | None = None
        self.done = 0

    def request(self) -> int | None:
        """Returns an access_t, or None."""
        if self.waits or self.rng.random() < 0.3:
            return None
        word = self.rng.randrange(BYTES // 8) * 8 + 4 * self.side
        be, data = self.rng.randrange(16), self.rng.getrandbits(32)
        write = self.rng.random() < 0.5
        if write and is_sent(word):
            word += TX  # into the receive buffer: what the DFU reads stays
        self.waits = (word, None if write else bytes(self.memory[word : word + 4]))
        if write:
            for i in range(4):
                if be >> i & 1:
                    self.memory[word + i] = data >> 8 * i & 255
        return packed((write, 1), (0x34000000 + word, 32), (be, 4), (data, 32))

    def answer(self, rdata: int) -> None:
        assert self.waits is not None, "an answer to nothing"
        if self.waits[1] is not None:
            assert rdata.to_bytes(4, "little") == self.waits[1]
        self.waits = None
        self.done += 1


@cocotb.test(skip=os.environ.get("TOP") != "shared")
async def three_users(dut):
    """The processors' accesses, while the DFU reads bursts of send buffers that begin anywhere."""
    rng = seeded()
    await begin(dut)
    memory = bytearray(rng.randbytes(BYTES))
    for word in range(BYTES // 8):
        dut.memory[word].value = int.from_bytes(memory[8 * word : 8 * word + 8], "little")
    users = [Processor(rng, side, memory) for side in (0, 1)]
    expected: list[tuple[int, bool] | None] = []
    burst: tuple[int, int, int] | None = None
    bursts = words_seen = 0
    for _ in range(6000):
        accesses = [user.request() for user in users]
        dut.req_i.value = sum((a is not None) << n for n, a in enumerate(accesses))
        dut.access_i.value = sum((a or 0) << 69 * n for n, a in enumerate(accesses))
        if burst is None and not expected:
            burst = (rng.choice([0, 5, 15, 16]), rng.randrange(1 << 20) & ~7, rng.randrange(1, 33))
        dut.ar_valid_i.value = burst is not None
        if burst:
            dut.ar_addr_i.value = burst[0] << 48 | burst[1]
            dut.ar_len_i.value = burst[2] - 1
        ready = rng.random() < 0.7
        dut.r_ready_i.value = ready
        await ReadOnly()
        for n, user in enumerate(users):
            if int(dut.ack_o.value) >> n & 1:
                assert not dut.err_o.value
                user.answer(int(dut.rdata_o.value))
        if dut.r_valid_o.value and ready:
            want = expected.pop(0)
            assert bool(dut.r_bad_o.value) == want[1]
            assert want[1] or int(dut.r_data_o.value) == want[0]
            words_seen += 1
        if burst and dut.ar_ready_o.value:
            slot, offset, n = burst
            for i in range(n):
                at = SENT + slot % 16 * STRIDE + (offset + 8 * i) % TX
                expected.append((int.from_bytes(memory[at : at + 8], "little"), slot > 15))
            burst = None
            bursts += 1
        await tick(dut)
    assert bursts > 50 and words_seen > 800 and min(user.done for user in users) > 800


@cocotb.test(skip=os.environ.get("TOP") != "shared")
async def outside_is_an_error(dut):
    await begin(dut)
    for addr, wrong in ((BYTES - 4, 0), (BYTES, 1), (0xFFFFFC, 1)):
        dut.req_i.value = 1
        dut.access_i.value = packed((1, 1), (0x34000000 + addr, 32), (15, 4), (7, 32))
        await tick(dut)
        dut.req_i.value = 0
        for _ in range(8):
            await ReadOnly()
            if dut.ack_o.value:
                break
            await tick(dut)
        assert int(dut.ack_o.value) == 1 and int(dut.err_o.value) == wrong
        await tick(dut)


def run(name: str, *mutation: str) -> None:
    os.environ["TOP"] = name
    top = f"chip_{name}"
    parameters = {"BufBits": 2} if name == "rx" else {}
    if mutation:
        fault = (f"src/chip/rtl/{top}.sv", *mutation)
        finds(fault, [f"src/chip/{top}.f"], top, __name__, parameters=parameters)
    else:
        simulate([f"src/chip/{top}.f"], top, __name__, parameters=parameters)


def test_buffers():
    run("rx")


def test_shared():
    run("shared")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("rx", "|| !fits ||", "||"),
        ("shared", "waits_q[1] <= req_i[1] ||", "waits_q[1] <= req_i[1] || user == Toe ||"),
    ],
    ids=["length", "order"],
)
def test_it_finds(name, old, new):
    run(name, old, new)
