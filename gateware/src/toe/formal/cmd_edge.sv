// SPDX-License-Identifier: Apache-2.0
// cmd_edge.sv - what toe_cmd offers for eight queue pairs, with arbitrary contents of their
// rings, any stalls, and resets at any time: the address of a read, a command to a flow or to
// toe_conn, an ERROR and a tail stay until they are taken, and only one of them is offered at a
// time; at most one read is in flight, and it is of a line; toe_cmd counts right what it handed
// on and is not handled; each entry that it was granted in the HW ring becomes an ERROR or is
// returned, once, and a tail waits for all of these of its line. By induction, for all time.
`default_nettype none

module cmd_edge
  import toe_pkg::*;
(
    input wire             clk_i,
    input wire             rst_ni,
    input wire [7:0][3:0]  head_i,
    input wire [7:0]       bad_tail_i,
    input wire [7:0]       closed_i,
    input wire [511:0]     data_i,
    input wire             r_valid_i,
    input wire             ar_ready_i,
    input wire             grant_i,
    input wire             event_ready_i,
    input wire             conn_ready_i,
    input wire             write_ready_i,
    input wire             tail_ready_i,
    input wire [2:0]       done_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  qp_config_t [7:0] qp;
  logic [7:0][31:0] head;
  always_comb begin
    qp = '0;
    for (int i = 0; i < 8; i++) begin
      qp[i].enable = 1'b1;
      qp[i].area = {44'd1, 4'(i), 16'd0};
      qp[i].sw_at = 32'h1000;
      qp[i].addresses_at = 32'h2000;
      qp[i].addresses = 13'd2;
      qp[i].sw_log = 5'd3;
      qp[i].slots_log = 5'd1;
      qp[i].first = flow_t'(2 * i);
      head[i] = 32'(head_i[i]);
    end
  end

  logic ar, ask, back, ev_valid, conn_valid, write_valid, tail_valid;
  logic [63:0] ar_addr;
  logic [31:0] tail;
  event_t ev;
  command_t conn;
  entry_t entry;
  write_t write;
  qp_t ask_qp, back_qp, conn_qp, tail_qp;
  toe_cmd #(.Qps(8), .Fpcs(1)) u_cmd (
      .clk_i, .rst_ni, .qp_i(qp), .sw_head_i(head), .bad_tail_i, .closed_i, .at_work_o(),
      .ar_valid_o(ar), .ar_ready_i, .ar_addr_o(ar_addr), .r_valid_i, .r_data_i(data_i),
      .ask_o(ask), .ask_qp_o(ask_qp), .grant_i, .return_o(back), .return_qp_o(back_qp),
      .event_valid_o(ev_valid), .event_ready_i, .event_o(ev),
      .conn_valid_o(conn_valid), .conn_ready_i, .conn_o(conn), .conn_qp_o(conn_qp),
      .conn_entry_o(entry), .write_valid_o(write_valid), .write_ready_i, .write_o(write),
      .tail_valid_o(tail_valid), .tail_ready_i, .tail_qp_o(tail_qp), .tail_o(tail),
      .halt_o(), .halt_qp_o(), .halted_o(),
      .done_i(done_i[0]), .conn_done_i(done_i[1]), .error_done_i(done_i[2]));

  // ---- what is offered stays ----

  logic ar_q = 1'b0, ev_q = 1'b0, conn_q = 1'b0, write_q = 1'b0, tail_q = 1'b0;
  logic [63:0] addr_was_q = '0;
  event_t ev_was_q = '0;
  logic [$bits(command_t)+$bits(entry_t)+5:0] conn_was_q = '0;
  write_t write_was_q = '0;
  logic [37:0] tail_was_q = '0;
  always_ff @(posedge clk_i) begin
    ar_q <= rst_ni && ar && !ar_ready_i;
    ev_q <= rst_ni && ev_valid && !event_ready_i;
    conn_q <= rst_ni && conn_valid && !conn_ready_i;
    write_q <= rst_ni && write_valid && !write_ready_i;
    tail_q <= rst_ni && tail_valid && !tail_ready_i;
    {addr_was_q, ev_was_q, write_was_q} <= {ar_addr, ev, write};
    conn_was_q <= {conn, entry, conn_qp};
    tail_was_q <= {tail, tail_qp};
  end

  // ---- what is in flight ----

  logic reading_q = 1'b0;                  // a line was requested and has not arrived
  // Handed on and not handled: to flows, to toe_conn, ERRORs of the line and of halts.
  logic [5:0] ev_open_q = '0, conn_open_q = '0, error_open_q = '0;
  wire [5:0] open = ev_open_q + conn_open_q + error_open_q;
  logic [5:0] places_q = '0;               // granted, not returned, without an ERROR
  logic [2:0] handed_q = '0;               // of the line
  wire handed = (ev_valid && event_ready_i) || (conn_valid && conn_ready_i) ||
                (write_valid && write_ready_i);
  always_comb begin
    assume (6'(done_i[0]) <= ev_open_q && 6'(done_i[1]) <= conn_open_q &&
            6'(done_i[2]) <= error_open_q);
    if (r_valid_i) assume (reading_q);
  end
  // step_e of the design, by number.
  localparam logic [3:0] Look = 4'd0, Ask = 4'd1, Data = 4'd2, Place = 4'd4, Hand = 4'd5,
                         Next = 4'd8, EntryAsk = 4'd9, EntryData = 4'd10, HaltPlace = 4'd11,
                         HaltError = 4'd12;
  wire [3:0] step = u_cmd.step_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {reading_q, places_q, handed_q} <= '0;
      {ev_open_q, conn_open_q, error_open_q} <= '0;
    end
    else begin
      reading_q <= (ar && ar_ready_i) || (reading_q && !r_valid_i);
      ev_open_q <= ev_open_q + 6'(ev_valid && event_ready_i) - 6'(done_i[0]);
      conn_open_q <= conn_open_q + 6'(conn_valid && conn_ready_i) - 6'(done_i[1]);
      error_open_q <= error_open_q + 6'(write_valid && write_ready_i) - 6'(done_i[2]);
      places_q <= places_q + 6'(ask && grant_i) - 6'(back) - 6'(done_i[2]);
      handed_q <= (step == Look) ? '0 : handed_q + 3'(handed && step == Hand);
    end
  end

  wire qp_t at = u_cmd.qp_q;
  logic [3:0] broken;
  always_comb begin
    broken = '0;
    for (int i = 0; i < 8; i++) broken += 4'(u_cmd.broken_q[i]);
  end
  wire [63:0] line_at = (u_cmd.q.area + 64'(u_cmd.q.sw_at) + (64'(u_cmd.at) << 4)) & ~64'd63;
  wire has_place = step == EntryAsk || step == EntryData || step == Hand || step == HaltError;

  always_comb begin
    if (!first_q) begin
      if (ar_q) assert (ar && ar_addr == addr_was_q);
      if (ev_q) assert (ev_valid && ev == ev_was_q);
      if (conn_q) assert (conn_valid && {conn, entry, conn_qp} == conn_was_q);
      if (write_q) assert (write_valid && write == write_was_q);
      if (tail_q) assert (tail_valid && {tail, tail_qp} == tail_was_q);
      assert (3'(ar) + 3'(ev_valid) + 3'(conn_valid) + 3'(write_valid) + 3'(tail_valid) <= 3'd1);
      if (ar) assert (!reading_q && ar_addr[5:0] == '0);
      if (step == Hand) assert (ev_valid || conn_valid || write_valid);
      assert (reading_q == (step == Data || step == EntryData));
      if (tail_valid) assert (open == '0 && places_q == '0);
      if (back) assert (places_q != '0 && back_qp == at);
      if (ask || tail_valid) assert (ask_qp == at && tail_qp == at);
      assert (places_q == open + 6'(u_cmd.back_q) + 6'(has_place));
      // For induction: the design's registers have the same values.
      assert (step <= HaltError && at < 6'd8);
      assert (6'(u_cmd.out_q) == open && open <= 6'(broken) + 6'(handed_q));
      assert (open + 6'(u_cmd.back_q) <= 6'(broken) + 6'(handed_q));
      assert (ev_open_q + conn_open_q + 6'(u_cmd.back_q) <= 6'(handed_q));
      assert (ev_open_q <= 6'(handed_q) && conn_open_q <= 6'(handed_q) && error_open_q <= 6'd12);
      assert (4'(handed_q) + 4'(u_cmd.left_q) <= 4'd4 || step == Look);
      if (step == Place || step == EntryAsk || step == EntryData || step == Hand)
        assert (u_cmd.left_q != '0 && (u_cmd.j.refused || (u_cmd.j.to_flow ^ u_cmd.j.to_conn)));
      assert (handed_q <= 3'd4);
      if (step == Look || step == Next || step == HaltPlace || step == HaltError)
        assert (error_open_q <= 6'(broken) && ev_open_q == '0 && conn_open_q == '0 &&
                u_cmd.back_q == '0);
      if (step == Look ? u_cmd.serves : step != Next) assert (!u_cmd.broken_q[at[2:0]]);
      if (step == Ask || step == Data) assert (handed_q == '0);
      assert (u_cmd.line_at_q[5:0] == '0);
      if (step == Ask) assert (u_cmd.line_at_q == line_at);
      if (step == Look ? u_cmd.serves : step != Next) assert (u_cmd.q == qp[at[2:0]]);
      if (step == Place || step == EntryAsk) assert (u_cmd.j.entry_at[5:0] == '0);
    end
  end
endmodule

`default_nettype wire
