# Flows with something to report.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_fifo.sv
src/toe/rtl/fpc_tell.sv
