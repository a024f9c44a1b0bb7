// SPDX-License-Identifier: Apache-2.0
// fifo.sv - a queue, whose user writes only if there is room and takes only what is there:
// entries come out once and in order; the head stays until it is taken; room and entries add up
// to the depth. By induction, for all time.
`default_nettype none

module fifo (
    input wire       clk_i,
    input wire       rst_ni,
    input wire       push_i,
    input wire       pop_i,
    input wire [3:0] data_i
);
  localparam int unsigned Bits = 2;

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  logic [Bits:0] room;
  logic valid;
  logic [3:0] data;
  wire pushes = push_i && room != '0;
  wire pops = pop_i && valid;
  toe_fifo #(.Width(4), .AddrBits(Bits)) u_fifo (
      .clk_i, .rst_ni, .push_i(pushes), .data_i, .room_o(room), .valid_o(valid), .pop_i(pops),
      .data_o(data));

  // The model: a row that moves up.
  logic [3:0][3:0] row_q = '0;
  logic [Bits:0] n_q = '0;
  wire [Bits:0] kept = n_q - (Bits + 1)'(pops);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) n_q <= '0;
    else begin
      n_q <= kept + (Bits + 1)'(pushes);
      if (pops) row_q <= {4'd0, row_q[3:1]};
      if (pushes) row_q[kept[1:0]] <= data_i;
    end
  end

  logic held_q = 1'b0;
  logic [3:0] was_q = '0;
  always_ff @(posedge clk_i) begin
    held_q <= valid && !pops && rst_ni;
    was_q <= data;
  end

  always_comb begin
    if (!first_q) begin
      assert (n_q <= (Bits + 1)'(4));
      assert (room == (Bits + 1)'(4) - n_q);
      assert (valid == (n_q != '0));
      if (valid) assert (data == row_q[0]);
      // For induction: all entries, not only the head, are those of the model.
      for (int i = 0; i < 4; i++)
        if ((Bits + 1)'(i) < n_q)
          assert (u_fifo.memory[2'(u_fifo.tail_q + (Bits + 1)'(i))] == row_q[i]);
      if (held_q) assert (valid && data == was_q);
    end
  end
endmodule

`default_nettype wire
