// SPDX-License-Identifier: Apache-2.0
// buffers.sv - whatever the DFU's addresses are, the lines that are read are those of the burst's words in
// the send buffer that it names: of a slot that its queue pair has, and of a queue pair that is enabled
// and does not leave. No other line of host memory is read. By induction, for all time.
//
// Buffers have 8 and 16 lines here, in 4 slots of each of two queue pairs.
`default_nettype none

module buffers
  import toe_pkg::*;
(
    input wire            clk_i,
    input wire            rst_ni,
    input wire [1:0][7:0] area_i,      // in KiB
    input wire [1:0]      large_i,     // buffers of 1 KiB, else of 512 bytes
    input wire [1:0]      enable_i,
    input wire [1:0]      leaves_i,
    input wire            s_ar_valid_i,
    input wire [63:0]     s_ar_addr_i,
    input wire [7:0]      s_ar_len_i,
    input wire            s_r_ready_i,
    input wire            ar_ready_i,
    input wire            r_valid_i,
    input wire            r_bad_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  // The configuration of a queue pair stays while it is enabled: here always.
  logic [1:0][7:0] area_q;
  logic [1:0] large_q;
  always_ff @(posedge clk_i) begin
    area_q <= area_i;
    large_q <= large_i;
  end
  always_comb if (!first_q) assume (area_q == area_i && large_q == large_i);
  qp_config_t [1:0] qp;
  always_comb begin
    for (int i = 0; i < 2; i++) begin
      qp[i] = '0;
      qp[i].enable = enable_i[i];
      qp[i].area = {46'd0, area_i[i], 10'd0};
      qp[i].buffers_at = 32'd256;
      qp[i].slots_log = 5'd2;
      qp[i].tx_log = large_i[i] ? 5'd10 : 5'd9;
      qp[i].rx_log = qp[i].tx_log;
    end
  end

  // The DFU's bursts are words that no limit of 256 bytes divides.
  wire [5:0] last = {1'b0, s_ar_addr_i[7:3]} + {1'b0, s_ar_len_i[4:0]};
  always_comb assume (s_ar_len_i < 8'd32 && !last[5]);

  logic [1:0] at_work;
  logic s_ar_ready, s_r_valid, s_r_bad, ar_valid, r_ready;
  logic [63:0] s_r_data, ar_addr;
  logic [7:0] ar_len;
  hyb_buffers #(.Qps(2), .AheadBits(1)) u_buffers (
      .clk_i, .rst_ni, .qp_i(qp), .leaves_i, .at_work_o(at_work),
      .s_ar_valid_i, .s_ar_ready_o(s_ar_ready), .s_ar_addr_i, .s_ar_len_i,
      .s_r_valid_o(s_r_valid), .s_r_ready_i, .s_r_data_o(s_r_data), .s_r_bad_o(s_r_bad),
      .ar_valid_o(ar_valid), .ar_ready_i, .ar_addr_o(ar_addr), .ar_len_o(ar_len),
      .r_valid_i, .r_ready_o(r_ready), .r_data_i('0), .r_bad_i);

  // The burst that was taken, and the send buffer that it names.
  logic [63:0] asked_q = '0;
  logic [4:0] words_q = '0;
  always_ff @(posedge clk_i) begin
    if (s_ar_valid_i && s_ar_ready) begin
      asked_q <= s_ar_addr_i;
      words_q <= s_ar_len_i[4:0];
    end
  end
  wire [5:0] of_qp = asked_q[45:40];
  wire [15:0] slot = asked_q[63:48];
  wire q = of_qp[0];
  wire [31:0] size = large_i[q] ? 32'd1024 : 32'd512;
  wire [63:0] base = {46'd0, area_i[q], 10'd0} + 64'd256 + (64'(slot) << (large_i[q] ? 11 : 10));
  wire [31:0] at = asked_q[31:0] & (size - 32'd1);
  wire exists = of_qp < 6'd2 && slot < 16'd4;

  wire [63:0] first = ar_addr - base;                // in the buffer, of the first line
  wire [63:0] behind = first + (64'(ar_len) << 6) + 64'd64;
  always_comb begin
    if (!first_q && ar_valid) begin
      assert (exists && enable_i[q] && !leaves_i[q]);
      assert (first < 64'(size) && behind <= 64'(size));
      // The lines are those of the burst's words.
      assert (first[31:6] == at[31:6] && first[5:0] == '0);
      assert (8'(ar_len) == 8'((6'(at[5:3]) + 6'(words_q)) >> 3));
    end
  end

  // ---- what induction needs ----
  wire [1:0] step = u_buffers.step_q;                // 0 idle, 1 aim, 2 ask
  always_comb begin
    if (!first_q) begin
      assert (step != 2'd3);
      if (step != 2'd0) begin
        assert (u_buffers.qp_q == of_qp && u_buffers.slot_q == slot);
        assert (u_buffers.words_q == words_q);
        assert (6'(asked_q[7:3]) + 6'(words_q) < 6'd32);
      end
      if (step == 2'd1) assert (u_buffers.at_q == asked_q[31:0]);
      if (step == 2'd2) begin
        assert (u_buffers.at_q == at && u_buffers.base_q == base);
        assert (u_buffers.known_q == exists);
      end
    end
  end
endmodule

`default_nettype wire
