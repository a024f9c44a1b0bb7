# SPDX-License-Identifier: Apache-2.0
"""Splits text into tokens by the rules of packetdrill's lexer.l: the longest match wins."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from tests.packetdrill.errors import ScriptError


@dataclass(frozen=True)
class Token:
    kind: str  # a name below, or the character itself
    text: str
    value: object
    line: int


# A later rule wins only by a longer match.
RULES = [
    ("...", r"\.\.\."),
    ("OPTION", r"--[a-zA-Z0-9_]+"),
    ("FLOAT", r"-?[0-9]*\.[0-9]+"),
    ("INTEGER", r"-?[0-9]+"),
    ("HEX", r"0x[0-9a-fA-F]+"),
    ("WORD", r"[a-zA-Z_0-9]+"),
    ("STRING", r'"(?:\\.|[^"\\])*"'),
    ("BACKQUOTED", r"`(?:\\.|[^`\\])*`"),
    ("CODE", r"%\{.*?\}%"),
    ("IPV4", r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+"),
]
PATTERNS = [(kind, re.compile(rule, re.DOTALL)) for kind, rule in RULES]
SKIP = re.compile(r"[ \t\r\n]+|//[^\n]*|/\*.*?\*/|\#[^\n]*", re.DOTALL)
IPV6 = re.compile(r"[0-9a-fA-F:]*::?[0-9a-fA-F:.]*")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", '"': '"', "`": "`"}


def unescape(text: str) -> str:
    def one(m: re.Match[str]) -> str:
        if m[1].startswith("x"):
            return chr(int(m[1][1:], 16))
        return ESCAPES.get(m[1], m[1])

    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)", one, text, flags=re.DOTALL)


def value_of(kind: str, text: str) -> object:
    match kind:
        case "FLOAT":
            return float(text)
        case "INTEGER":
            return int(text)
        case "HEX":
            return int(text, 16)
        case "STRING":
            return unescape(text[1:-1])
        case "BACKQUOTED":
            return text[1:-1]
        case "CODE":
            return text[2:-2].strip(" \t")
        case "OPTION":
            return text[2:]
    return text


def ipv6(text: str, at: int) -> str | None:
    """Returns the longest IPv6 address here. It needs "::" or seven colons: 1:1001 is a range."""
    m = IPV6.match(text, at)
    while m and (found := m[0]):
        for end in range(len(found), 1, -1):
            word = found[:end]
            if "::" not in word and word.count(":") != 7:
                continue
            try:
                ipaddress.IPv6Address(word)
            except ValueError:
                continue
            return word
        return None
    return None


def tokens(text: str, name: str) -> list[Token]:
    out: list[Token] = []
    at, line = 0, 1
    if text.startswith("#!"):
        at = text.index("\n") if "\n" in text else len(text)
    while at < len(text):
        if skip := SKIP.match(text, at):
            line += skip[0].count("\n")
            at = skip.end()
            continue
        kind, found = text[at], text[at]
        for candidate, pattern in PATTERNS:
            m = pattern.match(text, at)
            if m and (len(m[0]) > len(found) or (kind == found and len(m[0]) == 1)):
                kind, found = candidate, m[0]
        if (address := ipv6(text, at)) and len(address) > len(found):
            kind, found = "IPV6", address
        if kind in ('"', "`") or (kind == "%" and text.startswith("%{", at)):
            raise ScriptError(f"{name}:{line}: parse error: {found} is never closed")
        out.append(Token(kind, found, value_of(kind, found), line))
        line += found.count("\n")
        at += len(found)
    return out
