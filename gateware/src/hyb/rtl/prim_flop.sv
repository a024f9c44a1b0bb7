// SPDX-License-Identifier: Apache-2.0
// prim_flop.sv - Ibex's register with an asynchronous reset.
`resetall
`default_nettype none

module prim_flop #(
  parameter int unsigned Width = 1,
  parameter logic [Width-1:0] ResetValue = '0
) (
  input  wire              clk_i,
  input  wire              rst_ni,
  input  wire  [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) q_o <= ResetValue;
    else q_o <= d_i;
  end

endmodule

`resetall
