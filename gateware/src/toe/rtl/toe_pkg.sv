// SPDX-License-Identifier: Apache-2.0
// toe_pkg.sv - the types that pass between the modules of the TOE, and the TCB (RFC 9293 3.3.1).
//
// Sequence numbers are absolute, as on the wire. Offsets in buffers are (seq - iss - 1) and
// (seq - irs - 1), modulo the buffer's size, which is a power of two. Addresses and ports are
// numbers; an IPv4 address is in the low 32 bits.
`resetall
`default_nettype none

package toe_pkg;

  typedef logic [31:0] seq_t;
  typedef logic [31:0] tick_t;   // 2^20 ns: timers, timestamps
  typedef logic [31:0] stamp_t;  // 2^10 ns: round-trip times
  typedef logic [15:0] flow_t;   // first flow of the queue pair + slot
  typedef logic [5:0]  qp_t;
  typedef logic [9:0]  buf_t;    // packet buffer, 2 KiB
  typedef logic [127:0] addr_t;
  typedef logic [127:0] cmd_t;   // docs/device-contract.md; fields: toe_cmd_pkg

  typedef struct packed {
    logic [63:0] ns;
  } now_t;

  function automatic tick_t ticks(input now_t now);
    return now.ns[51:20];
  endfunction

  function automatic stamp_t stamps(input now_t now);
    return now.ns[41:10];
  endfunction

  // Milliseconds to ticks, rounded down: 10^6 / 2^20 = 15625 / 2^14.
  function automatic tick_t ms(input int unsigned value);
    return tick_t'((64'(value) * 64'd15625) >> 14);
  endfunction

  // Seconds to ticks, rounded down: 10^9 / 2^20 = 62500000 / 2^16.
  function automatic tick_t seconds(input logic [15:0] value);
    return tick_t'((48'(value) * 48'd62500000) >> 16);
  endfunction

  // ---- sequence numbers (RFC 9293 3.4): less than 2^31 apart ----

  function automatic logic seq_lt(input seq_t a, input seq_t b);
    seq_t d;
    d = a - b;
    return d[31];
  endfunction
  function automatic logic seq_le(input seq_t a, input seq_t b);
    return !seq_lt(b, a);
  endfunction
  function automatic logic seq_gt(input seq_t a, input seq_t b);
    return seq_lt(b, a);
  endfunction
  function automatic logic seq_ge(input seq_t a, input seq_t b);
    return !seq_lt(a, b);
  endfunction
  function automatic seq_t seq_max(input seq_t a, input seq_t b);
    return seq_lt(a, b) ? b : a;
  endfunction
  function automatic seq_t seq_min(input seq_t a, input seq_t b);
    return seq_lt(a, b) ? a : b;
  endfunction

  // [start, end)
  typedef struct packed {
    seq_t start;
    seq_t stop;
  } range_t;

  localparam int unsigned SackMax = 4;
  typedef range_t [SackMax-1:0] ranges_t;  // the used ones come first, from index 0

  // ---- a segment, as toe_rx parsed it ----

  typedef struct packed {
    logic cwr, ece, urg, ack, psh, rst, syn, fin;
  } flags_t;

  typedef struct packed {
    logic        v6;
    addr_t       remote;
    addr_t       own;
    logic [15:0] remote_port;
    logic [15:0] local_port;
  } tuple_t;

  // The entry of a tuple in the flow table: a flow, or a connection in TIME-WAIT.
  typedef struct packed {
    logic  tw;
    flow_t index;
  } place_t;

  // The addresses of a flow's packets.
  typedef struct packed {
    tuple_t      tuple;
    logic [47:0] mac;   // of the next hop, first octet in bits 47:40
  } path_t;

  typedef struct packed {
    logic        mss_ok;
    logic [15:0] mss;
    logic        ws_ok;
    logic [3:0]  ws;       // 14 at most (RFC 7323 2.3)
    logic        sack_ok;  // SACK permitted
    logic        ts_ok;
    logic [31:0] tsval;
    logic [31:0] tsecr;
    logic [2:0]  sacks;    // ranges in sack
    ranges_t     sack;
  } options_t;

  typedef struct packed {
    seq_t        seq;
    seq_t        ack;
    logic [15:0] wnd;
    logic [15:0] urgent;
    flags_t      flags;
    logic [1:0]  ecn;      // of the IP header
    logic [15:0] len;      // payload, without SYN and FIN
    buf_t        buffer;   // holds the packet, also if len is 0
    logic [7:0]  offset;   // of the payload in it
    options_t    opt;
  } seg_t;

  // The kinds of packets that toe_rx distinguishes.
  typedef enum logic [1:0] {
    PkDrop  = 2'd0,  // the counters have the reason
    PkTcp   = 2'd1,
    PkArp   = 2'd2,
    PkEcho  = 2'd3   // an ICMP or ICMPv6 echo request for us, or a neighbour solicitation
  } packet_e;

  typedef struct packed {
    packet_e     kind;
    tuple_t      tuple;
    logic [47:0] mac;      // of the sender
    logic [11:0] bytes;    // of the whole frame, without padding
    logic        vlan;
    seg_t        seg;
  } packet_t;

  // Reasons for toe_rx to drop a packet, each a counter.
  typedef struct packed {
    logic no_buffer;
    logic too_long;
    logic not_ours;        // another MAC address, protocol, or destination
    logic bad_header;      // lengths, versions, fragments, options of IPv4
    logic bad_ip_sum;
    logic bad_tcp_sum;
  } rx_counts_t;

  typedef struct packed {
    logic no_flow;         // a RST that no flow matches
    logic rst_sent;
    logic listen_full;     // a SYN dropped: backlog or slots full, or only WEAK listeners
    logic table_full;
    logic tw_recycled;
    logic tw_limited;      // a segment in TIME-WAIT not answered: rate limit
  } conn_counts_t;

  typedef struct packed {
    logic qp_halted;       // a queue pair halted: its host broke a ring
    logic msix;            // MSI-X messages requested
    logic host_read_error; // beats with a bus error
    logic host_write_error; // bursts with a bus error
    logic tcb_read_error;  // beats with an error of the memory of TCBs
    logic tcb_write_error;
    logic packet_out;
    logic packet_in;
  } box_counts_t;

  // The TOE's own addresses and secrets, from toe_csr.
  typedef struct packed {
    logic [47:0] mac;
    logic [31:0] ip4;
    logic [5:0]  ip4_prefix;
    logic [31:0] ip4_gateway;
    logic        ip6_on;
    addr_t       ip6;
    addr_t       ip6_link;   // link-local
    logic [7:0]  ip6_prefix;
    addr_t       ip6_gateway;
    logic [15:0] mtu;
    logic [3:0]  cc;         // congestion control of new flows, coded as in OPTION CC
    logic [127:0] secret;    // of ISNs (RFC 6528)
    logic [383:0] hash_key;  // of the flow table
  } own_t;

  // ---- events: they change a flow ----

  typedef enum logic [3:0] {
    EvSegment = 4'd0,
    EvCommand = 4'd1,  // from the SW ring
    EvTimer   = 4'd2,
    EvSend    = 4'd3,  // its turn to send a segment
    EvTell    = 4'd4,  // its turn to report: write a HW command
    EvOpen    = 4'd5,  // toe_conn has created it: the TCB begins
    EvPurge   = 4'd6,  // its queue pair is detached: reset it, report nothing
    EvReset   = 4'd7,  // its listener is removed: reset it, and report
    EvWindow  = 4'd8   // fpc_cubic has computed its window
  } kind_e;

  // Options of a CONNECT that waits for its neighbour and has no flow yet: those that its SYN needs.
  // The host sends the others again after the answer.
  typedef struct packed {
    logic [6:0]  syncnt;
    logic [31:0] user_timeout;
    logic [7:0]  tos;
  } ahead_t;

  // A new flow. active: our SYN opens it; else the peer's, whose fields are here.
  typedef struct packed {
    logic        active;
    logic        v6;
    qp_t         qp;
    logic [31:0] id;        // listener id, or the cookie of CONNECT
    seq_t        iss;
    seq_t        irs;
    logic [15:0] wnd;       // of the SYN
    logic        mss_ok;
    logic [15:0] mss;       // the peer's
    logic [15:0] own_mss;   // the link's
    logic        ws_ok;
    logic [3:0]  ws;
    logic        sack_ok;
    logic        ts_ok;
    logic [31:0] tsval;
    logic [31:0] ts_offset; // RFC 7323 5.4
    logic [4:0]  tx_log;
    logic [4:0]  rx_log;
    logic [3:0]  cc;        // coded as in OPTION CC
    ahead_t      ahead;
  } open_t;

  typedef struct packed {
    cmd_t        cmd;
    logic [31:0] position;  // in the SW ring, for ERROR
  } command_t;

  // The address table entry of a command with V6.
  typedef struct packed {
    addr_t remote;
    addr_t own;
  } entry_t;

  localparam int unsigned BodyBits = $bits(seg_t);
  typedef logic [BodyBits-1:0] body_t;  // seg_t, command_t or open_t in the low bits

  typedef struct packed {
    kind_e kind;
    flow_t flow;
    qp_t   qp;     // EvCommand: its queue pair; EvTell: the queue pair whose HW ring has room
    body_t body;
  } event_t;

  function automatic seg_t as_segment(input body_t body);
    return seg_t'(body);
  endfunction
  function automatic command_t as_command(input body_t body);
    return command_t'(body[$bits(command_t)-1:0]);
  endfunction
  function automatic open_t as_open(input body_t body);
    return open_t'(body[$bits(open_t)-1:0]);
  endfunction

  // ---- the TCB ----

  // Numbers of the flow record (device.h): RFC 9293's states in enum toec_state's order.
  typedef enum logic [3:0] {
    StClosed      = 4'd0,
    StSynSent     = 4'd1,
    StSynReceived = 4'd2,
    StEstablished = 4'd3,
    StFinWait1    = 4'd4,
    StFinWait2    = 4'd5,
    StCloseWait   = 4'd6,
    StClosing     = 4'd7,
    StLastAck     = 4'd8,
    StTimeWait    = 4'd9
  } state_e;

  typedef enum logic [1:0] {
    RecOpen = 2'd0,  // nothing lost
    RecFast = 2'd1,  // fast recovery (RFC 6675, RFC 6582)
    RecLoss = 2'd2   // after a timeout, until recover
  } recovery_e;

  // State of congestion control; fpc_cc defines its meaning.
  typedef struct packed {
    logic [31:0] cwnd;      // bytes
    logic [31:0] ssthresh;
    logic [31:0] acked;     // bytes: towards the next step (NewReno), not yet asked for (CUBIC)
    logic        asked;     // CUBIC: fpc_cubic works for the flow
    logic [31:0] seen_at;   // ... stamp of the last ACK
    logic        epoch_set; // ... the rest as in fpc_cubic_pkg
    logic        after_rto;
    logic [31:0] w_max;
    logic [31:0] cwnd_prior;
    stamp_t      epoch;
    logic [31:0] k;
    logic [31:0] w_est;
    logic [31:0] credit;
    logic [31:0] est_credit;
    logic [3:0]  algorithm; // coded as in OPTION CC
  } cc_t;

  typedef struct packed {
    // of the connection
    state_e      state;
    logic        active;
    logic        v6;
    qp_t         qp;
    logic [31:0] id;         // listener id or cookie, until reported
    logic [4:0]  tx_log;     // buffers are 2^log bytes
    logic [4:0]  rx_log;
    logic        ts;         // negotiated
    logic        sack;
    logic        ws;
    logic [3:0]  snd_scale;
    logic [3:0]  rcv_scale;
    logic [15:0] mss;        // payload of a full segment, timestamps subtracted
    logic [15:0] own_mss;    // announced
    logic [7:0]  tos;

    // send sequence variables
    seq_t        iss;
    seq_t        snd_una;
    seq_t        snd_nxt;    // next new byte: SND.NXT of the RFC
    seq_t        snd_end;    // end of what the host has announced; the FIN comes there
    logic        fin;        // ... is wanted
    seq_t        snd_psh;    // end of the last SEND with PUSH
    logic [31:0] snd_wnd;
    seq_t        snd_wl1;
    logic [31:0] max_wnd;    // largest ever offered
    seq_t        snd_sml;    // end of the last small segment (Nagle)
    logic        flush;      // send the waiting data, however few: the cork timer has expired
    logic        small_one;  // send one segment, however small (RFC 9293 3.8.6.2.1)
    logic        cork_on;    // cork_at runs
    tick_t       cork_at;

    // receive sequence variables
    seq_t        irs;
    seq_t        rcv_nxt;
    seq_t        rcv_adv;    // right edge of the window offered
    seq_t        rcv_read;   // first byte that the host has not read
    seq_t        rcv_acked;  // Last.ACK.sent
    logic        fin_in;     // the peer's FIN is processed
    logic        fin_ahead;  // ... has arrived beyond a gap, at rcv_fin
    seq_t        rcv_fin;
    logic [2:0]  gaps;       // ranges in ooo
    ranges_t     ooo;        // received beyond a gap, the latest first (RFC 2018 4)
    logic        dsack_ok;   // dsack is pending (RFC 2883)
    range_t      dsack;
    logic [31:0] ts_recent;
    tick_t       heard;      // last segment from the peer
    logic [31:0] ts_offset;

    // pending acknowledgements
    logic        ack_now;
    logic        ack_later;  // by delack_at
    logic        pushed;     // ... of a segment with PSH: reading it all sends the ACK
    logic [4:0]  quick;      // segments to acknowledge at once, unless data answers data
    logic        pingpong;   // data answers data: an answer may carry the ACK
    tick_t       delack_at;  // Delack after the last text that found no ACK pending

    // loss recovery
    recovery_e   recovery;
    logic [7:0]  dupacks;
    seq_t        recover;    // RecoveryPoint
    seq_t        rexmit;     // the next retransmission starts at or above this
    logic        rexmit_one; // retransmit at snd_una, whatever the windows say
    logic [2:0]  sacked;     // ranges in board
    ranges_t     board;      // SACKed by the peer, ascending

    // round-trip time and retransmission timer
    logic        timing;     // rtt_seq is being timed
    seq_t        rtt_seq;
    stamp_t      rtt_start;
    logic [31:0] srtt;       // stamps, times 8
    logic [31:0] rttvar;     // stamps, times 4
    stamp_t      min_rtt;
    logic        rtx_on;     // rtx_at runs
    logic        persist;    // ... for the zero-window probe
    tick_t       rtx_at;
    logic [3:0]  backoff;
    logic [7:0]  timeouts;   // without progress
    tick_t       stalled_at; // when the first of them happened

    // congestion
    cc_t         cc;

    // options of the host
    logic        nodelay;
    logic        cork;
    logic        keepalive;
    logic [14:0] keep_idle;  // seconds
    logic [14:0] keep_intvl;
    logic [6:0]  keep_cnt;
    logic [6:0]  keep_probes; // unanswered
    logic [31:0] user_timeout; // ms, 0: none
    logic [6:0]  syncnt;     // 0: default
    logic [15:0] linger2;    // seconds
    logic        keep_on;    // keep_at runs: keep-alive, FIN-WAIT-2
    tick_t       keep_at;
    logic        gone;       // full close: the host reads no more
    logic        probe;      // a keep-alive or window probe is pending

    // reports to the host
    logic        known;      // *_ESTABLISHED was reported
    logic        tell_open;  // ... is pending
    logic        tell_half;  // CLOSE_EVENT HALF is pending
    logic        tell_end;   // final CLOSE_EVENT, or CONNECT_FAILED, is pending
    logic        ended;      // ... was reported
    logic [7:0]  reason;     // of the end
    seq_t        told_rx;    // what DATA_RECEIVED has announced
    seq_t        told_tx;    // what SEND_COMPLETE has announced
    logic        accepted;
    logic        counted;    // it has left its listener's backlog

    // challenge ACKs (RFC 5961 7), per flow
    logic [2:0]  challenges;
    tick_t       challenge_at;

    // for the record
    logic [15:0] generation;
    logic [31:0] retransmits;
    logic [31:0] tx_wraps;   // 4 GiB laps
    logic [31:0] rx_wraps;
    tick_t       record_at;  // when the record was written last
    // is in a list of its FPC
    logic        in_send;
    logic        in_tell;
  } tcb_t;

  localparam int unsigned TcbBits = $bits(tcb_t);

  // ---- results of an event ----

  // A segment to send. The path of a flow's segment is looked up; toe_conn passes the path with its
  // segments.
  typedef struct packed {
    flow_t       flow;
    qp_t         qp;
    seq_t        seq;
    seq_t        ack;
    flags_t      flags;
    logic [15:0] wnd;       // the field of the header
    logic [7:0]  tos;
    logic [15:0] len;       // payload, from
    logic [31:0] from;      // ... this offset of the send buffer (not yet modulo its size)
    logic        mss_ok;    // options
    logic [15:0] mss;
    logic        ws_ok;
    logic [3:0]  ws;
    logic        sack_ok;
    logic        ts_ok;
    logic [31:0] tsval;
    logic [31:0] tsecr;
    logic [2:0]  sacks;
    ranges_t     sack;
  } tx_desc_t;

  // Into host memory, in order.
  typedef enum logic {
    WrPlace   = 1'b0,  // payload of a packet buffer into a receive buffer; len 0: nothing
    WrCommand = 1'b1   // a HW command
  } write_e;

  typedef struct packed {
    write_e      kind;
    flow_t       flow;
    qp_t         qp;
    // WrPlace
    buf_t        buffer;    // free afterwards
    logic [10:0] offset;    // of the first byte in it
    logic [15:0] len;
    logic [31:0] to;        // offset in the receive buffer (not yet modulo its size)
    // WrCommand
    cmd_t        cmd;       // without phase; peer and ports of *_ESTABLISHED are filled in later
    logic        record;    // the flow's record first
    logic        done;      // ... answers a command, which is handled when this is written
    tcb_t        tcb;       // for the record
  } write_t;

  // To toe_conn: what became of a flow.
  typedef enum logic [1:0] {
    CnAccepted = 2'd0,  // the flow leaves its listener's backlog
    CnTimeWait = 2'd1,  // in TIME-WAIT: the sequence numbers are in this message
    CnGone     = 2'd2,  // over: the tuple is free
    CnFree     = 2'd3   // the slot is free (RELEASE)
  } conn_e;

  typedef struct packed {
    conn_e       kind;
    flow_t       flow;
    qp_t         qp;
    logic [31:0] id;        // listener of a passive flow
    logic        backlog;   // it was counted in the listener's backlog
    logic        free;      // CnTimeWait, CnGone: the slot is free too, the host never saw the flow
    logic        purged;    // it answers EvPurge
    seq_t        snd_nxt;   // CnTimeWait
    seq_t        rcv_nxt;
    logic        ts;
    logic [31:0] ts_recent;
    logic [31:0] ts_offset;
  } conn_msg_t;

  // toe_conn to toe_table.
  typedef enum logic [1:0] {
    TbFind   = 2'd0,
    TbInsert = 2'd1,  // path at place; a new entry
    TbMove   = 2'd2,  // the tuple moves to another place, and path with it
    TbDelete = 2'd3   // path, if it is at place
  } table_op_e;

  typedef struct packed {
    table_op_e op;
    path_t     path;
    place_t    place;
  } table_request_t;

  typedef struct packed {
    logic   ok;       // found; inserted
    place_t place;    // where it is
  } table_answer_t;

  // The configuration of a queue pair, from toe_csr.
  typedef struct packed {
    logic        enable;
    logic [63:0] area;       // DMA address of the area (device.h)
    logic [4:0]  sw_log;     // entries
    logic [4:0]  hw_log;
    logic [4:0]  slots_log;
    logic [4:0]  tx_log;     // bytes
    logic [4:0]  rx_log;
    logic [12:0] addresses;
    flow_t       first;      // flow of slot 0; a multiple of the slots
    logic [31:0] status_at;  // offsets in the area, pages of 4 KiB
    logic [31:0] sw_at;
    logic [31:0] hw_at;
    logic [31:0] records_at;
    logic [31:0] addresses_at;
    logic [31:0] buffers_at;
  } qp_config_t;

endpackage
