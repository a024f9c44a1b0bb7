# SPDX-License-Identifier: Apache-2.0
"""The report: the inputs of a row, stale rows, and the depth of a netlist."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gateware.lib import filelist, paths, report, synth
from gateware.lib.depth import Netlist
from gateware.lib.synth import Design
from gateware.lib.tools import BIN, OUT, run

SOURCE = "module a;  // a comment\n  wire b;\nendmodule\n"


@pytest.fixture
def design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Design:
    (tmp_path / "a.sv").write_text(SOURCE)
    (tmp_path / "a.f").write_text("a.sv\n")
    (tmp_path / "requirements.txt").write_text("yosys==1\n")
    for module in (filelist, synth):
        monkeypatch.setattr(module, "GATEWARE", tmp_path)
    monkeypatch.setattr(synth, "KEPT", tmp_path / "kept")
    return Design("a", "a.f", {"N": 1})


def again(design: Design) -> str:
    return replace(design).digest


def test_what_a_digest_is_of(design: Design, tmp_path: Path) -> None:
    first = again(design)
    (tmp_path / "a.sv").write_text("module a; wire b; // another\n /* and one */ endmodule\n")
    assert again(design) == first, "comments and spaces change no figure"
    (tmp_path / "a.sv").write_text(SOURCE.replace("wire b", "wire c"))
    assert again(design) != first
    (tmp_path / "a.sv").write_text(SOURCE)
    assert again(replace(design, parameters={"N": 2})) != first
    assert again(replace(design, parts=True)) != first, "another recipe"
    (tmp_path / "requirements.txt").write_text("pytest==2\nyosys==1 \\\n    --hash=sha256:0\n")
    assert again(design) == first, "other packages make no figure"
    (tmp_path / "requirements.txt").write_text("yosys==2\n")
    assert again(design) != first, "other tools"


def test_a_result_is_made_once(design: Design, tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> dict[str, int]:
        made.append(1)
        return {"LUT": 7}

    assert synth.kept(design, "xcup", make) == {"LUT": 7}
    assert synth.kept(replace(design), "xcup", make) == {"LUT": 7}
    assert len(made) == 1
    (tmp_path / "a.sv").write_text(SOURCE.replace("wire b", "wire c"))
    synth.kept(replace(design), "xcup", make)
    assert len(made) == 2


def page(*rows: str) -> str:
    return "\n".join(["before", report.BEGIN, *rows, report.END, "behind"])


def test_old_rows_are_noticed(design: Design) -> None:
    good = f"| `a N=1` | 7 | - | {design.digest} |"
    assert report.stale(page(good), [design]) == []
    old = report.stale(page("| `a N=1` | 7 | - | 0123456789ab |"), [design])
    assert old == [f"a N=1: of sources 0123456789ab, they are {design.digest} now"]
    assert report.stale(page(), [design]) == ["a N=1: not in the table"]
    more = report.stale(page(good, f"| `a N=2` | 7 | - | {design.digest} |"), [design])
    assert more == ["a N=2: in the table, not in report.jsonl"]


def test_rows_that_are_not_made_stay(
    design: Design, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(design, parameters={"N": 2})
    old = "| `a N=2` | 7 | 0123456789ab |"
    file = tmp_path / "page.md"
    file.write_text(page("| `a N=1` | 1 | 0123456789ab |", old))
    monkeypatch.setattr(report, "PAGE", file)
    monkeypatch.setattr(report, "designs", lambda: [design, other])
    monkeypatch.setattr(report, "made", lambda d: d is design)
    monkeypatch.setattr(report, "row", lambda d: f"| `{d.name()}` | 9 | {d.digest} |")
    assert report.main(["--kept"]) == 0
    said = file.read_text()
    assert report.rows_of(said) == {"a N=1": f"| `a N=1` | 9 | {design.digest} |", "a N=2": old}
    assert said.startswith("before") and said.endswith("behind")


def test_paths_and_parts_of_rows_that_are_not_made_stay(
    design: Design, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = replace(design, top="toe_box", parts=True)
    old = "| `toe_box N=1` | 7 | 0123456789ab |"
    long = "| `toe_box` | 19 | `a.b_q` | `c` |"
    table = ["The parts of `toe_box N=1`:", "", "| part | LUT |", "|---|---|", "| `core.a` | 5 |"]
    file = tmp_path / "page.md"
    file.write_text(page(old, "", long, "", *table))
    monkeypatch.setattr(report, "PAGE", file)
    monkeypatch.setattr(report, "designs", lambda: [design, large])
    monkeypatch.setattr(report, "made", lambda d: d is design)
    monkeypatch.setattr(report, "row", lambda d: f"| `{d.name()}` | 9 | {d.digest} |")
    assert report.main(["--kept"]) == 0
    said = file.read_text()
    assert report.rows_of(said)["toe_box N=1"] == old
    assert "\n".join(["", long, "", *table, report.END]) in said


def test_clocks_of_several_seeds() -> None:
    assert report.clock({}) == "-"
    assert report.clock({"1": "99.50"}) == "99.50"
    assert report.clock({"1": "99.50", "2": "101.25", "3": "100.00"}) == "99.50 to 101.25"
    assert report.clock({"1": "too large: A 3 of 2"}) == "too large: A 3 of 2"


def test_long_paths_are_named(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest paths come first; their number is limited; short ones are left out."""
    routes = [("core.a.b.x_q", 30), ("core.a.b.y_q", 20), ("core.a.z_q", 11), ("csr.s_q", 10)]
    x = {"routes": [{"depth": d, "first": "f_q", "last": n} for n, d in routes]}
    x["parts"] = {part: dict.fromkeys(report.COUNTS, 1) for part in ("", "core.a", "csr")}
    design.folder().mkdir(parents=True)
    (design.folder() / "xcup.result").write_text(json.dumps(x))
    monkeypatch.setattr(report, "FIRST", 2)
    assert report.paths(design) == [
        "| `a` | 30 | `f_q` | `core.a.b.x_q` |",
        "| `a` | 20 | `f_q` | `core.a.b.y_q` |",
    ]
    monkeypatch.setattr(report, "FIRST", 9)
    assert len(report.paths(design)) == 3
    assert report.parts(design)[-3:] == [
        "| the rest | 1 | 1 | 1 | 1 | 1 | 0 |",
        "| `core.a` | 1 | 1 | 1 | 1 | 1 | 30 |",
        "| `csr` | 1 | 1 | 1 | 1 | 1 | 10 |",
    ]


def lut(inputs: list[int], output: int) -> dict:
    return cell("LUT2", {f"I{i}": [b] for i, b in enumerate(inputs)}, {"O": [output]})


def cell(kind: str, inputs: dict, outputs: dict) -> dict:
    ways = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
    return {"type": kind, "connections": inputs | outputs, "port_directions": ways}


def measured(cells: dict, names: dict[str, list[int]]) -> paths.Graph:
    nets = {name: {"hide_name": 0, "bits": bits} for name, bits in names.items()}
    netlist = Netlist({"ports": {}, "cells": cells, "netnames": nets})
    counted = ((name, *synth.counted(cell["type"])) for name, cell in cells.items())
    return paths.closed(paths.of_netlist(netlist, counted), "top")


def test_the_longest_path_and_its_ends(tmp_path: Path) -> None:
    """A queue's pointer, its memory (read asynchronously), two LUTs, a register."""
    n = measured(
        {
            "$flatten\\a.\\from": cell("FDRE", {"D": [9]}, {"Q": [2]}),
            "mem": cell("RAM32M", {"ADDRA": [2], "DIA": [2]}, {"DOA": [3]}),
            "x": lut([3, 2], 4),
            "y": lut([4, 2], 5),
            "to": cell("FDRE", {"D": [5]}, {"Q": [6]}),
        },
        {"a.from_q": [2], "a.to_q": [6]},
    )
    route = n.routes["a.to_q"]
    assert (route.depth, route.first, route.last) == (3, "a.from_q", "a.to_q")
    assert synth.total(n.counts.values())["LUT"] == 4 + 2
    assert synth.total(n.counts.values())["FF"] == 2


ENDS = {"sum": 10, "last": 14}


def test_a_chain_counts_once(tmp_path: Path) -> None:
    carry = cell(
        "CARRY4", {"S": [2, 3, 4, 5], "DI": [2, 3, 4, 5], "CI": [8]}, {"O": [10, 11, 12, 13]}
    )
    ends = {name: cell("FDRE", {"D": [bit]}, {"Q": [20 + bit]}) for name, bit in ENDS.items()}
    names = {f"{name}_q": [20 + bit] for name, bit in ENDS.items()}
    n = measured({"c": carry, "l": lut([13, 2], 14), "k": lut([2, 3], 8), **ends}, names)
    assert n.routes["sum_q"].depth == 1, "the chain's entry costs nothing more"
    assert n.routes["last_q"].depth == 2


def test_a_loop_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="top: a combinational loop"):
        measured({"x": lut([3, 2], 4), "y": lut([4, 2], 3)}, {})


def test_parts() -> None:
    assert synth.part_of("core.rx.total_q") == "core.rx"
    assert synth.part_of("core.gen_fpc[1].fpc.text.x") == "core.gen_fpc[1].fpc"
    assert synth.part_of("csr.regs.x") == "csr"
    assert synth.part_of("x") == ""
    assert synth.part_of("$auto$ff.cc:266:slice$1") == ""


CHAIN = """attribute \\top 1
module \\c
  wire width {n} \\x
  wire input 1 \\a
  wire output 2 \\y
  connect \\x [0] \\a
  connect \\y \\x [{last}]
{cells}
end
"""
GATE = "cell $_AND_ \\g{i}\nconnect \\A \\x [{i}]\nconnect \\B \\a\nconnect \\Y \\x [{o}]\nend"


def test_yosys_goes_through_deep_logic() -> None:
    """Logic as before ABC shortens it. With WebAssembly's default stack this traps."""
    n = 1500
    folder = OUT / "deep"
    folder.mkdir(parents=True, exist_ok=True)
    cells = "\n".join(GATE.format(i=i, o=i + 1) for i in range(n))
    (folder / "chain.il").write_text(CHAIN.format(n=n + 1, last=n, cells=cells))
    # Relative paths: for yosys, /tmp is another folder than that of a checkout below /tmp.
    script = "read_rtlil chain.il; write_xaiger2 chain.aig"
    command = [BIN / "python", synth.DEEP, "-q", "-p", script]
    done = run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (folder / "chain.aig").stat().st_size


@pytest.mark.long
def test_the_page_is_of_these_sources() -> None:
    assert report.stale(report.PAGE.read_text(), synth.designs()) == []
