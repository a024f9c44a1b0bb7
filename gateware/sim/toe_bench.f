# The TOE with its edges, and who tells of them.
-f src/toe/toe_box.f
sim/toe_walk.sv
