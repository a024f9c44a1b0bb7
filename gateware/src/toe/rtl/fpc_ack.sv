// SPDX-License-Identifier: Apache-2.0
// fpc_ack.sv - the ACK field (RFC 9293 3.10.7.4, fifth): what is acknowledged, the send window, and
// what follows for the state; where the congestion window begins. Loss: fpc_loss, time: fpc_time.
`resetall
`default_nettype none

module fpc_ack
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  function automatic ctx_t take(input ctx_t in);
    ctx_t c;
    seg_t g;
    logic [31:0] window, acked;
    list_t left;
    logic fin_acked, news;
    c = in;
    g = in.seg;
    acked = g.ack - in.t.snd_una;
    window = in.unscaled ? 32'(g.wnd) : 32'(g.wnd) << in.t.snd_scale;
    c.acked = acked;
    news = g.ack != in.t.snd_una;
    // RFC 5681 2 has what a duplicate ACK is.
    c.dup = !news && g.len == 16'd0 && !g.flags.fin && window == in.t.snd_wnd &&
            in.t.snd_una != in.t.snd_nxt && !in.t.persist;
    c.t.snd_una = g.ack;
    if (seq_lt(in.t.rexmit, g.ack)) c.t.rexmit = g.ack;
    if (news) begin
      c.t.timeouts = 8'd0;
      if ((g.ack - in.t.iss) < (in.t.snd_una - in.t.iss)) c.t.tx_wraps = in.t.tx_wraps + 32'd1;
    end
    left = cut_below(in.t.sacked, in.t.board, g.ack);
    c.t.sacked = left.n;
    c.t.board = left.r;
    // Of SACK ranges what does not lie in what is outstanding is a DSACK, or made up.
    for (int i = 0; i < SackMax; i++) begin
      c.sack_ok[i] = in.t.sack && 3'(i) < g.opt.sacks &&
          seq_lt(g.opt.sack[i].start, g.opt.sack[i].stop) && seq_lt(g.ack, g.opt.sack[i].stop) &&
          seq_le(g.opt.sack[i].stop, in.t.snd_nxt);
      if (seq_lt(g.opt.sack[i].start, g.ack)) c.seg.opt.sack[i].start = g.ack;
    end

    // SND.WND, SND.WL1; WL2 needs no keeping, it never exceeds SND.UNA. A retransmission, which has an
    // old SEG.SEQ, may bring the newest ACK: its window counts, as on Linux.
    if (seq_ge(g.seq, in.t.snd_wl1) || news) begin
      if (seq_ge(g.seq, in.t.snd_wl1)) c.t.snd_wl1 = g.seq;
      c.t.snd_wnd = window;
      if (window > in.t.max_wnd) c.t.max_wnd = window;
      if (in.t.persist && window != 32'd0) begin
        c.t.persist = 1'b0;
        c.t.rtx_on = 1'b0;
        c.t.backoff = 4'd0;
        c.t.timeouts = 8'd0;
      end
    end
    c.t.keep_probes = 7'd0;

    // Nothing is sent behind the FIN, and nothing acknowledged that was not sent.
    fin_acked = in.t.fin && seq_gt(g.ack, in.t.snd_end);
    if (fin_acked) begin
      unique case (in.t.state)
        StFinWait1: begin
          c.t.state = StFinWait2;
          if (in.t.gone) begin
            c.t.keep_on = 1'b1;
            c.t.keep_at = in.tick + in.see.lapse_ticks;
          end
        end
        StClosing: c.time_wait = 1'b1;
        StLastAck: begin
          c.end_now = 1'b1;
          c.t.reason = 8'd0;
        end
        default: ;
      endcase
    end
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && c_i.go_ack) begin
      if (seq_lt(c_i.seg.ack, c_i.t.snd_una)) c.go_ack = 1'b0;  // old: its text counts
      else c = take(c_i);
    end
    if (c_i.ten) c.t.cc.cwnd = 32'({c_i.t.mss, 3'd0}) + 32'({c_i.t.mss, 1'b0});
    // RFC 5681 3.1: where the SYN was lost, the window is one segment.
    if (c_i.one) c.t.cc.cwnd = 32'(c_i.t.mss);
  end

  assign c_o = c;

endmodule

`resetall
