// SPDX-License-Identifier: Apache-2.0
// rtt_core.sv - the measurement, from the two observed streams to the results; rtt.sv adds the
// registers.
//
//   leaving  -> capture -> parse (probes)  \                   / ring
//                                            match -> delta ->  hist
//   arriving -> capture -> parse (answers) /                   \ stats
`resetall
`default_nettype none

module rtt_core
  import rtt_pkg::*;
#(
    parameter int unsigned SlotBits     = 10,
    parameter int unsigned FlowBits     = 8,
    parameter int unsigned RingBits     = 9,
    parameter logic [63:0] CounterStart = 64'd0
) (
    input  wire                         clk_i,
    input  wire                         rst_ni,
    // the two streams
    input  wire                         tx_beat_i,
    input  wire                 [511:0] tx_data_i,
    input  wire                 [ 63:0] tx_keep_i,
    input  wire                         tx_last_i,
    input  wire                         rx_beat_i,
    input  wire                 [511:0] rx_data_i,
    input  wire                 [ 63:0] rx_keep_i,
    input  wire                         rx_last_i,
    // control
    input  wire      config_t           config_i,
    input  wire                 [ 31:0] hist_base_i,
    input  wire                         snapshot_i,
    input  wire                         flush_i,
    output logic                        busy_o,
    output logic                        flushing_o,
    output logic                [ 31:0] snapshots_o,
    output logic                [ 31:0] now_o,
    // samples
    output logic                [ 31:0] last_o,
    output logic                [ 31:0] ring_head_o,
    input  wire                 [ 31:0] ring_tail_i,
    input  wire  [RingBits+1:0]         ring_word_i,
    output logic                [ 31:0] ring_word_o,
    // the snapshot
    input  wire                 [  9:0] bin_i,
    output logic                [ 31:0] bin_o,
    output logic                [ 63:0] begin_o,
    output logic                [ 63:0] end_o,
    output logic                [ 31:0] count_o         [NumPulses],
    output logic                [ 31:0] dropped_o,
    output logic                [ 31:0] in_flight_o,
    output logic                [ 31:0] s_last_o,
    output logic                [ 31:0] min_o,
    output logic                [ 31:0] max_o,
    output logic                [ 63:0] sum_o,
    output logic                [ 95:0] sumsq_o
);

  logic [63:0] now;
  rtt_counter #(.Start(CounterStart)) u_counter (.clk_i, .rst_ni, .now_o(now));
  assign now_o = now[31:0];

  logic tx_captured, rx_captured, tx_valid, rx_valid;
  packet_t tx_packet, rx_packet;
  event_t tx_event, rx_event;

  rtt_capture u_tx_capture (
      .clk_i, .rst_ni, .now_i(now[31:0]), .beat_i(tx_beat_i), .tdata_i(tx_data_i),
      .tkeep_i(tx_keep_i), .tlast_i(tx_last_i), .valid_o(tx_captured), .packet_o(tx_packet));
  rtt_capture u_rx_capture (
      .clk_i, .rst_ni, .now_i(now[31:0]), .beat_i(rx_beat_i), .tdata_i(rx_data_i),
      .tkeep_i(rx_keep_i), .tlast_i(rx_last_i), .valid_o(rx_captured), .packet_o(rx_packet));
  rtt_parse #(.Arriving(1'b0)) u_tx_parse (
      .clk_i, .rst_ni, .config_i, .valid_i(tx_captured), .packet_i(tx_packet),
      .valid_o(tx_valid), .event_o(tx_event));
  rtt_parse #(.Arriving(1'b1)) u_rx_parse (
      .clk_i, .rst_ni, .config_i, .valid_i(rx_captured), .packet_i(rx_packet),
      .valid_o(rx_valid), .event_o(rx_event));

  pulses_t matched;
  logic [31:0] answered, probed, value;
  rtt_match #(
      .SlotBits(SlotBits),
      .FlowBits(FlowBits)
  ) u_match (
      .clk_i, .rst_ni, .now_i(now[31:0]), .config_i, .flush_i, .flushing_o,
      .tx_valid_i(tx_valid), .tx_i(tx_event), .rx_valid_i(rx_valid), .rx_i(rx_event),
      .pulses_o(matched), .answered_o(answered), .probed_o(probed), .value_o(value));

  // The sample: its time, and the full 64-bit count at its answer's arrival.
  pulses_t pulses_q;
  logic [31:0] time_q, value_q;
  logic [63:0] arrival_q;
  always_ff @(posedge clk_i) begin
    pulses_q  <= matched;
    time_q    <= elapsed(answered, probed);
    value_q   <= value;
    arrival_q <= {answered > now[31:0] ? now[63:32] - 32'd1 : now[63:32], answered};
    if (!rst_ni) pulses_q <= '0;
  end

  // A snapshot: clear the old histogram, insert the token into the stream of samples, then wait
  // until the samples before the token have left the pipelines.
  typedef enum logic [1:0] {
    Idle,
    Clear,
    Settle,
    Drain
  } snap_e;
  snap_e snap_q;
  logic [3:0] wait_q;
  logic cleared, token_q;
  wire clear = snap_q == Idle && snapshot_i;
  always_ff @(posedge clk_i) begin
    wait_q  <= wait_q + 4'd1;
    token_q <= 1'b0;
    case (snap_q)
      Idle:  if (snapshot_i) snap_q <= Clear;
      Clear: begin
        wait_q <= '0;
        if (cleared) snap_q <= Settle;
      end
      Settle:
      if (wait_q == '1) begin
        token_q <= 1'b1;
        snap_q  <= Drain;
      end
      default:
      if (wait_q == '1) begin
        snapshots_o <= snapshots_o + 32'd1;
        snap_q      <= Idle;
      end
    endcase
    if (!rst_ni) begin
      snap_q      <= Idle;
      token_q     <= 1'b0;
      snapshots_o <= '0;
    end
  end
  assign busy_o = snap_q != Idle;

  logic dropped;
  rtt_ring #(.Bits(RingBits)) u_ring (
      .clk_i, .rst_ni, .valid_i(pulses_q.sample), .sample_i({arrival_q, value_q, time_q}),
      .drop_o(dropped), .head_o(ring_head_o), .tail_i(ring_tail_i),
      .word_i(ring_word_i), .word_o(ring_word_o));
  rtt_hist u_hist (
      .clk_i, .rst_ni, .base_i(hist_base_i), .token_i(token_q), .valid_i(pulses_q.sample),
      .time_i(time_q), .clear_i(clear), .cleared_o(cleared), .bin_i, .count_o(bin_o));
  rtt_stats u_stats (
      .clk_i, .rst_ni, .now_i(now), .token_i(token_q), .flushing_i(flushing_o),
      .pulses_i(pulses_q), .dropped_i(dropped), .time_i(time_q), .last_o, .begin_o, .end_o,
      .count_o, .dropped_o, .in_flight_o, .s_last_o, .min_o, .max_o, .sum_o, .sumsq_o);

endmodule

`resetall
