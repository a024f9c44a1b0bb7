// SPDX-License-Identifier: Apache-2.0
// hyb_soc.sv - the processor of the hybrid TOE with its memories and registers (S2.1). One Ibex, RV32IMC,
// whose writeback stage, branch target ALU and single-cycle multiplier are built in.
//
//   0x0000_0000   instruction memory, 128 KiB; the data port reads constants from it
//   0x2000_0000   data memory, 256 KiB
//   0x3000_0000   with Units: 16 slots of 2048 bytes for frames to send (hyb_send.sv)
//   0x3001_0000   with Headers: templates of headers, 64 bytes each, written by words (hyb_header.sv)
//   0x3000_0000   what surrounds it (ext_*), up to 0x3fff_ffff
//   0x4000_0000   registers (device/hyb.rdl)
//   0x4001_0000   registers of what surrounds it (ext_*), 64 KiB
//
// The host writes the firmware through load_*, a word a cycle, while run_i is 0. The processor starts
// at 0x80 when run_i becomes 1. An access anywhere else, and a write to instruction memory, raises a
// bus error in the processor. A memory answers in the next cycle, a register when its block does.
`resetall
`default_nettype none

module hyb_soc
  import hyb_regs_pkg::*;
#(
  parameter int unsigned InstrBits = 17,  // of the memories' byte addresses
  parameter int unsigned DataBits = 18,
  parameter bit Units = 1'b1,             // MAU, DFU, PCU and slots; without, all is firmware's
  parameter bit Headers = 1'b1,           // with Units: the header unit
  parameter Image = ""                    // of instruction memory from the start (hyb_memory.sv)
) (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        run_i,
  input  wire        load_valid_i,
  input  wire [InstrBits-3:0] load_addr_i,  // in words
  input  wire [31:0] load_data_i,
  // An access outside: the request lasts a cycle, its answer comes a cycle later or more.
  output wire        ext_req_o,
  output wire        ext_write_o,
  output wire [31:0] ext_addr_o,
  output wire [3:0]  ext_be_o,
  output wire [31:0] ext_wdata_o,
  input  wire        ext_ack_i,
  input  wire        ext_err_i,
  input  wire [31:0] ext_rdata_i,
  input  wire [14:0] irq_i,               // fast interrupts, beside those that RAISE has
  output wire        sleep_o,             // the processor waits for an interrupt
  output wire        console_valid_o,
  output wire [7:0]  console_o,
  output wire        exit_valid_o,
  output wire [7:0]  exit_o,

  // reads of host memory, answered in order; frames to send
  output wire        ar_valid_o,
  input  wire        ar_ready_i,
  output wire [63:0] ar_addr_o,
  output wire [7:0]  ar_len_o,
  input  wire        r_valid_i,
  output wire        r_ready_o,
  input  wire [63:0] r_data_i,
  input  wire        r_bad_i,
  output wire [63:0] m_tdata_o,
  output wire [7:0]  m_tkeep_o,
  output wire        m_tvalid_o,
  output wire        m_tlast_o,
  input  wire        m_tready_i
);

  // ---- the processor ----
  wire cpu_rst_n = rst_ni && run_i;
  logic instr_req, instr_rvalid_q, instr_err_q;
  logic [31:0] instr_addr, instr_rdata;
  logic data_req, data_we;
  logic [3:0] data_be;
  logic [31:0] data_addr, data_wdata, data_rdata;
  wire data_gnt;
  logic data_rvalid, data_err;
  logic [14:0] irq_fast;

  // What Ibex offers beyond that: integrity bits, alerts, and what a debugger reads.
  wire [6:0] unused_data_wdata_intg;
  wire unused_scramble_req, unused_double_fault_seen;
  wire unused_alert_minor, unused_alert_major_internal, unused_alert_major_bus;
  ibex_pkg::crash_dump_t unused_crash_dump;

  ibex_top #(
    .RV32M(ibex_pkg::RV32MSingleCycle),
    .RegFile(ibex_pkg::RegFileFPGA),
    .BranchTargetALU(1'b1),
    .WritebackStage(1'b1)
  ) u_ibex (
    .clk_i,
    .rst_ni(cpu_rst_n),
    .test_en_i(1'b0),
    .ram_cfg_i('0),
    .hart_id_i(32'd0),
    .boot_addr_i(32'd0),
    .instr_req_o(instr_req),
    .instr_gnt_i(1'b1),
    .instr_rvalid_i(instr_rvalid_q),
    .instr_addr_o(instr_addr),
    .instr_rdata_i(instr_rdata),
    .instr_rdata_intg_i('0),
    .instr_err_i(instr_err_q),
    .data_req_o(data_req),
    .data_gnt_i(data_gnt),
    .data_rvalid_i(data_rvalid),
    .data_we_o(data_we),
    .data_be_o(data_be),
    .data_addr_o(data_addr),
    .data_wdata_o(data_wdata),
    .data_wdata_intg_o(unused_data_wdata_intg),
    .data_rdata_i(data_rdata),
    .data_rdata_intg_i('0),
    .data_err_i(data_err),
    .irq_software_i(1'b0),
    .irq_timer_i(1'b0),
    .irq_external_i(1'b0),
    .irq_fast_i(irq_fast),
    .irq_nm_i(1'b0),
    .scramble_key_valid_i(1'b0),
    .scramble_key_i('0),
    .scramble_nonce_i('0),
    .scramble_req_o(unused_scramble_req),
    .debug_req_i(1'b0),
    .crash_dump_o(unused_crash_dump),
    .double_fault_seen_o(unused_double_fault_seen),
    .fetch_enable_i(ibex_pkg::IbexMuBiOn),
    .alert_minor_o(unused_alert_minor),
    .alert_major_internal_o(unused_alert_major_internal),
    .alert_major_bus_o(unused_alert_major_bus),
    .core_sleep_o(sleep_o),
    .scan_rst_ni(1'b1)
  );

  wire [1:0] unused_instr_addr = instr_addr[1:0];
  always_ff @(posedge clk_i) begin
    if (!cpu_rst_n) instr_rvalid_q <= 1'b0;
    else instr_rvalid_q <= instr_req;
    instr_err_q <= instr_addr[31:InstrBits] != '0;
  end

  // ---- where a data access goes ----
  typedef enum logic [2:0] {
    ToInstr,
    ToData,
    ToSlots,
    ToTemplates,
    ToRegs,
    ToExt,
    ToNone
  } target_e;

  localparam int unsigned RegBits = HYB_REGS_MIN_ADDR_WIDTH;
  localparam int unsigned SlotBits = 4;
  localparam int unsigned SlotLog = 11;
  localparam int unsigned SlotsBits = SlotBits + SlotLog;  // of the slots' byte addresses
  localparam int unsigned FlowBits = 6;                    // of templates

  function automatic target_e target(logic [31:RegBits] addr, logic write);
    if (addr[31:InstrBits] == '0) return write ? ToNone : ToInstr;
    if (addr[31:DataBits] == (32 - DataBits)'(32'h2000_0000 >> DataBits)) return ToData;
    if (Units && addr[31:SlotsBits] == (32 - SlotsBits)'(32'h3000_0000 >> SlotsBits))
      return ToSlots;
    if (Units && Headers &&
        addr[31:FlowBits+6] == (26 - FlowBits)'(32'h3001_0000 >> (FlowBits + 6)))
      return write ? ToTemplates : ToNone;
    if (addr == (32 - RegBits)'(32'h4000_0000 >> RegBits)) return ToRegs;
    if (addr[31:28] == 4'h3 || addr[31:16] == 16'h4001) return ToExt;
    return ToNone;
  endfunction

  target_e to, to_q;
  logic waits_q;  // an access waits for its answer
  assign to = target(data_addr[31:RegBits], data_we);

  // A register takes as long as its block needs; no other access begins before its answer.
  wire regs_ack, regs_rd_ack, regs_wr_ack, regs_err;
  wire answered = waits_q && (to_q == ToRegs ? regs_ack : (to_q != ToExt || ext_ack_i));
  assign data_gnt = !waits_q || answered;
  wire begins = data_req && data_gnt;

  always_ff @(posedge clk_i) begin
    if (!cpu_rst_n) begin
      waits_q <= 1'b0;
      to_q <= ToNone;
    end else begin
      if (answered) waits_q <= 1'b0;
      if (begins) begin
        waits_q <= 1'b1;
        to_q <= to;
      end
    end
  end

  logic [31:0] const_rdata, ram_rdata, slots_rdata, regs_rdata;
  always_comb begin
    data_rvalid = answered;
    unique case (to_q)
      ToInstr: data_rdata = const_rdata;
      ToData: data_rdata = ram_rdata;
      ToSlots: data_rdata = slots_rdata;
      ToRegs: data_rdata = regs_rdata;
      ToExt: data_rdata = ext_rdata_i;
      default: data_rdata = '0;
    endcase
    data_err = to_q == ToNone || (to_q == ToRegs && regs_err) || (to_q == ToExt && ext_err_i);
  end

  assign ext_req_o = begins && to == ToExt;
  assign ext_write_o = data_we;
  assign ext_addr_o = data_addr;
  assign ext_be_o = data_be;
  assign ext_wdata_o = data_wdata;

  // ---- memories ----
  hyb_memory #(
    .AddrBits(InstrBits - 2),
    .Image(Image)
  ) u_instr (
    .clk_i,
    .a_addr_i(instr_addr[InstrBits-1:2]),
    .a_rdata_o(instr_rdata),
    .b_addr_i(run_i ? data_addr[InstrBits-1:2] : load_addr_i),
    .b_write_i({4{load_valid_i && !run_i}}),
    .b_wdata_i(load_data_i),
    .b_rdata_o(const_rdata)
  );

  logic [31:0] unused_rdata;
  hyb_memory #(
    .AddrBits(DataBits - 2)
  ) u_data (
    .clk_i,
    .a_addr_i('0),
    .a_rdata_o(unused_rdata),
    .b_addr_i(data_addr[DataBits-1:2]),
    .b_write_i(begins && to == ToData && data_we ? data_be : '0),
    .b_wdata_i(data_wdata),
    .b_rdata_o(ram_rdata)
  );

  // ---- registers ----
  hyb_regs__in_t regs_in;
  hyb_regs__out_t regs_out;
  logic [63:0] cycles_q;
  logic regs_req_q, regs_we_q;
  logic [RegBits-1:0] regs_addr_q;
  logic [31:0] regs_wdata_q;
  logic [3:0] regs_be_q;
  wire rd_stall, wr_stall, rd_err, wr_err;

  // The request is held until the block takes it; a cycle apart from the processor's address.
  always_ff @(posedge clk_i) begin
    if (!cpu_rst_n) regs_req_q <= 1'b0;
    else if (begins && to == ToRegs) regs_req_q <= 1'b1;
    else if (!(regs_we_q ? wr_stall : rd_stall)) regs_req_q <= 1'b0;
    if (begins) begin
      regs_we_q <= data_we;
      regs_addr_q <= data_addr[RegBits-1:0];
      regs_wdata_q <= data_wdata;
      regs_be_q <= data_be;
    end
  end

  wire [31:0] regs_biten = {
    {8{regs_be_q[3]}}, {8{regs_be_q[2]}}, {8{regs_be_q[1]}}, {8{regs_be_q[0]}}
  };
  hyb_regs u_regs (
    .clk(clk_i),
    .rst(!cpu_rst_n),
    .s_cpuif_req(regs_req_q),
    .s_cpuif_req_is_wr(regs_we_q),
    .s_cpuif_addr(regs_addr_q),
    .s_cpuif_wr_data(regs_wdata_q),
    .s_cpuif_wr_biten(regs_biten),
    .s_cpuif_req_stall_wr(wr_stall),
    .s_cpuif_req_stall_rd(rd_stall),
    .s_cpuif_rd_ack(regs_rd_ack),
    .s_cpuif_rd_err(rd_err),
    .s_cpuif_rd_data(regs_rdata),
    .s_cpuif_wr_ack(regs_wr_ack),
    .s_cpuif_wr_err(wr_err),
    .hwif_in(regs_in),
    .hwif_out(regs_out)
  );
  assign regs_ack = regs_rd_ack || regs_wr_ack;
  assign regs_err = regs_we_q ? wr_err : rd_err;

  always_ff @(posedge clk_i) begin
    if (!cpu_rst_n) cycles_q <= '0;
    else cycles_q <= cycles_q + 1'b1;
  end

  // ---- the send path; its registers have their values a cycle after the write ----
  logic go_q, free_q, leave_q, header_q;
  always_ff @(posedge clk_i) begin
    go_q <= cpu_rst_n && regs_out.DFU_GO.v.swmod;
    free_q <= cpu_rst_n && regs_out.FREE.v.swmod;
    leave_q <= cpu_rst_n && regs_out.LEAVE.v.swmod;
    header_q <= cpu_rst_n && regs_out.HEADER_GO.v.swmod;
  end

  wire slot_ready;
  wire [SlotBits-1:0] next_slot;
  wire [2**SlotBits-1:0] dma_done, dma_error;
  wire [2**SlotBits-1:0][15:0] psum;
  wire [31:0] left, header_dropped;
  wire header_busy;
  if (Units) begin : gen_units
    hyb_send #(
      .SlotBits(SlotBits),
      .SlotLog(SlotLog),
      .FlowBits(FlowBits),
      .Headers(Headers)
    ) u_send (
      .clk_i,
      .rst_ni(cpu_rst_n),
      .req_i(begins && to == ToSlots),
      .write_i(data_we ? data_be : 4'd0),
      .word_i(data_addr[SlotsBits-1:2]),
      .data_i(data_wdata),
      .data_o(slots_rdata),
      .ready_o(slot_ready),
      .slot_o(next_slot),
      .take_i(regs_out.ADDRESS.v.swacc),
      .free_i(free_q),
      .free_slot_i(regs_out.FREE.v.value[SlotLog+:SlotBits]),
      .go_i(go_q),
      .go_host_i({regs_out.DFU_HOST_HIGH.v.value, regs_out.DFU_HOST_LOW.v.value}),
      .go_length_i(regs_out.DFU_LENGTH.v.value),
      .go_slot_i(regs_out.DFU_GO.v.value[SlotLog+:SlotBits]),
      .go_offset_i(regs_out.DFU_GO.v.value[SlotLog-1:0]),
      .go_more_i(regs_out.DFU_LENGTH.more.value),
      .done_o(dma_done),
      .bad_o(dma_error),
      .psum_o(psum),
      .leave_i(leave_q),
      .leave_slot_i(regs_out.LEAVE.v.value[SlotLog+:SlotBits]),
      .leave_length_i(regs_out.LEAVE_LENGTH.v.value),
      .left_o(left),
      .template_i(begins && to == ToTemplates),
      .template_word_i(data_addr[FlowBits+5:2]),
      .template_data_i(data_wdata),
      .header_i(header_q),
      .header_flow_i(regs_out.HEADER_FLOW.flow.value),
      .header_v6_i(regs_out.HEADER_FLOW.v6.value),
      .header_stamps_i(regs_out.HEADER_FLOW.stamps.value),
      .header_seq_i(regs_out.HEADER_SEQ.v.value),
      .header_ack_i(regs_out.HEADER_ACK.v.value),
      .header_val_i(regs_out.HEADER_VAL.v.value),
      .header_ecr_i(regs_out.HEADER_ECR.v.value),
      .header_window_i(regs_out.HEADER_FIELDS.window.value),
      .header_flags_i(regs_out.HEADER_FIELDS.flags.value),
      .header_tos_i(regs_out.HEADER_FIELDS.tos.value),
      .header_host_i({regs_out.HEADER_FLOW.host.value, 8'd0, regs_out.HEADER_FROM.v.value}),
      .header_slot_i(regs_out.HEADER_GO.v.value[SlotLog+:SlotBits]),
      .header_length_i(regs_out.HEADER_GO.v.value[SlotLog-1:0]),
      .header_busy_o(header_busy),
      .header_dropped_o(header_dropped),
      .ar_valid_o,
      .ar_ready_i,
      .ar_addr_o,
      .ar_len_o,
      .r_valid_i,
      .r_ready_o,
      .r_data_i,
      .r_bad_i,
      .m_tdata_o,
      .m_tkeep_o,
      .m_tvalid_o,
      .m_tlast_o,
      .m_tready_i
    );
  end else begin : gen_none
    assign slots_rdata = '0;
    assign slot_ready = 1'b0;
    assign next_slot = '0;
    assign dma_done = '0;
    assign dma_error = '0;
    assign psum = '0;
    assign left = '0;
    assign header_busy = 1'b0;
    assign header_dropped = '0;
    assign ar_valid_o = 1'b0;
    assign ar_addr_o = '0;
    assign ar_len_o = '0;
    assign r_ready_o = 1'b0;
    assign m_tdata_o = '0;
    assign m_tkeep_o = '0;
    assign m_tvalid_o = 1'b0;
    assign m_tlast_o = 1'b0;
    wire unused_units = &{1'b0, go_q, free_q, leave_q, header_q, ar_ready_i, r_valid_i, r_data_i,
        r_bad_i, m_tready_i, slots_rdata};
  end

  always_comb begin
    regs_in.BLOCK.NEXT.v.next = '0;
    regs_in.CYCLES_LOW.v.next = cycles_q[31:0];
    regs_in.CYCLES_HIGH.v.next = cycles_q[63:32];
    regs_in.MEMORY.instr.next = 16'(1 << (InstrBits - 10));
    regs_in.MEMORY.data.next = 16'(1 << (DataBits - 10));
    regs_in.UNITS.send.next = Units;
    regs_in.UNITS.headers.next = Units && Headers;
    regs_in.HEADER_BUSY.v.next = header_busy;
    regs_in.HEADER_DROPPED.v.next = header_dropped;
    regs_in.READY.v.next = slot_ready;
    regs_in.ADDRESS.v.next = slot_ready ? 32'h3000_0000 | 32'(next_slot) << SlotLog : '0;
    regs_in.DMA_DONE.v.next = dma_done;
    regs_in.DMA_ERROR.v.next = dma_error;
    regs_in.LEFT.v.next = left;
    for (int i = 0; i < 2 ** SlotBits; i++) begin
      regs_in.PSUM[i].v.next = psum[i];
      regs_in.PSUM[i].error.next = dma_error[i];
    end
  end

  // A register has its new value a cycle after the write.
  logic console_q, exit_q;
  always_ff @(posedge clk_i) begin
    console_q <= cpu_rst_n && regs_out.CONSOLE.c.swmod;
    exit_q <= cpu_rst_n && regs_out.EXIT.code.swmod;
  end
  assign console_valid_o = console_q;
  assign console_o = regs_out.CONSOLE.c.value;
  assign exit_valid_o = exit_q;
  assign exit_o = regs_out.EXIT.code.value;
  assign irq_fast = regs_out.RAISE.v.value | irq_i;

endmodule

`resetall
