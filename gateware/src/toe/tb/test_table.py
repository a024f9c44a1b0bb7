# SPDX-License-Identifier: Apache-2.0
"""The flow table, compared with a map, at random. Tuples are chosen by their hashes: many share one
or both rows, and some have equal signatures. A packet finds the entry at the time of its arrival,
also during changes. An entry is found until it is deleted, whatever is inserted. An insertion fails
exactly when there is no room. After a reset the table is empty."""

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import Offers, begin, finds, seeded, simulate
from gateware.src.toe.tb.contract import TOE

FLOW_BITS, WAYS, SIG_BITS = 5, 4, 20
ROW_BITS = FLOW_BITS - 1
ROWS, FLOWS, READERS, QUEUE = 1 << ROW_BITS, 1 << FLOW_BITS, 3, 16
LISTS, TOP, MODULE = ["src/toe/toe_table.f"], "toe_table", "gateware.src.toe.tb.test_table"
PARAMETERS = {"FlowBits": FLOW_BITS}
FIND, INSERT, MOVE, DELETE = (TOE.names[n] for n in ("TbFind", "TbInsert", "TbMove", "TbDelete"))
TUPLE, PATH, PLACE = (TOE.widths[t] for t in ("tuple_t", "path_t", "place_t"))
V6 = 1 << TUPLE - 1
# Bits of a tuple, from the lowest: ports, own, remote, v6.
PORTS, OWN, REMOTE = range(32), range(32, 160), range(160, 288)
FREE = {  # bits in which two tuples may differ
    "v4": [*PORTS, *REMOTE[:32]],
    "v6": [*PORTS, *OWN, *REMOTE],
    "ports": [*PORTS],
    "own": [*OWN],
    "high": [*REMOTE[32:]],
}
Place = tuple[int, int]  # in TIME-WAIT, index


class Hash:
    """Toeplitz hash: bit j is the parity of the tuple AND the key from bit j on. It is linear, so
    tuples with a given hash are found by solving equations. A row and the signature determine the
    other row."""

    BITS = ROW_BITS + SIG_BITS

    def __init__(self, rng) -> None:
        self.rng, self.key = rng, rng.getrandbits(384)
        if rng.random() < 0.5:  # the IP version has no effect
            self.key &= ~((1 << self.BITS) - 1 << TUPLE - 1)
        self.columns = [self.key >> bit & (1 << self.BITS) - 1 for bit in range(TUPLE)]

    def bits(self, t: int) -> int:
        h = 0
        for bit in range(t.bit_length()):
            if t >> bit & 1:
                h ^= self.columns[bit]
        return h

    def parts(self, t: int) -> tuple[int, int, int]:
        """Returns the row in the first table, the row in the second, the signature."""
        row, sig = divmod(self.bits(t), 1 << SIG_BITS)
        return row, row ^ sig % ROWS, sig

    def sibling(self, t: int, row0: int, row1: int, more: int, where: str, flip: int = 0) -> int:
        """Returns a tuple other than t. Its rows differ in these bits; `more` is the difference of
        the remaining signature. The tuple differs in free bits and in flip."""
        target = row0 << SIG_BITS | more << ROW_BITS | (row0 ^ row1)
        while True:
            free = list(FREE[where])
            self.rng.shuffle(free)
            change = sum(1 << bit for bit in free if self.rng.random() < 0.5)
            wanted = self.bits(change ^ flip) ^ target
            basis: dict[int, tuple[int, int]] = {}  # highest bit: hash, its tuple bits
            for bit in free:
                h, who = self.reduced(basis, self.columns[bit], 1 << bit)
                if h:
                    basis[h.bit_length()] = h, who
            rest, who = self.reduced(basis, wanted, 0)
            if not rest and change ^ flip ^ who:
                return t ^ change ^ flip ^ who

    @staticmethod
    def reduced(basis: dict, h: int, who: int) -> tuple[int, int]:
        for top in sorted(basis, reverse=True):
            if h >> top - 1 & 1:
                h, who = h ^ basis[top][0], who ^ basis[top][1]
        return h, who


def some_tuples(rng, hashed: Hash) -> list[int]:
    """Returns the tuples of a life, of both IP versions."""
    v4 = TOE.pack("tuple_t", {"remote": rng.getrandbits(32), "own": 0x0A000001, "local_port": 443})
    v6 = V6 | rng.getrandbits(TUPLE - 1)
    tuples = [v4, v6, v4 | V6, v6 ^ V6]  # equal numbers, different IP version

    def sibling(t: int, row0: int, row1: int, more: int, where: str | None = None, flip: int = 0):
        where = where or ("v6" if t & V6 else "v4")
        tuples.append(hashed.sibling(t, row0, row1, more, where, flip))

    def other() -> int:
        return rng.randrange(1, ROWS)

    for t in (v4, v6):
        for _ in range(10):  # of both rows
            sibling(t, 0, 0, rng.getrandbits(SIG_BITS - ROW_BITS))
        for _ in range(4):  # of one
            sibling(t, 0, other(), rng.getrandbits(SIG_BITS - ROW_BITS))
            sibling(t, other(), 0, rng.getrandbits(SIG_BITS - ROW_BITS))
        # One row and otherwise the same signature; then everything equal.
        sibling(t, 0, other(), 0)
        sibling(t, other(), 0, 0)
        row = other()
        sibling(t, row, row, 0)  # the same signature in other rows
        sibling(t, 0, 0, 0)
        sibling(t, 0, 0, 0, flip=V6)
        sibling(t, 0, 0, 0, "ports")
    sibling(v6, 0, 0, 0, "own")
    sibling(v6, 0, 0, 0, "high")
    tuples += [rng.getrandbits(TUPLE) for _ in range(10)]
    return list(dict.fromkeys(tuples))


class Table:
    """The map, and the occupancy of rows."""

    def __init__(self, hashed: Hash, tuples: list[int]) -> None:
        self.hash = {t: hashed.parts(t) for t in tuples}
        self.places: dict[int, Place] = {}
        self.rows: list[list[list[int]]] = [[[] for _ in range(ROWS)] for _ in range(2)]

    def two(self, t: int) -> list[list[int]]:
        return [self.rows[i][self.hash[t][i]] for i in range(2)]

    def answer(self, op: int, t: int, place: Place) -> Place | None:
        """Returns the tuple's place after the operation; None: it fails."""
        at = self.places.get(t)
        if op == INSERT:
            alike = any(self.hash[o][2] == self.hash[t][2] for row in self.two(t) for o in row)
            full = all(len(row) == WAYS for row in self.two(t))
            return None if alike or full else place
        if op == DELETE:
            return at if at == place else None
        return at

    def change(self, op: int, t: int, place: Place) -> None:
        """Applies a successful operation."""
        first, second = self.two(t)
        if op == INSERT:
            (second if len(second) < len(first) else first).append(t)
        if op in (INSERT, MOVE):
            self.places[t] = place
        elif op == DELETE:
            (first if t in first else second).remove(t)
            del self.places[t]


class Change:
    """A pending request: concurrent lookups find the old state, then the new one."""

    def __init__(self, was, comes) -> None:
        self.was, self.comes = was, comes
        self.last_old, self.first_new = -1, 1 << 64

    def sees(self, when: int, found) -> bool:
        if found not in (self.was, self.comes):
            return False
        if self.was != self.comes:
            if found == self.was:
                self.last_old = max(self.last_old, when)
            else:
                self.first_new = min(self.first_new, when)
        return self.last_old < self.first_new


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.hit = Offers(dut, "hit", "hit_flow_o")
        self.miss = Offers(dut, "miss", "miss_tw_o", "miss_index_o")
        self.number = self.cycles = 0
        names = ("hit", "miss", "waiting", "meanwhile", "alike", "full", "stood", "paths")
        self.count = dict.fromkeys(names, 0)
        self.count |= dict.fromkeys((FIND, INSERT, MOVE, DELETE), 0)

    # ---- lives ----

    def live(self, hashed: Hash, tuples: list[int]) -> None:
        """Starts a new life after a reset."""
        self.hashed, self.tuples = hashed, tuples
        self.table = Table(hashed, tuples)
        self.paths: dict[Place, int] = {}
        self.flying: dict[int, tuple[int, int, Change]] = {}  # packet, tuple, permitted results
        self.packet: tuple[int, int] | None = None
        self.request: dict | None = None  # offered
        self.asked: dict | None = None  # taken
        self.patience = self.flowing = 0
        self.reads: list = [None] * READERS
        self.last = {"hit": -1, "miss": -1}
        self.hit.forget()
        self.miss.forget()
        self.chances()

    def chances(self) -> None:
        rng = self.rng
        self.odds = {name: rng.choice([0.1, 0.5, 0.9, 1]) for name in ("packet", "hit", "miss")}
        self.odds["request"] = rng.choice([0, 0.3, 1, 1, 1, 1])
        mixed = [FIND, INSERT, MOVE, DELETE]
        self.ops = rng.choice([[INSERT], [INSERT], [INSERT, DELETE, *mixed], [DELETE, MOVE], mixed])
        parts = self.table.hash[rng.choice(self.tuples)]
        meet = [
            t
            for t in self.tuples
            if any(a == b for a, b in zip(self.table.hash[t], parts, strict=True))
        ]
        self.few = rng.choice([meet, meet, rng.sample(self.tuples, 2), self.tuples])

    async def reset(self, hashed: Hash, tuples: list[int]) -> None:
        """Resets at any time for a cycle or more; this clears all rows."""
        dut, rng = self.dut, self.rng
        self.live(hashed, tuples)
        for again in range(rng.choice([1, 1, 2])):
            if again:
                for _ in range(rng.randrange(ROWS)):
                    await RisingEdge(dut.clk_i)
            dut.rst_ni.value = 0
            for _ in range(rng.randrange(1, 4)):
                await RisingEdge(dut.clk_i)
            dut.rst_ni.value = 1
        dut.request_valid_i.value = 0
        self.offer(rng.choice(self.tuples))  # accepted after the rows are cleared
        for _ in range(ROWS + 1):
            await ReadOnly()
            assert not dut.hit_valid_o.value and not dut.miss_valid_o.value, "of before the reset"
            assert not dut.answer_valid_o.value, "of before the reset"
            if dut.ready_o.value:
                break
            assert not dut.packet_ready_o.value and not dut.request_ready_o.value
            await RisingEdge(dut.clk_i)
        else:
            raise AssertionError("never ready")
        self.packets()
        await RisingEdge(dut.clk_i)

    # ---- inputs ----

    def some_request(self) -> dict:
        rng, places = self.rng, self.table.places
        op, t = rng.choice(self.ops), rng.choice(self.few)
        used = set(places.values())
        place = (rng.randrange(2), rng.randrange(FLOWS))
        if op in (INSERT, MOVE):
            # A place belongs to at most one tuple: toe_conn ensures that.
            place = rng.choice(
                [(tw, i) for tw in (0, 1) for i in range(FLOWS) if (tw, i) not in used]
            )
        elif op == DELETE and t in places and rng.random() < 0.8:
            place = places[t]
        path = t << PATH - TUPLE | rng.getrandbits(PATH - TUPLE)
        return {"op": op, "tuple": t, "place": place, "path": path}

    def offer(self, t: int) -> None:
        """Offers a packet; all fields other than its tuple are random."""
        packet = TOE.unpack("packet_t", self.rng.getrandbits(TOE.widths["packet_t"]))
        self.packet = TOE.pack("packet_t", packet | {"tuple": t}), t
        self.dut.packet_i.value, self.dut.packet_valid_i.value = self.packet[0], 1

    def drive(self, *, more: bool) -> None:
        dut, rng, odds = self.dut, self.rng, self.odds
        if self.packet is None and more and rng.random() < odds["packet"]:
            near = self.asked or self.request
            self.offer(near["tuple"] if near and rng.random() < 0.4 else rng.choice(self.few))
        dut.packet_valid_i.value = self.packet is not None
        if self.request is None and self.asked is None and more and rng.random() < odds["request"]:
            self.request = r = self.some_request()
            place = {"tw": r["place"][0], "index": r["place"][1]}
            bits = {"op": r["op"], "path": r["path"], "place": place}
            dut.request_i.value = TOE.pack("table_request_t", bits)
        dut.request_valid_i.value = self.request is not None
        self.hit.take(rng.random() < odds["hit"])
        self.miss.take(rng.random() < odds["miss"])
        near = self.asked or self.request
        self.path_at = [
            near["place"]
            if near and rng.random() < 0.3
            else (rng.randrange(2), rng.randrange(FLOWS))
            for _ in range(READERS)
        ]
        dut.path_at_i.value = sum(
            (tw << PLACE - 1 | index) << PLACE * i for i, (tw, index) in enumerate(self.path_at)
        )

    # ---- outputs ----

    def finds(self, queue: str, bits: int, found: Place | None) -> None:
        self.count[queue] += 1
        self.count["waiting"] += bool(found and found[0])
        where = next((n for n, f in self.flying.items() if f[0] == bits), None)
        assert where is not None, f"{queue}: a packet that nobody sent, or another"
        assert where > self.last[queue], f"{queue}: a packet passes another"
        self.last[queue] = where
        _, _, change = self.flying.pop(where)
        self.count["meanwhile"] += change.was != change.comes
        said = f"{queue}: {found}, it was {change.was}, then {change.comes}"
        assert change.sees(where, found), said

    def packets(self) -> None:
        dut, inside = self.dut, len(self.flying)
        if said := self.hit.sees():
            self.finds("hit", said[0], (0, said[1]))
        if said := self.miss.sees():
            self.finds("miss", said[0], (1, said[2]) if said[1] else None)
        ready = bool(dut.packet_ready_o.value)
        assert ready or inside >= QUEUE, "it stands still with room for more"
        self.count["stood"] += not ready
        # With ready always set, the rate is one per cycle.
        self.flowing = self.flowing + 1 if self.hit.takes and self.miss.takes else 0
        assert ready or self.flowing < 2 * QUEUE, "it stands still, and nobody lets it wait"
        if self.packet and ready:
            bits, t = self.packet
            at = self.table.places.get(t)
            change = Change(at, at)
            if self.asked and self.asked["tuple"] == t:
                change = self.asked["change"]
            self.flying[self.number] = (bits, t, change)
            self.number += 1
            self.packet = None

    def requests(self) -> None:
        dut = self.dut
        answered = bool(dut.answer_valid_o.value)
        if self.asked:
            self.patience += 1
            assert self.patience < 20, "a request is not answered"
        if answered:
            assert self.asked, "an answer that nobody asked for"
            self.answered(TOE.unpack("table_answer_t", int(dut.answer_o.value)))
        if self.request and dut.request_ready_o.value:
            assert not self.asked or answered
            r = self.asked = self.request
            self.request, self.patience = None, 0
            r["says"] = self.table.answer(r["op"], r["tuple"], r["place"])
            yes, was = r["says"] is not None, self.table.places.get(r["tuple"])
            comes = was
            if yes and r["op"] != FIND:
                comes = None if r["op"] == DELETE else r["place"]
            r["change"] = Change(was, comes)
            old = self.paths.get(r["place"])
            writes = yes and r["op"] in (INSERT, MOVE)
            r["writes"] = Change(old, r["path"] if writes else old)

    def answered(self, said: dict) -> None:
        r, table = self.asked, self.table
        op, t, wanted = r["op"], r["tuple"], r["says"]
        place = (said["place"]["tw"], said["place"]["index"])
        got = place if said["ok"] else None
        assert got == wanted, f"request {op}: {got}, not {wanted}"
        if wanted is not None:
            self.count[op] += 1
            table.change(op, t, r["place"])
            if op in (INSERT, MOVE):
                self.paths[r["place"]] = r["path"]
        elif op == INSERT and t not in table.places:
            full = all(len(row) == WAYS for row in table.two(t))
            self.count["full" if full else "alike"] += 1
        self.asked = None

    def readers(self) -> None:
        """Checks that a path is available the cycle after its request."""
        said = int(self.dut.path_o.value)
        for i, read in enumerate(self.reads):
            if read is not None:
                at, when, change = read
                if change.was is not None:
                    path = said >> PATH * i & (1 << PATH) - 1
                    assert change.sees(when, path), f"the path at {at} is another"
                    self.count["paths"] += 1
        for i, at in enumerate(self.path_at):
            path = self.paths.get(at)
            change = Change(path, path)
            if self.asked and self.asked["place"] == at:
                change = self.asked["writes"]
            self.reads[i] = (at, self.cycles, change)

    async def cycle(self, *, more: bool = True) -> None:
        self.drive(more=more)
        await ReadOnly()
        assert self.dut.ready_o.value
        self.requests()
        self.packets()
        self.readers()
        self.cycles += 1
        await RisingEdge(self.dut.clk_i)


@cocotb.test()
async def who_is_in_is_found(dut):
    rng = seeded()
    await begin(dut)
    bench = Bench(dut, rng)
    for life in range(20):
        if life % 2 == 0:  # else as in the previous life, with an empty table
            hashed = Hash(rng)
            tuples = some_tuples(rng, hashed)
            dut.key_i.value = hashed.key
        await bench.reset(hashed, tuples)
        for n in range(2500):
            if n % 120 == 0:
                bench.chances()
            await bench.cycle()
        bench.odds = dict.fromkeys(bench.odds, 1)
        for _ in range(100):
            await bench.cycle(more=False)
        assert not bench.flying and not bench.asked, "a packet or an answer never came"
        bench.chances()
        for _ in range(rng.randrange(40)):
            await bench.cycle()  # work is pending at the next reset
    assert min(bench.count.values()) > 50, bench.count


def test_table():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


FAULTS = {
    "a newcomer hides who has his signature and one of his rows": (
        "row1: row ^ RowBits'(h)", "row1: row ^ RowBits'(key[383:300])",
    ),
    "half of an IPv6 address is not in the hash": (
        "h[j] = ^(t & TupleBits'(key >> j));",
        "h[j] = ^(t & (TupleBits'(key >> j) & ~(TupleBits'(64'hffffffffffffffff) << 224)));",
    ),
    "two IPv6 peers of one prefix are one": (
        "wire same = match_q4.found && look_path.tuple == packet_q4.tuple;",
        "wire same = match_q4.found && look_path.tuple.v6 == packet_q4.tuple.v6 &&"
        " look_path.tuple.remote[127:64] == packet_q4.tuple.remote[127:64] &&"
        " look_path.tuple.remote_port == packet_q4.tuple.remote_port;",
    ),
    "numbers that are alike are one of IPv4 and one of IPv6, and are one": (
        "wire same = match_q4.found && look_path.tuple == packet_q4.tuple;",
        "wire same = match_q4.found &&"
        " look_path.tuple[TupleBits-2:0] == packet_q4.tuple[TupleBits-2:0];",
    ),
    "who looks like another is deleted for it": (
        "own_same <= own_match_q.found && own_path.tuple == request_q.path.tuple;",
        "own_same <= own_match_q.found;",
    ),
    "who comes goes into the first table": (
        "second <= load(row1_q) < load(row0_q);", "second <= 1'b0;",
    ),
    "who comes goes where there is less room": (
        "second <= load(row1_q) < load(row0_q);", "second <= load(row1_q) > load(row0_q);",
    ),
    "one full row is enough to refuse": (
        "full <= load(row0_q) == 3'(Ways) && load(row1_q) == 3'(Ways);",
        "full <= load(row0_q) == 3'(Ways) || load(row1_q) == 3'(Ways);",
    ),
    "who goes takes a whole row with him": (
        "row_wdata[own_match_q.way] = '0;", "row_wdata = '0;",
    ),
    "the second table is not cleared": (
        "      write1 = 1'b1;\n    end\n  end", "    end\n  end",
    ),
    "the last row is not cleared": (
        "if (clear_q == '1) step_q <= Idle;",
        "if (clear_q == {{(RowBits-1){1'b1}}, 1'b0}) step_q <= Idle;",
    ),
    "a lookup outlives a reset": (
        "valid_q4 <= valid_q3 && rst_ni;", "valid_q4 <= valid_q3;",
    ),
    "half of the queues is used": (
        "hit_room > (OutBits + 1)'(in_pipe) &&", "hit_room > (OutBits + 1)'(in_pipe) + 5'd8 &&",
    ),
    "a path is written a cycle before its row": (
        "    path_write = 1'b0;\n    path_waddr",
        "    path_write = step_q == Compare && request_q.op == TbInsert;\n    path_waddr",
    ),
    "a packet's tag is lost": (
        "packet_q2 <= packet_q1;",
        "begin packet_q2 <= packet_q1; packet_q2.vlan <= 1'b0; end",
    ),
    "a path of TIME-WAIT is a flow's": (
        ".raddr_i(slot_of(path_at_i[i])),", ".raddr_i(slot_of(place_t'(flow_t'(path_at_i[i])))),",
    ),
    "who was moved has no path at his new place": (
        ".place = request_q.place;\n          path_write = 1'b1;", ".place = request_q.place;",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on a toe_table with this fault."""
    fault = ("src/toe/rtl/toe_table.sv", *FAULTS[why])
    finds(fault, LISTS, TOP, MODULE, parameters=PARAMETERS)
