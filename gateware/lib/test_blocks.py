# SPDX-License-Identifier: Apache-2.0
"""A design synthesized part by part: what parts there are, and that joined they are the whole."""

import shutil
from pathlib import Path

import pytest

from gateware.lib import blocks, filelist, synth
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


def test_joined_parts_are_one_netlist() -> None:
    """From a register of one part through both into a register of the other; an output that is an
    input, and one that is a constant."""
    shell = {
        "ports": {"clk": {"direction": "input", "bits": [2]}},
        "cells": {"one": box(2, 9, 20, [10, 11, 12]), "two": box(2, 10, 9, [13, 14, 15])},
        "netnames": {},
    }
    whole = blocks.join(shell, {"one": PART, "two": PART}, "logic")
    netlist = Netlist(whole, "top")
    assert synth.count(netlist.cells.values())["LUT"] == 4
    assert synth.count(netlist.cells.values())["FF"] == 2
    route = netlist.longest()["two.x_q"]
    assert (route.depth, route.first, route.last) == (2, "one.x_q", "two.x_q")
    assert netlist.depth[11] == 0, "what passes through a part costs nothing"
    assert netlist.longest()["one.x_q"].first == "two.x_q"


def test_what_is_beside_the_parts_leaves_no_word_in_names() -> None:
    shell = {"ports": {}, "cells": {"a_logic": box(2, 3, 4, [5, 6, 7])}, "netnames": {}}
    whole = blocks.join(shell, {"a_logic": PART}, "a_logic")
    assert "x_q" in whole["netnames"]
    assert {"ff", "in", "out"} <= set(whole["cells"])


def test_the_parts_of_the_toe() -> None:
    modules = blocks.declared("src/toe/toe_box.f")
    parts = blocks.parts_of("toe_box", modules)
    assert {"toe_fpc", "toe_rx", "toe_csr"} <= set(parts)
    assert not {"toe_core", "toe_box", "fpc_text", "toe_ram"} & set(parts)
    for top, inside in blocks.INSIDE.items():
        assert blocks.parts_of(top, modules) == list(inside)
    assert blocks.parameters_of(modules["toe_timer"]) == {"FlowBits", "FpcBits", "Fpc"}


def test_what_a_part_is_made_from() -> None:
    """So its row grows old when those change, and no others."""
    names = {file.stem for file in blocks.needed("src/toe/toe_box.f", "toe_rx")}
    assert {"toe_rx", "rx_options", "toe_pkg", "toe_ram"} <= names
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
        whole, digests = blocks.part("all.f", "glue", ())
        assert runs.count("mapped") == mapped
        assert synth.count(whole["cells"].values())["FF"] == 2
        assert len(digests) == 2
    blocks.part.cache_clear()
