# The listeners of all queue pairs.
commands
src/toe/rtl/toe_pkg.sv
src/toe/rtl/conn_pkg.sv
src/toe/rtl/conn_listeners.sv
