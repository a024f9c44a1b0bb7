# SPDX-License-Identifier: Apache-2.0
"""Hosts and peers around an FPC, for test_fpc. Each flow has a peer that speaks plain TCP over a
network with loss and reordering, and a host that tracks its notifications. Both detect wrong data,
acknowledgements of data that did not arrive, and extra or missing commands."""

from collections import deque

from gateware.src.toe.tb.contract import AROUND, HW, OPTION, REASON, SW, TOE, command, error, parts

KIND = TOE.names
FLAG = {"HALF": 1, "ABORT": 2, "PUSH": 1}
MTU, QP_OF = 1500, 32  # flows of a queue pair


def distance(a: int, b: int) -> int:
    """Returns the signed distance from b to a."""
    return (a - b + AROUND // 2) % AROUND - AROUND // 2


class Ranges:
    """The present ranges of a stream; few."""

    def __init__(self) -> None:
        self.list: list[list[int]] = []

    def add(self, start: int, stop: int) -> None:
        if start >= stop:
            return
        kept = [r for r in self.list if r[1] < start or r[0] > stop]
        touched = [r for r in self.list if not (r[1] < start or r[0] > stop)]
        kept.append([min([start, *(r[0] for r in touched)]), max([stop, *(r[1] for r in touched)])])
        self.list = sorted(kept)

    def has(self, start: int, stop: int) -> bool:
        return start >= stop or any(r[0] <= start and stop <= r[1] for r in self.list)

    def prefix(self) -> int:
        return self.list[0][1] if self.list and self.list[0][0] == 0 else 0


class Flow:
    """A flow from its begin until its slot is free. The first byte of a stream has offset 0."""

    def __init__(self, world, index: int) -> None:
        self.world, self.index, self.qp = world, index, index // QP_OF
        self.free = True
        self.lists()

    def lists(self) -> None:
        self.events: deque[tuple[dict, object]] = deque()  # pending, with their meaning
        self.places: deque[tuple[int, dict | None]] = deque()  # segments: buffers to be freed
        self.commands: deque[tuple[int, int, str]] = deque()  # invalid ones, not rejected yet

    # ---- the begin of a flow ----

    def open(self) -> None:
        rng = self.world.rng
        self.free = self.failed = self.begun = False
        self.lists()
        self.active = rng.random() < 0.3
        self.fate = rng.choice(["close", "close", "close", "peer", "peer", "abort", "reset"])
        if rng.random() < 0.15:
            self.fate = "refuse" if self.active else "silent"
        self.iss, self.irs = rng.getrandbits(32), rng.getrandbits(32)
        self.ts, self.sack, self.ws = (rng.random() < 0.7 for _ in range(3))
        self.snd_scale = rng.randrange(4) if self.ws else 0
        self.tx_log, self.rx_log = rng.randrange(10, 17), rng.randrange(10, 18)
        self.rcv_scale = max(self.rx_log - 15, 0) if self.ws else 0
        self.v6, self.peer_mss = rng.random() < 0.5, rng.choice([0, 100, 536, 1400, 9000])
        self.own_mss = MTU - (60 if self.v6 else 40)
        base = self.peer_mss or (1220 if self.v6 else 536)
        self.mss = min(max(base, 64), self.own_mss) - (12 if self.ts else 0)
        self.id, self.ts_offset = rng.getrandbits(32), rng.getrandbits(32)
        # the peer's stream
        self.in_total = rng.choice([0, 1, 3000, rng.randrange(9000)])
        self.in_next = self.in_acked = 0
        self.in_edge = -1  # the right edge advertised to it
        self.network: list[tuple[int, int, bool]] = []
        self.given = Ranges()  # ... delivered to the FPC
        self.fin_given = False
        # our stream
        self.out_total = rng.choice([0, 1, 3000, rng.randrange(9000)])
        self.out_said = self.out_done = 0  # SEND; SEND_COMPLETE
        self.out_psh: set[int] = set()
        self.out_edge = 0  # the right edge advertised by the peer
        self.out_sent = -1  # highest sequence, from the SYN on
        self.got = Ranges()  # by the peer
        self.fin_got = self.peer_fin = self.peer_fin_acked = False
        self.peer_edge = 0
        self.last_ack, self.last_edge = -1, -1
        self.acked = 0  # by segments that the FPC has accepted
        # the host
        self.known = self.told_half = self.ended = self.accepted = self.released = False
        self.told_in = self.read = 0
        self.closed: str | None = None
        self.established = self.over = self.peer_over = False
        self.placed = Ranges()
        self.may_rst = False
        self.backlog = self.gone_said = 0
        self.purging = self.purged = False  # requested; accepted
        self.tsval = self.world.tick()
        self.echoes = {0, self.tsval}
        self.peer_echo = 0
        body = {
            "active": self.active, "v6": self.v6, "qp": self.qp, "id": self.id, "iss": self.iss,
            "irs": 0 if self.active else self.irs, "own_mss": self.own_mss,
            "ts_offset": self.ts_offset, "tx_log": self.tx_log, "rx_log": self.rx_log,
            "cc": rng.randrange(2),
        }  # fmt: skip
        if self.active:
            body["ahead"] = {"syncnt": 2}
        else:
            wnd = rng.choice([0, 500, 65535])
            self.out_edge = wnd
            body |= {
                "wnd": wnd, "mss_ok": self.peer_mss != 0, "mss": self.peer_mss,
                "ws_ok": self.ws, "ws": self.snd_scale, "sack_ok": self.sack, "ts_ok": self.ts,
                "tsval": self.tsval if self.ts else 0,
            }  # fmt: skip
        if self.active:  # the scale in our SYN
            self.syn_scale = max(self.rx_log - 15, 0)
        self.events.append(({"kind": KIND["EvOpen"], "body": TOE.pack("open_t", body)}, None))

    # ---- the peer ----

    def segment(self, at: int, length: int, flags: str, *, ack: bool = True, syn=None) -> None:
        """Queues a segment event and its effect on acceptance. at: offset in the peer's stream."""
        world = self.world
        buffer = world.buffer()
        if buffer is None:
            return
        self.tsval = world.tick()
        self.peer_edge = max(self.peer_edge, self.got.prefix() + world.rng.choice([0, 300, 20000]))
        limit = 65535 if syn else 65535 << self.snd_scale
        wnd = min(self.peer_edge - self.got.prefix(), limit)
        if not syn:
            wnd >>= self.snd_scale
        seg = {
            "seq": (self.irs + 1 + at) % AROUND, "wnd": wnd, "len": length, "buffer": buffer,
            "offset": world.rng.randrange(54, 200),
            "flags": dict.fromkeys(flags.split(), 1) | {"ack": ack},
        }  # fmt: skip
        acked = self.got.prefix()
        if ack:
            seg["ack"] = (self.iss + 1 + acked + self.fin_got) % AROUND
        opt = dict(syn or {})
        if self.ts:
            opt |= {"ts_ok": 1, "tsval": self.tsval, "tsecr": self.peer_echo}
        beyond = [r for r in self.got.list if r[0] > acked][:3]
        if self.sack and beyond and not syn:
            opt["sack"] = [
                {name: (self.iss + 1 + r[i]) % AROUND for i, name in enumerate(("start", "stop"))}
                for r in beyond
            ]
            opt["sacks"] = len(beyond)
        seg["opt"] = opt
        meaning = {
            "at": at, "len": length, "fin": "fin" in flags, "ack": acked if ack else None,
            "edge": acked + (wnd << (0 if syn else self.snd_scale)), "fin_acked": self.fin_got,
            "rst": "rst" in flags, "syn": "syn" in flags, "tsval": self.tsval,
            "offset": seg["offset"],
        }  # fmt: skip
        event = {"kind": KIND["EvSegment"], "body": TOE.pack("seg_t", seg)}
        self.events.append((event, (buffer, meaning)))

    def answers_syn(self) -> None:
        if self.active and self.fate == "refuse":
            if self.world.rng.random() < 0.5:  # else it does not answer
                self.segment(-1, 0, "rst")
            return
        if self.active:
            options = {"mss_ok": self.peer_mss != 0, "mss": self.peer_mss, "sack_ok": self.sack}
            options |= {"ws_ok": self.ws, "ws": self.snd_scale}
            self.segment(-1, 0, "syn", syn=options)
        elif self.fate != "silent":
            self.segment(0, 0, "")

    def peer(self) -> None:
        """Performs a random action of the peer at random times."""
        rng = self.world.rng
        if self.peer_over or not self.established or len(self.events) > 2:
            return
        edge = max(self.in_edge, 0)
        kind = rng.random()
        if self.fate == "reset" and self.in_next == self.in_total and rng.random() < 0.05:
            if self.in_acked >= self.in_total:
                self.segment(self.in_total + self.peer_fin, 0, "rst")
                self.peer_over = True
            return
        if kind < 0.5 and self.in_next < min(self.in_total, edge):
            most = min(self.in_total, edge) - self.in_next
            n = rng.choice([1, 100, 1000, 1400])
            n = min(n, most)
            self.network.append((self.in_next, n, False))
            self.in_next += n
        elif self.may_fin() and not self.peer_fin:
            self.peer_fin = True
            self.network.append((self.in_total, 0, True))
        if self.network and rng.random() < 0.7:
            at, n, fin = self.network.pop(rng.randrange(len(self.network)))
            if rng.random() < 0.9:  # else it is lost
                self.segment(at, n, "fin" if fin else ("psh" if rng.random() < 0.5 else ""))
        elif not self.network and rng.random() < 0.1:
            self.again()

    def may_fin(self) -> bool:
        if self.in_next < self.in_total:
            return False
        return self.fate == "peer" or (self.fate == "close" and self.fin_got)

    def again(self) -> None:
        """Retransmits unacknowledged data, or probes the window; else sends an ACK."""
        if self.in_acked < self.in_next:
            n = min(1400, self.in_next - self.in_acked, max(self.in_edge - self.in_acked, 1))
            self.network.append((self.in_acked, n, False))
        elif self.peer_fin and not self.peer_fin_acked:
            self.network.append((self.in_total, 0, True))
        elif self.in_next < self.in_total and self.in_edge <= self.in_next:
            self.network.append((self.in_next, 1, False))
            self.in_next += 1
        elif self.out_sent > self.got.prefix():
            self.segment(self.in_next + self.peer_fin, 0, "")

    def receives(self, d: dict) -> None:
        """Handles one of our segments at the peer."""
        flags = d["flags"]
        if d["ts_ok"]:
            self.peer_echo = d["tsval"]
        if flags["rst"]:
            self.peer_over = True
            return
        if flags["syn"]:
            self.in_edge = max(self.in_edge, d["wnd"])
            self.answers_syn()
            return
        at = distance(d["seq"], (self.iss + 1) % AROUND)
        if d["len"]:
            self.got.add(at, at + d["len"])
        if flags["fin"] and self.got.prefix() == at + d["len"]:
            self.fin_got = True
        acks = distance(d["ack"], (self.irs + 1) % AROUND)
        self.in_edge = max(self.in_edge, acks + (d["wnd"] << self.rcv_scale))
        self.in_acked = max(self.in_acked, min(acks, self.in_total))
        if self.peer_fin and acks > self.in_total:
            self.peer_fin_acked = True
        # A probe of a closed window has a number below it, and no data: it is answered too.
        if d["len"] or flags["fin"] or at < self.got.prefix():
            self.segment(self.in_next + self.peer_fin, 0, "")

    # ---- the host ----

    def say(self, name: str, refused: str | None = None, **fields) -> None:
        self.world.position += 1
        cmd = command(SW[name], flow=self.index % QP_OF, **fields)
        event = {"kind": KIND["EvCommand"], "body": cmd << 32 | self.world.position % AROUND}
        self.events.append((event, (cmd, self.world.position % AROUND, refused)))

    def host(self) -> None:
        rng = self.world.rng
        if len(self.events) > 2 or not self.known or self.released:
            return
        if rng.random() < 0.02:
            self.wrong()
        elif self.fate == "abort" and not self.closed and not self.ended and rng.random() < 0.02:
            self.closes()
        elif self.ended:
            self.say("RELEASE")
            self.released = True
        elif self.closed in ("full", "abort"):
            return
        elif not self.active and not self.accepted and rng.random() < 0.3:
            self.say("ACCEPT")
            self.accepted = True
        elif self.told_in > self.read and rng.random() < 0.5:
            n = rng.randrange(1, self.told_in - self.read + 1)
            self.read += n
            self.say("RECV", arg0=n)
        elif self.closed is None and self.out_said < self.out_total:
            room = (1 << self.tx_log) - (self.out_said - self.out_done)
            if room:
                n = rng.randrange(1, min(room, self.out_total - self.out_said) + 1)
                self.out_said += n
                push = rng.random() < 0.5 or self.out_said == self.out_total
                if push:
                    self.out_psh.add(self.out_said)
                self.say("SEND", arg0=n, flags=FLAG["PUSH"] * push)
        elif rng.random() < 0.1:
            self.closes()

    def closes(self) -> None:
        rng = self.world.rng
        if self.fate == "abort":
            self.closed = "abort"
            self.may_rst = True
            self.say("CLOSE", flags=FLAG["ABORT"])
        elif self.fate == "close" or (self.fate == "peer" and self.told_half):
            if self.closed is None and rng.random() < 0.3:
                self.closed = "half"
                self.say("CLOSE", flags=FLAG["HALF"])
            elif self.read == self.told_in and (self.told_half or self.in_total == self.read):
                self.closed = "full"
                self.may_rst = True  # later data are lost, of which the peer must learn
                self.say("CLOSE")

    def wrong(self) -> None:
        """Sends an invalid command and records the expected ERROR, unless the flow's end may cross
        it."""
        rng = self.world.rng
        if self.ended or self.closed or self.fate == "reset" or self.peer_fin:
            return
        size = 1 << self.tx_log
        name, reason, fields = rng.choice([
            ("SEND", "MSGSIZE", {"arg0": rng.choice([0, size + 1, AROUND - 1])}),
            ("RECV", "MSGSIZE", {"arg0": rng.choice([0, (1 << self.rx_log) + 1])}),
            ("RELEASE", "NOTCONN", {}),
            ("OPTION", "NOPROTOOPT", {"aux": 999}),
            ("OPTION", "NOPROTOOPT", {"aux": OPTION["NODELAY"], "arg0": 2}),
            ("OPTION", "NOPROTOOPT", {"aux": OPTION["KEEPCNT"], "arg0": 128}),
        ])  # fmt: skip
        self.say(name, reason, **fields)

    # ---- inputs of the FPC ----

    def taken(self, event: dict, meaning) -> None:
        kind = event["kind"]
        if kind == KIND["EvOpen"]:
            self.begun = True
        elif kind == KIND["EvCommand"]:
            if meaning[2]:
                self.commands.append(meaning)
            else:
                self.world.to_do[self.qp] += 1
        elif kind == KIND["EvPurge"]:
            self.purged = True
            self.may_rst = True
        elif kind == KIND["EvReset"]:
            self.may_rst = True
        elif kind == KIND["EvSegment"]:
            buffer, m = meaning
            self.places.append((buffer, m))
            self.echoes.add(m["tsval"])
            if m["ack"] is not None:
                self.acked = max(self.acked, m["ack"])
                self.out_edge = max(self.out_edge, m["edge"])
            if m["fin"]:
                self.fin_given = True
            if m["syn"] if self.active else (m["ack"] is not None and not m["rst"]):
                self.established = True
            self.given.add(m["at"], m["at"] + m["len"])

    # ---- outputs of the FPC ----

    def sent(self, d: dict) -> None:
        """Checks a segment descriptor."""
        world, flags = self.world, d["flags"]
        assert d["qp"] == self.qp, "a segment of another queue pair"
        assert d["ts_ok"] == (self.ts or (self.active and bool(flags["syn"]))) or flags["rst"]
        if d["ts_ok"]:
            lag = distance(world.tick(), (d["tsval"] - self.ts_offset) % AROUND)
            longest = distance(world.tick(), world.ticks[0])
            assert 0 <= lag <= longest, f"a timestamp of {lag} ticks ago"
            assert d["tsecr"] in self.echoes, "a timestamp is echoed that did not come"
        at = distance(d["seq"], (self.iss + 1) % AROUND)
        stop = at + d["len"] + flags["fin"]
        if flags["rst"]:
            assert self.may_rst or self.fate in ("refuse", "silent"), "a RST"
            assert at == self.out_sent and d["len"] == 0, "where a RST stands"
            return
        if flags["syn"]:
            assert at == -1 and d["mss"] == self.own_mss and d["len"] == 0
            scale = self.syn_scale if self.active else self.rcv_scale
            assert (d["ws_ok"], d["sack_ok"]) == (self.active or self.ws, self.active or self.sack)
            assert not d["ws_ok"] or d["ws"] == scale
            assert bool(flags["ack"]) == (not self.active)
            assert self.active or d["ack"] == (self.irs + 1) % AROUND
            assert d["wnd"] == min(1 << self.rx_log, 65535), "the window of a SYN"
            self.last_edge = max(self.last_edge, d["wnd"])
            self.out_sent = max(self.out_sent, 0)
            return
        assert flags["ack"] and not d["mss_ok"] and not d["ws_ok"] and not d["sack_ok"]
        assert d["len"] <= self.mss, "more than the peer takes"
        if d["len"]:
            assert d["from"] == at, "payload from another place of the send buffer"
            assert 0 <= at <= self.out_sent, "a gap in what is sent"
            assert at + d["len"] <= self.out_said, "more is sent than the host has written"
            assert at + d["len"] <= self.out_edge, "more is sent than the peer has room for"
        elif not flags["fin"]:
            assert at <= self.out_sent
        assert not flags["psh"] or stop - flags["fin"] in self.out_psh, "PSH"
        if flags["fin"]:
            assert self.closed in ("half", "full") and stop == self.out_said + 1, "a FIN"
        self.out_sent = max(self.out_sent, stop)
        self.acknowledged(d)

    def acknowledged(self, d: dict) -> None:
        acks = distance(d["ack"], (self.irs + 1) % AROUND)
        most = self.given.prefix()
        if self.fin_given and most == self.in_total:
            most += 1
        assert self.last_ack <= acks <= most, f"acknowledged is {acks}, {most} came"
        edge = acks + (d["wnd"] << self.rcv_scale)
        slack = (1 << self.rcv_scale) - 1
        assert edge <= self.read + (1 << self.rx_log) + 1, "more is offered than there is room for"
        assert edge + slack >= self.last_edge or d["wnd"] == 0xFFFF, "the window shrinks"
        self.last_ack, self.last_edge = acks, max(self.last_edge, edge)
        assert d["sacks"] == 0 or self.sack
        for block in d["sack"][: d["sacks"]]:
            start, stop = (distance(block[n], (self.irs + 1) % AROUND) for n in ("start", "stop"))
            assert start < stop and self.given.has(start, stop), "what did not come is told of"

    def place(self, job: dict) -> int:
        """Checks the destination of a segment's payload; returns its buffer."""
        assert self.places, "payload of no segment"
        buffer, m = self.places.popleft()
        assert job["buffer"] == buffer, "a buffer of another segment"
        assert job["qp"] == self.qp or self.purged
        if job["len"]:
            at = job["to"]
            skip = at - m["at"]
            assert skip >= 0 and skip + job["len"] <= m["len"], "what was not in the segment"
            assert job["offset"] == m["offset"] + skip, "payload from another place of its packet"
            assert at + job["len"] <= self.read + (1 << self.rx_log), "beyond the receive buffer"
            self.placed.add(at, at + job["len"])
        return buffer

    def hears(self, job: dict) -> None:
        """Handles a HW command."""
        c = parts(job["cmd"])
        if c["kind"] == HW["ERROR"]:
            self.refused(job)
            return
        assert not job["done"] and not self.ended, f"{c} behind the end"
        name = {code: n for n, code in HW.items()}[c["kind"]]
        if name in ("LISTEN_ESTABLISHED", "CONNECT_ESTABLISHED"):
            assert not self.known and self.established and job["record"]
            assert self.active == (name == "CONNECT_ESTABLISHED")
            assert (c["arg0"] if self.active else c["arg1"]) == self.id
            self.known = True
        elif name == "CONNECT_FAILED":
            assert self.active and not self.known and c["arg0"] == self.id
            assert c["aux"] in (REASON["REFUSED"], REASON["TIMEDOUT"]), c["aux"]
            assert self.fate == "refuse" and not self.failed
            self.failed = True
        else:
            assert self.known, f"{name} of a flow that the host does not know"
            getattr(self, name.lower())(c)

    def data_received(self, c: dict) -> None:
        assert c["arg0"] > 0 and self.closed not in ("full", "abort_done")
        self.told_in += c["arg0"]
        assert self.told_in <= self.placed.prefix(), "what is not in the buffer is told of"

    def send_complete(self, c: dict) -> None:
        self.out_done += c["arg0"]
        assert c["arg0"] > 0 and self.out_done <= self.acked, "nobody has acknowledged it"

    def close_event(self, c: dict) -> None:
        if c["flags"]:
            assert self.fin_given and self.told_in == self.in_total, "the peer's end, too early"
            assert not self.told_half
            self.told_half = True
            return
        self.ended = True
        allowed = {
            "close": {0, REASON["ABORTED"]}, "peer": {0, REASON["ABORTED"]},
            "abort": {REASON["ABORTED"]}, "reset": {REASON["RESET"]},
        }[self.fate]  # fmt: skip
        assert c["aux"] in allowed, f"{self.fate} ends with {c['aux']}"
        if c["aux"] == 0 and self.closed != "full":
            assert self.told_half and self.told_in == self.in_total, "not all was told"
        if c["aux"] == REASON["RESET"]:
            assert self.told_in == self.in_total, "what came before the reset is lost"

    def refused(self, job: dict) -> None:
        assert self.commands, f"what is right is refused: {parts(job['cmd'])}"
        cmd, position, reason = self.commands.popleft()
        assert job["cmd"] == error(reason, cmd, position) and job["done"]

    def message(self, m: dict) -> None:
        """Handles a message to toe_conn."""
        kind = m["kind"]
        assert not self.free and m["qp"] == self.qp
        self.backlog += m["backlog"]
        assert self.backlog <= (not self.active), "it leaves its listener's backlog twice"
        if m["purged"]:
            assert self.purged
            assert m["kind"] != KIND["CnGone"] or m["free"]
            self.free = True
            return
        if kind == KIND["CnAccepted"]:
            assert self.accepted and m["backlog"]
        elif kind in (KIND["CnTimeWait"], KIND["CnGone"]):
            self.gone_said += 1
            assert self.gone_said == 1, "it ends twice"
            self.over = self.peer_over = True
            self.world.drops(self)
            if kind == KIND["CnTimeWait"]:
                assert m["snd_nxt"] == (self.iss + 2 + self.out_said) % AROUND
                assert m["rcv_nxt"] == (self.irs + 2 + self.in_total) % AROUND
            self.free = bool(m["free"])
            assert not m["free"] or (not self.known and not self.active)
        else:
            assert self.over and (self.released or self.fate == "refuse"), "a slot is free"
            assert self.active or self.backlog == 1, "it never leaves its listener's backlog"
            self.free = True
