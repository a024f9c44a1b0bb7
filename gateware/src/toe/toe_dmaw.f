# What is written into host memory.
commands
src/toe/rtl/toe_pkg.sv
src/toe/rtl/fpc_pkg.sv
src/toe/rtl/toe_fifo.sv
src/toe/rtl/toe_dmaw.sv
