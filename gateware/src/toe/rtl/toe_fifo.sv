// SPDX-License-Identifier: Apache-2.0
// toe_fifo.sv - a queue of 2^AddrBits entries. The head is at data_o while valid_o. room_o is the
// number of free entries; a push into a full queue is an error of the user.
`resetall
`default_nettype none

module toe_fifo #(
  parameter int unsigned Width = 32,
  parameter int unsigned AddrBits = 4
) (
  input  wire                clk_i,
  input  wire                rst_ni,
  input  wire                push_i,
  input  wire [Width-1:0]    data_i,
  output wire [AddrBits:0]   room_o,
  output wire                valid_o,
  input  wire                pop_i,
  output wire [Width-1:0]    data_o
);

  localparam logic [AddrBits:0] Depth = (AddrBits + 1)'(1) << AddrBits;

  logic [Width-1:0] memory[2**AddrBits];
  logic [AddrBits:0] head_q, tail_q;
  wire [AddrBits:0] used = head_q - tail_q;

  always_ff @(posedge clk_i) begin
    if (push_i) memory[head_q[AddrBits-1:0]] <= data_i;
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
    end else begin
      if (push_i) head_q <= head_q + 1'b1;
      if (pop_i) tail_q <= tail_q + 1'b1;
    end
  end

  assign room_o = Depth - used;
  assign valid_o = used != '0;
  assign data_o = memory[tail_q[AddrBits-1:0]];

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!push_i || used != Depth) else $error("a full queue is written");
      assert (!pop_i || used != '0) else $error("an empty queue is read");
    end
  end
`endif

endmodule

`resetall
