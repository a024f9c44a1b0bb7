// SPDX-License-Identifier: Apache-2.0
// toe_conn.sv - begins and ends connections (S1.1): listeners, slots, local ports, initial sequence
// numbers, TIME-WAIT, packets of no flow. One thing at a time; the frequent segments, data and
// acknowledgements, do not pass through it.
//
// This file connects its parts: conn_turn selects what is next, conn_steps has the steps, conn_listeners,
// conn_slots, conn_waits and conn_tw hold the tables, conn_route finds the route of a CONNECT,
// conn_numbers its local port and sequence number, conn_say makes the messages of each step.
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
  localparam int unsigned EventBits = 2;
  typedef logic [QpBits-1:0] qidx_t;
  typedef logic [FlowBits-1:0] slot_t;

  // ---- the work at hand ----

  work_t work;
  slot_t index;                      // of walks over slots
  wire tick_t tick = ticks(now_i);
  wire cmd_t cmd = work.command.cmd;
  // The configuration of work.qp, a cycle later: no step that uses it directly follows one that sets
  // work.qp.
  qp_config_t q;
  slot_t slots_mask;
  always_ff @(posedge clk_i) begin
    q <= qp_i[qidx_t'(work.qp)];
    slots_mask <= slot_t'((32'd1 << qp_i[qidx_t'(work.qp)].slots_log) - 32'd1);
  end

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

  logic sweep, forgets;
  logic [Qps-1:0] enable, to_attach, to_detach, attached;
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_enable
    assign enable[i] = qp_i[i].enable;
  end
  take_e take;
  conn_msg_t next_msg;
  qp_t next_qp;
  logic tw_due, tw_known, wait_due;
  conn_turn #(.Qps(Qps), .Fpcs(Fpcs)) turn (
    .clk_i, .rst_ni, .idle_i(work.step == Idle), .room_i(event_room != '0), .sweep_i(sweep),
    .message_valid_i, .message_i, .message_ready_o, .message_o(next_msg),
    .to_attach_i(to_attach), .to_detach_i(to_detach), .qp_o(next_qp),
    .tw_due_i(tw_due), .tw_known_o(tw_known), .command_i(command_valid_i),
    .miss_i(miss_valid_i), .wait_i(wait_due), .take_o(take)
  );
  assign command_ready_o = take == TakeCommand;
  assign miss_ready_o = take == TakeMiss;

  // ---- numbers ----

  logic hash_done;
  seq_t iss;
  logic [31:0] ts_offset;
  logic [15:0] port;
  conn_numbers numbers (
    .clk_i, .rst_ni, .now_i, .secret_i(own_i.secret), .work_i(work), .done_o(hash_done),
    .iss_o(iss), .ts_offset_o(ts_offset), .port_o(port)
  );

  // ---- the tables ----

  wire slot_t msg_slot = slot_t'(work.message.flow);
  wire slot_t scan_flow = slot_t'(q.first) + index;
  wire opens = work.step == OpenEvent && event_goes;
  wire unheld = work.step == UnlistenEvent && event_goes;

  lidx_t best;                      // the listener that is at hand
  info_t info, new_info;
  slot_t next_slot;
  logic [Qps-1:0][15:0] free_slots, used_slots;
  wire of_message = work.step inside {MsgRead, MsgBacklog, MsgFree, MsgPath, MsgTable, MsgAnswer,
                                      MsgTwOld, MsgTwOldPath, MsgTwOldTable, MsgTwOldAnswer};
  always_comb begin
    new_info.used = 1'b1;
    new_info.pending = work.active;
    new_info.cookie = cmd_flow(cmd);
    new_info.half = !work.active;
    new_info.listener = best;
  end
  conn_slots #(.Qps(Qps), .FlowBits(FlowBits)) slots (
    .clk_i, .rst_ni, .config_i(qp_i), .qp_i(work.qp),
    .fill_i(work.step == AttachFill), .filled_i(work.step == AttachEnd),
    .take_i(opens), .info_i(new_info), .give_i(work.step == MsgFree),
    // A flow whose listener is removed must not count for a new one with the same id.
    .accept_i((work.step == MsgBacklog && work.message.kind == CnAccepted) || unheld),
    .slot_i((work.step == AttachFill || unheld) ? scan_flow : msg_slot),
    .next_o(next_slot), .taken_i(slot_t'(work.flow)),
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
    assign used_o[i] = attached[i] ? used_slots_q[i] : 16'd0;
  end

  listen_e look_for;
  listener_t listener, msg_listener;
  logic asked_ok, found, found_same, found_equal, walked, passed;
  always_comb begin
    unique case (work.step)
      SynScan: look_for = LsHear;
      ListenScan: look_for = LsAdd;
      UnlistenScan: look_for = LsRemove;
      default: look_for = LsNothing;
    endcase
  end
  // The listener of the message; it is decremented a cycle later.
  logic less_q;
  lidx_t less_who_q;
  wire msg_listener_ok = info.half && msg_listener.valid && msg_listener.qp == work.message.qp &&
                         msg_listener.id == work.message.id;
  conn_listeners #(.Qps(Qps)) listeners (
    .clk_i, .rst_ni, .own_i, .full_i(no_slot_q), .flows_i(used_slots_q), .closed_i(detach_i),
    .clear_i(work.step == Idle), .op_i(look_for), .tuple_i(work.packet.tuple), .cmd_i(cmd),
    .entry_i(work.entry), .qp_i(work.qp), .valid_o(asked_ok), .last_o(walked), .same_o(found_same),
    .equal_o(found_equal), .found_o(found), .passed_o(passed), .best_o(best),
    .listener_o(listener),
    .put_i(work.step == Listen && found), .more_i(opens && !work.active),
    .less_i(less_q), .less_who_i(less_who_q), .who_i(info.listener),
    .who_o(msg_listener), .forget_i(forgets), .count_o(listeners_o)
  );
  always_ff @(posedge clk_i) begin
    less_who_q <= info.listener;
    less_q <= rst_ni && work.step == MsgBacklog && work.message.backlog && msg_listener_ok;
  end

  seq_t fin_end_q;                  // behind the segment's FIN
  always_ff @(posedge clk_i) fin_end_q <= work.packet.seg.seq + 32'(work.packet.seg.len) + 32'd1;

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
  wire tw_push = (work.step == MsgAnswer && answer_valid_i && work.message.kind == CnTimeWait) ||
                 (work.step == TwMoved && answer_valid_i);
  wire tw_pop = work.step inside {MsgTwOldAnswer, TwExpireAnswer} && answer_valid_i;
  always_comb begin
    tw_new = tw_item;
    tw_new.said_at = tick;
    if (work.step == MsgAnswer) begin
      tw_new.said_at = tick - SaidAgain;
      tw_new.snd_nxt = work.message.snd_nxt;
      tw_new.rcv_nxt = work.message.rcv_nxt;
      tw_new.ts = work.message.ts;
      tw_new.ts_recent = work.message.ts_recent;
      tw_new.ts_offset = work.message.ts_offset;
    end
  end
  conn_tw #(.FlowBits(FlowBits)) tws (
    .clk_i, .rst_ni, .tick_i(tick), .push_i(tw_push), .push_item_i(tw_new), .pop_i(tw_pop),
    .head_o(tw_head), .tail_o(tw_tail), .some_o(tw_some), .full_o(tw_full),
    .look_i(work.step inside {MissJudge, TwRead, TwWeigh, TwJudge, TwAgain, TwMoved, TwAnswer}),
    .index_i(slot_t'(work.miss_index)), .item_o(tw_item), .due_o(tw_due),
    .seg_i(work.packet.seg), .end_i(fin_end_q), .anew_o(tw_anew), .again_o(tw_again),
    .says_o(tw_says), .limited_o(tw_limited),
    .said_i(work.step == TwAnswer && bare_ready_i && !work.tw_moved)
  );

  logic wait_room, wait_patient, wait_named;
  widx_t wait_next;
  waiting_t wait_item;
  wire unknown = work.step == ConnectNeigh && neigh_answer_i && !neigh_known_i;
  conn_waits waits (
    .clk_i, .rst_ni, .tick_i(tick), .due_o(wait_due), .next_o(wait_next), .item_o(wait_item),
    .room_o(wait_room), .put_i(unknown && !work.waited && wait_room), .command_i(work.command),
    .entry_i(work.entry), .qp_i(work.qp), .at_i(work.wait_at), .patient_o(wait_patient),
    .again_i((unknown && work.waited) || (work.step == FailAsk && work.tired && !grant_i)),
    .drop_i(work.waited && ((opens && work.active) || (work.step == Fail && write_ready_i))),
    .named_o(wait_named),
    .cancel_i(work.step == CmdJudge && cmd_type(cmd) == SwCancel && !detach_i[qidx_t'(work.qp)]),
    .option_i(work.step == CmdJudge && cmd_type(cmd) == SwOption &&
              (cmd_flags(cmd) & OptionListen) == 7'd0),
    .forget_i(forgets)
  );

  tuple_t route;
  logic no_route;
  addr_t hop;
  conn_route the_route (
    .clk_i, .cmd_i(cmd), .entry_i(work.entry), .own_i, .tuple_o(route), .hop_o(hop),
    .bad_o(no_route)
  );
  assign neigh_valid_o = work.step == ConnectAsk && !no_route;
  assign neigh_v6_o = work.tuple.v6;
  assign neigh_o = hop;

  // ---- the messages ----

  path_t new_path;
  always_comb begin
    new_path.tuple = work.tuple;
    new_path.mac = work.mac;
  end
  conn_say #(.FlowBits(FlowBits)) say (
    .step_i(work.step), .tick_i(tick), .packet_i(work.packet), .message_i(work.message),
    .command_i(work.command), .waited_i(work.waited), .reason_i(work.reason), .qp_i(work.qp),
    .config_i(q), .index_i(index), .miss_index_i(work.miss_index), .old_path_i(work.old_path),
    .tw_head_i(tw_head), .tw_tail_i(tw_tail), .tw_i(tw_item), .active_i(work.active),
    .flow_i(work.flow),
    .path_i(new_path), .id_i(listener.id), .iss_i(work.iss), .ts_offset_i(ts_offset),
    .mtu_i(own_i.mtu), .cc_i(own_i.cc), .ahead_i(work.ahead),
    .table_valid_o, .table_o, .path_at_o, .event_valid_o(event_valid), .event_o(event_new),
    .bare_valid_o, .bare_o,
    .bare_path_o, .write_valid_o, .write_o
  );
  assign ask_o = work.step == FailAsk;
  assign ask_qp_o = work.qp;
  assign done_o = work.step == CmdDone;
  assign free_valid_o = work.step == MissDone;
  assign free_o = work.packet.seg.buffer;
  assign attached_o = attached;

  // ---- the steps ----

  conn_steps #(.Qps(Qps), .FlowBits(FlowBits)) steps (
    .clk_i, .rst_ni, .enable_i(enable), .detach_i, .to_attach_o(to_attach),
    .to_detach_o(to_detach), .attached_o(attached), .reset_o,
    .work_o(work), .index_o(index), .forgets_o(forgets), .sweep_o(sweep), .counts_o,
    .take_i(take), .turn_qp_i(next_qp), .message_i(next_msg), .command_i, .command_qp_i,
    .command_entry_i, .waiting_i(wait_item), .wait_at_i(wait_next), .miss_i, .miss_tw_i,
    .miss_index_i,
    .slots_mask_i(slots_mask), .info_i(info), .next_slot_i(next_slot), .no_slot_i(no_slot_q),
    .walked_i(walked), .found_i(found), .same_i(found_same), .equal_i(found_equal),
    .passed_i(passed), .addressed_i(asked_ok), .best_i(best), .listener_qp_i(listener.qp),
    .tw_full_i(tw_full), .tw_anew_i(tw_anew_q), .tw_again_i(tw_again_q), .tw_says_i(tw_says_q),
    .tw_limited_i(tw_limited_q), .tw_nxt_i(tw_item.snd_nxt), .wait_room_i(wait_room),
    .wait_patient_i(wait_patient), .wait_named_i(wait_named), .route_i(route),
    .no_route_i(no_route), .hash_done_i(hash_done), .iss_i(iss), .port_i(port),
    .event_room_i(event_room != '0), .event_goes_i(event_goes), .path_i, .table_ready_i,
    .answer_valid_i, .answer_i, .free_ready_i, .bare_ready_i, .neigh_answer_i, .neigh_known_i,
    .neigh_mac_i, .grant_i, .write_ready_i
  );

endmodule

`resetall
