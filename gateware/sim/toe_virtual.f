# The TOE in virtual time: what toe_sim runs, and who looks at it.
-f sim/toe_top.f
sim/toe_look.sv
