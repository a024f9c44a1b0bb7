// SPDX-License-Identifier: Apache-2.0
// rtt_sent.sv - keeps, for each TCP connection, the highest sequence number sent and the end of the
// data sent twice. It identifies retransmitted segments, and acknowledgements that may be to either
// transmission (Karn).
//
//   SENT[flow] = flow, highest, twice, mark     twice: acknowledgements up to mark are ambiguous
//
// Each transmitted segment writes it. Stages are those of rtt_match.sv. The highest sequence number
// is decided on a stage earlier (read at Z), so that D knows whether a segment was sent before.
`resetall
`default_nettype none

module rtt_sent
  import rtt_pkg::*;
#(
    parameter int unsigned FlowBits = 8
) (
    input  wire         clk_i,
    input  wire         rst_ni,
    input  wire         tcp_i,       // the mode
    // transmit side
    input  wire  op_t   tx_z_i,
    input  wire  op_t   tx_a_i,
    input  wire  op_t   tx_c_i,
    input  wire  op_t   tx_p_i,
    input  wire  op_t   tx_d_i,
    output logic        first_d_o,   // a probe, and no part of it was sent before
    input  wire         twice_d_i,   // sent before and still in flight
    // receive side; at the stage after D: does it acknowledge data sent twice?
    input  wire  op_t   rx_a_i,
    output logic        twice_o,
    output logic [31:0] mark_o
);
  typedef struct packed {
    logic        twice;
    logic [31:0] mark;
  } mark_t;
  typedef logic [FlowBits-1:0] addr_t;

  function automatic logic writes(input op_t op, input logic tcp);
    return (op.kind == Event && tcp) || op.kind == Flush;
  endfunction

  // ---- the highest: read at Z, decided on at P, written at D
  logic write_d, known, unused_young, fresh_d, probe_d;
  logic [31:0] highest_d, seen, unused_seen;
  logic [63:0] unused_key;
  rtt_same #(.KeyBits(64), .Bits(FlowBits)) u_tx_flow (
      .clk_i, .waddr_p_i(addr_t'(tx_c_i.flow)), .waddr_d_i(addr_t'(tx_p_i.flow)),
      .wkey_p_i(tx_c_i.e.key.flow), .wkey_d_i(tx_p_i.e.key.flow),
      .wused_p_i(tx_c_i.kind == Event), .wused_d_i(tx_p_i.kind == Event), .write_i(write_d),
      .addr_a_i(addr_t'(tx_z_i.flow)), .key_a_i(tx_z_i.e.key.flow), .same_d_o(known),
      .young_d_o(unused_young), .key_d_o(unused_key));
  rtt_view #(.Width(32), .Bits(FlowBits)) u_tx_highest (
      .clk_i, .waddr_d_i(addr_t'(tx_p_i.flow)), .write_i(write_d), .wdata_i(highest_d),
      .addr_a_i(addr_t'(tx_z_i.flow)), .early_o(unused_seen), .data_d_o(seen));

  wire event_t e = tx_p_i.e;
  wire new_syn = e.syn && e.key.value != seen;
  wire fresh = !known || new_syn;  // a new connection
  always_ff @(posedge clk_i) begin
    write_d   <= writes(tx_p_i, tcp_i);
    fresh_d   <= fresh;
    // A SYN sets its own number: for a retransmitted SYN both are equal.
    highest_d <= known && !e.syn && seq_lt(e.key.value, seen) ? seen : e.key.value;
    probe_d   <= tx_p_i.kind == Event;
    first_d_o <= tx_p_i.kind == Event &&
        !(tcp_i && known && (e.syn ? !new_syn : seq_lt(e.seq, seen)));
    if (!rst_ni) {write_d, probe_d, first_d_o} <= '0;
  end

  // ---- what was sent twice: read at A, decided on at D
  logic write_q, rx_known, unused_rx_young;
  logic [63:0] unused_rx_key;
  mark_t mark_q, tx_mark, rx_mark, unused_tx_mark, unused_rx_mark;
  rtt_same #(.KeyBits(64), .Bits(FlowBits)) u_rx_flow (
      .clk_i, .waddr_p_i(addr_t'(tx_p_i.flow)), .waddr_d_i(addr_t'(tx_d_i.flow)),
      .wkey_p_i(tx_p_i.e.key.flow), .wkey_d_i(tx_d_i.e.key.flow),
      .wused_p_i(tx_p_i.kind == Event), .wused_d_i(tx_d_i.kind == Event), .write_i(write_q),
      .addr_a_i(addr_t'(rx_a_i.flow)), .key_a_i(rx_a_i.e.key.flow), .same_d_o(rx_known),
      .young_d_o(unused_rx_young), .key_d_o(unused_rx_key));
  rtt_view #(.Width($bits(mark_t)), .Bits(FlowBits)) u_tx_mark (
      .clk_i, .waddr_d_i(addr_t'(tx_d_i.flow)), .write_i(write_q), .wdata_i(mark_q),
      .addr_a_i(addr_t'(tx_a_i.flow)), .early_o(unused_tx_mark), .data_d_o(tx_mark));
  rtt_view #(.Width($bits(mark_t)), .Bits(FlowBits)) u_rx_mark (
      .clk_i, .waddr_d_i(addr_t'(tx_d_i.flow)), .write_i(write_q), .wdata_i(mark_q),
      .addr_a_i(addr_t'(rx_a_i.flow)), .early_o(unused_rx_mark), .data_d_o(rx_mark));

  wire resent = twice_d_i || (probe_d && !first_d_o);
  wire [31:0] beyond = tx_d_i.e.key.value - tx_mark.mark;
  wire mark_is_far = beyond[31:30] != 2'b00;  // and would soon compare as ahead
  always_ff @(posedge clk_i) begin
    write_q      <= writes(tx_d_i, tcp_i);
    mark_q.twice <= resent || (!fresh_d && tx_mark.twice && !mark_is_far);
    mark_q.mark  <= resent ? highest_d : tx_mark.mark;
    twice_o      <= tcp_i && rx_known && rx_mark.twice;
    mark_o       <= rx_mark.mark;
    if (!rst_ni) write_q <= 1'b0;
  end

endmodule

`resetall
