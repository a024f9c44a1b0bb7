# SPDX-License-Identifier: Apache-2.0
"""The part of the grammar that describes packets."""

from __future__ import annotations

from typing import NoReturn

from tests.packetdrill.cookie import KEYS
from tests.packetdrill.errors import NotSupported, ScriptError
from tests.packetdrill.lexer import Token
from tests.packetdrill.script import IpInfo, PacketSpec, TcpOption

ECN = ("noecn", "ect0", "ect1", "ect01", "ce")
TCP_FLAGS = ".FSRPEWAU01234567"


class PacketParser:
    def __init__(
        self, found: list[Token], path: str, defines: dict[str, str] | None = None
    ) -> None:
        self.tokens = found
        self.path = path
        self.defines = dict(defines or {})
        self.at = 0

    # ---- tokens ----

    def peek(self, ahead: int = 0) -> str | None:
        i = self.at + ahead
        return self.tokens[i].kind if i < len(self.tokens) else None

    def text(self, ahead: int = 0) -> str:
        i = self.at + ahead
        return self.tokens[i].text if i < len(self.tokens) else ""

    def line(self) -> int:
        i = min(self.at, len(self.tokens) - 1)
        return self.tokens[i].line if self.tokens else 1

    def next(self) -> Token:
        if self.at >= len(self.tokens):
            raise ScriptError(f"{self.path}:{self.line()}: parse error: the script ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, kind: str) -> bool:
        if self.peek() != kind:
            return False
        self.at += 1
        return True

    def word_is(self, text: str) -> bool:
        return self.peek() == "WORD" and self.text() == text

    def take_word(self, text: str) -> bool:
        if not self.word_is(text):
            return False
        self.at += 1
        return True

    def want(self, kind: str) -> Token:
        t = self.next()
        if t.kind != kind:
            self.fail(f"'{kind}'", t)
        return t

    def fail(self, wanted: str, t: Token | None = None) -> NoReturn:
        text = t.text if t else self.text() or "the end"
        line = t.line if t else self.line()
        raise ScriptError(f"{self.path}:{line}: parse error at '{text}': expected {wanted}")

    def semantic(self, message: str) -> NoReturn:
        raise ScriptError(f"{self.path}:{self.line()}: semantic error: {message}")

    def integer(self, low: int, high: int, what: str) -> int:
        t = self.next()
        if t.kind not in ("INTEGER", "HEX"):
            self.fail(what, t)
        value = int(str(t.value))
        if not low <= value <= high:
            raise ScriptError(f"{self.path}:{t.line}: semantic error: {what} out of range: {value}")
        return value

    # ---- packets ----

    def packet(self) -> PacketSpec:
        p = PacketSpec(self.next().kind == ">", "tcp")
        if self.peek() == "WORD" and self.text() in ("ipv4", "ipv6", "gre", "GREv0", "mpls"):
            raise NotSupported(
                f"{self.path}:{self.line()}: encapsulated packets ({self.text()}) are not supported"
            )
        if self.peek() in ("[", "("):
            p.ip = self.ip_info()
        if self.peek() == "INTEGER" and self.peek(1) == ">":
            p.ports = self.ports()
        if self.take_word("udp"):
            self.udp(p)
        elif self.take_word("icmp"):
            self.icmp(p)
        else:
            self.tcp(p)
        if p.ip.ecn == "ect01" and not p.outbound:
            self.semantic("[ect01] can only be used with outbound packets")
        return p

    def ports(self) -> tuple[int, int]:
        source = self.integer(0, 0xFFFF, "src port")
        self.want(">")
        return source, self.integer(0, 0xFFFF, "dst port")

    def ip_info(self) -> IpInfo:
        close = "]" if self.next().kind == "[" else ")"
        info = IpInfo()
        while True:
            t = self.want("WORD")
            if t.text in ECN:
                info.ecn = t.text
            elif t.text == "tos":
                info.tos = self.integer(0, 255, "tos")
            elif t.text == "flowlabel":
                info.flow_label = self.integer(0, 0xFFFFF, "flowlabel")
            elif t.text in ("ttl", "hlim"):
                info.ttl = self.integer(0, 255, "ttl")
            else:
                self.fail("an ECN code point, tos, ttl or flowlabel", t)
            if not self.take(","):
                break
        self.want(close)
        return info

    def udp(self, p: PacketSpec) -> None:
        p.protocol = "udp"
        if self.peek() == "INTEGER":
            p.ports = self.ports()
        self.want("(")
        p.length = self.integer(0, 0xFFFF, "UDP payload size")
        self.want(")")

    def icmp(self, p: PacketSpec) -> None:
        p.protocol = "icmp"
        p.icmp_type = self.want("WORD").text
        if self.peek() == "WORD" and self.text() not in ("mtu", "id"):
            p.icmp_code = self.next().text
        if self.take_word("mtu"):
            p.mtu = self.integer(0, 0xFFFFFFFF, "mtu")
        if self.take_word("id"):
            p.echo_id = self.integer(0, 0xFFFF, "id")
        if not self.take("["):
            return
        if self.peek() == "WORD":
            protocol = self.next().text
            if protocol not in ("udp", "raw"):
                self.fail("udp(...), raw(...) or sequence numbers")
            self.want("(")
            p.echoed = (protocol, 0, self.integer(0, 0xFFFF, "payload size"))
            self.want(")")
        else:
            seq, length = self.sequence()
            p.echoed = ("tcp", seq, length)
        self.want("]")

    # ---- TCP ----

    def tcp(self, p: PacketSpec) -> None:
        p.flags = self.flags()
        p.seq, p.length = self.sequence()
        if self.take_word("ack"):
            p.ack = self.integer(0, 0xFFFFFFFF, "TCP ack sequence number")
        if self.take_word("win"):
            p.window = self.integer(0, 0xFFFF, "TCP window value")
        if self.take_word("urg"):
            p.urgent = self.integer(0, 0xFFFF, "urg_ptr value")
        # the time of the next event is unambiguous: it does not begin with "<"
        if self.peek() == "<":
            self.next()
            p.options = self.options()
        if not p.outbound:
            if p.options is None:
                self.semantic("<...> for TCP options can only be used with outbound packets")
            if p.window is None:
                self.semantic("window must be specified for inbound packets")

    def flags(self) -> str:
        text = ""
        if self.take("-"):
            return ""
        while self.peek() in ("WORD", ".", "FLOAT", "INTEGER") and self.peek(1) != ":":
            text += self.next().text
        if not text:
            self.fail("TCP flags")
        for c in text:
            if c not in TCP_FLAGS:
                self.semantic(f"Invalid TCP flag: '{c}'")
        if any(c in "EWA" for c in text) and any(c in "01234567" for c in text):
            self.semantic("an ACE count and single ECN flags exclude each other")
        return text

    def sequence(self) -> tuple[int, int]:
        start = self.integer(0, 0xFFFFFFFF, "TCP start sequence number")
        self.want(":")
        end = self.integer(0, 0xFFFFFFFF, "TCP end sequence number")
        self.want("(")
        length = self.integer(0, 0xFFFF, "TCP payload size")
        self.want(")")
        if end != (start + length) & 0xFFFFFFFF:
            self.semantic("inconsistent TCP sequence numbers and payload size")
        return start, length

    def options(self) -> list[TcpOption] | None:
        if self.take("..."):
            self.want(">")
            return None
        out = [self.tcp_option()]
        while self.take(","):
            out.append(self.tcp_option())
        self.want(">")
        return out

    def cookie(self) -> bytes | str:
        """Parses hex digits, or a name of cookie.py, which the addresses of a run give a value."""
        if self.text() in KEYS and self.text() not in self.defines:
            return self.next().text
        return self.blob()

    def blob(self) -> bytes:
        """Parses hex digits, or a symbol of -D; joins the tokens into which digits were split."""
        text = ""
        if (symbol := self.defines.get(self.text())) is not None:
            self.next()
            text = symbol.strip('"').removeprefix("0x")
        while self.peek() in ("WORD", "INTEGER", "HEX"):
            text += self.next().text
        if len(text) % 2:
            self.semantic(f"an odd number of hex digits: {text}")
        try:
            return bytes.fromhex(text)
        except ValueError:
            self.semantic(f"'{text}' is not a valid hex string")

    def tcp_option(self) -> TcpOption:
        t = self.want("WORD")
        match t.text:
            case "nop" | "eol" | "sackOK":
                return TcpOption(t.text)
            case "mss":
                return TcpOption("mss", self.integer(0, 0xFFFF, "mss value"))
            case "wscale":
                if self.take("*"):
                    return TcpOption("wscale", None)
                return TcpOption("wscale", self.integer(0, 255, "window scale shift count"))
            case "sack":
                return TcpOption("sack", self.sack_blocks())
            case "TS":
                if not self.take_word("val"):
                    self.fail("val")
                val = self.integer(0, 0xFFFFFFFF, "ts val")
                if not self.take_word("ecr"):
                    self.fail("ecr")
                return TcpOption("TS", (val, self.integer(0, 0xFFFFFFFF, "ecr val")))
            case "FO" | "FOEXP":
                return TcpOption(t.text, self.cookie())
            case "md5":
                return TcpOption(t.text, self.blob())
            case "exp":  # beyond packetdrill: kind 253, any content
                return TcpOption("exp", self.blob())
            case "kind":  # beyond packetdrill: any other option, kind and data
                kind = self.integer(0, 255, "option kind")
                return TcpOption("kind", (kind, self.blob()))
        return self.fail("a TCP option", t)

    def sack_blocks(self) -> list[tuple[int, int]]:
        blocks = []
        while self.peek() == "INTEGER":
            left = self.integer(0, 0xFFFFFFFF, "SACK left sequence number")
            self.want(":")
            blocks.append((left, self.integer(0, 0xFFFFFFFF, "SACK right sequence number")))
        if not blocks:
            self.fail("a SACK block")
        return blocks
