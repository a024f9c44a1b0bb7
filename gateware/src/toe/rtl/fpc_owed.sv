// SPDX-License-Identifier: Apache-2.0
// fpc_owed.sv - counts the bytes not yet reported to the host: received ones, acknowledged ones.
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
  input  wire tcb_t        tcb_i,
  input  wire unreported_t unreported_i,  // Step 1: what Step 0 has found
  output wire unreported_t unreported_o
);

  unreported_t u;

  always_comb begin
    u = unreported_i;
    if (Step == 0) begin
      u.rx = tcb_i.rcv_nxt - 32'(tcb_i.fin_in) - tcb_i.told_rx;
      u.tx = seq_min(tcb_i.snd_una, tcb_i.snd_end) - tcb_i.told_tx;
    end else begin
      u.some_rx = !tcb_i.gone && unreported_i.rx != 32'd0;
      // Before the handshake completes, SND.UNA is the SYN.
      u.some_tx = !tcb_i.gone && !unreported_i.tx[31] && unreported_i.tx != 32'd0;
    end
  end

  assign unreported_o = u;

endmodule

`resetall
