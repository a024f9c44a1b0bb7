// SPDX-License-Identifier: Apache-2.0
// fpc_timer.sv - a deadline of the flow has come (EvTimer). Which one, the TCB says; one that was put
// off meanwhile does nothing. When the next try is, fpc_time says.
`resetall
`default_nettype none

module fpc_timer
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  localparam logic [7:0] TimedOut = 8'd110;

  function automatic ctx_t give_up(input ctx_t in);
    ctx_t c;
    c = in;
    c.end_now = 1'b1;
    c.t.reason = TimedOut;
    c.counts.given_up = 1'b1;
    c.rst = synchronized(in.t);
    c.rst_seq = in.t.snd_nxt;
    c.rst_ack = 1'b1;
    return c;
  endfunction

  // Has the peer been silent for too long? (RFC 9293 3.8.3, RFC 5482)
  function automatic logic too_long(input ctx_t in);
    logic [7:0] limit;
    if (in.t.state == StSynSent)
      limit = (in.t.syncnt != 7'd0) ? 8'(in.t.syncnt) : 8'(GiveUpSyn);
    else if (in.t.state == StSynReceived) limit = 8'(GiveUpSynAck);
    else limit = 8'(GiveUpData);
    if (in.t.user_timeout != 32'd0 && in.t.timeouts != 8'd0) begin
      if (in.see.timer.stalled >= in.see.patience) return 1'b1;
      if (synchronized(in.t)) return 1'b0;
    end
    return in.t.timeouts >= limit;
  endfunction

  function automatic ctx_t retransmit(input ctx_t in);
    ctx_t c;
    c = in;
    c.stall = in.t.timeouts == 8'd0;  // stalled_at: fpc_time
    c.backoff_was = in.t.backoff;
    c.t.timeouts = in.t.timeouts + 8'd1;
    if (in.t.backoff != 4'd10) c.t.backoff = in.t.backoff + 4'd1;
    c.t.timing = 1'b0;
    c.counts.timeout = 1'b1;
    if (!synchronized(in.t)) c.syn = 1'b1;
    else begin
      c.t.recovery = RecLoss;
      c.t.recover = in.t.snd_nxt;
      c.t.rexmit = in.t.snd_una;
      c.t.rexmit_one = 1'b1;
      c.t.sacked = 3'd0;  // the peer may have thrown it away (RFC 2018 8)
      c.t.dupacks = 8'd0;
      c.cc.timeout = in.t.timeouts == 8'd0;
    end
    return c;
  endfunction

  // RFC 9293 3.8.6.1.
  function automatic ctx_t window_probe(input ctx_t in);
    ctx_t c;
    c = in;
    if (in.t.gone || in.t.user_timeout != 32'd0) begin
      if (in.t.timeouts == 8'd0) c.t.stalled_at = in.tick;
      c.t.timeouts = in.t.timeouts + 8'd1;
    end
    if (in.t.backoff != 4'd10) c.t.backoff = in.t.backoff + 4'd1;
    if (in.t.snd_wnd == 32'd0) begin
      c.t.probe = 1'b1;
      c.counts.probe = 1'b1;
    end else c.t.small_one = 1'b1;  // the SWS override
    return c;
  endfunction

  function automatic ctx_t keep(input ctx_t in);
    ctx_t c;
    tick_t idle, left;
    c = in;
    idle = in.see.timer.idle;
    left = in.see.lapse_ticks;
    if (in.t.gone && in.t.state == StFinWait2) begin
      c.end_now = 1'b1;  // nobody waits for the peer's FIN any longer
      c.t.reason = 8'd0;
    end else if (!in.t.keepalive) c.t.keep_on = 1'b0;
    else if (idle < left) begin
      c.t.keep_at = in.t.heard + left;
      c.t.keep_probes = 7'd0;
    end else if (in.t.keep_probes >= in.t.keep_cnt) c = give_up(in);
    else begin
      c.t.keep_probes = in.t.keep_probes + 7'd1;
      c.t.keep_at = in.tick + in.see.intvl_ticks;
      // What is under way asks the peer already (RFC 9293 3.8.4).
      c.t.probe = in.t.snd_una == in.t.snd_nxt;
      c.counts.probe = c.t.probe;
    end
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && c_i.kind == EvTimer && c_i.t.state != StClosed) begin
      if (c_i.see.timer.rtx) begin
        if (too_long(c_i)) c = give_up(c);
        else begin
          c = c_i.t.persist ? window_probe(c) : retransmit(c);
          c.rtx_next = 1'b1;
        end
      end
      if (c_i.see.timer.delack) c.t.ack_now = 1'b1;
      if (c_i.see.timer.cork) begin
        c.t.cork_on = 1'b0;
        c.t.flush = 1'b1;
      end
      if (c_i.see.timer.keep && !c.end_now) c = keep(c);
    end
  end

  assign c_o = c;

endmodule

`resetall
