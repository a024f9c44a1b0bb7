// SPDX-License-Identifier: Apache-2.0
// fpc_time.sv - round-trip times (RFC 6298 2, RFC 7323 4) and when the retransmission timer runs
// (RFC 6298 5). It takes its time beside fpc_sack, as neither asks for the other.
//
//   Step 0   was a round trip measured? does the timer run?
//   Step 1   SRTT, RTTVAR
//   Step 2   RTO without backoff
//   Step 3   ... with it
//   Step 4   when that is
`resetall
`default_nettype none

module fpc_time
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  // The timed segment (Karn), else the echoed timestamp, once a round trip (RFC 7323 appendix G).
  function automatic ctx_t measure(input ctx_t in);
    ctx_t c;
    stamp_t rtt;
    tick_t age;
    c = in;
    rtt = in.stamp - in.t.rtt_start;
    age = in.tick - (in.seg.opt.tsecr - in.t.ts_offset);
    if (in.t.timing) begin
      c.rtt = rtt;
      if (seq_ge(in.seg.ack, in.t.rtt_seq)) begin
        c.sample = 1'b1;
        c.sample_min = 1'b1;
        c.t.timing = 1'b0;
      end
    end else begin
      c.rtt = age << 10;
      if (in.acked != 32'd0 && in.t.ts && in.seg.opt.ts_ok && in.seg.opt.tsecr != 32'd0 &&
          seq_gt(in.seg.ack, in.t.rtt_seq) && age < RtoMax) begin
        c.sample = 1'b1;
        c.t.rtt_seq = in.t.snd_nxt;
      end
    end
    return c;
  endfunction

  // RFC 6298 5.2, 5.3.
  function automatic ctx_t clock_it(input ctx_t in);
    ctx_t c;
    c = in;
    if (!in.t.persist) begin
      if (in.t.snd_una == in.t.snd_nxt) c.t.rtx_on = 1'b0;
      else if (in.acked != 32'd0) begin
        c.t.rtx_on = 1'b1;
        c.rtx_renew = 1'b1;
      end
    end
    return c;
  endfunction

  // RFC 6298 2.2, 2.3. None is zero, and SRTT neither (Step 2).
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

  // When the first of the timeouts came that nothing ended, and when the next one is: when it is time,
  // or the user's patience ends (RFC 5482).
  function automatic tcb_t timers(input ctx_t in, input tick_t at);
    tcb_t t;
    seq_t stop;
    t = in.t;
    if (in.stall) t.stalled_at = in.tick - in.rto_was;
    stop = in.see.patience + (in.stall ? in.tick - in.rto_was : in.t.stalled_at);
    if (in.rtx_renew || in.rtx_next) t.rtx_at = at;
    if (in.rtx_next && in.t.user_timeout != 32'd0 && in.t.timeouts != 8'd0 && seq_lt(stop, at))
      t.rtx_at = seq_gt(stop, in.tick) ? stop : in.tick + 32'd1;
    return t;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    unique case (Step)
      0: begin
        if (c_i.valid && (c_i.go_ack || c_i.timed)) c = measure(c_i);
        if (c_i.valid && c_i.go_ack) c = clock_it(c);
      end
      1: if (c_i.valid && c_i.sample) c.t = sample(c_i.t, c_i.rtt, c_i.sample_min);
      2: begin
        if (c_i.sample && c_i.t.srtt == 32'd0) c.t.srtt = 32'd1;
        c.rto_base = rto_base(c_i.t, c_i.sample);
      end
      3: begin
        c.rto = rto_backed(c_i.rto_base, c_i.t.backoff);
        c.rto_was = rto_backed(c_i.rto_base, c_i.backoff_was);
      end
      default: begin
        c.rto_at = c_i.tick + c_i.rto;
        if (c_i.valid) c.t = timers(c_i, c.rto_at);
      end
    endcase
  end

  assign c_o = c;

endmodule

`resetall
