# What toe_sim runs.
-f src/toe/toe_core.f
sim/toe_top.sv
