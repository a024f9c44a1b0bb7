// SPDX-License-Identifier: Apache-2.0
// fpc_open.sv - begins a flow (EvOpen), or resets one: its queue pair (EvPurge) or its listener
// (EvReset) is removed.
`resetall
`default_nettype none

module fpc_open
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input  wire pass_t   pass_i,
  input  wire tcb_t    tcb_i,
  input  wire open_t   open_i,    // EvOpen: what the flow begins with
  output wire tcb_t    tcb_o,
  output wire logic    iw10_o,    // the congestion window begins: ten segments
  output wire action_t action_o
);

  // Returns the window scale (RFC 7323 2.2): the least with which the buffer size fits into 16 bits.
  function automatic logic [3:0] scale_for(input logic [4:0] log);
    return (log <= 5'd15) ? 4'd0 : 4'(log - 5'd15);
  endfunction

  // Returns the largest payload of our segments: the peer's MSS, at least 64 (against tiny segments as an
  // attack), at most the link's (RFC 9293 MUST-15, MUST-16), less the timestamps.
  function automatic logic [15:0] mss_for(input open_t o);
    logic [15:0] given, most;
    given = o.mss_ok ? o.mss : (o.v6 ? 16'd1220 : 16'd536);
    most = (given > o.own_mss) ? o.own_mss : given;
    if (given < 16'd64) most = (16'd64 > o.own_mss) ? o.own_mss : 16'd64;
    return o.ts_ok ? most - 16'd12 : most;
  endfunction

  function automatic tcb_t begin_tcb(input open_t o, input pass_t pass, input tcb_t was);
    tcb_t t;
    logic [31:0] window;
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
    // A SYN offers all options, a SYN-ACK only those of the SYN (RFC 7323 2.2, 3.2, RFC 2018 2).
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
    t.heard = pass.tick;
    t.quick = 5'(QuickAcks);
    t.rexmit = o.iss;
    t.recover = o.iss;
    t.cc.ssthresh = CwndMax;
    t.cc.algorithm = o.cc;
    t.cc.seen_at = pass.stamp;
    t.keep_idle = 15'd7200;
    t.keep_intvl = 15'd75;
    t.keep_cnt = 7'd9;
    t.linger2 = 16'd60;
    t.syncnt = o.ahead.syncnt;
    t.user_timeout = o.ahead.user_timeout;
    t.tos = o.ahead.tos;
    t.generation = was.generation + 16'd1;
    t.in_send = was.in_send;
    t.in_tell = was.in_tell;
    return t;
  endfunction

  wire opens = pass_i.valid && pass_i.kind == EvOpen;
  wire purges = pass_i.valid && pass_i.kind == EvPurge;
  wire resets = pass_i.valid && (pass_i.kind == EvPurge || pass_i.kind == EvReset) &&
      tcb_i.state != StClosed;
  tcb_t t;
  action_t action;

  always_comb begin
    t = tcb_i;
    action = '0;
    if (opens) begin
      t = begin_tcb(open_i, pass_i, tcb_i);
      action.syn = 1'b1;
    end
    // The owner is gone: nothing is reported any more, not even the end of a closed flow.
    if (purges) begin
      t.known = 1'b0;
      t.tell_open = 1'b0;
      t.tell_end = 1'b0;
      t.ended = 1'b1;
    end
    if (resets) begin
      t.reason = 8'd103;
      action.end_now = 1'b1;
      action.rst = synchronized(tcb_i) || tcb_i.state == StSynReceived;
      action.rst_seq = tcb_i.snd_nxt;
      action.rst_ack = 1'b1;
    end
  end

  assign tcb_o = t;
  assign iw10_o = opens;
  assign action_o = action;

endmodule

`resetall
