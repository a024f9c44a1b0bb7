// SPDX-License-Identifier: Apache-2.0
// hyb_mau.sv - memory allocation unit (S2.6): gives out the slots of the packet buffer. slot_o is the
// next slot while ready_o; take_i takes it. Slots come back in any order, two a cycle.
//
// A slot is free, on offer (slot_o) or out. Freeing a slot that is not out changes nothing: stray_o.
`resetall
`default_nettype none

module hyb_mau #(
  parameter int unsigned SlotBits = 4
) (
  input  wire                     clk_i,
  input  wire                     rst_ni,
  output wire                     ready_o,
  output wire [SlotBits-1:0]      slot_o,
  input  wire                     take_i,        // counts while ready_o
  input  wire [1:0]               free_valid_i,
  input  wire [1:0][SlotBits-1:0] free_slot_i,
  output wire                     stray_o
);

  localparam int unsigned Slots = 1 << SlotBits;

  logic [Slots-1:0] free_q, out_q, back, taken, picked;
  logic ready_q;
  logic [SlotBits-1:0] next_q, lowest;

  wire takes = ready_q && take_i;
  wire picks = (!ready_q || takes) && free_q != '0;

  always_comb begin
    lowest = '0;
    for (int i = int'(Slots) - 1; i >= 0; i--) if (free_q[i]) lowest = SlotBits'(i);
    back = '0;
    for (int i = 0; i < 2; i++)
      if (free_valid_i[i] && out_q[free_slot_i[i]]) back[free_slot_i[i]] = 1'b1;
    taken = takes ? Slots'(1) << next_q : '0;
    picked = picks ? Slots'(1) << lowest : '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      free_q <= '1;
      out_q <= '0;
      ready_q <= 1'b0;
      next_q <= '0;
    end else begin
      free_q <= (free_q | back) & ~picked;
      out_q <= (out_q | taken) & ~back;
      if (picks) next_q <= lowest;
      if (picks) ready_q <= 1'b1;
      else if (takes) ready_q <= 1'b0;
    end
  end

  assign ready_o = ready_q;
  assign slot_o = next_q;
  assign stray_o = (free_valid_i[0] && !out_q[free_slot_i[0]]) ||
                   (free_valid_i[1] && !out_q[free_slot_i[1]]) ||
                   (free_valid_i == 2'b11 && free_slot_i[0] == free_slot_i[1]);

endmodule

`resetall
