# Requests for MSI-X messages.
src/toe/rtl/toe_pkg.sv
src/toe/rtl/toe_msix.sv
