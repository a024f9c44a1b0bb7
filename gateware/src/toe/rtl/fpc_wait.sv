// SPDX-License-Identifier: Apache-2.0
// fpc_wait.sv - lets one event a cycle into the pipeline, never one of a flow that is in it or whose TCB is
// not on chip. Such an event waits here, and others pass it; events of one flow stay in order.
//
// A waiting event does not move. Two matrices record which other events came before it and which are of its
// flow: so the oldest is found without a walk, and no path is long.
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
  // a TCB is wanted; the fetch has begun; it has arrived
  output wire         want_o,
  output wire flow_t  want_flow_o,
  output wire         want_fresh_o,
  input  wire         want_ready_i,
  input  wire         came_i,
  input  wire flow_t  came_flow_i,
  input  wire [HotBits-1:0] came_at_i,
  // Whether an event of this flow waits.
  input  wire flow_t  victim_i,
  output wire         pinned_o,
  // the pipeline: the flows in it, and whether it takes an event. An event that starts is at [0] in the
  // next cycle, and moves up by one in each.
  input  wire [Stages-1:0] flying_i,
  input  wire flow_t [Stages-1:0] flow_i,
  input  wire         go_i,
  output wire         valid_o,
  output wire event_t event_o,
  output wire [HotBits-1:0] at_o
);

  localparam int unsigned Places = 2 ** PlaceBits;

  typedef logic [Places-1:0] places_t;

  typedef struct packed {
    flow_t                flow;
    logic                 flies;   // its flow is in the pipeline, in this cycle
    logic                 hot;
    logic                 fresh;
    logic                 asked;   // for its TCB
    logic [HotBits-1:0]   at;
  } entry_t;

  event_t store[Places];
  places_t there_q;
  entry_t [Places-1:0] entry_q, entry_d;
  places_t [Places-1:0] older_q;   // [i][j]: j came before i
  places_t [Places-1:0] same_q;    // [i][j]: i and j are of one flow

  function automatic logic flies(input logic [Stages-1:0] flying, input flow_t [Stages-1:0] flows,
                                 input flow_t flow);
    logic any;
    any = 1'b0;
    for (int i = 0; i < int'(Stages); i++) any = any | (flying[i] && flows[i] == flow);
    return any;
  endfunction

  // Whether the flow is in the pipeline in the next cycle; without the event that starts in this one.
  function automatic logic flies_on(input flow_t flow);
    return flies(flying_i << 1, flow_i << $bits(flow_t), flow);
  endfunction

  function automatic places_t oldest_of(input places_t some);
    places_t one;
    for (int i = 0; i < Places; i++) one[i] = some[i] && (some & older_q[i]) == '0;
    return one;
  endfunction

  function automatic logic [PlaceBits-1:0] place_of(input places_t one);
    logic [PlaceBits-1:0] place;
    place = '0;
    for (int i = 0; i < Places; i++) place = place | (one[i] ? PlaceBits'(i) : '0);
    return place;
  endfunction

  // The oldest that may go; what comes, if none of its flow waits: that one might go, and goes before.
  places_t able, first;
  logic [HotBits-1:0] first_at;
  always_comb begin
    for (int i = 0; i < Places; i++) able[i] = there_q[i] && entry_q[i].hot && !entry_q[i].flies;
    first = oldest_of(able);
    first_at = '0;
    for (int i = 0; i < Places; i++) first_at = first_at | (first[i] ? entry_q[i].at : '0);
  end
  wire any_old = able != '0;
  wire new_free = hot_i && !flies(flying_i, flow_i, event_i.flow);
  wire room = there_q != '1;

  wire take_old = go_i && any_old;
  wire take_new = go_i && !any_old && valid_i && new_free;
  wire park = valid_i && !take_new && room;

  assign ready_o = take_new || room;
  assign valid_o = take_old || take_new;
  assign event_o = any_old ? store[place_of(first)] : event_i;
  assign at_o = any_old ? first_at : at_i;

  // The first place that is free always gets what comes; whether it stays there is known later.
  places_t free;
  always_comb begin
    free = '0;
    for (int i = Places - 1; i >= 0; i--) if (!there_q[i]) free = places_t'(1) << i;
  end

  // Flows that are the same: as that of what comes, of the TCB that arrives, of one that might go from
  // the chip.
  places_t like_new, like_came, like_victim;
  wire new_came = came_i && event_i.flow == came_flow_i;
  always_comb begin
    for (int i = 0; i < Places; i++) begin
      like_new[i] = entry_q[i].flow == event_i.flow;
      like_came[i] = came_i && entry_q[i].flow == came_flow_i;
      like_victim[i] = entry_q[i].flow == victim_i;
    end
  end
  assign pinned_o = (there_q & like_victim) != '0;

  // The oldest event without a request for its TCB is recorded, and requested from the next cycle on.
  places_t unasked, picks;
  logic want_q, want_fresh_q, pick_fresh;
  flow_t want_flow_q, pick_flow;
  wire picked = unasked != '0 && (!want_q || want_ready_i);
  always_comb begin
    for (int i = 0; i < Places; i++)
      unasked[i] = there_q[i] && !entry_q[i].hot && !entry_q[i].asked;
    picks = oldest_of(unasked);
    pick_flow = '0;
    pick_fresh = 1'b0;
    for (int i = 0; i < Places; i++) begin
      pick_flow = pick_flow | (picks[i] ? entry_q[i].flow : '0);
      pick_fresh = pick_fresh | (picks[i] && entry_q[i].fresh);
    end
  end
  assign want_o = want_q;
  assign want_flow_o = want_flow_q;
  assign want_fresh_o = want_fresh_q;
  always_ff @(posedge clk_i) begin
    if (picked) begin
      want_flow_q <= pick_flow;
      want_fresh_q <= pick_fresh;
    end
    // The TCB may arrive by the request of another event of the flow.
    if (!rst_ni) want_q <= 1'b0;
    else if (picked) want_q <= (picks & like_came) == '0;
    else want_q <= want_q && !want_ready_i && !(came_i && came_flow_i == want_flow_q);
  end

  always_comb begin
    for (int i = 0; i < Places; i++) begin
      entry_d[i] = entry_q[i];
      entry_d[i].flies = flies_on(entry_q[i].flow) || (take_old && (first & same_q[i]) != '0);
      if (picked && picks[i]) entry_d[i].asked = 1'b1;
      if (like_came[i]) begin
        entry_d[i].hot = 1'b1;
        entry_d[i].at = came_at_i;
      end
      if (free[i])
        entry_d[i] = '{flow: event_i.flow,
                       flies: flies_on(event_i.flow) || (take_old && (first & like_new) != '0),
                       hot: hot_i || new_came, fresh: fresh_i, asked: 1'b0,
                       at: new_came ? came_at_i : at_i};
    end
  end

  always_ff @(posedge clk_i) begin
    if (room) store[place_of(free)] <= event_i;
    entry_q <= entry_d;
    for (int i = 0; i < Places; i++) begin
      for (int j = 0; j < Places; j++) begin
        if (free[i]) older_q[i][j] <= there_q[j];
        else if (free[j]) older_q[i][j] <= 1'b0;
        if (free[i]) same_q[i][j] <= like_new[j];
        else if (free[j]) same_q[i][j] <= like_new[i];
      end
    end
    there_q <= rst_ni ? (there_q & ~(take_old ? first : '0)) | (park ? free : '0) : '0;
  end

endmodule

`resetall
