// SPDX-License-Identifier: Apache-2.0
// toe_fpc.sv - a flow processing core (S1.7): takes an event and its flow's TCB through a pipeline, one
// event a cycle, and gives back the TCB and what follows.
//
//   (cycle -1: where is its TCB? fpc_tcbs, where not all are on chip)
//   cycle  0        1      2       3                4 to 7           8      9      10 to 12      13     14
//          choose,  look,  look,   ack, host,       SACK, a range    loss   loss,  plan, offer;  send   out
//          read     open   check   timer            each; text,             cc     11: owed
//                                                   time
//                                                   (4 to 8)
//   In cycle 14 the TCB is written, and the flow's next event may be in cycle 0: fpc_tcbs forwards the TCB
//   to it.
//
// A stage is the logic between two registers. Modules of one stage that pass a TCB on to each other read
// nothing that the others change, so that no path goes through two of them.
//
// An event starts only when every queue that it may write has room for all that is in the pipeline.
`resetall
`default_nettype none

module toe_fpc
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned FlowBits = 8,   // flows of the TOE: 2^FlowBits
  parameter int unsigned FpcBits = 0,    // FPCs: 2^FpcBits; this one has flows of one remainder
  parameter int unsigned Fpc = 0,        // ... this one
  parameter int unsigned HotBits = 10    // its TCBs on chip: 2^HotBits, the others are in DRAM
) (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire now_t   now_i,

  input  wire [63:0]  gone_i,          // queue pairs to which nothing is reported any more
  input  wire         drain_i,         // entries that the queues hold now ...
  output wire         draining_o,      // ... have not left yet

  input  wire         event_valid_i,
  output wire         event_ready_o,
  input  wire event_t event_i,

  // Credit for one entry of the HW ring of tell_qp_o; taken before a report.
  output wire         tell_valid_o,
  output wire qp_t    tell_qp_o,
  input  wire         tell_grant_i,
  input  wire         tell_refuse_i,   // there is none for now
  output wire         tell_take_o,
  output wire         tell_return_o,   // ... was not needed
  output wire qp_t    tell_return_qp_o,

  output wire         write_valid_o,
  input  wire         write_ready_i,
  output wire write_t write_o,

  output wire           tx_valid_o,
  input  wire           tx_ready_i,
  output wire tx_desc_t tx_o,

  output wire            conn_valid_o,
  input  wire            conn_ready_i,
  output wire conn_msg_t conn_o,

  // A command is handled, without an ERROR.
  output wire         done_o,
  output wire qp_t    done_qp_o,

  // The flow's next deadline.
  output wire         timer_write_o,
  output wire flow_t  timer_flow_o,
  output wire         timer_on_o,
  output wire tick_t  timer_at_o,

  // TCBs in DRAM (toe_dram)
  output wire               fetch_valid_o,
  input  wire               fetch_ready_i,
  output wire flow_t        fetch_flow_o,
  input  wire               fetched_valid_i,
  output wire               fetched_ready_o,
  input  wire [TcbBits-1:0] fetched_i,
  output wire               save_valid_o,
  input  wire               save_ready_i,
  output wire flow_t        save_flow_o,
  output wire [TcbBits-1:0] save_o,
  input  wire               saved_i,

  output wire fpc_counts_t counts_o
);

  localparam int unsigned IndexBits = FlowBits - FpcBits;
  localparam int unsigned PlaceBits = 4;               // events that wait
  localparam int unsigned AtBits = (HotBits < IndexBits) ? HotBits : IndexBits;

`ifndef SYNTHESIS
  // There is always a place to evict: when one is wanted, one event waits whose TCB is not on chip. Each
  // other waiting event pins at most one place, as do the TCB being read and each stage of the pipeline.
  initial assert (HotBits >= IndexBits || 2 ** HotBits > 2 ** PlaceBits + Stages)
    else $fatal(1, "toe_fpc: %0d TCBs on chip are too few", 2 ** HotBits);
`endif

  // ---- what is next ----

  logic send_valid, send_pop, tell_valid, tell_pop, tell_placed, wait_valid, wait_ready, issue, go;
  listed_t send_head, tell_head;
  event_t chosen, issued;
  logic ask_valid, ask_ready, window_valid, window_sent_q, window_taken;
  fpc_cubic_pkg::cubic_ask_t ask;
  fpc_cubic_pkg::cubic_t window;
  listed_t window_of_q;

  fpc_turn turn (
    .clk_i, .rst_ni,
    .window_valid_i(window_valid && !window_sent_q), .window_i(window_of_q),
    .window_taken_o(window_taken),
    .event_valid_i, .event_i, .event_taken_o(event_ready_o),
    .tell_valid_i(tell_valid), .tell_i(tell_head), .tell_placed_i(tell_placed),
    .tell_taken_o(tell_pop),
    .send_valid_i(send_valid), .send_i(send_head), .send_taken_o(send_pop),
    .valid_o(wait_valid), .ready_i(wait_ready), .event_o(chosen)
  );

  // ---- the TCBs, and the events that wait for one ----

  out_t out;
  tcb_t tcb;
  logic [Stages-1:0] flying;
  flow_t [Stages-1:0] flying_flow;
  logic located_valid, located_ready, hot, fresh, want, want_ready, want_fresh, came, pinned, hole;
  logic tcbs_ready, evicted;
  event_t located;
  logic [AtBits-1:0] at, came_at, issue_at;
  logic [Stages-1:0][AtBits-1:0] at_q;  // beside the pipeline: the places that its TCBs return to
  flow_t want_flow, came_flow, victim;

  fpc_tcbs #(.Width(TcbBits), .IndexBits(IndexBits), .FpcBits(FpcBits), .Fpc(Fpc),
             .HotBits(AtBits), .Stages(Stages)) tcbs (
    .clk_i, .rst_ni, .ready_o(tcbs_ready),
    .event_valid_i(wait_valid), .event_ready_o(wait_ready), .event_i(chosen),
    .event_valid_o(located_valid), .event_ready_i(located_ready), .event_o(located),
    .hot_o(hot), .at_o(at), .fresh_o(fresh),
    .want_i(want), .want_flow_i(want_flow), .want_fresh_i(want_fresh), .want_ready_o(want_ready),
    .came_o(came), .came_flow_o(came_flow), .came_at_o(came_at),
    .victim_o(victim), .pinned_i(pinned),
    .hole_o(hole), .issue_i(issue), .issue_at_i(issue_at), .tcb_o(tcb),
    .flying_i(flying), .flying_flow_i(flying_flow),
    .write_i(out.valid), .write_at_i(at_q[Stages-1]), .write_tcb_i(out.t),
    .fetch_valid_o, .fetch_ready_i, .fetch_flow_o,
    .fetched_valid_i, .fetched_ready_o, .fetched_i,
    .save_valid_o, .save_ready_i, .save_flow_o, .save_o, .saved_i,
    .evicted_o(evicted)
  );

  fpc_wait #(.PlaceBits(PlaceBits), .HotBits(AtBits), .Stages(Stages - 1)) waiting (
    .clk_i, .rst_ni,
    .valid_i(located_valid), .ready_o(located_ready), .event_i(located),
    .hot_i(hot), .at_i(at), .fresh_i(fresh),
    .want_o(want), .want_flow_o(want_flow), .want_fresh_o(want_fresh), .want_ready_i(want_ready),
    .came_i(came), .came_flow_i(came_flow), .came_at_i(came_at),
    .victim_i(victim), .pinned_o(pinned),
    .flying_i(flying[Stages-2:0]), .flow_i(flying_flow[Stages-2:0]), .go_i(go),
    .valid_o(issue), .event_o(issued), .at_o(issue_at)
  );

  always_ff @(posedge clk_i) at_q <= {at_q[Stages-2:0], issue_at};

  // ---- the pipeline ----

  // The registers before each stage: the pass, its TCB, and those results of earlier stages that later ones
  // use. qN is the input of the stage in cycle N, dN what it becomes.

  typedef struct packed {     // before cycles 2 and 3: look, check; ack, host or timer
    pass_t       pass;
    tcb_t        tcb;
    seg_t        seg;
    host_t       host;
    seen_t       seen;
    check_t      check;
    action_t     action;
    fpc_counts_t counts;
  } arrived_t;

  typedef struct packed {     // before cycle 4: the first steps of SACK, time and text
    pass_t       pass;
    tcb_t        tcb;
    seg_t        seg;
    host_t       host;
    check_t      check;
    ack_t        ack;
    timeout_t    timeout;
    tick_t       patience;
    action_t     action;
    fpc_counts_t counts;
  } acked_t;

  typedef struct packed {     // before cycles 5 to 8: their other steps, and loss
    pass_t       pass;
    tcb_t        tcb;
    host_t       host;
    ack_t        ack;
    logic [31:0] sacked_was;  // bytes on the board before this ACK
    timeout_t    timeout;
    tick_t       patience;
    time_t       times;
    text_t       text;
    action_t     action;
    fpc_counts_t counts;
  } worked_t;

  typedef struct packed {     // before cycle 9: loss, congestion control
    pass_t       pass;
    tcb_t        tcb;
    host_t       host;
    payload_t    payload;
    ack_t        ack;
    logic        collapse;    // timeout_t
    tick_t       rto_at;
    loss_t       loss;
    action_t     action;
    fpc_counts_t counts;
  } lost_t;

  typedef struct packed {     // before cycles 10 to 13: plan, offer, owed; send
    pass_t       pass;
    tcb_t        tcb;
    host_t       host;
    payload_t    payload;
    tick_t       rto_at;
    logic [31:0] sacked_bytes;
    seq_t        lost_to;
    plan_sums_t  plan_sums;
    plan_t       plan;
    offer_sums_t offer_sums;
    offer_t      offer;
    unreported_t unreported;
    action_t     action;
    fpc_counts_t counts;
  } planned_t;

  typedef struct packed {     // before cycle 14: out
    pass_t       pass;
    tcb_t        tcb;
    host_t       host;
    payload_t    payload;
    seq_t        lost_to;
    unreported_t unreported;
    logic        tx_ok;
    tx_desc_t    tx;
    action_t     action;
    fpc_counts_t counts;
  } sent_t;

  logic     valid_q1;
  event_t   event_q1;
  now_t     now_q1;
  arrived_t d2, d3, q2, q3;
  acked_t   d4, q4;
  worked_t  d5, d6, d7, d8, q5, q6, q7, q8;
  lost_t    d9, q9;
  planned_t d10, d11, d12, d13, q10, q11, q12, q13;
  sent_t    d14, q14;

  always_ff @(posedge clk_i) begin
    valid_q1 <= issue && rst_ni;
    event_q1 <= issued;
    now_q1 <= now_i;
  end

  // ---- cycle 1: look, open ----

  wire pass_t pass1 = '{valid: valid_q1, kind: event_q1.kind, flow: event_q1.flow,
                        qp: event_q1.qp, tick: ticks(now_q1), stamp: stamps(now_q1)};
  wire host_t host1 = '{command: as_command(event_q1.body), placed: event_q1.body[0],
                        default: '0};
  wire seg_t seg1 = as_segment(event_q1.body);
  logic iw10;
  tcb_t tcb1;
  seen_t seen1;
  action_t action1;

  fpc_look #(.Step(0)) look1 (
    .pass_i(pass1), .tcb_i(tcb), .seg_i(seg1), .command_i(host1.command), .seen_i('0),
    .seen_o(seen1)
  );
  fpc_open open_stage (
    .pass_i(pass1), .tcb_i(tcb), .open_i(as_open(event_q1.body)),
    .tcb_o(tcb1), .iw10_o(iw10), .action_o(action1)
  );
  always_comb begin
    d2 = '{pass: pass1, tcb: tcb1, seg: seg1, host: host1, seen: seen1, action: action1,
           default: '0};
    d2.check.iw10 = iw10;
  end

  // ---- cycle 2: look, check ----

  tcb_t tcb2;
  seg_t seg2;
  seen_t seen2;
  check_t check2;
  action_t action2;
  fpc_counts_t counts2;

  fpc_look #(.Step(1)) look2 (
    .pass_i(q2.pass), .tcb_i(q2.tcb), .seg_i(q2.seg), .command_i(q2.host.command),
    .seen_i(q2.seen), .seen_o(seen2)
  );
  fpc_check check (
    .pass_i(q2.pass), .tcb_i(q2.tcb), .seg_i(q2.seg), .seen_i(q2.seen.segment),
    .tcb_o(tcb2), .seg_o(seg2), .check_o(check2), .action_o(action2), .counts_o(counts2)
  );
  // An event has one kind, so that at most one of fpc_open and fpc_check sets something.
  assign d3 = '{pass: q2.pass, tcb: tcb2, seg: seg2, host: q2.host, seen: seen2,
                check: q2.check | check2, action: q2.action | action2, counts: counts2};

  // ---- cycle 3: ack, host or timer, by the kind of the event ----

  tcb_t tcb3_host, tcb3_ack, tcb3_timer;
  host_t host3;
  ack_t ack3;
  timeout_t timeout3;
  action_t action3_host, action3_ack, action3_timer;
  fpc_counts_t counts3_host, counts3_timer;

  fpc_host host (
    .pass_i(q3.pass), .tcb_i(q3.tcb), .host_i(q3.host), .seen_i(q3.seen.command),
    .lapse_ticks_i(q3.seen.lapse_ticks),
    .tcb_o(tcb3_host), .host_o(host3), .action_o(action3_host), .counts_o(counts3_host)
  );
  fpc_ack ack (
    .pass_i(q3.pass), .tcb_i(q3.tcb), .seg_i(q3.seg), .check_i(q3.check),
    .lapse_ticks_i(q3.seen.lapse_ticks),
    .tcb_o(tcb3_ack), .ack_o(ack3), .action_o(action3_ack)
  );
  fpc_timer timer (
    .pass_i(q3.pass), .tcb_i(q3.tcb), .seen_i(q3.seen.timer),
    .lapse_ticks_i(q3.seen.lapse_ticks), .intvl_ticks_i(q3.seen.intvl_ticks),
    .patience_i(q3.seen.patience),
    .tcb_o(tcb3_timer), .timeout_o(timeout3), .action_o(action3_timer), .counts_o(counts3_timer)
  );
  always_comb begin
    d4 = '{pass: q3.pass, tcb: tcb3_ack, seg: q3.seg, host: host3, check: q3.check, ack: ack3,
           timeout: timeout3, patience: q3.seen.patience,
           action: q3.action | action3_host | action3_ack | action3_timer,
           counts: q3.counts | counts3_host | counts3_timer};
    if (q3.pass.kind == EvCommand) d4.tcb = tcb3_host;
    if (q3.pass.kind == EvTimer) d4.tcb = tcb3_timer;
  end

  // ---- cycles 4 to 8: SACK ranges, times, text ----

  logic [2:0] sacked4;
  ranges_t board4;
  tcb_t tcb4_time, tcb4;
  time_t time4;
  text_t text4;
  action_t action4;
  fpc_counts_t counts4;

  fpc_sack sack4_range (
    .ok_i(q4.pass.valid && q4.ack.sack_ok[0]), .range_i(q4.ack.sack[0]),
    .sacked_i(q4.tcb.sacked), .board_i(q4.tcb.board),
    .sacked_o(sacked4), .board_o(board4)
  );
  fpc_time #(.Step(0)) time4_step (
    .pass_i(q4.pass), .tcb_i(q4.tcb), .seg_i(q4.seg), .timed_i(q4.check.timed),
    .ack_i(q4.ack), .timeout_i(q4.timeout), .patience_i(q4.patience), .time_i('0),
    .tcb_o(tcb4_time), .time_o(time4)
  );
  fpc_text #(.Step(0)) text4_step (
    .pass_i(q4.pass), .tcb_i(tcb4_time), .seg_i(q4.seg), .go_i(q4.check.go_text),
    .action_i(q4.action), .text_i('0), .rto_i('0),
    .tcb_o(tcb4), .text_o(text4), .action_o(action4), .counts_o(counts4)
  );
  always_comb begin
    d5 = '{pass: q4.pass, tcb: tcb4, host: q4.host, ack: q4.ack,
           sacked_was: bytes_of(q4.tcb.sacked, q4.tcb.board), timeout: q4.timeout,
           patience: q4.patience, times: time4, text: text4, action: action4,
           counts: q4.counts | counts4};
    d5.tcb.sacked = sacked4;
    d5.tcb.board = board4;
  end

  logic [2:0] sacked5;
  ranges_t board5;
  tcb_t tcb5_time, tcb5;
  time_t time5;
  text_t text5;
  action_t action5;
  fpc_counts_t counts5;

  fpc_sack sack5_range (
    .ok_i(q5.pass.valid && q5.ack.sack_ok[1]), .range_i(q5.ack.sack[1]),
    .sacked_i(q5.tcb.sacked), .board_i(q5.tcb.board),
    .sacked_o(sacked5), .board_o(board5)
  );
  fpc_time #(.Step(1)) time5_step (
    .pass_i(q5.pass), .tcb_i(q5.tcb), .seg_i('0), .timed_i(1'b0),
    .ack_i(q5.ack), .timeout_i(q5.timeout), .patience_i(q5.patience), .time_i(q5.times),
    .tcb_o(tcb5_time), .time_o(time5)
  );
  fpc_text #(.Step(1)) text5_step (
    .pass_i(q5.pass), .tcb_i(tcb5_time), .seg_i('0), .go_i(1'b0),
    .action_i(q5.action), .text_i(q5.text), .rto_i('0),
    .tcb_o(tcb5), .text_o(text5), .action_o(action5), .counts_o(counts5)
  );
  always_comb begin
    d6 = q5;
    d6.tcb = tcb5;
    d6.times = time5;
    d6.text = text5;
    d6.action = action5;
    d6.counts = q5.counts | counts5;
    d6.tcb.sacked = sacked5;
    d6.tcb.board = board5;
  end

  logic [2:0] sacked6;
  ranges_t board6;
  tcb_t tcb6_time, tcb6;
  time_t time6;
  text_t text6;
  action_t action6;
  fpc_counts_t counts6;

  fpc_sack sack6_range (
    .ok_i(q6.pass.valid && q6.ack.sack_ok[2]), .range_i(q6.ack.sack[2]),
    .sacked_i(q6.tcb.sacked), .board_i(q6.tcb.board),
    .sacked_o(sacked6), .board_o(board6)
  );
  fpc_time #(.Step(2)) time6_step (
    .pass_i(q6.pass), .tcb_i(q6.tcb), .seg_i('0), .timed_i(1'b0),
    .ack_i(q6.ack), .timeout_i(q6.timeout), .patience_i(q6.patience), .time_i(q6.times),
    .tcb_o(tcb6_time), .time_o(time6)
  );
  fpc_text #(.Step(2)) text6_step (
    .pass_i(q6.pass), .tcb_i(tcb6_time), .seg_i('0), .go_i(1'b0),
    .action_i(q6.action), .text_i(q6.text), .rto_i('0),
    .tcb_o(tcb6), .text_o(text6), .action_o(action6), .counts_o(counts6)
  );
  always_comb begin
    d7 = q6;
    d7.tcb = tcb6;
    d7.times = time6;
    d7.text = text6;
    d7.action = action6;
    d7.counts = q6.counts | counts6;
    d7.tcb.sacked = sacked6;
    d7.tcb.board = board6;
  end

  logic [2:0] sacked7;
  ranges_t board7;
  tcb_t tcb7_time, tcb7;
  time_t time7;
  text_t text7;
  action_t action7;
  fpc_counts_t counts7;

  fpc_sack sack7_range (
    .ok_i(q7.pass.valid && q7.ack.sack_ok[3]), .range_i(q7.ack.sack[3]),
    .sacked_i(q7.tcb.sacked), .board_i(q7.tcb.board),
    .sacked_o(sacked7), .board_o(board7)
  );
  fpc_time #(.Step(3)) time7_step (
    .pass_i(q7.pass), .tcb_i(q7.tcb), .seg_i('0), .timed_i(1'b0),
    .ack_i(q7.ack), .timeout_i(q7.timeout), .patience_i(q7.patience), .time_i(q7.times),
    .tcb_o(tcb7_time), .time_o(time7)
  );
  fpc_text #(.Step(3)) text7_step (
    .pass_i(q7.pass), .tcb_i(tcb7_time), .seg_i('0), .go_i(1'b0),
    .action_i(q7.action), .text_i(q7.text), .rto_i(q7.times.rto_base),
    .tcb_o(tcb7), .text_o(text7), .action_o(action7), .counts_o(counts7)
  );
  always_comb begin
    d8 = q7;
    d8.tcb = tcb7;
    d8.times = time7;
    d8.text = text7;
    d8.action = action7;
    d8.counts = q7.counts | counts7;
    d8.tcb.sacked = sacked7;
    d8.tcb.board = board7;
  end

  tcb_t tcb8_loss, tcb8_time, tcb8;
  loss_t loss8;
  time_t time8;
  text_t text8;
  action_t action8;
  fpc_counts_t counts8_loss, counts8;

  fpc_loss #(.Step(0)) loss8_step (
    .pass_i(q8.pass), .tcb_i(q8.tcb), .ack_i(q8.ack), .sacked_was_i(q8.sacked_was), .loss_i('0),
    .tcb_o(tcb8_loss), .loss_o(loss8), .counts_o(counts8_loss)
  );
  fpc_time #(.Step(4)) time8_step (
    .pass_i(q8.pass), .tcb_i(tcb8_loss), .seg_i('0), .timed_i(1'b0),
    .ack_i(q8.ack), .timeout_i(q8.timeout), .patience_i(q8.patience), .time_i(q8.times),
    .tcb_o(tcb8_time), .time_o(time8)
  );
  fpc_text #(.Step(4)) text8_step (
    .pass_i(q8.pass), .tcb_i(tcb8_time), .seg_i('0), .go_i(1'b0),
    .action_i(q8.action), .text_i(q8.text), .rto_i('0),
    .tcb_o(tcb8), .text_o(text8), .action_o(action8), .counts_o(counts8)
  );
  assign d9 = '{
    pass: q8.pass, tcb: tcb8, host: q8.host,
    payload: '{place: text8.place, to: text8.to, len: text8.len, skip: text8.skip,
               buffer: text8.buffer, offset: text8.offset},
    ack: q8.ack, collapse: q8.timeout.collapse, rto_at: time8.rto_at, loss: loss8,
    action: action8, counts: q8.counts | counts8_loss | counts8
  };

  // ---- cycle 9: loss, congestion control ----

  tcb_t tcb9;
  cc_t cc9;
  cc_event_t happened;
  loss_t loss9;
  fpc_counts_t counts9;

  fpc_loss #(.Step(1)) loss9_step (
    .pass_i(q9.pass), .tcb_i(q9.tcb), .ack_i(q9.ack), .sacked_was_i('0), .loss_i(q9.loss),
    .tcb_o(tcb9), .loss_o(loss9), .counts_o(counts9)
  );
  always_comb begin
    happened = loss9.happened;
    happened.timeout = q9.collapse;
  end
  // The early input is from cycle 6, where SND.UNA is already updated by the ACK.
  fpc_cc cc (
    .clk_i,
    .early_i('{cc: q6.tcb.cc, mss: q6.tcb.mss, snd_una: q6.tcb.snd_una, snd_nxt: q6.tcb.snd_nxt,
               acked: q6.ack.acked, stamp: q6.pass.stamp}),
    .pass_i(q9.pass), .event_i(happened), .cc_i(tcb9.cc), .srtt_i(tcb9.srtt), .mss_i(tcb9.mss),
    .cc_o(cc9), .ask_valid_o(ask_valid), .ask_ready_i(ask_ready), .ask_o(ask), .state_i(window)
  );
  always_comb begin
    d10 = '{pass: q9.pass, tcb: tcb9, host: q9.host, payload: q9.payload, rto_at: q9.rto_at,
            sacked_bytes: loss9.sacked_bytes, lost_to: loss9.lost_to, action: q9.action,
            counts: q9.counts | counts9, default: '0};
    d10.tcb.cc = cc9;
  end

  // fpc_cubic works for one flow at a time, and holds its window until the flow's EvWindow passes fpc_cc.
  fpc_cubic cubic (
    .clk_i, .rst_ni,
    .valid_i(ask_valid), .ready_o(ask_ready), .ask_i(ask),
    .valid_o(window_valid), .ready_i(q9.pass.valid && q9.pass.kind == EvWindow),
    .state_o(window)
  );
  always_ff @(posedge clk_i) begin
    if (ask_valid && ask_ready) window_of_q <= '{flow: q9.pass.flow, qp: q9.tcb.qp};
    if (!rst_ni || (ask_valid && ask_ready)) window_sent_q <= 1'b0;
    else if (window_taken) window_sent_q <= 1'b1;
  end

  // ---- cycles 10 to 12: what may be sent, the fields of an ACK, unreported bytes ----

  tcb_t tcb10;
  plan_sums_t plan_sums10;
  plan_t plan10;
  offer_sums_t offer_sums10;
  offer_t offer10;

  fpc_plan #(.Step(0)) plan10_step (
    .pass_i(q10.pass), .tcb_i(q10.tcb), .sacked_bytes_i(q10.sacked_bytes), .lost_to_i(q10.lost_to),
    .sums_i(q10.plan_sums), .plan_i(q10.plan),
    .tcb_o(tcb10), .sums_o(plan_sums10), .plan_o(plan10)
  );
  fpc_offer #(.Step(0)) offer10_step (
    .pass_i(q10.pass), .tcb_i(q10.tcb), .sums_i(q10.offer_sums), .offer_i(q10.offer),
    .sums_o(offer_sums10), .offer_o(offer10)
  );
  always_comb begin
    d11 = q10;
    d11.tcb = tcb10;
    d11.plan_sums = plan_sums10;
    d11.plan = plan10;
    d11.offer_sums = offer_sums10;
    d11.offer = offer10;
  end

  tcb_t tcb11;
  plan_sums_t plan_sums11;
  plan_t plan11;
  offer_sums_t offer_sums11;
  offer_t offer11;
  unreported_t unreported11;

  fpc_plan #(.Step(1)) plan11_step (
    .pass_i(q11.pass), .tcb_i(q11.tcb), .sacked_bytes_i(q11.sacked_bytes), .lost_to_i(q11.lost_to),
    .sums_i(q11.plan_sums), .plan_i(q11.plan),
    .tcb_o(tcb11), .sums_o(plan_sums11), .plan_o(plan11)
  );
  fpc_offer #(.Step(1)) offer11_step (
    .pass_i(q11.pass), .tcb_i(q11.tcb), .sums_i(q11.offer_sums), .offer_i(q11.offer),
    .sums_o(offer_sums11), .offer_o(offer11)
  );
  fpc_owed #(.Step(0)) owed11_step (
    .tcb_i(q11.tcb), .unreported_i(q11.unreported), .unreported_o(unreported11)
  );
  always_comb begin
    d12 = q11;
    d12.tcb = tcb11;
    d12.plan_sums = plan_sums11;
    d12.plan = plan11;
    d12.offer_sums = offer_sums11;
    d12.offer = offer11;
    d12.unreported = unreported11;
  end

  tcb_t tcb12;
  plan_sums_t plan_sums12;
  plan_t plan12;
  offer_sums_t offer_sums12;
  offer_t offer12;
  unreported_t unreported12;

  fpc_plan #(.Step(2)) plan12_step (
    .pass_i(q12.pass), .tcb_i(q12.tcb), .sacked_bytes_i(q12.sacked_bytes), .lost_to_i(q12.lost_to),
    .sums_i(q12.plan_sums), .plan_i(q12.plan),
    .tcb_o(tcb12), .sums_o(plan_sums12), .plan_o(plan12)
  );
  fpc_offer #(.Step(2)) offer12_step (
    .pass_i(q12.pass), .tcb_i(q12.tcb), .sums_i(q12.offer_sums), .offer_i(q12.offer),
    .sums_o(offer_sums12), .offer_o(offer12)
  );
  fpc_owed #(.Step(1)) owed12_step (
    .tcb_i(q12.tcb), .unreported_i(q12.unreported), .unreported_o(unreported12)
  );
  always_comb begin
    d13 = q12;
    d13.tcb = tcb12;
    d13.plan_sums = plan_sums12;
    d13.plan = plan12;
    d13.offer_sums = offer_sums12;
    d13.offer = offer12;
    d13.unreported = unreported12;
  end

  // ---- cycles 13, 14: send, out ----

  tcb_t tcb13;
  logic tx_ok13;
  tx_desc_t tx13;
  fpc_counts_t counts13;

  fpc_send send (
    .pass_i(q13.pass), .tcb_i(q13.tcb), .action_i(q13.action), .plan_i(q13.plan),
    .offer_i(q13.offer), .rto_at_i(q13.rto_at),
    .tcb_o(tcb13), .tx_ok_o(tx_ok13), .tx_o(tx13), .counts_o(counts13)
  );
  assign d14 = '{pass: q13.pass, tcb: tcb13, host: q13.host, payload: q13.payload,
                 lost_to: q13.lost_to, unreported: q13.unreported, tx_ok: tx_ok13, tx: tx13,
                 action: q13.action, counts: q13.counts | counts13};

  fpc_out finish (
    .pass_i(q14.pass), .tcb_i(q14.tcb), .action_i(q14.action), .host_i(q14.host),
    .payload_i(q14.payload), .unreported_i(q14.unreported), .lost_to_i(q14.lost_to),
    .tx_ok_i(q14.tx_ok), .tx_i(q14.tx), .counts_i(q14.counts), .out_o(out)
  );

  always_ff @(posedge clk_i) begin
    q2 <= d2;
    q3 <= d3;
    q4 <= d4;
    q5 <= d5;
    q6 <= d6;
    q7 <= d7;
    q8 <= d8;
    q9 <= d9;
    q10 <= d10;
    q11 <= d11;
    q12 <= d12;
    q13 <= d13;
    q14 <= d14;
    if (!rst_ni) begin
      q2.pass.valid <= 1'b0;
      q3.pass.valid <= 1'b0;
      q4.pass.valid <= 1'b0;
      q5.pass.valid <= 1'b0;
      q6.pass.valid <= 1'b0;
      q7.pass.valid <= 1'b0;
      q8.pass.valid <= 1'b0;
      q9.pass.valid <= 1'b0;
      q10.pass.valid <= 1'b0;
      q11.pass.valid <= 1'b0;
      q12.pass.valid <= 1'b0;
      q13.pass.valid <= 1'b0;
      q14.pass.valid <= 1'b0;
    end
  end

  assign flying = {q14.pass.valid, q13.pass.valid, q12.pass.valid, q11.pass.valid, q10.pass.valid,
                   q9.pass.valid, q8.pass.valid, q7.pass.valid, q6.pass.valid, q5.pass.valid,
                   q4.pass.valid, q3.pass.valid, q2.pass.valid, valid_q1};
  assign flying_flow = {q14.pass.flow, q13.pass.flow, q12.pass.flow, q11.pass.flow, q10.pass.flow,
                        q9.pass.flow, q8.pass.flow, q7.pass.flow, q6.pass.flow, q5.pass.flow,
                        q4.pass.flow, q3.pass.flow, q2.pass.flow, event_q1.flow};

  // ---- what leaves ----

  logic room;
  assign go = !hole && room;

  fpc_queues #(.IndexBits(IndexBits)) queues (
    .clk_i, .rst_ni, .out_i(out), .room_o(room), .gone_i, .drain_i, .draining_o,
    .write_valid_o, .write_ready_i, .write_o, .tx_valid_o, .tx_ready_i, .tx_o,
    .conn_valid_o, .conn_ready_i, .conn_o,
    .ask_o(tell_valid_o), .ask_qp_o(tell_qp_o), .grant_i(tell_grant_i), .refuse_i(tell_refuse_i),
    .take_o(tell_take_o),
    .tell_valid_o(tell_valid), .tell_pop_i(tell_pop), .tell_o(tell_head),
    .tell_placed_o(tell_placed),
    .send_valid_o(send_valid), .send_pop_i(send_pop), .send_o(send_head)
  );

  fpc_counts_t counts;
  assign done_o = out.done;
  assign done_qp_o = out.qp;
  assign tell_return_o = out.valid && out.back;
  assign tell_return_qp_o = out.ask_qp;
  assign timer_write_o = out.valid;
  assign timer_flow_o = out.flow;
  assign timer_on_o = out.timer_on;
  assign timer_at_o = out.timer_at;
  always_comb begin
    counts = out.valid ? out.counts : '0;
    counts.evicted = evicted;
    counts.fetched = fetch_valid_o && fetch_ready_i;
  end
  assign counts_o = counts;

  wire unused = &{1'b0, tcbs_ready};

endmodule

`resetall
