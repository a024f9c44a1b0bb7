// SPDX-License-Identifier: Apache-2.0
// hyb_soc.sv - the processor of the hybrid TOE with its memories and registers (S2.1). One Ibex, RV32IMC,
// whose writeback stage, branch target ALU and single-cycle multiplier are built in.
//
//   0x0000_0000   instruction memory, 128 KiB; the data port reads constants from it
//   0x2000_0000   data memory, 256 KiB
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
  parameter int unsigned DataBits = 18
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
  output wire [7:0]  exit_o
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
    ToRegs,
    ToExt,
    ToNone
  } target_e;

  localparam int unsigned RegBits = HYB_REGS_MIN_ADDR_WIDTH;

  function automatic target_e target(logic [31:RegBits] addr, logic write);
    if (addr[31:InstrBits] == '0) return write ? ToNone : ToInstr;
    if (addr[31:DataBits] == (32 - DataBits)'(32'h2000_0000 >> DataBits)) return ToData;
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

  logic [31:0] const_rdata, ram_rdata, regs_rdata;
  always_comb begin
    data_rvalid = answered;
    unique case (to_q)
      ToInstr: data_rdata = const_rdata;
      ToData: data_rdata = ram_rdata;
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
    .AddrBits(InstrBits - 2)
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

  always_comb begin
    regs_in.BLOCK.NEXT.v.next = '0;
    regs_in.CYCLES_LOW.v.next = cycles_q[31:0];
    regs_in.CYCLES_HIGH.v.next = cycles_q[63:32];
    regs_in.MEMORY.instr.next = 16'(1 << (InstrBits - 10));
    regs_in.MEMORY.data.next = 16'(1 << (DataBits - 10));
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
