// SPDX-License-Identifier: Apache-2.0
// rtt_view.sv - one reader's coherent view of a table that operations in the pipeline write: read
// at stage A, decide at stage D, write at stage W. Wait stages may be between B and D.
//
//   A --read--> B --> ... --> D --decide--> W --write--> memory
//
// An operation must see the writes of all earlier ones, also of those still between D and the
// memory. Each write passes W once and is forwarded from there to the reader's stage. The addresses
// are compared a cycle earlier, when the writer is at D.
`resetall
`default_nettype none

module rtt_view #(
    parameter int unsigned Width = 32,
    parameter int unsigned Bits  = 10,
    parameter int unsigned Wait  = 2
) (
    input  wire              clk_i,
    // the writer: its address at stage D, the rest at W
    input  wire  [ Bits-1:0] waddr_d_i,
    input  wire              write_i,
    input  wire  [Width-1:0] wdata_i,
    // address at stage A, data at stage D
    input  wire  [ Bits-1:0] addr_a_i,
    output logic [Width-1:0] early_o,    // in the stage after B: the memory's word at A
    output logic [Width-1:0] data_d_o
);
  localparam int unsigned D = 2 + Wait;  // A is 0, B is 1

  logic [Width-1:0] read_b, read_q, patch_q1, patch_q2;
  logic patched_q1, patched_q2;
  logic [Bits-1:0] waddr_q;
  logic [Bits-1:0] addr_q[D];     // of the stages before D; [0] is not a register
  logic [D:1] same_q;             // the address equals that of the write at W
  logic [Width-1:0] data_q[D+1];  // from the second stage after B on

  sdp_ram #(
      .Width   (Width),
      .AddrBits(Bits)
  ) u_ram (
      .clk_i,
      .write_i,
      .waddr_i(waddr_q),
      .wdata_i,
      .raddr_i(addr_a_i),
      .rdata_o(read_b)
  );

  assign addr_q[0] = addr_a_i;
  for (genvar s = 1; s <= D; s++) begin : g_stage
    always_ff @(posedge clk_i) same_q[s] <= addr_q[s-1] == waddr_d_i;
    if (s < D) begin : g_addr
      always_ff @(posedge clk_i) addr_q[s] <= addr_q[s-1];
    end
    if (s > 2) begin : g_data
      always_ff @(posedge clk_i) data_q[s] <= same_q[s-1] && write_i ? wdata_i : data_q[s-1];
    end
  end
  assign data_q[0] = '0;
  assign data_q[1] = '0;

  // The memory's output is registered unchanged; words written at A and B are kept beside it.
  always_ff @(posedge clk_i) begin
    waddr_q    <= waddr_d_i;
    patched_q1 <= write_i && waddr_q == addr_a_i;
    patch_q1   <= wdata_i;
    read_q     <= read_b;
    patched_q2 <= patched_q1 || (same_q[1] && write_i);
    patch_q2   <= same_q[1] && write_i ? wdata_i : patch_q1;
  end
  assign data_q[2] = patched_q2 ? patch_q2 : read_q;

  assign early_o  = read_q;
  assign data_d_o = same_q[D] && write_i ? wdata_i : data_q[D];

endmodule

`resetall
