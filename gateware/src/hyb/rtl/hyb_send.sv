// SPDX-License-Identifier: Apache-2.0
// hyb_send.sv - the hardware of the send path (S2.6, S2.7): slots of 2^SlotLog bytes, the MAU that gives
// them out, the DFU that fills them from host memory, the PCU that sums what it copies, and the way out.
// The processor reads and writes the slots too.
//
//                    host memory (AXI reads)
//                             |
//   processor -- headers --> slots <-- DFU -- the same bytes --> PCU
//                             |
//                           leave --> frames
//
// The slots' memory has a write port and a read port, a byte lane each. The processor's access comes
// first: it is answered in the next cycle.
`resetall
`default_nettype none

module hyb_send #(
  parameter int unsigned SlotBits = 4,
  parameter int unsigned SlotLog = 11
) (
  input  wire                            clk_i,
  input  wire                            rst_ni,

  // the processor's accesses of the slots; data_o in the next cycle
  input  wire                            req_i,
  input  wire [3:0]                      write_i,     // bytes; 0: a read
  input  wire [SlotBits+SlotLog-3:0]     word_i,
  input  wire [31:0]                     data_i,
  output wire [31:0]                     data_o,

  // registers: MAU
  output wire                            ready_o,
  output wire [SlotBits-1:0]             slot_o,
  input  wire                            take_i,
  input  wire                            free_i,
  input  wire [SlotBits-1:0]             free_slot_i,
  // ... DFU, PCU
  input  wire                            go_i,
  input  wire [63:0]                     go_host_i,
  input  wire [SlotLog:0]                go_length_i,
  input  wire [SlotBits-1:0]             go_slot_i,
  input  wire [SlotLog-1:0]              go_offset_i,
  input  wire                            go_more_i,
  output wire [2**SlotBits-1:0]          done_o,
  output wire [2**SlotBits-1:0]          bad_o,
  output wire [2**SlotBits-1:0][15:0]    psum_o,
  // ... the way out; the slot is free when the frame has left
  input  wire                            leave_i,
  input  wire [SlotBits-1:0]             leave_slot_i,
  input  wire [SlotLog:0]                leave_length_i,
  output wire [31:0]                     left_o,      // frames that have left

  // AXI reads of host memory, answered in order
  output wire                            ar_valid_o,
  input  wire                            ar_ready_i,
  output wire [63:0]                     ar_addr_o,
  output wire [7:0]                      ar_len_o,
  input  wire                            r_valid_i,
  output wire                            r_ready_o,
  input  wire [63:0]                     r_data_i,
  input  wire                            r_bad_i,

  output wire [63:0]                     m_tdata_o,
  output wire [7:0]                      m_tkeep_o,
  output wire                            m_tvalid_o,
  output wire                            m_tlast_o,
  input  wire                            m_tready_i
);

  localparam int unsigned LineBits = SlotBits + SlotLog - 3;

  wire cpu_writes = req_i && write_i != '0;
  wire cpu_reads = req_i && write_i == '0;
  wire [LineBits-1:0] cpu_line = word_i[LineBits:1];

  // ---- MAU ----
  wire leave_free;
  wire [SlotBits-1:0] leave_free_slot;
  wire unused_stray;
  hyb_mau #(
    .SlotBits(SlotBits)
  ) u_mau (
    .clk_i,
    .rst_ni,
    .ready_o,
    .slot_o,
    .take_i,
    .free_valid_i({leave_free, free_i}),
    .free_slot_i({leave_free_slot, free_slot_i}),
    .stray_o(unused_stray)
  );
  wire takes = take_i && ready_o;

  // ---- DFU, PCU ----
  wire [7:0] fill_write;
  wire [SlotBits-1:0] fill_slot;
  wire [7:0][SlotLog-4:0] fill_line;
  wire [63:0] fill_data;
  wire fill_done, fill_bad, refused;
  hyb_dfu #(
    .SlotBits(SlotBits),
    .SlotLog(SlotLog),
    .JobBits(SlotBits + 1)
  ) u_dfu (
    .clk_i,
    .rst_ni,
    .go_i,
    .host_i(go_host_i),
    .length_i(go_length_i),
    .slot_i(go_slot_i),
    .offset_i(go_offset_i),
    .more_i(go_more_i),
    .ar_valid_o,
    .ar_ready_i,
    .ar_addr_o,
    .ar_len_o,
    .r_valid_i,
    .r_ready_o,
    .r_data_i,
    .r_bad_i,
    .stall_i(cpu_writes),
    .write_o(fill_write),
    .slot_o(fill_slot),
    .line_o(fill_line),
    .data_o(fill_data),
    .done_o(fill_done),
    .bad_o(fill_bad),
    .refused_o(refused)
  );

  hyb_pcu #(
    .SlotBits(SlotBits)
  ) u_pcu (
    .clk_i,
    .clear_i(takes),
    .clear_slot_i(slot_o),
    .write_i(cpu_writes ? 8'd0 : fill_write),
    .slot_i(fill_slot),
    .data_i(fill_data),
    .sum_o(psum_o)
  );

  logic [2**SlotBits-1:0] done_q, bad_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_q <= '0;
      bad_q <= '0;
    end else begin
      if (fill_done) done_q[fill_slot] <= 1'b1;
      if (fill_bad) bad_q[fill_slot] <= 1'b1;
      if (go_i) done_q[go_slot_i] <= refused;
      if (refused) bad_q[go_slot_i] <= 1'b1;
      if (takes) begin
        done_q[slot_o] <= 1'b0;
        bad_q[slot_o] <= 1'b0;
      end
    end
  end
  assign done_o = done_q;
  assign bad_o = bad_q;

  // ---- the way out ----
  wire leave_reads;
  wire [LineBits-1:0] leave_line;
  wire [63:0] line_data;
  hyb_leave #(
    .SlotBits(SlotBits),
    .SlotLog(SlotLog)
  ) u_leave (
    .clk_i,
    .rst_ni,
    .send_i(leave_i),
    .slot_i(leave_slot_i),
    .length_i(leave_length_i),
    .read_o(leave_reads),
    .granted_i(!cpu_reads),
    .line_o(leave_line),
    .data_i(line_data),
    .free_o(leave_free),
    .free_slot_o(leave_free_slot),
    .m_tdata_o,
    .m_tkeep_o,
    .m_tvalid_o,
    .m_tlast_o,
    .m_tready_i
  );
  wire unused_reads = leave_reads;

  logic [31:0] left_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) left_q <= '0;
    else if (leave_free) left_q <= left_q + 1'b1;
  end
  assign left_o = left_q;

  // ---- the slots' memory: a byte lane each ----
  for (genvar l = 0; l < 8; l++) begin : gen_lane
    wire mine = word_i[0] == 1'(l / 4);
    sdp_ram #(
      .Width(8),
      .AddrBits(LineBits)
    ) u_lane (
      .clk_i,
      .write_i(cpu_writes ? write_i[l%4] && mine : fill_write[l]),
      .waddr_i(cpu_writes ? cpu_line : {fill_slot, fill_line[l]}),
      .wdata_i(cpu_writes ? data_i[8*(l%4)+:8] : fill_data[8*l+:8]),
      .raddr_i(cpu_reads ? cpu_line : leave_line),
      .rdata_o(line_data[8*l+:8])
    );
  end

  logic high_q;
  always_ff @(posedge clk_i) high_q <= word_i[0];
  assign data_o = high_q ? line_data[63:32] : line_data[31:0];

endmodule

`resetall
