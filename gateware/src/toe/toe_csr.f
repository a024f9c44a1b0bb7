# Registers.
regs toe
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_csr.sv
