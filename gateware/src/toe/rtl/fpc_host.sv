// SPDX-License-Identifier: Apache-2.0
// fpc_host.sv - executes a command of the host for a flow (docs/device-contract.md). toe_cmd has checked
// type, flags and slot; this module checks what the state of the flow permits.
`resetall
`default_nettype none

module fpc_host
  import toe_pkg::*;
  import fpc_pkg::*;
  import toe_cmd_pkg::*;
(
  input  wire pass_t         pass_i,
  input  wire tcb_t          tcb_i,
  input  wire host_t         host_i,         // the command
  input  wire command_seen_t seen_i,         // what fpc_look has found of it
  input  wire tick_t         lapse_ticks_i,  // keep-alive, or the time in FIN-WAIT-2
  output wire tcb_t          tcb_o,
  output wire host_t         host_o,         // the command and its answer
  output wire action_t       action_o,
  output wire fpc_counts_t   counts_o
);

  typedef struct packed {
    tcb_t        t;
    host_t       host;
    action_t     action;
    fpc_counts_t counts;
  } result_t;

  function automatic result_t refuse(input result_t in, input logic [7:0] reason);
    result_t c;
    c = in;
    c.host.error = 1'b1;
    c.host.error_reason = reason;
    c.counts.bad_command = 1'b1;
    return c;
  endfunction

  function automatic result_t send(input result_t in, input command_seen_t s,
                                   input logic [31:0] bytes, input logic push);
    result_t c;
    c = in;
    if (in.t.fin || in.t.gone || !(in.t.state inside {StEstablished, StCloseWait}))
      return refuse(in, ReasonNotconn);
    if (!s.send_fits) return refuse(in, ReasonMsgsize);
    c.t.snd_end = in.t.snd_end + bytes;
    if (push) c.t.snd_psh = c.t.snd_end;
    return c;
  endfunction

  function automatic result_t receive(input result_t in, input command_seen_t s);
    result_t c;
    c = in;
    if (in.t.gone) return refuse(in, ReasonNotconn);
    if (!s.read_fits) return refuse(in, ReasonMsgsize);
    c.t.rcv_read = s.read;
    if (seq_ge(s.edge_, s.wanted) &&
        in.t.state inside {StEstablished, StFinWait1, StFinWait2})
      c.t.ack_now = 1'b1;
    // The host has read everything and does not answer: the ACK of pushed text waits for nothing.
    if (in.t.pushed && !in.t.pingpong && s.read == in.t.rcv_nxt) c.t.ack_now = 1'b1;
    return c;
  endfunction

  function automatic result_t abort(input result_t in);
    result_t c;
    c = in;
    c.t.reason = ReasonAborted;
    c.action.end_now = 1'b1;
    c.action.rst = in.t.state != StSynSent;
    c.action.rst_seq = in.t.snd_nxt;
    c.action.rst_ack = 1'b1;
    return c;
  endfunction

  function automatic result_t close(input result_t in, input command_seen_t s, input tick_t tick,
                                    input tick_t lapse_ticks, input logic half);
    result_t c;
    c = in;
    if (in.t.gone || (half && in.t.fin)) return refuse(in, ReasonNotconn);
    if (!half && !s.none_unread) begin
      // RFC 9293 3.6.1, RFC 2525 2.17: unread data are lost, and a RST reports that to the peer.
      c = abort(in);
      c.t.gone = 1'b1;
      return c;
    end
    if (!half) c.t.gone = 1'b1;
    c.t.fin = 1'b1;
    unique case (in.t.state)
      StEstablished: c.t.state = StFinWait1;
      StCloseWait: c.t.state = StLastAck;
      StFinWait2: begin
        if (!half) begin
          c.t.keep_on = 1'b1;
          c.t.keep_at = tick + lapse_ticks;
        end
      end
      default: ;
    endcase
    return c;
  endfunction

  function automatic result_t option(input result_t in, input tick_t tick,
                                     input tick_t lapse_ticks, input logic [15:0] name,
                                     input logic [31:0] v);
    result_t c;
    logic ok;
    c = in;
    ok = 1'b1;
    unique case (name)
      OptNodelay: begin
        ok = v <= 32'd1;
        c.t.nodelay = v[0];
        // tcp(7): an explicit flush of pending output, even if a cork is set
        if (v[0] && seq_gt(in.t.snd_end, in.t.snd_nxt)) c.t.flush = 1'b1;
      end
      OptCork: begin
        ok = v <= 32'd1;
        c.t.cork = v[0];
        // As on Linux: what was sent without push is sent too.
        if (!v[0] && seq_gt(in.t.snd_end, in.t.snd_nxt)) c.t.flush = 1'b1;
      end
      OptQuickack: begin
        ok = v <= 32'd1;
        c.t.pingpong = !v[0];
        if (v[0] && in.t.ack_later) c.t.ack_now = 1'b1;  // a delayed ACK is sent too
      end
      OptKeepalive: begin
        ok = v <= 32'd1;
        c.t.keepalive = v[0];
        if (!in.t.gone) begin
          c.t.keep_on = v[0];
          c.t.keep_at = tick + lapse_ticks;
        end
        c.t.keep_probes = 7'd0;
      end
      OptKeepidle: begin
        ok = v != 32'd0 && v <= 32'd32767;
        c.t.keep_idle = v[14:0];
        if (in.t.keepalive && !in.t.gone) c.t.keep_at = tick + lapse_ticks;
      end
      OptKeepintvl: begin
        ok = v != 32'd0 && v <= 32'd32767;
        c.t.keep_intvl = v[14:0];
      end
      OptKeepcnt: begin
        ok = v != 32'd0 && v <= 32'd127;
        c.t.keep_cnt = v[6:0];
      end
      OptUserTimeout: c.t.user_timeout = v;
      OptLinger2: begin
        ok = v <= 32'd65535;
        c.t.linger2 = v[15:0];
      end
      OptSyncnt: begin
        ok = v <= 32'd127;
        c.t.syncnt = v[6:0];
      end
      OptCc: begin
        ok = v <= 32'd1;
        c.t.cc.algorithm = v[3:0];
        c.t.cc.acked = 32'd0;
        c.t.cc.asked = 1'b0;
        c.t.cc.epoch_set = 1'b0;
        c.t.cc.w_max = 32'd0;
      end
      OptTos: begin
        ok = v <= 32'd255;
        c.t.tos = {v[7:2], 2'b00};
      end
      default: ok = 1'b0;
    endcase
    return ok ? c : refuse(in, ReasonNoprotoopt);
  endfunction

  function automatic result_t accept(input result_t in);
    result_t c;
    c = in;
    if (in.t.active || in.t.accepted) return refuse(in, ReasonNotconn);
    c.t.accepted = 1'b1;
    c.host.accept = 1'b1;
    return c;
  endfunction

  function automatic result_t handle(input result_t in, input command_seen_t s, input tick_t tick,
                                     input tick_t lapse_ticks);
    cmd_t m;
    logic over;
    m = in.host.command.cmd;
    over = in.t.state == StClosed;
    if (cmd_type(m) == SwCancel) return (over || in.t.known) ? in : abort(in);
    if (cmd_flags(m) == OptionConnect && cmd_type(m) == SwOption) begin
      // An OPTION of a CONNECT that crosses its answer is ignored.
      if (in.t.known || over) return in;
      return option(in, tick, lapse_ticks, cmd_aux(m), cmd_arg0(m));
    end
    if (!in.t.known) return refuse(in, ReasonBadf);
    if (cmd_type(m) == SwRelease) begin
      result_t c;
      c = in;
      if (!in.t.ended) return refuse(in, ReasonNotconn);
      c.t.known = 1'b0;
      c.host.free = 1'b1;
      return c;
    end
    if (over) begin
      // The command crosses the end of its flow, or arrives after it.
      result_t c;
      c = in;
      c.counts.stale_command = 1'b1;
      if (cmd_type(m) == SwAccept && !in.t.active && !in.t.accepted) return accept(c);
      return c;
    end
    unique case (cmd_type(m))
      SwSend: return send(in, s, cmd_arg0(m), cmd_flags(m) == SendPush);
      SwRecv: return receive(in, s);
      SwClose: begin
        if (cmd_flags(m) == CloseAbort) return abort(in);
        return close(in, s, tick, lapse_ticks, cmd_flags(m) == CloseHalf);
      end
      SwOption: return option(in, tick, lapse_ticks, cmd_aux(m), cmd_arg0(m));
      SwAccept: return accept(in);
      default: return refuse(in, ReasonNosys);
    endcase
  endfunction

  result_t unchanged, c;

  always_comb begin
    unchanged = '{t: tcb_i, host: host_i, action: '0, counts: '0};
    c = unchanged;
    if (pass_i.valid && pass_i.kind == EvCommand)
      c = handle(unchanged, seen_i, pass_i.tick, lapse_ticks_i);
  end

  assign tcb_o = c.t;
  assign host_o = c.host;
  assign action_o = c.action;
  assign counts_o = c.counts;

endmodule

`resetall
