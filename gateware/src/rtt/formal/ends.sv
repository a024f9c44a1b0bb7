// SPDX-License-Identifier: Apache-2.0
// ends.sv - each stamp that is taken ends once: answered, ambiguous, replaced or given up as too old.
// Never twice, whatever comes in which cycle; and when nothing comes any more, all have ended.
`default_nettype none

module ends
  import rtt_pkg::*;
(
    input wire       clk_i,
    input wire       rst_ni,
    input wire       tx_valid_i,
    input wire [1:0] tx_value_i,
    input wire       rx_valid_i,
    input wire [1:0] rx_value_i
);
  localparam logic [7:0] Busy = 8'd7;   // cycles in which something comes
  localparam logic [7:0] Over = 8'd31;  // by then the scan has been round

  logic first_q = 1'b1;
  logic [7:0] now_q = '0;
  always_ff @(posedge clk_i) begin
    first_q <= 1'b0;
    now_q   <= now_q + 8'd1;
  end
  always_comb begin
    assume (rst_ni == !first_q);
    if (now_q >= Busy) assume (!tx_valid_i && !rx_valid_i);
  end

  config_t cfg;
  assign cfg = '{
          enable: 1'b1, mode: ModeIcmp, looped: 1'b0, local_port: '0, remote_port: '0,
          tag_offset: '0, timeout: 32'd3
      };
  event_t tx, rx;
  assign tx = '{
          counts: 1'b1, key: '{flow: '0, value: {30'd0, tx_value_i}}, seq: '0, syn: 1'b0,
          stamp: {24'd0, now_q}
      };
  assign rx = '{
          counts: 1'b1, key: '{flow: '0, value: {30'd0, rx_value_i}}, seq: '0, syn: 1'b0,
          stamp: {24'd0, now_q}
      };
  logic flushing;
  pulses_t pulses;
  logic [31:0] answered, probed, value;
  rtt_match #(
      .SlotBits(1),
      .FlowBits(1),
      .Flushed (1'b1)
  ) u_match (
      .clk_i, .rst_ni, .now_i({24'd0, now_q}), .config_i(cfg), .flush_i(1'b0),
      .flushing_o(flushing), .tx_valid_i(tx_valid_i && !first_q), .tx_i(tx),
      .rx_valid_i(rx_valid_i && !first_q), .rx_i(rx), .pulses_o(pulses), .answered_o(answered),
      .probed_o(probed), .value_o(value));

  logic [7:0] taken_q = '0, ended_q = '0;
  wire takes = pulses.probe && !pulses.resent;
  wire [7:0] ends_now = {7'd0, pulses.sample} + {7'd0, pulses.ambiguous} + {7'd0, pulses.replaced} +
      {7'd0, pulses.lost} + {7'd0, pulses.covered};
  always_ff @(posedge clk_i) begin
    taken_q <= taken_q + {7'd0, takes};
    ended_q <= ended_q + ends_now;
  end
  always_comb begin
    if (!first_q) begin
      assert (ended_q <= taken_q);
      assert (!pulses.covered);  // TCP's alone
      if (now_q >= Over) assert (ended_q == taken_q);
    end
  end
endmodule
