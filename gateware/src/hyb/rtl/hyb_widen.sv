// SPDX-License-Identifier: Apache-2.0
// hyb_widen.sv - an AXI-Stream of 8 bytes a beat as one of 64: up to eight beats make one. The last beat
// of a frame ends the wide one.
`resetall
`default_nettype none

module hyb_widen (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire [63:0]   s_tdata_i,
  input  wire [7:0]    s_tkeep_i,
  input  wire          s_tvalid_i,
  input  wire          s_tlast_i,
  output wire          s_tready_o,
  output wire [511:0]  m_tdata_o,
  output wire [63:0]   m_tkeep_o,
  output wire          m_tvalid_o,
  output wire          m_tlast_o,
  input  wire          m_tready_i
);

  logic [7:0][63:0] data_q;
  logic [7:0][7:0] keep_q;
  logic [2:0] at_q;                     // where the next beat belongs
  logic full_q, last_q;

  wire takes = s_tvalid_i && s_tready_o;
  assign s_tready_o = !full_q || m_tready_i;

  always_ff @(posedge clk_i) begin
    if (takes) begin
      if (at_q == '0) keep_q <= '0;     // the beats before have left
      data_q[at_q] <= s_tdata_i;
      keep_q[at_q] <= s_tkeep_i;
      last_q <= s_tlast_i;
    end
    if (!rst_ni) begin
      at_q <= '0;
      full_q <= 1'b0;
    end else begin
      if (takes) begin
        at_q <= s_tlast_i ? '0 : at_q + 3'd1;
        full_q <= s_tlast_i || at_q == 3'd7;
      end else if (m_tready_i) full_q <= 1'b0;
    end
  end

  assign m_tdata_o = data_q;
  assign m_tkeep_o = keep_q;
  assign m_tvalid_o = full_q;
  assign m_tlast_o = last_q;

endmodule

`resetall
