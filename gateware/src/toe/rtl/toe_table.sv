// SPDX-License-Identifier: Apache-2.0
// toe_table.sv - from a tuple to its flow (S1.5), one lookup a cycle; toe_conn inserts, moves, deletes.
//
// A tuple is in one of two rows of four, which two hashes select; a new one goes into the row with more
// room. At the highest possible load (half of the places) both rows are full once in many billions of
// connections: such a connection is refused and counted. The hash is Toeplitz's with a secret key, so
// that an attacker cannot find tuples of one row.
//
//   cycle  0        1        2         3               4        5
//          tuple    hash     rows      signatures      path     hit or miss
`resetall
`default_nettype none

module toe_table
  import toe_pkg::*;
#(
  parameter int unsigned FlowBits = 8    // flows, and as many connections in TIME-WAIT: 2^FlowBits
) (
  input  wire           clk_i,
  input  wire           rst_ni,
  input  wire [383:0]   key_i,
  output wire           ready_o,         // empty after reset

  // packets of TCP
  input  wire           packet_valid_i,
  output wire           packet_ready_o,
  input  wire packet_t  packet_i,

  output wire           hit_valid_o,
  input  wire           hit_ready_i,
  output wire packet_t  hit_o,
  output wire flow_t    hit_flow_o,

  output wire           miss_valid_o,    // of no flow, or in TIME-WAIT
  input  wire           miss_ready_i,
  output wire packet_t  miss_o,
  output wire           miss_tw_o,
  output wire flow_t    miss_index_o,

  input  wire                 request_valid_i,
  output wire                 request_ready_o,
  input  wire table_request_t request_i,
  output wire                 answer_valid_o,
  output wire table_answer_t  answer_o,

  // The path of a flow or a place in TIME-WAIT, a cycle later, for toe_tx, toe_dmaw and toe_conn.
  input  wire place_t [2:0] path_at_i,
  output wire path_t  [2:0] path_o
);

  localparam int unsigned Ways = 4;
  localparam int unsigned RowBits = FlowBits - 1;   // of two tables: load 1/2 and less
  localparam int unsigned SigBits = 20;
  localparam int unsigned PlaceBits = FlowBits + 1;
  localparam int unsigned OutBits = 4;

  typedef struct packed {
    logic               valid;
    logic [SigBits-1:0] sig;
    place_t             place;
  } way_t;
  typedef way_t [Ways-1:0] row_t;

  typedef struct packed {
    logic [RowBits-1:0] row0;
    logic [RowBits-1:0] row1;
    logic [SigBits-1:0] sig;
  } hash_t;

  localparam int unsigned HashBits = RowBits + SigBits;
  localparam int unsigned TupleBits = $bits(tuple_t);

  // Bit j is the parity of the tuple and the key from bit j on. A row and the signature name the other
  // row: tuples of one signature that meet in one row meet in both, so that the second is seen and refused
  // wherever the first stands, and never hides it.
  function automatic hash_t hash(input tuple_t t, input logic [383:0] key);
    logic [HashBits-1:0] h;
    logic [RowBits-1:0] row;
    for (int j = 0; j < int'(HashBits); j++) h[j] = ^(t & TupleBits'(key >> j));
    row = h[HashBits-1:SigBits];
    return '{row0: row, row1: row ^ RowBits'(h), sig: h[SigBits-1:0]};
  endfunction

  function automatic logic [PlaceBits-1:0] slot_of(input place_t p);
    return {p.tw, p.index[FlowBits-1:0]};
  endfunction

  // ---- the memories ----

  logic                write0, write1, path_write;
  logic [RowBits-1:0]  row_waddr, row_raddr0, row_raddr1;
  row_t                row_wdata, look_row0, look_row1, own_row0, own_row1;
  logic [PlaceBits-1:0] path_waddr;
  path_t               path_wdata, look_path, own_path;
  hash_t               look_hash_q, own_hash_q;
  logic [PlaceBits-1:0] look_path_at, own_path_at;

  toe_ram2 #(.Width($bits(row_t)), .AddrBits(RowBits)) rows0 (
    .clk_i, .write_i(write0), .waddr_i(row_waddr), .wdata_i(row_wdata),
    .raddr_a_i(row_raddr0), .rdata_a_o(look_row0), .raddr_b_i(own_hash_q.row0), .rdata_b_o(own_row0)
  );
  toe_ram2 #(.Width($bits(row_t)), .AddrBits(RowBits)) rows1 (
    .clk_i, .write_i(write1), .waddr_i(row_waddr), .wdata_i(row_wdata),
    .raddr_a_i(row_raddr1), .rdata_a_o(look_row1), .raddr_b_i(own_hash_q.row1), .rdata_b_o(own_row1)
  );
  toe_ram2 #(.Width($bits(path_t)), .AddrBits(PlaceBits)) paths (
    .clk_i, .write_i(path_write), .waddr_i(path_waddr), .wdata_i(path_wdata),
    .raddr_a_i(look_path_at), .rdata_a_o(look_path),
    .raddr_b_i(own_path_at), .rdata_b_o(own_path)
  );
  for (genvar i = 0; i < 3; i++) begin : gen_path
    sdp_ram #(.Width($bits(path_t)), .AddrBits(PlaceBits)) copy (
      .clk_i, .write_i(path_write), .waddr_i(path_waddr), .wdata_i(path_wdata),
      .raddr_i(slot_of(path_at_i[i])), .rdata_o(path_o[i])
    );
  end

  typedef struct packed {
    logic   found;
    place_t place;
    logic   second;          // in which table
    logic [1:0] way;
  } match_t;

  function automatic match_t match(input row_t r0, input row_t r1, input logic [SigBits-1:0] sig);
    match_t m;
    m = '0;
    for (int i = 0; i < int'(Ways); i++) begin
      if (r1[i].valid && r1[i].sig == sig)
        m = '{found: 1'b1, place: r1[i].place, second: 1'b1, way: 2'(i)};
      if (r0[i].valid && r0[i].sig == sig)
        m = '{found: 1'b1, place: r0[i].place, second: 1'b0, way: 2'(i)};
    end
    return m;
  endfunction

  // ---- lookups: a pipeline that stalls when a queue behind it is full ----

  logic valid_q1, valid_q2, valid_q3, valid_q4;
  packet_t packet_q1, packet_q2, packet_q3, packet_q4;
  match_t match_q3, match_q4;
  logic [SigBits-1:0] sig_q2;
  logic [OutBits:0] hit_room, miss_room;
  logic [2:0] in_pipe;

  assign in_pipe = 3'(valid_q1) + 3'(valid_q2) + 3'(valid_q3) + 3'(valid_q4);
  wire room = hit_room > (OutBits + 1)'(in_pipe) && miss_room > (OutBits + 1)'(in_pipe);
  logic cleared;
  assign packet_ready_o = room && cleared;
  assign row_raddr0 = look_hash_q.row0;
  assign row_raddr1 = look_hash_q.row1;
  assign look_path_at = slot_of(match_q3.place);

  always_ff @(posedge clk_i) begin
    valid_q1 <= packet_valid_i && packet_ready_o && rst_ni;
    if (packet_valid_i && packet_ready_o) begin
      packet_q1 <= packet_i;
      look_hash_q <= hash(packet_i.tuple, key_i);
    end
    valid_q2 <= valid_q1 && rst_ni;
    packet_q2 <= packet_q1;
    sig_q2 <= look_hash_q.sig;
    valid_q3 <= valid_q2 && rst_ni;
    packet_q3 <= packet_q2;
    match_q3 <= match(look_row0, look_row1, sig_q2);
    valid_q4 <= valid_q3 && rst_ni;
    packet_q4 <= packet_q3;
    match_q4 <= match_q3;
  end

  wire same = match_q4.found && look_path.tuple == packet_q4.tuple;
  wire is_hit = same && !match_q4.place.tw;

  typedef struct packed {
    packet_t packet;
    logic    tw;
    flow_t   index;
  } found_t;

  found_t found, hit, miss;
  assign found.packet = packet_q4;
  assign found.tw = same && match_q4.place.tw;
  assign found.index = match_q4.place.index;

  toe_fifo #(.Width($bits(found_t)), .AddrBits(OutBits)) hits (
    .clk_i, .rst_ni, .push_i(valid_q4 && is_hit), .data_i(found), .room_o(hit_room),
    .valid_o(hit_valid_o), .pop_i(hit_valid_o && hit_ready_i), .data_o(hit)
  );
  toe_fifo #(.Width($bits(found_t)), .AddrBits(OutBits)) misses (
    .clk_i, .rst_ni, .push_i(valid_q4 && !is_hit), .data_i(found), .room_o(miss_room),
    .valid_o(miss_valid_o), .pop_i(miss_valid_o && miss_ready_i), .data_o(miss)
  );
  assign hit_o = hit.packet;
  assign hit_flow_o = hit.index;
  assign miss_o = miss.packet;
  assign miss_tw_o = miss.tw;
  assign miss_index_o = miss.index;

  // ---- requests, one at a time ----

  typedef enum logic [3:0] {
    Clear, Idle, Hash, Rows, Match, Path, Compare, Decide, Answer
  } step_e;

  step_e step_q;
  table_request_t request_q;
  match_t own_match_q;
  row_t row0_q, row1_q;
  logic [RowBits-1:0] clear_q;
  table_answer_t answer_q;

  function automatic logic [2:0] load(input row_t r);
    logic [2:0] n;
    n = 3'd0;
    for (int i = 0; i < int'(Ways); i++) n += 3'(r[i].valid);
    return n;
  endfunction

  function automatic logic [1:0] free_way(input row_t r);
    logic [1:0] w;
    w = 2'd0;
    for (int i = Ways - 1; i >= 0; i--) if (!r[i].valid) w = 2'(i);
    return w;
  endfunction

  // In Compare, for Decide.
  logic own_same, second, full;
  always_ff @(posedge clk_i) begin
    own_same <= own_match_q.found && own_path.tuple == request_q.path.tuple;
    second <= load(row1_q) < load(row0_q);
    full <= load(row0_q) == 3'(Ways) && load(row1_q) == 3'(Ways);
  end
  way_t new_way;
  assign new_way = '{valid: 1'b1, sig: own_hash_q.sig, place: request_q.place};

  assign cleared = step_q != Clear;
  assign ready_o = cleared;
  assign request_ready_o = step_q == Idle;
  assign answer_valid_o = step_q == Answer;
  assign answer_o = answer_q;
  assign own_path_at = slot_of(own_match_q.place);

  // Writes: in Clear every row, in Decide the change of the request.
  logic writes_row, in_second;
  always_comb begin
    writes_row = 1'b0;
    in_second = own_match_q.second;
    row_wdata = in_second ? row1_q : row0_q;
    path_write = 1'b0;
    path_waddr = slot_of(request_q.place);
    path_wdata = request_q.path;
    row_waddr = in_second ? own_hash_q.row1 : own_hash_q.row0;
    if (step_q == Decide) begin
      unique case (request_q.op)
        TbInsert:
        // Two tuples of equal signature in the same rows could not be distinguished.
        if (!own_match_q.found && !full) begin
          writes_row = 1'b1;
          in_second = second;
          row_wdata = second ? row1_q : row0_q;
          row_waddr = second ? own_hash_q.row1 : own_hash_q.row0;
          row_wdata[free_way(second ? row1_q : row0_q)] = new_way;
          path_write = 1'b1;
        end
        TbMove:
        if (own_same) begin
          writes_row = 1'b1;
          row_wdata[own_match_q.way].place = request_q.place;
          path_write = 1'b1;
        end
        TbDelete:
        if (own_same && own_match_q.place == request_q.place) begin
          writes_row = 1'b1;
          row_wdata[own_match_q.way] = '0;
        end
        default: ;
      endcase
    end
    write0 = writes_row && !in_second;
    write1 = writes_row && in_second;
    if (step_q == Clear) begin
      row_wdata = '0;
      row_waddr = clear_q;
      write0 = 1'b1;
      write1 = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= Clear;
      clear_q <= '0;
    end else begin
      unique case (step_q)
        Clear: begin
          clear_q <= clear_q + 1'b1;
          if (clear_q == '1) step_q <= Idle;
        end
        Idle:
        if (request_valid_i) begin
          request_q <= request_i;
          step_q <= Hash;
        end
        Hash: begin
          own_hash_q <= hash(request_q.path.tuple, key_i);
          step_q <= Rows;
        end
        Rows: step_q <= Match;
        Match: begin
          row0_q <= own_row0;
          row1_q <= own_row1;
          own_match_q <= match(own_row0, own_row1, own_hash_q.sig);
          step_q <= Path;
        end
        Path: step_q <= Compare;
        Compare: step_q <= Decide;
        Decide: begin
          answer_q.place <= (request_q.op == TbInsert) ? request_q.place : own_match_q.place;
          unique case (request_q.op)
            TbInsert: answer_q.ok <= !own_match_q.found && !full;
            TbDelete: answer_q.ok <= own_same && own_match_q.place == request_q.place;
            default: answer_q.ok <= own_same;
          endcase
          step_q <= Answer;
        end
        default: step_q <= Idle;
      endcase
    end
  end

endmodule

`resetall
