# SPDX-License-Identifier: Apache-2.0
"""One module's logic by field: the bits of each field, and the depths of the logic."""

import shutil

import pytest

from gateware.lib import filelist, levels, synth
from gateware.lib.fields import Types, ports
from gateware.lib.tools import OUT

PACKAGE = """package p;
  localparam int unsigned N = 2;
  typedef logic [3:0] nibble_t;
  typedef enum logic [1:0] { A = 2'd0, B = 2'd1 } e_e;
  typedef struct packed {
    nibble_t low, high;
    logic one;
  } inner_t;
  typedef inner_t [N-1:0] pair_t;
  typedef struct packed {
    e_e          kind;
    logic [N:0]  odd;
    inner_t      in;
    pair_t       pair;
    nibble_t [1:0][N-1:0] many;
  } outer_t;
  localparam int unsigned Bits = $bits(outer_t);
  typedef logic [Bits/4-1:0] quarter_t;
endpackage
"""
MODULE = """module m import p::*; (input wire outer_t a_i, output wire outer_t a_o);
  outer_t x;
  always_comb begin
    x = a_i;
    x.in.low = a_i.in.low + a_i.in.high;
    x.odd = a_i.odd ^ {2'b0, ^{a_i.pair[1].high, a_i.many[1][0]}};
  end
  assign a_o = x;
endmodule
"""


def test_bits_have_names() -> None:
    types = Types()
    types.read(PACKAGE)
    assert types.widths["outer_t"] == 2 + 3 + 9 + 18 + 16
    assert types.widths["quarter_t"] == 12
    names = {bit: types.name("outer_t", bit) for bit in (47, 46, 45, 43, 42, 34, 33, 16, 15, 0)}
    assert names == {
        47: "kind",
        46: "kind",
        45: "odd",
        43: "odd",
        42: "in.low",
        34: "in.one",
        33: "pair",
        16: "pair",
        15: "many",
        0: "many",
    }
    assert types.name("nibble_t", 1) == ""
    assert ports(MODULE) == {"a_i": "outer_t", "a_o": "outer_t"}


def test_what_is_no_constant_is_refused() -> None:
    with pytest.raises(ValueError, match="not a constant"):
        Types(numbers={"x": 1}).value("x % 2")


def test_types_of_the_toe() -> None:
    types = levels.types("src/toe/toe_fpc.f")
    assert types.name("tcb_t", types.widths["tcb_t"] - 1) == "state"
    assert types.name("tcb_t", 0) == "in_tell"
    assert types.name("pass_t", types.widths["pass_t"] - 1) == "valid"
    assert types.widths["range_t"] == 64
    assert types.widths["ranges_t"] == 256


@pytest.mark.long
def test_levels_are_of_the_field(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = OUT / "levels"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "all.f").write_text("p.sv\nm.sv\n")
    (folder / "p.sv").write_text(PACKAGE)
    (folder / "m.sv").write_text(MODULE)
    (folder / "requirements.txt").write_text("")
    for module in (filelist, synth):
        monkeypatch.setattr(module, "GATEWARE", folder)
    monkeypatch.setattr(synth, "KEPT", folder / "kept")
    luts, found = levels.ends("all.f", "m", {})
    assert luts >= 6  # two for the parity, one per bit of the sum
    assert found["a_o.kind"] == (0, "a_i.kind")  # a wire
    depth, first = found["a_o.odd"]
    # Nine bits, six per LUT: two levels by any mapper that minimizes depth, however it orders a
    # parity. For more bits the depth depends on the order: abc maps 35 bits to four levels.
    assert depth == 2
    assert first.startswith(("a_i.pair", "a_i.many", "a_i.odd"))
    assert found["a_o.in.low"][0] >= 2  # a LUT and the chain, or LUTs
