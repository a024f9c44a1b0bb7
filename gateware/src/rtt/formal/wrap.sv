// SPDX-License-Identifier: Apache-2.0
// wrap.sv - the difference of two stamps is the time between them, for every value of the counter
// and every time below 2^32 ticks; the halves of the counter carry as one number of 64 bits does.
`default_nettype none

module wrap (
    input wire        clk_i,
    input wire        rst_ni,
    input wire [63:0] then_i,  // any instant
    input wire [31:0] time_i   // any time after it
);
  wire [63:0] now = then_i + {32'd0, time_i};

  logic [63:0] count, before_q;
  logic        first_q = 1'b1;
  rtt_counter #(.Start(64'hffff_fffd)) u_counter (.clk_i, .rst_ni, .now_o(count));

  always_ff @(posedge clk_i) begin
    first_q  <= 1'b0;
    before_q <= count;
  end

  logic reset_q = 1'b1;
  always_ff @(posedge clk_i) reset_q <= !rst_ni;

  always_comb if (first_q) assume (!rst_ni);

  // The invariant of the counter that induction needs: its look-ahead is correct.
  always_comb begin
    if (!first_q) begin
      assert (u_counter.carry_q == (&u_counter.lo_q));
      if (reset_q) assert (count == 64'hffff_fffd);
      else assert (count == before_q + 64'd1);
    end
    assert (rtt_pkg::elapsed(now[31:0], then_i[31:0]) == time_i);
  end
endmodule
