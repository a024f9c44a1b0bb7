// SPDX-License-Identifier: Apache-2.0
// dfu.sv - any jobs, also unlawful ones, a host that answers when it likes, and a processor that writes
// slots in between: the reads are the words of the jobs in order, no burst crosses its limit, and an
// address stays until it is taken; each byte of a job is written once, from its place in host memory
// to its place in the slot, and no other byte is; a job is done with its last write.
//
// A slot has 32 bytes here and a burst 16, so that jobs of all lengths and alignments end within the
// depth of the proof. A byte of host memory is its address.
`default_nettype none

module dfu (
    input wire        clk_i,
    input wire        rst_ni,
    input wire        go_i,
    input wire [7:0]  host_i,
    input wire [5:0]  length_i,
    input wire        slot_i,
    input wire [4:0]  offset_i,
    input wire        more_i,
    input wire        ar_ready_i,
    input wire        r_valid_i,
    input wire        stall_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  // Host memory does not wrap.
  always_comb assume (host_i <= 8'd200);

  typedef struct packed {
    logic [7:0] host;
    logic [5:0] length;
    logic       slot;
    logic [4:0] offset;
    logic       more;
  } job_t;

  logic ar_valid, done, bad, refused, r_ready;
  logic [63:0] ar_addr;
  logic [7:0] ar_len, write;
  logic slot;
  logic [7:0][1:0] line;
  logic [63:0] data, r_data;
  logic [5:0] owed_q = '0;                 // words asked for and not answered
  wire r_valid = r_valid_i && owed_q != '0;

  hyb_dfu #(.SlotBits(1), .SlotLog(5), .BurstLog(4), .JobBits(1)) u_dfu (
      .clk_i, .rst_ni, .go_i, .host_i({56'd0, host_i}), .length_i, .slot_i, .offset_i, .more_i,
      .ar_valid_o(ar_valid), .ar_ready_i, .ar_addr_o(ar_addr), .ar_len_o(ar_len),
      .r_valid_i(r_valid), .r_ready_o(r_ready), .r_data_i(r_data), .r_bad_i(1'b0),
      .stall_i, .write_o(write), .slot_o(slot), .line_o(line), .data_o(data),
      .done_o(done), .bad_o(bad), .refused_o(refused));

  // The jobs in order: the DFU has two at most that are not filled, and one whose last write waits.
  job_t [3:0] jobs_q = '0;
  logic [1:0] head_q = '0, ask_q = '0, fill_q = '0, write_q = '0;
  wire lawful = length_i != '0 && 7'(offset_i) + 7'(length_i) <= 7'd32;
  wire accepts = rst_ni && go_i && !refused;
  always_ff @(posedge clk_i) begin
    if (accepts) begin
      jobs_q[head_q] <= '{host_i, length_i, slot_i, offset_i, more_i};
      head_q <= head_q + 1'b1;
    end
  end

  function automatic logic [4:0] last_word(input job_t j);
    return 5'((j.host + 8'(j.length) - 8'd1) >> 3);
  endfunction

  // Reads that the bus has taken, and what it has answered: words of the job in turn.
  job_t asked, filled, written;
  logic [4:0] ask_at_q = '0, fill_at_q = '0, write_at_q = '0;  // words before, of that job
  assign asked = jobs_q[ask_q];
  assign filled = jobs_q[fill_q];
  assign written = jobs_q[write_q];
  wire [4:0] ask_word = asked.host[7:3] + ask_at_q;
  wire [4:0] fill_word = filled.host[7:3] + fill_at_q;
  wire [4:0] write_word = written.host[7:3] + write_at_q;
  wire takes = ar_valid && ar_ready_i;
  wire [4:0] ask_end = ask_word + 5'(ar_len) + 5'd1;
  wire answered = r_valid && r_ready;
  wire writes = write != '0 && !stall_i;
  always_comb for (int l = 0; l < 8; l++) r_data[8*l+:8] = {fill_word, 3'(l)};

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      owed_q <= owed_q + (takes ? 6'(ar_len) + 6'd1 : 6'd0) - 6'(answered);
      if (takes) begin
        if (ask_end == last_word(asked) + 5'd1) begin
          ask_q <= ask_q + 1'b1;
          ask_at_q <= '0;
        end else ask_at_q <= ask_at_q + 5'(ar_len) + 5'd1;
      end
      if (answered) begin
        if (fill_word == last_word(filled)) begin
          fill_q <= fill_q + 1'b1;
          fill_at_q <= '0;
        end else fill_at_q <= fill_at_q + 5'd1;
      end
      if (writes) begin
        if (write_word == last_word(written)) begin
          write_q <= write_q + 1'b1;
          write_at_q <= '0;
        end else write_at_q <= write_at_q + 5'd1;
      end
    end
  end

  logic held_q = 1'b0;
  logic [63:0] addr_q = '0;
  logic [7:0] len_q = '0;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && ar_valid && !ar_ready_i;
    addr_q <= ar_addr;
    len_q <= ar_len;
  end

  // Of the word being written: the bytes that are the job's, and those of them that lane l writes.
  logic [7:0] mine, lane_byte, lane_ok;
  always_comb begin
    for (int b = 0; b < 8; b++)
      mine[b] = {write_word, 3'(b)} >= written.host &&
                9'({write_word, 3'(b)}) < 9'(written.host) + 9'(written.length);
    lane_byte = '0;
    lane_ok = '0;
    for (int l = 0; l < 8; l++) begin
      automatic logic [5:0] at = 6'({line[l], 3'(l)}) - 6'(written.offset);  // in the job
      lane_ok[l] = {line[l], 3'(l)} >= written.offset && at < written.length &&
                   data[8*l+:8] == written.host + 8'(at) && data[8*l+3+:5] == write_word;
      if (write[l]) lane_byte[data[8*l+:3]] = 1'b1;
    end
  end

  always_comb begin
    if (!first_q) begin
      if (go_i && !lawful) assert (refused);
      if (held_q) assert (ar_valid && ar_addr == addr_q && ar_len == len_q);
      if (ar_valid) begin
        assert (ask_q != head_q);
        assert (ar_addr == {56'd0, ask_word, 3'd0});
        assert (32'(ask_word) + 32'(ar_len) <= 32'(last_word(asked)));
        assert (ar_addr[63:4] == 60'((ar_addr + {53'd0, ar_len, 3'd0}) >> 4));
      end
      if (write != '0) begin
        assert (write_q != fill_q || write_at_q != fill_at_q);
        assert (slot == written.slot);
        assert ((write & ~lane_ok) == '0);
        assert (lane_byte == mine);
      end
      assert (done == (writes && write_word == last_word(written) && !written.more));
      assert (!bad);
    end
  end
endmodule

`default_nettype wire
