// SPDX-License-Identifier: Apache-2.0
// ecp5_cells.sv - the cells of the ECP5 that chip_ecpix5.sv names, as boxes: yosys has its own
// descriptions of them, which replace these. Ports and parameters are those that are used.
`resetall
`default_nettype none

(* blackbox *)
module EHXPLLL #(
  parameter CLKI_DIV = 1,
  parameter CLKFB_DIV = 1,
  parameter CLKOP_DIV = 8,
  parameter CLKOS_DIV = 8,
  parameter CLKOP_ENABLE = "ENABLED",
  parameter CLKOS_ENABLE = "DISABLED",
  parameter CLKOP_CPHASE = 0,
  parameter CLKOS_CPHASE = 0,
  parameter FEEDBK_PATH = "CLKOP"
) (
  input  wire CLKI,
  input  wire CLKFB,
  input  wire RST,
  input  wire STDBY,
  input  wire ENCLKOP,
  input  wire ENCLKOS,
  input  wire PHASESEL0,
  input  wire PHASESEL1,
  input  wire PHASEDIR,
  input  wire PHASESTEP,
  input  wire PHASELOADREG,
  input  wire PLLWAKESYNC,
  output wire CLKOP,
  output wire CLKOS,
  output wire LOCK
);
endmodule

(* blackbox *)
module ODDRX1F (
  input  wire SCLK,
  input  wire RST,
  input  wire D0,
  input  wire D1,
  output wire Q
);
endmodule

(* blackbox *)
module IDDRX1F (
  input  wire SCLK,
  input  wire RST,
  input  wire D,
  output wire Q0,
  output wire Q1
);
endmodule

(* blackbox *)
module DELAYG #(
  parameter DEL_MODE = "USER_DEFINED",
  parameter DEL_VALUE = 0
) (
  input  wire A,
  output wire Z
);
endmodule

`resetall
