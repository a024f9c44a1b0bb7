// SPDX-License-Identifier: Apache-2.0
// cc_random.sv - fpc_cc against the window of RFC 9438, RFC 5681 and core/src/cc/cc_cubic.c,
// with random events: some flows, at most one event a cycle, as the pipeline delivers them
// (bytes in flight are known three cycles earlier). A stand-in for fpc_cubic takes any time and
// answers anything: an answer counts unless the window was reduced in between.
`timescale 1ns / 1ns
`default_nettype none

module cc_random;
  import toe_pkg::*;
  import fpc_pkg::*;
  import fpc_cubic_pkg::*;
  localparam int unsigned Flows = 6;
  localparam int unsigned Cycles = 400_000;
  localparam int unsigned Stages = 3;
  localparam longint unsigned EpochMax = (1 << 27) - 1;

  int unsigned seed = 1;
  bit clk = 1'b0;
  // A pass, as far as fpc_cc sees it.
  typedef struct packed {
    logic        valid;
    kind_e       kind;
    flow_t       flow;
    stamp_t      stamp;
    tcb_t        t;
    logic [31:0] acked;                   // bytes by which SND.UNA moves
    cc_event_t   cc;
  } seen_pass_t;
  seen_pass_t pipe[Stages+1];             // [0] is early_i, the last is the pass at fpc_cc
  cc_early_t early;
  pass_t pass;
  cc_t cc_o;
  bit ask_ready;
  logic ask_valid;
  cubic_ask_t ask;
  cubic_t answer;

  always_comb begin
    early = '{cc: pipe[0].t.cc, mss: pipe[0].t.mss, snd_una: pipe[0].t.snd_una,
              snd_nxt: pipe[0].t.snd_nxt, acked: pipe[0].acked, stamp: pipe[0].stamp};
    pass = '0;
    pass.valid = pipe[Stages].valid;
    pass.kind = pipe[Stages].kind;
    pass.flow = pipe[Stages].flow;
    pass.stamp = pipe[Stages].stamp;
  end

  fpc_cc dut (.clk_i(clk), .early_i(early), .pass_i(pass), .event_i(pipe[Stages].cc),
              .cc_i(pipe[Stages].t.cc), .srtt_i(pipe[Stages].t.srtt), .mss_i(pipe[Stages].t.mss),
              .cc_o(cc_o), .ask_valid_o(ask_valid), .ask_ready_i(ask_ready), .ask_o(ask),
              .state_i(answer));

  cc_t cc[Flows];
  stamp_t now;
  int unsigned losses, timeouts, converged, grows, starts, crossed, asks, refused, answers, stale;
  int unsigned idles, renos, clamps, wholes;

  function automatic bit one_in(input int unsigned n);
    return $urandom_range(n - 1) == 0;
  endfunction

  // ---- what is right ----

  task automatic reduce(input seen_pass_t x, inout cc_t m);
    longint unsigned flight = 64'(stamp_t'(x.t.snd_nxt - x.t.snd_una)), was = 64'(m.cwnd);
    longint unsigned least = 2 * 64'(x.t.mss), cut;
    if (flight > was) flight = was;
    cut = (m.algorithm == 4'd1) ? flight / 2 : flight * 7 / 10;
    if (was < 64'(m.w_max)) converged++;
    m.w_max = (was < 64'(m.w_max)) ? 32'(was * 17 / 20) : 32'(was);
    m.cwnd_prior = 32'(was);
    m.ssthresh = 32'((cut > least) ? cut : least);
    m.cwnd = x.cc.timeout ? 32'(x.t.mss) : m.ssthresh;
    m.after_rto = x.cc.timeout;
    m.epoch_set = 1'b0;
    m.asked = 1'b0;
    m.acked = 32'd0;
    losses++;
    timeouts += 32'(x.cc.timeout);
  endtask

  task automatic grow(input seen_pass_t x, inout cc_t m);
    longint unsigned n = 64'(x.cc.acked), room;
    if (m.cwnd < m.ssthresh) begin
      if (n > 8 * 64'(x.t.mss)) n = 8 * 64'(x.t.mss);
      room = 64'(m.ssthresh - m.cwnd);
      starts++;
      if (n >= room) begin
        crossed++;
        m.acked = 32'(n - room);
        m.cwnd = m.ssthresh;
      end else m.cwnd += 32'(n);
    end else begin
      m.acked += 32'(n);
      if (m.algorithm == 4'd1) begin
        renos++;
        if (m.acked >= m.cwnd) begin
          m.acked -= m.cwnd;
          m.cwnd += 32'(x.t.mss);
        end
      end
    end
    if (m.cwnd > CwndMax) m.cwnd = CwndMax;
    grows++;
  endtask

  task automatic model(input seen_pass_t x, inout cc_t m, output bit asks_for);
    stamp_t since = x.stamp - m.seen_at;
    bit nothing = x.t.snd_una == x.t.snd_nxt && x.acked == 32'd0;
    asks_for = 1'b0;
    // RFC 9438 4.2: what was not used does not count.
    if (nothing || (x.acked != 32'd0 && x.cc.acked == 32'd0)) m.epoch += since;
    if (nothing || x.acked != 32'd0) m.seen_at = x.stamp;
    idles += 32'(nothing);
    if (64'(stamp_t'(x.stamp - m.epoch)) > EpochMax) begin
      m.epoch = x.stamp - stamp_t'(EpochMax);
      clamps++;
    end
    if (x.kind == EvWindow) begin
      if (m.asked) begin
        if (!m.epoch_set) m.epoch = answer.epoch;
        m.cwnd = answer.cwnd;
        m.asked = 1'b0;
        m.epoch_set = 1'b1;
        m.after_rto = 1'b0;
        m.w_max = answer.w_max;
        m.cwnd_prior = answer.cwnd_prior;
        m.k = answer.k;
        m.w_est = answer.w_est;
        m.credit = answer.credit;
        m.est_credit = answer.est_credit;
        answers++;
      end else stale++;
    end else if (x.cc.timeout || x.cc.lost) reduce(x, m);
    else if (x.cc.whole) begin
      longint unsigned w = 64'(stamp_t'(x.t.snd_nxt - x.t.snd_una));
      if (w < 64'(x.t.mss)) w = 64'(x.t.mss);
      w += 64'(x.t.mss);
      m.cwnd = (w < 64'(m.ssthresh)) ? 32'(w) : m.ssthresh;
      wholes++;
    end else if (x.cc.acked != 32'd0) grow(x, m);
    asks_for = x.kind == EvSegment && m.algorithm != 4'd1 && !m.asked && x.cc.acked != 32'd0 &&
               m.acked != 32'd0 && m.cwnd >= m.ssthresh && m.cwnd < CwndMax;
  endtask

  // ---- the stand-in for fpc_cubic ----

  bit busy, done;
  int unsigned of, left;

  task automatic asked_now(input seen_pass_t x, input cc_t m);
    cubic_ask_t want;
    want = '{s: '{epoch_set: m.epoch_set, after_rto: m.after_rto, cwnd: m.cwnd, w_max: m.w_max,
                  cwnd_prior: m.cwnd_prior, epoch: m.epoch, k: m.k, w_est: m.w_est,
                  credit: m.credit, est_credit: m.est_credit},
             acked: m.acked, stamp: x.stamp, srtt: x.t.srtt, mss: x.t.mss};
    if (ask != want) $fatal(1, "seed %0d: flow %0d asks %p, not %p", seed, x.flow, ask, want);
    busy = 1'b1;
    of = 32'(x.flow);
    left = $urandom_range(40);
    answer = '{epoch_set: 1'b1, after_rto: 1'b0, cwnd: m.cwnd + $urandom_range(3000),
               w_max: $urandom >> 3, cwnd_prior: $urandom >> 3,
               epoch: x.stamp - $urandom_range(1 << 20), k: $urandom >> 6, w_est: $urandom >> 3,
               credit: $urandom, est_credit: $urandom};
    asks++;
  endtask

  // ---- what comes ----

  function automatic bit under_way(input int unsigned f);
    for (int i = 0; i <= int'(Stages); i++)
      if (pipe[i].valid && 32'(pipe[i].flow) == f) return 1'b1;
    return 1'b0;
  endfunction

  function automatic seen_pass_t next_event();
    seen_pass_t x;
    int unsigned f = $urandom_range(Flows - 1), what = $urandom_range(39), flight;
    x = '0;
    x.valid = !under_way(f) && !one_in(4);
    x.flow = flow_t'(f);
    x.kind = EvSegment;
    x.stamp = now;
    x.t.cc = cc[f];
    x.t.mss = 16'($urandom_range(1460, 64));
    x.t.srtt = $urandom_range(1 << 20);
    x.t.snd_una = $urandom;
    // About the window, on either side of it; or nothing.
    flight = $urandom_range(2 * (cc[f].cwnd >> 1) + 3000);
    x.t.snd_nxt = x.t.snd_una + (one_in(6) ? 32'd0 : flight);
    x.acked = one_in(3) ? 32'd0 : $urandom_range(20_000, 1);
    x.cc.acked = one_in(5) ? 32'd0 : x.acked;
    unique case (what)
      0, 1: begin x.cc.lost = 1'b1; x.cc.acked = 32'd0; end
      2: begin x.cc.timeout = 1'b1; x.kind = EvTimer; x.acked = 32'd0; x.cc.acked = 32'd0; end
      3: begin x.cc.whole = 1'b1; x.cc.acked = 32'd0; end
      4, 5, 6: begin x.kind = EvSend; x.acked = 32'd0; x.cc.acked = 32'd0; end
      default: ;
    endcase
    if (busy && left == 0 && !done && !under_way(of)) begin
      x = '0;
      x.valid = 1'b1;
      x.flow = flow_t'(of);
      x.kind = EvWindow;
      x.stamp = now;
      x.t.cc = cc[of];
      x.t.mss = 16'd1000;
      x.t.snd_nxt = one_in(4) ? 32'd0 : 32'd1000;
      done = 1'b1;
    end
    return x;
  endfunction

  task automatic begin_flow(input int unsigned f);
    cc[f] = '0;
    cc[f].cwnd = one_in(8) ? CwndMax - 32'd3000 : $urandom_range(100_000, 2000);
    cc[f].ssthresh = one_in(2) ? CwndMax : cc[f].cwnd + $urandom_range(30_000);
    cc[f].algorithm = one_in(3) ? 4'd1 : 4'd0;
    cc[f].seen_at = now;
  endtask

  task automatic one_cycle();
    seen_pass_t last = pipe[Stages];
    cc_t want;
    bit wants;
    ask_ready = !busy && !one_in(5);
    #1;
    if (last.valid) begin
      want = cc[32'(last.flow)];
      model(last, want, wants);
      if (ask_valid != wants) $fatal(1, "seed %0d: asks %0d, not %0d", seed, ask_valid, wants);
      refused += 32'(wants && !ask_ready);
      if (wants && ask_ready) begin
        asked_now(last, want);
        want.asked = 1'b1;
        want.acked = 32'd0;
      end
      if (cc_o != want)
        $fatal(1, "seed %0d: flow %0d, event %0d of %p: %p, not %p", seed, last.flow, last.kind,
               last.cc, cc_o, want);
      cc[32'(last.flow)] = want;
      if (last.kind == EvWindow) begin
        busy = 1'b0;
        done = 1'b0;
      end
    end else if (ask_valid) $fatal(1, "seed %0d: asks without an event", seed);
    clk = 1'b1;
    #1 clk = 1'b0;
    // After the edge, as registers change.
    now += one_in(1000) ? 32'd1 << 26 : $urandom_range(3000);
    for (int i = int'(Stages); i > 0; i--) pipe[i] = pipe[i-1];
    if (busy && left != 0) left--;
    pipe[0] = next_event();
    if (one_in(2000)) begin
      int unsigned f = $urandom_range(Flows - 1);
      if (!under_way(f) && !(busy && of == f)) begin_flow(f);
    end
  endtask

  initial begin
    void'($value$plusargs("seed=%d", seed));
    void'($urandom(seed));
    for (int i = 0; i <= int'(Stages); i++) pipe[i] = '0;
    for (int f = 0; f < int'(Flows); f++) begin_flow(f);
    repeat (Cycles) one_cycle();
    $display("seed %0d: %0d grow, %0d in slow start, %0d to its end, %0d NewReno", seed, grows,
             starts, crossed, renos);
    $display("%0d losses, %0d timeouts, %0d converge, %0d whole, %0d idle, %0d clocks at their end",
             losses, timeouts, converged, wholes, idles, clamps);
    $display("%0d asks, %0d not now, %0d answers, %0d stale", asks, refused, answers, stale);
    if (crossed == 0 || renos == 0 || timeouts == 0 || converged == 0 || wholes == 0 ||
        refused == 0 || answers == 0 || stale == 0 || idles == 0 || clamps == 0)
      $fatal(1, "seed %0d: not all of it was seen", seed);
    $finish;
  end

endmodule

`default_nettype wire
