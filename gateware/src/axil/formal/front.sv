// SPDX-License-Identifier: Apache-2.0
// front.sv - axil_front keeps AXI4-Lite's rules, passes each access to the register block
// exactly once, with the address and data of the master, and returns what the block answered.
// The master and the block behave arbitrarily within their own rules.
`default_nettype none

module front (
    input wire       clk_i,
    input wire       rst_ni,
    input wire       awvalid_i,
    input wire [3:0] awaddr_i,
    input wire       wvalid_i,
    input wire [1:0] wdata_i,
    input wire [3:0] wstrb_i,
    input wire       bready_i,
    input wire       arvalid_i,
    input wire [3:0] araddr_i,
    input wire       rready_i,
    input wire       stall_write_i,
    input wire       stall_read_i,
    input wire       read_done_i,
    input wire       read_error_i,
    input wire [1:0] read_data_i,
    input wire       write_done_i,
    input wire       write_error_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  logic awready, wready, bvalid, arready, rvalid, req, is_write;
  logic [1:0] bresp, rresp;
  logic [3:0] addr;
  logic [31:0] rdata, data, enables;
  axil_front #(.AddrBits(4)) u_front (
      .clk_i, .rst_ni,
      .awvalid_i, .awready_o(awready), .awaddr_i, .wvalid_i, .wready_o(wready),
      .wdata_i({30'd0, wdata_i}), .wstrb_i, .bvalid_o(bvalid), .bready_i, .bresp_o(bresp),
      .arvalid_i, .arready_o(arready), .araddr_i, .rvalid_o(rvalid), .rready_i, .rdata_o(rdata),
      .rresp_o(rresp), .req_o(req), .is_write_o(is_write), .addr_o(addr), .data_o(data),
      .enables_o(enables), .stall_write_i, .stall_read_i, .read_done_i, .read_error_i,
      .read_data_i({30'd0, read_data_i}), .write_done_i, .write_error_i);

  // The accesses in progress. asked: the block has it; answered: the block has returned the outcome.
  typedef struct packed {
    logic       there;  // the address was taken
    logic       asked;
    logic       answered;
    logic       error;
    logic [3:0] addr;
  } access_t;
  access_t write_q, read_q;
  logic data_there_q;
  logic [1:0] wdata_q, rdata_q;
  logic [3:0] wstrb_q;
  wire ask_write = req && is_write && !stall_write_i;
  wire ask_read = req && !is_write && !stall_read_i;

  // The block answers what it was asked, once, in the same cycle at the earliest.
  always_comb begin
    if (write_done_i) assume ((ask_write || write_q.asked) && !write_q.answered);
    if (read_done_i) assume ((ask_read || read_q.asked) && !read_q.answered);
  end

  always_ff @(posedge clk_i) begin
    if (awvalid_i && awready) begin
      write_q.there <= 1'b1;
      write_q.addr  <= awaddr_i;
    end
    if (wvalid_i && wready) begin
      data_there_q <= 1'b1;
      wdata_q      <= wdata_i;
      wstrb_q      <= wstrb_i;
    end
    if (arvalid_i && arready) begin
      read_q.there <= 1'b1;
      read_q.addr  <= araddr_i;
    end
    if (ask_write) write_q.asked <= 1'b1;
    if (ask_read) read_q.asked <= 1'b1;
    if (write_done_i) begin
      write_q.answered <= 1'b1;
      write_q.error    <= write_error_i;
    end
    if (read_done_i) begin
      read_q.answered <= 1'b1;
      read_q.error    <= read_error_i;
      rdata_q         <= read_data_i;
    end
    if (bvalid && bready_i) {write_q.there, write_q.asked, write_q.answered, data_there_q} <= '0;
    if (rvalid && rready_i) {read_q.there, read_q.asked, read_q.answered} <= '0;
    if (!rst_ni) begin
      write_q      <= '0;
      read_q       <= '0;
      data_there_q <= 1'b0;
    end
  end

  // Answers stay as they are until they are taken.
  logic b_held_q = 1'b0, r_held_q = 1'b0;
  logic [1:0] bresp_q, rresp_q;
  logic [31:0] rdata_before_q;
  always_ff @(posedge clk_i) begin
    b_held_q <= rst_ni && bvalid && !bready_i;
    r_held_q <= rst_ni && rvalid && !rready_i;
    {bresp_q, rresp_q, rdata_before_q} <= {bresp, rresp, rdata};
  end

  always_comb begin
    if (!first_q) begin
      if (b_held_q) assert (bvalid && bresp == bresp_q);
      if (r_held_q) assert (rvalid && rresp == rresp_q && rdata == rdata_before_q);
      if (ask_write) begin
        assert (write_q.there && data_there_q && !write_q.asked);
        assert (addr == {write_q.addr[3:2], 2'b00} && data == {30'd0, wdata_q});
        for (int i = 0; i < 32; i++) assert (enables[i] == wstrb_q[i/8]);
      end
      if (ask_read) begin
        assert (read_q.there && !read_q.asked);
        assert (addr == {read_q.addr[3:2], 2'b00});
      end
      if (bvalid) assert (write_q.answered && bresp == {write_q.error, 1'b0});
      if (rvalid) begin
        assert (read_q.answered && rresp == {read_q.error, 1'b0} && rdata == {30'd0, rdata_q});
      end
    end
  end
endmodule
