# Packets in.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_fifo.sv
src/ram/rtl/sdp_ram.sv
src/toe/rtl/toe_ram2.sv
src/toe/rtl/rx_options.sv
src/toe/rtl/toe_rx.sv
