// SPDX-License-Identifier: Apache-2.0
// conn_waits.sv - CONNECTs that wait for the link address of their next hop: each is tried again at
// intervals, until it expires.
`resetall
`default_nettype none

module conn_waits
  import toe_pkg::*;
  import toe_cmd_pkg::*;
  import conn_pkg::*;
(
  input  wire             clk_i,
  input  wire             rst_ni,
  input  wire tick_t      tick_i,

  // next_o is due: valid a cycle later, and not in the cycle after a change.
  output wire             due_o,
  output wire widx_t      next_o,
  output wire waiting_t   item_o,
  output wire             room_o,

  input  wire             put_i,      // adds one
  input  wire command_t   command_i,
  input  wire entry_t     entry_i,
  input  wire qp_t        qp_i,
  input  wire widx_t      at_i,       // this one:
  output wire             patient_o,
  input  wire             again_i,    // ... later again
  input  wire             drop_i,     // ... is over
  output wire             named_o,    // command_i, a CANCEL or OPTION of qp_i, names one
  input  wire             cancel_i,   // ... which is over
  input  wire             option_i,   // ... which stores it
  input  wire             forget_i    // all of qp_i
);

  waiting_t [Waiting-1:0] waiting_q;

  logic due, due_q, room, named;
  widx_t next, next_q, free;
  logic [Waiting-1:0] same;
  always_comb begin
    due = 1'b0;
    next = '0;
    room = 1'b0;
    free = '0;
    for (int i = Waiting - 1; i >= 0; i--) begin
      logic [31:0] past;
      past = tick_i - waiting_q[i].again;
      if (waiting_q[i].valid && !past[31]) begin
        due = 1'b1;
        next = widx_t'(i);
      end
      if (!waiting_q[i].valid) begin
        room = 1'b1;
        free = widx_t'(i);
      end
      same[i] = waiting_q[i].valid && waiting_q[i].qp == qp_i &&
                cmd_flow(waiting_q[i].command.cmd) == cmd_flow(command_i.cmd);
    end
    named = same != '0;
  end
  // As fpc_host checks them; a value out of range is ignored.
  function automatic ahead_t with_option(input ahead_t in, input cmd_t m);
    ahead_t a;
    logic [31:0] v;
    a = in;
    v = cmd_arg0(m);
    unique case (cmd_aux(m))
      OptSyncnt: if (v <= 32'd127) a.syncnt = v[6:0];
      OptUserTimeout: a.user_timeout = v;
      OptTos: if (v <= 32'd255) a.tos = {v[7:2], 2'b00};
      default: ;
    endcase
    return a;
  endfunction

  wire tick_t left = tick_i - waiting_q[at_i].deadline;

  assign due_o = due_q;
  assign next_o = next_q;
  assign item_o = waiting_q[next_q];
  assign room_o = room;
  assign patient_o = left[31];
  assign named_o = named;

  always_ff @(posedge clk_i) begin
    due_q <= rst_ni && due && !again_i && !drop_i && !cancel_i && !forget_i;
    next_q <= next;
    if (!rst_ni) waiting_q <= '0;
    else begin
      if (put_i)
        waiting_q[free] <= '{valid: 1'b1, qp: qp_i, command: command_i, entry: entry_i,
                             ahead: '0, deadline: tick_i + Patience, again: tick_i + 32'd1};
      if (again_i) waiting_q[at_i].again <= tick_i + Again;
      if (drop_i) waiting_q[at_i].valid <= 1'b0;
      for (int i = 0; i < Waiting; i++) begin
        if (cancel_i && same[i]) waiting_q[i].valid <= 1'b0;
        if (option_i && same[i])
          waiting_q[i].ahead <= with_option(waiting_q[i].ahead, command_i.cmd);
        if (forget_i && waiting_q[i].qp == qp_i) waiting_q[i].valid <= 1'b0;
      end
    end
  end

endmodule

`resetall
