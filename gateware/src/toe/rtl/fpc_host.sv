// SPDX-License-Identifier: Apache-2.0
// fpc_host.sv - a command of the host for a flow (docs/device-contract.md). toe_cmd has looked at type,
// flags and slot; here is what the flow itself permits.
`resetall
`default_nettype none

module fpc_host
  import toe_pkg::*;
  import fpc_pkg::*;
  import toe_cmd_pkg::*;
(
  input  wire ctx_t c_i,
  output wire ctx_t c_o
);

  function automatic ctx_t refuse(input ctx_t in, input logic [7:0] reason);
    ctx_t c;
    c = in;
    c.error = 1'b1;
    c.error_reason = reason;
    c.counts.bad_command = 1'b1;
    return c;
  endfunction

  function automatic ctx_t send(input ctx_t in, input logic [31:0] bytes, input logic push);
    ctx_t c;
    c = in;
    if (in.t.fin || in.t.gone || !(in.t.state inside {StEstablished, StCloseWait}))
      return refuse(in, ReasonNotconn);
    if (!in.see.command.send_fits) return refuse(in, ReasonMsgsize);
    c.t.snd_end = in.t.snd_end + bytes;
    if (push) c.t.snd_psh = c.t.snd_end;
    return c;
  endfunction

  function automatic ctx_t receive(input ctx_t in);
    ctx_t c;
    c = in;
    if (in.t.gone) return refuse(in, ReasonNotconn);
    if (!in.see.command.read_fits) return refuse(in, ReasonMsgsize);
    c.t.rcv_read = in.see.command.read;
    if (seq_ge(in.see.command.edge_, in.see.command.wanted) &&
        in.t.state inside {StEstablished, StFinWait1, StFinWait2})
      c.t.ack_now = 1'b1;
    return c;
  endfunction

  function automatic ctx_t abort(input ctx_t in);
    ctx_t c;
    c = in;
    c.t.reason = ReasonAborted;
    c.end_now = 1'b1;
    c.rst = in.t.state != StSynSent;
    c.rst_seq = in.t.snd_nxt;
    c.rst_ack = 1'b1;
    return c;
  endfunction

  function automatic ctx_t close(input ctx_t in, input logic half);
    ctx_t c;
    c = in;
    if (in.t.gone || (half && in.t.fin)) return refuse(in, ReasonNotconn);
    if (!half && !in.see.command.none_unread) begin
      // RFC 9293 MUST-... 3.6.1, RFC 2525 2.17: what was not read is lost, and the peer learns it.
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
          c.t.keep_at = in.tick + in.see.lapse_ticks;
        end
      end
      default: ;
    endcase
    return c;
  endfunction

  function automatic ctx_t option(input ctx_t in, input logic [15:0] name, input logic [31:0] v);
    ctx_t c;
    logic ok;
    c = in;
    ok = 1'b1;
    unique case (name)
      OptNodelay: begin
        ok = v <= 32'd1;
        c.t.nodelay = v[0];
      end
      OptCork: begin
        ok = v <= 32'd1;
        c.t.cork = v[0];
      end
      OptQuickack: begin
        ok = v <= 32'd1;
        c.t.quick_on = v[0];
        if (v[0] && in.t.ack_later) c.t.ack_now = 1'b1;  // what waits goes too
      end
      OptKeepalive: begin
        ok = v <= 32'd1;
        c.t.keepalive = v[0];
        if (!in.t.gone) begin
          c.t.keep_on = v[0];
          c.t.keep_at = in.tick + in.see.lapse_ticks;
        end
        c.t.keep_probes = 7'd0;
      end
      OptKeepidle: begin
        ok = v != 32'd0 && v <= 32'd32767;
        c.t.keep_idle = v[14:0];
        if (in.t.keepalive && !in.t.gone) c.t.keep_at = in.tick + in.see.lapse_ticks;
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

  function automatic ctx_t accept(input ctx_t in);
    ctx_t c;
    c = in;
    if (in.t.active || in.t.accepted) return refuse(in, ReasonNotconn);
    c.t.accepted = 1'b1;
    c.accept = 1'b1;
    return c;
  endfunction

  function automatic ctx_t handle(input ctx_t in);
    cmd_t m;
    logic over;
    m = in.command.cmd;
    over = in.t.state == StClosed;
    if (cmd_type(m) == SwCancel) return (over || in.t.known) ? in : abort(in);
    if (cmd_flags(m) == OptionConnect && cmd_type(m) == SwOption) begin
      // Of a CONNECT: what crosses its answer is ignored.
      if (in.t.known || over) return in;
      return option(in, cmd_aux(m), cmd_arg0(m));
    end
    if (!in.t.known) return refuse(in, ReasonBadf);
    if (cmd_type(m) == SwRelease) begin
      ctx_t c;
      c = in;
      if (!in.t.ended) return refuse(in, ReasonNotconn);
      c.t.known = 1'b0;
      c.free = 1'b1;
      return c;
    end
    if (over) begin
      // It crosses the end of its flow, or comes after it.
      ctx_t c;
      c = in;
      c.counts.stale_command = 1'b1;
      if (cmd_type(m) == SwAccept && !in.t.active && !in.t.accepted) return accept(c);
      return c;
    end
    unique case (cmd_type(m))
      SwSend: return send(in, cmd_arg0(m), cmd_flags(m) == SendPush);
      SwRecv: return receive(in);
      SwClose: begin
        if (cmd_flags(m) == CloseAbort) return abort(in);
        return close(in, cmd_flags(m) == CloseHalf);
      end
      SwOption: return option(in, cmd_aux(m), cmd_arg0(m));
      SwAccept: return accept(in);
      default: return refuse(in, ReasonNosys);
    endcase
  endfunction

  ctx_t c;

  always_comb begin
    c = c_i;
    if (c_i.valid && c_i.kind == EvCommand) c = handle(c_i);
  end

  assign c_o = c;

endmodule

`resetall
