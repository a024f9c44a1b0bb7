// SPDX-License-Identifier: Apache-2.0
// hyb_walk.sv - the path of a send through the hybrid TOE: writes of MARKER, edges of the hardware, and
// in each cycle the instruction that the processor decodes, reported to C++ by DPI
// (sim/hyb_bench.cpp). Bound into hyb_soc.
`resetall
`default_nettype none

package hyb_walk_pkg;
  import "DPI-C" function void hyb_walk_marker(input byte step);
  import "DPI-C" function void hyb_walk_edge(input string name);
  import "DPI-C" function void hyb_walk_cycle(input int pc);
endpackage

module hyb_walk (
  input wire        clk_i,
  input wire        rst_ni,
  input wire        marker_i,
  input wire [7:0]  step_i,
  input wire [31:0] pc_i,
  input wire        take_i,
  input wire        go_i,
  input wire        ar_i,
  input wire        r_i,
  input wire        done_i,
  input wire        leave_i,
  input wire        header_i,
  input wire        header_leave_i,
  input wire        beat_i
);
  import hyb_walk_pkg::*;

  logic marker_q;
  always_ff @(posedge clk_i) begin
    marker_q <= rst_ni && marker_i;
    if (rst_ni) begin
      if (marker_q) hyb_walk_marker(byte'(step_i));
      if (take_i) hyb_walk_edge("firmware -> MAU: ADDRESS is read, the slot is taken");
      if (go_i) hyb_walk_edge("firmware -> DFU: GO");
      if (ar_i) hyb_walk_edge("DFU -> host memory: read");
      if (r_i) hyb_walk_edge("host memory -> DFU, slot, PCU: beats of payload");
      if (done_i) hyb_walk_edge("DFU -> firmware: DMA_DONE, and PSUM with it");
      if (leave_i) hyb_walk_edge("firmware -> way out: LEAVE");
      if (header_i) hyb_walk_edge("firmware -> header unit: GO");
      if (header_leave_i) hyb_walk_edge("header unit -> way out: headers and sums are written");
      if (beat_i) hyb_walk_edge("way out -> link: beats of the frame");
      hyb_walk_cycle(pc_i);
    end
  end
endmodule

bind hyb_soc hyb_walk walk (
  .clk_i,
  .rst_ni(cpu_rst_n),
  .marker_i(regs_out.MARKER.v.swmod),
  .step_i(regs_out.MARKER.v.value),
  .pc_i(u_ibex.u_ibex_core.pc_id),
  .take_i(gen_units.u_send.takes),
  .go_i(go_q),
  .ar_i(ar_valid_o && ar_ready_i),
  .r_i(r_valid_i && r_ready_o),
  .done_i(gen_units.u_send.fill_done),
  .leave_i(leave_q),
  .header_i(header_q),
  .header_leave_i(gen_units.u_send.header_leaves && !leave_q),
  .beat_i(m_tvalid_o && m_tready_i)
);

`resetall
