// SPDX-License-Identifier: Apache-2.0
// chip_mac_rx.sv - frames from a GMII as words, without preamble, with their FCS (IEEE 802.3, clause 35).
// All of it is in the clock of the PHY. A frame whose FCS is wrong, in which the PHY reports an
// error, or of which a word found no room, ends with `bad`.
`resetall
`default_nettype none

module chip_mac_rx
  import chip_pkg::*;
(
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire [7:0]  rxd_i,
  input  wire        rx_dv_i,
  input  wire        rx_er_i,

  output wire        valid_o,
  input  wire        ready_i,
  output wire word_t word_o
);

  typedef enum logic [1:0] {
    Idle,      // between frames, and in a preamble
    Frame,
    Skip       // what began without a preamble, until it ends
  } state_e;

  localparam logic [7:0] Preamble = 8'h55, Start = 8'hd5;

  state_e state_q;
  logic [31:0] word_q, crc_q;
  logic [2:0] bytes_q;   // in word_q
  logic bad_q;

  // A full word is given when the next byte comes, or the frame ends with it.
  wire ends = state_q == Frame && !rx_dv_i;
  wire full = state_q == Frame && rx_dv_i && bytes_q == 3'd4;
  assign valid_o = full || (ends && bytes_q != '0);
  assign word_o.data = word_q;
  assign word_o.last = ends;
  assign word_o.more = 2'(bytes_q - 3'd1);
  assign word_o.bad = ends && (bad_q || crc_q != CrcGood);

  always_ff @(posedge clk_i) begin
    if (state_q == Frame && rx_dv_i) begin
      word_q[8*bytes_q[1:0]+:8] <= rxd_i;   // of a full one: 4 modulo 4
      bytes_q <= full ? 3'd1 : bytes_q + 3'd1;
      crc_q <= crc_byte(crc_q, rxd_i);
      bad_q <= bad_q || rx_er_i || (full && !ready_i);
    end else begin
      bytes_q <= '0;
      crc_q <= '1;
      bad_q <= 1'b0;
    end
    if (!rst_ni) state_q <= Idle;
    else if (!rx_dv_i) state_q <= Idle;
    else if (state_q == Idle && rxd_i == Start && !rx_er_i) state_q <= Frame;
    else if (state_q == Idle && (rxd_i != Preamble || rx_er_i)) state_q <= Skip;
  end

endmodule

`resetall
