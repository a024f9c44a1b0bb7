# Frames of 8 bytes a beat as frames of 64.
src/hyb/rtl/hyb_widen.sv
