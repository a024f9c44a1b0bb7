// SPDX-License-Identifier: Apache-2.0
// fpc_loss.sv - round-trip times (RFC 6298), what is lost (RFC 6675, RFC 6582), and when the
// retransmission timer runs.
`resetall
`default_nettype none

module fpc_loss
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  // RFC 6298 2.2, 2.3.
  function automatic tcb_t sample(input tcb_t in, input stamp_t rtt);
    tcb_t t;
    logic signed [31:0] err, mag;
    t = in;
    t.backoff = 4'd0;  // Karn: only a sample ends it
    if (in.srtt == 32'd0) begin
      t.srtt = rtt << 3;
      t.rttvar = rtt << 1;
    end else begin
      err = signed'(rtt) - signed'(in.srtt >> 3);
      mag = (err < 0) ? -err : err;
      t.srtt = unsigned'(signed'(in.srtt) + err);
      t.rttvar = unsigned'(signed'(in.rttvar) + (mag - signed'(in.rttvar >> 2)));
      if (t.srtt == 32'd0) t.srtt = 32'd1;
    end
    return t;
  endfunction

  // The timed segment (Karn), else the echoed timestamp, once a round trip (RFC 7323 appendix G).
  function automatic tcb_t time_it(input ctx_t in);
    tcb_t t;
    stamp_t rtt;
    tick_t age;
    t = in.t;
    rtt = in.stamp - in.t.rtt_start;
    age = in.tick - (in.seg.opt.tsecr - in.t.ts_offset);
    if (in.t.timing) begin
      if (seq_ge(in.seg.ack, in.t.rtt_seq)) begin
        if (rtt == 32'd0) rtt = 32'd1;
        t = sample(in.t, rtt);
        t.timing = 1'b0;
        if (in.t.min_rtt == 32'd0 || rtt < in.t.min_rtt) t.min_rtt = rtt;
      end
    end else if (in.acked != 32'd0 && in.t.ts && in.seg.opt.ts_ok && in.seg.opt.tsecr != 32'd0 &&
                 seq_gt(in.seg.ack, in.t.rtt_seq) && age < RtoMax) begin
      t = sample(in.t, (age == 32'd0) ? 32'd1 : age << 10);
      t.rtt_seq = in.t.snd_nxt;
    end
    return t;
  endfunction

  // RFC 6675 IsLost(): a hole with more than two segments SACKed above it. The board ascends, so
  // all holes below some range are lost, and none above it.
  function automatic seq_t lost_below(input tcb_t t);
    seq_t edge_;
    logic [31:0] above;
    edge_ = t.snd_una;
    above = 32'd0;
    for (int i = SackMax - 1; i >= 0; i--) begin
      if (3'(i) < t.sacked) begin
        above += t.board[i].stop - t.board[i].start;
        if (edge_ == t.snd_una && above > (32'(t.mss) << 1)) edge_ = t.board[i].start;
      end
    end
    return edge_;
  endfunction

  function automatic ctx_t recover(input ctx_t in);
    ctx_t c;
    logic enter, past, news;
    seq_t lost;
    logic [31:0] past_, grows;
    c = in;
    // A window grows while it is what limits the sender (RFC 7661).
    past_ = in.t.snd_nxt - in.t.snd_una + in.acked;
    grows = ((past_ << 1) >= in.t.cc.cwnd) ? in.acked : 32'd0;
    c.sacked_new = bytes_of(in.t.sacked, in.t.board);
    lost = lost_below(in.t);
    c.lost_to = lost;
    news = in.t.sack ? (c.sacked_new > in.sacked_old) : in.dup;
    if (in.acked != 32'd0) c.t.dupacks = 8'd0;
    if (news && in.t.dupacks != 8'hff) c.t.dupacks = in.t.dupacks + 8'd1;
    past = seq_ge(in.t.snd_una, in.t.recover);
    enter = in.t.snd_una != in.t.snd_nxt &&
            ((news && in.t.dupacks >= 8'(DupThresh - 1)) || lost != in.t.snd_una);
    unique case (in.t.recovery)
      RecOpen: begin
        // RFC 6582 3.2: not again for what was outstanding when the last one began.
        if (enter && (in.t.sack || past)) begin
          c.t.recovery = RecFast;
          c.t.recover = in.t.snd_nxt;
          c.t.rexmit = in.t.snd_una;
          c.t.rexmit_one = 1'b1;
          c.t.timing = 1'b0;
          c.cc.lost = 1'b1;
          c.counts.fast_recovery = 1'b1;
        end else c.cc.acked = grows;
      end
      RecFast: begin
        if (past) begin
          c.t.recovery = RecOpen;
          c.t.dupacks = 8'd0;
          c.cc.whole = !in.t.sack;
        end else if (in.acked != 32'd0 && !in.t.sack) begin
          c.t.rexmit = in.t.snd_una;  // a partial ACK (RFC 6582 3.2, step 3)
          c.t.rexmit_one = 1'b1;
        end
      end
      default: begin
        c.cc.acked = grows;  // slow start after the timeout
        if (past) begin
          c.t.recovery = RecOpen;
          c.t.dupacks = 8'd0;
        end
      end
    endcase
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
        c.t.rtx_at = in.tick + rto(in.t);
      end
    end
    return c;
  endfunction

  ctx_t timed, recovered, c;

  always_comb begin
    timed = c_i;
    timed.t = time_it(c_i);
    recovered = recover(timed);
    c = c_i;
    if (c_i.valid && c_i.go_ack) c = clock_it(recovered);
    else if (c_i.valid) begin
      if (c_i.timed) c.t = timed.t;
      c.lost_to = lost_below(c_i.t);
      c.sacked_new = bytes_of(c_i.t.sacked, c_i.t.board);
    end
    if (c.t.recovery == RecLoss) c.lost_to = c.t.recover;
  end

  assign c_o = c;

endmodule

`resetall
