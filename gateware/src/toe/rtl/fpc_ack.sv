// SPDX-License-Identifier: Apache-2.0
// fpc_ack.sv - processes the ACK field (RFC 9293 3.10.7.4, fifth): acknowledged bytes, the send window, the
// state; sets the initial congestion window. fpc_loss handles loss, fpc_time the timers.
`resetall
`default_nettype none

module fpc_ack
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire pass_t   pass_i,
  input  wire tcb_t    tcb_i,
  input  wire seg_t    seg_i,
  input  wire check_t  check_i,        // what fpc_check has decided on the segment
  input  wire tick_t   lapse_ticks_i,  // the time in FIN-WAIT-2
  output wire tcb_t    tcb_o,
  output wire ack_t    ack_o,
  output wire action_t action_o
);

  typedef struct packed {
    tcb_t    t;
    ack_t    ack;
    action_t action;
  } result_t;

  function automatic result_t take(input tcb_t t, input seg_t g, input logic unscaled,
                                   input tick_t tick, input tick_t lapse_ticks);
    result_t c;
    logic [31:0] window, acked;
    list_t left;
    logic fin_acked, news;
    c = '0;
    c.t = t;
    c.ack.go = 1'b1;
    acked = g.ack - t.snd_una;
    window = unscaled ? 32'(g.wnd) : 32'(g.wnd) << t.snd_scale;
    c.ack.acked = acked;
    news = g.ack != t.snd_una;
    // A duplicate ACK as RFC 5681 2 defines it.
    c.ack.dup = !news && g.len == 16'd0 && !g.flags.fin && window == t.snd_wnd &&
            t.snd_una != t.snd_nxt && !t.persist;
    c.t.snd_una = g.ack;
    if (seq_lt(t.rexmit, g.ack)) c.t.rexmit = g.ack;
    if (news) begin
      c.t.timeouts = 8'd0;
      if ((g.ack - t.iss) < (t.snd_una - t.iss)) c.t.tx_wraps = t.tx_wraps + 32'd1;
    end
    left = cut_below(t.sacked, t.board, g.ack);
    c.t.sacked = left.n;
    c.t.board = left.r;
    // A SACK range that is not within the outstanding bytes is a DSACK, or forged.
    for (int i = 0; i < SackMax; i++) begin
      c.ack.sack_ok[i] = t.sack && 3'(i) < g.opt.sacks &&
          seq_lt(g.opt.sack[i].start, g.opt.sack[i].stop) && seq_lt(g.ack, g.opt.sack[i].stop) &&
          seq_le(g.opt.sack[i].stop, t.snd_nxt);
      c.ack.sack[i] = g.opt.sack[i];
      if (seq_lt(g.opt.sack[i].start, g.ack)) c.ack.sack[i].start = g.ack;
    end

    // SND.WND, SND.WL1. SND.WL2 is not stored, it never exceeds SND.UNA. A retransmission has an old
    // SEG.SEQ but may carry the newest ACK: its window counts, as on Linux.
    if (seq_ge(g.seq, t.snd_wl1) || news) begin
      if (seq_ge(g.seq, t.snd_wl1)) c.t.snd_wl1 = g.seq;
      c.t.snd_wnd = window;
      if (window > t.max_wnd) c.t.max_wnd = window;
      if (t.persist && window != 32'd0) begin
        c.t.persist = 1'b0;
        c.t.rtx_on = 1'b0;
        c.t.backoff = 4'd0;
        c.t.timeouts = 8'd0;
      end
    end
    c.t.keep_probes = 7'd0;

    // Data sent without push (MSG_MORE) waits for more until the next ACK, as on Linux. Text that
    // acknowledges nothing does not end that.
    if (!t.cork && seq_gt(t.snd_end, t.snd_psh) && seq_gt(t.snd_end, t.snd_nxt) &&
        (news || g.len == 16'd0))
      c.t.flush = 1'b1;

    // The FIN is the last octet sent, and SEG.ACK does not exceed SND.NXT.
    fin_acked = t.fin && seq_gt(g.ack, t.snd_end);
    if (fin_acked) begin
      unique case (t.state)
        StFinWait1: begin
          c.t.state = StFinWait2;
          if (t.gone) begin
            c.t.keep_on = 1'b1;
            c.t.keep_at = tick + lapse_ticks;
          end
        end
        StClosing: c.action.time_wait = 1'b1;
        StLastAck: begin
          c.action.end_now = 1'b1;
          c.t.reason = 8'd0;
        end
        default: ;
      endcase
    end
    return c;
  endfunction

  // An old ACK is ignored; the text of its segment counts.
  wire goes = pass_i.valid && check_i.go_ack && !seq_lt(seg_i.ack, tcb_i.snd_una);
  result_t c;

  always_comb begin
    c = '0;
    c.t = tcb_i;
    if (goes) c = take(tcb_i, seg_i, check_i.unscaled, pass_i.tick, lapse_ticks_i);
    if (check_i.iw10) c.t.cc.cwnd = 32'({tcb_i.mss, 3'd0}) + 32'({tcb_i.mss, 1'b0});
    // RFC 5681 3.1: where the SYN was lost, the window is one segment.
    if (check_i.iw1_syn_lost) c.t.cc.cwnd = 32'(tcb_i.mss);
  end

  assign tcb_o = c.t;
  assign ack_o = c.ack;
  assign action_o = c.action;

endmodule

`resetall
