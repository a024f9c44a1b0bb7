// SPDX-License-Identifier: Apache-2.0
// fpc_check.sv - a segment arrives: the checks of RFC 9293 3.10.7, in its order, up to whether the ACK
// is one. What passes goes on to fpc_ack (go_ack) and fpc_text (go_text).
`resetall
`default_nettype none

module fpc_check
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  localparam logic [7:0] Refused = 8'd111;
  localparam logic [7:0] Reset = 8'd104;

  // First check, the table of RFC 9293 3.4. As core/, it takes one thing that the table does not: what
  // has no length at the right edge, where all ACKs of a peer stand that has filled the window.
  function automatic logic acceptable(input segment_seen_t s, input seg_t g);
    logic empty;
    empty = g.len == 16'd0 && !g.flags.syn && !g.flags.fin;
    if (!s.open_) return s.at_nxt;  // what is long still brings its ACK, and a FIN needs no room
    // It begins in the window, or before and reaches RCV.NXT. By distances: of what lies 2^31 away the
    // last octet is "behind" the window, the first "before" it.
    return empty ? s.from_nxt && s.to_adv : s.inside_ || s.reaches;
  endfunction

  // The ACK of a peer that does not know yet that its probe was taken, or a keep-alive.
  function automatic logic probers_ack(input tcb_t t, input segment_seen_t s, input seg_t g);
    return s.behind == 32'd1 && g.len == 16'd0 && synchronized(t) &&
           !g.flags.syn && !g.flags.fin && !g.flags.rst && !g.flags.urg && g.flags.ack;
  endfunction

  // ---- SYN-SENT (RFC 9293 3.10.7.3) ----

  function automatic ctx_t syn_sent(input ctx_t in);
    ctx_t c;
    seg_t g;
    segment_seen_t s;
    logic ack_ok;
    c = in;
    g = in.seg;
    s = in.see.segment;
    ack_ok = g.flags.ack && s.ack_past_iss && s.ack_sent;
    if (g.flags.ack && !ack_ok) begin
      if (!g.flags.rst) begin
        c.rst = 1'b1;
        c.rst_seq = g.ack;
      end
      // Something old is in the way: the SYN goes again soon, as Linux's.
      if (in.t.timeouts == 8'd0 && in.t.rtx_on) c.t.rtx_at = in.tick + 32'd1 + ms(2);
    end else if (g.flags.rst) begin
      if (ack_ok) begin
        c.end_now = 1'b1;
        c.t.reason = Refused;
        c.counts.rst_received = 1'b1;
      end
    end else if (g.flags.syn) begin
      c.t.irs = g.seq;
      c.t.rcv_nxt = g.seq + 32'd1;
      c.t.rcv_read = g.seq + 32'd1;
      c.t.told_rx = g.seq + 32'd1;
      c.t.rcv_acked = g.seq + 32'd1;
      c.t.rcv_adv = s.adv;
      c.t.snd_wl1 = g.seq;
      c.t.snd_wnd = 32'(g.wnd);
      c.t.max_wnd = 32'(g.wnd);
      c.t.ts = g.opt.ts_ok;
      c.t.ts_recent = g.opt.tsval;
      c.t.sack = g.opt.sack_ok;
      c.t.ws = g.opt.ws_ok;
      c.t.snd_scale = g.opt.ws_ok ? g.opt.ws : 4'd0;
      if (!g.opt.ws_ok) c.t.rcv_scale = 4'd0;
      c.t.mss = s.mss;
      c.ten = 1'b1;
      c.t.heard = in.tick;
      if (g.flags.ack) begin
        c.t.state = StEstablished;
        // RFC 5681 3.1: where the SYN was lost, the window is one segment.
        c.one = in.t.timeouts != 8'd0;
        c.t.snd_una = g.ack;
        c.t.rexmit = g.ack;
        c.t.recover = g.ack;
        c.t.rexmit_one = 1'b0;
        c.t.rtx_on = 1'b0;
        c.t.backoff = 4'd0;
        c.t.timeouts = 8'd0;
        c.t.tell_open = 1'b1;
        c.t.ack_now = 1'b1;
        c.timed = 1'b1;
        c.counts.established = 1'b1;
        // Text in it may come again; the handshake's segment seldom has any.
      end else begin
        c.t.state = StSynReceived;  // simultaneous open (RFC 9293 3.5, figure 8)
        c.t.snd_nxt = in.t.iss;
        c.syn = 1'b1;
      end
    end
    return c;
  endfunction

  // ---- SYN-RECEIVED and later (RFC 9293 3.10.7.4) ----

  function automatic ctx_t unacceptable(input ctx_t in);
    ctx_t c;
    c = in;
    if (!in.seg.flags.rst) begin
      if (in.seg.len != 16'd0 || in.seg.flags.fin) begin
        c.t.ack_now = 1'b1;
        // What lies below RCV.NXT has been received before (RFC 2883 4.1).
        if (in.t.sack && in.seg.len != 16'd0 && in.see.segment.had) begin
          c.t.dsack_ok = 1'b1;
          c.t.dsack.start = in.seg.seq;
          c.t.dsack.stop = in.see.segment.old_stop;
        end
      end else c.challenge = 1'b1;
    end
    return c;
  endfunction

  function automatic ctx_t on_rst(input ctx_t in);
    ctx_t c;
    c = in;
    if (!in.see.segment.at_nxt) c.challenge = 1'b1;  // RFC 5961 3.2
    else begin
      c.counts.rst_received = 1'b1;
      c.end_now = 1'b1;
      if (in.t.state == StSynReceived) c.t.reason = Refused;
      else if (in.t.state == StClosing || in.t.state == StLastAck) c.t.reason = 8'd0;
      else c.t.reason = Reset;
    end
    return c;
  endfunction

  function automatic ctx_t later(input ctx_t in);
    ctx_t c;
    seg_t g;
    segment_seen_t s;
    logic received, again, crossed, no_syn_ack, ok;
    g = in.seg;
    s = in.see.segment;
    received = in.t.state == StSynReceived;
    again = received && g.flags.syn && !g.flags.rst && s.at_irs;
    // Simultaneous open: the peer's SYN-ACK counts as the ACK of our SYN. Behind its SYN is RCV.NXT.
    crossed = again && g.flags.ack;
    if (crossed) begin
      g.seq = in.t.rcv_nxt;
      g.flags.syn = 1'b0;
    end
    ok = acceptable(s, in.seg) || crossed;
    no_syn_ack = received && !(s.ack_past_una && s.ack_sent);
    c = in;
    c.seg = g;
    c.unscaled = crossed;
    c.see.segment.had = s.had && !crossed;
    if (again && !crossed) begin
      c.syn = 1'b1;  // our SYN-ACK was lost
    end else if (in.t.ts && !g.flags.rst && !g.opt.ts_ok) begin
      c.counts.no_timestamp = 1'b1;  // RFC 7323 3.2
      c.challenge = g.flags.syn;
    end else if (in.t.ts && !g.flags.rst && s.stale) begin
      c.counts.paws = 1'b1;
      c = unacceptable(c);
    end else if (!ok && !probers_ack(in.t, s, g)) begin
      c.counts.out_of_window = 1'b1;
      c = unacceptable(c);
    end else if (g.flags.rst) c = on_rst(c);
    else if (g.flags.syn) c.challenge = 1'b1;  // RFC 5961 4.2
    else if (!g.flags.ack) c.counts.no_ack_bit = 1'b1;
    else if (no_syn_ack) begin
      c.rst = 1'b1;
      c.rst_seq = g.ack;
    end else if (!s.ack_sent || s.ack_old) begin
      c.counts.bad_ack = 1'b1;  // RFC 5961 5.2
      c.challenge = 1'b1;
    end else begin
      if (!ok) c.challenge = 1'b1;  // it stands alone
      c.go_ack = 1'b1;
      c.go_text = ok;
      // RFC 7323 4.3: echoed is the timestamp of the segment which the next ACK is due to.
      if (in.t.ts && (s.acked || crossed)) c.t.ts_recent = g.opt.tsval;
      c.t.heard = in.tick;
      if (received) begin
        c.t.state = in.t.fin ? StFinWait1 : StEstablished;
        c.t.max_wnd = 32'd0;  // that of the SYN was not scaled; fpc_ack has the first that is,
        c.t.snd_wl1 = g.seq;  // and takes it (RFC 9293 3.10.7.4, fifth)
        c.one = in.t.timeouts != 8'd0;
        c.t.snd_una = in.t.iss + 32'd1;
        c.t.rexmit = in.t.iss + 32'd1;
        c.t.recover = in.t.iss + 32'd1;
        c.t.rexmit_one = 1'b0;
        c.t.rtx_on = 1'b0;
        c.t.backoff = 4'd0;
        c.t.timeouts = 8'd0;
        c.t.tell_open = 1'b1;
        c.counts.established = 1'b1;
      end
    end
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && c_i.kind == EvSegment) begin
      if (c_i.t.state == StClosed) c.counts.no_flow = 1'b1;
      else if (c_i.t.state == StSynSent) c = syn_sent(c_i);
      else c = later(c_i);
    end
  end

  assign c_o = c;

endmodule

`resetall
