# Connections in TIME-WAIT.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/conn_pkg.sv
src/ram/rtl/sdp_ram.sv
src/toe/rtl/conn_tw.sv
