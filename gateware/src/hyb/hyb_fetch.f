# Send buffers to TX slots.
src/toe/rtl/toe_pkg.sv
src/hyb/rtl/hyb_fetch.sv
