// SPDX-License-Identifier: Apache-2.0
// hyb_pcu.sv - partial checksum unit (S2.6): sums the bytes that the DFU writes into a slot, in the cycle
// in which it writes them. sum_o has the sum of a slot a cycle later, as the memory has the bytes: no
// latency is added.
//
// A sum is the ones' complement sum (RFC 1071) of 16-bit words whose low byte is the one at the even
// address of the slot, folded to 16 bits: 0 only if all bytes are 0. So the pieces of a segment add
// up whatever their alignment.
`resetall
`default_nettype none

module hyb_pcu #(
  parameter int unsigned SlotBits = 4
) (
  input  wire                           clk_i,
  input  wire                           clear_i,       // a slot's sum begins at 0,
  input  wire [SlotBits-1:0]            clear_slot_i,  // ... before what this cycle writes
  input  wire [7:0]                     write_i,       // lanes; lane 0 is at an even address
  input  wire [SlotBits-1:0]            slot_i,
  input  wire [63:0]                    data_i,
  output wire [2**SlotBits-1:0][15:0]   sum_o
);

  logic [2**SlotBits-1:0][15:0] sum_q;
  logic [15:0] so_far, after;
  logic [18:0] wide;
  logic [16:0] folded;

  always_comb begin
    so_far = (clear_i && clear_slot_i == slot_i) ? '0 : sum_q[slot_i];
    wide = 19'(so_far);
    for (int i = 0; i < 4; i++)
      wide += 19'({write_i[2*i+1] ? data_i[16*i+8+:8] : 8'd0,
                   write_i[2*i] ? data_i[16*i+:8] : 8'd0});
    folded = 17'(wide[15:0]) + 17'(wide[18:16]);
    after = folded[15:0] + 16'(folded[16]);
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) sum_q[clear_slot_i] <= '0;
    if (write_i != '0) sum_q[slot_i] <= after;
  end

  assign sum_o = sum_q;

endmodule

`resetall
