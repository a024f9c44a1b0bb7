# SPDX-License-Identifier: Apache-2.0
"""Reports the logic depth of one module by field of its outputs, to find the next path to cut. It
takes a minute, the whole design takes many. The module is synthesized out of context and cached, as
a part of the report is (blocks.py)."""

import sys
from argparse import ArgumentParser

from . import blocks, paths, synth
from .depth import Netlist
from .fields import Types, ports
from .filelist import read
from .synth import Failed

LIST = "src/toe/toe_fpc.f"


def types(name: str) -> Types:
    """Returns the types of all packages of a file list."""
    found = Types()
    for file in read(name):
        text = synth.code(file)
        if "endpackage" in text:
            found.read(text)
    return found


def ends(name: str, top: str, values: dict[str, int]) -> tuple[int, dict[str, tuple[int, str]]]:
    """Returns the LUTs, and for each path end the depth and the start of its longest path."""
    design = synth.Design(top, name, values)
    folder = synth.KEPT / "read" / "-".join([top, *(f"{k}{v}" for k, v in values.items())])
    with blocks.alone(folder):
        blocks.elaborated(design, [], folder)
        digest = blocks.mapped(top, folder / "read.il")
    netlist = Netlist(blocks.loaded(digest))
    counted = [(n, *synth.counted(c["type"])) for n, c in netlist.cells.items()]
    graph = paths.of_netlist(netlist, counted)
    known, given = types(name), ports(blocks.declared(name)[top])

    def label(port: str, bit: int) -> str:
        inside = known.name(given[port], bit) if port in given else ""
        return f"{port}.{inside}" if inside else port

    for port, nodes in graph.inputs.items():
        graph.starts |= {at: (0, label(port, bit)) for bit, at in enumerate(nodes) if at}
    arrival = paths.arrivals(graph, paths.ordered(graph, top))
    last = [(at, cost, where) for at, cost, where in graph.ends]
    for port, nodes in graph.outputs.items():
        last += [(at, 0, label(port, bit)) for bit, at in enumerate(nodes) if at]
    found: dict[str, tuple[int, str]] = {}
    for at, cost, where in last:
        if at in arrival:
            depth, first = arrival[at]
            place = where.split("[")[0]
            found[place] = max(found.get(place, (-1, "")), (depth + cost, first))
    return synth.total(graph.counts.values())["LUT"], found


def main(argv: list[str]) -> int:
    parser = ArgumentParser(prog="scripts/gateware depth")
    parser.add_argument("--list", default=LIST, help=f"list of files that has it ({LIST})")
    parser.add_argument("--first", type=int, default=12, help="number of paths to print (12)")
    parser.add_argument("module", help="synthesized by itself")
    parser.add_argument("value", nargs="*", help="NAME=VALUE of its parameters")
    options = parser.parse_args(argv)
    values = {k: int(v) for k, _, v in (word.partition("=") for word in options.value)}
    try:
        luts, found = ends(options.list, options.module, values)
    except Failed as e:
        print(f"scripts/gateware depth: {e}", file=sys.stderr)
        return 1
    print(f"{' '.join([options.module, *options.value])}: {luts} LUTs; levels, to, from:")
    for place, (depth, first) in sorted(found.items(), key=lambda p: -p[1][0])[: options.first]:
        print(f"  {depth:3}  {place}  <- {first}")
    return 0
