// SPDX-License-Identifier: Apache-2.0
// toe_dmaw.sv - writes into host memory (S1.9), in the order of requests: payload from packet buffers
// into receive buffers, flow records, HW commands, then the status words that announce them. AXI writes
// of one ID, so that they arrive in that order.
//
// A job becomes bursts: one, or two around the end of a receive buffer; a record is two and its command.
// The burst behind the one at hand is aimed, and its address given, while beats go, a line a cycle. Payload
// of 64-byte lines is shifted once:
//
//   packet buffer   | . . a b c d | e f g h i j |        r = place in the line, there less here
//   receive buffer  | a b c d e f | g h i j . . |
`resetall
`default_nettype none

module toe_dmaw
  import toe_pkg::*;
  import fpc_pkg::rto;
  import fpc_pkg::RtoMin;
  import fpc_pkg::RtoMax;
  import fpc_pkg::RtoInit;
  import fpc_pkg::RtoSyn;
  import fpc_pkg::synchronized;
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
  input  wire [Qps-1:0]             closed_i,    // is detached: nothing more is written for it
  output wire [Qps-1:0]             at_work_o,   // a job of it is at hand

  input  wire [Sources-1:0]           write_valid_i,
  output wire [Sources-1:0]           write_ready_o,
  input  wire write_t [Sources-1:0]   write_i,

  // the SW tail, after all earlier requests
  input  wire         tail_valid_i,
  output wire         tail_ready_o,
  input  wire qp_t    tail_qp_i,
  input  wire [31:0]  tail_i,
  input  wire         halt_i,
  input  wire qp_t    halt_qp_i,

  // the peer's address
  output wire place_t path_at_o,
  input  wire path_t  path_i,

  // packet buffers
  output wire buf_t   read_buffer_o,
  output wire [4:0]   read_line_o,
  input  wire [511:0] read_data_i,
  output wire         free_valid_o,
  output wire buf_t   free_o,

  // AXI writes: bursts of at most 33 beats; an address comes at most one burst ahead of its beats
  output wire         aw_valid_o,
  input  wire         aw_ready_i,
  output wire [63:0]  aw_addr_o,
  output wire [7:0]   aw_len_o,
  output wire         w_valid_o,
  input  wire         w_ready_i,
  output logic [511:0] w_data_o,
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
  //   write_i -> first -> early_q -> next_q -> ahead_q -> burst_q
  //              queue    path, buffer         address    beats
  //
  // The configuration of the queue pair is read with early_q, and used on the way to next_q.

  logic [SourceBits-1:0] turn_q, source;
  logic early_valid_q, next_valid_q, next_done;
  write_t first, early_q, next_q;
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
  wire early_moves = early_valid_q && (!next_valid_q || next_done);
  wire early_room = !early_valid_q || early_moves;

  // Two entries, so that a requester's ready does not depend on the later stages in this cycle. Each
  // has its source.
  logic [1:0] first_room, held_q;
  qp_t [1:0] held_qp_q;
  logic first_valid, in_q, out_q;
  wire enters = any && first_room != 2'd0;
  wire first_moves = first_valid && early_room;
  toe_fifo #(.Width($bits(write_t)), .AddrBits(1)) firsts (
    .clk_i, .rst_ni, .push_i(enters), .data_i(write_i[source]), .room_o(first_room),
    .valid_o(first_valid), .pop_i(first_moves), .data_o(first)
  );
  for (genvar s = 0; s < int'(Sources); s++) begin : gen_ready
    assign write_ready_o[s] = enters && source == SourceBits'(s);
  end
  always_ff @(posedge clk_i) begin
    if (enters) held_qp_q[in_q] <= write_i[source].qp;
    if (!rst_ni) begin
      turn_q <= '0;
      held_q <= '0;
      in_q <= 1'b0;
      out_q <= 1'b0;
    end else begin
      if (enters) turn_q <= (source == SourceBits'(Sources - 1)) ? '0 : source + 1'b1;
      if (enters) in_q <= !in_q;
      if (first_moves) out_q <= !out_q;
      for (int i = 0; i < 2; i++)
        held_q[i] <= (held_q[i] && !(first_moves && out_q == 1'(i))) || (enters && in_q == 1'(i));
    end
  end

  // No job is left: status words may follow.
  wire idle = !any && held_q == 2'd0 && !early_valid_q && !next_valid_q;

  // The path stays while its job does.
  logic path_came_q;
  path_t path_q;
  wire path_t path = path_came_q ? path_i : path_q;
  assign path_at_o = '{tw: 1'b0, index: early_q.flow};
  always_ff @(posedge clk_i) begin
    path_came_q <= early_moves;
    path_q <= path;
  end

  // Its queue pair: addresses, sizes, and the flow's slot.
  typedef struct packed {
    logic [63:0] buffers;
    logic [63:0] records;
    logic [63:0] ring;
    logic [4:0]  tx_log;
    logic [4:0]  rx_log;
    logic [4:0]  hw_log;
    logic [31:0] slot;
  } about_t;
  about_t early_about_q;
  logic [31:0] early_mask;           // of its receive buffer
  wire qp_config_t first_config = qp_i[qidx_t'(first.qp)];
  wire [31:0] early_to_end = (early_mask - (early_q.to & early_mask)) + 32'd1;
  wire early_wraps = 32'(early_q.len) > early_to_end;
  wire [31:0] early_entries = 32'd1 << early_about_q.hw_log;

  // The retransmission timeout of a record, as fpc_pkg's rto() computes it, in two steps: without
  // backoff, then with backoff and the upper bound.
  function automatic logic [31:0] rto_once(input tcb_t t);
    logic [31:0] varies;
    logic least;
    varies = t.rttvar >> 10;
    least = varies < RtoMin - 32'd1;
    if (t.srtt == 32'd0) return (synchronized(t) ? RtoSyn : RtoInit) & ~32'd3;
    return ((t.srtt >> 13) + (least ? RtoMin - 32'd1 : varies) + 32'd5) & ~32'd3;
  endfunction
  function automatic tick_t backed_off(input logic [31:0] once, input logic [3:0] backoff);
    logic [47:0] wide;
    wide = 48'(once) << backoff;
    return ((wide > 48'(RtoMax)) ? RtoMax : tick_t'(wide)) + 32'd1;
  endfunction

  // Of fpc_pkg's bytes_of(), two ranges.
  function automatic logic [31:0] bytes_of_two(input tcb_t t, input int unsigned at);
    logic [31:0] a, b;
    a = t.board[at].stop - t.board[at].start;
    b = t.board[at+1].stop - t.board[at+1].start;
    return ((3'(at) < t.sacked) ? a : 32'd0) + ((3'(at + 1) < t.sacked) ? b : 32'd0);
  endfunction

  logic [63:0] next_base_q;          // of the receive buffer
  logic [31:0] next_at_q;            // of the first byte in it
  logic [63:0] next_ring_q, next_record_q;
  logic [31:0] next_entries_q, next_slot_q;
  logic next_wraps_q;                // payload in two pieces: it wraps at the buffer's end
  logic [15:0] next_piece1_q;
  logic [1:0][31:0] next_sacked_q;   // for the record: bytes of two ranges each
  logic [31:0] next_rto_q;

  always_ff @(posedge clk_i) begin
    if (early_room) begin
      early_valid_q <= first_valid;
      early_q <= first;
      early_about_q <= '{buffers: first_config.area + 64'(first_config.buffers_at),
                         records: first_config.area + 64'(first_config.records_at),
                         ring: first_config.area + 64'(first_config.hw_at),
                         tx_log: first_config.tx_log, rx_log: first_config.rx_log,
                         hw_log: first_config.hw_log, slot: 32'(first.flow - first_config.first)};
      early_mask <= (32'd1 << first_config.rx_log) - 32'd1;
    end
    if (early_moves) begin
      next_q <= early_q;
      next_slot_q <= early_about_q.slot;
      next_base_q <= early_about_q.buffers +
                     ((64'(early_about_q.slot) + 64'd1) << early_about_q.tx_log) +
                     (64'(early_about_q.slot) << early_about_q.rx_log);
      next_record_q <= early_about_q.records + (64'(early_about_q.slot) << 7) +
                       (64'(early_about_q.slot) << 6);
      next_ring_q <= early_about_q.ring;
      next_entries_q <= early_entries;
      next_at_q <= early_q.to & early_mask;
      next_wraps_q <= early_wraps;
      next_piece1_q <= early_wraps ? 16'(early_to_end) : early_q.len;
      for (int i = 0; i < 2; i++) next_sacked_q[i] <= bytes_of_two(early_q.tcb, 2 * i);
      next_rto_q <= rto_once(early_q.tcb);
    end
    if (early_moves || next_done) next_valid_q <= early_moves;
    if (!rst_ni) begin
      early_valid_q <= 1'b0;
      next_valid_q <= 1'b0;
    end
  end

  // ---- aim: a burst of the next job, or a status word ----

  typedef enum logic [2:0] {
    Payload, Record, RecordEnd, Command, Head, Status
  } kind_e;

  typedef struct packed {
    kind_e        kind;
    qp_t          qp;
    logic [7:0]   beats;
    logic [5:0]   lane;        // of the first byte in the first beat
    logic [15:0]  bytes;
    buf_t         buffer;      // of payload; free afterwards if it is the last of it
    logic [10:0]  from;        // in the packet buffer
    logic         last;
    logic         done;
    logic [127:0] data;        // of a command, of a status word
  } burst_t;

  burst_t aimed, ahead_q, burst_q;
  logic ahead_valid_q, given_q, busy_q, loads, ends;
  logic aims;                        // aimed holds a burst
  logic [63:0] aimed_at, ahead_at_q;
  logic [1:0] part_q, part;          // of the job
  wire ahead_room = !ahead_valid_q || loads;
  wire empty = !ahead_valid_q && !busy_q;

  logic [Qps-1:0][31:0] aimed_head_q, head_q;   // of commands: assigned; written
  logic [Qps-1:0] dirty_q;           // the head in memory will be older
  logic [Qps-1:0] stale_q;           // ... is older
  logic [Qps-1:0] halted_q;          // is to be reported
  wire [Qps-1:0] dirty = dirty_q & ~closed_i;
  wire [Qps-1:0] halted = halted_q & ~closed_i;
  qp_t dirty_qp, halt_qp;
  always_comb begin
    dirty_qp = '0;
    halt_qp = '0;
    for (int i = Qps - 1; i >= 0; i--) begin
      if (dirty[i]) dirty_qp = qp_t'(i);
      if (halted[i]) halt_qp = qp_t'(i);
    end
  end

  // Payload, in one piece or in two around the end of the receive buffer.
  wire [15:0] piece = (part_q == 2'd0) ? next_piece1_q : next_q.len - next_piece1_q;
  wire [63:0] dest = (part_q == 2'd0) ? next_base_q + 64'(next_at_q) : next_base_q;
  wire [15:0] span = 16'(dest[5:0]) + piece;

  // The command, whole.
  cmd_t cmd;
  wire [31:0] head = aimed_head_q[qidx_t'(next_q.qp)];
  wire [31:0] entry = head & (next_entries_q - 32'd1);
  wire [63:0] entry_at = next_ring_q + (64'(entry) << 4);
  always_comb begin
    cmd = next_q.cmd;
    if (cmd_type(cmd) != HwConnectFailed && cmd_type(cmd) != HwError)
      cmd[63:32] = next_slot_q;
    if (cmd_type(cmd) == HwListenEstablished) begin
      cmd[31:16] = path.tuple.remote_port;
      cmd[95:64] = path.tuple.v6 ? 32'd0 : path.tuple.remote[31:0];
    end
    if (cmd_type(cmd) == HwConnectEstablished) cmd[31:16] = path.tuple.local_port;
    cmd[15] = (head & next_entries_q) == 32'd0;
  end

  // A status word is selected in one cycle, and addressed in the next if no job arrived in between.
  typedef struct packed {
    logic        tail;
    logic        head;       // else, and no tail: that it is halted
    qp_t         qp;
    logic [63:0] at;
    logic [31:0] word;
  } chosen_t;
  chosen_t chosen_q;
  logic chosen_valid_q;
  wire qp_t status_qp = tail_valid_i ? tail_qp_i : ((dirty != '0) ? dirty_qp : halt_qp);
  logic [Qps-1:0][63:0] status_at_q;   // an area is known long before a word is written there
  wire [7:0] status_offset = tail_valid_i ? 8'd0 : ((dirty != '0) ? 8'd64 : 8'd192);
  wire chooses = idle && ahead_room && !chosen_valid_q &&
                 (tail_valid_i || dirty != '0 || halted != '0);
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < int'(Qps); i++) status_at_q[i] <= qp_i[i].area + 64'(qp_i[i].status_at);
    chosen_valid_q <= rst_ni && chooses;
    chosen_q <= '{tail: tail_valid_i, head: dirty != '0, qp: status_qp,
                  at: status_at_q[qidx_t'(status_qp)] + 64'(status_offset),
                  word: tail_valid_i ? tail_i : ((dirty != '0) ? aimed_head_q[qidx_t'(dirty_qp)]
                                                               : 32'(ReasonProto))};
  end

  // A job without a write waits until it is alone, so that no two report their end at once.
  wire nothing = !qp_i[qidx_t'(next_q.qp)].enable || closed_i[qidx_t'(next_q.qp)] ||
                 (next_q.kind == WrPlace && next_q.len == 16'd0);
  wire passes = next_valid_q && nothing && part_q == 2'd0 && empty;
  wire aims_job = next_valid_q && (!nothing || part_q != 2'd0) && ahead_room;
  wire aims_status = chosen_valid_q && idle && !closed_i[qidx_t'(chosen_q.qp)];
  assign tail_ready_o = chosen_valid_q && chosen_q.tail && idle;

  always_comb begin
    aimed = '0;
    aimed_at = '0;
    part = '0;
    aimed.qp = next_q.qp;
    if (aims_status) begin
      aimed.qp = chosen_q.qp;
      aimed.kind = (chosen_q.tail || !chosen_q.head) ? Status : Head;
      aimed_at = chosen_q.at;
      aimed.data = {96'd0, chosen_q.word};
      aimed.bytes = 16'd4;
      aimed.beats = 8'd1;
    end else if (next_q.kind == WrPlace) begin
      aimed.kind = Payload;
      aimed_at = dest;
      aimed.bytes = piece;
      aimed.beats = 8'((span + 16'd63) >> 6);
      aimed.buffer = next_q.buffer;
      aimed.from = next_q.offset + ((part_q == 2'd0) ? 11'd0 : 11'(next_piece1_q));
      aimed.last = part_q != 2'd0 || !next_wraps_q;
      part = aimed.last ? 2'd0 : 2'd1;
    end else if (next_q.record && part_q != 2'd2) begin
      aimed.kind = (part_q == 2'd0) ? Record : RecordEnd;
      aimed_at = next_record_q;
      aimed.beats = (part_q == 2'd0) ? 8'd3 : 8'd1;
      aimed.bytes = (part_q == 2'd0) ? 16'd192 : 16'd64;
      part = part_q + 2'd1;
    end else begin
      aimed.kind = Command;
      aimed_at = entry_at;
      aimed.data = cmd;
      aimed.bytes = 16'd16;
      aimed.beats = 8'd1;
      aimed.done = next_q.done;
    end
    aimed.lane = aimed_at[5:0];
  end
  assign aims = aims_job || aims_status;
  assign next_done = passes || (aims_job && part == 2'd0);

  // The record: its command follows its two bursts, so that the record is written when the next is
  // addressed.
  write_t record_job_q;
  path_t record_path_q;
  logic [31:0] record_sacked_q;
  tick_t record_rto_q;
  assign aw_valid_o = ahead_valid_q && !given_q;
  assign aw_addr_o = ahead_at_q;
  assign aw_len_o = ahead_q.beats - 8'd1;
  assign loads = ahead_valid_q && (given_q || aw_ready_i) && (!busy_q || ends);

  always_ff @(posedge clk_i) begin
    if (aims) begin
      ahead_q <= aimed;
      ahead_at_q <= aimed_at & ~64'd63;
    end
    if (aims_job && aimed.kind == Record) begin
      record_job_q <= next_q;
      record_path_q <= path;
      record_sacked_q <= next_sacked_q[0] + next_sacked_q[1];
      record_rto_q <= backed_off(next_rto_q, next_q.tcb.backoff);
    end
    if (!rst_ni) begin
      ahead_valid_q <= 1'b0;
      given_q <= 1'b0;
      part_q <= '0;
    end else begin
      if (ahead_room) ahead_valid_q <= aims;
      if (ahead_room) given_q <= 1'b0;
      else if (aw_ready_i) given_q <= 1'b1;
      if (aims_job) part_q <= part;
    end
  end

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

  logic first_q;                     // the line before the first beat is to be read
  logic [5:0]   shift_q;             // lanes by which bytes move up
  logic [4:0]   line_q;
  logic [511:0] past_q;              // the line before, of the packet buffer
  logic [7:0]   left_q;              // beats
  logic [5:0]   lane_q;              // of the first byte of the next one
  logic [15:0]  bytes_q;             // to come
  wire [15:0] beat_room = 16'd64 - 16'(lane_q);
  wire [15:0] beat_bytes = (bytes_q < beat_room) ? bytes_q : beat_room;

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

  function automatic logic [1535:0] record(input write_t job, input path_t of,
                                          input logic [31:0] sacked, input tick_t timeout);
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
    r[23:8] = swapped(of.tuple, of.tuple.own);
    r[39:24] = swapped(of.tuple, of.tuple.remote);
    r[41:40] = of.tuple.local_port;
    r[43:42] = of.tuple.remote_port;
    r[45:44] = t.mss;
    r[47:46] = t.own_mss;
    r[51:48] = usec_of(t.srtt >> 3);
    r[55:52] = usec_of(t.rttvar >> 2);
    r[59:56] = usec_of(timeout << 10);
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
    r[143:140] = sacked;
    r[178] = (t.recovery == RecLoss) ? 8'd4 : ((t.recovery == RecFast) ? 8'd3
           : ((t.sacked != 3'd0 || t.dupacks != 8'd0) ? 8'd1 : 8'd0));
    r[179] = t.timeouts;
    r[180] = 8'(t.backoff);
    return r;
  endfunction

  // Its burst is addressed when the job is at hand, and written a cycle later at the earliest.
  logic [1535:0] record_now;
  always_ff @(posedge clk_i)
    record_now <= record(record_job_q, record_path_q, record_sacked_q, record_rto_q);
  wire [31:0] record_count = 32'(record_job_q.tcb.record_at << 1);

  // Beats of a record: the first with an odd count, the rest, the first with an even one.
  logic [511:0] record_beat;
  always_comb begin
    unique case (left_q[1:0])
      2'd3: record_beat = {record_now[511:32], record_count | 32'd1};
      2'd2: record_beat = record_now[1023:512];
      default:
      record_beat = (burst_q.kind == Record) ? record_now[1535:1024]
                                             : {record_now[511:32], record_count + 32'd2};
    endcase
  end

  // ---- beats ----

  always_comb begin
    unique case (burst_q.kind)
      Payload: w_data_o = join_lines(read_data_i, past_q, shift_q);
      Record, RecordEnd: w_data_o = record_beat;
      default: w_data_o = 512'(burst_q.data) << {burst_q.lane[5:4], 7'd0};
    endcase
  end
  assign w_valid_o = busy_q && !first_q;
  assign w_strb_o = strobes(lane_q, beat_bytes);
  assign w_last_o = left_q == 8'd1;
  wire w_fires = w_valid_o && w_ready_i;
  assign ends = w_fires && w_last_o;

  // Packet buffers: while a line is written, the next one is read; or the first line of the burst that
  // begins.
  wire line_goes = first_q || w_ready_i;
  assign read_buffer_o = loads ? ahead_q.buffer : burst_q.buffer;
  assign read_line_o = loads ? ahead_q.from[10:6] : (line_goes ? line_q + 5'd1 : line_q);
  logic free_q;
  buf_t free_buffer_q;
  assign free_valid_o = free_q;
  assign free_o = free_buffer_q;

  wire placed = ends && burst_q.kind == Payload && burst_q.last;
  wire command_written = ends && burst_q.kind == Command;

  always_ff @(posedge clk_i) begin
    if (loads) begin
      burst_q <= ahead_q;
      lane_q <= ahead_q.lane;
      bytes_q <= ahead_q.bytes;
      left_q <= ahead_q.beats;
      line_q <= ahead_q.from[10:6];
      shift_q <= ahead_q.lane - ahead_q.from[5:0];
      past_q <= '0;
      // The first beat needs the line before when bytes move down into it: they move up by less
      // than a line from the line before.
      first_q <= ahead_q.kind == Payload && ahead_q.lane < ahead_q.from[5:0];
    end else if (first_q || w_fires) begin
      first_q <= 1'b0;
      past_q <= read_data_i;
      line_q <= line_q + 5'd1;
      if (w_fires) begin
        lane_q <= '0;
        bytes_q <= bytes_q - beat_bytes;
        left_q <= left_q - 8'd1;
      end
    end
    if (!rst_ni) begin
      busy_q <= 1'b0;
      first_q <= 1'b0;
    end else if (loads) busy_q <= 1'b1;
    else if (ends) busy_q <= 1'b0;
  end

  // ---- reports: commands written, buffers freed, heads of the rings ----

  wire dropped = passes && next_q.kind == WrCommand;
  wire freed = passes && next_q.kind == WrPlace;
  always_ff @(posedge clk_i) begin
    free_buffer_q <= freed ? next_q.buffer : burst_q.buffer;
    if (!rst_ni) begin
      free_q <= 1'b0;
      aimed_head_q <= '0;
      head_q <= '0;
      dirty_q <= '0;
      stale_q <= '0;
      halted_q <= '0;
    end else begin
      free_q <= placed || freed;
      if (aims && aimed.kind == Command) begin
        aimed_head_q[qidx_t'(aimed.qp)] <= head + 32'd1;
        dirty_q[qidx_t'(aimed.qp)] <= 1'b1;
      end
      if (command_written) begin
        head_q[qidx_t'(burst_q.qp)] <= head_q[qidx_t'(burst_q.qp)] + 32'd1;
        stale_q[qidx_t'(burst_q.qp)] <= 1'b1;
      end
      // It announces all commands before it; later ones are written after it.
      if (aims && aimed.kind == Head) dirty_q[qidx_t'(aimed.qp)] <= 1'b0;
      if (ends && burst_q.kind == Head) stale_q[qidx_t'(burst_q.qp)] <= 1'b0;
      if (aims_status && !chosen_q.tail && !chosen_q.head) halted_q[qidx_t'(chosen_q.qp)] <= 1'b0;
      if (halt_i) halted_q[qidx_t'(halt_qp_i)] <= 1'b1;
      for (int i = 0; i < int'(Qps); i++) begin
        if (!qp_i[i].enable) begin
          aimed_head_q[i] <= '0;
          head_q[i] <= '0;
          dirty_q[i] <= 1'b0;
          stale_q[i] <= 1'b0;
          halted_q[i] <= 1'b0;
        end
        // Nothing is reported to a detached queue pair, nor in the cycle in which it is gone and
        // closed_i falls.
        if (closed_i[i]) begin
          dirty_q[i] <= 1'b0;
          halted_q[i] <= 1'b0;
        end
      end
    end
  end

  assign written_o = command_written || dropped;
  assign written_qp_o = dropped ? next_q.qp : burst_q.qp;
  assign error_done_o = dropped ? next_q.done : (command_written && burst_q.done);
  assign hw_head_o = head_q;
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_at_work
    assign at_work_o[i] = (held_q[0] && held_qp_q[0] == qp_t'(i)) ||
                          (held_q[1] && held_qp_q[1] == qp_t'(i)) ||
                          (early_valid_q && early_q.qp == qp_t'(i)) ||
                          (next_valid_q && next_q.qp == qp_t'(i)) ||
                          (ahead_valid_q && ahead_q.qp == qp_t'(i)) ||
                          (busy_q && burst_q.qp == qp_t'(i));
  end

  // ---- interrupts: armed, and so many commands or so long since the first ----

  for (genvar i = 0; i < int'(Qps); i++) begin : gen_irq
    logic [31:0] seen_q, first_q2;
    logic pending_q, due_q, irq_q;
    wire any_left = head_q[i] != hw_tail_i[i];
    wire [31:0] untaken = head_q[i] - hw_tail_i[i];
    wire armed = irq_arm_i[i] != 32'd0 && irq_seq_i[i] != seen_q;
    wire [31:0] usec = 32'(now_i.ns >> 10);
    wire enough = irq_count_i[i] <= 32'd1 || irq_usec_i[i] == 32'd0 ||
                  untaken >= irq_count_i[i] || usec - first_q2 >= irq_usec_i[i];
    always_ff @(posedge clk_i) begin
      irq_q <= 1'b0;
      pending_q <= any_left;
      due_q <= any_left && enough;
      if (!any_left || !pending_q) first_q2 <= usec;
      // The head in memory is up to date when its reader is woken.
      if (armed && due_q && !stale_q[i]) begin
        irq_q <= 1'b1;
        seen_q <= irq_seq_i[i];
      end
      if (!rst_ni || !qp_i[i].enable) begin
        seen_q <= '0;
        due_q <= 1'b0;
        irq_q <= 1'b0;
      end
    end
    assign irq_o[i] = irq_q;
  end

`ifndef SYNTHESIS
  logic recorded_q;
  always_ff @(posedge clk_i) begin
    recorded_q <= rst_ni && aims_job && aimed.kind == Record;
    if (recorded_q) begin
      assert (record_rto_q == rto(record_job_q.tcb)) else $error("a record with another RTO");
      assert (record_sacked_q == bytes_of(record_job_q.tcb.sacked, record_job_q.tcb.board))
      else $error("a record with other bytes acknowledged selectively");
    end
  end
`endif

endmodule

`resetall
