// SPDX-License-Identifier: Apache-2.0
// axil_front.sv - AXI4-Lite front end of a register block (PeakRDL's "passthrough" interface), one
// access at a time. Registers separate the bus, the block and the answer, so that a cycle contains
// only the block's own decoding. Waiting reads and writes take turns.
//
//   Idle --access--> Ask --accepted, answered--> Answer --accepted by the master--> Idle
`resetall
`default_nettype none

module axil_front #(
    parameter int unsigned AddrBits = 14
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,
    input  wire                 awvalid_i,
    output logic                awready_o,
    input  wire  [AddrBits-1:0] awaddr_i,
    input  wire                 wvalid_i,
    output logic                wready_o,
    input  wire  [        31:0] wdata_i,
    input  wire  [         3:0] wstrb_i,
    output logic                bvalid_o,
    input  wire                 bready_i,
    output logic [         1:0] bresp_o,
    input  wire                 arvalid_i,
    output logic                arready_o,
    input  wire  [AddrBits-1:0] araddr_i,
    output logic                rvalid_o,
    input  wire                 rready_i,
    output logic [        31:0] rdata_o,
    output logic [         1:0] rresp_o,
    // the register block: a request is accepted in a cycle without stall
    output logic                req_o,
    output logic                is_write_o,
    output logic [AddrBits-1:0] addr_o,
    output logic [        31:0] data_o,
    output logic [        31:0] enables_o,   // per bit
    input  wire                 stall_write_i,
    input  wire                 stall_read_i,
    input  wire                 read_done_i,
    input  wire                 read_error_i,
    input  wire  [        31:0] read_data_i,
    input  wire                 write_done_i,
    input  wire                 write_error_i
);
  localparam logic [1:0] Okay = 2'b00, SlvErr = 2'b10;

  typedef enum logic [1:0] {
    Idle,
    Ask,
    Answer
  } state_e;
  state_e state_q;

  // The master's request is held until the answer is accepted.
  logic aw_q, w_q, ar_q;

  // The block's answer, a cycle later; and the master's addresses.
  logic read_done_q, write_done_q, read_failed_q, write_failed_q;
  logic [31:0] read_data_q;
  logic [AddrBits-1:0] awaddr_q, araddr_q;
  assign awready_o = !aw_q;
  assign wready_o  = !w_q;
  assign arready_o = !ar_q;

  wire write_waits = aw_q && w_q;
  wire write_next = write_waits && !(ar_q && is_write_o);  // turns: not after a write
  wire stalled = is_write_o ? stall_write_i : stall_read_i;
  wire answered = is_write_o ? write_done_q : read_done_q;
  wire failed = is_write_o ? write_failed_q : read_failed_q;
  wire taken = is_write_o ? bready_i : rready_i;

  always_ff @(posedge clk_i) begin
    if (awvalid_i && awready_o) begin
      aw_q     <= 1'b1;
      awaddr_q <= awaddr_i;
    end
    if (wvalid_i && wready_o) begin
      w_q       <= 1'b1;
      data_o    <= wdata_i;
      enables_o <= {{8{wstrb_i[3]}}, {8{wstrb_i[2]}}, {8{wstrb_i[1]}}, {8{wstrb_i[0]}}};
    end
    if (arvalid_i && arready_o) begin
      ar_q     <= 1'b1;
      araddr_q <= araddr_i;
    end

    read_done_q    <= read_done_i && rst_ni;
    write_done_q   <= write_done_i && rst_ni;
    read_failed_q  <= read_error_i;
    write_failed_q <= write_error_i;
    read_data_q    <= read_data_i;

    case (state_q)
      Idle:
      if (write_waits || ar_q) begin
        state_q    <= Ask;
        req_o      <= 1'b1;
        is_write_o <= write_next;
        addr_o     <= (write_next ? awaddr_q : araddr_q) & ~AddrBits'(3);  // word address
      end
      Ask: begin
        if (!stalled) req_o <= 1'b0;
        if (answered) begin
          state_q  <= Answer;
          bvalid_o <= is_write_o;
          rvalid_o <= !is_write_o;
          bresp_o  <= failed ? SlvErr : Okay;
          rresp_o  <= failed ? SlvErr : Okay;
          rdata_o  <= read_data_q;
        end
      end
      default:
      if (taken) begin
        state_q  <= Idle;
        bvalid_o <= 1'b0;
        rvalid_o <= 1'b0;
        if (is_write_o) {aw_q, w_q} <= '0;
        else ar_q <= 1'b0;
      end
    endcase

    if (!rst_ni) begin
      state_q <= Idle;
      {aw_q, w_q, ar_q, req_o, is_write_o, bvalid_o, rvalid_o} <= '0;
    end
  end

endmodule

`resetall
