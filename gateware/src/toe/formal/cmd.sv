// SPDX-License-Identifier: Apache-2.0
// cmd.sv - the SW ring, with arbitrary contents: toe_cmd reads nothing outside the ring and the
// address table; the tail never passes the head, and advances by the commands that were handed
// on or refused, each once and in order. An impossible head, a broken HW ring or a wrong phase
// halts the ring.
`default_nettype none

module cmd
  import toe_pkg::*;
(
    input wire         clk_i,
    input wire         rst_ni,
    input wire [2:0]   more_i,
    input wire         jump_i,
    input wire         bad_tail_i,
    input wire [511:0] data_i,
    input wire         r_valid_i,
    input wire         ar_ready_i,
    input wire         grant_i,
    input wire         event_ready_i,
    input wire         conn_ready_i,
    input wire         write_ready_i,
    input wire         tail_ready_i,
    input wire [2:0]   done_i
);
  localparam logic [63:0] Ring = 64'h1_1000, Table = 64'h1_2000;

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  qp_config_t [0:0] qp;
  always_comb begin
    qp = '0;
    qp[0].enable = 1'b1;
    qp[0].area = 64'h1_0000;
    qp[0].sw_at = 32'h1000;
    qp[0].addresses_at = 32'h2000;
    qp[0].addresses = 13'd2;
    qp[0].sw_log = 5'd2;
    qp[0].slots_log = 5'd1;
  end

  // The host: its head advances within the room of the ring, until it jumps.
  logic [31:0] head_q = '0, tail_q = '0;
  logic jumped_q = 1'b0, halted_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (rst_ni && !jumped_q) begin
      if (jump_i) begin
        head_q <= head_q + 32'd100;
        jumped_q <= 1'b1;
      end else if (head_q + 32'(more_i) - tail_q <= 32'd4) head_q <= head_q + 32'(more_i);
    end
  end

  logic ar, ev_valid, conn_valid, write_valid, tail_valid;
  logic [63:0] ar_addr;
  logic [31:0] tail;
  event_t ev;
  command_t conn;
  write_t write;
  logic halt;
  toe_cmd #(.Qps(1), .Fpcs(1)) u_cmd (
      .clk_i, .rst_ni, .qp_i(qp), .sw_head_i(head_q), .bad_tail_i(bad_tail_i),
      .closed_i('0), .at_work_o(),
      .ar_valid_o(ar), .ar_ready_i, .ar_addr_o(ar_addr), .r_valid_i, .r_data_i(data_i),
      .ask_o(), .ask_qp_o(), .grant_i, .return_o(), .return_qp_o(),
      .event_valid_o(ev_valid), .event_ready_i, .event_o(ev),
      .conn_valid_o(conn_valid), .conn_ready_i, .conn_o(conn), .conn_qp_o(), .conn_entry_o(),
      .write_valid_o(write_valid), .write_ready_i, .write_o(write),
      .tail_valid_o(tail_valid), .tail_ready_i, .tail_qp_o(), .tail_o(tail),
      .halt_o(halt), .halt_qp_o(), .halted_o(),
      .done_i(done_i[0]), .conn_done_i(done_i[1]), .error_done_i(done_i[2]));

  // The ring's state when toe_cmd chose the line: two cycles before it requests it.
  logic ar_q = 1'b0, wrong_q = 1'b0, wrong_q2 = 1'b0;
  always_ff @(posedge clk_i) begin
    ar_q <= ar;
    wrong_q <= jumped_q || bad_tail_i;
    wrong_q2 <= wrong_q;
  end

  // What was handed on is handled later, once. The ERROR with the reason of a halt is of no command.
  wire ends = write_valid && toe_cmd_pkg::cmd_aux(write.cmd) == 16'(toe_cmd_pkg::ReasonProto);
  wire gives = (ev_valid && event_ready_i) || (conn_valid && conn_ready_i) ||
               (write_valid && write_ready_i);
  wire hands = gives && !ends;
  logic [2:0] handed_q = '0, open_q = '0;
  wire [2:0] dones = 3'(done_i[0]) + 3'(done_i[1]) + 3'(done_i[2]);
  always_comb assume (dones <= open_q);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      open_q <= open_q + 3'(gives) - dones;
      handed_q <= handed_q + 3'(hands);
      if (halt) halted_q <= 1'b1;
      if (tail_valid && tail_ready_i) begin
        tail_q <= tail;
        handed_q <= '0;
      end
    end
  end

  wire [31:0] position = ev_valid ? as_command(ev.body).position : conn.position;
  wire in_ring = ar_addr >= Ring && ar_addr < Ring + 64'd64;
  wire in_table = ar_addr >= Table && ar_addr < Table + 64'd128;
  always_comb begin
    if (!first_q) begin
      assert (2'(ev_valid) + 2'(conn_valid) + 2'(write_valid) <= 2'd1);
      if (ar) assert ((in_ring || in_table) && ar_addr[5:0] == 6'd0);
      if (ev_valid || conn_valid) assert (position == tail_q + 32'(handed_q));
      if (hands) assert (head_q - tail_q > 32'(handed_q));
      if (ar && !ar_q && in_ring) assert (!wrong_q2);
      if (halted_q) assert (!ar && !ev_valid && !conn_valid && !write_valid && !tail_valid);
      if (tail_valid) begin
        assert (open_q == '0);
        assert (tail == tail_q + 32'(handed_q));
        assert (head_q - tail <= 32'd4 || jumped_q);
      end
    end
  end
endmodule
