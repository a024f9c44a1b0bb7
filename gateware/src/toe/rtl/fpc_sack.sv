// SPDX-License-Identifier: Apache-2.0
// fpc_sack.sv - one of the SACK ranges of an ACK comes onto the board (RFC 2018, RFC 6675 4). Four of
// these follow each other; fpc_ack has said which count.
`resetall
`default_nettype none

module fpc_sack
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Index = 0
) (
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  ctx_t  c;
  list_t list;

  always_comb begin
    c = c_i;
    list = put_sorted(c_i.t.sacked, c_i.t.board, c_i.seg.opt.sack[Index]);
    if (c_i.valid && c_i.sack_ok[Index]) begin
      c.t.sacked = list.n;
      c.t.board = list.r;
    end
    if (Index == 0) c.sacked_old = bytes_of(c_i.t.sacked, c_i.t.board);
  end

  assign c_o = c;

endmodule

`resetall
