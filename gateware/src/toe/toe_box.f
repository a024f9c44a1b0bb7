# The TOE with its edges.
regs toe
-f src/toe/toe_core.f
src/axil/rtl/axil_front.sv
src/toe/rtl/toe_csr.sv
src/toe/rtl/toe_axi.sv
src/toe/rtl/toe_msix.sv
src/toe/rtl/toe_box.sv
