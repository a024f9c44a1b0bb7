# SPDX-License-Identifier: Apache-2.0
"""Packed types of SystemVerilog packages: how wide they are, and which field a bit belongs to. A
netlist has a port as bits; a path that ends in bit 3111 says nothing, one that ends in t.snd_nxt
says where to look. Reads what the packages here use: struct packed, enum logic, logic, packed
arrays of these."""

import re
from dataclasses import dataclass, field

NUMBER = re.compile(r"(?:\d+)?'(?:s?d)?(\d+)")


@dataclass
class Types:
    """What packages declare."""

    widths: dict[str, int] = field(default_factory=dict)
    # Of each field its name, its width, its type.
    structs: dict[str, list[tuple[str, int, str]]] = field(default_factory=dict)
    arrays: dict[str, tuple[str, int]] = field(default_factory=dict)  # element, how many
    numbers: dict[str, int] = field(default_factory=dict)

    def value(self, text: str) -> int:
        """Of a constant expression."""
        text = re.sub(r"\$bits\((\w+)\)", lambda m: str(self.widths[m[1]]), text)
        text = re.sub(r"\w+'\(", "(", NUMBER.sub(r"\1", text))
        text = re.sub(r"[A-Za-z_]\w*", lambda m: str(self.numbers[m[0]]), text)
        if not re.fullmatch(r"[\d\s()*+/-]+", text):
            raise ValueError(f"not a constant: {text}")
        return int(eval(text.replace("/", "//")))  # digits and operators alone

    def dimensions(self, text: str) -> int:
        """[3:0][7:0] are 32."""
        whole = 1
        for high, low in re.findall(r"\[([^:\]]+):([^\]]+)\]", text):
            whole *= self.value(high) - self.value(low) + 1
        return whole

    def width(self, kind: str, dimensions: str) -> int:
        return self.widths[kind] * self.dimensions(dimensions)

    def read(self, text: str) -> None:
        """A package, without comments; what it uses was read before."""
        declared = re.compile(
            r"(?P<number>localparam\s+[\w\[\]:\s]+?\s+(?P<n>\w+)\s*=\s*(?P<v>[^;]+);)"
            r"|typedef\s+(?P<struct>struct packed)\s*\{(?P<body>[^}]*)\}\s*(?P<s>\w+)\s*;"
            r"|typedef\s+enum\s+logic(?P<e>[^{]*)\{[^}]*\}\s*(?P<en>\w+)\s*;"
            r"|typedef\s+(?P<kind>\w+)\s*(?P<dim>(?:\[[^\]]*\])*)\s*(?P<t>\w+)\s*;"
        )
        self.widths.setdefault("logic", 1)
        for m in declared.finditer(text):
            if m["number"]:
                try:
                    self.numbers[m["n"]] = self.value(m["v"])
                except (KeyError, ValueError):
                    continue  # made by a function: no width hangs on it
            elif m["struct"]:
                fields = list(self.fields(m["body"]))
                self.structs[m["s"]] = fields
                self.widths[m["s"]] = sum(width for _, width, _ in fields)
            elif m["en"]:
                self.widths[m["en"]] = self.dimensions(m["e"])
            else:
                self.widths[m["t"]] = self.width(m["kind"], m["dim"])
                self.structs |= {m["t"]: self.structs[m["kind"]]} if self.alias(m) else {}

    def alias(self, m: re.Match) -> bool:
        return not m["dim"] and m["kind"] in self.structs

    def fields(self, body: str):
        for line in body.split(";"):
            words = re.fullmatch(r"\s*(\w+)\s*((?:\[[^\]]*\]\s*)*)\s*(\w+(?:\s*,\s*\w+)*)\s*", line)
            if words:
                kind, dimensions, names = words.groups()
                width = self.width(kind, dimensions)
                for name in re.split(r"\s*,\s*", names):
                    yield name, width, kind if not dimensions else ""

    def name(self, kind: str, bit: int) -> str:
        """The field that a bit of a type lies in, or nothing."""
        left = self.widths[kind]
        for name, width, inner in self.structs.get(kind, ()):
            left -= width
            if bit >= left:
                deeper = self.name(inner, bit - left) if inner in self.structs else ""
                return f"{name}.{deeper}" if deeper else name
        return ""


def ports(text: str) -> dict[str, str]:
    """Of a module's text, by port that has a type of a package: that type."""
    found = re.findall(r"\b(?:input|output)\s+(?:wire|logic)\s+(\w+_[te])\s+(\w+)", text)
    return {name: kind for kind, name in found}
