// SPDX-License-Identifier: Apache-2.0
// conn_slots.sv - the slots of queue pairs: a ring of free ones for each queue pair, and the owner of each
// flow.
`resetall
`default_nettype none

module conn_slots
  import toe_pkg::*;
  import conn_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned FlowBits = 8
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire qp_config_t [Qps-1:0] config_i,
  input  wire qp_t                  qp_i,       // whose slots

  input  wire                fill_i,     // slot_i belongs to the new queue pair
  input  wire                filled_i,   // ... all are
  input  wire                take_i,     // next_o is taken, for info_i
  input  wire info_t         info_i,
  input  wire                give_i,     // slot_i is free, if it was used
  input  wire                accept_i,   // slot_i's flow is no longer its listener's
  input  wire [FlowBits-1:0] slot_i,
  output wire [FlowBits-1:0] next_o,     // a cycle after qp_i
  input  wire [FlowBits-1:0] taken_i,    // next_o of the cycle in which it was read

  input  wire [FlowBits-1:0] look_i,
  output wire info_t         info_o,     // a cycle later
  output wire [Qps-1:0][15:0] free_o,
  output wire [Qps-1:0][15:0] used_o
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  typedef logic [QpBits-1:0] qidx_t;
  typedef logic [FlowBits-1:0] slot_t;

  logic [Qps-1:0][15:0] head_q, tail_q;   // of the ring of free slots
  info_t info;
  wire qidx_t at = qidx_t'(qp_i);
  wire slot_t first = slot_t'(config_i[at].first);
  wire slot_t mask = slot_t'((32'd1 << config_i[at].slots_log) - 32'd1);
  wire back = give_i && info.used;
  info_t accepted;
  always_comb begin
    accepted = info;
    accepted.half = 1'b0;   // its listener does not count it any more, UNLISTEN keeps it
  end

  sdp_ram #(.Width(FlowBits), .AddrBits(FlowBits)) ring (
    .clk_i, .write_i(fill_i || back),
    .waddr_i(fill_i ? slot_i : first + (slot_t'(head_q[at]) & mask)), .wdata_i(slot_i),
    .raddr_i(first + (slot_t'(tail_q[at]) & mask)), .rdata_o(next_o)
  );
  sdp_ram #(.Width($bits(info_t)), .AddrBits(FlowBits)) infos (
    .clk_i, .write_i(fill_i || give_i || take_i || accept_i), .waddr_i(take_i ? taken_i : slot_i),
    .wdata_i(take_i ? info_i : (accept_i ? accepted : info_t'('0))), .raddr_i(look_i),
    .rdata_o(info)
  );
  assign info_o = info;

  for (genvar i = 0; i < int'(Qps); i++) begin : gen_count
    assign free_o[i] = head_q[i] - tail_q[i];
    assign used_o[i] = 16'(32'd1 << config_i[i].slots_log) - free_o[i];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
    end else begin
      if (filled_i) begin
        head_q[at] <= 16'(32'd1 << config_i[at].slots_log);
        tail_q[at] <= '0;
      end
      if (back) head_q[at] <= head_q[at] + 16'd1;
      if (take_i) tail_q[at] <= tail_q[at] + 16'd1;
    end
  end

endmodule

`resetall
