// SPDX-License-Identifier: Apache-2.0
// conn_turn.sv - selects what an idle toe_conn does next: messages of FPCs first, round robin; then the
// sweep that it suspended for them; commands and packets in turn. A step that may lead to an event
// begins only with room for it: an FPC whose messages are not taken takes no events.
`resetall
`default_nettype none

module conn_turn
  import toe_pkg::*;
  import conn_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned Fpcs = 1
) (
  input  wire                        clk_i,
  input  wire                        rst_ni,
  input  wire                        idle_i,
  input  wire                        room_i,         // for an event
  input  wire                        sweep_i,        // through slots, not at its end
  input  wire [Fpcs-1:0]             message_valid_i,
  input  wire conn_msg_t [Fpcs-1:0]  message_i,
  output wire [Fpcs-1:0]             message_ready_o,
  output wire conn_msg_t             message_o,
  input  wire [Qps-1:0]              to_attach_i,
  input  wire [Qps-1:0]              to_detach_i,
  output wire qp_t                   qp_o,           // of these, the one
  input  wire                        tw_due_i,       // the tail of TIME-WAIT has expired, and
  output wire                        tw_known_o,     // ... that item is the one that was read
  input  wire                        command_i,
  input  wire                        miss_i,
  input  wire                        wait_i,
  output wire take_e                 take_o
);

  localparam int unsigned TurnBits = $clog2(Fpcs + 1);
  logic [TurnBits-1:0] turn_q, source;
  logic any;
  always_comb begin
    source = turn_q;
    any = 1'b0;
    for (int i = 0; i < int'(Fpcs); i++) begin
      if (!any && message_valid_i[(int'(turn_q) + i) % Fpcs]) begin
        source = TurnBits'((int'(turn_q) + i) % Fpcs);
        any = 1'b1;
      end
    end
  end
  for (genvar f = 0; f < int'(Fpcs); f++) begin : gen_message
    assign message_ready_o[f] = idle_i && any && int'(source) == f;
  end
  assign message_o = message_i[source];

  function automatic qp_t first_of(input logic [Qps-1:0] set);
    qp_t r;
    r = '0;
    for (int i = Qps - 1; i >= 0; i--) if (set[i]) r = qp_t'(i);
    return r;
  endfunction
  assign qp_o = first_of((to_attach_i != '0) ? to_attach_i : to_detach_i);

  logic tw_known_q, odd_q;
  assign tw_known_o = tw_known_q;
  take_e take;
  always_comb begin
    take = TakeNothing;
    if (idle_i) begin
      if (any) take = TakeMessage;
      else if (!room_i) take = TakeNothing;
      else if (sweep_i) take = TakeSweep;
      else if (to_attach_i != '0) take = TakeAttach;
      else if (to_detach_i != '0) take = TakeDetach;
      else if (tw_known_q && tw_due_i) take = TakeTw;
      else if (command_i && (odd_q || !miss_i)) take = TakeCommand;
      else if (miss_i) take = TakeMiss;
      else if (wait_i) take = TakeWaiting;
    end
  end
  assign take_o = take;

  always_ff @(posedge clk_i) begin
    tw_known_q <= idle_i && take == TakeNothing;
    if (!rst_ni) begin
      turn_q <= '0;
      odd_q <= 1'b0;
    end else begin
      if (take == TakeMessage) turn_q <= (int'(source) == int'(Fpcs) - 1) ? '0 : source + 1'b1;
      if (take == TakeCommand) odd_q <= 1'b0;
      if (take == TakeMiss) odd_q <= 1'b1;
    end
  end

endmodule

`resetall
