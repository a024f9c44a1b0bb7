# SPDX-License-Identifier: Apache-2.0
"""Packed types of SystemVerilog packages: their widths, and the field that a bit belongs to. A
netlist lists a port as bits, which are of no help in a path report: this turns bit 3111 into
t.snd_nxt. Supports what the packages here use: struct packed, enum logic, logic, packed arrays of
these."""

import re
from dataclasses import dataclass, field

NUMBER = re.compile(r"(?:\d+)?'(?:s?d)?(\d+)")


@dataclass
class Types:
    """The declarations of packages."""

    widths: dict[str, int] = field(default_factory=dict)
    # For each field: name, width, type.
    structs: dict[str, list[tuple[str, int, str]]] = field(default_factory=dict)
    arrays: dict[str, tuple[str, int]] = field(default_factory=dict)  # element, how many
    numbers: dict[str, int] = field(default_factory=dict)

    def value(self, text: str) -> int:
        """Evaluates a constant expression."""
        text = re.sub(r"\$bits\((\w+)\)", lambda m: str(self.widths[m[1]]), text)
        text = re.sub(r"\w+'\(", "(", NUMBER.sub(r"\1", text))
        text = re.sub(r"[A-Za-z_]\w*", lambda m: str(self.numbers[m[0]]), text)
        if not re.fullmatch(r"[\d\s()*+/-]+", text):
            raise ValueError(f"not a constant: {text}")
        return int(eval(text.replace("/", "//")))  # only digits and operators

    def dimensions(self, text: str) -> int:
        """Returns the product of packed dimensions: 32 for [3:0][7:0]."""
        whole = 1
        for high, low in re.findall(r"\[([^:\]]+):([^\]]+)\]", text):
            whole *= self.value(high) - self.value(low) + 1
        return whole

    def width(self, kind: str, dimensions: str) -> int:
        return self.widths[kind] * self.dimensions(dimensions)

    def read(self, text: str) -> None:
        """Reads a package, without comments, after the packages that it imports."""
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
                    continue  # computed by a function: no width depends on it
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
        """Returns the field that a bit of a type belongs to, or an empty string."""
        left = self.widths[kind]
        for name, width, inner in self.structs.get(kind, ()):
            left -= width
            if bit >= left:
                deeper = self.name(inner, bit - left) if inner in self.structs else ""
                return f"{name}.{deeper}" if deeper else name
        return ""


def ports(text: str) -> dict[str, str]:
    """Returns the type of each port of a module that has a type of a package."""
    found = re.findall(r"\b(?:input|output)\s+(?:wire|logic)\s+(\w+_[te])\s+(\w+)", text)
    return {name: kind for kind, name in found}
