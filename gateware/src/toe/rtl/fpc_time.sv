// SPDX-License-Identifier: Apache-2.0
// fpc_time.sv - measures round-trip times (RFC 6298 2, RFC 7323 4) and runs the retransmission timer
// (RFC 6298 5). Its steps share cycles with fpc_sack: neither uses what the other computes.
//
//   Step 0   takes a sample of the round trip; starts or stops the timer
//   Step 1   SRTT, RTTVAR
//   Step 2   RTO without backoff
//   Step 3   ... with it
//   Step 4   the expiry
`resetall
`default_nettype none

module fpc_time
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire pass_t    pass_i,
  input  wire tcb_t     tcb_i,
  input  wire seg_t     seg_i,       // Step 0: the segment
  input  wire logic     timed_i,     // Step 0: it acknowledges our SYN
  input  wire ack_t     ack_i,       // Step 0: what it acknowledges
  input  wire timeout_t timeout_i,   // what fpc_timer has done
  input  wire tick_t    patience_i,  // Step 4: USER_TIMEOUT
  input  wire time_t    time_i,      // what the steps before have found
  output wire tcb_t     tcb_o,
  output wire time_t    time_o
);

  typedef struct packed {
    tcb_t  t;
    time_t found;
  } result_t;

  // The timed segment (Karn), else the echoed timestamp, once a round trip (RFC 7323 appendix G).
  function automatic result_t measure(input result_t in, input pass_t pass, input seg_t g,
                                      input logic [31:0] acked);
    result_t c;
    stamp_t rtt;
    tick_t age;
    c = in;
    rtt = pass.stamp - in.t.rtt_start;
    age = pass.tick - (g.opt.tsecr - in.t.ts_offset);
    if (in.t.timing) begin
      c.found.rtt = rtt;
      if (seq_ge(g.ack, in.t.rtt_seq)) begin
        c.found.sample = 1'b1;
        c.found.sample_min = 1'b1;
        c.t.timing = 1'b0;
      end
    end else begin
      c.found.rtt = age << 10;
      if (acked != 32'd0 && in.t.ts && g.opt.ts_ok && g.opt.tsecr != 32'd0 &&
          seq_gt(g.ack, in.t.rtt_seq) && age < RtoMax) begin
        c.found.sample = 1'b1;
        c.t.rtt_seq = in.t.snd_nxt;
      end
    end
    return c;
  endfunction

  // Stops the timer when all is acknowledged, restarts it for new ACKs (RFC 6298 5.2, 5.3).
  function automatic result_t clock_it(input result_t in, input logic [31:0] acked);
    result_t c;
    c = in;
    if (!in.t.persist) begin
      if (in.t.snd_una == in.t.snd_nxt) c.t.rtx_on = 1'b0;
      else if (acked != 32'd0) begin
        c.t.rtx_on = 1'b1;
        c.found.rtx_renew = 1'b1;
      end
    end
    return c;
  endfunction

  // RFC 6298 2.2, 2.3. Zero means no sample, so that a sample is at least 1, and SRTT too (Step 2).
  function automatic tcb_t sample(input tcb_t in, input stamp_t found, input logic min);
    tcb_t t;
    stamp_t rtt;
    logic signed [31:0] err, sum, rest;
    t = in;
    t.backoff = 4'd0;  // Karn: only a sample ends it
    rtt = (found == 32'd0) ? 32'd1 : found;
    err = signed'(rtt) - signed'(in.srtt >> 3);
    sum = signed'(in.srtt) + err;
    rest = signed'(in.rttvar) - signed'(in.rttvar >> 2);
    t.srtt = unsigned'(sum);
    t.rttvar = unsigned'((err < 0) ? rest - err : rest + err);
    if (in.srtt == 32'd0) begin
      t.srtt = rtt << 3;
      t.rttvar = rtt << 1;
    end
    if (min && (in.min_rtt == 32'd0 || rtt < in.min_rtt)) t.min_rtt = rtt;
    return t;
  endfunction

  // The time of the first timeout without progress, and the next expiry: after the RTO, or earlier where
  // the user timeout ends (RFC 5482).
  function automatic tcb_t timers(input tcb_t in, input tick_t tick, input time_t found,
                                  input timeout_t timeout, input tick_t patience);
    tcb_t t;
    seq_t stop;
    tick_t at;
    t = in;
    at = found.rto_at;
    if (timeout.first) t.stalled_at = tick - found.rto_was;
    stop = patience + (timeout.first ? tick - found.rto_was : in.stalled_at);
    if (found.rtx_renew || timeout.next) t.rtx_at = at;
    if (timeout.next && in.user_timeout != 32'd0 && in.timeouts != 8'd0 && seq_lt(stop, at))
      t.rtx_at = seq_gt(stop, tick) ? stop : tick + 32'd1;
    return t;
  endfunction

  result_t c;

  always_comb begin
    c = '{t: tcb_i, found: time_i};
    unique case (Step)
      0: begin
        if (pass_i.valid && (ack_i.go || timed_i)) c = measure(c, pass_i, seg_i, ack_i.acked);
        if (pass_i.valid && ack_i.go) c = clock_it(c, ack_i.acked);
      end
      1: begin
        if (pass_i.valid && time_i.sample) c.t = sample(tcb_i, time_i.rtt, time_i.sample_min);
      end
      2: begin
        if (time_i.sample && tcb_i.srtt == 32'd0) c.t.srtt = 32'd1;
        c.found.rto_base = rto_base(tcb_i, time_i.sample);
      end
      3: begin
        c.found.rto = rto_backed(time_i.rto_base, tcb_i.backoff);
        c.found.rto_was = rto_backed(time_i.rto_base, timeout_i.backoff_was);
      end
      default: begin
        c.found.rto_at = pass_i.tick + time_i.rto;
        if (pass_i.valid) c.t = timers(tcb_i, pass_i.tick, c.found, timeout_i, patience_i);
      end
    endcase
  end

  assign tcb_o = c.t;
  assign time_o = c.found;

endmodule

`resetall
