// SPDX-License-Identifier: Apache-2.0
// chip_tx.sv - beats of 8 bytes, as hyb_send gives frames, as words of 4 for the MAC.
`resetall
`default_nettype none

module chip_tx
  import chip_pkg::*;
(
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire [63:0] s_tdata_i,
  input  wire [7:0]  s_tkeep_i,
  input  wire        s_tvalid_i,
  input  wire        s_tlast_i,
  output wire        s_tready_o,

  output wire        valid_o,
  input  wire        ready_i,
  output wire word_t word_o
);

  logic upper_q;                             // the lower half of the beat is given
  wire two = s_tkeep_i[4];                   // both halves have bytes
  wire [3:1] keep = upper_q ? s_tkeep_i[7:5] : s_tkeep_i[3:1];  // a first byte is always there

  assign valid_o = s_tvalid_i;
  assign word_o.bad = 1'b0;
  assign word_o.data = upper_q ? s_tdata_i[63:32] : s_tdata_i[31:0];
  assign word_o.last = s_tlast_i && (upper_q || !two);
  assign word_o.more = keep[3] ? 2'd3 : keep[2] ? 2'd2 : keep[1] ? 2'd1 : 2'd0;
  assign s_tready_o = ready_i && (upper_q || !two);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) upper_q <= 1'b0;
    else if (s_tvalid_i && ready_i) upper_q <= two && !upper_q;
  end

  wire unused = s_tkeep_i[0];

endmodule

`resetall
