// SPDX-License-Identifier: Apache-2.0
// chip_rx.sv - frames from the MAC in RX buffers of 2 KiB, without their FCS. Frame n is in buffer n modulo
// their number; the firmware frees buffers in that order. A frame that the MAC marks, that is shorter
// than 64 or longer than 2048 bytes, or that finds no free buffer, is dropped and counted.
`resetall
`default_nettype none

module chip_rx
  import chip_pkg::*;
#(
  parameter int unsigned BufBits = 3
) (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        valid_i,
  input  wire word_t word_i,

  // frames received and handled, free-running; bytes of the frame at the tail
  output wire [31:0] head_o,
  input  wire [31:0] tail_i,
  output wire [11:0] length_o,
  output wire [31:0] bad_o,       // frames dropped
  output wire [31:0] full_o,

  input  wire [BufBits+8:0] read_i,   // a word of the buffers; data_o a cycle later
  output wire [31:0]        data_o
);

  localparam int unsigned WordBits = 9;     // of a buffer
  localparam logic [WordBits+2:0] Least = (WordBits + 3)'(64), Fcs = (WordBits + 3)'(4);

  logic [31:0] head_q, bad_q, full_q;
  logic [WordBits:0] at_q;                  // words of the frame that comes; all ones is too many
  logic drop_q;                             // it found no buffer
  logic [11:0] length_q[2**BufBits];

  wire first = at_q == '0;
  wire no_buffer = first ? head_q - tail_i >= 32'(2 ** BufBits) : drop_q;
  wire fits = !at_q[WordBits];
  wire [WordBits+2:0] bytes = {at_q, 2'd0} + (WordBits + 3)'(word_i.more) + 1'b1;
  wire bad = word_i.bad || !fits || bytes < Least;
  wire keeps = valid_i && word_i.last && !bad && !no_buffer;

  sdp_ram #(.Width(32), .AddrBits(BufBits + WordBits)) u_buffers (
    .clk_i,
    .write_i(valid_i && fits && !no_buffer),
    .waddr_i({head_q[BufBits-1:0], at_q[WordBits-1:0]}),
    .wdata_i(word_i.data),
    .raddr_i(read_i),
    .rdata_o(data_o)
  );

  always_ff @(posedge clk_i) begin
    if (keeps) length_q[head_q[BufBits-1:0]] <= 12'(bytes - Fcs);
    if (!rst_ni) begin
      head_q <= '0;
      at_q <= '0;
      drop_q <= 1'b0;
      bad_q <= '0;
      full_q <= '0;
    end else if (valid_i) begin
      drop_q <= no_buffer;
      at_q <= word_i.last ? '0 : at_q + (WordBits + 1)'(fits);
      if (keeps) head_q <= head_q + 32'd1;
      if (word_i.last && bad) bad_q <= bad_q + 32'd1;
      if (word_i.last && !bad && no_buffer) full_q <= full_q + 32'd1;
    end
  end

  assign head_o = head_q;
  assign length_o = length_q[tail_i[BufBits-1:0]];
  assign bad_o = bad_q;
  assign full_o = full_q;

endmodule

`resetall
