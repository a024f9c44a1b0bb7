// SPDX-License-Identifier: Apache-2.0
// toe_rx.sv - packets come in (S1.5): into packet buffers of 2 KiB, while their headers are read and
// their checksums verified. One beat of 64 bytes a cycle, one packet a cycle.
//
//   cycle  0     1        2      3, 4  5     6, 7    8, 9   10      11 ..
//          beat  where    bytes  sum   add   L3, L4  sums   judge   options   packet_o
//
// The first byte of a beat is in bits 7:0. L4 begins at an even byte, so that sums of 16-bit words of the
// frame are sums of words of the segment: the bytes before it are subtracted.
`resetall
`default_nettype none

module toe_rx
  import toe_pkg::*;
#(
  parameter int unsigned BufBits = 6   // packet buffers: 2^BufBits
) (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire own_t    own_i,

  input  wire [511:0]  s_tdata_i,
  input  wire [63:0]   s_tkeep_i,
  input  wire          s_tvalid_i,
  input  wire          s_tlast_i,
  output wire          s_tready_o,

  output wire          packet_valid_o,
  input  wire          packet_ready_i,
  output wire packet_t packet_o,

  // A packet buffer is free again.
  input  wire          free_valid_i,
  input  wire buf_t    free_i,

  // The buffers' contents, a cycle later, for two.
  input  wire buf_t [1:0]        read_buffer_i,
  input  wire [1:0][4:0]         read_line_i,
  output wire [1:0][511:0]       read_data_o,

  output wire rx_counts_t counts_o
);

  localparam int unsigned OutBits = 5;

  // ---- packet buffers ----

  logic own_free_valid;
  buf_t own_free;
  logic [BufBits:0] start_q;      // those never used yet
  logic free_listed, free_pop, free_push;
  logic [BufBits-1:0] free_head, free_pushed;
  logic [BufBits:0] free_room;
  logic back_valid;
  buf_t back;
  logic [OutBits:0] back_room;

  // Buffers of frames dropped here wait for their turn at the list.
  toe_fifo #(.Width($bits(buf_t)), .AddrBits(OutBits)) back_list (
    .clk_i, .rst_ni,
    .push_i(own_free_valid), .data_i(own_free), .room_o(back_room),
    .valid_o(back_valid), .pop_i(back_valid && !free_valid_i), .data_o(back)
  );
  assign free_push = free_valid_i || back_valid;
  assign free_pushed = free_valid_i ? free_i[BufBits-1:0] : back[BufBits-1:0];

  toe_fifo #(.Width(BufBits), .AddrBits(BufBits)) free_list (
    .clk_i, .rst_ni,
    .push_i(free_push), .data_i(free_pushed), .room_o(free_room),
    .valid_o(free_listed), .pop_i(free_pop), .data_o(free_head)
  );

  wire fresh = !start_q[BufBits];
  wire any_free = fresh || free_listed;
  wire [BufBits-1:0] next_buffer = fresh ? start_q[BufBits-1:0] : free_head;

  // ---- cycle 0: the beat arrives, and is written into its buffer ----

  logic in_packet_q, dropping_q;
  logic [BufBits-1:0] buffer_q;
  logic [5:0] line_q;             // of the next beat; 32: too long
  logic room;                     // behind, for a packet more

  assign s_tready_o = 1'b1;       // a frame without room is dropped, and counted
  wire beat = s_tvalid_i;
  wire first = beat && !in_packet_q;
  wire take_first = first && any_free && room;
  wire [BufBits-1:0] buffer = first ? next_buffer : buffer_q;
  wire [5:0] line = first ? 6'd0 : line_q;
  wire keeps = first ? take_first : !dropping_q;
  wire too_long = keeps && line[5];

  assign free_pop = take_first && !fresh;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_packet_q <= 1'b0;
      dropping_q <= 1'b0;
      start_q <= '0;
    end else begin
      if (beat) in_packet_q <= !s_tlast_i;
      if (first) dropping_q <= !take_first;
      if (take_first && fresh) start_q <= start_q + 1'b1;
    end
    if (beat) begin
      if (first) buffer_q <= next_buffer;
      line_q <= line[5] ? line : line + 6'd1;
    end
  end

  toe_ram2 #(.Width(512), .AddrBits(BufBits + 5)) buffers (
    .clk_i,
    .write_i(beat && keeps && !line[5]),
    .waddr_i({buffer, line[4:0]}),
    .wdata_i(s_tdata_i),
    .raddr_a_i({read_buffer_i[0][BufBits-1:0], read_line_i[0]}),
    .rdata_a_o(read_data_o[0]),
    .raddr_b_i({read_buffer_i[1][BufBits-1:0], read_line_i[1]}),
    .rdata_b_o(read_data_o[1])
  );

  // ---- cycle 1: where the datagram begins and ends ----

  typedef struct packed {
    logic             valid;
    logic             last;
    logic             over;   // too long
    logic [5:0]       line;
    logic [63:0][7:0] data;
    logic [63:0]      keep;
    logic [BufBits-1:0] buffer;
  } beat_t;

  beat_t b1, b2, b3;

  always_ff @(posedge clk_i) begin
    b1.valid <= beat && keeps && rst_ni;
    b1.last <= s_tlast_i;
    b1.over <= too_long;
    b1.line <= line;
    b1.data <= s_tdata_i;
    b1.keep <= s_tkeep_i;
    b1.buffer <= buffer;
    b2 <= b1;
    if (!rst_ni) b2.valid <= 1'b0;
  end

  typedef struct packed {
    logic [6:0]  l3;        // offset of the IP header
    logic        ip4;
    logic        ip6;
    logic        arp;
    logic        vlan;
    logic [16:0] stop;      // offset behind the datagram: a length may be anything
  } where_t;

  function automatic logic [15:0] half(input logic [63:0][7:0] d, input int unsigned at);
    return {d[at], d[at+1]};
  endfunction

  function automatic logic [15:0] ether_type(input logic [63:0][7:0] d, input logic [1:0] tags);
    unique case (tags)
      2'd0: return half(d, 12);
      2'd1: return half(d, 16);
      default: return half(d, 20);
    endcase
  endfunction

  function automatic logic is_tag(input logic [15:0] t);
    return t == 16'h8100 || t == 16'h88a8;
  endfunction

  function automatic where_t locate(input logic [63:0][7:0] d);
    where_t w;
    logic [1:0] tags;
    logic [15:0] kind, len4, len6;
    tags = !is_tag(half(d, 12)) ? 2'd0 : (!is_tag(half(d, 16)) ? 2'd1 : 2'd2);
    kind = ether_type(d, tags);
    w.l3 = 7'd14 + 7'({tags, 2'd0});
    w.vlan = tags != 2'd0;
    w.ip4 = kind == 16'h0800;
    w.ip6 = kind == 16'h86dd;
    w.arp = kind == 16'h0806;
    unique case (tags)
      2'd0: begin
        len4 = half(d, 16);
        len6 = half(d, 18);
      end
      2'd1: begin
        len4 = half(d, 20);
        len6 = half(d, 22);
      end
      default: begin
        len4 = half(d, 24);
        len6 = half(d, 26);
      end
    endcase
    w.stop = w.ip4 ? 17'(w.l3) + 17'(len4)
           : (w.ip6 ? 17'(w.l3) + 17'd40 + 17'(len6) : 17'(w.l3) + 17'd28);
    return w;
  endfunction

  where_t where_q;
  always_ff @(posedge clk_i) if (b1.valid && b1.line == 6'd0) where_q <= locate(b1.data);

  // ---- cycles 2 to 4: which bytes of the beat are of the datagram; their sum, four words at a time ----

  // Bytes of the line below offset stop.
  function automatic logic [63:0] below(input logic [5:0] line_, input logic [16:0] stop);
    logic [63:0] m;
    for (int i = 0; i < 64; i++) m[i] = {6'd0, line_[4:0], 6'(i)} < stop;
    return m;
  endfunction

  typedef logic [7:0][17:0] fours_t;
  function automatic fours_t sum_fours(input logic [63:0][7:0] d, input logic [63:0] mask);
    fours_t f;
    f = '0;
    for (int i = 0; i < 32; i++)
      f[i/4] = f[i/4] + 18'({mask[2*i] ? d[2*i] : 8'd0, mask[2*i+1] ? d[2*i+1] : 8'd0});
    return f;
  endfunction

  typedef struct packed {
    logic               valid;
    logic               last;
    logic               over;
    logic [5:0]         line;
    logic [BufBits-1:0] buffer;
  } mark_t;

  logic [63:0] mask_q3;
  where_t where_q3, where_q4, where_q5;
  mark_t b4, b5;
  fours_t fours_q4;
  logic [21:0] beat_sum_q;
  logic [63:0][7:0] data_q4;
  logic [127:0][7:0] head_q5;
  logic [11:0] size_q4, size_q5;       // bytes of the frame that are there

  function automatic logic [6:0] ones(input logic [63:0] keep);
    logic [6:0] n;
    n = 7'd0;
    for (int i = 0; i < 64; i++) n += 7'(keep[i]);
    return n;
  endfunction

  always_ff @(posedge clk_i) begin
    b3 <= b2;
    mask_q3 <= below(b2.line, where_q.stop) & b2.keep;
    where_q3 <= where_q;

    b4 <= '{valid: b3.valid && rst_ni, last: b3.last, over: b3.over, line: b3.line,
            buffer: b3.buffer};
    fours_q4 <= sum_fours(b3.data, mask_q3);
    where_q4 <= where_q3;
    data_q4 <= b3.data;
    size_q4 <= {b3.line, 6'd0} + 12'(ones(b3.keep));

    b5 <= b4;
    beat_sum_q <= 22'(fours_q4[0]) + 22'(fours_q4[1]) + 22'(fours_q4[2]) + 22'(fours_q4[3]) +
                  22'(fours_q4[4]) + 22'(fours_q4[5]) + 22'(fours_q4[6]) + 22'(fours_q4[7]);
    where_q5 <= where_q4;
    size_q5 <= size_q4;
    if (b4.valid && b4.line == 6'd0) head_q5 <= {512'd0, data_q4};
    if (b4.valid && b4.line == 6'd1) head_q5[127:64] <= data_q4;
    if (!rst_ni) begin
      b3.valid <= 1'b0;
      b5.valid <= 1'b0;
    end
  end

  // ---- cycle 5: sums of the frame ----

  typedef struct packed {
    logic [127:0][7:0]  head;
    where_t             where;
    logic [15:0]        csum;
    logic [11:0]        size;
    logic               over;
    logic [BufBits-1:0] buffer;
  } frame_t;

  function automatic logic [15:0] fold(input logic [31:0] sum);
    logic [16:0] a;
    a = 17'(sum[15:0]) + 17'(sum[31:16]);
    a = 17'(a[15:0]) + 17'(a[16]);
    return a[15:0] + 16'(a[16]);
  endfunction

  logic [31:0] total_q;
  wire [31:0] total = ((b5.line == 6'd0) ? 32'd0 : total_q) + 32'(beat_sum_q);
  logic frame_valid_q6, over_q;
  frame_t frame_q6;

  always_ff @(posedge clk_i) begin
    if (b5.valid) begin
      total_q <= total;
      over_q <= (b5.line != 6'd0 && over_q) || b5.over;
    end
    frame_valid_q6 <= b5.valid && b5.last && rst_ni;
    frame_q6.head <= head_q5;
    frame_q6.where <= where_q5;
    frame_q6.csum <= fold(total);
    frame_q6.size <= size_q5;
    frame_q6.over <= b5.over || (b5.line != 6'd0 && over_q);
    frame_q6.buffer <= b5.buffer;
  end

  // ---- cycle 6: the IP header, moved to the front ----

  typedef struct packed {
    logic [103:0][7:0]  l3;       // from the IP header on
    logic [47:0]        from;
    logic [47:0]        to;
    where_t             where;
    logic [15:0]        csum;
    logic [11:0]        size;
    logic               over;
    logic [BufBits-1:0] buffer;
    logic [3:0][17:0]   link;     // sums of the bytes before it
  } net_t;

  function automatic logic [47:0] mac_at(input logic [127:0][7:0] h, input int unsigned at);
    return {h[at], h[at+1], h[at+2], h[at+3], h[at+4], h[at+5]};
  endfunction

  // Of the bytes before the IP header: 14, and four for each tag.
  function automatic logic [3:0][17:0] sum_link(input logic [127:0][7:0] h, input logic [6:0] l3);
    logic [3:0][17:0] sum;
    sum = '0;
    for (int i = 0; i < 11; i++)
      sum[i/3] = sum[i/3] + ((i < 7 || (i < 9 && l3 != 7'd14) || l3 == 7'd22) ?
                             18'({h[2*i], h[2*i+1]}) : 18'd0);
    return sum;
  endfunction

  logic net_valid_q7;
  net_t net_q7;

  always_ff @(posedge clk_i) begin
    net_valid_q7 <= frame_valid_q6 && rst_ni;
    unique case (frame_q6.where.l3)
      7'd14: net_q7.l3 <= frame_q6.head[117:14];
      7'd18: net_q7.l3 <= frame_q6.head[121:18];
      default: net_q7.l3 <= frame_q6.head[125:22];
    endcase
    net_q7.to <= mac_at(frame_q6.head, 0);
    net_q7.from <= mac_at(frame_q6.head, 6);
    net_q7.where <= frame_q6.where;
    net_q7.csum <= frame_q6.csum;
    net_q7.size <= frame_q6.size;
    net_q7.over <= frame_q6.over;
    net_q7.buffer <= frame_q6.buffer;
    net_q7.link <= sum_link(frame_q6.head, frame_q6.where.l3);
  end

  // ---- cycle 7: the transport header, moved to the front; sums of the bytes before it, and of the
  // pseudo header, by fours ----

  typedef struct packed {
    logic [59:0][7:0]   l4;
    logic [6:0]         l4_at;
    logic [7:0]         proto;
    logic [15:0]        l4_len;
    addr_t              src;
    addr_t              dst;
    logic [1:0]         ecn;
    logic               header_ok;
    logic               whole;      // the frame has all bytes that the headers name
    logic [4:0][17:0]   header;     // sums, of the IP header
    logic [21:0]        before_l3;  // ... of the bytes before it
    logic [3:0][17:0]   pseudo;     // ... of the addresses
    logic [47:0]        from;
    logic [47:0]        to;
    where_t             where;
    logic [15:0]        csum;
    logic [11:0]        size;
    logic               over;
    logic [BufBits-1:0] buffer;
  } trans_t;

  logic trans_valid_q8;
  trans_t trans_q8, trans_d;

  function automatic addr_t addr6(input logic [103:0][7:0] d, input int unsigned at);
    addr_t a;
    for (int i = 0; i < 16; i++) a[8*(15-i)+:8] = d[at+i];
    return a;
  endfunction

  always_comb begin
    logic [5:0] ihl;
    logic [15:0] total_len;
    logic [103:0][7:0] from_l4;
    trans_d = '0;
    ihl = net_q7.where.ip4 ? 6'd20 : 6'd40;   // another one is refused below
    // Of the header without options: 20 bytes, or 40 of IPv6.
    for (int i = 0; i < 20; i++)
      if (i < 10 || !net_q7.where.ip4)
        trans_d.header[i/4] = trans_d.header[i/4] + 18'({net_q7.l3[2*i], net_q7.l3[2*i+1]});
    total_len = 16'(net_q7.where.stop - 17'(net_q7.where.l3));
    from_l4 = net_q7.where.ip4 ? net_q7.l3 >> 160 : net_q7.l3 >> 320;
    trans_d.l4 = from_l4[59:0];
    trans_d.l4_at = net_q7.where.l3 + 7'(ihl);
    trans_d.l4_len = total_len - 16'(ihl);
    trans_d.before_l3 = 22'(net_q7.link[0]) + 22'(net_q7.link[1]) + 22'(net_q7.link[2]) +
                        22'(net_q7.link[3]);
    if (net_q7.where.ip4) begin
      trans_d.proto = net_q7.l3[9];
      trans_d.ecn = net_q7.l3[1][1:0];
      trans_d.src = 128'({net_q7.l3[12], net_q7.l3[13], net_q7.l3[14], net_q7.l3[15]});
      trans_d.dst = 128'({net_q7.l3[16], net_q7.l3[17], net_q7.l3[18], net_q7.l3[19]});
      // Version, length, no fragment; options are source routes and the like: not carried.
      trans_d.header_ok = net_q7.l3[0] == 8'h45 && total_len >= 16'd20 &&
          {net_q7.l3[6][5:0], net_q7.l3[7]} == 14'd0;
    end else begin
      trans_d.proto = net_q7.l3[6];
      trans_d.ecn = net_q7.l3[1][5:4];
      trans_d.src = addr6(net_q7.l3, 8);
      trans_d.dst = addr6(net_q7.l3, 24);
      trans_d.header_ok = net_q7.l3[0][7:4] == 4'd6;
    end
    for (int i = 0; i < 8; i++)
      trans_d.pseudo[i/2] = trans_d.pseudo[i/2] + 18'(trans_d.src[16*i+:16]) +
                            18'(trans_d.dst[16*i+:16]);
    trans_d.whole = net_q7.where.stop <= 17'(net_q7.size);
    trans_d.from = net_q7.from;
    trans_d.to = net_q7.to;
    trans_d.where = net_q7.where;
    trans_d.csum = net_q7.csum;
    trans_d.size = net_q7.size;
    trans_d.over = net_q7.over;
    trans_d.buffer = net_q7.buffer;
  end

  always_ff @(posedge clk_i) begin
    trans_valid_q8 <= net_valid_q7 && rst_ni;
    trans_q8 <= trans_d;
  end

  // Verdicts that do not need the sums.
  typedef struct packed {
    logic to_us;       // by MAC
    logic for_us;      // by IP
    logic nobody;      // the source is no host's address
    logic forged;      // from ourselves (land attack), or of port 0, which is reserved (RFC 6335 6)
    logic length_ok;   // the TCP header, and all of it in the segment
    logic echoes;      // the header of an ICMP message
    logic asks6;       // ICMPv6 for us: echo, or neighbour solicitation and advertisement
  } facts_t;

  // No host's: this network, loopback, groups, broadcast (R1122-04); of IPv6 none, loopback,
  // groups, and IPv4's in IPv6's clothes, which a host would take for IPv4 (RFC 4291 2.5.2, 2.5.3, 2.7).
  function automatic logic is_nobody(input logic v4, input addr_t a);
    if (v4) return a[31:24] == 8'd0 || a[31:24] == 8'd127 || a[31:29] == 3'd7;
    return a[127:1] == 127'd0 || a[127:120] == 8'hff || a[127:32] == 96'hffff;
  endfunction

  function automatic facts_t look(input trans_t t, input own_t own);
    facts_t f;
    logic [5:0] thl;
    logic echo, neighbour, to_group;
    thl = {t.l4[12][7:4], 2'd0};
    f.to_us = t.to == own.mac;
    f.for_us = t.where.ip4 ? t.dst[31:0] == own.ip4 && own.ip4 != 32'd0
             : own.ip6_on && (t.dst == own.ip6 || t.dst == own.ip6_link);
    f.nobody = is_nobody(t.where.ip4, t.src);
    f.forged = t.src == t.dst || {t.l4[0], t.l4[1]} == 16'd0 || {t.l4[2], t.l4[3]} == 16'd0;
    f.length_ok = t.l4_len >= 16'd20 && thl >= 6'd20 && 16'(thl) <= t.l4_len;
    f.echoes = t.l4_len >= 16'd8;
    // Multicast requests: only neighbour solicitations, as an echo would come from the group.
    echo = t.l4[0] == 8'd128;
    neighbour = t.l4[0] == 8'd135 || t.l4[0] == 8'd136;
    to_group = (f.to_us || t.to[40]) && t.dst[127:120] == 8'hff;
    f.asks6 = t.where.ip6 && own.ip6_on && t.proto == 8'd58 && f.echoes &&
        ((f.to_us && f.for_us && ((echo && !f.nobody) || neighbour)) || (to_group && neighbour));
    return f;
  endfunction

  // ---- cycles 8 and 9: sums, whole, then folded. The segment's with its pseudo header is right when the
  // frame's, with that, is as what lies before the segment (RFC 1071; neither is ever zero). ----

  logic trans_valid_q9, trans_valid_q10;
  trans_t trans_q9, trans_q10;
  facts_t facts_q10;
  logic [21:0] header_q9, before_q9, pseudo_q9;
  logic [15:0] header_q10, before_q10, with_pseudo_q10;

  always_ff @(posedge clk_i) begin
    trans_valid_q9 <= trans_valid_q8 && rst_ni;
    trans_q9 <= trans_q8;
    header_q9 <= 22'(trans_q8.header[0]) + 22'(trans_q8.header[1]) + 22'(trans_q8.header[2]) +
                 22'(trans_q8.header[3]) + 22'(trans_q8.header[4]);
    before_q9 <= trans_q8.before_l3 + 22'(trans_q8.header[0]) + 22'(trans_q8.header[1]) +
                 22'(trans_q8.header[2]) + 22'(trans_q8.header[3]) + 22'(trans_q8.header[4]);
    pseudo_q9 <= 22'(trans_q8.csum) + 22'(trans_q8.l4_len) + 22'(trans_q8.proto) +
                 22'(trans_q8.pseudo[0]) + 22'(trans_q8.pseudo[1]) + 22'(trans_q8.pseudo[2]) +
                 22'(trans_q8.pseudo[3]);
    trans_valid_q10 <= trans_valid_q9 && rst_ni;
    trans_q10 <= trans_q9;
    facts_q10 <= look(trans_q9, own_i);
    header_q10 <= fold(32'(header_q9));
    before_q10 <= fold(32'(before_q9));
    with_pseudo_q10 <= fold(32'(pseudo_q9));
  end

  // ---- cycle 10: the verdict ----

  typedef struct packed {
    logic       valid;
    packet_t    packet;
    rx_counts_t why;
  } judged_t;

  localparam int unsigned JudgedBits = $bits(judged_t);

  logic [5:0] option_len;
  judged_t judged_d;

  always_comb begin
    logic [5:0] thl;
    logic sum_ok, header_ok;
    judged_d = '0;
    judged_d.valid = trans_valid_q10;
    sum_ok = with_pseudo_q10 == before_q10;
    thl = {trans_q10.l4[12][7:4], 2'd0};
    header_ok = trans_q10.header_ok && trans_q10.whole;
    judged_d.packet.tuple.v6 = trans_q10.where.ip6;
    judged_d.packet.tuple.remote = trans_q10.src;
    judged_d.packet.tuple.own = trans_q10.dst;
    judged_d.packet.tuple.remote_port = {trans_q10.l4[0], trans_q10.l4[1]};
    judged_d.packet.tuple.local_port = {trans_q10.l4[2], trans_q10.l4[3]};
    judged_d.packet.mac = trans_q10.from;
    judged_d.packet.bytes = 12'(trans_q10.where.stop);
    judged_d.packet.vlan = trans_q10.where.vlan;
    judged_d.packet.seg.seq = {trans_q10.l4[4], trans_q10.l4[5], trans_q10.l4[6], trans_q10.l4[7]};
    judged_d.packet.seg.ack = {trans_q10.l4[8], trans_q10.l4[9], trans_q10.l4[10],
                               trans_q10.l4[11]};
    judged_d.packet.seg.flags = trans_q10.l4[13];
    judged_d.packet.seg.wnd = {trans_q10.l4[14], trans_q10.l4[15]};
    judged_d.packet.seg.urgent = {trans_q10.l4[18], trans_q10.l4[19]};
    judged_d.packet.seg.ecn = trans_q10.ecn;
    judged_d.packet.seg.len = trans_q10.l4_len - 16'(thl);
    judged_d.packet.seg.buffer = buf_t'(trans_q10.buffer);
    judged_d.packet.seg.offset = 8'(trans_q10.l4_at) + 8'(thl);
    option_len = thl - 6'd20;

    if (trans_q10.over) judged_d.why.too_long = 1'b1;
    else if (trans_q10.where.arp) begin
      if (!facts_q10.to_us && trans_q10.to != 48'hffff_ffff_ffff)
        judged_d.why.not_ours = 1'b1;
      else if (!trans_q10.whole) judged_d.why.bad_header = 1'b1;
      else judged_d.packet.kind = PkArp;
    end else if (facts_q10.asks6 && header_ok && sum_ok)
      judged_d.packet.kind = PkEcho;
    else if (!(trans_q10.where.ip4 || trans_q10.where.ip6) || !facts_q10.to_us ||
             !facts_q10.for_us)
      judged_d.why.not_ours = 1'b1;
    else if (!header_ok || facts_q10.nobody) judged_d.why.bad_header = 1'b1;
    else if (trans_q10.where.ip4 && header_q10 != 16'hffff) judged_d.why.bad_ip_sum = 1'b1;
    else if (trans_q10.where.ip4 && trans_q10.proto == 8'd1 && trans_q10.l4[0] == 8'd8) begin
      if (facts_q10.echoes) judged_d.packet.kind = PkEcho;
      else judged_d.why.bad_header = 1'b1;
    end
    else if (trans_q10.proto != 8'd6) judged_d.why.not_ours = 1'b1;
    else if (!facts_q10.length_ok)
      judged_d.why.bad_header = 1'b1;
    else if (!sum_ok) judged_d.why.bad_tcp_sum = 1'b1;
    else if (facts_q10.forged) judged_d.why.bad_header = 1'b1;
    else judged_d.packet.kind = PkTcp;
  end

  // ---- the options, then out ----

  options_t options;
  logic options_bad;
  logic [JudgedBits-1:0] side;
  judged_t judged;
  packet_t finished;

  rx_options #(.Side(JudgedBits)) options_stages (
    .clk_i,
    .bytes_i(trans_q10.l4[59:20]),
    .length_i(option_len),
    .syn_i(judged_d.packet.seg.flags.syn),
    .side_i(judged_d),
    .options_o(options),
    .bad_o(options_bad),
    .side_o(side)
  );
  assign judged = judged_t'(side);
  // Whether it is TCP at all is known only when its options are on their way.
  wire is_tcp = judged.packet.kind == PkTcp;
  wire bad_options = is_tcp && options_bad;
  always_comb begin
    finished = judged.packet;
    finished.seg.opt = is_tcp ? options : '0;
  end

  // After reset no earlier frame may come out of the stages: until they are empty no frame is accepted.
  logic [4:0] quiet_q;
  logic open_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) quiet_q <= '1;
    else if (quiet_q != '0) quiet_q <= quiet_q - 1'b1;
    open_q <= rst_ni && quiet_q == '0;
  end
  wire came = judged.valid && open_q;
  wire dropped = came && (judged.packet.kind == PkDrop || bad_options);

  logic [OutBits:0] out_room;
  toe_fifo #(.Width($bits(packet_t)), .AddrBits(OutBits)) out_list (
    .clk_i, .rst_ni,
    .push_i(came && !dropped), .data_i(finished), .room_o(out_room),
    .valid_o(packet_valid_o), .pop_i(packet_valid_o && packet_ready_i), .data_o(packet_o)
  );

  // A packet is taken in only if there will be a place for it, whatever becomes of those on their way:
  // 20 stages may hold one each.
  logic [OutBits:0] coming_q;
  wire enters = take_first;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) coming_q <= '0;
    else coming_q <= coming_q + (OutBits + 1)'(enters) - (OutBits + 1)'(came);
  end
  wire [OutBits:0] places = coming_q + (OutBits + 1)'(1);
  assign room = open_q && places < out_room && places < back_room;

  assign own_free_valid = dropped;
  assign own_free = judged.packet.seg.buffer;

  rx_counts_t counts;
  always_comb begin
    counts = dropped ? judged.why : '0;
    if (came && bad_options) counts.bad_header = 1'b1;
    counts.no_buffer = first && !take_first;
  end
  assign counts_o = counts;

  wire unused = &{1'b0, free_room, b3.data, b3.keep, trans_q10.size};

endmodule

`resetall
