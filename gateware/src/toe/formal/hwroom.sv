// SPDX-License-Identifier: Apache-2.0
// hwroom.sv - room in a HW ring: promised entries and those that the host has not taken never
// exceed the ring, for any requests, takes, returns and writes, and any valid advance of the
// host's tail. After an invalid tail, nothing is granted once toe_hwroom has seen it, and until
// then no more than the room there was before.
`default_nettype none

module hwroom
  import toe_pkg::*;
(
    input wire       clk_i,
    input wire       rst_ni,
    input wire [1:0] ask_i,
    input wire [1:0] take_i,
    input wire [1:0] back_i,
    input wire       written_i,
    input wire       read_i,
    input wire       jump_i,
    input wire [31:0] to_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  qp_config_t [0:0] qp;
  always_comb begin
    qp = '0;
    qp[0].enable = 1'b1;
    qp[0].hw_log = 5'd2;
  end

  logic [0:0][31:0] head_q = '0, tail_q = '0;
  logic wild_q = 1'b0;       // the tail is invalid
  logic [7:0] mine_q = '0;   // places taken, and neither given back nor written
  logic [1:0] grant;
  logic [0:0] bad;
  wire [1:0] takes = take_i & grant;

  // A module returns or writes only an entry that it has taken.
  wire [7:0] gone = 8'(back_i[0]) + 8'(back_i[1]) + 8'(written_i);
  always_comb assume (gone <= mine_q);
  always_comb if (head_q == tail_q) assume (!read_i);
  // An invalid tail is behind the current one or past the head. Doorbells come some cycles apart.
  logic moved_q = 1'b0;
  always_comb if (jump_i) assume (!moved_q && to_i - tail_q[0] > head_q[0] - tail_q[0] + 32'd1);

  always_ff @(posedge clk_i) begin
    moved_q <= read_i;
    if (rst_ni) begin
      mine_q <= mine_q + 8'(takes[0]) + 8'(takes[1]) - gone;
      if (written_i) head_q[0] <= head_q[0] + 32'd1;
      if (jump_i) begin
        tail_q[0] <= to_i;
        wild_q <= 1'b1;
      end else if (read_i && !wild_q) tail_q[0] <= tail_q[0] + 32'd1;
    end
  end

  toe_hwroom #(.Qps(1), .Askers(2)) u_room (
      .clk_i, .rst_ni, .qp_i(qp), .hw_tail_i(tail_q), .hw_head_i(head_q),
      .ask_i, .ask_qp_i('0), .grant_o(grant), .refuse_o(), .take_i,
      .return_i(back_i & {2{rst_ni}}), .return_qp_i('0),
      .written_i(written_i && rst_ni), .written_qp_i('0), .bad_tail_o(bad));

  wire [31:0] used = head_q[0] - tail_q[0];
  wire [31:0] untaken = head_q[0] - u_room.seen_q[0];
  // Returned or written, and not yet counted so.
  wire [7:0] late = 8'(u_room.back_q[0]) + 8'(u_room.less_q[0]) + 8'(u_room.less_q[1]) +
                    8'(u_room.less_q[2]);

  // For induction: what was returned, written and taken some cycles ago.
  logic [1:0] returned_q = '0;
  logic written_q = 1'b0, taken_q3 = 1'b0;
  always_ff @(posedge clk_i) begin
    returned_q <= rst_ni ? 2'(u_room.less_q[0]) + 2'(u_room.less_q[1]) : '0;
    written_q <= rst_ni && u_room.less_q[2];
    taken_q3 <= rst_ni && u_room.taken_q2[0];
  end
  wire [31:0] free = 32'd4 - untaken - 32'(mine_q);
  wire [31:0] unseen = 32'(u_room.taken_q[0]) + 32'(u_room.taken_q2[0]);

  always_comb begin
    if (!first_q) begin
      // For induction: the design counts the same as the model, in each stage.
      assert (u_room.promised_q[0] + 32'(u_room.taken_q[0]) == 32'(mine_q) + 32'(late));
      assert (u_room.back_q[0] == 3'(returned_q) + 3'(written_q));
      assert (u_room.head_q[0] == head_q[0] - 32'(u_room.less_q[2]));
      assert (u_room.head_q2[0] == u_room.head_q[0] - 32'(written_q));
      assert (u_room.recent_q[0] == (u_room.taken_q[0] || u_room.taken_q2[0] || taken_q3));
      assert ($signed(u_room.left_q[0]) <= $signed(free + unseen));
      if (u_room.some_q[0]) assert (free + unseen + 32'(taken_q3) >= 32'd1);
      if (u_room.many_q[0]) assert (free + unseen + 32'(taken_q3) >= 32'd4);
      assert (untaken + 32'(mine_q) <= 32'd4);
      assert (untaken <= 32'd4);
      if (bad[0]) assert (grant == 2'd0);
      if (wild_q) begin
        assert (bad[0] || tail_q[0] - u_room.seen_q[0] > head_q[0] - u_room.seen_q[0]);
      end else begin
        assert (!bad[0]);
        assert (tail_q[0] - u_room.seen_q[0] <= 32'(moved_q));
        assert (used + 32'(mine_q) <= 32'd4);
        assert (used <= 32'd4);
      end
    end
  end
endmodule
