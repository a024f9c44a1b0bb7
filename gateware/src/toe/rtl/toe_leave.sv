// SPDX-License-Identifier: Apache-2.0
// toe_leave.sv - decides when a queue pair may go: its flows are reset, the earlier entries of FPCs
// have left their queues, and no module that reads or writes host memory holds anything of it. From
// then on its memory is not accessed, whichever host gets its number next.
`resetall
`default_nettype none

module toe_leave #(
  parameter int unsigned Qps = 8
) (
  input  wire           clk_i,
  input  wire           rst_ni,
  input  wire [Qps-1:0] reset_i,      // its flows are reset, and it gets no others (toe_conn)
  output wire           drain_o,      // to FPCs: from here on,
  input  wire           draining_i,   // ... entries of that cycle are still in their queues
  input  wire [Qps-1:0] at_work_i,
  output wire [Qps-1:0] detached_o
);

  // One round after the other, each for all queue pairs that wait for it.
  logic [Qps-1:0] round_q, drained_q;
  logic begun_q;
  wire [Qps-1:0] waiting = reset_i & ~drained_q;
  wire begins = round_q == '0 && waiting != '0;
  wire ends = round_q != '0 && !begun_q && !draining_i;

  always_ff @(posedge clk_i) begin
    begun_q <= begins;                // draining_i is of this round a cycle later
    if (!rst_ni) begin
      round_q <= '0;
      drained_q <= '0;
    end else begin
      if (begins) round_q <= waiting;
      else if (ends) round_q <= '0;
      drained_q <= (drained_q | (ends ? round_q : '0)) & reset_i;
    end
  end

  assign drain_o = begins;
  assign detached_o = drained_q & reset_i & ~at_work_i;

endmodule

`resetall
