# The hybrid TOE without its registers.
-f src/hyb/hyb_soc.f
commands
regs hyb_host
src/toe/rtl/toe_pkg.sv
src/toe/rtl/fpc_pkg.sv
src/toe/rtl/toe_fifo.sv
src/ram/rtl/sdp_ram.sv
src/toe/rtl/toe_ram2.sv
src/toe/rtl/toe_hwroom.sv
src/toe/rtl/toe_cmd.sv
src/toe/rtl/toe_dmaw.sv
src/hyb/rtl/hyb_look.sv
src/hyb/rtl/hyb_rx.sv
src/hyb/rtl/hyb_slots.sv
src/hyb/rtl/hyb_tx.sv
src/hyb/rtl/hyb_fetch.sv
src/hyb/rtl/hyb_buffers.sv
src/hyb/rtl/hyb_widen.sv
src/hyb/rtl/hyb_host.sv
src/hyb/rtl/hyb_core.sv
