# SPDX-License-Identifier: Apache-2.0
"""The cost model of logic depth in a Xilinx netlist: LUTs, reads of LUT memories and entries of
carry chains cost, between registers, memories, multipliers and ports (paths.py adds them up).
yosys's own ltp treats a carry cell as one node, and finds loops that a chain does not have."""

import re
from collections.abc import Iterator

Bit = int | str
Arc = tuple[list[Bit], Bit, int]  # inputs, output, cost


def carry_arcs(cell: dict) -> list[Arc]:
    """Bit n of a chain depends only on the bits up to n."""
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


def memory_arcs(cell: dict) -> list[Arc]:
    """LUT memories are read asynchronously: each output depends on its address (RAM32M16: DOA on
    ADDRA; RAM64X1D: DPO on DPRA, SPO on A)."""
    c = cell["connections"]
    arcs = []
    for port, bits in c.items():
        if port.startswith("DO"):
            read = c[f"ADDR{port[2:]}"]
        elif port in ("SPO", "DPO", "O"):
            prefix = "DPRA" if port == "DPO" else "A"
            read = [b for p, bs in c.items() if re.fullmatch(rf"{prefix}\d?", p) for b in bs]
        else:
            continue
        arcs += [(read, bit, 1) for bit in bits]
    return arcs


def arcs_of(cell: dict) -> list[Arc]:
    kind = cell["type"]
    if kind.startswith("CARRY"):
        return carry_arcs(cell)
    if kind.startswith("RAM") and not kind.startswith("RAMB"):
        return memory_arcs(cell)
    if re.fullmatch(r"LUT[1-6]|MUXF[789]|INV", kind):
        inputs = [b for p, bits in cell["connections"].items() if p != "O" for b in bits]
        return [(inputs, cell["connections"]["O"][0], 1 if kind.startswith("LUT") else 0)]
    return []


def plain(name: str) -> str:
    """Returns a name as in the sources: core.rx.total_q."""
    return re.sub(r"^\$\w+\\|\\", "", name)


class Netlist:
    """A flat netlist: the dependencies and the name of each bit, and the ends of paths."""

    def __init__(self, module: dict) -> None:
        self.ports: dict[str, dict] = module["ports"]
        self.cells: dict[str, dict] = module["cells"]
        self.into: dict[Bit, list[tuple[list[Bit], int]]] = {}
        for cell in self.cells.values():
            for inputs, output, cost in arcs_of(cell):
                self.into.setdefault(output, []).append((inputs, cost))
        self.names: dict[Bit, str] = {}
        for name, net in module["netnames"].items():
            for index, bit in enumerate(net["bits"]):
                if net["hide_name"]:
                    continue
                mine = f"{plain(name)}[{index}]" if len(net["bits"]) > 1 else plain(name)
                # A net has a name in each module on its way: the outermost is the shortest.
                self.names[bit] = min(self.names.get(bit, mine), mine, key=len)

    def ends(self) -> Iterator[tuple[str, list[Bit]]]:
        """Yields the path ends other than ports: the cell's name and its input bits."""
        for name, cell in self.cells.items():
            if arcs_of(cell) and not cell["type"].startswith("RAM"):
                continue
            connections, ways = cell["connections"], cell["port_directions"]
            taken = [b for p, bits in connections.items() if ways[p] == "input" for b in bits]
            given = [b for p, bits in connections.items() if ways[p] == "output" for b in bits]
            known = [self.names[b] for b in given if b in self.names]
            label = plain(name)
            if known and (cell["type"].startswith("FD") or "$" in label):
                label = known[0]
            yield label, taken
