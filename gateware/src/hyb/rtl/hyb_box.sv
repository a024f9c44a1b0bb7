// SPDX-License-Identifier: Apache-2.0
// hyb_box.sv - the hybrid TOE with the edges that toe_box gives the gateware TOE, but that of the memory
// of TCBs: AXI-Stream of 512 bits each way, one AXI4 master to host memory, AXI4-Lite registers (the
// same, device/toe.rdl), requests for MSI-X messages. Beside them: the firmware's image and console. The
// counters of flows and connections stay 0: the firmware keeps its own.
`resetall
`default_nettype none

module hyb_box
  import toe_pkg::*;
#(
  parameter int unsigned FlowBits = 6,  // as many as the firmware has (firmware/toe.h)
  parameter int unsigned Qps = 8,
  parameter bit Units = 1'b0,           // the prototype (hyb_core.sv)
  parameter bit Headers = 1'b0,         // ... and with it the complete one
  parameter logic [63:0] BuildId = 64'd0
) (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire [63:0]   now_ns_i,

  // the firmware's image, a word a cycle, before RUN; what it prints; its end, which is a failure
  input  wire          load_valid_i,
  input  wire [14:0]   load_addr_i,
  input  wire [31:0]   load_data_i,
  output wire          console_valid_o,
  output wire [7:0]    console_o,
  output wire          exit_valid_o,
  output wire [7:0]    exit_o,
  output wire          active_o,

  input  wire          s_axil_awvalid_i,
  output wire          s_axil_awready_o,
  input  wire [18:0]   s_axil_awaddr_i,
  input  wire          s_axil_wvalid_i,
  output wire          s_axil_wready_o,
  input  wire [31:0]   s_axil_wdata_i,
  input  wire [3:0]    s_axil_wstrb_i,
  output wire          s_axil_bvalid_o,
  input  wire          s_axil_bready_i,
  output wire [1:0]    s_axil_bresp_o,
  input  wire          s_axil_arvalid_i,
  output wire          s_axil_arready_o,
  input  wire [18:0]   s_axil_araddr_i,
  output wire          s_axil_rvalid_o,
  input  wire          s_axil_rready_i,
  output wire [31:0]   s_axil_rdata_o,
  output wire [1:0]    s_axil_rresp_o,

  input  wire [511:0]  s_axis_tdata_i,
  input  wire [63:0]   s_axis_tkeep_i,
  input  wire          s_axis_tvalid_i,
  input  wire          s_axis_tlast_i,
  output wire          s_axis_tready_o,
  output wire [511:0]  m_axis_tdata_o,
  output wire [63:0]   m_axis_tkeep_o,
  output wire          m_axis_tvalid_o,
  output wire          m_axis_tlast_o,
  input  wire          m_axis_tready_i,

  // beats of 64 bytes, bursts of type INCR; writes have ID 0
  output wire          m_axi_arvalid_o,
  input  wire          m_axi_arready_i,
  output wire          m_axi_arid_o,
  output wire [63:0]   m_axi_araddr_o,
  output wire [7:0]    m_axi_arlen_o,
  input  wire          m_axi_rvalid_i,
  output wire          m_axi_rready_o,
  input  wire          m_axi_rid_i,
  input  wire [511:0]  m_axi_rdata_i,
  input  wire [1:0]    m_axi_rresp_i,
  output wire          m_axi_awvalid_o,
  input  wire          m_axi_awready_i,
  output wire [63:0]   m_axi_awaddr_o,
  output wire [7:0]    m_axi_awlen_o,
  output wire          m_axi_wvalid_o,
  input  wire          m_axi_wready_i,
  output wire [511:0]  m_axi_wdata_o,
  output wire [63:0]   m_axi_wstrb_o,
  output wire          m_axi_wlast_o,
  input  wire          m_axi_bvalid_i,
  output wire          m_axi_bready_o,
  input  wire [1:0]    m_axi_bresp_i,

  output wire          msix_valid_o,
  input  wire          msix_ready_i,
  output wire qp_t     msix_vector_o
);

  logic run, ready;
  own_t own;
  now_t now;
  assign now.ns = now_ns_i;
  logic core_rst_nq;                 // RUN holds the core, not the registers
  always_ff @(posedge clk_i) core_rst_nq <= rst_ni && run;

  qp_config_t [Qps-1:0] qp;
  logic [Qps-1:0] detach, detached, attached, halted, irq;
  logic [Qps-1:0][15:0] used;
  logic [Qps-1:0][7:0] listeners;
  logic [Qps-1:0][31:0] sw_head, hw_tail, irq_arm, irq_seq, irq_count, irq_usec;

  logic cmd_ar_valid, cmd_ar_ready, cmd_r_valid, tx_ar_valid, tx_ar_ready, tx_r_valid, tx_r_ready;
  logic aw_valid, aw_ready, w_valid, w_ready, unused_w_last;
  logic [63:0] cmd_ar_addr, tx_ar_addr, aw_addr, w_strb;
  logic [7:0] tx_ar_len, aw_len;
  logic [511:0] cmd_r_data, tx_r_data, w_data;
  rx_counts_t rx_counts;
  conn_counts_t conn_counts;
  box_counts_t box_counts;
  logic no_buffer, too_long;
  assign conn_counts = '0;
  always_comb begin
    rx_counts = '0;
    rx_counts.no_buffer = no_buffer;
    rx_counts.too_long = too_long;
  end

  hyb_core #(.Qps(Qps), .Units(Units), .Headers(Headers)) core (
    .clk_i, .rst_ni(core_rst_nq), .now_i(now), .own_i(own), .ready_o(ready),
    .load_valid_i, .load_addr_i, .load_data_i, .console_valid_o, .console_o, .exit_valid_o,
    .exit_o, .active_o,
    .qp_i(qp), .detach_i(detach), .detached_o(detached), .attached_o(attached),
    .halted_o(halted), .used_o(used), .listeners_o(listeners),
    .sw_head_i(sw_head), .hw_tail_i(hw_tail), .irq_arm_i(irq_arm), .irq_seq_i(irq_seq),
    .irq_count_i(irq_count), .irq_usec_i(irq_usec), .irq_o(irq),
    .s_tdata_i(s_axis_tdata_i), .s_tkeep_i(s_axis_tkeep_i), .s_tvalid_i(s_axis_tvalid_i),
    .s_tlast_i(s_axis_tlast_i), .s_tready_o(s_axis_tready_o),
    .m_tdata_o(m_axis_tdata_o), .m_tkeep_o(m_axis_tkeep_o), .m_tvalid_o(m_axis_tvalid_o),
    .m_tlast_o(m_axis_tlast_o), .m_tready_i(m_axis_tready_i),
    .cmd_ar_valid_o(cmd_ar_valid), .cmd_ar_ready_i(cmd_ar_ready), .cmd_ar_addr_o(cmd_ar_addr),
    .cmd_r_valid_i(cmd_r_valid), .cmd_r_data_i(cmd_r_data),
    .tx_ar_valid_o(tx_ar_valid), .tx_ar_ready_i(tx_ar_ready), .tx_ar_addr_o(tx_ar_addr),
    .tx_ar_len_o(tx_ar_len), .tx_r_valid_i(tx_r_valid), .tx_r_ready_o(tx_r_ready),
    .tx_r_data_i(tx_r_data), .tx_r_bad_i(m_axi_rresp_i[1]),
    .aw_valid_o(aw_valid), .aw_ready_i(aw_ready), .aw_addr_o(aw_addr), .aw_len_o(aw_len),
    .w_valid_o(w_valid), .w_ready_i(w_ready), .w_data_o(w_data), .w_strb_o(w_strb),
    .w_last_o(unused_w_last),
    .no_buffer_o(no_buffer), .too_long_o(too_long)
  );

  // ---- host memory and interrupts ----

  logic [15:0] writes_asked, writes_done;
  toe_axi axi (
    .clk_i, .rst_ni(core_rst_nq),
    .cmd_ar_valid_i(cmd_ar_valid), .cmd_ar_ready_o(cmd_ar_ready), .cmd_ar_addr_i(cmd_ar_addr),
    .cmd_r_valid_o(cmd_r_valid), .cmd_r_data_o(cmd_r_data),
    .tx_ar_valid_i(tx_ar_valid), .tx_ar_ready_o(tx_ar_ready), .tx_ar_addr_i(tx_ar_addr),
    .tx_ar_len_i(tx_ar_len), .tx_r_valid_o(tx_r_valid), .tx_r_ready_i(tx_r_ready),
    .tx_r_data_o(tx_r_data),
    .aw_valid_i(aw_valid), .aw_ready_o(aw_ready), .aw_addr_i(aw_addr), .aw_len_i(aw_len),
    .w_valid_i(w_valid), .w_ready_o(w_ready), .w_data_i(w_data), .w_strb_i(w_strb),
    .m_arvalid_o(m_axi_arvalid_o), .m_arready_i(m_axi_arready_i), .m_arid_o(m_axi_arid_o),
    .m_araddr_o(m_axi_araddr_o), .m_arlen_o(m_axi_arlen_o),
    .m_rvalid_i(m_axi_rvalid_i), .m_rready_o(m_axi_rready_o), .m_rid_i(m_axi_rid_i),
    .m_rdata_i(m_axi_rdata_i), .m_rresp_i(m_axi_rresp_i),
    .m_awvalid_o(m_axi_awvalid_o), .m_awready_i(m_axi_awready_i), .m_awaddr_o(m_axi_awaddr_o),
    .m_awlen_o(m_axi_awlen_o),
    .m_wvalid_o(m_axi_wvalid_o), .m_wready_i(m_axi_wready_i), .m_wdata_o(m_axi_wdata_o),
    .m_wstrb_o(m_axi_wstrb_o), .m_wlast_o(m_axi_wlast_o),
    .m_bvalid_i(m_axi_bvalid_i), .m_bready_o(m_axi_bready_o), .m_bresp_i(m_axi_bresp_i),
    .read_error_o(box_counts.host_read_error), .write_error_o(box_counts.host_write_error),
    .asked_o(writes_asked), .done_o(writes_done)
  );
  toe_msix #(.Qps(Qps)) msix (
    .clk_i, .rst_ni(core_rst_nq), .irq_i(irq), .asked_i(writes_asked), .done_i(writes_done),
    .valid_o(msix_valid_o), .ready_i(msix_ready_i), .vector_o(msix_vector_o)
  );

  // ---- registers ----

  logic [Qps-1:0] halted_q;
  always_ff @(posedge clk_i) halted_q <= halted;
  assign box_counts.tcb_read_error = 1'b0;
  assign box_counts.tcb_write_error = 1'b0;
  assign box_counts.packet_in = s_axis_tvalid_i && s_axis_tready_o && s_axis_tlast_i;
  assign box_counts.packet_out = m_axis_tvalid_o && m_axis_tready_i && m_axis_tlast_o;
  assign box_counts.msix = msix_valid_o && msix_ready_i;
  assign box_counts.qp_halted = (halted & ~halted_q) != '0;

  localparam int unsigned Beside = $bits({rx_counts, conn_counts, box_counts});
  // With the names of the gateware TOE's counters, those of its FPCs too.
  toe_csr #(.Flows(2 ** FlowBits), .Qps(Qps), .Fpcs(1), .FpcCounters(fpc_pkg::FpcCounts),
            .Counters(Beside), .BuildId(BuildId)) csr (
    .clk_i, .rst_ni,
    .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_awaddr_i, .s_axil_wvalid_i, .s_axil_wready_o,
    .s_axil_wdata_i, .s_axil_wstrb_i, .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_bresp_o,
    .s_axil_arvalid_i, .s_axil_arready_o, .s_axil_araddr_i, .s_axil_rvalid_o, .s_axil_rready_i,
    .s_axil_rdata_o, .s_axil_rresp_o,
    .run_o(run), .own_o(own), .ready_i(ready),
    .qp_o(qp), .detach_o(detach), .attached_i(attached), .detached_i(detached),
    .halted_i(halted), .used_i(used), .listeners_i(listeners),
    .sw_head_o(sw_head), .hw_tail_o(hw_tail), .irq_arm_o(irq_arm), .irq_seq_o(irq_seq),
    .irq_count_o(irq_count), .irq_usec_o(irq_usec),
    .pulses_i({rx_counts, conn_counts, box_counts}), .fpc_pulses_i('0)
  );

endmodule

`resetall
