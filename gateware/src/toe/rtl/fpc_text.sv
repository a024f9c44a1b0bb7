// SPDX-License-Identifier: Apache-2.0
// fpc_text.sv - text and FIN of a segment (RFC 9293 3.10.7.4, seventh and eighth). Text is placed where
// it belongs in the stream, also beyond a gap; only ranges are remembered.
`resetall
`default_nettype none

module fpc_text
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  // What was received before, or lies beyond the window, is cut off.
  function automatic ctx_t trim(input ctx_t in);
    ctx_t c;
    logic [31:0] skip, room;
    seq_t edge_, stop;
    c = in;
    stop = in.seg.seq + 32'(in.seg.len);
    if (seq_lt(in.seg.seq, in.t.rcv_nxt)) begin
      skip = in.t.rcv_nxt - in.seg.seq;
      if (in.t.sack && in.seg.len != 16'd0 && had_before(in.t, in.seg.seq)) begin
        c.t.dsack_ok = 1'b1;
        c.t.dsack.start = in.seg.seq;
        c.t.dsack.stop = seq_min(stop, in.t.rcv_nxt);
      end
      if (skip > 32'(in.seg.len)) begin
        c.seg.flags.fin = 1'b0;  // wholly old, the FIN too
        skip = 32'(in.seg.len);
      end
      c.seg.seq = in.seg.seq + skip;
      c.seg.offset = in.seg.offset;
      c.seg.len = in.seg.len - 16'(skip);
      c.place_at = skip;
      c.t.ack_now = 1'b1;
    end else c.place_at = 32'd0;
    edge_ = seq_max(in.t.rcv_adv, in.t.rcv_nxt);
    if (c.seg.len != 16'd0 && seq_gt(stop, edge_)) begin
      room = seq_lt(c.seg.seq, edge_) ? edge_ - c.seg.seq : 32'd0;
      c.seg.len = 16'(room);
      c.seg.flags.fin = 1'b0;
      c.t.ack_now = 1'b1;
    end
    return c;
  endfunction

  // RFC 9293 3.8.6.3, RFC 5681 4.2: at once for what closes or opens a gap, else each second segment.
  // A sender in slow start waits for every ACK; a pushed segment more likely for our answer.
  function automatic tcb_t owe_ack(input tcb_t in, input tick_t tick, input logic at_once,
                                   input logic pushed, input logic long_);
    tcb_t t;
    logic quick;
    t = in;
    if (in.ack_now) return t;  // owed already, as what came twice is acknowledged at once
    // What is longer than a segment of ours counts as two.
    t.unacked = (in.unacked >= 2'd2) ? 2'd3 : in.unacked + (long_ ? 2'd2 : 2'd1);
    quick = in.quick != 4'd0 && !pushed;
    if (at_once || in.quick_on || t.unacked >= 2'd2) t.ack_now = 1'b1;
    else if (quick) begin
      t.ack_now = 1'b1;
      t.quick = in.quick - 4'd1;
    end else if (!in.ack_later) begin
      t.ack_later = 1'b1;
      t.delack_at = tick + Delack;
    end
    return t;
  endfunction

  function automatic ctx_t text(input ctx_t in);
    ctx_t c;
    range_t x, m;
    list_t list, left;
    logic [31:0] was, is;
    c = in;
    c.place = 1'b1;
    x.start = in.seg.seq;
    x.stop = in.seg.seq + 32'(in.seg.len);
    list = put_first(in.t.gaps, in.t.ooo, x);
    m = list.r[0];
    // What is there beyond the gap and comes again (RFC 2883 4.1).
    for (int i = 0; i < SackMax; i++) begin
      if (in.t.sack && 3'(i) < in.t.gaps && seq_lt(x.start, in.t.ooo[i].stop) &&
          seq_lt(in.t.ooo[i].start, x.stop)) begin
        c.t.dsack_ok = 1'b1;
        c.t.dsack.start = seq_max(x.start, in.t.ooo[i].start);
        c.t.dsack.stop = seq_min(x.stop, in.t.ooo[i].stop);
      end
    end
    if (in.seg.seq == in.t.rcv_nxt) begin
      was = in.t.rcv_nxt - in.t.irs;
      is = m.stop - in.t.irs;
      left = cut_below(in.t.gaps, in.t.ooo, m.stop);
      c.t.rcv_nxt = m.stop;
      c.t.gaps = left.n;
      c.t.ooo = left.r;
      if (is < was) c.t.rx_wraps = in.t.rx_wraps + 32'd1;
      c.t = owe_ack(c.t, in.tick, in.t.gaps != 3'd0 || in.t.fin_ahead, in.seg.flags.psh,
                    in.seg.len > in.t.mss);
    end else begin
      c.t.gaps = list.n;
      c.t.ooo = list.r;
      c.counts.gap_dropped = list.full;
      c.t = owe_ack(c.t, in.tick, 1'b1, 1'b0, 1'b0);
      c.t.quick = 4'(QuickAcks);
      c.dup_ack = 1'b1;
    end
    return c;
  endfunction

  // A FIN beyond a gap. Of two ends of one stream the first claim stands.
  function automatic ctx_t fin_beyond(input ctx_t in, input seq_t stop);
    ctx_t c;
    c = in;
    c.t.fin_ahead = 1'b1;
    if (!in.t.fin_ahead) c.t.rcv_fin = stop;
    if (in.seg.len == 16'd0) begin  // text has been answered (RFC 5681 4.2)
      c.t = owe_ack(c.t, in.tick, 1'b1, 1'b0, 1'b0);
      c.t.quick = 4'(QuickAcks);
      c.dup_ack = 1'b1;
    end
    return c;
  endfunction

  // What came from beyond it is not of the stream.
  function automatic ctx_t fin(input ctx_t in);
    ctx_t c;
    c = in;
    c.t.rcv_nxt = in.t.rcv_fin + 32'd1;
    c.t.fin_in = 1'b1;
    c.t.fin_ahead = 1'b0;
    c.t.gaps = 3'd0;
    c.t.tell_half = !in.t.gone;
    c.t.ack_now = 1'b1;
    unique case (in.t.state)
      StEstablished: c.t.state = StCloseWait;
      StFinWait1: c.t.state = StClosing;
      StFinWait2: c.time_wait = 1'b1;
      default: ;
    endcase
    return c;
  endfunction

  function automatic ctx_t all(input ctx_t in);
    ctx_t c;
    seq_t stop;
    logic takes, in_order;
    logic [31:0] skip;
    takes = in.t.state inside {StEstablished, StFinWait1, StFinWait2};
    c = trim(in);
    skip = c.place_at;
    stop = c.seg.seq + 32'(c.seg.len);
    in_order = c.seg.seq == in.t.rcv_nxt;
    if (!takes) begin
      c.seg.len = 16'd0;  // behind the peer's FIN there is nothing
    end else begin
      if (c.seg.len != 16'd0 && in.t.gone) begin
        // Nobody reads any more: the peer must learn that its bytes are lost (RFC 9293 3.6, as Linux).
        c.end_now = 1'b1;
        c.t.reason = 8'd103;
        c.rst = 1'b1;
        c.rst_seq = in.t.snd_nxt;
        c.rst_ack = 1'b1;
      end else begin
        if (c.seg.len != 16'd0) c = text(c);
        if (c.seg.flags.fin && in_order) begin
          c.t.fin_ahead = 1'b1;
          c.t.rcv_fin = stop;
        end else if (c.seg.flags.fin) c = fin_beyond(c, stop);
        if (c.t.fin_ahead && seq_ge(c.t.rcv_nxt, c.t.rcv_fin)) c = fin(c);
      end
    end
    c.seg.offset = in.seg.offset;
    c.place_at = c.seg.seq - in.t.irs - 32'd1;
    c.skip = 16'(skip);
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && c_i.go_text && !c_i.end_now && !c_i.time_wait) begin
      if (c_i.seg.len != 16'd0 || c_i.seg.flags.fin || c_i.t.fin_ahead ||
          c_i.seg.seq != c_i.t.rcv_nxt)
        c = all(c_i);
    end
  end

  assign c_o = c;

endmodule

`resetall
