// SPDX-License-Identifier: Apache-2.0
// chip_reset.sv - a reset for one clock: begins at once, ends two cycles of the clock after rst_ni.
`resetall
`default_nettype none

module chip_reset (
  input  wire clk_i,
  input  wire rst_ni,   // of any clock
  output wire rst_no
);

  logic [1:0] up_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= '0;
    else up_q <= {up_q[0], 1'b1};
  end
  assign rst_no = up_q[1];

endmodule

`resetall
