# SPDX-License-Identifier: Apache-2.0
"""A bench for the module rtt: streams with gaps and back-pressure, registers, and the model, which
receives every packet with the tick of its first beat."""

import random
import re
from collections import deque
from pathlib import Path

from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from .model import MASK32, Config, Model, Results

BEAT = 64
HEADER = Path(__file__).resolve().parents[4] / "device" / "include" / "toe" / "rtt_regs.h"
REGS = {
    name: int(offset, 16)
    for name, offset in re.findall(r'REG\("([\w.]+)", (0x[0-9a-f]+),', HEADER.read_text())
}


class Stream:
    """One of the two streams. Frames wait for their cycle. While the stream is busy, valid and
    ready are withheld at random; offered data stay until accepted, as AXI-Stream requires."""

    def __init__(self, dut, prefix: str, rng: random.Random) -> None:
        self.signals = {
            n: getattr(dut, f"{prefix}_{n}_i")
            for n in ("tvalid", "tready", "tdata", "tkeep", "tlast")
        }
        self.rng = rng
        self.idle = 0.0  # probability of withholding valid
        self.stall = 0.0  # probability of withholding ready
        self.queue: deque[tuple[int, bytes]] = deque()
        self.beats: deque[tuple[int, int, int, bool, bytes]] = deque()
        self.valid = self.ready = False
        self.first = True
        self.stamp = 0
        for s in self.signals.values():
            s.value = 0

    def send(self, frame: bytes, at: int = 0) -> None:
        """Enqueues a frame; at: the earliest cycle."""
        self.queue.append((at, frame))

    def empty(self) -> bool:
        return not self.queue and not self.beats

    def passed(self, cycle: int) -> tuple[int, bytes] | None:
        """Returns (stamp, frame) when this cycle's beat completes the part that is captured."""
        if not (self.valid and self.ready):
            return None
        number, _, _, last, frame = self.beats.popleft()
        if number == 0:
            self.stamp = cycle
        enough = (number == 0 and last) or number == 1
        self.valid = False
        return (self.stamp, frame) if enough else None

    def drive(self, cycle: int) -> None:
        """Drives the signals of this cycle."""
        if not self.beats and self.queue and self.queue[0][0] <= cycle:
            _, frame = self.queue.popleft()
            for n, at in enumerate(range(0, len(frame), BEAT)):
                part = frame[at : at + BEAT]
                keep = (1 << len(part)) - 1
                last = at + BEAT >= len(frame)
                self.beats.append((n, int.from_bytes(part, "little"), keep, last, frame))
        if not self.valid:
            self.valid = bool(self.beats) and self.rng.random() >= self.idle
        self.ready = self.rng.random() >= self.stall
        s = self.signals
        s["tvalid"].value = int(self.valid)
        s["tready"].value = int(self.ready)
        if self.valid:
            _, data, keep, last, _ = self.beats[0]
            s["tdata"].value, s["tkeep"].value, s["tlast"].value = data, keep, int(last)


class Bench:
    def __init__(self, dut, config: Config, seed: int = 1, start: int = 0) -> None:
        self.dut = dut
        self.config = config
        self.rng = random.Random(seed)
        self.tx = Stream(dut, "tx", self.rng)
        self.rx = Stream(dut, "rx", self.rng)
        self.model = Model(config)
        self.cycle = start
        self.on_left = None  # called with (cycle, frame) of each sent frame, to answer it
        self.ring_at = 0
        for name in ("awvalid", "wvalid", "arvalid", "bready", "rready", "awaddr", "araddr"):
            getattr(dut, f"s_axil_{name}_i").value = 0

    async def start(self) -> None:
        dut = self.dut
        Clock(dut.clk_i, 4, unit="ns").start()
        dut.rst_ni.value = 0
        for _ in range(4):
            await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        self.tx.drive(self.cycle)
        self.rx.drive(self.cycle)
        c = self.config
        await self.write("TIMEOUT", 0x7FFFFFFF)
        await self.write("PORTS", c.remote_port << 16 | c.local_port)
        await self.write("TAG_OFFSET", c.tag_offset)
        await self.write("HIST_BASE", c.hist_base)
        await self.until_clear("STATUS", 2)
        await self.enable()

    async def enable(self) -> None:
        await self.write("CONTROL", c_bits(self.config))

    async def step(self) -> None:
        """Runs one cycle of the streams and the model."""
        await RisingEdge(self.dut.clk_i)
        now = self.cycle & MASK32
        rx, tx = self.rx.passed(now), self.tx.passed(now)
        if rx:
            self.model.arrived(*rx)
        if tx:
            self.model.left(*tx)
            if self.on_left:
                self.on_left(self.cycle, tx[1])
        self.cycle += 1
        self.tx.drive(self.cycle)
        self.rx.drive(self.cycle)

    async def steps(self, n: int) -> None:
        for _ in range(n):
            await self.step()

    async def drain(self, extra: int = 40) -> None:
        while not (self.tx.empty() and self.rx.empty()):
            await self.step()
        await self.steps(extra)

    async def write(self, name: str, value: int) -> None:
        d = self.dut
        d.s_axil_awaddr_i.value = REGS[name]
        d.s_axil_wdata_i.value = value
        d.s_axil_wstrb_i.value = 15
        d.s_axil_awvalid_i.value = d.s_axil_wvalid_i.value = d.s_axil_bready_i.value = 1
        waiting = {"aw", "w", "b"}
        while waiting:
            await ReadOnly()
            done = {c for c in ("aw", "w") if getattr(d, f"s_axil_{c}ready_o").value}
            if d.s_axil_bvalid_o.value:
                done.add("b")
                assert int(d.s_axil_bresp_o.value) == 0
            await self.step()
            for c in done & waiting & {"aw", "w"}:
                getattr(d, f"s_axil_{c}valid_i").value = 0
            waiting -= done
        d.s_axil_bready_i.value = 0

    async def read_at(self, address: int) -> int:
        d = self.dut
        d.s_axil_araddr_i.value = address
        d.s_axil_arvalid_i.value = d.s_axil_rready_i.value = 1
        while True:
            await ReadOnly()
            taken = d.s_axil_arready_o.value
            got = d.s_axil_rvalid_o.value
            if got:
                value = d.s_axil_rdata_o.value.to_unsigned()
                assert int(d.s_axil_rresp_o.value) == 0, f"{address:#x} is refused"
            await self.step()
            if taken:
                d.s_axil_arvalid_i.value = 0
            if got:
                d.s_axil_rready_i.value = 0
                return value

    async def read(self, name: str, index: int = 0) -> int:
        return await self.read_at(REGS[name] + 4 * index)

    async def read64(self, name: str) -> int:
        return await self.read(f"{name}_LO") | await self.read(f"{name}_HI") << 32

    async def until_clear(self, name: str, bits: int) -> None:
        while await self.read(name) & bits:
            pass

    async def snapshot(self) -> None:
        await self.write("COMMAND", 1)
        await self.until_clear("STATUS", 1)

    async def check(self, *, hist: bool = True, ring: bool = True) -> Results:
        """Takes a snapshot after the pipeline has drained, and compares it with the model."""
        await self.drain()
        await self.snapshot()
        in_flight = self.model.in_flight()
        want = self.model.snapshot()
        got = {}
        names = "TX_PACKETS RX_PACKETS PROBES RESENT REPLACED AMBIGUOUS COVERED LOST ANSWERS"
        for name in [*names.split(), "DUPLICATES", "UNMATCHED", "REORDERED", "COUNT"]:
            got[name] = await self.read(f"S_{name}")
        assert got == {n: want.counts.get(n, 0) for n in got}
        assert await self.read("S_IN_FLIGHT") == in_flight
        s = want.samples
        assert await self.read("S_MIN") == min(s, default=MASK32)
        assert await self.read("S_MAX") == max(s, default=0)
        assert await self.read("S_LAST") == self.model.last == await self.read("LAST")
        assert await self.read64("S_SUM") == sum(s)
        squares = [await self.read(f"S_SUMSQ_{w}") for w in ("LO", "MID", "HI")]
        assert sum(v << 32 * n for n, v in enumerate(squares)) == sum(x * x for x in s)
        if hist:
            bins = {b: n for b in range(1024) if (n := await self.read("HIST", b))}
            assert bins == want.hist
        if ring:
            await self.check_ring(want)
        return want

    async def check_ring(self, want: Results) -> None:
        head = await self.read("RING_HEAD")
        dropped = await self.read("S_RING_DROPPED")
        assert (head - self.ring_at) & MASK32 == len(want.ring) - dropped
        for n, (ticks, value, stamp) in enumerate(want.ring[: len(want.ring) - dropped]):
            at = 4 * ((self.ring_at + n) % 512)
            got = [await self.read("RING", at + w) for w in range(4)]
            assert got[:3] == [ticks, value, stamp]
            assert (got[3] << 32 | got[2]) <= self.cycle < (got[3] + 1 << 32 | got[2])
        self.ring_at = head
        await self.write("RING_TAIL", head)


def c_bits(c: Config) -> int:
    return 1 | c.mode << 4 | c.looped << 8
