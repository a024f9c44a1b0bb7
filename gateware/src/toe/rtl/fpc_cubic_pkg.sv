// SPDX-License-Identifier: Apache-2.0
// fpc_cubic_pkg.sv - what goes into fpc_cubic, and what comes out. Windows in bytes, times in stamps.
`resetall
`default_nettype none

package fpc_cubic_pkg;

  // What CUBIC keeps of a flow, as struct toec_cc_cubic in core/.
  typedef struct packed {
    logic        epoch_set;   // congestion avoidance has begun
    logic        after_rto;   // ... will begin after a timeout
    logic [31:0] cwnd;
    logic [31:0] w_max;
    logic [31:0] cwnd_prior;  // before the last reduction
    logic [31:0] epoch;       // when it began
    logic [31:0] k;           // until the curve is at w_max again
    logic [31:0] w_est;       // the window Reno would have
    logic [31:0] credit;      // growth of cwnd not yet done, 2^-32 byte
    logic [31:0] est_credit;  // ... of w_est
  } cubic_t;

  typedef struct packed {
    cubic_t      s;
    logic [31:0] acked;       // bytes, what slow start has left over of them
    logic [31:0] stamp;       // now
    logic [31:0] srtt;        // times 8
    logic [15:0] mss;
  } cubic_ask_t;

endpackage

`resetall
