// SPDX-License-Identifier: Apache-2.0
// fpc_tcbs.sv - the TCBs of an FPC: 2^HotBits of them on chip, the others in DRAM (S1.4). It finds
// where the TCB of each event's flow is; fpc_wait requests one that is not on chip. A fetched TCB goes
// into a place freed in advance by the clock algorithm: the hand skips places used since its last
// visit, and those whose flow has a waiting event or is in the pipeline.
//
//   event --> a: where is it? --> fpc_wait --> pipeline ...... written back
//                  ^                 | want        | read          |
//               where[]  <--- came --+     +-------v---------------v--+
//                                    |     | tcbs[2^HotBits]          |
//                      DRAM ---------+---> |                          | ---> DRAM
//                          fetched, in order of requests       evicted
//
// Both ports of the memory belong to the pipeline. An eviction reads, and what was fetched is written, in
// cycles in which no event begins (hole_o), or one ends that did not begin.
//
// With HotBits >= IndexBits all are on chip, and none of this exists.
`resetall
`default_nettype none

module fpc_tcbs
  import toe_pkg::*;
#(
  parameter int unsigned Width = 8,       // of a TCB
  parameter int unsigned IndexBits = 8,   // flows of this FPC
  parameter int unsigned FpcBits = 0,
  parameter int unsigned Fpc = 0,
  parameter int unsigned HotBits = 8,
  parameter int unsigned Stages = 11
) (
  input  wire               clk_i,
  input  wire               rst_ni,
  output wire               ready_o,      // after reset: no flow has a TCB

  input  wire               event_valid_i,
  output wire               event_ready_o,
  input  wire event_t       event_i,
  output wire               event_valid_o,
  input  wire               event_ready_i,
  output wire event_t       event_o,
  output wire               hot_o,
  output wire [HotBits-1:0] at_o,
  output wire               fresh_o,

  input  wire               want_i,
  input  wire flow_t        want_flow_i,
  input  wire               want_fresh_i,
  output wire               want_ready_o,
  output wire               came_o,
  output wire flow_t        came_flow_o,
  output wire [HotBits-1:0] came_at_o,
  output wire flow_t        victim_o,
  input  wire               pinned_i,

  // the pipeline; nothing is issued while hole_o
  output wire               hole_o,
  input  wire               issue_i,
  input  wire [HotBits-1:0] issue_at_i,
  output wire [Width-1:0]   tcb_o,
  input  wire [Stages-1:0]  flying_i,
  input  wire flow_t [Stages-1:0] flying_flow_i,
  input  wire               write_i,
  input  wire [HotBits-1:0] write_at_i,
  input  wire [Width-1:0]   write_tcb_i,

  // DRAM: TCBs arrive in the order of requests, and are saved in the order given
  output wire               fetch_valid_o,
  input  wire               fetch_ready_i,
  output wire flow_t        fetch_flow_o,
  input  wire               fetched_valid_i,
  output wire               fetched_ready_o,
  input  wire [Width-1:0]   fetched_i,
  output wire               save_valid_o,
  input  wire               save_ready_i,
  output wire flow_t        save_flow_o,
  output wire [Width-1:0]   save_o,
  input  wire               saved_i,

  output wire               evicted_o
);

  typedef logic [IndexBits-1:0] index_t;
  typedef logic [HotBits-1:0] at_t;

  // A flow's next event may start in the cycle in which its TCB is written: the written TCB is forwarded.
  logic same_q;
  logic [Width-1:0] written_q, read_tcb;
  always_ff @(posedge clk_i) begin
    same_q <= write_i && write_at_i == issue_at_i;
    written_q <= write_tcb_i;
  end
  assign tcb_o = same_q ? written_q : read_tcb;

  function automatic flow_t flow_of(input index_t index);
    return (flow_t'(index) << FpcBits) | flow_t'(Fpc);
  endfunction

  // After reset the memories are cleared, one word a cycle.
  index_t clear_q;
  logic clearing_q;
  assign ready_o = !clearing_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clear_q <= '0;
      clearing_q <= 1'b1;
    end else begin
      clear_q <= clear_q + 1'b1;
      if (clear_q == '1) clearing_q <= 1'b0;
    end
  end

  if (HotBits >= IndexBits) begin : gen_all

    assign event_valid_o = event_valid_i && !clearing_q;
    assign event_ready_o = event_ready_i && !clearing_q;
    assign event_o = event_i;
    assign hot_o = 1'b1;
    assign at_o = at_t'(index_t'(event_i.flow >> FpcBits));
    assign fresh_o = 1'b0;
    sdp_ram #(.Width(Width), .AddrBits(HotBits)) tcbs (
      .clk_i,
      .write_i(clearing_q || write_i),
      .waddr_i(clearing_q ? at_t'(clear_q) : write_at_i),
      .wdata_i(clearing_q ? '0 : write_tcb_i),
      .raddr_i(issue_at_i),
      .rdata_o(read_tcb)
    );
    assign want_ready_o = 1'b1;
    assign came_o = 1'b0;
    assign came_flow_o = '0;
    assign came_at_o = '0;
    assign victim_o = '0;
    assign hole_o = 1'b0;
    assign fetch_valid_o = 1'b0;
    assign fetch_flow_o = '0;
    assign fetched_ready_o = 1'b1;
    assign save_valid_o = 1'b0;
    assign save_flow_o = '0;
    assign save_o = '0;
    assign evicted_o = 1'b0;
    wire unused = &{1'b0, want_i, want_flow_i, want_fresh_i, pinned_i, issue_i, flying_i,
                    flying_flow_i, fetch_ready_i, fetched_valid_i, fetched_i, save_ready_i, saved_i,
                    flow_of('0)};

  end else begin : gen_hot

    localparam int unsigned AskedBits = 2;   // outstanding fetches: 2^AskedBits
    localparam int unsigned Asked = 2 ** AskedBits;
    localparam int unsigned Saving = 4;

    typedef struct packed {
      logic saved;    // DRAM has its TCB, while it is not hot
      logic hot;
      at_t  at;
    } where_t;

    // ---- a: where is the TCB of what comes? ----

    logic a_valid_q;
    event_t a_q;
    where_t read, last_q, a_where, change;
    logic last_valid_q, changes;
    index_t last_index_q, change_index;
    wire index_t a_index = index_t'(a_q.flow >> FpcBits);
    wire a_stays = a_valid_q && !event_ready_i;
    wire accept = event_valid_i && event_ready_o;

    assign event_ready_o = !a_stays && !clearing_q;
    sdp_ram #(.Width($bits(where_t)), .AddrBits(IndexBits)) where (
      .clk_i,
      .write_i(clearing_q || changes),
      .waddr_i(clearing_q ? clear_q : change_index),
      .wdata_i(clearing_q ? '0 : change),
      .raddr_i(a_stays ? a_index : index_t'(event_i.flow >> FpcBits)),
      .rdata_o(read)
    );
    // A word written in the cycle in which it was read is forwarded.
    assign a_where = (last_valid_q && last_index_q == a_index) ? last_q : read;

    always_ff @(posedge clk_i) begin
      if (!a_stays) a_q <= event_i;
      last_q <= change;
      last_index_q <= change_index;
      if (!rst_ni) begin
        a_valid_q <= 1'b0;
        last_valid_q <= 1'b0;
      end else begin
        a_valid_q <= a_stays || accept;
        last_valid_q <= changes;
      end
    end

    assign event_valid_o = a_valid_q;
    assign event_o = a_q;
    assign hot_o = a_where.hot;
    assign at_o = a_where.at;
    assign fresh_o = !a_where.saved;

    // ---- what is on its way to DRAM: fetched again only when it is there ----

    flow_t [Saving-1:0] saving_q;
    logic [2:0] saving_n_q;
    logic evict;
    flow_t victim;
    always_ff @(posedge clk_i) begin
      if (saved_i) saving_q <= {flow_t'(0), saving_q[Saving-1:1]};
      if (evict) saving_q[2'(saving_n_q - 3'(saved_i))] <= victim;
      saving_n_q <= rst_ni ? saving_n_q + 3'(evict) - 3'(saved_i) : 3'd0;
    end

    // ---- fetches ----

    typedef struct packed {
      logic  fresh;   // it never had a TCB: all zero, without a fetch
      flow_t flow;
    } asked_t;

    asked_t [Asked-1:0] asked_q, asked_d;
    logic [AskedBits:0] asked_n_q, asked_n_d;
    logic under_way, is_saving;
    always_comb begin
      under_way = 1'b0;
      is_saving = 1'b0;
      for (int i = 0; i < int'(Asked); i++)
        under_way = under_way |
                    ((AskedBits + 1)'(i) < asked_n_q && asked_q[i].flow == want_flow_i);
      for (int i = 0; i < int'(Saving); i++)
        is_saving = is_saving | (3'(i) < saving_n_q && saving_q[i] == want_flow_i);
    end
    wire room = !asked_n_q[AskedBits];
    wire begins = want_i && !under_way && !is_saving && room;
    assign fetch_valid_o = begins && !want_fresh_i;
    assign fetch_flow_o = want_flow_i;
    wire asks = begins && (want_fresh_i || fetch_ready_i);
    assign want_ready_o = under_way || asks;

    // ---- a TCB comes ----

    logic spare_q;       // a place that is free
    at_t spare_at_q;
    wire arrived = asked_n_q != '0 && spare_q && (asked_q[0].fresh || fetched_valid_i);
    wire comes = arrived && !write_i;
    assign fetched_ready_o = comes && !asked_q[0].fresh;
    assign came_o = comes;
    assign came_flow_o = asked_q[0].flow;
    assign came_at_o = spare_at_q;
    wire index_t came_index = index_t'(asked_q[0].flow >> FpcBits);

    always_comb begin
      asked_d = asked_q;
      asked_n_d = asked_n_q;
      if (comes) begin
        asked_d = {asked_t'('0), asked_q[Asked-1:1]};
        asked_n_d = asked_n_q - 1'b1;
      end
      if (asks) begin
        asked_d[AskedBits'(asked_n_d)] = '{fresh: want_fresh_i, flow: want_flow_i};
        asked_n_d = asked_n_d + 1'b1;
      end
    end
    always_ff @(posedge clk_i) begin
      asked_q <= asked_d;
      asked_n_q <= rst_ni ? asked_n_d : '0;
    end

    // ---- a place is made free ----

    logic [HotBits:0] never_q;      // places that never had a TCB: from here on
    at_t hand_q;
    logic look_q;                   // owner is that of the hand's place
    logic [2**HotBits-1:0] used_q;  // since the hand was there
    logic save_q;                   // read from the memory in the last cycle
    logic save_full_q;
    logic [Width-1:0] save_tcb_q;
    flow_t save_flow_q;
    index_t owner;

    sdp_ram #(.Width(IndexBits), .AddrBits(HotBits)) owners (
      .clk_i, .write_i(comes), .waddr_i(spare_at_q), .wdata_i(came_index),
      .raddr_i(hand_q), .rdata_o(owner)
    );

    logic flies;
    assign victim = flow_of(owner);
    assign victim_o = victim;
    always_comb begin
      flies = 1'b0;
      for (int i = 0; i < int'(Stages); i++)
        flies = flies | (flying_i[i] && flying_flow_i[i] == victim);
    end
    wire held = pinned_i || flies || (a_valid_q && a_q.flow == victim);
    wire save_room = !save_q && !save_full_q && !saving_n_q[2];
    wire takes = look_q && !used_q[hand_q] && !held && save_room;
    wire pass = look_q && (used_q[hand_q] || held);
    assign evict = takes;

    always_ff @(posedge clk_i) begin
      // An event that is read here begins: its TCB is used.
      if (pass) used_q[hand_q] <= 1'b0;
      if (issue_i) used_q[issue_at_i] <= 1'b1;
      if (comes) used_q[spare_at_q] <= 1'b1;
      if (!rst_ni) begin
        never_q <= '0;
        spare_q <= 1'b0;
        look_q <= 1'b0;
        hand_q <= '0;
      end else begin
        // The owner is read a cycle before it is looked at, and never while a place is spare.
        look_q <= never_q[HotBits] && !spare_q && !look_q;
        if (pass || takes) hand_q <= hand_q + 1'b1;
        if (comes) spare_q <= 1'b0;
        if (!spare_q && !never_q[HotBits]) begin
          spare_q <= 1'b1;
          spare_at_q <= at_t'(never_q);
          never_q <= never_q + 1'b1;
        end else if (takes) begin
          spare_q <= 1'b1;
          spare_at_q <= hand_q;
        end
      end
    end

    // Both write where[]; a place is spare for one, and not for the other.
    assign changes = comes || takes;
    assign change_index = comes ? came_index : owner;
    assign change = comes ? '{saved: 1'b0, hot: 1'b1, at: spare_at_q}
                          : '{saved: 1'b1, hot: 1'b0, at: '0};

    // ---- the memory ----

    // A hole in what is issued: for the eviction's read at once, for what has arrived when the hole has
    // come to the end of the pipeline. One is enough.
    logic hole_q;
    wire wants_hole = arrived && write_i && !hole_q;
    assign hole_o = takes || wants_hole;

    sdp_ram #(.Width(Width), .AddrBits(HotBits)) tcbs (
      .clk_i,
      .write_i(write_i || comes),
      .waddr_i(write_i ? write_at_i : spare_at_q),
      .wdata_i(write_i ? write_tcb_i : (asked_q[0].fresh ? '0 : fetched_i)),
      .raddr_i(takes ? hand_q : issue_at_i),
      .rdata_o(read_tcb)
    );

    always_ff @(posedge clk_i) begin
      if (save_q) save_tcb_q <= read_tcb;
      if (takes) save_flow_q <= victim;
      if (!rst_ni) begin
        hole_q <= 1'b0;
        save_q <= 1'b0;
        save_full_q <= 1'b0;
      end else begin
        hole_q <= (hole_q || wants_hole) && !comes;
        save_q <= takes;
        if (save_q) save_full_q <= 1'b1;
        else if (save_ready_i) save_full_q <= 1'b0;
      end
    end
    assign save_valid_o = save_full_q;
    assign save_flow_o = save_flow_q;
    assign save_o = save_tcb_q;
    assign evicted_o = takes;

  end

endmodule

`resetall
