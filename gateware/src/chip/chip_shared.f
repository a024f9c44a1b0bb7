# The memory that both processors and the DFU use.
src/chip/rtl/chip_pkg.sv
src/toe/rtl/toe_fifo.sv
src/chip/rtl/chip_shared.sv
