// SPDX-License-Identifier: Apache-2.0
// dmaw.sv - payload is written only into the receive buffer of its flow, at any position in the
// stream and in its packet, also around the buffer's end; its packet buffer is freed at most
// once.
`default_nettype none

module dmaw
  import toe_pkg::*;
(
    input wire        clk_i,
    input wire        rst_ni,
    input wire [31:0] to_i,
    input wire [7:0]  len_i,
    input wire [7:0]  offset_i,
    input wire        slot_i,
    input wire        aw_ready_i,
    input wire        w_ready_i
);
  localparam logic [63:0] Buffers = 64'h1_4000;
  localparam logic [63:0] Each = 64'd64 + 64'd128;

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  qp_config_t [0:0] qp;
  always_comb begin
    qp = '0;
    qp[0].enable = 1'b1;
    qp[0].area = 64'h1_0000;
    qp[0].buffers_at = 32'h4000;
    qp[0].slots_log = 5'd1;
    qp[0].tx_log = 5'd6;
    qp[0].rx_log = 5'd7;
  end

  // One job: any that a window of the buffer's size permits.
  logic given_q = 1'b0, slot_q = 1'b0;
  write_t job;
  logic ready, freed;
  always_comb begin
    assume (len_i <= 8'd80);
    job = '0;
    job.kind = WrPlace;
    job.flow = flow_t'(slot_i);
    job.offset = 11'(offset_i);
    job.len = 16'(len_i);
    job.to = to_i;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && !given_q && ready) begin
      given_q <= 1'b1;
      slot_q <= slot_i;
    end
  end

  logic aw_valid, w_valid, w_last, at_work;
  logic [63:0] aw_addr, w_strb;
  logic [7:0] aw_len;
  toe_dmaw #(.Qps(1), .Sources(1)) u_dmaw (
      .clk_i, .rst_ni, .now_i('0), .qp_i(qp), .closed_i('0), .at_work_o(at_work),
      .write_valid_i(!given_q && rst_ni), .write_ready_o(ready), .write_i(job),
      .tail_valid_i(1'b0), .tail_ready_o(), .tail_qp_i('0), .tail_i('0),
      .halt_i(1'b0), .halt_qp_i('0), .path_at_o(), .path_i('0),
      .read_buffer_o(), .read_line_o(), .read_data_i('0),
      .free_valid_o(freed), .free_o(),
      .aw_valid_o(aw_valid), .aw_ready_i, .aw_addr_o(aw_addr), .aw_len_o(aw_len),
      .w_valid_o(w_valid), .w_ready_i, .w_data_o(), .w_strb_o(w_strb), .w_last_o(w_last),
      .hw_head_o(), .written_o(), .written_qp_o(), .error_done_o(),
      .hw_tail_i('0), .irq_arm_i('0), .irq_seq_i('0), .irq_count_i('0), .irq_usec_i('0), .irq_o());

  // The current burst: the address of its next beat, and how many are left. The next one, if its address
  // was taken before the current one ended.
  logic [63:0] at_q = '0, next_at_q = '0;
  logic [8:0] left_q = '0, next_left_q = '0;
  logic [1:0] frees_q = '0;
  wire aw = aw_valid && aw_ready_i && rst_ni;
  wire w = w_valid && w_ready_i && rst_ni;
  wire open = left_q > 9'(w);
  always_ff @(posedge clk_i) begin
    if (w) begin
      at_q <= at_q + 64'd64;
      left_q <= left_q - 9'd1;
    end
    if (!open) begin
      at_q <= (next_left_q != 9'd0) ? next_at_q : aw_addr;
      left_q <= (next_left_q != 9'd0) ? next_left_q : (aw ? 9'(aw_len) + 9'd1 : 9'd0);
      next_left_q <= '0;
    end
    if (aw && (open || next_left_q != 9'd0)) begin
      next_at_q <= aw_addr;
      next_left_q <= 9'(aw_len) + 9'd1;
    end
    if (freed && rst_ni) frees_q <= frees_q + 2'd1;
  end

  wire [63:0] base = Buffers + (slot_q ? Each : 64'd0) + 64'd64;
  always_comb begin
    if (!first_q && rst_ni) begin
      if (w_valid) begin
        assert (at_work);
        assert (left_q != 9'd0);
        assert (w_last == (left_q == 9'd1));
        // The buffer begins and ends at lines: a line that starts in it is all in it.
        assert (at_q[5:0] == 6'd0 && at_q >= base && at_q < base + 64'd128);
      end
      if (aw_valid) assert (at_work && next_left_q == 9'd0);
      assert (!(freed && frees_q != 2'd0));
    end
  end
endmodule
