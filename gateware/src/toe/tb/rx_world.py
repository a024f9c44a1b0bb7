# SPDX-License-Identifier: Apache-2.0
"""Valid and invalid frames from a link, made with scapy, and the expected result for each, computed
from its bytes only: a packet, or the counter of its drop reason."""

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptSrcLLAddr,
    ICMPv6Unknown,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import checksum

from gateware.src.toe.tb.contract import TOE

BUFFER = 2048
TAGS = (0x8100, 0x88A8)
TCP_KIND, ARP_KIND, ECHO_KIND = (TOE.names[n] for n in ("PkTcp", "PkArp", "PkEcho"))
OPTIONS = ("mss_ok", "mss", "ws_ok", "ws", "sack_ok", "ts_ok", "tsval", "tsecr", "sacks")
STAGES = 8  # options that are parsed, each after at most three NOPs


def half(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")


def mac_text(mac: int) -> str:
    return mac.to_bytes(6, "big").hex(":")


def ip_text(address: int) -> str:
    return ".".join(map(str, address.to_bytes(4, "big")))


def ip6_text(address: int) -> str:
    return address.to_bytes(16, "big").hex(":", 2)


class Own:
    """The TOE's own addresses."""

    def __init__(self, rng) -> None:
        self.mac = rng.getrandbits(46) << 1 & ~(1 << 40)
        self.ip4 = 0 if rng.random() < 0.05 else rng.randrange(1, 224 << 24)
        self.ip6_on = rng.random() < 0.9
        self.ip6 = 0x2 << 124 | rng.getrandbits(124)
        self.link = 0xFE80 << 112 | rng.getrandbits(64)

    def packed(self) -> int:
        fields = {"mac": self.mac, "ip4": self.ip4, "ip6_on": int(self.ip6_on), "ip6": self.ip6}
        return TOE.pack("own_t", fields | {"ip6_link": self.link})


# ---- the expected result for a frame ----


def options(b: bytes, syn: bool) -> dict | None:
    """Parses TCP options; None: a length is invalid."""
    found = dict.fromkeys(OPTIONS, 0) | {"sack": []}
    for _ in range(STAGES):
        nops = len(b[:3]) - len(b[:3].lstrip(b"\1"))
        b = b[nops:]
        if not b or b[0] == 0:
            break
        if b[0] == 1:
            continue
        if len(b) < 2 or b[1] < 2 or b[1] > len(b):
            return None
        kind, value, b = b[0], b[2 : b[1]], b[b[1] :]
        number = int.from_bytes(value, "big")
        if kind == 2 and len(value) == 2 and syn:
            found |= {"mss_ok": 1, "mss": number}
        elif kind == 3 and len(value) == 1 and syn:
            found |= {"ws_ok": 1, "ws": min(number, 14)}
        elif kind == 4 and not value and syn:
            found["sack_ok"] = 1
        elif kind == 5 and len(value) in (8, 16, 24, 32) and not syn:
            words = [int.from_bytes(value[i : i + 4], "big") for i in range(0, len(value), 4)]
            ranges = [{"start": a, "stop": o} for a, o in zip(words[::2], words[1::2], strict=True)]
            found |= {"sacks": len(ranges), "sack": ranges}
        elif kind == 8 and len(value) == 8:
            found |= {"ts_ok": 1, "tsval": number >> 32, "tsecr": number & 0xFFFFFFFF}
    return found


def judged(frame: bytes, own: Own) -> tuple[set[str], dict | None]:
    """Returns the permitted drop counters, or the packet."""
    if len(frame) > BUFFER:
        return {"too_long"}, None
    tags = next((n for n in (0, 1) if half(frame, 12 + 4 * n) not in TAGS), 2)
    kind, l3 = half(frame, 12 + 4 * tags), 14 + 4 * tags
    packet = {"mac": int.from_bytes(frame[6:12], "big"), "vlan": int(tags > 0)}
    if len(frame) < l3 + (28 if kind == 0x0806 else 20):
        # Bytes after its end may make it look like a frame for another host.
        return {"not_ours", "bad_header"}, None
    to = int.from_bytes(frame[:6], "big")
    if kind == 0x0806:
        if to not in (own.mac, (1 << 48) - 1):
            return {"not_ours"}, None
        return set(), packet | {"kind": ARP_KIND, "bytes": l3 + 28}
    if kind == 0x0800:
        return of_ip4(frame, l3, own, to == own.mac, packet)
    if kind == 0x86DD and len(frame) < l3 + 40:
        return {"not_ours", "bad_header"}, None
    if kind == 0x86DD:
        return of_ip6(frame, l3, own, to, packet)
    return {"not_ours"}, None


def nobody(src: int, v6: bool) -> bool:
    """Returns True for an address of no host (RFC 1122 3.2.1.3, RFC 4291 2.5, 2.7) or
    IPv4-mapped."""
    if v6:
        return src < 2 or src >> 120 == 0xFF or src >> 32 == 0xFFFF
    return src >> 24 in (0, 127) or src >> 24 >= 224


def of_ip4(frame: bytes, l3: int, own: Own, to_us: bool, packet: dict):
    ip, total = frame[l3:], half(frame, l3 + 2)
    src, dst = int.from_bytes(ip[12:16], "big"), int.from_bytes(ip[16:20], "big")
    if not to_us or dst != own.ip4 or own.ip4 == 0:
        return {"not_ours"}, None
    if ip[0] != 0x45 or not 20 <= total <= len(ip) or half(ip, 6) & 0x3FFF or nobody(src, False):
        return {"bad_header"}, None
    if checksum(ip[:20]):
        return {"bad_ip_sum"}, None
    packet |= {"bytes": l3 + total}
    l4 = ip[20:total]
    if ip[9] == 1 and l4[:1] == b"\x08":
        if len(l4) < 8:
            return {"bad_header"}, None
        return set(), packet | {"kind": ECHO_KIND, "v6": 0}
    if ip[9] == 1 and not l4:  # bytes after it may look like an echo
        return {"bad_header", "not_ours"}, None
    if ip[9] != 6:
        return {"not_ours"}, None
    pseudo = ip[12:20] + bytes([0, 6]) + len(l4).to_bytes(2, "big")
    tup = {"v6": 0, "remote": src, "own": dst}
    return of_tcp(l4, l3 + 20, pseudo, tup, ip[1] & 3, packet)


def of_ip6(frame: bytes, l3: int, own: Own, to: int, packet: dict):
    ip, total, kind = frame[l3:], 40 + half(frame, l3 + 4), frame[l3 + 6]
    src, dst = int.from_bytes(ip[8:24], "big"), int.from_bytes(ip[24:40], "big")
    to_us, for_us = to == own.mac, own.ip6_on and dst in (own.ip6, own.link)
    whole = ip[0] >> 4 == 6 and total <= len(ip)
    l4 = ip[40:total]
    pseudo = ip[8:40] + len(l4).to_bytes(4, "big") + bytes([0, 0, 0, kind])
    if own.ip6_on and kind == 58 and whole and len(l4) >= 8 and not checksum(pseudo + l4):
        group = ip[24] == 0xFF and (to_us or to >> 40 & 1)
        asked = (for_us and to_us and l4[0] == 128 and not nobody(src, True)) or (
            l4[0] in (135, 136) and ((for_us and to_us) or group)
        )
        if asked:
            return set(), packet | {"kind": ECHO_KIND, "v6": 1, "bytes": l3 + total}
    if not to_us or not for_us:
        return {"not_ours"}, None
    if not whole or nobody(src, True):
        return {"bad_header"}, None
    if kind != 6:
        return {"not_ours"}, None
    tup = {"v6": 1, "remote": src, "own": dst}
    packet |= {"bytes": l3 + total}
    return of_tcp(l4, l3 + 40, pseudo, tup, ip[1] >> 4 & 3, packet)


def of_tcp(l4: bytes, at: int, pseudo: bytes, tup: dict, ecn: int, packet: dict):
    header = l4[12] >> 4 << 2 if len(l4) >= 20 else 0
    if header < 20 or header > len(l4):
        return {"bad_header"}, None
    if checksum(pseudo + l4):
        return {"bad_tcp_sum"}, None
    tup |= {"remote_port": half(l4, 0), "local_port": half(l4, 2)}
    if tup["remote"] == tup["own"] or not tup["remote_port"] or not tup["local_port"]:
        return {"bad_header"}, None
    opt = options(l4[20:header], bool(l4[13] & 2))
    if opt is None:
        return {"bad_header"}, None
    seg = {"seq": int.from_bytes(l4[4:8], "big"), "ack": int.from_bytes(l4[8:12], "big")}
    seg |= {"wnd": half(l4, 14), "urgent": half(l4, 18), "ecn": ecn, "opt": opt}
    seg |= {"flags": TOE.unpack("flags_t", l4[13]), "len": len(l4) - header, "offset": at + header}
    return set(), packet | {"kind": TCP_KIND, "tuple": tup, "seg": seg}


# ---- frames ----


def some_options(rng, syn: bool) -> bytes:
    """Returns up to 40 bytes of options: valid, of odd lengths, sometimes of an invalid one."""
    b = b""
    for _ in range(rng.randrange(rng.choice([1, 5, 12]))):
        kind = rng.choice(["mss", "ws", "ok", "ts", "sack", "nop", "nop", "other", "odd"])
        if kind == "mss":
            b += b"\2\4" + rng.randbytes(2)
        elif kind == "ws":
            b += b"\3\3" + bytes([rng.randrange(20)])
        elif kind == "ok":
            b += b"\4\2"
        elif kind == "ts":
            b += b"\x08\x0a" + rng.randbytes(8)
        elif kind == "sack":
            n = rng.randrange(1, 5)
            b += bytes([5, 2 + 8 * n]) + rng.randbytes(8 * n)
        elif kind == "nop":
            b += b"\1" * rng.randrange(1, 6)
        else:  # an unknown kind, or a wrong length
            n = rng.randrange(12)
            known = rng.choice([2, 3, 4, 5, 8]) if kind == "odd" else rng.randrange(9, 256)
            b += bytes([known, 2 + n]) + rng.randbytes(n)
    if rng.random() < 1 / 12:
        bad = rng.choice([b"\x08", b"\x08\x00", b"\x08\x01", b"\x0d\x30", b"\x02\xff"])
        b = b[: rng.randrange(len(b) + 1)] + bad
    b = b[: rng.choice([40, 40, 40, 36, 32])]
    if len(b) % 4:
        rest = 4 - len(b) % 4
        b += rng.choice([bytes(rest), b"\1" * rest, b"\0" + rng.randbytes(rest - 1)])
    return b


def spoiled(rng, data: bytes, at: int, stop: int) -> bytes:
    """Flips a random bit between at and stop."""
    i = rng.randrange(at, stop)
    return data[:i] + bytes([data[i] ^ 1 << rng.randrange(8)]) + data[i + 1 :]


class Maker:
    """Frames of one life. Each is valid or has one or two faults."""

    WRONG = ("mac", "address", "protocol", "ip sum", "sum", "fragment", "ip options", "version")
    WRONG += ("length", "cut", "runt", "long", "offset", "land", "port", "around", "any bit")
    WRONG += ("source",)

    def __init__(self, rng, own: Own) -> None:
        self.rng, self.own = rng, own

    def some(self) -> bytes:
        rng = self.rng
        wrong = set()
        while rng.random() < 0.3 and len(wrong) < 2:
            wrong.add(rng.choice(self.WRONG))
        made = rng.choices(
            [self.tcp, self.arp, self.echo, self.icmp6, self.other], [12, 1, 1, 2, 1]
        )
        return self.finished(made[0](wrong), wrong)

    def good(self) -> bytes:
        """Returns a small frame that is accepted with any own addresses."""
        return bytes(self.link(set(), "ff:ff:ff:ff:ff:ff") / ARP(op=1, pdst="10.0.0.1"))

    def link(self, wrong: set, to: str | None = None):
        rng = self.rng
        mac = self.own.mac ^ (1 << rng.randrange(48) if "mac" in wrong else 0)
        frame = Ether(dst=to or mac_text(mac), src=mac_text(rng.getrandbits(48)))
        for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 2, 3])):
            frame.lastlayer().type = rng.choice(TAGS)
            frame = frame / Dot1Q(vlan=rng.randrange(4096), prio=rng.randrange(8))
        return frame

    def net(self, wrong: set, v6: bool, dst: int | None = None):
        rng, own = self.rng, self.own
        if dst is None:
            dst = rng.choice([own.ip6, own.link]) if v6 else own.ip4
        if "address" in wrong:
            dst ^= 1 << rng.randrange(128 if v6 else 32)
        src = dst if "land" in wrong else rng.getrandbits(128 if v6 else 32)
        if "source" in wrong:
            low = rng.getrandbits(32)
            six = [low & 1, 0xFFFF << 32 | low, 0xFF << 120 | low]
            four = [low & 0xFFFFFF, 127 << 24 | low & 0xFFFFFF, 7 << 29 | low]
            src = rng.choice(six if v6 else four)
        tos = rng.getrandbits(8)
        if v6:
            ip = IPv6(src=ip6_text(src), dst=ip6_text(dst), tc=tos, fl=rng.getrandbits(20))
            if "version" in wrong:
                ip.version = rng.choice([0, 4, 7, 14])
            return ip
        ip = IP(src=ip_text(src), dst=ip_text(dst), tos=tos, id=rng.getrandbits(16))
        ip.flags = rng.choice([0, 2, 2, 4])
        if "version" in wrong:
            ip.version = rng.choice([0, 5, 6, 12])
        if "fragment" in wrong:
            ip.flags, ip.frag = rng.choice([(1, 0), (0, 1), (0, 0x1000), (1, 0x1FFF)])
        if "ip options" in wrong:
            ip = ip.copy()
            ip.ihl = rng.choice([4, 6, 15])
        return ip

    def tcp(self, wrong: set) -> bytes:
        rng = self.rng
        v6 = rng.random() < 0.5
        flags = rng.choice([0x10, 0x18, 0x02, 0x12, 0x11, 0x04, rng.getrandbits(8)])
        opts = some_options(rng, bool(flags & 2))
        size = rng.choice([0, rng.randrange(30), rng.randrange(1460), rng.randrange(1950)])
        tcp = TCP(sport=rng.randrange(1, 65536), dport=rng.randrange(1, 65536), flags=flags)
        tcp.seq, tcp.ack, tcp.window = (rng.getrandbits(n) for n in (32, 32, 16))
        tcp.urgptr, tcp.dataofs = rng.getrandbits(16), 5 + len(opts) // 4
        if "port" in wrong:
            setattr(tcp, rng.choice(["sport", "dport"]), 0)
        if "offset" in wrong:
            tcp.dataofs = rng.choice([0, 1, 4, 15])
            size = rng.choice([size, rng.randrange(20)])
        link, ip = self.link(wrong), self.net(wrong, v6)
        if "protocol" in wrong:
            setattr(ip, "nh" if v6 else "proto", rng.choice([17, 4, 41, 44, 0, 132, 1, 58]))
        before = len(link) + len(ip) + 20 + len(opts)
        size = min(size, BUFFER - before)
        if rng.random() < 0.05:
            size = BUFFER - before - rng.randrange(2)  # the size of a packet buffer
        frame = bytes(link / ip / tcp / Raw(opts + rng.randbytes(size)))
        at = len(link) + len(ip)
        if "sum" in wrong:
            frame = spoiled(rng, frame, at, len(frame))
        if "ip sum" in wrong and not v6:
            frame = spoiled(rng, frame, at - 12, at - 8)
        if "around" in wrong:
            frame = self.around(frame, len(link), v6)
        return frame

    def around(self, frame: bytes, l3: int, v6: bool) -> bytes:
        """Sets a length that wraps around 16 bits to before the IP header, with matching
        checksums."""
        rng, b = self.rng, bytearray(frame)
        stop = rng.randrange(11)
        length = 65536 + stop - l3 - (40 if v6 else 0)
        at = l3 + (4 if v6 else 2)
        b[at : at + 2] = length.to_bytes(2, "big")
        header = bytes(b[l3 : l3 + (40 if v6 else 20)])
        if not v6:
            b[l3 + 10 : l3 + 12] = bytes(2)
            b[l3 + 10 : l3 + 12] = checksum(bytes(b[l3 : l3 + 20])).to_bytes(2, "big")
            header = bytes(b[l3 : l3 + 20])
        size = length if v6 else length - 20
        addresses = header[8:40] if v6 else header[12:20]
        # The sum covers the bytes before stop: a word of the sender after it corrects the sum.
        b[10:12] = bytes(2)

        def words(data) -> int:
            data = bytes(data) + bytes(len(data) % 2)
            return sum(half(data, i) for i in range(0, len(data), 2))

        word = words(b[:stop]) + size + 6 + words(addresses) - words(b[:l3]) - words(header)
        b[10:12] = (word % 65535).to_bytes(2, "big")
        return bytes(b)

    def arp(self, wrong: set) -> bytes:
        to = self.rng.choice([None, None, "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"])
        return bytes(self.link(wrong, to) / ARP(op=self.rng.choice([1, 2]), pdst="10.0.0.1"))

    def echo(self, wrong: set) -> bytes:
        rng = self.rng
        icmp = bytes(ICMP(type=rng.choice([8, 8, 8, 0, 3]), id=rng.getrandbits(16)))
        icmp += rng.randbytes(rng.choice([0, 10, 56, rng.randrange(1900)]))
        if rng.random() < 0.2:  # shorter than its header
            icmp = icmp[: rng.randrange(8)]
        frame = bytes(self.link(wrong) / self.net(wrong, False) / Raw(icmp))
        frame = self.proto(frame, 1)
        return frame + b"\x08" * rng.randrange(30) if rng.random() < 0.3 else frame

    @staticmethod
    def proto(frame: bytes, number: int) -> bytes:
        ether = Ether(frame)
        ip = ether.getlayer(IP)
        if ip is None:
            return frame
        ip.proto, ip.chksum = number, None
        return bytes(ether)

    def icmp6(self, wrong: set) -> bytes:
        rng, own = self.rng, self.own
        group = 0xFF02 << 112 | 1 << 32 | 0xFF << 24 | own.ip6 & 0xFFFFFF
        dst = rng.choice([None, group, 0xFF02 << 112 | 1])
        ip = self.net(wrong, True, dst)
        data = rng.randbytes(rng.choice([0, 8, 56, rng.randrange(1900)]))
        target = ip6_text(own.ip6)
        message = rng.choice(
            [
                ICMPv6EchoRequest(id=rng.getrandbits(16), data=data),
                ICMPv6EchoReply(id=rng.getrandbits(16), data=data),
                ICMPv6ND_NS(tgt=target) / ICMPv6NDOptSrcLLAddr(lladdr="02:00:00:00:00:01"),
                ICMPv6ND_NA(tgt=target),
                ICMPv6Unknown(type=rng.choice([128, 135, 136]), msgbody=rng.randbytes(4)),
            ]
        )
        to = None
        if dst and rng.random() < 0.8:
            to = "33:33:" + (dst & 0xFFFFFFFF).to_bytes(4, "big").hex(":")
        link = self.link(wrong, to)
        frame = bytes(link / ip / message)
        if "sum" in wrong:
            frame = spoiled(rng, frame, len(link) + 40, len(frame))
        return frame

    def other(self, wrong: set) -> bytes:
        rng = self.rng
        link = self.link(wrong)
        if rng.random() < 0.5:
            return bytes(link / self.net(wrong, rng.random() < 0.5) / UDP(dport=53) / Raw(b"what"))
        link.lastlayer().type = rng.choice([0x88CC, 0x0801, 0x8035, 0x22F0, 1500])
        return bytes(link / Raw(rng.randbytes(rng.randrange(1500))))

    def finished(self, frame: bytes, wrong: set) -> bytes:
        rng = self.rng
        if "any bit" in wrong:
            frame = spoiled(rng, frame, 0, min(len(frame), 120))
        if "length" in wrong:  # of IPv4 or IPv6 in untagged frames
            at = rng.choice([16, 18])
            frame = (
                frame[:at]
                + rng.choice([0, 19, 40, rng.getrandbits(16)]).to_bytes(2, "big")
                + frame[at + 2 :]
            )
        if "cut" in wrong and len(frame) > 61:
            return frame[: rng.randrange(60, len(frame))]
        if "runt" in wrong:
            return frame[: rng.randrange(1, 60)]
        if "long" in wrong:
            return frame + rng.randbytes(
                rng.choice([1, 64, 700, 2200]) + max(0, BUFFER - len(frame))
            )
        if rng.random() < 0.3:
            most = BUFFER - len(frame)
            frame += rng.randbytes(min(rng.choice([1, 2, 20, 80, most]), most))
        return frame.ljust(60, rng.choice([b"\0", b"\xff", b"\x08"]))
