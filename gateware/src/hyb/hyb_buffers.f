# The DFU's reads as reads of send buffers.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_fifo.sv
src/hyb/rtl/hyb_buffers.sv
