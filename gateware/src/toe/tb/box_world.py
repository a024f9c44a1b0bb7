# SPDX-License-Identifier: Apache-2.0
"""The environment of a toe_box: the link, host memory and TCB memory on AXI4, the register bus,
MSI-X. Each accepts and answers after random delays, and checks in each cycle that the TOE follows
the bus protocol: offers are stable, bursts stay within 4 KiB and have the announced length, and no
byte outside of the hosts' areas is accessed. Written data become visible only with the write
response, which exposes an interrupt or a command that comes too early."""

from collections import deque
from collections.abc import Callable

from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import reset
from gateware.lib.counters import names

CYCLE, PATIENCE, JUMP = 4, 60, 1_000_000  # ns; idle cycles; ns skipped after those
PAGE, LINE = 4096, 64
COUNTERS = {name: 0x800 + 8 * i for i, name in enumerate(names())}
RUN, READY = 0x150, 0x154


class Held:
    """An output channel of the TOE. Checks that an offer is stable until accepted."""

    def __init__(self, dut, valid: str, ready: str, fields: tuple[str, ...]) -> None:
        self.valid, self.ready = getattr(dut, valid), getattr(dut, ready)
        self.fields = [getattr(dut, field) for field in fields]
        self.name = valid
        self.forget()

    def forget(self) -> None:
        self.before: list[int] | None = None
        self.takes = self.ends = False  # ends: RUN is cleared, which withdraws offers

    def drive(self, takes: bool) -> None:
        if takes != self.takes:
            self.ready.value = self.takes = takes

    def sees(self) -> list[int] | None:
        if not self.valid.value:
            assert self.before is None or self.ends, f"{self.name}: an offer is taken back"
            self.before = None
            return None
        said = [int(field.value) for field in self.fields]
        assert self.before in (None, said), f"{self.name}: an offer has become another"
        self.before = None if self.takes else said
        return said if self.takes else None


class Memory:
    """A memory on an AXI4 port. Reads are answered late, those of several IDs interleaved; writes
    become visible when answered."""

    def __init__(self, dut, rng, prefix: str, *, may: Callable[[int, bool], bool]) -> None:
        """may: returns whether this line may be read or written."""
        self.dut, self.rng, self.may, self.prefix = dut, rng, may, prefix
        self.content: dict[int, bytearray] = {}
        at = f"{prefix}_"
        self.strobes = hasattr(dut, f"{prefix}_wstrb_o")
        ar, aw = (f"{at}araddr_o", f"{at}arlen_o", f"{at}arid_o"), (f"{at}awaddr_o", f"{at}awlen_o")
        w = (f"{at}wdata_o", f"{at}wlast_o", *([f"{at}wstrb_o"] if self.strobes else []))
        self.channels = {
            "ar": Held(dut, f"{at}arvalid_o", f"{at}arready_i", ar),
            "aw": Held(dut, f"{at}awvalid_o", f"{at}awready_i", aw),
            "w": Held(dut, f"{at}wvalid_o", f"{at}wready_i", w),
        }
        names = ("rvalid_i", "rready_o", "rid_i", "rdata_i", "rresp_i")
        names += ("bvalid_i", "bready_o", "bresp_i")
        self.signal = {name[:-2]: getattr(dut, at + name) for name in names}
        self.reads = self.writes = self.refused = self.bad_reads = 0
        self.latency, self.odds, self.refuses = 10, 1.0, 0.0
        self.forget()

    def forget(self) -> None:
        """Handles a reset: discards outstanding accesses; the memory keeps its contents."""
        for channel in self.channels.values():
            channel.forget()
        self.asked: dict[int, deque[tuple[int, int]]] = {}  # by ID: when, which line
        self.on_way: deque[int] = deque()  # lines with outstanding writes
        self.bursts: deque[tuple[int, int]] = deque()  # address and beats, without data yet
        self.beats: list[list[int]] = []  # data for the first of them
        self.answers: deque[tuple[int, list[tuple[int, int, int]]]] = deque()
        self.reading: int | None = None
        self.answering = self.refusing = False

    def line(self, address: int) -> bytearray:
        return self.content.setdefault(address, bytearray(LINE))

    def get(self, address: int, count: int) -> bytes:
        first = address & ~(LINE - 1)
        lines = b"".join(self.line(a) for a in range(first, address + count, LINE))
        return lines[address - first : address - first + count]

    def put(self, address: int, data: bytes) -> None:
        for i, octet in enumerate(data, address):
            self.line(i & ~(LINE - 1))[i % LINE] = octet

    def drive(self, now: int) -> None:
        rng, signal = self.rng, self.signal
        for channel in self.channels.values():
            channel.drive(rng.random() < self.odds)
        if self.reading is None:
            due = [i for i, lines in self.asked.items() if lines and lines[0][0] <= now]
            if due and rng.random() < self.odds:
                self.reading = rng.choice(due)
                line = self.asked[self.reading][0][1]
                signal["rid"].value = self.reading
                signal["rdata"].value = int.from_bytes(self.line(line), "little")
            signal["rvalid"].value = self.reading is not None
        if not self.answering:
            self.answering = bool(self.answers) and self.answers[0][0] <= now
            self.refusing = self.answering and rng.random() < self.refuses
            signal["bvalid"].value = self.answering
            signal["bresp"].value = 2 * self.refusing

    def burst(self, address: int, length: int, *, write: bool) -> list[int]:
        """Checks a burst and returns its lines."""
        lines = [address + LINE * i for i in range(length + 1)]
        assert address % LINE == 0, f"a burst at {address:x}"
        assert address // PAGE == lines[-1] // PAGE, (
            f"{length + 1} beats at {address:x} cross 4 KiB"
        )
        for line in lines:
            does = "written" if write else "read"
            assert self.may(line, write), f"{self.prefix}: {line:x} is {does}, which is nobody's"
        return lines

    def sees(self, now: int) -> bool:
        """Returns whether there was activity."""
        signal, moved = self.signal, False
        if said := self.channels["ar"].sees():
            due = now + self.rng.randrange(1, 2 + 2 * self.latency)
            lines = self.burst(said[0], said[1], write=False)
            assert not set(lines) & set(self.on_way), "what is being written is read"
            self.asked.setdefault(said[2], deque()).extend((due, line) for line in lines)
            self.reads += len(lines)
            moved = True
        if said := self.channels["aw"].sees():
            self.on_way.extend(self.burst(said[0], said[1], write=True))
            self.bursts.append((said[0], said[1] + 1))
            moved = True
        if said := self.channels["w"].sees():
            self.beats.append(said)
            self.writes += 1
            moved = True
        self.whole(now)
        if self.reading is not None and signal["rready"].value:
            self.asked[self.reading].popleft()
            self.reading = None
            moved = True
        if self.answering and signal["bready"].value:
            for address, data, strobes in self.answers.popleft()[1]:
                self.store(address, data, strobes)
                assert self.on_way.popleft() == address
            self.refused += self.refusing
            self.answering = False
            moved = True
        return moved or bool(self.answers) or any(self.asked.values())

    def whole(self, now: int) -> None:
        """Assigns beats to bursts, in order of addresses."""
        while self.bursts and self.beats:
            address, count = self.bursts[0]
            for i, beat in enumerate(self.beats[:count]):
                assert bool(beat[1]) == (i == count - 1), "which beat is the last"
            if len(self.beats) < count:
                return
            strobes = [beat[2] if self.strobes else (1 << LINE) - 1 for beat in self.beats[:count]]
            data = [beat[0] for beat in self.beats[:count]]
            stored = [(address + LINE * i, data[i], strobes[i]) for i in range(count)]
            self.answers.append((now + self.rng.randrange(1, 2 + 2 * self.latency), stored))
            self.bursts.popleft()
            del self.beats[:count]

    def store(self, address: int, data: int, strobes: int) -> None:
        assert strobes, f"a beat at {address:x} without bytes"
        new, line = data.to_bytes(LINE, "little"), self.line(address)
        for i in range(LINE):
            if strobes >> i & 1:
                line[i] = new[i]


class Link:
    """Frames over AXI-Stream, in both directions."""

    def __init__(self, dut, rng) -> None:
        self.dut, self.rng, self.odds = dut, rng, 1.0
        fields = ("m_axis_tdata_o", "m_axis_tkeep_o", "m_axis_tlast_o")
        self.out = Held(dut, "m_axis_tvalid_o", "m_axis_tready_i", fields)
        self.frames_in = self.frames_out = 0
        self.forget()

    def forget(self) -> None:
        self.out.forget()
        self.waiting: deque[bytes] = deque()
        self.at = 0
        self.sent: deque[bytes] = deque()
        self.part = b""
        self.beat = False

    def drive(self) -> None:
        dut = self.dut
        self.out.drive(self.rng.random() < self.odds)
        self.beat = bool(self.waiting) and self.rng.random() < self.odds
        dut.s_axis_tvalid_i.value = self.beat
        if self.beat:
            part = self.waiting[0][self.at : self.at + LINE]
            junk = self.rng.randbytes(LINE - len(part))
            dut.s_axis_tdata_i.value = int.from_bytes(part + junk, "little")
            dut.s_axis_tkeep_i.value = (1 << len(part)) - 1
            dut.s_axis_tlast_i.value = self.at + LINE >= len(self.waiting[0])

    def sees(self) -> bool:
        moved = self.beat
        if self.beat:
            assert self.dut.s_axis_tready_o.value, "the link's ready is not high"
            self.at += LINE
            if self.at >= len(self.waiting[0]):
                self.waiting.popleft()
                self.at = 0
                self.frames_in += 1
        if said := self.out.sees():
            data, keep, last = said
            count = keep.bit_length()
            assert keep == (1 << count) - 1 and count and (last or count == LINE), f"{keep:x}"
            self.part += data.to_bytes(LINE, "little")[:count]
            moved = True
            if last:
                assert len(self.part) <= 1514, "a frame above the MTU"
                self.sent.append(self.part)
                self.part = b""
                self.frames_out += 1
        return moved


class Registers:
    """One access at a time, with random delays of each channel."""

    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng

    async def access(self, cycle, address: int, value: int | None) -> tuple[int, int]:
        """Writes, or reads if value is None. Returns the response and the value read."""
        dut, rng = self.dut, self.rng
        channels = ("ar",) if value is None else ("aw", "w")
        waits = {name: rng.choice([0, 0, 1, 4]) for name in channels}
        back = "r" if value is None else "b"
        address_at = dut.s_axil_araddr_i if value is None else dut.s_axil_awaddr_i
        for _ in range(200):
            for name in channels:
                offered = name in waits and waits[name] == 0
                getattr(dut, f"s_axil_{name}valid_i").value = offered
                if waits.get(name):
                    waits[name] -= 1
            address_at.value = address
            if value is not None:
                dut.s_axil_wdata_i.value, dut.s_axil_wstrb_i.value = value, 15
            takes = rng.random() < 0.7
            getattr(dut, f"s_axil_{back}ready_i").value = takes
            found: list[tuple[int, int]] = []

            def look(takes=takes, found=found):
                for name in [n for n in waits if waits[n] == 0]:
                    valid = getattr(dut, f"s_axil_{name}valid_i").value
                    if valid and getattr(dut, f"s_axil_{name}ready_o").value:
                        del waits[name]
                if takes and getattr(dut, f"s_axil_{back}valid_o").value:
                    resp = getattr(dut, f"s_axil_{back}resp_o").value.to_unsigned()
                    found.append((resp, dut.s_axil_rdata_o.value.to_unsigned()))

            await cycle(look)
            if found:
                for name in (*channels, back):
                    end = "ready" if name == back else "valid"
                    getattr(dut, f"s_axil_{name}{end}_i").value = 0
                return found[0]
        raise AssertionError(f"register {address:x} does not answer")


class World:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.areas: dict[int, tuple[int, int]] = {}  # of queue pairs: address, bytes
        self.host = Memory(dut, rng, "m_axi", may=self.host_may)
        self.tcbs = Memory(dut, rng, "m_axi_tcb", may=self.tcb_may)
        self.saved: set[int] = set()  # lines of TCBs written so far
        self.link, self.bus = Link(dut, rng), Registers(dut, rng)
        self.msix = Held(dut, "msix_valid_o", "msix_ready_i", ("msix_vector_o",))
        self.irqs: deque[int] = deque()
        self.on_irq: Callable[[int], None] = lambda q: None
        self.messages = 0
        self.now, self.cycles, self.quiet, self.silent = 10**12, 0, 0, False

    def host_may(self, line: int, _write: bool) -> bool:
        return any(base <= line < base + size for base, size in self.areas.values())

    def tcb_may(self, line: int, write: bool) -> bool:
        if write:
            self.saved.add(line)
        return line in self.saved

    def pace(self) -> None:
        """Chooses a random pace for each side."""
        rng = self.rng
        self.link.odds = rng.choice([0.2, 0.6, 1])
        for memory in (self.host, self.tcbs):
            memory.odds, memory.latency = rng.choice([0.3, 0.7, 1]), rng.choice([0, 5, 40])

    async def cycle(self, look=None, *, pace: bool = True) -> None:
        dut = self.dut
        if self.cycles % 250 == 0 and pace:
            self.pace()
        self.cycles += 1
        self.now += CYCLE
        dut.now_ns_i.value = self.now
        self.link.drive()
        self.host.drive(self.cycles)
        self.tcbs.drive(self.cycles)
        self.msix.drive(self.rng.random() < 0.5)
        await ReadOnly()
        moved = [self.link.sees(), self.host.sees(self.cycles), self.tcbs.sees(self.cycles)]
        if dut.msix_valid_o.value and self.msix.before is None:
            self.on_irq(dut.msix_vector_o.value.to_unsigned())
        if said := self.msix.sees():
            self.irqs.append(said[0])
            self.messages += 1
        if look:
            look()
        self.quiet = 0 if any(moved) or look else self.quiet + 1
        if self.quiet >= PATIENCE:  # idle: skip to the next deadline
            self.now += JUMP
        await RisingEdge(dut.clk_i)

    async def read(self, address: int) -> int:
        answer, value = await self.bus.access(self.cycle, address, None)
        assert answer == 0, f"register {address:x} cannot be read"
        return value

    async def write(self, address: int, value: int) -> None:
        answer, _ = await self.bus.access(self.cycle, address, value)
        assert answer == 0, f"register {address:x} cannot be written"

    async def count(self, name: str) -> int:
        return await self.read(COUNTERS[name])

    async def stop(self) -> None:
        """Resets the TOE by the register. The buses are not reset with it: they see cut-off
        transfers."""
        self.host.refuses = self.link.odds = 0.0
        for _ in range(20):
            await self.cycle(pace=False)
        channels = [*self.host.channels.values(), *self.tcbs.channels.values()]
        for channel in (*channels, self.link.out, self.msix):
            channel.ends = True
        await self.write(RUN, 0)
        for _ in range(4):
            await self.cycle(pace=False)
        self.forget()
        for _ in range(20):
            await self.cycle()
            assert self.quiet, "it does something, and is held"

    def forget(self) -> None:
        """Discards what was outstanding when the TOE was reset."""
        for part in (self.link, self.host, self.tcbs, self.msix):
            part.forget()
        self.irqs.clear()
        self.saved.clear()
        self.areas.clear()
        dut = self.dut
        dut.s_axis_tvalid_i.value = dut.m_axi_rvalid_i.value = dut.m_axi_bvalid_i.value = 0
        dut.m_axi_tcb_rvalid_i.value = dut.m_axi_tcb_bvalid_i.value = 0

    async def restart(self) -> None:
        self.forget()
        self.link.frames_in = self.link.frames_out = self.messages = 0
        self.host.refused = self.tcbs.refused = 0
        await reset(self.dut)
