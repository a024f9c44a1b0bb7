// SPDX-License-Identifier: Apache-2.0
// msix.sv - requests for MSI-X messages, however interrupts come and writes are answered: what is offered
// stays until it is taken; no message goes that nobody asked for, nor before the writes that were under
// way are answered; none is lost.
`default_nettype none

module msix
  import toe_pkg::*;
(
    input wire       clk_i,
    input wire       rst_ni,
    input wire [1:0] irq_i,
    input wire       ask_i,
    input wire       answer_i,
    input wire       ready_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  // Writes: some are under way.
  logic [15:0] asked_q = '0, done_q = '0;
  wire asks = ask_i && asked_q - done_q < 16'd4;
  wire answers = answer_i && asked_q != done_q;
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      asked_q <= asked_q + 16'(asks);
      done_q <= done_q + 16'(answers);
    end
  end

  logic valid;
  qp_t vector;
  toe_msix #(.Qps(2)) u_msix (
      .clk_i, .rst_ni, .irq_i(rst_ni ? irq_i : 2'd0), .asked_i(asked_q), .done_i(done_q),
      .valid_o(valid), .ready_i, .vector_o(vector));

  // Of each queue pair: it has asked since its last message left; what was under way then.
  logic [1:0] owed_q = '0;
  logic [1:0][15:0] mark_q = '0;
  logic held_q = 1'b0;
  qp_t was_q = '0;
  // Asked in the very cycle in which the message before is chosen.
  logic [1:0] again_q = '0;
  // A message is on its way from when it is offered: what comes then is owed once more.
  wire fresh = valid && !held_q;
  logic [1:0] left;
  always_comb begin
    left = owed_q;
    if (fresh) left[vector[0]] = again_q[vector[0]];
  end
  always_ff @(posedge clk_i) begin
    held_q <= valid && !ready_i && rst_ni;
    was_q <= vector;
    if (rst_ni) begin
      again_q <= irq_i;
      owed_q <= left | irq_i;
      for (int i = 0; i < 2; i++) if (irq_i[i]) mark_q[i] <= asked_q;
    end
  end

  // How long somebody may have been waiting whose writes are all answered, the host taking messages.
  logic [1:0][2:0] waited_q = '0;
  logic [1:0] ripe;
  always_comb
    for (int i = 0; i < 2; i++) begin
      logic [15:0] since;
      since = done_q - mark_q[i];
      ripe[i] = !since[15];
    end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 2; i++)
      if (!rst_ni || !owed_q[i] || !ripe[i] || irq_i[i] || !ready_i ||
          (fresh && vector == qp_t'(i)))
        waited_q[i] <= '0;
      else waited_q[i] <= waited_q[i] + 3'd1;
  end

  always_comb begin
    if (!first_q) begin
      if (held_q) assert (valid && vector == was_q);
      if (fresh) begin
        assert (vector < qp_t'(2));
        assert (owed_q[vector[0]]);
        if (!again_q[vector[0]]) assert (ripe[vector[0]]);
      end
      for (int i = 0; i < 2; i++) assert (waited_q[i] < 3'd4);
    end
  end
endmodule

`default_nettype wire
