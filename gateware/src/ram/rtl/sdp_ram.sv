// SPDX-License-Identifier: Apache-2.0
// sdp_ram.sv - a simple dual-port RAM of one clock: one write port, one read port. Data read are there a
// cycle later; a read in the cycle of a write to the same address returns the old word.
`resetall
`default_nettype none

module sdp_ram #(
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

  // As after configuration of an FPGA: all zero.
  initial memory = '{default: '0};

  assign rdata_o = rdata_q;

endmodule

`resetall
