# Commands from the SW rings.
commands
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_cmd.sv
