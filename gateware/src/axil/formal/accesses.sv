// SPDX-License-Identifier: Apache-2.0
// accesses.sv - AXI4-Lite's rules at both ends of axil_cross: what is valid stays as it is until it is
// taken; each access that is taken reaches the other side once, with its address and data, and has
// one answer, its own. Both clocks are one here: any distance between them is left to simulation.
`default_nettype none

module accesses (
    input wire       clk_i,
    input wire       rst_ni,
    input wire       s_awvalid_i,
    input wire       s_wvalid_i,
    input wire       s_bready_i,
    input wire       s_arvalid_i,
    input wire       s_rready_i,
    input wire [3:0] s_awaddr_i,
    input wire [3:0] s_araddr_i,
    input wire [3:0] s_wdata_i,
    input wire       m_awready_i,
    input wire       m_wready_i,
    input wire       m_arready_i,
    input wire       m_bvalid_i,
    input wire       m_rvalid_i,
    input wire [1:0] m_bresp_i,
    input wire [1:0] m_rresp_i,
    input wire [3:0] m_rdata_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  logic s_awready, s_wready, s_bvalid, s_arready, s_rvalid;
  logic m_awvalid, m_wvalid, m_bready, m_arvalid, m_rready;
  logic [1:0] s_bresp, s_rresp;
  logic [31:0] s_rdata, m_wdata;
  logic [3:0] m_awaddr, m_araddr;
  axil_cross #(
      .AddrBits(4)
  ) u_cross (
      .s_clk_i(clk_i), .s_rst_ni(rst_ni), .s_awvalid_i, .s_awready_o(s_awready), .s_awaddr_i,
      .s_wvalid_i, .s_wready_o(s_wready), .s_wdata_i({28'd0, s_wdata_i}), .s_bvalid_o(s_bvalid),
      .s_bready_i, .s_bresp_o(s_bresp), .s_arvalid_i, .s_arready_o(s_arready), .s_araddr_i,
      .s_rvalid_o(s_rvalid), .s_rready_i, .s_rdata_o(s_rdata), .s_rresp_o(s_rresp),
      .m_clk_i(clk_i), .m_rst_ni(rst_ni), .m_awvalid_o(m_awvalid), .m_awready_i,
      .m_awaddr_o(m_awaddr), .m_wvalid_o(m_wvalid), .m_wready_i, .m_wdata_o(m_wdata), .m_bvalid_i,
      .m_bready_o(m_bready), .m_bresp_i, .m_arvalid_o(m_arvalid), .m_arready_i,
      .m_araddr_o(m_araddr), .m_rvalid_i, .m_rready_o(m_rready),
      .m_rdata_i({28'd0, m_rdata_i}), .m_rresp_i);

  wire take_write = s_awvalid_i && s_awready;
  wire take_read = s_arvalid_i && s_arready;
  wire give_write = s_bvalid && s_bready_i;
  wire give_read = s_rvalid && s_rready_i;

  // What is under way: an access that was taken and has no answer yet, and how far it is.
  logic write_q = 1'b0, read_q = 1'b0, aw_q = 1'b0, w_q = 1'b0, ar_q = 1'b0, answered_q = 1'b0;
  logic [3:0] address_q, data_q, result_q;
  logic [1:0] response_q;
  wire aw_done = m_awvalid && m_awready_i;
  wire w_done = m_wvalid && m_wready_i;
  wire ar_done = m_arvalid && m_arready_i;
  wire answers = (m_bvalid_i && m_bready) || (m_rvalid_i && m_rready);
  always_ff @(posedge clk_i) begin
    if (give_write) write_q <= 1'b0;
    if (give_read) read_q <= 1'b0;
    if (take_write) {write_q, address_q, data_q} <= {1'b1, s_awaddr_i, s_wdata_i};
    if (take_read) {read_q, address_q} <= {1'b1, s_araddr_i};
    if (take_write || take_read) {aw_q, w_q, ar_q, answered_q} <= '0;
    if (aw_done) aw_q <= 1'b1;
    if (w_done) w_q <= 1'b1;
    if (ar_done) ar_q <= 1'b1;
    if (answers) begin
      answered_q <= 1'b1;
      response_q <= m_bvalid_i ? m_bresp_i : m_rresp_i;
      result_q   <= m_rdata_i;
    end
    if (first_q) {write_q, read_q} <= '0;
  end

  // The side of the registers answers what it has taken, once.
  always_comb begin
    if (m_bvalid_i) assume (write_q && aw_q && w_q && !answered_q);
    if (m_rvalid_i) assume (read_q && ar_q && !answered_q);
  end

  // Last cycle's, for what must stay.
  logic aw_stays_q = 1'b0, w_stays_q = 1'b0, ar_stays_q = 1'b0, b_stays_q = 1'b0, r_stays_q = 1'b0;
  logic [3:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q, rdata_q;
  logic [1:0] bresp_q, rresp_q;
  always_ff @(posedge clk_i) begin
    aw_stays_q <= m_awvalid && !m_awready_i && rst_ni;
    w_stays_q  <= m_wvalid && !m_wready_i && rst_ni;
    ar_stays_q <= m_arvalid && !m_arready_i && rst_ni;
    b_stays_q  <= s_bvalid && !s_bready_i && rst_ni;
    r_stays_q  <= s_rvalid && !s_rready_i && rst_ni;
    {awaddr_q, araddr_q, wdata_q, rdata_q} <= {m_awaddr, m_araddr, m_wdata, s_rdata};
    {bresp_q, rresp_q} <= {s_bresp, s_rresp};
  end

  always_comb begin
    if (!first_q) begin
      if (aw_stays_q) assert (m_awvalid && m_awaddr == awaddr_q);
      if (w_stays_q) assert (m_wvalid && m_wdata == wdata_q);
      if (ar_stays_q) assert (m_arvalid && m_araddr == araddr_q);
      if (b_stays_q) assert (s_bvalid && s_bresp == bresp_q);
      if (r_stays_q) assert (s_rvalid && s_rdata == rdata_q && s_rresp == rresp_q);
      // One at a time, and address and data together.
      assert (!(take_write && take_read) && s_awready == s_wready);
      if (take_write) assert (s_wvalid_i && !write_q && !read_q);
      if (take_read) assert (!write_q && !read_q);
      // It arrives once, as it was.
      if (m_awvalid) assert (write_q && !aw_q && m_awaddr == address_q);
      if (m_wvalid) assert (write_q && !w_q && m_wdata == {28'd0, data_q});
      if (m_arvalid) assert (read_q && !ar_q && m_araddr == address_q);
      // Its own answer, once.
      if (s_bvalid) assert (write_q && answered_q && s_bresp == response_q);
      if (s_rvalid) begin
        assert (read_q && answered_q && s_rresp == response_q && s_rdata == {28'd0, result_q});
      end
    end
  end
endmodule
