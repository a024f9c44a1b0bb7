# The events that wait for an FPC's pipeline.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/fpc_wait.sv
