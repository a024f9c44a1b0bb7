src/rtt/rtl/rtt_counter.sv
