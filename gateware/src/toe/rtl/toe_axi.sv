// SPDX-License-Identifier: Apache-2.0
// toe_axi.sv - one AXI4 master for all accesses to host memory: two readers, distinguished by the ID,
// and the writer. Bursts that cross 4 KiB (AMBA AXI4, A3.4.1) are split. Bus errors are counted; a beat
// with an error reads as zero, which no ring takes for a command.
`resetall
`default_nettype none

module toe_axi (
  input  wire          clk_i,
  input  wire          rst_ni,

  // reader 0, commands: bursts of one beat, whose data is always taken
  input  wire          cmd_ar_valid_i,
  output wire          cmd_ar_ready_o,
  input  wire [63:0]   cmd_ar_addr_i,
  output wire          cmd_r_valid_o,
  output wire [511:0]  cmd_r_data_o,
  // reader 1, payload
  input  wire          tx_ar_valid_i,
  output wire          tx_ar_ready_o,
  input  wire [63:0]   tx_ar_addr_i,
  input  wire [7:0]    tx_ar_len_i,
  output wire          tx_r_valid_o,
  input  wire          tx_r_ready_i,
  output wire [511:0]  tx_r_data_o,
  // the writer
  input  wire          aw_valid_i,
  output wire          aw_ready_o,
  input  wire [63:0]   aw_addr_i,
  input  wire [7:0]    aw_len_i,
  input  wire          w_valid_i,
  output wire          w_ready_o,
  input  wire [511:0]  w_data_i,
  input  wire [63:0]   w_strb_i,

  output wire          m_arvalid_o,
  input  wire          m_arready_i,
  output wire          m_arid_o,
  output wire [63:0]   m_araddr_o,
  output wire [7:0]    m_arlen_o,
  input  wire          m_rvalid_i,
  output wire          m_rready_o,
  input  wire          m_rid_i,
  input  wire [511:0]  m_rdata_i,
  input  wire [1:0]    m_rresp_i,
  output wire          m_awvalid_o,
  input  wire          m_awready_i,
  output wire [63:0]   m_awaddr_o,
  output wire [7:0]    m_awlen_o,
  output wire          m_wvalid_o,
  input  wire          m_wready_i,
  output wire [511:0]  m_wdata_o,
  output wire [63:0]   m_wstrb_o,
  output wire          m_wlast_o,
  input  wire          m_bvalid_i,
  output wire          m_bready_o,
  input  wire [1:0]    m_bresp_i,

  output wire          read_error_o,
  output wire          write_error_o,
  output wire [15:0]   asked_o,     // writes begun, and
  output wire [15:0]   done_o       // ... writes answered: free-running
);

  // Beats up to the next 4 KiB, less one, as the bus encodes a length.
  function automatic logic [7:0] room(input logic [63:0] addr);
    return {2'd0, ~addr[11:6]};
  endfunction

  // ---- reads: an address that was given stays, whatever its asker does then ----

  logic cmd_q, tx_q, turn_q;        // a request of each; whose turn it is
  logic [63:0] cmd_addr_q, tx_addr_q;
  logic [7:0] tx_len_q;
  logic held_q, held_tx_q;          // an offered request stays (AMBA AXI4, A3.2.1)
  wire pick_tx = held_q ? held_tx_q : (tx_q && (turn_q || !cmd_q));
  wire tx_crosses = tx_len_q > room(tx_addr_q);
  assign m_arvalid_o = cmd_q || tx_q;
  assign m_arid_o = pick_tx;
  assign m_araddr_o = pick_tx ? tx_addr_q : cmd_addr_q;
  assign m_arlen_o = !pick_tx ? 8'd0 : (tx_crosses ? room(tx_addr_q) : tx_len_q);
  assign cmd_ar_ready_o = !cmd_q;
  assign tx_ar_ready_o = !tx_q;

  wire refused = m_rresp_i[1];
  assign cmd_r_valid_o = m_rvalid_i && !m_rid_i;
  assign cmd_r_data_o = refused ? '0 : m_rdata_i;
  assign tx_r_valid_o = m_rvalid_i && m_rid_i;
  assign tx_r_data_o = refused ? '0 : m_rdata_i;
  assign m_rready_o = !m_rid_i || tx_r_ready_i;

  // ---- writes: addresses go ahead, the beats of each follow in their order ----

  localparam int unsigned AheadBits = 2;
  logic again_q;                    // the second half of a burst is pending
  logic [7:0] more_q;               // ... its beats, less one
  logic [63:0] more_addr_q;
  logic open;                       // an address was accepted, its beats are to follow
  logic [7:0] last, beat_q;         // ... they are 0 to last
  logic [AheadBits:0] room_ahead;
  wire ahead_ok = room_ahead != '0;
  wire aw_crosses = aw_len_i > room(aw_addr_i);
  assign m_awvalid_o = ahead_ok && (again_q || aw_valid_i);
  assign m_awaddr_o = again_q ? more_addr_q : aw_addr_i;
  assign m_awlen_o = again_q ? more_q : (aw_crosses ? room(aw_addr_i) : aw_len_i);
  assign aw_ready_o = ahead_ok && m_awready_i && !again_q;
  assign m_wvalid_o = open && w_valid_i;
  assign w_ready_o = open && m_wready_i;
  assign m_wdata_o = w_data_i;
  assign m_wstrb_o = w_strb_i;
  assign m_wlast_o = beat_q == last;
  assign m_bready_o = 1'b1;

  toe_fifo #(.Width(8), .AddrBits(AheadBits)) lengths (
    .clk_i, .rst_ni, .push_i(m_awvalid_o && m_awready_i), .data_i(m_awlen_o),
    .room_o(room_ahead), .valid_o(open),
    .pop_i(m_wvalid_o && m_wready_i && m_wlast_o), .data_o(last)
  );

  logic [15:0] asked_q, done_q;
  logic read_error_q, write_error_q;
  assign asked_o = asked_q;
  assign done_o = done_q;
  assign read_error_o = read_error_q;
  assign write_error_o = write_error_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cmd_q <= 1'b0;
      tx_q <= 1'b0;
      turn_q <= 1'b0;
      held_q <= 1'b0;
      again_q <= 1'b0;
      beat_q <= '0;
      asked_q <= '0;
      done_q <= '0;
      read_error_q <= 1'b0;
      write_error_q <= 1'b0;
    end else begin
      held_q <= m_arvalid_o && !m_arready_i;
      held_tx_q <= pick_tx;
      if (m_arvalid_o && m_arready_i) begin
        turn_q <= !pick_tx;
        if (!pick_tx) cmd_q <= 1'b0;
        else begin
          tx_q <= tx_crosses;
          tx_addr_q <= {tx_addr_q[63:12] + 52'd1, 12'd0};
          tx_len_q <= tx_len_q - room(tx_addr_q) - 8'd1;
        end
      end
      if (cmd_ar_valid_i && !cmd_q) begin
        cmd_q <= 1'b1;
        cmd_addr_q <= cmd_ar_addr_i;
      end
      if (tx_ar_valid_i && !tx_q) begin
        tx_q <= 1'b1;
        tx_addr_q <= tx_ar_addr_i;
        tx_len_q <= tx_ar_len_i;
      end
      if (m_awvalid_o && m_awready_i) begin
        asked_q <= asked_q + 16'd1;
        again_q <= !again_q && aw_crosses;
        if (!again_q) begin
          more_q <= aw_len_i - room(aw_addr_i) - 8'd1;
          more_addr_q <= {aw_addr_i[63:12] + 52'd1, 12'd0};
        end
      end
      if (m_wvalid_o && m_wready_i) beat_q <= m_wlast_o ? '0 : beat_q + 8'd1;
      if (m_bvalid_i) done_q <= done_q + 16'd1;
      read_error_q <= m_rvalid_i && m_rready_o && refused;
      write_error_q <= m_bvalid_i && m_bresp_i[1];
    end
  end

endmodule

`resetall
