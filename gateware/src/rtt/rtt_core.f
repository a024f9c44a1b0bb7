-f src/rtt/rtt_counter.f
src/rtt/rtl/rtt_pkg.sv
src/rtt/rtl/rtt_capture.sv
src/rtt/rtl/rtt_parse.sv
src/ram/rtl/sdp_ram.sv
src/rtt/rtl/rtt_view.sv
src/rtt/rtl/rtt_same.sv
src/rtt/rtl/rtt_live.sv
src/rtt/rtl/rtt_sent.sv
src/rtt/rtl/rtt_acked.sv
src/rtt/rtl/rtt_match.sv
src/rtt/rtl/rtt_hist.sv
src/rtt/rtl/rtt_ring.sv
src/rtt/rtl/rtt_stats.sv
src/rtt/rtl/rtt_core.sv
