# Frames of hyb_send as words.
src/chip/rtl/chip_pkg.sv
src/chip/rtl/chip_tx.sv
