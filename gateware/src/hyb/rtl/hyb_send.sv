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
// With Headers (hyb_header.sv) a descriptor of the processor does all of that: the payload is fetched,
// the headers and checksums are written, and the frame leaves.
//
// The slots' memory has a write port and a read port, a byte lane each. The processor's access comes
// first: it is answered in the next cycle. Of writes the header unit's come second.
`resetall
`default_nettype none

module hyb_send #(
  parameter int unsigned SlotBits = 4,
  parameter int unsigned SlotLog = 11,
  parameter int unsigned FlowBits = 6,       // templates
  parameter bit Headers = 1'b0
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
  // ... headers: a word of a template, a descriptor (hyb_header.sv); its frame is sent as by leave_i
  input  wire                            template_i,
  input  wire [FlowBits+3:0]             template_word_i,
  input  wire [31:0]                     template_data_i,
  input  wire                            header_i,
  input  wire [FlowBits-1:0]             header_flow_i,
  input  wire                            header_v6_i,
  input  wire                            header_stamps_i,
  input  wire [31:0]                     header_seq_i,
  input  wire [31:0]                     header_ack_i,
  input  wire [31:0]                     header_val_i,
  input  wire [31:0]                     header_ecr_i,
  input  wire [15:0]                     header_window_i,
  input  wire [7:0]                      header_flags_i,
  input  wire [7:0]                      header_tos_i,
  input  wire [63:0]                     header_host_i,
  input  wire [SlotBits-1:0]             header_slot_i,
  input  wire [SlotLog-1:0]              header_length_i,  // of the payload
  output wire                            header_busy_o,
  output wire [31:0]                     header_dropped_o,

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

  // ---- headers ----
  logic header_leaves, header_frees;
  logic [7:0] header_write;
  logic [SlotBits-1:0] header_slot;
  logic [SlotLog-4:0] header_line;
  logic [63:0] header_data;
  logic [SlotLog:0] header_size;
  logic [SlotLog-1:0] header_offset;
  wire header_fetches = Headers && header_i && header_length_i != '0;
  wire header_writes = header_write != '0;
  logic [31:0] dropped_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) dropped_q <= '0;
    else if (header_frees && !free_i) dropped_q <= dropped_q + 1'b1;
  end
  assign header_dropped_o = dropped_q;

  if (Headers) begin : gen_headers
    hyb_header #(
      .SlotBits(SlotBits),
      .SlotLog(SlotLog),
      .FlowBits(FlowBits)
    ) u_header (
      .clk_i,
      .rst_ni,
      .template_i,
      .template_word_i,
      .template_data_i,
      .go_i(header_i),
      .flow_i(header_flow_i),
      .v6_i(header_v6_i),
      .stamps_i(header_stamps_i),
      .seq_i(header_seq_i),
      .ack_i(header_ack_i),
      .val_i(header_val_i),
      .ecr_i(header_ecr_i),
      .window_i(header_window_i),
      .flags_i(header_flags_i),
      .tos_i(header_tos_i),
      .slot_i(header_slot_i),
      .length_i(header_length_i),
      .offset_o(header_offset),
      .busy_o(header_busy_o),
      .done_i(done_o),
      .bad_i(bad_o),
      .psum_i(psum_o),
      .stall_i(cpu_writes),
      .write_o(header_write),
      .slot_o(header_slot),
      .line_o(header_line),
      .data_o(header_data),
      .leave_stall_i(leave_i),
      .leave_o(header_leaves),
      .length_o(header_size),
      .free_stall_i(free_i),
      .free_o(header_frees)
    );
  end else begin : gen_no_headers
    assign header_leaves = 1'b0;
    assign header_frees = 1'b0;
    assign header_write = '0;
    assign header_slot = '0;
    assign header_line = '0;
    assign header_data = '0;
    assign header_size = '0;
    assign header_offset = '0;
    assign header_busy_o = 1'b0;
    wire unused_headers = &{1'b0, template_i, template_word_i, template_data_i, header_flow_i,
        header_v6_i, header_stamps_i, header_seq_i, header_ack_i, header_val_i, header_ecr_i,
        header_window_i, header_flags_i, header_tos_i};
  end

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
    .free_valid_i({leave_free, free_i || header_frees}),
    .free_slot_i({leave_free_slot, free_i ? free_slot_i : header_slot}),
    .stray_o(unused_stray)
  );
  wire takes = take_i && ready_o;

  // ---- DFU, PCU; the processor gives one command at a time, so go_i and header_i never meet ----
  wire fetches = go_i || header_fetches;
  wire [SlotBits-1:0] fetch_slot = go_i ? go_slot_i : header_slot_i;
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
    .go_i(fetches),
    .host_i(go_i ? go_host_i : header_host_i),
    .length_i(go_i ? go_length_i : (SlotLog + 1)'(header_length_i)),
    .slot_i(fetch_slot),
    .offset_i(go_i ? go_offset_i : header_offset),
    .more_i(go_i && go_more_i),
    .ar_valid_o,
    .ar_ready_i,
    .ar_addr_o,
    .ar_len_o,
    .r_valid_i,
    .r_ready_o,
    .r_data_i,
    .r_bad_i,
    .stall_i(cpu_writes || header_writes),
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
    .write_i((cpu_writes || header_writes) ? 8'd0 : fill_write),
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
      if (fetches) done_q[fetch_slot] <= refused;
      if (refused) bad_q[fetch_slot] <= 1'b1;
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
    .send_i(leave_i || header_leaves),
    .slot_i(leave_i ? leave_slot_i : header_slot),
    .length_i(leave_i ? leave_length_i : header_size),
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
      .write_i(cpu_writes ? write_i[l%4] && mine : header_writes ? header_write[l] : fill_write[l]),
      .waddr_i(cpu_writes ? cpu_line :
               header_writes ? {header_slot, header_line} : {fill_slot, fill_line[l]}),
      .wdata_i(cpu_writes ? data_i[8*(l%4)+:8] :
               header_writes ? header_data[8*l+:8] : fill_data[8*l+:8]),
      .raddr_i(cpu_reads ? cpu_line : leave_line),
      .rdata_o(line_data[8*l+:8])
    );
  end

  logic high_q;
  always_ff @(posedge clk_i) high_q <= word_i[0];
  assign data_o = high_q ? line_data[63:32] : line_data[31:0];

endmodule

`resetall
