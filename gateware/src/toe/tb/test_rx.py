# SPDX-License-Identifier: Apache-2.0
"""Random received frames. The result of each follows from its bytes (rx_world): every field, and
every byte in its packet buffer, for both readers. A dropped frame is counted once, by its reason,
and none is dropped for lack of buffers while there are some. Buffers are freed in any order, many
at once or none for a long time. After a reset, also within a frame, no earlier state remains."""

from collections import Counter, deque

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import Offers, begin, finds, seeded, simulate
from gateware.src.toe.tb.contract import TOE
from gateware.src.toe.tb.rx_world import ECHO_KIND, TCP_KIND, Maker, Own, judged

BUF_BITS, LINE, QUEUE, READERS = 6, 64, 32, 2
BUFFERS = 1 << BUF_BITS
LISTS, TOP, MODULE = ["src/toe/toe_rx.f"], "toe_rx", "gateware.src.toe.tb.test_rx"
PARAMETERS = {"BufBits": BUF_BITS}
COUNTERS = [name for name, _, _ in reversed(TOE.members["rx_counts_t"])]  # the lowest bit first
BUF = TOE.widths["buf_t"]
QUIET = 40  # cycles after a reset in which frames may be dropped
SLACK = 4  # cycles or buffers until a freed buffer is available


class Frame:
    """A frame being received."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.taken = data, 0, False


class Held:
    """A delivered packet: both readers check its bytes before its buffer is freed."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        lines = range((len(data) + LINE - 1) // LINE)
        self.unread = [list(lines) for _ in range(READERS)]


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.out = Offers(dut, "packet")
        self.count: Counter = Counter()
        self.odds: dict[str, float] = {}

    def live(self, own: Own) -> None:
        """Starts a new life after a reset: no buffer is held."""
        self.own, self.maker = own, Maker(self.rng, own)
        self.frame: Frame | None = None
        self.due: deque[tuple[dict, bytes]] = deque()  # expected packets
        self.drops: deque[tuple[set[str], bytes]] = deque()  # expected counters
        self.held: dict[int, Held] = {}
        self.returned: deque[int] = deque()  # how many cycles ago
        self.reads: list = [None] * READERS
        self.back = 0  # buffers of dropped frames, after those freed
        self.age = 0
        self.out.forget()

    def chances(self) -> None:
        rng = self.rng
        self.odds = {
            "start": rng.choice([0.1, 0.5, 1, 1]),
            "beat": rng.choice([0.3, 0.8, 1, 1]),
            "take": rng.choice([0, 0.1, 0.5, 1, 1, 1]),
            "free": rng.choice([0, 0.1, 0.5, 1, 1, 1, 1]),
            "bad": rng.choice([0] * 6 + [1]),  # only small frames that are dropped
            "read": rng.choice([0.3, 1, 1, 1]),
        }

    # ---- inputs ----

    def next_frame(self) -> bytes:
        if self.rng.random() < self.odds["bad"]:
            return self.rng.randbytes(self.rng.choice([60, 64]))
        return self.maker.some()

    def beats(self, *, more: bool) -> None:
        dut, rng = self.dut, self.rng
        if self.frame is None and more and rng.random() < self.odds["start"]:
            self.frame = Frame(self.next_frame())
        on = self.frame is not None
        self.beat = on and (self.frame.at == 0 or rng.random() < self.odds["beat"])
        dut.s_tvalid_i.value = self.beat
        piece = self.frame.data[self.frame.at :][:LINE] if self.beat else b""
        # Bytes without keep are random.
        around = piece + rng.randbytes(LINE - len(piece))
        dut.s_tdata_i.value = int.from_bytes(around, "little")
        dut.s_tkeep_i.value = (1 << len(piece)) - 1 if piece else rng.getrandbits(LINE)
        self.last = self.beat and self.frame.at + LINE >= len(self.frame.data)
        dut.s_tlast_i.value = self.last if self.beat else rng.getrandbits(1)

    def frees(self) -> None:
        dut, rng = self.dut, self.rng
        done = [b for b, held in self.held.items() if not any(held.unread)]
        self.freed = rng.choice(done) if done and rng.random() < self.odds["free"] else None
        dut.free_valid_i.value = self.freed is not None
        dut.free_i.value = rng.getrandbits(BUF) if self.freed is None else self.freed

    def looks(self) -> None:
        rng, asked = self.rng, []
        for reader in range(READERS):
            wanted = [b for b, held in self.held.items() if held.unread[reader]]
            self.looked[reader] = None
            if wanted and rng.random() < self.odds["read"]:
                buffer = rng.choice(wanted[:3])
                lines = self.held[buffer].unread[reader]
                line = lines.pop(rng.randrange(len(lines)))
                data = self.held[buffer].data[LINE * line :][:LINE]
                self.looked[reader] = (buffer, line, data)
                asked.append((buffer, line))
            else:
                asked.append((rng.randrange(BUFFERS), rng.randrange(32)))
        self.dut.read_buffer_i.value = sum(b << BUF * i for i, (b, _) in enumerate(asked))
        self.dut.read_line_i.value = sum(n << 5 * i for i, (_, n) in enumerate(asked))

    def drive(self, *, more: bool) -> None:
        self.beats(more=more)
        self.frees()
        self.looked: list = [None] * READERS
        self.looks()
        self.out.take(self.rng.random() < self.odds["take"])

    # ---- outputs ----

    def under_way(self) -> int:
        """Returns the number of frames neither delivered nor dropped yet."""
        return len(self.due) + len(self.drops)

    def may_drop(self) -> bool:
        used = self.under_way() + len(self.held) + len(self.returned) + self.back
        return (
            self.age < QUIET
            or self.under_way() >= QUEUE - SLACK
            or self.back + self.under_way() >= QUEUE - SLACK
            or used >= BUFFERS
        )

    def went_in(self, no_buffer: bool) -> None:
        if no_buffer:
            assert self.beat and self.frame.at == 0, "a frame is dropped, and none begins"
            assert self.may_drop(), (
                f"dropped, and there is room: {self.under_way()} under way, {len(self.held)} held,"
                f" {len(self.returned)} just back, {self.back} dropped ones' buffers wait"
            )
            self.count["no_buffer"] += 1
        if not self.beat:
            return
        frame = self.frame
        if frame.at == 0:
            frame.taken = not no_buffer
            # A started frame is pending: its result comes later.
            why, packet = judged(frame.data, self.own)
            if frame.taken and packet:
                self.due.append((packet, frame.data))
            elif frame.taken:
                self.drops.append((why, frame.data))
        frame.at += LINE
        if self.last:
            self.frame = None

    def counted(self) -> bool:
        """Checks the counters of drops; returns whether a frame found no buffer."""
        bits = int(self.dut.counts_o.value)
        names = [name for i, name in enumerate(COUNTERS) if bits >> i & 1]
        no_buffer = "no_buffer" in names
        if no_buffer:
            names.remove("no_buffer")
        assert len(names) < 2, f"dropped once, and counted as {names}"
        if names:
            assert self.drops, f"{names[0]} for no frame"
            why, data = self.drops.popleft()
            assert names[0] in why, f"{names[0]}, and it is {why}: {data[:80].hex()}"
            self.count[names[0]] += 1
        # Their buffers are returned in cycles in which none is freed.
        if self.back and self.freed is None:
            self.back -= 1
            self.returned.append(0)
        self.back += bool(names)
        return no_buffer

    def came(self) -> None:
        if not (said := self.out.sees()):
            return
        packet = TOE.unpack("packet_t", said[0])
        assert self.due, f"a packet that nobody sent: {packet}"
        want, data = self.due.popleft()
        buffer = packet["seg"]["buffer"]
        assert buffer < BUFFERS and buffer not in self.held, f"buffer {buffer} is given twice"
        self.held[buffer] = Held(data)
        for field in ("kind", "mac", "bytes", "vlan"):
            assert packet[field] == want[field], f"{field}: {packet[field]}, not {want[field]}"
        self.count[want["kind"]] += 1
        if want["kind"] == ECHO_KIND:
            assert packet["tuple"]["v6"] == want["v6"]
        if want["kind"] != TCP_KIND:
            return
        assert packet["tuple"] == want["tuple"], f"{packet['tuple']}, not {want['tuple']}"
        seg = packet["seg"]
        for field in set(seg) - {"buffer", "opt"}:
            assert seg[field] == want["seg"][field], f"{field} is {seg[field]}: {want['seg']}"
        told = want["seg"]["opt"]
        ranges = seg["opt"].pop("sack")[: told["sacks"]]
        assert seg["opt"] | {"sack": ranges} == told, f"{seg['opt']}, {ranges}, not {told}"
        self.count["sacks"] += told["sacks"] > 1

    def was_read(self) -> None:
        """Checks the data of the previous cycle's reads."""
        whole = int(self.dut.read_data_o.value)
        for reader, read in enumerate(self.reads):
            if read:
                buffer, line, data = read
                said = (whole >> 8 * LINE * reader & (1 << 8 * LINE) - 1).to_bytes(LINE, "little")
                assert said[: len(data)] == data, f"line {line} of buffer {buffer} is another"
        self.reads = self.looked

    async def cycle(self, *, more: bool = True) -> None:
        self.drive(more=more)
        await ReadOnly()
        assert self.dut.s_tready_o.value, "a link cannot wait"
        no_buffer = self.counted()
        self.was_read()
        self.came()
        self.went_in(no_buffer)
        self.returned = deque(n + 1 for n in self.returned if n < SLACK)
        if self.freed is not None:
            del self.held[self.freed]
            self.returned.append(0)
        self.age += 1
        await RisingEdge(self.dut.clk_i)

    async def reset(self, own: Own) -> None:
        """Resets at any time; the rest of a frame after it is handled as a frame."""
        dut = self.dut
        frame = self.frame
        dut.rst_ni.value = 0
        for _ in range(self.rng.randrange(1, 4)):
            if frame:
                self.beats(more=False)
                frame.at += LINE * self.beat
                frame = self.frame = None if self.last else frame
            await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        self.count["middle"] += bool(frame and frame.at)
        self.live(own)
        if frame:
            self.frame = Frame(frame.data[frame.at :])
        dut.own_i.value = own.packed()

    async def settles(self) -> None:
        self.odds = dict.fromkeys(self.odds, 1)
        for _ in range(BUFFERS * 34):
            if not (self.frame or self.under_way() or self.held or self.back or self.returned):
                return
            await self.cycle(more=False)
        raise AssertionError(f"{len(self.due)} packets never came, {len(self.drops)} counts")

    async def all_are_there(self) -> None:
        """Checks that exactly as many frames as buffers are accepted."""
        self.odds |= {"free": 0, "bad": 0}
        maker, before = self.maker.some, self.count["no_buffer"]
        self.maker.some = self.maker.good
        for _ in range(10 * BUFFERS):
            await self.cycle(more=self.frame is None and self.under_way() < QUEUE // 2)
        assert len(self.held) == BUFFERS, f"{len(self.held)} buffers are left of {BUFFERS}"
        assert self.count["no_buffer"] > before
        self.maker.some = maker

    async def storm(self) -> None:
        """Frees buffers in every cycle, while a frame that is dropped arrives in every cycle."""
        self.odds = dict.fromkeys(self.odds, 1)
        for _ in range(2 * BUFFERS):
            await self.cycle()


@cocotb.test()
async def what_comes_out_is_what_came(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    bench.live(Own(rng))
    bench.chances()
    for _ in range(12):
        bench.chances()
        await bench.reset(Own(rng))
        for n in range(7000):
            if n % 150 == 0:
                bench.chances()
            await bench.cycle()
        await bench.settles()
        await bench.all_are_there()
        await bench.storm()
        await bench.settles()
        bench.chances()
        for _ in range(rng.randrange(100)):
            await bench.cycle()  # work is pending at the next reset
    wanted = [*COUNTERS, TCP_KIND, ECHO_KIND, "sacks"]
    assert all(bench.count[name] > 20 for name in wanted) and bench.count["middle"] > 2, bench.count


def test_rx():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


RX, OPTIONS = "src/toe/rtl/toe_rx.sv", "src/toe/rtl/rx_options.sv"
FAULTS = {
    "what comes while a reset settles is lost, and its buffers": (
        RX, "assign room = open_q && places < out_room", "assign room = places < out_room",
    ),
    "a frame goes on behind a reset": (
        RX, "      in_packet_q <= 1'b0;\n      dropping_q", "      dropping_q",
    ),
    "a length leads around, before the header": (
        RX, "17'(w.l3) + 17'(len4)", "{1'b0, 16'(w.l3) + len4}",
    ),
    "a length of IPv6 leads around, before the header": (
        RX, "17'(w.l3) + 17'd40 + 17'(len6)", "{1'b0, 16'(w.l3) + 16'd40 + len6}",
    ),
    "dropped ones' buffers have no place to wait": (
        RX, "&& places < back_room;", "&& back_room > 6'd1;",
    ),
    "an ARP frame may end before it is whole": (
        RX, "else if (!trans_q10.whole) judged_d", "else if (1'b0) judged_d",
    ),
    "an echo may be shorter than its header": (
        RX, "f.echoes = t.l4_len >= 16'd8;", "f.echoes = 1'b1;",
    ),
    "a group's echo is answered": (
        RX, "(to_group && neighbour)", "(to_group && (echo || neighbour))",
    ),
    "ICMPv6 to another MAC address is ours": (
        RX, "((f.to_us && f.for_us && ((echo", "((f.for_us && ((echo",
    ),
    "a group's segments are taken": (
        RX, "|| a[31:29] == 3'd7;", "|| a[31:28] == 4'hf;",
    ),
    "loopback is taken from the link": (
        RX, " || a[31:24] == 8'd127", "",
    ),
    "IPv4 comes in IPv6's clothes": (
        RX, " || a[127:32] == 96'hffff;", ";",
    ),
    "nobody's echo is answered": (
        RX, "((echo && !f.nobody) || neighbour)", "(echo || neighbour)",
    ),
    "neighbours who ask a group are not heard": (
        RX, "to_group = (f.to_us || t.to[40])", "to_group = f.to_us",
    ),
    "advertisements are not taken": (
        RX, "t.l4[0] == 8'd135 || t.l4[0] == 8'd136;", "t.l4[0] == 8'd135;",
    ),
    "a buffer of bad options does not come back": (
        RX, "assign own_free_valid = dropped;",
        "assign own_free_valid = came && judged.packet.kind == PkDrop;",
    ),
    "bad options are not counted": (
        RX, "if (came && bad_options) counts.bad_header = 1'b1;", "",
    ),
    "a buffer given back beside a fresh one is lost": (
        RX, "assign free_pop = take_first && !fresh;",
        "assign free_pop = take_first && free_listed;",
    ),
    "the second reader has the first one's line": (
        RX, "{read_buffer_i[1][BufBits-1:0], read_line_i[1]}",
        "{read_buffer_i[1][BufBits-1:0], read_line_i[0]}",
    ),
    "what is left of a dropped frame is written": (
        RX, "wire keeps = first ? take_first : !dropping_q;",
        "wire keeps = first ? take_first : 1'b1;",
    ),
    "a very long frame begins again": (
        RX, "line_q <= line[5] ? line : line + 6'd1;", "line_q <= line + 6'd1;",
    ),
    "what stands on the link in a gap counts": (
        RX, "    if (b5.valid) begin\n      total_q <= total;",
        "    total_q <= total;\n    if (b5.valid) begin",
    ),
    "tags of providers are not known": (
        RX, "return t == 16'h8100 || t == 16'h88a8;", "return t == 16'h8100;",
    ),
    "the first of fragments passes": (
        RX, "{net_q7.l3[6][5:0], net_q7.l3[7]} == 14'd0;",
        "{net_q7.l3[6][4:0], net_q7.l3[7]} == 13'd0;",
    ),
    "ECN of IPv6 is its flow label's": (
        RX, "trans_d.ecn = net_q7.l3[1][5:4];", "trans_d.ecn = net_q7.l3[1][1:0];",
    ),
    "the echo of a whole buffer has no length": (
        RX, "12'(trans_q10.where.stop)", "12'(11'(trans_q10.where.stop))",
    ),
    "a third NOP is an option": (
        OPTIONS, "return nop[2] ? 2'd3 : 2'd2;", "return 2'd2;",
    ),
    "an option may be a byte longer than the list": (
        OPTIONS, "stop[n] > 9'(in.left);", "stop[n] > 9'(in.left) + 9'd1;",
    ),
    "four ranges are three": (
        OPTIONS, "(len >= 8'd34) ? 3'd4", "(len >= 8'd34) ? 3'd3",
    ),
    "a window scale of 15 counts": (
        OPTIONS, "(b[2] > 8'd14) ? 4'd14", "(b[2] > 8'd15) ? 4'd14",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on a toe_rx with this fault."""
    finds(FAULTS[why], LISTS, TOP, MODULE, parameters=PARAMETERS)
