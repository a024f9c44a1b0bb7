// SPDX-License-Identifier: Apache-2.0
// fpc_plan.sv - what fpc_send chooses from: how much is under way, the next hole, how much of the new
// data may go (RFC 6675 3 to 5, RFC 9293 3.8.6.2.1, Nagle, cork).
//
//   Step 0   where the hole is; what there is to be sent, what the window has room for
//   Step 1   how much is under way, how long hole and new segment are
//   Step 2   which of them may go
`resetall
`default_nettype none

module fpc_plan
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  function automatic logic [15:0] full_of(input tcb_t t);
    logic [2:0] n;
    n = t.sack ? sack_blocks(t) : 3'd0;
    return (n == 3'd0) ? t.mss : t.mss - 16'd4 - {10'd0, n, 3'd0};
  endfunction

  // Bytes of a range within [from, to).
  function automatic logic [31:0] bytes_in(input range_t r, input seq_t from, input seq_t to);
    seq_t a, b;
    a = seq_max(r.start, from);
    b = seq_min(r.stop, to);
    return seq_lt(a, b) ? b - a : 32'd0;
  endfunction

  function automatic ctx_t look(input ctx_t in);
    ctx_t c;
    plan_t p;
    seq_t at;
    logic above;
    p = in.plan;
    p.urgent = in.t.rexmit_one && seq_lt(in.t.snd_una, in.t.snd_nxt);

    // The hole: from the first byte at or above rexmit that is on no board. The board ascends, and its
    // ranges do not touch: one of them at most has that byte.
    at = in.t.rexmit_one ? in.t.snd_una : in.t.rexmit;
    c = in;
    c.hole_start = at;
    p.limit = seq_min(in.t.snd_nxt, in.t.snd_end);
    above = 1'b0;
    for (int i = 0; i < SackMax; i++) begin
      if (3'(i) < in.t.sacked) begin
        if (seq_le(in.t.board[i].start, at)) begin
          if (seq_lt(at, in.t.board[i].stop)) c.hole_start = in.t.board[i].stop;
        end else begin
          if (!above) p.limit = in.t.board[i].start;
          above = 1'b1;
        end
      end
    end

    // What is under way.
    p.flight = in.t.snd_nxt - in.t.snd_una - in.sacked_new;
    p.holes = seq_lt(in.t.rexmit, in.lost_to) ? in.lost_to - in.t.rexmit : 32'd0;
    for (int i = 0; i < SackMax; i++)
      p.parts[i] = (3'(i) < in.t.sacked) ? bytes_in(in.t.board[i], in.t.rexmit, in.lost_to) : 32'd0;
    // Without SACK each duplicate says that a segment has left the network (RFC 6582 3.2, RFC 3042).
    p.dups = 32'(24'(in.t.dupacks) * 24'(in.t.mss));

    // New data.
    p.left = seq_lt(in.t.snd_nxt, in.t.snd_end) ? in.t.snd_end - in.t.snd_nxt : 32'd0;
    p.fin_left = in.t.fin && seq_le(in.t.snd_nxt, in.t.snd_end);
    p.room = in.t.snd_una + in.t.snd_wnd - in.t.snd_nxt;
    if (p.room[31]) p.room = 32'd0;
    p.idle = in.t.snd_una == in.t.snd_nxt;
    // Nagle (RFC 9293 3.7.4, in Minshall's form) and what the writer said of more to come.
    p.cork = in.t.cork || seq_gt(in.t.snd_end, in.t.snd_psh);
    p.small_ok = in.t.flush || in.t.fin ||
        (!p.cork && (in.t.nodelay || seq_le(in.t.snd_sml, in.t.snd_una)));

    c.full = full_of(in.t);
    if (!p.urgent) c.t.rexmit_one = 1'b0;
    c.plan = p;
    return c;
  endfunction

  function automatic plan_t measure(input ctx_t in);
    plan_t p;
    logic [31:0] flight, dups, full, hole;
    logic left_full, left_room, room_full;
    p = in.plan;
    full = 32'(in.full);
    flight = (p.flight - p.holes) + ((p.parts[0] + p.parts[1]) + (p.parts[2] + p.parts[3]));
    dups = (in.t.sack || in.t.recovery == RecLoss) ? 32'd0 : p.dups;
    p.pipe = (flight < dups) ? 32'd0 : flight - dups;

    hole = p.limit - in.hole_start;
    p.hole_len = hole[31] ? 32'd0 : ((hole < full) ? hole : full);
    p.hole_to_end = in.t.snd_end - in.hole_start;
    p.hole_to_psh = in.t.snd_psh - in.hole_start;
    p.new_to_psh = in.t.snd_psh - in.t.snd_nxt;
    p.missing = seq_lt(in.hole_start, in.lost_to) && seq_lt(in.hole_start, in.t.snd_nxt);

    left_full = p.left <= full;
    left_room = p.left <= p.room;
    room_full = p.room <= full;
    if (left_full && left_room) p.width = p.left;
    else p.width = room_full ? p.room : full;
    p.all = left_full && left_room;
    p.whole = full <= p.left && full <= p.room;
    p.some = p.left != 32'd0 && p.room != 32'd0 && full != 32'd0;
    p.no_left = p.left == 32'd0;
    p.no_room = p.room == 32'd0;
    p.new_fin = p.fin_left && p.all && p.left < p.room;
    return p;
  endfunction

  function automatic ctx_t plan(input ctx_t in);
    ctx_t c;
    plan_t p;
    logic send;
    seq_t hole_stop;
    c = in;
    p = in.plan;
    hole_stop = in.hole_start + p.hole_len;
    // SND.NXT is behind SND.END when the FIN has been sent.
    p.hole_fin = in.t.fin && p.hole_len == p.hole_to_end && seq_gt(in.t.snd_nxt, in.t.snd_end);
    p.hole_end = p.hole_fin ? seq_max(in.t.rexmit, in.hole_start + p.hole_len + 32'd1)
                            : seq_max(in.t.rexmit, hole_stop);
    p.hole_psh = p.hole_len != 32'd0 && p.hole_len == p.hole_to_psh;
    p.hole_from = in.hole_start - in.t.iss - 32'd1;
    c.resend = p.urgent || (p.missing && p.pipe + p.hole_len <= in.t.cc.cwnd);

    p.new_end = in.t.snd_nxt + p.width + 32'(p.new_fin);
    p.new_psh = p.some && p.width == p.new_to_psh;
    p.new_from = in.t.snd_nxt - in.t.iss - 32'd1;
    send = can_send(in.t) && (p.some || (p.fin_left && p.no_left && !p.no_room)) &&
        (p.pipe + p.width <= in.t.cc.cwnd || p.pipe == 32'd0) &&
        (p.whole || (p.all && p.small_ok) || in.t.small_one ||
         p.width >= (in.t.max_wnd >> 1));  // RFC 9293 3.8.6.2.1 (3): the peer's buffer is small
    c.send = send;
    // It waits for the window when nothing is under way, and what is ready is more than it.
    c.waits_window = can_send(in.t) && p.idle && !send &&
        (p.no_left ? p.fin_left && p.no_room : !p.all);
    // As long as something is under way an ACK will come; the time runs from then on, as in Linux.
    c.waits_more = can_send(in.t) && p.idle && !p.no_left && p.all && !p.whole && !p.small_ok &&
        p.cork;
    c.plan = p;
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && synchronized(c_i.t)) begin
      unique case (Step)
        0: c = look(c_i);
        1: c.plan = measure(c_i);
        default: c = plan(c_i);
      endcase
    end
  end

  assign c_o = c;

endmodule

`resetall
