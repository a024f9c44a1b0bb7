// SPDX-License-Identifier: Apache-2.0
// rtt_stats.sv - accumulates the events of rtt_match. token_i passes through the same pipeline as
// the samples: the sums before it become the snapshot atomically, and new sums start with the
// events of its cycle.
`resetall
`default_nettype none

module rtt_stats
  import rtt_pkg::*;
#(
    parameter int unsigned TimeBits = 32  // fewer in proofs: multipliers slow them down
) (
    input  wire               clk_i,
    input  wire               rst_ni,
    input  wire        [63:0] now_i,
    input  wire               token_i,
    input  wire               flushing_i,
    input  wire      pulses_t pulses_i,
    input  wire               dropped_i,    // the ring was full
    input  wire [TimeBits-1:0] time_i,       // of the sample
    output logic       [31:0] last_o,       // live, not in the snapshot
    // the snapshot
    output logic       [63:0] begin_o,
    output logic       [63:0] end_o,
    output logic       [31:0] count_o[NumPulses],
    output logic       [31:0] dropped_o,
    output logic       [31:0] in_flight_o,
    output logic       [31:0] s_last_o,
    output logic       [31:0] min_o,
    output logic       [31:0] max_o,
    output logic       [63:0] sum_o,
    output logic       [95:0] sumsq_o
);

  wire [31:0] ticks = 32'(time_i);

  // Counters.
  logic [31:0] count_q[NumPulses], dropped_q;
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < int'(NumPulses); i++) begin
      count_q[i] <= (token_i ? 32'd0 : count_q[i]) + {31'd0, pulses_i[i]};
      if (token_i) count_o[i] <= count_q[i];
    end
    dropped_q <= (token_i ? 32'd0 : dropped_q) + {31'd0, dropped_i};
    if (token_i) dropped_o <= dropped_q;
    if (!rst_ni) begin
      for (int i = 0; i < int'(NumPulses); i++) begin
        count_q[i] <= '0;
        count_o[i] <= '0;
      end
      dropped_q <= '0;
      dropped_o <= '0;
    end
  end

  // Stamps minus those that have ended.
  logic [31:0] in_flight_q;
  wire stamped = pulses_i.probe && !pulses_i.resent && !pulses_i.replaced;
  wire ended = pulses_i.sample || pulses_i.ambiguous || pulses_i.lost || pulses_i.covered;
  always_ff @(posedge clk_i) begin
    in_flight_q <= in_flight_q + {31'd0, stamped} - {31'd0, ended};
    if (token_i) in_flight_o <= in_flight_q;
    if (flushing_i) in_flight_q <= '0;
    if (!rst_ni) begin
      in_flight_q <= '0;
      in_flight_o <= '0;
    end
  end

  // Times.
  logic [31:0] last_q, min_q, max_q;
  logic [63:0] sum_q;
  wire valid = pulses_i.sample;
  always_ff @(posedge clk_i) begin
    if (valid) last_q <= ticks;
    if (token_i || (valid && ticks < min_q)) min_q <= valid ? ticks : '1;
    if (token_i || (valid && ticks > max_q)) max_q <= valid ? ticks : '0;
    sum_q <= (token_i ? 64'd0 : sum_q) + (valid ? {32'd0, ticks} : 64'd0);
    if (token_i) begin
      s_last_o <= last_q;
      min_o    <= min_q;
      max_o    <= max_q;
      sum_o    <= sum_q;
      begin_o  <= end_o;
      end_o    <= now_i;
    end
    if (!rst_ni) begin
      last_q   <= '0;
      min_q    <= '1;
      max_q    <= '0;
      sum_q    <= '0;
      s_last_o <= '0;
      min_o    <= '1;
      max_o    <= '0;
      sum_o    <= '0;
      begin_o  <= '0;
      end_o    <= '0;
    end
  end
  assign last_o = last_q;

  // Squares in three cycles: the time, the products of its halves, their sum. A product of all 32
  // bits would be three products and two sums in one cycle. The token has the same delay.
  //
  //   (high, low)^2 =  | high * high | low * low |
  //                  +   | 2 * high * low |
  localparam int unsigned Half = TimeBits / 2;
  logic [2:0] token_q;
  logic [Half-1:0] high_q, low_q;
  logic [2*Half-1:0] high_high_q, high_low_q, low_low_q;
  logic [2*TimeBits-1:0] square_q;
  logic [95:0] sumsq_q;
  always_ff @(posedge clk_i) begin
    token_q         <= {token_q[1:0], token_i};
    {high_q, low_q} <= valid ? time_i : '0;
    high_high_q     <= high_q * high_q;
    high_low_q      <= high_q * low_q;
    low_low_q       <= low_q * low_q;
    square_q        <= {high_high_q, low_low_q} + ((2 * TimeBits)'(high_low_q) << (Half + 1));
    sumsq_q         <= (token_q[2] ? 96'd0 : sumsq_q) + 96'(square_q);
    if (token_q[2]) sumsq_o <= sumsq_q;
    if (!rst_ni) begin
      token_q     <= '0;
      high_q      <= '0;
      low_q       <= '0;
      high_high_q <= '0;
      high_low_q  <= '0;
      low_low_q   <= '0;
      square_q    <= '0;
      sumsq_q     <= '0;
      sumsq_o     <= '0;
    end
  end

endmodule

`resetall
