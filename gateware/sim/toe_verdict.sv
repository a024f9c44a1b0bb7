// SPDX-License-Identifier: Apache-2.0
// toe_verdict.sv - what becomes of each received frame in toe_rx, for `toehold capture`: whether it
// got a buffer, and then, in the same order, why it was dropped. Bound into toe_rx, so that the
// design needs no port for it; reported to C++ by DPI (sim/verdict.cpp, which has the same numbers).
`resetall
`default_nettype none

package toe_verdict_pkg;
  import "DPI-C" function void toe_verdict_entered(input bit taken);
  import "DPI-C" function void toe_verdict_judged(input int why);
endpackage

module toe_verdict
  import toe_pkg::*;
(
  input wire             clk_i,
  input wire             rst_ni,
  input wire             first_i,  // the first beat of a frame
  input wire             taken_i,  // ... has a buffer
  input wire             came_i,   // a frame that was taken in is judged
  input wire rx_counts_t why_i     // the counter of its drop; none: it is passed on
);
  int why;
  always_comb begin
    why = 0;
    if (why_i.too_long) why = 2;
    if (why_i.not_ours) why = 3;
    if (why_i.bad_header) why = 4;
    if (why_i.bad_ip_sum) why = 5;
    if (why_i.bad_tcp_sum) why = 6;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && first_i) toe_verdict_pkg::toe_verdict_entered(taken_i);
    if (rst_ni && came_i) toe_verdict_pkg::toe_verdict_judged(why);
  end
endmodule

bind toe_rx toe_verdict verdict (
  .clk_i, .rst_ni, .first_i(first), .taken_i(take_first), .came_i(came), .why_i(counts)
);

`resetall
