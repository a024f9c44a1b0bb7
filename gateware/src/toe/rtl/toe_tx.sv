// SPDX-License-Identifier: Apache-2.0
// toe_tx.sv - the packet generator (S1.8): from a descriptor to a packet. Payload is read from the send
// buffer in host memory, shifted behind the headers, summed on the way, and kept until its sum is
// known; then the packet leaves.
//
//   ask:   descriptor -> path -> headers -> AXI reads --> jobs, as many as there are slots
//   fill:  jobs, AXI data -> shift -> packet memory, a line a cycle
//   leave: packet memory -> AXI-Stream, a line a cycle
//
// So reads of many packets are under way while host memory thinks; data comes in the order of asking.
`resetall
`default_nettype none

module toe_tx
  import toe_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned Fpcs = 1,
  parameter int unsigned SlotBits = 6     // packets under way: 2^SlotBits of 2 KiB
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire own_t                 own_i,
  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0]             closed_i,    // is to go: no more of its payload
  output wire [Qps-1:0]             at_work_o,   // payload of it is to be read, or on its way

  input  wire [Fpcs-1:0]           desc_valid_i,
  output wire [Fpcs-1:0]           desc_ready_o,
  input  wire tx_desc_t [Fpcs-1:0] desc_i,
  output wire place_t              path_at_o,
  input  wire path_t               path_i,

  // what belongs to no flow, with its path; no payload
  input  wire           bare_valid_i,
  output wire           bare_ready_o,
  input  wire tx_desc_t bare_i,
  input  wire path_t    bare_path_i,

  // AXI reads, of at most 32 beats, answered in order
  output logic        ar_valid_o,
  input  wire         ar_ready_i,
  output logic [63:0] ar_addr_o,
  output logic [7:0]  ar_len_o,
  input  wire         r_valid_i,
  output wire         r_ready_o,
  input  wire [511:0] r_data_i,

  output wire [511:0] m_tdata_o,
  output wire [63:0]  m_tkeep_o,
  output wire         m_tvalid_o,
  output wire         m_tlast_o,
  input  wire         m_tready_i
);

  localparam int unsigned FpcIndexBits = (Fpcs > 1) ? $clog2(Fpcs) : 1;
  localparam int unsigned QpIndexBits = (Qps > 1) ? $clog2(Qps) : 1;
  typedef logic [QpIndexBits-1:0] qidx_t;
  typedef logic [SlotBits-1:0] slot_t;

  // ---- headers ----

  typedef struct packed {
    logic [127:0][7:0] bytes;      // bytes[0] is the first on the wire
    logic [6:0]        length;
    logic [6:0]        l4_at;
  } headers_t;

  typedef struct packed {
    logic [39:0][7:0] bytes;
    logic [5:0]       length;
  } opts_t;

  function automatic logic [39:0][7:0] put(input logic [39:0][7:0] to, input logic [5:0] at,
                                           input logic [79:0] what, input int unsigned n);
    logic [39:0][7:0] o;
    logic [9:0][7:0] w;
    o = to;
    w = what;                       // its first byte is the highest of the n
    for (int i = 0; i < 10; i++) if (i < int'(n)) o[6'(int'(at) + i)] = w[n-1-i];
    return o;
  endfunction

  // MSS, timestamps, window scale, SACK; padded with NOPs to whole words. SACK permitted stands where
  // the timestamps' NOPs are, as in core/ and Linux.
  function automatic opts_t options(input tx_desc_t d);
    opts_t o;
    o = '0;
    if (d.mss_ok) begin
      o.bytes = put(o.bytes, o.length, 80'({8'd2, 8'd4, d.mss}), 4);
      o.length += 6'd4;
    end
    if (d.ts_ok) begin
      o.bytes = put(o.bytes, o.length,
                    80'({d.sack_ok ? 16'h0402 : 16'h0101, 8'd8, 8'd10}), 4);
      o.bytes = put(o.bytes, o.length + 6'd4, 80'({d.tsval, d.tsecr}), 8);
      o.length += 6'd12;
    end else if (d.sack_ok) begin
      o.bytes = put(o.bytes, o.length, 80'({8'd1, 8'd1, 8'd4, 8'd2}), 4);
      o.length += 6'd4;
    end
    if (d.ws_ok) begin
      o.bytes = put(o.bytes, o.length, 80'({8'd1, 8'd3, 8'd3, 4'd0, d.ws}), 4);
      o.length += 6'd4;
    end
    if (d.sacks != 3'd0) begin
      o.bytes = put(o.bytes, o.length, 80'({8'd1, 8'd1, 8'd5, 8'd2 + {2'd0, d.sacks, 3'd0}}), 4);
      o.length += 6'd4;
      for (int i = 0; i < SackMax; i++) begin
        if (3'(i) < d.sacks) begin
          o.bytes = put(o.bytes, o.length, 80'(d.sack[i]), 8);
          o.length += 6'd8;
        end
      end
    end
    return o;
  endfunction

  function automatic logic [15:0] fold(input logic [31:0] sum);
    logic [16:0] a;
    a = 17'(sum[15:0]) + 17'(sum[31:16]);
    a = 17'(a[15:0]) + 17'(a[16]);
    return a[15:0] + 16'(a[16]);
  endfunction

  // Checksums stand as zero until they are known.
  function automatic headers_t headers(input tx_desc_t d, input path_t p, input logic [47:0] mac);
    headers_t h;
    opts_t o;
    logic [15:0] l4_len;
    logic [31:0] sum;
    logic [59:0][7:0] l4;
    logic [159:0] ip4;
    logic [319:0] ip6;
    o = options(d);
    l4_len = 16'd20 + 16'(o.length) + d.len;
    h = '0;
    for (int i = 0; i < 6; i++) begin
      h.bytes[i] = p.mac[8*(5-i)+:8];
      h.bytes[6+i] = mac[8*(5-i)+:8];
    end
    l4 = '0;
    {l4[0], l4[1]} = p.tuple.local_port;
    {l4[2], l4[3]} = p.tuple.remote_port;
    {l4[4], l4[5], l4[6], l4[7]} = d.seq;
    {l4[8], l4[9], l4[10], l4[11]} = d.flags.ack ? d.ack : 32'd0;
    l4[12] = {4'(4'd5 + o.length[5:2]), 4'd0};
    l4[13] = d.flags;
    {l4[14], l4[15]} = d.wnd;
    l4[59:20] = o.bytes;
    if (!p.tuple.v6) begin
      ip4 = {8'h45, d.tos, 16'd20 + l4_len, 16'd0, 16'h4000, 8'd64, 8'd6, 16'd0,
             p.tuple.own[31:0], p.tuple.remote[31:0]};
      sum = 32'd0;
      for (int i = 0; i < 10; i++) sum += 32'(ip4[16*i+:16]);
      ip4[79:64] = ~fold(sum);
      {h.bytes[12], h.bytes[13]} = 16'h0800;
      for (int i = 0; i < 20; i++) h.bytes[14+i] = ip4[8*(19-i)+:8];
      for (int i = 0; i < 60; i++) h.bytes[34+i] = l4[i];
      h.l4_at = 7'd34;
    end else begin
      ip6 = {4'd6, d.tos, 20'd0, l4_len, 8'd6, 8'd64, p.tuple.own, p.tuple.remote};
      {h.bytes[12], h.bytes[13]} = 16'h86dd;
      for (int i = 0; i < 40; i++) h.bytes[14+i] = ip6[8*(39-i)+:8];
      for (int i = 0; i < 60; i++) h.bytes[54+i] = l4[i];
      h.l4_at = 7'd54;
    end
    h.length = h.l4_at + 7'd20 + 7'(o.length);
    return h;
  endfunction

  // ---- ask: which descriptor is next; its path; its headers; its payload ----

  logic [FpcIndexBits-1:0] turn_q, source;
  logic any;
  always_comb begin
    source = turn_q;
    any = 1'b0;
    for (int i = 0; i < int'(Fpcs); i++) begin
      if (!any && desc_valid_i[(int'(turn_q) + i) % Fpcs]) begin
        source = FpcIndexBits'((int'(turn_q) + i) % Fpcs);
        any = 1'b1;
      end
    end
  end

  // a: the path is looked up; b: it is there; c: so are headers and payload's place.
  logic a_valid_q, b_valid_q, c_valid_q, a_bare_q, b_bare_q, b_held_q;
  tx_desc_t a_q, b_q, c_q;
  path_t a_path_q, b_path_q, c_path_q;
  qp_config_t b_qp_q;
  headers_t c_headers_q;
  logic [63:0] c_start_q;      // of the flow's send buffer
  logic [31:0] c_offset_q;     // of the payload in it
  logic [31:0] c_to_end_q;     // from there to the buffer's end
  logic c_leaves;
  wire b_leaves = b_valid_q && (!c_valid_q || c_leaves);
  wire a_leaves = a_valid_q && (!b_valid_q || b_leaves);
  wire chooses = !a_valid_q || a_leaves;
  wire path_t b_path = (b_bare_q || b_held_q) ? b_path_q : path_i;
  wire [31:0] b_slot = 32'(b_q.flow - b_qp_q.first);
  wire [31:0] b_mask = (32'd1 << b_qp_q.tx_log) - 32'd1;

  for (genvar f = 0; f < int'(Fpcs); f++) begin : gen_ready
    assign desc_ready_o[f] = chooses && !bare_valid_i && any && source == FpcIndexBits'(f);
  end
  assign bare_ready_o = chooses;
  assign path_at_o = '{tw: 1'b0, index: a_q.flow};

  always_ff @(posedge clk_i) begin
    if (chooses) begin
      a_q <= bare_valid_i ? bare_i : desc_i[source];
      a_path_q <= bare_path_i;
      a_bare_q <= bare_valid_i;
    end
    // What the lookup gave stays while b waits.
    if (a_leaves) begin
      b_q <= a_q;
      b_qp_q <= qp_i[qidx_t'(a_q.qp)];
      b_bare_q <= a_bare_q;
      b_path_q <= a_path_q;
      b_held_q <= 1'b0;
    end else if (b_valid_q && !b_held_q && !b_bare_q) begin
      b_path_q <= path_i;
      b_held_q <= 1'b1;
    end
    if (b_leaves) begin
      c_q <= b_q;
      c_path_q <= b_path;
      c_headers_q <= headers(b_q, b_path, own_i.mac);
      c_start_q <= b_qp_q.area + 64'(b_qp_q.buffers_at) +
                   (64'(b_slot) << b_qp_q.tx_log) + (64'(b_slot) << b_qp_q.rx_log);
      c_offset_q <= b_q.from & b_mask;
      c_to_end_q <= (b_mask - (b_q.from & b_mask)) + 32'd1;
    end
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
      turn_q <= '0;
    end else begin
      if (chooses) begin
        a_valid_q <= bare_valid_i || any;
        if (!bare_valid_i && any)
          turn_q <= (source == FpcIndexBits'(Fpcs - 1)) ? '0 : source + 1'b1;
      end
      if (!b_valid_q || b_leaves) b_valid_q <= a_leaves;
      if (!c_valid_q || c_leaves) c_valid_q <= b_leaves;
    end
  end

  // Payload in one piece, or in two around the end of the send buffer.
  logic second_q;              // the first piece is asked for
  wire wraps = 32'(c_q.len) > c_to_end_q;
  wire [15:0] piece1 = wraps ? 16'(c_to_end_q) : c_q.len;
  wire [15:0] piece = second_q ? c_q.len - piece1 : piece1;
  wire [63:0] addr = second_q ? c_start_q : c_start_q + 64'(c_offset_q);
  wire [15:0] span = 16'(addr[5:0]) + piece;

  typedef struct packed {
    headers_t    headers;
    logic [31:0] pseudo;       // sum of the pseudo header
    qp_t         qp;
    logic [15:0] len;
    logic [15:0] piece1;
    logic [5:0]  skip;         // bytes of the first beat that come before
  } job_t;
  job_t job, ready_job;
  logic job_valid, job_takes;
  logic [SlotBits:0] job_room, used_q;
  logic slot_left;             // a packet has left its slot

  function automatic logic [31:0] pseudo(input path_t p, input logic [15:0] len);
    logic [31:0] sum;
    sum = 32'(len) + 32'd6;
    for (int i = 0; i < 8; i++) sum += 32'(p.tuple.own[16*i+:16]) + 32'(p.tuple.remote[16*i+:16]);
    return sum;
  endfunction

  wire slot_free = !used_q[SlotBits];
  wire has_payload = c_q.len != 16'd0;
  // Its queue pair is gone, and its payload; not between its pieces, for the first is on its way.
  wire serves = qp_i[qidx_t'(c_q.qp)].enable && !closed_i[qidx_t'(c_q.qp)];
  wire drops = has_payload && !serves && !second_q;
  wire ar_free = !ar_valid_o || ar_ready_i;
  wire asks = c_valid_q && has_payload && !drops && (second_q || slot_free) && ar_free;
  wire makes = c_valid_q && !drops && (has_payload ? asks && (second_q || !wraps) : slot_free);
  assign c_leaves = c_valid_q && (drops || makes);
  assign job.headers = c_headers_q;
  assign job.pseudo = pseudo(c_path_q, 16'(c_headers_q.length) - 16'(c_headers_q.l4_at) + c_q.len);
  assign job.qp = c_q.qp;
  assign job.len = c_q.len;
  assign job.piece1 = piece1;
  assign job.skip = c_offset_q[5:0];

  always_ff @(posedge clk_i) begin
    if (asks) begin
      ar_addr_o <= addr & ~64'd63;
      ar_len_o <= 8'(((span + 16'd63) >> 6) - 16'd1);
    end
    if (!rst_ni) begin
      ar_valid_o <= 1'b0;
      second_q <= 1'b0;
      used_q <= '0;
    end else begin
      if (ar_free) ar_valid_o <= asks;
      if (asks) second_q <= wraps && !second_q;
      used_q <= used_q + (SlotBits + 1)'(makes) - (SlotBits + 1)'(slot_left);
    end
  end

  toe_fifo #(.Width($bits(job_t)), .AddrBits(SlotBits)) jobs (
    .clk_i, .rst_ni, .push_i(makes), .data_i(job), .room_o(job_room),
    .valid_o(job_valid), .pop_i(job_takes), .data_o(ready_job)
  );

  // ---- fill ----

  typedef enum logic [1:0] {
    Idle, Head, Fill, Flush
  } step_e;

  step_e step_q;
  slot_t slot_q;
  headers_t h_q;
  qp_t filled_qp_q;
  logic [15:0] left_q, second_left_q;   // payload of this piece, of the one behind it
  logic [5:0]  shift_q;            // lanes by which bytes move up
  logic [5:0]  skip_q;             // bytes of the beat that come before
  logic [11:0] at_q;               // bytes of the packet that are there
  logic [511:0] part_q;            // the line that is being filled

  assign r_ready_o = step_q == Fill;
  assign job_takes = job_valid && (step_q == Idle || step_q == Flush);

  // Lane l of the packet's line is lane (l - shift) of the beat, circular.
  function automatic logic [511:0] turn(input logic [511:0] beat, input logic [5:0] up);
    logic [1023:0] both;
    both = {beat, beat};
    return 512'(both >> {7'd64 - 7'(up), 3'd0});
  endfunction

  function automatic logic [511:0] mask_from(input logic [5:0] lane);
    return '1 << {lane, 3'd0};
  endfunction

  function automatic logic [31:0] sum_line(input logic [511:0] line);
    logic [31:0] sum;
    sum = '0;
    for (int i = 0; i < 32; i++) sum += 32'({line[16*i+:8], line[16*i+8+:8]});
    return sum;
  endfunction

  // Of a beat: bytes that count, and where they begin in the packet.
  wire [15:0] in_beat = (16'd64 - 16'(skip_q) < left_q) ? 16'd64 - 16'(skip_q) : left_q;
  wire [511:0] turned = turn(r_data_i, shift_q);
  wire [5:0] lane = at_q[5:0];
  wire [12:0] end_at = 13'(lane) + 13'(in_beat);
  // The bytes of this beat in the line at hand, and those that overflow into the next.
  wire [511:0] joined = (part_q & ~mask_from(lane)) | (turned & mask_from(lane));
  wire fills = end_at >= 13'd64;
  wire [5:0] rest_lane = end_at[5:0];
  wire [511:0] rest = turned & ~mask_from(rest_lane);
  wire [511:0] kept = joined & ~mask_from(rest_lane);

  logic line_write;
  logic [4:0] line_at;
  logic [511:0] line;
  always_comb begin
    line_write = 1'b0;
    line_at = at_q[10:6];
    line = joined;
    unique case (step_q)
      Head: begin                  // the first line is headers alone
        line_write = 1'b1;
        line_at = '0;
        line = h_q.bytes[63:0];
      end
      Fill: line_write = r_valid_i && fills;
      Flush: begin
        line_write = lane != 6'd0;
        line = part_q;
      end
      default: ;
    endcase
  end

  wire long_headers = ready_job.headers.length >= 7'd64;
  wire last_beat = left_q == in_beat && second_left_q == 16'd0;

  always_ff @(posedge clk_i) begin
    unique case (step_q)
      Fill:
      if (r_valid_i) begin
        part_q <= fills ? rest : kept;
        at_q <= at_q + 12'(in_beat);
        skip_q <= '0;
        shift_q <= at_q[5:0] + 6'(in_beat);
        if (left_q == in_beat) begin
          left_q <= second_left_q;
          second_left_q <= '0;
        end else left_q <= left_q - in_beat;
      end
      Head: part_q <= h_q.bytes[127:64];
      default: ;
    endcase
    if (job_takes) begin
      h_q <= ready_job.headers;
      filled_qp_q <= ready_job.qp;
      at_q <= 12'(ready_job.headers.length);
      part_q <= ready_job.headers.bytes[63:0];
      left_q <= ready_job.piece1;
      second_left_q <= ready_job.len - ready_job.piece1;
      skip_q <= ready_job.skip;
      shift_q <= ready_job.headers.length[5:0] - ready_job.skip;
    end
    if (!rst_ni) begin
      step_q <= Idle;
      slot_q <= '0;
    end else begin
      unique case (step_q)
        Head: step_q <= (left_q == 16'd0) ? Flush : Fill;
        Fill: if (r_valid_i && last_beat) step_q <= Flush;
        default: begin
          if (job_takes)
            step_q <= long_headers ? Head : ((ready_job.len == 16'd0) ? Flush : Fill);
          else step_q <= Idle;
        end
      endcase
      if (step_q == Flush) slot_q <= slot_q + 1'b1;
    end
  end

  // ---- sums: lines, then their sums, then the packet's ----

  typedef struct packed {
    slot_t       slot;
    logic [11:0] bytes;
    logic [15:0] csum;
    logic [6:0]  sum_at;
  } done_t;

  // A packet that ends, and one that begins, may be in the same cycle.
  typedef struct packed {
    logic        ends;
    slot_t       slot;
    logic [11:0] bytes;
    logic [6:0]  sum_at;
    logic        begins;
    logic [31:0] pseudo;
  } mark_t;

  mark_t mark, mark_q, mark_q2;
  logic [511:0] this_q, that_q;    // of two lines, what counts
  logic [31:0] this_sum_q2, that_sum_q2, sum_q3;
  assign mark.ends = step_q == Flush;
  assign mark.slot = slot_q;
  assign mark.bytes = at_q;
  assign mark.sum_at = h_q.l4_at + 7'd16;
  assign mark.begins = job_takes;
  assign mark.pseudo = ready_job.pseudo;

  always_ff @(posedge clk_i) begin
    this_q <= '0;
    that_q <= '0;
    // An odd byte in front would turn the words of the sum: sums are of lines as they stand.
    if (step_q == Fill && r_valid_i) begin
      this_q <= (fills ? joined : kept) & mask_from(lane);
      if (fills) that_q <= rest;
    end
    // The segment's header: all of the headers, less what stands before it.
    if (job_takes) begin
      this_q <= ready_job.headers.bytes[63:0] & mask_from(ready_job.headers.l4_at[5:0]);
      that_q <= ready_job.headers.bytes[127:64];
    end
    this_sum_q2 <= sum_line(this_q);
    that_sum_q2 <= sum_line(that_q);
    sum_q3 <= (mark_q2.begins ? mark_q2.pseudo : 32'(fold(sum_q3))) + this_sum_q2 + that_sum_q2;
    mark_q <= mark;
    mark_q2 <= mark_q;
    if (!rst_ni) begin
      mark_q.ends <= 1'b0;
      mark_q2.ends <= 1'b0;
    end
  end

  done_t finished, leaving;
  logic leaving_valid, leaving_done;
  logic [SlotBits:0] done_room;
  assign finished.slot = mark_q2.slot;
  assign finished.bytes = mark_q2.bytes;
  assign finished.csum = ~fold(sum_q3);
  assign finished.sum_at = mark_q2.sum_at;

  toe_fifo #(.Width($bits(done_t)), .AddrBits(SlotBits)) done_list (
    .clk_i, .rst_ni, .push_i(mark_q2.ends), .data_i(finished), .room_o(done_room),
    .valid_o(leaving_valid), .pop_i(leaving_done), .data_o(leaving)
  );

  // Packets of each queue pair whose payload is not here yet.
  wire begins = asks && !second_q;
  wire ends = step_q == Fill && r_valid_i && last_beat;
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_at_work
    logic [SlotBits:0] coming_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) coming_q <= '0;
      else
        coming_q <= coming_q + (SlotBits + 1)'(begins && c_q.qp == qp_t'(i)) -
                    (SlotBits + 1)'(ends && filled_qp_q == qp_t'(i));
    end
    assign at_work_o[i] = coming_q != '0 ||
                          (a_valid_q && a_q.len != 16'd0 && a_q.qp == qp_t'(i)) ||
                          (b_valid_q && b_q.len != 16'd0 && b_q.qp == qp_t'(i)) ||
                          (c_valid_q && c_q.len != 16'd0 && c_q.qp == qp_t'(i));
  end

  // ---- leave: lines are read ahead into a short queue ----

  localparam int unsigned AheadBits = 2;
  typedef struct packed {
    logic        last;
    logic [6:0]  bytes;        // of this line
    logic        sums;         // the checksum stands in this line,
    logic [5:0]  sum_at;       // ... there
    logic [15:0] csum;
  } about_t;
  typedef struct packed {
    about_t       about;
    logic [511:0] line;
  } out_t;

  logic [4:0] out_line_q;
  logic read_q;                // a line was read: it is there now
  about_t about, about_q;
  logic [AheadBits:0] ahead_room;
  logic [511:0] out_line;
  out_t pushed, head_out;
  wire [11:0] gone = {1'b0, out_line_q, 6'd0};
  wire reads = leaving_valid && ahead_room > (AheadBits + 1)'(read_q);
  assign about.last = leaving.bytes <= gone + 12'd64;
  assign about.bytes = about.last ? 7'(leaving.bytes - gone) : 7'd64;
  assign about.sums = 5'(leaving.sum_at >> 6) == out_line_q;
  assign about.sum_at = leaving.sum_at[5:0];
  assign about.csum = leaving.csum;
  assign leaving_done = reads && about.last;
  assign slot_left = leaving_done;

  toe_ram #(.Width(512), .AddrBits(SlotBits + 5)) packets (
    .clk_i,
    .write_i(line_write), .waddr_i({slot_q, line_at}), .wdata_i(line),
    .raddr_i({leaving.slot, out_line_q}), .rdata_o(out_line)
  );

  always_comb begin
    pushed.about = about_q;
    pushed.line = out_line;
    for (int i = 0; i < 64; i += 2) begin
      if (about_q.sums && about_q.sum_at == 6'(i)) begin
        pushed.line[8*i+:8] = about_q.csum[15:8];
        pushed.line[8*i+8+:8] = about_q.csum[7:0];
      end
    end
  end

  toe_fifo #(.Width($bits(out_t)), .AddrBits(AheadBits)) ahead (
    .clk_i, .rst_ni, .push_i(read_q), .data_i(pushed), .room_o(ahead_room),
    .valid_o(m_tvalid_o), .pop_i(m_tvalid_o && m_tready_i), .data_o(head_out)
  );
  assign m_tdata_o = head_out.line;
  assign m_tkeep_o = (head_out.about.bytes == 7'd64) ? '1
                   : ((64'd1 << head_out.about.bytes) - 64'd1);
  assign m_tlast_o = head_out.about.last;

  always_ff @(posedge clk_i) begin
    about_q <= about;
    if (!rst_ni) begin
      read_q <= 1'b0;
      out_line_q <= '0;
    end else begin
      read_q <= reads;
      if (reads) out_line_q <= about.last ? '0 : out_line_q + 5'd1;
    end
  end

  wire unused = &{1'b0, done_room, job_room};

endmodule

`resetall
