# The hybrid TOE's processor with the send path, and the module that reports a send.
-f src/hyb/hyb_soc.f
sim/hyb_walk.sv
