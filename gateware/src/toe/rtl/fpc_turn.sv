// SPDX-License-Identifier: Apache-2.0
// fpc_turn.sv - selects what an FPC does next: an event, a flow with something to report, a flow with
// something to send, in turn; before these a flow whose window fpc_cubic has computed.
`resetall
`default_nettype none

module fpc_turn
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire          clk_i,
  input  wire          rst_ni,

  input  wire          window_valid_i,   // rare: at least 100 cycles apart
  input  wire listed_t window_i,
  output wire          window_taken_o,
  input  wire          event_valid_i,
  input  wire event_t  event_i,
  output wire          event_taken_o,
  input  wire          tell_valid_i,
  input  wire listed_t tell_i,
  input  wire          tell_placed_i,    // it has room in its HW ring
  output wire          tell_taken_o,
  input  wire          send_valid_i,
  input  wire listed_t send_i,
  output wire          send_taken_o,

  output wire          valid_o,
  input  wire          ready_i,
  output wire event_t  event_o
);

  logic [1:0] turn_q;
  event_t chosen;
  logic use_event, use_tell, use_send;

  always_comb begin
    use_event = 1'b0;
    use_tell = 1'b0;
    use_send = 1'b0;
    if (!window_valid_i) unique case (turn_q)
      2'd0: begin
        if (event_valid_i) use_event = 1'b1;
        else if (tell_valid_i) use_tell = 1'b1;
        else use_send = send_valid_i;
      end
      2'd1: begin
        if (tell_valid_i) use_tell = 1'b1;
        else if (send_valid_i) use_send = 1'b1;
        else use_event = event_valid_i;
      end
      default: begin
        if (send_valid_i) use_send = 1'b1;
        else if (event_valid_i) use_event = 1'b1;
        else use_tell = tell_valid_i;
      end
    endcase
    chosen = event_i;
    if (!use_event) begin
      chosen.kind = use_tell ? EvTell : EvSend;
      chosen.flow = use_tell ? tell_i.flow : send_i.flow;
      chosen.qp = use_tell ? tell_i.qp : send_i.qp;
      chosen.body = body_t'(tell_placed_i);
    end
    if (window_valid_i) begin
      chosen.kind = EvWindow;
      chosen.flow = window_i.flow;
      chosen.qp = window_i.qp;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) turn_q <= 2'd0;
    else if (valid_o && ready_i && !window_valid_i)
      turn_q <= (turn_q == 2'd2) ? 2'd0 : turn_q + 2'd1;
  end

  assign valid_o = use_event || use_tell || use_send || window_valid_i;
  assign event_o = chosen;
  assign window_taken_o = window_valid_i && ready_i;
  assign event_taken_o = use_event && ready_i;
  assign tell_taken_o = use_tell && ready_i;
  assign send_taken_o = use_send && ready_i;

endmodule

`resetall
