// SPDX-License-Identifier: Apache-2.0
// toe_dmaw.sv - all that is written into host memory (S1.9), in the order in which it was asked for:
// payload from packet buffers into receive buffers, flow records, HW commands, then the status words
// that tell of them. AXI writes of one ID, so that they arrive in that order.
//
// A job is a row of beats, a line a cycle; what comes next is looked up meanwhile. Payload of 64-byte
// lines is shifted once:
//
//   packet buffer   | . . a b c d | e f g h i j |        r = place in the line, there less here
//   receive buffer  | a b c d e f | g h i j . . |
`resetall
`default_nettype none

module toe_dmaw
  import toe_pkg::*;
  import fpc_pkg::rto;
  import fpc_pkg::bytes_of;
  import toe_cmd_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned Sources = 3    // FPCs, toe_cmd, toe_conn
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire now_t                 now_i,
  input  wire qp_config_t [Qps-1:0] qp_i,

  input  wire [Sources-1:0]           write_valid_i,
  output wire [Sources-1:0]           write_ready_o,
  input  wire write_t [Sources-1:0]   write_i,

  // the SW tail, behind all that was asked before
  input  wire         tail_valid_i,
  output wire         tail_ready_o,
  input  wire qp_t    tail_qp_i,
  input  wire [31:0]  tail_i,
  input  wire         halt_i,
  input  wire qp_t    halt_qp_i,

  input  wire [Qps-1:0] closed_i,       // is to go: nobody looks at its status any more
  output wire [Qps-1:0] at_work_o,      // something of it is at hand

  // who the peer is
  output wire place_t path_at_o,
  input  wire path_t  path_i,

  // packet buffers
  output wire buf_t   read_buffer_o,
  output wire [4:0]   read_line_o,
  input  wire [511:0] read_data_i,
  output wire         free_valid_o,
  output wire buf_t   free_o,

  // AXI writes: bursts of at most 33 beats
  output wire         aw_valid_o,
  input  wire         aw_ready_i,
  output wire [63:0]  aw_addr_o,
  output wire [7:0]   aw_len_o,
  output wire         w_valid_o,
  input  wire         w_ready_i,
  output wire [511:0] w_data_o,
  output wire [63:0]  w_strb_o,
  output wire         w_last_o,

  output wire [Qps-1:0][31:0] hw_head_o,
  output wire         written_o,        // a HW command
  output wire qp_t    written_qp_o,
  output wire         error_done_o,

  // interrupts (docs/device-contract.md, Interrupt and moderation)
  input  wire [Qps-1:0][31:0] hw_tail_i,
  input  wire [Qps-1:0][31:0] irq_arm_i,
  input  wire [Qps-1:0][31:0] irq_seq_i,
  input  wire [Qps-1:0][31:0] irq_count_i,
  input  wire [Qps-1:0][31:0] irq_usec_i,
  output wire [Qps-1:0]       irq_o
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  typedef logic [QpBits-1:0] qidx_t;

  localparam int unsigned SourceBits = (Sources > 1) ? $clog2(Sources) : 1;

  // ---- what is next: taken while what is before it is written ----
  //
  //   write_i -> early_q -> next_q -> job_q      of early_q, path and buffer are looked up

  typedef enum logic [3:0] {
    Choose, Open_, First, Beats, Record, Command, Head, TailWord, Halted
  } step_e;

  step_e step_q;
  logic [SourceBits-1:0] turn_q, source;
  logic early_valid_q, next_valid_q, begins;
  write_t early_q, next_q, job_q;
  path_t path_q;                     // the job's
  logic any;
  always_comb begin
    source = turn_q;
    any = 1'b0;
    for (int i = 0; i < int'(Sources); i++) begin
      if (!any && write_valid_i[(int'(turn_q) + i) % Sources]) begin
        source = SourceBits'((int'(turn_q) + i) % Sources);
        any = 1'b1;
      end
    end
  end
  wire early_moves = early_valid_q && (!next_valid_q || begins);
  wire early_room = !early_valid_q || early_moves;
  for (genvar s = 0; s < int'(Sources); s++) begin : gen_ready
    assign write_ready_o[s] = early_room && any && source == SourceBits'(s);
  end
  // Nothing that was asked for is left: status words may follow.
  wire idle = step_q == Choose && !any && !early_valid_q && !next_valid_q;

  logic [Qps-1:0][31:0] head_q;
  logic [Qps-1:0] dirty_q;           // the head in memory is older
  logic [Qps-1:0] halted_q;          // is to be told
  wire [Qps-1:0] dirty = dirty_q & ~closed_i, halts = halted_q & ~closed_i;
  qp_t dirty_qp, halt_qp;
  always_comb begin
    dirty_qp = '0;
    halt_qp = '0;
    for (int i = Qps - 1; i >= 0; i--) begin
      if (dirty[i]) dirty_qp = qp_t'(i);
      if (halts[i]) halt_qp = qp_t'(i);
    end
  end

  qp_t status_qp_q;                  // whose status is written
  logic [31:0] tail_q;
  wire qp_config_t q = qp_i[qidx_t'(job_q.qp)];
  wire qp_config_t early_config = qp_i[qidx_t'(early_q.qp)];
  wire qp_config_t next_config = qp_i[qidx_t'(next_q.qp)];

  // ---- addresses ----

  function automatic logic [63:0] buffers(input qp_config_t c, input flow_t flow);
    logic [63:0] each;
    each = (64'd1 << c.tx_log) + (64'd1 << c.rx_log);
    return c.area + 64'(c.buffers_at) + 64'(flow - c.first) * each;
  endfunction

  function automatic logic [63:0] record_at(input qp_config_t c, input flow_t flow);
    return c.area + 64'(c.records_at) + 64'(flow - c.first) * 64'd192;
  endfunction

  logic [63:0] next_base_q, base_q;  // of the receive buffer
  logic [31:0] next_mask_q, mask_q;  // its size - 1
  logic [31:0] at_q;                 // where the next byte goes in it
  logic [15:0] left_q;               // bytes of the job
  logic [15:0] piece_q;              // ... of this burst
  logic [10:0] from_q;               // in the packet buffer
  logic [5:0]  shift_q;              // lanes by which bytes move up
  logic [4:0]  line_q;
  logic [511:0] past_q;              // the line before, of the packet buffer
  logic [7:0]  beats_q;
  logic [5:0]  lane_q;               // of the first byte in the first beat
  logic [15:0] beat_left_q;
  logic [2:0]  count_q;              // beats of a record

  wire [31:0] to_end = mask_q + 32'd1 - (at_q & mask_q);
  wire [15:0] piece = (32'(left_q) > to_end) ? 16'(to_end) : left_q;
  wire [63:0] dest = base_q + 64'(at_q & mask_q);
  wire [15:0] span = 16'(dest[5:0]) + piece;
  wire [7:0] beats = 8'((span + 16'd63) >> 6);

  // ---- payload: two lines of the packet buffer make a line of memory ----

  // Byte lane l of memory is byte (l - shift) of the packet's line, or of the one before.
  function automatic logic [511:0] join_lines(input logic [511:0] this_, input logic [511:0] last_,
                                              input logic [5:0] up);
    logic [1023:0] both;
    both = {this_, last_};
    return 512'(both >> {7'd64 - 7'(up), 3'd0});
  endfunction

  function automatic logic [63:0] strobes(input logic [5:0] lane, input logic [15:0] bytes);
    logic [63:0] m;
    for (int i = 0; i < 64; i++) m[i] = 16'(i) >= 16'(lane) && 16'(i) < 16'(lane) + bytes;
    return m;
  endfunction

  wire [15:0] beat_room = 16'd64 - 16'(lane_q);
  wire [15:0] beat_bytes = (beat_left_q < beat_room) ? beat_left_q : beat_room;

  // ---- the record (device.h, struct toedev_flow_record) ----

  function automatic logic [127:0] swapped(input tuple_t t, input addr_t a);
    logic [127:0] be, r;
    be = t.v6 ? a : {80'd0, 16'hffff, a[31:0]};
    for (int i = 0; i < 16; i++) r[8*i+:8] = be[8*(15-i)+:8];
    return r;
  endfunction

  // Stamps of 1.024 us as microseconds.
  function automatic logic [31:0] usec_of(input logic [31:0] n);
    return 32'((48'(n) * 48'd16777) >> 14);
  endfunction

  function automatic logic [1535:0] record(input write_t job, input path_t path);
    logic [191:0][7:0] r;
    tcb_t t;
    logic [63:0] sent, acked, received;
    t = job.tcb;
    r = '0;
    sent = {t.tx_wraps, t.snd_nxt - t.iss - 32'd1};
    acked = {t.tx_wraps, t.snd_una - t.iss - 32'd1};
    received = {t.rx_wraps, t.rcv_nxt - t.irs - 32'd1};
    r[4] = {4'd0, t.state};
    r[5] = {5'd0, t.ws, t.sack, t.ts};
    r[6] = {4'd0, t.snd_scale};
    r[7] = {4'd0, t.rcv_scale};
    r[23:8] = swapped(path.tuple, path.tuple.own);
    r[39:24] = swapped(path.tuple, path.tuple.remote);
    r[41:40] = path.tuple.local_port;
    r[43:42] = path.tuple.remote_port;
    r[45:44] = t.mss;
    r[47:46] = t.own_mss;
    r[51:48] = usec_of(t.srtt >> 3);
    r[55:52] = usec_of(t.rttvar >> 2);
    r[59:56] = usec_of(rto(t) << 10);
    r[63:60] = usec_of(t.min_rtt);
    r[67:64] = t.cc.cwnd;
    r[71:68] = t.cc.ssthresh;
    r[75:72] = t.snd_wnd;
    r[79:76] = t.rcv_adv - t.rcv_nxt;
    r[83:80] = t.retransmits;
    r[87:84] = t.snd_nxt - t.snd_una;
    r[95:88] = sent;
    r[103:96] = acked;
    r[111:104] = received;
    r[115:112] = 32'(t.generation);
    r[136] = {4'd0, t.cc.algorithm};
    r[139:138] = t.own_mss + (t.v6 ? 16'd60 : 16'd40);
    r[143:140] = bytes_of(t.sacked, t.board);
    r[178] = (t.recovery == RecLoss) ? 8'd4 : ((t.recovery == RecFast) ? 8'd3
           : ((t.sacked != 3'd0 || t.dupacks != 8'd0) ? 8'd1 : 8'd0));
    r[179] = t.timeouts;
    r[180] = 8'(t.backoff);
    return r;
  endfunction

  wire [1535:0] record_now = record(job_q, path_q);

  // Beats of a record: the first with an odd count, the rest, the first with an even one.
  logic [511:0] record_beat;
  always_comb begin
    unique case (count_q)
      3'd0: record_beat = {record_now[511:32], 32'(job_q.tcb.record_at << 1) | 32'd1};
      3'd1: record_beat = record_now[1023:512];
      3'd2: record_beat = record_now[1535:1024];
      default: record_beat = {record_now[511:32], 32'(job_q.tcb.record_at << 1) + 32'd2};
    endcase
  end

  // ---- the command, whole ----

  cmd_t cmd;
  wire [31:0] head = head_q[qidx_t'(job_q.qp)];
  wire [31:0] entry = head & ((32'd1 << q.hw_log) - 32'd1);
  wire [63:0] entry_at = q.area + 64'(q.hw_at) + (64'(entry) << 4);
  always_comb begin
    cmd = job_q.cmd;
    if (cmd_type(cmd) != HwConnectFailed && cmd_type(cmd) != HwError)
      cmd[63:32] = 32'(job_q.flow - q.first);
    if (cmd_type(cmd) == HwListenEstablished) begin
      cmd[31:16] = path_q.tuple.remote_port;
      cmd[95:64] = path_q.tuple.v6 ? 32'd0 : path_q.tuple.remote[31:0];
    end
    if (cmd_type(cmd) == HwConnectEstablished) cmd[31:16] = path_q.tuple.local_port;
    cmd[15] = (head & (32'd1 << q.hw_log)) == 32'd0;
  end

  // ---- AXI ----

  logic aw_valid, w_valid, w_last;
  logic [63:0] aw_addr, w_strb;
  logic [7:0] aw_len;
  logic [511:0] w_data;
  logic aw_done_q;                   // the address of a single beat is given

  function automatic logic [63:0] lanes(input logic [5:0] lane, input int unsigned bytes);
    return ((64'd1 << bytes) - 64'd1) << lane;
  endfunction

  wire [63:0] status_at = qp_i[qidx_t'(status_qp_q)].area +
                          64'(qp_i[qidx_t'(status_qp_q)].status_at);
  always_comb begin
    aw_valid = 1'b0;
    aw_addr = '0;
    aw_len = 8'd0;
    w_valid = 1'b0;
    w_data = '0;
    w_strb = '0;
    w_last = 1'b1;
    unique case (step_q)
      Open_: begin
        aw_valid = 1'b1;
        aw_addr = dest & ~64'd63;
        aw_len = beats - 8'd1;
      end
      Beats: begin
        w_valid = 1'b1;
        w_data = join_lines(read_data_i, past_q, shift_q);
        w_strb = strobes(lane_q, beat_bytes);
        w_last = beats_q == 8'd1;
      end
      Record: begin
        aw_valid = !aw_done_q;
        aw_addr = record_at(q, job_q.flow) + ((count_q == 3'd3) ? 64'd0 : {55'd0, count_q, 6'd0});
        w_valid = aw_done_q;
        w_data = record_beat;
        w_strb = '1;
      end
      Command: begin
        aw_valid = !aw_done_q;
        aw_addr = entry_at & ~64'd63;
        w_valid = aw_done_q;
        w_data = 512'(cmd) << {entry_at[5:4], 7'd0};
        w_strb = lanes({entry_at[5:4], 4'd0}, 16);
      end
      Head: begin
        aw_valid = !aw_done_q;
        aw_addr = status_at + 64'd64;
        w_valid = aw_done_q;
        w_data = 512'(head_q[qidx_t'(status_qp_q)]);
        w_strb = lanes(6'd0, 4);
      end
      TailWord: begin
        aw_valid = !aw_done_q;
        aw_addr = status_at;
        w_valid = aw_done_q;
        w_data = 512'(tail_q);
        w_strb = lanes(6'd0, 4);
      end
      Halted: begin
        aw_valid = !aw_done_q;
        aw_addr = status_at + 64'd192;
        w_valid = aw_done_q;
        w_data = 512'(ReasonProto);
        w_strb = lanes(6'd0, 4);
      end
      default: ;
    endcase
  end

  assign aw_valid_o = aw_valid;
  assign aw_addr_o = aw_addr;
  assign aw_len_o = aw_len;
  assign w_valid_o = w_valid;
  assign w_data_o = w_data;
  assign w_strb_o = w_strb;
  assign w_last_o = w_last;

  wire aw_fires = aw_valid && aw_ready_i;
  wire w_fires = w_valid && w_ready_i;

  // ---- packet buffers: the line after that at hand is asked for while this one goes ----

  wire line_goes = step_q == First || (step_q == Beats && w_ready_i);
  assign read_buffer_o = job_q.buffer;
  assign read_line_o = (step_q == Open_) ? from_q[10:6] : (line_goes ? line_q + 5'd1 : line_q);
  logic free_q;
  buf_t free_buffer_q;
  assign free_valid_o = free_q;
  assign free_o = free_buffer_q;
  assign path_at_o = '{tw: 1'b0, index: early_moves ? early_q.flow : next_q.flow};
  assign tail_ready_o = idle;

  for (genvar i = 0; i < int'(Qps); i++) begin : gen_at_work
    assign at_work_o[i] =
        (early_valid_q && early_q.qp == qp_t'(i)) || (next_valid_q && next_q.qp == qp_t'(i)) ||
        (step_q inside {Open_, First, Beats, Record, Command} && job_q.qp == qp_t'(i)) ||
        (step_q inside {Head, TailWord, Halted} && status_qp_q == qp_t'(i));
  end

  // ---- the steps ----

  // A job that leads to nothing takes its turn alone, so that no two tell of their end at once.
  wire nothing = !next_config.enable || (next_q.kind == WrPlace && next_q.len == 16'd0);
  wire placed = step_q == Beats && w_fires && beats_q == 8'd1 && left_q == piece_q;
  wire command_written = step_q == Command && w_fires;
  assign begins = next_valid_q && (step_q == Choose || ((placed || command_written) && !nothing));

  always_ff @(posedge clk_i) begin
    if (early_room) begin
      early_valid_q <= any;
      early_q <= write_i[source];
      if (any) turn_q <= (source == SourceBits'(Sources - 1)) ? '0 : source + 1'b1;
    end
    if (early_moves) begin
      next_q <= early_q;
      next_base_q <= buffers(early_config, early_q.flow) + (64'd1 << early_config.tx_log);
      next_mask_q <= (32'd1 << early_config.rx_log) - 32'd1;
    end
    if (early_moves || begins) next_valid_q <= early_moves;
    if (!rst_ni) begin
      turn_q <= '0;
      early_valid_q <= 1'b0;
      next_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= Choose;
      head_q <= '0;
      dirty_q <= '0;
      halted_q <= '0;
      free_q <= 1'b0;
      aw_done_q <= 1'b0;
    end else begin
      free_q <= placed;
      free_buffer_q <= job_q.buffer;
      for (int i = 0; i < int'(Qps); i++) begin
        if (!qp_i[i].enable) begin
          head_q[i] <= '0;
          dirty_q[i] <= 1'b0;
          halted_q[i] <= 1'b0;
        end
      end
      if (halt_i) halted_q[qidx_t'(halt_qp_i)] <= 1'b1;
      if (aw_fires && step_q != Open_) aw_done_q <= 1'b1;
      if (w_fires && step_q != Beats) aw_done_q <= 1'b0;
      unique case (step_q)
        Choose:
        if (idle) begin
          status_qp_q <= tail_valid_i ? tail_qp_i : ((dirty != '0) ? dirty_qp : halt_qp);
          if (tail_valid_i) begin
            tail_q <= tail_i;
            step_q <= TailWord;
          end else if (dirty != '0) step_q <= Head;
          else if (halts != '0) step_q <= Halted;
        end
        Open_:
        if (aw_ready_i) begin
          piece_q <= piece;
          beats_q <= beats;
          lane_q <= dest[5:0];
          beat_left_q <= piece;
          shift_q <= dest[5:0] - from_q[5:0];
          line_q <= from_q[10:6];
          past_q <= '0;
          // The first beat needs the line before when bytes move down into it: they move up by less
          // than a line from the line before.
          step_q <= (dest[5:0] < from_q[5:0]) ? First : Beats;
        end
        First: begin
          past_q <= read_data_i;
          line_q <= line_q + 5'd1;
          step_q <= Beats;
        end
        Beats:
        if (w_fires) begin
          past_q <= read_data_i;
          line_q <= line_q + 5'd1;
          lane_q <= '0;
          beat_left_q <= beat_left_q - beat_bytes;
          beats_q <= beats_q - 8'd1;
          if (beats_q == 8'd1) begin
            at_q <= at_q + 32'(piece_q);
            from_q <= from_q + 11'(piece_q);
            left_q <= left_q - piece_q;
            step_q <= placed ? Choose : Open_;
          end
        end
        Record:
        if (w_fires) begin
          count_q <= count_q + 3'd1;
          if (count_q == 3'd3) step_q <= Command;
        end
        Command:
        if (w_fires) begin
          head_q[qidx_t'(job_q.qp)] <= head + 32'd1;
          dirty_q[qidx_t'(job_q.qp)] <= 1'b1;
          step_q <= Choose;
        end
        Head:
        if (w_fires) begin
          dirty_q[qidx_t'(status_qp_q)] <= 1'b0;
          step_q <= Choose;
        end
        TailWord: if (w_fires) step_q <= Choose;
        default:
        if (w_fires) begin
          halted_q[qidx_t'(status_qp_q)] <= 1'b0;
          step_q <= Choose;
        end
      endcase
      if (begins) begin
        job_q <= next_q;
        path_q <= path_i;
        base_q <= next_base_q;
        mask_q <= next_mask_q;
        at_q <= next_q.to;
        left_q <= next_q.len;
        from_q <= next_q.offset;
        count_q <= '0;
        if (!nothing) begin
          step_q <= (next_q.kind == WrPlace) ? Open_ : (next_q.record ? Record : Command);
        end else if (next_q.kind == WrPlace) begin
          free_q <= 1'b1;
          free_buffer_q <= next_q.buffer;
        end
      end
    end
  end

  wire dropped = begins && nothing && next_q.kind == WrCommand;
  assign written_o = command_written || dropped;
  assign written_qp_o = dropped ? next_q.qp : job_q.qp;
  assign error_done_o = dropped ? next_q.done : (command_written && job_q.done);
  assign hw_head_o = head_q;

  // ---- interrupts: armed, and so many commands or so long since the first ----

  for (genvar i = 0; i < int'(Qps); i++) begin : gen_irq
    logic [31:0] seen_q, first_q2;
    logic pending_q, irq_q;
    wire [31:0] untaken = head_q[i] - hw_tail_i[i];
    wire armed = irq_arm_i[i] != 32'd0 && irq_seq_i[i] != seen_q;
    wire [31:0] usec = 32'(now_i.ns >> 10);
    wire enough = irq_count_i[i] <= 32'd1 || irq_usec_i[i] == 32'd0 ||
                  untaken >= irq_count_i[i] || usec - first_q2 >= irq_usec_i[i];
    always_ff @(posedge clk_i) begin
      irq_q <= 1'b0;
      pending_q <= untaken != 32'd0;
      if (untaken == 32'd0 || !pending_q) first_q2 <= usec;
      // The head in memory is up to date when its reader is woken.
      if (armed && untaken != 32'd0 && enough && !dirty_q[i]) begin
        irq_q <= 1'b1;
        seen_q <= irq_seq_i[i];
      end
      if (!rst_ni || !qp_i[i].enable) begin
        seen_q <= '0;
        irq_q <= 1'b0;
      end
    end
    assign irq_o[i] = irq_q;
  end

endmodule

`resetall
