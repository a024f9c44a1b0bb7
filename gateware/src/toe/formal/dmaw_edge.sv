// SPDX-License-Identifier: Apache-2.0
// dmaw_edge.sv - the edge of toe_dmaw towards the bus, for any jobs and any bus, with queue
// pairs that are detached and resets at any time: an address stays until it is taken (A3.2.1),
// and so does a beat, with its strobes and everything that its data are computed from, also for
// a record; beats follow the address of their burst, as many as it announces, the last one
// marked; at most one address is ahead of the current burst. By induction, for all time.
//
// The order of bursts is an assumption here (a burst has beats; a record's first burst is
// followed by its second and its command): dmaw_jobs.sv proves it for some cycles. The data's
// bytes are not compared, only what they are computed from, because a record is too large for
// the solver: dmaw_random.sv checks the bytes.
`default_nettype none

module dmaw_edge
  import toe_pkg::*;
(
    input wire        clk_i,
    input wire        rst_ni,
    input wire        valid_i,
    input wire        kind_i,
    input wire [7:0]  to_i,
    input wire [7:0]  len_i,
    input wire [7:0]  offset_i,
    input wire [1:0]  flow_i,
    input wire        record_i,
    input wire [7:0]  fill_i,
    input wire        tail_valid_i,
    input wire [7:0]  tail_i,
    input wire        halt_i,
    input wire        closed_i,
    input wire [7:0]  data_i,
    input wire        aw_ready_i,
    input wire        w_ready_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  qp_config_t [0:0] qp;
  write_t job;
  always_comb begin
    qp = '0;
    qp[0].enable = 1'b1;
    qp[0].area = 64'h1_0000;
    qp[0].sw_at = 32'h1000;
    qp[0].hw_at = 32'h2000;
    qp[0].records_at = 32'h3000;
    qp[0].buffers_at = 32'h4000;
    qp[0].slots_log = 5'd1;
    qp[0].hw_log = 5'd2;
    qp[0].tx_log = 5'd6;
    qp[0].rx_log = 5'd7;
    job = '0;
    job.kind = write_e'(kind_i);
    job.flow = flow_t'(flow_i);
    job.buffer = buf_t'(fill_i);
    job.offset = 11'(offset_i);
    job.len = 16'(len_i);
    job.to = 32'(to_i);
    job.record = record_i;
    job.cmd = cmd_t'(fill_i);
    job.tcb.generation = 16'(fill_i);
  end

  logic aw_valid, w_valid, w_last;
  logic [63:0] aw_addr, w_strb;
  logic [7:0] aw_len;
  buf_t read_buffer;
  logic [4:0] read_line;
  toe_dmaw #(.Qps(1), .Sources(1)) u_dmaw (
      .clk_i, .rst_ni, .now_i('0), .qp_i(qp), .closed_i, .at_work_o(),
      .write_valid_i(valid_i), .write_ready_o(), .write_i(job),
      .tail_valid_i, .tail_ready_o(), .tail_qp_i('0), .tail_i(32'(tail_i)),
      .halt_i, .halt_qp_i('0), .path_at_o(), .path_i('0),
      .read_buffer_o(read_buffer), .read_line_o(read_line),
      .read_data_i({data_i, 496'd0, ~data_i}), .free_valid_o(), .free_o(),
      .aw_valid_o(aw_valid), .aw_ready_i, .aw_addr_o(aw_addr), .aw_len_o(aw_len),
      .w_valid_o(w_valid), .w_ready_i, .w_data_o(), .w_strb_o(w_strb), .w_last_o(w_last),
      .hw_head_o(), .written_o(), .written_qp_o(), .error_done_o(),
      .hw_tail_i('0), .irq_arm_i('0), .irq_seq_i('0), .irq_count_i('0), .irq_usec_i('0), .irq_o());

  // Packet buffers: whoever asks for the same line again gets the same.
  logic [14:0] line_q = '0, line_q2 = '0;
  logic [7:0] data_q = '0;
  always_ff @(posedge clk_i) begin
    line_q <= {read_buffer, read_line};
    line_q2 <= line_q;
    data_q <= data_i;
  end
  always_comb if (line_q == line_q2) assume (data_i == data_q);

  // What is aimed, by its kind_e. phase_q: 0 of no record, 1 behind its first burst, 2 behind its second.
  localparam logic [2:0] Record = 3'd1, RecordEnd = 3'd2, Command = 3'd3;
  logic [1:0] phase_q = '0;
  wire aims = u_dmaw.aims && rst_ni;
  wire first_part = u_dmaw.aimed.kind == Record;
  wire second_part = u_dmaw.aimed.kind == RecordEnd;
  always_comb
    if (aims)
      assume (u_dmaw.aimed.beats != 8'd0 && first_part == (phase_q == 2'd0 && first_part) &&
              second_part == (phase_q == 2'd1) &&
              (phase_q != 2'd2 || u_dmaw.aimed.kind == Command));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) phase_q <= 2'd0;
    else if (aims) phase_q <= first_part ? 2'd1 : (second_part ? 2'd2 : 2'd0);
  end

  // Remaining beats of the current burst, and of the next one, if its address was taken already.
  logic [7:0] left_q = '0, next_q = '0;
  wire aw = aw_valid && aw_ready_i;
  wire w = w_valid && w_ready_i;
  wire [7:0] left = left_q - 8'(w);
  wire [7:0] asked = aw ? aw_len + 8'd1 : 8'd0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {left_q, next_q} <= '0;
    else if (left != 8'd0) begin
      left_q <= left;
      if (aw) next_q <= asked;
    end else begin
      left_q <= (next_q != 8'd0) ? next_q : asked;
      next_q <= (next_q != 8'd0) ? asked : 8'd0;
    end
  end

  logic aw_held_q = 1'b0, w_held_q = 1'b0, wlast_q = 1'b0;
  logic [63:0] awaddr_q = '0, strb_q = '0;
  logic [7:0] awlen_q = '0;

  // What data are made of: lines of the packet buffer, a word, a record's job (made into bytes a cycle later).
  wire [2:0] kind = u_dmaw.burst_q.kind;
  wire [1029:0] lines = {data_i, 496'd0, ~data_i, u_dmaw.past_q, u_dmaw.shift_q};
  wire [133:0] word = {u_dmaw.burst_q.data, u_dmaw.burst_q.lane};
  logic [2:0] kind_q = '0;
  logic [1029:0] lines_q = '0;
  logic [133:0] word_q = '0;
  write_t record_q = '0;
  always_ff @(posedge clk_i) begin
    aw_held_q <= rst_ni && aw_valid && !aw_ready_i;
    w_held_q <= rst_ni && w_valid && !w_ready_i;
    {awaddr_q, awlen_q, strb_q, wlast_q} <= {aw_addr, aw_len, w_strb, w_last};
    {kind_q, lines_q, word_q} <= {kind, lines, word};
    record_q <= u_dmaw.record_job_q;
  end

  wire ahead = u_dmaw.ahead_valid_q;
  wire ahead_first = u_dmaw.ahead_q.kind == Record;
  wire ahead_second = u_dmaw.ahead_q.kind == RecordEnd;
  wire burst_first = u_dmaw.busy_q && u_dmaw.burst_q.kind == Record;
  wire burst_second = u_dmaw.busy_q && u_dmaw.burst_q.kind == RecordEnd;
  always_comb begin
    if (!first_q) begin
      if (aw_held_q) assert (aw_valid && aw_addr == awaddr_q && aw_len == awlen_q);
      if (w_held_q)
        assert (w_valid && w_strb == strb_q && w_last == wlast_q && kind == kind_q &&
                lines == lines_q && word == word_q);
      if (burst_first || burst_second) assert (u_dmaw.record_job_q == record_q);
      if (aw_valid) assert (next_q == 8'd0 && aw_addr[5:0] == 6'd0);
      if (w_valid) assert (left_q != 8'd0 && w_last == (left_q == 8'd1));
      // For induction: the same as the design has it.
      assert (u_dmaw.busy_q == (left_q != 8'd0));
      if (u_dmaw.busy_q) assert (u_dmaw.left_q == left_q);
      else assert (!u_dmaw.first_q);
      assert (!u_dmaw.given_q || (ahead && u_dmaw.busy_q));
      assert (next_q == (u_dmaw.given_q ? u_dmaw.ahead_q.beats : 8'd0));
      if (ahead) assert (u_dmaw.ahead_q.beats != 8'd0);
      if (u_dmaw.chosen_valid_q) assert (!ahead);
      if (u_dmaw.busy_q) assert (line_q == {u_dmaw.burst_q.buffer, u_dmaw.line_q});
      // A record stays while its bursts do.
      assert (phase_q != 2'd3);
      if (ahead) assert (ahead_first == (phase_q == 2'd1) && ahead_second == (phase_q == 2'd2));
      if (burst_first) assert (phase_q == (ahead ? 2'd2 : 2'd1));
      if (burst_second)
        assert (ahead ? phase_q == 2'd0 && u_dmaw.ahead_q.kind == Command
                      : phase_q == 2'd2);
    end
  end
endmodule

`default_nettype wire
