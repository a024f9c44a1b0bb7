// SPDX-License-Identifier: Apache-2.0
// fpc_open.sv - a flow begins (EvOpen), or its queue pair goes away (EvPurge).
`resetall
`default_nettype none

module fpc_open
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  // RFC 7323 2.2: as much as brings the buffer into 16 bits.
  function automatic logic [3:0] scale_for(input logic [4:0] log);
    return (log <= 5'd15) ? 4'd0 : 4'(log - 5'd15);
  endfunction

  // What a segment of ours may carry: the peer's MSS, not below 64 (no attack by tiny segments), not
  // above the link's (RFC 9293 MUST-15, MUST-16), less the timestamps in each.
  function automatic logic [15:0] mss_for(input open_t o);
    logic [15:0] given, most;
    given = o.mss_ok ? o.mss : (o.v6 ? 16'd1220 : 16'd536);
    most = (given > o.own_mss) ? o.own_mss : given;
    if (given < 16'd64) most = (16'd64 > o.own_mss) ? o.own_mss : 16'd64;
    return o.ts_ok ? most - 16'd12 : most;
  endfunction

  function automatic tcb_t begin_tcb(input ctx_t c);
    tcb_t  t;
    open_t o;
    logic [31:0] window;
    o = c.open;
    t = '0;
    t.state = o.active ? StSynSent : StSynReceived;
    t.active = o.active;
    t.v6 = o.v6;
    t.qp = o.qp;
    t.id = o.id;
    t.tx_log = o.tx_log;
    t.rx_log = o.rx_log;
    t.own_mss = o.own_mss;
    t.ts_offset = o.ts_offset;
    // What our SYN offers; a SYN-ACK only what was offered to it (RFC 7323 2.2, 3.2, RFC 2018 2).
    t.ts = o.active || o.ts_ok;
    t.sack = o.active || o.sack_ok;
    t.ws = o.active || o.ws_ok;
    t.snd_scale = o.ws_ok ? o.ws : 4'd0;
    t.rcv_scale = t.ws ? scale_for(o.rx_log) : 4'd0;
    t.mss = mss_for(o);
    t.iss = o.iss;
    t.snd_una = o.iss;
    t.snd_nxt = o.iss;
    t.snd_end = o.iss + 32'd1;
    t.snd_psh = o.iss + 32'd1;
    t.snd_sml = o.iss;
    t.told_tx = o.iss + 32'd1;
    t.irs = o.irs;
    t.rcv_nxt = o.irs + 32'd1;
    t.rcv_read = o.irs + 32'd1;
    t.told_rx = o.irs + 32'd1;
    // The window of a SYN is not scaled (RFC 7323 2.2).
    window = receive_size(t);
    t.rcv_adv = t.rcv_nxt + ((window > 32'd65535) ? 32'd65535 : window);
    t.rcv_acked = t.rcv_nxt;
    t.snd_wnd = 32'(o.wnd);
    t.max_wnd = 32'(o.wnd);
    t.snd_wl1 = o.irs;
    t.ts_recent = o.tsval;
    t.heard = c.tick;
    t.quick = 4'(QuickAcks);
    t.rexmit = o.iss;
    t.recover = o.iss;
    t.cc.ssthresh = CwndMax;
    t.cc.algorithm = o.cc;
    t.cc.seen_at = c.stamp;
    t.keep_idle = 15'd7200;
    t.keep_intvl = 15'd75;
    t.keep_cnt = 7'd9;
    t.linger2 = 16'd60;
    t.syncnt = o.ahead.syncnt;
    t.user_timeout = o.ahead.user_timeout;
    t.tos = o.ahead.tos;
    t.generation = c.t.generation + 16'd1;
    t.in_send = c.t.in_send;
    t.in_tell = c.t.in_tell;
    return t;
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && c_i.kind == EvOpen) begin
      c.t = begin_tcb(c_i);
      c.ten = 1'b1;
      c.syn = 1'b1;
    end
    // The owner is gone: nobody is left to be told, also of what was over before.
    if (c_i.valid && c_i.kind == EvPurge) begin
      c.t.known = 1'b0;
      c.t.tell_open = 1'b0;
      c.t.tell_end = 1'b0;
      c.t.ended = 1'b1;
    end
    if (c_i.valid && (c_i.kind == EvPurge || c_i.kind == EvReset) && c_i.t.state != StClosed) begin
      c.t.reason = 8'd103;
      c.end_now = 1'b1;
      c.rst = synchronized(c_i.t) || c_i.t.state == StSynReceived;
      c.rst_seq = c_i.t.snd_nxt;
      c.rst_ack = 1'b1;
    end
  end

  assign c_o = c;

endmodule

`resetall
