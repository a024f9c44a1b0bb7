# Frames from the link.
src/ram/rtl/sdp_ram.sv
src/toe/rtl/toe_ram2.sv
src/hyb/rtl/hyb_look.sv
src/hyb/rtl/hyb_rx.sv
