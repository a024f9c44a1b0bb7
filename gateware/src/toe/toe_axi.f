# The AXI4 master to host memory.
src/toe/rtl/toe_fifo.sv
src/toe/rtl/toe_axi.sv
