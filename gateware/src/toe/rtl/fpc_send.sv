// SPDX-License-Identifier: Apache-2.0
// fpc_send.sv - sends at most one segment a pass, in this order: RST, SYN, lost bytes, new data and FIN,
// probes, an ACK alone. fpc_plan, fpc_offer and fpc_time have computed what could be sent.
`resetall
`default_nettype none

module fpc_send
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire pass_t       pass_i,
  input  wire tcb_t        tcb_i,
  input  wire action_t     action_i,
  input  wire plan_t       plan_i,    // the segments that may be sent (fpc_plan)
  input  wire offer_t      offer_i,   // what an ACK says (fpc_offer)
  input  wire tick_t       rto_at_i,  // when the retransmission timer expires that starts now
  output wire tcb_t        tcb_o,
  output wire logic        tx_ok_o,   // a segment is sent
  output wire tx_desc_t    tx_o,
  output wire fpc_counts_t counts_o
);

  typedef struct packed {
    tcb_t        t;
    logic        tx;
    tx_desc_t    desc;
    fpc_counts_t counts;
  } result_t;

  // At most one of them.
  typedef struct packed {
    logic rst, syn, hole, fresh, probe, ack;
  } choice_t;

  // Limits challenge ACKs (RFC 5961 7), per flow, so that the limit of one flow reveals nothing about
  // others.
  function automatic result_t ration(input result_t in, input logic new_period, input tick_t tick);
    result_t c;
    c = in;
    if (new_period) begin
      c.t.challenge_at = tick;
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

  function automatic choice_t choose(input tcb_t t, input action_t a, input logic ack_now,
                                    input logic resend, input logic send);
    choice_t x;
    x = '0;
    if (a.rst) x.rst = 1'b1;
    else if (!a.end_now && t.state != StClosed) begin
      if (a.syn) x.syn = 1'b1;
      // An unacceptable segment is answered in SYN-RECEIVED too (RFC 9293 3.10.7.4).
      else if (!synchronized(t)) x.ack = t.state == StSynReceived && ack_now;
      // Without data, or the peer would not count it as a duplicate ACK.
      else if (a.dup_ack) x.ack = 1'b1;
      else if (resend) x.hole = 1'b1;
      else if (send) x.fresh = 1'b1;
      else if (t.probe) x.probe = 1'b1;
      else x.ack = ack_now;
    end
    return x;
  endfunction

  // ---- the segment ----

  function automatic tx_desc_t describe(input pass_t pass, input tcb_t t, input action_t a,
                                         input plan_t plan, input offer_t offer,
                                         input choice_t x);
    tx_desc_t d;
    logic first;
    first = t.state == StSynSent;
    d = '0;
    d.flow = pass.flow;
    d.qp = t.qp;
    unique case (1'b1)
      x.rst: d.seq = a.rst_seq;
      x.syn: d.seq = t.iss;
      x.hole: d.seq = plan.hole_start;
      x.probe: d.seq = t.snd_una - 32'd1;  // below the window, so that it must be answered
      default: d.seq = t.snd_nxt;          // (RFC 9293 3.8.4, 3.8.6.1; as Linux)
    endcase
    d.tos = t.tos;
    d.ts_ok = t.ts;
    d.tsval = pass.tick + t.ts_offset;
    d.flags.ack = 1'b1;
    d.ack = t.rcv_nxt;
    d.tsecr = t.ts_recent;
    d.wnd = offer.field;
    d.sacks = offer.sacks;
    d.sack = offer.sack;
    if (x.syn) begin
      d.flags.syn = 1'b1;
      d.flags.ack = !first;
      d.mss_ok = 1'b1;
      d.mss = t.own_mss;
      d.ws_ok = t.ws;
      d.ws = t.rcv_scale;
      d.sack_ok = t.sack;
      d.wnd = offer.syn;
    end
    if (x.rst) begin
      d.flags.rst = 1'b1;
      d.flags.ack = a.rst_ack;
      if (first) d.ts_ok = 1'b0;  // timestamps are not negotiated yet
      d.wnd = 16'd0;
    end
    if (x.syn || x.rst) begin
      d.sacks = 3'd0;
      d.sack = '0;
    end
    // RFC 7323 3.2: a segment without ACK echoes no timestamp.
    if ((x.rst && !a.rst_ack) || (x.syn && first)) begin
      d.ack = 32'd0;
      d.tsecr = 32'd0;
    end
    if (x.hole) begin
      d.len = 16'(plan.hole_len);
      d.from = plan.hole_from;
      d.flags.fin = plan.hole_fin;
      d.flags.psh = plan.hole_psh;
    end
    if (x.fresh) begin
      d.len = 16'(plan.width);
      d.from = plan.new_from;
      d.flags.fin = plan.new_fin;
      d.flags.psh = plan.new_psh;
    end
    return d;
  endfunction

  // ---- what follows for the TCB ----

  // Clears the pending ACK: every segment but a RST carries one.
  function automatic tcb_t acknowledged(input tcb_t in, input seq_t adv);
    tcb_t t;
    t = in;
    t.rcv_adv = adv;
    t.dsack_ok = 1'b0;
    t.ack_now = 1'b0;
    t.ack_later = 1'b0;
    t.pushed = 1'b0;
    t.rcv_acked = in.rcv_nxt;
    return t;
  endfunction

  function automatic tcb_t syn_sent(input tcb_t in, input pass_t pass, input tick_t rto_at);
    tcb_t t;
    t = in;
    t.timing = in.timeouts == 8'd0;
    t.rtt_seq = in.iss + 32'd1;
    t.rtt_start = pass.stamp;
    t.snd_nxt = in.iss + 32'd1;
    if (pass.kind != EvTimer || !in.rtx_on) begin
      t.rtx_on = 1'b1;
      t.persist = 1'b0;
      t.rtx_at = rto_at;
    end
    return t;
  endfunction

  function automatic tcb_t resent(input tcb_t in, input kind_e kind, input plan_t plan,
                                  input tick_t rto_at);
    tcb_t t;
    t = in;
    t.rexmit = plan.hole_end;
    t.rexmit_one = 1'b0;
    t.timing = 1'b0;  // Karn; a timestamp may time it
    t.rtt_seq = in.snd_una;
    t.retransmits = in.retransmits + 32'd1;
    t.rtx_on = 1'b1;
    t.persist = 1'b0;
    // Each retransmission has a whole RTO to be acknowledged (RFC 6675 5, as Linux).
    if (kind != EvTimer || !in.rtx_on || in.persist) t.rtx_at = rto_at;
    return t;
  endfunction

  function automatic tcb_t sent_new(input tcb_t in, input pass_t pass, input plan_t plan,
                                    input tick_t rto_at);
    tcb_t t;
    t = in;
    // Data soon after text is an answer: from now on the ACK waits for the next one, as on Linux.
    if (plan.width != '0 && 32'(idle_ticks(in, pass.tick)) < Delack &&
        in.rcv_nxt - in.irs > 32'd1)
      t.pingpong = 1'b1;
    t.snd_nxt = plan.new_end;
    if (!plan.whole) t.snd_sml = plan.new_end;
    t.small_one = 1'b0;
    if (plan.all && !plan.new_fin) t.flush = 1'b0;
    if (!in.timing) begin
      t.timing = 1'b1;
      t.rtt_seq = plan.new_end;
      t.rtt_start = pass.stamp;
    end
    t.rtx_on = 1'b1;
    t.persist = 1'b0;
    if (!in.rtx_on || in.persist) t.rtx_at = rto_at;
    return t;
  endfunction

  // With nothing in flight, data wait for the peer's window (persist timer) or for more data (cork timer).
  function automatic tcb_t waits(input tcb_t in, input tcb_t was, input plan_t plan, input logic tx,
                                 input tick_t tick, input tick_t rto_at);
    tcb_t t;
    t = in;
    if (plan.waits_window && !was.rtx_on && !tx) begin
      t.persist = 1'b1;
      t.rtx_on = 1'b1;
      t.rtx_at = rto_at;
    end
    // While data wait for the window, the cork timer keeps running.
    if (!plan.waits_more && !plan.waits_window) t.cork_on = 1'b0;
    else if (plan.waits_more && !was.cork_on) begin
      t.cork_on = 1'b1;
      t.cork_at = tick + CorkMax;
    end
    return t;
  endfunction

  result_t c;
  choice_t x;

  always_comb begin
    x = '0;
    c = '{t: tcb_i, tx: 1'b0, desc: '0, counts: '0};
    if (pass_i.valid && (tcb_i.state != StClosed || action_i.rst)) begin
      if (action_i.challenge) c = ration(c, offer_i.new_period, pass_i.tick);
      x = choose(tcb_i, action_i, c.t.ack_now, plan_i.resend, plan_i.send);
      c.desc = describe(pass_i, tcb_i, action_i, plan_i, offer_i, x);
      c.tx = x != '0;
      c.counts.segment_sent = c.tx;
      c.counts.rst_sent = x.rst;
      c.counts.resent = x.hole || (x.syn && tcb_i.snd_nxt != tcb_i.iss);
      if (x.syn) c.t = syn_sent(c.t, pass_i, rto_at_i);
      if (x.hole) c.t = resent(c.t, pass_i.kind, plan_i, rto_at_i);
      if (x.fresh) c.t = sent_new(c.t, pass_i, plan_i, rto_at_i);
      if (x.probe) c.t.probe = 1'b0;
      if (c.tx && !x.rst) c.t = acknowledged(c.t, x.syn ? tcb_i.rcv_adv : offer_i.next);
      c.t = waits(c.t, tcb_i, plan_i, c.tx, pass_i.tick, rto_at_i);
    end
  end

  assign tcb_o = c.t;
  assign tx_ok_o = c.tx;
  assign tx_o = c.desc;
  assign counts_o = c.counts;

endmodule

`resetall
