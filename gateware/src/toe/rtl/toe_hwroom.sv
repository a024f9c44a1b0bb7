// SPDX-License-Identifier: Apache-2.0
// toe_hwroom.sv - accounts for room in the HW rings. A module takes room before it writes a command, so
// that no ring overflows; a flow without room waits, and its TCB holds what it has to report.
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
  input  wire [Qps-1:0][31:0]      hw_tail_i,     // written by the host
  input  wire [Qps-1:0][31:0]      hw_head_i,     // commands written

  // One requester a cycle is granted room, which it takes with take_i; or refused, and may ask for
  // another queue pair before its next turn.
  input  wire [Askers-1:0]         ask_i,
  input  wire qp_t [Askers-1:0]    ask_qp_i,
  output wire [Askers-1:0]         grant_o,
  output wire [Askers-1:0]         refuse_o,
  input  wire [Askers-1:0]         take_i,
  // Room that was not needed.
  input  wire [Askers-1:0]         return_i,
  input  wire qp_t [Askers-1:0]    return_qp_i,
  // A command is written: it now occupies the ring.
  input  wire                      written_i,
  input  wire qp_t                 written_qp_i,
  // The host's tail has gone back, or past the head: nothing more is granted there.
  output wire [Qps-1:0]            bad_tail_o
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  typedef logic [QpBits-1:0] qidx_t;
  localparam int unsigned TurnBits = (Askers > 1) ? $clog2(Askers) : 1;

  // In steps, so that none is long: grants and returns reach promised_q a cycle or two later, from
  // there left_q, and from there the flags of room:
  //
  //   grant -> taken_q -> promised_q -> left_q -> some_q, many_q
  //
  // So the flags lag grants by three cycles. In these a ring grants more only when it has more room
  // than could have been granted in that time. Returned room becomes available late, which is safe;
  // for a written command the head lags as much as the promised room.
  logic [Qps-1:0][31:0] promised_q, left_q;
  logic [Qps-1:0] taken, taken_q, taken_q2, recent_q, some_q, many_q;
  logic [Qps-1:0][TurnBits+1:0] back_q;
  logic [TurnBits-1:0] turn_q;

  logic [Qps-1:0] bad_q;
  logic [Qps-1:0][31:0] seen_q;      // the last valid tail
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

  // The requester whose turn it is; the turn stays where room may appear shortly.
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

  // Returned and written room: counted by source, then summed for each queue pair.
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
      // For a disabled queue pair too: all promised room is returned or written.
      for (int q = 0; q < int'(Qps); q++)
        promised_q[q] <= promised_q[q] + 32'(taken_q[q]) - 32'(back_q[q]);
    end
  end

endmodule

`resetall
