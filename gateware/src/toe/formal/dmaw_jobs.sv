// SPDX-License-Identifier: Apache-2.0
// dmaw_jobs.sv - the jobs of toe_dmaw, from two sources, with tails beside them: each job that
// is taken is done once, in the order of taking, and none is lost. For payload, all its bytes
// are written, no more, then its buffer is freed. For a command, its record is written, if it
// has one, then itself, then it is reported as written. The tail and the head in memory announce
// nothing before it is written. Also proves what dmaw_edge.sv assumes. Two jobs, in as many
// cycles as edges.toml says (a first beat comes in the seventh); payload in pieces of 16 bytes:
// dmaw_random.sv checks single bytes.
`default_nettype none

module dmaw_jobs
  import toe_pkg::*;
(
    input wire       clk_i,
    input wire       rst_ni,
    input wire [1:0] valid_i,
    input wire       kind_i,
    input wire [2:0] to_i,
    input wire [2:0] len_i,
    input wire [1:0] offset_i,
    input wire       record_i,
    input wire       done_i,
    input wire       buffer_i,
    input wire       tail_i,
    input wire       aw_ready_i,
    input wire       w_ready_i
);
  localparam logic [63:0] Status = 64'h1_0000, Ring = 64'h1_2000;

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  qp_config_t [0:0] qp;
  write_t [1:0] job;
  always_comb begin
    qp = '0;
    qp[0].enable = 1'b1;
    qp[0].area = Status;
    qp[0].hw_at = 32'h2000;
    qp[0].records_at = 32'h3000;
    qp[0].buffers_at = 32'h4000;
    qp[0].hw_log = 5'd2;
    qp[0].tx_log = 5'd6;
    qp[0].rx_log = 5'd7;
    job = '0;
    for (int s = 0; s < 2; s++) begin
      job[s].kind = write_e'(kind_i);
      job[s].buffer = buf_t'({buffer_i, 1'(s)});
      job[s].offset = 11'({offset_i, 4'd0});
      job[s].len = 16'({len_i, 4'd0});
      job[s].to = 32'({to_i, 4'd0});
      job[s].record = record_i && kind_i;
      job[s].done = done_i && kind_i;
    end
  end

  logic [1:0] ready;
  logic tail_ready, aw_valid, w_valid, w_last, at_work, freed, written, error_done;
  logic [63:0] aw_addr, w_strb;
  logic [7:0] aw_len;
  logic [511:0] w_data;
  buf_t free;
  logic tail_valid_q = 1'b0;
  toe_dmaw #(.Qps(1), .Sources(2)) u_dmaw (
      .clk_i, .rst_ni, .now_i('0), .qp_i(qp), .closed_i(1'b0), .at_work_o(at_work),
      .write_valid_i(valid_i), .write_ready_o(ready), .write_i(job),
      .tail_valid_i(tail_valid_q), .tail_ready_o(tail_ready), .tail_qp_i('0), .tail_i(32'h5a),
      .halt_i(1'b0), .halt_qp_i('0), .path_at_o(), .path_i('0),
      .read_buffer_o(), .read_line_o(), .read_data_i('0), .free_valid_o(freed), .free_o(free),
      .aw_valid_o(aw_valid), .aw_ready_i, .aw_addr_o(aw_addr), .aw_len_o(aw_len),
      .w_valid_o(w_valid), .w_ready_i, .w_data_o(w_data), .w_strb_o(w_strb), .w_last_o(w_last),
      .hw_head_o(), .written_o(written), .written_qp_o(), .error_done_o(error_done),
      .hw_tail_i('0), .irq_arm_i('0), .irq_seq_i('0), .irq_count_i('0), .irq_usec_i('0), .irq_o());

  // Where the beats go: the current burst, and the next one, if its address was taken already.
  logic [63:0] at_q = '0, next_at_q = '0;
  logic [7:0] left_q = '0, next_left_q = '0;
  wire aw = aw_valid && aw_ready_i && rst_ni;
  wire w = w_valid && w_ready_i && rst_ni;
  wire [7:0] left = left_q - 8'(w);
  always_ff @(posedge clk_i) begin
    if (left != 8'd0) begin
      left_q <= left;
      if (aw) {next_at_q, next_left_q} <= {aw_addr, aw_len + 8'd1};
    end else if (next_left_q != 8'd0) begin
      {at_q, left_q} <= {next_at_q, next_left_q};
      {next_at_q, next_left_q} <= {aw_addr, aw ? aw_len + 8'd1 : 8'd0};
    end else {at_q, left_q} <= {aw_addr, aw ? aw_len + 8'd1 : 8'd0};
  end
  wire is_status = at_q < Ring;
  wire [3:0] strobes = {w_strb[48], w_strb[32], w_strb[16], w_strb[0]};
  wire [2:0] quads = 3'(strobes[0]) + 3'(strobes[1]) + 3'(strobes[2]) + 3'(strobes[3]);

  // The jobs that were taken and are not done, the first one at [0]; what is written of it, in quads of
  // 16 bytes.
  typedef struct packed {
    logic       command;
    logic       done;
    logic [1:0] buffer;
    logic [4:0] quads;
  } todo_t;
  todo_t [3:0] todo_q = '0;
  logic [2:0] n_q = '0;
  logic [4:0] put_q = '0;
  logic free_due_q = 1'b0;
  logic [1:0] free_buffer_q = '0;
  todo_t taken;
  assign taken.command = kind_i;
  assign taken.done = done_i && kind_i;
  assign taken.buffer = {buffer_i, ready[1]};
  assign taken.quads = !kind_i ? 5'(len_i) : (record_i ? 5'd17 : 5'd1);   // 12, 4, 1
  wire takes = |(valid_i & ready) && rst_ni;
  wire [4:0] put = put_q + 5'(quads);
  wire completes = w && !is_status && put == todo_q[0].quads;
  wire passes = freed && !free_due_q;            // of payload of no bytes
  wire pops = completes || passes;
  wire [2:0] kept = n_q - 3'(pops);
  logic tail_due_q = 1'b0;
  logic [2:0] before_q = '0;                     // jobs to be written before the tail
  logic [3:0] commands_q = '0;
  logic [1:0] total_q = '0;                      // two jobs
  always_comb begin
    assume (len_i <= 3'd5);
    if (total_q == 2'd2) assume (valid_i == '0);
    if (!kind_i) assume (!record_i && !done_i);
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      n_q <= kept + 3'(takes);
      total_q <= total_q + 2'(takes);
      if (pops) todo_q <= todo_q >> $bits(todo_t);
      if (takes) todo_q[kept[1:0]] <= taken;
      if (w && !is_status) put_q <= completes ? '0 : put;
      free_due_q <= completes && !todo_q[0].command;
      free_buffer_q <= todo_q[0].buffer;
      if (written) commands_q <= commands_q + 4'd1;
      tail_valid_q <= tail_valid_q ? !tail_ready : tail_i && !tail_due_q;
      if (tail_valid_q && tail_ready) begin
        tail_due_q <= 1'b1;
        before_q <= kept;
      end else begin
        if (w && is_status && at_q == Status) tail_due_q <= 1'b0;
        if (pops && before_q != '0) before_q <= before_q - 3'd1;
      end
    end
  end

  logic [1:0] phase_q = '0;                      // of a record, as in dmaw_edge.sv
  wire [2:0] aimed = u_dmaw.aimed.kind;
  always_ff @(posedge clk_i)
    if (rst_ni && u_dmaw.aims) phase_q <= (aimed == 3'd1) ? 2'd1 : ((aimed == 3'd2) ? 2'd2 : 2'd0);

  always_comb begin
    if (!first_q) begin
      if (u_dmaw.aims) begin
        assert (u_dmaw.aimed.beats != 8'd0);
        assert ((aimed == 3'd2) == (phase_q == 2'd1));
        if (aimed == 3'd1) assert (phase_q == 2'd0);
        if (phase_q == 2'd2) assert (aimed == 3'd3);
      end
      assert ((ready & ~valid_i) == '0 && ready != 2'b11);
      if (w_valid) assert (left_q != 8'd0 && w_last == (left_q == 8'd1) && w_strb != '0);
      if (w_valid && !is_status)
        for (int i = 0; i < 64; i++) assert (w_strb[i] == strobes[i/16]);
      if (w && !is_status) assert (n_q != '0 && put <= todo_q[0].quads);
      if (w && !is_status && put_q == '0 && todo_q[0].quads == 5'd1 && todo_q[0].command)
        assert (at_q[63:6] == Ring[63:6]);
      // Reported in the cycle of the last beat; freed in the next one.
      assert (written == (completes && todo_q[0].command));
      assert (error_done == (written && todo_q[0].done));
      if (free_due_q) assert (freed && free == buf_t'(free_buffer_q));
      if (passes)
        assert (n_q != '0 && !todo_q[0].command && todo_q[0].quads == '0 &&
                free == buf_t'(todo_q[0].buffer));
      // Status words announce only what is written.
      if (w && is_status && at_q == Status)
        assert (tail_due_q && before_q == '0 && w_data[31:0] == 32'h5a && w_strb == 64'hf);
      if (w && is_status && at_q != Status)
        assert (at_q == Status + 64'd64 && w_data[31:0] == 32'(commands_q) && w_strb == 64'hf);
      if (tail_ready) assert (tail_valid_q);
      // at_work_o is 0 only when all jobs are done.
      if (!at_work) assert (n_q == '0 || passes);
    end
  end
endmodule

`default_nettype wire
