# The TOE without its registers.
-f src/toe/toe_fpc.f
src/toe/rtl/toe_ram2.sv
src/toe/rtl/toe_siphash.sv
src/toe/rtl/rx_options.sv
src/toe/rtl/toe_rx.sv
src/toe/rtl/toe_table.sv
src/toe/rtl/toe_sched.sv
src/toe/rtl/toe_timer.sv
src/toe/rtl/toe_dram.sv
src/toe/rtl/toe_hwroom.sv
src/toe/rtl/toe_cmd.sv
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
src/toe/rtl/toe_leave.sv
src/toe/rtl/toe_dmaw.sv
src/toe/rtl/toe_tx.sv
src/toe/rtl/toe_resp.sv
src/toe/rtl/toe_core.sv
