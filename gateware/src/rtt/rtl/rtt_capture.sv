// SPDX-License-Identifier: Apache-2.0
// rtt_capture.sv - watches one AXI-Stream and captures the first two beats of each packet, with the
// time of the first one. Drives no signal of the stream. Up to one packet per cycle.
`resetall
`default_nettype none

module rtt_capture (
    input  wire                       clk_i,
    input  wire                       rst_ni,
    input  wire               [ 31:0] now_i,
    input  wire                       beat_i,   // tvalid and tready
    input  wire               [511:0] tdata_i,
    input  wire               [ 63:0] tkeep_i,
    input  wire                       tlast_i,
    output logic                      valid_o,
    output rtt_pkg::packet_t          packet_o
);

  typedef enum logic [1:0] {
    First,
    Second,
    Rest
  } place_e;

  place_e place_q;
  logic [511:0] first_q, second_q;
  logic [63:0] keep_q;
  logic [31:0] stamp_q;
  logic valid_q, two_q;

  always_ff @(posedge clk_i) begin
    if (beat_i) begin
      if (place_q == First) begin
        first_q <= tdata_i;
        stamp_q <= now_i;
      end
      second_q <= tdata_i;
      keep_q   <= tkeep_i;
      two_q    <= place_q == Second;
    end
    valid_q <= beat_i && ((place_q == First && tlast_i) || place_q == Second);
    if (beat_i) place_q <= tlast_i ? First : (place_q == First ? Second : Rest);
    if (!rst_ni) begin
      place_q <= First;
      valid_q <= 1'b0;
    end
  end

  assign valid_o  = valid_q;
  assign packet_o = '{head: {second_q, first_q}, keep: keep_q, two: two_q, stamp: stamp_q};

endmodule

`resetall
