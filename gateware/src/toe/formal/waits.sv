// SPDX-License-Identifier: Apache-2.0
// waits.sv - of the events that come to an FPC none is lost, doubled or overtaken by a later one of its
// flow; none enters the pipeline while its flow is in it; and one that may go does not wait.
`default_nettype none

module waits
  import toe_pkg::*;
(
    input wire        clk_i,
    input wire        rst_ni,
    input wire        valid_i,
    input wire [1:0]  flow_i,
    input wire [1:0]  watched_i,
    input wire        go_i
);
  localparam int unsigned Stages = 2;

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  // One flow, any, is watched all the time.
  logic [1:0] watched_q;
  always_ff @(posedge clk_i) watched_q <= watched_i;
  always_comb if (!first_q) assume (watched_i == watched_q);

  // Its events are numbered.
  logic [3:0] came_q = '0, went_q = '0;
  event_t ev, out;
  logic ready, valid;
  always_comb begin
    ev = '0;
    ev.flow = flow_t'(flow_i);
    ev.body[3:0] = came_q;
  end

  // What is in the pipeline.
  logic [Stages-1:0] flying_q = '0;
  flow_t [Stages-1:0] flow_q;
  always_ff @(posedge clk_i) begin
    flying_q <= {flying_q[Stages-2:0], valid && rst_ni};
    flow_q <= {flow_q[Stages-2:0], out.flow};
  end

  fpc_wait #(.PlaceBits(1), .Stages(Stages)) u_wait (
      .clk_i, .rst_ni, .valid_i(valid_i && rst_ni), .ready_o(ready), .event_i(ev),
      // all TCBs are on chip (tcbs.sv has them elsewhere)
      .hot_i(1'b1), .at_i(8'd0), .fresh_i(1'b0), .want_o(), .want_flow_o(), .want_fresh_o(),
      .want_ready_i(1'b1), .came_i(1'b0), .came_flow_i('0), .came_at_i(8'd0),
      .victim_i('0), .pinned_o(),
      .flying_i(flying_q), .flow_i(flow_q), .go_i, .valid_o(valid), .event_o(out), .at_o());

  wire comes = valid_i && rst_ni && ready && flow_i == watched_i;
  wire goes = valid && rst_ni && out.flow == flow_t'(watched_i);

  always_ff @(posedge clk_i) begin
    if (comes) came_q <= came_q + 4'd1;
    if (goes) went_q <= went_q + 4'd1;
  end

  function automatic logic flies(input flow_t flow);
    logic any;
    any = 1'b0;
    for (int i = 0; i < int'(Stages); i++) any = any | (flying_q[i] && flow_q[i] == flow);
    return any;
  endfunction

  always_comb begin
    if (!first_q) begin
      if (goes) assert (out.body[3:0] == went_q);
      if (goes) assert (went_q != came_q || comes);
      if (valid) assert (!flies(out.flow));
      if (valid) assert (go_i);
      // The watched flow has one waiting that may go: something goes.
      if (go_i && went_q != came_q && !flies(flow_t'(watched_i))) assert (valid);
    end
  end
endmodule
