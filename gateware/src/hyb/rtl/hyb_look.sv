// SPDX-License-Identifier: Apache-2.0
// hyb_look.sv - reads the headers of received frames and sums their segments, while hyb_rx writes them
// into its buffers (S2.10 F1 of the receive side): a description of each frame, with which the firmware
// touches neither headers nor payload of a usual segment. One beat of 64 bytes a cycle, one frame a cycle.
//
//   cycle  0     1      2      3    4     5    6       7        8
//          beat  where  bytes  sum  head  add  fields  verdict  done_o
//
// Described are Ethernet frames without tags that have IPv4 without options, or IPv6 and TCP next.
// Of a TCP segment that lies there whole:
//   - its checksum with that of the IPv4 header,
//   - whether it is usual: to our Ethernet address, with ACK and without SYN, RST, URG, with no options
//     but NOP, NOP, Timestamps (RFC 7323 appendix A). The fields of others are of no meaning.
//
// The words of a description; numbers are in the processor's byte order:
//   0  bit 0 usual; 1 the IPv4 header's checksum is right; 2 the segment's, too; 3 IPv6; 4 it has
//      timestamps; 15:8 TOS or traffic class; 23:16 a hash of the peer's address and of the ports
//   1  7:0 flags; 31:16 window
//   2  7:0 first byte of payload in the frame; 19:8 bytes of payload; 31:20 bytes of the frame
//   3  sequence number; 4 acknowledgement number; 5 TSval; 6 TSecr
//   7  15:0 the peer's port; 31:16 ours
//
// A segment begins at an even byte of the frame, so 16-bit words of the frame are words of the segment.
// Bytes from the IP addresses on are summed: these are of the pseudo header.
`resetall
`default_nettype none

module hyb_look #(
  parameter int unsigned BufBits = 4
) (
  input  wire                clk_i,
  input  wire                rst_ni,
  input  wire [47:0]         mac_i,     // ours, its first octet in bits 47:40

  // a beat that is written into a buffer
  input  wire                beat_i,
  input  wire [4:0]          line_i,
  input  wire                last_i,
  input  wire [63:0][7:0]    data_i,
  input  wire [63:0]         keep_i,
  input  wire [BufBits-1:0]  buffer_i,

  output wire                done_o,    // a frame is described; in their order
  input  wire [BufBits+2:0]  word_i,    // buffer and word; data come a cycle later
  output wire [31:0]         data_o
);

  localparam int unsigned Head = 86;    // bytes that are read: IPv6, 32 of TCP

  function automatic logic [15:0] half(input logic [63:0][7:0] d, input int unsigned at);
    return {d[at], d[at+1]};
  endfunction

  function automatic logic [15:0] fold(input logic [31:0] sum);
    logic [16:0] a;
    a = 17'(sum[15:0]) + 17'(sum[31:16]);
    a = 17'(a[15:0]) + 17'(a[16]);
    return a[15:0] + 16'(a[16]);
  endfunction

  // ---- cycles 1 and 2: where the datagram ends; which bytes of the beat are summed ----

  typedef struct packed {
    logic               valid;
    logic               last;
    logic [4:0]         line;
    logic [BufBits-1:0] buffer;
  } mark_t;

  typedef struct packed {
    logic        v4;
    logic        v6;
    logic [15:0] length;  // as the header has it: total, or of IPv6 the payload's
    logic [16:0] stop;    // offset behind the datagram
  } where_t;

  function automatic where_t locate(input logic [63:0][7:0] d);
    where_t w;
    w.v4 = half(d, 12) == 16'h0800;
    w.v6 = half(d, 12) == 16'h86dd;
    w.length = w.v6 ? half(d, 18) : half(d, 16);
    w.stop = 17'(w.length) + (w.v6 ? 17'd54 : 17'd14);
    return w;
  endfunction

  // Bytes of the line from the addresses on and within the datagram.
  function automatic logic [63:0] summed(input logic [4:0] line, input logic [16:0] stop,
                                         input logic v6);
    logic [63:0] m;
    for (int i = 0; i < 64; i++)
      m[i] = {6'd0, line, 6'(i)} < stop && (line != '0 || i >= 26 || (v6 && i >= 22));
    return m;
  endfunction

  mark_t m1, m2, m3, m4, m5;
  logic [63:0][7:0] data_q1, data_q2, data_q3, data_q4;
  logic [63:0] keep_q1, keep_q2, keep_q3, mask_q3;
  where_t where_q2, where_q3, where_q4, where_q5;

  function automatic mark_t reset(input mark_t m, input logic run);
    mark_t r;
    r = m;
    r.valid = m.valid && run;
    return r;
  endfunction

  always_ff @(posedge clk_i) begin
    m1 <= '{valid: beat_i && rst_ni, last: last_i, line: line_i, buffer: buffer_i};
    data_q1 <= data_i;
    keep_q1 <= keep_i;
    m2 <= reset(m1, rst_ni);
    data_q2 <= data_q1;
    keep_q2 <= keep_q1;
    if (m1.valid && m1.line == '0) where_q2 <= locate(data_q1);
    m3 <= reset(m2, rst_ni);
    data_q3 <= data_q2;
    keep_q3 <= keep_q2;
    where_q3 <= where_q2;
    mask_q3 <= summed(m2.line, where_q2.stop, where_q2.v6) & keep_q2;
  end

  // ---- cycles 3 to 5: sums of the beat, four words at a time, then of the frame ----

  typedef logic [7:0][17:0] fours_t;
  function automatic fours_t sum_fours(input logic [63:0][7:0] d, input logic [63:0] mask);
    fours_t f;
    f = '0;
    for (int i = 0; i < 32; i++)
      f[i/4] = f[i/4] + 18'({mask[2*i] ? d[2*i] : 8'd0, mask[2*i+1] ? d[2*i+1] : 8'd0});
    return f;
  endfunction

  function automatic logic [6:0] ones(input logic [63:0] keep);
    logic [6:0] n;
    n = 7'd0;
    for (int i = 0; i < 64; i++) n += 7'(keep[i]);
    return n;
  endfunction

  fours_t fours_q4, ip_fours_q4;
  logic [21:0] beat_sum_q5, ip_sum_q5;
  logic [Head-1:0][7:0] head_q5;
  logic [11:0] size_q4, size_q5;
  logic [31:0] total_q;
  wire [31:0] total = (m5.line == '0 ? '0 : total_q) + 32'(beat_sum_q5);

  function automatic logic [21:0] add(input fours_t f);
    logic [21:0] sum;
    sum = '0;
    for (int i = 0; i < 8; i++) sum += 22'(f[i]);
    return sum;
  endfunction

  localparam logic [63:0] Ip4Bytes = 64'hf_ffff << 14;

  always_ff @(posedge clk_i) begin
    m4 <= reset(m3, rst_ni);
    data_q4 <= data_q3;
    where_q4 <= where_q3;
    fours_q4 <= sum_fours(data_q3, mask_q3);
    ip_fours_q4 <= sum_fours(data_q3, Ip4Bytes);
    size_q4 <= {1'b0, m3.line, 6'd0} + 12'(ones(keep_q3));

    m5 <= reset(m4, rst_ni);
    where_q5 <= where_q4;
    size_q5 <= size_q4;
    beat_sum_q5 <= add(fours_q4);
    if (m4.valid && m4.line == '0) begin
      ip_sum_q5 <= add(ip_fours_q4);
      head_q5 <= (8 * Head)'(data_q4);
    end
    if (m4.valid && m4.line == 5'd1) head_q5[Head-1:64] <= data_q4[Head-65:0];
    if (m5.valid) total_q <= total;
  end

  // ---- cycle 6: the fields ----

  typedef struct packed {
    logic [13:0][7:0]   ip;        // its first bytes
    logic [47:0]        to;
    logic [7:0][15:0]   peer;      // its address; of IPv4 the others are 0
    logic [31:0][7:0]   tcp;
    logic [15:0]        tcp_len;
    logic [15:0]        ip_sum;
    logic [15:0]        csum;
    where_t             where;
    logic [11:0]        size;
  } frame_t;

  function automatic frame_t fields(input logic [Head-1:0][7:0] h, input where_t w);
    frame_t f;
    f = '0;
    f.ip = h[27:14];
    f.to = {h[0], h[1], h[2], h[3], h[4], h[5]};
    for (int i = 0; i < 8; i++)
      f.peer[i] = w.v6 ? {h[22+2*i], h[23+2*i]} : (i < 2 ? {h[26+2*i], h[27+2*i]} : 16'd0);
    f.tcp = w.v6 ? h[85:54] : h[65:34];
    f.tcp_len = w.v6 ? w.length : w.length - 16'd20;
    f.where = w;
    return f;
  endfunction

  logic valid_q6;
  frame_t frame_q6;
  logic [BufBits-1:0] buffer_q6;
  always_ff @(posedge clk_i) begin
    valid_q6 <= m5.valid && m5.last && rst_ni;
    frame_q6 <= fields(head_q5, where_q5);
    frame_q6.ip_sum <= fold(32'(ip_sum_q5));
    frame_q6.csum <= fold(total);
    frame_q6.size <= size_q5;
    buffer_q6 <= m5.buffer;
  end

  // ---- cycle 7: the verdict ----

  localparam logic [7:0] Tcp = 8'd6;
  localparam logic [31:0] StampsBegin = 32'h0101_080a;   // NOP, NOP, kind, length

  function automatic logic [31:0] word(input logic [31:0][7:0] d, input int unsigned at);
    return {d[at], d[at+1], d[at+2], d[at+3]};
  endfunction

  logic [7:0][31:0] words;
  always_comb begin
    logic ip4_ok, ip_ok, sum_ok, stamps, usual;
    logic [5:0] header;
    logic [15:0] mixed;
    frame_t f;
    f = frame_q6;
    ip4_ok = f.where.v4 && f.ip[0] == 8'h45 && f.where.length >= 16'd20 &&
        f.where.stop <= 17'(f.size) && f.ip_sum == 16'hffff;
    // no fragment: neither More Fragments nor an offset
    ip_ok = ip4_ok ? {f.ip[6][5:0], f.ip[7]} == 14'd0 && f.ip[9] == Tcp
          : f.where.v6 && f.ip[0][7:4] == 4'd6 && f.ip[6] == Tcp && f.where.stop <= 17'(f.size);
    sum_ok = ip_ok && (!f.where.v4 || f.where.length >= 16'd40) && f.tcp_len >= 16'd20 &&
        fold(32'(f.csum) + 32'(f.tcp_len) + 32'(Tcp)) == 16'hffff;
    header = {f.tcp[12][7:4], 2'd0};
    stamps = header == 6'd32 && word(f.tcp, 20) == StampsBegin;
    // {FIN, SYN, RST, PSH, ACK, URG} are bits 0 to 5
    usual = sum_ok && f.to == mac_i && (header == 6'd20 || stamps) && f.tcp_len >= 16'(header) &&
        f.tcp[12][3:0] == '0 && {f.tcp[13][5:4], f.tcp[13][2:1]} == 4'b0100;
    mixed = {f.tcp[0], f.tcp[1]} ^ {f.tcp[2], f.tcp[3]};
    for (int i = 0; i < 8; i++) mixed ^= f.peer[i];
    words[0] = {8'd0, mixed[15:8] ^ mixed[7:0],
                f.where.v6 ? {f.ip[0][3:0], f.ip[1][7:4]} : f.ip[1],
                3'd0, stamps, f.where.v6, sum_ok, ip4_ok, usual};
    words[1] = {f.tcp[14], f.tcp[15], 8'd0, f.tcp[13]};
    words[2] = {f.size, 12'(f.tcp_len) - 12'(header),
                8'(header) + (f.where.v6 ? 8'd54 : 8'd34)};
    words[3] = word(f.tcp, 4);
    words[4] = word(f.tcp, 8);
    words[5] = word(f.tcp, 24);
    words[6] = word(f.tcp, 28);
    words[7] = {f.tcp[2], f.tcp[3], f.tcp[0], f.tcp[1]};
  end

  logic valid_q7, done_q;
  logic [BufBits-1:0] buffer_q7;
  logic [7:0][31:0] words_q7, line;
  logic [2:0] lane_q;
  always_ff @(posedge clk_i) begin
    valid_q7 <= valid_q6 && rst_ni;
    buffer_q7 <= buffer_q6;
    words_q7 <= words;
    done_q <= valid_q7 && rst_ni;
    lane_q <= word_i[2:0];
  end

  sdp_ram #(.Width(256), .AddrBits(BufBits)) descriptions (
    .clk_i,
    .write_i(valid_q7), .waddr_i(buffer_q7), .wdata_i(words_q7),
    .raddr_i(word_i[BufBits+2:3]), .rdata_o(line)
  );
  assign done_o = done_q;
  assign data_o = line[lane_q];

  wire unused = &{1'b0, m2.last, frame_q6.ip[5:2], frame_q6.ip[8], frame_q6.ip[13:10],
      frame_q6.tcp[19:16]};

endmodule

`resetall
