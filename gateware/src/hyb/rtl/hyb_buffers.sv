// SPDX-License-Identifier: Apache-2.0
// hyb_buffers.sv - the addresses that the DFU reads, in the hybrid TOE: those of send buffers, and nothing
// else of host memory (S1.9). An address names queue pair, slot and offset in the stream:
//
//   | 63:48 slot | 47:46 0 | 45:40 queue pair | 39:32 any | 31:0 offset, modulo the send buffer |
//
// Bits 39:32 take the carry of an offset that wraps. The address in host memory is computed here from
// the configuration of the queue pair. A burst of 64-bit words becomes one of 64-byte lines:
//
//   DFU -- words --> Aim (which buffer) --> Ask (which lines) --> host memory
//   DFU <-- words -- the line at hand  <---------- lines --------'
//
// A burst of a slot that the queue pair does not have, or of a queue pair that leaves, is answered
// with an error and reads nothing.
`resetall
`default_nettype none

module hyb_buffers
  import toe_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned BurstLog = 8,  // bytes that no burst crosses; at most a send buffer
  parameter int unsigned AheadBits = 3  // bursts under way
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0]             leaves_i,    // nothing more is read for it
  output wire [Qps-1:0]             at_work_o,   // host memory still owes an answer

  // the DFU's bursts of 64-bit words
  input  wire          s_ar_valid_i,
  output wire          s_ar_ready_o,
  input  wire [63:0]   s_ar_addr_i,
  input  wire [7:0]    s_ar_len_i,      // words, less one
  output wire          s_r_valid_o,
  input  wire          s_r_ready_i,
  output wire [63:0]   s_r_data_o,
  output wire          s_r_bad_o,

  // host memory, in lines of 64 bytes
  output wire          ar_valid_o,
  input  wire          ar_ready_i,
  output wire [63:0]   ar_addr_o,
  output wire [7:0]    ar_len_o,        // lines, less one
  input  wire          r_valid_i,
  output wire          r_ready_o,
  input  wire [511:0]  r_data_i,
  input  wire          r_bad_i
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  localparam int unsigned WordBits = BurstLog - 3;

  typedef struct packed {
    qp_t                 qp;
    logic                bad;      // answered without host memory
    logic [2:0]          first;    // word of the first line
    logic [WordBits-1:0] words;    // less one
  } burst_t;

  // ---- which buffer ----
  typedef enum logic [1:0] { Idle, Aim, Ask } step_e;
  step_e step_q;
  qp_t qp_q;
  logic [15:0] slot_q;
  logic [31:0] at_q;                    // the offset, then what it is in the buffer
  logic [WordBits-1:0] words_q;
  logic [63:0] base_q;                  // of the send buffer
  logic known_q;

  wire [QpBits-1:0] qi = qp_q[QpBits-1:0];
  wire qp_config_t setup = qp_i[qi];
  wire [31:0] mask = (32'd1 << setup.tx_log) - 32'd1;
  wire stays = setup.enable && !leaves_i[qi];
  wire known = int'(qp_q) < int'(Qps) && (32'(slot_q) >> setup.slots_log) == '0 &&
               setup.tx_log >= 5'(BurstLog);

  // ---- which lines ----
  burst_t ask, burst;
  logic [AheadBits:0] room;
  logic burst_valid, burst_done;
  wire reads = known_q && stays;
  wire asks = step_q == Ask && room != '0 && (!reads || ar_ready_i);
  wire [WordBits:0] last_word = (WordBits + 1)'(at_q[5:3]) + (WordBits + 1)'(words_q);
  assign ask.qp = qp_q;
  assign ask.bad = !reads;
  assign ask.first = at_q[5:3];
  assign ask.words = words_q;
  assign ar_valid_o = step_q == Ask && room != '0 && reads;
  assign ar_addr_o = base_q + 64'({at_q[31:6], 6'd0});
  assign ar_len_o = 8'(last_word[WordBits:3]);
  assign s_ar_ready_o = step_q == Idle;

  always_ff @(posedge clk_i) begin
    if (step_q == Idle) begin
      qp_q <= s_ar_addr_i[40+:$bits(qp_t)];
      slot_q <= s_ar_addr_i[63:48];
      at_q <= s_ar_addr_i[31:0];
      words_q <= s_ar_len_i[WordBits-1:0];
    end
    if (step_q == Aim) begin
      base_q <= setup.area + 64'({setup.buffers_at[31:6], 6'd0}) +
                (64'(slot_q) << setup.tx_log) + (64'(slot_q) << setup.rx_log);
      at_q <= at_q & mask;
      known_q <= known;
    end
    if (!rst_ni) step_q <= Idle;
    else begin
      unique case (step_q)
        Idle: if (s_ar_valid_i) step_q <= Aim;
        Aim: step_q <= Ask;
        default: if (asks) step_q <= Idle;
      endcase
    end
  end

  // ---- the words of the lines that come ----
  toe_fifo #(.Width($bits(burst_t)), .AddrBits(AheadBits)) u_bursts (
    .clk_i, .rst_ni, .push_i(asks), .data_i(ask), .room_o(room),
    .valid_o(burst_valid), .pop_i(burst_done), .data_o(burst)
  );

  logic [WordBits-1:0] word_q;          // words that were passed on
  wire [2:0] lane = burst.first + word_q[2:0];
  wire last = word_q == burst.words;
  wire passes = s_r_valid_o && s_r_ready_i;
  assign burst_done = passes && last;
  assign s_r_valid_o = burst_valid && (burst.bad || r_valid_i);
  assign s_r_data_o = burst.bad ? '0 : r_data_i[64*lane+:64];
  assign s_r_bad_o = burst.bad || r_bad_i;
  assign r_ready_o = passes && !burst.bad && (last || lane == 3'd7);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) word_q <= '0;
    else if (passes) word_q <= last ? '0 : word_q + 1'b1;
  end

  // Bursts of each queue pair that host memory has not answered whole.
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_at_work
    logic [AheadBits:0] count_q;
    wire more = asks && reads && qp_q == qp_t'(i);
    wire less = burst_done && !burst.bad && burst.qp == qp_t'(i);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) count_q <= '0;
      else count_q <= count_q + (AheadBits + 1)'(more) - (AheadBits + 1)'(less);
    end
    assign at_work_o[i] = count_q != '0;
  end

  wire unused = &{1'b0, s_ar_addr_i, s_ar_len_i, setup, last_word[2:0]};

endmodule

`resetall
