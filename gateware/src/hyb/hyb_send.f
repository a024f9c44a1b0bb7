# The hardware of the hybrid TOE's send path.
src/ram/rtl/sdp_ram.sv
src/toe/rtl/toe_fifo.sv
src/hyb/rtl/hyb_mau.sv
src/hyb/rtl/hyb_pcu.sv
src/hyb/rtl/hyb_dfu.sv
src/hyb/rtl/hyb_leave.sv
src/hyb/rtl/hyb_header.sv
src/hyb/rtl/hyb_send.sv
