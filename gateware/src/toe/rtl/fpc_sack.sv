// SPDX-License-Identifier: Apache-2.0
// fpc_sack.sv - puts one SACK range of an ACK onto the board (RFC 2018, RFC 6675 4). Four of these follow
// each other, one for each range; fpc_ack has decided which ranges count.
`resetall
`default_nettype none

module fpc_sack
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire              ok_i,      // the range counts
  input  wire range_t      range_i,
  input  wire [2:0]        sacked_i,  // ranges on the board
  input  wire ranges_t     board_i,
  output wire [2:0]        sacked_o,  // ... and with this one
  output wire ranges_t     board_o
);

  list_t list;
  assign list = put_sorted(sacked_i, board_i, range_i);
  assign sacked_o = ok_i ? list.n : sacked_i;
  assign board_o = ok_i ? list.r : board_i;

  wire unused = &{1'b0, list.full};

endmodule

`resetall
