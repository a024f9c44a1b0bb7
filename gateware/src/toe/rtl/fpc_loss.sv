// SPDX-License-Identifier: Apache-2.0
// fpc_loss.sv - what is lost (RFC 6675, RFC 6582), and what fast recovery makes of it.
//
//   Step 0   sums of the board, comparisons
//   Step 1   recovery begins, goes on, ends
`resetall
`default_nettype none

module fpc_loss
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  function automatic ctx_t sums(input ctx_t in);
    ctx_t c;
    logic [SackMax-1:0][31:0] bytes, above;
    logic [31:0] under_way;
    c = in;
    for (int i = 0; i < SackMax; i++)
      bytes[i] = (3'(i) < in.t.sacked) ? in.t.board[i].stop - in.t.board[i].start : 32'd0;
    above[3] = bytes[3];
    above[2] = bytes[3] + bytes[2];
    above[1] = bytes[3] + (bytes[2] + bytes[1]);
    above[0] = above[2] + (bytes[1] + bytes[0]);
    c.sacked_new = above[0];
    c.sacked_more = above[0] > in.sacked_old;
    // RFC 6675 IsLost(): a hole with more than two segments SACKed above it. The board ascends, so
    // all holes below some range are lost, and none above it.
    for (int i = 0; i < SackMax; i++)
      c.much[i] = 3'(i) < in.t.sacked && above[i] > (32'(in.t.mss) << 1);
    c.apart = in.t.board[0].start != in.t.snd_una;
    c.flight = in.t.snd_una != in.t.snd_nxt;
    c.past = seq_ge(in.t.snd_una, in.t.recover);
    // A window grows while it is what limits the sender (RFC 7661).
    under_way = in.t.snd_nxt - in.t.snd_una + in.acked;
    c.limited = (under_way << 1) >= in.t.cc.cwnd;
    return c;
  endfunction

  // Up to the highest range with much above it.
  function automatic seq_t lost_below(input ctx_t in);
    seq_t edge_;
    edge_ = in.t.snd_una;
    for (int i = 0; i < SackMax; i++) if (in.much[i]) edge_ = in.t.board[i].start;
    return edge_;
  endfunction

  function automatic ctx_t recover(input ctx_t in);
    ctx_t c;
    logic enter, news, lost;
    logic [31:0] grows;
    c = in;
    grows = in.limited ? in.acked : 32'd0;
    news = in.t.sack ? in.sacked_more : in.dup;
    if (in.acked != 32'd0) c.t.dupacks = 8'd0;
    if (news && in.t.dupacks != 8'hff) c.t.dupacks = in.t.dupacks + 8'd1;
    lost = in.much[1] || (in.much[0] && in.apart);
    enter = in.flight && ((news && in.t.dupacks >= 8'(DupThresh - 1)) || lost);
    unique case (in.t.recovery)
      RecOpen: begin
        // RFC 6582 3.2: not again for what was outstanding when the last one began.
        if (enter && (in.t.sack || in.past)) begin
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
        if (in.past) begin
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
        if (in.past) begin
          c.t.recovery = RecOpen;
          c.t.dupacks = 8'd0;
        end
      end
    endcase
    return c;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (Step == 0) c = sums(c_i);
    else begin
      if (c_i.valid && c_i.go_ack) c = recover(c_i);
      c.lost_to = lost_below(c_i);
      if (c.t.recovery == RecLoss) c.lost_to = c.t.recover;
    end
  end

  assign c_o = c;

endmodule

`resetall
