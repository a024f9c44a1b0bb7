// SPDX-License-Identifier: Apache-2.0
// axi_reads.sv - the reading half of the AXI4 master, for any requesters and any bus within
// AXI4's rules, and resets at any time: an offered address stays until it is taken (A3.2.1);
// each beat that a requester wants is requested from the bus once, in order, and no burst
// crosses 4 KiB; each beat from the bus goes to its requester, once and unchanged; neither
// requester waits for more than one burst of the other. By induction, for all time, in 64 KiB of
// addresses.
`default_nettype none

module axi_reads (
    input wire       clk_i,
    input wire       rst_ni,
    input wire       cmd_valid_i,
    input wire [9:0] cmd_line_i,
    input wire       tx_valid_i,
    input wire [9:0] tx_line_i,
    input wire [5:0] tx_len_i,
    input wire       tx_r_ready_i,
    input wire       arready_i,
    input wire       rvalid_i,
    input wire       rid_i,
    input wire [7:0] rdata_i,
    input wire [1:0] rresp_i
);
  typedef logic [11:0] count_t;
  localparam count_t Many = 12'd2000;    // beats in flight: a requester has fewer

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  logic cmd_ready, cmd_r, tx_ready, tx_r, arvalid, arid, rready, read_error;
  logic [63:0] araddr;
  logic [7:0] arlen;
  logic [511:0] cmd_data, tx_data;
  wire [63:0] cmd_addr = {48'd0, cmd_line_i, 6'd0}, tx_addr = {48'd0, tx_line_i, 6'd0};
  wire [511:0] rdata = {rdata_i, 496'd0, ~rdata_i};
  toe_axi u_axi (
      .clk_i, .rst_ni,
      .cmd_ar_valid_i(cmd_valid_i), .cmd_ar_ready_o(cmd_ready), .cmd_ar_addr_i(cmd_addr),
      .cmd_r_valid_o(cmd_r), .cmd_r_data_o(cmd_data),
      .tx_ar_valid_i(tx_valid_i), .tx_ar_ready_o(tx_ready), .tx_ar_addr_i(tx_addr),
      .tx_ar_len_i({2'd0, tx_len_i}), .tx_r_valid_o(tx_r), .tx_r_ready_i, .tx_r_data_o(tx_data),
      .aw_valid_i(1'b0), .aw_ready_o(), .aw_addr_i('0), .aw_len_i('0),
      .w_valid_i(1'b0), .w_ready_o(), .w_data_i('0), .w_strb_i('0),
      .m_arvalid_o(arvalid), .m_arready_i(arready_i), .m_arid_o(arid), .m_araddr_o(araddr),
      .m_arlen_o(arlen), .m_rvalid_i(rvalid_i), .m_rready_o(rready), .m_rid_i(rid_i),
      .m_rdata_i(rdata), .m_rresp_i(rresp_i),
      .m_awvalid_o(), .m_awready_i(1'b0), .m_awaddr_o(), .m_awlen_o(), .m_wvalid_o(),
      .m_wready_i(1'b0), .m_wdata_o(), .m_wstrb_o(), .m_wlast_o(), .m_bvalid_i(1'b0),
      .m_bready_o(), .m_bresp_i('0), .read_error_o(read_error), .write_error_o(), .asked_o(),
      .done_o());

  // Of each requester: beats not yet requested from the bus, and their address; beats that the
  // requester and this module still wait for.

  wire ar = arvalid && arready_i;
  wire r = rvalid_i && rready;
  wire cmd_asks = cmd_valid_i && cmd_ready;
  wire tx_asks = tx_valid_i && tx_ready;
  wire [8:0] beats = 9'(arlen) + 9'd1;
  logic cmd_wants_q = 1'b0, cmd_passed_q = 1'b0, tx_passed_q = 1'b0;
  logic [63:0] cmd_at_q = '0, tx_at_q = '0;
  logic [8:0] tx_wants_q = '0;
  count_t cmd_owed_q = '0, tx_owed_q = '0;      // by the requester
  count_t cmd_bus_q = '0, tx_bus_q = '0;        // from the bus
  always_comb assume (cmd_owed_q < Many && tx_owed_q < Many && tx_len_i <= 6'd32);
  always_comb if (rvalid_i) assume ((rid_i ? tx_bus_q : cmd_bus_q) != '0);
  always_ff @(posedge clk_i) begin
    if (cmd_asks) cmd_at_q <= cmd_addr;
    if (tx_asks) tx_at_q <= tx_addr;
    else if (ar && arid) tx_at_q <= tx_at_q + {49'd0, beats, 6'd0};
    if (!rst_ni) begin
      cmd_wants_q <= 1'b0;
      tx_wants_q <= '0;
      {cmd_owed_q, tx_owed_q, cmd_bus_q, tx_bus_q} <= '0;
      {cmd_passed_q, tx_passed_q} <= '0;
    end else begin
      if (cmd_asks) cmd_wants_q <= 1'b1;
      else if (ar && !arid) cmd_wants_q <= 1'b0;
      if (tx_asks) tx_wants_q <= 9'(tx_len_i) + 9'd1;
      else if (ar && arid) tx_wants_q <= tx_wants_q - beats;
      cmd_owed_q <= cmd_owed_q + count_t'(cmd_asks) - count_t'(r && !rid_i);
      tx_owed_q <= tx_owed_q + (tx_asks ? count_t'(tx_len_i) + count_t'(1) : '0) -
                   count_t'(r && rid_i);
      cmd_bus_q <= cmd_bus_q + ((ar && !arid) ? count_t'(beats) : '0) - count_t'(r && !rid_i);
      tx_bus_q <= tx_bus_q + ((ar && arid) ? count_t'(beats) : '0) - count_t'(r && rid_i);
      if (ar) begin
        cmd_passed_q <= arid && cmd_wants_q;
        tx_passed_q <= !arid && tx_wants_q != '0;
      end
    end
  end

  logic ar_held_q = 1'b0, ar_id_q = 1'b0, refused_q = 1'b0;
  logic [63:0] araddr_q = '0;
  logic [7:0] arlen_q = '0;
  always_ff @(posedge clk_i) begin
    ar_held_q <= rst_ni && arvalid && !arready_i;
    {ar_id_q, araddr_q, arlen_q} <= {arid, araddr, arlen};
    refused_q <= rst_ni && r && rresp_i[1];
  end
  wire [511:0] given = rresp_i[1] ? '0 : rdata;

  always_comb begin
    if (!first_q) begin
      if (ar_held_q) assert (arvalid && arid == ar_id_q && araddr == araddr_q && arlen == arlen_q);
      if (arvalid && arid) assert (beats <= tx_wants_q && araddr == tx_at_q);
      if (arvalid && !arid) assert (cmd_wants_q && beats == 9'd1 && araddr == cmd_at_q);
      if (arvalid) assert (7'(araddr[11:6]) + 7'(arlen) <= 7'd63 && arlen <= 8'd32);
      if (cmd_wants_q || tx_wants_q != '0) assert (arvalid);
      if (ar) assert (!(arid ? cmd_passed_q : tx_passed_q));
      // A beat reaches one requester in the cycle in which it comes, and leaves the bus when that one
      // takes it.
      assert (cmd_r == (r && !rid_i) && (tx_r && tx_r_ready_i) == (r && rid_i));
      assert (tx_r == (rvalid_i && rid_i));
      if (cmd_r) assert (cmd_data == given && cmd_owed_q != '0);
      if (tx_r) assert (tx_data == given && tx_owed_q != '0);
      assert (cmd_owed_q == cmd_bus_q + count_t'(cmd_wants_q));
      assert (tx_owed_q == tx_bus_q + count_t'(tx_wants_q));
      assert (cmd_bus_q <= cmd_owed_q && tx_bus_q <= tx_owed_q);
      assert (read_error == refused_q);
      // For induction: the design's registers have the same values.
      assert (u_axi.cmd_q == cmd_wants_q && u_axi.tx_q == (tx_wants_q != '0));
      assert (u_axi.held_q == ar_held_q);
      if (cmd_wants_q) assert (u_axi.cmd_addr_q == cmd_at_q);
      if (tx_wants_q != '0)
        assert (u_axi.tx_addr_q == tx_at_q && 9'(u_axi.tx_len_q) + 9'd1 == tx_wants_q);
      assert (tx_wants_q <= 9'd33 && tx_at_q[5:0] == 6'd0);
      if (ar_held_q) assert (u_axi.held_tx_q == ar_id_q && (ar_id_q ? u_axi.tx_q : u_axi.cmd_q));
      if (cmd_passed_q && cmd_wants_q) assert (!u_axi.turn_q && !(ar_held_q && ar_id_q));
      if (tx_passed_q && tx_wants_q != '0) assert (u_axi.turn_q && !(ar_held_q && !ar_id_q));
      assert (!(cmd_passed_q && !cmd_wants_q) && !(tx_passed_q && tx_wants_q == '0));
    end
  end
endmodule

`default_nettype wire
