// SPDX-License-Identifier: Apache-2.0
// rtt_pkg.sv - types of the measuring module.
`resetall
`default_nettype none

package rtt_pkg;

  // Ticks from one stamp to a later one, less than 2^32 of them apart.
  function automatic logic [31:0] elapsed(input logic [31:0] now, input logic [31:0] earlier);
    return now - earlier;
  endfunction

endpackage

`resetall
