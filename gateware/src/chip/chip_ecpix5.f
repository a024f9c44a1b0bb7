# The chip with clocks and pins of a board.
-f src/chip/chip.f
src/chip/rtl/ecp5_cells.sv
src/chip/rtl/chip_rgmii.sv
src/chip/rtl/chip_ecpix5.sv
