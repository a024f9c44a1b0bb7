// SPDX-License-Identifier: Apache-2.0
// toe_look.sv - what a simulation observes of the TOE besides its ports: each TCB as it is
// written, each deadline, whether toe_conn and toe_dmaw are at work. Bound into the modules, so
// that the design needs no port for it; reported to C++ by DPI (sim/toe_device.cpp, which also
// defines the order of the words).
`resetall
`default_nettype none

package toe_look_pkg;
  localparam int unsigned Words = 42;
  typedef bit [Words-1:0][31:0] words_t;
  import "DPI-C" function void toe_look_tcb(input int flow, input words_t words);
  import "DPI-C" function void toe_look_deadline(input int flow, input bit on, input int at);
  import "DPI-C" function void toe_look_conn(input bit busy, input bit some, input int at,
                                             input bit waits, input int again);
  import "DPI-C" function void toe_look_busy();
endpackage

module toe_look_fpc
  import toe_pkg::*;
  import fpc_pkg::*;
(
  input wire       clk_i,
  input wire       rst_ni,
  input wire out_t out_i,
  input wire       flying_i
);
  toe_look_pkg::words_t words;
  tcb_t t;
  assign t = out_i.t;
  always_comb begin
    words = '0;
    words[0] = 32'(t.state);
    words[1] = t.iss;
    words[2] = t.irs;
    words[3] = t.snd_una;
    words[4] = t.snd_nxt;
    words[5] = t.snd_end;
    words[6] = t.snd_wnd;
    words[7] = t.rcv_nxt;
    words[8] = t.rcv_adv;
    words[9] = t.cc.cwnd;
    words[10] = t.cc.ssthresh;
    words[11] = t.srtt;
    words[12] = t.rttvar;
    words[13] = t.min_rtt;
    words[14] = 32'(t.mss);
    words[15] = 32'(t.own_mss);
    words[16] = {24'd0, t.known, t.fin_in, t.fin, t.active, t.fin_ahead, t.ws, t.sack, t.ts};
    words[17] = {24'd0, t.rcv_scale, t.snd_scale};
    words[18] = t.retransmits;
    words[19] = 32'(t.backoff);
    words[20] = 32'(t.timeouts);
    words[21] = 32'(t.gaps);
    words[22] = 32'(t.sacked);
    for (int i = 0; i < SackMax; i++) begin
      words[23+2*i] = t.ooo[i].start;
      words[24+2*i] = t.ooo[i].stop;
      words[31+2*i] = t.board[i].start;
      words[32+2*i] = t.board[i].stop;
    end
    words[39] = 32'(t.recovery);
    words[40] = rto(t);
    words[41] = 32'(t.dupacks);
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && out_i.valid) toe_look_pkg::toe_look_tcb(32'(out_i.flow), words);
    if (rst_ni && flying_i) toe_look_pkg::toe_look_busy();
  end
endmodule

module toe_look_timer
  import toe_pkg::*;
(
  input wire        clk_i,
  input wire        rst_ni,
  input wire        write_i,
  input wire flow_t flow_i,
  input wire        on_i,
  input wire tick_t at_i
);
  always_ff @(posedge clk_i)
    if (rst_ni && write_i) toe_look_pkg::toe_look_deadline(32'(flow_i), on_i, at_i);
endmodule

module toe_look_conn
  import toe_pkg::*;
#(
  parameter int unsigned Waiting = 8,
  parameter type waiting_t = logic
) (
  input wire                          clk_i,
  input wire                          rst_ni,
  input wire                          busy_i,
  input wire                          some_i,   // in TIME-WAIT, the first until
  input wire tick_t                   at_i,
  input wire waiting_t [Waiting-1:0]  waiting_i // CONNECTs for their neighbours
);
  logic waits;
  tick_t again, left;
  always_comb begin
    waits = 1'b0;
    again = '0;
    for (int i = 0; i < int'(Waiting); i++) begin
      left = waiting_i[i].again - again;
      if (waiting_i[i].valid && (!waits || left[31])) begin
        waits = 1'b1;
        again = waiting_i[i].again;
      end
    end
  end
  always_ff @(posedge clk_i)
    if (rst_ni) toe_look_pkg::toe_look_conn(busy_i, some_i, at_i, waits, again);
endmodule

module toe_look_busy (
  input wire clk_i,
  input wire rst_ni,
  input wire busy_i
);
  always_ff @(posedge clk_i) if (rst_ni && busy_i) toe_look_pkg::toe_look_busy();
endmodule

bind toe_fpc toe_look_fpc look (.clk_i, .rst_ni, .out_i(out), .flying_i(flying != '0));
bind toe_timer toe_look_timer look (.clk_i, .rst_ni, .write_i, .flow_i, .on_i, .at_i);
bind toe_conn toe_look_conn #(.Waiting(Waiting), .waiting_t(waiting_t)) look (
  .clk_i, .rst_ni, .busy_i(work.step != Idle || !tw_known), .some_i(tw_some && tw_item.live),
  .at_i(tw_item.at), .waiting_i(waits.waiting_q)
);
bind toe_dmaw toe_look_busy look (
  .clk_i, .rst_ni, .busy_i(early_valid_q || next_valid_q || !empty)
);

`resetall
