// SPDX-License-Identifier: Apache-2.0
// fpc_offer.sv - computes the fields of an ACK, should one be sent: the window and the SACK blocks; also
// whether the count of challenge ACKs restarts. Its steps share cycles with fpc_plan.
//
//   Step 0   whether the right edge may move
//   Step 1   the window in whole units
//   Step 2   rounds it; the right edge that it advertises
`resetall
`default_nettype none

module fpc_offer
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire pass_t        pass_i,
  input  wire tcb_t         tcb_i,
  input  wire offer_sums_t  sums_i,   // what the steps before have found
  input  wire offer_t       offer_i,
  output wire offer_sums_t  sums_o,
  output wire offer_t       offer_o
);

  // RCV.WND (RFC 9293 3.8.6.2.2): the right edge never moves back, and forward by half the buffer or a full
  // segment at least.
  function automatic offer_sums_t look(input tcb_t t);
    offer_sums_t o;
    logic [31:0] step;
    o = '0;
    o.limit = t.rcv_read + receive_size(t);
    step = receive_size(t) >> 1;
    if (step > 32'(t.mss)) step = 32'(t.mss);
    o.moves = seq_ge(o.limit, t.rcv_adv + step);
    return o;
  endfunction

  function automatic offer_sums_t measure(input offer_sums_t in, input tcb_t t);
    offer_sums_t o;
    logic [31:0] window, old;
    o = in;
    old = t.rcv_adv - t.rcv_nxt;
    window = o.moves ? o.limit - t.rcv_nxt : old;
    o.open_ = o.moves ? seq_gt(o.limit, t.rcv_nxt) : seq_gt(t.rcv_adv, t.rcv_nxt);
    if (!o.open_) window = 32'd0;
    o.wnd_units = window >> t.rcv_scale;
    o.low = t.rcv_nxt + (window & (32'hffff_ffff << t.rcv_scale));
    return o;
  endfunction

  // The window of a SYN is not scaled, and never more than the field holds.
  function automatic logic [15:0] syn_window(input tcb_t t);
    logic [31:0] old;
    old = t.rcv_adv - t.rcv_nxt;
    if (!seq_gt(t.rcv_adv, t.rcv_nxt)) return 16'd0;
    return (old > 32'd65535) ? 16'hffff : 16'(old);
  endfunction

  // Rounding down shrinks the advertised window only when the buffer has no room to round up (RFC 7323
  // 2.4); bytes within the earlier window are accepted even then.
  function automatic offer_t rounded(input offer_t in, input offer_sums_t s, input tcb_t t);
    offer_t o;
    seq_t high, most;
    logic up, full;
    o = in;
    high = s.low + (32'd1 << t.rcv_scale);
    most = t.rcv_nxt + (32'd65535 << t.rcv_scale);
    up = s.open_ && seq_lt(s.low, t.rcv_adv) && seq_le(high, s.limit);
    full = up ? s.wnd_units >= 32'd65535 : s.wnd_units > 32'd65535;
    o.field = full ? 16'hffff : (up ? 16'(s.wnd_units) + 16'd1 : 16'(s.wnd_units));
    o.next = t.rcv_adv;
    if (full) begin
      if (seq_gt(most, t.rcv_adv)) o.next = most;
    end else if (up) begin
      if (seq_gt(high, t.rcv_adv)) o.next = high;
    end else if (s.wnd_units != 32'd0 && seq_gt(s.low, t.rcv_adv)) o.next = s.low;
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

  offer_sums_t sums;
  offer_t offer;

  always_comb begin
    sums = sums_i;
    offer = offer_i;
    unique case (Step)
      0: begin
        sums = look(tcb_i);
        // RFC 5961 7.
        offer.new_period = tcb_i.challenges == 3'd0 ||
            pass_i.tick - tcb_i.challenge_at >= ChallengeTime;
      end
      1: begin
        sums = measure(sums_i, tcb_i);
        offer.syn = syn_window(tcb_i);
      end
      default: offer = with_sacks(rounded(offer_i, sums_i, tcb_i), tcb_i);
    endcase
  end

  assign sums_o = sums;
  assign offer_o = offer;

endmodule

`resetall
