# Words of frames to a GMII.
src/chip/rtl/chip_pkg.sv
src/chip/rtl/chip_mac_tx.sv
