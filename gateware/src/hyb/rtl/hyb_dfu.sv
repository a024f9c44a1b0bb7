// SPDX-License-Identifier: Apache-2.0
// hyb_dfu.sv - data fetch unit (S2.6): copies bytes of host memory into a slot, at any alignment of
// either. Reads of many jobs are outstanding; data arrive in the order of requests.
//
//   ask:  jobs -> AXI reads, in bursts that do not cross 2^BurstLog bytes
//   fill: AXI data -> turned -> a byte lane each of the slot's memory
//
// A job outside its slot, of no bytes, or for which there is no room is refused: it reads and writes
// nothing, and is done with an error.
`resetall
`default_nettype none

module hyb_dfu #(
  parameter int unsigned SlotBits = 4,
  parameter int unsigned SlotLog = 11,  // bytes of a slot
  parameter int unsigned BurstLog = 8,
  parameter int unsigned JobBits = 5    // jobs under way
) (
  input  wire                clk_i,
  input  wire                rst_ni,

  input  wire                go_i,
  input  wire [63:0]         host_i,
  input  wire [SlotLog:0]    length_i,
  input  wire [SlotBits-1:0] slot_i,
  input  wire [SlotLog-1:0]  offset_i,
  input  wire                more_i,     // another job of the slot follows: not done before it

  output logic        ar_valid_o,
  input  wire         ar_ready_i,
  output logic [63:0] ar_addr_o,
  output logic [7:0]  ar_len_o,          // beats, less one
  input  wire         r_valid_i,
  output wire         r_ready_o,
  input  wire [63:0]  r_data_i,
  input  wire         r_bad_i,

  // A write of the lanes' bytes into a slot: lane l is at 8 * line_o[l] + l. It is repeated while
  // stall_i.
  input  wire                            stall_i,
  output logic [7:0]                     write_o,
  output logic [SlotBits-1:0]            slot_o,
  output logic [7:0][SlotLog-4:0]        line_o,
  output logic [63:0]                    data_o,

  output wire                done_o,     // with the last write of the last job of slot_o,
  output wire                bad_o,      // ... or with any write of it: the host's memory refused
  output wire                refused_o   // of slot_i, in the cycle of go_i
);

  localparam int unsigned BurstBeats = 1 << (BurstLog - 3);

  typedef struct packed {
    logic [60:0]        word;    // of host memory
    logic [SlotLog-2:0] words;
  } ask_t;
  typedef struct packed {
    logic [SlotBits-1:0] slot;
    logic [SlotLog-1:0]  base;   // in the slot: where lane 0 of the first beat belongs
    logic [2:0]          skip;   // bytes of the first beat that are not the job's
    logic [SlotLog+1:0]  stop;   // skip and all bytes
    logic                more;
  } fill_t;

  logic [JobBits:0] ask_room, fill_room;
  ask_t ask_in, ask;
  fill_t fill_in, fill;
  logic ask_valid, ask_done, fill_valid, fill_done;

  wire [SlotLog+1:0] ends_at = (SlotLog + 2)'(offset_i) + (SlotLog + 2)'(length_i);
  wire lawful = length_i != '0 && ends_at <= (SlotLog + 2)'(1 << SlotLog) && fill_room != '0;
  wire accepts = go_i && lawful;
  assign refused_o = go_i && !lawful;

  assign ask_in.word = host_i[63:3];
  assign ask_in.words = (SlotLog - 1)'((fill_in.stop + (SlotLog + 2)'(7)) >> 3);
  assign fill_in.slot = slot_i;
  assign fill_in.base = offset_i - SlotLog'(host_i[2:0]);
  assign fill_in.skip = host_i[2:0];
  assign fill_in.stop = (SlotLog + 2)'(host_i[2:0]) + (SlotLog + 2)'(length_i);
  assign fill_in.more = more_i;

  toe_fifo #(.Width($bits(ask_t)), .AddrBits(JobBits)) u_asks (
    .clk_i, .rst_ni, .push_i(accepts), .data_i(ask_in), .room_o(ask_room),
    .valid_o(ask_valid), .pop_i(ask_done), .data_o(ask)
  );
  toe_fifo #(.Width($bits(fill_t)), .AddrBits(JobBits)) u_fills (
    .clk_i, .rst_ni, .push_i(accepts), .data_i(fill_in), .room_o(fill_room),
    .valid_o(fill_valid), .pop_i(fill_done), .data_o(fill)
  );

  // ---- ask ----
  logic [SlotLog-2:0] asked_q;   // words of the first job
  wire [60:0] word = ask.word + 61'(asked_q);
  wire [SlotLog-2:0] left = ask.words - asked_q;
  wire [BurstLog-3:0] to_edge = (BurstLog - 2)'(BurstBeats) - (BurstLog - 2)'(word[BurstLog-4:0]);
  wire last_burst = 32'(left) <= 32'(to_edge);
  wire [BurstLog-3:0] burst = last_burst ? (BurstLog - 2)'(left) : to_edge;
  wire asks = ask_valid && (!ar_valid_o || ar_ready_i);
  assign ask_done = asks && last_burst;

  always_ff @(posedge clk_i) begin
    if (asks) begin
      ar_addr_o <= {word, 3'd0};
      ar_len_o <= 8'(burst) - 8'd1;
    end
    if (!rst_ni) begin
      ar_valid_o <= 1'b0;
      asked_q <= '0;
    end else begin
      if (!ar_valid_o || ar_ready_i) ar_valid_o <= asks;
      if (asks) asked_q <= last_burst ? '0 : asked_q + (SlotLog - 1)'(burst);
    end
  end

  // ---- fill ----
  logic [SlotLog-2:0] filled_q;  // words of the first job
  wire [SlotLog+1:0] bytes_before = {filled_q, 3'd0};
  wire [SlotLog+1:0] rest = fill.stop - bytes_before;
  wire [SlotLog-1:0] base = fill.base + SlotLog'(bytes_before);
  wire last_beat = rest <= (SlotLog + 2)'(8);
  wire [2:0] shift = base[2:0];

  logic valid_q, done_q, bad_q;
  assign r_ready_o = !(valid_q && stall_i);
  wire beat = r_valid_i && r_ready_o && fill_valid;
  assign fill_done = beat && last_beat;

  always_ff @(posedge clk_i) begin
    if (!(valid_q && stall_i)) begin
      slot_o <= fill.slot;
      for (int l = 0; l < 8; l++) begin
        // The lane of the beat that belongs into lane l, and its line.
        automatic logic [2:0] from = 3'(l) - shift;
        write_o[l] <= beat && (filled_q != '0 || from >= fill.skip) &&
                      (SlotLog + 2)'(from) < rest;
        data_o[8*l+:8] <= r_data_i[8*from+:8];
        line_o[l] <= base[SlotLog-1:3] + (SlotLog - 3)'(3'(l) < shift);
      end
      done_q <= last_beat && !fill.more;
      bad_q <= r_bad_i;
    end
    if (!rst_ni) begin
      valid_q <= 1'b0;
      write_o <= '0;
      filled_q <= '0;
    end else begin
      if (!(valid_q && stall_i)) valid_q <= beat;
      if (beat) filled_q <= last_beat ? '0 : filled_q + 1'b1;
    end
  end

  assign done_o = valid_q && !stall_i && done_q;
  assign bad_o = valid_q && !stall_i && bad_q;

  wire unused = &{1'b0, ask_room};

endmodule

`resetall
