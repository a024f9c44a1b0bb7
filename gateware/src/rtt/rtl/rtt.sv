// SPDX-License-Identifier: Apache-2.0
// rtt.sv - measures round-trip times of packets in the data path (S5.1): watches a transmit and a
// receive stream without changing or delaying them, and reports results in registers
// (device/rtt.rdl, S5.2) on AXI4-Lite. Streams and registers share one clock.
`resetall
`default_nettype none

module rtt
  import rtt_pkg::*;
#(
    parameter int unsigned ClockHz      = 250_000_000,
    parameter int unsigned SlotBits     = 10,
    parameter int unsigned FlowBits     = 8,
    parameter logic [31:0] NextBlock    = 32'd0,        // BLOCK.NEXT
    parameter logic [63:0] CounterStart = 64'd0         // for tests that cross the wrap
) (
    input  wire          clk_i,
    input  wire          rst_ni,
    // the transmit and the receive stream, observed only
    input  wire          tx_tvalid_i,
    input  wire          tx_tready_i,
    input  wire  [511:0] tx_tdata_i,
    input  wire  [ 63:0] tx_tkeep_i,
    input  wire          tx_tlast_i,
    input  wire          rx_tvalid_i,
    input  wire          rx_tready_i,
    input  wire  [511:0] rx_tdata_i,
    input  wire  [ 63:0] rx_tkeep_i,
    input  wire          rx_tlast_i,
    // AXI4-Lite
    input  wire          s_axil_awvalid_i,
    output logic         s_axil_awready_o,
    input  wire  [ 13:0] s_axil_awaddr_i,
    input  wire          s_axil_wvalid_i,
    output logic         s_axil_wready_o,
    input  wire  [ 31:0] s_axil_wdata_i,
    input  wire  [  3:0] s_axil_wstrb_i,
    output logic         s_axil_bvalid_o,
    input  wire          s_axil_bready_i,
    output logic [  1:0] s_axil_bresp_o,
    input  wire          s_axil_arvalid_i,
    output logic         s_axil_arready_o,
    input  wire  [ 13:0] s_axil_araddr_i,
    output logic         s_axil_rvalid_o,
    input  wire          s_axil_rready_i,
    output logic [ 31:0] s_axil_rdata_o,
    output logic [  1:0] s_axil_rresp_o
);
  localparam int unsigned RingBits = 9;  // as for RING in device/rtt.rdl

  initial begin
    if (SlotBits > 15 || FlowBits > 15) $fatal(1, "rtt: SlotBits and FlowBits are at most 15");
  end

  rtt_regs_pkg::rtt_regs__in_t in;
  rtt_regs_pkg::rtt_regs__out_t out;

  logic req, req_is_write, stall_write, stall_read, read_done, read_error, write_done, write_error;
  logic [13:0] req_addr;
  logic [31:0] req_data, req_enables, read_data;
  axil_front #(.AddrBits(14)) u_front (
      .clk_i, .rst_ni,
      .awvalid_i(s_axil_awvalid_i), .awready_o(s_axil_awready_o), .awaddr_i(s_axil_awaddr_i),
      .wvalid_i(s_axil_wvalid_i), .wready_o(s_axil_wready_o), .wdata_i(s_axil_wdata_i),
      .wstrb_i(s_axil_wstrb_i),
      .bvalid_o(s_axil_bvalid_o), .bready_i(s_axil_bready_i), .bresp_o(s_axil_bresp_o),
      .arvalid_i(s_axil_arvalid_i), .arready_o(s_axil_arready_o), .araddr_i(s_axil_araddr_i),
      .rvalid_o(s_axil_rvalid_o), .rready_i(s_axil_rready_i), .rdata_o(s_axil_rdata_o),
      .rresp_o(s_axil_rresp_o),
      .req_o(req), .is_write_o(req_is_write), .addr_o(req_addr), .data_o(req_data),
      .enables_o(req_enables), .stall_write_i(stall_write), .stall_read_i(stall_read),
      .read_done_i(read_done), .read_error_i(read_error), .read_data_i(read_data),
      .write_done_i(write_done), .write_error_i(write_error));
  rtt_regs u_regs (
      .clk(clk_i), .rst(!rst_ni),
      .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_write), .s_cpuif_addr(req_addr),
      .s_cpuif_wr_data(req_data), .s_cpuif_wr_biten(req_enables),
      .s_cpuif_req_stall_wr(stall_write), .s_cpuif_req_stall_rd(stall_read),
      .s_cpuif_rd_ack(read_done), .s_cpuif_rd_err(read_error), .s_cpuif_rd_data(read_data),
      .s_cpuif_wr_ack(write_done), .s_cpuif_wr_err(write_error),
      .hwif_in(in), .hwif_out(out));

  config_t cfg;
  assign cfg = '{
          enable: out.CONTROL.enable.value,
          mode: mode_e'(out.CONTROL.mode.value),
          looped: out.CONTROL.looped.value,
          local_port: out.PORTS.local_port.value,
          remote_port: out.PORTS.remote_port.value,
          tag_offset: out.TAG_OFFSET.v.value,
          timeout: out.TIMEOUT.v.value
      };

  logic busy, flushing;
  logic [31:0] snapshots, last, ring_head, ring_word, bin, dropped, in_flight, s_last, min, max;
  logic [31:0] count[NumPulses];
  logic [31:0] now;
  logic [63:0] from, till, sum;
  logic [95:0] sumsq;

  rtt_core #(
      .SlotBits(SlotBits),
      .FlowBits(FlowBits),
      .RingBits(RingBits),
      .CounterStart(CounterStart)
  ) u_core (
      .clk_i, .rst_ni,
      .tx_beat_i(tx_tvalid_i && tx_tready_i), .tx_data_i(tx_tdata_i), .tx_keep_i(tx_tkeep_i),
      .tx_last_i(tx_tlast_i),
      .rx_beat_i(rx_tvalid_i && rx_tready_i), .rx_data_i(rx_tdata_i), .rx_keep_i(rx_tkeep_i),
      .rx_last_i(rx_tlast_i),
      .config_i(cfg), .hist_base_i(out.HIST_BASE.v.value),
      .snapshot_i(out.COMMAND.snapshot.value), .flush_i(out.COMMAND.flush.value),
      .busy_o(busy), .flushing_o(flushing), .snapshots_o(snapshots), .now_o(now),
      .last_o(last), .ring_head_o(ring_head), .ring_tail_i(out.RING_TAIL.v.value),
      .ring_word_i(out.RING.addr[12:2]), .ring_word_o(ring_word),
      .bin_i(out.HIST.addr[11:2]), .bin_o(bin),
      .begin_o(from), .end_o(till), .count_o(count), .dropped_o(dropped),
      .in_flight_o(in_flight), .s_last_o(s_last), .min_o(min), .max_o(max), .sum_o(sum),
      .sumsq_o(sumsq));

  // Memories answer some cycles after the request.
  logic [2:0] hist_req_q;
  logic [1:0] ring_req_q;
  always_ff @(posedge clk_i) begin
    hist_req_q <= {hist_req_q[1:0], out.HIST.req && !out.HIST.req_is_wr};
    ring_req_q <= {ring_req_q[0], out.RING.req && !out.RING.req_is_wr};
    if (!rst_ni) {hist_req_q, ring_req_q} <= '0;
  end

  // The index of each counter of rtt_pkg::pulses_t.
  localparam int unsigned Sample = 0, Reordered = 1, Unmatched = 2, Duplicate = 3, Answer = 4;
  localparam int unsigned Lost = 5, Covered = 6, Ambiguous = 7, Replaced = 8, Resent = 9;
  localparam int unsigned Probe = 10, RxPacket = 11, TxPacket = 12;

  always_comb begin
    in.BLOCK.NEXT.v.next = NextBlock;
    in.CLOCK_HZ.v.next = 32'(ClockHz);
    in.TABLE.slots.next = 16'(1 << SlotBits);
    in.TABLE.flows.next = 16'(1 << FlowBits);
    in.HIST_SHAPE.linear.next = 16'd512;
    in.HIST_SHAPE.per_octave.next = 16'd16;
    in.RING_ENTRIES.v.next = 32'(1 << RingBits);
    in.STATUS.busy.next = busy;
    in.STATUS.flushing.next = flushing;
    in.SNAPSHOTS.v.next = snapshots;
    in.RING_HEAD.v.next = ring_head;
    in.LAST.v.next = last;
    in.NOW.v.next = now;
    {in.S_BEGIN_HI.v.next, in.S_BEGIN_LO.v.next} = from;
    {in.S_END_HI.v.next, in.S_END_LO.v.next} = till;
    in.S_COUNT.v.next = count[Sample];
    in.S_LAST.v.next = s_last;
    in.S_MIN.v.next = min;
    in.S_MAX.v.next = max;
    {in.S_SUM_HI.v.next, in.S_SUM_LO.v.next} = sum;
    {in.S_SUMSQ_HI.v.next, in.S_SUMSQ_MID.v.next, in.S_SUMSQ_LO.v.next} = sumsq;
    in.S_TX_PACKETS.v.next = count[TxPacket];
    in.S_RX_PACKETS.v.next = count[RxPacket];
    in.S_PROBES.v.next = count[Probe];
    in.S_RESENT.v.next = count[Resent];
    in.S_REPLACED.v.next = count[Replaced];
    in.S_AMBIGUOUS.v.next = count[Ambiguous];
    in.S_COVERED.v.next = count[Covered];
    in.S_LOST.v.next = count[Lost];
    in.S_IN_FLIGHT.v.next = in_flight;
    in.S_ANSWERS.v.next = count[Answer];
    in.S_DUPLICATES.v.next = count[Duplicate];
    in.S_UNMATCHED.v.next = count[Unmatched];
    in.S_REORDERED.v.next = count[Reordered];
    in.S_RING_DROPPED.v.next = dropped;
    in.HIST.rd_ack = hist_req_q[2];
    in.HIST.rd_data = bin;
    in.RING.rd_ack = ring_req_q[1];
    in.RING.rd_data = ring_word;
  end

endmodule

`resetall
