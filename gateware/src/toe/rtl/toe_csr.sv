// SPDX-License-Identifier: Apache-2.0
// toe_csr.sv - the registers (S1.10, device/toe.rdl) behind AXI4-Lite: identity, addresses, queue pairs
// and their doorbells, counters.
`resetall
`default_nettype none

module toe_csr
  import toe_pkg::*;
#(
  parameter int unsigned Flows = 256,
  parameter int unsigned Qps = 8,
  parameter int unsigned Counters = 16,
  parameter int unsigned Fpcs = 1,
  parameter int unsigned FpcCounters = 16,
  parameter int unsigned BufferMax = 1 << 20,
  parameter logic [63:0] BuildId = 64'd0
) (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          s_axil_awvalid_i,
  output wire          s_axil_awready_o,
  input  wire  [18:0]  s_axil_awaddr_i,
  input  wire          s_axil_wvalid_i,
  output wire          s_axil_wready_o,
  input  wire  [31:0]  s_axil_wdata_i,
  input  wire  [3:0]   s_axil_wstrb_i,
  output wire          s_axil_bvalid_o,
  input  wire          s_axil_bready_i,
  output wire  [1:0]   s_axil_bresp_o,
  input  wire          s_axil_arvalid_i,
  output wire          s_axil_arready_o,
  input  wire  [18:0]  s_axil_araddr_i,
  output wire          s_axil_rvalid_o,
  input  wire          s_axil_rready_i,
  output wire  [31:0]  s_axil_rdata_o,
  output wire  [1:0]   s_axil_rresp_o,

  output wire                       run_o,
  output wire own_t                 own_o,
  input  wire                       ready_i,
  output wire qp_config_t [Qps-1:0] qp_o,
  output wire [Qps-1:0]             detach_o,
  input  wire [Qps-1:0]             attached_i,
  input  wire [Qps-1:0]             detached_i,
  input  wire [Qps-1:0]             halted_i,
  input  wire [Qps-1:0][15:0]       used_i,
  input  wire [Qps-1:0][7:0]        listeners_i,
  output wire [Qps-1:0][31:0]       sw_head_o,
  output wire [Qps-1:0][31:0]       hw_tail_o,
  output wire [Qps-1:0][31:0]       irq_arm_o,
  output wire [Qps-1:0][31:0]       irq_seq_o,
  output wire [Qps-1:0][31:0]       irq_count_o,
  output wire [Qps-1:0][31:0]       irq_usec_o,

  // events of this cycle: COUNTERS[0] is the lowest bit; the counters of all FPCs follow
  input  wire [Counters-1:0]              pulses_i,
  input  wire [Fpcs-1:0][FpcCounters-1:0] fpc_pulses_i
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  typedef logic [QpBits-1:0] qidx_t;

  toe_regs_pkg::toe_regs__in_t in;
  toe_regs_pkg::toe_regs__out_t out;

  logic req, req_is_write, stall_write, stall_read, read_done, read_error, write_done, write_error;
  logic [18:0] req_addr;
  logic [31:0] req_data, req_enables, read_data;
  axil_front #(.AddrBits(19)) front (
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
    .write_done_i(write_done), .write_error_i(write_error)
  );
  toe_regs regs (
    .clk(clk_i), .rst(!rst_ni),
    .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_write), .s_cpuif_addr(req_addr),
    .s_cpuif_wr_data(req_data), .s_cpuif_wr_biten(req_enables),
    .s_cpuif_req_stall_wr(stall_write), .s_cpuif_req_stall_rd(stall_read),
    .s_cpuif_rd_ack(read_done), .s_cpuif_rd_err(read_error), .s_cpuif_rd_data(read_data),
    .s_cpuif_wr_ack(write_done), .s_cpuif_wr_err(write_error),
    .hwif_in(in), .hwif_out(out)
  );

  // ---- addresses ----

  // Network byte order, four octets a word (device/toe.rdl): the first octet is the highest here.
  function automatic logic [31:0] turned(input logic [31:0] word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  own_t own;
  always_comb begin
    own = '0;
    own.mac = {turned(out.MAC_LO.v.value), out.MAC_HI.v.value[7:0], out.MAC_HI.v.value[15:8]};
    own.ip4 = out.IPV4.v.value;
    own.ip4_prefix = out.IPV4_PREFIX.v.value[5:0];
    own.ip4_gateway = out.IPV4_GATEWAY.v.value;
    own.ip6_prefix = out.IPV6_PREFIX.v.value[7:0];
    for (int i = 0; i < 4; i++) begin
      own.ip6[32*(3-i)+:32] = turned(out.IPV6[i].v.value);
      own.ip6_gateway[32*(3-i)+:32] = turned(out.IPV6_GATEWAY[i].v.value);
      own.ip6_link[32*(3-i)+:32] = turned(out.IPV6_LINK[i].v.value);
      own.secret[32*i+:32] = out.SECRET[i].v.value;
    end
    for (int i = 0; i < 12; i++) own.hash_key[32*i+:32] = out.HASH_KEY[i].v.value;
    own.ip6_on = own.ip6 != '0;
    own.mtu = out.MTU.v.value[15:0];
    own.cc = 4'(out.CC.newreno.value);
  end
  // Registered, so that paths from them begin at a register.
  own_t own_q;
  always_ff @(posedge clk_i) own_q <= own;
  assign own_o = own_q;
  assign run_o = out.RUN.on.value;

  // ---- queue pairs ----

  qp_config_t [Qps-1:0] config_q;
  logic [Qps-1:0] detach_q;
  assign qp_o = config_q;
  assign detach_o = detach_q;
  wire [31:0] select = out.QP_SELECT.v.value;
  wire selects = select < 32'(Qps);
  wire qidx_t chosen = qidx_t'(select);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      config_q <= '0;
      detach_q <= '0;
    end else if (out.QP_COMMAND.write.value && selects) begin
      detach_q[chosen] <= out.QP_COMMAND.detach.value;
      config_q[chosen] <= '{
        enable: out.QP_COMMAND.enable.value,
        area: {out.QP_AREA_HI.v.value, out.QP_AREA_LO.v.value},
        sw_log: out.QP_RINGS.sw_log.value, hw_log: out.QP_RINGS.hw_log.value,
        slots_log: out.QP_RINGS.slots_log.value,
        tx_log: out.QP_BUFFERS.tx_log.value, rx_log: out.QP_BUFFERS.rx_log.value,
        addresses: out.QP_BUFFERS.addresses.value,
        first: out.QP_FIRST.v.value[15:0],
        status_at: out.QP_STATUS_AT.v.value, sw_at: out.QP_SW_AT.v.value,
        hw_at: out.QP_HW_AT.v.value, records_at: out.QP_RECORDS_AT.v.value,
        addresses_at: out.QP_ADDRESSES_AT.v.value, buffers_at: out.QP_BUFFERS_AT.v.value
      };
    end
  end

  // ---- doorbells: six words of each, at 0x00, 0x40, 0x80, 0x84, 0xc0, 0xc4 ----

  function automatic logic [2:0] bell(input logic [7:0] addr);
    return {addr[7:6], addr[2]};
  endfunction
  // Words between them ignore writes and read as zero.
  function automatic logic is_bell(input logic [7:0] addr);
    return addr[5:3] == 3'd0 && (addr[7] || !addr[2]);
  endfunction

  logic [Qps-1:0][7:0][31:0] bell_q;
  for (genvar q = 0; q < int'(Qps); q++) begin : gen_bell
    assign sw_head_o[q] = bell_q[q][0];
    assign hw_tail_o[q] = bell_q[q][2];
    assign irq_arm_o[q] = bell_q[q][4];
    assign irq_seq_o[q] = bell_q[q][5];
    assign irq_count_o[q] = bell_q[q][6];
    assign irq_usec_o[q] = bell_q[q][7];
    always_ff @(posedge clk_i) begin
      // The heads and tails of a removed queue pair are cleared for the next one.
      if (!rst_ni || !config_q[q].enable) bell_q[q] <= '0;
      else if (out.DOORBELLS[q].req && out.DOORBELLS[q].req_is_wr && is_bell(req_addr[7:0]))
        bell_q[q][bell(req_addr[7:0])] <=
            (bell_q[q][bell(req_addr[7:0])] & ~out.DOORBELLS[q].wr_biten) |
            (out.DOORBELLS[q].wr_data & out.DOORBELLS[q].wr_biten);
    end
  end

  // ---- counters ----

  localparam int unsigned All = Counters + FpcCounters;
  logic [All-1:0][63:0] count_q;
  logic [All-1:0][7:0] more, more_q;
  logic [Counters-1:0] pulses_q;
  logic [Fpcs-1:0][FpcCounters-1:0] fpc_pulses_q;
  always_comb begin
    more = '0;
    for (int i = 0; i < int'(Counters); i++) more[i] = 8'(pulses_q[i]);
    for (int i = 0; i < int'(FpcCounters); i++)
      for (int f = 0; f < int'(Fpcs); f++)
        more[int'(Counters)+i] = more[int'(Counters)+i] + 8'(fpc_pulses_q[f][i]);
  end
  // Events arrive late in their cycle: they are counted two cycles later.
  always_ff @(posedge clk_i) begin
    pulses_q <= rst_ni ? pulses_i : '0;
    fpc_pulses_q <= rst_ni ? fpc_pulses_i : '0;
    more_q <= rst_ni ? more : '0;
    for (int i = 0; i < int'(All); i++) count_q[i] <= rst_ni ? count_q[i] + 64'(more_q[i]) : 64'd0;
  end

  // ---- what is read ----

  localparam int unsigned MaxCounters = 256, MaxQps = 64;
  logic [MaxCounters-1:0][1:0] count_req_q;
  logic [MaxQps-1:0] bell_read_q, bell_write_q;
  logic [2:0] bell_at_q;
  logic bell_there_q;
  always_ff @(posedge clk_i) begin
    // The word within a queue pair's page, the same for all queue pairs.
    bell_at_q <= bell(req_addr[7:0]);
    bell_there_q <= is_bell(req_addr[7:0]);
    for (int i = 0; i < int'(MaxCounters); i++) count_req_q[i] <= rst_ni ? out.COUNTERS[i].req : '0;
    for (int i = 0; i < int'(MaxQps); i++) begin
      bell_read_q[i] <= rst_ni && out.DOORBELLS[i].req && !out.DOORBELLS[i].req_is_wr;
      bell_write_q[i] <= rst_ni && out.DOORBELLS[i].req && out.DOORBELLS[i].req_is_wr;
    end
  end

  // State of the selected queue pair.
  typedef struct packed {
    logic        attached;
    logic        detached;
    logic        halted;
    logic [7:0]  listeners;
    logic [15:0] used;
  } state_t;
  state_t [Qps-1:0] states_q;
  state_t state_q;
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < int'(Qps); i++)
      states_q[i] <= '{attached: attached_i[i], detached: detached_i[i], halted: halted_i[i],
                       listeners: listeners_i[i], used: used_i[i]};
    state_q <= selects ? states_q[chosen] : '0;
  end

  always_comb begin
    in.ID.v.next = 32'h3145_4f54;
    in.CONTRACT.v.next = 32'd1;
    in.BUILD_ID.v.next = BuildId;
    // Missing features are 0 here (README.md has the table).
    in.FEATURES.ipv6.next = own.ip6_on;
    in.FEATURES.sack.next = 1'b1;
    in.FEATURES.timestamps.next = 1'b1;
    in.FEATURES.tso.next = 1'b0;
    in.FEATURES.rx_csum.next = 1'b0;
    in.FEATURES.tx_csum.next = 1'b0;
    in.FEATURES.jumbo.next = 1'b0;
    in.FEATURES.moderation.next = 1'b1;
    in.FEATURES.rtt.next = 1'b0;
    in.FEATURES.move.next = 1'b0;
    in.FEATURES.card.next = 1'b1;
    in.FEATURES.cubic.next = 1'b1;
    in.FEATURES.ecn.next = 1'b0;
    in.FEATURES.fastopen.next = 1'b0;
    in.FEATURES.urgent.next = 1'b0;
    in.FEATURES.pacing.next = 1'b0;
    in.FEATURES.pmtud.next = 1'b0;
    in.QUEUE_PAIRS.v.next = 32'(Qps);
    in.FLOWS.v.next = 32'(Flows);
    in.SLOTS.v.next = 32'(Flows);
    in.BUFFER_MIN.v.next = 32'd4096;
    in.BUFFER_MAX.v.next = 32'(BufferMax);
    in.TICK_HZ.v.next = 32'd1_000_000_000;
    in.READY.v.next = ready_i;
    in.QP_STATE.attached.next = state_q.attached;
    in.QP_STATE.detached.next = state_q.detached;
    in.QP_STATE.halted.next = state_q.halted;
    in.QP_STATE.listeners.next = state_q.listeners;
    in.QP_STATE.used.next = state_q.used;
    for (int i = 0; i < int'(MaxCounters); i++) begin
      in.COUNTERS[i].rd_ack = count_req_q[i] != 2'd0;
      in.COUNTERS[i].rd_data = '0;
      if (i < int'(All))
        in.COUNTERS[i].rd_data = count_req_q[i][1] ? count_q[i][63:32] : count_q[i][31:0];
    end
    for (int i = 0; i < int'(MaxQps); i++) begin
      in.DOORBELLS[i].rd_ack = bell_read_q[i];
      in.DOORBELLS[i].wr_ack = bell_write_q[i];
      in.DOORBELLS[i].rd_data = '0;
      if (i < int'(Qps) && bell_there_q) in.DOORBELLS[i].rd_data = bell_q[i][bell_at_q];
    end
  end

endmodule

`resetall
