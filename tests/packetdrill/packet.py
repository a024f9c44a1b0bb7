# SPDX-License-Identifier: Apache-2.0
"""IP packets: converts bytes to fields and back, and formats them as tcpdump does."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field

from tests.packetdrill.errors import Mismatch

TCP, UDP, ICMP4, ICMP6 = 6, 17, 1, 58

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, AE = (1 << i for i in range(9))
FLAG_LETTERS = [(FIN, "F"), (SYN, "S"), (RST, "R"), (PSH, "P"), (URG, "U"), (ECE, "E"), (CWR, "W")]
FLAG_LETTERS += [(AE, "A"), (ACK, ".")]

OPTION_KINDS = {"eol": 0, "nop": 1, "mss": 2, "wscale": 3, "sackOK": 4, "sack": 5, "TS": 8}
OPTION_KINDS |= {"md5": 19, "FO": 34, "FOEXP": 254, "exp": 253}
FOEXP_MAGIC = b"\xf9\x89"  # RFC 6994, as in Linux before RFC 7413
OPTION_SIZES = {2: 2, 3: 1, 4: 0, 8: 8}

ICMP_TYPES = {
    4: {
        "echo_reply": 0,
        "unreachable": 3,
        "source_quench": 4,
        "redirect": 5,
        "echo_request": 8,
        "time_exceeded": 11,
        "parameter_problem": 12,
        "timestamp_request": 13,
        "timestamp_reply": 14,
        "information_request": 15,
        "information_reply": 16,
        "address_mask_request": 17,
        "address_mask_reply": 18,
    },
    6: {
        "unreachable": 1,
        "packet_too_big": 2,
        "time_exceeded": 3,
        "parameter_problem": 4,
        "echo_request": 128,
        "echo_reply": 129,
    },
}
ICMP_CODES = {
    (4, "unreachable"): [
        "net_unreachable",
        "host_unreachable",
        "protocol_unreachable",
        "port_unreachable",
        "frag_needed",
        "source_route_failed",
        "net_unknown",
        "host_unknown",
        "source_host_isolated",
        "net_prohibited",
        "host_prohibited",
        "net_unreachable_for_tos",
        "host_unreachable_for_tos",
        "packet_filtered",
        "precedence_violation",
        "precedence_cutoff",
    ],
    (4, "time_exceeded"): ["exceeded_ttl", "exceeded_frag_time"],
    (6, "unreachable"): [
        "no_route",
        "admin_prohibited",
        "not_neighbour",
        "address_unreachable",
        "port_unreachable",
    ],
    (6, "time_exceeded"): ["exceeded_hop_limit", "exceeded_frag_time"],
    (6, "parameter_problem"): ["header_field", "unknown_next_header", "unknown_option"],
}


def icmp_number(version: int, kind: str, code: str | None) -> tuple[int, int]:
    """Returns type and code by their names; raises KeyError for an unknown name."""
    number = int(kind[5:]) if kind.startswith("type_") else ICMP_TYPES[version][kind]
    if code is None:
        return number, 0
    if code.startswith("code_"):
        return number, int(code[5:])
    names = ICMP_CODES.get((version, kind), [])
    if code not in names:
        raise KeyError(code)
    return number, names.index(code)


def icmp_name(version: int, number: int, code: int) -> str:
    names = {v: k for k, v in ICMP_TYPES[version].items()}
    kind = names.get(number, f"type_{number}")
    codes = ICMP_CODES.get((version, kind), [])
    if code < len(codes):
        return f"{kind} {codes[code]}"
    return kind if code == 0 else f"{kind} code_{code}"


def checksum(data: bytes) -> int:
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass
class Packet:
    version: int = 4
    src: bytes = b""
    dst: bytes = b""
    tos: int = 0
    ttl: int = 255
    flow_label: int = 0
    protocol: int = TCP
    sport: int = 0
    dport: int = 0
    seq: int = 0
    ack: int = 0
    flags: int = 0
    reserved: int = 0
    window: int = 0
    urgent: int = 0
    options: list[tuple[int, bytes]] = field(default_factory=list)
    options_len: int = 0
    payload: bytes = b""
    icmp_type: int = 0
    icmp_code: int = 0
    icmp_rest: int = 0  # the second word of the ICMP header
    fragment: int = 0  # IPv4: flags and offset
    identity: int = 0
    time: int = 0  # nanoseconds of the back end
    urgent_flag_checked: bool = True

    # ---- out ----

    def bytes(self) -> bytes:
        if self.protocol == TCP:
            body = self.tcp_bytes()
        elif self.protocol == UDP:
            body = struct.pack("!HHHH", self.sport, self.dport, 8 + len(self.payload), 0)
            body += self.payload
        else:
            body = struct.pack("!BBHI", self.icmp_type, self.icmp_code, 0, self.icmp_rest)
            body += self.payload
        at = {TCP: 16, UDP: 6}.get(self.protocol, 2)
        pseudo = b"" if self.protocol == ICMP4 else self.pseudo(len(body))
        total = checksum(pseudo + body)
        if self.protocol == UDP and total == 0:
            total = 0xFFFF
        body = body[:at] + struct.pack("!H", total) + body[at + 2 :]
        return self.ip_header(len(body)) + body

    def tcp_bytes(self) -> bytes:
        options = option_bytes(self.options)
        offset = (20 + len(options)) // 4
        word = offset << 12 | (self.reserved & 7) << 9 | self.flags & 0x1FF
        head = struct.pack(
            "!HHIIHHHH",
            self.sport,
            self.dport,
            self.seq & 0xFFFFFFFF,
            self.ack & 0xFFFFFFFF,
            word,
            self.window,
            0,
            self.urgent,
        )
        return head + options + self.payload

    def pseudo(self, length: int) -> bytes:
        if self.version == 4:
            return self.src + self.dst + struct.pack("!BBH", 0, self.protocol, length)
        return self.src + self.dst + struct.pack("!IHBB", length, 0, 0, self.protocol)

    def ip_header(self, length: int) -> bytes:
        if self.version == 6:
            word = 6 << 28 | self.tos << 20 | self.flow_label
            return struct.pack("!IHBB", word, length, self.protocol, self.ttl) + self.src + self.dst
        head = struct.pack(
            "!BBHHHBBH",
            0x45,
            self.tos,
            20 + length,
            self.identity,
            self.fragment,
            self.ttl,
            self.protocol,
            0,
        )
        head += self.src + self.dst
        return head[:10] + struct.pack("!H", checksum(head)) + head[12:]


def option_bytes(options: list[tuple[int, bytes]]) -> bytes:
    out = b""
    for kind, data in options:
        out += bytes([kind]) if kind in (0, 1) else bytes([kind, 2 + len(data)]) + data
    return out


# ---- in ----


def parse(raw: bytes, time: int = 0) -> Packet:
    """Parses a packet that the stack sent; raises Mismatch when the stack made it malformed."""
    p = Packet(time=time)
    p.version = raw[0] >> 4 if raw else 0
    if p.version == 4:
        head = (raw[0] & 15) * 4
        if head < 20 or len(raw) < head or checksum(raw[:head]):
            raise Mismatch("bad outbound IP checksum")
        p.tos, total, p.identity, p.fragment, p.ttl, p.protocol = struct.unpack(
            "!xBHHHBB", raw[:10]
        )
        p.src, p.dst = raw[12:16], raw[16:20]
        body = raw[head:total]
    elif p.version == 6 and len(raw) >= 40:
        word, length, p.protocol, p.ttl = struct.unpack("!IHBB", raw[:8])
        p.tos, p.flow_label = word >> 20 & 255, word & 0xFFFFF
        p.src, p.dst = raw[8:24], raw[24:40]
        body = raw[40 : 40 + length]
    else:
        raise Mismatch("an outbound packet that is no IP")
    pseudo = b"" if p.protocol == ICMP4 else p.pseudo(len(body))
    if p.fragment & 0x1FFF or p.fragment & 0x2000:
        p.payload = body
        return p
    if checksum(pseudo + body) and not (p.protocol == UDP and body[6:8] == b"\0\0"):
        raise Mismatch("bad outbound checksum of TCP, UDP or ICMP")
    if p.protocol == TCP:
        parse_tcp(p, body)
    elif p.protocol == UDP:
        p.sport, p.dport = struct.unpack("!HH", body[:4])
        p.payload = body[8:]
    elif p.protocol in (ICMP4, ICMP6):
        p.icmp_type, p.icmp_code, _, p.icmp_rest = struct.unpack("!BBHI", body[:8])
        p.payload = body[8:]
    return p


def parse_tcp(p: Packet, body: bytes) -> None:
    if len(body) < 20:
        raise Mismatch("an outbound TCP header that is too short")
    p.sport, p.dport, p.seq, p.ack, word, p.window, _, p.urgent = struct.unpack(
        "!HHIIHHHH", body[:20]
    )
    p.flags, p.reserved, head = word & 0x1FF, word >> 9 & 7, (word >> 12) * 4
    if head < 20 or head > len(body):
        raise Mismatch("an outbound TCP data offset beyond the segment")
    p.options = parse_options(body[20:head])
    p.options_len = head - 20
    p.payload = body[head:]


def parse_options(raw: bytes) -> list[tuple[int, bytes]]:
    out = []
    at = 0
    while at < len(raw):
        kind = raw[at]
        if kind in (0, 1):
            out.append((kind, b""))
            at += 1
            continue
        if at + 1 >= len(raw) or raw[at + 1] < 2 or at + raw[at + 1] > len(raw):
            raise Mismatch("malformed outbound TCP options")
        out.append((kind, raw[at + 2 : at + raw[at + 1]]))
        at += raw[at + 1]
    return out


# ---- text ----


def flag_text(flags: int) -> str:
    return "".join(c for bit, c in FLAG_LETTERS if flags & bit) or "-"


def option_text(kind: int, data: bytes) -> str:
    match kind:
        case 0:
            return "eol"
        case 1:
            return "nop"
        case 2 if len(data) == 2:
            return f"mss {int.from_bytes(data)}"
        case 3 if len(data) == 1:
            return f"wscale {data[0]}"
        case 4 if not data:
            return "sackOK"
        case 5 if data and len(data) % 8 == 0:
            words = struct.unpack(f"!{len(data) // 4}I", data)
            pairs = zip(words[::2], words[1::2], strict=True)
            return "sack " + " ".join(f"{a}:{b}" for a, b in pairs)
        case 8 if len(data) == 8:
            return "TS val {} ecr {}".format(*struct.unpack("!II", data))
        case 19:
            return f"md5 {data.hex()}"
        case 34:
            return f"FO {data.hex()}".rstrip()
        case 254 if data[:2] == FOEXP_MAGIC:
            return f"FOEXP {data[2:].hex()}".rstrip()
    return f"kind {kind} {data.hex()}".rstrip()


def text(p: Packet) -> str:
    ecn = {1: "[ect1] ", 2: "[ect0] ", 3: "[ce] "}.get(p.tos & 3, "")
    if p.fragment & 0x3FFF:
        return f"{ecn}fragment at {(p.fragment & 0x1FFF) * 8} of {len(p.payload)} bytes"
    if p.protocol == UDP:
        return f"{ecn}udp ({len(p.payload)})"
    if p.protocol in (ICMP4, ICMP6):
        name = icmp_name(p.version, p.icmp_type, p.icmp_code)
        mtu = f" mtu {p.icmp_rest & 0xFFFF}" if "frag_needed" in name else ""
        if name == "packet_too_big":
            mtu = f" mtu {p.icmp_rest}"
        return f"{ecn}icmp {name}{mtu}"
    n = len(p.payload)
    out = f"{ecn}{flag_text(p.flags)} {p.seq}:{(p.seq + n) & 0xFFFFFFFF}({n})"
    if p.flags & ACK:
        out += f" ack {p.ack}"
    out += f" win {p.window}"
    if p.flags & URG or p.urgent:
        out += f" urg {p.urgent}"
    if p.options:
        out += " <" + ",".join(option_text(k, d) for k, d in p.options) + ">"
    return out


def address(text: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)
