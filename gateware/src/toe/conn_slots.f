# Slots of queue pairs.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/conn_pkg.sv
src/ram/rtl/sdp_ram.sv
src/toe/rtl/conn_slots.sv
