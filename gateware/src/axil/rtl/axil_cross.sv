// SPDX-License-Identifier: Apache-2.0
// axil_cross.sv - AXI4-Lite clock domain crossing, one access at a time. A request and its answer
// each cross by a toggle through two registers, while their data stay stable. Writes and reads
// share the path; a waiting write has priority.
`resetall
`default_nettype none

module axil_cross #(
    parameter int unsigned AddrBits = 14
) (
    input  wire                 s_clk_i,
    input  wire                 s_rst_ni,
    input  wire                 s_awvalid_i,
    output logic                s_awready_o,
    input  wire  [AddrBits-1:0] s_awaddr_i,
    input  wire                 s_wvalid_i,
    output logic                s_wready_o,
    input  wire  [        31:0] s_wdata_i,
    output logic                s_bvalid_o,
    input  wire                 s_bready_i,
    output logic [         1:0] s_bresp_o,
    input  wire                 s_arvalid_i,
    output logic                s_arready_o,
    input  wire  [AddrBits-1:0] s_araddr_i,
    output logic                s_rvalid_o,
    input  wire                 s_rready_i,
    output logic [        31:0] s_rdata_o,
    output logic [         1:0] s_rresp_o,
    input  wire                 m_clk_i,
    input  wire                 m_rst_ni,
    output logic                m_awvalid_o,
    input  wire                 m_awready_i,
    output logic [AddrBits-1:0] m_awaddr_o,
    output logic                m_wvalid_o,
    input  wire                 m_wready_i,
    output logic [        31:0] m_wdata_o,
    input  wire                 m_bvalid_i,
    output logic                m_bready_o,
    input  wire  [         1:0] m_bresp_i,
    output logic                m_arvalid_o,
    input  wire                 m_arready_i,
    output logic [AddrBits-1:0] m_araddr_o,
    input  wire                 m_rvalid_i,
    output logic                m_rready_o,
    input  wire  [        31:0] m_rdata_i,
    input  wire  [         1:0] m_rresp_i
);
  // ---- the side of the requests
  logic request_q, answer_q;  // toggles
  logic is_write_q, busy_q;
  logic [AddrBits-1:0] address_q;
  logic [31:0] data_q, result_q;
  logic [1:0] response_q;
  (* ASYNC_REG = "TRUE" *) logic [1:0] answer_sync_q;

  wire take_write = !busy_q && !s_bvalid_o && !s_rvalid_o && s_awvalid_i && s_wvalid_i;
  wire take_read = !busy_q && !s_bvalid_o && !s_rvalid_o && s_arvalid_i && !take_write;
  assign s_awready_o = take_write;
  assign s_wready_o  = take_write;
  assign s_arready_o = take_read;

  always_ff @(posedge s_clk_i) begin
    answer_sync_q <= {answer_sync_q[0], answer_q};
    if (take_write || take_read) begin
      request_q  <= !request_q;
      busy_q     <= 1'b1;
      is_write_q <= take_write;
      address_q  <= take_write ? s_awaddr_i : s_araddr_i;
      data_q     <= s_wdata_i;
    end else if (busy_q && answer_sync_q[1] == request_q) begin
      busy_q     <= 1'b0;
      s_bvalid_o <= is_write_q;
      s_rvalid_o <= !is_write_q;
      s_rdata_o  <= result_q;
      s_bresp_o  <= response_q;
      s_rresp_o  <= response_q;
    end
    if (s_bvalid_o && s_bready_i) s_bvalid_o <= 1'b0;
    if (s_rvalid_o && s_rready_i) s_rvalid_o <= 1'b0;
    if (!s_rst_ni) begin
      {request_q, busy_q, s_bvalid_o, s_rvalid_o} <= '0;
      answer_sync_q <= '0;
    end
  end

  // ---- the side of the registers
  (* ASYNC_REG = "TRUE" *) logic [1:0] request_sync_q;
  logic working_q;
  assign m_awaddr_o = address_q;
  assign m_araddr_o = address_q;
  assign m_wdata_o  = data_q;
  assign m_bready_o = working_q;
  assign m_rready_o = working_q;

  always_ff @(posedge m_clk_i) begin
    request_sync_q <= {request_sync_q[0], request_q};
    if (!working_q) begin
      if (request_sync_q[1] != answer_q) begin
        working_q   <= 1'b1;
        m_awvalid_o <= is_write_q;
        m_wvalid_o  <= is_write_q;
        m_arvalid_o <= !is_write_q;
      end
    end else begin
      if (m_awready_i) m_awvalid_o <= 1'b0;
      if (m_wready_i) m_wvalid_o <= 1'b0;
      if (m_arready_i) m_arvalid_o <= 1'b0;
      if (m_bvalid_i || m_rvalid_i) begin
        working_q  <= 1'b0;
        answer_q   <= request_sync_q[1];
        result_q   <= m_rdata_i;
        response_q <= m_bvalid_i ? m_bresp_i : m_rresp_i;
      end
    end
    if (!m_rst_ni) begin
      {working_q, answer_q, m_awvalid_o, m_wvalid_o, m_arvalid_o} <= '0;
      request_sync_q <= '0;
    end
  end

endmodule

`resetall
