// SPDX-License-Identifier: Apache-2.0
// toe_timer.sv - holds the earliest deadline of each flow of an FPC. A scan reads one entry a cycle,
// whatever else passes; a due entry becomes an EvTimer and is removed until the FPC writes it again.
`resetall
`default_nettype none

module toe_timer
  import toe_pkg::*;
#(
  parameter int unsigned FlowBits = 8,
  parameter int unsigned FpcBits = 0,
  parameter int unsigned Fpc = 0
) (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire now_t  now_i,
  input  wire        write_i,
  input  wire flow_t flow_i,
  input  wire        on_i,
  input  wire tick_t at_i,
  output wire        due_valid_o,
  input  wire        due_ready_i,
  output wire flow_t due_flow_o
);

  localparam int unsigned IndexBits = FlowBits - FpcBits;
  localparam int unsigned OutBits = 2;
  typedef logic [IndexBits-1:0] index_t;

  typedef struct packed {
    logic  on;
    tick_t at;
  } entry_t;

  // cycle 0: read; 1: is it due; then it is removed, unless a write of the FPC
  // arrives in this cycle.
  index_t scan_q, scan_q1, clear_q;
  logic valid_q1, written_q, clearing_q;
  entry_t entry;
  tick_t past;
  logic [OutBits:0] room;
  index_t due;

  assign past = ticks(now_i) - entry.at;
  // The write of the FPC, a cycle later.
  logic write_q;
  index_t written_at_q;
  entry_t write_entry_q;
  wire takes = valid_q1 && entry.on && !past[31] && !write_q && !written_q && room != '0;

  sdp_ram #(.Width($bits(entry_t)), .AddrBits(IndexBits)) deadlines (
    .clk_i,
    .write_i(clearing_q || write_q || takes),
    .waddr_i(clearing_q ? clear_q : (write_q ? written_at_q : scan_q1)),
    .wdata_i((write_q && !clearing_q) ? write_entry_q : '0),
    .raddr_i(scan_q),
    .rdata_o(entry)
  );

  always_ff @(posedge clk_i) begin
    scan_q1 <= scan_q;
    written_at_q <= index_t'(flow_i >> FpcBits);
    write_entry_q <= '{on: on_i, at: at_i};
    if (!rst_ni) begin
      write_q <= 1'b0;
      scan_q <= '0;
      valid_q1 <= 1'b0;
      written_q <= 1'b0;
      clear_q <= '0;
      clearing_q <= 1'b1;
    end else begin
      write_q <= write_i;
      scan_q <= scan_q + 1'b1;
      valid_q1 <= !clearing_q;
      // Written while it was read: the word read is stale.
      written_q <= write_q && written_at_q == scan_q;
      clear_q <= clear_q + 1'b1;
      if (clear_q == '1) clearing_q <= 1'b0;
    end
  end

  toe_fifo #(.Width(IndexBits), .AddrBits(OutBits)) out (
    .clk_i, .rst_ni, .push_i(takes), .data_i(scan_q1), .room_o(room),
    .valid_o(due_valid_o), .pop_i(due_valid_o && due_ready_i), .data_o(due)
  );
  assign due_flow_o = (flow_t'(due) << FpcBits) | flow_t'(Fpc);

endmodule

`resetall
