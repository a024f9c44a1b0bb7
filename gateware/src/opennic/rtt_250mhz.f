-f src/rtt/rtt.f
src/axil/rtl/axil_cross.sv
src/opennic/rtl/rtt_250mhz.sv
