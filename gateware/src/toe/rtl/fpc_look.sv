// SPDX-License-Identifier: Apache-2.0
// fpc_look.sv - compares an event with its TCB, everything at once, for fpc_check, fpc_host and fpc_timer,
// which select by the results. It serves EvSegment, EvCommand and EvTimer: fpc_open leaves their TCB alone.
//
//   Step 0   differences and comparisons; selects the seconds to convert into ticks
//   Step 1   products; results that depend on two sums
`resetall
`default_nettype none

module fpc_look
  import toe_pkg::*;
  import fpc_pkg::*;
  import toe_cmd_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire pass_t    pass_i,
  input  wire tcb_t     tcb_i,
  input  wire seg_t     seg_i,      // Step 0, EvSegment: the segment
  input  wire command_t command_i,  // EvCommand: the command
  input  wire seen_t    seen_i,     // Step 1: what Step 0 has found
  output wire seen_t    seen_o
);

  // ---- a segment ----

  // RFC 9293 MUST-15, MUST-16, for a SYN that answers ours.
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
    // RFC 7323 5.3 R1; after 24 days TS.Recent is not valid any more (5.5).
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
    // An acknowledged FIN occupies no byte of the buffer.
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
    // A window update is sent by itself only when the peer may be waiting for it: the window it knows is
    // smaller by a quarter than buffer and window field allow. ACKs carry other updates (fpc_offer).
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

  // The seconds of which this pass needs the ticks: FIN-WAIT-2's, or those of keep-alive.
  function automatic logic [15:0] lapse(input kind_e kind, input cmd_t m, input tcb_t t);
    if (kind == EvSegment || (kind == EvCommand && cmd_type(m) == SwClose)) return t.linger2;
    if (kind == EvCommand && cmd_aux(m) == OptKeepidle) return 16'(cmd_arg0(m));
    return 16'(t.keep_idle);
  endfunction

  seen_t s;

  always_comb begin
    s = seen_i;
    if (Step == 0) begin
      s.segment = segment(tcb_i, seg_i, pass_i.tick);
      s.command = sums(tcb_i, cmd_arg0(command_i.cmd));
      s.timer = timer(tcb_i, pass_i.tick);
      s.lapse = lapse(pass_i.kind, command_i.cmd, tcb_i);
    end else begin
      s.command = compared(seen_i.command, tcb_i, cmd_arg0(command_i.cmd));
      s.lapse_ticks = seconds(seen_i.lapse);
      s.intvl_ticks = seconds(16'(tcb_i.keep_intvl));
      s.patience = tick_t'((64'(tcb_i.user_timeout) * 64'd15625) >> 14) + 32'd1;
    end
  end

  assign seen_o = s;

endmodule

`resetall
