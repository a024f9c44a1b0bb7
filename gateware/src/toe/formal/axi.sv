// SPDX-License-Identifier: Apache-2.0
// axi.sv - the AXI4 master of the TOE, for any requests and any stalls of the bus: no burst
// crosses 4 KiB, addresses stay until they are taken, the bursts have as many beats as were
// requested, and each beat of a write belongs to a burst whose last beat is marked.
`default_nettype none

module axi (
    input wire        clk_i,
    input wire        rst_ni,
    input wire        cmd_valid_i,
    input wire [63:0] cmd_addr_i,
    input wire        tx_valid_i,
    input wire [63:0] tx_addr_i,
    input wire [7:0]  tx_len_i,
    input wire        aw_valid_i,
    input wire [63:0] aw_addr_i,
    input wire [7:0]  aw_len_i,
    input wire        w_valid_i,
    input wire        arready_i,
    input wire        awready_i,
    input wire        wready_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  logic cmd_ready, tx_ready, aw_ready, w_ready;
  logic arvalid, arid, awvalid, wvalid, wlast;
  logic [63:0] araddr, awaddr;
  logic [7:0] arlen, awlen;

  // The requesters use whole lines: reads have at most 33, writes 4, in four pages, as longer writes
  // differ in nothing else. An address of a write stays until it is taken.
  always_comb assume (tx_addr_i[5:0] == 6'd0 && cmd_addr_i[5:0] == 6'd0 && aw_addr_i[5:0] == 6'd0);
  always_comb assume (tx_len_i <= 8'd32 && aw_len_i <= 8'd3 && aw_addr_i[63:14] == 50'd0);
  logic aw_wait_q = 1'b0;
  logic [63:0] aw_addr_q;
  logic [7:0] aw_len_q;
  always_comb if (aw_wait_q) assume (aw_valid_i && aw_addr_i == aw_addr_q && aw_len_i == aw_len_q);

  // Remaining beats of what the requesters asked for, and of what the bus was asked for.
  logic [7:0] tx_left_q = '0;
  logic [5:0] w_left_q = '0, m_left_q = '0;
  always_comb if (w_valid_i) assume (w_left_q != 6'd0);
  always_comb if (aw_valid_i) assume (w_left_q <= 6'd12);   // so that the count holds them

  // The bursts whose addresses the bus has: remaining beats of each, less one.
  logic [7:0] bursts_q[8];
  logic [2:0] burst_head_q = '0, burst_tail_q = '0;
  wire [7:0] burst = bursts_q[burst_tail_q];
  wire none = burst_head_q == burst_tail_q;

  toe_axi u_axi (
      .clk_i, .rst_ni,
      .cmd_ar_valid_i(cmd_valid_i), .cmd_ar_ready_o(cmd_ready), .cmd_ar_addr_i(cmd_addr_i),
      .cmd_r_valid_o(), .cmd_r_data_o(),
      .tx_ar_valid_i(tx_valid_i), .tx_ar_ready_o(tx_ready), .tx_ar_addr_i(tx_addr_i),
      .tx_ar_len_i(tx_len_i), .tx_r_valid_o(), .tx_r_ready_i(1'b1), .tx_r_data_o(),
      .aw_valid_i, .aw_ready_o(aw_ready), .aw_addr_i, .aw_len_i,
      .w_valid_i, .w_ready_o(w_ready), .w_data_i('0), .w_strb_i('0),
      .m_arvalid_o(arvalid), .m_arready_i(arready_i), .m_arid_o(arid), .m_araddr_o(araddr),
      .m_arlen_o(arlen), .m_rvalid_i(1'b0), .m_rready_o(), .m_rid_i(1'b0), .m_rdata_i('0),
      .m_rresp_i('0),
      .m_awvalid_o(awvalid), .m_awready_i(awready_i), .m_awaddr_o(awaddr), .m_awlen_o(awlen),
      .m_wvalid_o(wvalid), .m_wready_i(wready_i), .m_wdata_o(), .m_wstrb_o(), .m_wlast_o(wlast),
      .m_bvalid_i(1'b0), .m_bready_o(), .m_bresp_i('0), .read_error_o(), .write_error_o(),
      .asked_o(), .done_o());

  logic ar_held_q = 1'b0, ar_id_q, aw_held_q = 1'b0;
  logic [63:0] ar_addr_q, awaddr_q;
  logic [7:0] ar_len_q, awlen_q;
  wire [63:0] ar_end = araddr + {50'd0, arlen, 6'd0};
  wire [63:0] aw_end = awaddr + {50'd0, awlen, 6'd0};

  always_ff @(posedge clk_i) begin
    ar_held_q <= rst_ni && arvalid && !arready_i;
    ar_id_q <= arid;
    ar_addr_q <= araddr;
    ar_len_q <= arlen;
    aw_held_q <= rst_ni && awvalid && !awready_i;
    awaddr_q <= awaddr;
    awlen_q <= awlen;
    aw_wait_q <= rst_ni && aw_valid_i && !aw_ready;
    aw_addr_q <= aw_addr_i;
    aw_len_q <= aw_len_i;
    if (rst_ni) begin
      if (tx_valid_i && tx_ready) tx_left_q <= tx_len_i + 8'd1;
      else if (arvalid && arready_i && arid) tx_left_q <= tx_left_q - arlen - 8'd1;
      w_left_q <= w_left_q + ((aw_valid_i && aw_ready) ? 6'(aw_len_i) + 6'd1 : 6'd0) -
                  6'(w_valid_i && w_ready);
      m_left_q <= m_left_q + ((awvalid && awready_i) ? 6'(awlen) + 6'd1 : 6'd0) -
                  6'(wvalid && wready_i);
      if (wvalid && wready_i) begin
        if (burst == 8'd0) burst_tail_q <= burst_tail_q + 3'd1;
        else bursts_q[burst_tail_q] <= burst - 8'd1;
      end
      if (awvalid && awready_i) begin
        bursts_q[burst_head_q] <= awlen;
        burst_head_q <= burst_head_q + 3'd1;
      end
    end
  end

  always_comb begin
    if (rst_ni) begin
      if (arvalid) assert (araddr[63:12] == ar_end[63:12]);
      if (awvalid) assert (awaddr[63:12] == aw_end[63:12]);
      if (ar_held_q)
        assert (arvalid && arid == ar_id_q && araddr == ar_addr_q && arlen == ar_len_q);
      if (aw_held_q) assert (awvalid && awaddr == awaddr_q && awlen == awlen_q);
      // Bursts carry no more than was requested, and all of it before the next request is taken.
      if (arvalid && arid) assert (9'(arlen) + 9'd1 <= 9'(tx_left_q));
      if (tx_ready) assert (tx_left_q == 8'd0);
      if (wvalid) assert (!none && wlast == (burst == 8'd0));
      // The bus has the addresses of all requested beats, except those of a pending second half.
      assert (m_left_q <= w_left_q);
      if (aw_ready) assert (m_left_q == w_left_q);
    end
  end
endmodule
