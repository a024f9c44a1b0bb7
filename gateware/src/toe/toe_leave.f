# When a queue pair may go.
src/toe/rtl/toe_leave.sv
