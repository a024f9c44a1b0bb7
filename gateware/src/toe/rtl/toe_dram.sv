// SPDX-License-Identifier: Apache-2.0
// toe_dram.sv - the TCBs that are not on chip (S1.4): one AXI4 master for all FPCs to a memory of the
// card. A TCB has a power-of-two size and is one burst, at Base + flow * size; so no burst crosses 4
// KiB (AMBA AXI4, A3.4.1). Reads have the ID of their FPC, writes ID 0; errors are counted, and read as
// a closed flow.
`resetall
`default_nettype none

module toe_dram
  import toe_pkg::*;
#(
  parameter int unsigned Width = 512,
  parameter int unsigned FpcBits = 0,
  parameter logic [63:0] Base = 64'd0
) (
  input  wire          clk_i,
  input  wire          rst_ni,

  input  wire [2**FpcBits-1:0]             fetch_valid_i,
  output wire [2**FpcBits-1:0]             fetch_ready_o,
  input  wire flow_t [2**FpcBits-1:0]      fetch_flow_i,
  output wire [2**FpcBits-1:0]             fetched_valid_o,
  input  wire [2**FpcBits-1:0]             fetched_ready_i,
  output wire [2**FpcBits-1:0][Width-1:0]  fetched_o,
  input  wire [2**FpcBits-1:0]             save_valid_i,
  output wire [2**FpcBits-1:0]             save_ready_o,
  input  wire flow_t [2**FpcBits-1:0]      save_flow_i,
  input  wire [2**FpcBits-1:0][Width-1:0]  save_i,
  output wire [2**FpcBits-1:0]             saved_o,

  output wire          m_arvalid_o,
  input  wire          m_arready_i,
  output wire [3:0]    m_arid_o,
  output wire [63:0]   m_araddr_o,
  output wire [7:0]    m_arlen_o,
  input  wire          m_rvalid_i,
  output wire          m_rready_o,
  input  wire [3:0]    m_rid_i,
  input  wire [511:0]  m_rdata_i,
  input  wire [1:0]    m_rresp_i,
  output wire          m_awvalid_o,
  input  wire          m_awready_i,
  output wire [63:0]   m_awaddr_o,
  output wire [7:0]    m_awlen_o,
  output wire          m_wvalid_o,
  input  wire          m_wready_i,
  output wire [511:0]  m_wdata_o,
  output wire          m_wlast_o,
  input  wire          m_bvalid_i,
  output wire          m_bready_o,
  input  wire [1:0]    m_bresp_i,

  output wire          read_error_o,
  output wire          write_error_o
);

  localparam int unsigned Fpcs = 2 ** FpcBits;
  localparam int unsigned Beats = (Width + 511) / 512;
  localparam int unsigned BeatBits = (Beats > 1) ? $clog2(Beats) : 1;
  localparam int unsigned Shift = 6 + ((Beats > 1) ? $clog2(Beats) : 0);
  typedef logic [BeatBits-1:0] beat_t;
  localparam int unsigned OfBits = (FpcBits > 0) ? FpcBits : 1;
  typedef logic [OfBits-1:0] fpc_t;
  localparam beat_t Last = beat_t'(Beats - 1);

  function automatic logic [63:0] at(input flow_t flow);
    return Base + (64'(flow) << Shift);
  endfunction

  // The next requester, after the one whose turn it was.
  function automatic fpc_t next(input logic [Fpcs-1:0] ask, input fpc_t turn);
    fpc_t pick;
    pick = '0;
    for (int i = int'(Fpcs) - 1; i >= 0; i--) if (ask[i]) pick = fpc_t'(i);
    for (int i = int'(Fpcs) - 1; i >= 0; i--) if (ask[i] && fpc_t'(i) > turn) pick = fpc_t'(i);
    return pick;
  endfunction

  // ---- addresses of reads: offered until they are taken ----

  logic ar_q;
  fpc_t ar_of_q;
  flow_t ar_flow_q;
  wire fpc_t ar_next = next(fetch_valid_i, ar_of_q);
  assign m_arvalid_o = ar_q;
  assign m_arid_o = 4'(ar_of_q);
  assign m_araddr_o = at(ar_flow_q);
  assign m_arlen_o = 8'(Beats - 1);

  for (genvar f = 0; f < int'(Fpcs); f++) begin : gen_ready
    assign fetch_ready_o[f] = !ar_q && fetch_valid_i[f] && ar_next == fpc_t'(f);
  end

  always_ff @(posedge clk_i) begin
    if (!ar_q && fetch_valid_i != '0) begin
      ar_of_q <= ar_next;
      ar_flow_q <= fetch_flow_i[ar_next];
    end
    if (!rst_ni) begin
      ar_q <= 1'b0;
      ar_of_q <= '0;
    end else ar_q <= ar_q ? !m_arready_i : fetch_valid_i != '0;
  end

  // ---- what is read: a TCB for each FPC is put together ----

  logic [Fpcs-1:0] full_q;
  logic [Fpcs-1:0][BeatBits-1:0] beat_q;
  logic [Fpcs-1:0][Beats-1:0][511:0] data_q;
  logic [Fpcs-1:0] bad_q;
  logic read_error_q;
  wire fpc_t of = fpc_t'(m_rid_i);
  assign m_rready_o = !full_q[of];
  assign read_error_o = read_error_q;

  always_ff @(posedge clk_i) begin
    read_error_q <= rst_ni && m_rvalid_i && m_rready_o && m_rresp_i[1];
    for (int f = 0; f < int'(Fpcs); f++) begin
      if (m_rvalid_i && m_rready_o && of == fpc_t'(f)) begin
        data_q[f][beat_q[f]] <= m_rdata_i;
        bad_q[f] <= m_rresp_i[1] || (bad_q[f] && beat_q[f] != '0);
        beat_q[f] <= (beat_q[f] == Last) ? '0 : beat_q[f] + 1'b1;
        if (beat_q[f] == Last) full_q[f] <= 1'b1;
      end
      if (full_q[f] && fetched_ready_i[f]) full_q[f] <= 1'b0;
      if (!rst_ni) begin
        full_q[f] <= 1'b0;
        beat_q[f] <= '0;
      end
    end
  end
  for (genvar f = 0; f < int'(Fpcs); f++) begin : gen_fetched
    wire [512*Beats-1:0] all = data_q[f];
    assign fetched_valid_o[f] = full_q[f];
    assign fetched_o[f] = bad_q[f] ? '0 : all[Width-1:0];
    if (512 * Beats > Width) begin : gen_rest
      wire unused = &{1'b0, all[512*Beats-1:Width]};
    end
  end

  // ---- writes: an address, its beats, then the next ----

  logic aw_q, w_q;
  fpc_t w_of_q;
  flow_t w_flow_q;
  beat_t w_beat_q;
  logic [Beats-1:0][511:0] w_data_q;
  wire fpc_t w_next = next(save_valid_i, w_of_q);
  logic order_valid;
  logic [4:0] order_room;
  fpc_t saved_of;
  wire begin_write = !aw_q && !w_q && save_valid_i != '0 && order_room != '0;

  for (genvar f = 0; f < int'(Fpcs); f++) begin : gen_save
    assign save_ready_o[f] = begin_write && w_next == fpc_t'(f);
    assign saved_o[f] = m_bvalid_i && order_valid && saved_of == fpc_t'(f);
  end
  assign m_awvalid_o = aw_q;
  assign m_awaddr_o = at(w_flow_q);
  assign m_awlen_o = 8'(Beats - 1);
  assign m_wvalid_o = w_q;
  assign m_wdata_o = w_data_q[w_beat_q];
  assign m_wlast_o = w_beat_q == Last;
  assign m_bready_o = 1'b1;

  // Their FPCs: answers arrive in the order of the writes, which have one ID.
  toe_fifo #(.Width(OfBits), .AddrBits(4)) order (
    .clk_i, .rst_ni, .push_i(begin_write), .data_i(w_next), .room_o(order_room),
    .valid_o(order_valid), .pop_i(m_bvalid_i && order_valid), .data_o(saved_of)
  );

  logic write_error_q;
  assign write_error_o = write_error_q;
  always_ff @(posedge clk_i) begin
    write_error_q <= rst_ni && m_bvalid_i && m_bresp_i[1];
    if (begin_write) begin
      w_of_q <= w_next;
      w_flow_q <= save_flow_i[w_next];
      w_data_q <= (512 * Beats)'(save_i[w_next]);
      w_beat_q <= '0;
    end else if (m_wvalid_o && m_wready_i) w_beat_q <= w_beat_q + 1'b1;
    if (!rst_ni) begin
      aw_q <= 1'b0;
      w_q <= 1'b0;
      w_of_q <= '0;
    end else begin
      aw_q <= begin_write || (aw_q && !m_awready_i);
      w_q <= begin_write || (w_q && !(m_wready_i && m_wlast_o));
    end
  end

endmodule

`resetall
