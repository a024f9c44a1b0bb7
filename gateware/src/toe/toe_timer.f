# Deadlines of an FPC's flows.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_fifo.sv
src/ram/rtl/sdp_ram.sv
src/toe/rtl/toe_timer.sv
