// SPDX-License-Identifier: Apache-2.0
// fpc_cc.sv - congestion control: the window after what has happened. The one module to replace for
// another algorithm; its interface is cc_event_t in, cc_t out, in Stages cycles, whatever the event.
//
// NewReno (RFC 5681, RFC 6582) here. A window grows only while it is what limits the sender
// (RFC 2861, RFC 7661 in its simple form: event.acked is 0 otherwise).
`resetall
`default_nettype none

module fpc_cc
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  function automatic cc_t after(input ctx_t in);
    cc_t s;
    logic [31:0] mss, flight, half;
    s = in.t.cc;
    mss = 32'(in.t.mss);
    flight = in.t.snd_nxt - in.t.snd_una;
    // RFC 5681 (4): half of what is under way, two segments at least; what limited transmit has sent
    // beyond the window does not count.
    half = ((flight < s.cwnd) ? flight : s.cwnd) >> 1;
    if (half < (mss << 1)) half = mss << 1;
    if (in.cc.timeout) begin
      s.ssthresh = half;
      s.cwnd = mss;
      s.acked = 32'd0;
    end else if (in.cc.lost) begin
      s.ssthresh = half;
      s.cwnd = half;
      s.acked = 32'd0;
    end else if (in.cc.whole) begin
      // RFC 6582 3.2 step 3 (1): no burst of ssthresh when nothing is under way.
      s.cwnd = ((flight > mss) ? flight : mss) + mss;
      if (s.cwnd > s.ssthresh) s.cwnd = s.ssthresh;
    end else if (in.cc.idle) begin
      if (s.cwnd > mss * 32'(InitialSegments)) s.cwnd = mss * 32'(InitialSegments);
    end else if (in.cc.acked != 32'd0) begin
      if (s.cwnd < s.ssthresh) begin
        // Appropriate byte counting, L = 8 (RFC 3465, RFC 9406 4.2), as core/.
        s.cwnd = s.cwnd + ((in.cc.acked > (mss << 3)) ? (mss << 3) : in.cc.acked);
      end else begin
        s.acked = s.acked + in.cc.acked;
        if (s.acked >= s.cwnd) begin
          s.acked = s.acked - s.cwnd;
          s.cwnd = s.cwnd + mss;
        end
      end
      if (s.cwnd > CwndMax) s.cwnd = CwndMax;
    end
    return s;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid) c.t.cc = after(c_i);
  end

  assign c_o = c;

endmodule

`resetall
