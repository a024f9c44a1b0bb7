// SPDX-License-Identifier: Apache-2.0
// rtt_hist.sv - counts samples in 1024 bins of their time. A sample a cycle.
//
// x = time - base:  x < 512 bin x;  512 <= x bin 512 + 16 (e - 9) + the 4 bits below the highest one,
// e = the highest one's place (9..31);  time < base: bin 1023.
//
// Two banks: one counts, the other holds the snapshot. token_i, which goes the way of the samples,
// exchanges them: samples before it are in the snapshot, those after it are not. Before the token,
// clear_i empties the bank that holds the old snapshot.
`resetall
`default_nettype none

module rtt_hist (
    input  wire         clk_i,
    input  wire         rst_ni,
    input  wire  [31:0] base_i,
    input  wire         token_i,
    input  wire         valid_i,
    input  wire  [31:0] time_i,
    input  wire         clear_i,
    output logic        cleared_o,  // in the last cycle of clearing
    input  wire  [ 9:0] bin_i,      // of the snapshot, to read
    output logic [31:0] count_o     // two cycles later
);
  localparam int unsigned Linear = 512;

  // 1: distance from the base, and which bank
  logic valid_q1, below_q1, bank_q1;
  logic [31:0] x_q1;
  always_ff @(posedge clk_i) begin
    valid_q1 <= valid_i;
    below_q1 <= time_i < base_i;
    x_q1     <= time_i - base_i;
    bank_q1  <= bank_q1 ^ token_i;
    if (!rst_ni) begin
      valid_q1 <= 1'b0;
      bank_q1  <= 1'b0;
    end
  end

  // 2: the place of the highest one
  logic valid_q2, below_q2, bank_q2;
  logic [31:0] x_q2;
  logic [4:0] place_q2;
  always_ff @(posedge clk_i) begin
    valid_q2 <= valid_q1;
    below_q2 <= below_q1;
    bank_q2  <= bank_q1;
    x_q2     <= x_q1;
    place_q2 <= 5'd0;
    for (int i = 9; i < 32; i++) if (x_q1[i]) place_q2 <= 5'(i);
    if (!rst_ni) valid_q2 <= 1'b0;
  end

  // A: the bin
  logic valid_a, bank_a;
  logic [9:0] bin_a;
  wire [3:0] below_place = 4'(x_q2 >> (place_q2 - 5'd4));
  always_ff @(posedge clk_i) begin
    valid_a <= valid_q2;
    bank_a  <= bank_q2;
    if (below_q2) bin_a <= 10'd1023;
    else if (place_q2 == 5'd0) bin_a <= x_q2[9:0];
    else bin_a <= 10'(Linear) + {1'b0, place_q2 - 5'd9, below_place};
    if (!rst_ni) valid_a <= 1'b0;
  end

  // Clearing: all bins of the bank that does not count.
  logic clearing_q, clear_bank_q;
  logic [9:0] clear_bin_q;
  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      clearing_q   <= 1'b1;
      clear_bank_q <= !bank_q1;
      clear_bin_q  <= '0;
    end else if (clearing_q) begin
      clear_bin_q <= clear_bin_q + 1'b1;
      clearing_q  <= clear_bin_q != '1;
    end
    if (!rst_ni) clearing_q <= 1'b0;
  end
  assign cleared_o = clearing_q && clear_bin_q == '1;

  // B, D, W: read, add, write, for each bank; the one that does not count is the host's to read.
  logic valid_b, valid_d, bank_b, bank_d, read_bank_q1, read_bank_q2;
  logic [9:0] bin_b, bin_d;
  always_ff @(posedge clk_i) begin
    {valid_b, bank_b, bin_b}     <= {valid_a, bank_a, bin_a};
    {valid_d, bank_d, bin_d}     <= {valid_b, bank_b, bin_b};
    {read_bank_q2, read_bank_q1} <= {read_bank_q1, !bank_q1};
    if (!rst_ni) {valid_b, valid_d} <= '0;
  end

  logic [31:0] seen[2];
  for (genvar b = 0; b < 2; b++) begin : g_bank
    logic write_q;
    logic [9:0] waddr_q;
    logic [31:0] wdata_q;
    wire count = valid_d && bank_d == 1'(b);
    wire clear = clearing_q && clear_bank_q == 1'(b);
    always_ff @(posedge clk_i) begin
      write_q <= count || clear;
      waddr_q <= count ? bin_d : clear_bin_q;
      wdata_q <= count ? seen[b] + 32'd1 : 32'd0;
      if (!rst_ni) write_q <= 1'b0;
    end
    rtt_view #(.Width(32), .Bits(10)) u_bins (
        .clk_i, .write_i(write_q), .waddr_i(waddr_q), .wdata_i(wdata_q),
        .addr_a_i(valid_a && bank_a == 1'(b) ? bin_a : bin_i), .data_d_o(seen[b]));
  end

  assign count_o = seen[read_bank_q2];

endmodule

`resetall
