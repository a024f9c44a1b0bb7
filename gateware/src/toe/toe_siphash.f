# SipHash of a tuple.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_siphash.sv
