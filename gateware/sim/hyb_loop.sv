// SPDX-License-Identifier: Apache-2.0
// hyb_loop.sv - the complete hybrid TOE whose link comes back to itself, with a host memory, for
// firmware/receive.c (sim/hyb_loop.cpp). Slot 0 of queue pair 0 is the peer's, slot 1 ours, with buffers
// of 16 KiB. Each byte of send buffers is a function of its offset; each byte that is written must be
// that of its offset: what a stream has is at the same offset of both ends' buffers.
`resetall
`default_nettype none

module hyb_loop
  import toe_pkg::*;
#(
  parameter int unsigned Delay = 1    // of reads of host memory, in cycles
) (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire         load_valid_i,
  input  wire [14:0]  load_addr_i,
  input  wire [31:0]  load_data_i,
  output wire         console_valid_o,
  output wire [7:0]   console_o,
  output wire         exit_valid_o,
  output wire [7:0]   exit_o,
  output logic [31:0] placed_o,       // bytes written
  output logic [31:0] wrong_o         // ... that are others than those of their offset
);

  localparam int unsigned Qps = 8, BufferLog = 14;

  qp_config_t [Qps-1:0] qp;
  own_t own;
  always_comb begin
    qp = '0;
    qp[0].enable = 1'b1;
    qp[0].slots_log = 5'd2;
    qp[0].sw_log = 5'd6;
    qp[0].hw_log = 5'd6;
    qp[0].tx_log = 5'(BufferLog);
    qp[0].rx_log = 5'(BufferLog);
    qp[0].buffers_at = 32'h100;       // pages
    own = '0;
    own.mac = 48'h02_00_00_00_00_02;
    own.ip4 = 32'h0a00_0002;
    own.mtu = 16'd1500;
  end

  now_t now;
  logic [63:0] cycle_q;
  assign now.ns = cycle_q << 2;

  logic [511:0] tdata, r_data, w_data;
  logic [63:0] tkeep, ar_addr, aw_addr, w_strb;
  logic [7:0] ar_len, aw_len;
  logic tvalid, tlast, ar_valid, r_valid, r_ready, aw_valid, w_valid, w_last;

  // Of what this bench does not use.
  logic unused_ready, unused_active, unused_tready, unused_cmd, unused_no_buffer, unused_too_long;
  logic [63:0] unused_cmd_addr;
  logic [Qps-1:0] unused_detached, unused_attached, unused_halted, unused_irq;
  logic [Qps-1:0][15:0] unused_used;
  logic [Qps-1:0][7:0] unused_listeners;

  hyb_core #(.Qps(Qps), .Units(1'b1), .Headers(1'b1)) core (
    .clk_i, .rst_ni, .now_i(now), .own_i(own), .ready_o(unused_ready),
    .load_valid_i, .load_addr_i, .load_data_i, .console_valid_o, .console_o,
    .exit_valid_o, .exit_o, .active_o(unused_active),
    .qp_i(qp), .detach_i('0), .detached_o(unused_detached), .attached_o(unused_attached),
    .halted_o(unused_halted), .used_o(unused_used), .listeners_o(unused_listeners),
    .sw_head_i('0), .hw_tail_i('0), .irq_arm_i('0), .irq_seq_i('0), .irq_count_i('0),
    .irq_usec_i('0), .irq_o(unused_irq),
    .s_tdata_i(tdata), .s_tkeep_i(tkeep), .s_tvalid_i(tvalid), .s_tlast_i(tlast),
    .s_tready_o(unused_tready),
    .m_tdata_o(tdata), .m_tkeep_o(tkeep), .m_tvalid_o(tvalid), .m_tlast_o(tlast),
    .m_tready_i(1'b1),
    .cmd_ar_valid_o(unused_cmd), .cmd_ar_ready_i(1'b0), .cmd_ar_addr_o(unused_cmd_addr),
    .cmd_r_valid_i(1'b0), .cmd_r_data_i('0),
    .tx_ar_valid_o(ar_valid), .tx_ar_ready_i(1'b1), .tx_ar_addr_o(ar_addr), .tx_ar_len_o(ar_len),
    .tx_r_valid_i(r_valid), .tx_r_ready_o(r_ready), .tx_r_data_i(r_data), .tx_r_bad_i(1'b0),
    .aw_valid_o(aw_valid), .aw_ready_i(1'b1), .aw_addr_o(aw_addr), .aw_len_o(aw_len),
    .w_valid_o(w_valid), .w_ready_i(1'b1), .w_data_o(w_data), .w_strb_o(w_strb),
    .w_last_o(w_last),
    .no_buffer_o(unused_no_buffer), .too_long_o(unused_too_long)
  );

  function automatic logic [511:0] line(input logic [63:0] address);
    logic [511:0] data;
    logic [BufferLog-1:0] off;
    for (int i = 0; i < 64; i++) begin
      off = {address[BufferLog-1:6], 6'(i)};
      data[8*i+:8] = 8'(off * 7 + (off >> 8) * 31);
    end
    return data;
  endfunction

  typedef struct packed {
    logic [63:0] at;
    logic [63:0] address;
  } beat_t;
  beat_t reads[$];
  logic [63:0] writes[$];

  always_ff @(posedge clk_i) begin
    cycle_q <= rst_ni ? cycle_q + 64'd1 : '0;
    if (!rst_ni) begin
      reads.delete();
      writes.delete();
      r_valid <= 1'b0;
      placed_o <= '0;
      wrong_o <= '0;
    end else begin
      if (ar_valid)
        for (int i = 0; i <= int'(ar_len); i++)
          reads.push_back('{at: cycle_q + 64'(Delay), address: ar_addr + 64'(64 * i)});
      if (!r_valid || r_ready) begin
        r_valid <= 1'b0;
        if (reads.size() != 0 && reads[0].at <= cycle_q + 64'd1) begin
          r_valid <= 1'b1;
          r_data <= line(reads[0].address);
          void'(reads.pop_front());
        end
      end
      if (aw_valid)
        for (int i = 0; i <= int'(aw_len); i++) writes.push_back(aw_addr + 64'(64 * i));
      if (w_valid) begin
        logic [511:0] expected;
        logic [31:0] bytes, wrong;
        expected = writes.size() != 0 ? line(writes[0]) : '0;
        bytes = '0;
        wrong = '0;
        for (int i = 0; i < 64; i++) begin
          bytes += 32'(w_strb[i]);
          wrong += 32'(w_strb[i] && (writes.size() == 0 ||
                                     w_data[8*i+:8] != expected[8*i+:8]));
        end
        placed_o <= placed_o + bytes;
        wrong_o <= wrong_o + wrong;
        if (writes.size() != 0) void'(writes.pop_front());
      end
    end
  end

  wire unused = &{1'b0, w_last};

endmodule

`resetall
