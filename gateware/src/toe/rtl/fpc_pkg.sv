// SPDX-License-Identifier: Apache-2.0
// fpc_pkg.sv - the structures that the stages of a flow processing core take and give, its constants,
// and the functions that stages share.
`resetall
`default_nettype none

package fpc_pkg;

  import toe_pkg::*;

  // Times and bounds, the same as core's.
  localparam logic [31:0] CwndMax = 32'h3fff_ffff;
  localparam int unsigned InitialSegments = 10;      // RFC 6928
  localparam int unsigned DupThresh = 3;
  localparam int unsigned QuickAcks = 16;
  localparam tick_t RtoInit = ms(1000);              // RFC 6298 2.1
  localparam tick_t RtoSyn = ms(3000);
  localparam tick_t RtoMin = ms(200) + 32'd1;        // less than its 1 s, as Linux
  localparam tick_t RtoMax = ms(120000);
  localparam tick_t Delack = ms(40) + 32'd1;
  localparam tick_t CorkMax = ms(200);
  localparam tick_t PawsIdle = 32'd1977539062;       // 24 days (RFC 7323 5.5)
  localparam tick_t ChallengeTime = ms(1000);
  localparam int unsigned ChallengeMax = 5;
  localparam int unsigned GiveUpData = 15;           // timeouts (RFC 9293 3.8.3, R2)
  localparam int unsigned GiveUpSyn = 7;
  localparam int unsigned GiveUpSynAck = 5;

  localparam int unsigned Stages = 14;               // of the pipeline in toe_fpc

  // A flow with something to report or to send.
  typedef struct packed {
    flow_t flow;
    qp_t   qp;
  } listed_t;

  // Counters that a pass increments (toe_regs: COUNTERS).
  typedef struct packed {
    logic no_flow;          // for a flow that is over
    logic no_timestamp;
    logic paws;
    logic out_of_window;
    logic bad_ack;
    logic no_ack_bit;
    logic rst_received;
    logic rst_sent;
    logic challenge;
    logic challenge_limited;
    logic segment_sent;
    logic resent;
    logic fast_recovery;
    logic timeout;
    logic probe;
    logic gap_dropped;      // a range beyond a gap dropped: the list is full
    logic stale_command;    // crossed the end of its flow
    logic bad_command;
    logic established;
    logic given_up;         // timed out
    logic evicted;          // a TCB went to DRAM
    logic fetched;          // ... and came back
  } fpc_counts_t;

  localparam int unsigned FpcCounts = $bits(fpc_counts_t);

  // ---- the pass: an event on its way through the pipeline ----

  // Every stage takes this, with the flow's TCB.
  typedef struct packed {
    logic   valid;
    kind_e  kind;
    flow_t  flow;
    qp_t    qp;
    tick_t  tick;          // when the pass started, for all its stages
    stamp_t stamp;         // ... in stamps
  } pass_t;

  // What the pass leads to, by what the stages so far have found (fpc_send, fpc_out act on it).
  typedef struct packed {
    logic end_now;         // the connection is over; TCB.reason says why
    logic time_wait;       // ... and enters TIME-WAIT
    logic rst;             // a RST is sent, at rst_seq
    seq_t rst_seq;
    logic rst_ack;         // ... with ACK of RCV.NXT
    logic syn;             // the SYN is sent (again)
    logic challenge;       // a rate-limited ACK (RFC 5961 7)
    logic dup_ack;         // the segment lies beyond a gap: an ACK without data (RFC 5681 4.2)
  } action_t;

  // What the host asked for, and what becomes of it.
  typedef struct packed {
    command_t   command;   // EvCommand
    logic       placed;    // EvTell: there is room for a HW command
    logic       error;     // the command is refused
    logic [7:0] error_reason;
    logic       free;      // RELEASE
    logic       accept;    // ACCEPT: the flow leaves the backlog
  } host_t;

  // ---- fpc_look: sums and comparisons of an event and its TCB ----

  typedef struct packed {
    logic        at_irs;       // SEG.SEQ = IRS
    logic        at_nxt;       // SEG.SEQ = RCV.NXT
    logic [31:0] behind;       // RCV.NXT - SEG.SEQ
    logic        open_;        // the window is open
    logic        from_nxt;     // SEG.SEQ >= RCV.NXT
    logic        to_adv;       // SEG.SEQ <= the right edge
    logic        inside_;      // SEG.SEQ is in the window
    logic        reaches;      // the segment starts below RCV.NXT and ends above it
    logic        acked;        // SEG.SEQ <= Last.ACK.sent
    logic        had;          // had_before()
    logic        stale;        // an old timestamp (PAWS)
    logic        ack_past_iss; // SEG.ACK > ISS
    logic        ack_past_una; // SEG.ACK > SND.UNA
    logic        ack_sent;     // SEG.ACK <= SND.NXT
    logic        ack_old;      // SEG.ACK < SND.UNA - MAX.SND.WND (RFC 5961 5.2)
    seq_t        old_stop;     // end of the bytes that were received before
    seq_t        adv;          // SYN: the right edge of our window behind it
    logic [15:0] mss;          // SYN: payload of a full segment
  } segment_seen_t;

  typedef struct packed {
    logic [31:0] room;         // SEND: bytes that fit into the send buffer
    logic        send_fits;
    logic [31:0] unread;       // CLOSE: bytes that the host has not read
    logic        none_unread;
    logic [31:0] told;         // RECV: bytes that the host knows of
    logic        read_fits;
    seq_t        read;         // RECV: end of what the host has read after it
    seq_t        most;         // RECV: highest right edge that the window field can express
    logic [31:0] size;         // RECV: largest window
    seq_t        edge_;        // RECV: the right edge that could be offered
    seq_t        wanted;       // RECV: the right edge from which on an update is sent
  } command_seen_t;

  typedef struct packed {
    logic  rtx, delack, cork, keep; // deadlines that are due
    tick_t idle;               // since the last segment from the peer
    tick_t stalled;            // since the first timeout
  } timer_seen_t;

  typedef struct packed {
    segment_seen_t segment;
    command_seen_t command;
    timer_seen_t   timer;
    logic [15:0]   lapse;      // seconds: keep-alive, FIN-WAIT-2
    tick_t         lapse_ticks;
    tick_t         intvl_ticks;
    tick_t         patience;   // USER_TIMEOUT in ticks
  } seen_t;

  // ---- fpc_check: which stages process the segment ----

  typedef struct packed {
    logic go_ack;              // to fpc_ack
    logic go_text;             // to fpc_text
    logic unscaled;            // its window is that of a SYN
    logic timed;               // it acknowledges our SYN, whose round trip counts
    logic iw10;                // the congestion window begins: ten segments (RFC 6928)
    logic iw1_syn_lost;        // ... one, as the SYN was lost (RFC 5681 3.1)
  } check_t;

  // ---- fpc_ack: what the segment acknowledges ----

  typedef logic [SackMax-1:0] each_t;

  typedef struct packed {
    logic        go;           // an acceptable ACK; not of an old segment
    logic [31:0] acked;        // bytes by which SND.UNA moves
    logic        dup;          // a duplicate ACK (RFC 5681 2)
    each_t       sack_ok;      // SACK ranges that count
    ranges_t     sack;         // ... without what lies below SND.UNA
  } ack_t;

  // ---- fpc_timer: an expiry of the retransmission timer ----

  typedef struct packed {
    logic       next;          // the timer is set for the next try
    logic       first;         // the first timeout without progress
    logic       collapse;      // ... of data: the congestion window falls to one segment
    logic [3:0] backoff_was;
  } timeout_t;

  // ---- fpc_time: round-trip time and RTO ----

  typedef struct packed {
    logic   sample;            // a round trip was measured,
    stamp_t rtt;               // ... of this length
    logic   sample_min;        // ... by a timed segment, not by a timestamp
    logic   rtx_renew;         // the retransmission timer restarts (RFC 6298 5.3)
    tick_t  rto_base;          // before backoff
    tick_t  rto;
    tick_t  rto_was;           // with the backoff before this pass
    tick_t  rto_at;            // tick + rto
  } time_t;

  // ---- fpc_text: payload and FIN ----

  typedef struct packed {
    logic [2:0] n;
    ranges_t    r;
    logic       full;          // one range was dropped
  } list_t;

  typedef struct packed {
    logic        texts;        // there is payload, a FIN, or a FIN that waits
    logic        takes;        // ... and the state accepts it
    seq_t        seq;          // what is left of the segment
    logic [15:0] len;
    logic        fin;
    logic        psh;
    logic        in_order;     // it starts at RCV.NXT
    seq_t        stop;         // its end, without the FIN
    list_t       list;         // the ranges beyond a gap, with it
    logic        place;        // its payload is written into the receive buffer
    logic [31:0] to;           // ... at this offset in the stream
    logic [15:0] skip;         // bytes cut from its begin
    buf_t        buffer;       // the packet buffer
    logic [7:0]  offset;       // of the segment's payload in it
  } text_t;

  // What of it goes into host memory (fpc_out).
  typedef struct packed {
    logic        place;
    logic [31:0] to;
    logic [15:0] len;
    logic [15:0] skip;
    buf_t        buffer;
    logic [7:0]  offset;
  } payload_t;

  // ---- fpc_loss: loss recovery, and what it reports to fpc_cc ----

  // What happened to congestion.
  typedef struct packed {
    logic        lost;      // fast recovery begins
    logic        timeout;
    logic        whole;     // recovery without SACK ends: all that was outstanding is acknowledged
    logic [31:0] acked;     // bytes acknowledged outside of recovery while cwnd was the limit
  } cc_event_t;

  typedef struct packed {
    logic [31:0] sacked_bytes; // on the board
    logic        sacked_more;  // ... more than before this ACK
    each_t       sacked_over_2mss; // this range and those above it: more than two segments
    logic        first_gap;    // the first range does not begin at SND.UNA
    logic        in_flight;    // something is outstanding
    logic        past;         // SND.UNA has reached RecoveryPoint
    logic        limited;      // the congestion window limited the sender (RFC 7661)
    cc_event_t   happened;     // to congestion; fpc_timer has the timeout
    seq_t        lost_to;      // bytes below that are neither SACKed nor retransmitted are lost
  } loss_t;

  // ---- fpc_cc ----

  // What fpc_cc takes of a flow three cycles earlier.
  typedef struct packed {
    cc_t         cc;
    logic [15:0] mss;
    seq_t        snd_una;
    seq_t        snd_nxt;
    logic [31:0] acked;     // as ack_t
    stamp_t      stamp;
  } cc_early_t;

  // ---- fpc_plan: what could be sent ----

  // Between its steps.
  typedef struct packed {
    logic        urgent;       // a segment at SND.UNA is sent, whatever the windows say
    seq_t        limit;        // the hole ends here at the latest
    logic        missing;      // the hole is lost
    logic [31:0] hole_to_end;  // from the hole's begin to SND.END
    logic [31:0] hole_to_psh;  // ... to the end of the last SEND with PUSH
    logic [31:0] flight;       // outstanding bytes that are not SACKed
    logic [31:0] holes;        // ... of those, lost bytes that were not retransmitted,
    logic [SackMax-1:0][31:0] parts;  // ... less what of that span is SACKed
    logic [31:0] dups;         // bytes that duplicate ACKs report as received
    logic [31:0] pipe;         // RFC 6675 4
    logic [15:0] full;         // payload of a full segment, less its SACK option (RFC 6691)
    logic [31:0] left;         // bytes that were never sent
    logic        no_left;
    logic        fin_left;
    logic [31:0] room;         // bytes that fit into the peer's window
    logic        no_room;
    logic        cork;         // the host has announced more data
    logic        small_ok;     // a segment that is not full may be sent
    logic        some;         // the next new segment has bytes
    logic        idle;         // nothing is outstanding
    logic [31:0] new_to_psh;   // from SND.NXT to the end of the last SEND with PUSH
  } plan_sums_t;

  // What fpc_send chooses from: the next hole, the next new segment.
  typedef struct packed {
    seq_t        hole_start;
    logic [31:0] hole_len;
    logic [31:0] hole_from;    // its offset in the stream
    logic        hole_fin;     // with the FIN
    logic        hole_psh;
    seq_t        hole_end;     // rexmit after it
    logic        resend;       // the hole may be sent now
    logic [31:0] width;        // bytes of the next new segment
    logic        whole;        // ... it is full
    logic        all;          // ... it has all bytes that are left
    logic [31:0] new_from;     // its offset in the stream
    logic        new_fin;      // with the FIN
    logic        new_psh;
    seq_t        new_end;      // SND.NXT after it
    logic        send;         // the new segment may be sent now, or the FIN
    logic        waits_window; // data waits for the peer's window alone
    logic        waits_more;   // ... for more data from the host
  } plan_t;

  // ---- fpc_offer: what an ACK says ----

  // Between its steps.
  typedef struct packed {
    seq_t        limit;        // end of the receive buffer
    logic        moves;        // the right edge may move there
    logic        open_;
    logic [31:0] wnd_units;    // the window, in units of 2^rcv_scale bytes
    seq_t        low;          // RCV.NXT and that window
  } offer_sums_t;

  typedef struct packed {
    logic [15:0] field;        // the window in the header
    seq_t        next;         // the right edge after it
    logic [15:0] syn;          // the window in the header of a SYN
    logic [2:0]  sacks;
    ranges_t     sack;
    logic        new_period;   // challenge ACKs are counted from zero
  } offer_t;

  // ---- fpc_owed: bytes that were not reported to the host ----

  typedef struct packed {
    logic [31:0] rx;           // received
    logic [31:0] tx;           // acknowledged by the peer
    logic        some_rx;
    logic        some_tx;
  } unreported_t;

  // ---- fpc_out: what leaves the pipeline ----

  typedef struct packed {
    logic        valid;
    flow_t       flow;
    qp_t         qp;
    tcb_t        t;         // as it is now
    logic        write_ok;
    write_t      write;
    logic        tx_ok;
    tx_desc_t    tx;
    logic        conn_ok;
    conn_msg_t   conn;
    logic        back;      // the room in the HW ring of ask_qp is not needed
    qp_t         ask_qp;
    logic        done;      // a command is handled, and not answered by an ERROR
    logic        push_send; // into the list of flows that have something to send
    logic        push_tell; // into the list of flows that have something to report
    logic        timer_on;
    tick_t       timer_at;
    fpc_counts_t counts;
  } out_t;

  // ---- ranges ----

  function automatic logic touches(input range_t a, input range_t b);
    return seq_le(a.start, b.stop) && seq_le(b.start, a.stop);
  endfunction

  // Ranges of a list do not touch each other, so that at most one of those that x touches begins before it,
  // and at most one ends behind it. All are compared with x at once; formal/ranges.sv specifies these
  // functions, entry by entry.

  function automatic logic [2:0] count_of(input each_t e);
    return 3'(e[0]) + 3'(e[1]) + 3'(e[2]) + 3'(e[3]);
  endfunction

  function automatic range_t joined(input ranges_t r, input range_t x, input each_t touching);
    range_t m;
    logic first, last;
    m = '0;
    first = 1'b0;
    last = 1'b0;
    for (int i = 0; i < SackMax; i++) begin
      if (touching[i] && seq_lt(r[i].start, x.start)) begin
        m.start |= r[i].start;
        first = 1'b1;
      end
      if (touching[i] && seq_gt(r[i].stop, x.stop)) begin
        m.stop |= r[i].stop;
        last = 1'b1;
      end
    end
    if (!first) m.start = x.start;
    if (!last) m.stop = x.stop;
    return m;
  endfunction

  // Returns the chosen ranges of r, in their order.
  function automatic ranges_t packed_(input ranges_t r, input each_t chosen);
    ranges_t o;
    o = '0;
    for (int i = 0; i < SackMax; i++)
      for (int k = 0; k <= i; k++)
        if (chosen[i] && count_of(chosen & ((each_t'(1) << i) - each_t'(1))) == 3'(k)) o[k] |= r[i];
    return o;
  endfunction

  // Inserts x at the head of a list ordered by time, merged with the ranges that it touches.
  function automatic list_t put_first(input logic [2:0] n, input ranges_t r, input range_t x);
    list_t   o;
    each_t   touching, kept;
    ranges_t rest;
    for (int i = 0; i < SackMax; i++) begin
      touching[i] = 3'(i) < n && touches(r[i], x);
      kept[i] = 3'(i) < n && !touches(r[i], x);
    end
    rest = packed_(r, kept);
    o.full = kept == '1;
    o.n = o.full ? 3'(SackMax) : count_of(kept) + 3'd1;
    o.r = {rest[SackMax-2:0], joined(r, x, touching)};
    return o;
  endfunction

  // Inserts x into an ascending list. The highest range is dropped when there are too many.
  function automatic list_t put_sorted(input logic [2:0] n, input ranges_t r, input range_t x);
    list_t      o;
    each_t      touching, below;
    range_t     m;
    logic [2:0] gone;
    for (int i = 0; i < SackMax; i++) begin
      touching[i] = 3'(i) < n && touches(r[i], x);
      below[i] = 3'(i) < n && seq_gt(x.start, r[i].stop);
    end
    m = joined(r, x, touching);
    gone = count_of(touching);
    o.full = n == 3'(SackMax) && gone == 3'd0;
    o.n = o.full ? 3'(SackMax) : n + 3'd1 - gone;
    o.r = '0;
    for (int k = 0; k < SackMax; k++) begin
      if (below[k]) o.r[k] = r[k];
      else if (k == 0 || below[k-1]) o.r[k] = m;
      else if (3'(k) < o.n) begin  // behind x: shifts left by the number of ranges merged with x
        for (int j = k - 1; j < SackMax; j++) begin
          if (gone == 3'(j - (k - 1))) o.r[k] |= r[j];
        end
      end
    end
    return o;
  endfunction

  // Removes all bytes below edge_ from a list; keeps the order.
  function automatic list_t cut_below(input logic [2:0] n, input ranges_t r, input seq_t edge_);
    list_t   o;
    each_t   kept;
    ranges_t cut;
    cut = r;
    for (int i = 0; i < SackMax; i++) begin
      kept[i] = 3'(i) < n && seq_gt(r[i].stop, edge_);
      if (seq_lt(r[i].start, edge_)) cut[i].start = edge_;
    end
    o.n = count_of(kept);
    o.r = packed_(cut, kept);
    o.full = 1'b0;
    return o;
  endfunction

  function automatic logic [31:0] bytes_of(input logic [2:0] n, input ranges_t r);
    logic [31:0] sum;
    sum = 32'd0;
    for (int i = 0; i < SackMax; i++) if (3'(i) < n) sum += r[i].stop - r[i].start;
    return sum;
  endfunction

  // ---- sums of the TCB ----

  function automatic logic [31:0] send_size(input tcb_t t);
    return 32'd1 << t.tx_log;
  endfunction
  // SACK blocks in the next segment (RFC 2018 3, RFC 2883): three at most beside timestamps.
  function automatic logic [2:0] sack_blocks(input tcb_t t);
    logic [2:0] most, all;
    most = t.ts ? 3'd3 : 3'd4;
    all = t.gaps + 3'(t.dsack_ok);
    return (all > most) ? most : all;
  endfunction

  function automatic logic [31:0] receive_size(input tcb_t t);
    return 32'd1 << t.rx_log;
  endfunction

  function automatic logic synchronized(input tcb_t t);
    return t.state >= StEstablished;
  endfunction

  // The retransmission timeout (RFC 6298 2), with backoff. The minimum bounds the variance rather than
  // the sum, so that the peer's delayed ACK never looks like a loss. One tick more: the current one is
  // partial.
  function automatic tick_t rto_base(input tcb_t t, input logic sampled);
    logic [31:0] var_, ticks_;
    var_ = t.rttvar >> 10;
    ticks_ = (t.srtt >> 13) + ((var_ + 32'd1 < RtoMin) ? RtoMin + 32'd4 : var_ + 32'd5);
    ticks_ = ticks_ & ~32'd3;
    // Without a sample after the handshake the SYN was sent again (RFC 6298 5.7).
    if (t.srtt == 32'd0 && !sampled) ticks_ = (synchronized(t) ? RtoSyn : RtoInit) & ~32'd3;
    return (ticks_ > RtoMax) ? RtoMax : ticks_;
  endfunction

  function automatic tick_t rto_backed(input tick_t base, input logic [3:0] backoff);
    logic [47:0] wide;
    wide = 48'(base) << backoff;
    return ((wide > 48'(RtoMax)) ? RtoMax : tick_t'(wide)) + 32'd1;
  endfunction

  function automatic tick_t rto(input tcb_t t);
    return rto_backed(rto_base(t, 1'b0), t.backoff);
  endfunction

  // Whether bytes from seq to RCV.NXT were received before: seq is not below IRS.
  function automatic logic had_before(input tcb_t t, input seq_t seq);
    return seq_lt(seq, t.rcv_nxt) &&
           (t.rx_wraps != 32'd0 || t.rcv_nxt - seq <= t.rcv_nxt - t.irs - 32'd1);
  endfunction

  // Ticks since text arrived that found no ACK pending. As in core/, 16 bits: a pause of 68 s counts from
  // 0 again.
  function automatic logic [15:0] idle_ticks(input tcb_t t, input tick_t tick);
    return 16'(tick + Delack - t.delack_at);
  endfunction

  // Whether new data and a FIN may be sent in this state.
  function automatic logic can_send(input tcb_t t);
    return t.state inside {StEstablished, StCloseWait, StFinWait1, StClosing, StLastAck};
  endfunction

endpackage
