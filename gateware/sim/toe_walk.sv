// SPDX-License-Identifier: Apache-2.0
// toe_walk.sv - the path of a segment and of a command: each edge between modules, reported to
// C++ by DPI in the cycle in which it fires (sim/toe_bench.cpp, case walk). Bound into toe_box;
// observes FPC 0.
`resetall
`default_nettype none

package toe_walk_pkg;
  import "DPI-C" function void toe_walk_edge(input string name);
endpackage

module toe_walk
  import toe_pkg::*;
#(
  parameter int unsigned Qps = 8
) (
  input wire clk_i,
  input wire rst_ni,
  input wire beat_in_i,
  input wire packet_i,
  input wire hit_i,
  input wire event_i,
  input wire issue_i,
  input wire out_i,
  input wire write_i,
  input wire write_e kind_i,
  input wire tell_i,
  input wire aw_i,
  input wire w_i,
  input wire register_i,
  input wire [Qps-1:0][31:0] sw_head_i,
  input wire command_read_i,
  input wire command_line_i,
  input wire command_i,
  input wire desc_i,
  input wire payload_read_i,
  input wire payload_line_i,
  input wire beat_out_i
);
  import toe_walk_pkg::*;

  logic [Qps-1:0][31:0] head_q;
  always_ff @(posedge clk_i) head_q <= sw_head_i;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (register_i) toe_walk_edge("host -> toe_csr: a register is written");
      if (sw_head_i != head_q) toe_walk_edge("toe_csr -> toe_cmd: SW_HEAD is another");
      if (command_read_i) toe_walk_edge("toe_cmd -> toe_axi: read of a line of the SW ring");
      if (command_line_i) toe_walk_edge("toe_axi -> toe_cmd: the line");
      if (command_i) toe_walk_edge("toe_cmd -> toe_sched: event_t (EvCommand)");
      if (beat_in_i) toe_walk_edge("link -> toe_rx: beats of the frame");
      if (packet_i) toe_walk_edge("toe_rx -> toe_table: packet_t");
      if (hit_i) toe_walk_edge("toe_table -> toe_sched: packet_t and its flow");
      if (event_i) toe_walk_edge("toe_sched -> toe_fpc: event_t");
      if (tell_i) toe_walk_edge("toe_hwroom -> toe_fpc: a place in the HW ring, for EvTell");
      if (issue_i) toe_walk_edge("fpc_wait -> pipeline: an event starts");
      if (out_i) toe_walk_edge("pipeline -> fpc_tcbs: the TCB is written");
      if (desc_i) toe_walk_edge("toe_fpc -> toe_tx: tx_desc_t");
      if (payload_read_i) toe_walk_edge("toe_tx -> toe_axi: read of payload");
      if (payload_line_i) toe_walk_edge("toe_axi -> toe_tx: lines of payload");
      if (beat_out_i) toe_walk_edge("toe_tx -> link: beats of the frame");
      if (write_i && kind_i == WrPlace) toe_walk_edge("toe_fpc -> toe_dmaw: write_t (WrPlace)");
      if (write_i && kind_i == WrCommand) toe_walk_edge("toe_fpc -> toe_dmaw: write_t (WrCommand)");
      if (aw_i) toe_walk_edge("toe_axi -> host memory: address of a write");
      if (w_i) toe_walk_edge("toe_axi -> host memory: lines written");
    end
  end
endmodule

bind toe_box toe_walk #(.Qps(Qps)) walk (
  .clk_i, .rst_ni,
  .beat_in_i(s_axis_tvalid_i && s_axis_tready_o),
  .packet_i(core.packet_valid && core.packet_ready),
  .hit_i(core.hit_valid && core.hit_ready),
  .event_i(core.event_valid[0] && core.event_ready[0]),
  .issue_i(core.gen_fpc[0].fpc.issue),
  .out_i(core.gen_fpc[0].fpc.out.valid),
  .write_i(core.write_valid[0] && core.write_ready[0]),
  .kind_i(core.write[0].kind),
  .tell_i(core.take[0] && core.grant[0]),
  .aw_i(m_axi_awvalid_o && m_axi_awready_i),
  .w_i(m_axi_wvalid_o && m_axi_wready_i),
  .register_i(s_axil_wvalid_i && s_axil_wready_o),
  .sw_head_i(sw_head),
  .command_read_i(cmd_ar_valid && cmd_ar_ready),
  .command_line_i(cmd_r_valid),
  .command_i(core.cmd_event_valid && core.cmd_event_ready),
  .desc_i(core.tx_valid[0] && core.tx_ready[0]),
  .payload_read_i(tx_ar_valid && tx_ar_ready),
  .payload_line_i(tx_r_valid && tx_r_ready),
  .beat_out_i(m_axis_tvalid_o && m_axis_tready_i)
);

`resetall
