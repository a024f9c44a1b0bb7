// SPDX-License-Identifier: Apache-2.0
// hyb_memory.sv - memory of 32-bit words with two ports of one clock: port a reads, port b reads or
// writes bytes. Data read are there a cycle later. An FPGA's memory has its first contents from a file.
`resetall
`default_nettype none

module hyb_memory #(
  parameter int unsigned AddrBits = 15,  // of words
  parameter Image = ""                   // words in hexadecimal, from address 0; "": any contents
) (
  input  wire                clk_i,
  input  wire [AddrBits-1:0] a_addr_i,
  output wire [31:0]         a_rdata_o,
  input  wire [AddrBits-1:0] b_addr_i,
  input  wire [3:0]          b_write_i,  // one bit a byte
  input  wire [31:0]         b_wdata_i,
  output wire [31:0]         b_rdata_o
);

  logic [31:0] memory[2**AddrBits];
  if (Image != "") begin : gen_image
    initial $readmemh(Image, memory);
  end

  logic [31:0] a_q, b_q;

  always_ff @(posedge clk_i) begin
    a_q <= memory[a_addr_i];
    b_q <= memory[b_addr_i];
    for (int i = 0; i < 4; i++)
      if (b_write_i[i]) memory[b_addr_i][8*i+:8] <= b_wdata_i[8*i+:8];
  end

  assign a_rdata_o = a_q;
  assign b_rdata_o = b_q;

endmodule

`resetall
