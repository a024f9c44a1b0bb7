// SPDX-License-Identifier: Apache-2.0
// ranges.sv - what fpc_pkg does to lists of ranges (SACK), all entries at once, is what it says: the same
// as an entry after the other, for every list that there can be.
`default_nettype none

module ranges
  import toe_pkg::*;
  import fpc_pkg::*;
(
    input wire       clk_i,
    input wire [2:0] n_i,
    input wire [7:0][3:0] r_i,
    input wire [1:0][3:0] x_i
);

  // Range x into a list that is kept by time: what it touches becomes one with it and stands first.
  function automatic list_t slow_first(input logic [2:0] n, input ranges_t r, input range_t x);
    list_t  o;
    range_t m;
    m = x;
    for (int i = 0; i < SackMax; i++) begin
      if (3'(i) < n && touches(r[i], x)) begin
        m.start = seq_min(m.start, r[i].start);
        m.stop = seq_max(m.stop, r[i].stop);
      end
    end
    o.n = 3'd1;
    o.r = '0;
    o.r[0] = m;
    o.full = 1'b0;
    for (int i = 0; i < SackMax; i++) begin
      if (3'(i) < n && !touches(r[i], x)) begin
        if (o.n == 3'(SackMax)) o.full = 1'b1;
        else begin
          o.r[2'(o.n)] = r[i];
          o.n = o.n + 3'd1;
        end
      end
    end
    return o;
  endfunction

  // Range x into a list that ascends. When there are too many the highest goes.
  function automatic list_t slow_sorted(input logic [2:0] n, input ranges_t r, input range_t x);
    list_t  o;
    range_t m;
    logic   in;
    m = x;
    for (int i = 0; i < SackMax; i++) begin
      if (3'(i) < n && touches(r[i], x)) begin
        m.start = seq_min(m.start, r[i].start);
        m.stop = seq_max(m.stop, r[i].stop);
      end
    end
    o.n = 3'd0;
    o.r = '0;
    o.full = 1'b0;
    in = 1'b0;
    for (int i = 0; i < SackMax; i++) begin
      if (3'(i) < n && !touches(r[i], x)) begin
        if (!in && seq_lt(m.start, r[i].start)) begin
          if (o.n == 3'(SackMax)) o.full = 1'b1;
          else begin
            o.r[2'(o.n)] = m;
            o.n = o.n + 3'd1;
          end
          in = 1'b1;
        end
        if (o.n == 3'(SackMax)) o.full = 1'b1;
        else begin
          o.r[2'(o.n)] = r[i];
          o.n = o.n + 3'd1;
        end
      end
    end
    if (!in) begin
      if (o.n == 3'(SackMax)) o.full = 1'b1;
      else begin
        o.r[2'(o.n)] = m;
        o.n = o.n + 3'd1;
      end
    end
    return o;
  endfunction

  // What is left of a list when all below edge is taken away; the order stays.
  function automatic list_t slow_cut(input logic [2:0] n, input ranges_t r, input seq_t edge_);
    list_t o;
    o.n = 3'd0;
    o.r = '0;
    o.full = 1'b0;
    for (int i = 0; i < SackMax; i++) begin
      if (3'(i) < n && seq_gt(r[i].stop, edge_)) begin
        o.r[2'(o.n)] = r[i];
        if (seq_lt(r[i].start, edge_)) o.r[2'(o.n)].start = edge_;
        o.n = o.n + 3'd1;
      end
    end
    return o;
  endfunction


  // Nothing but the order of the ten numbers counts, and it may be any, also across the wrap: a span of
  // 16 has place for each.
  function automatic seq_t near(input logic [3:0] a);
    return 32'hffff_fff8 + 32'(a);
  endfunction

  ranges_t r;
  range_t  x;
  always_comb begin
    for (int i = 0; i < SackMax; i++) r[i] = '{start: near(r_i[2*i]), stop: near(r_i[2*i+1])};
    x = '{start: near(x_i[0]), stop: near(x_i[1])};
  end

  logic whole, apart, ascends;
  always_comb begin
    whole = n_i <= 3'(SackMax) && seq_lt(x.start, x.stop);
    apart = 1'b1;
    ascends = 1'b1;
    for (int i = 0; i < SackMax; i++) begin
      if (3'(i) < n_i) begin
        if (!seq_lt(r[i].start, r[i].stop)) whole = 1'b0;
        for (int j = 0; j < i; j++) begin
          if (touches(r[i], r[j])) apart = 1'b0;
          if (!seq_lt(r[j].stop, r[i].start)) ascends = 1'b0;
        end
      end
    end
  end

  list_t first, sorted, cut, first_slow, sorted_slow, cut_slow;
  always_comb begin
    first = put_first(n_i, r, x);
    first_slow = slow_first(n_i, r, x);
    sorted = put_sorted(n_i, r, x);
    sorted_slow = slow_sorted(n_i, r, x);
    cut = cut_below(n_i, r, x.start);
    cut_slow = slow_cut(n_i, r, x.start);
  end

  always_ff @(posedge clk_i) begin
    if (whole && apart) begin
      put_first_is : assert (first == first_slow);
      cut_below_is : assert (cut == cut_slow);
    end
    if (whole && ascends) put_sorted_is : assert (sorted == sorted_slow);
  end

endmodule
