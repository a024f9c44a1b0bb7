// SPDX-License-Identifier: Apache-2.0
// rtt_250mhz.sv - the measuring module as the user logic of OpenNIC's 250 MHz box. It has the ports
// of open-nic-shell's plugin p2p_250mhz (one queue side per interface) and can replace it. Packets
// pass through wires, as in the plugin; the module of each interface watches the streams to and
// from the adapter.
//
// Registers: the box's window is at 0x100000 of the BAR (the RTL's address map; the shell's README
// is wrong). Interface i has its block at 0x4000 i, and BLOCK.NEXT points to the next one.
`resetall
`default_nettype none

module rtt_250mhz #(
    parameter int NUM_INTF = 1
) (
    // one AXI4-Lite, in the domain of axil_aclk, for all interfaces
    input  wire                    s_axil_awvalid,
    input  wire  [           31:0] s_axil_awaddr,
    output logic                   s_axil_awready,
    input  wire                    s_axil_wvalid,
    input  wire  [           31:0] s_axil_wdata,
    output logic                   s_axil_wready,
    output logic                   s_axil_bvalid,
    output logic [            1:0] s_axil_bresp,
    input  wire                    s_axil_bready,
    input  wire                    s_axil_arvalid,
    input  wire  [           31:0] s_axil_araddr,
    output logic                   s_axil_arready,
    output logic                   s_axil_rvalid,
    output logic [           31:0] s_axil_rdata,
    output logic [            1:0] s_axil_rresp,
    input  wire                    s_axil_rready,

    input  wire  [    NUM_INTF-1:0] s_axis_qdma_h2c_tvalid,
    input  wire  [512*NUM_INTF-1:0] s_axis_qdma_h2c_tdata,
    input  wire  [ 64*NUM_INTF-1:0] s_axis_qdma_h2c_tkeep,
    input  wire  [    NUM_INTF-1:0] s_axis_qdma_h2c_tlast,
    input  wire  [ 16*NUM_INTF-1:0] s_axis_qdma_h2c_tuser_size,
    input  wire  [ 16*NUM_INTF-1:0] s_axis_qdma_h2c_tuser_src,
    input  wire  [ 16*NUM_INTF-1:0] s_axis_qdma_h2c_tuser_dst,
    output logic [    NUM_INTF-1:0] s_axis_qdma_h2c_tready,

    output logic [    NUM_INTF-1:0] m_axis_qdma_c2h_tvalid,
    output logic [512*NUM_INTF-1:0] m_axis_qdma_c2h_tdata,
    output logic [ 64*NUM_INTF-1:0] m_axis_qdma_c2h_tkeep,
    output logic [    NUM_INTF-1:0] m_axis_qdma_c2h_tlast,
    output logic [ 16*NUM_INTF-1:0] m_axis_qdma_c2h_tuser_size,
    output logic [ 16*NUM_INTF-1:0] m_axis_qdma_c2h_tuser_src,
    output logic [ 16*NUM_INTF-1:0] m_axis_qdma_c2h_tuser_dst,
    input  wire  [    NUM_INTF-1:0] m_axis_qdma_c2h_tready,

    output logic [    NUM_INTF-1:0] m_axis_adap_tx_250mhz_tvalid,
    output logic [512*NUM_INTF-1:0] m_axis_adap_tx_250mhz_tdata,
    output logic [ 64*NUM_INTF-1:0] m_axis_adap_tx_250mhz_tkeep,
    output logic [    NUM_INTF-1:0] m_axis_adap_tx_250mhz_tlast,
    output logic [ 16*NUM_INTF-1:0] m_axis_adap_tx_250mhz_tuser_size,
    output logic [ 16*NUM_INTF-1:0] m_axis_adap_tx_250mhz_tuser_src,
    output logic [ 16*NUM_INTF-1:0] m_axis_adap_tx_250mhz_tuser_dst,
    input  wire  [    NUM_INTF-1:0] m_axis_adap_tx_250mhz_tready,

    input  wire  [    NUM_INTF-1:0] s_axis_adap_rx_250mhz_tvalid,
    input  wire  [512*NUM_INTF-1:0] s_axis_adap_rx_250mhz_tdata,
    input  wire  [ 64*NUM_INTF-1:0] s_axis_adap_rx_250mhz_tkeep,
    input  wire  [    NUM_INTF-1:0] s_axis_adap_rx_250mhz_tlast,
    input  wire  [ 16*NUM_INTF-1:0] s_axis_adap_rx_250mhz_tuser_size,
    input  wire  [ 16*NUM_INTF-1:0] s_axis_adap_rx_250mhz_tuser_src,
    input  wire  [ 16*NUM_INTF-1:0] s_axis_adap_rx_250mhz_tuser_dst,
    output logic [    NUM_INTF-1:0] s_axis_adap_rx_250mhz_tready,

    input  wire  mod_rstn,
    output logic mod_rst_done,
    input  wire  axil_aclk,
    input  wire  axis_aclk
);
  if (NUM_INTF < 1 || NUM_INTF > 2) begin : g_check
    $fatal(1, "rtt_250mhz: NUM_INTF is 1 or 2");
  end

  // Packets: wires. The destinations are those of the shell's own plugin.
  assign m_axis_adap_tx_250mhz_tvalid     = s_axis_qdma_h2c_tvalid;
  assign m_axis_adap_tx_250mhz_tdata      = s_axis_qdma_h2c_tdata;
  assign m_axis_adap_tx_250mhz_tkeep      = s_axis_qdma_h2c_tkeep;
  assign m_axis_adap_tx_250mhz_tlast      = s_axis_qdma_h2c_tlast;
  assign m_axis_adap_tx_250mhz_tuser_size = s_axis_qdma_h2c_tuser_size;
  assign m_axis_adap_tx_250mhz_tuser_src  = s_axis_qdma_h2c_tuser_src;
  assign s_axis_qdma_h2c_tready           = m_axis_adap_tx_250mhz_tready;
  assign m_axis_qdma_c2h_tvalid           = s_axis_adap_rx_250mhz_tvalid;
  assign m_axis_qdma_c2h_tdata            = s_axis_adap_rx_250mhz_tdata;
  assign m_axis_qdma_c2h_tkeep            = s_axis_adap_rx_250mhz_tkeep;
  assign m_axis_qdma_c2h_tlast            = s_axis_adap_rx_250mhz_tlast;
  assign m_axis_qdma_c2h_tuser_size       = s_axis_adap_rx_250mhz_tuser_size;
  assign m_axis_qdma_c2h_tuser_src        = s_axis_adap_rx_250mhz_tuser_src;
  assign s_axis_adap_rx_250mhz_tready     = m_axis_qdma_c2h_tready;
  for (genvar i = 0; i < NUM_INTF; i++) begin : g_dst
    assign m_axis_adap_tx_250mhz_tuser_dst[16*i+:16] = 16'd1 << (6 + i);
    assign m_axis_qdma_c2h_tuser_dst[16*i+:16]       = 16'd1 << i;
  end

  // Resets: asserted asynchronously, released synchronously to each clock; done 16 cycles later.
  (* ASYNC_REG = "TRUE" *) logic [1:0] axil_rst_q, axis_rst_q;
  logic [4:0] done_q;
  always_ff @(posedge axis_aclk or negedge mod_rstn) begin
    if (!mod_rstn) axis_rst_q <= '0;
    else axis_rst_q <= {axis_rst_q[0], 1'b1};
  end
  always_ff @(posedge axil_aclk or negedge mod_rstn) begin
    if (!mod_rstn) axil_rst_q <= '0;
    else axil_rst_q <= {axil_rst_q[0], 1'b1};
  end
  always_ff @(posedge axil_aclk) begin
    if (!axil_rst_q[1]) done_q <= '0;
    else if (!done_q[4]) done_q <= done_q + 5'd1;
  end
  assign mod_rst_done = done_q[4];
  wire rst_n = axis_rst_q[1];

  // Registers: cross to the packets' clock, then decode the address to one of the blocks.
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [14:0] awaddr, araddr;
  logic [31:0] wdata, rdata;
  logic [1:0] bresp, rresp;
  axil_cross #(.AddrBits(15)) u_cross (
      .s_clk_i(axil_aclk), .s_rst_ni(axil_rst_q[1]),
      .s_awvalid_i(s_axil_awvalid), .s_awready_o(s_axil_awready),
      .s_awaddr_i(s_axil_awaddr[14:0]), .s_wvalid_i(s_axil_wvalid),
      .s_wready_o(s_axil_wready), .s_wdata_i(s_axil_wdata), .s_bvalid_o(s_axil_bvalid),
      .s_bready_i(s_axil_bready), .s_bresp_o(s_axil_bresp), .s_arvalid_i(s_axil_arvalid),
      .s_arready_o(s_axil_arready), .s_araddr_i(s_axil_araddr[14:0]),
      .s_rvalid_o(s_axil_rvalid), .s_rready_i(s_axil_rready), .s_rdata_o(s_axil_rdata),
      .s_rresp_o(s_axil_rresp),
      .m_clk_i(axis_aclk), .m_rst_ni(rst_n),
      .m_awvalid_o(awvalid), .m_awready_i(awready), .m_awaddr_o(awaddr),
      .m_wvalid_o(wvalid), .m_wready_i(wready), .m_wdata_o(wdata),
      .m_bvalid_i(bvalid), .m_bready_o(bready), .m_bresp_i(bresp),
      .m_arvalid_o(arvalid), .m_arready_i(arready), .m_araddr_o(araddr),
      .m_rvalid_i(rvalid), .m_rready_o(rready), .m_rdata_i(rdata), .m_rresp_i(rresp));

  // One access at a time: the address is stable until the answer, so it also selects the answer.
  logic [1:0] awreadys, wreadys, bvalids, arreadys, rvalids;
  logic [1:0][1:0] bresps, rresps;
  logic [1:0][31:0] rdatas;
  wire write_to = awaddr[14], read_from = araddr[14];
  assign awready = awreadys[write_to];
  assign wready  = wreadys[write_to];
  assign bvalid  = bvalids[write_to];
  assign bresp   = bresps[write_to];
  assign arready = arreadys[read_from];
  assign rvalid  = rvalids[read_from];
  assign rdata   = rdatas[read_from];
  assign rresp   = rresps[read_from];

  for (genvar i = 0; i < 2; i++) begin : g_intf
    if (i < NUM_INTF) begin : g_rtt
      rtt #(
          .NextBlock(i + 1 < NUM_INTF ? 32'h4000 * (i + 1) : 32'd0)
      ) u_rtt (
          .clk_i(axis_aclk), .rst_ni(rst_n),
          .tx_tvalid_i(m_axis_adap_tx_250mhz_tvalid[i]),
          .tx_tready_i(m_axis_adap_tx_250mhz_tready[i]),
          .tx_tdata_i(m_axis_adap_tx_250mhz_tdata[512*i+:512]),
          .tx_tkeep_i(m_axis_adap_tx_250mhz_tkeep[64*i+:64]),
          .tx_tlast_i(m_axis_adap_tx_250mhz_tlast[i]),
          .rx_tvalid_i(s_axis_adap_rx_250mhz_tvalid[i]),
          .rx_tready_i(s_axis_adap_rx_250mhz_tready[i]),
          .rx_tdata_i(s_axis_adap_rx_250mhz_tdata[512*i+:512]),
          .rx_tkeep_i(s_axis_adap_rx_250mhz_tkeep[64*i+:64]),
          .rx_tlast_i(s_axis_adap_rx_250mhz_tlast[i]),
          .s_axil_awvalid_i(awvalid && write_to == 1'(i)), .s_axil_awready_o(awreadys[i]),
          .s_axil_awaddr_i(awaddr[13:0]), .s_axil_wvalid_i(wvalid && write_to == 1'(i)),
          .s_axil_wready_o(wreadys[i]), .s_axil_wdata_i(wdata), .s_axil_wstrb_i(4'hf),
          .s_axil_bvalid_o(bvalids[i]), .s_axil_bready_i(bready), .s_axil_bresp_o(bresps[i]),
          .s_axil_arvalid_i(arvalid && read_from == 1'(i)), .s_axil_arready_o(arreadys[i]),
          .s_axil_araddr_i(araddr[13:0]), .s_axil_rvalid_o(rvalids[i]),
          .s_axil_rready_i(rready), .s_axil_rdata_o(rdatas[i]), .s_axil_rresp_o(rresps[i]));
    end else begin : g_none
      // No block: answer an access with an error at once.
      assign awreadys[i] = 1'b1;
      assign wreadys[i]  = 1'b1;
      assign arreadys[i] = 1'b1;
      assign bvalids[i]  = bready && !awvalid && !wvalid;
      assign rvalids[i]  = rready && !arvalid;
      assign bresps[i]   = 2'b11;
      assign rresps[i]   = 2'b11;
      assign rdatas[i]   = '1;
    end
  end

endmodule

`resetall
