# SPDX-License-Identifier: Apache-2.0
"""Packets of a script: incoming ones are converted to live numbers and passed to the stack;
outgoing ones are awaited, mapped to the script's numbers and compared."""

from __future__ import annotations

import struct
from copy import deepcopy
from typing import TYPE_CHECKING

from tests.packetdrill import cookie, pattern
from tests.packetdrill import packet as pk
from tests.packetdrill import sockets as s
from tests.packetdrill.errors import Mismatch, ScriptError
from tests.packetdrill.packet import Packet
from tests.packetdrill.script import ANY, Event, PacketSpec, TcpOption

if TYPE_CHECKING:
    from tests.packetdrill.run import Run

US = 1000
SECOND = 10**9
# How long after its time to wait for a late packet, to report its arrival time.
LOOK_NS = 10 * SECOND
LOOK_ANY_NS = 24 * 3600 * SECOND
FIRST_PORT = 32768
M32 = 0xFFFFFFFF
ECN_BITS = {"noecn": 0, "ect1": 1, "ect0": 2, "ce": 3}


def flag_bits(text: str) -> int:
    bits = 0
    letters = {c: bit for bit, c in pk.FLAG_LETTERS}
    for c in text:
        if c in letters:
            bits |= letters[c]
        elif c != "0":  # a count of AccECN's ACE field
            n = int(c)
            bits |= (n & 1 and pk.ECE) | (n & 2 and pk.CWR) | (n & 4 and pk.AE)
    return bits


class Packets:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.next_port = FIRST_PORT + (hash_of(run.script.path) % 16384)

    # ---- the script's packet as bytes ----

    def options(self, found: list[TcpOption] | None) -> list[tuple[int, bytes]]:
        out = []
        for o in found or []:
            kind = pk.OPTION_KINDS.get(o.kind, 0)
            match o.kind:
                case "mss":
                    data = struct.pack("!H", o.data)
                case "wscale":
                    data = bytes([o.data or 0])
                case "sack":
                    data = b"".join(struct.pack("!II", a, b) for a, b in o.data)
                case "TS":
                    data = struct.pack("!II", *o.data)
                case "FO":
                    data = self.cookie(o.data)
                case "FOEXP":
                    data = pk.FOEXP_MAGIC + self.cookie(o.data)
                case "kind":
                    kind, data = o.data
                case _:
                    data = o.data or b""
            out.append((kind, data))
        return out

    def cookie(self, data: bytes | str | None) -> bytes:
        """Returns a cookie's bytes; one that the script names is that of the remote client."""
        if not isinstance(data, str):
            return data or b""
        config = self.run.config
        return cookie.cookie(data, pk.address(config.remote_ip), pk.address(config.local_ip))

    def from_spec(self, spec: PacketSpec) -> Packet:
        config = self.run.config
        p = Packet(version=config.version)
        local, remote = pk.address(config.local_ip), pk.address(config.remote_ip)
        p.src, p.dst = (local, remote) if spec.outbound else (remote, local)
        p.tos = spec.ip.tos or ECN_BITS.get(spec.ip.ecn or "noecn", 0)
        p.flow_label = spec.ip.flow_label or 0
        p.ttl = spec.ip.ttl or 255
        p.protocol = {"tcp": pk.TCP, "udp": pk.UDP}.get(spec.protocol, self.icmp_protocol())
        if spec.ports:
            p.sport, p.dport = spec.ports
        if spec.protocol == "icmp":
            self.icmp_from_spec(p, spec)
            return p
        p.seq, p.ack, p.window, p.urgent = spec.seq, spec.ack, spec.window or 0, spec.urgent
        p.flags = flag_bits(spec.flags)
        p.options = self.options(spec.options)
        if len(pk.option_bytes(p.options)) % 4:
            raise ScriptError(
                "TCP options are not padded correctly to ensure TCP header is a multiple of 4 "
                f"bytes: {len(pk.option_bytes(p.options)) % 4} excess bytes"
            )
        p.options_len = len(pk.option_bytes(p.options))
        if p.options_len > 40:
            raise ScriptError("TCP option list too long")
        return p

    def icmp_protocol(self) -> int:
        return pk.ICMP4 if self.run.config.version == 4 else pk.ICMP6

    def icmp_from_spec(self, p: Packet, spec: PacketSpec) -> None:
        version = self.run.config.version
        try:
            p.icmp_type, p.icmp_code = pk.icmp_number(version, spec.icmp_type, spec.icmp_code)
        except (KeyError, ValueError) as e:
            raise ScriptError(f"bad ICMP type or code: {e}") from None
        if spec.mtu is not None:
            name = pk.icmp_name(version, p.icmp_type, p.icmp_code)
            if name not in ("unreachable frag_needed", "packet_too_big"):
                raise ScriptError("mtu is only valid for frag_needed and packet_too_big")
            p.icmp_rest = spec.mtu
        if spec.echo_id:
            p.icmp_rest = spec.echo_id << 16

    # ---- which socket ----

    def find(self, spec: PacketSpec) -> s.Sock:
        run = self.run
        sock = run.under_test
        if spec.protocol == "tcp" and spec.ports:
            return self.find_by_ports(spec)
        listening = sock is None or sock.state == s.LISTENING
        if spec.protocol == "tcp" and not spec.outbound and listening:
            return self.child(spec, self.take_port())
        syn_out = spec.outbound and "S" in spec.flags and "." not in spec.flags
        if spec.protocol == "tcp" and syn_out and sock and sock.state == s.CONNECTING:
            sock.state = s.SYN_SENT
            sock.script_local_isn = spec.seq
            return sock
        if sock is None and spec.protocol in ("udp", "icmp"):
            return self.child(spec, self.take_port())
        if sock is None:
            raise ScriptError("no matching socket for script packet")
        return sock

    def find_by_ports(self, spec: PacketSpec) -> s.Sock:
        """Returns the socket of these ports: each pair of ports in the script is a separate
        connection (beyond packetdrill, which has one socket at a time)."""
        remote, local = spec.ports[::-1] if spec.outbound else spec.ports
        for sock in self.run.sockets:
            if sock.script_ports == (remote, local):
                self.run.under_test = sock
                return sock
        sock = self.run.under_test
        if sock and sock.state == s.CONNECTING and spec.outbound:
            sock.script_ports = (remote, local)
            sock.state = s.SYN_SENT
            sock.script_local_isn = spec.seq
            return sock
        sock = self.child(spec, remote)
        sock.script_ports = (remote, local)
        sock.local_port = local
        return sock

    def take_port(self) -> int:
        self.next_port += 1
        return self.next_port

    def child(self, spec: PacketSpec, port: int) -> s.Sock:
        sock = s.Sock(state=s.PASSIVE, remote_port=port, local_port=self.run.config.bind_port)
        sock.script_remote_isn = sock.live_remote_isn = spec.seq
        self.run.sockets.append(sock)
        self.run.under_test = sock
        return sock

    # ---- in ----

    def inbound(self, spec: PacketSpec) -> None:
        sock = self.find(spec)
        live = self.from_spec(spec)
        if spec.protocol == "tcp":
            self.tcp_in(sock, spec, live)
        elif spec.protocol == "udp":
            live.payload = pattern.stream(0, spec.length)
            if not spec.ports:
                live.sport = sock.remote_port or self.run.config.connect_port
                live.dport = sock.local_port or self.run.config.bind_port
        else:
            self.icmp_in(sock, spec, live)
        self.run.note(f"inbound injected packet: {self.stamp()} {pk.text(live)}")
        self.run.backend.send(live.bytes())

    def stamp(self) -> str:
        return f"{self.run.now() / 1e6:9.6f}"

    def tcp_in(self, sock: s.Sock, spec: PacketSpec, live: Packet) -> None:
        flags = live.flags
        syn = bool(flags & pk.SYN)
        if sock.state == s.SYNACK_SENT and flags & pk.ACK:
            sock.state = s.SYNACK_ACKED
        elif sock.state == s.SYN_SENT and syn:
            if flags & pk.ACK:
                sock.state = s.SYN_ACKED
            sock.script_remote_isn = sock.live_remote_isn = spec.seq
        live.sport, live.dport = sock.remote_port, sock.local_port
        live.seq = (spec.seq + sock.remote_to_live(syn)) & M32
        if flags & pk.ACK:
            live.ack = (spec.ack + sock.local_to_live(syn)) & M32
        at = sock.offset(sock.script_remote_isn, spec.seq, syn)
        live.payload = pattern.stream(at, spec.length)
        live.options = [self.option_in(sock, o, flags) for o in live.options]
        sock.last_in = live

    def option_in(self, sock: s.Sock, o: tuple[int, bytes], flags: int) -> tuple[int, bytes]:
        kind, data = o
        if kind == 5 and len(data) % 4 == 0:
            words = struct.unpack(f"!{len(data) // 4}I", data)
            shift = sock.local_to_live(bool(flags & pk.SYN))
            data = struct.pack(f"!{len(words)}I", *((w + shift) & M32 for w in words))
        if kind == 8 and len(data) == 8 and flags & pk.ACK:
            val, ecr = struct.unpack("!II", data)
            data = struct.pack("!II", val, self.live_ecr(sock, ecr))
        return kind, data

    def live_ecr(self, sock: s.Sock, ecr: int) -> int:
        if ecr in sock.ts_map:
            return sock.ts_map[ecr]
        if self.run.config.tcp_ts_ecr_scaled and sock.first_ts:
            return (ecr - sock.first_ts[0] + sock.first_ts[1]) & M32
        raise ScriptError(
            f"unable to infer live TS ecr for script TS ecr {ecr};  no matching or preceding "
            "outbound TS val"
        )

    def icmp_in(self, sock: s.Sock, spec: PacketSpec, live: Packet) -> None:
        if not spec.icmp_type.startswith(("unreachable", "time_ex", "packet_too", "param", "type")):
            whole = spec.echoed[2] if spec.echoed else 8  # raw(n): of the ICMP message
            live.payload = bytes(max(whole - 8, 0))
            return
        protocol, seq, length = spec.echoed or ("tcp", 0, 0)
        quoted = Packet(version=live.version, src=live.dst, dst=live.src, ttl=64)
        quoted.protocol = pk.UDP if protocol == "udp" else pk.TCP
        quoted.sport, quoted.dport = sock.local_port, sock.remote_port
        if protocol == "udp":
            quoted.sport = sock.local_port or self.run.config.bind_port
            quoted.dport = sock.remote_port or self.run.config.connect_port
        quoted.seq = (seq + sock.local_to_live(syn=False)) & M32
        quoted.flags = pk.ACK
        quoted.payload = bytes(length)
        head = 20 if live.version == 4 else 40
        live.payload = quoted.bytes()[: head + 8]  # RFC 792: eight bytes of the datagram

    # ---- out ----

    def outbound(self, event: Event, spec: PacketSpec) -> None:
        sock = self.find(spec)
        if spec.protocol == "tcp" and sock.state == s.PASSIVE and {"S", "."} <= set(spec.flags):
            sock.script_local_isn = spec.seq
        whole = self.sniff(event, sock, spec)
        first = whole
        while len(whole.payload) < spec.length and self.aggregates(spec, whole):
            more = self.sniff(event, sock, spec)
            self.check_fragment(whole, first, more, spec)
            whole = self.joined(whole, more)
        self.verify(event, sock, spec, whole)

    def aggregates(self, spec: PacketSpec, p: Packet) -> bool:
        return spec.protocol == "tcp" and len(p.payload) > 0 and not self.run.config.strict_segments

    def check_fragment(self, whole: Packet, first: Packet, more: Packet, spec: PacketSpec) -> None:
        wrong = None
        if more.seq != (whole.seq + len(whole.payload)) & M32:
            wrong = f"seq {more.seq} does not follow"
        elif more.ack != whole.ack or more.window != whole.window:
            wrong = "ack or window differ"
        elif len(more.payload) != len(first.payload) and (
            len(whole.payload) + len(more.payload) < spec.length
        ):
            wrong = f"{len(more.payload)} bytes behind one of {len(first.payload)}"
        if wrong:
            raise Mismatch(
                f"live packet payload: expected {spec.length} bytes vs actual "
                f"{len(whole.payload)} bytes, and the next packet is none of them: {wrong}\n"
                f"actual packet: {pk.text(whole)}\nnext packet: {pk.text(more)}"
            )

    def joined(self, a: Packet, b: Packet) -> Packet:
        p = deepcopy(b)
        p.seq, p.payload, p.time = a.seq, a.payload + b.payload, a.time
        p.flags |= a.flags & pk.CWR
        return p

    def sniff(self, event: Event, sock: s.Sock, spec: PacketSpec) -> Packet:
        """Returns the next packet of this socket; drops packets of no socket of the script."""
        look = LOOK_ANY_NS if event.time_type == ANY else LOOK_NS
        until = max(event.time_end * US, self.run.backend.now()) + look
        if not self.run.backend.virtual:
            until = min(until, max(event.time_end * US, self.run.backend.now()) + SECOND)
        while True:
            got = self.run.backend.receive(until)
            if got is None:
                raise Mismatch(self.nothing(event))
            p = pk.parse(*got)
            self.run.note(f"outbound sniffed packet: {p.time / 1e9:9.6f} {pk.text(p)}")
            owner = self.owner(p, sock, spec)
            if owner is sock:
                self.learn(sock, p, spec)
                return p
            if owner is not None:
                raise Mismatch(f"packet is not for expected socket: {pk.text(p)}")

    def nothing(self, event: Event) -> str:
        when = "at any time" if event.time_type == ANY else f"at {event.time / 1e6:.6f} sec"
        return f"error handling packet: expected outbound packet {when}, but none was sent"

    def owner(self, p: Packet, sock: s.Sock, spec: PacketSpec) -> s.Sock | None:
        if p.dst != pk.address(self.run.config.remote_ip):
            return None
        if p.protocol in (pk.ICMP4, pk.ICMP6):
            return sock if spec.protocol == "icmp" else None
        if p.protocol == pk.UDP:
            return sock if spec.protocol == "udp" else None
        if p.protocol != pk.TCP:
            return None
        for candidate in [sock, *reversed(self.run.sockets)]:
            ports = candidate.remote_port == p.dport and candidate.local_port in (0, p.sport)
            if ports and candidate.protocol == pk.TCP:
                return candidate
        return None

    def learn(self, sock: s.Sock, p: Packet, spec: PacketSpec) -> None:
        if p.protocol == pk.TCP:
            sock.last_out = p
        if p.protocol != pk.TCP or not p.flags & pk.SYN:
            return
        if sock.state == s.PASSIVE and p.flags & pk.ACK:
            sock.state = s.SYNACK_SENT
            sock.live_local_isn = p.seq
        elif sock.local_port == 0 or sock.state == s.SYN_SENT:
            sock.local_port = p.sport
            sock.live_local_isn = p.seq

    # ---- compare ----

    def verify(self, event: Event, sock: s.Sock, spec: PacketSpec, live: Packet) -> None:
        script = self.from_spec(spec)
        actual = deepcopy(live)
        try:
            if spec.protocol == "tcp":
                self.map_out(sock, spec, script, actual)
                self.check_ip(sock, spec, script, actual)
                self.check_tcp(spec, script, actual)
                self.check_options(spec, script, actual)
                self.check_payload(sock, spec, actual)
            else:
                self.check_ip(sock, spec, script, actual)
                self.check_other(spec, script, actual)
            last = self.run.last.time if self.run.last else None
            self.run.verify_time(
                event.time_type,
                event.time,
                event.time_end,
                actual.time // US,
                last,
                "outbound packet",
                event.offset,
            )
            event.time = event.time if event.time_type != ANY else actual.time // US
        except Mismatch as e:
            script.payload = bytes(spec.length)
            raise Mismatch(
                f"error handling packet: {e}\n"
                f"script packet: {event.time / 1e6:9.6f} {spec_text(spec, script)}\n"
                f"actual packet: {actual.time / 1e9:9.6f} {pk.text(actual)}"
            ) from None

    def map_out(self, sock: s.Sock, spec: PacketSpec, script: Packet, actual: Packet) -> None:
        """Maps live numbers to the script's."""
        syn = bool(actual.flags & pk.SYN)
        actual.seq = (actual.seq - sock.local_to_live(syn)) & M32
        shift = sock.remote_to_live(syn)
        if actual.flags & pk.ACK:
            actual.ack = (actual.ack - shift) & M32
        options = []
        for kind, data in actual.options:
            if kind == 5 and len(data) % 4 == 0:
                words = struct.unpack(f"!{len(data) // 4}I", data)
                data = struct.pack(f"!{len(words)}I", *((w - shift) & M32 for w in words))
            if kind == 8 and len(data) == 8:
                data = self.script_ts(sock, script, data)
            options.append((kind, data))
        actual.options = options

    def script_ts(self, sock: s.Sock, script: Packet, data: bytes) -> bytes:
        val, ecr = struct.unpack("!II", data)
        wanted = [d for k, d in script.options if k == 8 and len(d) == 8]
        if not wanted:
            return data
        script_val = struct.unpack("!I", wanted[0][:4])[0]
        sock.ts_map[script_val] = val
        if sock.first_ts is None:
            sock.first_ts = (script_val, val)
        mapped = (sock.first_ts[0] + val - sock.first_ts[1]) & M32
        return struct.pack("!II", mapped, ecr)

    def check_ip(self, sock: s.Sock, spec: PacketSpec, script: Packet, actual: Packet) -> None:
        field("ip_version", script.version, actual.version)
        field("ip_protocol", script.protocol, actual.protocol)
        if spec.ip.tos is not None:
            field("tos", script.tos, actual.tos)
        elif spec.ip.ecn == "ect01":
            if actual.tos & 3 not in (1, 2):
                raise Mismatch(
                    f"live packet field ip_ecn: expected: 0x1 or 0x2 vs actual: {actual.tos & 3:#x}"
                )
        elif spec.ip.ecn:
            field("ip_ecn", script.tos, actual.tos & 3)
        if spec.ip.ttl:
            field("ttl", script.ttl, actual.ttl)
        if spec.ip.flow_label:
            self.check_flow_label(sock, spec.ip.flow_label, actual.flow_label)

    def check_flow_label(self, sock: s.Sock, script: int, live: int) -> None:
        """Checks that flow labels equal in the script are equal on the wire, and that different
        ones differ."""
        if not live:
            raise Mismatch("flowlabel unmarked in the live packet")
        if sock.flow_label:
            same = script == sock.flow_label[0]
            if same != (live == sock.flow_label[1]):
                raise Mismatch(
                    "inconsistent flowlabels for this packet"
                    if same
                    else "expected a different flowlabel but got the same"
                )
        sock.flow_label = (script, live)

    def check_tcp(self, spec: PacketSpec, script: Packet, actual: Packet) -> None:
        names = ["fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ae"]
        for i, name in enumerate(names):
            field(f"tcp_{name}", script.flags >> i & 1, actual.flags >> i & 1)
        field("tcp_reserved_bits", 0, actual.reserved)
        field("tcp_seq", script.seq, actual.seq)
        field("tcp_ack_seq", script.ack, actual.ack)
        if spec.window is not None:
            field("tcp_window", script.window, actual.window)
        field("tcp_urg_ptr", script.urgent, actual.urgent)
        if len(actual.payload) != spec.length:
            raise Mismatch(
                f"live packet payload: expected {spec.length} bytes vs actual "
                f"{len(actual.payload)} bytes"
            )

    def check_options(self, spec: PacketSpec, script: Packet, actual: Packet) -> None:
        if spec.options is None:
            return
        if len(script.options) != len(actual.options):
            raise Mismatch("bad outbound TCP options")
        for o, (kind, wanted), (got_kind, got) in zip(
            spec.options, script.options, actual.options, strict=True
        ):
            if kind != got_kind:
                raise Mismatch("bad outbound TCP options")
            if o.kind == "wscale" and o.data is None:
                continue
            if kind == 8 and len(wanted) == len(got) == 8:
                self.check_ts(wanted, got)
            elif len(wanted) != len(got):
                raise Mismatch(f"bad lengths for outbound TCP option {kind}")
            elif wanted != got:
                raise Mismatch(f"bad value outbound TCP option {kind}")

    def check_ts(self, wanted: bytes, got: bytes) -> None:
        val, ecr = struct.unpack("!II", wanted)
        actual_val, actual_ecr = struct.unpack("!II", got)
        tick = self.run.config.tcp_ts_tick_usecs
        apart = (actual_val - val + (1 << 31)) % (1 << 32) - (1 << 31)
        if tick and abs(apart) * tick > self.run.config.tolerance_usecs:
            raise Mismatch(
                "bad outbound TCP timestamp value, tolerance "
                f"{self.run.config.tolerance_usecs}: expected {val}, actual {actual_val}"
            )
        if actual_ecr != ecr:
            raise Mismatch(
                f"bad outbound TCP timestamp echo reply: expected {ecr}, actual {actual_ecr}"
            )

    def check_payload(self, sock: s.Sock, spec: PacketSpec, actual: Packet) -> None:
        if sock.written is None:
            return
        at = sock.offset(sock.script_local_isn, spec.seq, "S" in spec.flags)
        # the byte of a window probe, or of a keep-alive before the stream, belongs to no stream
        if actual.payload and at < M32 and actual.payload != pattern.stream(at, spec.length):
            raise Mismatch("incorrect outbound data payload")

    def check_other(self, spec: PacketSpec, script: Packet, actual: Packet) -> None:
        if spec.protocol == "udp":
            if len(actual.payload) != spec.length:
                raise Mismatch(
                    f"live packet field udp_len: expected: {spec.length} vs actual: "
                    f"{len(actual.payload)}"
                )
            return
        field("icmp_type", script.icmp_type, actual.icmp_type)
        field("icmp_code", script.icmp_code, actual.icmp_code)
        if spec.mtu is not None:
            field("icmp_mtu", spec.mtu, actual.icmp_rest)

    # ---- the end ----

    def reset_all(self) -> None:
        """Sends a RST for each connection, so that a kernel under test does not keep it."""
        if self.run.backend.virtual:
            return
        for sock in self.run.sockets:
            if sock.protocol == 6 and (sock.last_in or sock.last_out) and sock.local_port:
                self.run.backend.send(self.reset_of(sock).bytes())

    def reset_of(self, sock: s.Sock) -> Packet:
        config = self.run.config
        p = Packet(version=config.version, protocol=pk.TCP, flags=pk.RST | pk.ACK)
        p.src, p.dst = pk.address(config.remote_ip), pk.address(config.local_ip)
        p.sport, p.dport = sock.remote_port, sock.local_port
        out, inn = sock.last_out, sock.last_in
        if out and out.flags & pk.ACK:
            p.seq, p.ack = out.ack, out.seq
        elif inn:
            length = len(inn.payload) + bool(inn.flags & pk.SYN) + bool(inn.flags & pk.FIN)
            p.seq, p.ack, p.window = inn.seq + length, inn.ack, inn.window
        elif out:
            p.ack = out.seq + 1
        return p


def field(name: str, wanted: int, actual: int) -> None:
    if wanted != actual:
        raise Mismatch(
            f"live packet field {name}: expected: {wanted} ({wanted:#x}) vs actual: "
            f"{actual} ({actual:#x})"
        )


def spec_text(spec: PacketSpec, script: Packet) -> str:
    text = pk.text(script)
    if spec.window is None:
        text = text.replace(" win 0", "")
    return text if spec.options is not None else f"{text} <...>"


def hash_of(text: str) -> int:
    """Returns a hash that is the same in each run, unlike Python's."""
    value = 0
    for c in text:
        value = (value * 31 + ord(c)) & M32
    return value
