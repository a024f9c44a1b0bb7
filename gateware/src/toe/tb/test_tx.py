# SPDX-License-Identifier: Apache-2.0
"""Random transmitted packets, in addition to formal/tx_random.sv. Each frame equals scapy's for its
descriptor, with each payload byte from the flow's slot, up to 2 KiB, in the order in which
descriptors were accepted. FPCs take turns; packets without a flow have priority. Reads are exactly
those that the payload needs. Queue pairs detach with payload reads outstanding and attach with
other memory: at_work_o is checked in each cycle, and a packet is sent completely or not at all.
Resets occur in between."""

import hashlib
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from gateware.lib.bench import Offers, begin, finds, reset, seeded, simulate
from gateware.src.toe.tb.contract import AROUND, TOE

QPS, FPCS, SLOT_BITS, LARGEST = 4, 3, 2, 2048
LISTS, TOP, MODULE = ["src/toe/toe_tx.f"], "toe_tx", "gateware.src.toe.tb.test_tx"
PARAMETERS = {"Qps": QPS, "Fpcs": FPCS, "SlotBits": SLOT_BITS}
CHANCE, SPEED = "frames_are_what_was_described", "host_memory_far_away"
FAR = {**PARAMETERS, "SlotBits": 6}
WIDTH = {name: TOE.widths[name] for name in ("qp_config_t", "tx_desc_t")}


@lru_cache(4096)
def line_at(address: int) -> bytes:
    """Returns the contents of a line of host memory."""
    return hashlib.blake2b(address.to_bytes(8, "little")).digest()


def memory(address: int, count: int) -> bytes:
    start = address & ~63
    lines = b"".join(line_at(a) for a in range(start, address + count, 64))
    return lines[address - start : address - start + count]


def address(number: int, *, v6: bool) -> str:
    if v6:
        return ":".join(f"{number >> 16 * i & 0xFFFF:x}" for i in reversed(range(8)))
    return ".".join(str(octet) for octet in number.to_bytes(4, "big"))


def mac(number: int) -> str:
    return number.to_bytes(6, "big").hex(":")


def options_of(d: dict) -> list[tuple]:
    """Returns the options in order, with NOPs before those that are not whole words."""
    found = [("MSS", d["mss"])] if d["mss_ok"] else []
    if d["ts_ok"]:
        found += [("SAckOK", b"")] if d["sack_ok"] else [("NOP", None)] * 2
        found += [("Timestamp", (d["tsval"], d["tsecr"]))]
    elif d["sack_ok"]:
        found += [("NOP", None), ("NOP", None), ("SAckOK", b"")]
    if d["ws_ok"]:
        found += [("NOP", None), ("WScale", d["ws"])]
    if d["sacks"]:
        edges = [edge for r in d["sack"][: d["sacks"]] for edge in (r["start"], r["stop"])]
        found += [("NOP", None), ("NOP", None), ("SAck", tuple(edges))]
    return found


def words_of(d: dict) -> int:
    stamps = 3 if d["ts_ok"] else d["sack_ok"]
    return d["mss_ok"] + stamps + d["ws_ok"] + (1 + 2 * d["sacks"] if d["sacks"] else 0)


def frame_of(d: dict, path: dict, own_mac: int, payload: bytes) -> bytes:
    tup, flags = path["tuple"], TOE.pack("flags_t", d["flags"])
    ends = {end: address(tup[end], v6=tup["v6"]) for end in ("own", "remote")}
    segment = TCP(
        sport=tup["local_port"], dport=tup["remote_port"], seq=d["seq"], flags=flags,
        ack=d["ack"] if d["flags"]["ack"] else 0, window=d["wnd"], options=options_of(d),
    )  # fmt: skip
    if tup["v6"]:
        net = IPv6(src=ends["own"], dst=ends["remote"], tc=d["tos"], hlim=64)
    else:
        net = IP(src=ends["own"], dst=ends["remote"], tos=d["tos"], id=0, flags="DF", ttl=64)
    return bytes(Ether(dst=mac(path["mac"]), src=mac(own_mac)) / net / segment / payload)


def checksum_at(path: dict) -> int:
    return (54 if path["tuple"]["v6"] else 34) + 16


class Qp:
    """A queue pair: attached, detaching or detached."""

    def __init__(self, index: int, rng) -> None:
        self.index, self.rng = index, rng
        self.on = self.closed = False
        self.served = False  # in the previous cycle
        self.count = 0

    def begin(self) -> None:
        rng = self.rng
        self.on, self.closed = True, False
        self.count += 1
        self.tx_log, self.rx_log = rng.choice([6, 10, 11, 12, 16, 28]), rng.choice([6, 10, 16, 24])
        self.slots_log = rng.choice([0, 1, 4, 7])
        self.first = rng.randrange(1 << 15 - self.slots_log) << self.slots_log
        self.area = rng.getrandbits(22) << 40 | (self.index * 512 + self.count) << 12
        self.buffers_at = rng.getrandbits(19) << 12

    @property
    def serves(self) -> bool:
        return self.on and not self.closed

    def config(self) -> int:
        if not self.count:
            return 0
        named = ("area", "buffers_at", "tx_log", "rx_log", "slots_log", "first")
        values = {name: getattr(self, name) for name in named}
        return TOE.pack("qp_config_t", values | {"enable": self.on, "sw_log": 3, "hw_log": 3})

    def pieces(self, d: dict) -> list[tuple[int, int]]:
        """Returns address and bytes of the payload: one piece, or two around the buffer's end."""
        size = 1 << self.tx_log
        slot = (d["flow"] - self.first) * (size + (1 << self.rx_log))
        buffer, offset = self.area + self.buffers_at + slot, d["from"] % size
        first = min(d["len"], size - offset)
        found = [(buffer + offset, first)]
        return found + ([(buffer, d["len"] - first)] if first < d["len"] else [])


@dataclass(eq=False)
class Frame:
    qp: Qp
    data: bytes
    pieces: list[tuple[int, int]]  # not requested yet
    may_drop: bool = False  # detaching before the request
    beats: int = 0  # of its payload, outstanding
    asked: bool = False
    dropped: bool = False


@dataclass
class Reads:
    """Outstanding reads: addresses of lines and their frames."""

    lines: deque = field(default_factory=deque)
    offered: tuple[int, Frame] | None = None
    second: Frame | None = None  # its second piece is requested next
    addressed: deque = field(default_factory=deque)  # the frames of bursts
    held: bool = False


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.reads_out = Offers(dut, "ar", "ar_addr_o", "ar_len_o")
        names = ("frames", "dropped", "wraps", "v6", "bare", "left", "zero sums", "whole", "cut")
        self.count = dict.fromkeys(names, 0)
        self.odds = [0.5] * 4
        self.latency = 0
        self.begin()

    def begin(self) -> None:
        rng = self.rng
        self.own_mac = rng.getrandbits(48)
        self.paths: dict[int, dict] = {}
        self.qps = [Qp(i, rng) for i in range(QPS)]
        for qp in self.qps[:-1]:
            qp.begin()
        self.offers: list[dict | None] = [None] * FPCS
        self.passed = [[0] * FPCS for _ in range(FPCS)]  # grants to another FPC while one waits
        self.bare: tuple[dict, dict] | None = None
        self.frames: deque[Frame] = deque()  # in order, not sent yet
        self.asking: deque[Frame] = deque()  # with payload not requested yet
        self.reads = Reads()
        self.beat: tuple[int, Frame] | None = None
        self.sent = b""
        self.held: tuple | None = None
        self.path = 0
        self.time = 0
        self.reads_out.forget()

    # ---- inputs ----

    def path_of(self, flow: int) -> dict:
        if flow not in self.paths:
            self.paths[flow] = self.some_path()
        return self.paths[flow]

    def some_path(self) -> dict:
        rng = self.rng
        v6 = rng.randrange(2)
        ends = {end: rng.getrandbits(128 if v6 else 32) for end in ("own", "remote")}
        ports = {end: rng.getrandbits(16) for end in ("local_port", "remote_port")}
        return {"tuple": {"v6": v6, **ends, **ports}, "mac": rng.getrandbits(48)}

    def some(self, *, payload: bool) -> dict:
        rng = self.rng
        serving = [qp for qp in self.qps if qp.serves]
        qp = rng.choice(serving if serving and rng.random() < 0.9 else self.qps)
        first, slots = (qp.first, 1 << qp.slots_log) if qp.count else (0, 1)
        d = {"qp": qp.index, "flow": first + rng.choice([0, slots - 1, rng.randrange(slots)])}
        names = ("cwr", "ece", "urg", "ack", "psh", "rst", "syn", "fin")
        d["flags"] = {name: rng.randrange(2) for name in names}
        for name, bits in (("seq", 32), ("ack", 32), ("wnd", 16), ("tos", 8), ("mss", 16)):
            d[name] = rng.getrandbits(bits)
        d |= {"tsval": rng.getrandbits(32), "tsecr": rng.getrandbits(32), "ws": rng.randrange(15)}
        for name in ("mss_ok", "ws_ok", "sack_ok", "ts_ok"):
            d[name] = rng.randrange(2)
        d["sacks"] = 0
        most = min(4, (10 - words_of(d) - 1) // 2)
        d["sacks"] = rng.randrange(most + 1)
        d["sack"] = [{e: rng.getrandbits(32) for e in ("start", "stop")} for _ in range(4)]
        d |= {"len": 0, "from": rng.getrandbits(32)}
        if payload and rng.random() < 0.8:
            self.some_payload(d, qp)
        return d

    def some_payload(self, d: dict, qp: Qp) -> None:
        rng = self.rng
        v6 = self.path_of(d["flow"])["tuple"]["v6"]
        size = 1 << qp.tx_log if qp.count else 1 << 20
        most = min(size, LARGEST - (74 if v6 else 54) - 4 * words_of(d))
        few = rng.choice([1, 2, 10, 64, 65, rng.randrange(1, 200)])
        d["len"] = min(most, rng.choice([few, few, 1448, most, rng.randrange(1, most + 1)]))
        around = -rng.randrange(2 * d["len"]) % size  # starts before or at the buffer's end
        at = rng.choice([around, rng.randrange(size), 64 * rng.randrange(size // 64)])
        d["from"] = (d["from"] & ~(size - 1) | at) % AROUND

    def hosts(self) -> None:
        rng = self.rng
        for qp in self.qps[:-1]:
            named = [o for o in self.offers if o and o["qp"] == qp.index and o["len"]]
            between = self.reads.second is not None and self.reads.second.qp is qp
            if qp.serves and rng.random() < (0.03 if between else 0.001):
                qp.closed = True
            elif qp.on and qp.closed and rng.random() < 0.05 and self.rests(qp) and not named:
                qp.on, qp.closed = False, rng.random() < 0.5
                self.count["left"] += 1
            elif not qp.on and rng.random() < 0.02 and self.rests(qp) and not named:
                qp.begin()

    def rests(self, qp: Qp) -> bool:
        """Returns whether the queue pair was idle in the previous cycle and no descriptor of it was
        accepted since."""
        return not any(f.qp is qp for f in self.asking) and not self.work >> qp.index & 1

    work = 0

    def drive(self, *, more: bool) -> None:
        dut, rng = self.dut, self.rng
        comes, ready, brings, takes = self.odds
        if more:
            self.hosts()
        dut.own_i.value = TOE.pack("own_t", {"mac": self.own_mac})
        width = WIDTH["qp_config_t"]
        dut.qp_i.value = sum(qp.config() << width * qp.index for qp in self.qps)
        dut.closed_i.value = sum(qp.closed << qp.index for qp in self.qps)
        for f in range(FPCS):
            if self.offers[f] is None and more and rng.random() < comes:
                self.offers[f] = self.some(payload=True)
                self.offers[f]["bits"] = TOE.pack("tx_desc_t", self.offers[f])
        width = WIDTH["tx_desc_t"]
        dut.desc_valid_i.value = sum((o is not None) << f for f, o in enumerate(self.offers))
        dut.desc_i.value = sum(o["bits"] << width * f for f, o in enumerate(self.offers) if o)
        if self.bare is None and more and rng.random() < comes / 8:
            self.bare = (self.some(payload=False), self.some_path())
            self.zero_sum(*self.bare)
        dut.bare_valid_i.value = self.bare is not None
        if self.bare:
            dut.bare_i.value = TOE.pack("tx_desc_t", self.bare[0])
            dut.bare_path_i.value = TOE.pack("path_t", self.bare[1])
        dut.path_i.value = self.path
        self.reads_out.take(rng.random() < ready)
        lines = self.reads.lines
        if self.beat is None and lines and lines[0][0] <= self.time and rng.random() < brings:
            self.beat = lines.popleft()[1:]
        dut.r_valid_i.value = self.beat is not None
        if self.beat:
            dut.r_data_i.value = int.from_bytes(line_at(self.beat[0]), "little")
        self.takes = rng.random() < takes
        dut.m_tready_i.value = self.takes

    def zero_sum(self, d: dict, path: dict) -> None:
        """Sometimes chooses a window that gives a checksum of 0."""
        if self.rng.random() < 0.1:
            d["wnd"] = 0
            at = checksum_at(path)
            d["wnd"] = int.from_bytes(frame_of(d, path, self.own_mac, b"")[at : at + 2], "big")
            self.count["zero sums"] += 1

    # ---- accepted descriptors ----

    def accepts(self, d: dict, path: dict) -> None:
        qp = self.qps[d["qp"]]
        pieces = qp.pieces(d) if d["len"] and qp.count else []
        payload = b"".join(memory(*piece) for piece in pieces)
        if d["len"] and not qp.count:
            payload = bytes(d["len"])  # never sent
        frame = Frame(qp, frame_of(d, path, self.own_mac, payload), pieces)
        self.frames.append(frame)
        if d["len"]:
            self.asking.append(frame)
        self.count["v6"] += path["tuple"]["v6"]
        self.count["wraps"] += len(pieces) == 2
        self.count["whole"] += len(frame.data) == LARGEST

    def descriptors(self) -> None:
        dut = self.dut
        ready = dut.desc_ready_o.value.to_unsigned()
        gone = [f for f, offer in enumerate(self.offers) if offer and ready >> f & 1]
        assert len(gone) <= 1, "two descriptors at once"
        if self.bare and dut.bare_ready_o.value:
            assert not gone, "what belongs to no flow, and a descriptor"
            self.accepts(*self.bare)
            self.bare = None
            self.count["bare"] += 1
        for f in gone:
            assert self.bare is None, "what belongs to no flow does not go first"
            self.accepts(self.offers[f], self.path_of(self.offers[f]["flow"]))
            self.offers[f] = None
            self.passed[f] = [0] * FPCS
            for other, offer in enumerate(self.offers):
                if offer:
                    self.passed[other][f] += 1
                    assert self.passed[other][f] <= 1, "an FPC goes twice, and another waits"

    # ---- reads ----

    def drop(self, frame: Frame) -> None:
        assert frame.may_drop, "a packet is lost"
        frame.dropped = True
        self.asking.remove(frame)
        self.frames.remove(frame)
        self.count["dropped"] += 1

    def asks(self, at: int, beats: int) -> None:
        """Finds the frame of a newly offered burst."""
        reads = self.reads
        frame = reads.second
        while frame is None:
            assert self.asking, f"a read at {at:x} that nobody needs"
            first = self.asking[0]
            start = first.pieces[0][0] & ~63 if first.pieces else None
            if start == at and first.qp.served and not first.asked:
                frame = self.asking.popleft()
                frame.asked = True
                frame.beats = sum((a % 64 + n + 63) // 64 for a, n in frame.pieces)
            else:
                self.drop(first)
        start, count = frame.pieces.pop(0)
        assert at == start & ~63, f"a read at {at:x}, not {start:x}"
        assert beats == (start % 64 + count + 63) // 64, f"{beats} lines at {start:x} of {count}"
        reads.second = frame if frame.pieces else None
        reads.addressed.append(frame)
        if not frame.qp.serves:
            self.count["cut"] += 1  # detaching when its payload was requested

    def memory_port(self) -> None:
        dut, reads = self.dut, self.reads
        if dut.ar_valid_o.value and not reads.held:
            self.asks(dut.ar_addr_o.value.to_unsigned(), dut.ar_len_o.value.to_unsigned() + 1)
            reads.held = True
        if said := self.reads_out.sees():
            reads.held = False
            frame = reads.addressed.popleft()
            due = self.time + self.latency
            reads.lines.extend((due, said[0] + 64 * i, frame) for i in range(said[1] + 1))

    def works(self) -> None:
        """Checks at_work_o: queue pairs with payload to be read or outstanding."""
        self.work = self.dut.at_work_o.value.to_unsigned()
        for qp in self.qps:
            says = bool(self.work >> qp.index & 1)
            asking = [f for f in self.asking if f.qp is qp]
            if any(f.qp is qp and f.asked and f.beats for f in self.frames):
                assert says, "a queue pair may go, and its payload is on its way"
            elif not says:
                for frame in asking:
                    self.drop(frame)
            else:
                assert asking, "a queue pair is at work for nothing"

    # ---- sent frames ----

    def link(self) -> None:
        dut = self.dut
        if not dut.m_tvalid_o.value:
            assert self.held is None, "a beat is taken back"
            return
        said = tuple(int(s.value) for s in (dut.m_tdata_o, dut.m_tkeep_o, dut.m_tlast_o))
        assert self.held in (None, said), "a beat that nobody took has become another"
        self.held = None if self.takes else said
        if not self.takes:
            return
        data, keep, last = said
        count = keep.bit_length()
        assert keep == (1 << count) - 1 and count and (last or count == 64), f"keep {keep:x}"
        self.sent += data.to_bytes(64, "little")[:count]
        if not last:
            return
        while self.frames and self.frames[0].data != self.sent and self.frames[0].may_drop:
            self.drop(self.frames[0])
        assert self.frames, "a frame that nobody asked for"
        frame = self.frames.popleft()
        assert self.sent == frame.data, f"{self.sent.hex()}, not {frame.data.hex()}"
        assert not frame.beats and frame not in self.asking, "its payload was not read"
        self.sent = b""
        self.count["frames"] += 1

    async def cycle(self, *, more: bool = True) -> None:
        dut = self.dut
        self.time += 1
        self.drive(more=more)
        await ReadOnly()
        self.memory_port()
        self.works()
        self.link()
        if self.beat and dut.r_ready_o.value:
            self.beat[1].beats -= 1
            self.beat = None
        self.descriptors()
        for frame in self.asking:
            frame.may_drop |= not frame.qp.serves
        for qp in self.qps:
            qp.served = qp.serves
        place = TOE.unpack("place_t", dut.path_at_o.value.to_unsigned())
        self.path = TOE.pack("path_t", self.path_of(place["index"]))
        await RisingEdge(dut.clk_i)

    async def restart(self) -> None:
        dut = self.dut
        self.begin()
        dut.desc_valid_i.value = dut.bare_valid_i.value = dut.r_valid_i.value = 0
        await reset(dut)

    def at_rest(self) -> bool:
        return not (self.frames or self.bare or any(self.offers) or self.reads.lines or self.work)


@cocotb.test()
async def frames_are_what_was_described(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    for _ in range(16):
        await bench.restart()
        for n in range(1800):
            if n % 100 == 0:
                bench.odds = [rng.choice([0.1, 0.5, 0.9, 1]) for _ in range(4)]
                bench.latency = rng.choice([0, 0, 10, 100])
            await bench.cycle()
        bench.odds, bench.latency = [1] * 4, 0
        for _ in range(600):
            await bench.cycle(more=False)
        for frame in [f for f in bench.frames if f.may_drop and f in bench.asking]:
            bench.drop(frame)
        assert bench.at_rest(), "a packet never comes"
        # Work is pending at the next reset, sometimes half of a payload.
        bench.odds = [0.8, 0.3, 0.8, 0.8]
        between = rng.random() < 0.5
        for _ in range(400 if between else rng.randrange(60)):
            await bench.cycle()
            if between and bench.reads.second:
                break
    count = bench.count
    assert count["frames"] > 1000 and min(count.values()) > 5, count


@cocotb.test()
async def host_memory_far_away(dut):
    """With 64 packets in flight, packets of 128 bytes take three cycles each at a latency of 100
    cycles, and packets of 1514 bytes one cycle more than their lines at 200 cycles."""
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    await bench.restart()
    flow = bench.qps[0].first
    bench.paths[flow] = bench.some_path()
    bench.paths[flow]["tuple"] |= {"v6": 0, "own": 1 << 24 | 1, "remote": 1 << 24 | 2}
    bench.qps[0].tx_log = 16
    asked = {"qp": 0, "flow": flow, "ts_ok": 1, "flags": {"ack": 1}}
    for length, cycles, latency in ((62, 3, 100), (1448, 25, 200)):
        fields = {**bench.some(payload=False), **dict.fromkeys(("mss_ok", "ws_ok", "sack_ok"), 0)}
        fields |= {**asked, "sacks": 0, "len": length}
        bench.odds, bench.latency, packets, taken = [0, 1, 1, 1], latency, 200, 0
        before, begun = bench.count["frames"], bench.time
        while bench.count["frames"] < before + packets:
            if taken < packets and bench.offers[0] is None:
                offer = {**fields, "from": 1448 * (taken % 32) & ~63, "seq": rng.getrandbits(32)}
                bench.offers[0] = {**offer, "bits": TOE.pack("tx_desc_t", offer)}
                taken += 1
            await bench.cycle(more=False)
            assert bench.time - begun < cycles * packets + latency + 60, "the link stands still"


def test_tx():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS, testcase=CHANCE)


def test_far():
    simulate(LISTS, TOP, MODULE, parameters=FAR, testcase=SPEED)


FAULTS = {
    "the first FPC that has something goes first": (
        "turn_q <= (source == FpcIndexBits'(Fpcs - 1)) ? '0 : source + 1'b1;", "turn_q <= '0;",
    ),
    "an FPC loses its turn to what belongs to no flow": (
        "        if (!bare_valid_i && any)\n", "        if (any)\n",
    ),
    "the second piece of a queue pair that is to go is not read": (
        "wire drops = has_payload && !serves && !second_q;", "wire drops = has_payload && !serves;",
    ),
    "a queue pair is at rest while its packet's sums are made": (
        "(n_valid_q && n_len_q != 16'd0 && n_qp_q == qp_t'(i)) ||", "",
    ),
    "a queue pair is at rest while its packet waits to ask": (
        "(n_valid_q && n_len_q != 16'd0 && n_qp_q == qp_t'(i)) ||\n"
        "                          (c_valid_q && c_len_q != 16'd0 && c_qp_q == qp_t'(i));",
        "(n_valid_q && n_len_q != 16'd0 && n_qp_q == qp_t'(i));",
    ),
    "a queue pair is at work without payload": (
        "(b_valid_q && b_q.len != 16'd0 && b_q.qp == qp_t'(i)) ||",
        "(b_valid_q && b_q.qp == qp_t'(i)) ||",
    ),
    "slots lie in 4 GiB": (
        "m_tx_q <= 64'(b_slot) << b_qp_q.tx_log;", "m_tx_q <= {32'd0, b_slot << b_qp_q.tx_log};",
    ),
    "a flow's receive buffer is not before the next one's": (
        "n_start_q <= m_base_q + m_tx_q + m_rx_q;", "n_start_q <= m_base_q + m_tx_q;",
    ),
    "a queue pair that came with other memory has that of before": (
        "      b_qp_q <= qp_i[qidx_t'(a_q.qp)];",
        "      if (!a_q.flags.psh || b_qp_q.area == '0) b_qp_q <= qp_i[qidx_t'(a_q.qp)];",
    ),
    "a frame of 2 KiB is one of none": (
        "assign about.last = leaving.bytes <= gone + 12'd64;",
        "assign about.last = leaving.bytes[10:0] <= gone[10:0] + 11'd64;",
    ),
    "a checksum of 0 is all ones": (
        "assign finished.csum = ~fold(sum_q4);",
        "assign finished.csum = (fold(sum_q4) == '1) ? '1 : ~fold(sum_q4);",
    ),
    "window scale behind a long list of ranges": (
        "sack_at = ws_at + 4'(d.ws_ok);", "sack_at = ws_at + 4'(d.ws_ok && d.sacks != 3'd4);",
    ),
    "reset leaves a line of a frame": (
        "      read_q <= 1'b0;\n      out_line_q <= '0;", "      read_q <= 1'b0;",
    ),
    "reset leaves a second piece to be asked for": (
        "      ar_valid_o <= 1'b0;\n      second_q <= 1'b0;", "      ar_valid_o <= 1'b0;",
    ),
    "reset leaves slots taken": (
        "      second_q <= 1'b0;\n      used_q <= '0;", "      second_q <= 1'b0;",
    ),
    "reset leaves a queue pair at work": (
        "if (!rst_ni) coming_q <= '0;\n      else\n", "",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on a toe_tx with this fault."""
    fault = ("src/toe/rtl/toe_tx.sv", *FAULTS[why])
    finds(fault, LISTS, TOP, MODULE, parameters=PARAMETERS, testcase=CHANCE)


SLOW = {
    "only so many packets are on their way": (
        "wire slot_free = !used_q[SlotBits];", "wire slot_free = used_q < (SlotBits + 1)'(32);",
    ),
    "a packet begins when the one before it has ended": (
        "assign job_takes = job_valid && (step_q == Idle || step_q == Flush);",
        "assign job_takes = job_valid && step_q == Idle;",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", SLOW)
def test_finds_slow(why):
    """The speed test fails on a toe_tx with this fault: the link is idle."""
    fault = ("src/toe/rtl/toe_tx.sv", *SLOW[why])
    finds(fault, LISTS, TOP, MODULE, parameters=FAR, testcase=SPEED)
