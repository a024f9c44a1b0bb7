// SPDX-License-Identifier: Apache-2.0
// mau.sv - slots are taken and freed in any order, also those that are not out: no slot is given while
// it is out, none is lost, and while one is free one is on offer within a cycle. By induction, for
// all time.
`default_nettype none

module mau (
    input wire            clk_i,
    input wire            rst_ni,
    input wire            take_i,
    input wire [1:0]      free_valid_i,
    input wire [1:0][1:0] free_slot_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  logic ready, stray;
  logic [1:0] slot;
  hyb_mau #(.SlotBits(2)) u_mau (
      .clk_i, .rst_ni, .ready_o(ready), .slot_o(slot), .take_i, .free_valid_i, .free_slot_i,
      .stray_o(stray));

  // The model: what is out.
  logic [3:0] out_q = '0;
  logic idle_q = 1'b0;      // the cycle before had nothing on offer, and a slot that was not out
  logic held_q = 1'b0;
  logic [1:0] was_q = '0;
  wire takes = ready && take_i;
  always_ff @(posedge clk_i) begin
    idle_q <= rst_ni && !ready && out_q != '1;
    held_q <= rst_ni && ready && !take_i;
    was_q <= slot;
    if (!rst_ni) out_q <= '0;
    else begin
      if (takes) out_q[slot] <= 1'b1;
      for (int i = 0; i < 2; i++)
        if (free_valid_i[i] && out_q[free_slot_i[i]]) out_q[free_slot_i[i]] <= 1'b0;
    end
  end

  always_comb begin
    if (!first_q) begin
      if (ready) assert (!out_q[slot]);
      if (held_q) assert (ready && slot == was_q);
      if (idle_q) assert (ready);
      // None is lost: what is not out is free or on offer, and not both.
      for (int s = 0; s < 4; s++)
        assert (2'(u_mau.free_q[s]) + 2'(ready && slot == 2'(s)) + 2'(out_q[s]) == 2'd1);
      assert (u_mau.out_q == out_q);
      for (int i = 0; i < 2; i++)
        if (free_valid_i[i] && !out_q[free_slot_i[i]]) assert (stray);
    end
  end
endmodule

`default_nettype wire
