// SPDX-License-Identifier: Apache-2.0
// hyb_leave.sv - frames leave: a frame is the first bytes of a slot. Its lines are read as the slots'
// memory has time for, 8 bytes a cycle at most; with its last line the slot is free.
`resetall
`default_nettype none

module hyb_leave #(
  parameter int unsigned SlotBits = 4,
  parameter int unsigned SlotLog = 11
) (
  input  wire                clk_i,
  input  wire                rst_ni,

  input  wire                send_i,       // at most one of each slot is queued
  input  wire [SlotBits-1:0] slot_i,
  input  wire [SlotLog:0]    length_i,     // 1 to 2^SlotLog; others are taken for these

  output wire                           read_o,
  input  wire                           granted_i,  // data_i has the line in the next cycle
  output wire [SlotBits+SlotLog-4:0]    line_o,
  input  wire [63:0]                    data_i,

  output wire                free_o,
  output wire [SlotBits-1:0] free_slot_o,

  output wire [63:0] m_tdata_o,
  output wire [7:0]  m_tkeep_o,
  output wire        m_tvalid_o,
  output wire        m_tlast_o,
  input  wire        m_tready_i
);

  typedef struct packed {
    logic [SlotBits-1:0] slot;
    logic [SlotLog:0]    length;
  } job_t;
  typedef struct packed {
    logic        last;
    logic [7:0]  keep;
    logic [63:0] data;
  } out_t;

  localparam int unsigned AheadBits = 2;
  localparam logic [SlotLog:0] Most = (SlotLog + 1)'(1) << SlotLog;

  job_t job_in, job;
  logic job_valid;
  logic [SlotBits:0] job_room;
  logic [AheadBits:0] room;
  assign job_in.slot = slot_i;
  assign job_in.length = (length_i == '0) ? (SlotLog + 1)'(1) : (length_i > Most) ? Most : length_i;

  toe_fifo #(.Width($bits(job_t)), .AddrBits(SlotBits)) u_jobs (
    .clk_i, .rst_ni, .push_i(send_i && job_room != '0), .data_i(job_in), .room_o(job_room),
    .valid_o(job_valid), .pop_i(free_o), .data_o(job)
  );

  logic [SlotLog-4:0] at_q;      // lines that were read
  logic read_q, last_q;
  logic [7:0] keep_q;
  wire [SlotLog:0] left = job.length - {1'b0, at_q, 3'd0};
  wire last = left <= (SlotLog + 1)'(8);
  wire reads = read_o && granted_i;
  assign read_o = job_valid && room > (AheadBits + 1)'(read_q);
  assign line_o = {job.slot, at_q};
  assign free_o = reads && last;
  assign free_slot_o = job.slot;

  always_ff @(posedge clk_i) begin
    last_q <= last;
    for (int i = 0; i < 8; i++) keep_q[i] <= (SlotLog + 1)'(i) < left;
    if (!rst_ni) begin
      at_q <= '0;
      read_q <= 1'b0;
    end else begin
      read_q <= reads;
      if (reads) at_q <= last ? '0 : at_q + 1'b1;
    end
  end

  out_t out_in, out;
  assign out_in.last = last_q;
  assign out_in.keep = keep_q;
  assign out_in.data = data_i;
  toe_fifo #(.Width($bits(out_t)), .AddrBits(AheadBits)) u_ahead (
    .clk_i, .rst_ni, .push_i(read_q), .data_i(out_in), .room_o(room),
    .valid_o(m_tvalid_o), .pop_i(m_tvalid_o && m_tready_i), .data_o(out)
  );
  assign m_tdata_o = out.data;
  assign m_tkeep_o = out.keep;
  assign m_tlast_o = out.last;

endmodule

`resetall
