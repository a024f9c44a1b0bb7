// SPDX-License-Identifier: Apache-2.0
// conn_listeners.sv - the listeners of all queue pairs, in one list. A lookup walks the list, an entry
// a cycle, read in one cycle and compared in the next. A SYN goes to the listener whose queue pair has
// the fewest flows, among those with room.
`resetall
`default_nettype none

module conn_listeners
  import toe_pkg::*;
  import toe_cmd_pkg::*;
  import conn_pkg::*;
#(
  parameter int unsigned Qps = 8
) (
  input  wire                   clk_i,
  input  wire                   rst_ni,
  input  wire own_t             own_i,
  input  wire [Qps-1:0]         full_i,      // no slot is free
  input  wire [Qps-1:0][15:0]   flows_i,
  input  wire [Qps-1:0]         closed_i,    // accepts no more flows

  input  wire                   clear_i,     // a new walk begins
  input  wire listen_e          op_i,        // held until last_o
  input  wire tuple_t           tuple_i,     // LsHear
  input  wire cmd_t             cmd_i,       // LsAdd, LsRemove: LISTEN, UNLISTEN, of
  input  wire entry_t           entry_i,
  input  wire qp_t              qp_i,        // ... this queue pair
  output wire                   valid_o,     // LISTEN: for one of our addresses
  output wire                   last_o,      // the walk ends in this cycle
  output wire                   same_o,      // ... at the listener with that id
  output wire                   equal_o,     // ... which is for the same address and port
  output wire                   found_o,     // after it: a listener takes the SYN; there is room
  output wire                   passed_o,    // ... there are listeners, all full or WEAK
  output wire lidx_t            best_o,
  output wire listener_t        listener_o,

  input  wire                   put_i,       // the new one, at best_o
  input  wire                   more_i,      // best_o has one more flow not accepted
  input  wire                   less_i,      // ... less_who_i one less
  input  wire lidx_t            less_who_i,
  input  wire lidx_t            who_i,
  output wire listener_t        who_o,
  input  wire                   forget_i,    // all of qp_i
  output wire [Qps-1:0][7:0]    count_o
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  localparam int unsigned Listeners = 2 ** $bits(lidx_t);
  typedef logic [QpBits-1:0] qidx_t;

  listener_t [Listeners-1:0] listener_q;
  lidx_t scan_q, at_q, best_q;      // the next to read; the one to compare
  listener_t at_scan;
  logic looks_q;
  logic best_ok_q, passed_q;
  logic [15:0] best_flows_q;

  function automatic logic hears(input listener_t l, input tuple_t t);
    return l.valid && l.port == t.local_port &&
           (t.v6 ? (l.any6 || (l.v6 && !l.any4 && !l.any6 && l.addr == t.own))
                 : (l.any4 || (!l.v6 && !l.any4 && l.addr[31:0] == t.own[31:0])));
  endfunction

  wire qidx_t scan_qp = qidx_t'(at_scan.qp);
  wire fits = at_scan.held <= at_scan.backlog && !full_i[scan_qp] && !closed_i[scan_qp];
  wire same = looks_q && at_scan.valid && at_scan.qp == qp_i && at_scan.id == cmd_flow(cmd_i);

  wire v6 = (cmd_flags(cmd_i) & ListenV6) != 7'd0;
  wire v4_mapped = entry_i.remote[127:32] == 96'hffff;
  listener_t asked;
  logic asked_ok;
  always_comb begin
    asked = '0;
    asked.valid = 1'b1;
    asked.qp = qp_i;
    asked.id = cmd_flow(cmd_i);
    asked.port = cmd_aux(cmd_i);
    asked.yields = (cmd_flags(cmd_i) & ListenWeak) != 7'd0;
    asked.backlog = cmd_arg1(cmd_i);
    asked_ok = 1'b1;
    if (!v6) begin
      asked.any4 = cmd_arg0(cmd_i) == 32'd0;
      asked.addr = 128'(cmd_arg0(cmd_i));
      asked_ok = asked.any4 || cmd_arg0(cmd_i) == own_i.ip4;
    end else if (entry_i.remote == '0) begin
      asked.any6 = 1'b1;
      asked.any4 = (cmd_flags(cmd_i) & ListenV6only) == 7'd0;
    end else if (v4_mapped) begin
      asked.addr = 128'(entry_i.remote[31:0]);
      asked_ok = entry_i.remote[31:0] == own_i.ip4;
    end else begin
      asked.v6 = 1'b1;
      asked.addr = entry_i.remote;
      asked_ok = own_i.ip6_on &&
                 (entry_i.remote == own_i.ip6 || entry_i.remote == own_i.ip6_link);
    end
  end

  // The command is valid for a cycle before a walk compares the first entry.
  listener_t asked_q;
  always_ff @(posedge clk_i) asked_q <= asked;

  assign valid_o = asked_ok;
  assign same_o = same;
  assign equal_o = at_scan.port == asked_q.port && at_scan.addr == asked_q.addr &&
                   at_scan.any4 == asked_q.any4 && at_scan.any6 == asked_q.any6;
  assign last_o = looks_q && (at_q == '1 || (same && op_i != LsHear));
  assign found_o = best_ok_q;
  assign passed_o = passed_q;
  assign best_o = best_q;
  assign listener_o = listener_q[best_q];
  assign who_o = listener_q[who_i];

  logic [Qps-1:0][7:0] count_q;
  wire removes = op_i == LsRemove && same;
  assign count_o = count_q;
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_count
    wire mine = qp_i == qp_t'(i);
    always_ff @(posedge clk_i) begin
      if (!rst_ni || (forget_i && mine)) count_q[i] <= '0;
      else if (mine) count_q[i] <= count_q[i] + 8'(put_i) - 8'(removes);
    end
  end

  wire looks = looks_q && op_i != LsNothing;
  always_ff @(posedge clk_i) begin
    at_scan <= listener_q[scan_q];
    at_q <= scan_q;
    if (!rst_ni || clear_i) begin
      scan_q <= '0;
      looks_q <= 1'b0;
      best_ok_q <= 1'b0;
      passed_q <= 1'b0;
      best_flows_q <= '1;
    end else if (op_i != LsNothing) begin
      scan_q <= scan_q + 1'b1;
      looks_q <= !last_o;
    end
    if (looks) begin
      unique case (op_i)
        LsHear:
        if (hears(at_scan, tuple_i)) begin
          if (at_scan.yields || !fits) passed_q <= 1'b1;
          else if (!best_ok_q || flows_i[scan_qp] < best_flows_q) begin
            best_ok_q <= 1'b1;
            best_q <= at_q;
            best_flows_q <= flows_i[scan_qp];
          end
        end
        // The id is in use: repeated, or an error. Else a free entry.
        LsAdd:
        if (!same && !at_scan.valid) begin
          best_ok_q <= 1'b1;
          best_q <= at_q;
        end
        default: best_q <= at_q;   // LsRemove
      endcase
    end
  end

  for (genvar i = 0; i < int'(Listeners); i++) begin : gen_listener
    wire looked = looks && at_q == lidx_t'(i);
    wire best = best_q == lidx_t'(i);
    always_ff @(posedge clk_i) begin
      if (looked && op_i == LsAdd && same && equal_o) begin
        listener_q[i].backlog <= asked_q.backlog;
        listener_q[i].yields <= asked_q.yields;
      end
      listener_q[i].held <= listener_q[i].held + 32'(more_i && best) -
                            32'(less_i && less_who_i == lidx_t'(i));
      if (put_i && best) listener_q[i] <= asked_q;
      if (!rst_ni || (looked && op_i == LsRemove && same) ||
          (forget_i && listener_q[i].qp == qp_i)) listener_q[i].valid <= 1'b0;
    end
  end

endmodule

`resetall
