// SPDX-License-Identifier: Apache-2.0
// dmaw_random.sv - what toe_dmaw writes into host memory, byte by byte, for random jobs: payload
// into the receive buffer of its flow and nowhere else, at any position in the stream and in its
// packet, also around the buffer's end; commands into their ring, in order; heads and tails that
// announce only what is written. A packet buffer is freed once, and not read after that.
`timescale 1ns / 1ns
`default_nettype none

module dmaw_random;
  import toe_pkg::*;
  import toe_cmd_pkg::*;
  localparam int unsigned Qps = 4;         // one is detached, the last one is not enabled
  localparam int unsigned Sources = 2;
  localparam int unsigned Buffers = 16;
  localparam int unsigned Cycles = 60_000;

  int unsigned seed = 1;
  bit clk = 1'b0, rst_n = 1'b0;

  qp_config_t [Qps-1:0] qp;
  logic [Sources-1:0] write_valid, write_ready;
  write_t [Sources-1:0] write;
  logic tail_valid, tail_ready, freed, aw_valid, aw_ready, w_valid, w_ready, w_last, written;
  logic error_done;
  logic [Qps-1:0] closed, at_work;
  qp_t tail_qp, written_qp;
  logic [31:0] tail;
  buf_t read_buffer, free_buffer;
  logic [4:0] read_line;
  logic [511:0] read_data, w_data;
  logic [63:0] aw_addr, w_strb;
  logic [7:0] aw_len;
  logic [Qps-1:0][31:0] hw_head;
  place_t path_at;
  path_t path;

  // Offered in the cycle before, and not taken.
  bit aw_held, w_held;
  logic [71:0] aw_was;
  logic [576:0] w_was;

  toe_dmaw #(.Qps(Qps), .Sources(Sources)) dut (
      .clk_i(clk), .rst_ni(rst_n), .now_i('0), .qp_i(qp),
      .closed_i(closed), .at_work_o(at_work),
      .write_valid_i(write_valid), .write_ready_o(write_ready), .write_i(write),
      .tail_valid_i(tail_valid), .tail_ready_o(tail_ready), .tail_qp_i(tail_qp), .tail_i(tail),
      .halt_i(1'b0), .halt_qp_i('0), .path_at_o(path_at), .path_i(path),
      .read_buffer_o(read_buffer), .read_line_o(read_line), .read_data_i(read_data),
      .free_valid_o(freed), .free_o(free_buffer),
      .aw_valid_o(aw_valid), .aw_ready_i(aw_ready), .aw_addr_o(aw_addr), .aw_len_o(aw_len),
      .w_valid_o(w_valid), .w_ready_i(w_ready), .w_data_o(w_data), .w_strb_o(w_strb),
      .w_last_o(w_last), .hw_head_o(hw_head), .written_o(written), .written_qp_o(written_qp),
      .error_done_o(error_done), .hw_tail_i('0), .irq_arm_i('0), .irq_seq_i('0), .irq_count_i('0),
      .irq_usec_i('0), .irq_o());

  // ---- packet buffers: what a byte of one is, until it is freed ----

  int unsigned version[Buffers];
  bit held[Buffers];
  function automatic bit [7:0] content(input int unsigned buffer, input int unsigned at);
    int unsigned h = (buffer * 2048 + at + version[buffer] * 32'd7919) * 32'h9e37_79b1;
    return 8'(h >> 13);
  endfunction
  function automatic bit [511:0] line_of(input int unsigned buffer, input int unsigned line);
    bit [511:0] l;
    for (int unsigned i = 0; i < 64; i++) l[8*i+:8] = content(buffer, line * 64 + i);
    return l;
  endfunction

  // ---- what must be written, in this order ----

  typedef struct packed {
    bit        any;      // of a record: other tests check most of its bytes
    bit [63:0] at;
    bit [7:0]  value;
    bit        command;  // the last byte of one
    bit [5:0]  qp;
  } byte_t;
  byte_t due[$];
  int unsigned asked, done;                // bytes
  int unsigned commands[Qps], there[Qps];  // given; in memory
  int unsigned writtens[Qps];

  function automatic bit [63:0] buffer_at(input int unsigned q, input flow_t flow);
    return qp[q].area + 64'(qp[q].buffers_at) +
           64'(flow - qp[q].first) * ((64'd1 << qp[q].tx_log) + (64'd1 << qp[q].rx_log)) +
           (64'd1 << qp[q].tx_log);
  endfunction

  task automatic expect_job(input write_t j);
    int unsigned q = 32'(j.qp);
    bit [31:0] mask = (32'd1 << qp[q].rx_log) - 1;
    bit [31:0] entry = commands[q] & ((32'd1 << qp[q].hw_log) - 1);
    cmd_t c = j.cmd;
    if (!qp[q].enable || closed[q]) begin
      if (j.kind == WrCommand) commands[q]++;
      return;
    end
    if (j.kind == WrPlace) begin
      for (int unsigned i = 0; i < 32'(j.len); i++)
        due.push_back('{any: 1'b0, at: buffer_at(q, j.flow) + 64'((j.to + i) & mask),
                        value: content(32'(j.buffer), 32'(j.offset) + i), command: 1'b0, qp: j.qp});
      asked += 32'(j.len);
      return;
    end
    if (j.record) begin
      for (int unsigned b = 0; b < 4; b++)
        for (int unsigned i = 0; i < 64; i++)
          due.push_back('{any: b != 1 || i / 2 != 24, at: qp[q].area + 64'(qp[q].records_at) +
                          64'(j.flow - qp[q].first) * 192 + 64'((b % 3) * 64 + i),
                          value: i[0] ? j.tcb.generation[15:8] : j.tcb.generation[7:0],
                          command: 1'b0, qp: j.qp});
      asked += 256;
    end
    c[63:32] = 32'(j.flow - qp[q].first);
    c[15] = (commands[q] & (32'd1 << qp[q].hw_log)) == 0;
    for (int unsigned i = 0; i < 16; i++)
      due.push_back('{any: 1'b0, at: qp[q].area + 64'(qp[q].hw_at) + 64'(entry * 16 + i),
                      value: c[8*i+:8], command: i == 15, qp: j.qp});
    asked += 16;
    commands[q]++;
  endtask

  // A tail waits for all that was given before it.
  bit tail_due;
  qp_t tail_of;
  bit [31:0] tail_value;
  int unsigned tail_behind, tails, heads, wraps, places;

  task automatic status(input int unsigned q, input bit [63:0] at);
    bit [31:0] value = w_data[31:0];
    if (w_strb != 64'hf) $fatal(1, "seed %0d: a status word of strobes %h", seed, w_strb);
    if (at == qp[q].area + 64'(qp[q].status_at)) begin
      if (!tail_due || 32'(tail_of) != q || value != tail_value || done < tail_behind)
        $fatal(1, "seed %0d: a tail %0d of %0d too early or not asked for", seed, value, q);
      tail_due = 1'b0;
      tails++;
    end else if (at == qp[q].area + 64'(qp[q].status_at) + 64) begin
      if (value != there[q])
        $fatal(1, "seed %0d: a head %0d, %0d are there", seed, value, there[q]);
      heads++;
    end else $fatal(1, "seed %0d: a status word at %h", seed, at);
  endtask

  // ---- AXI ----

  typedef struct packed {
    bit [63:0] at;
    bit [8:0]  left;
  } burst_t;
  burst_t bursts[$];

  task automatic beat();
    burst_t b;
    if (bursts.size() == 0) $fatal(1, "seed %0d: a beat without an address", seed);
    b = bursts[0];
    if (w_last != (b.left == 1)) $fatal(1, "seed %0d: the last beat is another", seed);
    for (int unsigned q = 0; q < Qps - 1; q++)
      if (b.at[63:12] == 52'((qp[q].area + 64'(qp[q].status_at)) >> 12)) begin
        status(q, b.at);
        void'(bursts.pop_front());
        return;
      end
    for (int unsigned i = 0; i < 64; i++) begin
      byte_t e;
      if (!w_strb[i]) continue;
      if (due.size() == 0)
        $fatal(1, "seed %0d: a byte at %h that nobody asked for", seed, b.at + 64'(i));
      e = due.pop_front();
      if (e.at != b.at + 64'(i) || (!e.any && e.value != w_data[8*i+:8]))
        $fatal(1, "seed %0d: %h at %h, not %h at %h", seed, w_data[8*i+:8], b.at + 64'(i), e.value,
               e.at);
      done++;
      if (e.command) there[e.qp]++;
    end
    b.at += 64;
    b.left -= 1;
    if (b.left == 0) void'(bursts.pop_front());
    else bursts[0] = b;
  endtask

  // ---- what comes ----

  int unsigned odds;
  function automatic bit often();
    return $urandom_range(7) < odds;
  endfunction

  function automatic write_t some_job(input int unsigned source);
    write_t j;
    int unsigned b;
    j = '0;
    j.qp = qp_t'($urandom_range(15) == 0 ? Qps - 1 : $urandom_range(Qps - 2));
    j.flow = qp[j.qp].first + flow_t'($urandom_range(1));
    j.kind = write_e'($urandom_range(2) == 0);
    if (j.kind == WrCommand) begin
      j.cmd = {$urandom, $urandom, $urandom, $urandom};
      j.cmd[7:0] = HwDataReceived;
      j.record = $urandom_range(3) == 0;
      j.tcb.generation = 16'($urandom);
      return j;
    end
    // A source takes its own buffers.
    b = source + Sources * $urandom_range(Buffers / Sources - 1);
    j.buffer = buf_t'(b);
    j.offset = 11'($urandom_range(200));
    j.len = 16'($urandom_range($urandom_range(1) == 0 ? 3 : 1 << qp[j.qp].rx_log));
    if (j.len > 1500) j.len = 16'd1500;
    j.to = $urandom;
    if (held[b]) j.kind = WrCommand;
    if (j.kind == WrCommand) j.cmd[7:0] = HwDataReceived;
    return j;
  endfunction

  bit [511:0] next_line;

  task automatic one_cycle(input bit more);
    if ($urandom_range(63) == 0) odds = 1 + $urandom_range(7);
    for (int unsigned s = 0; s < Sources; s++)
      if (!write_valid[s] && more && often()) begin
        write_valid[s] = 1'b1;
        write[s] = some_job(s);
        if (write[s].kind == WrPlace) begin
          held[write[s].buffer] = 1'b1;
          version[write[s].buffer]++;
        end
      end
    if (!tail_valid && !tail_due && more && $urandom_range(31) == 0) begin
      tail_valid = 1'b1;
      tail_qp = qp_t'($urandom_range(Qps - 3));
      tail = $urandom;
    end
    aw_ready = often();
    w_ready = often();
    #1;
    next_line = line_of(32'(read_buffer) % Buffers, 32'(read_line));
    // What is offered stays as it is until it is taken.
    if (w_held && !(w_valid && w_was == {w_data, w_strb, w_last}))
      $fatal(1, "seed %0d: a beat that nobody took did not stay", seed);
    w_held = w_valid && !w_ready;
    w_was = {w_data, w_strb, w_last};
    if (aw_held && !(aw_valid && aw_was == {aw_addr, aw_len}))
      $fatal(1, "seed %0d: an address that nobody took did not stay", seed);
    aw_held = aw_valid && !aw_ready;
    aw_was = {aw_addr, aw_len};
    if (w_valid && w_ready) beat();
    if (aw_valid && aw_ready) begin
      if (aw_addr[5:0] != 0) $fatal(1, "seed %0d: a burst at %h", seed, aw_addr);
      if (bursts.size() > 1) $fatal(1, "seed %0d: addresses go ahead too far", seed);
      bursts.push_back('{at: aw_addr, left: 9'(aw_len) + 9'd1});
    end
    // A queue pair whose memory is written is at work.
    foreach (bursts[i])
      if (!at_work[2'((bursts[i].at >> 20) - 64'd1)])
        $fatal(1, "seed %0d: %h is written, and its queue pair not at work", seed, bursts[i].at);
    if (freed) begin
      if (!held[free_buffer]) $fatal(1, "seed %0d: buffer %0d is freed twice", seed, free_buffer);
      held[free_buffer] = 1'b0;
      version[free_buffer]++;               // from now on it holds another packet
    end
    if (written) writtens[written_qp]++;
    for (int unsigned s = 0; s < Sources; s++)
      if (write_valid[s] && write_ready[s]) begin
        expect_job(write[s]);
        if (write[s].kind == WrPlace && qp[write[s].qp].enable && !closed[write[s].qp]) begin
          places++;
          wraps += 32'((write[s].to & ((1 << qp[write[s].qp].rx_log) - 1)) + 32'(write[s].len) >
                       (1 << qp[write[s].qp].rx_log));
        end
      end
    if (tail_valid && tail_ready) begin
      tail_due = 1'b1;
      tail_of = tail_qp;
      tail_value = tail;
      tail_behind = asked;
    end
    begin
      logic [Sources-1:0] took = write_valid & write_ready;
      logic tail_took = tail_valid && tail_ready;
      clk = 1'b1;
      #1 clk = 1'b0;
      read_data = next_line;
      write_valid &= ~took;
      if (tail_took) tail_valid = 1'b0;
    end
  endtask

  initial begin
    void'($value$plusargs("seed=%d", seed));
    void'($urandom(seed));
    for (int unsigned q = 0; q < Qps; q++) begin
      qp[q] = '0;
      qp[q].enable = q < Qps - 1;
      qp[q].area = 64'h10_0000 * 64'(q + 1);
      qp[q].hw_log = 5'(3 + q % 2);
      qp[q].slots_log = 5'd1;
      qp[q].first = flow_t'(2 * q);
      qp[q].tx_log = 5'd6;
      qp[q].rx_log = 5'(7 + 4 * (q % 2));
      qp[q].status_at = 32'h1000;
      qp[q].hw_at = 32'h2000;
      qp[q].records_at = 32'h3000;
      qp[q].buffers_at = 32'h4000;
    end
    closed = '0;
    closed[Qps-2] = 1'b1;
    path = '0;
    odds = 4;
    repeat (3) begin
      #1 clk = 1'b1;
      #1 clk = 1'b0;
    end
    rst_n = 1'b1;
    for (int unsigned i = 0; i < Cycles; i++) one_cycle(i / 64 % 3 != 2);   // and rest at times
    odds = 8;
    repeat (4000) one_cycle(1'b0);
    if (due.size() != 0 || bursts.size() != 0 || tail_due || write_valid != '0 || at_work != '0)
      $fatal(1, "seed %0d: %0d bytes never came", seed, due.size());
    for (int unsigned b = 0; b < Buffers; b++)
      if (held[b]) $fatal(1, "seed %0d: buffer %0d is never freed", seed, b);
    for (int unsigned q = 0; q < Qps; q++)
      if (writtens[q] != commands[q] || (q < Qps - 2 && hw_head[q] != commands[q]))
        $fatal(1, "seed %0d: %0d commands of %0d, %0d told", seed, commands[q], q, writtens[q]);
    if (places < 500 || wraps < 50 || heads < 100 || tails < 50)
      $fatal(1, "too little happened: %0d places, %0d around the end, %0d heads, %0d tails", places,
             wraps, heads, tails);
    $display("seed %0d: %0d bytes, %0d payloads (%0d around the end), %0d heads, %0d tails", seed,
             done, places, wraps, heads, tails);
    $finish;
  end
endmodule
