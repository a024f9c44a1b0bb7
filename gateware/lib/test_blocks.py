# SPDX-License-Identifier: Apache-2.0
"""Synthesis part by part: the list of parts, and that the joined parts equal the whole."""

import random
import re
import shutil
from pathlib import Path

import pytest

from gateware.lib import blocks, filelist, paths, synth
from gateware.lib.depth import Netlist
from gateware.lib.tools import OUT

PART = {
    "ports": {
        "clk": {"direction": "input", "bits": [2]},
        "a": {"direction": "input", "bits": [3]},
        "q": {"direction": "output", "bits": [5]},
        "y": {"direction": "output", "bits": [6, 3, "1"]},
    },
    "cells": {
        "ff": {
            "type": "FDRE",
            "connections": {"C": [2], "D": [4], "Q": [5]},
            "port_directions": {"C": "input", "D": "input", "Q": "output"},
        },
        "in": {
            "type": "LUT2",
            "connections": {"I0": [3], "I1": [5], "O": [4]},
            "port_directions": {"I0": "input", "I1": "input", "O": "output"},
        },
        "out": {
            "type": "LUT1",
            "connections": {"I0": [5], "O": [6]},
            "port_directions": {"I0": "input", "O": "output"},
        },
    },
    "netnames": {"x_q": {"hide_name": 0, "bits": [5]}},
}


def box(clk: int, a: int, q: int, y: list[int]) -> dict:
    return {"type": "part", "connections": {"clk": [clk], "a": [a], "q": [q], "y": y}}


def graph(module: dict, top: str = "part") -> paths.Graph:
    netlist = Netlist(module)
    counted = ((name, *synth.counted(cell["type"])) for name, cell in netlist.cells.items())
    return paths.reduced(paths.of_netlist(netlist, counted), top)


def whole(shell: dict, inside: dict[str, paths.Graph], beside: str) -> paths.Graph:
    return paths.closed(paths.reduced(paths.joined(shell, inside, beside), "top"), "top")


def test_joined_parts_are_one() -> None:
    """A path from a register of one part through both into a register of the other; an output wired
    to an input, and a constant output."""
    shell = {
        "ports": {
            "clk": {"direction": "input", "bits": [2]},
            "y": {"direction": "output", "bits": [14]},
        },
        "cells": {"one": box(2, 9, 20, [10, 11, 12]), "two": box(2, 10, 9, [13, 14, 15])},
        "netnames": {},
    }
    found = whole(shell, {"one": graph(PART), "two": graph(PART)}, "logic")
    assert synth.total(found.counts.values())["LUT"] == 4
    assert synth.total(found.counts.values())["FF"] == 2
    assert found.counts["one"] == {"LUT": 2, "FF": 1}
    route = found.routes["two.x_q"]
    assert (route.depth, route.first, route.last) == (2, "one.x_q", "two.x_q")
    assert found.routes["one.x_q"].depth == 1
    assert found.routes["y"].depth == 1, "what passes through a part costs nothing"


def test_what_is_beside_the_parts_leaves_no_word_in_names() -> None:
    shell = {"ports": {}, "cells": {"a_logic": box(2, 3, 4, [5, 6, 7])}, "netnames": {}}
    found = whole(shell, {"a_logic": graph(PART)}, "a_logic")
    assert list(found.routes) == ["x_q"]
    assert list(found.counts) == [""]


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_as_deep_joined_as_flat(seed: int) -> None:
    """Random logic in two parts in series: measured joined and as one."""
    rng = random.Random(seed)
    one, two = random_part(rng, 8), random_part(rng, 8)
    shell = {
        "ports": {
            "a": {"direction": "input", "bits": list(range(900, 908))},
            "y": {"direction": "output", "bits": list(range(920, 928))},
        },
        "cells": {
            "one": {"connections": {"a": list(range(900, 908)), "y": list(range(910, 918))}},
            "two": {"connections": {"a": list(range(910, 918)), "y": list(range(920, 928))}},
        },
        "netnames": {},
    }
    found = whole(shell, {"one": graph(one), "two": graph(two)}, "logic")
    flat = paths.closed(paths.of_netlist(Netlist(flattened(one, two))), "top")
    depths = {name: route.depth for name, route in flat.routes.items()}
    joined = {name: route.depth for name, route in found.routes.items()}
    assert max(joined.values()) == max(depths.values()) > 3
    # Of a part's ends at the same depth from an input one is named, always the deepest of the part.
    assert all(joined[name] <= depths[name] for name in joined)
    for part in ("one.", "two."):
        deepest = max(d for name, d in depths.items() if name.startswith(part))
        assert max(d for name, d in joined.items() if name.startswith(part)) == deepest


def random_part(rng: random.Random, width: int) -> dict:
    """Makes registers, inputs, and LUTs on earlier bits."""
    bits = list(range(2, 2 + width))
    inputs, cells, names = list(bits), {}, {}
    for n in range(6):
        bits.append(100 + n)
        names[f"r{n}_q"] = {"hide_name": 0, "bits": [100 + n]}
    for n in range(40):
        taken = {f"I{i}": [rng.choice(bits[-12:])] for i in range(2)}
        ways = dict.fromkeys(taken, "input") | {"O": "output"}
        cells[f"l{n}"] = {"type": "LUT2", "connections": taken | {"O": [200 + n]}}
        cells[f"l{n}"]["port_directions"] = ways
        bits.append(200 + n)
    for n in range(6):
        cells[f"r{n}"] = {
            "type": "FDRE",
            "connections": {"D": [rng.choice(bits)], "Q": [100 + n]},
            "port_directions": {"D": "input", "Q": "output"},
        }
    outputs = [rng.choice(bits) for _ in range(width)]
    ports = {
        "a": {"direction": "input", "bits": inputs},
        "y": {"direction": "output", "bits": outputs},
    }
    return {"ports": ports, "cells": cells, "netnames": names}


def flattened(one: dict, two: dict) -> dict:
    """Joins both in one module: the second's inputs are the first's outputs."""
    cells, names = {}, {}
    between = dict(zip(two["ports"]["a"]["bits"], one["ports"]["y"]["bits"], strict=True))
    for name, part, place in (
        ("one", one, lambda b: b),
        ("two", two, lambda b: between.get(b, b + 1000)),
    ):
        for cell, what in part["cells"].items():
            wired = {p: [place(b) for b in bs] for p, bs in what["connections"].items()}
            cells[f"{name}.{cell}"] = {**what, "connections": wired}
        for net, what in part["netnames"].items():
            names[f"{name}.{net}"] = {"hide_name": 0, "bits": [place(b) for b in what["bits"]]}
    outputs = [between.get(b, b + 1000) for b in two["ports"]["y"]["bits"]]
    ports = {
        "a": {"direction": "input", "bits": one["ports"]["a"]["bits"]},
        "y": {"direction": "output", "bits": outputs},
    }
    return {"ports": ports, "cells": cells, "netnames": names}


def test_the_parts_of_the_toe() -> None:
    modules = blocks.declared("src/toe/toe_box.f")
    parts = blocks.parts_of("toe_box", modules)
    assert {"toe_fpc", "toe_rx", "toe_csr"} <= set(parts)
    assert not {"toe_core", "toe_box", "fpc_text", "sdp_ram"} & set(parts)
    for top, inside in blocks.INSIDE.items():
        assert blocks.parts_of(top, modules) == list(inside)
    assert blocks.parameters_of(modules["toe_timer"]) == {"FlowBits", "FpcBits", "Fpc"}


def test_no_part_is_left_in_what_joins_them() -> None:
    """Otherwise such a module would be joined with a part of the same name and another width."""
    modules = blocks.declared("src/toe/toe_box.f")
    for top, inside in blocks.INSIDE.items():
        rest, new = set(), {top}
        while new:
            rest |= new
            words = {word for name in new for word in re.findall(r"\w+", modules[name])}
            new = words & set(modules) - set(inside) - rest
        for name in rest - {top}:
            hidden = set(re.findall(r"\w+", modules[name])) & set(inside)
            assert not hidden, f"{name}, in {top}, has a {hidden}: it must be a part itself"


def test_what_a_part_is_made_from() -> None:
    """A row becomes stale when these files change, and only then."""
    names = {file.stem for file in blocks.needed("src/toe/toe_box.f", "toe_rx")}
    assert {"toe_rx", "rx_options", "toe_pkg", "sdp_ram"} <= names
    assert not {"toe_tx", "toe_box", "toe_fpc", "fpc_text"} & names


def test_a_tool_that_fails_or_takes_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = OUT / "deep"
    folder.mkdir(parents=True, exist_ok=True)
    with pytest.raises(synth.Failed, match=r"yosys ended with 1 at .*wrong\.ys; see .*wrong\.log"):
        synth.yosys(folder, "wrong", "no_such_pass")
    monkeypatch.setattr(synth, "MINUTES", 0)
    with pytest.raises(synth.Failed, match="slow: not done in 0 minutes"):
        synth.yosys(folder, "slow", "help")


GLUE = """module glue(input wire clk, input wire [1:0] a, output wire [1:0] q);
  part #(.Fpc(0)) one(.clk, .a(a[0]), .q(q[0]));
  part #(.Fpc(1)) two(.clk, .a(a[1] ^ q[0]), .q(q[1]));
endmodule
"""
LEAF = """module part #(parameter int Fpc = 0)(input wire clk, input wire a, output logic q);
  always_ff @(posedge clk) q <= a;
endmodule
"""


@pytest.mark.long
def test_a_part_is_synthesized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = OUT / "parts"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "all.f").write_text("glue.sv\npart.sv\n")
    (folder / "glue.sv").write_text(GLUE)
    (folder / "part.sv").write_text(LEAF)
    (folder / "requirements.txt").write_text("")
    for module in (filelist, synth):
        monkeypatch.setattr(module, "GATEWARE", folder)
    monkeypatch.setattr(synth, "KEPT", folder / "kept")
    monkeypatch.setattr(blocks, "GLUE", ("glue",))
    runs: list[str] = []
    make = synth.yosys

    def yosys(where: Path, name: str, script: str) -> Path:
        runs.append(name)
        return make(where, name, script)

    monkeypatch.setattr(synth, "yosys", yosys)
    for text, mapped in ((LEAF, 2), ("// a comment\n" + LEAF, 0), (LEAF.replace("= a", "= !a"), 1)):
        (folder / "part.sv").write_text(text)
        blocks.part.cache_clear()
        runs.clear()
        graph, digests = blocks.part("all.f", "glue", ())
        assert runs.count("mapped") == mapped
        assert synth.total(graph.counts.values())["FF"] == 2
        assert len(digests) == 2
    blocks.part.cache_clear()
