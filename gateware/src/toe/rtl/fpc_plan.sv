// SPDX-License-Identifier: Apache-2.0
// fpc_plan.sv - what fpc_send chooses from: how much is under way, the next hole, how much of the new
// data may go (RFC 6675 3 to 5, RFC 9293 3.8.6.2.1, Nagle, cork).
`resetall
`default_nettype none

module fpc_plan
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  // Bytes of the board within [from, to).
  function automatic logic [31:0] sacked_in(input tcb_t t, input seq_t from, input seq_t to);
    logic [31:0] sum;
    seq_t a, b;
    sum = 32'd0;
    for (int i = 0; i < SackMax; i++) begin
      a = seq_max(t.board[i].start, from);
      b = seq_min(t.board[i].stop, to);
      if (3'(i) < t.sacked && seq_lt(a, b)) sum += b - a;
    end
    return sum;
  endfunction

  function automatic logic [31:0] under_way(input ctx_t c);
    logic [31:0] flight, holes, dups;
    seq_t p;
    flight = c.t.snd_nxt - c.t.snd_una;
    p = c.t.rexmit;
    holes = seq_lt(p, c.lost_to) ? (c.lost_to - p) - sacked_in(c.t, p, c.lost_to) : 32'd0;
    // Without SACK each duplicate says that a segment has left the network (RFC 6582 3.2, RFC 3042).
    dups = (c.t.sack || c.t.recovery == RecLoss) ? 32'd0 : 32'(c.t.dupacks) * 32'(c.t.mss);
    flight = flight - c.sacked_new - holes;
    return (flight < dups) ? 32'd0 : flight - dups;
  endfunction

  function automatic logic [15:0] full_of(input tcb_t t);
    logic [2:0] n;
    n = t.sack ? sack_blocks(t) : 3'd0;
    return (n == 3'd0) ? t.mss : t.mss - 16'd4 - {10'd0, n, 3'd0};
  endfunction

  function automatic ctx_t plan(input ctx_t in);
    ctx_t c;
    seq_t p, stop;
    logic [31:0] pipe, left, room, width_;
    logic [15:0] full;
    logic small_ok, all_of_it, fin_left, urgent_one;
    c = in;
    full = full_of(in.t);
    c.full = full;
    pipe = under_way(in);

    // The hole: from the first byte at or above rexmit that is on no board.
    p = in.t.rexmit_one ? in.t.snd_una : in.t.rexmit;
    for (int i = 0; i < SackMax; i++)
      if (3'(i) < in.t.sacked && seq_le(in.t.board[i].start, p) && seq_lt(p, in.t.board[i].stop))
        p = in.t.board[i].stop;
    stop = p + 32'(full);
    for (int i = SackMax - 1; i >= 0; i--)
      if (3'(i) < in.t.sacked && seq_gt(in.t.board[i].start, p) &&
          seq_lt(in.t.board[i].start, stop))
        stop = in.t.board[i].start;
    stop = seq_min(seq_min(stop, in.t.snd_nxt), in.t.snd_end);
    urgent_one = in.t.rexmit_one && seq_lt(in.t.snd_una, in.t.snd_nxt);
    c.hole_start = p;
    c.hole_stop = seq_max(stop, p);
    c.resend = urgent_one ||
        (seq_lt(p, in.lost_to) && seq_lt(p, in.t.snd_nxt) &&
         pipe + (c.hole_stop - p) <= in.t.cc.cwnd);
    if (!urgent_one) c.t.rexmit_one = 1'b0;

    // New data.
    left = seq_lt(in.t.snd_nxt, in.t.snd_end) ? in.t.snd_end - in.t.snd_nxt : 32'd0;
    fin_left = in.t.fin && seq_le(in.t.snd_nxt, in.t.snd_end);
    room = in.t.snd_una + in.t.snd_wnd - in.t.snd_nxt;
    if (room[31]) room = 32'd0;
    width_ = (left < 32'(full)) ? left : 32'(full);
    if (width_ > room) width_ = room;
    all_of_it = width_ == left;
    // Nagle (RFC 9293 3.7.4, in Minshall's form) and what the writer said of more to come.
    small_ok = in.t.flush || in.t.fin ||
        (!in.t.cork && seq_le(in.t.snd_end, in.t.snd_psh) &&
         (in.t.nodelay || seq_le(in.t.snd_sml, in.t.snd_una)));
    c.new_len = 16'(width_);
    c.fin_fits = room > width_;
    c.send = can_send(in.t) && (width_ != 32'd0 || (fin_left && left == 32'd0 && room != 32'd0)) &&
        (pipe + width_ <= in.t.cc.cwnd || (pipe == 32'd0)) &&
        (width_ == 32'(full) || (all_of_it && small_ok) || in.t.small_one ||
         width_ >= (in.t.max_wnd >> 1));  // RFC 9293 3.8.6.2.1 (3): the peer's buffer is small
    // It waits for the window when nothing is under way, and what is ready is more than it.
    c.waits_window = can_send(in.t) && in.t.snd_una == in.t.snd_nxt && !c.send &&
        ((left != 32'd0) ? !all_of_it : (fin_left && room == 32'd0));
    // As long as something is under way an ACK will come; the time runs from then on, as in Linux.
    c.waits_more = can_send(in.t) && in.t.snd_una == in.t.snd_nxt && left != 32'd0 && all_of_it &&
        width_ < 32'(full) && !small_ok && (in.t.cork || seq_gt(in.t.snd_end, in.t.snd_psh));
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && synchronized(c_i.t)) c = plan(c_i);
  end

  assign c_o = c;

endmodule

`resetall
