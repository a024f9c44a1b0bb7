# Events to their FPC.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_fifo.sv
src/toe/rtl/toe_sched.sv
