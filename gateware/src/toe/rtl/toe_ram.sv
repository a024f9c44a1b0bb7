// SPDX-License-Identifier: Apache-2.0
// toe_ram.sv - a memory with a port to write and a port to read, of which the data come a cycle later.
// What is written and read in one cycle is read as it was before.
`resetall
`default_nettype none

module toe_ram #(
  parameter int unsigned Width = 32,
  parameter int unsigned AddrBits = 8
) (
  input  wire                clk_i,
  input  wire                write_i,
  input  wire [AddrBits-1:0] waddr_i,
  input  wire [Width-1:0]    wdata_i,
  input  wire [AddrBits-1:0] raddr_i,
  output wire [Width-1:0]    rdata_o
);

  logic [Width-1:0] memory[2**AddrBits];
  logic [Width-1:0] rdata_q;

  always_ff @(posedge clk_i) begin
    if (write_i) memory[waddr_i] <= wdata_i;
    rdata_q <= memory[raddr_i];
  end

  // As after configuration: all zero.
  initial memory = '{default: '0};

  assign rdata_o = rdata_q;

endmodule

`resetall
