# The arithmetic of CUBIC.
src/toe/rtl/fpc_cubic_pkg.sv
src/toe/rtl/fpc_cubic.sv
