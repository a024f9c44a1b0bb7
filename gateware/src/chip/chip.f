# A host and its hybrid TOE on one chip.
-f src/hyb/hyb_soc.f
regs chip
src/chip/rtl/chip_pkg.sv
src/chip/rtl/chip_reset.sv
src/chip/rtl/chip_fifo.sv
src/chip/rtl/chip_mac_rx.sv
src/chip/rtl/chip_mac_tx.sv
src/chip/rtl/chip_rx.sv
src/chip/rtl/chip_tx.sv
src/chip/rtl/chip_shared.sv
src/chip/rtl/chip_side.sv
src/chip/rtl/chip.sv
