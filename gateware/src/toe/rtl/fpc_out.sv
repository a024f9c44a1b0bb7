// SPDX-License-Identifier: Apache-2.0
// fpc_out.sv - ends a pass: the end of the connection, the report to the host, the lists that the flow
// is in, its next deadline.
`resetall
`default_nettype none

module fpc_out
  import toe_pkg::*;
  import fpc_pkg::*;
  import toe_cmd_pkg::*;
(
  input  wire pass_t       pass_i,
  input  wire tcb_t        tcb_i,
  input  wire action_t     action_i,
  input  wire host_t       host_i,        // the command and its answer
  input  wire payload_t    payload_i,     // what goes into the receive buffer
  input  wire unreported_t unreported_i,
  input  wire seq_t        lost_to_i,     // what lies below is lost (fpc_loss)
  input  wire logic        tx_ok_i,       // a segment is sent
  input  wire tx_desc_t    tx_i,
  input  wire fpc_counts_t counts_i,      // what the stages have counted
  output wire out_t        out_o
);

  // What this stage uses of the pass.
  typedef struct packed {
    pass_t       pass;
    tcb_t        t;
    action_t     action;
    host_t       host;
    payload_t    payload;
    unreported_t unreported;
    seq_t        lost_to;
    logic        tx_ok;
    tx_desc_t    tx;
    fpc_counts_t counts;
  } ended_t;

  localparam tick_t RecordEvery = 32'd16;

  // ---- the connection's end ----

  function automatic logic told_of(input tcb_t t);
    return t.known || t.tell_open || t.active;
  endfunction

  function automatic tcb_t over(input ended_t c);
    tcb_t t;
    t = c.t;
    t.state = StClosed;
    t.rtx_on = 1'b0;
    t.persist = 1'b0;
    t.ack_now = 1'b0;
    t.ack_later = 1'b0;
    t.cork_on = 1'b0;
    t.keep_on = 1'b0;
    t.probe = 1'b0;
    t.rexmit_one = 1'b0;
    t.gaps = 3'd0;
    t.sacked = 3'd0;
    if (c.action.time_wait) t.reason = 8'd0;
    t.tell_end = told_of(t) && c.pass.kind != EvPurge;
    return t;
  endfunction

  // ---- the report to the host ----

  // The next report, in this order; at most one.
  typedef struct packed {
    logic open_, failed, rx, tx, half, over;
  } owed_t;

  function automatic owed_t owed(input tcb_t t, input logic rx, input logic tx);
    owed_t x;
    x = '0;
    if (t.tell_open) x.open_ = 1'b1;
    else if (!t.known) x.failed = t.active && t.tell_end;
    else if (!t.ended) begin
      if (rx) x.rx = 1'b1;
      else if (tx) x.tx = 1'b1;
      else if (t.tell_half && !t.gone) x.half = 1'b1;
      else x.over = t.tell_end;
    end
    return x;
  endfunction

  // Whether another report is pending after this one.
  function automatic logic more_than(input owed_t x, input ended_t c);
    logic rx, tx, half;
    rx = c.unreported.some_rx;
    tx = c.unreported.some_tx;
    half = c.t.tell_half && !c.t.gone;
    if (x.open_) return !c.t.ended && (rx || tx || half || c.t.tell_end);
    if (x.rx) return tx || half || c.t.tell_end;
    if (x.tx) return half || c.t.tell_end;
    return x.half && c.t.tell_end;
  endfunction

  function automatic out_t tell(input ended_t c, input owed_t x);
    out_t o;
    tcb_t t;
    o = '0;
    t = c.t;
    o.write.kind = WrCommand;
    o.write.flow = c.pass.flow;
    o.write.qp = c.pass.qp;
    o.write.record = c.pass.tick - t.record_at >= RecordEvery || x.open_ || x.half || x.over;
    if (x.failed) o.write.record = 1'b0;
    o.write_ok = 1'b1;
    unique case (1'b1)
      x.open_: begin
        t.tell_open = 1'b0;
        t.known = 1'b1;
        o.write.cmd = t.active ? command(HwConnectEstablished, 7'd0, 16'd0, 32'd0, t.id, 32'd0)
                               : command(HwListenEstablished, 7'd0, 16'd0, 32'd0, 32'd0, t.id);
      end
      x.failed: begin
        t.tell_end = 1'b0;
        t.active = 1'b0;
        o.write.cmd = command(HwConnectFailed, 7'd0, 16'(t.reason), 32'd0, t.id, 32'd0);
        o.conn_ok = 1'b1;
        o.conn.kind = CnFree;
      end
      x.rx: begin
        t.told_rx = t.told_rx + c.unreported.rx;
        o.write.cmd = command(HwDataReceived, 7'd0, 16'd0, 32'd0, c.unreported.rx, 32'd0);
      end
      x.tx: begin
        t.told_tx = t.told_tx + c.unreported.tx;
        o.write.cmd = command(HwSendComplete, 7'd0, 16'd0, 32'd0, c.unreported.tx, 32'd0);
      end
      x.half: begin
        t.tell_half = 1'b0;
        o.write.cmd = command(HwCloseEvent, CloseEventHalf, 16'd0, 32'd0, 32'd0, 32'd0);
      end
      default: begin
        t.tell_end = 1'b0;
        t.ended = 1'b1;
        o.write.cmd = command(HwCloseEvent, 7'd0, 16'(t.reason), 32'd0, 32'd0, 32'd0);
      end
    endcase
    if (o.write.record) t.record_at = c.pass.tick;
    o.write.tcb = t;
    o.t = t;
    return o;
  endfunction

  // ---- the rest of the pass ----

  function automatic tick_t sooner(input tick_t a, input tick_t b);
    tick_t d;
    d = a - b;
    return d[31] ? a : b;
  endfunction

  typedef struct packed {
    logic  on;
    tick_t at;
  } deadline_t;

  function automatic deadline_t earlier(input deadline_t a, input deadline_t b);
    deadline_t d;
    d.on = a.on || b.on;
    d.at = !b.on ? a.at : !a.on ? b.at : sooner(a.at, b.at);
    return d;
  endfunction

  // The earliest deadline, if there is any.
  function automatic deadline_t deadline(input tcb_t t);
    return earlier(
        earlier('{on: t.rtx_on, at: t.rtx_at}, '{on: t.ack_later, at: t.delack_at}),
        earlier('{on: t.cork_on, at: t.cork_at}, '{on: t.keep_on, at: t.keep_at}));
  endfunction

  function automatic out_t finish(input ended_t c);
    out_t o;
    tcb_t t;
    owed_t x;
    deadline_t next;
    logic more, closing, tells, left;
    o = '0;
    x = owed(c.t, c.unreported.some_rx, c.unreported.some_tx);
    // The slot may belong to another queue pair since it was listed: the room is of the old one's ring.
    tells = c.pass.kind == EvTell && c.host.placed && c.pass.qp == c.t.qp && x != '0;
    left = tells ? more_than(x, c) : x != '0;
    if (tells) o = tell(c, x);
    else o.t = c.t;
    t = o.t;
    closing = (c.action.end_now || c.action.time_wait) && c.t.state != StClosed;

    o.conn.flow = c.pass.flow;
    o.conn.qp = t.qp;
    o.conn.id = t.id;
    o.conn.snd_nxt = t.snd_nxt;
    o.conn.rcv_nxt = t.rcv_nxt;
    o.conn.ts = t.ts;
    o.conn.ts_recent = t.ts_recent;
    o.conn.ts_offset = t.ts_offset;
    if (closing) begin
      o.conn_ok = 1'b1;
      o.conn.kind = c.action.time_wait ? CnTimeWait : CnGone;
      o.conn.free = !told_of(t) || c.pass.kind == EvPurge;
      t = over(c);
      left = owed(t, c.unreported.some_rx, c.unreported.some_tx) != '0;
    end else if (c.host.free || c.pass.kind == EvPurge) begin
      o.conn_ok = 1'b1;
      o.conn.kind = CnFree;
    end else if (c.host.accept) begin
      o.conn_ok = 1'b1;
      o.conn.kind = CnAccepted;
    end
    o.conn.purged = c.pass.kind == EvPurge;
    if (o.conn_ok && !c.t.active && !t.counted &&
        (c.host.accept || c.host.free || t.gone || o.conn.free || c.pass.kind == EvPurge)) begin
      o.conn.backlog = 1'b1;
      t.counted = 1'b1;
    end

    if (c.pass.kind == EvSegment) begin
      o.write_ok = 1'b1;
      o.write.kind = WrPlace;
      o.write.flow = c.pass.flow;
      o.write.qp = t.qp;
      o.write.buffer = c.payload.buffer;
      o.write.offset = 11'(c.payload.offset) + 11'(c.payload.skip);
      o.write.len = c.payload.place ? c.payload.len : 16'd0;
      o.write.to = c.payload.to;
    end
    if (c.host.error) begin
      o.write_ok = 1'b1;
      o.write.kind = WrCommand;
      o.write.flow = c.pass.flow;
      o.write.qp = c.pass.qp;
      o.write.record = 1'b0;
      o.write.done = 1'b1;
      o.write.cmd = command(HwError, 7'd0, 16'(c.host.error_reason), cmd_flow(c.host.command.cmd),
                            c.host.command.position, 32'(cmd_type(c.host.command.cmd)));
    end
    o.back = c.pass.kind == EvTell && c.host.placed && !tells;
    o.ask_qp = c.pass.qp;
    o.done = c.pass.kind == EvCommand && !c.host.error;

    o.tx_ok = c.tx_ok;
    o.tx = c.tx;

    more = c.tx_ok && t.state != StClosed && synchronized(t) &&
        (seq_lt(t.snd_nxt, t.snd_end + 32'(t.fin)) || t.rexmit_one || seq_lt(t.rexmit, c.lost_to));
    if (c.pass.kind == EvSend) t.in_send = 1'b0;
    if (c.pass.kind == EvTell) t.in_tell = 1'b0;
    o.push_send = more && !t.in_send;
    o.push_tell = left && !t.in_tell;
    if (o.push_send) t.in_send = 1'b1;
    if (o.push_tell) t.in_tell = 1'b1;

    next = deadline(c.t);
    o.timer_on = next.on && !closing;
    o.timer_at = next.at;
    o.valid = c.pass.valid;
    o.flow = c.pass.flow;
    o.qp = (c.pass.kind == EvCommand) ? c.pass.qp : t.qp;
    o.t = t;
    o.counts = c.counts;
    return o;
  endfunction

  wire ended_t ended = '{pass: pass_i, t: tcb_i, action: action_i, host: host_i,
                         payload: payload_i, unreported: unreported_i, lost_to: lost_to_i,
                         tx_ok: tx_ok_i, tx: tx_i, counts: counts_i};
  assign out_o = pass_i.valid ? finish(ended) : '0;

endmodule

`resetall
