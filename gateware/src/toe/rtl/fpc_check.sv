// SPDX-License-Identifier: Apache-2.0
// fpc_check.sv - the checks of RFC 9293 3.10.7 on a segment, in its order, up to the ACK's validity.
// fpc_ack (go_ack) and fpc_text (go_text) process a segment that passes.
`resetall
`default_nettype none

module fpc_check
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire pass_t         pass_i,
  input  wire tcb_t          tcb_i,
  input  wire seg_t          seg_i,
  input  wire segment_seen_t seen_i,   // what fpc_look has found of the segment
  output wire tcb_t          tcb_o,
  output wire seg_t          seg_o,    // the segment; of a crossed SYN-ACK as a plain ACK
  output wire check_t        check_o,
  output wire action_t       action_o,
  output wire fpc_counts_t   counts_o
);

  localparam logic [7:0] Refused = 8'd111;
  localparam logic [7:0] Reset = 8'd104;

  // First check, the table of RFC 9293 3.4. Like core/, it accepts one case that the table does not: an
  // empty segment at the right edge, where all ACKs of a peer are that has filled the window.
  function automatic logic acceptable(input segment_seen_t s, input seg_t g);
    logic empty;
    empty = g.len == 16'd0 && !g.flags.syn && !g.flags.fin;
    // A closed window: a segment with data still has a valid ACK, and a FIN needs no room.
    if (!s.open_) return s.at_nxt;
    // It begins in the window, or before it and reaches RCV.NXT. Compared by distances, since for a segment
    // 2^31 away the last octet would be above the window and the first one below it.
    return empty ? s.from_nxt && s.to_adv : s.inside_ || s.reaches;
  endfunction

  // The ACK of a peer whose probe was accepted without its knowledge, or a keep-alive.
  function automatic logic probers_ack(input tcb_t t, input segment_seen_t s, input seg_t g);
    return s.behind == 32'd1 && g.len == 16'd0 && synchronized(t) &&
           !g.flags.syn && !g.flags.fin && !g.flags.rst && !g.flags.urg && g.flags.ack;
  endfunction

  typedef struct packed {
    tcb_t        t;
    seg_t        seg;
    check_t      check;
    action_t     action;
    fpc_counts_t counts;
  } result_t;

  function automatic result_t unchanged(input tcb_t t, input seg_t g);
    result_t c;
    c = '0;
    c.t = t;
    c.seg = g;
    return c;
  endfunction

  // ---- SYN-SENT (RFC 9293 3.10.7.3) ----

  function automatic result_t syn_sent(input tcb_t t, input seg_t g, input segment_seen_t s,
                                       input tick_t tick);
    result_t c;
    logic ack_ok;
    c = unchanged(t, g);
    ack_ok = g.flags.ack && s.ack_past_iss && s.ack_sent;
    if (g.flags.ack && !ack_ok) begin
      if (!g.flags.rst) begin
        c.action.rst = 1'b1;
        c.action.rst_seq = g.ack;
      end
      // An old connection answers: the SYN is retransmitted soon, as Linux does.
      if (t.timeouts == 8'd0 && t.rtx_on) c.t.rtx_at = tick + 32'd1 + ms(2);
    end else if (g.flags.rst) begin
      if (ack_ok) begin
        c.action.end_now = 1'b1;
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
      c.check.iw10 = 1'b1;
      c.t.heard = tick;
      if (g.flags.ack) begin
        c.t.state = StEstablished;
        // RFC 5681 3.1: where the SYN was lost, the window is one segment.
        c.check.iw1_syn_lost = t.timeouts != 8'd0;
        c.t.snd_una = g.ack;
        c.t.rexmit = g.ack;
        c.t.recover = g.ack;
        c.t.rexmit_one = 1'b0;
        c.t.rtx_on = 1'b0;
        c.t.backoff = 4'd0;
        c.t.timeouts = 8'd0;
        c.t.tell_open = 1'b1;
        c.t.ack_now = 1'b1;
        c.check.timed = 1'b1;
        c.counts.established = 1'b1;
        // Text in it is ignored, the peer retransmits it; SYN-ACKs rarely carry any.
      end else begin
        c.t.state = StSynReceived;  // simultaneous open (RFC 9293 3.5, figure 8)
        c.t.snd_nxt = t.iss;
        c.action.syn = 1'b1;
      end
    end
    return c;
  endfunction

  // ---- SYN-RECEIVED and later (RFC 9293 3.10.7.4) ----

  function automatic result_t unacceptable(input result_t in, input segment_seen_t s,
                                           input logic had);
    result_t c;
    c = in;
    if (!in.seg.flags.rst) begin
      if (in.seg.len != 16'd0 || in.seg.flags.fin) begin
        c.t.ack_now = 1'b1;
        // Bytes below RCV.NXT have been received before (RFC 2883 4.1).
        if (in.t.sack && in.seg.len != 16'd0 && had) begin
          c.t.dsack_ok = 1'b1;
          c.t.dsack.start = in.seg.seq;
          c.t.dsack.stop = s.old_stop;
        end
      end else c.action.challenge = 1'b1;
    end
    return c;
  endfunction

  function automatic result_t on_rst(input result_t in, input segment_seen_t s);
    result_t c;
    c = in;
    if (!s.at_nxt) c.action.challenge = 1'b1;  // RFC 5961 3.2
    else begin
      c.counts.rst_received = 1'b1;
      c.action.end_now = 1'b1;
      if (in.t.state == StSynReceived) c.t.reason = Refused;
      else if (in.t.state == StClosing || in.t.state == StLastAck) c.t.reason = 8'd0;
      else c.t.reason = Reset;
    end
    return c;
  endfunction

  function automatic result_t later(input tcb_t t, input seg_t arrived, input segment_seen_t s,
                                    input tick_t tick);
    result_t c;
    seg_t g;
    logic received, again, crossed, no_syn_ack, ok, had;
    g = arrived;
    received = t.state == StSynReceived;
    again = received && g.flags.syn && !g.flags.rst && s.at_irs;
    // Simultaneous open: the peer's SYN-ACK counts as the ACK of our SYN, at RCV.NXT, behind its SYN.
    crossed = again && g.flags.ack;
    if (crossed) begin
      g.seq = t.rcv_nxt;
      g.flags.syn = 1'b0;
    end
    ok = acceptable(s, arrived) || crossed;
    no_syn_ack = received && !(s.ack_past_una && s.ack_sent);
    c = unchanged(t, g);
    c.check.unscaled = crossed;
    had = s.had && !crossed;
    if (again && !crossed) begin
      c.action.syn = 1'b1;  // our SYN-ACK was lost
    end else if (t.ts && !g.flags.rst && !g.opt.ts_ok) begin
      c.counts.no_timestamp = 1'b1;  // RFC 7323 3.2
      c.action.challenge = g.flags.syn;
    end else if (t.ts && !g.flags.rst && s.stale) begin
      c.counts.paws = 1'b1;
      c = unacceptable(c, s, had);
    end else if (!ok && !probers_ack(t, s, g)) begin
      c.counts.out_of_window = 1'b1;
      c = unacceptable(c, s, had);
    end else if (g.flags.rst) c = on_rst(c, s);
    else if (g.flags.syn) c.action.challenge = 1'b1;  // RFC 5961 4.2
    else if (!g.flags.ack) c.counts.no_ack_bit = 1'b1;
    else if (no_syn_ack) begin
      c.action.rst = 1'b1;
      c.action.rst_seq = g.ack;
    end else if (!s.ack_sent || s.ack_old) begin
      c.counts.bad_ack = 1'b1;  // RFC 5961 5.2
      c.action.challenge = 1'b1;
    end else begin
      if (!ok) c.action.challenge = 1'b1;  // a probe's ACK
      c.check.go_ack = 1'b1;
      c.check.go_text = ok;
      // RFC 7323 4.3: the next ACK echoes the timestamp of the segment that caused it.
      if (t.ts && (s.acked || crossed)) c.t.ts_recent = g.opt.tsval;
      c.t.heard = tick;
      if (received) begin
        c.t.state = t.fin ? StFinWait1 : StEstablished;
        c.t.max_wnd = 32'd0;  // the window of the SYN was not scaled; fpc_ack takes this first
        c.t.snd_wl1 = g.seq;  // scaled one (RFC 9293 3.10.7.4, fifth)
        c.check.iw1_syn_lost = t.timeouts != 8'd0;
        c.t.snd_una = t.iss + 32'd1;
        c.t.rexmit = t.iss + 32'd1;
        c.t.recover = t.iss + 32'd1;
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

  result_t c;

  always_comb begin
    c = unchanged(tcb_i, seg_i);
    if (pass_i.valid && pass_i.kind == EvSegment) begin
      if (tcb_i.state == StClosed) c.counts.no_flow = 1'b1;
      else if (tcb_i.state == StSynSent) c = syn_sent(tcb_i, seg_i, seen_i, pass_i.tick);
      else c = later(tcb_i, seg_i, seen_i, pass_i.tick);
    end
  end

  assign tcb_o = c.t;
  assign seg_o = c.seg;
  assign check_o = c.check;
  assign action_o = c.action;
  assign counts_o = c.counts;

endmodule

`resetall
