// SPDX-License-Identifier: Apache-2.0
// rx_edge.sv - the packets that toe_rx offers, for any frames, any stalls, any return of
// buffers, and resets at any time: a packet stays unchanged until it is taken; however long none
// is taken, each packet that was admitted has room, and so has its buffer if it is dropped. By
// induction, for all time. That no more packets come out of the stages than went in is an
// assumption here: rx_frames.sv proves it for some frames.
`default_nettype none

module rx_edge
  import toe_pkg::*;
(
    input wire         clk_i,
    input wire         rst_ni,
    input wire [511:0] data_i,
    input wire [63:0]  keep_i,
    input wire         valid_i,
    input wire         last_i,
    input wire         ready_i,
    input wire         free_valid_i,
    input wire         free_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  own_t own;
  always_comb begin
    own = '0;
    own.mac = 48'h02_0000_0000_01;
    own.ip4 = 32'h0a00_0001;
  end

  logic valid, tready;
  packet_t packet;
  toe_rx #(.BufBits(1)) u_rx (
      .clk_i, .rst_ni, .own_i(own),
      .s_tdata_i(data_i), .s_tkeep_i(keep_i), .s_tvalid_i(valid_i), .s_tlast_i(last_i),
      .s_tready_o(tready),
      .packet_valid_o(valid), .packet_ready_i(ready_i), .packet_o(packet),
      .free_valid_i, .free_i(buf_t'(free_i)), .read_buffer_i('0), .read_line_i('0),
      .read_data_o(), .counts_o());
  always_comb if (u_rx.came) assume (u_rx.coming_q != '0);

  logic held_q = 1'b0;
  packet_t packet_q = '0;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && valid && !ready_i;
    packet_q <= packet;
  end

  wire [6:0] used = 7'(u_rx.out_list.used), back = 7'(u_rx.back_list.used);
  always_comb begin
    if (!first_q) begin
      if (held_q) assert (valid && packet == packet_q);
      assert (tready);
      assert (used + 7'(u_rx.coming_q) <= 7'd32 && back + 7'(u_rx.coming_q) <= 7'd32);
      if (u_rx.out_list.push_i) assert (used < 7'd32);
      if (u_rx.back_list.push_i) assert (back < 7'd32);
    end
  end
endmodule

`default_nettype wire
