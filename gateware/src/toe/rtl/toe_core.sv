// SPDX-License-Identifier: Apache-2.0
// toe_core.sv - the TOE without its registers: packets on AXI-Stream, host memory on AXI, queue pairs
// and doorbells as wires. toe_box.sv adds the registers (toe_csr), the AXI4 master and MSI-X.
`resetall
`default_nettype none

module toe_core
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned FlowBits = 8,
  parameter int unsigned FpcBits = 0,
  parameter int unsigned HotBits = 10,  // TCBs on chip of an FPC: 2^HotBits
  parameter int unsigned Qps = 8,
  parameter int unsigned BufBits = 6
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire now_t                 now_i,
  input  wire own_t                 own_i,
  output wire                       ready_o,

  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0]             detach_i,
  output wire [Qps-1:0]             detached_o,
  output wire [Qps-1:0]             attached_o,
  output wire [Qps-1:0]             halted_o,   // the host has broken a ring
  output wire [Qps-1:0][15:0]       used_o,     // slots
  output wire [Qps-1:0][7:0]        listeners_o,
  input  wire [Qps-1:0][31:0]       sw_head_i,
  input  wire [Qps-1:0][31:0]       hw_tail_i,
  input  wire [Qps-1:0][31:0]       irq_arm_i,
  input  wire [Qps-1:0][31:0]       irq_seq_i,
  input  wire [Qps-1:0][31:0]       irq_count_i,
  input  wire [Qps-1:0][31:0]       irq_usec_i,
  output wire [Qps-1:0]             irq_o,

  input  wire [511:0]  s_tdata_i,
  input  wire [63:0]   s_tkeep_i,
  input  wire          s_tvalid_i,
  input  wire          s_tlast_i,
  output wire          s_tready_o,
  output wire [511:0]  m_tdata_o,
  output wire [63:0]   m_tkeep_o,
  output wire          m_tvalid_o,
  output wire          m_tlast_o,
  input  wire          m_tready_i,

  // host memory: two readers (commands, payload), one writer
  output wire          cmd_ar_valid_o,
  input  wire          cmd_ar_ready_i,
  output wire [63:0]   cmd_ar_addr_o,
  input  wire          cmd_r_valid_i,
  input  wire [511:0]  cmd_r_data_i,
  output wire          tx_ar_valid_o,
  input  wire          tx_ar_ready_i,
  output wire [63:0]   tx_ar_addr_o,
  output wire [7:0]    tx_ar_len_o,
  input  wire          tx_r_valid_i,
  output wire          tx_r_ready_o,
  input  wire [511:0]  tx_r_data_i,
  output wire          aw_valid_o,
  input  wire          aw_ready_i,
  output wire [63:0]   aw_addr_o,
  output wire [7:0]    aw_len_o,
  output wire          w_valid_o,
  input  wire          w_ready_i,
  output wire [511:0]  w_data_o,
  output wire [63:0]   w_strb_o,
  output wire          w_last_o,

  // the memory of TCBs that are not on chip (toe_dram)
  output wire          tcb_arvalid_o,
  input  wire          tcb_arready_i,
  output wire [3:0]    tcb_arid_o,
  output wire [63:0]   tcb_araddr_o,
  output wire [7:0]    tcb_arlen_o,
  input  wire          tcb_rvalid_i,
  output wire          tcb_rready_o,
  input  wire [3:0]    tcb_rid_i,
  input  wire [511:0]  tcb_rdata_i,
  input  wire [1:0]    tcb_rresp_i,
  output wire          tcb_awvalid_o,
  input  wire          tcb_awready_i,
  output wire [63:0]   tcb_awaddr_o,
  output wire [7:0]    tcb_awlen_o,
  output wire          tcb_wvalid_o,
  input  wire          tcb_wready_i,
  output wire [511:0]  tcb_wdata_o,
  output wire          tcb_wlast_o,
  input  wire          tcb_bvalid_i,
  output wire          tcb_bready_o,
  input  wire [1:0]    tcb_bresp_i,
  output wire          tcb_read_error_o,
  output wire          tcb_write_error_o,

  output wire rx_counts_t                    rx_counts_o,
  output wire conn_counts_t                  conn_counts_o,
  output wire fpc_counts_t [2**FpcBits-1:0]  fpc_counts_o
);

  localparam int unsigned Fpcs = 2 ** FpcBits;
  localparam int unsigned Writers = Fpcs + 2;      // FPCs, toe_cmd, toe_conn
  localparam int unsigned Askers = Fpcs + 2;

  // ---- packets in ----

  logic packet_valid, packet_ready, tcp_ready, resp_ready;
  packet_t packet;
  logic place_free_valid, conn_free_valid, resp_free_valid;
  buf_t place_free, conn_free, resp_free;
  logic free_valid;
  buf_t free_buffer;
  buf_t place_buffer, resp_buffer;
  logic [4:0] place_line, resp_line;
  logic [511:0] place_data, resp_data;

  // Buffers of toe_dmaw have priority; the others wait.
  assign free_valid = place_free_valid || conn_free_valid || resp_free_valid;
  assign free_buffer = place_free_valid ? place_free : (conn_free_valid ? conn_free : resp_free);

  toe_rx #(.BufBits(BufBits)) rx (
    .clk_i, .rst_ni, .own_i,
    .s_tdata_i, .s_tkeep_i, .s_tvalid_i, .s_tlast_i, .s_tready_o,
    .packet_valid_o(packet_valid), .packet_ready_i(packet_ready), .packet_o(packet),
    .free_valid_i(free_valid), .free_i(free_buffer),
    .read_buffer_i({resp_buffer, place_buffer}), .read_line_i({resp_line, place_line}),
    .read_data_o({resp_data, place_data}),
    .counts_o(rx_counts_o)
  );
  wire is_tcp = packet.kind == PkTcp;
  assign packet_ready = is_tcp ? tcp_ready : resp_ready;

  // ---- the table ----

  logic hit_valid, hit_ready, miss_valid, miss_ready, miss_tw;
  packet_t hit, miss;
  flow_t hit_flow, miss_index;
  logic table_valid, table_ready, answer_valid;
  table_request_t table_request;
  table_answer_t answer;
  place_t tx_path_at, write_path_at, conn_path_at;
  path_t tx_path, write_path, conn_path;

  toe_table #(.FlowBits(FlowBits)) flows (
    .clk_i, .rst_ni, .key_i(own_i.hash_key), .ready_o,
    .packet_valid_i(packet_valid && is_tcp), .packet_ready_o(tcp_ready), .packet_i(packet),
    .hit_valid_o(hit_valid), .hit_ready_i(hit_ready), .hit_o(hit), .hit_flow_o(hit_flow),
    .miss_valid_o(miss_valid), .miss_ready_i(miss_ready), .miss_o(miss), .miss_tw_o(miss_tw),
    .miss_index_o(miss_index),
    .request_valid_i(table_valid), .request_ready_o(table_ready), .request_i(table_request),
    .answer_valid_o(answer_valid), .answer_o(answer),
    .path_at_i({conn_path_at, write_path_at, tx_path_at}),
    .path_o({conn_path, write_path, tx_path})
  );

  // ---- flows ----

  logic cmd_event_valid, cmd_event_ready, conn_event_valid, conn_event_ready;
  event_t cmd_event, conn_event;
  logic [Fpcs-1:0] due_valid, due_ready, event_valid, event_ready;
  flow_t [Fpcs-1:0] due_flow;
  event_t [Fpcs-1:0] event_of;

  toe_sched #(.FpcBits(FpcBits)) sched (
    .clk_i, .rst_ni,
    .hit_valid_i(hit_valid), .hit_ready_o(hit_ready), .hit_i(hit), .hit_flow_i(hit_flow),
    .command_valid_i(cmd_event_valid), .command_ready_o(cmd_event_ready), .command_i(cmd_event),
    .conn_valid_i(conn_event_valid), .conn_ready_o(conn_event_ready), .conn_i(conn_event),
    .due_valid_i(due_valid), .due_ready_o(due_ready), .due_flow_i(due_flow),
    .event_valid_o(event_valid), .event_ready_i(event_ready), .event_o(event_of)
  );

  // Queue pairs that are disabled or detached: registered, so that paths from them begin at a register.
  logic [Qps-1:0] gone_q, going_q, flows_reset, cmd_at_work, dmaw_at_work, tx_at_work;
  logic drain;
  logic [Fpcs-1:0] draining;
  always_ff @(posedge clk_i) begin
    for (int q = 0; q < int'(Qps); q++) begin
      gone_q[q] <= !qp_i[q].enable || detach_i[q] || halted_o[q];
      going_q[q] <= detach_i[q] || halted_o[q];
    end
  end
  toe_leave #(.Qps(Qps)) leave (
    .clk_i, .rst_ni, .reset_i(flows_reset), .drain_o(drain), .draining_i(|draining),
    .at_work_i(cmd_at_work | dmaw_at_work | tx_at_work), .detached_o
  );

  logic [Askers-1:0] ask, grant, refuse, take, give_back;
  qp_t [Askers-1:0] ask_qp, back_qp;
  logic [Writers-1:0] write_valid, write_ready;
  write_t [Writers-1:0] write;
  logic [Fpcs-1:0] tx_valid, tx_ready, message_valid, message_ready, done;
  tx_desc_t [Fpcs-1:0] tx;
  conn_msg_t [Fpcs-1:0] message;

  logic [Fpcs-1:0] fetch_valid, fetch_ready, fetched_valid, fetched_ready;
  logic [Fpcs-1:0] save_valid, save_ready, saved;
  flow_t [Fpcs-1:0] fetch_flow, save_flow;
  logic [Fpcs-1:0][TcbBits-1:0] fetched, save;

  toe_dram #(.Width(TcbBits), .FpcBits(FpcBits)) dram (
    .clk_i, .rst_ni,
    .fetch_valid_i(fetch_valid), .fetch_ready_o(fetch_ready), .fetch_flow_i(fetch_flow),
    .fetched_valid_o(fetched_valid), .fetched_ready_i(fetched_ready), .fetched_o(fetched),
    .save_valid_i(save_valid), .save_ready_o(save_ready), .save_flow_i(save_flow), .save_i(save),
    .saved_o(saved),
    .m_arvalid_o(tcb_arvalid_o), .m_arready_i(tcb_arready_i), .m_arid_o(tcb_arid_o),
    .m_araddr_o(tcb_araddr_o), .m_arlen_o(tcb_arlen_o),
    .m_rvalid_i(tcb_rvalid_i), .m_rready_o(tcb_rready_o), .m_rid_i(tcb_rid_i),
    .m_rdata_i(tcb_rdata_i), .m_rresp_i(tcb_rresp_i),
    .m_awvalid_o(tcb_awvalid_o), .m_awready_i(tcb_awready_i), .m_awaddr_o(tcb_awaddr_o),
    .m_awlen_o(tcb_awlen_o),
    .m_wvalid_o(tcb_wvalid_o), .m_wready_i(tcb_wready_i), .m_wdata_o(tcb_wdata_o),
    .m_wlast_o(tcb_wlast_o),
    .m_bvalid_i(tcb_bvalid_i), .m_bready_o(tcb_bready_o), .m_bresp_i(tcb_bresp_i),
    .read_error_o(tcb_read_error_o), .write_error_o(tcb_write_error_o)
  );

  for (genvar f = 0; f < int'(Fpcs); f++) begin : gen_fpc
    logic timer_write, timer_on;
    flow_t timer_flow;
    tick_t timer_at;
    qp_t done_qp;

    toe_fpc #(.FlowBits(FlowBits), .FpcBits(FpcBits), .Fpc(f), .HotBits(HotBits)) fpc (
      .clk_i, .rst_ni, .now_i, .gone_i(64'(gone_q)), .drain_i(drain), .draining_o(draining[f]),
      .event_valid_i(event_valid[f]), .event_ready_o(event_ready[f]), .event_i(event_of[f]),
      .tell_valid_o(ask[f]), .tell_qp_o(ask_qp[f]), .tell_grant_i(grant[f]),
      .tell_refuse_i(refuse[f]),
      .tell_take_o(take[f]), .tell_return_o(give_back[f]), .tell_return_qp_o(back_qp[f]),
      .write_valid_o(write_valid[f]), .write_ready_i(write_ready[f]), .write_o(write[f]),
      .tx_valid_o(tx_valid[f]), .tx_ready_i(tx_ready[f]), .tx_o(tx[f]),
      .conn_valid_o(message_valid[f]), .conn_ready_i(message_ready[f]), .conn_o(message[f]),
      .done_o(done[f]), .done_qp_o(done_qp),
      .timer_write_o(timer_write), .timer_flow_o(timer_flow), .timer_on_o(timer_on),
      .timer_at_o(timer_at),
      .fetch_valid_o(fetch_valid[f]), .fetch_ready_i(fetch_ready[f]),
      .fetch_flow_o(fetch_flow[f]), .fetched_valid_i(fetched_valid[f]),
      .fetched_ready_o(fetched_ready[f]), .fetched_i(fetched[f]),
      .save_valid_o(save_valid[f]), .save_ready_i(save_ready[f]), .save_flow_o(save_flow[f]),
      .save_o(save[f]), .saved_i(saved[f]),
      .counts_o(fpc_counts_o[f])
    );
    toe_timer #(.FlowBits(FlowBits), .FpcBits(FpcBits), .Fpc(f)) timer (
      .clk_i, .rst_ni, .now_i,
      .write_i(timer_write), .flow_i(timer_flow), .on_i(timer_on), .at_i(timer_at),
      .due_valid_o(due_valid[f]), .due_ready_i(due_ready[f]), .due_flow_o(due_flow[f])
    );
    wire unused = &{1'b0, done_qp};
  end

  // ---- the host ----

  logic [Qps-1:0][31:0] hw_head;
  logic written, error_done, conn_done;
  qp_t written_qp;
  logic cmd_conn_valid, cmd_conn_ready;
  command_t cmd_conn;
  qp_t cmd_conn_qp;
  entry_t cmd_conn_entry;
  logic tail_valid, tail_ready, halt;
  qp_t tail_qp, halt_qp;
  logic [Qps-1:0] bad_tail;
  logic [31:0] tail;

  toe_hwroom #(.Qps(Qps), .Askers(Askers)) hwroom (
    .clk_i, .rst_ni, .qp_i, .hw_tail_i, .hw_head_i(hw_head),
    .ask_i(ask), .ask_qp_i(ask_qp), .grant_o(grant), .refuse_o(refuse), .take_i(take),
    .return_i(give_back), .return_qp_i(back_qp),
    .written_i(written), .written_qp_i(written_qp), .bad_tail_o(bad_tail)
  );
  assign take[Fpcs] = 1'b1;       // toe_cmd and toe_conn take each grant
  assign take[Fpcs+1] = 1'b1;
  assign give_back[Fpcs+1] = 1'b0;
  assign back_qp[Fpcs+1] = '0;

  toe_cmd #(.Qps(Qps), .Fpcs(Fpcs)) commands (
    .clk_i, .rst_ni, .qp_i, .sw_head_i, .bad_tail_i(bad_tail), .closed_i(detach_i),
    .at_work_o(cmd_at_work),
    .ar_valid_o(cmd_ar_valid_o), .ar_ready_i(cmd_ar_ready_i), .ar_addr_o(cmd_ar_addr_o),
    .r_valid_i(cmd_r_valid_i), .r_data_i(cmd_r_data_i),
    .ask_o(ask[Fpcs]), .ask_qp_o(ask_qp[Fpcs]), .grant_i(grant[Fpcs]),
    .return_o(give_back[Fpcs]), .return_qp_o(back_qp[Fpcs]),
    .event_valid_o(cmd_event_valid), .event_ready_i(cmd_event_ready), .event_o(cmd_event),
    .conn_valid_o(cmd_conn_valid), .conn_ready_i(cmd_conn_ready), .conn_o(cmd_conn),
    .conn_qp_o(cmd_conn_qp), .conn_entry_o(cmd_conn_entry),
    .write_valid_o(write_valid[Fpcs]), .write_ready_i(write_ready[Fpcs]), .write_o(write[Fpcs]),
    .tail_valid_o(tail_valid), .tail_ready_i(tail_ready), .tail_qp_o(tail_qp), .tail_o(tail),
    .halt_o(halt), .halt_qp_o(halt_qp), .halted_o,
    .done_i(done), .conn_done_i(conn_done), .error_done_i(error_done)
  );

  logic bare_valid, bare_ready;
  tx_desc_t bare;
  path_t bare_path;
  logic neigh_ask, neigh_v6, neigh_answer, neigh_known;
  addr_t neigh;
  logic [47:0] neigh_mac;

  toe_conn #(.Qps(Qps), .FlowBits(FlowBits), .Fpcs(Fpcs)) conn (
    .clk_i, .rst_ni, .now_i, .own_i, .qp_i,
    .detach_i(going_q), .reset_o(flows_reset), .attached_o,
    .used_o, .listeners_o,
    .command_valid_i(cmd_conn_valid), .command_ready_o(cmd_conn_ready), .command_i(cmd_conn),
    .command_qp_i(cmd_conn_qp), .command_entry_i(cmd_conn_entry), .done_o(conn_done),
    .miss_valid_i(miss_valid), .miss_ready_o(miss_ready), .miss_i(miss), .miss_tw_i(miss_tw),
    .miss_index_i(miss_index),
    .free_valid_o(conn_free_valid), .free_ready_i(!place_free_valid), .free_o(conn_free),
    .message_valid_i(message_valid), .message_ready_o(message_ready), .message_i(message),
    .table_valid_o(table_valid), .table_ready_i(table_ready), .table_o(table_request),
    .answer_valid_i(answer_valid), .answer_i(answer),
    .path_at_o(conn_path_at), .path_i(conn_path),
    .event_valid_o(conn_event_valid), .event_ready_i(conn_event_ready), .event_o(conn_event),
    .bare_valid_o(bare_valid), .bare_ready_i(bare_ready), .bare_o(bare), .bare_path_o(bare_path),
    .neigh_valid_o(neigh_ask), .neigh_v6_o(neigh_v6), .neigh_o(neigh),
    .neigh_answer_i(neigh_answer), .neigh_known_i(neigh_known), .neigh_mac_i(neigh_mac),
    .ask_o(ask[Fpcs+1]), .ask_qp_o(ask_qp[Fpcs+1]), .grant_i(grant[Fpcs+1]),
    .write_valid_o(write_valid[Fpcs+1]), .write_ready_i(write_ready[Fpcs+1]),
    .write_o(write[Fpcs+1]),
    .counts_o(conn_counts_o)
  );

  toe_dmaw #(.Qps(Qps), .Sources(Writers)) dmaw (
    .clk_i, .rst_ni, .now_i, .qp_i, .closed_i(detach_i), .at_work_o(dmaw_at_work),
    .write_valid_i(write_valid), .write_ready_o(write_ready), .write_i(write),
    .tail_valid_i(tail_valid), .tail_ready_o(tail_ready), .tail_qp_i(tail_qp), .tail_i(tail),
    .halt_i(halt), .halt_qp_i(halt_qp),
    .path_at_o(write_path_at), .path_i(write_path),
    .read_buffer_o(place_buffer), .read_line_o(place_line), .read_data_i(place_data),
    .free_valid_o(place_free_valid), .free_o(place_free),
    .aw_valid_o, .aw_ready_i, .aw_addr_o, .aw_len_o,
    .w_valid_o, .w_ready_i, .w_data_o, .w_strb_o, .w_last_o,
    .hw_head_o(hw_head), .written_o(written), .written_qp_o(written_qp),
    .error_done_o(error_done),
    .hw_tail_i, .irq_arm_i, .irq_seq_i, .irq_count_i, .irq_usec_i, .irq_o
  );

  // ---- packets out: a packet of one, then one of the other ----

  logic [511:0] tx_tdata, resp_tdata;
  logic [63:0] tx_tkeep, resp_tkeep;
  logic tx_tvalid, tx_tlast, tx_tready, resp_tvalid, resp_tlast, resp_tready;

  toe_tx #(.Qps(Qps), .Fpcs(Fpcs)) generator (
    .clk_i, .rst_ni, .own_i, .qp_i, .closed_i(going_q), .at_work_o(tx_at_work),
    .desc_valid_i(tx_valid), .desc_ready_o(tx_ready), .desc_i(tx),
    .path_at_o(tx_path_at), .path_i(tx_path),
    .bare_valid_i(bare_valid), .bare_ready_o(bare_ready), .bare_i(bare), .bare_path_i(bare_path),
    .ar_valid_o(tx_ar_valid_o), .ar_ready_i(tx_ar_ready_i), .ar_addr_o(tx_ar_addr_o),
    .ar_len_o(tx_ar_len_o), .r_valid_i(tx_r_valid_i), .r_ready_o(tx_r_ready_o),
    .r_data_i(tx_r_data_i),
    .m_tdata_o(tx_tdata), .m_tkeep_o(tx_tkeep), .m_tvalid_o(tx_tvalid), .m_tlast_o(tx_tlast),
    .m_tready_i(tx_tready)
  );

  toe_resp resp (
    .clk_i, .rst_ni, .now_i, .own_i,
    .packet_valid_i(packet_valid && !is_tcp), .packet_ready_o(resp_ready), .packet_i(packet),
    .read_buffer_o(resp_buffer), .read_line_o(resp_line), .read_data_i(resp_data),
    .free_valid_o(resp_free_valid), .free_ready_i(!place_free_valid && !conn_free_valid),
    .free_o(resp_free),
    .ask_valid_i(neigh_ask), .ask_v6_i(neigh_v6), .ask_i(neigh),
    .answer_o(neigh_answer), .known_o(neigh_known), .mac_o(neigh_mac),
    .m_tdata_o(resp_tdata), .m_tkeep_o(resp_tkeep), .m_tvalid_o(resp_tvalid),
    .m_tlast_o(resp_tlast), .m_tready_i(resp_tready)
  );

  logic busy_q, resp_turn_q;        // within a packet; of toe_resp or toe_tx
  wire of_resp = busy_q ? resp_turn_q : (resp_tvalid && (!tx_tvalid || !resp_turn_q));
  assign m_tvalid_o = of_resp ? resp_tvalid : tx_tvalid;
  assign m_tdata_o = of_resp ? resp_tdata : tx_tdata;
  assign m_tkeep_o = of_resp ? resp_tkeep : tx_tkeep;
  assign m_tlast_o = of_resp ? resp_tlast : tx_tlast;
  assign resp_tready = of_resp && m_tready_i;
  assign tx_tready = !of_resp && m_tready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      resp_turn_q <= 1'b0;
    end else if (m_tvalid_o) begin
      // An offered packet stays until it has left (AXI-Stream: valid is not withdrawn).
      resp_turn_q <= of_resp;
      busy_q <= !(m_tready_i && m_tlast_o);
    end
  end

endmodule

`resetall
