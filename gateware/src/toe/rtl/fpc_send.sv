// SPDX-License-Identifier: Apache-2.0
// fpc_send.sv - what is sent now, if anything: one segment a pass. In this order: RST, SYN, what is
// lost, new data and FIN, probes, an ACK alone.
//
// What could be sent has been measured before (fpc_plan, fpc_offer, fpc_time): here is what is.
`resetall
`default_nettype none

module fpc_send
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  // One of them at most.
  typedef struct packed {
    logic rst, syn, hole, fresh, probe, ack;
  } choice_t;

  // RFC 5961 7: so many in a while, per flow, so that one flow's limit tells nothing of another.
  function automatic ctx_t ration(input ctx_t in);
    ctx_t c;
    c = in;
    if (in.offer.anew) begin
      c.t.challenge_at = in.tick;
      c.t.challenges = 3'd1;
      c.t.ack_now = 1'b1;
      c.counts.challenge = 1'b1;
    end else if (in.t.challenges < 3'(ChallengeMax)) begin
      c.t.challenges = in.t.challenges + 3'd1;
      c.t.ack_now = 1'b1;
      c.counts.challenge = 1'b1;
    end else c.counts.challenge_limited = 1'b1;
    return c;
  endfunction

  function automatic choice_t choose(input ctx_t c, input logic ack_now);
    choice_t x;
    x = '0;
    if (c.rst) x.rst = 1'b1;
    else if (!c.end_now && c.t.state != StClosed) begin
      if (c.syn) x.syn = 1'b1;
      // What came is not acceptable, and in SYN-RECEIVED too the peer is told so (RFC 9293 3.10.7.4).
      else if (!synchronized(c.t)) x.ack = c.t.state == StSynReceived && ack_now;
      // Not with data, which the peer would not count as a duplicate.
      else if (c.dup_ack) x.ack = 1'b1;
      else if (c.resend) x.hole = 1'b1;
      else if (c.send) x.fresh = 1'b1;
      else if (c.t.probe) x.probe = 1'b1;
      else x.ack = ack_now;
    end
    return x;
  endfunction

  // ---- the segment ----

  function automatic tx_desc_t describe(input ctx_t c, input choice_t x);
    tx_desc_t d;
    logic first;
    first = c.t.state == StSynSent;
    d = '0;
    d.flow = c.flow;
    d.qp = c.t.qp;
    unique case (1'b1)
      x.rst: d.seq = c.rst_seq;
      x.syn: d.seq = c.t.iss;
      x.hole: d.seq = c.hole_start;
      x.probe: d.seq = c.t.snd_una - 32'd1;  // below the window, so that it must be answered
      default: d.seq = c.t.snd_nxt;          // (RFC 9293 3.8.4, 3.8.6.1; as Linux)
    endcase
    d.tos = c.t.tos;
    d.ts_ok = c.t.ts;
    d.tsval = c.tick + c.t.ts_offset;
    d.flags.ack = 1'b1;
    d.ack = c.t.rcv_nxt;
    d.tsecr = c.t.ts_recent;
    d.wnd = c.offer.field;
    d.sacks = c.offer.sacks;
    d.sack = c.offer.sack;
    if (x.syn) begin
      d.flags.syn = 1'b1;
      d.flags.ack = !first;
      d.mss_ok = 1'b1;
      d.mss = c.t.own_mss;
      d.ws_ok = c.t.ws;
      d.ws = c.t.rcv_scale;
      d.sack_ok = c.t.sack;
      d.wnd = c.offer.syn;
    end
    if (x.rst) begin
      d.flags.rst = 1'b1;
      d.flags.ack = c.rst_ack;
      if (first) d.ts_ok = 1'b0;  // nothing is agreed upon
      d.wnd = 16'd0;
    end
    if (x.syn || x.rst) begin
      d.sacks = 3'd0;
      d.sack = '0;
    end
    // RFC 7323 3.2: without ACK it echoes nothing.
    if ((x.rst && !c.rst_ack) || (x.syn && first)) begin
      d.ack = 32'd0;
      d.tsecr = 32'd0;
    end
    if (x.hole) begin
      d.len = 16'(c.plan.hole_len);
      d.from = c.plan.hole_from;
      d.flags.fin = c.plan.hole_fin;
      d.flags.psh = c.plan.hole_psh;
    end
    if (x.fresh) begin
      d.len = 16'(c.plan.width);
      d.from = c.plan.new_from;
      d.flags.fin = c.plan.new_fin;
      d.flags.psh = c.plan.new_psh;
    end
    return d;
  endfunction

  // ---- what follows for the TCB ----

  // What goes out with an ACK pays what was owed.
  function automatic tcb_t acknowledged(input tcb_t in, input seq_t adv);
    tcb_t t;
    t = in;
    t.rcv_adv = adv;
    t.dsack_ok = 1'b0;
    t.ack_now = 1'b0;
    t.ack_later = 1'b0;
    t.unacked = 2'd0;
    t.rcv_acked = in.rcv_nxt;
    return t;
  endfunction

  function automatic tcb_t syn_sent(input ctx_t c);
    tcb_t t;
    t = c.t;
    t.timing = c.t.timeouts == 8'd0;
    t.rtt_seq = c.t.iss + 32'd1;
    t.rtt_start = c.stamp;
    t.snd_nxt = c.t.iss + 32'd1;
    if (c.kind != EvTimer || !c.t.rtx_on) begin
      t.rtx_on = 1'b1;
      t.persist = 1'b0;
      t.rtx_at = c.rto_at;
    end
    return t;
  endfunction

  function automatic tcb_t resent(input ctx_t c);
    tcb_t t;
    t = c.t;
    t.rexmit = c.plan.hole_end;
    t.rexmit_one = 1'b0;
    t.timing = 1'b0;  // Karn; a timestamp may time it
    t.rtt_seq = c.t.snd_una;
    t.retransmits = c.t.retransmits + 32'd1;
    t.rtx_on = 1'b1;
    t.persist = 1'b0;
    // Each one sent again has a whole RTO to arrive in (RFC 6675 5, as Linux).
    if (c.kind != EvTimer || !c.t.rtx_on || c.t.persist) t.rtx_at = c.rto_at;
    return t;
  endfunction

  function automatic tcb_t sent_new(input ctx_t c);
    tcb_t t;
    t = c.t;
    t.snd_nxt = c.plan.new_end;
    if (!c.plan.whole) t.snd_sml = c.plan.new_end;
    t.small_one = 1'b0;
    if (c.plan.all && !c.plan.new_fin) t.flush = 1'b0;
    if (!c.t.timing) begin
      t.timing = 1'b1;
      t.rtt_seq = c.plan.new_end;
      t.rtt_start = c.stamp;
    end
    t.rtx_on = 1'b1;
    t.persist = 1'b0;
    if (!c.t.rtx_on || c.t.persist) t.rtx_at = c.rto_at;
    return t;
  endfunction

  // Data that waits for nothing of ours waits for the peer's window, or for more to be written.
  function automatic tcb_t waits(input ctx_t c, input tcb_t in, input logic tx);
    tcb_t t;
    t = in;
    if (c.waits_window && !c.t.rtx_on && !tx) begin
      t.persist = 1'b1;
      t.rtx_on = 1'b1;
      t.rtx_at = c.rto_at;
    end
    // As long as it waits for the window, the writer's time runs on.
    if (!c.waits_more && !c.waits_window) t.cork_on = 1'b0;
    else if (c.waits_more && !c.t.cork_on) begin
      t.cork_on = 1'b1;
      t.cork_at = c.tick + CorkMax;
    end
    return t;
  endfunction

  function automatic ctx_t send(input ctx_t in);
    ctx_t c;
    choice_t x;
    c = in.challenge ? ration(in) : in;
    x = choose(in, c.t.ack_now);
    c.desc = describe(in, x);
    c.tx = x != '0;
    c.counts.segment_sent = c.tx;
    c.counts.rst_sent = x.rst;
    c.counts.resent = x.hole || (x.syn && in.t.snd_nxt != in.t.iss);
    if (x.syn) c.t = syn_sent(c);
    if (x.hole) c.t = resent(c);
    if (x.fresh) c.t = sent_new(c);
    if (x.probe) c.t.probe = 1'b0;
    if (c.tx && !x.rst) c.t = acknowledged(c.t, x.syn ? in.t.rcv_adv : in.offer.next);
    c.t = waits(in, c.t, c.tx);
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && (c_i.t.state != StClosed || c_i.rst)) c = send(c_i);
  end

  assign c_o = c;

endmodule

`resetall
