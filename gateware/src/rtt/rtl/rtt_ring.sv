// SPDX-License-Identifier: Apache-2.0
// rtt_ring.sv - a ring of samples of four words each (RING in device/rtt.rdl). While it is full,
// samples are dropped until the host moves the tail.
`resetall
`default_nettype none

module rtt_ring #(
    parameter int unsigned Bits = 9
) (
    input  wire                clk_i,
    input  wire                rst_ni,
    input  wire                valid_i,
    input  wire  [      127:0] sample_i,
    output logic               drop_o,    // in the cycle of valid_i
    output logic [       31:0] head_o,    // samples written since reset
    input  wire  [       31:0] tail_i,
    input  wire  [Bits+2-1:0] word_i,    // read address
    output logic [       31:0] word_o     // two cycles later
);
  logic [31:0] head_q;
  wire full = head_q - tail_i >= 32'(2 ** Bits);
  wire take = valid_i && !full;
  assign drop_o = valid_i && full;
  assign head_o = head_q;

  always_ff @(posedge clk_i) begin
    if (take) head_q <= head_q + 32'd1;
    if (!rst_ni) head_q <= '0;
  end

  logic [127:0] entry;
  sdp_ram #(.Width(128), .AddrBits(Bits)) u_entries (
      .clk_i, .write_i(take), .waddr_i(head_q[Bits-1:0]), .wdata_i(sample_i),
      .raddr_i(word_i[Bits+1:2]), .rdata_o(entry));

  logic [1:0] part_q;
  always_ff @(posedge clk_i) begin
    part_q <= word_i[1:0];
    word_o <= entry[32*part_q+:32];
  end

endmodule

`resetall
