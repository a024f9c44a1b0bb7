// SPDX-License-Identifier: Apache-2.0
// rx_lengths.sv - one frame of up to 96 bytes with arbitrary contents: what toe_rx delivers of
// it is within the frame. Its datagram ends in the frame, a TCP packet has its whole headers,
// its payload follows them and ends with the datagram, whatever the length fields contain. As
// many cycles as a packet takes until it is delivered.
`default_nettype none

module rx_lengths
  import toe_pkg::*;
(
    input wire         clk_i,
    input wire         rst_ni,
    input wire [511:0] data_i,
    input wire [6:0]   size_i
);
  localparam logic [5:0] At = 6'd34;       // nothing is taken in 31 cycles after reset

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  own_t own;
  always_comb begin
    own = '0;
    own.mac = 48'h02_0000_0000_01;
    own.ip4 = 32'h0a00_0001;
    own.ip6_on = 1'b1;
    own.ip6 = 128'hfd00_0000_0000_0000_0000_0000_0000_0001;
    own.ip6_link = 128'hfe80_0000_0000_0000_0000_0000_0000_0001;
  end

  logic [5:0] cycle_q = '0;
  logic [6:0] size_q = '0;
  wire begins = cycle_q == At;
  wire goes_on = cycle_q == At + 6'd1 && size_q > 7'd64;
  wire [6:0] here = begins ? ((size_i > 7'd64) ? 7'd64 : size_i) : size_q - 7'd64;
  always_comb assume (size_i >= 7'd60 && size_i <= 7'd96);
  always_ff @(posedge clk_i) begin
    if (cycle_q != '1) cycle_q <= cycle_q + 6'd1;
    if (begins) size_q <= size_i;
  end

  logic valid;
  packet_t p;
  toe_rx #(.BufBits(1)) u_rx (
      .clk_i, .rst_ni, .own_i(own),
      .s_tdata_i(data_i), .s_tkeep_i(64'((65'd1 << here) - 65'd1)), .s_tvalid_i(begins || goes_on),
      .s_tlast_i(goes_on || size_i <= 7'd64), .s_tready_o(),
      .packet_valid_o(valid), .packet_ready_i(1'b0), .packet_o(p),
      .free_valid_i(1'b0), .free_i('0), .read_buffer_i('0), .read_line_i('0), .read_data_o(),
      .counts_o());

  always_comb begin
    if (!first_q && valid) begin
      assert (p.kind != PkDrop);
      if (p.kind == PkTcp) begin
        assert (p.bytes <= 12'(size_q));
        assert (17'(p.seg.offset) + 17'(p.seg.len) == 17'(p.bytes));
        assert (p.seg.offset >= 8'd54);
      end
      if (p.kind == PkEcho) assert (p.bytes <= 12'(size_q) && p.bytes >= 12'd34);
    end
  end
endmodule

`default_nettype wire
