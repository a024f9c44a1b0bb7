// SPDX-License-Identifier: Apache-2.0
// prim_clock_gating.sv - Ibex's clock gate: the clock always runs.
`resetall
`default_nettype none

module prim_clock_gating (
  input  wire clk_i,
  input  wire en_i,
  input  wire test_en_i,
  output wire clk_o
);

  wire unused_enables = en_i ^ test_en_i;
  assign clk_o = clk_i;

endmodule

`resetall
