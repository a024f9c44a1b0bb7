# The TCBs of an FPC.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_ram.sv
src/toe/rtl/fpc_tcbs.sv
