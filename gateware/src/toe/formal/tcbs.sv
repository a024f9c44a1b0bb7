// SPDX-License-Identifier: Apache-2.0
// tcbs.sv - for any evictions and fetches of any duration: an event reads the TCB that the
// previous event of its flow has written, the first one of a flow reads zero; no event of the
// watched flow is lost, doubled or overtaken. There are more flows than places; the memory
// answers at any time, with arbitrary data except for what was saved there.
`default_nettype none

module tcbs
  import toe_pkg::*;
#(
    parameter int unsigned Stages = 2   // of the pipeline: reading, ..., writing
) (
    input wire        clk_i,
    input wire        valid_i,
    input wire [1:0]  flow_i,
    input wire [1:0]  watched_i,
    input wire        go_i,
    input wire [1:0]  new_i,          // the TCB that the pipeline writes
    input wire        fetch_ready_i,
    input wire        answer_i,       // the memory may answer now
    input wire [1:0]  junk_i,
    input wire        save_ready_i,
    input wire        saved_i
);
  localparam int unsigned Width = 2;
  localparam int unsigned HotBits = 1;
  wire rst_ni = 1'b1;                 // registers and memories begin as reset leaves them

  bit first_q;
  always_ff @(posedge clk_i) first_q <= 1'b1;
  logic [1:0] watched_q;
  always_ff @(posedge clk_i) watched_q <= watched_i;
  always_comb if (first_q) assume (watched_i == watched_q);
  wire flow_t watched = flow_t'(watched_i);

  // Its events are numbered.
  bit [3:0] came_q, went_q;
  event_t ev, located, out;
  always_comb begin
    ev = '0;
    ev.flow = flow_t'(flow_i);
    ev.body[3:0] = came_q;
  end

  logic ready, located_valid, located_ready, hot, fresh, want, want_fresh, want_ready, came, pinned;
  logic hole, issue, tcbs_ready, evicted;
  logic [HotBits-1:0] at, came_at, issue_at;
  flow_t want_flow, came_flow, victim, fetch_flow, save_flow;
  logic fetch_valid, fetched_valid, fetched_ready, save_valid;
  logic [Width-1:0] tcb, fetched, save;
  bit [2:0] saving_q;                 // what the memory has taken and has not yet
  wire saved = saved_i && saving_q != '0;
  wire save_ready = save_ready_i && saving_q < 3'd3;

  // The pipeline.
  bit [Stages-1:0] flying_q;
  flow_t [Stages-1:0] flow_q;
  logic [Stages-1:0][HotBits-1:0] at_q;
  always_ff @(posedge clk_i) begin
    flying_q <= {flying_q[Stages-2:0], issue};
    flow_q <= {flow_q[Stages-2:0], out.flow};
    at_q <= {at_q[Stages-2:0], issue_at};
  end
  wire writes = flying_q[Stages-1];

  fpc_tcbs #(.Width(Width), .IndexBits(2), .HotBits(HotBits), .Stages(Stages)) u_tcbs (
      .clk_i, .rst_ni, .ready_o(tcbs_ready),
      .event_valid_i(valid_i), .event_ready_o(ready), .event_i(ev),
      .event_valid_o(located_valid), .event_ready_i(located_ready), .event_o(located),
      .hot_o(hot), .at_o(at), .fresh_o(fresh),
      .want_i(want), .want_flow_i(want_flow), .want_fresh_i(want_fresh),
      .want_ready_o(want_ready), .came_o(came), .came_flow_o(came_flow), .came_at_o(came_at),
      .victim_o(victim), .pinned_i(pinned),
      .hole_o(hole), .issue_i(issue), .issue_at_i(issue_at), .tcb_o(tcb),
      .flying_i(flying_q), .flying_flow_i(flow_q),
      .write_i(writes), .write_at_i(at_q[Stages-1]), .write_tcb_i(new_i),
      .fetch_valid_o(fetch_valid), .fetch_ready_i, .fetch_flow_o(fetch_flow),
      .fetched_valid_i(fetched_valid), .fetched_ready_o(fetched_ready), .fetched_i(fetched),
      .save_valid_o(save_valid), .save_ready_i(save_ready), .save_flow_o(save_flow),
      .save_o(save), .saved_i(saved), .evicted_o(evicted));

  // An event may start in the cycle in which the previous one of its flow is written.
  fpc_wait #(.PlaceBits(1), .HotBits(HotBits), .Stages(Stages - 1)) u_wait (
      .clk_i, .rst_ni, .valid_i(located_valid), .ready_o(located_ready), .event_i(located),
      .hot_i(hot), .at_i(at), .fresh_i(fresh),
      .want_o(want), .want_flow_o(want_flow), .want_fresh_o(want_fresh),
      .want_ready_i(want_ready), .came_i(came), .came_flow_i(came_flow), .came_at_i(came_at),
      .victim_i(victim), .pinned_o(pinned),
      .flying_i(flying_q[Stages-2:0]), .flow_i(flow_q[Stages-2:0]), .go_i(go_i && !hole),
      .valid_o(issue), .event_o(out), .at_o(issue_at));

  // ---- the memory: a TCB of the watched flow is there once its save is answered ----

  bit [2:0] saving_of_q;              // which of saving_q are the watched flow's, the oldest lowest
  logic [Width-1:0] late_q, there_q;  // on its way; in the memory
  wire saves = save_valid && save_ready;
  wire [2:0] shifted = saved ? saving_of_q >> 1 : saving_of_q;
  wire [2:0] left = saving_q - 3'(saved);
  always_ff @(posedge clk_i) begin
    saving_q <= left + 3'(saves);
    saving_of_q <= shifted | (saves ? 3'(save_flow == watched) << left : 3'd0);
    if (saves && save_flow == watched) late_q <= save;
    if (saved && saving_of_q[0]) there_q <= late_q;
  end

  // Fetches in flight; their TCB is read in the cycle of the request.
  bit [2:0] asked_q;
  bit [3:0] of_q;
  logic [Width-1:0] brings_q;
  wire asks = fetch_valid && fetch_ready_i;
  wire brought = fetched_valid && fetched_ready;
  wire [3:0] of_left = brought ? of_q >> 1 : of_q;
  wire [2:0] asked_left = asked_q - 3'(brought);
  bit offered_q;
  logic [Width-1:0] offer_q;
  assign fetched_valid = asked_q != '0 && (answer_i || offered_q);
  assign fetched = offered_q ? offer_q : (of_q[0] ? brings_q : junk_i);
  always_ff @(posedge clk_i) begin
    asked_q <= asked_left + 3'(asks);
    of_q <= of_left | (asks ? 4'(fetch_flow == watched) << asked_left : 4'd0);
    if (asks && fetch_flow == watched) brings_q <= there_q;
    offered_q <= fetched_valid && !fetched_ready;
    offer_q <= fetched;
  end

  // ---- what is proven ----

  wire comes = valid_i && ready && flow_i == watched_i;
  wire goes = issue && out.flow == watched;
  bit [Width-1:0] truth_q;            // the watched flow's TCB
  bit reads_q;
  always_ff @(posedge clk_i) begin
    if (comes) came_q <= came_q + 4'd1;
    if (goes) went_q <= went_q + 4'd1;
    if (writes && flow_q[Stages-1] == watched) truth_q <= new_i;
    reads_q <= goes;
  end

  // Here, and not always_comb: what is asserted has settled.
  always_ff @(posedge clk_i) begin
    if (reads_q) assert (tcb == truth_q);
    if (goes) assert (out.body[3:0] == went_q);
    if (goes) assert (went_q != came_q);
    if (hole) assert (!issue);
    for (int i = 0; i < int'(Stages) - 1; i++)
      if (issue) assert (!(flying_q[i] && flow_q[i] == out.flow));
    if (asks && fetch_flow == watched) assert (saving_of_q == '0);
  end

  // For tcbs_random.sv.
  int unsigned evictions_q, returns_q;
  always_ff @(posedge clk_i) begin
    if (evicted) evictions_q <= evictions_q + 1;
    if (brought && of_q[0]) returns_q <= returns_q + 1;
  end

  wire unused = &{1'b0, tcbs_ready};
endmodule
