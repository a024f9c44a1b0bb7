// SPDX-License-Identifier: Apache-2.0
// rtt_match.sv - keeps the stamps of probes in flight and finds the stamp of each answer. One probe
// and one answer per cycle.
//
// Two tables share the addresses. Only probes write LEFT, only answers write BACK, so neither waits
// for the other:
//
//   LEFT[slot] = key | stamp, order | turn, void            BACK[slot] = turn
//
// A stamp is in flight while the two turns differ. A probe that takes a free slot flips LEFT's turn,
// an answer sets BACK's to the same value. If a probe and an answer use one slot in the same cycle,
// the answer comes first. In cycles without an answer, a cyclic scan of the slots ends stamps that
// are older than the timeout.
//
//   where: F, G   kind: Z   tables: A read, B, C, P, D decide, W write   then: E (is W), F, out
//
// The decision at D uses few bits: the comparison of keys is complete before D (rtt_same.sv), and
// consequences are computed after it. For TCP, rtt_sent.sv keeps what was sent twice, rtt_acked.sv
// what was acknowledged.
`resetall
`default_nettype none

module rtt_match
  import rtt_pkg::*;
#(
    parameter int unsigned SlotBits = 10,
    parameter int unsigned FlowBits = 8,
    parameter bit          Flushed  = 1'b0  // for proofs: the memories are initially empty
) (
    input  wire               clk_i,
    input  wire               rst_ni,
    input  wire      [  31:0] now_i,
    input  wire      config_t config_i,
    input  wire               flush_i,      // discard all in flight
    output logic              flushing_o,
    input  wire               tx_valid_i,
    input  wire      event_t  tx_i,
    input  wire               rx_valid_i,
    input  wire      event_t  rx_i,
    // one cycle's outcome
    output pulses_t           pulses_o,
    output logic     [  31:0] answered_o,   // of a sample: both stamps and the value
    output logic     [  31:0] probed_o,
    output logic     [  31:0] value_o
);
  localparam int unsigned SweepBits = SlotBits > FlowBits ? SlotBits : FlowBits;
  localparam int unsigned OrderBits = 24;

  typedef logic [SlotBits-1:0] slot_t;

  typedef struct packed {
    logic [31:0]          stamp;
    logic [OrderBits-1:0] order;
  } when_t;

  // ---- flush: after reset and on flush_i
  logic flushing_q;
  logic [SweepBits:0] sweep_q;  // the top bit: all swept, the pipeline drains
  logic [4:0] drain_q;
  always_ff @(posedge clk_i) begin
    if (flushing_q) begin
      if (!sweep_q[SweepBits]) sweep_q <= sweep_q + 1'b1;
      drain_q <= sweep_q[SweepBits] ? drain_q + 1'b1 : '0;
      if (drain_q == '1) flushing_q <= 1'b0;
    end else if (flush_i) begin
      flushing_q <= 1'b1;
      sweep_q    <= '0;
    end
    if (!rst_ni) begin
      flushing_q <= !Flushed;
      sweep_q    <= '0;
      drain_q    <= '0;
    end
  end
  assign flushing_o = flushing_q;
  wire sweeping = flushing_q && !sweep_q[SweepBits];

  // ---- stages F and G: the slot of the key
  typedef struct packed {
    logic        valid;
    event_t      e;
    logic [15:0] low;   // sums of the value's digits
    logic [15:0] high;
    logic [15:0] hash;
  } where_t;
  function automatic where_t where_of(input logic valid, input event_t e);
    return '{
        valid: valid, e: e, low: fold_half(e.key.value, 1'b0, SlotBits),
        high: fold_half(e.key.value, 1'b1, SlotBits), hash: flow_hash(e.key.flow)
    };
  endfunction
  function automatic op_t op_of(input where_t w);
    return '{
        kind: w.valid && w.e.counts ? Event : Nothing, packet: w.valid, e: w.e,
        slot: 16'(slot_t'(around(w.low, w.high, SlotBits) ^ w.hash)), flow: w.hash
    };
  endfunction

  where_t tx_f, rx_f;
  op_t tx_g, rx_g;
  logic [SlotBits-1:0] scan_slot_q;
  op_t tx_z, rx_z, tx_a, rx_a, tx_b, rx_b, tx_c, rx_c, tx_p, rx_p, tx_d, rx_d;
  always_ff @(posedge clk_i) begin
    tx_f <= where_of(tx_valid_i, tx_i);
    rx_f <= where_of(rx_valid_i, rx_i);
    tx_g <= op_of(tx_f);
    rx_g <= op_of(rx_f);

    tx_z <= tx_g;
    rx_z <= rx_g;
    if (flushing_q) begin
      tx_z.kind <= sweeping ? Flush : Nothing;
      rx_z.kind <= sweeping ? Flush : Nothing;
      tx_z.slot <= 16'(sweep_q[SweepBits-1:0]);
      rx_z.slot <= 16'(sweep_q[SweepBits-1:0]);
      tx_z.flow <= 16'(sweep_q[SweepBits-1:0]);
      rx_z.flow <= 16'(sweep_q[SweepBits-1:0]);
    end else if (rx_g.kind == Nothing) begin
      rx_z.kind   <= Scan;
      rx_z.slot   <= 16'(scan_slot_q);
      scan_slot_q <= scan_slot_q + 1'b1;
    end
    {tx_d, tx_p, tx_c, tx_b, tx_a} <= {tx_p, tx_c, tx_b, tx_a, tx_z};
    {rx_d, rx_p, rx_c, rx_b, rx_a} <= {rx_p, rx_c, rx_b, rx_a, rx_z};
    if (!rst_ni) begin
      scan_slot_q <= '0;
      {tx_f.valid, rx_f.valid} <= '0;
      {tx_g.kind, tx_z.kind, tx_a.kind, tx_b.kind, tx_c.kind, tx_p.kind, tx_d.kind} <= '0;
      {rx_g.kind, rx_z.kind, rx_a.kind, rx_b.kind, rx_c.kind, rx_p.kind, rx_d.kind} <= '0;
      {tx_g.packet, tx_z.packet, tx_a.packet, tx_b.packet} <= '0;
      {rx_g.packet, rx_z.packet, rx_a.packet, rx_b.packet} <= '0;
      {tx_c.packet, tx_p.packet, tx_d.packet} <= '0;
      {rx_c.packet, rx_p.packet, rx_d.packet} <= '0;
    end
  end

  // ---- the tables, as each side reads them at stage D
  logic key_write_q, state_write_q, stamped_q, turn_q, void_q, back_write_q, back_q;
  logic tx_live_before, tx_turn, tx_same, rx_live, rx_turn, rx_void, rx_same, young;
  logic unused_void, unused_young;
  when_t when_q, rx_when, early;
  key_t entry, unused_key;

  rtt_same #(.KeyBits($bits(key_t)), .Bits(SlotBits)) u_tx_key (
      .clk_i, .waddr_p_i(slot_t'(tx_p.slot)), .waddr_d_i(slot_t'(tx_d.slot)),
      .wkey_p_i(tx_p.e.key), .wkey_d_i(tx_d.e.key), .wused_p_i(tx_p.kind == Event),
      .wused_d_i(tx_d.kind == Event), .write_i(key_write_q), .addr_a_i(slot_t'(tx_a.slot)),
      .key_a_i(tx_a.e.key), .same_d_o(tx_same), .young_d_o(unused_young), .key_d_o(unused_key));
  rtt_same #(.KeyBits($bits(key_t)), .Bits(SlotBits)) u_rx_key (
      .clk_i, .waddr_p_i(slot_t'(tx_p.slot)), .waddr_d_i(slot_t'(tx_d.slot)),
      .wkey_p_i(tx_p.e.key), .wkey_d_i(tx_d.e.key), .wused_p_i(tx_p.kind == Event),
      .wused_d_i(tx_d.kind == Event), .write_i(key_write_q), .addr_a_i(slot_t'(rx_a.slot)),
      .key_a_i(rx_a.e.key), .same_d_o(rx_same), .young_d_o(young), .key_d_o(entry));
  rtt_view #(.Width($bits(when_t)), .Bits(SlotBits)) u_rx_when (
      .clk_i, .waddr_d_i(slot_t'(tx_d.slot)), .write_i(key_write_q), .wdata_i(when_q),
      .addr_a_i(slot_t'(rx_a.slot)), .early_o(early), .data_d_o(rx_when));
  rtt_live #(.Bits(SlotBits)) u_tx_live (
      .clk_i, .left_d_i(slot_t'(tx_d.slot)), .stamped_i(stamped_q), .write_i(state_write_q),
      .turn_i(turn_q), .void_i(void_q), .back_d_i(slot_t'(rx_d.slot)), .ended_i(back_write_q),
      .back_i(back_q), .addr_a_i(slot_t'(tx_a.slot)), .live_d_o(tx_live_before),
      .turn_d_o(tx_turn), .void_d_o(unused_void));
  rtt_live #(.Bits(SlotBits)) u_rx_live (
      .clk_i, .left_d_i(slot_t'(tx_d.slot)), .stamped_i(stamped_q), .write_i(state_write_q),
      .turn_i(turn_q), .void_i(void_q), .back_d_i(slot_t'(rx_d.slot)), .ended_i(back_write_q),
      .back_i(back_q), .addr_a_i(slot_t'(rx_a.slot)), .live_d_o(rx_live),
      .turn_d_o(rx_turn), .void_d_o(rx_void));

  // ---- before D: the part of the decision that does not depend on the tables. meets: the probe
  // and the answer, or the stamp that the scan ends, use one slot.
  logic tcp_q, newest_counts_q;
  logic answer_d, too_old_d, meets_answer_d, meets_old_d, rx_flush_d;
  logic probe_d, by_value_d, tx_flush_d;
  logic first_d, sent_twice_e;
  logic [31:0] age_p, mark_e;
  wire too_old = rx_p.kind == Scan && age_p > config_i.timeout;
  wire meet = tx_p.slot == rx_p.slot;
  always_ff @(posedge clk_i) begin
    tcp_q           <= config_i.mode == ModeTcp;
    newest_counts_q <= config_i.mode == ModeAny || config_i.mode == ModeUdp;
    age_p           <= elapsed(now_i, early.stamp);
    answer_d        <= rx_p.kind == Event;
    rx_flush_d      <= rx_p.kind == Flush;
    too_old_d       <= too_old;
    meets_answer_d  <= meet && rx_p.kind == Event;
    meets_old_d     <= meet && too_old;
    probe_d         <= tx_p.kind == Event;
    by_value_d      <= tx_p.kind == Event && !newest_counts_q;
    tx_flush_d      <= tx_p.kind == Flush;
    if (!rst_ni) {answer_d, rx_flush_d, too_old_d, probe_d, by_value_d, tx_flush_d} <= '0;
  end

  // ---- stage D: the arriving side. young: a new stamp, not the one that is too old.
  wire hit = answer_d && rx_live && rx_same;
  wire ended = rx_live && ((answer_d && rx_same) || (too_old_d && !young));

  // ---- stage D: the leaving side. The answer comes first. first: not sent before (rtt_sent).
  wire ends = rx_live && ((meets_answer_d && rx_same) || (meets_old_d && !young));
  wire tx_live = tx_live_before && !ends;
  wire twice = by_value_d && tx_live && tx_same;
  wire stamped = first_d && !twice;

  rtt_sent #(.FlowBits(FlowBits)) u_sent (
      .clk_i, .rst_ni, .tcp_i(tcp_q), .tx_z_i(tx_z), .tx_a_i(tx_a), .tx_c_i(tx_c), .tx_p_i(tx_p),
      .tx_d_i(tx_d), .first_d_o(first_d), .twice_d_i(twice), .rx_a_i(rx_a),
      .twice_o(sent_twice_e), .mark_o(mark_e));

  // ---- stage W: writes the tables and counts the order of stamps.
  logic [OrderBits-1:0] order_q;
  logic [31:0] stamp_q;
  assign when_q = '{stamp: stamp_q, order: order_q};
  always_ff @(posedge clk_i) begin
    stamped_q     <= stamped;
    key_write_q   <= stamped || tx_flush_d;
    state_write_q <= first_d || twice || tx_flush_d;
    turn_q        <= !tx_flush_d && (tx_live == tx_turn);  // free slot: flip it
    void_q        <= twice;  // an answer gives no sample
    stamp_q       <= tx_d.e.stamp;
    back_write_q  <= ended || rx_flush_d;
    back_q        <= !rx_flush_d && rx_turn;
    if (stamped_q) order_q <= order_q + 1'b1;
    if (!rst_ni) begin
      {stamped_q, key_write_q, state_write_q, back_write_q} <= '0;
      order_q <= '0;
    end
  end

  // ---- after D: the outcome. E: is it ambiguous (Karn)? F: was it reordered?
  typedef struct packed {
    logic        rx_packet;
    logic        answer;
    logic        same;
    logic        live;
    logic        hit;
    logic        void_stamp;
    logic [31:0] value;
    logic [31:0] answered;
    when_t       left;
    logic        tx_packet;
    logic        probe;
    logic        stamped;
    logic        tx_live;
  } outcome_t;
  outcome_t e_q, f_q;
  logic sample_f;
  wire karn = sent_twice_e && seq_le(e_q.value, mark_e);
  always_ff @(posedge clk_i) begin
    e_q <= '{
        rx_packet: rx_d.packet, answer: answer_d, same: rx_same, live: rx_live, hit: hit,
        void_stamp: rx_void, value: rx_d.e.key.value, answered: rx_d.e.stamp,
        left: rx_when, tx_packet: tx_d.packet, probe: probe_d, stamped: stamped,
        tx_live: tx_live
    };
    f_q      <= e_q;
    sample_f <= e_q.hit && !e_q.void_stamp && !karn;
    if (!rst_ni) begin
      e_q      <= '0;
      f_q      <= '0;
      sample_f <= 1'b0;
    end
  end

  // Serial arithmetic as for sequence numbers: younger than the youngest answered?
  logic newest_known_q;
  logic [OrderBits-1:0] newest_q;
  wire [OrderBits-1:0] order_ahead = f_q.left.order - newest_q;
  wire reordered = sample_f && newest_known_q && order_ahead[OrderBits-1];

  pulses_t out_q;
  always_ff @(posedge clk_i) begin
    if (sample_f && !reordered) newest_q <= f_q.left.order;
    if (sample_f) newest_known_q <= 1'b1;
    if (flushing_q) newest_known_q <= 1'b0;
    out_q <= '{
        tx_packet: f_q.tx_packet,
        rx_packet: f_q.rx_packet,
        probe: f_q.probe,
        resent: f_q.probe && !f_q.stamped,
        replaced: f_q.stamped && f_q.tx_live,
        ambiguous: f_q.hit && !sample_f,
        answer: f_q.answer,
        duplicate: f_q.answer && f_q.same && !f_q.live,
        unmatched: f_q.answer && !f_q.same,
        reordered: reordered,
        sample: sample_f,
        default: 1'b0
    };
    answered_o <= f_q.answered;
    probed_o   <= f_q.left.stamp;
    value_o    <= f_q.value;
    if (!rst_ni) out_q <= '0;
  end

  // Timed-out stamps: lost or covered, which is known some cycles later.
  logic expire_e, flush_e, syn_e, lost, covered;
  logic [15:0] flow_e;
  key_t key_e;
  always_ff @(posedge clk_i) begin
    expire_e <= rx_live && too_old_d && !young;
    flush_e  <= rx_flush_d;
    flow_e   <= rx_d.flow;
    syn_e    <= rx_d.e.syn;
    key_e    <= answer_d ? rx_d.e.key : entry;
    if (!rst_ni) {expire_e, flush_e} <= '0;
  end
  rtt_acked #(.FlowBits(FlowBits)) u_acked (
      .clk_i, .rst_ni, .tcp_i(tcp_q), .answer_i(e_q.answer), .expire_i(expire_e), .flush_i(flush_e),
      .flush_flow_i(flow_e), .key_i(key_e), .syn_i(syn_e), .lost_o(lost), .covered_o(covered));

  always_comb begin
    pulses_o = out_q;
    pulses_o.lost = lost;
    pulses_o.covered = covered;
  end

endmodule

`resetall
