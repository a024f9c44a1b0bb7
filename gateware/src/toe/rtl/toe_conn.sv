// SPDX-License-Identifier: Apache-2.0
// toe_conn.sv - begins and ends connections (S1.1): listeners, slots, local ports, initial sequence
// numbers, TIME-WAIT, packets of no flow. One thing at a time; the frequent segments, data and
// acknowledgements, do not pass through it.
//
// This file has the steps. conn_listeners, conn_slots, conn_waits and conn_tw hold the tables,
// conn_turn selects what is next, conn_route finds the route of a CONNECT, conn_say makes the messages
// of each step.
`resetall
`default_nettype none

module toe_conn
  import toe_pkg::*;
  import toe_cmd_pkg::*;
  import conn_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned FlowBits = 8,
  parameter int unsigned Fpcs = 1
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire now_t                 now_i,
  input  wire own_t                 own_i,
  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0]             detach_i,     // is detached: its flows are reset
  output wire [Qps-1:0]             reset_o,      // ... all are, and it gets no others
  output wire [Qps-1:0]             attached_o,   // its slots are filled
  output wire [Qps-1:0][15:0]       used_o,       // slots that hold a flow
  output wire [Qps-1:0][7:0]        listeners_o,

  input  wire            command_valid_i,
  output wire            command_ready_o,
  input  wire command_t  command_i,
  input  wire qp_t       command_qp_i,
  input  wire entry_t    command_entry_i,
  output wire            done_o,

  // packets of no flow, or of one in TIME-WAIT
  input  wire            miss_valid_i,
  output wire            miss_ready_o,
  input  wire packet_t   miss_i,
  input  wire            miss_tw_i,
  input  wire flow_t     miss_index_i,
  output wire            free_valid_o,
  input  wire            free_ready_i,
  output wire buf_t      free_o,

  input  wire [Fpcs-1:0]             message_valid_i,
  output wire [Fpcs-1:0]             message_ready_o,
  input  wire conn_msg_t [Fpcs-1:0]  message_i,

  output wire                  table_valid_o,
  input  wire                  table_ready_i,
  output wire table_request_t  table_o,
  input  wire                  answer_valid_i,
  input  wire table_answer_t   answer_i,
  output wire place_t          path_at_o,
  input  wire path_t           path_i,

  output wire         event_valid_o,
  input  wire         event_ready_i,
  output wire event_t event_o,

  output wire           bare_valid_o,
  input  wire           bare_ready_i,
  output wire tx_desc_t bare_o,
  output wire path_t    bare_path_o,

  // the link address of a next hop, from toe_resp, which requests an unknown one from the link
  output wire         neigh_valid_o,
  output wire         neigh_v6_o,
  output wire addr_t  neigh_o,
  input  wire         neigh_answer_i,
  input  wire         neigh_known_i,
  input  wire [47:0]  neigh_mac_i,

  // ERROR and CONNECT_FAILED
  output wire         ask_o,
  output wire qp_t    ask_qp_o,
  input  wire         grant_i,
  output wire         write_valid_o,
  input  wire         write_ready_i,
  output wire write_t write_o,

  output wire conn_counts_t counts_o
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  localparam logic [15:0] PortFirst = 16'd32768;
  localparam logic [15:0] PortCount = 16'd28232;
  localparam int unsigned EventBits = 2;
  typedef logic [QpBits-1:0] qidx_t;
  typedef logic [FlowBits-1:0] slot_t;

  step_e step_q;

  // ---- the work at hand ----

  logic [Qps-1:0] attached_q, reset_q;
  qp_t qp_q;
  packet_t pkt_q;
  logic miss_tw_q;
  flow_t miss_index_q;
  conn_msg_t msg_q;
  command_t cmd_q;
  entry_t entry_q;
  logic from_wait_q;                 // the CONNECT has waited: its place in conn_waits
  ahead_t ahead_q;                   // ... and the options that arrived while it waited
  widx_t wait_q;
  slot_t index_q;                    // of scans over slots
  logic active_q;
  flow_t flow_q;
  tuple_t tuple_q;
  logic [47:0] mac_q;
  seq_t iss_least_q, iss_q;
  logic iss_least_ok_q;
  logic [7:0] reason_q;
  logic [15:0] port_try_q, port_offset_q, port_next_q;   // offset, next: below PortCount
  logic fixed_port_q;
  path_t old_path_q;
  logic tw_moved_q;                     // it has moved: its answer is recorded at the new place

  wire tick_t tick = ticks(now_i);
  wire cmd_t cmd = cmd_q.cmd;
  // The configuration of qp_q, a cycle later: no step that uses it directly follows one that sets qp_q.
  qp_config_t q;
  slot_t slots_mask;
  always_ff @(posedge clk_i) begin
    q <= qp_i[qidx_t'(qp_q)];
    slots_mask <= slot_t'((32'd1 << qp_i[qidx_t'(qp_q)].slots_log) - 32'd1);
  end

  // A host that does not drain its HW ring does not delay the others: its answer is tried again later.
  localparam int unsigned AskFor = 63;
  logic [5:0] asked_q;
  wire tired = asked_q == 6'(AskFor);

  // Purged flows must confirm it before their slots get new owners.
  logic [Qps-1:0] scanned_q;
  logic [FlowBits:0] purges_q;

  // ---- the queue of events: while an FPC does not take them, toe_conn still serves its messages ----

  logic event_valid;
  event_t event_new;
  logic [EventBits:0] event_room;
  wire event_goes = event_valid && event_room != '0;
  toe_fifo #(.Width($bits(event_t)), .AddrBits(EventBits)) events (
    .clk_i, .rst_ni, .push_i(event_goes), .data_i(event_new), .room_o(event_room),
    .valid_o(event_valid_o), .pop_i(event_valid_o && event_ready_i), .data_o(event_o)
  );

  // ---- what is next ----

  // A sweep makes an event for each slot: it is suspended when there is no room, and resumes there.
  logic sweep_q, sweep_detach_q;
  qp_t sweep_qp_q;
  slot_t sweep_at_q;

  logic [Qps-1:0] to_attach, to_detach;
  always_comb begin
    for (int i = 0; i < int'(Qps); i++) begin
      to_attach[i] = qp_i[i].enable && !attached_q[i];
      to_detach[i] = detach_i[i] && attached_q[i] && !scanned_q[i];
    end
  end
  take_e take;
  conn_msg_t next_msg;
  qp_t next_qp;
  logic tw_due, tw_known, wait_due;
  conn_turn #(.Qps(Qps), .Fpcs(Fpcs)) turn (
    .clk_i, .rst_ni, .idle_i(step_q == Idle), .room_i(event_room != '0), .sweep_i(sweep_q),
    .message_valid_i, .message_i, .message_ready_o, .message_o(next_msg),
    .to_attach_i(to_attach), .to_detach_i(to_detach), .qp_o(next_qp),
    .tw_due_i(tw_due), .tw_known_o(tw_known), .command_i(command_valid_i),
    .miss_i(miss_valid_i), .wait_i(wait_due), .take_o(take)
  );
  assign command_ready_o = take == TakeCommand;
  assign miss_ready_o = take == TakeMiss;

  // ---- hashing ----

  logic hash_done;
  logic [63:0] hash_sum;
  toe_siphash siphash (
    .clk_i, .rst_ni, .key_i(own_i.secret),
    .start_i(step_q == Hash || (step_q == ConnectPort && !fixed_port_q)),
    .tuple_i(tuple_q),
    .word_i((step_q == Hash) ? 32'd0 : 32'd1), .done_o(hash_done), .sum_o(hash_sum)
  );
  // RFC 6528: a clock of 4 us and a keyed hash.
  wire seq_t iss_hashed = hash_sum[31:0] + now_i.ns[43:12];
  wire seq_t iss = (iss_least_ok_q && seq_lt(iss_hashed, iss_least_q)) ? iss_least_q : iss_hashed;

  // RFC 6056, algorithm 3: a hash of the destination, mapped to the range of ports, and a count.
  wire [31:0] port_hashed = 32'(hash_sum[15:0]) * 32'(PortCount);
  wire [16:0] port_sum = 17'(port_offset_q) + 17'(port_next_q);
  wire [15:0] port_at = (port_sum >= 17'(PortCount)) ? 16'(port_sum - 17'(PortCount))
                                                     : 16'(port_sum);

  // ---- the tables ----

  wire flags_t fl = pkt_q.seg.flags;
  wire syn = is_syn(fl);
  wire slot_t msg_slot = slot_t'(msg_q.flow);
  wire slot_t scan_flow = slot_t'(q.first) + index_q;
  wire opens = step_q == OpenEvent && event_goes;
  wire unheld = step_q == UnlistenEvent && event_goes;
  wire forgets = step_q == DetachEnd && index_q == slots_mask;
  wire leaves = step_q inside {DetachEnd, UnlistenNext} && index_q != slots_mask &&
                event_room == '0;

  lidx_t best;                      // the listener that is at hand
  info_t info, new_info;
  slot_t next_slot;
  logic [Qps-1:0][15:0] free_slots, used_slots;
  wire of_message = step_q inside {MsgRead, MsgBacklog, MsgFree, MsgPath, MsgTable, MsgAnswer,
                                   MsgTwOld, MsgTwOldPath, MsgTwOldTable, MsgTwOldAnswer};
  always_comb begin
    new_info.used = 1'b1;
    new_info.pending = active_q;
    new_info.cookie = cmd_flow(cmd);
    new_info.half = !active_q;
    new_info.listener = best;
  end
  conn_slots #(.Qps(Qps), .FlowBits(FlowBits)) slots (
    .clk_i, .rst_ni, .config_i(qp_i), .qp_i(qp_q),
    .fill_i(step_q == AttachFill), .filled_i(step_q == AttachEnd),
    .take_i(opens), .info_i(new_info), .give_i(step_q == MsgFree),
    // A flow whose listener is removed must not count for a new one with the same id.
    .accept_i((step_q == MsgBacklog && msg_q.kind == CnAccepted) || unheld),
    .slot_i((step_q == AttachFill || unheld) ? scan_flow : msg_slot),
    .next_o(next_slot), .taken_i(slot_t'(flow_q)),
    .look_i(of_message ? msg_slot : scan_flow), .info_o(info),
    .free_o(free_slots), .used_o(used_slots)
  );
  // A cycle later: no step uses them in the cycle after a slot was taken or returned.
  logic [Qps-1:0][15:0] used_slots_q;
  logic [Qps-1:0] no_slot_q;
  always_ff @(posedge clk_i) begin
    used_slots_q <= used_slots;
    for (int i = 0; i < int'(Qps); i++) no_slot_q[i] <= free_slots[i] == 16'd0;
  end
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_used
    assign used_o[i] = attached_q[i] ? used_slots_q[i] : 16'd0;
  end

  listen_e look_for;
  listener_t listener, msg_listener;
  logic asked_ok, found, found_same, found_equal, walked, passed;
  always_comb begin
    unique case (step_q)
      SynScan: look_for = LsHear;
      ListenScan: look_for = LsAdd;
      UnlistenScan: look_for = LsRemove;
      default: look_for = LsNothing;
    endcase
  end
  // The listener of the message; it is decremented a cycle later.
  logic less_q;
  lidx_t less_who_q;
  wire msg_listener_ok = info.half && msg_listener.valid && msg_listener.qp == msg_q.qp &&
                         msg_listener.id == msg_q.id;
  conn_listeners #(.Qps(Qps)) listeners (
    .clk_i, .rst_ni, .own_i, .full_i(no_slot_q), .flows_i(used_slots_q), .closed_i(detach_i),
    .clear_i(step_q == Idle), .op_i(look_for), .tuple_i(pkt_q.tuple), .cmd_i(cmd),
    .entry_i(entry_q), .qp_i(qp_q), .valid_o(asked_ok), .last_o(walked), .same_o(found_same),
    .equal_o(found_equal), .found_o(found), .passed_o(passed), .best_o(best),
    .listener_o(listener),
    .put_i(step_q == Listen && found), .more_i(opens && !active_q),
    .less_i(less_q), .less_who_i(less_who_q), .who_i(info.listener),
    .who_o(msg_listener), .forget_i(forgets), .count_o(listeners_o)
  );
  always_ff @(posedge clk_i) begin
    less_who_q <= info.listener;
    less_q <= rst_ni && step_q == MsgBacklog && msg_q.backlog && msg_listener_ok;
  end

  seq_t fin_end_q;                  // behind the segment's FIN
  always_ff @(posedge clk_i) fin_end_q <= pkt_q.seg.seq + 32'(pkt_q.seg.len) + 32'd1;

  slot_t tw_head, tw_tail;
  tw_t tw_item, tw_new;
  logic tw_some, tw_full, tw_anew, tw_again, tw_says, tw_limited;
  logic tw_anew_q, tw_again_q, tw_says_q, tw_limited_q;
  always_ff @(posedge clk_i) begin
    tw_anew_q <= tw_anew;
    tw_again_q <= tw_again;
    tw_says_q <= tw_says;
    tw_limited_q <= tw_limited;
  end
  wire tw_push = (step_q == MsgAnswer && answer_valid_i && msg_q.kind == CnTimeWait) ||
                 (step_q == TwMoved && answer_valid_i);
  wire tw_pop = step_q inside {MsgTwOldAnswer, TwExpireAnswer} && answer_valid_i;
  always_comb begin
    tw_new = tw_item;
    tw_new.said_at = tick;
    if (step_q == MsgAnswer) begin
      tw_new.said_at = tick - SaidAgain;
      tw_new.snd_nxt = msg_q.snd_nxt;
      tw_new.rcv_nxt = msg_q.rcv_nxt;
      tw_new.ts = msg_q.ts;
      tw_new.ts_recent = msg_q.ts_recent;
      tw_new.ts_offset = msg_q.ts_offset;
    end
  end
  conn_tw #(.FlowBits(FlowBits)) tws (
    .clk_i, .rst_ni, .tick_i(tick), .push_i(tw_push), .push_item_i(tw_new), .pop_i(tw_pop),
    .head_o(tw_head), .tail_o(tw_tail), .some_o(tw_some), .full_o(tw_full),
    .look_i(step_q inside {MissJudge, TwRead, TwWeigh, TwJudge, TwAgain, TwMoved, TwAnswer}),
    .index_i(slot_t'(miss_index_q)), .item_o(tw_item), .due_o(tw_due),
    .seg_i(pkt_q.seg), .end_i(fin_end_q), .anew_o(tw_anew), .again_o(tw_again), .says_o(tw_says),
    .limited_o(tw_limited), .said_i(step_q == TwAnswer && bare_ready_i && !tw_moved_q)
  );

  logic wait_room, wait_patient, wait_named;
  widx_t wait_next;
  waiting_t wait_item;
  wire unknown = step_q == ConnectNeigh && neigh_answer_i && !neigh_known_i;
  conn_waits waits (
    .clk_i, .rst_ni, .tick_i(tick), .due_o(wait_due), .next_o(wait_next), .item_o(wait_item),
    .room_o(wait_room), .put_i(unknown && !from_wait_q && wait_room), .command_i(cmd_q),
    .entry_i(entry_q), .qp_i(qp_q), .at_i(wait_q), .patient_o(wait_patient),
    .again_i((unknown && from_wait_q) || (step_q == FailAsk && tired && !grant_i)),
    .drop_i(from_wait_q && ((opens && active_q) || (step_q == Fail && write_ready_i))),
    .named_o(wait_named),
    .cancel_i(step_q == CmdJudge && cmd_type(cmd) == SwCancel && !detach_i[qidx_t'(qp_q)]),
    .option_i(step_q == CmdJudge && cmd_type(cmd) == SwOption &&
              (cmd_flags(cmd) & OptionListen) == 7'd0),
    .forget_i(forgets)
  );

  tuple_t route;
  logic no_route;
  addr_t hop;
  conn_route the_route (
    .clk_i, .cmd_i(cmd), .entry_i(entry_q), .own_i, .tuple_o(route), .hop_o(hop), .bad_o(no_route)
  );
  assign neigh_valid_o = step_q == ConnectAsk && !no_route;
  assign neigh_v6_o = tuple_q.v6;
  assign neigh_o = hop;

  // ---- the messages ----

  path_t new_path;
  always_comb begin
    new_path.tuple = tuple_q;
    new_path.mac = mac_q;
  end
  conn_say #(.FlowBits(FlowBits)) say (
    .step_i(step_q), .tick_i(tick), .packet_i(pkt_q), .message_i(msg_q), .command_i(cmd_q),
    .waited_i(from_wait_q), .reason_i(reason_q), .qp_i(qp_q), .config_i(q), .index_i(index_q),
    .miss_index_i(miss_index_q), .old_path_i(old_path_q), .tw_head_i(tw_head),
    .tw_tail_i(tw_tail), .tw_i(tw_item), .active_i(active_q), .flow_i(flow_q),
    .path_i(new_path), .id_i(listener.id), .iss_i(iss_q), .ts_offset_i(hash_sum[63:32]),
    .mtu_i(own_i.mtu), .cc_i(own_i.cc), .ahead_i(ahead_q),
    .table_valid_o, .table_o, .path_at_o, .event_valid_o(event_valid), .event_o(event_new),
    .bare_valid_o, .bare_o,
    .bare_path_o, .write_valid_o, .write_o
  );
  assign ask_o = step_q == FailAsk;
  assign ask_qp_o = qp_q;
  assign done_o = step_q == CmdDone;
  assign free_valid_o = step_q == MissDone;
  assign free_o = pkt_q.seg.buffer;
  assign attached_o = attached_q;
  assign reset_o = reset_q;

  wire purge_out = step_q == DetachEvent && event_goes;
  wire purge_in = step_q == MsgRead && msg_q.purged;

  conn_counts_t counts_q;
  assign counts_o = counts_q;

  // ---- the steps, by what they work on ----

  // Takes what conn_turn has selected.
  task automatic begin_work();
    index_q <= '0;
    iss_least_ok_q <= 1'b0;
    active_q <= 1'b0;
    port_try_q <= '0;
    unique case (take)
      TakeMessage: begin
        msg_q <= next_msg;
        qp_q <= next_msg.qp;
        step_q <= MsgRead;
      end
      TakeAttach: begin
        qp_q <= next_qp;
        step_q <= AttachBegin;
      end
      TakeDetach: begin
        qp_q <= next_qp;
        step_q <= DetachBegin;
      end
      TakeSweep: begin
        qp_q <= sweep_qp_q;
        index_q <= sweep_at_q;
        step_q <= sweep_detach_q ? DetachBegin : UnlistenBegin;
      end
      TakeTw: step_q <= TwExpire;
      TakeCommand: begin
        cmd_q <= command_i;
        qp_q <= command_qp_i;
        entry_q <= command_entry_i;
        from_wait_q <= 1'b0;
        ahead_q <= '0;
        step_q <= CmdJudge;
      end
      TakeWaiting: begin
        cmd_q <= wait_item.command;
        qp_q <= wait_item.qp;
        entry_q <= wait_item.entry;
        from_wait_q <= 1'b1;
        wait_q <= wait_next;
        ahead_q <= wait_item.ahead;
        step_q <= ConnectHop;
      end
      TakeMiss: begin
        pkt_q <= miss_i;
        miss_tw_q <= miss_tw_i;
        miss_index_q <= miss_index_i;
        tuple_q <= miss_i.tuple;
        mac_q <= miss_i.mac;
        step_q <= MissFind;
      end
      default: ;
    endcase
  endtask

  // Queue pairs: slots of a new one are filled; each flow of one that is detached is purged.
  task automatic queue_pair_step();
    unique case (step_q)
      AttachBegin: step_q <= AttachFill;
      AttachFill: begin
        index_q <= index_q + 1'b1;
        if (index_q == slots_mask) step_q <= AttachEnd;
      end
      AttachEnd: begin
        attached_q[qidx_t'(qp_q)] <= 1'b1;
        step_q <= Idle;
      end
      DetachBegin: step_q <= DetachFlow;
      DetachFlow: step_q <= DetachRead;
      DetachRead: step_q <= info.used ? DetachEvent : DetachEnd;
      DetachEvent: if (event_goes) step_q <= DetachEnd;
      DetachEnd: begin
        index_q <= index_q + 1'b1;
        if (index_q == slots_mask) begin
          scanned_q[qidx_t'(qp_q)] <= 1'b1;
          step_q <= Idle;
        end else step_q <= leaves ? Idle : DetachFlow;
      end
      default: ;
    endcase
  endtask

  // Messages of FPCs: what became of a flow. A full TIME-WAIT ring drops its oldest connection first.
  task automatic message_step();
    unique case (step_q)
      MsgRead: step_q <= MsgBacklog;
      MsgBacklog: begin
        unique case (msg_q.kind)
          CnAccepted: step_q <= Idle;
          CnFree: step_q <= MsgFree;
          default: step_q <= MsgPath;
        endcase
      end
      MsgPath: begin
        old_path_q <= path_i;
        // The ring is full: the oldest connection leaves it.
        step_q <= (msg_q.kind == CnTimeWait && tw_full) ? MsgTwOld : MsgTable;
      end
      MsgTwOld: step_q <= MsgTwOldPath;
      MsgTwOldPath: begin
        old_path_q <= path_i;
        step_q <= MsgTwOldTable;
      end
      MsgTwOldTable: if (table_ready_i) step_q <= MsgTwOldAnswer;
      MsgTwOldAnswer:
      if (answer_valid_i) begin
        counts_q.tw_recycled <= 1'b1;
        step_q <= MsgBacklog;
        msg_q.backlog <= 1'b0;
      end
      MsgTable: if (table_ready_i) step_q <= MsgAnswer;
      MsgAnswer:
      if (answer_valid_i) step_q <= msg_q.free ? MsgFree : Idle;
      MsgFree: step_q <= Idle;
      default: ;
    endcase
  endtask

  // The oldest connection leaves TIME-WAIT.
  task automatic expiry_step();
    unique case (step_q)
      TwExpire: step_q <= TwExpirePath;
      TwExpirePath: begin
        old_path_q <= path_i;
        step_q <= TwExpireTable;
      end
      TwExpireTable: if (table_ready_i) step_q <= TwExpireAnswer;
      TwExpireAnswer:
      if (answer_valid_i) step_q <= Idle;
      default: ;
    endcase
  endtask

  // Packets without a flow: look again; else TIME-WAIT, a listener or a RST.
  task automatic miss_step();
    unique case (step_q)
      MissFind: if (table_ready_i) step_q <= MissAnswer;
      MissAnswer:
      if (answer_valid_i) begin
        // A request that was served in the meantime may have created the flow.
        flow_q <= answer_i.place.index;
        miss_tw_q <= answer_i.ok && answer_i.place.tw;
        miss_index_q <= answer_i.place.index;
        step_q <= (answer_i.ok && !answer_i.place.tw) ? MissEvent : MissJudge;
      end
      MissEvent: if (event_goes) step_q <= Idle;
      MissJudge: begin
        if (miss_tw_q) step_q <= TwRead;
        else if (syn || (!fl.ack && !fl.rst)) step_q <= SynScan;
        else if (fl.rst) begin
          counts_q.no_flow <= 1'b1;
          step_q <= MissDone;
        end else step_q <= Reset;
      end
      Reset:
      if (bare_ready_i) begin
        counts_q.rst_sent <= 1'b1;
        step_q <= MissDone;
      end
      MissDone: if (free_ready_i) step_q <= Idle;
      default: ;
    endcase
  endtask

  // A packet of a connection in TIME-WAIT.
  task automatic time_wait_step();
    unique case (step_q)
      TwRead: step_q <= TwWeigh;
      TwWeigh: begin
        old_path_q <= path_i;
        step_q <= TwJudge;
      end
      TwJudge: begin
        // Above what the old connection has sent (RFC 9293 3.10.7.4, TIME-WAIT).
        iss_least_q <= tw_item.snd_nxt + 32'd65536;
        iss_least_ok_q <= tw_anew_q;
        if (tw_anew_q) step_q <= SynScan;
        else if (tw_again_q) step_q <= TwAgain;
        else if (tw_says_q) step_q <= TwAnswer;
        else step_q <= MissDone;
        counts_q.tw_limited <= !tw_anew_q && !tw_again_q && tw_limited_q;
        tw_moved_q <= tw_again_q;
      end
      TwAgain: if (table_ready_i) step_q <= TwMoved;
      TwMoved:
      if (answer_valid_i) step_q <= TwAnswer;
      TwAnswer: if (bare_ready_i) step_q <= MissDone;
      default: ;
    endcase
  endtask

  // A SYN, or a packet that a listener drops; a SYN that is taken ends TIME-WAIT.
  task automatic syn_step();
    unique case (step_q)
      SynScan: if (walked) step_q <= SynPick;
      SynPick: begin
        qp_q <= listener.qp;
        // A SYN that no listener takes does not end TIME-WAIT.
        if (found && syn) step_q <= miss_tw_q ? TwTable : Slot;
        else if (found || passed) begin
          // A listener drops what has neither SYN, ACK nor RST (RFC 9293 3.10.7.2), and SYN with FIN.
          counts_q.listen_full <= syn;
          step_q <= MissDone;
        end else step_q <= Reset;
      end
      TwTable: if (table_ready_i) step_q <= TwGone;
      TwGone: if (answer_valid_i) step_q <= Slot;
      default: ;
    endcase
  endtask

  // A flow begins: its slot, its ISS, its place in the flow table, EvOpen.
  task automatic open_step();
    unique case (step_q)
      Slot: step_q <= SlotRead;
      SlotRead: begin
        flow_q <= flow_t'(next_slot);
        step_q <= Hash;
      end
      Hash: step_q <= HashWait;
      HashWait: begin
        iss_q <= iss;
        if (hash_done) step_q <= Insert;
      end
      Insert: if (table_ready_i) step_q <= InsertAnswer;
      InsertAnswer:
      if (answer_valid_i) begin
        if (answer_i.ok) step_q <= OpenEvent;
        else if (active_q) begin
          reason_q <= ReasonAddrnotavail;
          port_try_q <= port_try_q + 16'd1;
          step_q <= (fixed_port_q || port_try_q == 16'd64) ? Refuse : ConnectTry;
        end else begin
          counts_q.table_full <= 1'b1;
          step_q <= MissDone;
        end
      end
      OpenEvent:
      if (event_goes) begin
        if (active_q) begin
          step_q <= from_wait_q ? Idle : CmdDone;
        end else step_q <= MissDone;
      end
      default: ;
    endcase
  endtask

  // Checks a command and selects its steps.
  task automatic command_step();
    // It was in flight when its queue pair ended: no answer is expected.
    if (detach_i[qidx_t'(qp_q)]) step_q <= CmdDone;
    else unique case (cmd_type(cmd))
      SwListen: begin
        reason_q <= (cmd_aux(cmd) == 16'd0) ? ReasonInval : ReasonAddrnotavail;
        step_q <= (cmd_aux(cmd) == 16'd0 || !asked_ok) ? Error : ListenScan;
      end
      SwUnlisten: step_q <= UnlistenScan;
      SwConnect: begin
        reason_q <= ReasonInval;
        if (cmd_aux(cmd) == 16'd0 || cmd_arg1(cmd) > 32'd65535) step_q <= Error;
        else step_q <= ConnectHop;
      end
      SwCancel: begin
        // It may still wait for its neighbour.
        reason_q <= ReasonAborted;
        step_q <= wait_named ? Fail : CookieScan;
      end
      default: begin
        reason_q <= ReasonNoprotoopt;
        if ((cmd_flags(cmd) & OptionListen) != 7'd0) step_q <= Error;
        else step_q <= wait_named ? CmdDone : CookieScan;
      end
    endcase
  endtask

  // LISTEN, and UNLISTEN with the flows that are not yet accepted, which are reset.
  task automatic listen_step();
    unique case (step_q)
      ListenScan: begin
        reason_q <= ReasonAddrinuse;
        if (walked) step_q <= !found_same ? Listen : (found_equal ? CmdDone : Error);
      end
      Listen: begin
        reason_q <= ReasonNobufs;
        step_q <= found ? CmdDone : Error;
      end
      UnlistenScan: begin
        reason_q <= ReasonNoent;
        if (walked) step_q <= found_same ? UnlistenFlow : Error;
      end
      UnlistenBegin: step_q <= UnlistenFlow;
      UnlistenFlow: step_q <= UnlistenRead;
      UnlistenRead: begin
        if (info.used && info.half && info.listener == best)
          step_q <= UnlistenEvent;
        else begin
          index_q <= index_q + 1'b1;
          step_q <= (index_q == slots_mask) ? CmdDone : UnlistenFlow;
        end
      end
      UnlistenEvent: if (event_goes) step_q <= UnlistenNext;
      UnlistenNext: begin
        index_q <= index_q + 1'b1;
        step_q <= (index_q == slots_mask) ? CmdDone : (leaves ? Idle : UnlistenFlow);
      end
      default: ;
    endcase
  endtask

  // CANCEL, and OPTION of a CONNECT: the flow with the cookie.
  task automatic cookie_step();
    unique case (step_q)
      CookieScan: step_q <= CookieRead;
      CookieRead: begin
        if (info.used && info.pending && info.cookie == cmd_flow(cmd))
          step_q <= CookieEvent;
        else begin
          index_q <= index_q + 1'b1;
          step_q <= (index_q == slots_mask) ? CmdDone : CookieScan;
        end
      end
      CookieEvent: if (event_goes) step_q <= Idle;   // its FPC reports when it is handled
      default: ;
    endcase
  endtask

  // CONNECT: the route, the neighbour, the local port.
  task automatic connect_step();
    unique case (step_q)
      ConnectHop: begin
        active_q <= 1'b1;
        tuple_q <= route;
        fixed_port_q <= cmd_arg1(cmd) != 32'd0;
        reason_q <= ReasonNetunreach;
        step_q <= ConnectWay;
      end
      ConnectWay: step_q <= ConnectNear;
      ConnectNear: step_q <= ConnectAsk;
      ConnectAsk: step_q <= no_route ? Refuse : ConnectNeigh;
      ConnectNeigh:
      if (neigh_answer_i) begin
        mac_q <= neigh_mac_i;
        if (neigh_known_i) begin
          reason_q <= ReasonNobufs;
          step_q <= no_slot_q[qidx_t'(qp_q)] ? Refuse : ConnectPort;
        end else if (from_wait_q) begin
          reason_q <= ReasonHostunreach;
          step_q <= wait_patient ? Idle : Refuse;
        end else if (wait_room) begin
          step_q <= CmdDone;
        end else begin
          reason_q <= ReasonNobufs;
          step_q <= Refuse;
        end
      end
      ConnectPort: step_q <= fixed_port_q ? Slot : ConnectHash;
      ConnectHash:
      if (hash_done) begin
        port_offset_q <= port_hashed[31:16];
        step_q <= ConnectTry;
      end
      ConnectTry: begin
        tuple_q.local_port <= PortFirst + port_at;
        port_next_q <= (port_next_q == PortCount - 16'd1) ? 16'd0 : port_next_q + 16'd1;
        step_q <= Slot;
      end
      default: ;
    endcase
  endtask

  // A command fails. A CONNECT that has waited for its neighbour asks for room in the HW ring first.
  task automatic refuse_step();
    unique case (step_q)
      Refuse: step_q <= from_wait_q ? FailAsk : Fail;
      FailAsk:
      if (grant_i) step_q <= Fail;
      else if (tired) step_q <= Idle;   // it keeps waiting
      Fail:
      if (write_ready_i) step_q <= Idle;
      Error: if (write_ready_i) step_q <= Idle;
      default: ;
    endcase
  endtask

  // The state of each queue pair. reset: the last slot has returned, so that the host may remove the
  // configuration.
  task automatic queue_pair_states();
    for (int i = 0; i < int'(Qps); i++) begin
      if (!qp_i[i].enable) begin
        attached_q[i] <= 1'b0;
        reset_q[i] <= 1'b0;
        scanned_q[i] <= 1'b0;
      end else if (scanned_q[i] && purges_q == '0 && step_q == Idle) begin
        reset_q[i] <= 1'b1;
      end
    end
  endtask

  always_ff @(posedge clk_i) begin
    counts_q <= '0;
    asked_q <= (step_q == FailAsk) ? asked_q + 6'd1 : '0;
    if (leaves) begin
      sweep_qp_q <= qp_q;
      sweep_at_q <= index_q + 1'b1;
      sweep_detach_q <= step_q == DetachEnd;
    end
    if (!rst_ni) begin
      sweep_q <= 1'b0;
      scanned_q <= '0;
      purges_q <= '0;
      step_q <= Idle;
      attached_q <= '0;
      reset_q <= '0;
      port_next_q <= '0;
      from_wait_q <= 1'b0;
    end else begin
      queue_pair_states();
      purges_q <= purges_q + (FlowBits + 1)'(purge_out) - (FlowBits + 1)'(purge_in);
      if (leaves) sweep_q <= 1'b1;
      else if (take == TakeSweep) sweep_q <= 1'b0;
      unique case (step_q)
        Idle: begin_work();
        AttachBegin, AttachFill, AttachEnd, DetachBegin, DetachFlow, DetachRead, DetachEvent,
        DetachEnd: queue_pair_step();
        MsgRead, MsgBacklog, MsgPath, MsgTwOld, MsgTwOldPath, MsgTwOldTable, MsgTwOldAnswer,
        MsgTable, MsgAnswer, MsgFree: message_step();
        TwExpire, TwExpirePath, TwExpireTable, TwExpireAnswer: expiry_step();
        MissFind, MissAnswer, MissEvent, MissJudge, Reset, MissDone: miss_step();
        TwRead, TwWeigh, TwJudge, TwAgain, TwMoved, TwAnswer: time_wait_step();
        SynScan, SynPick, TwTable, TwGone: syn_step();
        Slot, SlotRead, Hash, HashWait, Insert, InsertAnswer, OpenEvent: open_step();
        CmdJudge: command_step();
        ListenScan, Listen, UnlistenScan, UnlistenBegin, UnlistenFlow, UnlistenRead,
        UnlistenEvent, UnlistenNext: listen_step();
        CookieScan, CookieRead, CookieEvent: cookie_step();
        ConnectHop, ConnectWay, ConnectNear, ConnectAsk, ConnectNeigh, ConnectPort, ConnectHash,
        ConnectTry: connect_step();
        Refuse, FailAsk, Fail, Error: refuse_step();
        default: step_q <= Idle;   // CmdDone
      endcase
    end
  end

endmodule

`resetall
