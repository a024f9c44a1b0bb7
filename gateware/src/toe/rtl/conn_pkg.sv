// SPDX-License-Identifier: Apache-2.0
// conn_pkg.sv - types that the parts of toe_conn share: its steps, the entries of its tables.
`resetall
`default_nettype none

package conn_pkg;

  import toe_pkg::*;

  localparam tick_t TimeWait = 32'd57220;      // 60 s
  localparam tick_t SaidAgain = ms(500);      // in TIME-WAIT, between two answers
  localparam tick_t Patience = 32'd2861;       // 3 s for a neighbour
  localparam tick_t Again = 32'd95;            // 100 ms between requests

  typedef struct packed {
    logic        valid;
    qp_t         qp;
    logic [31:0] id;
    logic [15:0] port;
    logic        any4;     // all of our IPv4 addresses, or
    logic        any6;
    addr_t       addr;     // ... of this one
    logic        v6;
    logic        yields; // WEAK
    logic [31:0] backlog;
    logic [31:0] held;     // flows not accepted yet
  } listener_t;

  typedef logic [4:0] lidx_t;

  // Operations on the list of listeners.
  typedef enum logic [1:0] {
    LsNothing = 2'd0,
    LsHear    = 2'd1,  // the listener that takes this SYN
    LsAdd     = 2'd2,
    LsRemove  = 2'd3
  } listen_e;

  // What toe_conn stores of a flow.
  typedef struct packed {
    logic        used;
    logic        pending;  // a CONNECT without an answer, of
    logic [31:0] cookie;
    logic        half;     // not accepted yet, of
    lidx_t       listener;
  } info_t;

  // A CONNECT that waits for its neighbour.
  typedef struct packed {
    logic        valid;
    qp_t         qp;
    command_t    command;
    entry_t      entry;
    ahead_t      ahead;
    tick_t       deadline;
    tick_t       again;
  } waiting_t;

  localparam int unsigned Waiting = 8;
  typedef logic [2:0] widx_t;

  typedef struct packed {
    seq_t        snd_nxt;
    seq_t        rcv_nxt;
    logic        ts;
    logic [31:0] ts_recent;
    logic [31:0] ts_offset;
    tick_t       said_at;   // our last ACK
    tick_t       at;
    logic        live;
  } tw_t;

  typedef enum logic [6:0] {
    Idle,
    AttachBegin, AttachFill, AttachEnd,
    DetachBegin, DetachFlow, DetachRead, DetachEvent, DetachEnd,
    MsgRead, MsgPath, MsgTable, MsgAnswer, MsgFree, MsgBacklog,
    MsgTwOld, MsgTwOldPath, MsgTwOldTable, MsgTwOldAnswer,
    TwExpire, TwExpirePath, TwExpireTable, TwExpireAnswer,
    MissFind, MissAnswer, MissEvent, MissJudge,
    TwRead, TwWeigh, TwJudge, TwTable, TwGone, TwAgain, TwMoved, TwAnswer,
    Listen, SynScan, SynPick, Slot, SlotRead, Hash, HashWait, Insert, InsertAnswer, OpenEvent,
    Reset, MissDone,
    CmdJudge, ListenScan, UnlistenScan, UnlistenBegin, UnlistenFlow, UnlistenRead, UnlistenEvent,
    UnlistenNext,
    ConnectHop, ConnectWay, ConnectNear, ConnectAsk, ConnectNeigh, ConnectPort, ConnectHash,
    ConnectTry,
    CookieScan, CookieRead, CookieEvent,
    Error, FailAsk, Fail, CmdDone, Refuse
  } step_e;

  // What toe_conn works on (conn_steps).
  typedef struct packed {
    step_e       step;
    qp_t         qp;
    packet_t     packet;        // of no flow, or of one in TIME-WAIT
    flow_t       miss_index;    // ... its place in TIME-WAIT
    conn_msg_t   message;       // of an FPC
    command_t    command;
    entry_t      entry;         // ... its address
    logic        waited;        // the CONNECT has waited for its neighbour,
    widx_t       wait_at;       // ... at this place in conn_waits
    ahead_t      ahead;         // ... the options that arrived in that time
    logic        active;        // the flow that begins: of a CONNECT
    flow_t       flow;
    tuple_t      tuple;
    logic [47:0] mac;
    logic        fixed_port;    // the command names the local port
    logic        iss_least_ok;  // the ISS is above that of a connection in TIME-WAIT:
    seq_t        iss_least;
    seq_t        iss;
    path_t       old_path;      // of a connection that ends or enters TIME-WAIT
    logic        tw_moved;      // it has moved: its answer is recorded at the new place
    logic        tired;         // the host does not drain its HW ring
    logic [7:0]  reason;        // of an ERROR or CONNECT_FAILED
  } work_t;

  // What toe_conn takes next.
  typedef enum logic [3:0] {
    TakeNothing, TakeMessage, TakeSweep, TakeAttach, TakeDetach, TakeTw, TakeCommand, TakeWaiting,
    TakeMiss
  } take_e;

  function automatic logic is_syn(input flags_t f);
    return f.syn && !f.ack && !f.rst && !f.fin;
  endfunction

endpackage

`resetall
