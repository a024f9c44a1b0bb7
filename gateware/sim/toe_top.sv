// SPDX-License-Identifier: Apache-2.0
// toe_top.sv - toe_core as toe_sim drives it: queue pairs and doorbells are written one at a time, as
// through registers.
`resetall
`default_nettype none

module toe_top
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned FlowBits = 10,
  parameter int unsigned FpcBits = 0,
  parameter int unsigned HotBits = 10,
  parameter int unsigned Qps = 8
) (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire [63:0]  now_i,
  input  wire [47:0]  mac_i,
  input  wire [31:0]  ip4_i,
  input  wire [5:0]   ip4_prefix_i,
  input  wire [31:0]  ip4_gateway_i,
  input  wire [127:0] ip6_i,           // 0: none
  input  wire [7:0]   ip6_prefix_i,
  input  wire [127:0] ip6_gateway_i,
  input  wire [127:0] ip6_link_i,
  input  wire [15:0]  mtu_i,
  input  wire [3:0]   cc_i,
  input  wire [127:0] secret_i,
  input  wire [383:0] hash_key_i,
  output wire         ready_o,
  output wire [31:0]  flows_o,

  input  wire         qp_write_i,
  input  wire [5:0]   qp_i,
  input  wire         qp_enable_i,
  input  wire         qp_detach_i,
  input  wire [63:0]  qp_area_i,
  input  wire [4:0]   qp_sw_log_i,
  input  wire [4:0]   qp_hw_log_i,
  input  wire [4:0]   qp_slots_log_i,
  input  wire [4:0]   qp_tx_log_i,
  input  wire [4:0]   qp_rx_log_i,
  input  wire [12:0]  qp_addresses_i,
  input  wire [15:0]  qp_first_i,
  input  wire [31:0]  qp_status_at_i,
  input  wire [31:0]  qp_sw_at_i,
  input  wire [31:0]  qp_hw_at_i,
  input  wire [31:0]  qp_records_at_i,
  input  wire [31:0]  qp_addresses_at_i,
  input  wire [31:0]  qp_buffers_at_i,
  output wire [Qps-1:0] attached_o,
  output wire [Qps-1:0] detached_o,

  input  wire         bell_write_i,
  input  wire [5:0]   bell_qp_i,
  input  wire [31:0]  bell_sw_head_i,
  input  wire [31:0]  bell_hw_tail_i,
  input  wire [31:0]  bell_arm_i,
  input  wire [31:0]  bell_seq_i,
  input  wire [31:0]  bell_count_i,
  input  wire [31:0]  bell_usec_i,
  output wire [Qps-1:0] irq_o,

  input  wire [511:0] s_tdata_i,
  input  wire [63:0]  s_tkeep_i,
  input  wire         s_tvalid_i,
  input  wire         s_tlast_i,
  output wire [511:0] m_tdata_o,
  output wire [63:0]  m_tkeep_o,
  output wire         m_tvalid_o,
  output wire         m_tlast_o,
  input  wire         m_tready_i,

  output wire         cmd_ar_valid_o,
  input  wire         cmd_ar_ready_i,
  output wire [63:0]  cmd_ar_addr_o,
  input  wire         cmd_r_valid_i,
  input  wire [511:0] cmd_r_data_i,
  output wire         tx_ar_valid_o,
  input  wire         tx_ar_ready_i,
  output wire [63:0]  tx_ar_addr_o,
  output wire [7:0]   tx_ar_len_o,
  input  wire         tx_r_valid_i,
  output wire         tx_r_ready_o,
  input  wire [511:0] tx_r_data_i,
  output wire         aw_valid_o,
  input  wire         aw_ready_i,
  output wire [63:0]  aw_addr_o,
  output wire [7:0]   aw_len_o,
  output wire         w_valid_o,
  input  wire         w_ready_i,
  output wire [511:0] w_data_o,
  output wire [63:0]  w_strb_o,
  output wire         w_last_o,

  // counters: toe_rx, toe_conn, the FPCs together
  output wire [63:0][31:0] counters_o
);

  localparam int unsigned QpBits = $clog2(Qps);

  qp_config_t [Qps-1:0] config_q;
  logic [Qps-1:0] detach_q;
  logic [Qps-1:0][31:0] sw_head_q, hw_tail_q, arm_q, seq_q, count_q, usec_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      config_q <= '0;
      detach_q <= '0;
      sw_head_q <= '0;
      hw_tail_q <= '0;
      arm_q <= '0;
      seq_q <= '0;
      count_q <= '0;
      usec_q <= '0;
    end else begin
      if (qp_write_i) begin
        detach_q[QpBits'(qp_i)] <= qp_detach_i;
        config_q[QpBits'(qp_i)] <= '{
          enable: qp_enable_i, area: qp_area_i, sw_log: qp_sw_log_i, hw_log: qp_hw_log_i,
          slots_log: qp_slots_log_i, tx_log: qp_tx_log_i, rx_log: qp_rx_log_i,
          addresses: qp_addresses_i, first: qp_first_i, status_at: qp_status_at_i,
          sw_at: qp_sw_at_i, hw_at: qp_hw_at_i, records_at: qp_records_at_i,
          addresses_at: qp_addresses_at_i, buffers_at: qp_buffers_at_i};
      end
      if (bell_write_i) begin
        sw_head_q[QpBits'(bell_qp_i)] <= bell_sw_head_i;
        hw_tail_q[QpBits'(bell_qp_i)] <= bell_hw_tail_i;
        arm_q[QpBits'(bell_qp_i)] <= bell_arm_i;
        seq_q[QpBits'(bell_qp_i)] <= bell_seq_i;
        count_q[QpBits'(bell_qp_i)] <= bell_count_i;
        usec_q[QpBits'(bell_qp_i)] <= bell_usec_i;
      end
    end
  end

  own_t own;
  always_comb begin
    own = '0;
    own.mac = mac_i;
    own.ip4 = ip4_i;
    own.ip4_prefix = ip4_prefix_i;
    own.ip4_gateway = ip4_gateway_i;
    own.ip6_on = ip6_i != '0;
    own.ip6 = ip6_i;
    own.ip6_prefix = ip6_prefix_i;
    own.ip6_gateway = ip6_gateway_i;
    own.ip6_link = ip6_link_i;
    own.mtu = mtu_i;
    own.cc = cc_i;
    own.secret = secret_i;
    own.hash_key = hash_key_i;
  end

  rx_counts_t rx_counts;
  conn_counts_t conn_counts;
  fpc_counts_t [2**FpcBits-1:0] fpc_counts;
  fpc_counts_t fpc_any;
  now_t now;
  assign now.ns = now_i;

  // The memory of TCBs that are not on chip: an answer some cycles after it was asked, in order.
  logic tcb_arvalid, tcb_rvalid, tcb_rready, tcb_awvalid, tcb_wvalid, tcb_wlast, tcb_bvalid_q;
  logic [3:0] tcb_arid;
  logic [63:0] tcb_araddr, tcb_awaddr, read_at_q, write_at_q;
  logic [7:0] tcb_arlen, left_q, delay_q;
  logic [511:0] tcb_wdata;
  logic [3:0] read_id_q;
  logic reading_q;
  logic [511:0] tcb_memory[2**(FlowBits+3)];
  assign tcb_rvalid = reading_q && delay_q == 8'd0;
  always_ff @(posedge clk_i) begin
    tcb_bvalid_q <= rst_ni && tcb_wvalid && tcb_wlast;
    if (tcb_wvalid) tcb_memory[(FlowBits+3)'((tcb_awvalid ? tcb_awaddr : write_at_q) >> 6)] <= tcb_wdata;
    if (tcb_wvalid || tcb_awvalid)
      write_at_q <= (tcb_awvalid ? tcb_awaddr : write_at_q) + (tcb_wvalid ? 64'd64 : 64'd0);
    if (!rst_ni) reading_q <= 1'b0;
    else if (!reading_q) begin
      reading_q <= tcb_arvalid;
      read_at_q <= tcb_araddr;
      read_id_q <= tcb_arid;
      left_q <= tcb_arlen;
      delay_q <= 8'd25;
    end else if (delay_q != 8'd0) delay_q <= delay_q - 8'd1;
    else if (tcb_rready) begin
      read_at_q <= read_at_q + 64'd64;
      left_q <= left_q - 8'd1;
      if (left_q == 8'd0) reading_q <= 1'b0;
    end
  end

  toe_core #(.FlowBits(FlowBits), .FpcBits(FpcBits), .HotBits(HotBits), .Qps(Qps)) core (
    .clk_i, .rst_ni, .now_i(now), .own_i(own), .ready_o,
    .qp_i(config_q), .detach_i(detach_q), .detached_o, .attached_o,
    .sw_head_i(sw_head_q), .hw_tail_i(hw_tail_q), .irq_arm_i(arm_q), .irq_seq_i(seq_q),
    .irq_count_i(count_q), .irq_usec_i(usec_q), .irq_o,
    .s_tdata_i, .s_tkeep_i, .s_tvalid_i, .s_tlast_i, .s_tready_o(),
    .m_tdata_o, .m_tkeep_o, .m_tvalid_o, .m_tlast_o, .m_tready_i,
    .cmd_ar_valid_o, .cmd_ar_ready_i, .cmd_ar_addr_o, .cmd_r_valid_i, .cmd_r_data_i,
    .tx_ar_valid_o, .tx_ar_ready_i, .tx_ar_addr_o, .tx_ar_len_o, .tx_r_valid_i, .tx_r_ready_o,
    .tx_r_data_i,
    .aw_valid_o, .aw_ready_i, .aw_addr_o, .aw_len_o,
    .w_valid_o, .w_ready_i, .w_data_o, .w_strb_o, .w_last_o,
    .tcb_arvalid_o(tcb_arvalid), .tcb_arready_i(!reading_q), .tcb_arid_o(tcb_arid),
    .tcb_araddr_o(tcb_araddr), .tcb_arlen_o(tcb_arlen),
    .tcb_rvalid_i(tcb_rvalid), .tcb_rready_o(tcb_rready), .tcb_rid_i(read_id_q),
    .tcb_rdata_i(tcb_memory[(FlowBits+3)'(read_at_q >> 6)]), .tcb_rresp_i(2'd0),
    .tcb_awvalid_o(tcb_awvalid), .tcb_awready_i(1'b1), .tcb_awaddr_o(tcb_awaddr), .tcb_awlen_o(),
    .tcb_wvalid_o(tcb_wvalid), .tcb_wready_i(1'b1), .tcb_wdata_o(tcb_wdata),
    .tcb_wlast_o(tcb_wlast), .tcb_bvalid_i(tcb_bvalid_q), .tcb_bready_o(), .tcb_bresp_i(2'd0),
    .tcb_read_error_o(), .tcb_write_error_o(),
    .rx_counts_o(rx_counts), .conn_counts_o(conn_counts), .fpc_counts_o(fpc_counts)
  );

  always_comb begin
    fpc_any = '0;
    for (int f = 0; f < 2 ** FpcBits; f++) fpc_any = fpc_any | fpc_counts[f];
  end

  logic [63:0][31:0] counters_q;
  wire [63:0] pulses = 64'({fpc_any, conn_counts, rx_counts});
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 64; i++)
      counters_q[i] <= rst_ni ? counters_q[i] + 32'(pulses[i]) : 32'd0;
  end
  assign counters_o = counters_q;
  assign flows_o = 32'd1 << FlowBits;

endmodule

`resetall
