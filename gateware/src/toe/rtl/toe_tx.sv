// SPDX-License-Identifier: Apache-2.0
// toe_tx.sv - the packet generator (S1.8): from a descriptor to a packet. Payload is read from the send
// buffer in host memory, shifted behind the headers, summed on the way, and kept until its sum is
// known; then the packet leaves.
//
//   ask:   descriptor -> path -> headers -> AXI reads --> jobs, as many as there are slots
//   fill:  jobs, AXI data -> shift -> packet memory, a line a cycle
//   leave: packet memory -> AXI-Stream, a line a cycle
//
// So reads of many packets are outstanding; data arrive in the order of requests.
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

  // segments of no flow, with their path; no payload
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

  // All options are whole words, with NOPs where they are not by themselves.
  typedef struct packed {
    logic [9:0][31:0] words;       // words[0] is the first on the wire
    logic [3:0]       length;
  } opts_t;

  // MSS, timestamps, window scale, SACK. SACK permitted stands where the timestamps' NOPs are, as in
  // core/ and Linux. Where each begins is known first; then each word is one of them.
  function automatic opts_t options(input tx_desc_t d);
    opts_t o;
    logic [3:0] ts_at, ws_at, sack_at;
    ts_at = 4'(d.mss_ok);
    ws_at = ts_at + (d.ts_ok ? 4'd3 : 4'(d.sack_ok));
    sack_at = ws_at + 4'(d.ws_ok);
    o.length = sack_at + ((d.sacks != 3'd0) ? {d.sacks, 1'b1} : 4'd0);
    o.words = '0;
    if (d.mss_ok) o.words[0] = {8'd2, 8'd4, d.mss};
    for (int w = 0; w < 10; w++) begin
      if (d.ts_ok && ts_at == 4'(w))
        o.words[w] = o.words[w] | {d.sack_ok ? 16'h0402 : 16'h0101, 8'd8, 8'd10};
      if (d.ts_ok && ts_at + 4'd1 == 4'(w)) o.words[w] = o.words[w] | d.tsval;
      if (d.ts_ok && ts_at + 4'd2 == 4'(w)) o.words[w] = o.words[w] | d.tsecr;
      if (!d.ts_ok && d.sack_ok && ts_at == 4'(w)) o.words[w] = o.words[w] | 32'h0101_0402;
      if (d.ws_ok && ws_at == 4'(w)) o.words[w] = o.words[w] | {8'd1, 8'd3, 8'd3, 4'd0, d.ws};
      if (d.sacks != 3'd0 && sack_at == 4'(w))
        o.words[w] = o.words[w] | {8'd1, 8'd1, 8'd5, 8'd2 + {2'd0, d.sacks, 3'd0}};
      for (int i = 0; i < SackMax; i++) begin
        if (3'(i) < d.sacks && sack_at + 4'(1 + 2 * i) == 4'(w))
          o.words[w] = o.words[w] | d.sack[i].start;
        if (3'(i) < d.sacks && sack_at + 4'(2 + 2 * i) == 4'(w))
          o.words[w] = o.words[w] | d.sack[i].stop;
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

  // Checksum fields are zero until the sum is known.
  function automatic headers_t headers(input tx_desc_t d, input opts_t o, input path_t p,
                                       input logic [47:0] mac);
    headers_t h;
    logic [15:0] options_len, l4_len, ip4_len;
    logic [59:0][7:0] l4;
    logic [159:0] ip4;
    logic [319:0] ip6;
    options_len = 16'({o.length, 2'd0});
    l4_len = d.len + options_len + 16'd20;
    ip4_len = d.len + options_len + 16'd40;
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
    l4[12] = {4'd5 + o.length, 4'd0};
    l4[13] = d.flags;
    {l4[14], l4[15]} = d.wnd;
    for (int i = 0; i < 40; i++) l4[20+i] = o.words[i/4][8*(3-i%4)+:8];
    if (!p.tuple.v6) begin
      ip4 = {8'h45, d.tos, ip4_len, 16'd0, 16'h4000, 8'd64, 8'd6, 16'd0,
             p.tuple.own[31:0], p.tuple.remote[31:0]};
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
    h.length = h.l4_at + 7'd20 + 7'({o.length, 2'd0});
    return h;
  endfunction

  // ---- ask: the next descriptor; its path; its headers; reads of its payload ----

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

  // a: the path is looked up, options are made; b: it is there; m: so are the headers, except IPv4's
  // checksum; n: its sum, and that of the pseudo header; c: all of it. The payload's place comes along.
  logic a_valid_q, b_valid_q, m_valid_q, n_valid_q, c_valid_q, a_bare_q, b_bare_q, b_held_q;
  tx_desc_t a_q, b_q;
  path_t a_path_q, b_path_q;
  opts_t b_opts_q;
  qp_config_t b_qp_q;
  qp_t m_qp_q, n_qp_q, c_qp_q;
  logic [15:0] m_len_q, n_len_q, c_len_q;
  headers_t m_headers_q, n_headers_q, c_headers_q;
  logic m_v6_q, n_v6_q;
  logic [1:0][18:0] m_ip4_sums_q;
  logic [19:0] n_ip4_sum_q;
  logic [4:0][17:0] m_pseudo_q;
  logic [31:0] n_pseudo_q, c_pseudo_q;
  logic [63:0] m_base_q, m_tx_q, m_rx_q;   // the queue pair's buffers; those before the flow's
  logic [63:0] n_start_q, c_start_q;       // of the flow's send buffer
  logic [31:0] m_offset_q, n_offset_q, c_offset_q;   // of the payload in it
  logic [31:0] m_mask_q, n_to_end_q;       // from there to the buffer's end
  logic [63:0] c_addr_q;
  logic c_wraps_q;
  logic [15:0] c_piece1_q;
  logic c_leaves;
  wire n_leaves = n_valid_q && (!c_valid_q || c_leaves);
  wire m_leaves = m_valid_q && (!n_valid_q || n_leaves);
  wire b_leaves = b_valid_q && (!m_valid_q || m_leaves);
  wire a_leaves = a_valid_q && (!b_valid_q || b_leaves);
  wire chooses = !a_valid_q || a_leaves;
  wire path_t b_path = (b_bare_q || b_held_q) ? b_path_q : path_i;
  wire [31:0] b_slot = 32'(b_q.flow - b_qp_q.first);
  wire [31:0] b_mask = (32'd1 << b_qp_q.tx_log) - 32'd1;
  // Payload in one piece, or in two around the end of the send buffer.
  wire n_wraps = 32'(n_len_q) > n_to_end_q;

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
    // The result of the lookup is held while b waits.
    if (a_leaves) begin
      b_q <= a_q;
      b_opts_q <= options(a_q);
      b_qp_q <= qp_i[qidx_t'(a_q.qp)];
      b_bare_q <= a_bare_q;
      b_path_q <= a_path_q;
      b_held_q <= 1'b0;
    end else if (b_valid_q && !b_held_q && !b_bare_q) begin
      b_path_q <= path_i;
      b_held_q <= 1'b1;
    end
    if (b_leaves) begin
      m_qp_q <= b_q.qp;
      m_len_q <= b_q.len;
      m_v6_q <= b_path.tuple.v6;
      m_headers_q <= headers(b_q, b_opts_q, b_path, own_i.mac);
      m_ip4_sums_q[0] <= 19'h0_c506 + 19'(b_q.tos) + 19'(b_q.len) + 19'({b_opts_q.length, 2'd0}) +
                         19'd40;
      m_ip4_sums_q[1] <= 19'(b_path.tuple.own[31:16]) + 19'(b_path.tuple.own[15:0]) +
                         19'(b_path.tuple.remote[31:16]) + 19'(b_path.tuple.remote[15:0]);
      for (int i = 0; i < 4; i++)
        m_pseudo_q[i] <= 18'(b_path.tuple.own[32*i+:16]) + 18'(b_path.tuple.own[32*i+16+:16]) +
                         18'(b_path.tuple.remote[32*i+:16]) + 18'(b_path.tuple.remote[32*i+16+:16]);
      m_pseudo_q[4] <= 18'(b_q.len) + 18'({b_opts_q.length, 2'd0}) + 18'd26;   // header, protocol
      m_base_q <= b_qp_q.area + 64'(b_qp_q.buffers_at);
      m_tx_q <= 64'(b_slot) << b_qp_q.tx_log;
      m_rx_q <= 64'(b_slot) << b_qp_q.rx_log;
      m_offset_q <= b_q.from & b_mask;
      m_mask_q <= b_mask;
    end
    if (m_leaves) begin
      n_qp_q <= m_qp_q;
      n_len_q <= m_len_q;
      n_v6_q <= m_v6_q;
      n_headers_q <= m_headers_q;
      n_ip4_sum_q <= 20'(m_ip4_sums_q[0]) + 20'(m_ip4_sums_q[1]);
      n_pseudo_q <= 32'(m_pseudo_q[0]) + 32'(m_pseudo_q[1]) + 32'(m_pseudo_q[2]) +
                    32'(m_pseudo_q[3]) + 32'(m_pseudo_q[4]);
      n_start_q <= m_base_q + m_tx_q + m_rx_q;
      n_offset_q <= m_offset_q;
      n_to_end_q <= (m_mask_q & ~m_offset_q) + 32'd1;
    end
    if (n_leaves) begin
      c_qp_q <= n_qp_q;
      c_len_q <= n_len_q;
      c_headers_q <= n_headers_q;
      if (!n_v6_q)
        {c_headers_q.bytes[24], c_headers_q.bytes[25]} <= ~fold(32'(n_ip4_sum_q));
      c_pseudo_q <= n_pseudo_q;
      c_start_q <= n_start_q;
      c_offset_q <= n_offset_q;
      c_addr_q <= n_start_q + 64'(n_offset_q);
      c_wraps_q <= n_wraps;
      c_piece1_q <= n_wraps ? 16'(n_to_end_q) : n_len_q;
    end
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
      m_valid_q <= 1'b0;
      n_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
      turn_q <= '0;
    end else begin
      if (chooses) begin
        a_valid_q <= bare_valid_i || any;
        if (!bare_valid_i && any)
          turn_q <= (source == FpcIndexBits'(Fpcs - 1)) ? '0 : source + 1'b1;
      end
      if (!b_valid_q || b_leaves) b_valid_q <= a_leaves;
      if (!m_valid_q || m_leaves) m_valid_q <= b_leaves;
      if (!n_valid_q || n_leaves) n_valid_q <= m_leaves;
      if (!c_valid_q || c_leaves) c_valid_q <= n_leaves;
    end
  end

  logic second_q;              // the first piece is requested
  wire [15:0] behind = c_len_q - c_piece1_q;
  wire [15:0] piece = second_q ? behind : c_piece1_q;
  wire [63:0] addr = second_q ? c_start_q : c_addr_q;
  wire [15:0] span = 16'(addr[5:0]) + piece;

  typedef struct packed {
    headers_t    headers;
    logic [31:0] pseudo;       // sum of the pseudo header
    qp_t         qp;
    logic [15:0] piece1;
    logic [15:0] rest;         // behind it
    logic [5:0]  skip;         // bytes of the first beat that come before
    logic [6:0]  beat;         // ... that count
    logic        one;          // the first beat is all of the first piece
  } job_t;
  job_t job, ready_job;
  logic job_valid, job_takes;
  logic [SlotBits:0] job_room, used_q;
  logic slot_left;             // a packet has left its slot

  wire slot_free = !used_q[SlotBits];
  wire has_payload = c_len_q != 16'd0;
  // Its queue pair is gone, and its payload; not between its pieces, since the first is being read.
  wire serves = qp_i[qidx_t'(c_qp_q)].enable && !closed_i[qidx_t'(c_qp_q)];
  wire drops = has_payload && !serves && !second_q;
  wire ar_free = !ar_valid_o || ar_ready_i;
  wire asks = c_valid_q && has_payload && !drops && (second_q || slot_free) && ar_free;
  wire makes = c_valid_q && !drops && (has_payload ? asks && (second_q || !c_wraps_q) : slot_free);
  assign c_leaves = c_valid_q && (drops || makes);
  assign job.headers = c_headers_q;
  assign job.pseudo = c_pseudo_q;
  assign job.qp = c_qp_q;
  assign job.piece1 = c_piece1_q;
  assign job.rest = behind;
  assign job.skip = c_offset_q[5:0];
  wire [6:0] first_room = 7'd64 - 7'(c_offset_q[5:0]);
  assign job.one = c_piece1_q <= 16'(first_room);
  assign job.beat = job.one ? c_piece1_q[6:0] : first_room;

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
      if (asks) second_q <= c_wraps_q && !second_q;
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
  logic [6:0]  beat_q;             // bytes of the next beat that count
  logic        piece_ends_q;       // ... which is the last of this piece
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

  // Of a line: of four words each, of all.
  typedef logic [7:0][17:0] fours_t;
  function automatic fours_t sum_fours(input logic [511:0] line);
    fours_t f;
    f = '0;
    for (int i = 0; i < 32; i++) f[i/4] = f[i/4] + 18'({line[16*i+:8], line[16*i+8+:8]});
    return f;
  endfunction
  function automatic logic [31:0] sum_line(input fours_t f);
    logic [31:0] sum;
    sum = '0;
    for (int i = 0; i < 8; i++) sum += 32'(f[i]);
    return sum;
  endfunction

  // Behind this beat.
  wire [15:0] left = piece_ends_q ? second_left_q : left_q - 16'(beat_q);
  wire one_left = left <= 16'd64;
  wire [511:0] turned = turn(r_data_i, shift_q);
  wire [5:0] lane = at_q[5:0];
  wire [6:0] end_at = 7'(lane) + beat_q;
  // The bytes of this beat in the line at hand, and those that overflow into the next.
  wire [511:0] joined = (part_q & ~mask_from(lane)) | (turned & mask_from(lane));
  wire fills = end_at[6];
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
  wire last_beat = piece_ends_q && second_left_q == 16'd0;

  always_ff @(posedge clk_i) begin
    unique case (step_q)
      Fill:
      if (r_valid_i) begin
        part_q <= fills ? rest : kept;
        at_q <= at_q + 12'(beat_q);
        shift_q <= end_at[5:0];
        left_q <= left;
        beat_q <= one_left ? left[6:0] : 7'd64;
        piece_ends_q <= one_left;
        if (piece_ends_q) second_left_q <= '0;
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
      second_left_q <= ready_job.rest;
      beat_q <= ready_job.beat;
      piece_ends_q <= ready_job.one;
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
            step_q <= long_headers ? Head : ((ready_job.piece1 == 16'd0) ? Flush : Fill);
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

  mark_t mark, mark_q, mark_q2, mark_q3;
  logic [511:0] this_q, that_q;    // of two lines, what counts
  fours_t this_fours_q2, that_fours_q2;
  logic [31:0] this_sum_q3, that_sum_q3, sum_q4;   // 2 KiB: never near 2^32
  assign mark.ends = step_q == Flush;
  assign mark.slot = slot_q;
  assign mark.bytes = at_q;
  assign mark.sum_at = h_q.l4_at + 7'd16;
  assign mark.begins = job_takes;
  assign mark.pseudo = ready_job.pseudo;

  always_ff @(posedge clk_i) begin
    this_q <= '0;
    that_q <= '0;
    // An odd byte in front would swap the bytes of the sum's words: lines are summed as they are.
    if (step_q == Fill && r_valid_i) begin
      this_q <= (fills ? joined : kept) & mask_from(lane);
      if (fills) that_q <= rest;
    end
    // The segment's header: all headers, less those before it.
    if (job_takes) begin
      this_q <= ready_job.headers.bytes[63:0] & mask_from(ready_job.headers.l4_at[5:0]);
      that_q <= ready_job.headers.bytes[127:64];
    end
    this_fours_q2 <= sum_fours(this_q);
    that_fours_q2 <= sum_fours(that_q);
    this_sum_q3 <= sum_line(this_fours_q2);
    that_sum_q3 <= sum_line(that_fours_q2);
    sum_q4 <= (mark_q3.begins ? mark_q3.pseudo : sum_q4) + this_sum_q3 + that_sum_q3;
    mark_q <= mark;
    mark_q2 <= mark_q;
    mark_q3 <= mark_q2;
    if (!rst_ni) begin
      mark_q.ends <= 1'b0;
      mark_q2.ends <= 1'b0;
      mark_q3.ends <= 1'b0;
    end
  end

  done_t finished, leaving;
  logic leaving_valid, leaving_done;
  logic [SlotBits:0] done_room;
  assign finished.slot = mark_q3.slot;
  assign finished.bytes = mark_q3.bytes;
  assign finished.csum = ~fold(sum_q4);
  assign finished.sum_at = mark_q3.sum_at;

  toe_fifo #(.Width($bits(done_t)), .AddrBits(SlotBits)) done_list (
    .clk_i, .rst_ni, .push_i(mark_q3.ends), .data_i(finished), .room_o(done_room),
    .valid_o(leaving_valid), .pop_i(leaving_done), .data_o(leaving)
  );

  // Packets of each queue pair whose payload has not arrived yet.
  wire begins = asks && !second_q;
  wire ends = step_q == Fill && r_valid_i && last_beat;
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_at_work
    logic [SlotBits:0] coming_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) coming_q <= '0;
      else
        coming_q <= coming_q + (SlotBits + 1)'(begins && c_qp_q == qp_t'(i)) -
                    (SlotBits + 1)'(ends && filled_qp_q == qp_t'(i));
    end
    assign at_work_o[i] = coming_q != '0 ||
                          (a_valid_q && a_q.len != 16'd0 && a_q.qp == qp_t'(i)) ||
                          (b_valid_q && b_q.len != 16'd0 && b_q.qp == qp_t'(i)) ||
                          (m_valid_q && m_len_q != 16'd0 && m_qp_q == qp_t'(i)) ||
                          (n_valid_q && n_len_q != 16'd0 && n_qp_q == qp_t'(i)) ||
                          (c_valid_q && c_len_q != 16'd0 && c_qp_q == qp_t'(i));
  end

  // ---- leave: lines are read ahead into a short queue ----

  localparam int unsigned AheadBits = 2;
  typedef struct packed {
    logic        last;
    logic [6:0]  bytes;        // of this line
    logic        sums;         // the checksum is in this line,
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

  sdp_ram #(.Width(512), .AddrBits(SlotBits + 5)) packets (
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
