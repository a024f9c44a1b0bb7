// SPDX-License-Identifier: Apache-2.0
// toe_resp.sv - answers ARP (RFC 826), ICMP and ICMPv6 echo and neighbour discovery (RFC 4861), and
// holds the neighbour table that these fill. A packet at a time.
`resetall
`default_nettype none

module toe_resp
  import toe_pkg::*;
#(
  parameter int unsigned Entries = 16
) (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire now_t    now_i,
  input  wire own_t    own_i,

  input  wire          packet_valid_i,
  output wire          packet_ready_o,
  input  wire packet_t packet_i,
  output wire buf_t    read_buffer_o,
  output wire [4:0]    read_line_o,
  input  wire [511:0]  read_data_i,
  output wire          free_valid_o,
  input  wire          free_ready_i,
  output wire buf_t    free_o,

  // a lookup of a neighbour; answered two cycles later
  input  wire          ask_valid_i,
  input  wire          ask_v6_i,
  input  wire addr_t   ask_i,
  output wire          answer_o,
  output wire          known_o,
  output wire [47:0]   mac_o,

  output wire [511:0]  m_tdata_o,
  output wire [63:0]   m_tkeep_o,
  output wire          m_tvalid_o,
  output wire          m_tlast_o,
  input  wire          m_tready_i
);

  localparam int unsigned EntryBits = $clog2(Entries);
  localparam tick_t Fresh = 32'd57220;     // 60 s: then the neighbour is requested again

  typedef logic [63:0][7:0] line_t;
  typedef logic [127:0][7:0] frame_t;

  typedef struct packed {
    logic        valid;
    logic        v6;
    addr_t       addr;
    logic [47:0] mac;
    tick_t       seen;
  } neighbour_t;

  neighbour_t [Entries-1:0] table_q;
  logic [EntryBits-1:0] next_q, place;
  logic refreshed, writes_q;         // learned_q is known: it replaces its entry

  // ---- the lookup: the entry, then its link address ----

  logic ask_q, ask_v6_q, answer_q, known_q, seek_q, seek_v6_q;
  logic [47:0] mac, mac_q;
  addr_t ask_addr_q, seek_addr_q;
  logic [Entries-1:0] match_q;           // has the requested address, and is fresh
  always_comb begin
    mac = '0;
    for (int i = 0; i < int'(Entries); i++) if (match_q[i]) mac = mac | table_q[i].mac;
  end
  always_ff @(posedge clk_i) begin
    if (ask_valid_i) begin
      ask_v6_q <= ask_v6_i;
      ask_addr_q <= ask_i;
    end
    // Not an entry that is replaced in this cycle.
    for (int i = 0; i < int'(Entries); i++)
      match_q[i] <= table_q[i].valid && ticks(now_i) - table_q[i].seen < Fresh &&
                    table_q[i].v6 == ask_v6_i && table_q[i].addr == ask_i &&
                    !(writes_q && !refreshed && place == EntryBits'(i));
    known_q <= match_q != '0;
    mac_q <= mac;
    ask_q <= rst_ni && ask_valid_i;
    answer_q <= rst_ni && ask_q;
  end
  assign answer_o = answer_q;
  assign known_o = known_q;
  assign mac_o = mac_q;

  // ---- what has come ----

  typedef enum logic [3:0] {
    Idle, Read0, Read1, Take1, Judge, Sum0, Sum1, Sum2, Copy, CopyRead, CopyTake, Send0, Send1, Free
  } step_e;
  step_e step_q, after_q;            // the step after the sums
  packet_t p_q;
  frame_t f_q;
  logic [4:0] line_q;
  frame_t out_q;
  logic [6:0] out_bytes_q;
  logic sought_q;                    // the frame is our own request
  logic sums_q;                      // it has a checksum, of
  logic [7:0][17:0] sum_q;           // ... these
  logic [21:0] total_q;
  logic [511:0] copy_q;

  function automatic logic [47:0] six(input frame_t f, input int unsigned at);
    return {f[at], f[at+1], f[at+2], f[at+3], f[at+4], f[at+5]};
  endfunction
  function automatic logic [31:0] four(input frame_t f, input int unsigned at);
    return {f[at], f[at+1], f[at+2], f[at+3]};
  endfunction
  function automatic addr_t sixteen(input frame_t f, input int unsigned at);
    return {four(f, at), four(f, at + 4), four(f, at + 8), four(f, at + 12)};
  endfunction
  function automatic frame_t set6(input frame_t f, input int unsigned at, input logic [47:0] v);
    frame_t o;
    o = f;
    for (int i = 0; i < 6; i++) o[at+i] = v[8*(5-i)+:8];
    return o;
  endfunction
  function automatic frame_t set4(input frame_t f, input int unsigned at, input logic [31:0] v);
    frame_t o;
    o = f;
    for (int i = 0; i < 4; i++) o[at+i] = v[8*(3-i)+:8];
    return o;
  endfunction
  function automatic frame_t set16(input frame_t f, input int unsigned at, input addr_t v);
    frame_t o;
    o = f;
    for (int i = 0; i < 16; i++) o[at+i] = v[8*(15-i)+:8];
    return o;
  endfunction
  // Folds the sum of up to 64 words: the second fold has no carry.
  function automatic logic [15:0] fold(input logic [21:0] sum);
    logic [16:0] a;
    a = 17'(sum[15:0]) + 17'(sum[21:16]);
    return a[15:0] + 16'(a[16]);
  endfunction

  // ---- answers ----

  function automatic frame_t arp(input logic asks, input own_t own, input logic [47:0] to,
                                 input logic [31:0] ip);
    frame_t f;
    f = '0;
    f = set6(f, 0, asks ? 48'hffff_ffff_ffff : to);
    f = set6(f, 6, own.mac);
    f = set4(f, 12, 32'h0806_0001);
    f = set4(f, 16, 32'h0800_0604);
    {f[20], f[21]} = asks ? 16'd1 : 16'd2;
    f = set6(f, 22, own.mac);
    f = set4(f, 28, own.ip4);
    f = set6(f, 32, asks ? 48'd0 : to);
    f = set4(f, 38, ip);
    return f;
  endfunction

  // A neighbour advertisement or solicitation with our link address; its checksum comes later.
  function automatic frame_t nd(input logic asks, input own_t own, input addr_t from,
                                input addr_t to, input logic [47:0] to_mac, input addr_t target);
    frame_t f;
    f = '0;
    f = set6(f, 0, to_mac);
    f = set6(f, 6, own.mac);
    {f[12], f[13]} = 16'h86dd;
    f = set4(f, 14, 32'h6000_0000);
    f = set4(f, 18, 32'h0020_3aff);       // 32 bytes, ICMPv6, 255 hops
    f = set16(f, 22, from);
    f = set16(f, 38, to);
    f[54] = asks ? 8'd135 : 8'd136;
    f[58] = asks ? 8'd0 : 8'h60;          // solicited, override
    f = set16(f, 62, target);
    f[78] = asks ? 8'd1 : 8'd2;
    f[79] = 8'd1;
    f = set6(f, 80, own.mac);
    return f;
  endfunction

  // The first line of an echo reply.
  function automatic line_t echo(input line_t l, input logic v6, input logic [47:0] own);
    frame_t f, o;
    logic [15:0] sum;
    f = {512'd0, l};
    o = f;
    o = set6(o, 0, six(f, 6));
    o = set6(o, 6, own);
    if (v6) begin
      o = set16(o, 22, sixteen(f, 38));
      o = set16(o, 38, sixteen(f, 22));
      o[54] = 8'd129;
      sum = fold(22'({f[56], f[57]}) + 22'hfeff);   // 0x0100 less (RFC 1624)
      {o[56], o[57]} = sum;
    end else begin
      o = set4(o, 26, four(f, 30));
      o = set4(o, 30, four(f, 26));
      o[34] = 8'd0;
      sum = fold(22'({f[36], f[37]}) + 22'h0800);
      {o[36], o[37]} = sum;
    end
    return o[63:0];
  endfunction

  wire line_t first = f_q[63:0];
  wire is_arp = p_q.kind == PkArp;
  wire arp_ok = !p_q.vlan && four(f_q, 14) == 32'h0001_0800 && {f_q[18], f_q[19]} == 16'h0604 &&
                four(f_q, 38) == own_i.ip4 && own_i.ip4 != 32'd0 && !f_q[22][0];
  wire arp_asks = {f_q[20], f_q[21]} == 16'd1;
  wire [7:0] icmp6 = f_q[54];
  wire target_ours = sixteen(f_q, 62) == own_i.ip6 || sixteen(f_q, 62) == own_i.ip6_link;
  wire nd_ok = p_q.tuple.v6 && !p_q.vlan && f_q[21] == 8'd255 && p_q.bytes >= 12'd78;
  wire has_link = p_q.bytes >= 12'd86 && f_q[79] == 8'd1;
  wire echo_ok = !p_q.vlan && (p_q.tuple.v6 ? icmp6 == 8'd128 : 1'b1);

  // Learns the sender's link address, in three cycles: parse the packet, look it up in the table, write.
  logic learns, learns_q;
  neighbour_t learned, learned_q;
  logic [Entries-1:0] same_q;
  always_comb begin
    learns = 1'b0;
    learned = '0;
    learned.valid = 1'b1;
    learned.seen = ticks(now_i);
    if (step_q == Judge) begin
      if (is_arp) begin
        learns = arp_ok && four(f_q, 28) != 32'd0;
        learned.addr = 128'(four(f_q, 28));
        learned.mac = six(f_q, 22);
      end else if (nd_ok && icmp6 == 8'd135) begin
        learns = target_ours && has_link && f_q[78] == 8'd1 && sixteen(f_q, 22) != '0;
        learned.v6 = 1'b1;
        learned.addr = sixteen(f_q, 22);
        learned.mac = six(f_q, 80);
      end else if (nd_ok && icmp6 == 8'd136) begin
        learns = 1'b1;
        learned.v6 = 1'b1;
        learned.addr = sixteen(f_q, 62);
        learned.mac = (has_link && f_q[78] == 8'd2) ? six(f_q, 80) : p_q.mac;
      end
    end
    refreshed = same_q != '0;
    place = refreshed ? '0 : next_q;
    for (int i = 0; i < int'(Entries); i++) if (same_q[i]) place = place | EntryBits'(i);
  end

  logic [21:0] total;
  always_comb begin
    total = 22'd32 + 22'd58;         // length and protocol, of the pseudo header
    for (int i = 0; i < 8; i++) total += 22'(sum_q[i]);
  end

  assign packet_ready_o = step_q == Idle && !seek_q;
  assign read_buffer_o = p_q.seg.buffer;
  assign read_line_o = line_q;
  assign free_valid_o = step_q == Free;
  assign free_o = p_q.seg.buffer;

  wire [11:0] at = {1'b0, line_q, 6'd0};
  wire copy_last = p_q.bytes <= at + 12'd64;
  wire [6:0] copy_keep = copy_last ? 7'(p_q.bytes - at) : 7'd64;

  function automatic logic [63:0] keep(input logic [6:0] n);
    return (n >= 7'd64) ? '1 : ((64'd1 << n) - 64'd1);
  endfunction

  assign m_tvalid_o = step_q inside {Send0, Send1, Copy};
  assign m_tdata_o = (step_q == Copy) ? copy_q : ((step_q == Send0) ? out_q[63:0] : out_q[127:64]);
  assign m_tkeep_o = (step_q == Copy) ? keep(copy_keep)
                   : ((step_q == Send0) ? keep(out_bytes_q) : keep(out_bytes_q - 7'd64));
  assign m_tlast_o = (step_q == Copy) ? copy_last : (step_q == Send1 || out_bytes_q <= 7'd64);

  // ---- the steps ----

  // Asks for a neighbour, or takes a packet.
  task automatic begin_work();
    line_q <= '0;
    sought_q <= seek_q;
    sums_q <= seek_v6_q;
    after_q <= Send0;
    if (seek_q) begin
      out_q <= seek_v6_q
          ? nd(1'b1, own_i, own_i.ip6_link,
               {104'hff02_0000_0000_0000_0000_0001_ff, seek_addr_q[23:0]},
               {24'h3333ff, seek_addr_q[23:0]}, seek_addr_q)
          : arp(1'b1, own_i, 48'd0, seek_addr_q[31:0]);
      out_bytes_q <= seek_v6_q ? 7'd86 : 7'd42;
      seek_q <= 1'b0;
      step_q <= Sum0;
    end else if (packet_valid_i) begin
      p_q <= packet_i;
      step_q <= Read0;
    end
  endtask

  // Reads the first two lines of the packet.
  task automatic read_step();
    unique case (step_q)
      Read0: begin
        line_q <= 5'd1;
        step_q <= Read1;
      end
      Read1: begin
        f_q[63:0] <= read_data_i;
        step_q <= Take1;
      end
      Take1: begin
        f_q[127:64] <= read_data_i;
        line_q <= '0;
        step_q <= Judge;
      end
      default: ;
    endcase
  endtask

  // Decides what the packet is, and makes the answer.
  task automatic judge_step();
    step_q <= Sum0;
    after_q <= Free;
    sums_q <= !is_arp;
    copy_q <= echo(first, p_q.tuple.v6, own_i.mac);
    if (is_arp) begin
      if (arp_ok && arp_asks) begin
        out_q <= arp(1'b0, own_i, six(f_q, 22), four(f_q, 28));
        out_bytes_q <= 7'd42;
        after_q <= Send0;
      end
    end else if (p_q.tuple.v6 && icmp6 != 8'd128) begin
      if (nd_ok && icmp6 == 8'd135 && target_ours) begin
        out_q <= nd(1'b0, own_i, sixteen(f_q, 62), sixteen(f_q, 22), p_q.mac,
                    sixteen(f_q, 62));
        out_bytes_q <= 7'd86;
        after_q <= Send0;
      end
    end else if (echo_ok) after_q <= Copy;
  endtask

  // The checksum of neighbour discovery: sums of four words each, their total, into the frame.
  task automatic sum_step();
    unique case (step_q)
      Sum0: begin
        for (int i = 0; i < 8; i++)
          sum_q[i] <= 18'({out_q[22+8*i], out_q[23+8*i]}) + 18'({out_q[24+8*i], out_q[25+8*i]}) +
                      18'({out_q[26+8*i], out_q[27+8*i]}) + 18'({out_q[28+8*i], out_q[29+8*i]});
        step_q <= Sum1;
      end
      Sum1: begin
        total_q <= total;
        step_q <= Sum2;
      end
      Sum2: begin
        if (sums_q) {out_q[56], out_q[57]} <= ~fold(total_q);
        step_q <= after_q;
      end
      default: ;
    endcase
  endtask

  // Sends a frame: an echo copied line by line, or the lines made here.
  task automatic send_step();
    unique case (step_q)
      Copy:
      if (m_tready_i) begin
        line_q <= line_q + 5'd1;
        step_q <= copy_last ? Free : CopyRead;
      end
      CopyRead: step_q <= CopyTake;
      CopyTake: begin
        copy_q <= read_data_i;
        step_q <= Copy;
      end
      Send0:
      if (m_tready_i) begin
        if (out_bytes_q > 7'd64) step_q <= Send1;
        else step_q <= sought_q ? Idle : Free;
      end
      Send1: if (m_tready_i) step_q <= sought_q ? Idle : Free;
      default: ;
    endcase
  endtask

  // The table of neighbours: a known one is refreshed, a new one takes the oldest place.
  always_ff @(posedge clk_i) begin
    learns_q <= rst_ni && learns;
    learned_q <= (step_q == Judge) ? learned : learned_q;
    writes_q <= rst_ni && learns_q;
    for (int i = 0; i < int'(Entries); i++)
      same_q[i] <= table_q[i].valid && table_q[i].v6 == learned_q.v6 &&
                   table_q[i].addr == learned_q.addr;
    if (writes_q) begin
      table_q[place] <= learned_q;
      if (!refreshed) next_q <= next_q + 1'b1;
    end
    if (!rst_ni) begin
      table_q <= '0;
      next_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= Idle;
      seek_q <= 1'b0;
    end else begin
      if (answer_q && !known_q && !seek_q) begin
        seek_q <= 1'b1;
        seek_v6_q <= ask_v6_q;
        seek_addr_q <= ask_addr_q;
      end
      unique case (step_q)
        Idle: begin_work();
        Read0, Read1, Take1: read_step();
        Judge: judge_step();
        Sum0, Sum1, Sum2: sum_step();
        Copy, CopyRead, CopyTake, Send0, Send1: send_step();
        default: if (free_ready_i) step_q <= Idle;
      endcase
    end
  end

endmodule

`resetall
