// SPDX-License-Identifier: Apache-2.0
// fpc_owed.sv - bytes that the host has not been told of: received ones, acknowledged ones.
`resetall
`default_nettype none

module fpc_owed
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  ctx_t c;
  seq_t acked;

  always_comb begin
    c = c_i;
    c.new_rx = c_i.t.rcv_nxt - 32'(c_i.t.fin_in) - c_i.t.told_rx;
    c.some_rx = !c_i.t.gone && c.new_rx != 32'd0;
    acked = seq_min(c_i.t.snd_una, c_i.t.snd_end);
    c.new_tx = acked - c_i.t.told_tx;
    // Before the handshake is over SND.UNA is the SYN.
    c.some_tx = !c_i.t.gone && !c.new_tx[31] && c.new_tx != 32'd0;
  end

  assign c_o = c;

endmodule

`resetall
