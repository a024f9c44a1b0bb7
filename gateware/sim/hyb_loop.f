# The hybrid TOE with its link looped back, and the module that reports what is measured.
-f src/hyb/hyb_core.f
sim/hyb_walk.sv
sim/hyb_loop.sv
