// SPDX-License-Identifier: Apache-2.0
// chip.sv - a host and its hybrid TOE on one chip, with a GMII for the PHY: no other part holds program or
// data. A narrow data path, so that it fits an LFE5U-85F.
//
//   GMII rx -> mac_rx -> fifo -> rx: RX buffers --> processor of the TOE <--> host memory <--> processor
//                                                    | MAU, DFU, PCU, slots <-----'            of the host
//   GMII tx <- mac_tx <- fifo <- tx <----------------'
//
// The processors run at clk_i, of at least 32 MHz: a word of the link takes 32 ns.
`resetall
`default_nettype none

module chip
  import chip_pkg::*;
#(
  parameter int unsigned Period = 873813,  // of clk_i, in ns / 65536: 75 MHz
  parameter int unsigned BufBits = 3,      // RX buffers
  parameter int unsigned ToeDataBits = 17, // of the byte addresses of memories
  parameter int unsigned HostInstrBits = 13,
  parameter int unsigned HostDataBits = 12,
  parameter ToeImage = "",
  parameter HostImage = ""
) (
  input  wire        clk_i,
  input  wire        rst_ni,

  input  wire        gmii_rx_clk_i,
  input  wire [7:0]  gmii_rxd_i,
  input  wire        gmii_rx_dv_i,
  input  wire        gmii_rx_er_i,
  input  wire        gmii_tx_clk_i,
  output wire [7:0]  gmii_txd_o,
  output wire        gmii_tx_en_o,
  output wire        gmii_tx_er_o,

  // [0] the TOE, [1] the host: what their programs print, and their exit codes
  output wire [1:0]      console_valid_o,
  output wire [1:0][7:0] console_o,
  output wire [1:0]      exit_valid_o,
  output wire [1:0][7:0] exit_o
);

  localparam int unsigned RxBits = BufBits + 9;

  // ---- clocks ----
  wire rst_n, rx_rst_n, tx_rst_n;
  chip_reset u_reset (.clk_i, .rst_ni, .rst_no(rst_n));
  chip_reset u_rx_reset (.clk_i(gmii_rx_clk_i), .rst_ni, .rst_no(rx_rst_n));
  chip_reset u_tx_reset (.clk_i(gmii_tx_clk_i), .rst_ni, .rst_no(tx_rst_n));

  logic [79:0] now_q;                      // ns / 65536
  always_ff @(posedge clk_i) begin
    if (!rst_n) now_q <= '0;
    else now_q <= now_q + 80'(Period);
  end

  // ---- frames that come ----
  wire mac_valid, mac_ready, in_valid;
  word_t mac_word, in_word;
  wire [31:0] rx_head, rx_tail, rx_bad, rx_full, rx_data;
  wire [11:0] rx_length;
  wire [RxBits-1:0] rx_read;
  chip_mac_rx u_mac_rx (
    .clk_i(gmii_rx_clk_i),
    .rst_ni(rx_rst_n),
    .rxd_i(gmii_rxd_i),
    .rx_dv_i(gmii_rx_dv_i),
    .rx_er_i(gmii_rx_er_i),
    .valid_o(mac_valid),
    .ready_i(mac_ready),
    .word_o(mac_word)
  );
  chip_fifo #(.Width($bits(word_t))) u_in (
    .w_clk_i(gmii_rx_clk_i), .w_rst_ni(rx_rst_n),
    .w_valid_i(mac_valid), .w_ready_o(mac_ready), .w_data_i(mac_word),
    .r_clk_i(clk_i), .r_rst_ni(rst_n),
    .r_valid_o(in_valid), .r_ready_i(1'b1), .r_data_o(in_word)
  );
  chip_rx #(.BufBits(BufBits)) u_rx (
    .clk_i,
    .rst_ni(rst_n),
    .valid_i(in_valid),
    .word_i(in_word),
    .head_o(rx_head),
    .tail_i(rx_tail),
    .length_o(rx_length),
    .bad_o(rx_bad),
    .full_o(rx_full),
    .read_i(rx_read),
    .data_o(rx_data)
  );

  // ---- frames that leave ----
  wire [63:0] beat_data;
  wire [7:0] beat_keep;
  wire beat_valid, beat_last, beat_ready;
  wire out_valid, out_ready, send_valid, send_ready, underrun;
  word_t out_word, send_word;
  chip_tx u_tx (
    .clk_i,
    .rst_ni(rst_n),
    .s_tdata_i(beat_data),
    .s_tkeep_i(beat_keep),
    .s_tvalid_i(beat_valid),
    .s_tlast_i(beat_last),
    .s_tready_o(beat_ready),
    .valid_o(out_valid),
    .ready_i(out_ready),
    .word_o(out_word)
  );
  chip_fifo #(.Width($bits(word_t))) u_out (
    .w_clk_i(clk_i), .w_rst_ni(rst_n),
    .w_valid_i(out_valid), .w_ready_o(out_ready), .w_data_i(out_word),
    .r_clk_i(gmii_tx_clk_i), .r_rst_ni(tx_rst_n),
    .r_valid_o(send_valid), .r_ready_i(send_ready), .r_data_o(send_word)
  );
  chip_mac_tx u_mac_tx (
    .clk_i(gmii_tx_clk_i),
    .rst_ni(tx_rst_n),
    .valid_i(send_valid),
    .ready_o(send_ready),
    .word_i(send_word),
    .txd_o(gmii_txd_o),
    .tx_en_o(gmii_tx_en_o),
    .tx_er_o(gmii_tx_er_o),
    .underrun_o(underrun)
  );
  logic [2:0] underrun_q;                  // in this clock
  logic [31:0] underruns_q;
  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      underrun_q <= '0;
      underruns_q <= '0;
    end else begin
      underrun_q <= {underrun_q[1:0], underrun};
      if (underrun_q[2] != underrun_q[1]) underruns_q <= underruns_q + 32'd1;
    end
  end

  // ---- host memory and the processors ----
  wire [1:0] shared_req, shared_ack, ring;
  access_t [1:0] access;
  wire shared_err;
  wire [31:0] shared_rdata;
  wire ar_valid, ar_ready, r_valid, r_ready, r_bad;
  wire [63:0] ar_addr, r_data;
  wire [7:0] ar_len;
  chip_shared u_shared (
    .clk_i,
    .rst_ni(rst_n),
    .req_i(shared_req),
    .access_i(access),
    .ack_o(shared_ack),
    .err_o(shared_err),
    .rdata_o(shared_rdata),
    .ar_valid_i(ar_valid),
    .ar_ready_o(ar_ready),
    .ar_addr_i(ar_addr),
    .ar_len_i(ar_len),
    .r_valid_o(r_valid),
    .r_ready_i(r_ready),
    .r_data_o(r_data),
    .r_bad_o(r_bad)
  );

  chip_side #(
    .DataBits(ToeDataBits),
    .RxBits(RxBits),
    .Image(ToeImage)
  ) u_toe (
    .clk_i,
    .rst_ni(rst_n),
    .now_i(now_q[79:16]),
    .shared_req_o(shared_req[0]),
    .access_o(access[0]),
    .shared_ack_i(shared_ack[0]),
    .shared_err_i(shared_err),
    .shared_rdata_i(shared_rdata),
    .ring_i(ring[1]),
    .ring_o(ring[0]),
    .rx_head_i(rx_head),
    .rx_tail_o(rx_tail),
    .rx_length_i(rx_length),
    .rx_bad_i(rx_bad),
    .rx_full_i(rx_full),
    .tx_underrun_i(underruns_q),
    .rx_read_o(rx_read),
    .rx_data_i(rx_data),
    .console_valid_o(console_valid_o[0]),
    .console_o(console_o[0]),
    .exit_valid_o(exit_valid_o[0]),
    .exit_o(exit_o[0]),
    .ar_valid_o(ar_valid),
    .ar_ready_i(ar_ready),
    .ar_addr_o(ar_addr),
    .ar_len_o(ar_len),
    .r_valid_i(r_valid),
    .r_ready_o(r_ready),
    .r_data_i(r_data),
    .r_bad_i(r_bad),
    .m_tdata_o(beat_data),
    .m_tkeep_o(beat_keep),
    .m_tvalid_o(beat_valid),
    .m_tlast_o(beat_last),
    .m_tready_i(beat_ready)
  );

  wire [31:0] unused_tail;
  wire [RxBits-1:0] unused_read;
  wire unused_ar, unused_r, unused_valid, unused_last;
  wire [63:0] unused_addr, unused_data;
  wire [7:0] unused_len, unused_keep;
  chip_side #(
    .InstrBits(HostInstrBits),
    .DataBits(HostDataBits),
    .Units(1'b0),
    .RxBits(RxBits),
    .Image(HostImage)
  ) u_host (
    .clk_i,
    .rst_ni(rst_n),
    .now_i(now_q[79:16]),
    .shared_req_o(shared_req[1]),
    .access_o(access[1]),
    .shared_ack_i(shared_ack[1]),
    .shared_err_i(shared_err),
    .shared_rdata_i(shared_rdata),
    .ring_i(ring[0]),
    .ring_o(ring[1]),
    .rx_head_i('0),
    .rx_tail_o(unused_tail),
    .rx_length_i('0),
    .rx_bad_i('0),
    .rx_full_i('0),
    .tx_underrun_i('0),
    .rx_read_o(unused_read),
    .rx_data_i('0),
    .console_valid_o(console_valid_o[1]),
    .console_o(console_o[1]),
    .exit_valid_o(exit_valid_o[1]),
    .exit_o(exit_o[1]),
    .ar_valid_o(unused_ar),
    .ar_ready_i(1'b0),
    .ar_addr_o(unused_addr),
    .ar_len_o(unused_len),
    .r_valid_i(1'b0),
    .r_ready_o(unused_r),
    .r_data_i('0),
    .r_bad_i(1'b0),
    .m_tdata_o(unused_data),
    .m_tkeep_o(unused_keep),
    .m_tvalid_o(unused_valid),
    .m_tlast_o(unused_last),
    .m_tready_i(1'b0)
  );

endmodule

`resetall
