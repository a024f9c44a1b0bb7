// SPDX-License-Identifier: Apache-2.0
// snapshot.sv - a snapshot is of one instant: every sample is in one snapshot, or in none yet, and
// what the snapshot says of them agrees: how many, their sum, least and greatest, last, in flight.
// Tokens and pulses come in any cycle.
`default_nettype none

module snapshot
  import rtt_pkg::*;
(
    input wire       clk_i,
    input wire       rst_ni,
    input wire       token_i,
    input wire       sample_i,
    input wire       probe_i,
    input wire       dropped_i,
    input wire [1:0] time_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  pulses_t pulses;
  always_comb begin
    pulses = '0;
    pulses.sample = sample_i;
    pulses.probe  = probe_i;
  end

  logic [31:0] count[NumPulses], dropped, in_flight, s_last, min, max, last;
  logic [63:0] from, till, sum;
  logic [95:0] sumsq;
  logic [63:0] now_q = '0;
  always_ff @(posedge clk_i) now_q <= now_q + 64'd1;

  rtt_stats #(.TimeBits(2)) u_stats (
      .clk_i, .rst_ni, .now_i(now_q), .token_i, .flushing_i(1'b0), .pulses_i(pulses),
      .dropped_i, .time_i, .last_o(last), .begin_o(from), .end_o(till),
      .count_o(count), .dropped_o(dropped), .in_flight_o(in_flight), .s_last_o(s_last),
      .min_o(min), .max_o(max), .sum_o(sum), .sumsq_o(sumsq));

  // All since reset; and all at the last token but one, and at the last.
  typedef struct packed {
    logic [7:0]  samples;
    logic [7:0]  probes;
    logic [7:0]  dropped;
    logic [7:0]  total;
    logic [7:0]  squares;
  } totals_t;
  totals_t all_q = '0, prior_q = '0, at_q = '0;
  logic [7:0] least_q = '1, most_q = '0, least_at_q = '1, most_at_q = '0;
  wire [7:0] ticks = {6'd0, time_i};
  wire [7:0] square = {4'd0, 4'(time_i) * 4'(time_i)};
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      all_q.samples <= all_q.samples + {7'd0, sample_i};
      all_q.probes  <= all_q.probes + {7'd0, probe_i};
      all_q.dropped <= all_q.dropped + {7'd0, dropped_i};
      if (sample_i) begin
        all_q.total <= all_q.total + ticks;
        all_q.squares <= all_q.squares + square;
      end
      if (token_i) begin
        prior_q   <= at_q;
        at_q       <= all_q;
        least_at_q <= least_q;
        most_at_q  <= most_q;
        least_q    <= sample_i ? ticks : '1;
        most_q     <= sample_i ? ticks : '0;
      end else if (sample_i) begin
        if (ticks < least_q) least_q <= ticks;
        if (ticks > most_q) most_q <= ticks;
      end
    end
  end

  wire [7:0] samples = at_q.samples - prior_q.samples;
  logic [3:0] since_token_q = '1;
  always_ff @(posedge clk_i) begin
    if (token_i) since_token_q <= '0;
    else if (since_token_q != '1) since_token_q <= since_token_q + 4'd1;
  end

  always_comb begin
    if (!first_q) begin
      assert (count[0] == {24'd0, samples});
      assert (count[10] == {24'd0, 8'(at_q.probes - prior_q.probes)});
      assert (dropped == {24'd0, 8'(at_q.dropped - prior_q.dropped)});
      assert (in_flight == {{24{1'b0}}, at_q.probes} - {{24{1'b0}}, at_q.samples});
      assert (sum == {56'd0, 8'(at_q.total - prior_q.total)});
      assert (min == (samples == '0 ? '1 : {24'd0, least_at_q}));
      assert (max == {24'd0, most_at_q});
      // The squares come three cycles later, with the token's own delay.
      if (since_token_q >= 4'd3) assert (sumsq == {88'd0, 8'(at_q.squares - prior_q.squares)});
    end
  end
endmodule
