regs rtt
-f src/rtt/rtt_core.f
src/rtt/rtl/rtt.sv
