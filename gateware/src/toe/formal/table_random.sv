// SPDX-License-Identifier: Apache-2.0
// table_random.sv - the flow table against a plain list, with random requests, one after
// another, and packets of all tuples beside them, whose taker stalls at times. A packet finds
// its tuple in its state when the packet came or in one that it got during the lookup, never
// another tuple. With the whole key of a hash, and with keys so weak that many tuples look
// alike.
`timescale 1ns / 1ns
`default_nettype none

module table_random;
  import toe_pkg::*;
  localparam int unsigned FlowBits = 4;
  localparam int unsigned Places = 2 * 2 ** FlowBits;   // flows, and as many in TIME-WAIT
  localparam int unsigned Tuples = 48;
  localparam int unsigned Keys = 12;
  localparam int unsigned Cycles = 12_000;              // with each key
  localparam int unsigned Flying = 64;

  int unsigned seed = 1;
  bit clk = 1'b0, rst_n = 1'b0;
  bit [383:0] key;

  bit packet_valid, hit_ready, miss_ready, request_valid;
  logic packet_ready, hit_valid, miss_valid, miss_tw, request_ready, answer_valid, ready;
  packet_t packet, hit, miss;
  flow_t hit_flow, miss_index;
  table_request_t request;
  table_answer_t answer;
  place_t [2:0] path_at;
  path_t [2:0] path;

  // Offered in the cycle before, and not taken.
  bit hit_held, miss_held;
  logic [$bits(packet_t)+$bits(flow_t)-1:0] hit_was;
  logic [$bits(packet_t)+$bits(flow_t):0] miss_was;

  toe_table #(.FlowBits(FlowBits)) dut (
      .clk_i(clk), .rst_ni(rst_n), .key_i(key), .ready_o(ready),
      .packet_valid_i(packet_valid), .packet_ready_o(packet_ready), .packet_i(packet),
      .hit_valid_o(hit_valid), .hit_ready_i(hit_ready), .hit_o(hit), .hit_flow_o(hit_flow),
      .miss_valid_o(miss_valid), .miss_ready_i(miss_ready), .miss_o(miss), .miss_tw_o(miss_tw),
      .miss_index_o(miss_index),
      .request_valid_i(request_valid), .request_ready_o(request_ready), .request_i(request),
      .answer_valid_o(answer_valid), .answer_o(answer), .path_at_i(path_at), .path_o(path));

  // ---- the list ----

  typedef struct packed {
    bit     there;
    place_t place;
  } state_t;

  state_t state[Tuples];
  bit taken[Places];
  path_t path_is[Places];              // what was written there last
  bit path_known[Places];

  function automatic int unsigned slot(input place_t p);
    return 32'({p.tw, p.index[FlowBits-1:0]});
  endfunction
  function automatic place_t place_of(input int unsigned s);
    return '{tw: s >= Places / 2, index: flow_t'(s % (Places / 2))};
  endfunction
  function automatic path_t path_of(input int unsigned n, input int unsigned more);
    path_t p;
    p = '0;
    p.tuple.v6 = n[0];
    p.tuple.remote = addr_t'(n * 32'h9e37_79b9);
    p.tuple.own = addr_t'(32'h0a00_0001);
    p.tuple.remote_port = 16'(n * 40503);
    p.tuple.local_port = 16'd80;
    p.mac = 48'(more);
    return p;
  endfunction

  // Packets under way, by number: what they may find.
  typedef struct packed {
    bit          used;
    int unsigned tuple;
    int unsigned since;
    state_t      was;
    state_t      became;
  } flying_t;
  flying_t flying[Flying];
  int unsigned next_id, last_hit, last_miss, cycle;

  int unsigned hits, misses, in_tw, inserts, refused, moves, deletes, unlike;

  task automatic check(input packet_t p, input bit found, input bit tw, input flow_t index);
    int unsigned id = p.seg.seq % Flying;
    state_t said = '{there: found || tw, place: '{tw: tw, index: index}};
    flying_t f = flying[id];
    if (!f.used) $fatal(1, "seed %0d: packet %0d comes out twice", seed, p.seg.seq);
    flying[id].used = 1'b0;
    if (!said.there) said.place = '0;
    if (said != f.was && said != f.became)
      $fatal(1, "seed %0d: packet %0d of tuple %0d finds %p; it was %p, became %p", seed, p.seg.seq,
             f.tuple, said, f.was, f.became);
    if (p.tuple != path_of(f.tuple, 0).tuple) $fatal(1, "seed %0d: another packet", seed);
  endtask

  // ---- what goes in ----

  int unsigned odds;
  function automatic bit often();
    return $urandom_range(7) < odds;
  endfunction

  table_request_t asked;
  int unsigned asked_tuple;
  bit asking;

  task automatic next_request();
    int unsigned t = $urandom_range(Tuples - 1), s = $urandom_range(Places - 1);
    request.op = table_op_e'($urandom_range(3));
    request.path = path_of(t, $urandom);
    request.place = place_of(s);
    request_valid = often();
    asked_tuple = asking ? asked_tuple : t;
    // A place is one tuple's at most: toe_conn sees to that. Often what is there is named.
    if (state[t].there && request.op == TbDelete && $urandom_range(3) != 0)
      request.place = state[t].place;
    else if ((request.op == TbInsert || request.op == TbMove) && taken[s]) request_valid = 1'b0;
  endtask

  task automatic answered();
    int unsigned t = asked_tuple;
    state_t s = state[t], n = state[t];
    bit there = s.there, same = s.there && s.place == asked.place;
    unique case (asked.op)
      TbFind: begin
        if (answer.ok != there || (there && answer.place != s.place))
          $fatal(1, "seed %0d: find of %0d: %p, it is %p", seed, t, answer, s);
      end
      TbInsert: begin
        inserts++;
        if (answer.ok && there) $fatal(1, "seed %0d: %0d is inserted twice", seed, t);
        if (!answer.ok && !there) refused++;
        if (answer.ok) n = '{there: 1'b1, place: asked.place};
      end
      TbMove: begin
        if (answer.ok != there)
          $fatal(1, "seed %0d: move of %0d: %p, it is %p", seed, t, answer, s);
        if (answer.ok) n.place = asked.place;
        moves += 32'(answer.ok);
      end
      default: begin
        if (answer.ok != same)
          $fatal(1, "seed %0d: delete of %0d: %p, it is %p", seed, t, answer, s);
        if (answer.ok) n = '0;
        deletes += 32'(answer.ok);
      end
    endcase
    if (n != s) begin
      if (s.there) taken[slot(s.place)] = 1'b0;
      if (n.there) begin
        taken[slot(n.place)] = 1'b1;
        path_is[slot(n.place)] = asked.path;
        path_known[slot(n.place)] = 1'b1;
      end
      state[t] = n;
      for (int i = 0; i < int'(Flying); i++)
        if (flying[i].used && flying[i].tuple == t) begin
          // Twice within one lookup does not happen: a request takes longer.
          flying[i].became = (cycle - flying[i].since < 8) ? n : flying[i].became;
        end
    end
  endtask

  task automatic restart();
    rst_n = 1'b0;
    packet_valid = 1'b0;
    request_valid = 1'b0;
    for (int i = 0; i < int'(Tuples); i++) state[i] = '0;
    for (int i = 0; i < int'(Places); i++) begin
      taken[i] = 1'b0;
      path_known[i] = 1'b0;
    end
    for (int i = 0; i < int'(Flying); i++) flying[i] = '0;
    repeat (3) begin
      #1 clk = 1'b1;
      #1 clk = 1'b0;
    end
    rst_n = 1'b1;
    asking = 1'b0;
    hit_held = 1'b0;
    miss_held = 1'b0;
  endtask

  place_t [2:0] path_at_before;

  bit asked_before;

  task automatic one_cycle();
    int unsigned id = next_id % Flying, t = $urandom_range(Tuples - 1);
    if (cycle % 64 == 0) odds = 1 + $urandom_range(7);
    packet_valid = often() && !flying[id].used;
    packet = '0;
    packet.kind = PkTcp;
    packet.tuple = path_of(t, 0).tuple;
    packet.seg.seq = next_id;
    hit_ready = often();
    miss_ready = often();
    if (!asking) next_request();
    for (int i = 0; i < 3; i++) path_at[i] = place_of($urandom_range(Places - 1));
    #1;
    // Before the edge: what passes.
    if (hit_held && !(hit_valid && hit_was == {hit, hit_flow}))
      $fatal(1, "seed %0d: a packet that nobody took did not stay", seed);
    hit_held = hit_valid && !hit_ready;
    hit_was = {hit, hit_flow};
    if (miss_held && !(miss_valid && miss_was == {miss, miss_tw, miss_index}))
      $fatal(1, "seed %0d: a packet of no flow that nobody took did not stay", seed);
    miss_held = miss_valid && !miss_ready;
    miss_was = {miss, miss_tw, miss_index};
    if (hit_valid && hit_ready) begin
      check(hit, 1'b1, 1'b0, hit_flow);
      hits++;
    end
    if (miss_valid && miss_ready) begin
      check(miss, 1'b0, miss_tw, miss_tw ? miss_index : '0);
      misses++;
      in_tw += 32'(miss_tw);
    end
    if (asking && answer_valid) begin
      answered();
      asking = 1'b0;
    end
    if (request_valid && request_ready) begin
      asked = request;
      asking = 1'b1;
    end
    if (packet_valid && packet_ready) begin
      flying[id] = '{used: 1'b1, tuple: t, since: cycle, was: state[t], became: state[t]};
      next_id++;
    end
    for (int i = 0; i < 3; i++) begin
      int unsigned s = slot(path_at_before[i]);
      if (!asking && !asked_before && path_known[s] && path[i] != path_is[s])
        $fatal(1, "seed %0d: the path at %0d is another", seed, s);
    end
    path_at_before = path_at;
    asked_before = asking;
    clk = 1'b1;
    #1 clk = 1'b0;
    if (asking) request_valid = 1'b0;
    cycle++;
  endtask

  initial begin
    void'($value$plusargs("seed=%d", seed));
    void'($urandom(seed));
    for (int unsigned k = 0; k < Keys; k++) begin
      for (int i = 0; i < 12; i++) key[32*i+:32] = $urandom;
      if (k % 2 == 1) key = key & 384'h3f;    // the ports' lowest bits, of few hashes
      restart();
      repeat (Cycles) one_cycle();
      if (k % 2 == 0) begin
        if (refused > inserts / 100)
          $fatal(1, "seed %0d: %0d of %0d refused", seed, refused, inserts);
      end else unlike += refused;
      refused = 0;
    end
    if (hits < 1000 || in_tw < 1000 || moves < 100 || deletes < 100 || unlike < 10)
      $fatal(1, "too little happened: %0d hits, %0d TIME-WAIT, %0d moves, %0d deletes, %0d alike",
             hits, in_tw, moves, deletes, unlike);
    $display("seed %0d: %0d hits, %0d misses, %0d of them in TIME-WAIT; %0d moves, %0d deletes",
             seed, hits, misses, in_tw, moves, deletes);
    $finish;
  end
endmodule
