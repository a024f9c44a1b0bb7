// SPDX-License-Identifier: Apache-2.0
// fpc_offer.sv - what an ACK would say, if there is one: the window, what came beyond gaps, and whether
// challenge ACKs are counted anew. It takes its steps beside fpc_plan.
//
//   Step 0   may the right edge move on?
//   Step 1   the window in whole units
//   Step 2   rounded, and the right edge that it says
`resetall
`default_nettype none

module fpc_offer
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  // RCV.WND (RFC 9293 3.8.6.2.2): the right edge never goes back, and moves on by half the buffer or a
  // full segment at least.
  function automatic offer_t look(input ctx_t in);
    offer_t o;
    logic [31:0] step;
    o = in.offer;
    o.limit = in.t.rcv_read + receive_size(in.t);
    step = receive_size(in.t) >> 1;
    if (step > 32'(in.t.mss)) step = 32'(in.t.mss);
    o.moves = seq_ge(o.limit, in.t.rcv_adv + step);
    // RFC 5961 7.
    o.anew = in.t.challenges == 3'd0 || in.tick - in.t.challenge_at >= ChallengeTime;
    return o;
  endfunction

  function automatic offer_t measure(input ctx_t in);
    offer_t o;
    logic [31:0] window, old;
    o = in.offer;
    old = in.t.rcv_adv - in.t.rcv_nxt;
    window = o.moves ? o.limit - in.t.rcv_nxt : old;
    o.open_ = o.moves ? seq_gt(o.limit, in.t.rcv_nxt) : seq_gt(in.t.rcv_adv, in.t.rcv_nxt);
    if (!o.open_) window = 32'd0;
    o.lots = window >> in.t.rcv_scale;
    o.low = in.t.rcv_nxt + (window & (32'hffff_ffff << in.t.rcv_scale));
    // That of a SYN is not scaled, and never more than the field holds.
    o.syn = (old > 32'd65535) ? 16'hffff : 16'(old);
    if (!seq_gt(in.t.rcv_adv, in.t.rcv_nxt)) o.syn = 16'd0;
    return o;
  endfunction

  // Rounding down takes back what was offered only when the buffer has not the room to round up
  // (RFC 7323 2.4); what was offered is taken even so.
  function automatic offer_t rounded(input ctx_t in);
    offer_t o;
    seq_t high, most;
    logic up, full;
    o = in.offer;
    high = o.low + (32'd1 << in.t.rcv_scale);
    most = in.t.rcv_nxt + (32'd65535 << in.t.rcv_scale);
    up = o.open_ && seq_lt(o.low, in.t.rcv_adv) && seq_le(high, o.limit);
    full = up ? o.lots >= 32'd65535 : o.lots > 32'd65535;
    o.field = full ? 16'hffff : (up ? 16'(o.lots) + 16'd1 : 16'(o.lots));
    o.next = in.t.rcv_adv;
    if (full) begin
      if (seq_gt(most, in.t.rcv_adv)) o.next = most;
    end else if (up) begin
      if (seq_gt(high, in.t.rcv_adv)) o.next = high;
    end else if (o.lots != 32'd0 && seq_gt(o.low, in.t.rcv_adv)) o.next = o.low;
    return o;
  endfunction

  // DSACK first (RFC 2883 4), then the gaps' other sides, the latest first.
  function automatic offer_t with_sacks(input offer_t in, input tcb_t t);
    offer_t o;
    o = in;
    o.sacks = t.sack ? sack_blocks(t) : 3'd0;
    o.sack = t.dsack_ok ? {t.ooo[SackMax-2:0], t.dsack} : t.ooo;
    for (int i = 0; i < SackMax; i++) if (3'(i) >= o.sacks) o.sack[i] = '0;
    return o;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    unique case (Step)
      0: c.offer = look(c_i);
      1: c.offer = measure(c_i);
      default: c.offer = with_sacks(rounded(c_i), c_i.t);
    endcase
  end

  assign c_o = c;

endmodule

`resetall
