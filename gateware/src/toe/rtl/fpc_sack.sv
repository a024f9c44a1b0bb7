// SPDX-License-Identifier: Apache-2.0
// fpc_sack.sv - one of the SACK ranges of an ACK comes onto the board (RFC 2018, RFC 6675 4). Four of
// these follow each other.
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
  range_t x;

  always_comb begin
    c = c_i;
    x = c_i.seg.opt.sack[Index];
    // What does not lie in what is outstanding is a DSACK, or made up.
    if (seq_lt(x.start, c_i.t.snd_una)) x.start = c_i.t.snd_una;
    list = put_sorted(c_i.t.sacked, c_i.t.board, x);
    if (c_i.valid && c_i.go_ack && c_i.t.sack && 3'(Index) < c_i.seg.opt.sacks &&
        seq_lt(c_i.seg.opt.sack[Index].start, c_i.seg.opt.sack[Index].stop) &&
        seq_lt(x.start, x.stop) && seq_le(x.stop, c_i.t.snd_nxt)) begin
      c.t.sacked = list.n;
      c.t.board = list.r;
    end
  end

  assign c_o = c;

endmodule

`resetall
