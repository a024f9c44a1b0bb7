# ARP, echo, neighbour discovery.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_resp.sv
