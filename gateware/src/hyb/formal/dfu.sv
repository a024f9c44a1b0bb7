// SPDX-License-Identifier: Apache-2.0
// dfu.sv - any jobs, also unlawful ones, a host that answers when it likes and may refuse, and a
// processor that writes slots in between. Each word of a job is requested once and in order, in bursts
// that end at their limit or with the job; an address stays until it is taken. Each byte of a job is
// written once, from its place in the answer to its place in the slot, and no other byte is. A job is
// done with its last write, and an error is reported with the write of its beat. An unlawful job is
// refused and changes nothing. By induction, for all time.
//
// A slot has 32 bytes here, a burst 16, and two jobs are under way.
`default_nettype none

module dfu (
    input wire        clk_i,
    input wire        rst_ni,
    input wire        go_i,
    input wire [63:0] host_i,
    input wire [5:0]  length_i,
    input wire        slot_i,
    input wire [4:0]  offset_i,
    input wire        more_i,
    input wire        ar_ready_i,
    input wire        r_valid_i,
    input wire [63:0] r_data_i,
    input wire        r_bad_i,
    input wire        stall_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  typedef struct packed {
    logic [63:0] host;
    logic [5:0]  length;
    logic        slot;
    logic [4:0]  offset;
    logic        more;
  } job_t;

  logic ar_valid, done, bad, refused, r_ready, slot;
  logic [63:0] ar_addr, data;
  logic [7:0] ar_len, write;
  logic [7:0][1:0] line;
  logic [4:0] awaited_q = '0;               // words that were requested and have not come
  wire r_valid = r_valid_i && awaited_q != '0;

  hyb_dfu #(.SlotBits(1), .SlotLog(5), .BurstLog(4), .JobBits(1)) u_dfu (
      .clk_i, .rst_ni, .go_i, .host_i, .length_i, .slot_i, .offset_i, .more_i,
      .ar_valid_o(ar_valid), .ar_ready_i, .ar_addr_o(ar_addr), .ar_len_o(ar_len),
      .r_valid_i(r_valid), .r_ready_o(r_ready), .r_data_i, .r_bad_i,
      .stall_i, .write_o(write), .slot_o(slot), .line_o(line), .data_o(data),
      .done_o(done), .bad_o(bad), .refused_o(refused));

  // ---- the model: jobs in order; which word of which job is requested and answered next ----
  job_t [1:0] jobs_q = '0;
  logic [1:0] head_q = '0, ask_q = '0, fill_q = '0;   // modulo 4; job n is jobs_q[n modulo 2]
  logic [3:0] ask_at_q = '0, fill_at_q = '0;

  function automatic logic lawful(input job_t j);
    return j.length != '0 && 7'(j.offset) + 7'(j.length) <= 7'd32;
  endfunction
  function automatic logic [3:0] words(input job_t j);
    return 4'((7'(j.host[2:0]) + 7'(j.length) + 7'd7) >> 3);
  endfunction

  job_t job, asked, filled;
  assign job = '{host_i, length_i, slot_i, offset_i, more_i};
  assign asked = jobs_q[ask_q[0]];
  assign filled = jobs_q[fill_q[0]];
  wire [1:0] live = head_q - fill_q;
  wire accepts = go_i && lawful(job) && live != 2'd2;
  wire takes = ar_valid && ar_ready_i;
  wire [3:0] ask_end = ask_at_q + 4'(ar_len) + 4'd1;
  wire ask_last = ask_end == words(asked);
  wire answered = r_valid && r_ready;
  wire fill_last = fill_at_q + 4'd1 == words(filled);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_q <= '0;
      ask_q <= '0;
      fill_q <= '0;
      ask_at_q <= '0;
      fill_at_q <= '0;
      awaited_q <= '0;
    end else begin
      if (accepts) begin
        jobs_q[head_q[0]] <= job;
        head_q <= head_q + 1'b1;
      end
      awaited_q <= awaited_q + (takes ? 5'(ar_len) + 5'd1 : 5'd0) - 5'(answered);
      if (takes) begin
        ask_at_q <= ask_last ? '0 : ask_end;
        if (ask_last) ask_q <= ask_q + 1'b1;
      end
      if (answered) begin
        fill_at_q <= fill_last ? '0 : fill_at_q + 1'b1;
        if (fill_last) fill_q <= fill_q + 1'b1;
      end
    end
  end

  // ---- what the answer at hand is to write, byte by byte ----
  logic [7:0] want;
  logic [7:0][1:0] want_line;
  logic [63:0] want_data;
  always_comb begin
    want = '0;
    want_line = '0;
    want_data = '0;
    for (int b = 0; b < 8; b++) begin
      automatic logic [7:0] at = {1'b0, fill_at_q, 3'(b)} - 8'(filled.host[2:0]);  // in the job
      automatic logic [4:0] to = filled.offset + 5'(at);                           // in the slot
      if (!at[7] && at < 8'(filled.length)) begin
        want[to[2:0]] = 1'b1;
        want_line[to[2:0]] = to[4:3];
        want_data[8*to[2:0]+:8] = r_data_i[8*b+:8];
      end
    end
  end

  logic writes_q = 1'b0, slot_q = '0, done_q = '0, bad_q = '0;
  logic [7:0] want_q = '0;
  logic [7:0][1:0] line_q = '0;
  logic [63:0] data_q = '0;
  always_ff @(posedge clk_i) begin
    if (answered) begin
      want_q <= want;
      line_q <= want_line;
      data_q <= want_data;
      slot_q <= filled.slot;
      done_q <= fill_last && !filled.more;
      bad_q <= r_bad_i;
    end
    if (!rst_ni) writes_q <= 1'b0;
    else if (answered) writes_q <= 1'b1;
    else if (!stall_i) writes_q <= 1'b0;
  end

  logic held_q = 1'b0;
  logic [63:0] addr_q = '0;
  logic [7:0] len_q = '0;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && ar_valid && !ar_ready_i;
    addr_q <= ar_addr;
    len_q <= ar_len;
  end

  wire [60:0] ask_word = asked.host[63:3] + 61'(ask_at_q);
  wire at_limit = ask_word[0] ^ ar_len[0];             // its last word is the second of 16 bytes
  always_comb begin
    if (!first_q) begin
      // requests
      assert (refused == (go_i && !accepts));
      if (held_q) assert (ar_valid && ar_addr == addr_q && ar_len == len_q);
      if (ar_valid) begin
        assert (ask_q != head_q);
        assert (ar_addr == {ask_word, 3'd0});
        assert (8'(ask_word[0]) + ar_len <= 8'd1);
        assert (ask_at_q + 4'(ar_len) < words(asked));
        assert (at_limit || ask_last);
      end
      // writes
      assert (r_ready == !(writes_q && stall_i));
      if (answered) assert (fill_q != head_q && want != '0);
      assert (done == (writes_q && !stall_i && done_q));
      assert (bad == (writes_q && !stall_i && bad_q));
      if (!writes_q) assert (write == '0);
      else begin
        assert (write == want_q);
        assert (slot == slot_q);
        for (int l = 0; l < 8; l++)
          if (want_q[l]) assert (line[l] == line_q[l] && data[8*l+:8] == data_q[8*l+:8]);
      end
    end
  end

  // ---- what induction needs: the design's state is the model's ----
  typedef struct packed {
    logic [60:0] word;
    logic [3:0]  words;
  } ask_t;
  typedef struct packed {
    logic       slot;
    logic [4:0] base;
    logic [2:0] skip;
    logic [6:0] stop;
    logic       more;
  } fill_t;
  ask_t [1:0] ask_of;
  fill_t [1:0] fill_of;
  logic [1:0] is_live, is_asked;
  wire [1:0] not_asked = head_q - u_dfu.u_asks.tail_q;
  always_comb begin
    for (int i = 0; i < 2; i++) begin
      ask_of[i] = '{jobs_q[i].host[63:3], words(jobs_q[i])};
      fill_of[i] = '{jobs_q[i].slot, jobs_q[i].offset - 5'(jobs_q[i].host[2:0]),
                     jobs_q[i].host[2:0], 7'(jobs_q[i].host[2:0]) + 7'(jobs_q[i].length),
                     jobs_q[i].more};
      is_live[i] = live == 2'd2 || (live == 2'd1 && fill_q[0] == 1'(i));
      is_asked[i] = not_asked == 2'd2 ||
                    (not_asked == 2'd1 && u_dfu.u_asks.tail_q[0] == 1'(i));
    end
  end

  wire [1:0] ahead = ask_q - fill_q;                  // jobs that are requested and not filled
  wire [4:0] rest = 5'(words(filled)) - 5'(fill_at_q);
  always_comb begin
    if (!first_q) begin
      assert (live <= 2'd2 && ahead <= live && not_asked <= live);
      assert (u_dfu.u_asks.head_q == head_q);
      assert (u_dfu.u_fills.head_q == head_q && u_dfu.u_fills.tail_q == fill_q);
      assert (u_dfu.filled_q == fill_at_q);
      assert (live == '0 ? fill_at_q == '0 : fill_at_q < words(filled));
      assert (ask_q == head_q ? ask_at_q == '0 : ask_at_q < words(asked));
      // An offered burst has left the queue of requests.
      if (ar_valid && ask_last)
        assert (u_dfu.u_asks.tail_q == ask_q + 2'd1 && u_dfu.asked_q == '0);
      else
        assert (u_dfu.u_asks.tail_q == ask_q &&
                u_dfu.asked_q == (ar_valid ? ask_end : ask_at_q));
      if (ahead == '0) assert (ask_at_q >= fill_at_q && awaited_q == 5'(ask_at_q - fill_at_q));
      if (ahead == 2'd1) assert (awaited_q == rest + 5'(ask_at_q));
      if (ahead == 2'd2) assert (awaited_q == rest + 5'(words(jobs_q[~fill_q[0]])));
      for (int i = 0; i < 2; i++) begin
        if (is_live[i]) assert (lawful(jobs_q[i]) && u_dfu.u_fills.memory[i] == fill_of[i]);
        if (is_asked[i]) assert (u_dfu.u_asks.memory[i] == ask_of[i]);
      end
      assert (u_dfu.valid_q == writes_q);
      if (writes_q) assert (u_dfu.done_q == done_q && u_dfu.bad_q == bad_q);
    end
  end
endmodule

`default_nettype wire
