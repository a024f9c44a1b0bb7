// SPDX-License-Identifier: Apache-2.0
// conn_tw.sv - connections in TIME-WAIT (RFC 9293 3.10.7.4): a ring with the oldest at its tail, and
// the verdict on a segment to one of them.
`resetall
`default_nettype none

module conn_tw
  import toe_pkg::*;
  import conn_pkg::*;
#(
  parameter int unsigned FlowBits = 8
) (
  input  wire                clk_i,
  input  wire                rst_ni,
  input  wire tick_t         tick_i,

  input  wire                push_i,
  input  wire tw_t           push_item_i,  // at and live are set here
  input  wire                pop_i,
  output wire [FlowBits-1:0] head_o,
  output wire [FlowBits-1:0] tail_o,
  output wire                some_o,
  output wire                full_o,

  input  wire                look_i,       // at this one; else at the tail
  input  wire [FlowBits-1:0] index_i,
  output wire tw_t           item_o,       // a cycle later
  output wire                due_o,

  // A segment to item_o: it may open a new connection; repeats the FIN; is answered; is not answered,
  // by the rate limit.
  input  wire seg_t          seg_i,
  input  wire seq_t          end_i,        // behind its FIN, if it has one
  output wire                anew_o,
  output wire                again_o,
  output wire                says_o,
  output wire                limited_o,
  input  wire                said_i       // the answer to item_o is sent
);

  typedef logic [FlowBits-1:0] slot_t;

  slot_t head_q, tail_q;
  logic some_q;
  tw_t item, written;
  always_comb begin
    if (push_i) begin
      written = push_item_i;
      written.at = tick_i + TimeWait;
      written.live = 1'b1;
    end else begin
      written = item;
      written.said_at = tick_i;
    end
  end

  sdp_ram #(.Width($bits(tw_t)), .AddrBits(FlowBits)) ring (
    .clk_i, .write_i(push_i || said_i), .waddr_i(push_i ? head_q : index_i), .wdata_i(written),
    .raddr_i(look_i ? index_i : tail_q), .rdata_o(item)
  );

  wire tick_t past = tick_i - item.at;
  assign head_o = head_q;
  assign tail_o = tail_q;
  assign some_o = some_q;
  assign full_o = some_q && head_q == tail_q;
  assign item_o = item;
  assign due_o = some_q && item.live && !past[31];

  // RFC 9293 3.10.7.4, RFC 6191 2: a SYN that is certainly newer.
  wire flags_t fl = seg_i.flags;
  wire stamped = item.ts && seg_i.opt.ts_ok;
  wire stale = stamped && seq_lt(seg_i.opt.tsval, item.ts_recent);
  assign anew_o = is_syn(fl) && ((stamped && seq_gt(seg_i.opt.tsval, item.ts_recent)) ||
                                 (!stale && seq_gt(seg_i.seq, item.rcv_nxt)));
  // The peer repeats its FIN: it has not received our ACK, and the two MSL restart.
  assign again_o = fl.fin && !fl.syn && !fl.rst && !full_o && !stale &&
                   end_i == item.rcv_nxt;
  // Any other segment that is not the expected ACK is acknowledged, rate-limited, so that two ends in
  // TIME-WAIT cannot keep each other busy (RFC 5961 7).
  wire wrong = !fl.rst && (fl.syn || fl.fin || seg_i.len != 16'd0 ||
                           seg_i.seq != item.rcv_nxt || stale);
  wire rested = tick_i - item.said_at >= SaidAgain;
  assign says_o = wrong && rested;
  assign limited_o = wrong && !rested;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      some_q <= 1'b0;
    end else begin
      if (push_i) begin
        head_q <= head_q + 1'b1;
        some_q <= 1'b1;
      end
      if (pop_i) begin
        tail_q <= tail_q + 1'b1;
        some_q <= (tail_q + 1'b1) != head_q;
      end
    end
  end

endmodule

`resetall
