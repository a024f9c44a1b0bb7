// SPDX-License-Identifier: Apache-2.0
// rtt_counter.sv - the clock of the stamps (S5.1): one count per cycle, 64 bits.
//
// Stamps are the low 32 bits. A difference of two stamps is taken modulo 2^32 (rtt_pkg::elapsed), so
// a wrap between them is harmless: at 250 MHz, times up to 17.18 s are measured correctly. (Adding
// 0xffffffff to a negative difference, as S5's text does, would be one tick short.)
`resetall
`default_nettype none

module rtt_counter #(
    parameter logic [63:0] Start = 64'd0  // for tests that cross the wrap
) (
    input  wire        clk_i,
    input  wire        rst_ni,
    output      logic [63:0] now_o
);

  // Two halves with a registered carry: whether the lower half is all ones is computed a cycle
  // early, so the carry chain has 32 bits instead of 64.
  logic [31:0] lo_q, hi_q;
  logic        carry_q;  // lo_q is all ones

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      lo_q    <= Start[31:0];
      hi_q    <= Start[63:32];
      carry_q <= &Start[31:0];
    end else begin
      lo_q    <= lo_q + 32'd1;
      carry_q <= lo_q == 32'hffff_fffe;
      if (carry_q) hi_q <= hi_q + 32'd1;
    end
  end

  assign now_o = {hi_q, lo_q};

endmodule

`resetall
