# The TOE with its edges, and the module that reports them.
-f src/toe/toe_box.f
sim/toe_walk.sv
