// SPDX-License-Identifier: Apache-2.0
// hyb_host.sv - registers by which the firmware serves hosts and the link (device/hyb_host.rdl): the
// command at hand (S2.4), writes into host memory, fetches, frames, queue pairs, time. It holds no data.
`resetall
`default_nettype none

module hyb_host
  import toe_pkg::*;
  import toe_cmd_pkg::*;
  import hyb_host_regs_pkg::*;
#(
  parameter int unsigned Qps = 8,      // at most 8
  parameter int unsigned RxBits = 4,
  parameter int unsigned TxBits = 4
) (
  input  wire          clk_i,
  input  wire          rst_ni,

  // the processor: a request lasts a cycle
  input  wire          req_i,
  input  wire          write_i,
  input  wire [HYB_HOST_REGS_MIN_ADDR_WIDTH-1:0] addr_i,
  input  wire [3:0]    be_i,
  input  wire [31:0]   wdata_i,
  output wire          ack_o,
  output wire          err_o,
  output wire [31:0]   rdata_o,
  output wire [3:0]    irq_o,          // as bits 3:0 of PENDING

  input  wire now_t    now_i,
  input  wire own_t    own_i,
  output wire          ready_o,

  // queue pairs
  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0]             leaves_i,     // detached or halted
  output wire [Qps-1:0]             attached_o,
  output wire [Qps-1:0]             reset_o,
  output wire [Qps-1:0][15:0]       used_o,
  output wire [Qps-1:0][7:0]        listeners_o,

  // commands, from toe_cmd
  input  wire           event_valid_i,
  output wire           event_ready_o,
  input  wire event_t   event_i,
  input  wire           conn_valid_i,
  output wire           conn_ready_o,
  input  wire command_t conn_i,
  input  wire qp_t      conn_qp_i,
  input  wire entry_t   conn_entry_i,
  output wire           done_o,        // executed, no ERROR follows

  // writes, to toe_dmaw. Its queue pairs from Qps on are the records of the others (hyb_core).
  output wire           write_valid_o,
  input  wire           write_ready_i,
  output wire write_t   write_o,
  output wire path_t    path_o,
  input  wire           writing_i,
  output wire           ask_o,
  output wire qp_t      ask_qp_o,
  input  wire           grant_i,
  input  wire           refuse_i,

  // fetches
  output wire           fetch_o,
  output wire qp_t      fetch_qp_o,
  output wire [15:0]    fetch_slot_o,
  output wire [31:0]    fetch_from_o,
  output wire [11:0]    fetch_length_o,
  output wire [TxBits+10:0] fetch_to_o,
  input  wire           fetch_busy_i,
  input  wire           fetch_refused_i,

  // frames
  input  wire [31:0]    rx_head_i,
  output wire [31:0]    rx_tail_o,
  input  wire [11:0]    rx_length_i,
  output wire           give_o,
  output wire [11:0]    give_length_o,
  input  wire [31:0]    tx_head_i,
  input  wire [31:0]    tx_tail_i
);

  localparam int unsigned AddrBits = HYB_HOST_REGS_MIN_ADDR_WIDTH;
  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;

  // ---- the register block: the request is held until it is taken ----
  hyb_host_regs__in_t in;
  hyb_host_regs__out_t out;
  logic req_q, write_q, rd_stall, wr_stall, rd_ack, wr_ack, rd_err, wr_err;
  logic [AddrBits-1:0] addr_q;
  logic [31:0] wdata_q;
  logic [3:0] be_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) req_q <= 1'b0;
    else if (req_i) req_q <= 1'b1;
    else if (!(write_q ? wr_stall : rd_stall)) req_q <= 1'b0;
    if (req_i) begin
      write_q <= write_i;
      addr_q <= addr_i;
      wdata_q <= wdata_i;
      be_q <= be_i;
    end
  end
  hyb_host_regs regs (
    .clk(clk_i), .rst(!rst_ni),
    .s_cpuif_req(req_q), .s_cpuif_req_is_wr(write_q), .s_cpuif_addr(addr_q),
    .s_cpuif_wr_data(wdata_q),
    .s_cpuif_wr_biten({{8{be_q[3]}}, {8{be_q[2]}}, {8{be_q[1]}}, {8{be_q[0]}}}),
    .s_cpuif_req_stall_wr(wr_stall), .s_cpuif_req_stall_rd(rd_stall),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rdata_o),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(in), .hwif_out(out)
  );
  assign ack_o = rd_ack || wr_ack;
  assign err_o = write_q ? wr_err : rd_err;

  // A register has its new value a cycle after the write: so has what a write begins.
  logic attach_q, reset_q, used_set_q, end_q, go_q, room_q, fetch_q, give_q;
  always_ff @(posedge clk_i) begin
    attach_q <= rst_ni && out.QP_ATTACHED.v.swmod;
    reset_q <= rst_ni && out.QP_RESET.v.swmod;
    used_set_q <= rst_ni && out.QP_USED.used.swmod;
    end_q <= rst_ni && out.CMD_END.done.swmod;
    go_q <= rst_ni && out.WRITE_GO.kind.swmod;
    room_q <= rst_ni && out.ROOM_ASK.qp.swmod;
    fetch_q <= rst_ni && out.FETCH_GO.length.swmod;
    give_q <= rst_ni && out.TX_GO.length.swmod;
  end

  // ---- queue pairs ----
  logic [Qps-1:0] enabled, attached_q, is_reset_q;
  logic [Qps-1:0][15:0] used_q;
  logic [Qps-1:0][7:0] listeners_q;
  wire [QpBits-1:0] selected = out.QP_SELECT.v.value[QpBits-1:0];
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_qp
    assign enabled[i] = qp_i[i].enable;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !enabled[i]) begin
        attached_q[i] <= 1'b0;
        is_reset_q[i] <= 1'b0;
        used_q[i] <= '0;
        listeners_q[i] <= '0;
      end else begin
        if (attach_q && out.QP_ATTACHED.v.value[i]) attached_q[i] <= 1'b1;
        if (reset_q && out.QP_RESET.v.value[i]) is_reset_q[i] <= 1'b1;
        if (used_set_q && selected == QpBits'(i)) begin
          used_q[i] <= out.QP_USED.used.value;
          listeners_q[i] <= out.QP_USED.listeners.value;
        end
      end
    end
  end
  wire [Qps-1:0] to_attach = enabled & ~attached_q & ~leaves_i;
  wire [Qps-1:0] to_reset = enabled & leaves_i & ~is_reset_q;
  assign attached_o = attached_q;
  assign reset_o = is_reset_q;
  assign used_o = used_q;
  assign listeners_o = listeners_q;

  // ---- the command at hand ----
  logic cmd_valid_q;
  command_t cmd_q;
  qp_t cmd_qp_q;
  entry_t entry_q;
  assign event_ready_o = !cmd_valid_q;
  assign conn_ready_o = !cmd_valid_q;
  assign done_o = end_q && cmd_valid_q && out.CMD_END.done.value;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) cmd_valid_q <= 1'b0;
    else if (!cmd_valid_q) cmd_valid_q <= event_valid_i || conn_valid_i;
    else if (end_q) cmd_valid_q <= 1'b0;
    if (!cmd_valid_q) begin
      cmd_q <= conn_valid_i ? conn_i : as_command(event_i.body);
      cmd_qp_q <= conn_valid_i ? conn_qp_i : event_i.qp;
      entry_q <= conn_entry_i;
    end
  end

  // ---- writes ----
  typedef enum logic [1:0] {
    GoEvent = 2'd0,
    GoPlace = 2'd1,
    GoRecord = 2'd2,
    GoRecordEnd = 2'd3
  } go_e;

  // Records are payload of a pretended queue pair: of its slot 0, from the record window.
  localparam logic [31:0] RecordBytes = 32'd192;
  logic write_valid_q;
  write_t write_q2;
  wire qp_t of_qp = out.WRITE_FLOW.qp.value;
  wire [15:0] of_slot = out.WRITE_FLOW.slot.value;
  wire go_e kind = go_e'(out.WRITE_GO.kind.value);
  wire of_known = int'(of_qp) < int'(Qps) &&
                  (32'(of_slot) >> qp_i[of_qp[QpBits-1:0]].slots_log) == '0;
  write_t made;
  always_comb begin
    made = '0;
    made.qp = of_qp;
    made.flow = qp_i[of_qp[QpBits-1:0]].first + flow_t'(of_slot);
    made.done = kind == GoEvent && out.WRITE_GO.answers.value;
    made.cmd = {out.WRITE_CMD[3].v.value, out.WRITE_CMD[2].v.value, out.WRITE_CMD[1].v.value,
                out.WRITE_CMD[0].v.value};
    made.kind = (kind == GoEvent) ? WrCommand : WrPlace;
    if (kind == GoPlace) begin
      made.buffer = buf_t'(out.PLACE_FROM.buffer.value);
      made.offset = out.PLACE_FROM.offset.value;
      made.len = out.PLACE_LENGTH.v.value;
      made.to = out.PLACE_TO.v.value;
    end else if (kind != GoEvent) begin
      made.qp = of_qp + qp_t'(Qps);
      made.flow = '0;
      made.buffer = buf_t'(2 ** RxBits);
      made.len = (kind == GoRecord) ? 16'(RecordBytes) : 16'd64;
      made.to = RecordBytes * 32'(of_slot);
    end
  end
  always_ff @(posedge clk_i) begin
    if (go_q && !write_valid_q) write_q2 <= made;
    if (!rst_ni) write_valid_q <= 1'b0;
    else if (!write_valid_q) write_valid_q <= go_q && of_known;
    else if (write_ready_i) write_valid_q <= 1'b0;
  end
  assign write_valid_o = write_valid_q;
  assign write_o = write_q2;
  path_t path;
  always_comb begin
    path = '0;
    path.tuple.remote = addr_t'(out.PEER_IPV4.v.value);
    path.tuple.remote_port = out.PEER_PORTS.remote.value;
    path.tuple.local_port = out.PEER_PORTS.own.value;
  end
  assign path_o = path;

  // A host that does not drain its HW ring is answered "no room"; the event waits in its flow.
  localparam int unsigned Patience = 63;
  logic ask_q, room_there_q;
  logic [5:0] waited_q;
  wire tired = waited_q == 6'(Patience);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ask_q <= 1'b0;
      room_there_q <= 1'b0;
      waited_q <= '0;
    end else begin
      waited_q <= ask_q ? waited_q + 6'd1 : '0;
      if (room_q && !ask_q) begin
        ask_q <= 1'b1;
        room_there_q <= 1'b0;
      end else if (ask_q && (grant_i || refuse_i || tired)) begin
        ask_q <= 1'b0;
        room_there_q <= grant_i;
      end
    end
  end
  assign ask_o = ask_q;
  assign ask_qp_o = out.ROOM_ASK.qp.value;

  // ---- fetches and frames ----
  assign fetch_o = fetch_q;
  assign fetch_qp_o = out.FETCH_FLOW.qp.value;
  assign fetch_slot_o = out.FETCH_FLOW.slot.value;
  assign fetch_from_o = out.FETCH_FROM.v.value;
  assign fetch_length_o = out.FETCH_GO.length.value;
  assign fetch_to_o = out.FETCH_TO.v.value[TxBits+10:0];
  assign rx_tail_o = out.RX_TAIL.v.value;
  assign give_o = give_q;
  assign give_length_o = out.TX_GO.length.value;

  // ---- what is read ----
  logic [63:0] wake;
  logic due_q;
  assign wake = {out.WAKE_HIGH.v.value, out.WAKE_LOW.v.value};
  always_ff @(posedge clk_i) due_q <= rst_ni && now_i.ns >= wake;
  wire frame = rx_head_i != out.RX_TAIL.v.value;
  wire attention = to_attach != '0 || to_reset != '0;
  assign irq_o = {due_q, attention, frame, cmd_valid_q};
  assign ready_o = out.READY.v.value;

  function automatic logic [31:0] swapped(input logic [31:0] word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  always_comb begin
    in.BLOCK.NEXT.v.next = '0;
    in.NOW_LOW.v.next = now_i.ns[31:0];
    in.NOW_HIGH.v.next = now_i.ns[63:32];
    in.PENDING.command.next = cmd_valid_q;
    in.PENDING.frame.next = frame;
    in.PENDING.queue_pair.next = attention;
    in.PENDING.timer.next = due_q;
    in.PENDING.fetch.next = fetch_busy_i || fetch_q;
    in.PENDING.fetch_refused.next = fetch_refused_i;
    in.PENDING.write.next = write_valid_q || go_q;
    in.PENDING.writing.next = write_valid_q || go_q || writing_i;
    in.PENDING.room.next = ask_q || room_q;
    in.PENDING.room_there.next = room_there_q;
    in.MAC_LOW.v.next = swapped(own_i.mac[47:16]);
    in.MAC_HIGH.v.next = {16'd0, own_i.mac[7:0], own_i.mac[15:8]};
    in.IPV4.v.next = own_i.ip4;
    in.OWN.prefix.next = own_i.ip4_prefix;
    in.OWN.newreno.next = own_i.cc[0];
    in.OWN.ip6.next = own_i.ip6_on;
    in.OWN.ip6_prefix.next = own_i.ip6_prefix;
    in.IPV4_GATEWAY.v.next = own_i.ip4_gateway;
    in.MTU.v.next = 32'(own_i.mtu);
    for (int i = 0; i < 4; i++) begin
      in.IPV6[i].v.next = swapped(own_i.ip6[32*(3-i)+:32]);
      in.IPV6_GATEWAY[i].v.next = swapped(own_i.ip6_gateway[32*(3-i)+:32]);
      in.SECRET[i].v.next = own_i.secret[32*i+:32];
      in.SECRET[i+4].v.next = own_i.hash_key[32*i+:32];
      in.CMD[i].v.next = cmd_q.cmd[32*i+:32];
      in.CMD_ENTRY[i].v.next = swapped(entry_q.remote[32*(3-i)+:32]);
      in.CMD_ENTRY[i+4].v.next = swapped(entry_q.own[32*(3-i)+:32]);
    end
    in.QP_TO_ATTACH.v.next = 8'(to_attach);
    in.QP_TO_RESET.v.next = 8'(to_reset);
    in.QP_SIZES.slots_log.next = qp_i[selected].slots_log;
    in.QP_SIZES.tx_log.next = qp_i[selected].tx_log;
    in.QP_SIZES.rx_log.next = qp_i[selected].rx_log;
    in.QP_FIRST.v.next = qp_i[selected].first;
    in.CMD_POSITION.v.next = cmd_q.position;
    in.CMD_ABOUT.qp.next = cmd_qp_q;
    in.RX_HEAD.v.next = rx_head_i;
    in.RX_LENGTH.v.next = rx_length_i;
    in.TX_HEAD.v.next = tx_head_i;
    in.TX_TAIL.v.next = tx_tail_i;
  end

endmodule

`resetall
