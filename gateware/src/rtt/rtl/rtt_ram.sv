// SPDX-License-Identifier: Apache-2.0
// rtt_ram.sv - a memory with one write port and one read port of one clock. What is read is there a
// cycle later; a read in the cycle of a write to the same place gives what stood there before.
`resetall
`default_nettype none

module rtt_ram #(
    parameter int unsigned Width = 32,
    parameter int unsigned Bits  = 10
) (
    input  wire              clk_i,
    input  wire              write_i,
    input  wire  [ Bits-1:0] waddr_i,
    input  wire  [Width-1:0] wdata_i,
    input  wire  [ Bits-1:0] raddr_i,
    output logic [Width-1:0] rdata_o
);
  logic [Width-1:0] mem[2**Bits];
  // As in an FPGA; rtt_match empties its own after each reset.
  initial begin
    for (int i = 0; i < 2 ** Bits; i++) mem[i] = '0;
  end

  always_ff @(posedge clk_i) begin
    if (write_i) mem[waddr_i] <= wdata_i;
    rdata_o <= mem[raddr_i];
  end

endmodule

`resetall
