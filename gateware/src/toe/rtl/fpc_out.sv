// SPDX-License-Identifier: Apache-2.0
// fpc_out.sv - the end of a pass: the connection's end, what the host is told, the lists that the flow
// stands in, its next deadline.
`resetall
`default_nettype none

module fpc_out
  import toe_pkg::*;
  import fpc_pkg::*;
  import toe_cmd_pkg::*;
(
  input  wire ctx_t c_i,
  output wire out_t o_o
);

  localparam tick_t RecordEvery = 32'd16;

  // ---- the connection's end ----

  function automatic logic told_of(input tcb_t t);
    return t.known || t.tell_open || t.active;
  endfunction

  function automatic tcb_t over(input ctx_t c);
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
    if (c.time_wait) t.reason = 8'd0;
    t.tell_end = told_of(t) && c.kind != EvPurge;
    return t;
  endfunction

  // ---- telling ----

  function automatic logic [31:0] new_rx(input tcb_t t);
    return t.gone ? 32'd0 : t.rcv_nxt - 32'(t.fin_in) - t.told_rx;
  endfunction
  function automatic logic [31:0] new_tx(input tcb_t t);
    seq_t acked;
    acked = seq_min(t.snd_una, t.snd_end);
    // Before the handshake is over SND.UNA is the SYN.
    return (t.gone || seq_lt(acked, t.told_tx)) ? 32'd0 : acked - t.told_tx;
  endfunction
  function automatic logic has_to_tell(input tcb_t t);
    if (t.tell_open) return 1'b1;
    if (!t.known) return t.active && t.tell_end;
    if (t.ended) return 1'b0;
    return new_rx(t) != 32'd0 || new_tx(t) != 32'd0 || (t.tell_half && !t.gone) || t.tell_end;
  endfunction

  function automatic out_t tell(input ctx_t c);
    out_t o;
    tcb_t t;
    logic [31:0] n;
    o = '0;
    t = c.t;
    o.write.kind = WrCommand;
    o.write.flow = c.flow;
    o.write.qp = c.qp;
    o.write.record = c.tick - t.record_at >= RecordEvery;
    o.write_ok = 1'b1;
    if (t.tell_open) begin
      t.tell_open = 1'b0;
      t.known = 1'b1;
      o.write.record = 1'b1;
      o.write.cmd = t.active ? command(HwConnectEstablished, 7'd0, 16'd0, 32'd0, t.id, 32'd0)
                             : command(HwListenEstablished, 7'd0, 16'd0, 32'd0, 32'd0, t.id);
    end else if (!t.known) begin
      t.tell_end = 1'b0;
      t.active = 1'b0;
      o.write.record = 1'b0;
      o.write.cmd = command(HwConnectFailed, 7'd0, 16'(t.reason), 32'd0, t.id, 32'd0);
      o.conn_ok = 1'b1;
      o.conn.kind = CnFree;
    end else if (new_rx(t) != 32'd0) begin
      n = new_rx(t);
      t.told_rx = t.told_rx + n;
      o.write.cmd = command(HwDataReceived, 7'd0, 16'd0, 32'd0, n, 32'd0);
    end else if (new_tx(t) != 32'd0) begin
      n = new_tx(t);
      t.told_tx = t.told_tx + n;
      o.write.cmd = command(HwSendComplete, 7'd0, 16'd0, 32'd0, n, 32'd0);
    end else if (t.tell_half && !t.gone) begin
      t.tell_half = 1'b0;
      o.write.record = 1'b1;
      o.write.cmd = command(HwCloseEvent, CloseEventHalf, 16'd0, 32'd0, 32'd0, 32'd0);
    end else begin
      t.tell_end = 1'b0;
      t.ended = 1'b1;
      o.write.record = 1'b1;
      o.write.cmd = command(HwCloseEvent, 7'd0, 16'(t.reason), 32'd0, 32'd0, 32'd0);
    end
    if (o.write.record) t.record_at = c.tick;
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

  // The earliest deadline, if there is any.
  function automatic logic [32:0] deadline(input tcb_t t);
    logic any;
    tick_t at;
    any = 1'b0;
    at = '0;
    if (t.rtx_on) begin
      at = t.rtx_at;
      any = 1'b1;
    end
    if (t.ack_later) begin
      at = any ? sooner(at, t.delack_at) : t.delack_at;
      any = 1'b1;
    end
    if (t.cork_on) begin
      at = any ? sooner(at, t.cork_at) : t.cork_at;
      any = 1'b1;
    end
    if (t.keep_on) begin
      at = any ? sooner(at, t.keep_at) : t.keep_at;
      any = 1'b1;
    end
    return {any, at};
  endfunction

  function automatic out_t finish(input ctx_t c);
    out_t o;
    tcb_t t;
    logic more, closing, tells;
    o = '0;
    // The slot may be another queue pair's since it was listed: that one's ring is asked then.
    tells = c.kind == EvTell && c.placed && c.qp == c.t.qp && has_to_tell(c.t);
    if (tells) o = tell(c);
    else o.t = c.t;
    t = o.t;
    closing = (c.end_now || c.time_wait) && c.t.state != StClosed;

    o.conn.flow = c.flow;
    o.conn.qp = t.qp;
    o.conn.id = t.id;
    o.conn.snd_nxt = t.snd_nxt;
    o.conn.rcv_nxt = t.rcv_nxt;
    o.conn.ts = t.ts;
    o.conn.ts_recent = t.ts_recent;
    o.conn.ts_offset = t.ts_offset;
    if (closing) begin
      o.conn_ok = 1'b1;
      o.conn.kind = c.time_wait ? CnTimeWait : CnGone;
      o.conn.free = !told_of(t) || c.kind == EvPurge;
      t = over(c);
    end else if (c.free || c.kind == EvPurge) begin
      o.conn_ok = 1'b1;
      o.conn.kind = CnFree;
    end else if (c.accept) begin
      o.conn_ok = 1'b1;
      o.conn.kind = CnAccepted;
    end
    o.conn.purged = c.kind == EvPurge;
    if (o.conn_ok && !c.t.active && !t.counted &&
        (c.accept || c.free || t.gone || o.conn.free || c.kind == EvPurge)) begin
      o.conn.backlog = 1'b1;
      t.counted = 1'b1;
    end

    if (c.kind == EvSegment) begin
      o.write_ok = 1'b1;
      o.write.kind = WrPlace;
      o.write.flow = c.flow;
      o.write.qp = t.qp;
      o.write.buffer = c.seg.buffer;
      o.write.offset = 11'(c.seg.offset) + 11'(c.skip);
      o.write.len = c.place ? c.seg.len : 16'd0;
      o.write.to = c.place_at;
    end
    if (c.error) begin
      o.write_ok = 1'b1;
      o.write.kind = WrCommand;
      o.write.flow = c.flow;
      o.write.qp = c.qp;
      o.write.record = 1'b0;
      o.write.done = 1'b1;
      o.write.cmd = command(HwError, 7'd0, 16'(c.error_reason), cmd_flow(c.command.cmd),
                            c.command.position, 32'(cmd_type(c.command.cmd)));
    end
    o.back = c.kind == EvTell && c.placed && !tells;
    o.ask_qp = c.qp;
    o.done = c.kind == EvCommand && !c.error;

    o.tx_ok = c.tx;
    o.tx = c.desc;

    more = c.tx && t.state != StClosed && synchronized(t) &&
        (seq_lt(t.snd_nxt, t.snd_end + 32'(t.fin)) || t.rexmit_one || seq_lt(t.rexmit, c.lost_to));
    if (c.kind == EvSend) t.in_send = 1'b0;
    if (c.kind == EvTell) t.in_tell = 1'b0;
    o.push_send = more && !t.in_send;
    o.push_tell = has_to_tell(t) && !t.in_tell;
    if (o.push_send) t.in_send = 1'b1;
    if (o.push_tell) t.in_tell = 1'b1;

    {o.timer_on, o.timer_at} = deadline(t);
    o.valid = c.valid;
    o.kind = c.kind;
    o.flow = c.flow;
    o.qp = (c.kind == EvCommand) ? c.qp : t.qp;
    o.t = t;
    o.counts = c.counts;
    return o;
  endfunction

  assign o_o = c_i.valid ? finish(c_i) : '0;

endmodule

`resetall
