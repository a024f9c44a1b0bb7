// SPDX-License-Identifier: Apache-2.0
// toe_ram2.sv - a memory with a port to write and two to read, of which the data come a cycle later.
`resetall
`default_nettype none

module toe_ram2 #(
  parameter int unsigned Width = 32,
  parameter int unsigned AddrBits = 8
) (
  input  wire                clk_i,
  input  wire                write_i,
  input  wire [AddrBits-1:0] waddr_i,
  input  wire [Width-1:0]    wdata_i,
  input  wire [AddrBits-1:0] raddr_a_i,
  output wire [Width-1:0]    rdata_a_o,
  input  wire [AddrBits-1:0] raddr_b_i,
  output wire [Width-1:0]    rdata_b_o
);

  sdp_ram #(.Width(Width), .AddrBits(AddrBits)) a (
    .clk_i, .write_i, .waddr_i, .wdata_i, .raddr_i(raddr_a_i), .rdata_o(rdata_a_o)
  );
  sdp_ram #(.Width(Width), .AddrBits(AddrBits)) b (
    .clk_i, .write_i, .waddr_i, .wdata_i, .raddr_i(raddr_b_i), .rdata_o(rdata_b_o)
  );

endmodule

`resetall
