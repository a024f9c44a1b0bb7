// SPDX-License-Identifier: Apache-2.0
// toe_cmd.sv - fetches commands from the SW rings (S1.10, S1.11) in lines of four, checks them and
// passes them to their flow's FPC or to toe_conn. The tail moves when all commands of a line are
// handled and their errors are in the HW ring.
//
// One queue pair after the other, a line at a time. The configuration and state of a queue pair are
// read a cycle before they are used.
`resetall
`default_nettype none

module toe_cmd
  import toe_pkg::*;
  import toe_cmd_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned Fpcs = 1
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0][31:0]       sw_head_i,
  input  wire [Qps-1:0]             bad_tail_i,   // the HW ring is broken
  input  wire [Qps-1:0]             closed_i,     // is detached: no more of its commands
  output wire [Qps-1:0]             at_work_o,    // a line of it is at hand

  // AXI reads of one beat
  output wire         ar_valid_o,
  input  wire         ar_ready_i,
  output wire [63:0]  ar_addr_o,
  input  wire         r_valid_i,
  input  wire [511:0] r_data_i,

  // room in the HW ring for each command's ERROR
  output wire         ask_o,
  output wire qp_t    ask_qp_o,
  input  wire         grant_i,
  output wire         return_o,
  output wire qp_t    return_qp_o,

  // to flows
  output wire         event_valid_o,
  input  wire         event_ready_i,
  output wire event_t event_o,

  // to toe_conn
  output wire           conn_valid_o,
  input  wire           conn_ready_i,
  output wire command_t conn_o,
  output wire qp_t      conn_qp_o,
  output wire entry_t   conn_entry_o,

  // ERRORs found here; the tail; a ring that is broken
  output wire         write_valid_o,
  input  wire         write_ready_i,
  output wire write_t write_o,
  output wire         tail_valid_o,
  input  wire         tail_ready_i,
  output wire qp_t    tail_qp_o,
  output wire [31:0]  tail_o,
  output wire         halt_o,
  output wire qp_t    halt_qp_o,
  output wire [Qps-1:0] halted_o,

  // handled: by FPCs, by toe_conn, by toe_dmaw when an ERROR is written
  input  wire [Fpcs-1:0] done_i,
  input  wire            conn_done_i,
  input  wire            error_done_i
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  typedef logic [QpBits-1:0] qidx_t;

  typedef enum logic [3:0] {
    Look, Ask, Data, Each, Place, Hand, Wait, Tail, Next, EntryAsk, EntryData, HaltPlace, HaltError
  } step_e;

  step_e step_q;
  qp_t   qp_q;
  logic [Qps-1:0][31:0] tail_q;
  logic [Qps-1:0] broken_q;
  logic [511:0] line_q;
  logic [1:0] index_q;
  logic [2:0] left_q;           // commands of the line to do
  // Commands passed on and not handled: four of the line, and an ERROR of each queue pair that was halted.
  localparam int unsigned OutBits = $clog2(Qps + 5);
  logic [OutBits-1:0] out_q;
  logic [31:0] position;        // in the ring, of the command at hand
  logic bad_phase_q;           // the line ended at an entry with the wrong phase

  // State of the queue pair at hand when it was read; the next one to read.
  qp_config_t q;
  logic [31:0] tail, head;
  logic serves, bad_tail;
  qidx_t next_q;
  wire [31:0] waiting = head - tail;
  wire [31:0] entries = 32'd1 << q.sw_log;
  wire [31:0] at = tail & (entries - 32'd1);

  // ---- the command at hand ----

  // The step Each parses the command; the registers below hold the result.
  typedef struct packed {
    cmd_t        cmd;
    logic [31:0] position;
    flow_t       flow;
    logic        to_flow;
    logic        to_conn;
    logic        refused;
    logic        has_entry;
    logic [7:0]  reason;
    logic [63:0] entry_at;
  } judged_t;
  judged_t j;
  logic [63:0] line_at_q;

  cmd_t cmd;
  assign cmd = line_q[128*index_q+:128];
  logic [31:0] entries_q;
  always_ff @(posedge clk_i) entries_q <= entries;
  wire phase_ok = cmd_phase(cmd) == ((position & entries_q) == 32'd0);

  logic to_flow, to_conn, flags_ok, known, slot_ok;
  logic [7:0] reason;
  always_comb begin
    logic [6:0] allowed;
    known = 1'b1;
    to_flow = 1'b0;
    to_conn = 1'b0;
    allowed = '0;
    unique case (cmd_type(cmd))
      SwListen: begin
        to_conn = 1'b1;
        allowed = ListenFlags;
      end
      SwUnlisten: begin
        to_conn = 1'b1;
        allowed = UnlistenFlags;
      end
      SwConnect: begin
        to_conn = 1'b1;
        allowed = ConnectFlags;
      end
      SwCancel: begin
        to_conn = 1'b1;
        allowed = CancelFlags;
      end
      SwSend: begin
        to_flow = 1'b1;
        allowed = SendPush | SendUrgent;  // the welcome does not offer EOR
      end
      SwRecv: begin
        to_flow = 1'b1;
        allowed = RecvFlags;
      end
      SwClose: begin
        to_flow = 1'b1;
        allowed = CloseFlags;
      end
      SwOption: begin
        to_conn = cmd_flags(cmd) != 7'd0;
        to_flow = cmd_flags(cmd) == 7'd0;
        allowed = OptionFlags;
      end
      SwAccept: begin
        to_flow = 1'b1;
        allowed = AcceptFlags;
      end
      SwRelease: begin
        to_flow = 1'b1;
        allowed = ReleaseFlags;
      end
      default: known = 1'b0;
    endcase
    flags_ok = (cmd_flags(cmd) & ~allowed) == 7'd0;
    slot_ok = !to_flow || (cmd_flow(cmd) >> q.slots_log) == 32'd0;
    reason = !known ? ReasonNosys : ((!flags_ok || slot_ok) ? ReasonInval : ReasonBadf);
  end
  // LISTEN and CONNECT with V6 name an entry of the address table.
  wire has_entry = (cmd_type(cmd) == SwListen && (cmd_flags(cmd) & ListenV6) != 7'd0) ||
                   (cmd_type(cmd) == SwConnect && (cmd_flags(cmd) & ConnectV6) != 7'd0);
  wire entry_ok = !has_entry || cmd_arg0(cmd) < 32'(q.addresses);
  wire refused = !known || !flags_ok || !slot_ok || !entry_ok;
  entry_t entry_q;

  always_ff @(posedge clk_i) begin
    if (step_q == Each)
      j <= '{cmd: cmd, position: position, flow: q.first + flow_t'(cmd_flow(cmd)),
             to_flow: to_flow, to_conn: to_conn, refused: refused, has_entry: has_entry,
             reason: reason,
             entry_at: q.area + 64'(q.addresses_at) + (64'(cmd_arg0(cmd)) << 6)};
    line_at_q <= (q.area + 64'(q.sw_at) + (64'(at) << 4)) & ~64'd63;
  end

  function automatic entry_t read_entry(input logic [511:0] line);
    entry_t e;
    for (int i = 0; i < 16; i++) begin
      e.remote[8*(15-i)+:8] = line[8*i+:8];
      e.own[8*(15-i)+:8] = line[128+8*i+:8];
    end
    return e;
  endfunction

  // ---- the outputs ----

  command_t command_out;
  event_t event_out;
  write_t error_out;
  always_comb begin
    command_out.cmd = j.cmd;
    command_out.position = j.position;
    event_out.kind = EvCommand;
    event_out.flow = j.flow;
    event_out.qp = qp_q;
    event_out.body = body_t'(command_out);
    error_out = '0;
    error_out.kind = WrCommand;
    error_out.flow = q.first;
    error_out.qp = qp_q;
    error_out.done = 1'b1;
    error_out.cmd = command(HwError, 7'd0, 16'(j.reason), cmd_flow(j.cmd), j.position,
                            32'(cmd_type(j.cmd)));
    if (step_q == HaltError)
      error_out.cmd = command(HwError, 7'd0, 16'(ReasonProto), 32'd0, tail, 32'd0);
  end

  assign ar_valid_o = step_q == Ask || step_q == EntryAsk;
  assign ar_addr_o = (step_q == Ask) ? line_at_q : j.entry_at;
  assign ask_o = step_q == Place || step_q == HaltPlace;
  assign ask_qp_o = qp_q;
  assign event_valid_o = step_q == Hand && j.to_flow && !j.refused;
  assign event_o = event_out;
  assign conn_valid_o = step_q == Hand && j.to_conn && !j.refused;
  assign conn_o = command_out;
  assign conn_qp_o = qp_q;
  assign conn_entry_o = entry_q;
  assign write_valid_o = (step_q == Hand && j.refused) || step_q == HaltError;
  assign write_o = error_out;
  assign tail_valid_o = step_q == Tail;
  assign tail_qp_o = qp_q;
  assign tail_o = position;

  wire handed = (event_valid_o && event_ready_i) || (conn_valid_o && conn_ready_i) ||
                (write_valid_o && write_ready_i);

  // A command without an error returns its room.
  logic [2:0] dones, all_dones;
  always_comb begin
    dones = 3'(conn_done_i);
    for (int i = 0; i < int'(Fpcs); i++) dones += 3'(done_i[i]);
    all_dones = dones + 3'(error_done_i);
  end

  // Room is returned one entry at a time.
  logic [2:0] back_q;
  assign return_o = back_q != 3'd0;
  assign return_qp_o = qp_q;

  // A ring is broken: its queue pair alone is halted. The ERROR that reports it needs room too.
  wire bad_head = waiting > entries || bad_tail;
  wire takes = serves && (waiting != 32'd0 || bad_head);
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_at_work
    assign at_work_o[i] = step_q != Look && qp_q == qp_t'(i);
  end
  logic halt_q;
  qp_t halt_qp_q;
  assign halt_o = halt_q;
  assign halt_qp_o = halt_qp_q;
  assign halted_o = broken_q;

  // A host that does not drain its HW ring does not delay the others: its commands stay.
  localparam int unsigned Patience = 63;
  logic [5:0] waited_q;
  wire tired = waited_q == 6'(Patience);
  // The next queue pair is read.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      qp_q <= '0;
      next_q <= '0;
      serves <= 1'b0;
    end else if (step_q == Next || (step_q == Look && !takes)) begin
      qp_q <= qp_t'(next_q);
      next_q <= (next_q == qidx_t'(Qps - 1)) ? '0 : next_q + 1'b1;
      q <= qp_i[next_q];
      tail <= tail_q[next_q];
      head <= sw_head_i[next_q];
      bad_tail <= bad_tail_i[next_q];
      serves <= qp_i[next_q].enable && !broken_q[next_q] && !closed_i[next_q];
    end else if (step_q == Tail && tail_ready_i) tail <= tail_o;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= Look;
      tail_q <= '0;
      broken_q <= '0;
      out_q <= '0;
      back_q <= '0;
      halt_q <= 1'b0;
    end else begin
      halt_q <= 1'b0;
      waited_q <= ask_o ? waited_q + 6'd1 : '0;
      out_q <= out_q + OutBits'(handed) - OutBits'(all_dones);
      back_q <= back_q + dones - 3'(return_o);
      for (int i = 0; i < int'(Qps); i++) begin
        if (!qp_i[i].enable) begin
          tail_q[i] <= '0;
          broken_q[i] <= 1'b0;
        end
      end
      unique case (step_q)
        Look: begin
          if (takes) step_q <= bad_head ? HaltPlace : Ask;
          index_q <= at[1:0];
          position <= tail;
          // The rest of the line, or of the ring.
          bad_phase_q <= 1'b0;
          left_q <= (waiting < 32'd4 - 32'(at[1:0])) ? 3'(waiting) : 3'd4 - 3'(at[1:0]);
        end
        Ask: if (ar_ready_i) step_q <= Data;
        Data:
        if (r_valid_i) begin
          line_q <= r_data_i;
          step_q <= Each;
        end
        Each: begin
          if (left_q == 3'd0) step_q <= Wait;
          else if (!phase_ok) begin
            bad_phase_q <= 1'b1;
            left_q <= '0;
            step_q <= Wait;
          end else step_q <= Place;
        end
        Place:
        if (grant_i) step_q <= (j.has_entry && !j.refused) ? EntryAsk : Hand;
        else if (tired) begin
          left_q <= '0;
          step_q <= Wait;
        end
        EntryAsk: if (ar_ready_i) step_q <= EntryData;
        EntryData:
        if (r_valid_i) begin
          entry_q <= read_entry(r_data_i);
          step_q <= Hand;
        end
        Hand:
        if (handed) begin
          index_q <= index_q + 2'd1;
          position <= position + 32'd1;
          left_q <= left_q - 3'd1;
          step_q <= Each;
        end
        Wait: if (out_q == '0 && back_q == '0) step_q <= Tail;
        Tail:
        if (tail_ready_i) begin
          tail_q[qidx_t'(qp_q)] <= position;
          step_q <= bad_phase_q ? HaltPlace : Next;
        end
        Next: step_q <= Look;
        HaltPlace:
        if (grant_i) step_q <= HaltError;
        else if (tired) begin
          broken_q[qidx_t'(qp_q)] <= 1'b1;
          halt_q <= 1'b1;
          halt_qp_q <= qp_q;
          step_q <= Next;
        end
        default:                  // HaltError
        if (write_ready_i) begin
          broken_q[qidx_t'(qp_q)] <= 1'b1;
          halt_q <= 1'b1;
          halt_qp_q <= qp_q;
          step_q <= Next;
        end
      endcase
    end
  end

endmodule

`resetall
