// SPDX-License-Identifier: Apache-2.0
// fpc_loss.sv - detects losses (RFC 6675, RFC 6582) and runs fast recovery.
//
//   Step 0   sums of the board, comparisons
//   Step 1   recovery begins, continues, ends
`resetall
`default_nettype none

module fpc_loss
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned Step = 0
) (
  input  wire pass_t       pass_i,
  input  wire tcb_t        tcb_i,
  input  wire ack_t        ack_i,         // what the segment acknowledges
  input  wire [31:0]       sacked_was_i,  // Step 0: bytes on the board before this ACK
  input  wire loss_t       loss_i,        // Step 1: what Step 0 has found
  output wire tcb_t        tcb_o,
  output wire loss_t       loss_o,
  output wire fpc_counts_t counts_o
);

  typedef struct packed {
    tcb_t        t;
    cc_event_t   cc;
    fpc_counts_t counts;
  } result_t;

  function automatic loss_t sums(input tcb_t t, input logic [31:0] acked,
                                 input logic [31:0] was);
    loss_t l;
    logic [SackMax-1:0][31:0] bytes, above;
    logic [31:0] under_way;
    l = '0;
    for (int i = 0; i < SackMax; i++)
      bytes[i] = (3'(i) < t.sacked) ? t.board[i].stop - t.board[i].start : 32'd0;
    above[3] = bytes[3];
    above[2] = bytes[3] + bytes[2];
    above[1] = bytes[3] + (bytes[2] + bytes[1]);
    above[0] = above[2] + (bytes[1] + bytes[0]);
    l.sacked_bytes = above[0];
    l.sacked_more = above[0] > was;
    // RFC 6675 IsLost(): a hole with more than two segments SACKed above it. The board ascends, so
    // all holes below some range are lost, and none above it.
    for (int i = 0; i < SackMax; i++)
      l.sacked_over_2mss[i] = 3'(i) < t.sacked && above[i] > (32'(t.mss) << 1);
    l.first_gap = t.board[0].start != t.snd_una;
    l.in_flight = t.snd_una != t.snd_nxt;
    l.past = seq_ge(t.snd_una, t.recover);
    // A window grows only while it limits the sender (RFC 7661).
    under_way = t.snd_nxt - t.snd_una + acked;
    l.limited = (under_way << 1) >= t.cc.cwnd;
    return l;
  endfunction

  // Returns the end of the lost bytes: the start of the highest range that holds, together with those above
  // it, more than two segments.
  function automatic seq_t lost_below(input tcb_t t, input each_t sacked_over_2mss);
    seq_t edge_;
    edge_ = t.snd_una;
    for (int i = 0; i < SackMax; i++) if (sacked_over_2mss[i]) edge_ = t.board[i].start;
    return edge_;
  endfunction

  function automatic result_t recover(input result_t in, input ack_t ack, input loss_t l);
    result_t c;
    logic enter, news, lost;
    logic [31:0] grows;
    c = in;
    grows = l.limited ? ack.acked : 32'd0;
    news = in.t.sack ? l.sacked_more : ack.dup;
    if (ack.acked != 32'd0) c.t.dupacks = 8'd0;
    if (news && in.t.dupacks != 8'hff) c.t.dupacks = in.t.dupacks + 8'd1;
    lost = l.sacked_over_2mss[1] || (l.sacked_over_2mss[0] && l.first_gap);
    enter = l.in_flight && ((news && in.t.dupacks >= 8'(DupThresh - 1)) || lost);
    unique case (in.t.recovery)
      RecOpen: begin
        // RFC 6582 3.2: not again for bytes that were outstanding when the last recovery began.
        if (enter && (in.t.sack || l.past)) begin
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
        if (l.past) begin
          c.t.recovery = RecOpen;
          c.t.dupacks = 8'd0;
          c.cc.whole = !in.t.sack;
        end else if (ack.acked != 32'd0 && !in.t.sack) begin
          c.t.rexmit = in.t.snd_una;  // a partial ACK (RFC 6582 3.2, step 3)
          c.t.rexmit_one = 1'b1;
        end
      end
      default: begin
        c.cc.acked = grows;  // slow start after the timeout
        if (l.past) begin
          c.t.recovery = RecOpen;
          c.t.dupacks = 8'd0;
        end
      end
    endcase
    return c;
  endfunction

  result_t c;
  loss_t loss;

  always_comb begin
    c = '{t: tcb_i, cc: '0, counts: '0};
    loss = loss_i;
    if (Step == 0) loss = sums(tcb_i, ack_i.acked, sacked_was_i);
    else begin
      if (pass_i.valid && ack_i.go) c = recover(c, ack_i, loss_i);
      loss.happened = c.cc;
      loss.lost_to = lost_below(tcb_i, loss_i.sacked_over_2mss);
      if (c.t.recovery == RecLoss) loss.lost_to = c.t.recover;
    end
  end

  assign tcb_o = c.t;
  assign loss_o = loss;
  assign counts_o = c.counts;

endmodule

`resetall
