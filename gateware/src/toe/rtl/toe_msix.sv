// SPDX-License-Identifier: Apache-2.0
// toe_msix.sv - turns interrupts of queue pairs into requests for MSI-X messages, one at a time; the
// vector is the number of the queue pair. A message waits until what it announces is in host memory:
// until all writes issued before it are answered.
`resetall
`default_nettype none

module toe_msix
  import toe_pkg::*;
#(
  parameter int unsigned Qps = 8
) (
  input  wire           clk_i,
  input  wire           rst_ni,
  input  wire [Qps-1:0] irq_i,
  input  wire [15:0]    asked_i,   // writes, free-running
  input  wire [15:0]    done_i,
  output wire           valid_o,
  input  wire           ready_i,
  output wire qp_t      vector_o
);

  logic [Qps-1:0] wants_q, ripe;
  logic [Qps-1:0][15:0] mark_q;
  logic valid_q;
  qp_t vector_q, next;
  always_comb begin
    next = '0;
    for (int i = Qps - 1; i >= 0; i--) begin
      logic [15:0] left;
      left = done_i - mark_q[i];
      ripe[i] = wants_q[i] && !left[15];
      if (ripe[i]) next = qp_t'(i);
    end
    // Round robin: a queue pair with frequent interrupts does not starve the others.
    for (int i = Qps - 1; i >= 0; i--) if (ripe[i] && qp_t'(i) > vector_q) next = qp_t'(i);
  end
  assign valid_o = valid_q;
  assign vector_o = vector_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wants_q <= '0;
      valid_q <= 1'b0;
      vector_q <= '0;
    end else begin
      if (!valid_q || ready_i) begin
        valid_q <= ripe != '0;
        vector_q <= next;
      end
      for (int i = 0; i < int'(Qps); i++) begin
        if ((!valid_q || ready_i) && ripe[i] && next == qp_t'(i)) wants_q[i] <= 1'b0;
        if (irq_i[i]) begin
          wants_q[i] <= 1'b1;
          mark_q[i] <= asked_i;
        end
      end
    end
  end

endmodule

`resetall
