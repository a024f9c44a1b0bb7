// SPDX-License-Identifier: Apache-2.0
// rx_random.sv - what toe_rx makes of random frames: segments of both IP versions, with tags,
// options, payload and padding, of which every field and byte must be right; and frames with one
// fault each, which must be counted as that fault. Frames come with pauses and without, and the
// taker of packets stalls at times.
`timescale 1ns / 1ns
`default_nettype none

module rx_random;
  import toe_pkg::*;
  localparam int unsigned BufBits = 6;   // more than the queue behind it has entries
  localparam int unsigned Frames = 8_000;

  int unsigned seed = 1;
  bit clk = 1'b0, rst_n = 1'b0;

  own_t own;
  logic [511:0] s_data;
  logic [63:0] s_keep;
  logic s_valid, s_last, s_ready, packet_valid, packet_ready, free_valid;
  packet_t packet;
  buf_t free_buffer;
  buf_t [1:0] read_buffer;
  logic [1:0][4:0] read_line;
  logic [1:0][511:0] read_data;
  rx_counts_t counts;

  // Offered in the cycle before, and not taken.
  bit packet_held;
  packet_t packet_was;

  toe_rx #(.BufBits(BufBits)) dut (
      .clk_i(clk), .rst_ni(rst_n), .own_i(own),
      .s_tdata_i(s_data), .s_tkeep_i(s_keep), .s_tvalid_i(s_valid), .s_tlast_i(s_last),
      .s_tready_o(s_ready),
      .packet_valid_o(packet_valid), .packet_ready_i(packet_ready), .packet_o(packet),
      .free_valid_i(free_valid), .free_i(free_buffer),
      .read_buffer_i(read_buffer), .read_line_i(read_line), .read_data_o(read_data),
      .counts_o(counts));

  // ---- frames ----

  typedef bit [7:0] bytes_t[$];
  typedef enum int {
    Good, OtherMac, OtherAddress, OtherProtocol, IpSum, TcpSum, Fragment, IpOptions, Short,
    DataOffset, Land, PortZero, OptionLength, TooLong, Wrongs
  } wrong_e;

  function automatic bytes_t number(input bit [127:0] v, input int unsigned n);
    bytes_t b;
    for (int i = int'(n) - 1; i >= 0; i--) b.push_back(v[8*i+:8]);
    return b;
  endfunction
  function automatic bit [15:0] checksum(input bytes_t b);
    int unsigned sum = 0;
    for (int i = 0; i < b.size(); i += 2)
      sum += {16'd0, b[i], (i + 1 < b.size()) ? b[i+1] : 8'd0};
    while (sum > 32'hffff) sum = (sum & 32'hffff) + (sum >> 16);
    return ~16'(sum);
  endfunction

  // What must come out of the frame at hand, and the frame.
  wrong_e wrong;
  packet_t want;
  bytes_t frame;

  function automatic bytes_t some_options();
    bytes_t o;
    bit syn = want.seg.flags.syn;
    if ($urandom_range(1) == 0) begin
      want.seg.opt.mss = 16'($urandom);
      want.seg.opt.mss_ok = syn;
      if (!syn) want.seg.opt.mss = '0;
      o = {o, 8'd2, 8'd4, number(syn ? 128'(want.seg.opt.mss) : 128'd1460, 2)};
    end
    if ($urandom_range(1) == 0) begin
      want.seg.opt.sack_ok = syn;
      o = {o, 8'd1, 8'd4, 8'd2, 8'd1};
    end
    if ($urandom_range(1) == 0) begin
      bit [7:0] ws = 8'($urandom_range(20));
      want.seg.opt.ws_ok = syn;
      if (syn) want.seg.opt.ws = (ws > 14) ? 4'd14 : 4'(ws);
      o = {o, 8'd3, 8'd3, ws, 8'd1};
    end
    if ($urandom_range(1) == 0) begin
      want.seg.opt.ts_ok = 1'b1;
      want.seg.opt.tsval = $urandom;
      want.seg.opt.tsecr = $urandom;
      o = {o, 8'd8, 8'd10, number(128'(want.seg.opt.tsval), 4),
           number(128'(want.seg.opt.tsecr), 4)};
    end
    if (!syn && o.size() <= 22 && $urandom_range(1) == 0) begin
      int unsigned n = 1 + $urandom_range((40 - o.size() - 2) / 8 - 1);
      o = {o, 8'd5, 8'(2 + 8 * n)};
      want.seg.opt.sacks = 3'(n);
      for (int unsigned i = 0; i < n; i++) begin
        range_t r = {$urandom, $urandom};
        want.seg.opt.sack[i] = r;
        o = {o, number(128'(r.start), 4), number(128'(r.stop), 4)};
      end
    end
    if (wrong == OptionLength) begin
      while (o.size() > 36) void'(o.pop_back());
      o = {8'd77, 8'($urandom_range(1)), o};   // a length below two
    end
    while (o.size() % 4 != 0) o.push_back(8'd0);
    return o;
  endfunction

  task automatic make(input int unsigned id);
    bytes_t o, l4, l3, pseudo, head;
    bit [15:0] sum;
    bit v6;
    int unsigned length, tags = $urandom_range(2);
    wrong = ($urandom_range(2) == 0) ? wrong_e'($urandom_range(int'(Wrongs) - 1)) : Good;
    v6 = 1'($urandom);
    if (wrong == IpSum || wrong == Fragment || wrong == IpOptions) v6 = 1'b0;
    want = '0;
    want.kind = PkTcp;
    want.mac = {16'h0200, $urandom};
    want.vlan = tags != 0;
    want.tuple.v6 = v6;
    want.tuple.own = v6 ? ($urandom_range(1) == 0 ? own.ip6 : own.ip6_link) : addr_t'(own.ip4);
    if (wrong == OtherAddress) want.tuple.own ^= 128'd1 << $urandom_range(31);
    want.tuple.remote = v6 ? {$urandom, $urandom, $urandom, $urandom} : addr_t'($urandom);
    // A host's: groups and the like are tb/test_rx.py's.
    if (v6) want.tuple.remote[127:126] = 2'b00;
    if (v6) want.tuple.remote[125] = 1'b1;
    if (!v6) want.tuple.remote[31:30] = 2'b10;
    if (wrong == Land) want.tuple.remote = want.tuple.own;
    want.tuple.remote_port = 16'(1 + $urandom_range(65534));
    want.tuple.local_port = 16'(1 + $urandom_range(65534));
    if (wrong == PortZero) begin
      if ($urandom_range(1) == 0) want.tuple.remote_port = '0;
      else want.tuple.local_port = '0;
    end
    want.seg.seq = id;
    want.seg.ack = $urandom;
    want.seg.wnd = 16'($urandom);
    want.seg.urgent = 16'($urandom);
    want.seg.flags = flags_t'($urandom);
    want.seg.ecn = 2'($urandom);
    length = $urandom_range($urandom_range(1) == 0 ? 30 : 1460);
    if (wrong == TooLong) length = 2050;
    o = some_options();
    want.seg.len = 16'(length);
    want.seg.offset = 8'(14 + 4 * tags + (v6 ? 40 : 20) + 20 + o.size());
    l4 = {number(128'(want.tuple.remote_port), 2), number(128'(want.tuple.local_port), 2),
          number(128'(id), 4), number(128'(want.seg.ack), 4),
          8'((wrong == DataOffset ? $urandom_range(4) : 5 + o.size() / 4) << 4),
          8'(want.seg.flags), number(128'(want.seg.wnd), 2), 8'd0, 8'd0,
          number(128'(want.seg.urgent), 2), o};
    for (int unsigned i = 0; i < length; i++) l4.push_back(8'($urandom));
    if (v6)
      pseudo = {number(want.tuple.remote, 16), number(want.tuple.own, 16),
                number(128'(l4.size()), 4), number(128'd6, 4)};
    else
      pseudo = {number(want.tuple.remote, 4), number(want.tuple.own, 4), 8'd0, 8'd6,
                number(128'(l4.size()), 2)};
    sum = checksum({pseudo, l4});
    l4[16] = sum[15:8];
    l4[17] = sum[7:0];
    if (wrong == TcpSum) begin
      int unsigned at = $urandom_range(l4.size() - 1);
      l4[at == 12 ? 13 : at] ^= 8'h10;          // not the header's length
    end
    if (v6)
      l3 = {8'h60, 8'(want.seg.ecn) << 4, 8'd0, 8'd0, number(128'(l4.size()), 2),
            wrong == OtherProtocol ? 8'd17 : 8'd6, 8'd64, number(want.tuple.remote, 16),
            number(want.tuple.own, 16)};
    else begin
      l3 = {8'h45, 8'(want.seg.ecn), number(128'(20 + l4.size()), 2), 8'd0, 8'd0,
            wrong == Fragment ? 8'h20 : 8'h40, 8'd0, 8'd64, wrong == OtherProtocol ? 8'd17 : 8'd6,
            8'd0, 8'd0, number(want.tuple.remote, 4), number(want.tuple.own, 4)};
      if (wrong == IpOptions) begin
        l3[0] = 8'h46;
        l3 = {l3, 8'd1, 8'd1, 8'd1, 8'd0};
        l3[3] += 8'd4;
        if (l3[3] < 8'd4) l3[2] += 8'd1;
      end
      sum = checksum(l3);
      l3[10] = sum[15:8];
      l3[11] = sum[7:0];
      if (wrong == IpSum) l3[8] ^= 8'h01;
    end
    head = {number(128'(own.mac), 6), number(128'(want.mac), 6)};
    if (wrong == OtherMac) head[5] ^= 8'h01;
    for (int unsigned i = 0; i < tags; i++)
      head = {head, number($urandom_range(1) == 0 ? 128'h8100 : 128'h88a8, 2),
              number(128'($urandom), 2)};
    head = {head, number(v6 ? 128'h86dd : 128'h0800, 2)};
    want.bytes = 12'(head.size() + l3.size() + l4.size());
    frame = {head, l3, l4};
    if (wrong == Short) begin
      if (length < 61) wrong = Good;                // padding would make it whole
      else repeat (1 + $urandom_range(length - 61)) void'(frame.pop_back());
    end
    if (wrong != Short && $urandom_range(3) == 0)
      repeat ($urandom_range(20)) frame.push_back(8'($urandom));
    while (frame.size() < 60) frame.push_back(8'($urandom));
  endtask

  // ---- what must come out ----

  typedef struct {
    packet_t packet;
    bytes_t  frame;
  } due_t;
  due_t due[$];
  int unsigned seen[6], expected[6], drops, taken;   // as rx_counts_t, the lowest bit first

  task automatic note();
    int unsigned why;
    case (wrong)
      Good: begin
        due_t d;
        d.packet = want;
        d.frame = frame;
        due.push_back(d);
        return;
      end
      TcpSum: why = 0;
      IpSum: why = 1;
      OtherMac, OtherAddress, OtherProtocol: why = 3;
      TooLong: why = 4;
      default: why = 2;
    endcase
    expected[why]++;
    drops++;
  endtask

  // Packets that came out: their bytes are looked at, a line a cycle, then the buffer is freed.
  typedef struct {
    buf_t        buffer;
    bytes_t      frame;
    int unsigned line;
  } held_t;
  held_t held[$];
  bit looked;

  int unsigned odds, stalls;
  function automatic bit often();
    return $urandom_range(7) < odds;
  endfunction

  task automatic one_cycle();
    packet_ready = stalls == 0 && often();
    if (stalls != 0) stalls--;
    else if ($urandom_range(4095) == 0) stalls = 400;
    free_valid = 1'b0;
    looked = 1'b0;
    if (held.size() != 0) begin
      read_buffer[0] = held[0].buffer;
      read_line[0] = 5'(held[0].line);
      looked = 1'b1;
      if (held[0].line * 64 >= held[0].frame.size()) begin
        looked = 1'b0;
        free_valid = often();
        free_buffer = held[0].buffer;
      end
    end
    #1;
    // What is offered stays as it is until it is taken.
    if (packet_held && !(packet_valid && packet_was == packet))
      $fatal(1, "seed %0d: a packet that nobody took did not stay", seed);
    packet_held = packet_valid && !packet_ready;
    packet_was = packet;
    if (packet_valid && packet_ready) begin
      due_t d;
      packet_t w;
      held_t h;
      if (due.size() == 0) $fatal(1, "seed %0d: a packet that nobody sent", seed);
      d = due.pop_front();
      w = d.packet;
      w.seg.buffer = packet.seg.buffer;
      if (w.seg.opt.sacks == 0) w.seg.opt.sack = packet.seg.opt.sack;   // what is not there
      for (int unsigned i = 32'(w.seg.opt.sacks); i < SackMax; i++)
        w.seg.opt.sack[i] = packet.seg.opt.sack[i];
      if (packet != w) $fatal(1, "seed %0d: a packet\n%p\ninstead of\n%p", seed, packet, w);
      h.buffer = packet.seg.buffer;
      h.frame = d.frame;
      h.line = 0;
      for (int i = 0; i < held.size(); i++)
        if (held[i].buffer == h.buffer) $fatal(1, "seed %0d: a buffer is given twice", seed);
      held.push_back(h);
      taken++;
    end
    for (int i = 0; i < 5; i++) seen[i] += 32'(counts[i]);
    clk = 1'b1;
    #1 clk = 1'b0;
    if (looked) begin
      for (int unsigned i = 0; i < 64; i++) begin
        int unsigned at = held[0].line * 64 + i;
        if (at < held[0].frame.size() && read_data[0][8*i+:8] != held[0].frame[at])
          $fatal(1, "seed %0d: byte %0d of a packet is another", seed, at);
      end
      held[0].line++;
    end
    if (free_valid) void'(held.pop_front());
  endtask

  task automatic send();
    int unsigned at = 0;
    bit lost = 1'b0;
    while (at < frame.size()) begin
      int unsigned n = (frame.size() - at < 64) ? frame.size() - at : 64;
      s_valid = 1'b1;
      s_data = '0;
      for (int unsigned i = 0; i < n; i++) s_data[8*i+:8] = frame[at+i];
      s_keep = (n == 64) ? '1 : (64'd1 << n) - 64'd1;
      s_last = at + n == frame.size();
      // No buffer, or no room in the queue behind it: counted with the first beat.
      #1 lost = lost || (at == 0 && counts.no_buffer);
      if (at == 0 && !lost) note();
      one_cycle();
      at += n;
      s_valid = 1'b0;
      while ($urandom_range(15) >= 2 * odds) one_cycle();
    end
    while ($urandom_range(7) >= odds) one_cycle();
  endtask

  initial begin
    void'($value$plusargs("seed=%d", seed));
    void'($urandom(seed));
    own = '0;
    own.mac = 48'h02_1234_5678_9a;
    own.ip4 = 32'h0a00_0001;
    own.ip6_on = 1'b1;
    own.ip6 = 128'h2001_0db8_0000_0000_0000_0000_0000_0001;
    own.ip6_link = 128'hfe80_0000_0000_0000_0000_0000_0000_0001;
    odds = 4;
    s_valid = 1'b0;
    repeat (3) begin
      #1 clk = 1'b1;
      #1 clk = 1'b0;
    end
    rst_n = 1'b1;
    repeat (40) one_cycle();
    for (int unsigned i = 0; i < Frames; i++) begin
      if (i % 16 == 0) odds = 2 + $urandom_range(6);
      make(i);
      send();
    end
    odds = 8;
    repeat (4000) one_cycle();
    if (due.size() != 0 || held.size() != 0)
      $fatal(1, "seed %0d: %0d packets never came", seed, due.size());
    for (int i = 0; i < 5; i++)
      if (seen[i] != expected[i])
        $fatal(1, "seed %0d: counter %0d says %0d, not %0d", seed, i, seen[i], expected[i]);
    if (taken < Frames / 3 || drops < Frames / 10)
      $fatal(1, "too little happened: %0d packets, %0d dropped", taken, drops);
    $display("seed %0d: %0d packets, %0d dropped for what is wrong with them", seed, taken, drops);
    $finish;
  end
endmodule
