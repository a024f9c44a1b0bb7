# A GMII to words of frames.
src/chip/rtl/chip_pkg.sv
src/chip/rtl/chip_mac_rx.sv
