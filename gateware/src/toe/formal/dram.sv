// SPDX-License-Identifier: Apache-2.0
// dram.sv - TCBs that go to the card's memory and come from it, for two FPCs: on AXI4 what is offered
// stays until it is taken (A3.2.1); of each TCB there is one burst, in its own place, and its last beat
// is marked; each that was asked for comes once, to its FPC, whole and as the memory gave it; each
// that was saved is answered once, to its FPC.
`default_nettype none

module dram
  import toe_pkg::*;
(
    input wire        clk_i,
    input wire        rst_ni,
    input wire [1:0]  fetch_i,
    input wire [1:0]  take_i,
    input wire [1:0]  save_i,
    input wire [1:0]  flow_i,
    input wire        arready_i,
    input wire        awready_i,
    input wire        wready_i,
    input wire        rvalid_i,
    input wire        rwhose_i,
    input wire        rbad_i,
    input wire        bvalid_i,
    input wire [7:0]  fill_i
);
  localparam int unsigned Width = 520;     // two beats
  localparam logic [63:0] Base = 64'h1_0000;

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  // An FPC asks for two at most, and offers what it saves until it is taken.
  logic [1:0] asking_q = '0, saving_q = '0;
  logic [1:0][1:0] coming_q = '0;
  flow_t [1:0] fetch_flow_q = '0, save_flow_q = '0;
  logic [1:0][7:0] fill_q = '0;
  logic [1:0] fetch_ready, fetched, save_ready, saved;
  logic [1:0][Width-1:0] came, save;
  logic ar, aw, w, wlast, rready, bready;
  logic [3:0] arid;
  logic [63:0] araddr, awaddr;
  logic [7:0] arlen, awlen;
  logic [511:0] wdata;
  always_comb
    for (int f = 0; f < 2; f++) save[f] = {fill_q[f], 504'd0, fill_q[f]};

  // The memory: two beats for each address that it took, in the order of each ID.
  logic [1:0] beats_q = '0;                // begun
  logic [1:0][1:0] owed_q = '0;            // addresses were taken, beats are to come
  logic [1:0][7:0] gave_q = '0, gave_last_q = '0;
  logic [1:0] refused_q = '0;
  wire rvalid = rvalid_i && owed_q[rwhose_i] != '0;
  wire rtakes = rvalid && rready;
  logic [2:0] bursts_q = '0;               // written, not yet answered
  wire bvalid = bvalid_i && bursts_q != '0;

  toe_dram #(.Width(Width), .FpcBits(1), .Base(Base)) u_dram (
      .clk_i, .rst_ni,
      .fetch_valid_i(asking_q), .fetch_ready_o(fetch_ready), .fetch_flow_i(fetch_flow_q),
      .fetched_valid_o(fetched), .fetched_ready_i(take_i & fetched), .fetched_o(came),
      .save_valid_i(saving_q), .save_ready_o(save_ready), .save_flow_i(save_flow_q),
      .save_i(save), .saved_o(saved),
      .m_arvalid_o(ar), .m_arready_i(arready_i), .m_arid_o(arid), .m_araddr_o(araddr),
      .m_arlen_o(arlen), .m_rvalid_i(rvalid), .m_rready_o(rready), .m_rid_i(4'(rwhose_i)),
      .m_rdata_i(512'(fill_i)), .m_rresp_i({rbad_i, 1'b0}),
      .m_awvalid_o(aw), .m_awready_i(awready_i), .m_awaddr_o(awaddr), .m_awlen_o(awlen),
      .m_wvalid_o(w), .m_wready_i(wready_i), .m_wdata_o(wdata), .m_wlast_o(wlast),
      .m_bvalid_i(bvalid), .m_bready_o(bready), .m_bresp_i(2'b00),
      .read_error_o(), .write_error_o());

  // Saves that were taken, in order: whose, and of what.
  logic [7:0] order_q = '0, filled_q = '0;
  flow_t in_write_q = '0;
  logic [3:0] saves_q = '0;
  logic w_beat_q = 1'b0, aw_due_q = 1'b0;
  logic [1:0] w_due_q = '0;
  logic [1:0] begins;
  flow_t [1:0] asked_q = '0;
  always_comb
    for (int f = 0; f < 2; f++)
      begins[f] = fetch_i[f] && !asking_q[f] && coming_q[f] < 2'd2;
  wire takes_save = |(saving_q & save_ready);
  wire whose = save_ready[1];

  logic ar_held_q = 1'b0, aw_held_q = 1'b0, w_held_q = 1'b0, wlast_q = 1'b0;
  logic [63:0] araddr_q = '0, awaddr_q = '0;
  logic [3:0] arid_q = '0;
  logic [511:0] wdata_q = '0;
  logic [1:0] full_q = '0;
  logic [1:0][Width-1:0] came_q = '0;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      for (int f = 0; f < 2; f++) begin
        coming_q[f] <= coming_q[f] + 2'(begins[f]) - 2'(fetched[f] && take_i[f]);
        owed_q[f] <= owed_q[f] + 2'(ar && arready_i && arid == 4'(f)) -
                     2'(rtakes && rwhose_i == 1'(f) && beats_q[f]);
        if (begins[f]) begin
          asking_q[f] <= 1'b1;
          fetch_flow_q[f] <= flow_t'({flow_i, 1'(f)});
        end
        if (asking_q[f] && fetch_ready[f]) begin
          asking_q[f] <= 1'b0;
          asked_q[f] <= fetch_flow_q[f];
        end
        if (save_i[f] && !saving_q[f]) begin
          saving_q[f] <= 1'b1;
          save_flow_q[f] <= flow_t'({flow_i, 1'(f)});
          fill_q[f] <= fill_i;
        end
        if (saving_q[f] && save_ready[f]) saving_q[f] <= 1'b0;
        if (rtakes && rwhose_i == 1'(f)) begin
          beats_q[f] <= !beats_q[f];
          refused_q[f] <= rbad_i || (refused_q[f] && beats_q[f]);
          if (beats_q[f]) gave_last_q[f] <= fill_i;
          else gave_q[f] <= fill_i;
        end
      end
      if (takes_save) begin
        in_write_q <= save_flow_q[whose];
        filled_q <= fill_q[whose];
        aw_due_q <= 1'b1;
        w_due_q <= 2'd2;
      end else begin
        if (aw && awready_i) aw_due_q <= 1'b0;
        if (w && wready_i) w_due_q <= w_due_q - 2'd1;
      end
      saves_q <= saves_q + 4'(takes_save) - 4'(|saved);
      if (|saved) order_q <= order_q >> 1;
      if (takes_save) order_q[3'(saves_q - 4'(|saved))] <= whose;
      bursts_q <= bursts_q + 3'(w && wready_i && wlast) - 3'(bvalid);
      if (w && wready_i) w_beat_q <= !w_beat_q;
    end
    ar_held_q <= rst_ni && ar && !arready_i;
    aw_held_q <= rst_ni && aw && !awready_i;
    w_held_q <= rst_ni && w && !wready_i;
    full_q <= rst_ni ? fetched & ~take_i : 2'd0;
    came_q <= came;
    {araddr_q, arid_q, awaddr_q, wdata_q, wlast_q} <= {araddr, arid, awaddr, wdata, wlast};
  end
  // An answer to what has neither address nor beats left.
  always_comb assume (saves_q < 4'd6);
  always_comb if (bvalid) assume (!(bursts_q == 3'd1 && aw_due_q && w_due_q == 2'd0));

  always_comb begin
    if (!first_q) begin
      if (ar_held_q) assert (ar && araddr == araddr_q && arid == arid_q);
      if (aw_held_q) assert (aw && awaddr == awaddr_q);
      if (w_held_q) assert (w && wdata == wdata_q && wlast == wlast_q);
      if (ar) begin
        assert (arid < 4'd2 && arlen == 8'd1);
        assert (coming_q[arid[0]] > owed_q[arid[0]]);
        assert (araddr == Base + (64'(asked_q[arid[0]]) << 7));
      end
      if (aw) assert (aw_due_q && awlen == 8'd1 && awaddr == Base + (64'(in_write_q) << 7));
      if (w) begin
        assert (w_due_q != '0 && wlast == (w_due_q == 2'd1) && wlast == w_beat_q);
        assert (wdata[7:0] == filled_q || wlast);
        if (wlast) assert (wdata[7:0] == filled_q);
      end
      for (int f = 0; f < 2; f++) begin
        if (full_q[f]) assert (fetched[f] && came[f] == came_q[f]);
        if (fetched[f]) begin
          assert (coming_q[f] > owed_q[f]);
          if (refused_q[f]) assert (came[f] == '0);
          else assert (came[f][7:0] == gave_q[f] && came[f][519:512] == gave_last_q[f]);
        end
      end
      assert (saved != 2'b11);
      if (|saved) assert (bvalid && saves_q != '0 && saved == (order_q[0] ? 2'b10 : 2'b01));
      if (bvalid) assert (bready && |saved);
    end
  end
endmodule

`default_nettype wire
