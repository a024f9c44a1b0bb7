# The TOE in virtual time: what toe_sim runs, and the modules that observe it.
-f sim/toe_top.f
sim/toe_look.sv
