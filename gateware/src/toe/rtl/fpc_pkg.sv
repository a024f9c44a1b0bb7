// SPDX-License-Identifier: Apache-2.0
// fpc_pkg.sv - what goes down the pipeline of a flow processing core, and what its stages share.
`resetall
`default_nettype none

package fpc_pkg;

  import toe_pkg::*;

  // Times and bounds, as core/ has them (core/src/tcp/tcp.h).
  localparam logic [31:0] CwndMax = 32'h3fff_ffff;
  localparam int unsigned InitialSegments = 10;      // RFC 6928
  localparam int unsigned DupThresh = 3;
  localparam int unsigned QuickAcks = 8;
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

  // What a pass is counted as (toe_regs: COUNTERS).
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
    logic gap_dropped;      // a range beyond a gap that there was no place for
    logic stale_command;    // crossed the end of its flow
    logic bad_command;
    logic established;
    logic given_up;         // timed out
    logic evicted;          // a TCB went to DRAM
    logic fetched;          // ... and came back
  } fpc_counts_t;

  localparam int unsigned FpcCounts = $bits(fpc_counts_t);

  // What happened to congestion (toe_cc's input).
  typedef struct packed {
    logic        lost;      // fast recovery begins
    logic        timeout;
    logic        whole;     // recovery without SACK ends: all that was outstanding is acknowledged
    logic [31:0] acked;     // bytes newly acknowledged outside of recovery, cwnd being the limit
  } cc_event_t;

  typedef logic [SackMax-1:0] each_t;

  // What fpc_look has found.
  typedef struct packed {
    logic        at_irs;       // SEG.SEQ is IRS,
    logic        at_nxt;       // ... RCV.NXT
    logic [31:0] behind;       // so many bytes before RCV.NXT
    logic        open_;        // the window is open
    logic        from_nxt;     // SEG.SEQ lies not below RCV.NXT,
    logic        to_adv;       // ... not above the right edge,
    logic        inside_;      // ... in the window
    logic        reaches;      // it begins below RCV.NXT and goes on above
    logic        acked;        // it begins at or below Last.ACK.sent
    logic        had;          // had_before()
    logic        stale;        // by its timestamp (PAWS)
    logic        ack_past_iss; // SEG.ACK lies above ISS,
    logic        ack_past_una; // ... above SND.UNA,
    logic        ack_sent;     // ... not above SND.NXT,
    logic        ack_old;      // ... below all that a peer may still say (RFC 5961 5.2)
    seq_t        old_stop;     // end of what was received before
    seq_t        adv;          // of a SYN: the right edge of our window behind it
    logic [15:0] mss;          // ... payload of a full segment
  } segment_seen_t;

  typedef struct packed {
    logic [31:0] room;         // SEND: bytes that the buffer has room for
    logic        send_fits;
    logic [31:0] unread;       // CLOSE: bytes that the host has not read
    logic        none_unread;
    logic [31:0] told;         // RECV: bytes that it knows of
    logic        read_fits;
    seq_t        read;         // ... up to where it has read then
    seq_t        most;         // ... as far as the window field can say
    logic [31:0] size;         // ... of the window at most
    seq_t        edge_;        // the right edge that could be offered
    seq_t        wanted;       // ... and from where on it is
  } command_seen_t;

  typedef struct packed {
    logic        rtx, delack, cork, keep;   // due
    tick_t       idle;         // since the last segment
    tick_t       stalled;      // since the first timeout
  } timer_seen_t;

  typedef struct packed {
    segment_seen_t segment;
    command_seen_t command;
    timer_seen_t   timer;
    logic [15:0]   lapse;      // seconds, in
    tick_t         lapse_ticks;
    tick_t         intvl_ticks;
    tick_t         patience;   // USER_TIMEOUT in ticks
  } seen_t;

  typedef struct packed {
    logic [2:0] n;
    ranges_t    r;
    logic       full;          // there was no place for one
  } list_t;

  // What fpc_plan has found on its way.
  typedef struct packed {
    logic        urgent;       // what stands at SND.UNA goes, whatever the windows say
    seq_t        limit;        // the hole ends here at the latest,
    logic [31:0] hole_len;     // ... and is so long
    logic        missing;      // ... and lost
    logic [31:0] hole_to_end;  // from its begin to SND.END,
    logic [31:0] hole_to_psh;  // ... to the end of the last SEND with PUSH
    logic        hole_fin;     // the FIN comes right behind it
    logic        hole_psh;
    seq_t        hole_end;     // rexmit after it
    logic [31:0] hole_from;    // its offset in the buffer
    logic [31:0] flight;       // under way: bytes sent, less what was SACKed
    logic [31:0] holes;        // ... less those below lost_to that were not sent again,
    logic [SackMax-1:0][31:0] parts;  // ... but for those SACKed
    logic [31:0] dups;         // ... less those that duplicates tell of
    logic [31:0] pipe;
    logic [31:0] left;         // bytes that were never sent
    logic        no_left;
    logic        fin_left;
    logic [31:0] room;         // bytes that the peer's window has room for
    logic        no_room;
    logic        cork;         // the writer says that more will come
    logic        small_ok;     // a segment that is not full may go
    logic [31:0] width;        // of the next new segment
    logic        some;         // ... it has bytes,
    logic        whole;        // ... as many as it may,
    logic        all;          // ... all that there are
    logic        idle;         // nothing is under way
    logic [31:0] new_to_psh;
    logic        new_fin;      // the FIN goes with it
    logic        new_psh;
    seq_t        new_end;      // SND.NXT after it
    logic [31:0] new_from;
  } plan_t;

  // ... and fpc_offer.
  typedef struct packed {
    seq_t        limit;        // as far as the buffer goes
    logic        moves;        // ... and the right edge may
    logic        open_;
    logic [31:0] lots;         // of 2^rcv_scale bytes
    seq_t        low;          // RCV.NXT and those
    logic [15:0] field;        // as it stands in the header
    seq_t        next;         // the right edge after it
    logic [15:0] syn;          // in the header of a SYN
    logic [2:0]  sacks;
    ranges_t     sack;
    logic        anew;         // challenge ACKs are counted anew
  } offer_t;

  typedef struct packed {
    logic        valid;
    kind_e       kind;
    flow_t       flow;
    qp_t         qp;
    tick_t       tick;
    stamp_t      stamp;
    tcb_t        t;
    seen_t       see;

    // EvSegment: what is left of it; EvCommand
    seg_t        seg;
    command_t    command;
    open_t       open;
    logic        placed;       // EvTell: there is a place for a command

    // where the segment goes on
    logic        go_ack;
    logic        go_text;
    logic        unscaled;     // its window is that of a SYN
    logic [31:0] acked;        // bytes by which SND.UNA moves
    logic        dup;          // a duplicate ACK (RFC 5681 2)
    logic        timed;        // it acknowledges our SYN, whose round trip counts
    logic        ten;          // the congestion window begins: ten segments
    logic        one;          // ... one, as the SYN was lost
    each_t       sack_ok;      // which SACK ranges of it count
    logic [31:0] sacked_old;   // bytes on the board before
    logic [31:0] sacked_new;
    logic        sacked_more;
    each_t       much;         // of the board, with what lies above: more than two segments
    logic        apart;        // its first range does not begin at SND.UNA
    seq_t        lost_to;      // what lies below, is on no board and was not sent again, is lost
    logic        flight;       // something is under way
    logic        past;         // recovery is over
    logic        limited;      // the congestion window was what limited the sender
    cc_event_t   cc;

    // time
    logic        sample;       // a round trip was measured:
    stamp_t      rtt;
    logic        sample_min;   // ... that of a segment
    logic        rtx_renew;    // the retransmission timer begins anew
    logic        rtx_next;     // ... or runs for the next try,
    logic        stall;        // ... the first,
    logic [3:0]  backoff_was;
    tick_t       rto_base;     // before backoff
    tick_t       rto;
    tick_t       rto_was;      // with the backoff that was
    tick_t       rto_at;       // RTO from now on

    logic        challenge;    // an ACK that is rationed
    logic        dup_ack;      // what came lies beyond a gap: an ACK alone says so (RFC 5681 4.2)

    // text
    logic        texts;        // there is some, or a FIN
    logic        takes;        // ... and the state takes it
    logic        in_order;
    seq_t        text_stop;
    list_t       list;         // what lies beyond a gap, with it

    // what fpc_plan has found
    plan_t       plan;
    offer_t      offer;
    logic [31:0] new_rx;       // bytes that the host is not told of yet
    logic [31:0] new_tx;
    logic        some_rx;
    logic        some_tx;
    logic [15:0] full;         // payload of a full segment, less the SACK option in it (RFC 6691)
    seq_t        hole_start;   // to be sent again next
    logic        resend;       // ... and may be now
    logic        send;         // the next new segment may go now, or the FIN
    logic        waits_window; // data waits for the peer's window alone
    logic        waits_more;   // ... for the writer

    // what the pass leads to
    logic        end_now;      // the connection is over; t.reason says why
    logic        time_wait;    // ... and goes to TIME-WAIT
    logic        rst;          // a RST goes out, at
    seq_t        rst_seq;
    logic        rst_ack;      // ... with ACK of RCV.NXT
    logic        syn;          // the SYN goes (again)
    logic        place;        // payload
    logic [31:0] place_at;     // offset in the stream
    logic [15:0] skip;         // bytes of the payload that were there before
    logic        error;        // the command is refused
    logic [7:0]  error_reason;
    logic        free;         // RELEASE
    logic        accept;       // it leaves the backlog
    logic        tx;           // a segment goes out
    tx_desc_t    desc;
    fpc_counts_t counts;
  } ctx_t;

  // What leaves the pipeline.
  typedef struct packed {
    logic        valid;
    kind_e       kind;
    flow_t       flow;
    qp_t         qp;
    tcb_t        t;         // as it is now
    logic        write_ok;
    write_t      write;
    logic        tx_ok;
    tx_desc_t    tx;
    logic        conn_ok;
    conn_msg_t   conn;
    logic        back;      // the place in the HW ring of ask_qp is not needed
    qp_t         ask_qp;
    logic        done;      // a command is handled, and no ERROR tells so
    logic        push_send; // into the list of those that have something to send
    logic        push_tell;
    logic        timer_on;
    tick_t       timer_at;
    fpc_counts_t counts;
  } out_t;

  // ---- ranges ----

  function automatic logic touches(input range_t a, input range_t b);
    return seq_le(a.start, b.stop) && seq_le(b.start, a.stop);
  endfunction

  // Lists hold ranges that do not touch each other, so that of those that x touches one at most begins
  // before it and one at most ends behind it. All are compared with x at once; formal/ranges.sv has what
  // these functions are, an entry after the other.

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

  // Those of r that are chosen, in their order.
  function automatic ranges_t packed_(input ranges_t r, input each_t chosen);
    ranges_t o;
    o = '0;
    for (int i = 0; i < SackMax; i++)
      for (int k = 0; k <= i; k++)
        if (chosen[i] && count_of(chosen & ((each_t'(1) << i) - each_t'(1))) == 3'(k)) o[k] |= r[i];
    return o;
  endfunction

  // Range x into a list that is kept by time: what it touches becomes one with it and stands first.
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

  // Range x into a list that ascends. When there are too many the highest goes.
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
      else if (3'(k) < o.n) begin  // behind x: to the left by as many as are one with it
        for (int j = k - 1; j < SackMax; j++) begin
          if (gone == 3'(j - (k - 1))) o.r[k] |= r[j];
        end
      end
    end
    return o;
  endfunction

  // What is left of a list when all below edge is taken away; the order stays.
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
  // the sum, so that the peer's delayed ACK never looks like a loss. One tick more: this one has begun.
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

  // What lies below RCV.NXT from seq on has been received before, unless it lies below IRS too.
  function automatic logic had_before(input tcb_t t, input seq_t seq);
    return seq_lt(seq, t.rcv_nxt) &&
           (t.rx_wraps != 32'd0 || t.rcv_nxt - seq <= t.rcv_nxt - t.irs - 32'd1);
  endfunction

  // May new data and FIN still be sent?
  function automatic logic can_send(input tcb_t t);
    return t.state inside {StEstablished, StCloseWait, StFinWait1, StClosing, StLastAck};
  endfunction

endpackage
