// SPDX-License-Identifier: Apache-2.0
// chip_fifo.sv - a FIFO between two clocks. Each side knows the other's count as a Gray code through two
// registers, so a count that is read while it changes is the old or the new one.
`resetall
`default_nettype none

module chip_fifo #(
  parameter int unsigned Width = 36,
  parameter int unsigned AddrBits = 4
) (
  input  wire             w_clk_i,
  input  wire             w_rst_ni,
  input  wire             w_valid_i,
  output wire             w_ready_o,
  input  wire [Width-1:0] w_data_i,

  input  wire             r_clk_i,
  input  wire             r_rst_ni,
  output wire             r_valid_o,
  input  wire             r_ready_i,
  output wire [Width-1:0] r_data_o
);

  typedef logic [AddrBits:0] count_t;

  function automatic count_t gray(input count_t n);
    return n ^ (n >> 1);
  endfunction

  logic [Width-1:0] memory[2**AddrBits];
  count_t w_q, r_q;              // entries written, read
  count_t w_gray_q, r_gray_q;
  count_t w_seen_q, w_meta_q;    // w_gray_q, on the reading side
  count_t r_seen_q, r_meta_q;    // r_gray_q, on the writing side

  // ---- writing side ----
  // Full: the counts differ by the size, whose Gray code differs in the two upper bits.
  assign w_ready_o = w_gray_q != (r_seen_q ^ (count_t'(3) << (AddrBits - 1)));
  wire writes = w_valid_i && w_ready_o;

  always_ff @(posedge w_clk_i) begin
    if (writes) memory[w_q[AddrBits-1:0]] <= w_data_i;
    if (!w_rst_ni) begin
      w_q <= '0;
      w_gray_q <= '0;
      r_meta_q <= '0;
      r_seen_q <= '0;
    end else begin
      w_q <= w_q + count_t'(writes);
      w_gray_q <= gray(w_q + count_t'(writes));
      r_meta_q <= r_gray_q;
      r_seen_q <= r_meta_q;
    end
  end

  // ---- reading side ----
  assign r_valid_o = r_gray_q != w_seen_q;
  assign r_data_o = memory[r_q[AddrBits-1:0]];
  wire reads = r_valid_o && r_ready_i;

  always_ff @(posedge r_clk_i) begin
    if (!r_rst_ni) begin
      r_q <= '0;
      r_gray_q <= '0;
      w_meta_q <= '0;
      w_seen_q <= '0;
    end else begin
      r_q <= r_q + count_t'(reads);
      r_gray_q <= gray(r_q + count_t'(reads));
      w_meta_q <= w_gray_q;
      w_seen_q <= w_meta_q;
    end
  end

endmodule

`resetall
