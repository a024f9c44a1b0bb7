// SPDX-License-Identifier: Apache-2.0
// rtt_acked.sv - keeps the highest acknowledgement received on each TCP connection. A stamp that
// timed out may have been acknowledged by a later segment's acknowledgement: it is then covered,
// not lost.
//
//   ACKED[flow] = flow, highest
//
// Answers and timeouts arrive in the order of rtt_match's decisions. Stages are named as there, and
// follow those of rtt_match.
`resetall
`default_nettype none

module rtt_acked
  import rtt_pkg::*;
#(
    parameter int unsigned FlowBits = 8
) (
    input  wire         clk_i,
    input  wire         rst_ni,
    input  wire         tcp_i,        // the mode
    input  wire         answer_i,
    input  wire         expire_i,
    input  wire         flush_i,      // clear the entry of flush_flow_i
    input  wire  [15:0] flush_flow_i,
    input  wire  key_t  key_i,        // of the answer or of the timed-out stamp
    input  wire         syn_i,
    output logic        lost_o,
    output logic        covered_o
);
  typedef logic [FlowBits-1:0] addr_t;
  typedef struct packed {
    logic  answer;
    logic  expire;
    logic  flush;
    key_t  key;
    logic  syn;
    addr_t flow;
  } ack_t;

  ack_t a_q, b_q, c_q, p_q, d_q;
  always_ff @(posedge clk_i) begin
    a_q <= '{
        answer: answer_i && tcp_i, expire: expire_i, flush: flush_i, key: key_i, syn: syn_i,
        flow: addr_t'(flush_i ? flush_flow_i : flow_hash(key_i.flow))
    };
    b_q <= a_q;
    c_q <= b_q;
    p_q <= c_q;
    d_q <= p_q;
    if (!rst_ni) begin
      {a_q.answer, b_q.answer, c_q.answer, p_q.answer, d_q.answer} <= '0;
      {a_q.expire, b_q.expire, c_q.expire, p_q.expire, d_q.expire} <= '0;
      {a_q.flush, b_q.flush, c_q.flush, p_q.flush, d_q.flush}      <= '0;
    end
  end

  logic write_q, known, unused_young;
  logic [31:0] highest_q, highest, unused_early;
  logic [63:0] unused_key;
  rtt_same #(.KeyBits(64), .Bits(FlowBits)) u_flow (
      .clk_i, .waddr_p_i(p_q.flow), .waddr_d_i(d_q.flow), .wkey_p_i(p_q.key.flow),
      .wkey_d_i(d_q.key.flow), .wused_p_i(p_q.answer), .wused_d_i(d_q.answer),
      .write_i(write_q), .addr_a_i(a_q.flow), .key_a_i(a_q.key.flow), .same_d_o(known),
      .young_d_o(unused_young), .key_d_o(unused_key));
  rtt_view #(.Width(32), .Bits(FlowBits)) u_highest (
      .clk_i, .waddr_d_i(d_q.flow), .write_i(write_q), .wdata_i(highest_q),
      .addr_a_i(a_q.flow), .early_o(unused_early), .data_d_o(highest));

  wire beyond = seq_lt(highest, d_q.key.value);
  wire covered = tcp_i && known && !beyond;
  always_ff @(posedge clk_i) begin
    write_q   <= d_q.answer || d_q.flush;
    highest_q <= !known || d_q.syn || beyond ? d_q.key.value : highest;
    lost_o    <= d_q.expire && !covered;
    covered_o <= d_q.expire && covered;
    if (!rst_ni) {write_q, lost_o, covered_o} <= '0;
  end

endmodule

`resetall
