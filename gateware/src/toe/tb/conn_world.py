# SPDX-License-Identifier: Apache-2.0
"""The environment of toe_conn for test_conn: hosts, FPCs, the flow table, neighbours; and the
expected outputs for each input."""

from collections import Counter, deque

from cocotb.triggers import ReadOnly, RisingEdge, Timer

from gateware.lib.bench import Offers
from gateware.src.toe.tb.contract import (
    AROUND,
    FLAGS,
    HW,
    REASON,
    SW,
    TICK,
    TOE,
    command,
    error,
    parts,
)

QPS, FLOW_BITS, FPCS, SLOTS = 2, 3, 2, 4
KIND = TOE.names
OWN, GATEWAY, NET = 0x0A000001, 0x0A0000FE, 0x0A000000
PORTS = (80, 81, 82)
PATIENCE, AGAIN = 3 * 10**9, 100 * 10**6  # ns, of a CONNECT without a neighbour


class Qp:
    def __init__(self, index: int) -> None:
        self.index, self.on, self.off_for = index, False, 0
        self.first = SLOTS * index

    def begin(self) -> None:
        self.on, self.detached = True, False
        self.free = deque(range(self.first, self.first + SLOTS))
        self.listeners: dict[int, dict] = {}


class Bench:
    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.now = 10**13
        self.count: Counter = Counter()
        self.events = Offers(dut, "event")
        self.bares = Offers(dut, "bare", "bare_path_o")
        self.writes = Offers(dut, "write")
        self.frees = Offers(dut, "free")
        self.tables = Offers(dut, "table")
        self.streams = (self.events, self.bares, self.writes, self.frees, self.tables)
        self.begin()

    def begin(self) -> None:
        self.qps = [Qp(i) for i in range(QPS)]
        self.table: dict[tuple, int] = {}  # tuple, as bits: place
        self.paths: dict[int, int] = {}
        self.flows: dict[int, dict] = {}  # by slot in use
        self.waits: dict[tuple[int, int], dict] = {}  # CONNECTs: queue pair and cookie
        self.known: set[int] = set()  # neighbours
        self.due: dict[str, deque] = {n: deque() for n in ("event", "bare", "write", "free")}
        self.dones = 0
        self.counters: Counter = Counter()
        self.said: Counter = Counter()
        self.command: tuple | None = None
        self.miss: tuple | None = None
        self.connecting: tuple | None = None
        self.messages: list[deque] = [deque() for _ in range(FPCS)]
        self.answer: int | None = None
        self.neighbour: int | None = None  # requested in the previous cycle
        self.is_known, self.path = False, 0
        self.position = self.cookies = 0
        self.anew: tuple | None = None  # a restarted listener: queue pair, id, port
        self.odds, self.more, self.idle = 0.5, True, 0
        self.clocks: dict[int, int] = {}
        for stream in self.streams:
            stream.forget()

    # ---- inputs ----

    def packet(self) -> None:
        rng = self.rng
        tup = {"remote": NET + rng.randrange(2, 5), "own": OWN, "remote_port": rng.randrange(1, 40)}
        tup["local_port"] = rng.choice([*PORTS, 99])
        waiting = [t for t, place in self.table.items() if place >> 16]
        if waiting and rng.random() < 0.3:
            tup = TOE.unpack("tuple_t", rng.choice(waiting))
        kind = rng.choice(["syn"] * 4 + ["ack", "rst", "rst ack", "syn ack", "fin", "", "syn fin"])
        seg = {
            "seq": rng.getrandbits(32), "ack": rng.getrandbits(32), "wnd": rng.getrandbits(16),
            "flags": dict.fromkeys(kind.split(), 1), "len": rng.choice([0, 0, 9]),
            "buffer": rng.getrandbits(10),
            "opt": {"mss_ok": 1, "mss": rng.choice([0, 1460]), "ts_ok": 1, "tsval": 7},
        }  # fmt: skip
        packet = {"kind": KIND["PkTcp"], "tuple": tup, "mac": rng.getrandbits(48), "seg": seg}
        # The entry at the time of the lookup.
        place = self.table.get(TOE.pack("tuple_t", tup))
        tw = place is not None and place >> 16
        if rng.random() < 0.9 and place is not None and not tw:
            return  # a hit of toe_table does not come here
        self.miss = (packet, int(bool(tw)), (place or 0) & 0xFFFF)

    def some_command(self) -> None:
        rng = self.rng
        qp = rng.choice([q for q in self.qps if q.on] or [None])
        if qp is None or qp.detached:
            return
        name = rng.choice(
            ["LISTEN", "LISTEN", "UNLISTEN", "CONNECT", "CONNECT", "CANCEL", "OPTION"]
        )
        self.position = (self.position + 1) % AROUND
        fields = {"flow": rng.randrange(4), "aux": rng.choice([*PORTS, *PORTS, 0])}
        if self.anew and self.anew[0] is qp:  # a restarted program with flows pending
            name, fields = "LISTEN", {"flow": self.anew[1], "aux": self.anew[2], "arg1": 2}
            self.anew = None
        elif name == "LISTEN":
            fields |= {"arg0": rng.choice([0, OWN, OWN + 5]), "arg1": rng.randrange(4)}
            fields["flags"] = FLAGS["LISTEN"]["WEAK"] * (rng.random() < 0.1)
        elif name == "CONNECT":
            self.cookies += 1
            to = [NET + 2, NET + 3, NET + 9, 0x08080808, 0xE0000001, 0, NET + 255]
            fields |= {"flow": self.cookies, "arg0": rng.choice(to), "aux": rng.choice([7, 8, 0])}
            fields["arg1"] = rng.choice([0, 0, 5000, 5001, 65536])
        else:
            fields["flow"] = max(self.cookies - rng.randrange(6), 0)
            if name == "UNLISTEN":
                fields["flow"] = rng.randrange(4)
            if name == "OPTION":
                fields["flags"] = rng.choice(list(FLAGS["OPTION"].values()))
        self.command = (command(SW[name], **fields), self.position, qp)

    def tells(self, flow: int, kind: str, **fields) -> None:
        """Sends a message of an FPC about one of its flows."""
        f = self.flows[flow]
        message = {"kind": KIND[kind], "flow": flow, "qp": f["qp"], "id": f["id"]} | fields
        if not f["active"] and not f["counted"] and (kind != "CnTimeWait" or fields.get("free")):
            message["backlog"] = int(kind != "CnGone" or fields.get("free", 0))
            f["counted"] = bool(message["backlog"])
        self.messages[flow % FPCS].append(message)

    def fpcs(self) -> None:
        """Decides what happens to flows."""
        rng = self.rng
        for flow, f in self.flows.items():
            if not f["live"] or f["purged"] or rng.random() > 0.01:
                continue
            if not f["active"] and not f["accepted"] and rng.random() < 0.5:
                f["accepted"] = True
                self.tells(flow, "CnAccepted")
            elif not f["over"]:
                f["over"] = True
                kind = rng.choice(["CnGone", "CnTimeWait"])
                self.tells(flow, kind, snd_nxt=rng.getrandbits(32), rcv_nxt=rng.getrandbits(32))
            else:
                f["live"] = False
                self.tells(flow, "CnFree")

    def outside(self) -> None:
        rng = self.rng
        self.now += rng.choice([0, 4, 40])
        quiet = self.idle > 60 and not any(self.due.values())
        if quiet and rng.random() < 0.3:
            self.now += rng.choice([AGAIN, AGAIN, 10**9, 61 * 10**9])
        if self.miss is None and self.more and rng.random() < self.odds / 4:
            self.packet()
        if self.command is None and self.more and rng.random() < self.odds / 8:
            self.some_command()
        self.fpcs()
        for qp in self.qps:
            qp.off_for = 0 if qp.on else qp.off_for + 1
            if qp.off_for > 3 and rng.random() < 0.03:
                qp.begin()
            # Not while a pending input may begin one of its flows: both outcomes would be right.
            elif qp.on and not qp.detached and rng.random() < 0.0006 and self.rests():
                qp.detached = True
                self.count["detached"] += 1
        if rng.random() < 0.01:
            self.known ^= {rng.choice([NET + 2, NET + 3, GATEWAY])}

    def rests(self) -> bool:
        return self.more and self.idle > 4 and not self.due["event"] and self.connecting is None

    def drive(self) -> None:
        dut, rng = self.dut, self.rng
        dut.now_i.value = self.now
        width = TOE.widths["qp_config_t"]
        dut.qp_i.value = sum(
            TOE.pack("qp_config_t", {"enable": 1, "slots_log": 2, "first": q.first, "tx_log": 13})
            << width * q.index for q in self.qps if q.on
        )  # fmt: skip
        dut.detach_i.value = sum((q.on and q.detached) << q.index for q in self.qps)
        for stream in self.streams:
            stream.take(rng.random() < self.odds)
        # Which slots are free is known after the event that takes one.
        if self.idle > 300:
            self.due["event"] = deque(e for e in self.due["event"] if e[0] != "maybe")
        still = bool(self.due["event"])
        dut.command_valid_i.value = self.command is not None and not still
        if self.command:
            dut.command_i.value = self.command[0] << 32 | self.command[1]
            dut.command_qp_i.value = self.command[2].index
        dut.miss_valid_i.value = self.miss is not None and not still
        if self.miss:
            dut.miss_i.value = TOE.pack("packet_t", self.miss[0])
            dut.miss_tw_i.value, dut.miss_index_i.value = self.miss[1], self.miss[2]
        width = TOE.widths["conn_msg_t"]
        dut.message_valid_i.value = sum(bool(m) << i for i, m in enumerate(self.messages))
        dut.message_i.value = sum(
            TOE.pack("conn_msg_t", m[0]) << width * i for i, m in enumerate(self.messages) if m
        )
        self.answering = self.answer is not None and rng.random() < self.odds
        dut.answer_valid_i.value = self.answering
        dut.answer_i.value = self.answer or 0
        dut.neigh_answer_i.value = self.neighbour is not None
        dut.neigh_known_i.value = self.is_known
        dut.neigh_mac_i.value = (self.neighbour or 0) & (1 << 48) - 1
        dut.path_i.value = self.path

    # ---- the flow table ----

    def asked(self, bits: int) -> int:
        """Executes a request to the table and returns its answer."""
        r = TOE.unpack("table_request_t", bits)
        tup = TOE.pack("tuple_t", r["path"]["tuple"])
        place = TOE.pack("place_t", r["place"])
        there = self.table.get(tup)
        ok = there is not None
        if r["op"] == KIND["TbInsert"]:
            ok = there is None and not self.crowded(r["path"]["tuple"])
            assert place not in self.table.values() or not ok, "a place of two"
        elif r["op"] == KIND["TbDelete"]:
            ok = there == place
        if ok and r["op"] in (KIND["TbInsert"], KIND["TbMove"]):
            self.table[tup] = place
            self.paths[place] = TOE.pack("path_t", r["path"])
        elif ok and r["op"] == KIND["TbDelete"]:
            del self.table[tup]
        return TOE.pack("table_answer_t", {"ok": ok, "place": self.table.get(tup, 0)})

    @staticmethod
    def crowded(tup: dict) -> bool:
        """Returns whether the table has no room for the tuple."""
        return (tup["remote_port"] + tup["local_port"]) % 8 == 3

    # ---- the expected outputs for accepted inputs ----

    def takes_packet(self) -> None:
        packet, _, _ = self.miss
        self.miss = None
        seg, tup = packet["seg"], packet["tuple"]
        fl = {name: seg["flags"].get(name, 0) for name in ("syn", "ack", "rst", "fin")}
        place = self.table.get(TOE.pack("tuple_t", tup))
        if place is not None and not place >> 16:
            # The flow has begun in the meantime: the segment belongs to it.
            self.due["event"].append(("EvSegment", place, TOE.pack("seg_t", seg)))
            self.count["late"] += 1
            return
        self.due["free"].append(seg["buffer"])
        syn = fl["syn"] and not (fl["ack"] or fl["rst"] or fl["fin"])
        if place is not None:
            self.count["time-wait"] += 1
            self.time_wait(packet, syn)
        elif syn or not (fl["ack"] or fl["rst"]):
            self.listens(packet, syn)
        elif fl["rst"]:
            self.counters["no_flow"] += 1
        else:
            self.resets(packet)

    def resets(self, packet: dict) -> None:
        """Expects the RST of RFC 9293 3.10.7.1."""
        seg = packet["seg"]
        fl = seg["flags"]
        if fl.get("ack"):
            bare = {"seq": seg["ack"], "flags": {"rst": 1}}
        else:
            after = seg["seq"] + seg["len"] + fl.get("syn", 0) + fl.get("fin", 0)
            bare = {"flags": {"rst": 1, "ack": 1}, "ack": after % AROUND}
        path = {"tuple": packet["tuple"], "mac": packet["mac"]}
        self.due["bare"].append((TOE.pack("tx_desc_t", bare), TOE.pack("path_t", path)))
        self.counters["rst_sent"] += 1

    def takers(self, port: int) -> tuple[list, bool]:
        """Returns the listeners of a port with room, and whether the port has listeners."""
        able, some = [], False
        for qp in (q for q in self.qps if q.on):
            for listener in qp.listeners.values():
                if listener["port"] != port:
                    continue
                some = True
                fits = listener["held"] <= listener["backlog"] and qp.free and not qp.detached
                if fits and not listener["weak"]:
                    able.append((SLOTS - len(qp.free), qp, listener))
        return able, some

    def listens(self, packet: dict, syn: bool) -> None:
        able, some = self.takers(packet["tuple"]["local_port"])
        if not able or not syn:
            if some:
                self.counters["listen_full"] += bool(syn)
            else:
                self.resets(packet)
        elif self.crowded(packet["tuple"]):
            self.counters["table_full"] += 1
        else:
            fewest = min(a[0] for a in able)
            self.due["event"].append(("EvOpen", packet, [a[1:] for a in able if a[0] == fewest]))

    def time_wait(self, packet: dict, syn: bool) -> None:
        """Permits a new connection, an answer, or nothing: test_tw checks which one is right."""
        self.due["bare"].append(("maybe", packet))
        if syn:
            then = [a[1:] for a in self.takers(packet["tuple"]["local_port"])[0]]
            self.due["event"].append(("maybe", packet, then))

    def takes_message(self, message: dict) -> None:
        self.count["messages"] += 1
        f = self.flows.get(message["flow"])
        if f is None:
            assert message["purged"]
            return
        qp = self.qps[message["qp"]]
        if message.get("backlog") and f["half"]:
            listener = qp.listeners.get(f["id"])
            if listener is not None and listener["serial"] == f["serial"]:
                listener["held"] -= 1
        if message["kind"] == KIND["CnAccepted"]:
            f["half"] = False
        if message["kind"] == KIND["CnFree"] or message.get("free"):
            qp.free.append(message["flow"])
            del self.flows[message["flow"]]

    def takes_command(self) -> None:
        cmd, position, qp = self.command
        self.command = None
        c = parts(cmd)
        if qp.detached:
            self.dones += 1
            return
        name = {code: n for n, code in SW.items()}[c["kind"]]
        self.count[name] += 1
        reason = getattr(self, name.lower())(qp, c, cmd)
        if reason:
            self.due["write"].append((qp, error(reason, cmd, position), 1))
            self.count["refused"] += 1

    def listen(self, qp: Qp, c: dict, cmd: int) -> str | None:
        if c["aux"] == 0:
            return "INVAL"
        if c["arg0"] not in (0, OWN):
            return "ADDRNOTAVAIL"
        old = qp.listeners.get(c["flow"])
        weak = bool(c["flags"] & FLAGS["LISTEN"]["WEAK"])
        if old is None:
            new = {"port": c["aux"], "address": c["arg0"], "backlog": c["arg1"], "weak": weak}
            qp.listeners[c["flow"]] = new | {"held": 0, "serial": self.position}
        elif (old["port"], old["address"]) != (c["aux"], c["arg0"]):
            return "ADDRINUSE"
        else:
            old |= {"backlog": c["arg1"], "weak": weak}
        self.dones += 1
        return None

    def unlisten(self, qp: Qp, c: dict, cmd: int) -> str | None:
        if c["flow"] not in qp.listeners:
            return "NOENT"
        gone = qp.listeners.pop(c["flow"])
        if self.rng.random() < 0.7:
            self.anew = (qp, c["flow"], gone["port"])
        for f in self.flows.values():
            if f["half"] and f["qp"] == qp.index and f["serial"] == gone["serial"]:
                f["to_reset"] = True
        self.dones += 1
        return None

    def connect(self, qp: Qp, c: dict, cmd: int) -> str | None:
        if c["aux"] == 0 or c["arg1"] > 65535:
            return "INVAL"
        to = c["arg0"]
        near = to >> 8 == NET >> 8
        if to == 0 or to >> 28 >= 0xE or (near and to & 255 == 255):
            self.due["write"].append((qp, self.failed("NETUNREACH", c["flow"]), 1))
            return None
        self.connecting = (qp, c, to if near else GATEWAY)
        return None

    @staticmethod
    def failed(reason: str, cookie: int) -> int:
        return command(HW["CONNECT_FAILED"], aux=REASON[reason], arg0=cookie)

    def cancel(self, qp: Qp, c: dict, cmd: int) -> str | None:
        if (qp.index, c["flow"]) in self.waits:
            del self.waits[qp.index, c["flow"]]
            self.due["write"].append((qp, self.failed("ABORTED", c["flow"]), 1))
            self.count["cancelled"] += 1
            return None
        return self.of_cookie(qp, c, cmd)

    def of_cookie(self, qp: Qp, c: dict, cmd: int) -> None:
        for flow, f in sorted(self.flows.items()):
            if f["qp"] == qp.index and f["active"] and f["id"] == c["flow"]:
                self.due["event"].append(("EvCommand", flow, cmd << 32 | self.position))
                return
        self.dones += 1

    def option(self, qp: Qp, c: dict, cmd: int) -> str | None:
        if c["flags"] & FLAGS["OPTION"]["LISTEN"]:
            return "NOPROTOOPT"
        if (qp.index, c["flow"]) in self.waits:
            self.dones += 1
            return None
        return self.of_cookie(qp, c, cmd)

    def asks_neighbour(self, hop: int) -> None:
        """Handles a neighbour lookup of the current CONNECT or of a waiting one."""
        if self.connecting is None:
            assert any(w["hop"] == hop for w in self.waits.values()), "whom nobody asks for"
            return
        qp, c, want = self.connecting
        self.connecting = None
        assert hop == want, "another next hop"
        wait = {"hop": hop, "since": self.now, "c": c, "qp": qp}
        if hop not in self.known:
            if len(self.waits) < 8:
                self.waits[qp.index, c["flow"]] = wait
                self.dones += 1
            else:
                self.due["write"].append((qp, self.failed("NOBUFS", c["flow"]), 1))
        elif not qp.free:
            self.due["write"].append((qp, self.failed("NOBUFS", c["flow"]), 1))
        elif c["arg1"] and self.no_port(c):
            self.due["write"].append((qp, self.failed("ADDRNOTAVAIL", c["flow"]), 1))
        else:
            self.due["event"].append(("EvOpen", wait, None))
            self.dones += 1

    def no_port(self, c: dict) -> bool:
        tup = {"remote": c["arg0"], "own": OWN, "remote_port": c["aux"], "local_port": c["arg1"]}
        return self.crowded(tup) or TOE.pack("tuple_t", tup) in self.table

    # ---- outputs ----

    def event(self, bits: int) -> None:
        ev = TOE.unpack("event_t", bits)
        flow, kind = ev["flow"], ev["kind"]
        if kind == KIND["EvPurge"]:
            f = self.flows.get(flow)
            qp = self.qps[ev["qp"]]
            assert qp.detached and qp.first <= flow < qp.first + SLOTS
            self.count["purged"] += 1
            if f is None or not f["live"]:  # crossed by its CnFree
                answer = {"kind": KIND["CnFree"], "flow": flow, "qp": qp.index, "purged": 1}
                self.messages[flow % FPCS].append(answer)
            else:
                f["purged"] = True
                gone = "CnFree" if f["over"] else "CnGone"
                self.tells(flow, gone, free=int(not f["over"]), purged=1)
            return
        if kind == KIND["EvReset"]:
            f = self.flows.get(flow)
            if f and f["live"] and not f["over"]:
                assert f["to_reset"], "a flow of no listener that is gone is reset"
                f["to_reset"] = f["live"] = False
                f["over"] = True
                self.tells(flow, "CnGone", free=1)
                self.count["unlistened"] += 1
            return
        path = self.paths.get(flow) if kind == KIND["EvOpen"] else None
        while self.due["event"] and self.due["event"][0][0] == "maybe":
            packet = self.due["event"][0][1]
            if path == TOE.pack("path_t", {"tuple": packet["tuple"], "mac": packet["mac"]}):
                break
            self.due["event"].popleft()
        if kind == KIND["EvOpen"]:
            self.opens(ev)
            return
        name, where, body = self.due["event"].popleft()
        assert kind == KIND[name] and flow == where, (name, where, ev)
        assert ev["body"] == body, "another segment or command"

    def opens(self, ev: dict) -> None:
        o = TOE.unpack("open_t", ev["body"] & (1 << TOE.widths["open_t"]) - 1)
        qp = self.qps[ev["qp"]]
        path = TOE.unpack("path_t", self.paths[ev["flow"]])
        tup = path["tuple"]
        assert self.table[TOE.pack("tuple_t", tup)] == ev["flow"], "the table has it elsewhere"
        assert o["qp"] == qp.index and qp.free.popleft() == ev["flow"], "another slot"
        f = {"qp": qp.index, "id": o["id"], "active": bool(o["active"]), "half": not o["active"]}
        f |= {"live": True, "accepted": False, "over": False, "counted": False, "purged": False}
        f |= {"serial": 0, "to_reset": False}
        if o["active"]:
            key = (qp.index, o["id"])
            wait = self.waits.pop(key, None)
            if wait is None:
                name, wait, _ = self.due["event"].popleft()
                assert name == "EvOpen" and wait["c"]["flow"] == o["id"], "another CONNECT"
            c = wait["c"]
            assert (tup["remote"], tup["remote_port"], tup["own"]) == (c["arg0"], c["aux"], OWN)
            fixed = c["arg1"]
            assert tup["local_port"] == fixed if fixed else 32768 <= tup["local_port"] < 61000
            assert path["mac"] == wait["hop"] & (1 << 48) - 1, "another next hop"
            self.count["active"] += 1
        else:
            name, packet, *able = self.due["event"].popleft()
            assert tup == TOE.unpack("tuple_t", TOE.pack("tuple_t", packet["tuple"]))
            if name == "maybe":  # from TIME-WAIT; the listener may be chosen later
                able[0] += [a[1:] for a in self.takers(tup["local_port"])[0]]
                self.count["anew"] += 1
            chosen = [lis for q, lis in able[0] if q is qp and qp.listeners.get(o["id"]) is lis]
            assert chosen, f"{name}: listener {o['id']} of {qp.index} does not take it, but {able}"
            chosen[0]["held"] += 1
            f["serial"] = chosen[0]["serial"]
            seg = packet["seg"]
            assert (o["irs"], o["wnd"]) == (seg["seq"], seg["wnd"])
            assert (o["mss_ok"], o["tsval"]) == (seg["opt"]["mss"] != 0, 7)
            assert path["mac"] == packet["mac"]
            self.count["passive"] += 1
            self.clock(o, name == "maybe", TOE.pack("tuple_t", tup))
        self.flows[ev["flow"]] = f

    def clock(self, o: dict, anew: bool, tup: int) -> None:
        """Checks the ISN: for one tuple it only advances with the clock of 4 us (RFC 6528)."""
        base = (o["iss"] - (self.now >> 12)) % AROUND
        if not anew:
            before = self.clocks.setdefault(tup, base)
            assert (base - before + 500) % AROUND < 1000, "an initial sequence number"

    def write(self, bits: int) -> None:
        job = TOE.unpack("write_t", bits)
        c = parts(job["cmd"])
        waited = self.waits.get((job["qp"], c["arg0"])) if not job["done"] else None
        if waited:
            allowed = ("HOSTUNREACH", "NOBUFS", "ADDRNOTAVAIL")
            assert c["kind"] == HW["CONNECT_FAILED"]
            assert c["aux"] in [REASON[r] for r in allowed]
            if c["aux"] == REASON["HOSTUNREACH"]:
                assert self.now - waited["since"] >= PATIENCE - 2 * TICK, "it is given up too early"
            del self.waits[job["qp"], c["arg0"]]
            self.places -= 1
            assert self.places >= 0, "an answer without a place"
            self.count["given up"] += 1
            return
        assert self.due["write"], f"nobody asked for {c}"
        qp, cmd, done = self.due["write"].popleft()
        assert (job["qp"], job["cmd"], job["done"]) == (qp.index, cmd, done), (c, parts(cmd))

    def bare(self, desc: int, path: int) -> None:
        while self.due["bare"]:
            want, *more = self.due["bare"].popleft()
            if want != "maybe":
                assert (desc, path) == (want, more[0]), "another RST"
                return
            packet = more[0]
            to = TOE.pack("path_t", {"tuple": packet["tuple"], "mac": packet["mac"]})
            if path == to:  # an ACK; or the SYN has no listener any more
                flags = TOE.unpack("tx_desc_t", desc)["flags"]
                assert not flags["rst"] or packet["seg"]["flags"].get("syn")
                self.count["answered"] += 1
                return
        raise AssertionError("a packet that nobody is owed")

    def sees(self) -> None:
        dut = self.dut
        if said := self.tables.sees():
            self.answer = self.asked(said[0])
        elif self.answering:
            self.answer = None
        taken = dut.message_ready_o.value.to_unsigned()
        for i, queue in enumerate(self.messages):
            if queue and taken >> i & 1:
                self.takes_message(queue.popleft())
        if said := self.events.sees():
            self.event(said[0])
        if said := self.bares.sees():
            self.bare(*said)
        if said := self.writes.sees():
            self.write(said[0])
        if said := self.frees.sees():
            assert self.due["free"] and said[0] == self.due["free"].popleft(), "a packet buffer"
        if dut.done_o.value:
            self.dones -= 1
            assert self.dones >= 0, "a command is done that is not"
        counts = dut.counts_o.value.to_unsigned()
        if counts:
            for name, value in TOE.unpack("conn_counts_t", counts).items():
                self.said[name] += value
        self.neighbour = None
        if dut.neigh_valid_o.value:
            self.neighbour = dut.neigh_o.value.to_unsigned()
            self.is_known = self.neighbour in self.known
            assert not dut.neigh_v6_o.value
            self.asks_neighbour(self.neighbour)
        if dut.ask_o.value and dut.grant_i.value:
            self.places += 1
        counts = dut.listeners_o.value.to_unsigned()
        for qp in self.qps:
            if qp.on and qp.detached and counts >> 8 * qp.index & 0xFF == 0:
                qp.listeners.clear()  # removed before its flows
        self.idle += 1
        if self.command and dut.command_ready_o.value:
            self.idle = 0
            self.takes_command()
        if self.miss and dut.miss_ready_o.value:
            self.idle = 0
            self.takes_packet()
        self.path = self.paths.get(dut.path_at_o.value.to_unsigned(), 0)
        self.sees_qps()

    def sees_qps(self) -> None:
        dut = self.dut
        gone = dut.reset_o.value.to_unsigned()
        counts = dut.listeners_o.value.to_unsigned()
        for qp in self.qps:
            if not qp.on or not gone >> qp.index & 1:
                continue
            assert qp.detached, "a queue pair is let go that stays"
            assert counts >> 8 * qp.index & 0xFF == 0, "its listeners stay"
            left = [f for f, v in self.flows.items() if v["qp"] == qp.index]
            assert not left, f"flows {left} of a queue pair that is gone"
            commands = self.command and self.command[2] is qp
            commands = commands or self.idle <= 4 or self.dones or self.due["write"]
            opening = any(e[0] in ("EvOpen", "maybe") for e in self.due["event"])
            if not commands and not opening and self.connecting is None:
                for key in [k for k in self.waits if k[0] == qp.index]:
                    del self.waits[key]
                qp.on = False
                self.count["left"] += 1

    async def cycle(self) -> None:
        dut = self.dut
        self.outside()
        self.drive()
        await Timer(1, unit="ns")
        dut.grant_i.value = bool(dut.ask_o.value) and self.rng.random() < self.odds / 4
        await ReadOnly()
        self.sees()
        await RisingEdge(dut.clk_i)
