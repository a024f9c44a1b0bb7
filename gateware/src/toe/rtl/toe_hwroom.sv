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

  // One asker a cycle is granted a place, which is taken with take_i; or hears that there is none, and
  // may ask for another before its next turn.
  input  wire [Askers-1:0]         ask_i,
  input  wire qp_t [Askers-1:0]    ask_qp_i,
  output wire [Askers-1:0]         grant_o,
  output wire [Askers-1:0]         refuse_o,
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

  // In steps, so that none is long: what is taken and given back comes into promised_q a cycle or two
  // later, from there into left_q, and from there into what says whether there is room:
  //
  //   grant -> taken_q -> promised_q -> left_q -> some_q, many_q
  //
  // So a grant is not seen there for three cycles. In these a ring grants further places only when it
  // has more than could have gone meanwhile. What is given back makes room late, no more; of what is written
  // the head is as late as the place that it was promised.
  logic [Qps-1:0][31:0] promised_q, left_q;
  logic [Qps-1:0] taken, taken_q, taken_q2, recent_q, some_q, many_q;
  logic [Qps-1:0][TurnBits+1:0] back_q;
  logic [TurnBits-1:0] turn_q;

  logic [Qps-1:0] bad_q;
  logic [Qps-1:0][31:0] seen_q;      // the tail, when it was right
  logic [Qps-1:0][31:0] head_q, head_q2;

  function automatic logic [31:0] room(input int unsigned q);
    return (32'd1 << qp_i[q].hw_log) - (head_q2[q] - seen_q[q]) - promised_q[q];
  endfunction

  logic [Qps-1:0] has_room, waits;
  assign bad_tail_o = bad_q;

  for (genvar q = 0; q < int'(Qps); q++) begin : gen_qp
    wire bad = hw_tail_i[q] - seen_q[q] > hw_head_i[q] - seen_q[q];
    wire open = qp_i[q].enable && !bad_q[q];
    assign has_room[q] = open && (many_q[q] || (some_q[q] && !recent_q[q]));
    assign waits[q] = open && some_q[q] && !many_q[q] && recent_q[q];
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !qp_i[q].enable) begin
        bad_q[q] <= 1'b0;
        seen_q[q] <= '0;
        head_q[q] <= '0;
        head_q2[q] <= '0;
        left_q[q] <= '0;
        some_q[q] <= 1'b0;
        many_q[q] <= 1'b0;
      end else begin
        if (bad) bad_q[q] <= 1'b1;
        else seen_q[q] <= hw_tail_i[q];
        head_q[q] <= hw_head_i[q];
        head_q2[q] <= head_q[q];
        left_q[q] <= room(q);
        some_q[q] <= left_q[q] != 32'd0 && !left_q[q][31];
        many_q[q] <= left_q[q][31:2] != 30'd0 && !left_q[q][31];   // more than three
      end
    end
  end

  // Whose turn it is; it stays where there may be a place in a moment.
  wire qp_t turn_qp = ask_qp_i[turn_q];
  wire asks = ask_i[turn_q] && int'(turn_qp) < int'(Qps);
  wire stays = asks && waits[qidx_t'(turn_qp)];
  logic [Askers-1:0] grant, refuse;
  always_comb begin
    grant = '0;
    refuse = '0;
    grant[turn_q] = asks && has_room[qidx_t'(turn_qp)];
    refuse[turn_q] = asks && !has_room[qidx_t'(turn_qp)] && !stays;
  end
  assign grant_o = grant;
  assign refuse_o = refuse;

  always_comb begin
    for (int q = 0; q < int'(Qps); q++)
      taken[q] = asks && has_room[q] && take_i[turn_q] && turn_qp == qp_t'(q);
  end

  // What comes back, or is written: each by itself, then all of a queue pair.
  logic [Askers:0] less_q;
  qp_t [Askers:0] less_qp_q;
  logic [Qps-1:0][TurnBits+1:0] back;
  always_comb begin
    back = '0;
    for (int q = 0; q < int'(Qps); q++)
      for (int i = 0; i <= int'(Askers); i++)
        back[q] = back[q] + (TurnBits + 2)'(less_q[i] && less_qp_q[i] == qp_t'(q));
  end

  always_ff @(posedge clk_i) begin
    less_qp_q <= {written_qp_i, return_qp_i};
    if (!rst_ni) begin
      promised_q <= '0;
      turn_q <= '0;
      taken_q <= '0;
      taken_q2 <= '0;
      recent_q <= '0;
      less_q <= '0;
      back_q <= '0;
    end else begin
      less_q <= {written_i, return_i};
      back_q <= back;
      taken_q <= taken;
      taken_q2 <= taken_q;
      recent_q <= taken | taken_q | taken_q2;
      if (!stays) turn_q <= (turn_q == TurnBits'(Askers - 1)) ? '0 : turn_q + 1'b1;
      // Also of one that is disabled: what it was promised comes back or is written, all of it.
      for (int q = 0; q < int'(Qps); q++)
        promised_q[q] <= promised_q[q] + 32'(taken_q[q]) - 32'(back_q[q]);
    end
  end

endmodule

`resetall
