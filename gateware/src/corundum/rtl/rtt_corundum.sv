// SPDX-License-Identifier: Apache-2.0
// rtt_corundum.sv - the measuring module for Corundum's application block (mqnic_app_block). It
// uses the block's synchronous MAC streams (axis_sync_tx, axis_sync_rx: after the transmit FIFO,
// before the receive FIFO, 512 bits, in the core's clock) and its AXI4-Lite control port.
// docs/GATEWARE.md describes its place in the template. One port; a 250 MHz core clock.
`resetall
`default_nettype none

module rtt_corundum #(
    parameter int unsigned ClockHz     = 250_000_000,
    parameter int unsigned AddrWidth   = 24,
    parameter int unsigned TxUserWidth = 17,
    parameter int unsigned RxUserWidth = 97
) (
    input  wire                    clk,
    input  wire                    rst,
    input  wire  [  AddrWidth-1:0] s_axil_app_ctrl_awaddr,
    input  wire                    s_axil_app_ctrl_awvalid,
    output logic                   s_axil_app_ctrl_awready,
    input  wire  [           31:0] s_axil_app_ctrl_wdata,
    input  wire  [            3:0] s_axil_app_ctrl_wstrb,
    input  wire                    s_axil_app_ctrl_wvalid,
    output logic                   s_axil_app_ctrl_wready,
    output logic [            1:0] s_axil_app_ctrl_bresp,
    output logic                   s_axil_app_ctrl_bvalid,
    input  wire                    s_axil_app_ctrl_bready,
    input  wire  [  AddrWidth-1:0] s_axil_app_ctrl_araddr,
    input  wire                    s_axil_app_ctrl_arvalid,
    output logic                   s_axil_app_ctrl_arready,
    output logic [           31:0] s_axil_app_ctrl_rdata,
    output logic [            1:0] s_axil_app_ctrl_rresp,
    output logic                   s_axil_app_ctrl_rvalid,
    input  wire                    s_axil_app_ctrl_rready,
    input  wire  [          511:0] s_axis_sync_tx_tdata,
    input  wire  [           63:0] s_axis_sync_tx_tkeep,
    input  wire                    s_axis_sync_tx_tvalid,
    output logic                   s_axis_sync_tx_tready,
    input  wire                    s_axis_sync_tx_tlast,
    input  wire  [TxUserWidth-1:0] s_axis_sync_tx_tuser,
    output logic [          511:0] m_axis_sync_tx_tdata,
    output logic [           63:0] m_axis_sync_tx_tkeep,
    output logic                   m_axis_sync_tx_tvalid,
    input  wire                    m_axis_sync_tx_tready,
    output logic                   m_axis_sync_tx_tlast,
    output logic [TxUserWidth-1:0] m_axis_sync_tx_tuser,
    input  wire  [          511:0] s_axis_sync_rx_tdata,
    input  wire  [           63:0] s_axis_sync_rx_tkeep,
    input  wire                    s_axis_sync_rx_tvalid,
    output logic                   s_axis_sync_rx_tready,
    input  wire                    s_axis_sync_rx_tlast,
    input  wire  [RxUserWidth-1:0] s_axis_sync_rx_tuser,
    output logic [          511:0] m_axis_sync_rx_tdata,
    output logic [           63:0] m_axis_sync_rx_tkeep,
    output logic                   m_axis_sync_rx_tvalid,
    input  wire                    m_axis_sync_rx_tready,
    output logic                   m_axis_sync_rx_tlast,
    output logic [RxUserWidth-1:0] m_axis_sync_rx_tuser
);
  assign m_axis_sync_tx_tdata  = s_axis_sync_tx_tdata;
  assign m_axis_sync_tx_tkeep  = s_axis_sync_tx_tkeep;
  assign m_axis_sync_tx_tvalid = s_axis_sync_tx_tvalid;
  assign s_axis_sync_tx_tready = m_axis_sync_tx_tready;
  assign m_axis_sync_tx_tlast  = s_axis_sync_tx_tlast;
  assign m_axis_sync_tx_tuser  = s_axis_sync_tx_tuser;
  assign m_axis_sync_rx_tdata  = s_axis_sync_rx_tdata;
  assign m_axis_sync_rx_tkeep  = s_axis_sync_rx_tkeep;
  assign m_axis_sync_rx_tvalid = s_axis_sync_rx_tvalid;
  assign s_axis_sync_rx_tready = m_axis_sync_rx_tready;
  assign m_axis_sync_rx_tlast  = s_axis_sync_rx_tlast;
  assign m_axis_sync_rx_tuser  = s_axis_sync_rx_tuser;

  rtt #(
      .ClockHz(ClockHz)
  ) u_rtt (
      .clk_i(clk), .rst_ni(!rst),
      .tx_tvalid_i(s_axis_sync_tx_tvalid), .tx_tready_i(m_axis_sync_tx_tready),
      .tx_tdata_i(s_axis_sync_tx_tdata), .tx_tkeep_i(s_axis_sync_tx_tkeep),
      .tx_tlast_i(s_axis_sync_tx_tlast),
      .rx_tvalid_i(s_axis_sync_rx_tvalid), .rx_tready_i(m_axis_sync_rx_tready),
      .rx_tdata_i(s_axis_sync_rx_tdata), .rx_tkeep_i(s_axis_sync_rx_tkeep),
      .rx_tlast_i(s_axis_sync_rx_tlast),
      .s_axil_awvalid_i(s_axil_app_ctrl_awvalid), .s_axil_awready_o(s_axil_app_ctrl_awready),
      .s_axil_awaddr_i(s_axil_app_ctrl_awaddr[13:0]),
      .s_axil_wvalid_i(s_axil_app_ctrl_wvalid), .s_axil_wready_o(s_axil_app_ctrl_wready),
      .s_axil_wdata_i(s_axil_app_ctrl_wdata), .s_axil_wstrb_i(s_axil_app_ctrl_wstrb),
      .s_axil_bvalid_o(s_axil_app_ctrl_bvalid), .s_axil_bready_i(s_axil_app_ctrl_bready),
      .s_axil_bresp_o(s_axil_app_ctrl_bresp),
      .s_axil_arvalid_i(s_axil_app_ctrl_arvalid), .s_axil_arready_o(s_axil_app_ctrl_arready),
      .s_axil_araddr_i(s_axil_app_ctrl_araddr[13:0]),
      .s_axil_rvalid_o(s_axil_app_ctrl_rvalid), .s_axil_rready_i(s_axil_app_ctrl_rready),
      .s_axil_rdata_o(s_axil_app_ctrl_rdata), .s_axil_rresp_o(s_axil_app_ctrl_rresp));

endmodule

`resetall
