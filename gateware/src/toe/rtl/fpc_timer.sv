// SPDX-License-Identifier: Apache-2.0
// fpc_timer.sv - handles an expiry (EvTimer). The TCB says which timer is due; one that was postponed
// in the meantime does nothing. fpc_time sets the next expiry of the retransmission timer.
`resetall
`default_nettype none

module fpc_timer
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire pass_t       pass_i,
  input  wire tcb_t        tcb_i,
  input  wire timer_seen_t seen_i,         // what fpc_look has found: the deadlines that are due
  input  wire tick_t       lapse_ticks_i,  // keep-alive, or the time in FIN-WAIT-2
  input  wire tick_t       intvl_ticks_i,  // TCP_KEEPINTVL
  input  wire tick_t       patience_i,     // USER_TIMEOUT
  output wire tcb_t        tcb_o,
  output wire timeout_t    timeout_o,
  output wire action_t     action_o,
  output wire fpc_counts_t counts_o
);

  typedef struct packed {
    tcb_t        t;
    timeout_t    timeout;
    action_t     action;
    fpc_counts_t counts;
  } result_t;

  localparam logic [7:0] TimedOut = 8'd110;

  function automatic result_t give_up(input result_t in);
    result_t c;
    c = in;
    c.action.end_now = 1'b1;
    c.t.reason = TimedOut;
    c.counts.given_up = 1'b1;
    c.action.rst = synchronized(in.t);
    c.action.rst_seq = in.t.snd_nxt;
    c.action.rst_ack = 1'b1;
    return c;
  endfunction

  // Whether to give up on the peer (RFC 9293 3.8.3, RFC 5482).
  function automatic logic too_long(input tcb_t t, input tick_t stalled, input tick_t patience);
    logic [7:0] limit;
    if (t.state == StSynSent)
      limit = (t.syncnt != 7'd0) ? 8'(t.syncnt) : 8'(GiveUpSyn);
    else if (t.state == StSynReceived) limit = 8'(GiveUpSynAck);
    else limit = 8'(GiveUpData);
    if (t.user_timeout != 32'd0 && t.timeouts != 8'd0) begin
      if (stalled >= patience) return 1'b1;
      if (synchronized(t)) return 1'b0;
    end
    return t.timeouts >= limit;
  endfunction

  function automatic result_t retransmit(input result_t in);
    result_t c;
    c = in;
    c.timeout.first = in.t.timeouts == 8'd0;  // stalled_at: fpc_time
    c.timeout.backoff_was = in.t.backoff;
    c.t.timeouts = in.t.timeouts + 8'd1;
    if (in.t.backoff != 4'd10) c.t.backoff = in.t.backoff + 4'd1;
    c.t.timing = 1'b0;
    c.counts.timeout = 1'b1;
    if (!synchronized(in.t)) c.action.syn = 1'b1;
    else begin
      c.t.recovery = RecLoss;
      c.t.recover = in.t.snd_nxt;
      c.t.rexmit = in.t.snd_una;
      c.t.rexmit_one = 1'b1;
      c.t.sacked = 3'd0;  // the peer may have discarded it (RFC 2018 8)
      c.t.dupacks = 8'd0;
      c.timeout.collapse = in.t.timeouts == 8'd0;
    end
    return c;
  endfunction

  // Probes a closed window (RFC 9293 3.8.6.1), or sends a segment below the SWS threshold.
  function automatic result_t window_probe(input result_t in, input tick_t tick);
    result_t c;
    c = in;
    if (in.t.gone || in.t.user_timeout != 32'd0) begin
      if (in.t.timeouts == 8'd0) c.t.stalled_at = tick;
      c.t.timeouts = in.t.timeouts + 8'd1;
    end
    if (in.t.backoff != 4'd10) c.t.backoff = in.t.backoff + 4'd1;
    if (in.t.snd_wnd == 32'd0) begin
      c.t.probe = 1'b1;
      c.counts.probe = 1'b1;
    end else c.t.small_one = 1'b1;  // the SWS override
    return c;
  endfunction

  function automatic result_t keep(input result_t in, input tick_t tick, input tick_t idle,
                                   input tick_t lapse_ticks, input tick_t intvl_ticks);
    result_t c;
    c = in;
    if (in.t.gone && in.t.state == StFinWait2) begin
      c.action.end_now = 1'b1;  // FIN-WAIT-2 has timed out
      c.t.reason = 8'd0;
    end else if (!in.t.keepalive) c.t.keep_on = 1'b0;
    else if (idle < lapse_ticks) begin
      c.t.keep_at = in.t.heard + lapse_ticks;
      c.t.keep_probes = 7'd0;
    end else if (in.t.keep_probes >= in.t.keep_cnt) c = give_up(in);
    else begin
      c.t.keep_probes = in.t.keep_probes + 7'd1;
      c.t.keep_at = tick + intvl_ticks;
      // Outstanding data probe the peer already (RFC 9293 3.8.4).
      c.t.probe = in.t.snd_una == in.t.snd_nxt;
      c.counts.probe = c.t.probe;
    end
    return c;
  endfunction

  result_t c;

  always_comb begin
    c = '{t: tcb_i, timeout: '0, action: '0, counts: '0};
    if (pass_i.valid && pass_i.kind == EvTimer && tcb_i.state != StClosed) begin
      if (seen_i.rtx) begin
        if (too_long(tcb_i, seen_i.stalled, patience_i)) c = give_up(c);
        else begin
          c = tcb_i.persist ? window_probe(c, pass_i.tick) : retransmit(c);
          c.timeout.next = 1'b1;
        end
      end
      if (seen_i.delack) begin
        c.t.ack_now = 1'b1;
        c.t.pingpong = 1'b0;  // no answer came: the next ACK does not wait for one
      end
      if (seen_i.cork) begin
        c.t.cork_on = 1'b0;
        c.t.flush = 1'b1;
      end
      if (seen_i.keep && !c.action.end_now)
        c = keep(c, pass_i.tick, seen_i.idle, lapse_ticks_i, intvl_ticks_i);
    end
  end

  assign tcb_o = c.t;
  assign timeout_o = c.timeout;
  assign action_o = c.action;
  assign counts_o = c.counts;

endmodule

`resetall
