// SPDX-License-Identifier: Apache-2.0
// header.sv - any descriptors and templates, writes and frames that wait at any time. Each byte of the
// headers is written once, and is that of the frame below, which is put together field by field. The
// checksums are the complements of the folded sums of IPv4's header, and of the pseudo-header, the
// words of TCP as they were written and PSUM: step by step, and so for every length. A frame leaves
// once, after its payload is there and its checksum written; without its payload it never does.
`default_nettype none

// The templates as registers, whose content the proof reads.
module sdp_ram #(
    parameter int unsigned Width = 32,
    parameter int unsigned AddrBits = 8
) (
    input  wire                clk_i,
    input  wire                write_i,
    input  wire [AddrBits-1:0] waddr_i,
    input  wire [Width-1:0]    wdata_i,
    input  wire [AddrBits-1:0] raddr_i,
    output wire [Width-1:0]    rdata_o
);
  logic [2**AddrBits-1:0][Width-1:0] content;
  logic [Width-1:0] rdata_q;
  always_ff @(posedge clk_i) begin
    if (write_i) content[waddr_i] <= wdata_i;
    rdata_q <= content[raddr_i];
  end
  assign rdata_o = rdata_q;
endmodule

module header (
    input wire             clk_i,
    input wire             rst_ni,
    input wire             template_i,
    input wire [4:0]       template_word_i,
    input wire [31:0]      template_data_i,
    input wire             go_i,
    input wire             flow_i,
    input wire             v6_i,
    input wire             stamps_i,
    input wire [31:0]      seq_i,
    input wire [31:0]      ack_i,
    input wire [31:0]      val_i,
    input wire [31:0]      ecr_i,
    input wire [15:0]      window_i,
    input wire [7:0]       flags_i,
    input wire [7:0]       tos_i,
    input wire             slot_i,
    input wire [10:0]      length_i,
    input wire [1:0]       done_i,
    input wire [1:0]       bad_i,
    input wire [1:0][15:0] psum_i,
    input wire             stall_i,
    input wire             leave_stall_i,
    input wire             free_stall_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);
  always_comb if (!first_q) assume (rst_ni);

  logic busy, slot, leaves, frees;
  logic [10:0] offset;
  logic [7:0] write;
  logic [7:0] line;
  logic [63:0] data;
  logic [11:0] length;
  hyb_header #(.SlotBits(1), .FlowBits(1)) dut (
      .clk_i, .rst_ni, .template_i, .template_word_i, .template_data_i,
      .go_i, .flow_i, .v6_i, .stamps_i, .seq_i, .ack_i, .val_i, .ecr_i, .window_i, .flags_i,
      .tos_i, .slot_i, .length_i, .offset_o(offset), .busy_o(busy), .done_i, .bad_i, .psum_i,
      .stall_i, .write_o(write), .slot_o(slot), .line_o(line), .data_o(data),
      .leave_stall_i, .leave_o(leaves), .length_o(length), .free_stall_i, .free_o(frees));

  // The steps of hyb_header.sv.
  localparam logic [2:0] Sums = 0, First = 1, Lines = 2, Wait = 3, Patch = 4, Leave = 5, Free = 6;
  always_comb assert (leaves == (dut.step_q == Leave) && frees == (dut.step_q == Free));

  always_comb if (busy) assume (!template_i);   // HEADER_BUSY of device/hyb.rdl

  // ---- the template, by bytes, and the frame's headers ----
  wire [1:0][7:0][31:0] low = dut.gen_half[0].u_templates.content;
  wire [1:0][7:0][31:0] high = dut.gen_half[1].u_templates.content;
  logic [7:0][63:0] lines;
  // bytes in the order of the wire
  // verilog_lint: waive-start packed-dimensions-range-ordering
  logic [0:63][7:0] t;
  always_comb begin
    for (int i = 0; i < 8; i++) lines[i] = {high[dut.job.flow][i], low[dut.job.flow][i]};
    for (int i = 0; i < 64; i++) t[i] = lines[i/8][8*(i%8)+:8];
  end

  wire [15:0] tcp_length = 16'(dut.job.length) + (dut.job.stamps ? 16'd32 : 16'd20);
  wire [15:0] total = tcp_length + 16'd20;
  // Of a word as it is stored: the byte at the even address is the low one.
  function automatic logic [15:0] stored(input logic [15:0] word);
    return {word[7:0], word[15:8]};
  endfunction

  logic [0:27][7:0] tcp;
  logic [0:65][7:0] four;
  logic [0:85][7:0] six;
  // verilog_lint: waive-stop packed-dimensions-range-ordering
  logic [15:0] ip_checksum;
  always_comb begin
    tcp = {dut.job.seq, dut.job.ack, dut.job.stamps ? 8'h80 : 8'h50, dut.job.flags,
           dut.job.window, 32'd0, 8'd1, 8'd1, 8'd8, 8'd10, dut.job.val, dut.job.ecr};
    ip_checksum = stored(data[15:0]);  // of line 3; checked below
    four = {t[0:14], dut.job.tos, total, t[18:23], ip_checksum, t[26:37], tcp};
    six = {t[0:13], 4'd6, dut.job.tos, t[15][3:0], t[16:17], tcp_length, t[20:57], tcp};
  end

  // ---- what is written ----
  wire in_lines = dut.step_q == Lines;
  wire in_patch = dut.step_q == Patch;
  wire writes = write != '0 && !stall_i;
  wire [6:0] size = (dut.job.v6 ? 7'd54 : 7'd34) + (dut.job.stamps ? 7'd32 : 7'd20);
  wire [6:0] tcp_at = dut.job.v6 ? 7'd58 : 7'd38;   // its sequence number

  always_comb begin
    if (in_lines) begin
      assert (line == 8'(dut.line_q));
      for (int l = 0; l < 8; l++) begin
        int at;
        at = 8 * int'(dut.line_q) + l;
        assert (write[l] == (at < int'(size)));
        if (write[l]) assert (data[8*l+:8] == (dut.job.v6 ? six[at] : four[at]));
      end
    end
    if (in_patch) begin
      assert ({line, 3'd0} + 11'(dut.job.v6 ? 6 : 2) == 11'(tcp_at) + 11'd12);
      assert (write == (dut.job.v6 ? 8'hc0 : 8'h0c));
    end
    assert (write == '0 || in_lines || in_patch);
    assert (slot == dut.job.slot && length == 12'(size) + 12'(dut.job.length));
    if (go_i) assert (offset == 11'(v6_i ? 54 : 34) + 11'(stamps_i ? 32 : 20));
  end

  // ---- sums: folded, a number is one that differs by a multiple of 65535 ----
  function automatic logic folds(input logic [18:0] n, input logic [15:0] to);
    return n == 19'(to) || n == 19'(to) + 19'd65535 || n == 19'(to) + 19'd131070 ||
           n == 19'(to) + 19'd196605 || n == 19'(to) + 19'd262140;
  endfunction

  // What the unit's sums are of: the constant part with the lengths, then the sum so far with the words
  // of TCP that a line has, as they are written.
  logic [18:0] tcp_total, tcp_begins, ip_begins, tcp_total_q, ip_total_q;
  always_comb begin
    tcp_begins = 19'({t[63], t[62]}) + 19'(stored(tcp_length));
    ip_begins = 19'({t[61], t[60]}) + 19'(stored(total)) + 19'({dut.job.tos, 8'd0});
    tcp_total = 19'(dut.sum_q);
    for (int i = 0; i < 4; i++)
      if (write[2*i] && 7'(8 * dut.line_q) + 7'(2 * i) >= tcp_at)
        tcp_total = tcp_total + 19'(data[16*i+:16]);
  end
  always_ff @(posedge clk_i) begin
    if (dut.step_q == First) begin
      tcp_total_q <= tcp_begins;
      ip_total_q <= ip_begins;
    end else if (in_lines && writes) tcp_total_q <= tcp_total;
  end

  wire past_first = in_lines || dut.step_q == Wait || in_patch;
  wire [15:0] checksum = dut.job.v6 ? data[63:48] : data[31:16];
  always_comb begin
    if (past_first) assert (folds(tcp_total_q, dut.sum_q));
    if (in_lines && !dut.job.v6) begin
      assert (folds(ip_total_q, dut.ip_sum_q));
      if (dut.line_q == 4'd3) assert (data[15:0] == ~dut.ip_sum_q);
    end
    if (in_patch) assert (folds(19'(dut.sum_q) + 19'(psum_i[dut.job.slot]), ~checksum));
  end

  // ---- order: all lines, then the payload, then the checksum, then the frame leaves ----
  logic fetched_q, patched_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || dut.step_q == Sums) begin
      fetched_q <= 1'b0;
      patched_q <= 1'b0;
    end else begin
      if (dut.step_q == Wait)
        fetched_q <= dut.job.length == '0 || (done_i[dut.job.slot] && !bad_i[dut.job.slot]);
      if (in_patch && writes) patched_q <= 1'b1;
    end
  end
  always_comb begin
    if (!first_q) begin
      if (in_patch) assert (fetched_q);
      if (leaves) assert (fetched_q && patched_q);
      if (frees) assert (!fetched_q);
      assert (!(leaves && frees));
      if (in_lines) assert ({dut.line_q, 3'd0} < size && !fetched_q && !patched_q);
      if (dut.step_q == Wait || in_patch || leaves)
        assert ({dut.line_q, 3'd0} >= size && {dut.line_q - 4'd1, 3'd0} < size);
      if (dut.step_q == Wait) assert (!patched_q);
      // what induction needs
      assert (dut.u_jobs.used <= 2'd2);
      assert (dut.step_q == Sums || busy);
      assert (dut.step_q <= Free);
      if (dut.step_q == First) assert (dut.template_line == lines[7]);
      if (in_lines && dut.line_q < 4'd8) assert (dut.template_line == lines[dut.line_q[2:0]]);
    end
  end
endmodule

`default_nettype wire
