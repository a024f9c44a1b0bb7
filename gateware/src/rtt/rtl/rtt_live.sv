// SPDX-License-Identifier: Apache-2.0
// rtt_live.sv - one reader's view of rtt_match's tables: is the stamp in a slot in flight?
//
//   LEFT[slot] = turn, void      BACK[slot] = turn      in flight: the turns differ
//
// Stages are those of rtt_match.sv. Writes while the reader is between A and D are forwarded as in
// rtt_view.sv: first into the turns, then into their comparison, so that one step remains at D.
// Stamped: in flight. Ended: not in flight. Both: the stamp is the later one.
`resetall
`default_nettype none

module rtt_live #(
    parameter int unsigned Bits = 10
) (
    input  wire             clk_i,
    // the writer of LEFT: address at D, the rest at W. stamped: new stamp; write: also void, flush
    input  wire  [Bits-1:0] left_d_i,
    input  wire             stamped_i,
    input  wire             write_i,
    input  wire             turn_i,
    input  wire             void_i,
    // the writer of BACK
    input  wire  [Bits-1:0] back_d_i,
    input  wire             ended_i,
    input  wire             back_i,
    // the reader: address at A, the rest at D
    input  wire  [Bits-1:0] addr_a_i,
    output logic            live_d_o,
    output logic            turn_d_o,
    output logic            void_d_o
);
  typedef struct packed {
    logic turn;
    logic void_stamp;
  } state_t;

  state_t state_c, unused_state;
  logic back_c, unused_back;
  rtt_view #(.Width($bits(state_t)), .Bits(Bits), .Wait(0)) u_left (
      .clk_i, .waddr_d_i(left_d_i), .write_i, .wdata_i({turn_i, void_i}), .addr_a_i,
      .early_o(unused_state), .data_d_o(state_c));
  rtt_view #(.Width(1), .Bits(Bits), .Wait(0)) u_back (
      .clk_i, .waddr_d_i(back_d_i), .write_i(ended_i), .wdata_i(back_i), .addr_a_i,
      .early_o(unused_back), .data_d_o(back_c));

  // left, back: the write at W has the reader's address.
  logic [Bits-1:0] addr_b, addr_c, addr_p;
  logic left_p, left_d, back_p, back_d, live_p, live_d;
  state_t state_p, state_d;

  function automatic logic then_live(input logic live, input logic left, input logic back);
    return (left && stamped_i) || (live && !(back && ended_i));
  endfunction
  function automatic state_t then_state(input state_t state, input logic left);
    return left && write_i ? {turn_i, void_i} : state;
  endfunction

  always_ff @(posedge clk_i) begin
    addr_b  <= addr_a_i;
    addr_c  <= addr_b;
    addr_p  <= addr_c;
    left_p  <= addr_c == left_d_i;
    left_d  <= addr_p == left_d_i;
    back_p  <= addr_c == back_d_i;
    back_d  <= addr_p == back_d_i;
    live_p  <= state_c.turn != back_c;
    live_d  <= then_live(live_p, left_p, back_p);
    state_p <= state_c;
    state_d <= then_state(state_p, left_p);
  end

  wire state_t state = then_state(state_d, left_d);
  assign live_d_o = then_live(live_d, left_d, back_d);
  assign turn_d_o = state.turn;
  assign void_d_o = state.void_stamp;

endmodule

`resetall
