// SPDX-License-Identifier: Apache-2.0
// conn_steps.sv - the steps of toe_conn, one thing at a time: what it works on (work_t), which step
// follows, and the state of each queue pair. The tables and conn_say act on the step in the same cycle.
`resetall
`default_nettype none

module conn_steps
  import toe_pkg::*;
  import toe_cmd_pkg::*;
  import conn_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned FlowBits = 8
) (
  input  wire                    clk_i,
  input  wire                    rst_ni,
  input  wire [Qps-1:0]          enable_i,
  input  wire [Qps-1:0]          detach_i,      // is detached: its flows are reset
  output wire [Qps-1:0]          to_attach_o,   // its slots are to be filled
  output wire [Qps-1:0]          to_detach_o,   // its flows are to be purged
  output wire [Qps-1:0]          attached_o,    // its slots are filled
  output wire [Qps-1:0]          reset_o,       // its flows are reset, and it gets no others

  output wire work_t             work_o,
  output wire [FlowBits-1:0]     index_o,       // of a walk over slots
  output wire                    forgets_o,     // all flows of a detached queue pair are purged
  output wire                    sweep_o,       // a walk is suspended
  output wire conn_counts_t      counts_o,

  // what conn_turn has selected
  input  wire take_e             take_i,
  input  wire qp_t               turn_qp_i,     // to attach or to detach
  input  wire conn_msg_t         message_i,
  input  wire command_t          command_i,
  input  wire qp_t               command_qp_i,
  input  wire entry_t            command_entry_i,
  input  wire waiting_t          waiting_i,
  input  wire widx_t             wait_at_i,
  input  wire packet_t           miss_i,
  input  wire                    miss_tw_i,
  input  wire flow_t             miss_index_i,

  // the tables: slots, listeners, TIME-WAIT, CONNECTs that wait, routes, numbers
  input  wire [FlowBits-1:0]     slots_mask_i,  // of the queue pair's slots
  input  wire info_t             info_i,        // the flow at the walk's or the message's slot
  input  wire [FlowBits-1:0]     next_slot_i,
  input  wire [Qps-1:0]          no_slot_i,
  input  wire                    walked_i,      // the walk over listeners is done
  input  wire                    found_i,
  input  wire                    same_i,
  input  wire                    equal_i,
  input  wire                    passed_i,
  input  wire                    addressed_i,   // the address of a LISTEN is ours
  input  wire lidx_t             best_i,
  input  wire qp_t               listener_qp_i,
  input  wire                    tw_full_i,
  input  wire                    tw_anew_i,
  input  wire                    tw_again_i,
  input  wire                    tw_says_i,
  input  wire                    tw_limited_i,
  input  wire seq_t              tw_nxt_i,      // SND.NXT of the connection in TIME-WAIT
  input  wire                    wait_room_i,
  input  wire                    wait_patient_i,
  input  wire                    wait_named_i,
  input  wire tuple_t            route_i,
  input  wire                    no_route_i,
  input  wire                    hash_done_i,
  input  wire seq_t              iss_i,
  input  wire [15:0]             port_i,

  // edges of toe_conn
  input  wire                    event_room_i,  // for an event
  input  wire                    event_goes_i,
  input  wire path_t             path_i,
  input  wire                    table_ready_i,
  input  wire                    answer_valid_i,
  input  wire table_answer_t     answer_i,
  input  wire                    free_ready_i,
  input  wire                    bare_ready_i,
  input  wire                    neigh_answer_i,
  input  wire                    neigh_known_i,
  input  wire [47:0]             neigh_mac_i,
  input  wire                    grant_i,
  input  wire                    write_ready_i
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  typedef logic [QpBits-1:0] qidx_t;
  typedef logic [FlowBits-1:0] slot_t;

  // ---- the work at hand ----

  step_e step_q;
  logic [Qps-1:0] attached_q, reset_q;
  qp_t qp_q;
  packet_t pkt_q;
  logic miss_tw_q, active_q, fixed_port_q, iss_least_ok_q, tw_moved_q;
  flow_t miss_index_q;
  conn_msg_t msg_q;
  command_t cmd_q;
  entry_t entry_q;
  logic from_wait_q;
  ahead_t ahead_q;
  widx_t wait_q;
  slot_t index_q;
  flow_t flow_q;
  tuple_t tuple_q;
  logic [47:0] mac_q;
  seq_t iss_least_q, iss_q;
  logic [7:0] reason_q;
  logic [15:0] port_try_q;
  path_t old_path_q;
  wire cmd_t cmd = cmd_q.cmd;
  wire flags_t fl = pkt_q.seg.flags;
  wire syn = is_syn(fl);

  // A host that does not drain its HW ring does not delay the others: its answer is tried again later.
  localparam int unsigned AskFor = 63;
  logic [5:0] asked_q;
  wire tired = asked_q == 6'(AskFor);

  assign index_o = index_q;
  assign work_o = '{
    step: step_q, qp: qp_q, packet: pkt_q, miss_index: miss_index_q, message: msg_q,
    command: cmd_q, entry: entry_q, waited: from_wait_q, wait_at: wait_q, ahead: ahead_q,
    active: active_q, flow: flow_q, tuple: tuple_q, mac: mac_q, fixed_port: fixed_port_q,
    iss_least_ok: iss_least_ok_q, iss_least: iss_least_q, iss: iss_q, old_path: old_path_q,
    tw_moved: tw_moved_q, tired: tired, reason: reason_q
  };

  // Purged flows must confirm it before their slots get new owners.
  logic [Qps-1:0] scanned_q;
  logic [FlowBits:0] purges_q;
  wire purge_out = step_q == DetachEvent && event_goes_i;
  wire purge_in = step_q == MsgRead && msg_q.purged;

  // A sweep makes an event for each slot: it is suspended when there is no room, and resumes there.
  logic sweep_q, sweep_detach_q;
  qp_t sweep_qp_q;
  slot_t sweep_at_q;
  wire leaves = step_q inside {DetachEnd, UnlistenNext} && index_q != slots_mask_i &&
                !event_room_i;
  assign sweep_o = sweep_q;
  assign forgets_o = step_q == DetachEnd && index_q == slots_mask_i;

  assign to_attach_o = enable_i & ~attached_q;
  assign to_detach_o = detach_i & attached_q & ~scanned_q;
  assign attached_o = attached_q;
  assign reset_o = reset_q;

  conn_counts_t counts_q;
  assign counts_o = counts_q;

  // ---- the steps, by what they work on ----

  // Takes what conn_turn has selected.
  task automatic begin_work();
    index_q <= '0;
    iss_least_ok_q <= 1'b0;
    active_q <= 1'b0;
    port_try_q <= '0;
    unique case (take_i)
      TakeMessage: begin
        msg_q <= message_i;
        qp_q <= message_i.qp;
        step_q <= MsgRead;
      end
      TakeAttach: begin
        qp_q <= turn_qp_i;
        step_q <= AttachBegin;
      end
      TakeDetach: begin
        qp_q <= turn_qp_i;
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
        cmd_q <= waiting_i.command;
        qp_q <= waiting_i.qp;
        entry_q <= waiting_i.entry;
        from_wait_q <= 1'b1;
        wait_q <= wait_at_i;
        ahead_q <= waiting_i.ahead;
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
        if (index_q == slots_mask_i) step_q <= AttachEnd;
      end
      AttachEnd: begin
        attached_q[qidx_t'(qp_q)] <= 1'b1;
        step_q <= Idle;
      end
      DetachBegin: step_q <= DetachFlow;
      DetachFlow: step_q <= DetachRead;
      DetachRead: step_q <= info_i.used ? DetachEvent : DetachEnd;
      DetachEvent: if (event_goes_i) step_q <= DetachEnd;
      DetachEnd: begin
        index_q <= index_q + 1'b1;
        if (index_q == slots_mask_i) begin
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
        step_q <= (msg_q.kind == CnTimeWait && tw_full_i) ? MsgTwOld : MsgTable;
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
      MissEvent: if (event_goes_i) step_q <= Idle;
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
        iss_least_q <= tw_nxt_i + 32'd65536;
        iss_least_ok_q <= tw_anew_i;
        if (tw_anew_i) step_q <= SynScan;
        else if (tw_again_i) step_q <= TwAgain;
        else if (tw_says_i) step_q <= TwAnswer;
        else step_q <= MissDone;
        counts_q.tw_limited <= !tw_anew_i && !tw_again_i && tw_limited_i;
        tw_moved_q <= tw_again_i;
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
      SynScan: if (walked_i) step_q <= SynPick;
      SynPick: begin
        qp_q <= listener_qp_i;
        // A SYN that no listener takes does not end TIME-WAIT.
        if (found_i && syn) step_q <= miss_tw_q ? TwTable : Slot;
        else if (found_i || passed_i) begin
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
        flow_q <= flow_t'(next_slot_i);
        step_q <= Hash;
      end
      Hash: step_q <= HashWait;
      HashWait: begin
        iss_q <= iss_i;
        if (hash_done_i) step_q <= Insert;
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
      if (event_goes_i) begin
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
        step_q <= (cmd_aux(cmd) == 16'd0 || !addressed_i) ? Error : ListenScan;
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
        step_q <= wait_named_i ? Fail : CookieScan;
      end
      default: begin
        reason_q <= ReasonNoprotoopt;
        if ((cmd_flags(cmd) & OptionListen) != 7'd0) step_q <= Error;
        else step_q <= wait_named_i ? CmdDone : CookieScan;
      end
    endcase
  endtask

  // LISTEN, and UNLISTEN with the flows that are not yet accepted, which are reset.
  task automatic listen_step();
    unique case (step_q)
      ListenScan: begin
        reason_q <= ReasonAddrinuse;
        if (walked_i) step_q <= !same_i ? Listen : (equal_i ? CmdDone : Error);
      end
      Listen: begin
        reason_q <= ReasonNobufs;
        step_q <= found_i ? CmdDone : Error;
      end
      UnlistenScan: begin
        reason_q <= ReasonNoent;
        if (walked_i) step_q <= same_i ? UnlistenFlow : Error;
      end
      UnlistenBegin: step_q <= UnlistenFlow;
      UnlistenFlow: step_q <= UnlistenRead;
      UnlistenRead: begin
        if (info_i.used && info_i.half && info_i.listener == best_i)
          step_q <= UnlistenEvent;
        else begin
          index_q <= index_q + 1'b1;
          step_q <= (index_q == slots_mask_i) ? CmdDone : UnlistenFlow;
        end
      end
      UnlistenEvent: if (event_goes_i) step_q <= UnlistenNext;
      UnlistenNext: begin
        index_q <= index_q + 1'b1;
        step_q <= (index_q == slots_mask_i) ? CmdDone : (leaves ? Idle : UnlistenFlow);
      end
      default: ;
    endcase
  endtask

  // CANCEL, and OPTION of a CONNECT: the flow with the cookie.
  task automatic cookie_step();
    unique case (step_q)
      CookieScan: step_q <= CookieRead;
      CookieRead: begin
        if (info_i.used && info_i.pending && info_i.cookie == cmd_flow(cmd))
          step_q <= CookieEvent;
        else begin
          index_q <= index_q + 1'b1;
          step_q <= (index_q == slots_mask_i) ? CmdDone : CookieScan;
        end
      end
      CookieEvent: if (event_goes_i) step_q <= Idle;   // its FPC reports when it is handled
      default: ;
    endcase
  endtask

  // CONNECT: the route_i, the neighbour, the local port.
  task automatic connect_step();
    unique case (step_q)
      ConnectHop: begin
        active_q <= 1'b1;
        tuple_q <= route_i;
        fixed_port_q <= cmd_arg1(cmd) != 32'd0;
        reason_q <= ReasonNetunreach;
        step_q <= ConnectWay;
      end
      ConnectWay: step_q <= ConnectNear;
      ConnectNear: step_q <= ConnectAsk;
      ConnectAsk: step_q <= no_route_i ? Refuse : ConnectNeigh;
      ConnectNeigh:
      if (neigh_answer_i) begin
        mac_q <= neigh_mac_i;
        if (neigh_known_i) begin
          reason_q <= ReasonNobufs;
          step_q <= no_slot_i[qidx_t'(qp_q)] ? Refuse : ConnectPort;
        end else if (from_wait_q) begin
          reason_q <= ReasonHostunreach;
          step_q <= wait_patient_i ? Idle : Refuse;
        end else if (wait_room_i) begin
          step_q <= CmdDone;
        end else begin
          reason_q <= ReasonNobufs;
          step_q <= Refuse;
        end
      end
      ConnectPort: step_q <= fixed_port_q ? Slot : ConnectHash;
      ConnectHash:
      if (hash_done_i) step_q <= ConnectTry;
      ConnectTry: begin
        tuple_q.local_port <= port_i;
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
      if (!enable_i[i]) begin
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
      from_wait_q <= 1'b0;
    end else begin
      queue_pair_states();
      purges_q <= purges_q + (FlowBits + 1)'(purge_out) - (FlowBits + 1)'(purge_in);
      if (leaves) sweep_q <= 1'b1;
      else if (take_i == TakeSweep) sweep_q <= 1'b0;
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
