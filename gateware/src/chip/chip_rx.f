# Words of frames to RX buffers.
src/chip/rtl/chip_pkg.sv
src/ram/rtl/sdp_ram.sv
src/chip/rtl/chip_rx.sv
