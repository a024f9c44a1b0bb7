// SPDX-License-Identifier: Apache-2.0
// fpc_cc.sv - congestion control: the window after what has happened. The one module to replace for
// another algorithm.
//
//   c_i.cc    what happened (cc_event_t), with the TCB after loss recovery has seen it
//   c_o.t.cc  the flow's state (cc_t) after it, in the same cycle; nothing else changes
//   early_i   the same flow three cycles before, when what is under way is known: for products
//   ask_*     to arithmetic that takes longer than a cycle; state_i is its answer, when EvWindow comes.
//             A flow that cannot ask now keeps count of what was acknowledged and asks at a later ACK.
//
// CUBIC (RFC 9438), as core/src/cc_cubic.c, or NewReno (RFC 5681, RFC 6582), as OPTION CC has it. A window
// grows only while it is what limits the sender (RFC 2861, RFC 7661 in its simple form: c_i.cc.acked
// is 0 otherwise).
`resetall
`default_nettype none

module fpc_cc
  import toe_pkg::*;
  import fpc_pkg::*;
  import fpc_cubic_pkg::*;
(
  input  wire             clk_i,
  input  wire ctx_t       early_i,
  input  wire ctx_t       c_i,
  output wire ctx_t       c_o,
  output wire             ask_valid_o,
  input  wire             ask_ready_i,
  output wire cubic_ask_t ask_o,
  input  wire cubic_t     state_i
);

  localparam logic [3:0] NewReno = 4'd1;               // OPTION CC
  localparam stamp_t EpochMax = (32'd1 << 27) - 32'd1; // a longer one gains nothing
  // x * 7 / 10 and x * 17 / 20 for x < 2^30: times 2^34, and one more.
  localparam logic [33:0] Beta = 34'd12025908429;
  localparam logic [33:0] Converge = 34'd14602888807;

  // ---- what a loss would make of the window: RFC 9438 4.6, 4.7 ----

  logic [31:0] under_way, base_q, cwnd_q;
  logic [65:0] cut_q, cut_q2, converge_q, converge_q2;
  assign under_way = early_i.t.snd_nxt - early_i.t.snd_una;
  always_ff @(posedge clk_i) begin
    base_q <= (under_way < early_i.t.cc.cwnd) ? under_way : early_i.t.cc.cwnd;
    cwnd_q <= early_i.t.cc.cwnd;
    cut_q <= base_q * Beta;
    converge_q <= cwnd_q * Converge;
    cut_q2 <= cut_q;
    converge_q2 <= converge_q;
  end
  wire [31:0] cut = cut_q2[65:34];
  wire [31:0] converged = converge_q2[65:34];

  function automatic cc_t reduced(input ctx_t in, input logic [31:0] cut, input logic [31:0] less);
    cc_t s;
    logic [31:0] mss, flight, half, least;
    s = in.t.cc;
    mss = 32'(in.t.mss);
    least = mss << 1;
    flight = in.t.snd_nxt - in.t.snd_una;
    // RFC 5681 (4): half of what is under way, two segments at least; what limited transmit has sent
    // beyond the window does not count.
    half = ((flight < s.cwnd) ? flight : s.cwnd) >> 1;
    if (s.algorithm != NewReno) half = cut;
    s.ssthresh = (half < least) ? least : half;
    s.w_max = (s.cwnd < s.w_max) ? less : s.cwnd;  // fast convergence (RFC 9438 4.7)
    s.cwnd_prior = s.cwnd;
    s.epoch_set = 1'b0;
    s.asked = 1'b0;
    s.after_rto = in.cc.timeout;
    s.cwnd = in.cc.timeout ? mss : s.ssthresh;
    s.acked = 32'd0;
    return s;
  endfunction

  function automatic cc_t grown(input ctx_t in);
    cc_t s;
    logic [31:0] mss, n, room;
    s = in.t.cc;
    mss = 32'(in.t.mss);
    if (s.cwnd < s.ssthresh) begin
      // Appropriate byte counting, L = 8 (RFC 3465, RFC 9406 4.2), as core/.
      n = (in.cc.acked > (mss << 3)) ? (mss << 3) : in.cc.acked;
      room = s.ssthresh - s.cwnd;
      if (room > n) s.cwnd = s.cwnd + n;
      else begin
        s.cwnd = s.ssthresh;
        s.acked = n - room;
      end
    end else begin
      s.acked = s.acked + in.cc.acked;
      if (s.algorithm == NewReno && s.acked >= s.cwnd) begin
        s.acked = s.acked - s.cwnd;
        s.cwnd = s.cwnd + mss;
      end
    end
    if (s.cwnd > CwndMax) s.cwnd = CwndMax;
    return s;
  endfunction

  // What fpc_cubic has found, unless a loss has come in between.
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

  // The clock of an epoch does not run while the window is not used (RFC 9438 4.2, 5.8).
  function automatic cc_t clocked(input ctx_t in);
    cc_t s;
    stamp_t since;
    logic idle;
    s = in.t.cc;
    since = in.stamp - s.seen_at;
    idle = in.t.snd_una == in.t.snd_nxt && in.acked == 32'd0;
    if (idle || (in.acked != 32'd0 && in.cc.acked == 32'd0)) s.epoch = s.epoch + since;
    if (idle || in.acked != 32'd0) s.seen_at = in.stamp;
    if (in.stamp - s.epoch > EpochMax) s.epoch = in.stamp - EpochMax;
    return s;
  endfunction

  function automatic cc_t after(input ctx_t in, input logic [31:0] cut, input logic [31:0] less,
                                input cubic_t got);
    ctx_t x;
    cc_t s;
    logic [31:0] mss, flight;
    x = in;
    x.t.cc = clocked(in);
    s = x.t.cc;
    mss = 32'(in.t.mss);
    flight = in.t.snd_nxt - in.t.snd_una;
    if (in.kind == EvWindow) s = answered(s, got);
    else if (in.cc.timeout || in.cc.lost) s = reduced(x, cut, less);
    else if (in.cc.whole) begin
      // RFC 6582 3.2 step 3 (1): no burst of ssthresh when nothing is under way.
      s.cwnd = ((flight > mss) ? flight : mss) + mss;
      if (s.cwnd > s.ssthresh) s.cwnd = s.ssthresh;
    end else if (in.cc.acked != 32'd0) s = grown(x);
    return s;
  endfunction

  ctx_t c;
  cc_t s;
  logic asks;

  always_comb begin
    s = after(c_i, cut, converged, state_i);
    asks = c_i.valid && c_i.kind == EvSegment && s.algorithm != NewReno && !s.asked &&
        c_i.cc.acked != 32'd0 && s.acked != 32'd0 && s.cwnd >= s.ssthresh && s.cwnd < CwndMax;
    c = c_i;
    if (c_i.valid) c.t.cc = s;
    if (asks && ask_ready_i) begin
      c.t.cc.asked = 1'b1;
      c.t.cc.acked = 32'd0;
    end
  end

  assign c_o = c;
  assign ask_valid_o = asks;
  assign ask_o = '{
    s: '{epoch_set: s.epoch_set, after_rto: s.after_rto, cwnd: s.cwnd, w_max: s.w_max,
         cwnd_prior: s.cwnd_prior, epoch: s.epoch, k: s.k, w_est: s.w_est, credit: s.credit,
         est_credit: s.est_credit},
    acked: s.acked, stamp: c_i.stamp, srtt: c_i.t.srtt, mss: c_i.t.mss
  };

endmodule

`resetall
