# SPDX-License-Identifier: Apache-2.0
"""Packets for the tests, built with scapy."""

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

A, B = "10.0.0.1", "10.0.0.2"
A6, B6 = "fd00::1", "fd00::2"


def ether(vlans: int = 0):
    head = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    if vlans == 2:
        return head / Dot1AD(vlan=7) / Dot1Q(vlan=5)
    return head / Dot1Q(vlan=5) if vlans else head


def ip(six: bool = False, back: bool = False, options: int = 0):
    """options: words of IPv4 options."""
    a, b = (A6, B6) if six else (A, B)
    if back:
        a, b = b, a
    if six:
        return IPv6(src=a, dst=b)
    return IP(src=a, dst=b, options=[b"\x01" * 4 * options] if options else [])


def frame(packet) -> bytes:
    """Returns the frame as on the wire, without FCS: at least 60 bytes."""
    return bytes(packet).ljust(60, b"\0")


def udp(payload: bytes, sport=5000, dport=7, six=False, back=False, vlans=0, options=0) -> bytes:
    if back:
        sport, dport = dport, sport
    return frame(
        ether(vlans) / ip(six, back, options) / UDP(sport=sport, dport=dport) / Raw(payload)
    )


def echo(ident: int, seq: int, six=False, back=False, vlans=0, payload=b"x" * 8) -> bytes:
    if six:
        kind = ICMPv6EchoReply if back else ICMPv6EchoRequest
        return frame(ether(vlans) / ip(True, back) / kind(id=ident, seq=seq, data=payload))
    kind = 0 if back else 8
    return frame(ether(vlans) / ip(False, back) / ICMP(type=kind, id=ident, seq=seq) / Raw(payload))


def tcp(
    flags: str, seq: int, ack: int, size=0, back=False, six=False, vlans=0, port=40000
) -> bytes:
    sport, dport = (80, port) if back else (port, 80)
    segment = TCP(
        sport=sport, dport=dport, flags=flags, seq=seq & 0xFFFFFFFF, ack=ack & 0xFFFFFFFF,
        options=[("NOP", None), ("NOP", None), ("Timestamp", (1, 2))],
    )  # fmt: skip
    return frame(ether(vlans) / ip(six, back) / segment / Raw(b"d" * size))
