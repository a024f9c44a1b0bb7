// SPDX-License-Identifier: Apache-2.0
// leave.sv - a queue pair leaves, beside another one and the queue of an FPC: when toe_leave
// reports it as detached, all its entries that were in the queue when its flows were reset have
// left the queue and are done. A queue pair whose flows are not reset is never reported.
`default_nettype none

module leave (
    input wire       clk_i,
    input wire       rst_ni,
    input wire [1:0] reset_i,
    input wire       push_i,    // an entry, of the others or of ours
    input wire       ours_i,
    input wire       pop_i,
    input wire       done_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  // reset_i stays until the queue pair was reported as detached.
  logic [1:0] was_q = '0, detached, said_q = '0;
  always_comb assume ((was_q & ~said_q & ~reset_i) == '0);
  always_ff @(posedge clk_i) begin
    was_q <= rst_ni ? reset_i : '0;
    said_q <= rst_ni ? detached : '0;
  end
  always_comb if (first_q) assume (reset_i == '0);

  // The queue, and the place of our last entry in it; after that the entry is at work until it is done.
  logic [1:0] count_q = '0, place_q = '0;
  logic work_q = 1'b0;
  wire push = push_i && count_q != 2'd3;
  wire pop = pop_i && count_q != '0 && !(work_q && !done_i);
  wire ours = push && ours_i && !reset_i[0];
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      count_q <= count_q + 2'(push) - 2'(pop);
      if (ours) place_q <= count_q + 2'd1 - 2'(pop);
      else if (pop && place_q != '0) place_q <= place_q - 2'd1;
      if (pop) work_q <= place_q == 2'd1;
      else if (done_i) work_q <= 1'b0;
    end
  end

  // Counts, as toe_fpc does, the entries that are in the queue when the drain begins.
  logic drain;
  logic [1:0] old_q = '0;
  always_ff @(posedge clk_i) begin
    if (drain) old_q <= count_q - 2'(pop);
    else if (pop && old_q != '0) old_q <= old_q - 2'd1;
  end

  toe_leave #(.Qps(2)) u_leave (
      .clk_i, .rst_ni, .reset_i, .drain_o(drain), .draining_i(old_q != '0),
      .at_work_i({1'b0, work_q}), .detached_o(detached));

  always_comb begin
    if (!first_q) begin
      assert ((detached & ~reset_i) == '0);
      if (detached[0]) assert (place_q == '0 && !work_q);
    end
  end
endmodule
