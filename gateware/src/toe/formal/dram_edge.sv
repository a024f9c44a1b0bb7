// SPDX-License-Identifier: Apache-2.0
// dram_edge.sv - the AXI4 edge of the TCBs' memory, with two FPCs and TCBs of two beats, for any
// FPCs and any memory within AXI4's rules, and resets at any time: what is offered stays until
// it is taken (A3.2.1); each fetch is one read burst with its FPC's ID and returns one TCB to
// that FPC, made of the two beats of that ID, or zero if one was refused; each save is one write
// burst at the flow's place, its second beat marked; an answer to a write goes to the FPC of
// that write, in order; a refusal is reported once. By induction, for all time: dram.sv proves
// the same for nine cycles.
`default_nettype none

module dram_edge
  import toe_pkg::*;
(
    input wire            clk_i,
    input wire            rst_ni,
    input wire [1:0]      fetch_i,
    input wire [1:0][7:0] fetch_flow_i,
    input wire [1:0]      take_i,
    input wire [1:0]      save_i,
    input wire [1:0][7:0] save_flow_i,
    input wire [1:0][7:0] fill_i,
    input wire            arready_i,
    input wire            awready_i,
    input wire            wready_i,
    input wire            rvalid_i,
    input wire            rwhose_i,
    input wire [7:0]      rdata_i,
    input wire [1:0]      rresp_i,
    input wire            bvalid_i,
    input wire [1:0]      bresp_i
);
  localparam int unsigned Width = 520;
  localparam logic [63:0] Base = 64'h1_0000;
  typedef logic [11:0] count_t;
  localparam count_t Many = 12'd1000;      // fetches of an FPC in flight: there are fewer

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  flow_t [1:0] fetch_flow, save_flow;
  logic [1:0][Width-1:0] save, came;
  always_comb
    for (int f = 0; f < 2; f++) begin
      fetch_flow[f] = flow_t'(fetch_flow_i[f]);
      save_flow[f] = flow_t'(save_flow_i[f]);
      save[f] = {fill_i[f], 504'd0, ~fill_i[f]};
    end
  function automatic logic [63:0] place(input logic [7:0] flow);
    return Base + {49'd0, flow, 7'd0};
  endfunction

  logic [1:0] fetch_ready, fetched, save_ready, saved;
  logic ar, rready, aw, w, wlast, bready, read_error, write_error;
  logic [3:0] arid;
  logic [63:0] araddr, awaddr;
  logic [7:0] arlen, awlen;
  logic [511:0] wdata;
  toe_dram #(.Width(Width), .FpcBits(1), .Base(Base)) u_dram (
      .clk_i, .rst_ni,
      .fetch_valid_i(fetch_i), .fetch_ready_o(fetch_ready), .fetch_flow_i(fetch_flow),
      .fetched_valid_o(fetched), .fetched_ready_i(take_i), .fetched_o(came),
      .save_valid_i(save_i), .save_ready_o(save_ready), .save_flow_i(save_flow),
      .save_i(save), .saved_o(saved),
      .m_arvalid_o(ar), .m_arready_i(arready_i), .m_arid_o(arid), .m_araddr_o(araddr),
      .m_arlen_o(arlen), .m_rvalid_i(rvalid_i), .m_rready_o(rready), .m_rid_i(4'(rwhose_i)),
      .m_rdata_i({504'd0, rdata_i}), .m_rresp_i(rresp_i),
      .m_awvalid_o(aw), .m_awready_i(awready_i), .m_awaddr_o(awaddr), .m_awlen_o(awlen),
      .m_wvalid_o(w), .m_wready_i(wready_i), .m_wdata_o(wdata), .m_wlast_o(wlast),
      .m_bvalid_i(bvalid_i), .m_bready_o(bready), .m_bresp_i(bresp_i),
      .read_error_o(read_error), .write_error_o(write_error));

  // ---- reads ----

  logic due_q = 1'b0, due_of_q = 1'b0;             // an address that the memory has not taken
  logic [7:0] due_flow_q = '0;
  count_t [1:0] owed_q = '0;                       // TCBs to each FPC
  count_t [1:0] beats_q = '0;                      // ... and beats that the memory owes for them
  logic [1:0] half_q = '0, whole_q = '0, refused_q = '0;
  logic [1:0][1:0][7:0] data_q = '0;
  logic failed_q = 1'b0;
  wire [1:0] fetches = fetch_i & fetch_ready;
  wire r = rvalid_i && rready;
  always_comb begin
    assume (owed_q[0] < Many && owed_q[1] < Many);
    if (rvalid_i) assume (beats_q[rwhose_i] != '0);
  end
  always_ff @(posedge clk_i) begin
    failed_q <= rst_ni && r && rresp_i[1];
    if (r) begin
      data_q[rwhose_i][half_q[rwhose_i]] <= rdata_i;
      refused_q[rwhose_i] <= rresp_i[1] || (half_q[rwhose_i] && refused_q[rwhose_i]);
    end
    if (fetches != '0) begin
      due_of_q <= fetches[1];
      due_flow_q <= fetch_flow_i[fetches[1]];
    end
    if (!rst_ni) begin
      due_q <= 1'b0;
      {owed_q, beats_q, half_q, whole_q} <= '0;
    end else begin
      due_q <= fetches != '0 || (due_q && !arready_i);
      for (int f = 0; f < 2; f++) begin
        owed_q[f] <= owed_q[f] + count_t'(fetches[f]) - count_t'(fetched[f] && take_i[f]);
        beats_q[f] <= beats_q[f] + ((ar && arready_i && arid == 4'(f)) ? count_t'(2) : '0) -
                      count_t'(r && rwhose_i == 1'(f));
        half_q[f] <= half_q[f] ^ (r && rwhose_i == 1'(f));
        if (r && rwhose_i == 1'(f) && half_q[f]) whole_q[f] <= 1'b1;
        else if (take_i[f]) whole_q[f] <= 1'b0;
      end
    end
  end

  logic ar_held_q = 1'b0;
  logic [63:0] araddr_q = '0;
  logic [3:0] arid_q = '0;
  logic [1:0] full_q = '0;
  logic [1:0][Width-1:0] came_q = '0;
  always_ff @(posedge clk_i) begin
    ar_held_q <= rst_ni && ar && !arready_i;
    {araddr_q, arid_q, came_q} <= {araddr, arid, came};
    full_q <= rst_ni ? fetched & ~take_i : 2'd0;
  end

  always_comb begin
    if (!first_q) begin
      if (ar_held_q) assert (ar && araddr == araddr_q && arid == arid_q);
      assert (ar == due_q);
      if (ar) assert (arid == 4'(due_of_q) && araddr == place(due_flow_q) && arlen == 8'd1);
      assert ((fetch_ready & ~fetch_i) == '0 && fetch_ready != 2'b11);
      assert (rready == !fetched[rwhose_i]);
      assert (read_error == failed_q);
      assert (fetched == whole_q);
      for (int f = 0; f < 2; f++) begin
        if (full_q[f]) assert (fetched[f] && came[f] == came_q[f]);
        if (fetched[f])
          assert (came[f] == (refused_q[f] ? '0 : {data_q[f][1], 504'd0, data_q[f][0]}));
        // What an FPC waits for is on its way.
        assert ({owed_q[f], 1'b0} == 13'(beats_q[f]) + 13'(half_q[f]) + 13'({whole_q[f], 1'b0}) +
                ((due_q && due_of_q == 1'(f)) ? 13'd2 : 13'd0));
        // For induction: the same as the design has it.
        assert (u_dram.beat_q[f] == half_q[f] && beats_q[f] < 12'd2100);
        assert (!(half_q[f] && whole_q[f]));
        if (half_q[f] || whole_q[f]) begin
          assert (u_dram.data_q[f][0] == 512'(data_q[f][0]) && u_dram.bad_q[f] == refused_q[f]);
        end
        if (whole_q[f]) assert (u_dram.data_q[f][1] == 512'(data_q[f][1]));
      end
      if (due_q) assert (u_dram.ar_flow_q == flow_t'(due_flow_q));
    end
  end

  // ---- writes ----

  logic aw_due_q = 1'b0;
  logic [1:0] w_due_q = '0;
  logic [7:0] flow_q = '0, put_q = '0;
  logic [15:0] row_q = '0;                         // whose writes are to be answered
  logic [4:0] n_q = '0;
  logic write_failed_q = 1'b0;
  wire [1:0] saves = save_i & save_ready;
  wire [4:0] kept = n_q - 5'(bvalid_i);
  wire under_way = aw_due_q || w_due_q != '0;
  // The memory answers what it has whole.
  always_comb if (bvalid_i) assume (n_q > 5'(under_way));
  always_ff @(posedge clk_i) begin
    write_failed_q <= rst_ni && bvalid_i && bresp_i[1];
    if (saves != '0) begin
      flow_q <= save_flow_i[saves[1]];
      put_q <= fill_i[saves[1]];
    end
    if (bvalid_i) row_q <= {1'b0, row_q[15:1]};
    if (saves != '0) row_q[kept[3:0]] <= saves[1];
    if (!rst_ni) {aw_due_q, w_due_q, n_q} <= '0;
    else begin
      aw_due_q <= saves != '0 || (aw_due_q && !awready_i);
      if (saves != '0) w_due_q <= 2'd2;
      else if (w && wready_i) w_due_q <= w_due_q - 2'd1;
      n_q <= kept + 5'(saves != '0);
    end
  end

  logic aw_held_q = 1'b0, w_held_q = 1'b0, wlast_q = 1'b0;
  logic [63:0] awaddr_q = '0;
  logic [511:0] wdata_q = '0;
  always_ff @(posedge clk_i) begin
    aw_held_q <= rst_ni && aw && !awready_i;
    w_held_q <= rst_ni && w && !wready_i;
    {awaddr_q, wdata_q, wlast_q} <= {awaddr, wdata, wlast};
  end

  always_comb begin
    if (!first_q) begin
      if (aw_held_q) assert (aw && awaddr == awaddr_q);
      if (w_held_q) assert (w && wdata == wdata_q && wlast == wlast_q);
      assert (aw == aw_due_q && w == (w_due_q != '0));
      if (aw) assert (awaddr == place(flow_q) && awlen == 8'd1);
      if (w) assert (wlast == (w_due_q == 2'd1));
      if (w) assert (wdata == (wlast ? 512'(put_q) : {504'd0, ~put_q}));
      assert ((save_ready & ~save_i) == '0 && save_ready != 2'b11);
      if (save_ready != '0) assert (!under_way && n_q < 5'd16);
      assert (bready && saved == (!bvalid_i ? 2'b00 : (row_q[0] ? 2'b10 : 2'b01)));
      assert (write_error == write_failed_q);
      // For induction: the same as the design has it.
      assert (n_q <= 5'd16 && n_q >= 5'(under_way) && u_dram.order.used == n_q && w_due_q != 2'd3);
      for (int i = 0; i < 16; i++)
        if (5'(i) < n_q)
          assert (u_dram.order.memory[4'(u_dram.order.tail_q + 5'(i))] == row_q[i]);
      if (under_way) begin
        assert (u_dram.w_flow_q == flow_t'(flow_q));
        if (w_due_q != '0) assert (u_dram.w_beat_q == (w_due_q == 2'd1));
        assert (u_dram.w_data_q == {504'd0, put_q, 504'd0, ~put_q});
      end
    end
  end
endmodule

`default_nettype wire
