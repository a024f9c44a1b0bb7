// SPDX-License-Identifier: Apache-2.0
// table.sv - the flow table and one tuple of four, for any requests and any key: the tuple is
// inserted once, is found where it was put or moved to until it is deleted, and never
// afterwards; its packet hits or misses accordingly, and no packet of another tuple gets its
// flow, also of a tuple with its signature or its rows. Two rows of four in each table; as many
// requests as the depth permits, and a packet at any time. Many packets at once:
// tb/test_table.py, table_random.sv.
`default_nettype none

module table_proof
  import toe_pkg::*;
(
    input wire         clk_i,
    input wire         rst_ni,
    input wire [383:0] key_i,
    input wire [1:0]   mine_i,       // the watched tuple
    input wire         asks_i,
    input wire [1:0]   op_i,
    input wire [1:0]   of_i,
    input wire         tw_i,
    input wire [1:0]   index_i,
    input wire         comes_i,      // the packet
    input wire [1:0]   from_i
);
  localparam int unsigned FlowBits = 2;

  logic first_q = 1'b1;
  logic [383:0] key_q;
  logic [1:0] mine_q;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);
  always_ff @(posedge clk_i) if (first_q) {key_q, mine_q} <= {key_i, mine_i};

  // Four tuples: with an arbitrary key they share signatures or rows in many ways.
  function automatic tuple_t tuple_of(input logic [1:0] n);
    tuple_t t;
    t = '0;
    t.remote_port = 16'(n);
    return t;
  endfunction

  // ---- requests ----

  logic request_ready, answer_valid, ready, busy_q = 1'b0;
  table_answer_t answer;
  table_request_t request, asked_q;
  logic [1:0] of_q;
  logic present_q = 1'b0;
  place_t place_q;
  always_comb begin
    request = '0;
    request.op = table_op_e'(op_i);
    request.path.tuple = tuple_of(of_i);
    request.place.tw = tw_i;
    request.place.index = flow_t'(index_i);
  end
  wire asks = asks_i && request_ready;
  wire places = request.op == TbInsert || request.op == TbMove;
  wire about = of_q == mine_q;
  // toe_conn never gives the place of a present tuple to another one.
  wire others = places && of_i != mine_q;
  always_comb if (asks_i && present_q && others) assume (request.place != place_q);

  always_ff @(posedge clk_i) begin
    if (asks) {busy_q, asked_q, of_q} <= {1'b1, request, of_i};
    else if (answer_valid) busy_q <= 1'b0;
    if (busy_q && answer_valid && about && answer.ok) begin
      if (asked_q.op == TbInsert || asked_q.op == TbMove) place_q <= asked_q.place;
      if (asked_q.op == TbInsert) present_q <= 1'b1;
      if (asked_q.op == TbDelete) present_q <= 1'b0;
    end
  end

  // ---- the packet ----

  logic packet_ready, hits, misses, miss_tw;
  packet_t packet;
  flow_t hit_flow, miss_index;
  logic watched_q = 1'b0, gone_q = 1'b0, settled_q, was_q;
  logic [1:0] who_q;
  place_t there_q;
  wire watches = comes_i && packet_ready && !watched_q;
  always_comb begin
    packet = '0;
    packet.tuple = tuple_of(from_i);
  end
  always_ff @(posedge clk_i) begin
    if (hits || misses) gone_q <= 1'b1;
    if (watches)
      {watched_q, who_q, settled_q, was_q, there_q} <=
          {1'b1, from_i, !(busy_q && about), present_q, place_q};
  end

  toe_table #(.FlowBits(FlowBits)) u_table (
      .clk_i, .rst_ni, .key_i(first_q ? key_i : key_q), .ready_o(ready),
      .packet_valid_i(comes_i && !watched_q), .packet_ready_o(packet_ready), .packet_i(packet),
      .hit_valid_o(hits), .hit_ready_i(1'b1), .hit_o(), .hit_flow_o(hit_flow),
      .miss_valid_o(misses), .miss_ready_i(1'b1), .miss_o(), .miss_tw_o(miss_tw),
      .miss_index_o(miss_index),
      .request_valid_i(asks_i), .request_ready_o(request_ready), .request_i(request),
      .answer_valid_o(answer_valid), .answer_o(answer), .path_at_i('0), .path_o());

  wire flows = was_q && !there_q.tw;
  always_comb begin
    if (rst_ni) begin
      if (answer_valid) assert (busy_q);
      if (busy_q) assert (!request_ready);
      if (answer_valid && about) begin
        unique case (asked_q.op)
          TbInsert: assert (!(answer.ok && present_q));
          TbDelete: assert (answer.ok == (present_q && place_q == asked_q.place));
          default: assert (answer.ok == present_q);
        endcase
        if (answer.ok && asked_q.op != TbInsert) assert (answer.place == place_q);
      end
      // It leaves once, by one of the two ways.
      if (hits || misses) assert (watched_q && !gone_q && !(hits && misses));
      if (settled_q && who_q == mine_q) begin
        if (hits) assert (flows && hit_flow == there_q.index);
        if (misses) assert (!flows && miss_tw == was_q);
        if (misses && miss_tw) assert (miss_index == there_q.index);
      end
      if (settled_q && who_q != mine_q && hits) assert (!(flows && hit_flow == there_q.index));
    end
  end
endmodule

`default_nettype wire
