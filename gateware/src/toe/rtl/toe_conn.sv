// SPDX-License-Identifier: Apache-2.0
// toe_conn.sv - connections begin and end (S1.1): listeners, slots, local ports, initial sequence
// numbers, TIME-WAIT, and what belongs to no flow. One thing at a time; what is frequent, data and
// acknowledgements, does not pass here.
//
// Listeners stand in one list, whichever queue pair they are of. Slots of a queue pair that are free
// stand in a ring of its own.
`resetall
`default_nettype none

module toe_conn
  import toe_pkg::*;
  import toe_cmd_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned FlowBits = 8,
  parameter int unsigned Fpcs = 1,
  parameter int unsigned ListenerBits = 5
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire now_t                 now_i,
  input  wire own_t                 own_i,
  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0]             detach_i,     // is to go: its flows are reset
  output wire [Qps-1:0]             detached_o,   // ... and are
  output wire [Qps-1:0]             attached_o,   // its slots are there
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

  // the link address of a next hop: asked for, answered in a cycle; if it is not known, it is sought
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
  localparam int unsigned Listeners = 2 ** ListenerBits;
  localparam int unsigned Waiting = 8;
  localparam tick_t TimeWait = 32'd57220;      // 60 s
  localparam tick_t Patience = 32'd2861;       // 3 s for a neighbour
  localparam tick_t Again = 32'd95;            // 100 ms between questions
  localparam logic [15:0] PortFirst = 16'd32768;
  localparam logic [15:0] PortCount = 16'd28232;
  typedef logic [QpBits-1:0] qidx_t;
  typedef logic [ListenerBits-1:0] lidx_t;
  typedef logic [FlowBits-1:0] slot_t;

  typedef struct packed {
    logic        valid;
    qp_t         qp;
    logic [31:0] id;
    logic [15:0] port;
    logic        any4;     // of all IPv4 addresses of ours, or
    logic        any6;
    addr_t       addr;     // ... of this one
    logic        v6;
    logic        yields; // WEAK
    logic [31:0] backlog;
    logic [31:0] held;     // flows not accepted yet
  } listener_t;

  // What toe_conn knows of a flow.
  typedef struct packed {
    logic        used;
    logic        pending;  // a CONNECT without an answer, of
    logic [31:0] cookie;
    logic        half;     // not accepted yet, of
    lidx_t       listener;
  } info_t;

  typedef struct packed {
    logic        valid;
    qp_t         qp;
    command_t    command;
    entry_t      entry;
    tick_t       deadline;
    tick_t       again;
  } waiting_t;

  typedef struct packed {
    seq_t        snd_nxt;
    seq_t        rcv_nxt;
    logic        ts;
    logic [31:0] ts_recent;
    logic [31:0] ts_offset;
    tick_t       at;
    logic        live;
  } tw_t;

  typedef enum logic [5:0] {
    Idle,
    AttachFill, AttachEnd,
    DetachFlow, DetachRead, DetachEvent, DetachEnd,
    MsgRead, MsgPath, MsgTable, MsgAnswer, MsgFree, MsgBacklog,
    MsgTwOld, MsgTwOldPath, MsgTwOldTable, MsgTwOldAnswer,
    TwExpire, TwExpirePath, TwExpireTable, TwExpireAnswer,
    MissFind, MissAnswer, MissEvent, MissJudge,
    TwRead, TwJudge, TwTable, TwAgain, TwMoved, TwAnswer,
    Listen, SynScan, SynPick, Slot, SlotRead, Hash, HashWait, Insert, InsertAnswer, OpenEvent,
    Reset, MissDone,
    CmdJudge, ListenScan, UnlistenScan, UnlistenFlow, UnlistenRead, UnlistenEvent,
    ConnectHop, ConnectNeigh, ConnectPort, CookieScan, CookieRead, CookieEvent,
    Error, FailAsk, Fail, CmdDone, Refuse
  } step_e;

  step_e step_q;
  listener_t [Listeners-1:0] listener_q;
  waiting_t [Waiting-1:0] waiting_q;

  // ---- memories ----

  logic ring_write, info_write, tw_write;
  slot_t ring_waddr, ring_raddr, ring_wdata, ring_rdata, info_waddr, info_raddr;
  info_t info_wdata, info_rdata;
  slot_t tw_waddr, tw_raddr;
  tw_t tw_wdata, tw_rdata;

  toe_ram #(.Width(FlowBits), .AddrBits(FlowBits)) ring (
    .clk_i, .write_i(ring_write), .waddr_i(ring_waddr), .wdata_i(ring_wdata),
    .raddr_i(ring_raddr), .rdata_o(ring_rdata)
  );
  toe_ram #(.Width($bits(info_t)), .AddrBits(FlowBits)) infos (
    .clk_i, .write_i(info_write), .waddr_i(info_waddr), .wdata_i(info_wdata),
    .raddr_i(info_raddr), .rdata_o(info_rdata)
  );
  toe_ram #(.Width($bits(tw_t)), .AddrBits(FlowBits)) tws (
    .clk_i, .write_i(tw_write), .waddr_i(tw_waddr), .wdata_i(tw_wdata),
    .raddr_i(tw_raddr), .rdata_o(tw_rdata)
  );

  // ---- what is at hand ----

  logic [Qps-1:0] attached_q, detached_q;
  logic [Qps-1:0][15:0] free_head_q, free_tail_q;   // of the ring of free slots
  qp_t qp_q;
  packet_t pkt_q;
  logic miss_tw_q;
  flow_t miss_index_q;
  conn_msg_t msg_q;
  command_t cmd_q;
  entry_t entry_q;
  logic from_wait_q;                 // the CONNECT has waited: its place in waiting_q
  logic [2:0] wait_q;
  slot_t index_q;                    // of scans over slots
  lidx_t scan_q, best_q;
  logic best_ok_q, any_weak_q, any_full_q;
  logic [15:0] best_flows_q;
  logic active_q;
  flow_t flow_q;
  tuple_t tuple_q;
  logic [47:0] mac_q;
  seq_t iss_least_q;
  logic iss_least_ok_q;
  logic [7:0] reason_q;
  logic [15:0] port_try_q, port_next_q;
  logic fixed_port_q;
  slot_t tw_head_q, tw_tail_q;       // ring of connections in TIME-WAIT
  logic tw_some_q;
  path_t old_path_q;
  logic hash_for_port_q;

  wire tick_t tick = ticks(now_i);
  wire cmd_t cmd = cmd_q.cmd;
  wire qp_config_t q = qp_i[qidx_t'(qp_q)];
  wire slot_t slots_mask = slot_t'((32'd1 << q.slots_log) - 32'd1);

  function automatic logic [15:0] free_of(input int unsigned i);
    return free_head_q[i] - free_tail_q[i];
  endfunction
  function automatic logic [15:0] flows_of(input int unsigned i);
    return 16'(32'd1 << qp_i[i].slots_log) - free_of(i);
  endfunction

  // ---- whose turn it is ----

  logic [$clog2(Fpcs+1)-1:0] msg_turn_q, msg_source;
  logic any_msg;
  always_comb begin
    msg_source = msg_turn_q;
    any_msg = 1'b0;
    for (int i = 0; i < int'(Fpcs); i++) begin
      if (!any_msg && message_valid_i[(int'(msg_turn_q) + i) % Fpcs]) begin
        msg_source = ($bits(msg_source))'((int'(msg_turn_q) + i) % Fpcs);
        any_msg = 1'b1;
      end
    end
  end
  for (genvar f = 0; f < int'(Fpcs); f++) begin : gen_message
    assign message_ready_o[f] = step_q == Idle && any_msg && int'(msg_source) == f;
  end

  logic [Qps-1:0] to_attach, to_detach;
  always_comb begin
    for (int i = 0; i < int'(Qps); i++) begin
      to_attach[i] = qp_i[i].enable && !attached_q[i];
      to_detach[i] = detach_i[i] && attached_q[i] && !detached_q[i];
    end
  end
  function automatic qp_t first_of(input logic [Qps-1:0] set);
    qp_t r;
    r = '0;
    for (int i = Qps - 1; i >= 0; i--) if (set[i]) r = qp_t'(i);
    return r;
  endfunction

  logic wait_due;
  logic [2:0] wait_next, wait_free;
  logic wait_room;
  always_comb begin
    wait_due = 1'b0;
    wait_next = '0;
    wait_room = 1'b0;
    wait_free = '0;
    for (int i = Waiting - 1; i >= 0; i--) begin
      logic [31:0] past;
      past = tick - waiting_q[i].again;
      if (waiting_q[i].valid && !past[31]) begin
        wait_due = 1'b1;
        wait_next = 3'(i);
      end
      if (!waiting_q[i].valid) begin
        wait_room = 1'b1;
        wait_free = 3'(i);
      end
    end
  end

  wire tick_t wait_left = tick - waiting_q[wait_q].deadline;
  wire tick_t tw_past = tick - tw_rdata.at;
  wire tw_due = tw_some_q && tw_rdata.live && !tw_past[31];
  logic tw_known_q;                 // tw_rdata is that of the tail

  typedef enum logic [2:0] {
    TakeNothing, TakeMessage, TakeAttach, TakeDetach, TakeTw, TakeCommand, TakeWaiting, TakeMiss
  } take_e;
  take_e take;
  logic odd_q;                      // commands and packets in turn
  always_comb begin
    take = TakeNothing;
    if (step_q == Idle) begin
      if (any_msg) take = TakeMessage;
      else if (to_attach != '0) take = TakeAttach;
      else if (to_detach != '0) take = TakeDetach;
      else if (tw_known_q && tw_due) take = TakeTw;
      else if (command_valid_i && (odd_q || !miss_valid_i)) take = TakeCommand;
      else if (miss_valid_i) take = TakeMiss;
      else if (wait_due) take = TakeWaiting;
    end
  end
  assign command_ready_o = take == TakeCommand;
  assign miss_ready_o = take == TakeMiss;

  // ---- hashing ----

  logic hash_done;
  logic [63:0] hash_sum;
  toe_siphash siphash (
    .clk_i, .rst_ni, .key_i(own_i.secret),
    .start_i(step_q == Hash || (step_q == ConnectPort && !fixed_port_q && !hash_for_port_q)),
    .tuple_i(tuple_q),
    .word_i((step_q == Hash) ? 32'd0 : 32'd1), .done_o(hash_done), .sum_o(hash_sum)
  );
  // RFC 6528: a clock of 4 us and a keyed hash.
  wire seq_t iss_hashed = hash_sum[31:0] + now_i.ns[43:12];
  wire seq_t iss = (iss_least_ok_q && seq_lt(iss_hashed, iss_least_q)) ? iss_least_q : iss_hashed;

  // ---- the peer's SYN, or a segment for nobody ----

  wire flags_t fl = pkt_q.seg.flags;
  wire is_syn = fl.syn && !fl.ack && !fl.rst && !fl.fin;

  function automatic logic hears(input listener_t l, input tuple_t t);
    return l.valid && l.port == t.local_port &&
           (t.v6 ? (l.any6 || (l.v6 && !l.any4 && !l.any6 && l.addr == t.own))
                 : (l.any4 || (!l.v6 && !l.any4 && l.addr[31:0] == t.own[31:0])));
  endfunction

  wire listener_t at_scan = listener_q[scan_q];
  wire [15:0] scan_flows = flows_of(32'(at_scan.qp));
  wire scan_fits = at_scan.held <= at_scan.backlog && free_of(32'(at_scan.qp)) != 16'd0 &&
                   !detach_i[qidx_t'(at_scan.qp)];

  // ---- commands ----

  wire l_v6 = (cmd_flags(cmd) & ListenV6) != 7'd0;
  wire c_v6 = (cmd_flags(cmd) & ConnectV6) != 7'd0;
  wire v4_mapped = entry_q.remote[127:32] == 96'hffff;
  wire same_id = at_scan.valid && at_scan.qp == qp_q && at_scan.id == cmd_flow(cmd);

  listener_t asked;
  logic asked_ok;
  always_comb begin
    asked = '0;
    asked.valid = 1'b1;
    asked.qp = qp_q;
    asked.id = cmd_flow(cmd);
    asked.port = cmd_aux(cmd);
    asked.yields = (cmd_flags(cmd) & ListenWeak) != 7'd0;
    asked.backlog = cmd_arg1(cmd);
    asked_ok = 1'b1;
    if (!l_v6) begin
      asked.any4 = cmd_arg0(cmd) == 32'd0;
      asked.addr = 128'(cmd_arg0(cmd));
      asked_ok = asked.any4 || cmd_arg0(cmd) == own_i.ip4;
    end else if (entry_q.remote == '0) begin
      asked.any6 = 1'b1;
      asked.any4 = (cmd_flags(cmd) & ListenV6only) == 7'd0;
    end else if (v4_mapped) begin
      asked.addr = 128'(entry_q.remote[31:0]);
      asked_ok = entry_q.remote[31:0] == own_i.ip4;
    end else begin
      asked.v6 = 1'b1;
      asked.addr = entry_q.remote;
      asked_ok = own_i.ip6_on && (entry_q.remote == own_i.ip6 || entry_q.remote == own_i.ip6_link);
    end
  end

  // Where a CONNECT goes, and by whom.
  wire to_v6 = c_v6 && !v4_mapped;
  wire addr_t to_addr = c_v6 ? (v4_mapped ? 128'(entry_q.remote[31:0]) : entry_q.remote)
                             : 128'(cmd_arg0(cmd));
  wire [31:0] mask4 = (own_i.ip4_prefix == 6'd0) ? 32'd0
                                                 : (32'hffff_ffff << (6'd32 - own_i.ip4_prefix));
  wire addr_t mask6 = '1 << (8'd128 - own_i.ip6_prefix);
  wire link_local = to_addr[127:118] == 10'b1111_1110_10;
  wire on_link = to_v6 ? (link_local || ((to_addr ^ own_i.ip6) & mask6) == '0)
                       : ((to_addr[31:0] ^ own_i.ip4) & mask4) == 32'd0;
  wire addr_t hop = on_link ? to_addr
                            : (to_v6 ? own_i.ip6_gateway : 128'(own_i.ip4_gateway));
  wire not_unicast = to_v6 ? (to_addr[127:120] == 8'hff || to_addr == '0)
                           : (to_addr[31:28] >= 4'he || to_addr[31:0] == 32'd0 ||
                              (on_link && own_i.ip4_prefix < 6'd31 &&
                               ((to_addr[31:0] & ~mask4) == ~mask4)));

  assign neigh_valid_o = step_q == ConnectHop;
  assign neigh_v6_o = to_v6;
  assign neigh_o = hop;

  // ---- outputs ----

  path_t new_path;
  always_comb begin
    new_path.tuple = tuple_q;
    new_path.mac = mac_q;
  end

  table_request_t request;
  always_comb begin
    request.op = TbFind;
    request.path = new_path;
    request.place = '0;
    unique case (step_q)
      MsgTable: begin
        request.op = (msg_q.kind == CnTimeWait) ? TbMove : TbDelete;
        request.path = old_path_q;
        request.place = (msg_q.kind == CnTimeWait) ? '{tw: 1'b1, index: flow_t'(tw_head_q)}
                                                   : '{tw: 1'b0, index: msg_q.flow};
      end
      // Its tuple may be another one's by now: it began anew.
      MsgTwOldTable, TwExpireTable: begin
        request.op = TbDelete;
        request.path = old_path_q;
        request.place = '{tw: 1'b1, index: flow_t'(tw_tail_q)};
      end
      TwTable: begin
        request.op = TbDelete;
        request.path.tuple = pkt_q.tuple;
        request.place = '{tw: 1'b1, index: miss_index_q};
      end
      TwAgain: begin
        request.op = TbMove;
        request.path = old_path_q;
        request.place = '{tw: 1'b1, index: flow_t'(tw_head_q)};
      end
      Insert: begin
        request.op = TbInsert;
        request.place = '{tw: 1'b0, index: flow_q};
      end
      default: request.path.tuple = pkt_q.tuple;
    endcase
  end
  assign table_o = request;
  assign table_valid_o = step_q inside {MsgTable, MsgTwOldTable, TwExpireTable, TwTable, TwAgain,
                                        Insert, MissFind};

  place_t path_at;
  always_comb begin
    path_at = '{tw: 1'b0, index: msg_q.flow};
    if (step_q == MsgTwOld || step_q == TwExpire)
      path_at = '{tw: 1'b1, index: flow_t'(tw_tail_q)};
    if (step_q == TwRead) path_at = '{tw: 1'b1, index: miss_index_q};
  end
  assign path_at_o = path_at;

  open_t open;
  always_comb begin
    open = '0;
    open.active = active_q;
    open.v6 = tuple_q.v6;
    open.qp = qp_q;
    open.id = active_q ? cmd_flow(cmd) : listener_q[best_q].id;
    open.iss = iss;
    open.irs = pkt_q.seg.seq;
    open.wnd = active_q ? 16'd0 : pkt_q.seg.wnd;
    open.mss_ok = !active_q && pkt_q.seg.opt.mss_ok;
    open.mss = pkt_q.seg.opt.mss;
    open.own_mss = own_i.mtu - (tuple_q.v6 ? 16'd60 : 16'd40);
    open.ws_ok = !active_q && pkt_q.seg.opt.ws_ok;
    open.ws = pkt_q.seg.opt.ws;
    open.sack_ok = !active_q && pkt_q.seg.opt.sack_ok;
    open.ts_ok = !active_q && pkt_q.seg.opt.ts_ok;
    open.tsval = pkt_q.seg.opt.tsval;
    open.ts_offset = hash_sum[63:32];
    open.tx_log = q.tx_log;
    open.rx_log = q.rx_log;
  end

  event_t event_d;
  command_t cookie_command;
  always_comb begin
    cookie_command = cmd_q;
    event_d = '0;
    event_d.qp = qp_q;
    unique case (step_q)
      DetachEvent: begin
        event_d.kind = EvPurge;
        event_d.flow = q.first + flow_t'(index_q);
      end
      UnlistenEvent: begin
        event_d.kind = EvReset;
        event_d.flow = q.first + flow_t'(index_q);
      end
      CookieEvent: begin
        event_d.kind = EvCommand;
        event_d.flow = q.first + flow_t'(index_q);
        event_d.body = body_t'(cookie_command);
      end
      OpenEvent: begin
        event_d.kind = EvOpen;
        event_d.flow = flow_q;
        event_d.body = body_t'(open);
      end
      default: begin
        event_d.kind = EvSegment;
        event_d.flow = flow_q;
        event_d.body = pkt_q.seg;
      end
    endcase
  end
  assign event_o = event_d;
  assign event_valid_o = step_q inside {DetachEvent, UnlistenEvent, CookieEvent, OpenEvent,
                                        MissEvent};

  // RST to what belongs to nobody (RFC 9293 3.10.7.1); an ACK for TIME-WAIT.
  tx_desc_t bare;
  always_comb begin
    bare = '0;
    if (step_q == TwAnswer) begin
      bare.seq = tw_rdata.snd_nxt;
      bare.ack = tw_rdata.rcv_nxt;
      bare.flags.ack = 1'b1;
      bare.wnd = 16'd0;
      bare.ts_ok = tw_rdata.ts;
      bare.tsval = tick + tw_rdata.ts_offset;
      bare.tsecr = tw_rdata.ts_recent;
    end else begin
      bare.flags.rst = 1'b1;
      bare.seq = fl.ack ? pkt_q.seg.ack : 32'd0;
      bare.flags.ack = !fl.ack;
      bare.ack = fl.ack ? 32'd0
               : pkt_q.seg.seq + 32'(pkt_q.seg.len) + 32'(fl.syn) + 32'(fl.fin);
    end
  end
  assign bare_o = bare;
  path_t bare_path;
  always_comb begin
    bare_path.tuple = pkt_q.tuple;
    bare_path.mac = pkt_q.mac;
  end
  assign bare_path_o = bare_path;
  assign bare_valid_o = step_q == Reset || step_q == TwAnswer;

  write_t write;
  always_comb begin
    write = '0;
    write.kind = WrCommand;
    write.flow = q.first;
    write.qp = qp_q;
    write.done = !from_wait_q;
    write.cmd = (step_q == Error)
        ? command(HwError, 7'd0, 16'(reason_q), cmd_flow(cmd), cmd_q.position, 32'(cmd_type(cmd)))
        : command(HwConnectFailed, 7'd0, 16'(reason_q), 32'd0, cmd_flow(cmd), 32'd0);
  end
  assign write_o = write;
  assign write_valid_o = step_q == Error || step_q == Fail;
  assign ask_o = step_q == FailAsk;
  assign ask_qp_o = qp_q;
  assign done_o = step_q == CmdDone;
  assign free_valid_o = step_q == MissDone;
  assign free_o = pkt_q.seg.buffer;
  assign attached_o = attached_q;
  assign detached_o = detached_q;
  logic [Qps-1:0][7:0] listeners;
  always_comb begin
    listeners = '0;
    for (int i = 0; i < int'(Qps); i++)
      for (int l = 0; l < Listeners; l++)
        if (listener_q[l].valid && listener_q[l].qp == qp_t'(i)) listeners[i] = listeners[i] + 8'd1;
  end
  assign listeners_o = listeners;
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_used
    assign used_o[i] = attached_q[i] ? flows_of(i) : 16'd0;
  end

  // ---- memories' ports ----

  wire slot_t msg_slot = slot_t'(msg_q.flow);
  wire slot_t scan_flow = slot_t'(q.first) + index_q;

  always_comb begin
    ring_write = 1'b0;
    ring_waddr = '0;
    ring_wdata = '0;
    ring_raddr = slot_t'(q.first) + (slot_t'(free_tail_q[qidx_t'(qp_q)]) & slots_mask);
    info_write = 1'b0;
    info_waddr = msg_slot;
    info_wdata = '0;
    info_raddr = scan_flow;
    tw_write = 1'b0;
    tw_waddr = tw_head_q;
    tw_wdata = '0;
    tw_raddr = tw_tail_q;
    unique case (step_q)
      AttachFill: begin
        ring_write = 1'b1;
        ring_waddr = scan_flow;
        ring_wdata = scan_flow;
        info_write = 1'b1;
        info_waddr = scan_flow;
      end
      MsgRead: info_raddr = msg_slot;
      MsgFree: begin
        ring_write = info_rdata.used;
        ring_waddr = slot_t'(q.first) + (slot_t'(free_head_q[qidx_t'(qp_q)]) & slots_mask);
        ring_wdata = msg_slot;
        info_write = 1'b1;
        info_raddr = msg_slot;
      end
      MsgPath, MsgTable, MsgAnswer, MsgTwOld, MsgTwOldPath, MsgTwOldTable, MsgTwOldAnswer: begin
        info_raddr = msg_slot;
        if (step_q == MsgAnswer && answer_valid_i && msg_q.kind == CnTimeWait) begin
          tw_write = 1'b1;
          tw_wdata = '{snd_nxt: msg_q.snd_nxt, rcv_nxt: msg_q.rcv_nxt, ts: msg_q.ts,
                       ts_recent: msg_q.ts_recent, ts_offset: msg_q.ts_offset,
                       at: tick + TimeWait, live: 1'b1};
        end
      end
      MsgBacklog: info_raddr = msg_slot;
      OpenEvent: begin
        info_write = event_ready_i;
        info_waddr = slot_t'(flow_q);
        info_wdata = '{used: 1'b1, pending: active_q, cookie: cmd_flow(cmd), half: !active_q,
                       listener: best_q};
      end
      MissJudge, TwRead, TwJudge, TwTable, TwAgain, TwMoved, TwAnswer: begin
        tw_raddr = slot_t'(miss_index_q);
        tw_write = step_q == TwMoved && answer_valid_i;
        tw_wdata = tw_rdata;
        tw_wdata.at = tick + TimeWait;
      end
      default: ;
    endcase
  end

  // ---- the steps ----

  conn_counts_t counts_q;
  assign counts_o = counts_q;

  // Which listener the message is about.
  wire msg_listener_ok = info_rdata.half && listener_q[info_rdata.listener].valid &&
                         listener_q[info_rdata.listener].qp == msg_q.qp &&
                         listener_q[info_rdata.listener].id == msg_q.id;

  // In TIME-WAIT: what may begin anew (RFC 9293 3.10.7.4, RFC 6191), what is answered.
  wire tw_anew = is_syn && (seq_gt(pkt_q.seg.seq, tw_rdata.rcv_nxt - 32'd1) ||
      (tw_rdata.ts && pkt_q.seg.opt.ts_ok && seq_gt(pkt_q.seg.opt.tsval, tw_rdata.ts_recent)));
  // The peer's FIN again: it has not seen our ACK, and the two MSL begin anew.
  wire tw_again = fl.fin && !fl.syn && !fl.rst && !(tw_some_q && tw_head_q == tw_tail_q) &&
                  pkt_q.seg.seq + 32'(pkt_q.seg.len) + 32'd1 == tw_rdata.rcv_nxt;
  wire tw_says = !fl.rst && (fl.syn || fl.fin || pkt_q.seg.len != 16'd0 ||
                             pkt_q.seg.seq != tw_rdata.rcv_nxt);

  always_ff @(posedge clk_i) begin
    counts_q <= '0;
    tw_known_q <= step_q == Idle && take == TakeNothing;
    if (!rst_ni) begin
      step_q <= Idle;
      listener_q <= '0;
      waiting_q <= '0;
      attached_q <= '0;
      detached_q <= '0;
      free_head_q <= '0;
      free_tail_q <= '0;
      tw_head_q <= '0;
      tw_tail_q <= '0;
      tw_some_q <= 1'b0;
      msg_turn_q <= '0;
      port_next_q <= '0;
      odd_q <= 1'b0;
      from_wait_q <= 1'b0;
    end else begin
      for (int i = 0; i < int'(Qps); i++) begin
        if (!qp_i[i].enable) begin
          attached_q[i] <= 1'b0;
          detached_q[i] <= 1'b0;
        end
      end
      unique case (step_q)
        Idle: begin
          index_q <= '0;
          scan_q <= '0;
          best_ok_q <= 1'b0;
          any_weak_q <= 1'b0;
          any_full_q <= 1'b0;
          best_flows_q <= '1;
          iss_least_ok_q <= 1'b0;
          active_q <= 1'b0;
          hash_for_port_q <= 1'b0;
          port_try_q <= '0;
          unique case (take)
            TakeMessage: begin
              msg_q <= message_i[msg_source];
              qp_q <= message_i[msg_source].qp;
              msg_turn_q <= (int'(msg_source) == int'(Fpcs) - 1) ? '0 : msg_source + 1'b1;
              step_q <= MsgRead;
            end
            TakeAttach: begin
              qp_q <= first_of(to_attach);
              step_q <= AttachFill;
            end
            TakeDetach: begin
              qp_q <= first_of(to_detach);
              step_q <= DetachFlow;
            end
            TakeTw: step_q <= TwExpire;
            TakeCommand: begin
              cmd_q <= command_i;
              qp_q <= command_qp_i;
              entry_q <= command_entry_i;
              from_wait_q <= 1'b0;
              odd_q <= 1'b0;
              step_q <= CmdJudge;
            end
            TakeWaiting: begin
              cmd_q <= waiting_q[wait_next].command;
              qp_q <= waiting_q[wait_next].qp;
              entry_q <= waiting_q[wait_next].entry;
              from_wait_q <= 1'b1;
              wait_q <= wait_next;
              step_q <= ConnectHop;
            end
            TakeMiss: begin
              pkt_q <= miss_i;
              miss_tw_q <= miss_tw_i;
              miss_index_q <= miss_index_i;
              tuple_q <= miss_i.tuple;
              mac_q <= miss_i.mac;
              odd_q <= 1'b1;
              step_q <= MissFind;
            end
            default: ;
          endcase
        end

        // ---- queue pairs ----
        AttachFill: begin
          index_q <= index_q + 1'b1;
          if (index_q == slots_mask) step_q <= AttachEnd;
        end
        AttachEnd: begin
          free_head_q[qidx_t'(qp_q)] <= 16'(32'd1 << q.slots_log);
          free_tail_q[qidx_t'(qp_q)] <= '0;
          attached_q[qidx_t'(qp_q)] <= 1'b1;
          step_q <= Idle;
        end
        DetachFlow: step_q <= DetachRead;
        DetachRead: step_q <= info_rdata.used ? DetachEvent : DetachEnd;
        DetachEvent: if (event_ready_i) step_q <= DetachEnd;
        DetachEnd: begin
          index_q <= index_q + 1'b1;
          if (index_q == slots_mask) begin
            detached_q[qidx_t'(qp_q)] <= 1'b1;
            for (int i = 0; i < Listeners; i++)
              if (listener_q[i].qp == qp_q) listener_q[i].valid <= 1'b0;
            for (int i = 0; i < Waiting; i++)
              if (waiting_q[i].qp == qp_q) waiting_q[i].valid <= 1'b0;
            step_q <= Idle;
          end else step_q <= DetachFlow;
        end

        // ---- what FPCs tell ----
        MsgRead: step_q <= MsgBacklog;
        MsgBacklog: begin
          if (msg_q.backlog && msg_listener_ok)
            listener_q[info_rdata.listener].held <= listener_q[info_rdata.listener].held - 32'd1;
          unique case (msg_q.kind)
            CnAccepted: step_q <= Idle;
            CnFree: step_q <= MsgFree;
            default: step_q <= MsgPath;
          endcase
        end
        MsgPath: begin
          old_path_q <= path_i;
          // The ring is full: the one that has waited longest goes.
          step_q <= (msg_q.kind == CnTimeWait && tw_some_q && tw_head_q == tw_tail_q) ? MsgTwOld
                                                                                     : MsgTable;
        end
        MsgTwOld: step_q <= MsgTwOldPath;
        MsgTwOldPath: begin
          old_path_q <= path_i;
          step_q <= MsgTwOldTable;
        end
        MsgTwOldTable: if (table_ready_i) step_q <= MsgTwOldAnswer;
        MsgTwOldAnswer:
        if (answer_valid_i) begin
          tw_tail_q <= tw_tail_q + 1'b1;
          tw_some_q <= (tw_tail_q + 1'b1) != tw_head_q;
          counts_q.tw_recycled <= 1'b1;
          step_q <= MsgBacklog;
          msg_q.backlog <= 1'b0;
        end
        MsgTable: if (table_ready_i) step_q <= MsgAnswer;
        MsgAnswer:
        if (answer_valid_i) begin
          if (msg_q.kind == CnTimeWait) begin
            tw_head_q <= tw_head_q + 1'b1;
            tw_some_q <= 1'b1;
          end
          step_q <= msg_q.free ? MsgFree : Idle;
        end
        MsgFree: begin
          if (info_rdata.used)
            free_head_q[qidx_t'(qp_q)] <= free_head_q[qidx_t'(qp_q)] + 16'd1;
          step_q <= Idle;
        end
        TwExpire: step_q <= TwExpirePath;
        TwExpirePath: begin
          old_path_q <= path_i;
          step_q <= TwExpireTable;
        end
        TwExpireTable: if (table_ready_i) step_q <= TwExpireAnswer;
        TwExpireAnswer:
        if (answer_valid_i) begin
          tw_tail_q <= tw_tail_q + 1'b1;
          tw_some_q <= (tw_tail_q + 1'b1) != tw_head_q;
          step_q <= Idle;
        end

        // ---- packets of no flow ----
        MissFind: if (table_ready_i) step_q <= MissAnswer;
        MissAnswer:
        if (answer_valid_i) begin
          // What was asked before it may have made the flow meanwhile.
          flow_q <= answer_i.place.index;
          miss_tw_q <= answer_i.ok && answer_i.place.tw;
          miss_index_q <= answer_i.place.index;
          step_q <= (answer_i.ok && !answer_i.place.tw) ? MissEvent : MissJudge;
        end
        MissEvent: if (event_ready_i) step_q <= Idle;
        MissJudge: begin
          if (miss_tw_q) step_q <= TwRead;
          else if (is_syn || (!fl.ack && !fl.rst)) step_q <= SynScan;
          else if (fl.rst) begin
            counts_q.no_flow <= 1'b1;
            step_q <= MissDone;
          end else step_q <= Reset;
        end
        TwRead: step_q <= TwJudge;
        TwJudge: begin
          old_path_q <= path_i;
          if (tw_anew) step_q <= TwTable;
          else if (tw_again) step_q <= TwAgain;
          else if (tw_says) step_q <= TwAnswer;
          else step_q <= MissDone;
        end
        TwAgain: if (table_ready_i) step_q <= TwMoved;
        TwMoved:
        if (answer_valid_i) begin
          tw_head_q <= tw_head_q + 1'b1;
          tw_some_q <= 1'b1;
          step_q <= TwAnswer;
        end
        TwAnswer: if (bare_ready_i) step_q <= MissDone;
        TwTable:
        if (table_ready_i) begin
          // Above what the old connection has sent (RFC 9293 3.10.7.4, TIME-WAIT).
          iss_least_q <= tw_rdata.snd_nxt + 32'd65536;
          iss_least_ok_q <= 1'b1;
          step_q <= SynScan;
        end
        SynScan: begin
          if (hears(at_scan, pkt_q.tuple)) begin
            if (at_scan.yields) any_weak_q <= 1'b1;
            else if (!scan_fits) any_full_q <= 1'b1;
            else if (!best_ok_q || scan_flows < best_flows_q) begin
              best_ok_q <= 1'b1;
              best_q <= scan_q;
              best_flows_q <= scan_flows;
            end
          end
          scan_q <= scan_q + 1'b1;
          if (scan_q == '1) step_q <= SynPick;
        end
        SynPick: begin
          qp_q <= listener_q[best_q].qp;
          if (best_ok_q && is_syn) step_q <= Slot;
          else if (best_ok_q || any_weak_q || any_full_q) begin
            // A listener drops what has neither SYN, ACK nor RST (RFC 9293 3.10.7.2), and SYN with FIN.
            counts_q.listen_full <= is_syn;
            step_q <= MissDone;
          end else step_q <= Reset;
        end

        // ---- a flow begins ----
        Slot: step_q <= SlotRead;
        SlotRead: begin
          flow_q <= flow_t'(ring_rdata);
          step_q <= Hash;
        end
        Hash: step_q <= HashWait;
        HashWait: if (hash_done) step_q <= Insert;
        Insert: if (table_ready_i) step_q <= InsertAnswer;
        InsertAnswer:
        if (answer_valid_i) begin
          if (answer_i.ok) step_q <= OpenEvent;
          else if (active_q) begin
            reason_q <= ReasonAddrnotavail;
            port_try_q <= port_try_q + 16'd1;
            step_q <= (fixed_port_q || port_try_q == 16'd64) ? Refuse : ConnectPort;
          end else begin
            counts_q.table_full <= 1'b1;
            step_q <= MissDone;
          end
        end
        OpenEvent:
        if (event_ready_i) begin
          free_tail_q[qidx_t'(qp_q)] <= free_tail_q[qidx_t'(qp_q)] + 16'd1;
          if (active_q) begin
            if (from_wait_q) waiting_q[wait_q].valid <= 1'b0;
            step_q <= from_wait_q ? Idle : CmdDone;
          end else begin
            listener_q[best_q].held <= listener_q[best_q].held + 32'd1;
            step_q <= MissDone;
          end
        end
        Reset:
        if (bare_ready_i) begin
          counts_q.rst_sent <= 1'b1;
          step_q <= MissDone;
        end
        MissDone: if (free_ready_i) step_q <= Idle;

        // ---- commands ----
        CmdJudge: begin
          unique case (cmd_type(cmd))
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
              // It may wait for its neighbour still.
              step_q <= CookieScan;
              for (int i = 0; i < Waiting; i++) begin
                if (waiting_q[i].valid && waiting_q[i].qp == qp_q &&
                    cmd_flow(waiting_q[i].command.cmd) == cmd_flow(cmd)) begin
                  waiting_q[i].valid <= 1'b0;
                  reason_q <= ReasonAborted;
                  step_q <= Fail;
                end
              end
            end
            default: begin
              reason_q <= ReasonNoprotoopt;
              step_q <= ((cmd_flags(cmd) & OptionListen) != 7'd0) ? Error : CookieScan;
            end
          endcase
        end
        // The id in use: the same again, or wrong. best_q: where there is room.
        ListenScan: begin
          if (same_id) begin
            reason_q <= ReasonAddrinuse;
            if (at_scan.port == asked.port && at_scan.addr == asked.addr &&
                at_scan.any4 == asked.any4 && at_scan.any6 == asked.any6) begin
              listener_q[scan_q].backlog <= asked.backlog;
              listener_q[scan_q].yields <= asked.yields;
              step_q <= CmdDone;
            end else step_q <= Error;
          end else begin
            if (!at_scan.valid) begin
              best_ok_q <= 1'b1;
              best_q <= scan_q;
            end
            scan_q <= scan_q + 1'b1;
            if (scan_q == '1) step_q <= Listen;
          end
        end
        Listen: begin
          reason_q <= ReasonNobufs;
          if (best_ok_q) begin
            listener_q[best_q] <= asked;
            step_q <= CmdDone;
          end else step_q <= Error;
        end
        UnlistenScan: begin
          reason_q <= ReasonNoent;
          best_q <= scan_q;
          if (same_id) begin
            listener_q[scan_q].valid <= 1'b0;
            step_q <= UnlistenFlow;
          end else begin
            scan_q <= scan_q + 1'b1;
            if (scan_q == '1) step_q <= Error;
          end
        end
        // Those that nobody has accepted are reset.
        UnlistenFlow: step_q <= UnlistenRead;
        UnlistenRead: begin
          if (info_rdata.used && info_rdata.half && info_rdata.listener == best_q)
            step_q <= UnlistenEvent;
          else begin
            index_q <= index_q + 1'b1;
            step_q <= (index_q == slots_mask) ? CmdDone : UnlistenFlow;
          end
        end
        UnlistenEvent:
        if (event_ready_i) begin
          index_q <= index_q + 1'b1;
          step_q <= (index_q == slots_mask) ? CmdDone : UnlistenFlow;
        end
        CookieScan: step_q <= CookieRead;
        CookieRead: begin
          if (info_rdata.used && info_rdata.pending && info_rdata.cookie == cmd_flow(cmd))
            step_q <= CookieEvent;
          else begin
            index_q <= index_q + 1'b1;
            step_q <= (index_q == slots_mask) ? CmdDone : CookieScan;
          end
        end
        CookieEvent: if (event_ready_i) step_q <= Idle;   // its FPC says when it is handled

        ConnectHop: begin
          active_q <= 1'b1;
          tuple_q.v6 <= to_v6;
          tuple_q.remote <= to_addr;
          tuple_q.own <= to_v6 ? (link_local ? own_i.ip6_link : own_i.ip6) : 128'(own_i.ip4);
          tuple_q.remote_port <= cmd_aux(cmd);
          tuple_q.local_port <= 16'(cmd_arg1(cmd));
          fixed_port_q <= cmd_arg1(cmd) != 32'd0;
          reason_q <= ReasonNetunreach;
          if (not_unicast || hop == '0 || (to_v6 && !own_i.ip6_on)) step_q <= Refuse;
          else step_q <= ConnectNeigh;
        end
        ConnectNeigh:
        if (neigh_answer_i) begin
          mac_q <= neigh_mac_i;
          if (neigh_known_i) begin
            reason_q <= ReasonNobufs;
            step_q <= (free_of(32'(qp_q)) == 16'd0) ? Refuse : ConnectPort;
          end else if (from_wait_q) begin
            waiting_q[wait_q].again <= tick + Again;
            reason_q <= ReasonHostunreach;
            step_q <= wait_left[31] ? Idle : Refuse;
          end else if (wait_room) begin
            waiting_q[wait_free] <= '{valid: 1'b1, qp: qp_q, command: cmd_q, entry: entry_q,
                                      deadline: tick + Patience, again: tick + 32'd1};
            step_q <= CmdDone;
          end else begin
            reason_q <= ReasonNobufs;
            step_q <= Refuse;
          end
        end
        // RFC 6056, algorithm 3: a hash of the destination and a count.
        ConnectPort: begin
          if (fixed_port_q) step_q <= Slot;
          else if (!hash_for_port_q) hash_for_port_q <= 1'b1;
          else if (port_try_q != '0 || hash_done) begin
            tuple_q.local_port <= PortFirst +
                16'((hash_sum[31:0] + 32'(port_next_q)) % 32'(PortCount));
            port_next_q <= port_next_q + 16'd1;
            step_q <= Slot;
          end
        end
        Refuse: step_q <= from_wait_q ? FailAsk : Fail;
        FailAsk: if (grant_i) step_q <= Fail;
        Fail:
        if (write_ready_i) begin
          if (from_wait_q) waiting_q[wait_q].valid <= 1'b0;
          step_q <= Idle;
        end
        Error: if (write_ready_i) step_q <= Idle;
        default: step_q <= Idle;   // CmdDone
      endcase
    end
  end

endmodule

`resetall
