# SPDX-License-Identifier: Apache-2.0
"""Frames made byte by byte, sent and received on the peer's interface: what Linux never sends.

A Ghost is a host beside the Linux peer, with an address of its own. It answers ARP, and no kernel
resets its connections.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from dataclasses import dataclass

from tests.lab import lab as labs
from tests.lab import proc

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(source: str, target: str, protocol: int, payload: bytes, ident: int = 1) -> bytes:
    addresses = socket.inet_aton(source) + socket.inet_aton(target)
    length = 20 + len(payload)
    header = struct.pack("!BBHHHBBH", 0x45, 0, length, ident, 0, 64, protocol, 0) + addresses
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + payload


@dataclass
class Segment:
    sport: int
    dport: int
    seq: int
    ack: int
    flags: int
    window: int
    options: bytes
    data: bytes

    def option(self, kind: int) -> bytes | None:
        """The value of a TCP option."""
        at = 0
        while at < len(self.options) and self.options[at] != 0:
            if self.options[at] == 1:
                at += 1
                continue
            length = self.options[at + 1]
            if self.options[at] == kind:
                return self.options[at + 2 : at + length]
            at += length
        return None


class Ghost:
    def __init__(self, lab: labs.Lab, ip: str = "10.77.0.50", mac: str = "02:00:00:00:00:50"):
        self.ip, self.target = ip, lab.ip
        self.mac = bytes.fromhex(mac.replace(":", ""))
        self._target_mac: bytes | None = None
        self._arrived: list[bytes] = []
        self._news = threading.Condition()
        with lab.client.entered():
            self._s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._s.bind((lab.pair.client_if, 3))
        self._s.settimeout(0.1)
        self._end = False
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()

    def __enter__(self) -> Ghost:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._end = True
        self._thread.join()
        self._s.close()

    def _receive(self) -> None:
        while not self._end:
            with contextlib.suppress(TimeoutError):
                frame, (_, _, kind, *_) = self._s.recvfrom(65536)
                if kind != socket.PACKET_OUTGOING:
                    self._take(frame)

    def _take(self, frame: bytes) -> None:
        mine = socket.inet_aton(self.ip)
        if frame[12:14] == b"\x08\x06" and frame[38:42] == mine:
            if frame[20:22] == b"\x00\x01":
                self._send_arp(2, frame[22:28], frame[28:32])
            self._target_mac = frame[22:28]
        elif frame[12:14] == b"\x08\x00" and frame[30:34] == mine:
            with self._news:
                self._arrived.append(frame[14 : 14 + int.from_bytes(frame[16:18], "big")])
                self._news.notify_all()

    def _send_arp(self, operation: int, mac: bytes, ip: bytes) -> None:
        to = mac if operation == 2 else b"\xff" * 6
        body = struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation)
        body += self.mac + socket.inet_aton(self.ip) + mac + ip
        self.send_frame(to + self.mac + b"\x08\x06" + body)

    def find_target(self) -> bytes:
        """Resolves the target's Ethernet address by ARP."""

        def known() -> bytes | None:
            if not self._target_mac:
                self._send_arp(1, bytes(6), socket.inet_aton(self.target))
                time.sleep(0.02)
            return self._target_mac

        return proc.wait_until(known, f"an ARP answer of {self.target}")

    def send_frame(self, frame: bytes) -> None:
        self._s.send(frame.ljust(60, b"\0"))

    def send_ip(self, packet: bytes) -> None:
        self.send_frame((self._target_mac or self.find_target()) + self.mac + b"\x08\x00" + packet)

    def send_tcp(
        self,
        sport: int,
        dport: int,
        flags: int,
        *,
        seq: int = 0,
        ack: int = 0,
        options: bytes = b"",
        data: bytes = b"",
        source: str | None = None,
    ) -> None:
        source = source or self.ip
        offset = (20 + len(options)) // 4 << 4
        head = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, offset, flags, 65535, 0, 0)
        segment = head + options + data
        pseudo = socket.inet_aton(source) + socket.inet_aton(self.target)
        value = checksum(pseudo + struct.pack("!HH", 6, len(segment)) + segment)
        segment = segment[:16] + struct.pack("!H", value) + segment[18:]
        self.send_ip(ipv4(source, self.target, 6, segment))

    def packet(self, wanted, what: str, timeout: float = 10) -> bytes:
        """The next IP packet to this host that `wanted` accepts; skips others."""
        end = time.monotonic() + timeout
        with self._news:
            while True:
                while self._arrived:
                    packet = self._arrived.pop(0)
                    if wanted(packet):
                        return packet
                if not self._news.wait(end - time.monotonic()):
                    raise proc.Failed(f"{what}: not within {timeout} s")

    def segment(self, dport: int, what: str, wanted=lambda s: True) -> Segment:
        """The next TCP segment to a port of this host that `wanted` accepts."""
        packet = self.packet(
            lambda p: p[9] == 6 and parse(p).dport == dport and wanted(parse(p)), what
        )
        return parse(packet)


def parse(packet: bytes) -> Segment:
    tcp = packet[20:]
    sport, dport, seq, ack, offset, flags, window = struct.unpack("!HHIIBBH", tcp[:16])
    size = offset >> 4 << 2
    return Segment(sport, dport, seq, ack, flags, window, tcp[20:size], tcp[size:])
