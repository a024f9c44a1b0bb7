// SPDX-License-Identifier: Apache-2.0
// fpc_tell.sv - the list of flows with something to report. Each gets room in the HW ring of its queue pair
// before its event joins the others, so that the cycle in which an event starts does not depend on room.
//
//   list ---> asks_q ---- granted, or none needed ----> due, in turn with events
//     ^          | refused
//     +----------+
`resetall
`default_nettype none

module fpc_tell
  import toe_pkg::*;
#(
  parameter int unsigned IndexBits = 8    // flows: each is listed at most once
) (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire [63:0]  gone_i,          // queue pairs to which nothing is reported any more

  input  wire         push_i,
  input  wire flow_t  flow_i,
  input  wire qp_t    qp_i,

  // Room in the HW ring of ask_qp_o, taken in the cycle of the grant.
  output wire         ask_o,
  output wire qp_t    ask_qp_o,
  input  wire         grant_i,
  input  wire         refuse_i,        // there is none for now
  output wire         take_o,

  output wire         valid_o,
  input  wire         pop_i,
  output wire flow_t  flow_o,
  output wire qp_t    qp_o,
  output wire         placed_o         // it has room
);

  typedef struct packed {
    flow_t flow;
    qp_t   qp;
  } listed_t;

  logic listed, asks_q, refused_q;
  listed_t head, asks_for_q;
  logic [IndexBits:0] room;
  logic [1:0] due_room;

  // A flow listed for a removed queue pair passes without room: its TCB has the current owner of the flow.
  wire gone = gone_i[asks_for_q.qp];
  wire may = asks_q && !refused_q && due_room != 2'd0;
  wire leaves = may && (gone || grant_i);
  // A refused flow is replaced by the next one, and only then: if flows rotated in between, one might
  // miss every turn of this FPC. While it moves, a cycle later, there is no request.
  wire rotates = refused_q && listed && !push_i;
  wire loads = listed && (!asks_q || leaves || rotates);

  toe_fifo #(.Width($bits(listed_t)), .AddrBits(IndexBits)) list (
    .clk_i, .rst_ni,
    .push_i(push_i || rotates), .data_i(push_i ? {flow_i, qp_i} : asks_for_q), .room_o(room),
    .valid_o(listed), .pop_i(loads), .data_o(head)
  );

  always_ff @(posedge clk_i) begin
    if (loads) asks_for_q <= head;
    asks_q <= rst_ni && (loads || (asks_q && !leaves));
    refused_q <= rst_ni && ask_o && refuse_i && listed;
  end

  assign ask_o = may && !gone;
  assign ask_qp_o = asks_for_q.qp;
  assign take_o = ask_o && grant_i;

  toe_fifo #(.Width($bits(listed_t) + 1), .AddrBits(1)) due (
    .clk_i, .rst_ni,
    .push_i(leaves), .data_i({asks_for_q, !gone}), .room_o(due_room),
    .valid_o, .pop_i, .data_o({flow_o, qp_o, placed_o})
  );

  wire unused = &{1'b0, room};

endmodule

`resetall
