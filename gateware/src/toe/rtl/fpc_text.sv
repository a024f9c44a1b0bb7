// SPDX-License-Identifier: Apache-2.0
// fpc_text.sv - processes text and FIN of a segment (RFC 9293 3.10.7.4, seventh and eighth). Text is placed
// where it belongs in the stream, also beyond a gap; only ranges are stored. Its steps share cycles with
// fpc_sack: neither uses what the other computes.
//
//   Step 0   cuts off bytes received before
//   Step 1   cuts off bytes beyond the window
//   Step 2   adds the text to the list of ranges beyond a gap
//   Step 3   advances RCV.NXT, decides when to acknowledge
//   Step 4   FIN
`resetall
`default_nettype none

module fpc_text
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire pass_t       pass_i,
  input  wire tcb_t        tcb_i,
  input  wire seg_t        seg_i,     // Step 0: the segment
  input  wire logic        go_i,      // Step 0: its text counts (fpc_check)
  input  wire action_t     action_i,
  input  wire text_t       text_i,    // what the steps before have made of it
  input  wire tick_t       rto_i,     // Step 3: the RTO without backoff
  output wire tcb_t        tcb_o,
  output wire text_t       text_o,
  output wire action_t     action_o,
  output wire fpc_counts_t counts_o
);

  typedef struct packed {
    tcb_t        t;
    text_t       text;
    action_t     action;
    fpc_counts_t counts;
  } result_t;

  function automatic result_t trim_old(input result_t in);
    result_t c;
    logic [31:0] skip;
    seq_t stop;
    logic whole;
    c = in;
    c.text.takes = in.t.state inside {StEstablished, StFinWait1, StFinWait2};
    stop = in.text.seq + 32'(in.text.len);
    skip = in.t.rcv_nxt - in.text.seq;
    whole = skip > 32'(in.text.len);  // wholly old, the FIN too
    if (seq_lt(in.text.seq, in.t.rcv_nxt)) begin
      if (in.t.sack && in.text.len != 16'd0 && had_before(in.t, in.text.seq)) begin
        c.t.dsack_ok = 1'b1;
        c.t.dsack.start = in.text.seq;
        c.t.dsack.stop = seq_min(stop, in.t.rcv_nxt);
      end
      c.text.seq = whole ? stop : in.t.rcv_nxt;
      c.text.len = whole ? 16'd0 : in.text.len - 16'(skip);
      c.text.skip = whole ? in.text.len : 16'(skip);
      if (whole) c.text.fin = 1'b0;
      c.t.ack_now = 1'b1;
    end
    return c;
  endfunction

  function automatic result_t trim_beyond(input result_t in);
    result_t c;
    logic [31:0] room;
    seq_t edge_, stop;
    logic below_;
    c = in;
    edge_ = seq_max(in.t.rcv_adv, in.t.rcv_nxt);
    stop = in.text.seq + 32'(in.text.len);
    below_ = seq_lt(in.text.seq, edge_);
    room = edge_ - in.text.seq;
    c.text.stop = stop;
    if (in.text.len != 16'd0 && seq_gt(stop, edge_)) begin
      c.text.len = below_ ? 16'(room) : 16'd0;
      c.text.stop = below_ ? edge_ : in.text.seq;
      c.text.fin = 1'b0;
      c.t.ack_now = 1'b1;
    end
    c.text.in_order = in.text.seq == in.t.rcv_nxt;
    c.text.to = in.text.seq - in.t.irs - 32'd1;
    return c;
  endfunction

  // Decides when to acknowledge (RFC 9293 3.8.6.3, RFC 5681 4.2): at once for a segment that opens or
  // closes a gap, else every second segment. As on Linux, the first segments, and those after a pause, are
  // acknowledged at once, unless data answers data: a sender in slow start needs every ACK, and one with
  // Nagle holds its second small write until the first is acknowledged.
  function automatic tcb_t owe_ack(input tcb_t in, input tick_t tick, input tick_t rto,
                                   input logic at_once, input logic pushed, input logic long_);
    tcb_t t;
    logic [4:0] quick;
    t = in;
    if (at_once || in.ack_now || in.ack_later) t.ack_now = 1'b1;
    else begin
      quick = (32'(idle_ticks(in, tick)) > rto) ? 5'(QuickAcks) : in.quick;
      t.quick = (quick == 5'd0) ? 5'd0 : quick - 5'd1;
      t.delack_at = tick + Delack;
      // A segment longer than our own full segment counts as two.
      t.ack_now = (quick != 5'd0 && !in.pingpong) || long_;
      t.ack_later = !t.ack_now;
      t.pushed = t.ack_later && pushed;
    end
    return t;
  endfunction

  function automatic result_t collect(input result_t in);
    result_t c;
    range_t x;
    c = in;
    if (!in.text.takes) c.text.len = 16'd0;  // the stream ends with the peer's FIN
    else if (in.text.len != 16'd0 && in.t.gone) begin
      // The host reads no more: a RST reports to the peer that its bytes are lost (RFC 9293 3.6, as Linux).
      c.text.takes = 1'b0;
      c.action.end_now = 1'b1;
      c.t.reason = 8'd103;
      c.action.rst = 1'b1;
      c.action.rst_seq = in.t.snd_nxt;
      c.action.rst_ack = 1'b1;
    end else if (in.text.len != 16'd0) begin
      c.text.place = 1'b1;
      x = '{start: in.text.seq, stop: in.text.stop};
      c.text.list = put_first(in.t.gaps, in.t.ooo, x);
      // Bytes beyond the gap that arrive a second time (RFC 2883 4.1).
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

  function automatic result_t advance(input result_t in, input tick_t tick, input tick_t rto);
    result_t c;
    list_t left;
    seq_t stop;
    c = in;
    stop = in.text.list.r[0].stop;
    if (in.text.in_order) begin
      left = cut_below(in.t.gaps, in.t.ooo, stop);
      c.t.rcv_nxt = stop;
      c.t.gaps = left.n;
      c.t.ooo = left.r;
      if (stop - in.t.irs < in.t.rcv_nxt - in.t.irs) c.t.rx_wraps = in.t.rx_wraps + 32'd1;
      c.t = owe_ack(c.t, tick, rto, in.t.gaps != 3'd0 || in.t.fin_ahead, in.text.psh,
                    in.text.len > in.t.mss);
    end else begin
      c.t.gaps = in.text.list.n;
      c.t.ooo = in.text.list.r;
      c.counts.gap_dropped = in.text.list.full;
      c.t.ack_now = 1'b1;
      c.t.quick = 5'(QuickAcks);
      c.action.dup_ack = 1'b1;
    end
    return c;
  endfunction

  // If the peer sends FINs at different positions, the first one counts.
  function automatic result_t fin(input result_t in);
    result_t c;
    logic reached;
    c = in;
    reached = in.t.fin_ahead && seq_ge(in.t.rcv_nxt, in.t.rcv_fin);
    if (in.text.fin && in.text.in_order) begin
      c.t.rcv_fin = in.text.stop;
      reached = seq_ge(in.t.rcv_nxt, in.text.stop);
      c.t.fin_ahead = 1'b1;
    end else if (in.text.fin) begin  // beyond a gap
      if (!in.t.fin_ahead) begin
        c.t.rcv_fin = in.text.stop;
        reached = seq_ge(in.t.rcv_nxt, in.text.stop);
      end
      c.t.fin_ahead = 1'b1;
      if (in.text.len == 16'd0) begin  // text has already caused an ACK (RFC 5681 4.2)
        c.t.ack_now = 1'b1;
        c.t.quick = 5'(QuickAcks);
        c.action.dup_ack = 1'b1;
      end
    end
    if (reached) begin
      c.t.rcv_nxt = c.t.rcv_fin + 32'd1;
      c.t.fin_in = 1'b1;
      c.t.fin_ahead = 1'b0;
      c.t.gaps = 3'd0;  // ranges beyond the FIN are not part of the stream
      c.t.tell_half = !in.t.gone;
      c.t.ack_now = 1'b1;
      unique case (in.t.state)
        StEstablished: c.t.state = StCloseWait;
        StFinWait1: c.t.state = StClosing;
        StFinWait2: c.action.time_wait = 1'b1;
        default: ;
      endcase
    end
    return c;
  endfunction

  result_t c;

  always_comb begin
    c = '{t: tcb_i, text: text_i, action: action_i, counts: '0};
    unique case (Step)
      0: begin
        c.text.seq = seg_i.seq;
        c.text.len = seg_i.len;
        c.text.fin = seg_i.flags.fin;
        c.text.psh = seg_i.flags.psh;
        c.text.buffer = seg_i.buffer;
        c.text.offset = seg_i.offset;
        c.text.texts = pass_i.valid && go_i && !action_i.end_now && !action_i.time_wait &&
            (seg_i.len != 16'd0 || seg_i.flags.fin || tcb_i.fin_ahead ||
             seg_i.seq != tcb_i.rcv_nxt);
        if (c.text.texts) c = trim_old(c);
      end
      1: if (text_i.texts) c = trim_beyond(c);
      2: if (text_i.texts) c = collect(c);
      3: if (text_i.texts && text_i.place) c = advance(c, pass_i.tick, rto_i);
      default: if (text_i.texts && text_i.takes) c = fin(c);
    endcase
  end

  assign tcb_o = c.t;
  assign text_o = c.text;
  assign action_o = c.action;
  assign counts_o = c.counts;

endmodule

`resetall
