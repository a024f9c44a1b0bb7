// SPDX-License-Identifier: Apache-2.0
// rx_options.sv - TCP options, one packet a cycle: Items stages, each takes one option and up to three
// NOPs before it (RFC 9293 3.1, RFC 7323 appendix A). What does not fit its length ends the list, as
// with Linux; what comes after Items options is not read. A flag for each byte says
// whether it is a NOP, and the leading ones are counted when the bytes are moved: so a stage begins
// with the position of its option.
`resetall
`default_nettype none

module rx_options
  import toe_pkg::*;
#(
  parameter int unsigned Items = 8,
  parameter int unsigned Side = 1     // bits that go along
) (
  input  wire             clk_i,
  input  wire [39:0][7:0] bytes_i,    // bytes_i[0] is the first
  input  wire [5:0]       length_i,   // at most 40
  input  wire             syn_i,
  input  wire [Side-1:0]  side_i,
  output wire options_t   options_o,
  output wire             bad_o,      // a length that cannot be (RFC 9293 MUST-7)
  output wire [Side-1:0]  side_o
);

  typedef struct packed {
    logic [39:0][7:0] bytes;
    logic [39:0]      nop;     // which of them are NOPs
    logic [1:0]       nops;    // ... so many before the option
    logic [5:0]       left;    // bytes of the list, with them
    logic             syn;
    logic             bad;
    options_t         found;
    logic [Side-1:0]  side;
  } state_t;

  function automatic logic [31:0] word(input logic [39:0][7:0] b, input int unsigned at);
    return {b[at], b[at+1], b[at+2], b[at+3]};
  endfunction

  function automatic logic [39:0] find_nops(input logic [39:0][7:0] b);
    logic [39:0] n;
    for (int i = 0; i < 40; i++) n[i] = b[i] == 8'd1;
    return n;
  endfunction

  function automatic logic [1:0] nops_of(input logic [2:0] nop);
    if (!nop[0]) return 2'd0;
    if (!nop[1]) return 2'd1;
    return nop[2] ? 2'd3 : 2'd2;
  endfunction

  function automatic state_t take(input state_t in);
    state_t s;
    logic [39:0][7:0] b;
    logic [39:0] nop, nop_behind;
    logic [7:0] len;
    logic [3:0][8:0] stop;      // behind the option, were so many NOPs before it
    logic [3:0] over;
    logic pads;                 // a fourth NOP
    s = in;
    b = in.bytes >> {in.nops, 3'd0};
    len = b[1];
    for (int n = 0; n < 4; n++) begin
      stop[n] = 9'(in.bytes[n+1]) + 9'(n);
      over[n] = in.bytes[n+1] < 8'd2 || stop[n] > 9'(in.left);
    end
    nop = in.nop >> in.nops;
    nop_behind = nop >> len[5:0];
    pads = nop[0];
    s.bytes = pads ? b : b >> {len[5:0], 3'd0};
    s.nop = pads ? nop : nop_behind;
    s.nops = pads ? nops_of(nop[2:0]) : nops_of(nop_behind[2:0]);
    s.left = pads ? in.left - 6'd3 : in.left - stop[in.nops][5:0];
    if (in.left <= 6'(in.nops) || b[0] == 8'd0) s.left = 6'd0;
    else if (!pads && over[in.nops]) begin
      s.left = 6'd0;
      s.bad = 1'b1;
    end else if (!pads) begin
      unique case (b[0])
        8'd2:
        if (len == 8'd4 && in.syn) begin
          s.found.mss_ok = 1'b1;
          s.found.mss = {b[2], b[3]};
        end
        8'd3:
        if (len == 8'd3 && in.syn) begin
          s.found.ws_ok = 1'b1;
          s.found.ws = (b[2] > 8'd14) ? 4'd14 : b[2][3:0];
        end
        8'd4: if (len == 8'd2 && in.syn) s.found.sack_ok = 1'b1;
        8'd5:
        if (!in.syn && len >= 8'd10 && len[2:0] == 3'd2) begin
          s.found.sacks = (len >= 8'd34) ? 3'd4 : 3'(len >> 3);
          for (int i = 0; i < SackMax; i++) begin
            s.found.sack[i].start = word(b, 2 + 8 * i);
            s.found.sack[i].stop = word(b, 6 + 8 * i);
          end
        end
        8'd8:
        if (len == 8'd10) begin
          s.found.ts_ok = 1'b1;
          s.found.tsval = word(b, 2);
          s.found.tsecr = word(b, 6);
        end
        default: ;
      endcase
    end
    return s;
  endfunction

  state_t [Items:0] stage;
  wire [39:0] nop_first = find_nops(bytes_i);

  always_ff @(posedge clk_i) begin
    stage[0].bytes <= bytes_i;
    stage[0].nop <= nop_first;
    stage[0].nops <= nops_of(nop_first[2:0]);
    stage[0].left <= length_i;
    stage[0].syn <= syn_i;
    stage[0].bad <= 1'b0;
    stage[0].found <= '0;
    stage[0].side <= side_i;
  end

  for (genvar i = 0; i < int'(Items); i++) begin : gen_item
    always_ff @(posedge clk_i) stage[i+1] <= take(stage[i]);
  end

  assign options_o = stage[Items].found;
  assign bad_o = stage[Items].bad;
  assign side_o = stage[Items].side;

endmodule

`resetall
