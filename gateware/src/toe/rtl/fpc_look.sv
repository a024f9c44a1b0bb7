// SPDX-License-Identifier: Apache-2.0
// fpc_look.sv - what fpc_check, fpc_host and fpc_timer ask of an event and its TCB, all compared at once
// before they choose (c_o.see). Of EvSegment, EvCommand and EvTimer, whose TCB fpc_open leaves alone.
//
//   Step 0   differences and comparisons; which seconds are to become ticks
//   Step 1   products; what hangs on two sums
`resetall
`default_nettype none

module fpc_look
  import toe_pkg::*;
  import fpc_pkg::*;
  import toe_cmd_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  // ---- a segment ----

  // RFC 9293 MUST-15, MUST-16: of a SYN that answers ours.
  function automatic logic [15:0] mss_for(input tcb_t t, input options_t o);
    logic [15:0] given, most;
    given = (o.mss_ok && o.mss != 16'd0) ? o.mss : (t.v6 ? 16'd1220 : 16'd536);
    most = (given > t.own_mss) ? t.own_mss : given;
    if (given < 16'd64) most = (16'd64 > t.own_mss) ? t.own_mss : 16'd64;
    return o.ts_ok ? most - 16'd12 : most;
  endfunction

  function automatic segment_seen_t segment(input tcb_t t, input seg_t g, input tick_t tick);
    segment_seen_t s;
    logic [31:0] len, ahead, open_;
    seq_t stop;
    len = 32'(g.len) + 32'(g.flags.syn) + 32'(g.flags.fin);
    ahead = g.seq - t.rcv_nxt;
    s.behind = t.rcv_nxt - g.seq;
    open_ = t.rcv_adv - t.rcv_nxt;
    stop = g.seq + 32'(g.len);
    s.at_irs = g.seq == t.irs;
    s.at_nxt = g.seq == t.rcv_nxt;
    s.open_ = seq_gt(t.rcv_adv, t.rcv_nxt);
    s.from_nxt = seq_ge(g.seq, t.rcv_nxt);
    s.to_adv = seq_le(g.seq, t.rcv_adv);
    s.inside_ = ahead < open_;
    s.reaches = s.behind < len;
    s.acked = seq_le(g.seq, t.rcv_acked);
    s.had = had_before(t, g.seq);
    // RFC 7323 5.3 R1; after 24 days TS.Recent is no longer to be compared with (5.5).
    s.stale = seq_lt(g.opt.tsval, t.ts_recent) && tick - t.heard < PawsIdle;
    s.ack_past_iss = seq_gt(g.ack, t.iss);
    s.ack_past_una = seq_gt(g.ack, t.snd_una);
    s.ack_sent = seq_le(g.ack, t.snd_nxt);
    s.ack_old = seq_lt(g.ack, t.snd_una - t.max_wnd);
    s.old_stop = seq_min(stop, t.rcv_nxt);
    s.adv = g.seq + 32'd1 + open_;
    s.mss = mss_for(t, g.opt);
    return s;
  endfunction

  // ---- a command ----

  function automatic command_seen_t sums(input tcb_t t, input logic [31:0] bytes);
    command_seen_t s;
    logic [31:0] most, size;
    s = '0;
    // A FIN that is acknowledged is no byte of the buffer.
    s.room = seq_lt(t.snd_una, t.snd_end) ? send_size(t) - (t.snd_end - t.snd_una) : send_size(t);
    s.unread = t.rcv_nxt - 32'(t.fin_in) - t.rcv_read;
    s.told = t.told_rx - t.rcv_read;
    s.read = t.rcv_read + bytes;
    most = 32'd65535 << t.rcv_scale;
    size = receive_size(t);
    s.most = t.rcv_nxt + most;
    s.size = (size > most) ? most : size;
    return s;
  endfunction

  function automatic command_seen_t compared(input command_seen_t in, input tcb_t t,
                                             input logic [31:0] bytes);
    command_seen_t s;
    logic [31:0] step;
    s = in;
    s.send_fits = bytes != 32'd0 && bytes <= in.room;
    s.read_fits = bytes != 32'd0 && bytes <= in.told;
    s.edge_ = seq_min(in.read + receive_size(t), in.most);
    // A window update of its own only when the peer may be waiting for it: it knows less than the
    // buffer has (and the window field can say) by a quarter. ACKs carry the rest (fpc_offer).
    step = (in.size[31:1] > 31'(t.mss)) ? 32'(t.mss) : in.size >> 1;
    if (in.size[31:2] > 30'(t.mss)) step = in.size >> 2;
    s.wanted = t.rcv_adv + step;
    s.none_unread = in.unread == 32'd0;
    return s;
  endfunction

  // ---- a timer ----

  function automatic logic due(input logic on, input tick_t tick, input tick_t at);
    tick_t past;
    past = tick - at;
    return on && !past[31];
  endfunction

  function automatic timer_seen_t timer(input tcb_t t, input tick_t tick);
    timer_seen_t s;
    s.rtx = due(t.rtx_on, tick, t.rtx_at);
    s.delack = due(t.ack_later, tick, t.delack_at);
    s.cork = due(t.cork_on, tick, t.cork_at);
    s.keep = due(t.keep_on, tick, t.keep_at);
    s.idle = tick - t.heard;
    s.stalled = tick - t.stalled_at;
    return s;
  endfunction

  // What of a pass becomes ticks: the time in FIN-WAIT-2, or that of keep-alive.
  function automatic logic [15:0] lapse(input ctx_t c);
    cmd_t m;
    m = c.command.cmd;
    if (c.kind == EvSegment || (c.kind == EvCommand && cmd_type(m) == SwClose)) return c.t.linger2;
    if (c.kind == EvCommand && cmd_aux(m) == OptKeepidle) return 16'(cmd_arg0(m));
    return 16'(c.t.keep_idle);
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (Step == 0) begin
      c.see.segment = segment(c_i.t, c_i.seg, c_i.tick);
      c.see.command = sums(c_i.t, cmd_arg0(c_i.command.cmd));
      c.see.timer = timer(c_i.t, c_i.tick);
      c.see.lapse = lapse(c_i);
    end else begin
      c.see.command = compared(c_i.see.command, c_i.t, cmd_arg0(c_i.command.cmd));
      c.see.lapse_ticks = seconds(c_i.see.lapse);
      c.see.intvl_ticks = seconds(16'(c_i.t.keep_intvl));
      c.see.patience = tick_t'((64'(c_i.t.user_timeout) * 64'd15625) >> 14) + 32'd1;
    end
  end

  assign c_o = c;

endmodule

`resetall
