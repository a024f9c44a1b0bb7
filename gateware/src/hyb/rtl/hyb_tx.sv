// SPDX-License-Identifier: Apache-2.0
// hyb_tx.sv - frames to the link from TX slots of 2 KiB (S2.6). Frame n is in slot n modulo their number;
// it leaves when the firmware has given it. A line that a fetch writes has priority over one that is
// sent.
`resetall
`default_nettype none

module hyb_tx #(
  parameter int unsigned SlotBits = 4
) (
  input  wire          clk_i,
  input  wire          rst_ni,

  // the processor's words
  input  wire [SlotBits+8:0] word_i,
  input  wire [3:0]          word_write_i,
  input  wire [31:0]         word_data_i,
  output wire [31:0]         word_data_o,

  // a fetch's lines
  input  wire                fill_i,
  input  wire [SlotBits+4:0] fill_line_i,
  input  wire [63:0]         fill_bytes_i,
  input  wire [511:0]        fill_data_i,

  // gives the frame in slot head_o; ignored when no slot is free, and for a length that no frame has
  input  wire          give_i,
  input  wire [11:0]   length_i,
  output wire [31:0]   head_o,
  output wire [31:0]   tail_o,

  output wire [511:0]  m_tdata_o,
  output wire [63:0]   m_tkeep_o,
  output wire          m_tvalid_o,
  output wire          m_tlast_o,
  input  wire          m_tready_i
);

  localparam logic [11:0] Least = 12'd14, Most = 12'd2048;
  logic [31:0] head_q, tail_q;
  logic [11:0] length_q[2**SlotBits];
  logic [11:0] left_q;                // bytes of the frame at hand not offered yet
  logic [4:0] line_q;                 // next line of it
  logic sends_q;                      // a frame is at hand
  logic comes_q, last_q;              // a line comes from memory; it is the last one
  logic [6:0] comes_bytes_q;
  logic valid_q, tlast_q;
  logic [511:0] tdata_q;
  logic [63:0] tkeep_q;

  wire waits = head_q != tail_q;
  wire gives = give_i && head_q - tail_q < 32'(2 ** SlotBits) && length_i >= Least &&
               length_i <= Most;
  wire leaves = valid_q && m_tready_i;
  wire reads = sends_q && left_q != '0 && !comes_q && (!valid_q || leaves) && !fill_i;
  wire last = left_q <= 12'd64;
  logic [511:0] line;

  hyb_slots #(.LineBits(SlotBits + 5)) slots (
    .clk_i, .word_i, .word_write_i, .word_data_i, .word_data_o,
    .line_i(fill_i ? fill_line_i : {tail_q[SlotBits-1:0], line_q}),
    .line_write_i(fill_i ? fill_bytes_i : '0), .line_data_i(fill_data_i), .line_data_o(line)
  );

  always_ff @(posedge clk_i) begin
    if (gives) length_q[head_q[SlotBits-1:0]] <= length_i;
    if (comes_q) begin
      tdata_q <= line;
      tlast_q <= last_q;
      tkeep_q <= ~64'd0 >> (7'd64 - comes_bytes_q);
    end
    last_q <= last;
    comes_bytes_q <= last ? 7'(left_q) : 7'd64;
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      sends_q <= 1'b0;
      comes_q <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      if (gives) head_q <= head_q + 32'd1;
      comes_q <= reads;
      if (comes_q) valid_q <= 1'b1;
      else if (leaves) valid_q <= 1'b0;
      if (!sends_q && waits) begin
        sends_q <= 1'b1;
        left_q <= length_q[tail_q[SlotBits-1:0]];
        line_q <= '0;
      end else if (reads) begin
        left_q <= last ? '0 : left_q - 12'd64;
        line_q <= line_q + 5'd1;
      end
      if (leaves && tlast_q) begin
        sends_q <= 1'b0;
        tail_q <= tail_q + 32'd1;
      end
    end
  end

  assign head_o = head_q;
  assign tail_o = tail_q;
  assign m_tvalid_o = valid_q;
  assign m_tdata_o = tdata_q;
  assign m_tkeep_o = tkeep_q;
  assign m_tlast_o = tlast_q;

endmodule

`resetall
