// SPDX-License-Identifier: Apache-2.0
// fpc_wait.sv - lets one event a cycle into the pipeline, never one of a flow that is in it or whose TCB is
// not on chip. Such an event waits here, and others pass it; events of one flow stay in order.
//
//   order_q   | 0 oldest | 1 | 2 | ...    each entry: where its event lies, its flow, and where the TCB
`resetall
`default_nettype none

module fpc_wait
  import toe_pkg::*;
#(
  parameter int unsigned PlaceBits = 4,   // 2^PlaceBits events wait at most
  parameter int unsigned HotBits = 8,     // places for TCBs on chip: 2^HotBits
  parameter int unsigned Stages = 11
) (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire         valid_i,
  output wire         ready_o,
  input  wire event_t event_i,
  input  wire         hot_i,              // its TCB is on chip,
  input  wire [HotBits-1:0] at_i,         // ... there
  input  wire         fresh_i,            // the flow never had one
  // a TCB that is wanted; it is on its way; it has come
  output wire         want_o,
  output wire flow_t  want_flow_o,
  output wire         want_fresh_o,
  input  wire         want_ready_i,
  input  wire         came_i,
  input  wire flow_t  came_flow_i,
  input  wire [HotBits-1:0] came_at_i,
  // Does an event of this flow wait?
  input  wire flow_t  victim_i,
  output wire         pinned_o,
  // the pipeline: whose flows are in it, and whether it takes an event. What starts is at [0] in the
  // next cycle, and one further in each.
  input  wire [Stages-1:0] flying_i,
  input  wire flow_t [Stages-1:0] flow_i,
  input  wire         go_i,
  output wire         valid_o,
  output wire event_t event_o,
  output wire [HotBits-1:0] at_o
);

  localparam int unsigned Places = 2 ** PlaceBits;

  typedef struct packed {
    logic [PlaceBits-1:0] place;
    flow_t                flow;
    logic                 flies;   // the pipeline has its flow, in this cycle
    logic                 hot;
    logic                 fresh;
    logic                 asked;   // for its TCB
    logic [HotBits-1:0]   at;
  } entry_t;

  event_t store[Places];
  entry_t [Places-1:0] order_q, order_d;
  logic [PlaceBits:0] count_q, count_d;
  logic [Places-1:0] taken_q, taken_d;

  function automatic logic flies(input logic [Stages-1:0] flying, input flow_t [Stages-1:0] flows,
                                 input flow_t flow);
    logic any;
    any = 1'b0;
    for (int i = 0; i < int'(Stages); i++) any = any | (flying[i] && flows[i] == flow);
    return any;
  endfunction

  // The oldest that may go.
  logic any_old, new_free, room;
  logic [PlaceBits-1:0] oldest, free_place;

  always_comb begin
    any_old = 1'b0;
    oldest = '0;
    for (int i = Places - 1; i >= 0; i--) begin
      if ((PlaceBits + 1)'(i) < count_q) begin
        if (order_q[i].hot && !order_q[i].flies) begin
          any_old = 1'b1;
          oldest = PlaceBits'(i);
        end
      end
    end
    free_place = '0;
    for (int i = Places - 1; i >= 0; i--) if (!taken_q[i]) free_place = PlaceBits'(i);
    // None of its flow waits then: that one might go, and goes before.
    new_free = hot_i && !flies(flying_i, flow_i, event_i.flow);
    room = !count_q[PlaceBits];
  end

  wire take_old = go_i && any_old;
  wire take_new = go_i && !any_old && valid_i && new_free;
  wire park = valid_i && !take_new && room;

  assign ready_o = take_new || room;
  assign valid_o = take_old || take_new;
  assign event_o = take_old ? store[order_q[oldest].place] : event_i;
  assign at_o = take_old ? order_q[oldest].at : at_i;

  // The oldest whose TCB nobody has asked for.
  logic want, pinned;
  logic [PlaceBits-1:0] wanted;
  always_comb begin
    want = 1'b0;
    wanted = '0;
    pinned = 1'b0;
    for (int i = Places - 1; i >= 0; i--) begin
      if ((PlaceBits + 1)'(i) < count_q) begin
        if (!order_q[i].hot && !order_q[i].asked) begin
          want = 1'b1;
          wanted = PlaceBits'(i);
        end
        pinned = pinned | (order_q[i].flow == victim_i);
      end
    end
  end
  assign want_o = want;
  assign want_flow_o = order_q[wanted].flow;
  assign want_fresh_o = order_q[wanted].fresh;
  assign pinned_o = pinned;

  function automatic logic will_fly(input flow_t flow);
    return flies(flying_i << 1, flow_i << $bits(flow_t), flow) || (valid_o && event_o.flow == flow);
  endfunction

  always_comb begin
    order_d = order_q;
    for (int i = 0; i < Places; i++) order_d[i].flies = will_fly(order_q[i].flow);
    count_d = count_q;
    taken_d = taken_q;
    if (want && want_ready_i) order_d[wanted].asked = 1'b1;
    if (take_old) begin
      taken_d[order_q[oldest].place] = 1'b0;
      for (int i = 0; i < Places - 1; i++)
        if (PlaceBits'(i) >= oldest) order_d[i] = order_d[i+1];
      count_d = count_q - 1'b1;
    end
    if (park) begin
      order_d[PlaceBits'(count_d)] = '{place: free_place, flow: event_i.flow,
                                       flies: will_fly(event_i.flow), hot: hot_i, fresh: fresh_i,
                                       asked: 1'b0, at: at_i};
      taken_d[free_place] = 1'b1;
      count_d = count_d + 1'b1;
    end
    for (int i = 0; i < Places; i++) begin
      if (came_i && order_d[i].flow == came_flow_i) begin
        order_d[i].hot = 1'b1;
        order_d[i].at = came_at_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (park) store[free_place] <= event_i;
    order_q <= order_d;
    if (!rst_ni) begin
      count_q <= '0;
      taken_q <= '0;
    end else begin
      count_q <= count_d;
      taken_q <= taken_d;
    end
  end

endmodule

`resetall
