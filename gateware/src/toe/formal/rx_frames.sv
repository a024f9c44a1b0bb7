// SPDX-License-Identifier: Apache-2.0
// rx_frames.sv - frames of one beat or two, at any time after reset, into two packet buffers:
// each frame that is not counted as without a buffer is delivered or counted as not ours, once,
// in order, within forty cycles; a delivered buffer holds no other frame until it is returned.
// Frames are ARP, to broadcast or to another station, and differ in a byte; as many cycles as
// two of them need.
`default_nettype none

module rx_frames
  import toe_pkg::*;
(
    input wire       clk_i,
    input wire       rst_ni,
    input wire       valid_i,
    input wire       last_i,
    input wire       other_i,
    input wire [1:0] id_i,
    input wire       ready_i,
    input wire       free_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  // The start of a frame: destination, source, ARP.
  logic [63:0][7:0] data;
  always_comb begin
    data = '0;
    for (int i = 0; i < 6; i++) data[i] = other_i ? 8'h04 : 8'hff;
    data[11] = 8'(id_i);
    data[12] = 8'h08;
    data[13] = 8'h06;
  end

  // Each delivered buffer is returned once, at some time.
  logic [1:0] theirs_q = '0;
  wire frees = theirs_q[free_i];
  logic give_q = 1'b0;
  logic valid;
  packet_t packet;
  rx_counts_t counts;
  toe_rx #(.BufBits(1)) u_rx (
      .clk_i, .rst_ni, .own_i('0),
      .s_tdata_i(data), .s_tkeep_i('1), .s_tvalid_i(valid_i && rst_ni), .s_tlast_i(last_i),
      .s_tready_o(),
      .packet_valid_o(valid), .packet_ready_i(ready_i), .packet_o(packet),
      .free_valid_i(frees && give_q), .free_i(buf_t'(free_i)), .read_buffer_i('0),
      .read_line_i('0), .read_data_o(), .counts_o(counts));

  // Admitted frames in order, and their age. Two rows, since frames are delivered in another order than
  // dropped ones are counted.
  typedef struct packed {
    logic [1:0] id;
    logic [5:0] age;
  } frame_t;
  logic inside_q = 1'b0, keeps_q = 1'b0;
  frame_t [2:0] ours_q = '0;
  logic [1:0] ours_n_q = '0;
  logic [2:0] others_q = '0;
  logic [5:0] others_age_q = '0;
  wire begins = valid_i && rst_ni && !inside_q;
  wire let_in = begins && !counts.no_buffer;
  wire takes = valid && ready_i && rst_ni;
  wire [1:0] kept = ours_n_q - 2'(takes);
  always_comb if (inside_q) assume (valid_i);      // a frame comes without pause
  always_ff @(posedge clk_i) begin
    give_q <= !give_q;
    if (rst_ni) begin
      if (valid_i) inside_q <= !last_i;
      ours_n_q <= kept + 2'(let_in && !other_i);
      if (takes) ours_q <= ours_q >> $bits(frame_t);
      for (int i = 0; i < 3; i++)
        if (2'(i) < kept)
          ours_q[i].age <= (takes ? ours_q[(i+1)%3].age : ours_q[i].age) +
                           6'(!valid);
      if (let_in && !other_i) ours_q[kept] <= '{id: id_i, age: '0};
      others_q <= others_q + 3'(let_in && other_i) - 3'(counts.not_ours);
      others_age_q <= (others_q == '0 || counts.not_ours) ? '0 : others_age_q + 6'd1;
      for (int i = 0; i < 2; i++)
        theirs_q[i] <= (theirs_q[i] && !(frees && give_q && free_i == 1'(i))) ||
                       (takes && packet.seg.buffer == buf_t'(i));
    end
  end

  always_comb begin
    if (!first_q) begin
      if (u_rx.came) assert (u_rx.coming_q != '0);
      if (begins && counts.no_buffer) assert (!let_in);
      if (valid) begin
        assert (ours_n_q != '0 && packet.kind == PkArp && packet.mac == 48'(ours_q[0].id));
        assert (packet.seg.buffer < 10'd2 && !theirs_q[packet.seg.buffer[0]]);
      end
      if (counts.not_ours) assert (others_q != '0);
      assert (!(counts.too_long || counts.bad_header || counts.bad_ip_sum || counts.bad_tcp_sum));
      if (ours_n_q != '0) assert (ours_q[0].age < 6'd40);
      assert (others_age_q < 6'd40);
    end
  end
endmodule

`default_nettype wire
