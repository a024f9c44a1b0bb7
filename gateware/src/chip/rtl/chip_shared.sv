// SPDX-License-Identifier: Apache-2.0
// chip_shared.sv - host memory of the chip: the DMA area of the one queue pair (docs/device-contract.md),
// which both processors read and write, and of which the DFU reads send buffers. A memory with one
// port: an access a cycle, the TOE's first, then the host's, then the DFU's. So each processor's
// accesses are seen by the other one in their order.
//
// The DFU's address names slot and offset in the stream, as in hyb_buffers.sv:
//
//   | 63:48 slot | 47:46 0 | 45:40 queue pair, 0 | 39:32 any | 31:0 offset, modulo the send buffer |
//
// A word outside a send buffer is answered with an error.
`resetall
`default_nettype none

module chip_shared
  import chip_pkg::*;
#(
  parameter int unsigned Bytes = 88 << 10,
  parameter int unsigned Buffers = 20 << 10,  // offset of slot 0's send buffer
  parameter int unsigned SlotBits = 4,
  parameter int unsigned TxLog = 11,          // bytes of a send buffer
  parameter int unsigned RxLog = 11           // ... of the receive buffer behind it
) (
  input  wire          clk_i,
  input  wire          rst_ni,

  // [0] the TOE, [1] the host; an access lasts a cycle, its answer comes two cycles later or more
  input  wire [1:0]          req_i,
  input  wire access_t [1:0] access_i,
  output wire [1:0]          ack_o,
  output wire                err_o,
  output wire [31:0]         rdata_o,

  input  wire        ar_valid_i,
  output wire        ar_ready_o,
  input  wire [63:0] ar_addr_i,
  input  wire [7:0]  ar_len_i,
  output wire        r_valid_o,
  input  wire        r_ready_i,
  output wire [63:0] r_data_o,
  output wire        r_bad_o
);

  localparam int unsigned Words = Bytes / 8;
  localparam int unsigned WordBits = $clog2(Words);
  localparam int unsigned AheadBits = 2;
  typedef logic [WordBits-1:0] word_at_t;
  typedef enum logic [1:0] {
    Toe,
    Host,
    Dfu,
    None
  } user_e;

  // ---- what waits ----
  logic [1:0] waits_q;
  access_t [1:0] access_q;
  logic burst_q;
  logic [63:0] at_q;        // address of the burst's next word
  logic [7:0] left_q;       // words, less one
  logic [AheadBits:0] room;
  user_e user, user_q;

  always_comb begin
    if (waits_q[0]) user = Toe;
    else if (waits_q[1]) user = Host;
    else if (burst_q && room > (AheadBits + 1)'(user_q == Dfu)) user = Dfu;
    else user = None;
  end
  wire access_t now = access_q[user == Host];

  // ---- the DFU's addresses ----
  wire [15:0] slot = at_q[63:48];
  wire bad_slot = slot[15:SlotBits] != '0 || at_q[45:40] != '0;
  wire word_at_t sent_at = word_at_t'(Buffers / 8) +
      word_at_t'(slot[SlotBits-1:0]) * word_at_t'(((1 << TxLog) + (1 << RxLog)) / 8) +
      word_at_t'(at_q[TxLog-1:3]);

  // ---- the memory ----
  logic [7:0][7:0] memory[Words];
  logic [63:0] data_q;
  logic bad_q, upper_q;
  wire outside = 32'(now.addr[23:0]) >= 32'(Bytes);
  wire word_at_t word = (user == Dfu) ? sent_at : word_at_t'(now.addr[23:3]);
  wire writes = (user == Toe || user == Host) && now.write && !outside;
  wire [7:0] lanes = now.addr[2] ? {now.be, 4'd0} : {4'd0, now.be};

  always_ff @(posedge clk_i) begin
    if (writes) begin
      for (int i = 0; i < 8; i++)
        if (lanes[i]) memory[word][i] <= now.wdata[8*(i%4)+:8];
    end else data_q <= memory[word];
    upper_q <= now.addr[2];
    bad_q <= (user == Dfu) ? bad_slot : outside;
    for (int i = 0; i < 2; i++) if (req_i[i]) access_q[i] <= access_i[i];
    if (ar_valid_i && ar_ready_o) begin
      at_q <= ar_addr_i;
      left_q <= ar_len_i;
    end else if (user == Dfu) begin
      at_q[31:3] <= at_q[31:3] + 29'd1;
      left_q <= left_q - 8'd1;
    end
    if (!rst_ni) begin
      waits_q <= '0;
      burst_q <= 1'b0;
      user_q <= None;
    end else begin
      waits_q[0] <= req_i[0] || (waits_q[0] && user != Toe);
      waits_q[1] <= req_i[1] || (waits_q[1] && user != Host);
      user_q <= user;
      if (ar_valid_i && ar_ready_o) burst_q <= 1'b1;
      else if (user == Dfu && left_q == '0) burst_q <= 1'b0;
    end
  end

  assign ar_ready_o = !burst_q;
  assign ack_o = {user_q == Host, user_q == Toe};
  assign err_o = bad_q;
  assign rdata_o = upper_q ? data_q[63:32] : data_q[31:0];

  toe_fifo #(.Width(65), .AddrBits(AheadBits)) u_ahead (
    .clk_i, .rst_ni, .push_i(user_q == Dfu), .data_i({bad_q, data_q}), .room_o(room),
    .valid_o(r_valid_o), .pop_i(r_valid_o && r_ready_i), .data_o({r_bad_o, r_data_o})
  );

  wire unused = &{1'b0, at_q, now};

endmodule

`resetall
