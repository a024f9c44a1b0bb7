# The memory of TCBs.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_fifo.sv
src/toe/rtl/toe_dram.sv
