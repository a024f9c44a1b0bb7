// SPDX-License-Identifier: Apache-2.0
// toe_siphash.sv - SipHash-2-4 of a tuple and a word, a round a cycle: initial sequence numbers
// (RFC 6528), timestamp offsets (RFC 7323 5.4), local ports (RFC 6056).
`resetall
`default_nettype none

module toe_siphash
  import toe_pkg::*;
(
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire [127:0]  key_i,
  input  wire          start_i,
  input  wire tuple_t  tuple_i,
  input  wire [31:0]   word_i,
  output wire          done_o,     // one cycle; then the sum stays
  output wire [63:0]   sum_o
);

  localparam int unsigned Words = 6;

  typedef struct packed {
    logic [63:0] v0, v1, v2, v3;
  } state_t;

  function automatic logic [63:0] rotl(input logic [63:0] x, input int unsigned n);
    return (x << n) | (x >> (64 - n));
  endfunction

  function automatic state_t round(input state_t in);
    state_t s;
    s = in;
    s.v0 = s.v0 + s.v1;
    s.v1 = rotl(s.v1, 13) ^ s.v0;
    s.v0 = rotl(s.v0, 32);
    s.v2 = s.v2 + s.v3;
    s.v3 = rotl(s.v3, 16) ^ s.v2;
    s.v0 = s.v0 + s.v3;
    s.v3 = rotl(s.v3, 21) ^ s.v0;
    s.v2 = s.v2 + s.v1;
    s.v1 = rotl(s.v1, 17) ^ s.v2;
    s.v2 = rotl(s.v2, 32);
    return s;
  endfunction

  // The last word has the length, as SipHash wants it: 40 bytes. The one at hand is words_q[0].
  localparam int unsigned Rounds = 2 * Words + 4;
  logic [Words-1:0][63:0] words_q;
  state_t s_q, mixed, next;
  logic [4:0] round_q;
  logic running_q, ended_q, done_q;
  logic [63:0] sum_q;
  wire of_word = round_q < 5'(2 * Words);

  always_comb begin
    mixed = s_q;
    if (of_word && !round_q[0]) mixed.v3 = s_q.v3 ^ words_q[0];
    if (round_q == 5'(2 * Words)) mixed.v2 = s_q.v2 ^ 64'hff;
    next = round(mixed);
    if (of_word && round_q[0]) next.v0 = next.v0 ^ words_q[0];
  end

  always_ff @(posedge clk_i) begin
    ended_q <= 1'b0;
    done_q <= ended_q && !start_i;
    if (ended_q) sum_q <= s_q.v0 ^ s_q.v1 ^ s_q.v2 ^ s_q.v3;
    if (start_i) begin
      words_q[0] <= tuple_i.remote[63:0];
      words_q[1] <= tuple_i.remote[127:64];
      words_q[2] <= tuple_i.own[63:0];
      words_q[3] <= tuple_i.own[127:64];
      words_q[4] <= {word_i, tuple_i.remote_port, tuple_i.local_port};
      words_q[5] <= {8'd40, 55'd0, tuple_i.v6};
      s_q.v0 <= key_i[63:0] ^ 64'h736f6d6570736575;
      s_q.v1 <= key_i[127:64] ^ 64'h646f72616e646f6d;
      s_q.v2 <= key_i[63:0] ^ 64'h6c7967656e657261;
      s_q.v3 <= key_i[127:64] ^ 64'h7465646279746573;
      round_q <= '0;
      running_q <= 1'b1;
    end else if (running_q) begin
      s_q <= next;
      round_q <= round_q + 5'd1;
      if (round_q[0]) words_q <= words_q >> 64;
      if (round_q == 5'(Rounds - 1)) begin
        running_q <= 1'b0;
        ended_q <= 1'b1;
      end
    end
    if (!rst_ni) begin
      running_q <= 1'b0;
      ended_q <= 1'b0;
      done_q <= 1'b0;
    end
  end

  assign done_o = done_q;
  assign sum_o = sum_q;

endmodule

`resetall
