// SPDX-License-Identifier: Apache-2.0
// tx_edge.sv - what toe_tx sends to the link and reads from host memory, for any packets, any
// stalls, and resets at any time: a beat stays until it is taken, and so does the address of a
// read; all beats of a packet are full except the last, whose bytes come first and are at least
// one; there are never more packets in flight than slots, nor more lines read ahead than
// entries. By induction, for all time. That a packet has 54 to 2048 bytes is an assumption here:
// tx_beats.sv proves the lengths.
`default_nettype none

module tx_edge
  import toe_pkg::*;
(
    input wire         clk_i,
    input wire         rst_ni,
    input wire         valid_i,
    input wire         bare_i,
    input wire         v6_i,
    input wire         ts_i,
    input wire [10:0]  len_i,
    input wire [15:0]  from_i,
    input wire         closed_i,
    input wire         ar_ready_i,
    input wire         r_valid_i,
    input wire [511:0] data_i,
    input wire         tready_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  qp_config_t [0:0] qp;
  tx_desc_t desc, bare;
  path_t path;
  always_comb begin
    qp = '0;
    qp[0].enable = 1'b1;
    qp[0].area = 64'h1_0000;
    qp[0].buffers_at = 32'h4000;
    qp[0].tx_log = 5'd12;
    qp[0].rx_log = 5'd12;
    desc = '0;
    desc.ts_ok = ts_i;
    desc.from = 32'(from_i);
    bare = desc;
    desc.len = 16'(len_i);
    path = '0;
    path.tuple.v6 = v6_i;
  end

  logic ar, tvalid, tlast;
  logic [63:0] araddr, tkeep;
  logic [7:0] arlen;
  logic [511:0] tdata;
  toe_tx #(.Qps(1), .Fpcs(1), .SlotBits(1)) u_tx (
      .clk_i, .rst_ni, .own_i('0), .qp_i(qp), .closed_i, .at_work_o(),
      .desc_valid_i(valid_i), .desc_ready_o(), .desc_i(desc), .path_at_o(), .path_i(path),
      .bare_valid_i(bare_i), .bare_ready_o(), .bare_i(bare), .bare_path_i(path),
      .ar_valid_o(ar), .ar_ready_i, .ar_addr_o(araddr), .ar_len_o(arlen),
      .r_valid_i, .r_ready_o(), .r_data_i(data_i),
      .m_tdata_o(tdata), .m_tkeep_o(tkeep), .m_tvalid_o(tvalid), .m_tlast_o(tlast),
      .m_tready_i(tready_i));
  always_comb
    if (u_tx.leaving_valid)
      assume (u_tx.leaving.bytes >= 12'd54 && u_tx.leaving.bytes <= 12'd2048);

  logic held_q = 1'b0, tlast_q = 1'b0, ar_held_q = 1'b0;
  logic [511:0] tdata_q = '0;
  logic [63:0] tkeep_q = '0, araddr_q = '0;
  logic [7:0] arlen_q = '0;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && tvalid && !tready_i;
    ar_held_q <= rst_ni && ar && !ar_ready_i;
    {tdata_q, tkeep_q, tlast_q} <= {tdata, tkeep, tlast};
    {araddr_q, arlen_q} <= {araddr, arlen};
  end

  // Checks the number of valid bytes of a line that is queued or being read.
  function automatic logic fits(input logic last, input logic [6:0] bytes);
    return bytes != 7'd0 && bytes <= 7'd64 && (last || bytes == 7'd64);
  endfunction
  // The queue of lines: last and bytes are the top bits of each entry (out_t).
  localparam int unsigned About = 542;
  logic [3:0][About:0] lines;
  always_comb
    for (int i = 0; i < 4; i++) lines[i] = u_tx.ahead.memory[2'(u_tx.ahead.tail_q + 3'(i))];
  logic [4:0] slots;
  assign slots = 5'(u_tx.jobs.used) + 5'(u_tx.step_q != '0) + 5'(u_tx.mark_q.ends) +
                 5'(u_tx.mark_q2.ends) + 5'(u_tx.mark_q3.ends) + 5'(u_tx.done_list.used);

  always_comb begin
    if (!first_q) begin
      if (held_q) assert (tvalid && tdata == tdata_q && tkeep == tkeep_q && tlast == tlast_q);
      if (ar_held_q) assert (ar && araddr == araddr_q && arlen == arlen_q);
      if (ar) assert (araddr[5:0] == '0);
      if (tvalid)
        assert (tkeep[0] && (tkeep & (tkeep + 64'd1)) == '0 && (tlast || tkeep == '1));
      assert (slots == 5'(u_tx.used_q) && u_tx.used_q <= 2'd2);
      assert (4'(u_tx.ahead.used) + 4'(u_tx.read_q) <= 4'd4);
      // For induction.
      if (u_tx.second_q)
        assert (u_tx.used_q < 2'd2 && u_tx.c_valid_q && u_tx.c_len_q != '0 && u_tx.c_wraps_q);
      if (u_tx.leaving_valid) assert ({1'b0, u_tx.out_line_q, 6'd0} < u_tx.leaving.bytes);
      else assert (u_tx.out_line_q == '0);
      if (u_tx.read_q) assert (fits(u_tx.about_q.last, u_tx.about_q.bytes));
      for (int i = 0; i < 4; i++)
        if (3'(i) < u_tx.ahead.used)
          assert (fits(lines[i][About], lines[i][About-1-:7]));
    end
  end
endmodule

`default_nettype wire
