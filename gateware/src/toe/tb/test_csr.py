# SPDX-License-Identifier: Apache-2.0
"""The registers, compared with device/toe.rdl: reads and writes of any address and any bytes, with
resets in between. Values written by the host come out complete and in order, one queue pair at a
time. Events are counted, also during a read. Accesses to unmapped addresses change nothing."""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import begin, packed, seeded, simulate

QPS, FLOWS, COUNTERS, FPCS, FPC_COUNTERS = 3, 512, 5, 3, 4
ALL = COUNTERS + FPC_COUNTERS
BUFFER_MAX, BUILD_ID = 1 << 18, 0x0123456789ABCDEF
AROUND = 1 << 32
OKAY, SLVERR = 0, 2
LATE = 2  # cycles until an event is counted and an input can be read
SETTLED = 4  # cycles after an answer until all outputs match

# device/toe.rdl: the registers that read as written, and their bits.
MAC_LO, MAC_HI, MTU, IPV4, IPV4_PREFIX, IPV4_GATEWAY = 0x30, 0x34, 0x38, 0x40, 0x44, 0x48
IPV6, IPV6_PREFIX, IPV6_GATEWAY, IPV6_LINK = 0x50, 0x60, 0x70, 0x100
SECRET, HASH_KEY, RUN, READY, CC = 0x110, 0x120, 0x150, 0x154, 0x158
QP_SELECT, QP_AREA_LO, QP_AREA_HI, QP_RINGS, QP_BUFFERS = 0x180, 0x184, 0x188, 0x18C, 0x190
QP_FIRST, QP_STATUS_AT, QP_COMMAND, QP_STATE = 0x194, 0x198, 0x1B0, 0x1B4
TICK_CYCLES, RESET, COUNTER, PAGE = 0x2C, 0x80, 0x800, 0x1000
WORDS = [MAC_LO, MAC_HI, MTU, IPV4, IPV4_PREFIX, IPV4_GATEWAY, IPV6_PREFIX]
WORDS += [base + 4 * i for base in (IPV6, IPV6_GATEWAY, IPV6_LINK) for i in range(4)]
WORDS += [QP_SELECT, QP_AREA_LO, QP_AREA_HI, *range(QP_FIRST, QP_COMMAND, 4)]
SETTINGS = dict.fromkeys(WORDS, AROUND - 1)
SETTINGS |= {RUN: 1, CC: 1, QP_RINGS: 0x1F1F1F, QP_BUFFERS: 0x1FFF1F1F, QP_COMMAND: 3}
SECRETS = [SECRET + 4 * i for i in range(4)] + [HASH_KEY + 4 * i for i in range(12)]
# A card; IPv6 (bit 0) is set while there is an address.
FEATURES = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10 | 1 << 11
FIXED = {
    0x00: int.from_bytes(b"TOE1", "little"),
    0x04: 1,
    0x08: BUILD_ID % AROUND,
    0x0C: BUILD_ID // AROUND,
    0x14: QPS,
    0x18: FLOWS,
    0x1C: FLOWS,
    0x20: 4096,
    0x24: BUFFER_MAX,
    0x28: 10**9,
}
BELLS = {
    0x00: "sw_head",
    0x40: "hw_tail",
    0x80: "irq_arm",
    0x84: "irq_seq",
    0xC0: "irq_count",
    0xC4: "irq_usec",
}
BELLS_END = 0xC8
PAGES = 64
STATES = ("attached", "detached", "halted")


class Model:
    def __init__(self) -> None:
        self.ticks: int | None = None  # TICK_CYCLES, not affected by resets
        self.reset()

    def reset(self) -> None:
        self.kept = dict.fromkeys([*SETTINGS, *SECRETS], 0)
        self.config, self.detach = [0] * QPS, [0] * QPS
        self.enabled = [False] * QPS
        self.bells = {name: [0] * QPS for name in BELLS.values()}

    def octets(self, base: int, words: int) -> bytes:
        """Returns octets in register order: the first in the lowest byte."""
        return b"".join(self.kept[base + 4 * i].to_bytes(4, "little") for i in range(words))

    def own(self) -> int:
        kept = self.kept
        ip6, link, gateway = (
            int.from_bytes(self.octets(base, 4), "big") for base in (IPV6, IPV6_LINK, IPV6_GATEWAY)
        )
        return packed(
            (int.from_bytes(self.octets(MAC_LO, 2)[:6], "big"), 48),
            *[(kept[IPV4], 32), (kept[IPV4_PREFIX] & 63, 6), (kept[IPV4_GATEWAY], 32)],
            *[(ip6 != 0, 1), (ip6, 128), (link, 128), (kept[IPV6_PREFIX] & 255, 8), (gateway, 128)],
            *[(kept[MTU] & 0xFFFF, 16), (kept[CC], 4)],
            (int.from_bytes(self.octets(SECRET, 4), "little"), 128),
            (int.from_bytes(self.octets(HASH_KEY, 12), "little"), 384),
        )

    def queue_pair(self) -> int:
        kept = self.kept
        rings, buffers = kept[QP_RINGS], kept[QP_BUFFERS]
        logs = (rings, rings >> 8, rings >> 16, buffers, buffers >> 8)
        return packed(
            *[(kept[QP_COMMAND] & 1, 1), (kept[QP_AREA_HI] << 32 | kept[QP_AREA_LO], 64)],
            *[(log & 31, 5) for log in logs],
            *[(buffers >> 16, 13), (kept[QP_FIRST] & 0xFFFF, 16)],
            *[(kept[QP_STATUS_AT + 4 * i], 32) for i in range(6)],
        )

    def outputs(self) -> dict[str, int]:
        return {
            "own": self.own(),
            "run": self.kept[RUN],
            "qp": lanes(self.config, 1 + 64 + 25 + 13 + 16 + 192),
            "detach": lanes(self.detach, 1),
            **{name: lanes(values, 32) for name, values in self.bells.items()},
        }

    def write(self, address: int, value: int, mask: int) -> int:
        """Writes, and returns the expected response."""
        if address in self.kept:
            bits = mask & SETTINGS.get(address, AROUND - 1)
            self.kept[address] = self.kept[address] & ~bits | value & bits
            chosen = self.kept[QP_SELECT]
            if address == QP_COMMAND and value & mask & 4 and chosen < QPS:
                self.config[chosen] = self.queue_pair()
                self.detach[chosen] = self.kept[QP_COMMAND] >> 1
                self.enabled[chosen] = bool(self.kept[QP_COMMAND] & 1)
                if not self.enabled[chosen]:
                    for values in self.bells.values():
                        values[chosen] = 0
            return OKAY
        if address == TICK_CYCLES:
            if mask == AROUND - 1 or self.ticks is not None:
                self.ticks = (self.ticks or 0) & ~mask | value & mask
            return OKAY
        q, at = address // PAGE - 1, address % PAGE
        if 0 <= q < PAGES:
            if at in BELLS and q < QPS and self.enabled[q]:
                values = self.bells[BELLS[at]]
                values[q] = values[q] & ~mask | value & mask
            return OKAY if at < BELLS_END else SLVERR
        others = (0x10, RESET, READY, QP_STATE, *FIXED)
        return OKAY if address in others or COUNTER <= address < PAGE else SLVERR


def lanes(values, width: int) -> int:
    return sum(value << width * i for i, value in enumerate(values))


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.model = Model()
        self.counts = [0] * ALL
        self.before = [self.counts] * LATE  # of the last cycles
        self.busy = 0.0  # probability of counted events
        self.due = {name: [value] for name, value in self.model.outputs().items()}
        self.still = 0
        self.state = dict.fromkeys((*STATES, "used", "listeners"), [0] * QPS)
        self.ready = 0
        self.last = ""

    def change(self) -> None:
        """Changes the inputs from other modules."""
        dut, rng = self.dut, self.rng
        self.ready = rng.randrange(2)
        self.state = {name: [rng.randrange(2) for _ in range(QPS)] for name in STATES}
        self.state["used"] = [rng.getrandbits(16) for _ in range(QPS)]
        self.state["listeners"] = [rng.getrandbits(8) for _ in range(QPS)]
        dut.ready_i.value = self.ready
        for name, values in self.state.items():
            width = {"used": 16, "listeners": 8}.get(name, 1)
            getattr(dut, f"{name}_i").value = lanes(values, width)

    def written(self) -> None:
        for name, value in self.model.outputs().items():
            if self.due[name][-1] != value:
                self.due[name].append(value)
        self.still = 0

    async def cycle(self, look=None) -> None:
        """Runs one cycle. Each output has its old value or those written since, in that order."""
        dut, rng = self.dut, self.rng
        pulses = [rng.random() < self.busy for _ in range(COUNTERS)]
        fpcs = [[rng.random() < self.busy for _ in range(FPC_COUNTERS)] for _ in range(FPCS)]
        dut.pulses_i.value = lanes(pulses, 1)
        dut.fpc_pulses_i.value = lanes([lanes(each, 1) for each in fpcs], FPC_COUNTERS)
        await ReadOnly()
        if look:
            look()
        for name, values in self.due.items():
            now = int(getattr(dut, f"{name}_o").value)
            wanted = [hex(v) for v in values]
            assert now in values, f"{name}_o: {now:x}, not of {wanted}; last access: {self.last}"
            del values[: values.index(now)]
            assert len(values) == 1 or self.still < SETTLED, f"{name}_o is not as written"
        await RisingEdge(dut.clk_i)
        self.still += 1
        self.before = [*self.before[1:], self.counts]
        happened = pulses + [sum(each) for each in zip(*fpcs, strict=True)]
        self.counts = [n + more for n, more in zip(self.counts, happened, strict=True)]

    async def ask(self, channels: tuple[str, ...], back: str) -> list[int]:
        """Makes one access with random delays of each channel. Returns the answer and checks that
        it is stable until accepted."""
        dut, rng = self.dut, self.rng
        other = "r" if back == "b" else "b"
        wait = {name: rng.choice([0, 0, 1, 3]) for name in channels}
        asking = set(channels)
        answers: list[list[int]] = []
        ready = False

        def pin(name: str) -> int:
            return int(getattr(dut, f"s_axil_{name}_o").value)

        def look() -> None:
            valid = pin(f"{back}valid")
            assert not pin(f"{other}valid"), "an answer to nobody"
            assert not (valid and asking), "an answer before the question"
            assert valid or not answers, "an answer was taken back"
            if valid:
                answers.append([pin(f"{back}resp"), *([pin("rdata")] if back == "r" else [])])
                assert answers[0] == answers[-1], "an answer has changed while it waited"
            for name in list(asking):
                if wait[name] == 0 and pin(f"{name}ready"):
                    asking.remove(name)
                wait[name] -= wait[name] > 0

        for _ in range(200):
            for name in channels:
                go = name in asking and wait[name] == 0
                getattr(dut, f"s_axil_{name}valid_i").value = go
            ready = rng.random() < 0.6
            getattr(dut, f"s_axil_{back}ready_i").value = ready
            await self.cycle(look)
            if answers and ready:
                break
        else:
            raise AssertionError("no answer")
        getattr(dut, f"s_axil_{back}ready_i").value = 0
        return answers[-1]

    async def write(self, address: int, value: int, strobes: int = 15) -> None:
        dut = self.dut
        mask = lanes([255 if strobes >> i & 1 else 0 for i in range(4)], 8)
        self.last = f"write of {address:x}"
        response = self.model.write(address, value, mask)
        self.written()
        self.still = -AROUND  # until there is an answer
        dut.s_axil_awaddr_i.value = address
        dut.s_axil_wdata_i.value, dut.s_axil_wstrb_i.value = value, strobes
        answer = await self.ask(("aw", "w"), "b")
        assert answer == [response], f"{self.last}: {answer}"
        self.still = 0

    def read_due(self, address: int) -> int | None:
        """Returns the expected value; None: unmapped or unknown."""
        model, chosen = self.model, self.model.kept[QP_SELECT]
        if address in SETTINGS:
            return model.kept[address]
        if address in FIXED:
            return FIXED[address]
        if address == 0x10:
            return FEATURES | any(model.octets(IPV6, 4))
        if address == READY:
            return self.ready
        if address == QP_STATE:
            if chosen >= QPS:
                return 0
            of = {name: values[chosen] for name, values in self.state.items()}
            flags = lanes([of[name] for name in STATES], 1)
            return of["used"] << 16 | of["listeners"] << 8 | flags
        if address == TICK_CYCLES:
            return model.ticks
        q, at = address // PAGE - 1, address % PAGE
        if 0 <= q < PAGES and at < BELLS_END:
            return model.bells[BELLS[at]][q] if at in BELLS and q < QPS else 0
        return 0  # also for secrets

    async def read(self, address: int) -> None:
        self.last = f"read of {address:x}"
        exists = self.model_has(address)
        due = self.read_due(address)
        first = self.before[0]
        self.dut.s_axil_araddr_i.value = address
        response, value = await self.ask(("ar",), "r")
        assert response == (OKAY if exists else SLVERR), f"{self.last}: {response}"
        i, high = (address - COUNTER) // 8, address >> 2 & 1
        if COUNTER <= address < PAGE and i < ALL:
            may = {n >> 32 * high & AROUND - 1 for n in range(first[i], self.counts[i] + 1)}
            assert value in may, f"counter {i}: {value:x}, not of {[hex(n) for n in may]}"
        elif exists and due is not None:
            assert value == due, f"{self.last}: {value:x}, not {due:x}"

    def model_has(self, address: int) -> bool:
        others = (0x10, TICK_CYCLES, RESET, READY, QP_STATE, *FIXED)
        if address in SETTINGS or address in SECRETS or address in others:
            return True
        q, at = address // PAGE - 1, address % PAGE
        return at < BELLS_END if 0 <= q < PAGES else COUNTER <= address < PAGE

    async def reset(self) -> None:
        self.busy = 0
        for _ in range(SETTLED + 1):
            await self.cycle()
        self.dut.rst_ni.value = 0
        self.model.reset()
        self.written()
        for _ in range(3):
            await self.cycle()
        self.counts = [0] * ALL
        self.before = [self.counts] * LATE
        self.dut.rst_ni.value = 1

    async def lap(self) -> None:
        """Sets counters to just before the wrap of their lower half, which would take too long to
        reach."""
        self.busy = 0
        for _ in range(LATE):  # no event is pending
            await self.cycle()
        self.counts = [AROUND - self.rng.randrange(1, 60) for _ in range(ALL)]
        self.before = [self.counts] * LATE
        self.dut.count_q.value = lanes(self.counts, 64)
        await self.cycle()


def address(rng) -> tuple[str, int]:
    q = rng.choice([0, 0, 1, 1, 2, 2, QPS, rng.randrange(PAGES)])
    page = PAGE * (1 + q)
    counter = COUNTER + 8 * rng.choice([rng.randrange(ALL), rng.randrange(256)])
    others = [0x10, TICK_CYCLES, RESET, READY, *FIXED]
    return rng.choice(
        [
            ("setting", rng.choice(WORDS)),
            ("setting", rng.choice([RUN, CC, QP_RINGS, QP_BUFFERS])),
            ("select", QP_SELECT),
            ("command", QP_COMMAND),
            ("state", QP_STATE),
            ("secret", rng.choice(SECRETS)),
            ("other", rng.choice(others)),
            ("counter", counter + 4 * rng.randrange(2)),
            ("bell", page + rng.choice(list(BELLS))),
            ("bell", page + rng.choice(list(BELLS))),
            ("hole", page + 4 * rng.randrange(BELLS_END // 4)),
            ("none", rng.choice([page + 4 * rng.randrange(BELLS_END // 4, 1024), 0x3C, 0x1B8])),
            ("none", 4 * rng.randrange(1 << 17)),
        ]
    )


@cocotb.test()
async def registers_are_as_described(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    count: dict[tuple[str, bool], int] = {}
    enabled = 0
    await bench.write(TICK_CYCLES, rng.getrandbits(32))
    for n in range(3000):
        if n % 50 == 0:
            bench.busy = rng.choice([0, 0.2, 1])
        if n % 1000 == 999:
            await bench.reset()
        elif n % 200 == 100:
            await bench.lap()
        if rng.random() < 0.3:
            bench.change()
            for _ in range(LATE):
                await bench.cycle()
        kind, at = address(rng)
        writes = rng.random() < (0.1 if kind in ("state", "counter") else 0.6)
        if writes:
            value = rng.choice([0, rng.getrandbits(32)])
            if kind == "select":
                value = rng.choice([0, 1, 2, 0, 1, 2, QPS, 4, 1 << 31])
            elif kind == "command":
                value = rng.getrandbits(32) & ~7 | rng.choice([5, 5, 5, 7, 4, 1, 0, 2])
            await bench.write(at, value, 15 if rng.random() < 0.8 else rng.randrange(16))
        else:
            await bench.read(at)
        count[kind, writes] = count.get((kind, writes), 0) + 1
        enabled += sum(bench.model.enabled)
        for _ in range(rng.choice([0, 0, 0, 1, SETTLED + 2])):
            await bench.cycle()
    assert len(count) == 20 and min(count.values()) > 10, count
    assert enabled > 2000, enabled


def test_csr():
    simulate(
        ["src/toe/toe_csr.f"],
        "toe_csr",
        "gateware.src.toe.tb.test_csr",
        parameters={
            "Flows": FLOWS,
            "Qps": QPS,
            "Counters": COUNTERS,
            "Fpcs": FPCS,
            "FpcCounters": FPC_COUNTERS,
            "BufferMax": BUFFER_MAX,
            "BuildId": f"64'h{BUILD_ID:x}",
        },
    )
