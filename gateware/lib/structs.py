# SPDX-License-Identifier: Apache-2.0
"""Packed structs of the design for its tests. They are read from the packages themselves, so the
tests follow when a field is added or moved.

    toe = Structs("src/toe/rtl/toe_pkg.sv")
    toe.pack("flags_t", {"ack": 1})      # the other fields are 0
    toe.unpack("seg_t", bits)["flags"]["ack"]

Enum values are numbers (toe.names["EvOpen"]), arrays are lists with index 0 first. Arrays of arrays
are one array of all elements."""

import math
import re

from .tools import GATEWARE

COMMENT = re.compile(r"//[^\n]*")
ITEM = re.compile(
    r"localparam\s+int\s+unsigned\s+(?P<constant>\w+)\s*=\s*(?P<value>[^;]+);"
    r"|typedef\s+struct\s+packed\s*\{(?P<members>[^}]*)\}\s*(?P<struct>\w+)\s*;"
    r"|typedef\s+enum\s+logic\s*(?:\[(?P<high>[^\]]+):0\])?\s*\{(?P<items>[^}]*)\}\s*(?P<enum>\w+)\s*;"
    r"|typedef\s+(?P<base>\w+)\s*(?:\[(?P<range>[^\]]+):0\])?\s*(?P<alias>\w+)\s*;"
)
MEMBER = re.compile(r"(\w+)\s*((?:\[[^\]]+:0\])*)\s+([\w\s,]+)$")
RANGE = re.compile(r"\[([^\]]+):0\]")


class Structs:
    def __init__(self, *files: str) -> None:
        """files: packages relative to gateware/, each after those that it imports."""
        self.names: dict[str, int] = {}  # of enums
        self.constants: dict[str, int] = {}
        self.widths: dict[str, int] = {"logic": 1}
        self.members: dict[str, list[tuple[str, str, int | None]]] = {}  # name, type, elements
        self.aliases: dict[str, tuple[str, int]] = {}  # of arrays: type, elements
        for file in files:
            self.read((GATEWARE / file).read_text())

    def number(self, text: str) -> int:
        text = re.sub(r"\$bits\((\w+)\)", lambda m: str(self.widths[m[1]]), text)
        text = re.sub(r"[A-Za-z]\w*", lambda m: str(self.constants[m[0]]), text)
        if not re.fullmatch(r"[\d\s+*-]+", text):
            raise KeyError(text)
        return eval(text)  # only digits and operators

    def read(self, text: str) -> None:
        for item in ITEM.finditer(COMMENT.sub("", text)):
            if name := item["constant"]:
                try:
                    self.constants[name] = self.number(item["value"])
                except KeyError:
                    continue  # not used in widths
            elif name := item["struct"]:
                self.members[name] = self.struct(item["members"])
                self.widths[name] = sum(self.wide(t, n) for _, t, n in self.members[name])
            elif name := item["enum"]:
                self.widths[name] = self.number(item["high"] or "0") + 1
                self.values(item["items"])
            else:
                count = self.number(item["range"] or "0") + 1
                self.widths[item["alias"]] = self.widths[item["base"]] * count
                if item["base"] in self.members:
                    self.aliases[item["alias"]] = (item["base"], count)

    def struct(self, text: str) -> list[tuple[str, str, int | None]]:
        found = []
        for part in filter(None, (p.strip() for p in text.split(";"))):
            kind, ranges, names = MEMBER.fullmatch(part).groups()
            sizes = [self.number(high) + 1 for high in RANGE.findall(ranges)]
            count = math.prod(sizes) if sizes else None
            found += [(name.strip(), kind, count) for name in names.split(",")]
        return found

    def values(self, text: str) -> None:
        following = 0
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, _, value = (p.strip() for p in part.partition("="))
            if value:
                _, base, digits = value.rpartition("'")
                following = (
                    int(digits[1:], {"b": 2, "h": 16}.get(digits[0], 10)) if base else int(value)
                )
            self.names[name] = following
            following += 1

    def wide(self, kind: str, count: int | None) -> int:
        return self.widths[kind] * (count or 1)

    def pack(self, name: str, value) -> int:
        """Packs a dict of a struct's fields, a list of an array's elements, or bits."""
        if isinstance(value, dict):
            members = self.members[name]
            if unknown := set(value) - {member for member, _, _ in members}:
                raise KeyError(f"{name} has no {', '.join(sorted(unknown))}")
            whole = 0
            for member, kind, count in members:
                one = value.get(member, 0)
                bits = self.elements(kind, one) if isinstance(one, list) and count else None
                bits = self.pack(kind, one) if bits is None and not count else bits
                bits = one if bits is None else bits
                assert 0 <= bits < 1 << self.wide(kind, count), (name, member, one)
                whole = whole << self.wide(kind, count) | bits
            return whole
        if isinstance(value, list):
            return self.elements(self.aliases[name][0], value)
        return int(value)

    def elements(self, kind: str, values: list) -> int:
        width = self.widths[kind]
        return sum(self.pack(kind, value) << width * i for i, value in enumerate(values))

    def unpack(self, name: str, bits: int):
        """Unpacks a struct into a dict, recursively; other types into numbers."""
        if name in self.aliases:
            kind, count = self.aliases[name]
            return self.split(kind, count, bits)
        if name not in self.members:
            return bits
        found = {}
        for member, kind, count in reversed(self.members[name]):
            width = self.wide(kind, count)
            part = bits & (1 << width) - 1
            bits >>= width
            split = count and kind in self.members
            found[member] = self.split(kind, count, part) if split else self.unpack(kind, part)
        return dict(reversed(found.items()))

    def split(self, kind: str, count: int, bits: int) -> list:
        width = self.widths[kind]
        mask = (1 << width) - 1
        return [self.unpack(kind, bits >> width * i & mask) for i in range(count)]
