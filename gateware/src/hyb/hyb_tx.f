# Frames to the link.
src/hyb/rtl/hyb_slots.sv
src/hyb/rtl/hyb_tx.sv
