src/axil/rtl/axil_cross.sv
