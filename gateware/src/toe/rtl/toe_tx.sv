// SPDX-License-Identifier: Apache-2.0
// toe_tx.sv - the packet generator (S1.8): from a descriptor to a packet. Payload is read from the send
// buffer in host memory, shifted behind the headers, summed on the way, and kept until its sum is
// known; then the packet leaves.
//
//   descriptor -> path, queue pair -> headers -> AXI read -> shift -> packet memory -> AXI-Stream
//
// One packet is assembled while others leave.
`resetall
`default_nettype none

module toe_tx
  import toe_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned Fpcs = 1,
  parameter int unsigned SlotBits = 3     // packets kept: 2^SlotBits of 2 KiB
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire own_t                 own_i,
  input  wire qp_config_t [Qps-1:0] qp_i,

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
  output wire         ar_valid_o,
  input  wire         ar_ready_i,
  output wire [63:0]  ar_addr_o,
  output wire [7:0]   ar_len_o,
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

  // ---- which descriptor is next ----

  typedef enum logic [3:0] {
    Choose, Path, Headers, Sums, Ask, Fill, Flush, Finish
  } step_e;

  step_e step_q;
  tx_desc_t d_q;
  path_t p_q;
  logic bare_q;
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
  logic slot_free;
  wire chooses = step_q == Choose && slot_free;
  for (genvar f = 0; f < int'(Fpcs); f++) begin : gen_ready
    assign desc_ready_o[f] = chooses && !bare_valid_i && any && source == FpcIndexBits'(f);
  end
  assign bare_ready_o = chooses;
  assign path_at_o = '{tw: 1'b0, index: d_q.flow};

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
    logic [15:0] l4_len, sum;
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
      sum = 16'd0;
      for (int i = 0; i < 10; i++) sum = fold(32'(sum) + 32'(ip4[16*i+:16]));
      ip4[79:64] = ~sum;
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

  headers_t h_q;

  // ---- assembly ----

  logic [SlotBits-1:0] slot_q;
  logic [31:0] sum_q;
  logic [15:0] left_q;             // payload yet to come
  logic [31:0] from_q;             // offset in the send buffer
  logic [15:0] piece_q;
  logic [7:0]  beats_q;
  logic [5:0]  shift_q;            // lanes by which bytes move up
  logic [5:0]  skip_q;             // bytes of the beat that come before
  logic [11:0] at_q;               // bytes of the packet that are there
  logic [511:0] part_q;            // the line that is being filled

  wire qp_config_t q = qp_i[d_q.qp];
  wire [31:0] size = 32'd1 << q.tx_log;
  wire [31:0] offset = from_q & (size - 32'd1);
  wire [31:0] to_end = size - offset;
  wire [15:0] piece = (32'(left_q) > to_end) ? 16'(to_end) : left_q;
  wire [63:0] each = (64'd1 << q.tx_log) + (64'd1 << q.rx_log);
  wire [63:0] addr = q.area + 64'(q.buffers_at) + 64'(d_q.flow - q.first) * each + 64'(offset);
  wire [15:0] span = 16'(addr[5:0]) + piece;

  assign ar_valid_o = step_q == Ask && left_q != 16'd0 && q.enable;
  assign ar_addr_o = addr & ~64'd63;
  assign ar_len_o = 8'(((span + 16'd63) >> 6) - 16'd1);
  assign r_ready_o = step_q == Fill;

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
  wire [15:0] in_beat = (16'd64 - 16'(skip_q) < piece_q) ? 16'd64 - 16'(skip_q) : piece_q;
  wire [511:0] turned = turn(r_data_i, shift_q);
  wire [5:0] lane = at_q[5:0];
  wire [12:0] end_at = 13'(lane) + 13'(in_beat);
  // The bytes of this beat in the line at hand, and those that overflow into the next.
  wire [511:0] joined = (part_q & ~mask_from(lane)) | (turned & mask_from(lane));
  wire fills = end_at >= 13'd64;
  wire [5:0] rest_lane = end_at[5:0];
  wire [511:0] rest = turned & ~mask_from(rest_lane);
  wire [511:0] kept = (rest_lane == 6'd0 && !fills) ? joined : joined & ~mask_from(rest_lane);

  // Packet memory.
  logic line_write;
  logic [4:0] line_at;
  logic [511:0] line;
  always_comb begin
    line_write = 1'b0;
    line_at = at_q[10:6];
    line = joined;
    unique case (step_q)
      Sums: begin
        line_write = h_q.length >= 7'd64;   // the first line is headers alone
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

  logic [511:0] out_line;
  logic [SlotBits-1:0] out_slot_q;
  logic [4:0] out_read;

  toe_ram #(.Width(512), .AddrBits(SlotBits + 5)) packets (
    .clk_i,
    .write_i(line_write), .waddr_i({slot_q, line_at}), .wdata_i(line),
    .raddr_i({out_slot_q, out_read}), .rdata_o(out_line)
  );

  function automatic logic [31:0] pseudo(input path_t p, input logic [15:0] len);
    logic [31:0] sum;
    sum = 32'(len) + 32'd6;
    for (int i = 0; i < 8; i++) sum += 32'(p.tuple.own[16*i+:16]) + 32'(p.tuple.remote[16*i+:16]);
    return sum;
  endfunction

  typedef struct packed {
    logic [SlotBits-1:0] slot;
    logic [11:0]         bytes;
    logic [15:0]         csum;
    logic [6:0]          sum_at;
  } done_t;
  done_t finished, leaving;
  logic [SlotBits:0] done_room;
  logic leaving_valid, leaving_done;

  assign finished.slot = slot_q;
  assign finished.bytes = at_q;
  assign finished.csum = ~fold(sum_q);
  assign finished.sum_at = h_q.l4_at + 7'd16;

  toe_fifo #(.Width($bits(done_t)), .AddrBits(SlotBits)) done_list (
    .clk_i, .rst_ni, .push_i(step_q == Finish), .data_i(finished), .room_o(done_room),
    .valid_o(leaving_valid), .pop_i(leaving_done), .data_o(leaving)
  );
  // A slot is used again when the packet that was in it has left: they leave in order.
  assign slot_free = done_room > (SlotBits + 1)'(1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= Choose;
      slot_q <= '0;
      turn_q <= '0;
    end else begin
      unique case (step_q)
        Choose:
        if (slot_free) begin
          if (bare_valid_i) begin
            d_q <= bare_i;
            p_q <= bare_path_i;
            bare_q <= 1'b1;
            step_q <= Headers;
          end else if (any) begin
            d_q <= desc_i[source];
            bare_q <= 1'b0;
            turn_q <= (source == FpcIndexBits'(Fpcs - 1)) ? '0 : source + 1'b1;
            step_q <= Path;
          end
        end
        Path: step_q <= Headers;
        Headers: begin
          h_q <= headers(d_q, bare_q ? p_q : path_i, own_i.mac);
          if (!bare_q) p_q <= path_i;
          left_q <= d_q.len;
          from_q <= d_q.from;
          step_q <= Sums;
        end
        Sums: begin
          at_q <= 12'(h_q.length);
          part_q <= (h_q.length >= 7'd64) ? h_q.bytes[127:64] : h_q.bytes[63:0];
          // The segment's header: all of the headers, less what stands before it.
          sum_q <= sum_line(h_q.bytes[63:0] & mask_from(h_q.l4_at[5:0])) +
                   sum_line(h_q.bytes[127:64]) +
                   pseudo(p_q, 16'(h_q.length) - 16'(h_q.l4_at) + d_q.len);
          step_q <= Ask;
        end
        Ask: begin
          if (left_q == 16'd0) step_q <= Flush;
          else if (!q.enable) step_q <= Choose;   // its queue pair is gone, and its payload
          else if (ar_ready_i) begin
            piece_q <= piece;
            beats_q <= ar_len_o;
            skip_q <= addr[5:0];
            shift_q <= at_q[5:0] - addr[5:0];
            left_q <= left_q - piece;
            from_q <= from_q + 32'(piece);
            step_q <= Fill;
          end
        end
        Fill:
        if (r_valid_i) begin
          // An odd byte in front would turn the words of the sum: payload begins at an even place.
          sum_q <= 32'(fold(sum_q)) + (fills ? sum_line(joined & mask_from(lane)) + sum_line(rest)
                                             : sum_line(kept & mask_from(lane)));
          part_q <= fills ? rest : kept;
          at_q <= at_q + 12'(in_beat);
          piece_q <= piece_q - in_beat;
          skip_q <= '0;
          shift_q <= (at_q[5:0] + 6'(in_beat));
          beats_q <= beats_q - 8'd1;
          if (beats_q == 8'd0) step_q <= Ask;
        end
        Flush: step_q <= Finish;
        default: begin
          slot_q <= slot_q + 1'b1;
          step_q <= Choose;
        end
      endcase
    end
  end

  // ---- out ----

  logic [4:0] out_line_q;
  logic out_valid_q, out_reading_q;

  assign out_slot_q = leaving.slot;
  wire [11:0] gone = {1'b0, out_line_q, 6'd0};
  wire last = leaving.bytes <= gone + 12'd64;
  wire [6:0] keep_n = last ? 7'(leaving.bytes - gone) : 7'd64;
  wire fires = out_valid_q && m_tready_i;

  assign out_read = fires ? out_line_q + 5'd1 : out_line_q;

  logic [511:0] patched;
  always_comb begin
    patched = out_line;
    for (int i = 0; i < 64; i += 2) begin
      if ({out_line_q[0], 6'(i)} == leaving.sum_at && out_line_q[4:1] == 4'd0) begin
        patched[8*i+:8] = leaving.csum[15:8];
        patched[8*i+8+:8] = leaving.csum[7:0];
      end
    end
  end

  assign m_tvalid_o = out_valid_q;
  assign m_tdata_o = patched;
  assign m_tkeep_o = (keep_n == 7'd64) ? '1 : ((64'd1 << keep_n) - 64'd1);
  assign m_tlast_o = last;
  assign leaving_done = fires && last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      out_reading_q <= 1'b0;
      out_line_q <= '0;
    end else begin
      if (!out_valid_q) begin
        // The line is asked for in one cycle and there in the next.
        out_reading_q <= leaving_valid && !out_reading_q;
        if (out_reading_q) begin
          out_valid_q <= 1'b1;
          out_reading_q <= 1'b0;
        end
      end else if (m_tready_i) begin
        if (last) begin
          out_valid_q <= 1'b0;
          out_line_q <= '0;
        end else out_line_q <= out_line_q + 5'd1;
      end
    end
  end

endmodule

`resetall
