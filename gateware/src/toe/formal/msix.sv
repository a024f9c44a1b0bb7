// SPDX-License-Identifier: Apache-2.0
// msix.sv - requests for MSI-X messages, for any interrupts and any answers to writes: what is
// offered stays until it is taken; no message is sent without an interrupt, nor before the
// writes that were in flight at the interrupt are answered; none is lost.
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

  // Writes: up to four are in flight.
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

  // Of each queue pair: it has a pending interrupt; the writes that were requested by then.
  logic [1:0] owed_q = '0;
  logic [1:0][15:0] mark_q = '0;
  logic held_q = 1'b0;
  qp_t was_q = '0;
  // Interrupts in the cycle in which the previous message is chosen.
  logic [1:0] again_q = '0;
  // A message counts as sent when it is offered: an interrupt after that needs another one.
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

  // Cycles that a queue pair has waited although its writes are answered and the host takes messages.
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
