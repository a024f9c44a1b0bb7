// SPDX-License-Identifier: Apache-2.0
// rtt_hist.sv - counts samples in 1024 bins of their time. One sample per cycle.
//
// x = time - base:  x < 512 bin x;  512 <= x bin 512 + 16 octave + the 4 bits below the highest one,
// octave = the position of the highest one (9..31) - 9;  time < base: bin 1023.
//
// Two banks: one counts, the other holds the snapshot. token_i passes through the same pipeline as
// the samples and swaps the banks: samples before it are in the snapshot, those after it are not.
// Before the token, clear_i clears the bank of the old snapshot.
`resetall
`default_nettype none

module rtt_hist #(
    parameter int unsigned BinBits = 10  // fewer in proofs: the low bits of the bin
) (
    input  wire         clk_i,
    input  wire         rst_ni,
    input  wire  [31:0] base_i,
    input  wire         token_i,
    input  wire         valid_i,
    input  wire  [31:0] time_i,
    input  wire         clear_i,
    output logic        cleared_o,  // in the last cycle of clearing
    input  wire  [BinBits-1:0] bin_i,      // read address in the snapshot
    output logic [31:0] count_o     // three cycles later
);
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

  // 2: the octave: the position of the highest one above the linear part, in three groups of eight
  logic valid_q2, below_q2, bank_q2;
  logic [31:0] x_q2;
  logic [2:0] any_q2;
  logic [2:0][2:0] place_q2;
  wire [2:0][7:0] groups = {1'b0, x_q1[31:9]};
  always_ff @(posedge clk_i) begin
    valid_q2 <= valid_q1;
    below_q2 <= below_q1;
    bank_q2  <= bank_q1;
    x_q2     <= x_q1;
    for (int g = 0; g < 3; g++) begin
      any_q2[g] <= |groups[g];
      place_q2[g] <= {
        |groups[g][7:4],
        |groups[g][7:6] || (groups[g][5:4] == '0 && |groups[g][3:2]),
        groups[g][7] || (!groups[g][6] && (groups[g][5] || (!groups[g][4] &&
            (groups[g][3] || (!groups[g][2] && groups[g][1])))))
      };
    end
    if (!rst_ni) valid_q2 <= 1'b0;
  end

  // 3: the group
  logic valid_q3, below_q3, bank_q3, linear_q3;
  logic [31:0] x_q3;
  logic [4:0] octave_q3;
  always_ff @(posedge clk_i) begin
    valid_q3  <= valid_q2;
    below_q3  <= below_q2;
    bank_q3   <= bank_q2;
    x_q3      <= x_q2;
    linear_q3 <= any_q2 == '0;
    if (any_q2[2]) octave_q3 <= {2'd2, place_q2[2]};
    else if (any_q2[1]) octave_q3 <= {2'd1, place_q2[1]};
    else octave_q3 <= {2'd0, place_q2[0]};
    if (!rst_ni) valid_q3 <= 1'b0;
  end

  // A: the bin
  logic valid_a, bank_a;
  logic [BinBits-1:0] bin_a;
  wire [3:0] behind = 4'(x_q3[31:5] >> octave_q3);  // the four bits below the highest one
  always_ff @(posedge clk_i) begin
    valid_a <= valid_q3;
    bank_a  <= bank_q3;
    if (below_q3) bin_a <= '1;
    else if (linear_q3) bin_a <= x_q3[BinBits-1:0];
    else bin_a <= BinBits'({1'b1, octave_q3, behind});
    if (!rst_ni) valid_a <= 1'b0;
  end

  // Clears all bins of the bank that does not count.
  logic clearing_q, clear_bank_q;
  logic [BinBits-1:0] clear_bin_q;
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

  // B, D, W: read, add, write, for each bank; the host reads the bank that does not count.
  logic valid_b, valid_d, bank_b, bank_d, read_bank_q1, read_bank_q2;
  logic [BinBits-1:0] bin_b, bin_d;
  always_ff @(posedge clk_i) begin
    {valid_b, bank_b, bin_b}     <= {valid_a, bank_a, bin_a};
    {valid_d, bank_d, bin_d}     <= {valid_b, bank_b, bin_b};
    {read_bank_q2, read_bank_q1} <= {read_bank_q1, !bank_q1};
    if (!rst_ni) {valid_b, valid_d} <= '0;
  end

  logic [31:0] seen[2], unused_early[2];
  for (genvar b = 0; b < 2; b++) begin : g_bank
    logic write_q;
    logic [31:0] wdata_q;
    wire count = valid_d && bank_d == 1'(b);
    wire clear = clearing_q && clear_bank_q == 1'(b);
    always_ff @(posedge clk_i) begin
      write_q <= count || clear;
      wdata_q <= count ? seen[b] + 32'd1 : 32'd0;
      if (!rst_ni) write_q <= 1'b0;
    end
    rtt_view #(.Width(32), .Bits(BinBits), .Wait(0)) u_bins (
        .clk_i, .waddr_d_i(count ? bin_d : clear_bin_q), .write_i(write_q), .wdata_i(wdata_q),
        .addr_a_i(valid_a && bank_a == 1'(b) ? bin_a : bin_i), .early_o(unused_early[b]),
        .data_d_o(seen[b]));
  end

  always_ff @(posedge clk_i) count_o <= seen[read_bank_q2];

endmodule

`resetall
