# CONNECTs that wait for the link address of their next hop.
commands
src/toe/rtl/toe_pkg.sv
src/toe/rtl/conn_pkg.sv
src/toe/rtl/conn_waits.sv
