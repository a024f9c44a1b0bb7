// SPDX-License-Identifier: Apache-2.0
// wires.sv - AXI-Stream's rules on the whole block, both ways: where the one before keeps them, what is
// valid stays as it is until it is taken; no beat is lost, added or changed, and no time passes.
`default_nettype none

module wires (
    input wire         clk_i,
    input wire         rst_i,
    input wire         tx_tvalid_i,
    input wire         tx_tready_i,
    input wire [511:0] tx_tdata_i,
    input wire [ 63:0] tx_tkeep_i,
    input wire         tx_tlast_i,
    input wire [ 16:0] tx_tuser_i,
    input wire         rx_tvalid_i,
    input wire         rx_tready_i,
    input wire [511:0] rx_tdata_i,
    input wire [ 63:0] rx_tkeep_i,
    input wire         rx_tlast_i,
    input wire [ 96:0] rx_tuser_i
);
  typedef struct packed {
    logic [511:0] tdata;
    logic [63:0]  tkeep;
    logic         tlast;
    logic [96:0]  tuser;
  } beat_t;

  logic tx_valid, tx_ready, rx_valid, rx_ready;
  beat_t tx, rx;
  assign tx.tuser[96:17] = '0;
  rtt_corundum u_block (
      .clk(clk_i), .rst(rst_i),
      .s_axil_app_ctrl_awaddr('0), .s_axil_app_ctrl_awvalid(1'b0), .s_axil_app_ctrl_awready(),
      .s_axil_app_ctrl_wdata('0), .s_axil_app_ctrl_wstrb('0), .s_axil_app_ctrl_wvalid(1'b0),
      .s_axil_app_ctrl_wready(), .s_axil_app_ctrl_bresp(), .s_axil_app_ctrl_bvalid(),
      .s_axil_app_ctrl_bready(1'b0), .s_axil_app_ctrl_araddr('0), .s_axil_app_ctrl_arvalid(1'b0),
      .s_axil_app_ctrl_arready(), .s_axil_app_ctrl_rdata(), .s_axil_app_ctrl_rresp(),
      .s_axil_app_ctrl_rvalid(), .s_axil_app_ctrl_rready(1'b0),
      .s_axis_sync_tx_tdata(tx_tdata_i), .s_axis_sync_tx_tkeep(tx_tkeep_i),
      .s_axis_sync_tx_tvalid(tx_tvalid_i), .s_axis_sync_tx_tready(tx_ready),
      .s_axis_sync_tx_tlast(tx_tlast_i), .s_axis_sync_tx_tuser(tx_tuser_i),
      .m_axis_sync_tx_tdata(tx.tdata), .m_axis_sync_tx_tkeep(tx.tkeep),
      .m_axis_sync_tx_tvalid(tx_valid), .m_axis_sync_tx_tready(tx_tready_i),
      .m_axis_sync_tx_tlast(tx.tlast), .m_axis_sync_tx_tuser(tx.tuser[16:0]),
      .s_axis_sync_rx_tdata(rx_tdata_i), .s_axis_sync_rx_tkeep(rx_tkeep_i),
      .s_axis_sync_rx_tvalid(rx_tvalid_i), .s_axis_sync_rx_tready(rx_ready),
      .s_axis_sync_rx_tlast(rx_tlast_i), .s_axis_sync_rx_tuser(rx_tuser_i),
      .m_axis_sync_rx_tdata(rx.tdata), .m_axis_sync_rx_tkeep(rx.tkeep),
      .m_axis_sync_rx_tvalid(rx_valid), .m_axis_sync_rx_tready(rx_tready_i),
      .m_axis_sync_rx_tlast(rx.tlast), .m_axis_sync_rx_tuser(rx.tuser));

  wire beat_t tx_in = '{tdata: tx_tdata_i, tkeep: tx_tkeep_i, tlast: tx_tlast_i,
                        tuser: {80'd0, tx_tuser_i}};
  wire beat_t rx_in = '{tdata: rx_tdata_i, tkeep: rx_tkeep_i, tlast: rx_tlast_i, tuser: rx_tuser_i};

  // Who is before it keeps to the rules.
  logic tx_stays_q = 1'b0, rx_stays_q = 1'b0;
  beat_t tx_in_q, rx_in_q, tx_q, rx_q;
  always_ff @(posedge clk_i) begin
    tx_stays_q <= tx_tvalid_i && !tx_ready;
    rx_stays_q <= rx_tvalid_i && !rx_ready;
    {tx_in_q, rx_in_q, tx_q, rx_q} <= {tx_in, rx_in, tx, rx};
  end
  always_comb begin
    if (tx_stays_q) assume (tx_tvalid_i && tx_in == tx_in_q);
    if (rx_stays_q) assume (rx_tvalid_i && rx_in == rx_in_q);
  end

  // A beat is taken on both sides in one cycle, or on neither; and it is the same beat.
  wire tx_taken = tx_tvalid_i && tx_ready;
  wire rx_taken = rx_tvalid_i && rx_ready;
  always_comb begin
    assert (tx_taken == (tx_valid && tx_tready_i));
    assert (rx_taken == (rx_valid && rx_tready_i));
    assert (tx_valid == tx_tvalid_i && rx_valid == rx_tvalid_i);
    if (tx_valid) assert (tx == tx_in);
    if (rx_valid) assert (rx == rx_in);
    if (tx_stays_q) assert (tx_valid && tx == tx_q);
    if (rx_stays_q) assert (rx_valid && rx == rx_q);
  end
endmodule
