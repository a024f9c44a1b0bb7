# The flow table.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_fifo.sv
src/ram/rtl/sdp_ram.sv
src/toe/rtl/toe_ram2.sv
src/toe/rtl/toe_table.sv
