# SPDX-License-Identifier: Apache-2.0
"""Parses tokens to a script by the grammar of packetdrill's parser.y, by recursive descent."""

from __future__ import annotations

from tests.packetdrill import lexer
from tests.packetdrill.errors import NotSupported, ScriptError
from tests.packetdrill.parse_packet import PacketParser
from tests.packetdrill.script import (
    ABSOLUTE,
    ABSOLUTE_RANGE,
    ANY,
    ELLIPSIS,
    RELATIVE,
    RELATIVE_RANGE,
    Address,
    Binary,
    Call,
    Code,
    Command,
    Event,
    IoVec,
    PacketSpec,
    Script,
    SockAddr,
    Struct,
    Word,
)


class Parser(PacketParser):
    def __init__(self, text: str, path: str, defines: dict[str, str] | None = None) -> None:
        super().__init__(lexer.tokens(text, path), path, defines)

    # ---- the whole ----

    def script(self) -> Script:
        s = Script(self.path)
        while self.peek() == "OPTION":
            s.options.append(self.option())
        for name, value in s.options:
            if name == "define" and value:
                symbol, _, what = value.partition("=")
                self.defines[symbol] = what
        if self.peek() == "BACKQUOTED":
            s.init_line = self.line()
            s.init = Command(str(self.next().value))
        while self.peek() is not None:
            if self.peek() == "BACKQUOTED":
                s.cleanup_line = self.line()
                s.cleanup = Command(str(self.next().value))
                if self.peek() is not None:
                    self.fail("nothing follows the clean-up command")
                break
            s.events.append(self.event())
        if not s.events:
            raise ScriptError(f"{self.path}: parse error: there is no event")
        return s

    def option(self) -> tuple[str, str | None]:
        name = str(self.next().value)
        if self.peek() != "=":
            return name, None
        self.next()
        t = self.next()
        if t.kind not in ("INTEGER", "WORD", "STRING", "IPV4", "IPV6", "FLOAT"):
            self.fail("an option's value", t)
        value = str(t.value) if t.kind == "STRING" else t.text
        while self.peek() in ("=", ",", "-", "/") and self.line() == t.line:
            value += self.next().text
            if self.peek() not in ("OPTION", "BACKQUOTED", None) and self.line() == t.line:
                value += self.next().text
        return name, value

    # ---- events ----

    def event(self) -> Event:
        kind, start, end, line = self.event_time()
        action: PacketSpec | Call | Command | Code
        match self.peek():
            case "<" | ">":
                action = self.packet()
            case "CODE":
                action = Code(str(self.next().value))
            case "BACKQUOTED":
                action = Command(str(self.next().value))
            case "WORD" | "...":
                action = self.call()
            case _:
                self.fail("a packet, a call, `a command` or %{ code }%")
        outbound = isinstance(action, PacketSpec) and action.outbound
        if kind in (ANY, ABSOLUTE_RANGE, RELATIVE_RANGE) and not outbound:
            what = "*" if kind == ANY else "a time range"
            raise ScriptError(
                f"{self.path}:{line}: semantic error: {what} can only be used with outbound packets"
            )
        return Event(line, kind, start, end, action)

    def event_time(self) -> tuple[int, int, int, int]:
        line = self.line()
        if self.take("*"):
            return ANY, 0, 0, line
        relative = self.take("+")
        start = self.time()
        if not self.take("~"):
            return (RELATIVE if relative else ABSOLUTE), start, start, line
        if relative:
            self.want("+")
        end = self.time()
        if end < start:
            raise ScriptError(f"{self.path}:{line}: semantic error: time range is backwards")
        return (RELATIVE_RANGE if relative else ABSOLUTE_RANGE), start, end, line

    def time(self) -> int:
        t = self.next()
        if t.kind not in ("FLOAT", "INTEGER"):
            self.fail("a time", t)
        if t.text.startswith("-"):
            self.fail("a time that is not negative", t)
        return round(float(t.text) * 1e6)

    # ---- calls ----

    def call(self) -> Call:
        end = self.time() if self.take("...") else None
        name = self.want("WORD").text
        self.want("(")
        args = [] if self.peek() == ")" else self.expressions(")")
        self.want(")")
        self.want("=")
        result = self.expression()
        error = None
        if self.peek() == "WORD":
            error = self.next().text
        if self.peek() == "(":
            self.note()
        return Call(name, args, result, error, end)

    def note(self) -> None:
        depth = 0
        while True:
            t = self.next()
            depth += (t.kind == "(") - (t.kind == ")")
            if depth == 0:
                return

    def expressions(self, end: str) -> list[object]:
        out = [self.expression()]
        while self.take(","):
            if self.peek() == end:
                break
            out.append(self.expression())
        return out

    def expression(self) -> object:
        left = self.term()
        while self.peek() in ("|", "="):
            if self.peek() == "=" and not isinstance(left, Word):
                break
            op = self.next().kind
            right = self.expression()
            left = Binary(op, left, right)
        return left

    def term(self) -> object:
        t = self.next()
        match t.kind:
            case "...":
                return ELLIPSIS
            case "INTEGER" | "HEX":
                return t.value
            case "STRING":
                self.take("...")
                return t.value
            case "[":
                items = [] if self.peek() == "]" else self.expressions("]")
                self.want("]")
                return items
            case "{":
                return self.braces()
            case "WORD" if t.text in ("inet_addr", "inet6_addr", "htons", "htonl"):
                return self.function(t.text)
            case "WORD":
                return self.word(t)
        return self.fail("an expression", t)

    def word(self, t: lexer.Token) -> object:
        value = self.defines.get(t.text)
        if value is None:
            return Word(t.text)
        if value.startswith('"'):
            return value[1:-1]
        try:
            return int(value, 0)
        except ValueError:
            return Word(value)

    def function(self, name: str) -> object:
        self.want("(")
        t = self.next()
        self.want(")")
        if name.startswith("inet"):
            return Address(str(t.value))
        return int(str(t.value))

    # ---- structures ----

    def braces(self) -> object:
        if self.take("..."):  # an element of an iovec
            self.want(",")
            length = self.expression()
            self.want("}")
            return IoVec(length)
        if self.peek() == "(":
            raise NotSupported(f"{self.path}:{self.line()}: MPLS label stacks are not supported")
        if self.peek() != "WORD" or self.peek(1) not in ("=", "("):
            items = self.expressions("}")
            self.want("}")
            return items
        members: dict[str, object] = {}
        while True:
            name, value = self.member()
            members[name] = value
            if not self.take(","):
                break
            if self.peek() == "}":
                break
        self.want("}")
        return self.known(members)

    def member(self) -> tuple[str, object]:
        name = self.want("WORD").text
        if self.take("("):  # msg_iov(2)=, msg_name(...)=
            count = self.expression()
            self.want(")")
            self.want("=")
            value = self.expression()
            return name, (count, value) if name == "msg_iov" else value
        self.want("=")
        if name == "fd" and self.peek() == "INTEGER":
            return name, self.next().value
        return name, self.expression_no_assign()

    def expression_no_assign(self) -> object:
        left = self.term()
        while self.take("|"):
            left = Binary("|", left, self.term())
        return left

    def known(self, members: dict[str, object]) -> object:
        if "sa_family" in members:
            family, port = members["sa_family"], members.get("sin_port", 0)
            at = members.get("sin_addr")
            if not isinstance(family, Word) or not isinstance(at, Address):
                self.fail("{sa_family = ..., sin_port = htons(...), sin_addr = inet_addr(...)}")
            return SockAddr(family.name, int(port), at.text)
        return Struct(members)


def parse(text: str, path: str, defines: dict[str, str] | None = None) -> Script:
    return Parser(text, path, defines).script()
