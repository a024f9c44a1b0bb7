// SPDX-License-Identifier: Apache-2.0
// hist.sv - each sample is counted once, in its bin and in the snapshot that it belongs to, whatever
// its time and the base are, and whatever came in the cycles around it. Two bins are followed, the
// even and the odd ones; clearing and tokens come no closer than rtt_core.sv lets them.
`default_nettype none

module hist (
    input wire        clk_i,
    input wire        rst_ni,
    input wire [31:0] base_i,
    input wire        token_i,
    input wire        valid_i,
    input wire [31:0] time_i,
    input wire        clear_i,
    input wire        bin_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);
  logic [31:0] base_q;
  always_ff @(posedge clk_i) base_q <= base_i;
  always_comb if (!first_q) assume (base_i == base_q);

  logic cleared;
  logic [31:0] count;
  rtt_hist #(
      .BinBits(1)
  ) u_hist (
      .clk_i, .rst_ni, .base_i, .token_i, .valid_i, .time_i, .clear_i, .cleared_o(cleared), .bin_i,
      .count_o(count));

  // What rtt_core does: clear; when that is done, and what was on its way has come, the token.
  localparam logic [3:0] Settled = 4'd9;
  logic [3:0] since_token_q = '1, since_clear_q = '1;
  always_ff @(posedge clk_i) begin
    if (token_i) since_token_q <= '0;
    else if (since_token_q != '1) since_token_q <= since_token_q + 4'd1;
    if (clear_i) since_clear_q <= '0;
    else if (since_clear_q != '1) since_clear_q <= since_clear_q + 4'd1;
  end
  always_comb begin
    if (token_i) assume (since_clear_q >= 4'd5 && since_token_q >= Settled && !clear_i);
    if (clear_i) assume (since_token_q >= Settled && since_clear_q >= 4'd5);
    if (first_q) assume (!token_i && !clear_i && !valid_i);
  end

  // The bin, as the head of rtt_hist.sv has it.
  function automatic logic bin_of(input logic [31:0] ticks, input logic [31:0] base);
    logic [31:0] x;
    logic found;
    x = ticks - base;
    found = x[0];  // below 512 the distance itself
    for (int n = 9; n < 32; n++) if (x[n]) found = x[n-4];
    return ticks < base ? 1'b1 : found;
  endfunction

  // [bank][bin]; what is cleared counts from nothing when its turn comes.
  logic bank_q = 1'b0;
  wire bank = bank_q ^ token_i;
  logic [3:0] all_q[2][2];
  logic [2:0] bin_q = '0;  // what is asked for, until its count is there
  wire of = bin_of(time_i, base_i);
  always_ff @(posedge clk_i) begin
    bank_q <= bank;
    bin_q  <= {bin_q[1:0], bin_i};
    if (valid_i) all_q[bank][of] <= all_q[bank][of] + 4'd1;
    if (clear_i) begin
      all_q[!bank][0] <= '0;
      all_q[!bank][1] <= '0;
    end
    if (first_q) begin
      for (int b = 0; b < 2; b++) for (int i = 0; i < 2; i++) all_q[b][i] <= '0;
    end
  end

  always_comb begin
    if (!first_q && since_token_q >= 4'd12 && since_clear_q >= 4'd8)
      assert (count == {28'd0, all_q[!bank_q][bin_q[2]]});
  end
endmodule
