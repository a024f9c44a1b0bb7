// SPDX-License-Identifier: Apache-2.0
// tx_random.sv - random packets of toe_tx, byte by byte: headers and options, payload from the
// send buffer of their flow and from nowhere else, also around its end, at all positions in a
// line; both checksums. Host memory answers at any time, and the taker of packets stalls at
// times.
`timescale 1ns / 1ns
`default_nettype none

module tx_random;
  import toe_pkg::*;
  localparam int unsigned Qps = 4;         // one is detached, the last one is not enabled
  localparam int unsigned Fpcs = 2;
  localparam int unsigned Cycles = 60_000;

  int unsigned seed = 1;
  bit clk = 1'b0, rst_n = 1'b0;

  own_t own;
  qp_config_t [Qps-1:0] qp;
  logic [Qps-1:0] closed, at_work;
  logic [Fpcs-1:0] desc_valid, desc_ready;
  tx_desc_t [Fpcs-1:0] desc;
  logic bare_valid, bare_ready, ar_valid, ar_ready, r_valid, r_ready, m_valid, m_last, m_ready;
  tx_desc_t bare;
  path_t bare_path, path;
  place_t path_at;
  logic [63:0] ar_addr, m_keep;
  logic [7:0] ar_len;
  logic [511:0] r_data, m_data;

  // Offered in the cycle before, and not taken.
  bit m_held, ar_held;
  logic [576:0] m_was;
  logic [71:0] ar_was;

  toe_tx #(.Qps(Qps), .Fpcs(Fpcs)) dut (
      .clk_i(clk), .rst_ni(rst_n), .own_i(own), .qp_i(qp),
      .closed_i(closed), .at_work_o(at_work),
      .desc_valid_i(desc_valid), .desc_ready_o(desc_ready), .desc_i(desc),
      .path_at_o(path_at), .path_i(path),
      .bare_valid_i(bare_valid), .bare_ready_o(bare_ready), .bare_i(bare), .bare_path_i(bare_path),
      .ar_valid_o(ar_valid), .ar_ready_i(ar_ready), .ar_addr_o(ar_addr), .ar_len_o(ar_len),
      .r_valid_i(r_valid), .r_ready_o(r_ready), .r_data_i(r_data),
      .m_tdata_o(m_data), .m_tkeep_o(m_keep), .m_tvalid_o(m_valid), .m_tlast_o(m_last),
      .m_tready_i(m_ready));

  // ---- the world: memory, peers ----

  function automatic bit [7:0] memory(input bit [63:0] at);
    int unsigned h = (32'(at) ^ 32'(at >> 20)) * 32'h9e37_79b1;
    return 8'(h >> 17);
  endfunction
  function automatic path_t path_of(input int unsigned n);
    path_t p;
    p = '0;
    p.tuple.v6 = n[0];
    p.tuple.remote = n[0] ? {32'h2001_0db8, 64'(n) * 64'h9e37_79b9_7f4a_7c15, 32'(n)}
                          : addr_t'(32'h0a00_0000 + n);
    p.tuple.own = n[0] ? 128'h2001_0db8_0000_0000_0000_0000_0000_0001 : addr_t'(32'h0a00_0001);
    p.tuple.remote_port = 16'(n * 40503);
    p.tuple.local_port = 16'd80 + 16'(n);
    p.mac = 48'h02_0000_0000_00 + 48'(n * 77);
    return p;
  endfunction
  function automatic bit [63:0] send_buffer(input int unsigned q, input flow_t flow);
    return qp[q].area + 64'(qp[q].buffers_at) +
           64'(flow - qp[q].first) * ((64'd1 << qp[q].tx_log) + (64'd1 << qp[q].rx_log));
  endfunction

  // ---- the packet that must leave, made in another way: a list of bytes ----

  typedef bit [7:0] bytes_t[$];
  bytes_t due[$];
  int unsigned lengths, wraps, v6s, dropped;

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

  function automatic bytes_t options_of(input tx_desc_t d);
    bytes_t o;
    if (d.mss_ok) o = {o, 8'd2, 8'd4, number(128'(d.mss), 2)};
    if (d.ts_ok) begin
      if (d.sack_ok) o = {o, 8'd4, 8'd2};
      else o = {o, 8'd1, 8'd1};
      o = {o, 8'd8, 8'd10, number(128'(d.tsval), 4), number(128'(d.tsecr), 4)};
    end else if (d.sack_ok) o = {o, 8'd1, 8'd1, 8'd4, 8'd2};
    if (d.ws_ok) o = {o, 8'd1, 8'd3, 8'd3, 8'(d.ws)};
    if (d.sacks != 0) begin
      o = {o, 8'd1, 8'd1, 8'd5, 8'(2 + 8 * 32'(d.sacks))};
      for (int i = 0; i < int'(d.sacks); i++)
        o = {o, number(128'(d.sack[i].start), 4), number(128'(d.sack[i].stop), 4)};
    end
    return o;
  endfunction

  task automatic expect_packet(input tx_desc_t d, input path_t p);
    bytes_t o = options_of(d), l4, pseudo, ip, frame;
    bit [15:0] sum;
    bit [31:0] mask = (32'd1 << qp[d.qp].tx_log) - 1;
    if (d.len != 0 && (!qp[d.qp].enable || closed[d.qp])) begin
      dropped++;
      return;
    end
    l4 = {number(128'(p.tuple.local_port), 2), number(128'(p.tuple.remote_port), 2),
          number(128'(d.seq), 4), number(d.flags.ack ? 128'(d.ack) : '0, 4),
          8'((5 + o.size() / 4) << 4), 8'(d.flags), number(128'(d.wnd), 2), 8'd0, 8'd0, 8'd0, 8'd0,
          o};
    for (int unsigned i = 0; i < 32'(d.len); i++)
      l4.push_back(memory(send_buffer(32'(d.qp), d.flow) + 64'((d.from + i) & mask)));
    if (p.tuple.v6)
      pseudo = {number(p.tuple.own, 16), number(p.tuple.remote, 16), number(128'(l4.size()), 4),
                number(128'd6, 4)};
    else
      pseudo = {number(p.tuple.own, 4), number(p.tuple.remote, 4), 8'd0, 8'd6,
                number(128'(l4.size()), 2)};
    sum = checksum({pseudo, l4});
    l4[16] = sum[15:8];
    l4[17] = sum[7:0];
    frame = {number(128'(p.mac), 6), number(128'(own.mac), 6)};
    if (p.tuple.v6) begin
      frame = {frame, 8'h86, 8'hdd, 8'h60 | 8'(d.tos >> 4), 8'(d.tos << 4), 8'd0, 8'd0,
               number(128'(l4.size()), 2), 8'd6, 8'd64, number(p.tuple.own, 16),
               number(p.tuple.remote, 16), l4};
      v6s++;
    end else begin
      ip = {8'h45, d.tos, number(128'(20 + l4.size()), 2), 8'd0, 8'd0, 8'h40, 8'd0, 8'd64, 8'd6,
            8'd0, 8'd0, number(p.tuple.own, 4), number(p.tuple.remote, 4)};
      sum = checksum(ip);
      ip[10] = sum[15:8];
      ip[11] = sum[7:0];
      frame = {frame, 8'h08, 8'h00, ip, l4};
    end
    due.push_back(frame);
    wraps += 32'((d.from & mask) + 32'(d.len) > mask + 1);
  endtask

  // ---- what comes out ----

  int unsigned at, packets;
  task automatic beat();
    bytes_t f;
    int unsigned n = 0;
    if (due.size() == 0) $fatal(1, "seed %0d: a packet that nobody asked for", seed);
    f = due[0];
    while (n < 64 && m_keep[n]) begin
      if (at >= f.size() || m_data[8*n+:8] != f[at])
        $fatal(1, "seed %0d: packet %0d, byte %0d of %0d is %h, not %h", seed, packets, at,
               f.size(), m_data[8*n+:8], f[at]);
      at++;
      n++;
    end
    if ((n < 64 && (m_keep >> n) != 0) || m_last != (at == f.size()) || (!m_last && n != 64))
      $fatal(1, "seed %0d: packet %0d ends at %0d of %0d, keep %h", seed, packets, at, f.size(),
             m_keep);
    if (m_last) begin
      void'(due.pop_front());
      at = 0;
      packets++;
      lengths += f.size();
    end
  endtask

  // ---- what goes in ----

  int unsigned odds;
  function automatic bit often();
    return $urandom_range(7) < odds;
  endfunction

  function automatic tx_desc_t some(input bit with_payload);
    tx_desc_t d;
    d = '0;
    d.qp = qp_t'($urandom_range(15) == 0 ? Qps - 1 : $urandom_range(Qps - 2));
    d.flow = qp[d.qp].first + flow_t'($urandom_range(1));
    d.seq = $urandom;
    d.ack = $urandom;
    d.flags = flags_t'($urandom);
    d.wnd = 16'($urandom);
    d.tos = 8'($urandom);
    d.ts_ok = 1'($urandom);
    d.tsval = $urandom;
    d.tsecr = $urandom;
    if ($urandom_range(2) == 0) begin
      d.mss_ok = 1'b1;
      d.mss = 16'($urandom);
      d.sack_ok = 1'($urandom);
      d.ws_ok = 1'($urandom);
      d.ws = 4'($urandom_range(14));
    end else if ($urandom_range(1) == 0) begin
      d.sacks = 3'($urandom_range(d.ts_ok ? 3 : 4));
      for (int i = 0; i < SackMax; i++) d.sack[i] = {$urandom, $urandom};
    end
    if (with_payload && $urandom_range(3) != 0) begin
      d.len = 16'($urandom_range($urandom_range(1) == 0 ? 70 : 1460));
      if (32'(d.len) > (32'd1 << qp[d.qp].tx_log)) d.len = 16'd1 << qp[d.qp].tx_log;
      d.from = $urandom;
    end
    return d;
  endfunction

  bit [63:0] reads[$];
  int unsigned most;
  path_t next_path;

  task automatic one_cycle(input bit more);
    if ($urandom_range(63) == 0) odds = 1 + $urandom_range(7);
    for (int unsigned f = 0; f < Fpcs; f++)
      if (!desc_valid[f] && more && often()) begin
        desc_valid[f] = 1'b1;
        desc[f] = some(1'b1);
      end
    if (!bare_valid && more && $urandom_range(31) == 0) begin
      bare_valid = 1'b1;
      bare = some(1'b0);
      bare_path = path_of(100 + $urandom_range(50));
    end
    ar_ready = often();
    m_ready = often();
    if (!r_valid && reads.size() != 0 && often()) begin
      r_valid = 1'b1;
      for (int i = 0; i < 64; i++) r_data[8*i+:8] = memory(reads[0] + 64'(i));
    end
    #1;
    next_path = path_of(32'(path_at.index));
    // What is offered stays as it is until it is taken.
    if (m_held && !(m_valid && m_was == {m_data, m_keep, m_last}))
      $fatal(1, "seed %0d: a beat that nobody took did not stay", seed);
    m_held = m_valid && !m_ready;
    m_was = {m_data, m_keep, m_last};
    if (ar_held && !(ar_valid && ar_was == {ar_addr, ar_len}))
      $fatal(1, "seed %0d: a read that nobody took did not stay", seed);
    ar_held = ar_valid && !ar_ready;
    ar_was = {ar_addr, ar_len};
    if (m_valid && m_ready) beat();
    if (ar_valid && ar_ready) begin
      bit ours = 1'b0;
      if (ar_addr[5:0] != 0) $fatal(1, "seed %0d: a read at %h", seed, ar_addr);
      for (int unsigned q = 0; q < Qps; q++)
        for (int unsigned s = 0; s < 2; s++) begin
          bit [63:0] from = send_buffer(q, qp[q].first + flow_t'(s));
          if (qp[q].enable && !closed[q])
            ours |= ar_addr >= from &&
                    ar_addr + 64 * (64'(ar_len) + 1) <= from + (64'd1 << qp[q].tx_log);
        end
      if (!ours)
        $fatal(1, "seed %0d: %0d lines at %h are no send buffer's", seed, ar_len + 1, ar_addr);
      for (int unsigned i = 0; i <= 32'(ar_len); i++) reads.push_back(ar_addr + 64 * 64'(i));
    end
    // Whose memory is read is said all the time; a new read is said from the next cycle on.
    if (reads.size() != 0 && (!at_work[2'((reads[0] >> 20) - 64'd1)] ||
                              !at_work[2'((reads[reads.size()-1] >> 20) - 64'd1)]))
      $fatal(1, "seed %0d: %h to %h is read, and its queue pair not at work", seed, reads[0],
             reads[reads.size()-1]);
    most = (reads.size() > most) ? reads.size() : most;
    if (bare_valid && bare_ready) expect_packet(bare, bare_path);
    for (int unsigned f = 0; f < Fpcs; f++)
      if (desc_valid[f] && desc_ready[f]) expect_packet(desc[f], path_of(32'(desc[f].flow)));
    begin
      logic [Fpcs-1:0] took = desc_valid & desc_ready;
      logic took_bare = bare_valid && bare_ready, took_read = r_valid && r_ready;
      clk = 1'b1;
      #1 clk = 1'b0;
      path = next_path;
      desc_valid &= ~took;
      if (took_bare) bare_valid = 1'b0;
      if (took_read) begin
        r_valid = 1'b0;
        void'(reads.pop_front());
      end
    end
  endtask

  initial begin
    void'($value$plusargs("seed=%d", seed));
    void'($urandom(seed));
    for (int unsigned q = 0; q < Qps; q++) begin
      qp[q] = '0;
      qp[q].enable = q < Qps - 1;
      qp[q].area = 64'h10_0000 * 64'(q + 1);
      qp[q].slots_log = 5'd1;
      qp[q].first = flow_t'(2 * q);
      qp[q].tx_log = 5'(8 + 5 * (q % 2));
      qp[q].rx_log = 5'd7;
      qp[q].buffers_at = 32'h4000;
    end
    closed = '0;
    closed[Qps-2] = 1'b1;
    own = '0;
    own.mac = 48'h02_1234_5678_9a;
    odds = 4;
    repeat (3) begin
      #1 clk = 1'b1;
      #1 clk = 1'b0;
    end
    rst_n = 1'b1;
    repeat (Cycles) one_cycle(1'b1);
    odds = 8;
    repeat (4000) one_cycle(1'b0);
    if (due.size() != 0 || desc_valid != '0 || bare_valid || reads.size() != 0 || at_work != '0)
      $fatal(1, "seed %0d: %0d packets never came", seed, due.size());
    if (packets < 500 || wraps < 50 || v6s < 100 || dropped < 10 || most < 200)
      $fatal(1, {"too little happened: %0d packets, %0d around the end, %0d of IPv6, ",
                 "%0d dropped, %0d lines under way"},
             packets, wraps, v6s, dropped, most);
    $display("seed %0d: %0d packets of %0d bytes, %0d around the end, %0d of IPv6, %0d dropped",
             seed, packets, lengths, wraps, v6s, dropped);
    $finish;
  end
endmodule
