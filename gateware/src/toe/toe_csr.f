# Registers.
regs toe
src/toe/rtl/toe_pkg.sv
src/axil/rtl/axil_front.sv
src/toe/rtl/toe_csr.sv
