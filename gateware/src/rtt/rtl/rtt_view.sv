// SPDX-License-Identifier: Apache-2.0
// rtt_view.sv - one reader's sight of a table that is written by the operations in the pipeline:
// read at stage A, decided on at stage D, written at stage W.
//
//   A --read--> B --> D --decide--> W --write--> memory
//
// An operation must see what all before it wrote, also those that are still between D and the
// memory. Each write passes W once, and is taken up from there at whichever stage the reader is.
`resetall
`default_nettype none

module rtt_view #(
    parameter int unsigned Width = 32,
    parameter int unsigned Bits  = 10
) (
    input  wire              clk_i,
    // stage W
    input  wire              write_i,
    input  wire  [ Bits-1:0] waddr_i,
    input  wire  [Width-1:0] wdata_i,
    // address at stage A, data at stage D
    input  wire  [ Bits-1:0] addr_a_i,
    output logic [Width-1:0] data_d_o
);
  logic [Width-1:0] read_b, patch_q, data_q;
  logic patched_q;
  logic [Bits-1:0] addr_b_q, addr_d_q;

  rtt_ram #(
      .Width(Width),
      .Bits (Bits)
  ) u_ram (
      .clk_i,
      .write_i,
      .waddr_i,
      .wdata_i,
      .raddr_i(addr_a_i),
      .rdata_o(read_b)
  );

  always_ff @(posedge clk_i) begin
    addr_b_q  <= addr_a_i;
    patched_q <= write_i && waddr_i == addr_a_i;
    patch_q   <= wdata_i;

    addr_d_q <= addr_b_q;
    if (write_i && waddr_i == addr_b_q) data_q <= wdata_i;
    else data_q <= patched_q ? patch_q : read_b;
  end

  assign data_d_o = write_i && waddr_i == addr_d_q ? wdata_i : data_q;

endmodule

`resetall
