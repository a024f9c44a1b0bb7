# The TOE, and the module that reports what becomes of received frames.
-f src/toe/toe_box.f
sim/toe_verdict.sv
