// SPDX-License-Identifier: Apache-2.0
// prim_ram_1p_pkg.sv - a type that Ibex passes through to the RAMs of its instruction cache,
// which is not built.
`resetall
`default_nettype none

package prim_ram_1p_pkg;

  // Ibex passes it through to RAMs of its cache.
  typedef struct packed {logic unused;} ram_1p_cfg_t;

endpackage

`resetall
