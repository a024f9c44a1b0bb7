// SPDX-License-Identifier: Apache-2.0
// prim_buf.sv - Ibex's buffer: a wire. Nothing here is hardened against faults.
`resetall
`default_nettype none

module prim_buf #(
  parameter int unsigned Width = 1
) (
  input  wire [Width-1:0] in_i,
  output wire [Width-1:0] out_o
);

  assign out_o = in_i;

endmodule

`resetall
