// SPDX-License-Identifier: Apache-2.0
// hyb_rx.sv - frames from the link in RX buffers of 2 KiB, as they come (S2.1: parsing is the firmware's).
// Frame n is in buffer n modulo their number; the firmware frees buffers in that order. A frame that
// finds no free buffer, or is longer than one, is dropped. With Look a frame is counted when hyb_look has
// described it.
`resetall
`default_nettype none

module hyb_rx #(
  parameter int unsigned BufBits = 4,
  parameter bit Look = 1'b0           // with descriptions of frames
) (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire [47:0]   mac_i,         // with Look: ours, its first octet in bits 47:40

  input  wire [511:0]  s_tdata_i,
  input  wire [63:0]   s_tkeep_i,
  input  wire          s_tvalid_i,
  input  wire          s_tlast_i,
  output wire          s_tready_o,

  // frames received and handled, free-running; bytes of the frame at the tail
  output wire [31:0]   head_o,
  input  wire [31:0]   tail_i,
  output wire [11:0]   length_o,

  // two readers of lines; data come a cycle later
  input  wire [BufBits+4:0] a_line_i,
  output wire [511:0]       a_data_o,
  input  wire [BufBits+4:0] b_line_i,
  output wire [511:0]       b_data_o,
  // words of descriptions; data come a cycle later
  input  wire [BufBits+2:0] look_word_i,
  output wire [31:0]        look_data_o,

  output wire          no_buffer_o,   // pulses: a frame dropped
  output wire          too_long_o
);

  localparam int unsigned Lines = 32;
  logic [31:0] head_q;
  logic [5:0] line_q;                 // of the frame that comes; Lines: it is too long
  logic drop_q;                       // the frame that comes found no buffer
  logic [11:0] length_q[2**BufBits];
  logic no_buffer_q, too_long_q;

  wire full = head_q - tail_i >= 32'(2 ** BufBits);
  wire first = line_q == '0;
  wire drops = first ? full : drop_q;
  wire fits = line_q != 6'(Lines);
  wire write = s_tvalid_i && !drops && fits;

  logic [6:0] bytes;                  // of the last beat
  always_comb begin
    bytes = '0;
    for (int i = 0; i < 64; i++) bytes = bytes + 7'(s_tkeep_i[i]);
  end

  toe_ram2 #(.Width(512), .AddrBits(BufBits + 5)) buffers (
    .clk_i,
    .write_i(write), .waddr_i({head_q[BufBits-1:0], line_q[4:0]}), .wdata_i(s_tdata_i),
    .raddr_a_i(a_line_i), .rdata_a_o(a_data_o),
    .raddr_b_i(b_line_i), .rdata_b_o(b_data_o)
  );

  always_ff @(posedge clk_i) begin
    if (write && s_tlast_i)
      length_q[head_q[BufBits-1:0]] <= 12'({line_q, 6'd0}) + 12'(bytes);
    if (!rst_ni) begin
      head_q <= '0;
      line_q <= '0;
      drop_q <= 1'b0;
      no_buffer_q <= 1'b0;
      too_long_q <= 1'b0;
    end else begin
      no_buffer_q <= s_tvalid_i && s_tlast_i && drops;
      too_long_q <= s_tvalid_i && s_tlast_i && !drops && !fits;
      if (s_tvalid_i) begin
        drop_q <= drops;
        line_q <= s_tlast_i ? '0 : (fits ? line_q + 6'd1 : line_q);
        if (write && s_tlast_i) head_q <= head_q + 32'd1;
      end
    end
  end

  if (Look) begin : gen_look
    logic done;
    logic [31:0] described_q;
    hyb_look #(.BufBits(BufBits)) look (
      .clk_i, .rst_ni, .mac_i,
      .beat_i(write), .line_i(line_q[4:0]), .last_i(s_tlast_i), .data_i(s_tdata_i),
      .keep_i(s_tkeep_i), .buffer_i(head_q[BufBits-1:0]),
      .done_o(done), .word_i(look_word_i), .data_o(look_data_o)
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni) described_q <= '0;
      else if (done) described_q <= described_q + 32'd1;
    end
    assign head_o = described_q;
  end else begin : gen_plain
    assign look_data_o = '0;
    assign head_o = head_q;
    wire unused = &{1'b0, mac_i, look_word_i};
  end

  assign s_tready_o = 1'b1;
  assign length_o = length_q[tail_i[BufBits-1:0]];
  assign no_buffer_o = no_buffer_q;
  assign too_long_o = too_long_q;

endmodule

`resetall
