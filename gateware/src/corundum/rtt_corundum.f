-f src/rtt/rtt.f
src/corundum/rtl/rtt_corundum.sv
