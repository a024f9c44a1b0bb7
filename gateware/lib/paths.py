# SPDX-License-Identifier: Apache-2.0
"""Finds the longest paths of a design, also of one joined from parts. Of a part only the paths are
kept that its neighbours can lengthen: the depth behind its inputs, the depth before its outputs,
and the paths from input to output without a register. So eight instances are measured once, and a
design of half a million LUTs takes seconds."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from .depth import Netlist, plain

Node = str
LEVELS = 3  # of hierarchical names, by which counts are kept


@dataclass
class Route:
    """The longest path of those with the same end."""

    depth: int
    first: str  # the register, memory or port where it begins
    last: str


@dataclass
class Graph:
    """Arcs between nodes, and the starts and ends of paths; routes are the complete paths."""

    into: dict[Node, list[tuple[list[Node], int]]] = field(default_factory=dict)
    starts: dict[Node, tuple[int, str]] = field(default_factory=dict)
    ends: list[tuple[Node, int, str]] = field(default_factory=list)
    inputs: dict[str, list[Node | None]] = field(default_factory=dict)  # None: a constant
    outputs: dict[str, list[Node | None]] = field(default_factory=dict)
    routes: dict[str, Route] = field(default_factory=dict)
    counts: dict[str, Counter] = field(default_factory=dict)

    def count(self, name: str, kind: str, n: float) -> None:
        if n:
            place = ".".join(name.split(".")[:-1][:LEVELS])
            self.counts.setdefault(place, Counter())[kind] += n

    def end(self, depth: int, first: str, last: str) -> None:
        place = re.sub(r"\[\d+\]$", "", last)
        if depth and (place not in self.routes or depth > self.routes[place].depth):
            self.routes[place] = Route(depth, first, last)


def of_netlist(netlist: Netlist, counted: Iterable[tuple[str, str, float]] = ()) -> Graph:
    """Returns the graph of a flat netlist. counted: of each cell the name, the kind, the count."""
    graph = Graph()
    for way, ports in (("input", graph.inputs), ("output", graph.outputs)):
        for name, port in netlist.ports.items():
            if port["direction"] == way:
                ports[name] = [node(bit) for bit in port["bits"]]
    for bit, arcs in netlist.into.items():
        if isinstance(bit, int):
            graph.into[str(bit)] = [
                ([str(b) for b in ins if isinstance(b, int)], c) for ins, c in arcs
            ]
    for last, bits in netlist.ends():
        graph.ends += [(str(bit), 0, last) for bit in bits if isinstance(bit, int)]
    beyond = {n for nodes in graph.inputs.values() for n in nodes}
    used = {n for arcs in graph.into.values() for ins, _ in arcs for n in ins}
    used |= {n for n, _, _ in graph.ends} | {n for ns in graph.outputs.values() for n in ns if n}
    for begin in used - beyond - set(graph.into):
        graph.starts[begin] = (0, netlist.names.get(int(begin), begin))
    for name, kind, n in counted:
        graph.count(plain(name), kind, n)
    return graph


def node(bit: int | str) -> Node | None:
    return str(bit) if isinstance(bit, int) else None


def ordered(graph: Graph, top: str) -> list[Node]:
    """Returns the dependent nodes in topological order."""
    found: list[Node] = []
    done: dict[Node, bool] = {}  # False: its dependencies are being visited
    for first in graph.into:
        stack = [first]
        while stack:  # a path may be longer than Python's own stack
            at = stack[-1]
            if at not in done:
                done[at] = False
                missing = [n for ins, _ in graph.into[at] for n in ins if n in graph.into]
                if any(done.get(n) is False for n in missing):
                    raise ValueError(f"{top}: a combinational loop")
                stack += [n for n in missing if n not in done]
                continue
            stack.pop()
            if not done[at]:
                done[at] = True
                found.append(at)
    return found


def reduced(graph: Graph, top: str) -> Graph:
    """Measures the complete paths, and keeps of the rest what other parts can lengthen."""
    order = ordered(graph, top)
    arrival = arrivals(graph, order)
    small = Graph(inputs=graph.inputs, outputs=graph.outputs, counts=graph.counts)
    small.routes = dict(graph.routes)
    for at, delay, last in graph.ends:
        if at in arrival:
            small.end(arrival[at][0] + delay, arrival[at][1], last)

    inward = {n for nodes in graph.inputs.values() for n in nodes if n}
    kept = inward | through(graph, order, inward)
    for at in kept & set(graph.into):
        arcs = [([n for n in ins if n in kept], cost) for ins, cost in graph.into[at]]
        small.into[at] = [(ins, cost) for ins, cost in arcs if ins]
        begins = [graph.starts[at]] if at in graph.starts else []
        for ins, cost in graph.into[at]:
            begins += [later(arrival[n], cost) for n in ins if n in arrival and n not in kept]
        if begins:
            small.starts[at] = max(begins)
    for at in {n for nodes in graph.outputs.values() for n in nodes if n} - kept:
        if at in arrival:
            small.starts[at] = arrival[at]
    small.ends = [(at, *leave) for at, leave in departures(graph, order, kept).items()]
    return small


def later(when: tuple[int, str], cost: int) -> tuple[int, str]:
    return when[0] + cost, when[1]


def arrivals(graph: Graph, order: list[Node]) -> dict[Node, tuple[int, str]]:
    """Returns by node the longest path from a start in the design: its length and start."""
    found = dict(graph.starts)
    for at in order:
        ways = [later(found[n], cost) for ins, cost in graph.into[at] for n in ins if n in found]
        if ways:
            found[at] = max([*ways, *([found[at]] if at in found else [])])
    return found


def through(graph: Graph, order: list[Node], inward: set[Node]) -> set[Node]:
    """Returns the nodes between an input and an output."""
    after = set(inward)
    for at in order:
        if any(n in after for ins, _ in graph.into[at] for n in ins):
            after.add(at)
    before = {n for nodes in graph.outputs.values() for n in nodes if n}
    for at in reversed(order):
        if at in before:
            before |= {n for ins, _ in graph.into[at] for n in ins}
    return after & before


def departures(graph: Graph, order: list[Node], kept: set[Node]) -> dict[Node, tuple[int, str]]:
    """Returns by kept node the longest path to an end in the design past no other kept node."""
    found: dict[Node, tuple[int, str]] = {}
    for at, delay, last in graph.ends:
        found[at] = max(found.get(at, (-1, "")), (delay, last))
    for at in reversed(order):
        if at in found and at not in kept:
            for ins, cost in graph.into[at]:
                for n in ins:
                    found[n] = max(found.get(n, (-1, "")), later(found[at], cost))
    return {at: leave for at, leave in found.items() if at in kept}


def joined(shell: dict, inside: dict[str, Graph], beside: str) -> Graph:
    """Replaces each box of the shell by its graph in `inside`. The box `beside` does not exist in
    the sources and adds nothing to names."""
    whole = Graph()
    for name, port in shell["ports"].items():
        ports = whole.inputs if port["direction"] == "input" else whole.outputs
        ports[name] = [node(bit) for bit in port["bits"]]
    for box, graph in inside.items():
        within = "" if box == beside else f"{box}."
        put(whole, graph, f"{box}/", within)
        outer = shell["cells"][box]["connections"]
        for name, nodes in graph.inputs.items():
            for inner, beyond in zip(nodes, outer.get(name, []), strict=False):
                if inner and isinstance(beyond, int):
                    whole.into.setdefault(f"{box}/{inner}", []).append(([str(beyond)], 0))
        for name, nodes in graph.outputs.items():
            for inner, beyond in zip(nodes, outer.get(name, []), strict=False):
                if inner and isinstance(beyond, int):
                    whole.into.setdefault(str(beyond), []).append(([f"{box}/{inner}"], 0))
    return whole


def put(whole: Graph, graph: Graph, box: str, within: str) -> None:
    for at, arcs in graph.into.items():
        whole.into[f"{box}{at}"] = [([f"{box}{n}" for n in ins], cost) for ins, cost in arcs]
    for at, (depth, first) in graph.starts.items():
        whole.starts[f"{box}{at}"] = (depth, f"{within}{first}")
    whole.ends += [(f"{box}{at}", delay, f"{within}{last}") for at, delay, last in graph.ends]
    for r in graph.routes.values():
        whole.end(r.depth, f"{within}{r.first}", f"{within}{r.last}")
    for place, by in graph.counts.items():
        for kind, n in by.items():
            whole.count(f"{within}{place}.x" if place else f"{within}x", kind, n)


def closed(graph: Graph, top: str) -> Graph:
    """Adds the ports as starts and ends of paths."""
    begins = {
        at: (0, f"{name}[{index}]" if len(nodes) > 1 else name)
        for name, nodes in graph.inputs.items()
        for index, at in enumerate(nodes)
        if at
    }
    ends = [(at, 0, name) for name, nodes in graph.outputs.items() for at in nodes if at]
    whole = replace(graph, inputs={}, outputs={}, starts=graph.starts | begins)
    return reduced(replace(whole, ends=graph.ends + ends), top)
