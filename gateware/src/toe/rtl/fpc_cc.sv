// SPDX-License-Identifier: Apache-2.0
// fpc_cc.sv - congestion control: computes the window after an event. The one module to replace for another
// algorithm.
//
//   event_i   what happened (cc_event_t), after loss recovery has seen it
//   cc_o      the flow's state (cc_t) after it, in the same cycle
//   early_i   the same flow three cycles earlier, when the outstanding and the acknowledged bytes are known:
//             the possible windows are computed from it, and event_i selects one. event_i.acked is
//             early_i.acked, or 0
//   ask_*     to arithmetic that takes longer than a cycle; state_i is its answer, when EvWindow comes.
//             A flow that cannot ask now counts the acknowledged bytes and asks at a later ACK.
//
// CUBIC (RFC 9438), as core/src/cc/cc_cubic.c, or NewReno (RFC 5681, RFC 6582), as OPTION CC selects. A window
// grows only while it limits the sender (RFC 2861, RFC 7661 in its simple form: event_i.acked is 0
// otherwise).
`resetall
`default_nettype none

module fpc_cc
  import toe_pkg::*;
  import fpc_pkg::*;
  import fpc_cubic_pkg::*;
(
  input  wire              clk_i,
  input  wire cc_early_t   early_i,      // the flow three cycles earlier
  input  wire pass_t       pass_i,
  input  wire cc_event_t   event_i,      // what happened
  input  wire cc_t         cc_i,         // the flow's state
  input  wire logic [31:0] srtt_i,       // TCB.srtt, for fpc_cubic
  input  wire logic [15:0] mss_i,        // TCB.mss, for fpc_cubic
  output wire cc_t         cc_o,         // the flow's state after it
  output wire              ask_valid_o,  // to fpc_cubic
  input  wire              ask_ready_i,
  output wire cubic_ask_t  ask_o,
  input  wire cubic_t      state_i       // its answer, when EvWindow comes
);

  localparam logic [3:0] NewReno = 4'd1;               // OPTION CC
  localparam stamp_t EpochMax = (32'd1 << 27) - 32'd1; // a longer one gains nothing
  // x * 7 / 10 and x * 17 / 20 for x < 2^30: times 2^34, and one more.
  localparam logic [33:0] Beta = 34'd12025908429;
  localparam logic [33:0] Converge = 34'd14602888807;

  // ---- the possible windows, stage by stage ----

  typedef struct packed {
    logic [31:0] cwnd, ssthresh, w_max;
    logic [15:0] mss;
    logic        reno;
    logic        free;      // CUBIC may be asked
    logic        idle;      // nothing is outstanding, nothing was acknowledged
    logic        acks;
    logic        slow;      // slow start
    logic        fits;      // ... and it continues
    logic [31:0] flight;
    logic [31:0] base;      // a loss reduces the window to a share of this
    logic [31:0] n;         // bytes that count in slow start
    logic [31:0] room;      // ... until its end
    logic [31:0] sum;       // bytes that count in congestion avoidance
    logic        step;      // ... are a window
    stamp_t      stamp;
    stamp_t      since;     // the last ACK
    stamp_t      epoch;     // as it is,
    stamp_t      epoch_on;  // ... and if the clock was stopped since the last ACK
    logic [31:0] grown;     // cwnd after an ACK
    logic [31:0] acked;
    logic        asks;
    logic [31:0] whole;     // ... when recovery without SACK ends
    logic        falls;     // it is smaller than before the last loss
  } may_t;

  may_t may0, may1, may2, may0_q, may1_q, may2_q;
  logic [65:0] cut_q, cut_q2, converge_q, converge_q2;

  always_comb begin
    cc_t s;
    logic [31:0] eight;
    s = early_i.cc;
    eight = 32'({early_i.mss, 3'd0});
    may0 = '0;
    may0.cwnd = s.cwnd;
    may0.ssthresh = s.ssthresh;
    may0.w_max = s.w_max;
    may0.mss = early_i.mss;
    may0.reno = s.algorithm == NewReno;
    may0.free = s.algorithm != NewReno && !s.asked;
    may0.acks = early_i.acked != 32'd0;
    may0.idle = early_i.snd_una == early_i.snd_nxt && early_i.acked == 32'd0;
    may0.slow = s.cwnd < s.ssthresh;
    may0.flight = early_i.snd_nxt - early_i.snd_una;
    // Segments that limited transmit sent beyond the window do not count (RFC 5681 (4)).
    may0.base = (may0.flight < s.cwnd) ? may0.flight : s.cwnd;
    // Appropriate byte counting, L = 8 (RFC 3465, RFC 9406 4.2), as core/.
    may0.n = (early_i.acked > eight) ? eight : early_i.acked;
    may0.room = s.ssthresh - s.cwnd;
    may0.sum = s.acked + early_i.acked;
    may0.acked = s.acked;
    may0.stamp = early_i.stamp;
    may0.since = early_i.stamp - s.seen_at;
    may0.epoch = s.epoch;
  end

  always_comb begin
    may1 = may0_q;
    may1.fits = may0_q.room > may0_q.n;
    if (may0_q.slow) begin
      may1.grown = may0_q.cwnd + may0_q.n;
      may1.sum = may0_q.n - may0_q.room;
    end else begin
      may1.grown = may0_q.cwnd + 32'(may0_q.mss);
      may1.step = may0_q.sum >= may0_q.cwnd;
      may1.room = may0_q.sum - may0_q.cwnd;
    end
    may1.whole = ((may0_q.flight > 32'(may0_q.mss)) ? may0_q.flight : 32'(may0_q.mss)) +
        32'(may0_q.mss);
    may1.epoch_on = may0_q.epoch + may0_q.since;
    may1.falls = may0_q.cwnd < may0_q.w_max;
  end

  function automatic stamp_t bounded(input stamp_t epoch, input stamp_t now);
    return (now - epoch > EpochMax) ? now - EpochMax : epoch;
  endfunction

  always_comb begin
    may2 = may1_q;
    if (may1_q.slow) begin
      if (!may1_q.fits) begin
        may2.grown = may1_q.ssthresh;
        may2.acked = may1_q.sum;
      end
    end else begin
      may2.acked = may1_q.sum;
      if (may1_q.reno && may1_q.step) may2.acked = may1_q.room;
      else may2.grown = may1_q.cwnd;
    end
    may2.asks = may1_q.free && !(may1_q.slow && may1_q.fits) && may2.acked != 32'd0 &&
        may2.grown < CwndMax;
    if (may2.grown > CwndMax) may2.grown = CwndMax;
    if (may1_q.whole > may1_q.ssthresh) may2.whole = may1_q.ssthresh;
    may2.epoch = bounded(may1_q.epoch, may1_q.stamp);
    may2.epoch_on = bounded(may1_q.epoch_on, may1_q.stamp);
  end

  always_ff @(posedge clk_i) begin
    may0_q <= may0;
    may1_q <= may1;
    may2_q <= may2;
    cut_q <= may0_q.base * Beta;
    converge_q <= may0_q.cwnd * Converge;
    cut_q2 <= cut_q;
    converge_q2 <= converge_q;
  end
  wire [31:0] cut = cut_q2[65:34];
  wire [31:0] converged = converge_q2[65:34];

  // ---- the window after the event ----

  // Reduces the window after a loss (RFC 5681 (4), RFC 9438 4.6, 4.7).
  function automatic cc_t reduced(input cc_t was, input may_t may, input logic timeout,
                                  input logic [31:0] cut, input logic [31:0] less);
    cc_t s;
    logic [31:0] least, share;
    s = was;
    least = 32'({may.mss, 1'b0});  // two segments
    share = may.reno ? may.base >> 1 : cut;
    s.ssthresh = (share < least) ? least : share;
    s.w_max = may.falls ? less : s.cwnd;  // fast convergence (RFC 9438 4.7)
    s.cwnd_prior = s.cwnd;
    s.epoch_set = 1'b0;
    s.asked = 1'b0;
    s.after_rto = timeout;
    s.cwnd = timeout ? 32'(may.mss) : s.ssthresh;
    s.acked = 32'd0;
    return s;
  endfunction

  // Applies the answer of fpc_cubic, unless a loss has reduced the window in between.
  function automatic cc_t answered(input cc_t was, input cubic_t got);
    cc_t s;
    s = was;
    if (s.asked) begin
      if (!s.epoch_set) s.epoch = got.epoch;
      s.epoch_set = 1'b1;
      s.after_rto = 1'b0;
      s.cwnd = got.cwnd;
      s.w_max = got.w_max;
      s.cwnd_prior = got.cwnd_prior;
      s.k = got.k;
      s.w_est = got.w_est;
      s.credit = got.credit;
      s.est_credit = got.est_credit;
      s.asked = 1'b0;
    end
    return s;
  endfunction

  function automatic cc_t after(input cc_t was, input cc_event_t ev, input pass_t pass,
                                input may_t may, input logic [31:0] cut,
                                input logic [31:0] less, input cubic_t got);
    cc_t s;
    logic used;
    s = was;
    used = ev.acked != 32'd0;
    // The clock of an epoch does not run while the window is not used (RFC 9438 4.2, 5.8).
    s.epoch = (may.idle || (may.acks && !used)) ? may.epoch_on : may.epoch;
    if (may.idle || may.acks) s.seen_at = pass.stamp;
    if (pass.kind == EvWindow) s = answered(s, got);
    else if (ev.timeout || ev.lost) s = reduced(s, may, ev.timeout, cut, less);
    else if (ev.whole) s.cwnd = may.whole;  // RFC 6582 3.2 step 3 (1): no burst of ssthresh
    else if (used) begin
      s.cwnd = may.grown;
      s.acked = may.acked;
    end
    return s;
  endfunction

  cc_t s, next;
  logic asks;

  always_comb begin
    s = after(cc_i, event_i, pass_i, may2_q, cut, converged, state_i);
    asks = pass_i.valid && pass_i.kind == EvSegment && may2_q.asks && event_i.acked != 32'd0 &&
        !event_i.lost && !event_i.whole;
    next = pass_i.valid ? s : cc_i;
    if (asks && ask_ready_i) begin
      next.asked = 1'b1;
      next.acked = 32'd0;
    end
  end

  assign cc_o = next;
  assign ask_valid_o = asks;
  assign ask_o = '{
    s: '{epoch_set: s.epoch_set, after_rto: s.after_rto, cwnd: s.cwnd, w_max: s.w_max,
         cwnd_prior: s.cwnd_prior, epoch: s.epoch, k: s.k, w_est: s.w_est, credit: s.credit,
         est_credit: s.est_credit},
    acked: s.acked, stamp: pass_i.stamp, srtt: srtt_i, mss: mss_i
  };

endmodule

`resetall
