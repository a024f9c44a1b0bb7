# A FIFO between two clocks.
src/chip/rtl/chip_fifo.sv
