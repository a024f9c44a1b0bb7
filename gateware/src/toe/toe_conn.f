# Connections begin and end.
commands
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_fifo.sv
src/ram/rtl/sdp_ram.sv
src/toe/rtl/toe_siphash.sv
src/toe/rtl/conn_pkg.sv
src/toe/rtl/conn_route.sv
src/toe/rtl/conn_listeners.sv
src/toe/rtl/conn_slots.sv
src/toe/rtl/conn_waits.sv
src/toe/rtl/conn_tw.sv
src/toe/rtl/conn_say.sv
src/toe/rtl/conn_turn.sv
src/toe/rtl/conn_numbers.sv
src/toe/rtl/conn_steps.sv
src/toe/rtl/toe_conn.sv
