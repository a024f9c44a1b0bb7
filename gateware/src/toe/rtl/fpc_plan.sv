// SPDX-License-Identifier: Apache-2.0
// fpc_plan.sv - computes what fpc_send selects from: the bytes in flight, the next hole, how much new data
// may be sent (RFC 6675 3 to 5, RFC 9293 3.8.6.2.1, Nagle, cork).
//
//   Step 0   where the hole is; bytes left to send, bytes that fit into the window
//   Step 1   bytes in flight, lengths of the hole and of the new segment
//   Step 2   which of them may be sent
`resetall
`default_nettype none

module fpc_plan
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire pass_t       pass_i,
  input  wire tcb_t        tcb_i,
  input  wire [31:0]       sacked_bytes_i,  // Step 0: bytes on the board
  input  wire seq_t        lost_to_i,       // Steps 0, 1: what lies below is lost (fpc_loss)
  input  wire plan_sums_t  sums_i,          // what the steps before have found
  input  wire plan_t       plan_i,
  output wire tcb_t        tcb_o,
  output wire plan_sums_t  sums_o,
  output wire plan_t       plan_o
);

  typedef struct packed {
    tcb_t       t;
    plan_sums_t sums;
    plan_t      plan;
  } result_t;

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

  function automatic result_t look(input result_t in, input logic [31:0] sacked_bytes,
                                   input seq_t lost_to);
    result_t c;
    plan_sums_t p;
    seq_t at;
    logic above;
    p = in.sums;
    p.urgent = in.t.rexmit_one && seq_lt(in.t.snd_una, in.t.snd_nxt);

    // The hole starts at the first byte at or above rexmit that is not SACKed. The board ascends, and its
    // ranges do not touch: at most one of them holds the byte at rexmit.
    at = in.t.rexmit_one ? in.t.snd_una : in.t.rexmit;
    c = in;
    c.plan.hole_start = at;
    p.limit = seq_min(in.t.snd_nxt, in.t.snd_end);
    above = 1'b0;
    for (int i = 0; i < SackMax; i++) begin
      if (3'(i) < in.t.sacked) begin
        if (seq_le(in.t.board[i].start, at)) begin
          if (seq_lt(at, in.t.board[i].stop)) c.plan.hole_start = in.t.board[i].stop;
        end else begin
          if (!above) p.limit = in.t.board[i].start;
          above = 1'b1;
        end
      end
    end

    // Bytes in flight.
    p.flight = in.t.snd_nxt - in.t.snd_una - sacked_bytes;
    p.holes = seq_lt(in.t.rexmit, lost_to) ? lost_to - in.t.rexmit : 32'd0;
    for (int i = 0; i < SackMax; i++)
      p.parts[i] = (3'(i) < in.t.sacked) ? bytes_in(in.t.board[i], in.t.rexmit, lost_to) : 32'd0;
    // Without SACK each duplicate ACK means that a segment has left the network (RFC 6582 3.2, RFC 3042).
    p.dups = 32'(24'(in.t.dupacks) * 24'(in.t.mss));

    // New data.
    p.left = seq_lt(in.t.snd_nxt, in.t.snd_end) ? in.t.snd_end - in.t.snd_nxt : 32'd0;
    p.fin_left = in.t.fin && seq_le(in.t.snd_nxt, in.t.snd_end);
    p.room = in.t.snd_una + in.t.snd_wnd - in.t.snd_nxt;
    if (p.room[31]) p.room = 32'd0;
    p.idle = in.t.snd_una == in.t.snd_nxt;
    // Nagle (RFC 9293 3.7.4, in Minshall's form), and whether the host announced more data.
    p.cork = in.t.cork || seq_gt(in.t.snd_end, in.t.snd_psh);
    p.small_ok = in.t.fin ||
        ((in.t.flush || !p.cork) && (in.t.nodelay || seq_le(in.t.snd_sml, in.t.snd_una)));

    p.full = full_of(in.t);
    if (!p.urgent) c.t.rexmit_one = 1'b0;
    c.sums = p;
    return c;
  endfunction

  function automatic result_t measure(input result_t in, input seq_t lost_to);
    result_t c;
    plan_sums_t p;
    logic [31:0] flight, dups, full, hole;
    logic left_full, left_room, room_full;
    c = in;
    p = in.sums;
    full = 32'(p.full);
    flight = (p.flight - p.holes) + ((p.parts[0] + p.parts[1]) + (p.parts[2] + p.parts[3]));
    dups = (in.t.sack || in.t.recovery == RecLoss) ? 32'd0 : p.dups;
    p.pipe = (flight < dups) ? 32'd0 : flight - dups;

    hole = p.limit - in.plan.hole_start;
    c.plan.hole_len = hole[31] ? 32'd0 : ((hole < full) ? hole : full);
    p.hole_to_end = in.t.snd_end - in.plan.hole_start;
    p.hole_to_psh = in.t.snd_psh - in.plan.hole_start;
    p.new_to_psh = in.t.snd_psh - in.t.snd_nxt;
    p.missing = seq_lt(in.plan.hole_start, lost_to) && seq_lt(in.plan.hole_start, in.t.snd_nxt);

    left_full = p.left <= full;
    left_room = p.left <= p.room;
    room_full = p.room <= full;
    if (left_full && left_room) c.plan.width = p.left;
    else c.plan.width = room_full ? p.room : full;
    c.plan.all = left_full && left_room;
    c.plan.whole = full <= p.left && full <= p.room;
    p.some = p.left != 32'd0 && p.room != 32'd0 && full != 32'd0;
    p.no_left = p.left == 32'd0;
    p.no_room = p.room == 32'd0;
    c.plan.new_fin = p.fin_left && c.plan.all && p.left < p.room;
    c.sums = p;
    return c;
  endfunction

  function automatic plan_t decide(input tcb_t t, input plan_sums_t p, input plan_t in);
    plan_t c;
    logic send;
    seq_t hole_stop;
    c = in;
    hole_stop = in.hole_start + c.hole_len;
    // SND.NXT is behind SND.END when the FIN has been sent.
    c.hole_fin = t.fin && c.hole_len == p.hole_to_end && seq_gt(t.snd_nxt, t.snd_end);
    c.hole_end = c.hole_fin ? seq_max(t.rexmit, in.hole_start + c.hole_len + 32'd1)
                            : seq_max(t.rexmit, hole_stop);
    c.hole_psh = c.hole_len != 32'd0 && c.hole_len == p.hole_to_psh;
    c.hole_from = in.hole_start - t.iss - 32'd1;
    c.resend = p.urgent || (p.missing && p.pipe + c.hole_len <= t.cc.cwnd);

    c.new_end = t.snd_nxt + c.width + 32'(c.new_fin);
    c.new_psh = p.some && c.width == p.new_to_psh;
    c.new_from = t.snd_nxt - t.iss - 32'd1;
    send = can_send(t) && (p.some || (p.fin_left && p.no_left && !p.no_room)) &&
        (p.pipe + c.width <= t.cc.cwnd || p.pipe == 32'd0) &&
        (c.whole || (c.all && p.small_ok) || t.small_one ||
         c.width >= (t.max_wnd >> 1));  // RFC 9293 3.8.6.2.1 (3): a small receive buffer
    c.send = send;
    // Data wait for the window when nothing is in flight and they exceed it.
    c.waits_window = can_send(t) && p.idle && !send &&
        (p.no_left ? p.fin_left && p.no_room : !c.all);
    // While something is in flight an ACK will arrive; the cork timer starts then, as in Linux.
    c.waits_more = can_send(t) && p.idle && !p.no_left && c.all && !c.whole && !p.small_ok &&
        p.cork;
    return c;
  endfunction

  result_t c;

  always_comb begin
    c = '{t: tcb_i, sums: sums_i, plan: plan_i};
    if (pass_i.valid && synchronized(tcb_i)) begin
      unique case (Step)
        0: c = look(c, sacked_bytes_i, lost_to_i);
        1: c = measure(c, lost_to_i);
        default: c.plan = decide(tcb_i, sums_i, plan_i);
      endcase
    end
  end

  assign tcb_o = c.t;
  assign sums_o = c.sums;
  assign plan_o = c.plan;

endmodule

`resetall
