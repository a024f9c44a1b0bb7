// SPDX-License-Identifier: Apache-2.0
// rtt_same.sv - compares the key of a table entry with the reader's own key. Stages are those of
// rtt_view.sv with two between B and D:
//
//   A --read--> B --> C --compare--> P --> D --decide--> W --write--> memory
//
// A key is too wide to be compared at D, when it is known which entry was written last. So the
// reader's key is compared with the entry in the memory and with each possible writer in between,
// whether it will write or not. At W it is known which of these comparisons is valid.
`resetall
`default_nettype none

module rtt_same #(
    parameter int unsigned KeyBits = 96,
    parameter int unsigned Bits    = 10
) (
    input  wire                clk_i,
    // the writer; used: it writes an entry, not an empty one
    input  wire  [   Bits-1:0] waddr_p_i,
    input  wire  [   Bits-1:0] waddr_d_i,
    input  wire  [KeyBits-1:0] wkey_p_i,
    input  wire  [KeyBits-1:0] wkey_d_i,
    input  wire                wused_p_i,
    input  wire                wused_d_i,
    input  wire                write_i,    // at W
    // the reader
    input  wire  [   Bits-1:0] addr_a_i,
    input  wire  [KeyBits-1:0] key_a_i,
    output logic               same_d_o,
    output logic               young_d_o,  // the entry was written after stage A
    output logic [KeyBits-1:0] key_d_o     // the entry's key unless young
);
  // A comparison takes two cycles: pieces of 18 bits, then their conjunction.
  localparam int unsigned Piece = 18;
  localparam int unsigned Pieces = (KeyBits + Piece - 1) / Piece;
  typedef logic [KeyBits-1:0] bits_t;
  typedef logic [Pieces-1:0] pieces_t;

  function automatic pieces_t compare(input bits_t a, input bits_t b, input logic used);
    logic [Pieces*Piece-1:0] differ;
    pieces_t equal;
    differ = (Pieces * Piece)'(a ^ b);
    for (int unsigned i = 0; i < Pieces; i++) equal[i] = differ[Piece*i+:Piece] == '0;
    equal[0] = equal[0] && used;
    return equal;
  endfunction

  logic [Bits-1:0] waddr_w, addr_b, addr_c;
  logic [KeyBits-1:0] wkey_w, key_b, key_c;
  logic wused_w;
  always_ff @(posedge clk_i) begin
    {waddr_w, wkey_w, wused_w} <= {waddr_d_i, wkey_d_i, wused_d_i};
    {addr_b, key_b}            <= {addr_a_i, key_a_i};
    {addr_c, key_c}            <= {addr_b, key_b};
  end

  // The entry in the memory.
  logic [KeyBits:0] entry_b, entry_c;
  logic [KeyBits-1:0] entry_p, entry_d;
  pieces_t stored_p;
  sdp_ram #(.Width(KeyBits + 1), .AddrBits(Bits)) u_ram (
      .clk_i, .write_i, .waddr_i(waddr_w), .wdata_i({wused_w, wkey_w}), .raddr_i(addr_a_i),
      .rdata_o(entry_b));
  always_ff @(posedge clk_i) begin
    entry_c  <= entry_b;
    entry_p  <= entry_c[KeyBits-1:0];
    entry_d  <= entry_p;
    stored_p <= compare(entry_c[KeyBits-1:0], key_c, entry_c[KeyBits]);
  end
  assign key_d_o = entry_d;

  // Writes after the read. ahead<n>: the writer n stages ahead of the reader has its address.
  logic ahead5_b, ahead4_b, ahead3_c, ahead2_p, ahead1_p, ahead1_d;
  pieces_t equal5_b, equal4_b, equal3_c, equal2_p, equal1_p;
  logic young_c, young_p, young_d, same_c, same_p, same_d, same1_d;
  always_ff @(posedge clk_i) begin
    ahead5_b <= waddr_w == addr_a_i && write_i;
    ahead4_b <= waddr_d_i == addr_a_i;
    ahead3_c <= waddr_d_i == addr_b;
    ahead2_p <= waddr_d_i == addr_c;
    ahead1_p <= waddr_p_i == addr_c;
    equal5_b <= compare(wkey_w, key_a_i, wused_w);
    equal4_b <= compare(wkey_d_i, key_a_i, wused_d_i);
    equal3_c <= compare(wkey_d_i, key_b, wused_d_i);
    equal2_p <= compare(wkey_d_i, key_c, wused_d_i);
    equal1_p <= compare(wkey_p_i, key_c, wused_p_i);

    young_c <= ahead5_b || (ahead4_b && write_i);
    same_c  <= ahead4_b && write_i ? &equal4_b : &equal5_b;
    young_p <= young_c || (ahead3_c && write_i);
    same_p  <= ahead3_c && write_i ? &equal3_c : same_c;
    young_d <= young_p || (ahead2_p && write_i);
    if (ahead2_p && write_i) same_d <= &equal2_p;
    else same_d <= young_p ? same_p : &stored_p;
    ahead1_d <= ahead1_p;
    same1_d  <= &equal1_p;
  end

  assign same_d_o  = ahead1_d && write_i ? same1_d : same_d;
  assign young_d_o = young_d || (ahead1_d && write_i);

endmodule

`resetall
