# SPDX-License-Identifier: Apache-2.0
"""Logic depth of a netlist for Xilinx: LUTs, and entries into carry chains, on the longest path
between registers, memories, multipliers and ports. yosys's own ltp takes a carry cell as one node,
and sees loops where a chain has none."""

import json
import re
from pathlib import Path

Bit = int | str


def carry_arcs(cell: dict) -> list[tuple[list[Bit], Bit, int]]:
    """(inputs, output, cost): bit n of a chain hangs on the bits up to n alone."""
    c = cell["connections"]
    arcs = []
    for n in range(len(c["S"])):
        local = c["S"][: n + 1] + c["DI"][: n + 1]
        entry = c.get("CI", []) + c.get("CYINIT", []) + c.get("CI_TOP", [])
        for port in ("O", "CO"):
            if n < len(c.get(port, [])):
                arcs.append((local, c[port][n], 1))
                arcs.append((entry, c[port][n], 0))
    return arcs


def arcs_of(cell: dict) -> list[tuple[list[Bit], Bit, int]]:
    kind = cell["type"]
    if kind.startswith("CARRY"):
        return carry_arcs(cell)
    if re.fullmatch(r"LUT[1-6]|MUXF[789]|INV", kind):
        inputs = [b for p, bits in cell["connections"].items() if p != "O" for b in bits]
        return [(inputs, cell["connections"]["O"][0], 1 if kind.startswith("LUT") else 0)]
    return []


def logic_depth(netlist: Path, top: str) -> int:
    module = json.loads(netlist.read_text())["modules"][top]
    into: dict[Bit, list[tuple[list[Bit], int]]] = {}
    for cell in module["cells"].values():
        for inputs, output, cost in arcs_of(cell):
            into.setdefault(output, []).append((inputs, cost))
    depth: dict[Bit, int] = {}
    for start in into:
        stack = [start]
        while stack:  # a path may be longer than Python's own stack
            bit = stack[-1]
            if bit in depth:
                stack.pop()
                continue
            missing = [
                b for inputs, _ in into.get(bit, []) for b in inputs if b in into and b not in depth
            ]
            if missing:
                if len(stack) > len(into):
                    raise ValueError(f"{top}: a combinational loop")
                stack.extend(missing)
                continue
            depth[bit] = max(
                cost + max((depth.get(b, 0) for b in inputs), default=0)
                for inputs, cost in into[bit]
            )
            stack.pop()
    return max(depth.values(), default=0)
