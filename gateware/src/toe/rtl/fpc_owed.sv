// SPDX-License-Identifier: Apache-2.0
// fpc_owed.sv - bytes that the host has not been told of: received ones, acknowledged ones.
//
//   Step 0   how many
//   Step 1   are there any
`resetall
`default_nettype none

module fpc_owed
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  ctx_t c;

  always_comb begin
    c = c_i;
    if (Step == 0) begin
      c.new_rx = c_i.t.rcv_nxt - 32'(c_i.t.fin_in) - c_i.t.told_rx;
      c.new_tx = seq_min(c_i.t.snd_una, c_i.t.snd_end) - c_i.t.told_tx;
    end else begin
      c.some_rx = !c_i.t.gone && c_i.new_rx != 32'd0;
      // Before the handshake is over SND.UNA is the SYN.
      c.some_tx = !c_i.t.gone && !c_i.new_tx[31] && c_i.new_tx != 32'd0;
    end
  end

  assign c_o = c;

endmodule

`resetall
