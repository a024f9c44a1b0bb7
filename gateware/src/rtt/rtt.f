regs rtt
-f src/rtt/rtt_core.f
src/axil/rtl/axil_front.sv
src/rtt/rtl/rtt.sv
