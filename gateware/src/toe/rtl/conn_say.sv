// SPDX-License-Identifier: Apache-2.0
// conn_say.sv - makes the messages of each step of toe_conn: to the table, to flows, to peers, to hosts.
`resetall
`default_nettype none

module conn_say
  import toe_pkg::*;
  import toe_cmd_pkg::*;
  import conn_pkg::*;
#(
  parameter int unsigned FlowBits = 8
) (
  input  wire step_e               step_i,
  input  wire tick_t               tick_i,
  // what is at hand
  input  wire packet_t             packet_i,
  input  wire conn_msg_t           message_i,
  input  wire command_t            command_i,
  input  wire logic                waited_i,     // the command has waited: it is handled already
  input  wire [7:0]                reason_i,
  input  wire qp_t                 qp_i,
  input  wire qp_config_t          config_i,
  input  wire [FlowBits-1:0]       index_i,      // of a walk over slots
  input  wire flow_t               miss_index_i,
  input  wire path_t               old_path_i,
  input  wire [FlowBits-1:0]       tw_head_i,
  input  wire [FlowBits-1:0]       tw_tail_i,
  input  wire tw_t                 tw_i,
  // the flow that begins
  input  wire logic                active_i,
  input  wire flow_t               flow_i,
  input  wire path_t               path_i,
  input  wire [31:0]               id_i,         // of its listener
  input  wire seq_t                iss_i,
  input  wire [31:0]               ts_offset_i,
  input  wire [15:0]               mtu_i,
  input  wire [3:0]                cc_i,
  input  wire ahead_t              ahead_i,      // of a CONNECT

  output wire                      table_valid_o,
  output wire table_request_t      table_o,
  output wire place_t              path_at_o,
  output wire                      event_valid_o,
  output wire event_t              event_o,
  output wire                      bare_valid_o,
  output wire tx_desc_t            bare_o,
  output wire path_t               bare_path_o,
  output wire                      write_valid_o,
  output wire write_t              write_o
);

  wire seg_t seg = packet_i.seg;
  wire cmd_t cmd = command_i.cmd;

  // ---- the table ----

  table_request_t request;
  always_comb begin
    request.op = TbFind;
    request.path = path_i;
    request.place = '0;
    unique case (step_i)
      MsgTable: begin
        request.op = (message_i.kind == CnTimeWait) ? TbMove : TbDelete;
        request.path = old_path_i;
        request.place = (message_i.kind == CnTimeWait) ? '{tw: 1'b1, index: flow_t'(tw_head_i)}
                                                       : '{tw: 1'b0, index: message_i.flow};
      end
      // A new connection may have its tuple by now.
      MsgTwOldTable, TwExpireTable: begin
        request.op = TbDelete;
        request.path = old_path_i;
        request.place = '{tw: 1'b1, index: flow_t'(tw_tail_i)};
      end
      TwTable: begin
        request.op = TbDelete;
        request.path.tuple = packet_i.tuple;
        request.place = '{tw: 1'b1, index: miss_index_i};
      end
      TwAgain: begin
        request.op = TbMove;
        request.path = old_path_i;
        request.place = '{tw: 1'b1, index: flow_t'(tw_head_i)};
      end
      Insert: begin
        request.op = TbInsert;
        request.place = '{tw: 1'b0, index: flow_i};
      end
      default: request.path.tuple = packet_i.tuple;
    endcase
  end
  assign table_o = request;
  assign table_valid_o = step_i inside {MsgTable, MsgTwOldTable, TwExpireTable, TwTable, TwAgain,
                                        Insert, MissFind};

  place_t path_at;
  always_comb begin
    path_at = '{tw: 1'b0, index: message_i.flow};
    if (step_i == MsgTwOld || step_i == TwExpire)
      path_at = '{tw: 1'b1, index: flow_t'(tw_tail_i)};
    if (step_i == TwRead) path_at = '{tw: 1'b1, index: miss_index_i};
  end
  assign path_at_o = path_at;

  // ---- flows ----

  open_t open;
  always_comb begin
    open = '0;
    open.active = active_i;
    open.v6 = path_i.tuple.v6;
    open.qp = qp_i;
    open.id = active_i ? cmd_flow(cmd) : id_i;
    open.iss = iss_i;
    open.irs = seg.seq;
    open.wnd = active_i ? 16'd0 : seg.wnd;
    open.mss_ok = !active_i && seg.opt.mss_ok && seg.opt.mss != 16'd0;  // 0 is no value
    open.mss = seg.opt.mss;
    open.own_mss = mtu_i - (path_i.tuple.v6 ? 16'd60 : 16'd40);
    open.ws_ok = !active_i && seg.opt.ws_ok;
    open.ws = seg.opt.ws;
    open.sack_ok = !active_i && seg.opt.sack_ok;
    open.ts_ok = !active_i && seg.opt.ts_ok;
    open.tsval = seg.opt.tsval;
    open.ts_offset = ts_offset_i;
    open.tx_log = config_i.tx_log;
    open.rx_log = config_i.rx_log;
    open.cc = cc_i;
    if (active_i) open.ahead = ahead_i;
  end

  event_t event_d;
  always_comb begin
    event_d = '0;
    event_d.qp = qp_i;
    unique case (step_i)
      DetachEvent: begin
        event_d.kind = EvPurge;
        event_d.flow = config_i.first + flow_t'(index_i);
      end
      UnlistenEvent: begin
        event_d.kind = EvReset;
        event_d.flow = config_i.first + flow_t'(index_i);
      end
      CookieEvent: begin
        event_d.kind = EvCommand;
        event_d.flow = config_i.first + flow_t'(index_i);
        event_d.body = body_t'(command_i);
      end
      OpenEvent: begin
        event_d.kind = EvOpen;
        event_d.flow = flow_i;
        event_d.body = body_t'(open);
      end
      default: begin
        event_d.kind = EvSegment;
        event_d.flow = flow_i;
        event_d.body = seg;
      end
    endcase
  end
  assign event_o = event_d;
  assign event_valid_o = step_i inside {DetachEvent, UnlistenEvent, CookieEvent, OpenEvent,
                                        MissEvent};

  // ---- peers: RST to a segment of no connection (RFC 9293 3.10.7.1); an ACK for TIME-WAIT ----

  tx_desc_t bare;
  always_comb begin
    bare = '0;
    if (step_i == TwAnswer) begin
      bare.seq = tw_i.snd_nxt;
      bare.ack = tw_i.rcv_nxt;
      bare.flags.ack = 1'b1;
      bare.wnd = 16'd0;
      bare.ts_ok = tw_i.ts;
      bare.tsval = tick_i + tw_i.ts_offset;
      bare.tsecr = tw_i.ts_recent;
    end else begin
      bare.flags.rst = 1'b1;
      bare.seq = seg.flags.ack ? seg.ack : 32'd0;
      bare.flags.ack = !seg.flags.ack;
      bare.ack = seg.flags.ack ? 32'd0
               : seg.seq + 32'(seg.len) + 32'(seg.flags.syn) + 32'(seg.flags.fin);
    end
  end
  assign bare_o = bare;
  path_t bare_path;
  always_comb begin
    bare_path.tuple = packet_i.tuple;
    bare_path.mac = packet_i.mac;
  end
  assign bare_path_o = bare_path;
  assign bare_valid_o = step_i == Reset || step_i == TwAnswer;

  // ---- hosts: ERROR, CONNECT_FAILED ----

  write_t write;
  always_comb begin
    write = '0;
    write.kind = WrCommand;
    write.flow = config_i.first;
    write.qp = qp_i;
    write.done = !waited_i;
    write.cmd = (step_i == Error)
        ? command(HwError, 7'd0, 16'(reason_i), cmd_flow(cmd), command_i.position,
                  32'(cmd_type(cmd)))
        : command(HwConnectFailed, 7'd0, 16'(reason_i), 32'd0, cmd_flow(cmd), 32'd0);
  end
  assign write_o = write;
  assign write_valid_o = step_i == Error || step_i == Fail;

endmodule

`resetall
