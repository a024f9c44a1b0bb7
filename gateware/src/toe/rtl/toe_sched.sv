// SPDX-License-Identifier: Apache-2.0
// toe_sched.sv - passes events to the FPC of their flow (S1.6). Each FPC has a queue of its own for
// segments, so that a segment whose FPC is busy does not block those of others.
`resetall
`default_nettype none

module toe_sched
  import toe_pkg::*;
#(
  parameter int unsigned FpcBits = 0
) (
  input  wire          clk_i,
  input  wire          rst_ni,

  // segments of known flows
  input  wire          hit_valid_i,
  output wire          hit_ready_o,
  input  wire packet_t hit_i,
  input  wire flow_t   hit_flow_i,

  // commands
  input  wire          command_valid_i,
  output wire          command_ready_o,
  input  wire event_t  command_i,

  // of toe_conn: EvOpen, EvPurge, segments of flows that it has just made
  input  wire          conn_valid_i,
  output wire          conn_ready_o,
  input  wire event_t  conn_i,

  // deadlines, of each FPC's own flows
  input  wire [2**FpcBits-1:0]        due_valid_i,
  output wire [2**FpcBits-1:0]        due_ready_o,
  input  wire flow_t [2**FpcBits-1:0] due_flow_i,

  output wire [2**FpcBits-1:0]         event_valid_o,
  input  wire [2**FpcBits-1:0]         event_ready_i,
  output wire event_t [2**FpcBits-1:0] event_o
);

  localparam int unsigned Fpcs = 2 ** FpcBits;
  localparam int unsigned QueueBits = 4;

  event_t hit;
  always_comb begin
    hit.kind = EvSegment;
    hit.flow = hit_flow_i;
    hit.qp = '0;
    hit.body = hit_i.seg;
  end

  function automatic int unsigned fpc_of(input flow_t flow);
    return 32'(flow & flow_t'(Fpcs - 1));
  endfunction

  logic [Fpcs-1:0] hit_room, command_ready, conn_ready;

  for (genvar f = 0; f < int'(Fpcs); f++) begin : gen_fpc
    logic segment_valid, segment_ready;
    event_t segment, due;
    logic [QueueBits:0] room;
    logic [1:0] turn_q;

    assign hit_room[f] = room != '0;
    toe_fifo #(.Width($bits(event_t)), .AddrBits(QueueBits)) segments (
      .clk_i, .rst_ni,
      .push_i(hit_valid_i && hit_ready_o && fpc_of(hit_flow_i) == f), .data_i(hit), .room_o(room),
      .valid_o(segment_valid), .pop_i(segment_valid && segment_ready), .data_o(segment)
    );

    always_comb begin
      due = '0;
      due.kind = EvTimer;
      due.flow = due_flow_i[f];
    end

    // Round robin: each of the four has priority every fourth time.
    wire [3:0] asks = {due_valid_i[f], conn_valid_i && fpc_of(conn_i.flow) == f,
                       command_valid_i && fpc_of(command_i.flow) == f, segment_valid};
    logic [1:0] chosen;
    always_comb begin
      chosen = turn_q;
      for (int i = 3; i >= 0; i--) if (asks[2'(turn_q + 2'(i))]) chosen = turn_q + 2'(i);
    end
    // Two entries in between, so that the ready of the sources does not depend on the FPC's in this cycle.
    logic [1:0] next_room;
    event_t next;
    wire goes = asks != 4'd0 && next_room != 2'd0;
    assign next = (chosen == 2'd0) ? segment
                : (chosen == 2'd1) ? command_i : (chosen == 2'd2) ? conn_i : due;
    toe_fifo #(.Width($bits(event_t)), .AddrBits(1)) to_fpc (
      .clk_i, .rst_ni, .push_i(goes), .data_i(next), .room_o(next_room),
      .valid_o(event_valid_o[f]), .pop_i(event_valid_o[f] && event_ready_i[f]), .data_o(event_o[f])
    );
    assign segment_ready = goes && chosen == 2'd0;
    assign command_ready[f] = goes && chosen == 2'd1;
    assign conn_ready[f] = goes && chosen == 2'd2;
    assign due_ready_o[f] = goes && chosen == 2'd3;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) turn_q <= 2'd0;
      else if (goes) turn_q <= chosen + 2'd1;
    end
  end

  assign hit_ready_o = hit_room[fpc_of(hit_flow_i)];
  assign command_ready_o = |command_ready;
  assign conn_ready_o = |conn_ready;

  wire unused = &{1'b0, hit_i};

endmodule

`resetall
