// SPDX-License-Identifier: Apache-2.0
// rtt_match.sv - keeps the stamps of probes in flight and finds the one that an answer belongs to.
// A probe and an answer each cycle.
//
// Two tables share the addresses. LEFT is written by probes alone, BACK by answers alone, so neither
// waits for the other:
//
//   LEFT[slot] = used, turn, void, key, stamp, order        BACK[slot] = turn
//
// A stamp is in flight while the two turns differ. A probe that takes a free slot flips LEFT's turn,
// an answer makes BACK's the same again. Of a probe and an answer to one slot in one cycle the
// answer comes first. A scan goes round the slots in cycles without an answer and ends what is
// older than the timeout.
//
// TCP: SENT[flow], written by what leaves, knows the highest sequence number sent and up to where
// it was sent twice; ACKED[flow], written by what arrives, the highest acknowledgement.
`resetall
`default_nettype none

module rtt_match
  import rtt_pkg::*;
#(
    parameter int unsigned SlotBits = 10,
    parameter int unsigned FlowBits = 8
) (
    input  wire               clk_i,
    input  wire               rst_ni,
    input  wire      [  31:0] now_i,
    input  wire      config_t config_i,
    input  wire               flush_i,      // forget all in flight
    output logic              flushing_o,
    input  wire               tx_valid_i,
    input  wire      event_t  tx_i,
    input  wire               rx_valid_i,
    input  wire      event_t  rx_i,
    // one cycle's outcome
    output pulses_t           pulses_o,
    output logic     [  31:0] answered_o,   // of a sample: its two stamps and its value
    output logic     [  31:0] probed_o,
    output logic     [  31:0] value_o
);
  localparam int unsigned SweepBits = SlotBits > FlowBits ? SlotBits : FlowBits;
  localparam int unsigned OrderBits = 24;

  typedef enum logic [2:0] {
    Nothing,
    Event,   // a probe, an answer
    Scan,    // is the stamp in this slot too old?
    Expire,  // end it, if it still is
    Flush    // empty slot and flow
  } op_e;

  typedef struct packed {
    op_e                 op;
    logic                packet;
    event_t              e;
    logic [SlotBits-1:0] slot;
    logic [FlowBits-1:0] flow;
  } stage_t;

  typedef struct packed {
    logic                 used;
    logic                 turn;
    logic                 void_stamp;  // sent twice: an answer tells no time
    key_t                 key;
    logic [31:0]          stamp;
    logic [OrderBits-1:0] order;
  } left_t;

  typedef struct packed {
    logic        used;
    logic [63:0] flow;
    logic [31:0] highest;
    logic        twice;    // acknowledgements up to mark are ambiguous
    logic [31:0] mark;
  } sent_t;

  typedef struct packed {
    logic        used;
    logic [63:0] flow;
    logic [31:0] highest;
  } acked_t;

  function automatic logic [SlotBits-1:0] slot_of(input key_t key);
    return SlotBits'(fold(key.value, SlotBits)) ^ SlotBits'(flow_hash(key.flow));
  endfunction
  function automatic logic [FlowBits-1:0] flow_of(input logic [63:0] flow);
    return FlowBits'(flow_hash(flow));
  endfunction

  // ---- flush: after reset, and when asked for
  logic flushing_q;
  logic [SweepBits:0] sweep_q;  // the top bit: all swept, the pipeline drains
  logic [2:0] drain_q;
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
      flushing_q <= 1'b1;
      sweep_q    <= '0;
      drain_q    <= '0;
    end
  end
  assign flushing_o = flushing_q;
  wire sweeping = flushing_q && !sweep_q[SweepBits];

  // ---- the scan for what is too old
  typedef enum logic [1:0] {
    AskScan,
    AwaitScan,
    AskExpire,
    AwaitExpire
  } scan_e;
  scan_e scan_q;
  logic [SlotBits-1:0] scan_slot_q;
  logic [FlowBits-1:0] scan_flow_q;

  // ---- stage A
  wire rx_event = rx_valid_i && rx_i.counts && !flushing_q;
  wire ask = (scan_q == AskScan || scan_q == AskExpire) && !rx_event && !flushing_q;
  stage_t tx_a, rx_a, tx_b, rx_b, tx_d, rx_d;
  always_ff @(posedge clk_i) begin
    tx_a <= '{
        op: tx_valid_i && tx_i.counts && !flushing_q ? Event : Nothing,
        packet: tx_valid_i,
        e: tx_i,
        slot: slot_of(tx_i.key),
        flow: flow_of(tx_i.key.flow)
    };
    rx_a <= '{
        op: rx_event ? Event : Nothing,
        packet: rx_valid_i,
        e: rx_i,
        slot: slot_of(rx_i.key),
        flow: flow_of(rx_i.key.flow)
    };
    if (sweeping) begin
      tx_a.op   <= Flush;
      tx_a.slot <= SlotBits'(sweep_q);
      tx_a.flow <= FlowBits'(sweep_q);
      rx_a.op   <= Flush;
      rx_a.slot <= SlotBits'(sweep_q);
      rx_a.flow <= FlowBits'(sweep_q);
    end else if (ask) begin
      rx_a.op   <= scan_q == AskScan ? Scan : Expire;
      rx_a.slot <= scan_slot_q;
      rx_a.flow <= scan_flow_q;
    end
    tx_b <= tx_a;
    rx_b <= rx_a;
    tx_d <= tx_b;
    rx_d <= rx_b;
    if (!rst_ni) begin
      {tx_a.op, tx_b.op, tx_d.op}             <= {3{Nothing}};
      {rx_a.op, rx_b.op, rx_d.op}             <= {3{Nothing}};
      {tx_a.packet, tx_b.packet, tx_d.packet} <= '0;
      {rx_a.packet, rx_b.packet, rx_d.packet} <= '0;
    end
  end

  // ---- the tables, as each side sees them at stage D
  logic left_write_q, back_write_q, sent_write_q, acked_write_q;
  logic [SlotBits-1:0] left_slot_q, back_slot_q;
  logic [FlowBits-1:0] sent_flow_q, acked_flow_q;
  left_t left_q, tx_left, rx_left;
  logic back_q, tx_back, rx_back;
  sent_t sent_q, tx_sent, rx_sent;
  acked_t acked_q, rx_acked;

  rtt_view #(.Width($bits(left_t)), .Bits(SlotBits)) u_tx_left (
      .clk_i, .write_i(left_write_q), .waddr_i(left_slot_q), .wdata_i(left_q),
      .addr_a_i(tx_a.slot), .data_d_o(tx_left));
  rtt_view #(.Width($bits(left_t)), .Bits(SlotBits)) u_rx_left (
      .clk_i, .write_i(left_write_q), .waddr_i(left_slot_q), .wdata_i(left_q),
      .addr_a_i(rx_a.slot), .data_d_o(rx_left));
  rtt_view #(.Width(1), .Bits(SlotBits)) u_tx_back (
      .clk_i, .write_i(back_write_q), .waddr_i(back_slot_q), .wdata_i(back_q),
      .addr_a_i(tx_a.slot), .data_d_o(tx_back));
  rtt_view #(.Width(1), .Bits(SlotBits)) u_rx_back (
      .clk_i, .write_i(back_write_q), .waddr_i(back_slot_q), .wdata_i(back_q),
      .addr_a_i(rx_a.slot), .data_d_o(rx_back));
  rtt_view #(.Width($bits(sent_t)), .Bits(FlowBits)) u_tx_sent (
      .clk_i, .write_i(sent_write_q), .waddr_i(sent_flow_q), .wdata_i(sent_q),
      .addr_a_i(tx_a.flow), .data_d_o(tx_sent));
  rtt_view #(.Width($bits(sent_t)), .Bits(FlowBits)) u_rx_sent (
      .clk_i, .write_i(sent_write_q), .waddr_i(sent_flow_q), .wdata_i(sent_q),
      .addr_a_i(rx_a.flow), .data_d_o(rx_sent));
  rtt_view #(.Width($bits(acked_t)), .Bits(FlowBits)) u_rx_acked (
      .clk_i, .write_i(acked_write_q), .waddr_i(acked_flow_q), .wdata_i(acked_q),
      .addr_a_i(rx_a.flow), .data_d_o(rx_acked));

  // ---- stage D: what arrives
  wire tcp = config_i.mode == ModeTcp;
  wire answer = rx_d.op == Event;
  wire rx_live = rx_left.turn != rx_back;
  wire rx_same = rx_left.used && rx_left.key == rx_d.e.key;
  wire hit = answer && rx_live && rx_same;
  // Karn: of a sequence range that was sent twice nobody knows which sending is acknowledged.
  wire karn = tcp && rx_sent.used && rx_sent.flow == rx_d.e.key.flow && rx_sent.twice &&
      seq_le(rx_d.e.key.value, rx_sent.mark);
  wire sample = hit && !rx_left.void_stamp && !karn;
  wire old = rx_live && elapsed(now_i, rx_left.stamp) > config_i.timeout;
  wire expire = rx_d.op == Expire && old;
  wire covered = tcp && rx_acked.used && rx_acked.flow == rx_left.key.flow &&
      seq_le(rx_left.key.value, rx_acked.highest);
  wire ended = hit || expire;

  wire acked_new = !rx_acked.used || rx_acked.flow != rx_d.e.key.flow || rx_d.e.syn ||
      seq_lt(rx_acked.highest, rx_d.e.key.value);

  // Serial arithmetic, as of sequence numbers: younger than the youngest answered?
  logic newest_known_q;
  logic [OrderBits-1:0] newest_q;
  wire [OrderBits-1:0] order_ahead = rx_left.order - newest_q;
  wire reordered = sample && newest_known_q && order_ahead[OrderBits-1];

  // ---- stage D: what leaves
  wire probe = tx_d.op == Event;
  wire ends_now = ended && rx_d.slot == tx_d.slot;  // the answer comes first
  wire tx_live = tx_left.turn != tx_back && !ends_now;
  wire tx_same = tx_left.used && tx_left.key == tx_d.e.key;
  wire newest_counts = config_i.mode == ModeAny || config_i.mode == ModeUdp;
  wire known = tcp && tx_sent.used && tx_sent.flow == tx_d.e.key.flow;
  wire sent_before = known && (tx_d.e.syn ? tx_d.e.key.value == tx_sent.highest
                                          : seq_lt(tx_d.e.seq, tx_sent.highest));
  wire twice = probe && tx_live && tx_same && !newest_counts;
  wire resent = twice || (probe && sent_before);
  wire stamped = probe && !resent;
  wire fresh = !known || (tx_d.e.syn && !sent_before);  // a connection that begins
  wire [31:0] highest = !fresh && seq_lt(tx_d.e.key.value, tx_sent.highest) ? tx_sent.highest
                                                                           : tx_d.e.key.value;
  wire [31:0] beyond_mark = tx_d.e.key.value - tx_sent.mark;
  wire mark_is_far = beyond_mark[31:30] != 2'b00;  // and would soon be taken for one ahead

  logic [OrderBits-1:0] order_q;

  // ---- stage W
  always_ff @(posedge clk_i) begin
    left_write_q <= stamped || twice || tx_d.op == Flush;
    left_slot_q  <= tx_d.slot;
    if (tx_d.op == Flush) begin
      left_q <= '0;
    end else if (twice) begin
      left_q            <= tx_left;
      left_q.void_stamp <= 1'b1;
    end else begin
      left_q <= '{
          used: 1'b1,
          turn: tx_live ? tx_left.turn : !tx_left.turn,
          void_stamp: 1'b0,
          key: tx_d.e.key,
          stamp: tx_d.e.stamp,
          order: order_q
      };
    end

    back_write_q <= ended || rx_d.op == Flush;
    back_slot_q  <= rx_d.slot;
    back_q       <= rx_d.op == Flush ? 1'b0 : rx_left.turn;

    sent_write_q <= (probe && tcp) || tx_d.op == Flush;
    sent_flow_q  <= tx_d.flow;
    sent_q       <= '{
        used: tx_d.op != Flush,
        flow: tx_d.e.key.flow,
        highest: highest,
        twice: resent || (!fresh && tx_sent.twice && !mark_is_far),
        mark: resent ? highest : tx_sent.mark
    };

    acked_write_q <= (answer && tcp && acked_new) || rx_d.op == Flush;
    acked_flow_q  <= rx_d.flow;
    acked_q <= '{
        used: rx_d.op != Flush, flow: rx_d.e.key.flow, highest: rx_d.e.key.value
    };

    if (stamped) order_q <= order_q + 1'b1;
    if (sample && !reordered) newest_q <= rx_left.order;
    if (sample) newest_known_q <= 1'b1;

    pulses_o <= '{
        tx_packet: tx_d.packet,
        rx_packet: rx_d.packet,
        probe: probe,
        resent: resent,
        replaced: stamped && tx_live,
        ambiguous: hit && !sample,
        covered: expire && covered,
        lost: expire && !covered,
        answer: answer,
        duplicate: answer && rx_same && !rx_live,
        unmatched: answer && !rx_same,
        reordered: reordered,
        sample: sample
    };
    answered_o <= rx_d.e.stamp;
    probed_o   <= rx_left.stamp;
    value_o    <= rx_d.e.key.value;

    if (flushing_q) newest_known_q <= 1'b0;
    if (!rst_ni) begin
      {left_write_q, back_write_q, sent_write_q, acked_write_q} <= '0;
      order_q  <= '0;
      pulses_o <= '0;
    end
  end

  // One scan at a time; what it finds too old is looked at again by Expire, which knows the flow.
  always_ff @(posedge clk_i) begin
    case (scan_q)
      AskScan:   if (ask) scan_q <= AwaitScan;
      AskExpire: if (ask) scan_q <= AwaitExpire;
      AwaitScan:
      if (rx_d.op == Scan) begin
        scan_flow_q <= flow_of(rx_left.key.flow);
        scan_q      <= old ? AskExpire : AskScan;
        if (!old) scan_slot_q <= scan_slot_q + 1'b1;
      end
      default:
      if (rx_d.op == Expire) begin
        scan_q      <= AskScan;
        scan_slot_q <= scan_slot_q + 1'b1;
      end
    endcase
    if (!rst_ni || flushing_q) begin
      scan_q      <= AskScan;
      scan_slot_q <= '0;
    end
  end

endmodule

`resetall
