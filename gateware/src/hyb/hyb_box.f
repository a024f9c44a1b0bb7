# The hybrid TOE with its edges.
-f src/hyb/hyb_core.f
regs toe
src/axil/rtl/axil_front.sv
src/toe/rtl/toe_csr.sv
src/toe/rtl/toe_axi.sv
src/toe/rtl/toe_msix.sv
src/hyb/rtl/hyb_box.sv
