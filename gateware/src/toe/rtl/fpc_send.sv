// SPDX-License-Identifier: Apache-2.0
// fpc_send.sv - what is sent now, if anything: one segment a pass. In this order: RST, SYN, what is
// lost, new data and FIN, probes, an ACK alone.
//
// fpc_plan, a stage before, has measured: what is under way, where the next hole is.
`resetall
`default_nettype none

module fpc_send
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  // ---- the window offered ----

  typedef struct packed {
    logic [15:0] field;   // scaled
    seq_t        edge_;   // the right edge after it
  } offer_t;

  // RCV.WND (RFC 9293 3.8.6.2.2): the right edge never goes back, and moves on by half the buffer or a
  // full segment at least. Rounding down takes back what was offered only when the buffer has not the
  // room to round up (RFC 7323 2.4); what was offered is taken even so.
  function automatic offer_t offer(input tcb_t t);
    offer_t o;
    seq_t edge_, limit;
    logic [31:0] step, field;
    limit = t.rcv_read + receive_size(t);
    step = receive_size(t) >> 1;
    if (step > 32'(t.mss)) step = 32'(t.mss);
    edge_ = seq_ge(limit, t.rcv_adv + step) ? limit : t.rcv_adv;
    field = seq_gt(edge_, t.rcv_nxt) ? (edge_ - t.rcv_nxt) >> t.rcv_scale : 32'd0;
    if (seq_gt(edge_, t.rcv_nxt) && seq_lt(t.rcv_nxt + (field << t.rcv_scale), t.rcv_adv) &&
        seq_le(t.rcv_nxt + ((field + 32'd1) << t.rcv_scale), limit))
      field = field + 32'd1;
    if (field > 32'd65535) field = 32'd65535;
    o.field = 16'(field);
    edge_ = t.rcv_nxt + (field << t.rcv_scale);
    o.edge_ = (field != 32'd0 && seq_gt(edge_, t.rcv_adv)) ? edge_ : t.rcv_adv;
    return o;
  endfunction

  // Not scaled, and never more than the field holds.
  function automatic logic [15:0] syn_window(input tcb_t t);
    logic [31:0] window;
    window = seq_gt(t.rcv_adv, t.rcv_nxt) ? t.rcv_adv - t.rcv_nxt : 32'd0;
    return (window > 32'd65535) ? 16'hffff : 16'(window);
  endfunction

  // ---- descriptors ----

  function automatic tx_desc_t bare(input ctx_t c, input seq_t seq);
    tx_desc_t d;
    d = '0;
    d.flow = c.flow;
    d.qp = c.t.qp;
    d.seq = seq;
    d.ack = c.t.rcv_nxt;
    d.flags.ack = 1'b1;
    d.ts_ok = c.t.ts;
    d.tsval = c.tick + c.t.ts_offset;
    d.tsecr = c.t.ts_recent;
    d.tos = c.t.tos;
    return d;
  endfunction

  // DSACK first (RFC 2883 4), then the gaps' other sides, the latest first; three beside timestamps.
  function automatic tx_desc_t with_sacks(input tx_desc_t in, input tcb_t t);
    tx_desc_t d;
    logic [2:0] most;
    d = in;
    d.sacks = 3'd0;
    d.sack = '0;
    most = t.ts ? 3'd3 : 3'd4;
    if (t.sack) begin
      if (t.dsack_ok) begin
        d.sack[0] = t.dsack;
        d.sacks = 3'd1;
      end
      for (int i = 0; i < SackMax; i++) begin
        if (3'(i) < t.gaps && d.sacks < most) begin
          d.sack[2'(d.sacks)] = t.ooo[i];
          d.sacks = d.sacks + 3'd1;
        end
      end
    end
    return d;
  endfunction

  // What goes out with an ACK pays what was owed.
  function automatic ctx_t acknowledge(input ctx_t in);
    ctx_t c;
    offer_t o;
    c = in;
    o = offer(in.t);
    if (!in.desc.flags.syn) c.t.rcv_adv = o.edge_;
    c.desc.wnd = in.desc.flags.syn ? syn_window(in.t) : o.field;
    c.desc.ack = in.t.rcv_nxt;
    if (!in.desc.flags.syn) c.desc = with_sacks(c.desc, in.t);
    c.t.dsack_ok = 1'b0;
    c.t.ack_now = 1'b0;
    c.t.ack_later = 1'b0;
    c.t.unacked = 2'd0;
    c.t.rcv_acked = in.t.rcv_nxt;
    c.tx = 1'b1;
    c.counts.segment_sent = 1'b1;
    return c;
  endfunction

  function automatic ctx_t start_timer(input ctx_t in);
    ctx_t c;
    c = in;
    if (!in.t.rtx_on || in.t.persist) begin
      c.t.rtx_on = 1'b1;
      c.t.persist = 1'b0;
      c.t.rtx_at = in.tick + rto(in.t);
    end
    return c;
  endfunction

  // ---- what may be sent ----

  function automatic ctx_t send_rst(input ctx_t in);
    ctx_t c;
    c = in;
    c.desc = bare(in, in.rst_seq);
    c.desc.flags.rst = 1'b1;
    c.desc.flags.ack = in.rst_ack;
    if (in.t.state == StSynSent) c.desc.ts_ok = 1'b0;  // nothing is agreed upon
    if (!in.rst_ack) c.desc.ack = 32'd0;
    if (!in.rst_ack) c.desc.tsecr = 32'd0;  // RFC 7323 3.2: it echoes nothing
    c.tx = 1'b1;
    c.counts.rst_sent = 1'b1;
    c.counts.segment_sent = 1'b1;
    return c;
  endfunction

  function automatic ctx_t send_syn(input ctx_t in);
    ctx_t c;
    c = in;
    c.desc = bare(in, in.t.iss);
    c.desc.flags.syn = 1'b1;
    c.desc.flags.ack = in.t.state != StSynSent;
    c.desc.mss_ok = 1'b1;
    c.desc.mss = in.t.own_mss;
    c.desc.ws_ok = in.t.ws;
    c.desc.ws = in.t.rcv_scale;
    c.desc.sack_ok = in.t.sack;
    if (in.t.state == StSynSent) c.desc.tsecr = 32'd0;
    c = acknowledge(c);
    if (in.t.state == StSynSent) c.desc.ack = 32'd0;
    c.counts.resent = in.t.snd_nxt != in.t.iss;
    c.t.timing = in.t.timeouts == 8'd0;
    c.t.rtt_seq = in.t.iss + 32'd1;
    c.t.rtt_start = in.stamp;
    c.t.snd_nxt = in.t.iss + 32'd1;
    if (in.kind != EvTimer) c.t.rtx_on = 1'b0;
    if (!c.t.rtx_on) c = start_timer(c);
    return c;
  endfunction

  // From seq, len bytes, and the FIN when it comes right behind.
  function automatic ctx_t segment(input ctx_t in, input seq_t seq, input logic [15:0] len,
                                   input logic fin);
    ctx_t c;
    seq_t stop;
    c = in;
    c.desc = bare(in, seq);
    stop = seq + 32'(len);
    c.desc.len = len;
    c.desc.from = seq - in.t.iss - 32'd1;
    c.desc.flags.fin = fin;
    c.desc.flags.psh = len != 16'd0 && stop == in.t.snd_psh;
    return start_timer(acknowledge(c));
  endfunction

  function automatic ctx_t resend(input ctx_t in);
    ctx_t c;
    seq_t stop;
    logic fin;
    fin = in.t.fin && in.hole_stop == in.t.snd_end && in.t.snd_nxt == in.t.snd_end + 32'd1;
    c = segment(in, in.hole_start, 16'(in.hole_stop - in.hole_start), fin);
    stop = in.hole_stop + 32'(fin);
    c.t.rexmit = seq_max(in.t.rexmit, stop);
    c.t.rexmit_one = 1'b0;
    c.t.timing = 1'b0;  // Karn; a timestamp may time it
    c.t.rtt_seq = in.t.snd_una;
    c.t.retransmits = in.t.retransmits + 32'd1;
    c.counts.resent = 1'b1;
    // Each one sent again has a whole RTO to arrive in (RFC 6675 5, as Linux).
    if (in.kind != EvTimer) c.t.rtx_at = in.tick + rto(in.t);
    return c;
  endfunction

  function automatic ctx_t send_new(input ctx_t in);
    ctx_t c;
    seq_t stop;
    logic fin;
    fin = in.t.fin && in.fin_fits && in.t.snd_nxt + 32'(in.new_len) == in.t.snd_end;
    c = segment(in, in.t.snd_nxt, in.new_len, fin);
    stop = in.t.snd_nxt + 32'(in.new_len) + 32'(fin);
    c.t.snd_nxt = stop;
    if (in.new_len < in.full) c.t.snd_sml = stop;
    c.t.small_one = 1'b0;
    if (stop == in.t.snd_end) c.t.flush = 1'b0;
    if (!in.t.timing) begin
      c.t.timing = 1'b1;
      c.t.rtt_seq = stop;
      c.t.rtt_start = in.stamp;
    end
    return c;
  endfunction

  // Below the window, so that it must be answered (RFC 9293 3.8.4, 3.8.6.1; as Linux).
  function automatic ctx_t send_probe(input ctx_t in);
    ctx_t c;
    c = in;
    c.desc = bare(in, in.t.snd_una - 32'd1);
    c.t.probe = 1'b0;
    return acknowledge(c);
  endfunction

  function automatic ctx_t send_ack(input ctx_t in);
    ctx_t c;
    c = in;
    c.desc = bare(in, in.t.snd_nxt);
    return acknowledge(c);
  endfunction

  // RFC 5961 7: so many in a while, per flow, so that one flow's limit tells nothing of another.
  function automatic ctx_t ration(input ctx_t in);
    ctx_t c;
    logic anew;
    c = in;
    anew = in.t.challenges == 3'd0 || in.tick - in.t.challenge_at >= ChallengeTime;
    if (anew) begin
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

  function automatic ctx_t choose(input ctx_t in);
    ctx_t c;
    c = in.challenge ? ration(in) : in;
    if (in.rst) return send_rst(c);
    if (in.end_now || in.t.state == StClosed) return c;
    if (in.syn) return send_syn(c);
    // What came is not acceptable, and in SYN-RECEIVED too the peer is told so (RFC 9293 3.10.7.4).
    if (in.t.state == StSynReceived && c.t.ack_now) return send_ack(c);
    if (!synchronized(in.t)) return c;
    // Not with data, which the peer would not count as a duplicate.
    if (in.dup_ack) return send_ack(c);
    if (in.resend) return resend(c);
    if (in.send) return send_new(c);
    if (in.t.probe) return send_probe(c);
    if (c.t.ack_now) return send_ack(c);
    return c;
  endfunction

  // Data that waits for nothing of ours waits for the peer's window, or for more to be written.
  function automatic ctx_t wait_for(input ctx_t in);
    ctx_t c;
    c = in;
    if (in.waits_window && !in.t.rtx_on && !in.tx) begin
      c.t.persist = 1'b1;
      c.t.rtx_on = 1'b1;
      c.t.rtx_at = in.tick + rto(in.t);
    end
    // As long as it waits for the window, the writer's time runs on.
    if (!in.waits_more && !in.waits_window) c.t.cork_on = 1'b0;
    else if (in.waits_more && !in.t.cork_on) begin
      c.t.cork_on = 1'b1;
      c.t.cork_at = in.tick + CorkMax;
    end
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && (c_i.t.state != StClosed || c_i.rst)) c = wait_for(choose(c_i));
  end

  assign c_o = c;

endmodule

`resetall
