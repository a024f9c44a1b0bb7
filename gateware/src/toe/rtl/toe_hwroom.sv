// SPDX-License-Identifier: Apache-2.0
// toe_hwroom.sv - places in the HW rings. Who will write a command takes a place before; so no ring is
// ever overrun, and whoever finds none waits where what he has to tell is kept.
`resetall
`default_nettype none

module toe_hwroom
  import toe_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned Askers = 2
) (
  input  wire                      clk_i,
  input  wire                      rst_ni,
  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0][31:0]      hw_tail_i,     // as the host says
  input  wire [Qps-1:0][31:0]      hw_head_i,     // commands written

  // One asker a cycle is granted a place; it is taken with take_i.
  input  wire [Askers-1:0]         ask_i,
  input  wire qp_t [Askers-1:0]    ask_qp_i,
  output wire [Askers-1:0]         grant_o,
  input  wire [Askers-1:0]         take_i,
  // Not needed after all.
  input  wire [Askers-1:0]         return_i,
  input  wire qp_t [Askers-1:0]    return_qp_i,
  // A command is written: its place is one of the ring's now.
  input  wire                      written_i,
  input  wire qp_t                 written_qp_i,
  // The host's tail has gone back, or past the head: nothing more is granted there.
  output wire [Qps-1:0]            bad_tail_o
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  typedef logic [QpBits-1:0] qidx_t;

  localparam int unsigned TurnBits = (Askers > 1) ? $clog2(Askers) : 1;

  logic [Qps-1:0][31:0] promised_q;
  logic [TurnBits-1:0] turn_q;

  function automatic logic [31:0] room(input int unsigned q);
    return (32'd1 << qp_i[q].hw_log) - (hw_head_i[q] - hw_tail_i[q]) - promised_q[q];
  endfunction

  logic [Qps-1:0] has_room, bad_q;
  logic [Qps-1:0][31:0] seen_q;      // the tail, when it was right
  assign bad_tail_o = bad_q;

  for (genvar q = 0; q < int'(Qps); q++) begin : gen_qp
    logic [31:0] left;
    assign left = room(q);
    wire bad = hw_tail_i[q] - seen_q[q] > hw_head_i[q] - seen_q[q];
    assign has_room[q] = qp_i[q].enable && !bad && !bad_q[q] && left != 32'd0 && !left[31];
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !qp_i[q].enable) begin
        bad_q[q] <= 1'b0;
        seen_q[q] <= '0;
      end else begin
        if (bad) bad_q[q] <= 1'b1;
        else seen_q[q] <= hw_tail_i[q];
      end
    end
  end

  logic [Askers-1:0] grant;
  always_comb begin
    grant = '0;
    if (ask_i[turn_q] && int'(ask_qp_i[turn_q]) < int'(Qps) && has_room[qidx_t'(ask_qp_i[turn_q])])
      grant[turn_q] = 1'b1;
  end
  assign grant_o = grant;

  logic [Qps-1:0][31:0] change;
  always_comb begin
    change = '0;
    for (int q = 0; q < int'(Qps); q++) begin
      for (int i = 0; i < int'(Askers); i++) begin
        if (take_i[i] && grant[i] && ask_qp_i[i] == qp_t'(q)) change[q] = change[q] + 32'd1;
        if (return_i[i] && return_qp_i[i] == qp_t'(q)) change[q] = change[q] - 32'd1;
      end
      if (written_i && written_qp_i == qp_t'(q)) change[q] = change[q] - 32'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      promised_q <= '0;
      turn_q <= '0;
    end else begin
      turn_q <= (turn_q == TurnBits'(Askers - 1)) ? '0 : turn_q + 1'b1;
      // Also of one that is disabled: what it was promised comes back or is written, all of it.
      for (int q = 0; q < int'(Qps); q++) promised_q[q] <= promised_q[q] + change[q];
    end
  end

endmodule

`resetall
