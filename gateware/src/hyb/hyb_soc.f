# The processor of the hybrid TOE with its memories and registers.
src/hyb/rtl/prim_ram_1p_pkg.sv
src/hyb/rtl/prim_buf.sv
src/hyb/rtl/prim_flop.sv
src/hyb/rtl/prim_clock_gating.sv
ibex
regs hyb
src/hyb/rtl/hyb_memory.sv
-f src/hyb/hyb_send.f
src/hyb/rtl/hyb_soc.sv
