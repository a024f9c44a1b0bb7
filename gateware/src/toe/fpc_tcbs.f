# The TCBs of an FPC.
src/toe/rtl/toe_pkg.sv
src/ram/rtl/sdp_ram.sv
src/toe/rtl/fpc_tcbs.sv
