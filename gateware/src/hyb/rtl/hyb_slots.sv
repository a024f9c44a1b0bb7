// SPDX-License-Identifier: Apache-2.0
// hyb_slots.sv - memory of TX slots: the processor writes and reads words, hardware writes and reads
// lines of 64 bytes. Each port does one or the other in a cycle; data read are there a cycle later. Both
// may write a byte in the same cycle only if the firmware breaks its rule: then the line's is kept.
`resetall
`default_nettype none

module hyb_slots #(
  parameter int unsigned LineBits = 9   // of line addresses
) (
  input  wire                clk_i,
  input  wire [LineBits+3:0] word_i,
  input  wire [3:0]          word_write_i,   // one bit a byte
  input  wire [31:0]         word_data_i,
  output wire [31:0]         word_data_o,
  input  wire [LineBits-1:0] line_i,
  input  wire [63:0]         line_write_i,   // one bit a byte
  input  wire [511:0]        line_data_i,
  output wire [511:0]        line_data_o
);

  logic [15:0][31:0] words;
  logic [3:0] lane_q;
  always_ff @(posedge clk_i) lane_q <= word_i[3:0];
  assign word_data_o = words[lane_q];

  for (genvar w = 0; w < 16; w++) begin : gen_bank
    logic [31:0] memory[2**LineBits];
    logic [31:0] word_q, line_q;
    always_ff @(posedge clk_i) begin
      word_q <= memory[word_i[LineBits+3:4]];
      line_q <= memory[line_i];
      for (int i = 0; i < 4; i++) begin
        if (word_write_i[i] && word_i[3:0] == 4'(w))
          memory[word_i[LineBits+3:4]][8*i+:8] <= word_data_i[8*i+:8];
        if (line_write_i[4*w+i]) memory[line_i][8*i+:8] <= line_data_i[32*w+8*i+:8];
      end
    end
    assign words[w] = word_q;
    assign line_data_o[32*w+:32] = line_q;
  end

endmodule

`resetall
