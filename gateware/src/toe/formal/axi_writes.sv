// SPDX-License-Identifier: Apache-2.0
// axi_writes.sv - the writing half of the AXI4 master, for any writer and any bus within AXI4's
// rules, and resets at any time: what is offered stays until it is taken (A3.2.1); each address
// of the writer goes to the bus once, whole or in two halves split at 4 KiB; each beat is in a
// burst whose address was taken, in order, the last one marked; writes that are reported as done
// were answered. By induction, for all time, in 64 KiB of addresses.
`default_nettype none

module axi_writes (
    input wire       clk_i,
    input wire       rst_ni,
    input wire       aw_valid_i,
    input wire [9:0] aw_line_i,
    input wire [5:0] aw_len_i,
    input wire       w_valid_i,
    input wire [7:0] w_data_i,
    input wire       awready_i,
    input wire       wready_i,
    input wire       bvalid_i,
    input wire [1:0] bresp_i
);
  typedef logic [11:0] count_t;
  localparam count_t Many = 12'd2000;    // unanswered bursts: there are fewer

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  logic aw_ready, w_ready, awvalid, wvalid, wlast, bready, write_error;
  logic [63:0] awaddr, wstrb;
  logic [7:0] awlen;
  logic [15:0] asked, done;
  logic [511:0] wdata;
  wire [63:0] aw_addr = {48'd0, aw_line_i, 6'd0};
  wire [511:0] w_data = {~w_data_i, 496'd0, w_data_i};
  toe_axi u_axi (
      .clk_i, .rst_ni,
      .cmd_ar_valid_i(1'b0), .cmd_ar_ready_o(), .cmd_ar_addr_i('0), .cmd_r_valid_o(),
      .cmd_r_data_o(), .tx_ar_valid_i(1'b0), .tx_ar_ready_o(), .tx_ar_addr_i('0),
      .tx_ar_len_i('0), .tx_r_valid_o(), .tx_r_ready_i(1'b0), .tx_r_data_o(),
      .aw_valid_i, .aw_ready_o(aw_ready), .aw_addr_i(aw_addr), .aw_len_i({2'd0, aw_len_i}),
      .w_valid_i, .w_ready_o(w_ready), .w_data_i(w_data), .w_strb_i({56'd0, w_data_i}),
      .m_arvalid_o(), .m_arready_i(1'b0), .m_arid_o(), .m_araddr_o(), .m_arlen_o(),
      .m_rvalid_i(1'b0), .m_rready_o(), .m_rid_i(1'b0), .m_rdata_i('0), .m_rresp_i('0),
      .m_awvalid_o(awvalid), .m_awready_i(awready_i), .m_awaddr_o(awaddr), .m_awlen_o(awlen),
      .m_wvalid_o(wvalid), .m_wready_i(wready_i), .m_wdata_o(wdata), .m_wstrb_o(wstrb),
      .m_wlast_o(wlast), .m_bvalid_i(bvalid_i), .m_bready_o(bready), .m_bresp_i(bresp_i),
      .read_error_o(), .write_error_o(write_error), .asked_o(asked), .done_o(done));

  // An address of the writer becomes one or two on the bus; open bursts are in order.

  wire aw = awvalid && awready_i;
  wire w = wvalid && wready_i;
  wire aw_asks = aw_valid_i && aw_ready;
  logic [8:0] rest_q = '0;                      // beats of the second half, to be asked for
  logic [63:0] rest_at_q = '0;
  logic [3:0][7:0] row_q = '0;                  // lengths of the bursts whose beats are to come
  logic [2:0] n_q = '0;
  logic [7:0] beat_q = '0;                      // of the first of them
  count_t answers_q = '0;                       // bursts that the bus has to answer
  logic [15:0] done_q = '0;
  wire [2:0] kept = n_q - 3'(w && wlast);
  wire [8:0] aw_beats = 9'(awlen) + 9'd1;

  // The writer obeys AXI4 too; the bus answers bursts that it has received.
  logic aw_wait_q = 1'b0, w_wait_q = 1'b0;
  logic [9:0] aw_line_q = '0;
  logic [5:0] aw_len_q = '0;
  logic [7:0] w_data_q = '0;
  always_comb begin
    assume (aw_len_i <= 6'd32 && answers_q < Many);
    if (aw_wait_q) assume (aw_valid_i && aw_line_i == aw_line_q && aw_len_i == aw_len_q);
    if (w_wait_q) assume (w_valid_i && w_data_i == w_data_q);
    if (bvalid_i) assume (answers_q != '0);
  end

  logic aw_held_q = 1'b0, w_held_q = 1'b0, wlast_q = 1'b0, failed_q = 1'b0;
  logic [63:0] awaddr_q = '0, wstrb_q = '0;
  logic [7:0] awlen_q = '0;
  logic [511:0] wdata_q = '0;
  always_ff @(posedge clk_i) begin
    aw_wait_q <= rst_ni && aw_valid_i && !aw_ready;
    w_wait_q <= rst_ni && w_valid_i && !w_ready;
    {aw_line_q, aw_len_q, w_data_q} <= {aw_line_i, aw_len_i, w_data_i};
    aw_held_q <= rst_ni && awvalid && !awready_i;
    w_held_q <= rst_ni && wvalid && !wready_i;
    {awaddr_q, awlen_q, wdata_q, wstrb_q, wlast_q} <= {awaddr, awlen, wdata, wstrb, wlast};
    failed_q <= rst_ni && bvalid_i && bresp_i[1];
    if (!rst_ni) begin
      {rest_q, n_q, beat_q, answers_q, done_q} <= '0;
    end else begin
      if (aw) begin
        rest_q <= (rest_q != '0) ? '0 : 9'(aw_len_i) + 9'd1 - aw_beats;
        rest_at_q <= awaddr + {49'd0, aw_beats, 6'd0};
      end
      n_q <= kept + 3'(aw);
      if (w && wlast) row_q <= {8'd0, row_q[3:1]};
      if (aw) row_q[kept[1:0]] <= awlen;
      if (w) beat_q <= wlast ? '0 : beat_q + 8'd1;
      answers_q <= answers_q + count_t'(w && wlast) - count_t'(bvalid_i);
      done_q <= done_q + 16'(bvalid_i);
    end
  end

  always_comb begin
    if (!first_q) begin
      if (aw_held_q) assert (awvalid && awaddr == awaddr_q && awlen == awlen_q);
      if (awvalid) assert (7'(awaddr[11:6]) + 7'(awlen) <= 7'd63 && n_q < 3'd4);
      if (awvalid && rest_q != '0) assert (awaddr == rest_at_q && aw_beats == rest_q);
      if (awvalid && rest_q == '0)
        assert (aw_valid_i && awaddr == aw_addr && awlen <= 8'(aw_len_i));
      assert (aw_asks == (aw && rest_q == '0));
      if (w_held_q) assert (wvalid && wdata == wdata_q && wstrb == wstrb_q && wlast == wlast_q);
      if (wvalid) assert (n_q != '0 && wlast == (beat_q == row_q[0]));
      if (wvalid) assert (w_valid_i && wdata == w_data && wstrb == {56'd0, w_data_i});
      assert ((w_valid_i && w_ready) == w);
      assert (bready && done == done_q);
      assert (asked - done == 16'(n_q) + 16'(answers_q));
      assert (write_error == failed_q);
      // For induction: the design's registers have the same values.
      assert (u_axi.again_q == (rest_q != '0) && rest_q <= 9'd33);
      if (rest_q != '0)
        assert (u_axi.more_addr_q == rest_at_q && 9'(u_axi.more_q) + 9'd1 == rest_q &&
                rest_at_q[11:0] == '0);
      assert (u_axi.beat_q == beat_q && n_q <= 3'd4);
      assert ((n_q == '0) ? beat_q == '0 : beat_q <= row_q[0]);
      assert (u_axi.lengths.used == n_q);
      for (int i = 0; i < 4; i++)
        if (3'(i) < n_q) begin
          assert (row_q[i] <= 8'd32);
          assert (u_axi.lengths.memory[2'(u_axi.lengths.tail_q + 3'(i))] == row_q[i]);
        end
    end
  end
endmodule

`default_nettype wire
