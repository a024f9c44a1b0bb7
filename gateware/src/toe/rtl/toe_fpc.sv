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
//   In cycle 14 the TCB is written, and the flow's next event may be in cycle 0: fpc_tcbs gives it what is
//   written.
//
// A stage is what stands between two registers. Modules of one stage follow each other in name alone: none
// reads what another changes, so that no path goes through two.
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

  input  wire [63:0]  gone_i,          // queue pairs that nothing is told any more
  input  wire         drain_i,         // what is asked for by now ...
  output wire         draining_o,      // ... has not left yet

  input  wire         event_valid_i,
  output wire         event_ready_o,
  input  wire event_t event_i,

  // A place in the HW ring of qp, before something is told.
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

  localparam int unsigned Stages = 14;
  localparam int unsigned OutBits = 5;
  localparam int unsigned IndexBits = FlowBits - FpcBits;
  localparam int unsigned PlaceBits = 4;               // events that wait
  localparam int unsigned AtBits = (HotBits < IndexBits) ? HotBits : IndexBits;

`ifndef SYNTHESIS
  // A place is always found whose TCB no event keeps: where one is wanted, an event waits whose TCB is
  // not on chip, and all others keep one at most, as do the one that is just read, and the pipeline.
  initial assert (HotBits >= IndexBits || 2 ** HotBits > 2 ** PlaceBits + Stages)
    else $fatal(1, "toe_fpc: %0d TCBs on chip are too few", 2 ** HotBits);
`endif

  typedef struct packed {
    flow_t flow;
    qp_t   qp;
  } listed_t;

  // ---- what comes next: an event, a flow that has to tell, one that has to send ----

  logic [1:0] turn_q;
  logic send_valid, tell_valid, tell_placed, wait_valid, wait_ready, issue, go;
  listed_t send_head, tell_head;
  event_t chosen, issued;
  logic use_event, use_tell, use_send;
  logic ask_valid, ask_ready, window_valid, window_sent_q;
  fpc_cubic_pkg::cubic_ask_t ask;
  fpc_cubic_pkg::cubic_t window;
  listed_t window_of_q;
  wire use_window = window_valid && !window_sent_q;   // seldom: 100 cycles and more apart

  always_comb begin
    use_event = 1'b0;
    use_tell = 1'b0;
    use_send = 1'b0;
    if (!use_window) unique case (turn_q)
      2'd0: begin
        if (event_valid_i) use_event = 1'b1;
        else if (tell_valid) use_tell = 1'b1;
        else use_send = send_valid;
      end
      2'd1: begin
        if (tell_valid) use_tell = 1'b1;
        else if (send_valid) use_send = 1'b1;
        else use_event = event_valid_i;
      end
      default: begin
        if (send_valid) use_send = 1'b1;
        else if (event_valid_i) use_event = 1'b1;
        else use_tell = tell_valid;
      end
    endcase
    chosen = event_i;
    if (!use_event) begin
      chosen.kind = use_tell ? EvTell : EvSend;
      chosen.flow = use_tell ? tell_head.flow : send_head.flow;
      chosen.qp = use_tell ? tell_head.qp : send_head.qp;
      chosen.body = body_t'(tell_placed);
    end
    if (use_window) begin
      chosen.kind = EvWindow;
      chosen.flow = window_of_q.flow;
      chosen.qp = window_of_q.qp;
    end
  end

  assign wait_valid = use_event || use_tell || use_send || use_window;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) turn_q <= 2'd0;
    else if (wait_valid && wait_ready && !use_window)
      turn_q <= (turn_q == 2'd2) ? 2'd0 : turn_q + 2'd1;
  end

  assign event_ready_o = use_event && wait_ready;

  // ---- the TCBs, and who waits for one ----

  out_t out;
  tcb_t tcb;
  logic [Stages-1:0] flying;
  flow_t [Stages-1:0] flying_flow;
  logic located_valid, located_ready, hot, fresh, want, want_ready, want_fresh, came, pinned, hole;
  logic tcbs_ready, evicted;
  event_t located;
  logic [AtBits-1:0] at, came_at, issue_at;
  logic [Stages-1:0][AtBits-1:0] at_q;      // beside the pipeline: where its TCBs go back to
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

  logic   valid_q1;
  event_t event_q1;
  now_t   now_q1;
  // cN is what leaves stage N, qN what comes into it.
  ctx_t c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13;
  ctx_t q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14;

  always_ff @(posedge clk_i) begin
    valid_q1 <= issue && rst_ni;
    event_q1 <= issued;
    now_q1 <= now_i;
  end

  always_comb begin
    c0 = '0;
    c0.valid = valid_q1;
    c0.kind = event_q1.kind;
    c0.flow = event_q1.flow;
    c0.qp = event_q1.qp;
    c0.tick = ticks(now_q1);
    c0.stamp = stamps(now_q1);
    c0.t = tcb;
    c0.seg = as_segment(event_q1.body);
    c0.command = as_command(event_q1.body);
    c0.open = as_open(event_q1.body);
    c0.placed = event_q1.body[0];
  end

  ctx_t c1_look, c2_look;
  fpc_look #(.Step(0)) look1 (.c_i(c0), .c_o(c1_look));
  fpc_open open_stage (.c_i(c1_look), .c_o(c1));

  fpc_look #(.Step(1)) look2 (.c_i(q2), .c_o(c2_look));
  fpc_check check (.c_i(c2_look), .c_o(c2));

  ctx_t c3_host, c3_ack, c3_timer;
  fpc_host host (.c_i(q3), .c_o(c3_host));
  fpc_ack ack (.c_i(q3), .c_o(c3_ack));
  fpc_timer timer (.c_i(q3), .c_o(c3_timer));
  always_comb begin
    unique case (q3.kind)
      EvCommand: c3 = c3_host;
      EvTimer: c3 = c3_timer;
      default: c3 = c3_ack;
    endcase
  end

  ctx_t c4_sack, c4_time, c5_sack, c5_time, c6_sack, c6_time, c7_sack, c7_time, c8_loss, c8_time;
  fpc_sack #(.Index(0)) sack4 (.c_i(q4), .c_o(c4_sack));
  fpc_time #(.Step(0)) time4 (.c_i(c4_sack), .c_o(c4_time));
  fpc_text #(.Step(0)) text4 (.c_i(c4_time), .c_o(c4));

  fpc_sack #(.Index(1)) sack5 (.c_i(q5), .c_o(c5_sack));
  fpc_time #(.Step(1)) time5 (.c_i(c5_sack), .c_o(c5_time));
  fpc_text #(.Step(1)) text5 (.c_i(c5_time), .c_o(c5));

  fpc_sack #(.Index(2)) sack6 (.c_i(q6), .c_o(c6_sack));
  fpc_time #(.Step(2)) time6 (.c_i(c6_sack), .c_o(c6_time));
  fpc_text #(.Step(2)) text6 (.c_i(c6_time), .c_o(c6));

  fpc_sack #(.Index(3)) sack7 (.c_i(q7), .c_o(c7_sack));
  fpc_time #(.Step(3)) time7 (.c_i(c7_sack), .c_o(c7_time));
  fpc_text #(.Step(3)) text7 (.c_i(c7_time), .c_o(c7));

  fpc_loss #(.Step(0)) loss8 (.c_i(q8), .c_o(c8_loss));
  fpc_time #(.Step(4)) time8 (.c_i(c8_loss), .c_o(c8_time));
  fpc_text #(.Step(4)) text8 (.c_i(c8_time), .c_o(c8));

  ctx_t c9_loss;
  fpc_loss #(.Step(1)) loss9 (.c_i(q9), .c_o(c9_loss));
  fpc_cc cc (.clk_i, .early_i(q6), .c_i(c9_loss), .c_o(c9),
             .ask_valid_o(ask_valid), .ask_ready_i(ask_ready), .ask_o(ask), .state_i(window));

  // One flow at a time is with fpc_cubic. Its window stays there until its event passes fpc_cc.
  fpc_cubic cubic (
    .clk_i, .rst_ni,
    .valid_i(ask_valid), .ready_o(ask_ready), .ask_i(ask),
    .valid_o(window_valid), .ready_i(q9.valid && q9.kind == EvWindow), .state_o(window)
  );
  always_ff @(posedge clk_i) begin
    if (ask_valid && ask_ready) window_of_q <= '{flow: q9.flow, qp: q9.t.qp};
    if (!rst_ni || (ask_valid && ask_ready)) window_sent_q <= 1'b0;
    else if (use_window && wait_ready) window_sent_q <= 1'b1;
  end

  ctx_t c10_plan, c11_plan, c11_offer, c12_plan, c12_offer;
  fpc_plan #(.Step(0)) plan10 (.c_i(q10), .c_o(c10_plan));
  fpc_offer #(.Step(0)) offer10 (.c_i(c10_plan), .c_o(c10));
  fpc_plan #(.Step(1)) plan11 (.c_i(q11), .c_o(c11_plan));
  fpc_offer #(.Step(1)) offer11 (.c_i(c11_plan), .c_o(c11_offer));
  fpc_owed #(.Step(0)) owed11 (.c_i(c11_offer), .c_o(c11));

  fpc_plan #(.Step(2)) plan12 (.c_i(q12), .c_o(c12_plan));
  fpc_offer #(.Step(2)) offer12 (.c_i(c12_plan), .c_o(c12_offer));
  fpc_owed #(.Step(1)) owed12 (.c_i(c12_offer), .c_o(c12));

  fpc_send send (.c_i(q13), .c_o(c13));
  fpc_out finish (.c_i(q14), .o_o(out));

  always_ff @(posedge clk_i) begin
    q2 <= c1;
    q3 <= c2;
    q4 <= c3;
    q5 <= c4;
    q6 <= c5;
    q7 <= c6;
    q8 <= c7;
    q9 <= c8;
    q10 <= c9;
    q11 <= c10;
    q12 <= c11;
    q13 <= c12;
    q14 <= c13;
    if (!rst_ni) begin
      q2.valid <= 1'b0;
      q3.valid <= 1'b0;
      q4.valid <= 1'b0;
      q5.valid <= 1'b0;
      q6.valid <= 1'b0;
      q7.valid <= 1'b0;
      q8.valid <= 1'b0;
      q9.valid <= 1'b0;
      q10.valid <= 1'b0;
      q11.valid <= 1'b0;
      q12.valid <= 1'b0;
      q13.valid <= 1'b0;
      q14.valid <= 1'b0;
    end
  end

  assign flying = {q14.valid, q13.valid, q12.valid, q11.valid, q10.valid, q9.valid, q8.valid,
                   q7.valid, q6.valid, q5.valid, q4.valid, q3.valid, q2.valid, valid_q1};
  assign flying_flow = {q14.flow, q13.flow, q12.flow, q11.flow, q10.flow, q9.flow, q8.flow, q7.flow,
                        q6.flow, q5.flow, q4.flow, q3.flow, q2.flow, event_q1.flow};

  // ---- what leaves ----

  logic [OutBits:0] write_room, tx_room, conn_room;
  logic [IndexBits:0] send_room;
  logic [1:0] sends_room;
  logic send_listed, send_moves;
  listed_t send_first;

  wire write_goes = write_valid_o && write_ready_i;
  wire tx_goes = tx_valid_o && tx_ready_i;

  // Stages are in flight, and one is issued now.
  localparam logic [OutBits:0] Needed = (OutBits + 1)'(Stages + 1);
  assign go = !hole && write_room > Needed && tx_room > Needed && conn_room > Needed;

  toe_fifo #(.Width($bits(write_t)), .AddrBits(OutBits)) writes (
    .clk_i, .rst_ni,
    .push_i(out.write_ok), .data_i(out.write), .room_o(write_room),
    .valid_o(write_valid_o), .pop_i(write_goes), .data_o(write_o)
  );
  toe_fifo #(.Width($bits(tx_desc_t)), .AddrBits(OutBits)) segments (
    .clk_i, .rst_ni,
    .push_i(out.tx_ok), .data_i(out.tx), .room_o(tx_room),
    .valid_o(tx_valid_o), .pop_i(tx_goes), .data_o(tx_o)
  );
  toe_fifo #(.Width($bits(conn_msg_t)), .AddrBits(OutBits)) messages (
    .clk_i, .rst_ni,
    .push_i(out.conn_ok), .data_i(out.conn), .room_o(conn_room),
    .valid_o(conn_valid_o), .pop_i(conn_valid_o && conn_ready_i), .data_o(conn_o)
  );

  // What stood in these queues at drain_i.
  logic [OutBits:0] old_writes_q, old_segments_q;
  localparam logic [OutBits:0] Depth = (OutBits + 1)'(1) << OutBits;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      old_writes_q <= '0;
      old_segments_q <= '0;
    end else if (drain_i) begin
      old_writes_q <= Depth - write_room - (OutBits + 1)'(write_goes);
      old_segments_q <= Depth - tx_room - (OutBits + 1)'(tx_goes);
    end else begin
      if (write_goes && old_writes_q != '0) old_writes_q <= old_writes_q - 1'b1;
      if (tx_goes && old_segments_q != '0) old_segments_q <= old_segments_q - 1'b1;
    end
  end
  assign draining_o = old_writes_q != '0 || old_segments_q != '0;

  // Each flow stands at most once in either list.
  listed_t listed;
  assign listed.flow = out.flow;
  assign listed.qp = out.t.qp;

  toe_fifo #(.Width($bits(listed_t)), .AddrBits(IndexBits)) send_list (
    .clk_i, .rst_ni,
    .push_i(out.push_send), .data_i(listed), .room_o(send_room),
    .valid_o(send_listed), .pop_i(send_moves), .data_o(send_first)
  );
  // What is next stands by itself: a thousand places are deep to read.
  assign send_moves = send_listed && sends_room != 2'd0;
  toe_fifo #(.Width($bits(listed_t)), .AddrBits(1)) sends (
    .clk_i, .rst_ni,
    .push_i(send_moves), .data_i(send_first), .room_o(sends_room),
    .valid_o(send_valid), .pop_i(use_send && wait_ready), .data_o(send_head)
  );
  fpc_tell #(.IndexBits(IndexBits)) tells (
    .clk_i, .rst_ni, .gone_i,
    .push_i(out.push_tell), .flow_i(listed.flow), .qp_i(listed.qp),
    .ask_o(tell_valid_o), .ask_qp_o(tell_qp_o), .grant_i(tell_grant_i),
    .refuse_i(tell_refuse_i), .take_o(tell_take_o),
    .valid_o(tell_valid), .pop_i(use_tell && wait_ready), .flow_o(tell_head.flow),
    .qp_o(tell_head.qp), .placed_o(tell_placed)
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

  wire unused = &{1'b0, send_room, tcbs_ready};

endmodule

`resetall
