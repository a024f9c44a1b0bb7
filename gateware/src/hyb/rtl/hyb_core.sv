// SPDX-License-Identifier: Apache-2.0
// hyb_core.sv - the hybrid TOE without its registers, in the place of toe_core: firmware on the
// processor stands where the gateware TOE has its scheduler, FPCs and connection management (S2.1). Of
// the gateware's modules it uses those towards the host: toe_cmd and toe_hwroom deliver commands,
// toe_dmaw writes payload, records, events and status words, and moderates interrupts.
//
//   link --> hyb_rx --------> firmware <-------> hyb_host <---- toe_cmd <---- SW rings
//               |  payload      | words             | events, records
//               |               v                   v
//               |            hyb_tx --> link     toe_dmaw ----> host memory
//               +--------------- ^ --------------->
//            send buffers ---> hyb_fetch
//
// With Units it is the prototype: hyb_send, within hyb_soc, replaces hyb_tx and hyb_fetch.
//
//            send buffers ---> hyb_buffers ---> hyb_send (MAU, DFU, PCU) ---> hyb_widen --> link
//
// The processor sees (hyb_soc has the rest):
//   0x3000_0000   TX slots, 32 KiB
//   0x3001_0000   with Headers: templates of headers, 4 KiB, write only
//   0x3800_0000   RX buffers, 32 KiB, read only
//   0x3801_0000   with Headers: descriptions of their frames, 32 bytes each, read only (hyb_look.sv)
//   0x3c00_0000   the record window, 256 bytes: the image of a flow record that a write takes
//   0x4001_0000   registers (device/hyb_host.rdl)
`resetall
`default_nettype none

module hyb_core
  import toe_pkg::*;
  import hyb_host_regs_pkg::HYB_HOST_REGS_MIN_ADDR_WIDTH;
#(
  parameter int unsigned Qps = 8,
  parameter bit Units = 1'b0,   // the prototype's send path; without, all is firmware's
  parameter bit Headers = 1'b0  // with Units: the complete one's, which writes and reads headers
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire now_t                 now_i,
  input  wire own_t                 own_i,
  output wire                       ready_o,

  // the firmware's image, a word a cycle, while rst_ni is 0
  input  wire                       load_valid_i,
  input  wire [14:0]                load_addr_i,
  input  wire [31:0]                load_data_i,
  output wire                       console_valid_o,
  output wire [7:0]                 console_o,
  output wire                       exit_valid_o,
  output wire [7:0]                 exit_o,
  output wire                       active_o,     // the processor does not sleep

  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0]             detach_i,
  output wire [Qps-1:0]             detached_o,
  output wire [Qps-1:0]             attached_o,
  output wire [Qps-1:0]             halted_o,
  output wire [Qps-1:0][15:0]       used_o,
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

  // host memory, as of toe_core
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
  input  wire          tx_r_bad_i,
  output wire          aw_valid_o,
  input  wire          aw_ready_i,
  output wire [63:0]   aw_addr_o,
  output wire [7:0]    aw_len_o,
  output wire          w_valid_o,
  input  wire          w_ready_i,
  output wire [511:0]  w_data_o,
  output wire [63:0]   w_strb_o,
  output wire          w_last_o,

  output wire          no_buffer_o,
  output wire          too_long_o
);

  localparam int unsigned RxBits = 4, TxBits = 4;
  localparam int unsigned RecordLines = 2;      // log2, of the record window
  localparam int unsigned LookBits = RxBits + 5;  // of the descriptions' byte addresses

  // ---- the processor ----
  logic ext_req, ext_write, ext_ack, ext_err, sleep;
  logic [31:0] ext_addr, ext_wdata, ext_rdata;
  logic [3:0] ext_be, irq;

  // The processor starts a cycle after what surrounds it.
  logic run_q;
  always_ff @(posedge clk_i) run_q <= rst_ni;

  // The send path of the prototype: the DFU's reads, and frames of 8 bytes a beat.
  logic dfu_ar_valid, dfu_ar_ready, dfu_r_valid, dfu_r_ready, dfu_r_bad;
  logic [63:0] dfu_ar_addr, dfu_r_data, out_tdata;
  logic [7:0] dfu_ar_len, out_tkeep;
  logic out_tvalid, out_tlast, out_tready;
  hyb_soc #(.Units(Units), .Headers(Headers)) soc (
    .clk_i, .rst_ni, .run_i(run_q),
    .load_valid_i, .load_addr_i, .load_data_i,
    .ext_req_o(ext_req), .ext_write_o(ext_write), .ext_addr_o(ext_addr), .ext_be_o(ext_be),
    .ext_wdata_o(ext_wdata), .ext_ack_i(ext_ack), .ext_err_i(ext_err), .ext_rdata_i(ext_rdata),
    .irq_i(15'(irq)), .sleep_o(sleep),
    .console_valid_o, .console_o, .exit_valid_o, .exit_o,
    .ar_valid_o(dfu_ar_valid), .ar_ready_i(dfu_ar_ready), .ar_addr_o(dfu_ar_addr),
    .ar_len_o(dfu_ar_len), .r_valid_i(dfu_r_valid), .r_ready_o(dfu_r_ready),
    .r_data_i(dfu_r_data), .r_bad_i(dfu_r_bad), .m_tdata_o(out_tdata), .m_tkeep_o(out_tkeep),
    .m_tvalid_o(out_tvalid), .m_tlast_o(out_tlast), .m_tready_i(out_tready)
  );
  assign active_o = rst_ni && !sleep;

  typedef enum logic [2:0] { ToTx, ToRx, ToLook, ToRecord, ToRegs, ToNone } target_e;
  function automatic target_e target(input logic [31:8] addr, input logic write);
    if (addr[31:RxBits+11] == (21 - RxBits)'(32'h3800_0000 >> (RxBits + 11)))
      return write ? ToNone : ToRx;
    if (Headers && addr[31:LookBits] == (32 - LookBits)'(32'h3801_0000 >> LookBits))
      return write ? ToNone : ToLook;
    if (!Units && addr[31:TxBits+11] == (21 - TxBits)'(32'h3000_0000 >> (TxBits + 11)))
      return ToTx;
    if (addr[31:RecordLines+6] == (26 - RecordLines)'(32'h3c00_0000 >> (RecordLines + 6)))
      return write ? ToRecord : ToNone;
    if (addr[31:HYB_HOST_REGS_MIN_ADDR_WIDTH] ==
        (32 - HYB_HOST_REGS_MIN_ADDR_WIDTH)'(32'h4001_0000 >> HYB_HOST_REGS_MIN_ADDR_WIDTH))
      return ToRegs;
    return ToNone;
  endfunction
  target_e to, to_q;
  assign to = target(ext_addr[31:8], ext_write);
  logic req_q;
  logic [3:0] lane_q;
  always_ff @(posedge clk_i) begin
    req_q <= rst_ni && ext_req;
    if (ext_req) begin
      to_q <= to;
      lane_q <= ext_addr[5:2];
    end
  end

  logic regs_ack, regs_err;
  logic [31:0] regs_rdata, tx_rdata, look_rdata;
  logic [511:0] rx_rdata;
  assign ext_ack = (to_q == ToRegs) ? regs_ack : req_q;
  assign ext_err = to_q == ToNone || (to_q == ToRegs && regs_err);
  always_comb begin
    unique case (to_q)
      ToTx: ext_rdata = tx_rdata;
      ToRx: ext_rdata = rx_rdata[32*lane_q+:32];
      ToLook: ext_rdata = look_rdata;
      ToRegs: ext_rdata = regs_rdata;
      default: ext_rdata = '0;
    endcase
  end

  // ---- registers ----
  logic [Qps-1:0] leaves_q, fw_reset, cmd_at_work, fetch_at_work;
  logic [2*Qps-1:0] dmaw_at_work;
  logic event_valid, event_ready, conn_valid, conn_ready, done;
  event_t cmd_event;
  command_t conn;
  qp_t conn_qp;
  entry_t conn_entry;
  logic [1:0] write_valid, write_ready;
  write_t [1:0] write;
  path_t path;
  logic [1:0] ask, grant, refuse;
  qp_t [1:0] ask_qp;
  logic fetch, fetch_busy, fetch_refused, give;
  qp_t fetch_qp;
  logic [15:0] fetch_slot;
  logic [31:0] fetch_from, rx_head, rx_tail, tx_head, tx_tail;
  logic [11:0] fetch_length, rx_length, give_length;
  logic [TxBits+10:0] fetch_to;

  always_ff @(posedge clk_i) leaves_q <= detach_i | halted_o;

  hyb_host #(.Qps(Qps), .RxBits(RxBits), .TxBits(TxBits)) host (
    .clk_i, .rst_ni,
    .req_i(ext_req && to == ToRegs), .write_i(ext_write),
    .addr_i(ext_addr[HYB_HOST_REGS_MIN_ADDR_WIDTH-1:0]), .be_i(ext_be), .wdata_i(ext_wdata),
    .ack_o(regs_ack), .err_o(regs_err), .rdata_o(regs_rdata), .irq_o(irq),
    .now_i, .own_i, .ready_o,
    .qp_i, .leaves_i(leaves_q), .attached_o, .reset_o(fw_reset), .used_o, .listeners_o,
    .event_valid_i(event_valid), .event_ready_o(event_ready), .event_i(cmd_event),
    .conn_valid_i(conn_valid), .conn_ready_o(conn_ready), .conn_i(conn), .conn_qp_i(conn_qp),
    .conn_entry_i(conn_entry), .done_o(done),
    .write_valid_o(write_valid[0]), .write_ready_i(write_ready[0]), .write_o(write[0]),
    .path_o(path), .writing_i(dmaw_at_work != '0),
    .ask_o(ask[0]), .ask_qp_o(ask_qp[0]), .grant_i(grant[0]), .refuse_i(refuse[0]),
    .fetch_o(fetch), .fetch_qp_o(fetch_qp), .fetch_slot_o(fetch_slot),
    .fetch_from_o(fetch_from), .fetch_length_o(fetch_length), .fetch_to_o(fetch_to),
    .fetch_busy_i(fetch_busy), .fetch_refused_i(fetch_refused),
    .rx_head_i(rx_head), .rx_tail_o(rx_tail), .rx_length_i(rx_length),
    .give_o(give), .give_length_o(give_length), .tx_head_i(tx_head), .tx_tail_i(tx_tail)
  );
  // From here on no module accesses its memory.
  assign detached_o = detach_i & fw_reset & ~cmd_at_work & ~fetch_at_work &
                      ~dmaw_at_work[Qps-1:0] & ~dmaw_at_work[2*Qps-1:Qps];

  // ---- the link ----
  buf_t place_buffer;
  logic [4:0] place_line;
  logic [511:0] rx_line, record_line;

  hyb_rx #(.BufBits(RxBits), .Look(Headers)) rx (
    .clk_i, .rst_ni, .mac_i(own_i.mac),
    .s_tdata_i, .s_tkeep_i, .s_tvalid_i, .s_tlast_i, .s_tready_o,
    .head_o(rx_head), .tail_i(rx_tail), .length_o(rx_length),
    .a_line_i(ext_addr[RxBits+10:6]), .a_data_o(rx_rdata),
    .b_line_i({place_buffer[RxBits-1:0], place_line}), .b_data_o(rx_line),
    .look_word_i(ext_addr[LookBits-1:2]), .look_data_o(look_rdata),
    .no_buffer_o, .too_long_o
  );

  if (Units) begin : gen_units
    hyb_buffers #(.Qps(Qps)) buffers (
      .clk_i, .rst_ni, .qp_i, .leaves_i(leaves_q), .at_work_o(fetch_at_work),
      .s_ar_valid_i(dfu_ar_valid), .s_ar_ready_o(dfu_ar_ready), .s_ar_addr_i(dfu_ar_addr),
      .s_ar_len_i(dfu_ar_len), .s_r_valid_o(dfu_r_valid), .s_r_ready_i(dfu_r_ready),
      .s_r_data_o(dfu_r_data), .s_r_bad_o(dfu_r_bad),
      .ar_valid_o(tx_ar_valid_o), .ar_ready_i(tx_ar_ready_i), .ar_addr_o(tx_ar_addr_o),
      .ar_len_o(tx_ar_len_o), .r_valid_i(tx_r_valid_i), .r_ready_o(tx_r_ready_o),
      .r_data_i(tx_r_data_i), .r_bad_i(tx_r_bad_i)
    );
    hyb_widen widen (
      .clk_i, .rst_ni,
      .s_tdata_i(out_tdata), .s_tkeep_i(out_tkeep), .s_tvalid_i(out_tvalid),
      .s_tlast_i(out_tlast), .s_tready_o(out_tready),
      .m_tdata_o, .m_tkeep_o, .m_tvalid_o, .m_tlast_o, .m_tready_i
    );
    // Registers of the software-only send path: no slot is given, each fetch is refused.
    assign tx_rdata = '0;
    assign tx_head = '0;
    assign tx_tail = '0;
    assign fetch_busy = 1'b0;
    assign fetch_refused = 1'b1;
    wire unused_software = &{1'b0, fetch, fetch_qp, fetch_slot, fetch_from, fetch_length, fetch_to,
        give, give_length};
  end else begin : gen_software
    logic fill;
    logic [TxBits+4:0] fill_line;
    logic [63:0] fill_bytes;
    logic [511:0] fill_data;
    hyb_tx #(.SlotBits(TxBits)) tx (
      .clk_i, .rst_ni,
      .word_i(ext_addr[TxBits+10:2]),
      .word_write_i((ext_req && to == ToTx && ext_write) ? ext_be : '0), .word_data_i(ext_wdata),
      .word_data_o(tx_rdata),
      .fill_i(fill), .fill_line_i(fill_line), .fill_bytes_i(fill_bytes),
      .fill_data_i(fill_data),
      .give_i(give), .length_i(give_length), .head_o(tx_head), .tail_o(tx_tail),
      .m_tdata_o, .m_tkeep_o, .m_tvalid_o, .m_tlast_o, .m_tready_i
    );
    hyb_fetch #(.Qps(Qps), .SlotBits(TxBits)) fetches (
      .clk_i, .rst_ni, .qp_i, .leaves_i(leaves_q), .at_work_o(fetch_at_work),
      .go_i(fetch), .of_qp_i(fetch_qp), .of_slot_i(fetch_slot), .from_i(fetch_from),
      .length_i(fetch_length), .to_i(fetch_to), .busy_o(fetch_busy), .refused_o(fetch_refused),
      .ar_valid_o(tx_ar_valid_o), .ar_ready_i(tx_ar_ready_i), .ar_addr_o(tx_ar_addr_o),
      .r_valid_i(tx_r_valid_i), .r_ready_o(tx_r_ready_o), .r_data_i(tx_r_data_i),
      .fill_o(fill), .fill_line_o(fill_line), .fill_bytes_o(fill_bytes),
      .fill_data_o(fill_data)
    );
    assign tx_ar_len_o = '0;
    assign dfu_ar_ready = 1'b0;
    assign dfu_r_valid = 1'b0;
    assign dfu_r_data = '0;
    assign dfu_r_bad = 1'b0;
    assign out_tready = 1'b0;
    wire unused_units = &{1'b0, dfu_ar_valid, dfu_ar_addr, dfu_ar_len, dfu_r_ready, out_tdata,
        out_tkeep, out_tvalid, out_tlast, tx_r_bad_i};
  end

  // The record window, and which memory toe_dmaw reads: RX buffers first, then the window.
  logic of_record_q;
  logic [31:0] unused_word;
  hyb_slots #(.LineBits(RecordLines)) record (
    .clk_i, .word_i(ext_addr[RecordLines+5:2]),
    .word_write_i((ext_req && to == ToRecord) ? ext_be : '0), .word_data_i(ext_wdata),
    .word_data_o(unused_word),
    .line_i(place_line[RecordLines-1:0]), .line_write_i('0), .line_data_i('0),
    .line_data_o(record_line)
  );
  always_ff @(posedge clk_i) of_record_q <= place_buffer[RxBits];

  // ---- the host ----
  logic [Qps-1:0] bad_tail;
  logic [2*Qps-1:0][31:0] hw_head;
  logic written, error_done, halt, tail_valid, tail_ready;
  qp_t written_qp, halt_qp, tail_qp;
  logic [31:0] tail;
  logic [1:0] give_back;
  qp_t [1:0] back_qp;
  assign give_back[0] = 1'b0;          // the firmware takes each grant
  assign back_qp[0] = '0;

  toe_hwroom #(.Qps(Qps), .Askers(2)) hwroom (
    .clk_i, .rst_ni, .qp_i, .hw_tail_i, .hw_head_i(hw_head[Qps-1:0]),
    .ask_i(ask), .ask_qp_i(ask_qp), .grant_o(grant), .refuse_o(refuse), .take_i(2'b11),
    .return_i(give_back), .return_qp_i(back_qp),
    .written_i(written), .written_qp_i(written_qp), .bad_tail_o(bad_tail)
  );
  toe_cmd #(.Qps(Qps), .Fpcs(1)) commands (
    .clk_i, .rst_ni, .qp_i, .sw_head_i, .bad_tail_i(bad_tail), .closed_i(detach_i),
    .at_work_o(cmd_at_work),
    .ar_valid_o(cmd_ar_valid_o), .ar_ready_i(cmd_ar_ready_i), .ar_addr_o(cmd_ar_addr_o),
    .r_valid_i(cmd_r_valid_i), .r_data_i(cmd_r_data_i),
    .ask_o(ask[1]), .ask_qp_o(ask_qp[1]), .grant_i(grant[1]),
    .return_o(give_back[1]), .return_qp_o(back_qp[1]),
    .event_valid_o(event_valid), .event_ready_i(event_ready), .event_o(cmd_event),
    .conn_valid_o(conn_valid), .conn_ready_i(conn_ready), .conn_o(conn),
    .conn_qp_o(conn_qp), .conn_entry_o(conn_entry),
    .write_valid_o(write_valid[1]), .write_ready_i(write_ready[1]), .write_o(write[1]),
    .tail_valid_o(tail_valid), .tail_ready_i(tail_ready), .tail_qp_o(tail_qp), .tail_o(tail),
    .halt_o(halt), .halt_qp_o(halt_qp), .halted_o,
    .done_i(done), .conn_done_i(1'b0), .error_done_i(error_done)
  );

  // Queue pair q + Qps is the array of records of queue pair q: one receive buffer as long as an area
  // may be. toe_dmaw adds a byte of "send buffer" before it.
  qp_config_t [2*Qps-1:0] dmaw_qp;
  always_comb begin
    for (int i = 0; i < int'(Qps); i++) begin
      dmaw_qp[i] = qp_i[i];
      dmaw_qp[int'(Qps)+i] = '0;
      dmaw_qp[int'(Qps)+i].enable = qp_i[i].enable;
      dmaw_qp[int'(Qps)+i].area = qp_i[i].area - 64'd1;
      dmaw_qp[int'(Qps)+i].buffers_at = qp_i[i].records_at;
      dmaw_qp[int'(Qps)+i].rx_log = 5'd31;
    end
  end
  logic unused_free;
  buf_t unused_free_buffer;
  place_t unused_path_at;
  logic [Qps-1:0] unused_irq;
  toe_dmaw #(.Qps(2 * Qps), .Sources(2)) dmaw (
    .clk_i, .rst_ni, .now_i, .qp_i(dmaw_qp), .closed_i({detach_i, detach_i}),
    .at_work_o(dmaw_at_work),
    .write_valid_i(write_valid), .write_ready_o(write_ready), .write_i(write),
    .tail_valid_i(tail_valid), .tail_ready_o(tail_ready), .tail_qp_i(tail_qp), .tail_i(tail),
    .halt_i(halt), .halt_qp_i(halt_qp),
    .path_at_o(unused_path_at), .path_i(path),
    .read_buffer_o(place_buffer), .read_line_o(place_line),
    .read_data_i(of_record_q ? record_line : rx_line),
    .free_valid_o(unused_free), .free_o(unused_free_buffer),
    .aw_valid_o, .aw_ready_i, .aw_addr_o, .aw_len_o,
    .w_valid_o, .w_ready_i, .w_data_o, .w_strb_o, .w_last_o,
    .hw_head_o(hw_head), .written_o(written), .written_qp_o(written_qp),
    .error_done_o(error_done),
    .hw_tail_i({{Qps{32'd0}}, hw_tail_i}), .irq_arm_i({{Qps{32'd0}}, irq_arm_i}),
    .irq_seq_i({{Qps{32'd0}}, irq_seq_i}), .irq_count_i({{Qps{32'd0}}, irq_count_i}),
    .irq_usec_i({{Qps{32'd0}}, irq_usec_i}), .irq_o({unused_irq, irq_o})
  );

  wire unused = &{1'b0, refuse[1], hw_head[2*Qps-1:Qps]};

endmodule

`resetall
