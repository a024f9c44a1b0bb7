# Room in the HW rings.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_hwroom.sv
