// SPDX-License-Identifier: Apache-2.0
// capture.sv - of each packet of the stream, whatever its length and however valid and ready come and
// go, exactly one record is made: with the time at which the first beat passed, and the first two
// beats as they were. A record is made in the cycle after the last beat that it holds.
`default_nettype none

module capture (
    input wire         clk_i,
    input wire         rst_ni,
    input wire [ 31:0] now_i,
    input wire         tvalid_i,
    input wire         tready_i,
    input wire [511:0] tdata_i,
    input wire [ 63:0] tkeep_i,
    input wire         tlast_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  logic valid;
  rtt_pkg::packet_t packet;
  wire beat = tvalid_i && tready_i && rst_ni;
  rtt_capture u_capture (
      .clk_i, .rst_ni, .now_i, .beat_i(beat), .tdata_i, .tkeep_i, .tlast_i,
      .valid_o(valid), .packet_o(packet));

  // Which beat of its packet the next one is, 2 for all after the second.
  logic [1:0] number_q = '0;
  logic [31:0] stamp_q;
  logic [511:0] one_q, two_q;
  logic [63:0] keep_q;
  logic due_q = 1'b0, has_two_q;
  always_ff @(posedge clk_i) begin
    due_q <= 1'b0;
    if (beat) begin
      number_q <= tlast_i ? 2'd0 : (number_q == 2'd2 ? 2'd2 : number_q + 2'd1);
      due_q <= number_q == 2'd1 || (number_q == 2'd0 && tlast_i);
      if (number_q == 2'd0) begin
        stamp_q <= now_i;
        one_q <= tdata_i;
      end
      if (number_q < 2'd2) begin
        two_q <= tdata_i;
        keep_q <= tkeep_i;
        has_two_q <= number_q == 2'd1;
      end
    end
  end

  always_comb begin
    if (!first_q) begin
      // What induction may take for granted: the two agree on where they are.
      assert (number_q != 2'd3);
      assert (u_capture.place_q == number_q);
      assert (valid == due_q);
      if (number_q != 2'd0) begin
        assert (u_capture.stamp_q == stamp_q);
        assert (u_capture.first_q == one_q);
      end
      if (due_q) begin
        assert (packet.stamp == stamp_q);
        assert (packet.head[63:0] == one_q);
        assert (packet.keep == keep_q);
        assert (packet.two == has_two_q);
        if (has_two_q) assert (packet.head[127:64] == two_q);
      end
    end
  end
endmodule
