// SPDX-License-Identifier: Apache-2.0
// fpc_text.sv - text and FIN of a segment (RFC 9293 3.10.7.4, seventh and eighth). Text is placed where
// it belongs in the stream, also beyond a gap; only ranges are remembered. It takes its steps beside
// fpc_sack, as neither asks for the other.
//
//   Step 0   what was received before is cut off
//   Step 1   what lies beyond the window is cut off
//   Step 2   text into the list of what came beyond a gap
//   Step 3   RCV.NXT, what is acknowledged when
//   Step 4   FIN
`resetall
`default_nettype none

module fpc_text
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  function automatic ctx_t trim_old(input ctx_t in);
    ctx_t c;
    logic [31:0] skip;
    seq_t stop;
    logic whole;
    c = in;
    c.takes = in.t.state inside {StEstablished, StFinWait1, StFinWait2};
    stop = in.seg.seq + 32'(in.seg.len);
    skip = in.t.rcv_nxt - in.seg.seq;
    whole = skip > 32'(in.seg.len);  // wholly old, the FIN too
    if (seq_lt(in.seg.seq, in.t.rcv_nxt)) begin
      if (in.t.sack && in.seg.len != 16'd0 && had_before(in.t, in.seg.seq)) begin
        c.t.dsack_ok = 1'b1;
        c.t.dsack.start = in.seg.seq;
        c.t.dsack.stop = seq_min(stop, in.t.rcv_nxt);
      end
      c.seg.seq = whole ? stop : in.t.rcv_nxt;
      c.seg.len = whole ? 16'd0 : in.seg.len - 16'(skip);
      c.skip = whole ? in.seg.len : 16'(skip);
      if (whole) c.seg.flags.fin = 1'b0;
      c.t.ack_now = 1'b1;
    end
    return c;
  endfunction

  function automatic ctx_t trim_beyond(input ctx_t in);
    ctx_t c;
    logic [31:0] room;
    seq_t edge_, stop;
    logic below_;
    c = in;
    edge_ = seq_max(in.t.rcv_adv, in.t.rcv_nxt);
    stop = in.seg.seq + 32'(in.seg.len);
    below_ = seq_lt(in.seg.seq, edge_);
    room = edge_ - in.seg.seq;
    c.text_stop = stop;
    if (in.seg.len != 16'd0 && seq_gt(stop, edge_)) begin
      c.seg.len = below_ ? 16'(room) : 16'd0;
      c.text_stop = below_ ? edge_ : in.seg.seq;
      c.seg.flags.fin = 1'b0;
      c.t.ack_now = 1'b1;
    end
    c.in_order = in.seg.seq == in.t.rcv_nxt;
    c.place_at = in.seg.seq - in.t.irs - 32'd1;
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

  function automatic ctx_t collect(input ctx_t in);
    ctx_t c;
    range_t x;
    c = in;
    if (!in.takes) c.seg.len = 16'd0;  // behind the peer's FIN there is nothing
    else if (in.seg.len != 16'd0 && in.t.gone) begin
      // Nobody reads any more: the peer must learn that its bytes are lost (RFC 9293 3.6, as Linux).
      c.takes = 1'b0;
      c.end_now = 1'b1;
      c.t.reason = 8'd103;
      c.rst = 1'b1;
      c.rst_seq = in.t.snd_nxt;
      c.rst_ack = 1'b1;
    end else if (in.seg.len != 16'd0) begin
      c.place = 1'b1;
      x = '{start: in.seg.seq, stop: in.text_stop};
      c.list = put_first(in.t.gaps, in.t.ooo, x);
      // What is there beyond the gap and comes again (RFC 2883 4.1).
      for (int i = 0; i < SackMax; i++) begin
        if (in.t.sack && 3'(i) < in.t.gaps && seq_lt(x.start, in.t.ooo[i].stop) &&
            seq_lt(in.t.ooo[i].start, x.stop)) begin
          c.t.dsack_ok = 1'b1;
          c.t.dsack.start = seq_max(x.start, in.t.ooo[i].start);
          c.t.dsack.stop = seq_min(x.stop, in.t.ooo[i].stop);
        end
      end
    end
    return c;
  endfunction

  function automatic ctx_t advance(input ctx_t in);
    ctx_t c;
    list_t left;
    seq_t stop;
    c = in;
    stop = in.list.r[0].stop;
    if (in.in_order) begin
      left = cut_below(in.t.gaps, in.t.ooo, stop);
      c.t.rcv_nxt = stop;
      c.t.gaps = left.n;
      c.t.ooo = left.r;
      if (stop - in.t.irs < in.t.rcv_nxt - in.t.irs) c.t.rx_wraps = in.t.rx_wraps + 32'd1;
      c.t = owe_ack(c.t, in.tick, in.t.gaps != 3'd0 || in.t.fin_ahead, in.seg.flags.psh,
                    in.seg.len > in.t.mss);
    end else begin
      c.t.gaps = in.list.n;
      c.t.ooo = in.list.r;
      c.counts.gap_dropped = in.list.full;
      c.t = owe_ack(c.t, in.tick, 1'b1, 1'b0, 1'b0);
      c.t.quick = 4'(QuickAcks);
      c.dup_ack = 1'b1;
    end
    return c;
  endfunction

  // Of two ends of one stream the first claim stands.
  function automatic ctx_t fin(input ctx_t in);
    ctx_t c;
    logic reached;
    c = in;
    reached = in.t.fin_ahead && seq_ge(in.t.rcv_nxt, in.t.rcv_fin);
    if (in.seg.flags.fin && in.in_order) begin
      c.t.rcv_fin = in.text_stop;
      reached = seq_ge(in.t.rcv_nxt, in.text_stop);
      c.t.fin_ahead = 1'b1;
    end else if (in.seg.flags.fin) begin  // beyond a gap
      if (!in.t.fin_ahead) begin
        c.t.rcv_fin = in.text_stop;
        reached = seq_ge(in.t.rcv_nxt, in.text_stop);
      end
      c.t.fin_ahead = 1'b1;
      if (in.seg.len == 16'd0) begin  // text has been answered (RFC 5681 4.2)
        c.t = owe_ack(c.t, in.tick, 1'b1, 1'b0, 1'b0);
        c.t.quick = 4'(QuickAcks);
        c.dup_ack = 1'b1;
      end
    end
    if (reached) begin
      c.t.rcv_nxt = c.t.rcv_fin + 32'd1;
      c.t.fin_in = 1'b1;
      c.t.fin_ahead = 1'b0;
      c.t.gaps = 3'd0;  // what came from beyond it is not of the stream
      c.t.tell_half = !in.t.gone;
      c.t.ack_now = 1'b1;
      unique case (in.t.state)
        StEstablished: c.t.state = StCloseWait;
        StFinWait1: c.t.state = StClosing;
        StFinWait2: c.time_wait = 1'b1;
        default: ;
      endcase
    end
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    unique case (Step)
      0: begin
        c.texts = c_i.valid && c_i.go_text && !c_i.end_now && !c_i.time_wait &&
            (c_i.seg.len != 16'd0 || c_i.seg.flags.fin || c_i.t.fin_ahead ||
             c_i.seg.seq != c_i.t.rcv_nxt);
        if (c.texts) begin
          c = trim_old(c_i);
          c.texts = 1'b1;
        end
      end
      1: if (c_i.texts) c = trim_beyond(c_i);
      2: if (c_i.texts) c = collect(c_i);
      3: if (c_i.texts && c_i.place) c = advance(c_i);
      default: if (c_i.texts && c_i.takes) c = fin(c_i);
    endcase
  end

  assign c_o = c;

endmodule

`resetall
