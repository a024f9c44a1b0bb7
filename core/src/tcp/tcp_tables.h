/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_tables.h - TCP of one stack: its tables, pools and queues, its listeners, and connections in
 * TIME-WAIT. Data only.
 */
#ifndef TOEC_TCP_TABLES_H
#define TOEC_TCP_TABLES_H

#include "tcb.h"

/* A connection in TIME-WAIT: the state to answer an old segment and to accept a new SYN (RFC 6191).
 */
struct toec_tw {
    struct toec_hnode node;
    struct toec_tw *next, *prev; /* by expiry */
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u32 snd_nxt, rcv_nxt;
    toec_u32 ts_recent, ts_off;
    toec_u32 since; /* tick of entry or of the last FIN */
    toec_u32 acked_at;
    toec_u16 wnd;
    toec_u8 has_ts;
    toec_u8 reuse;      /* TOEC_REUSE_* */
    struct toec_ao *ao; /* 0: without TCP-AO */
};

#define TOEC_L_IP4 1u
#define TOEC_L_IP6 2u

struct toec_listener {
    struct toec_hnode node; /* hash: port */
    void *owner;
    struct toec_addr addr; /* when `families` is 0 */
    toec_u16 port;
    toec_u8 families; /* wildcard listener: TOEC_L_IP4, TOEC_L_IP6; 0: listens on addr only */
    toec_u8 live;
    toec_u8 overflowed; /* cookies were sent at overflow_at */
    toec_u8 ecn;        /* enum toec_ecn_policy of its flows */
    toec_u8 discover;   /* TOEC_OPT_MTU_DISCOVER of its flows */
    toec_u8 tos;
    toec_u8 defer; /* TOEC_OPT_DEFER_ACCEPT */
    toec_u8 reuse; /* TOEC_REUSE_* of its flows */
    toec_u16 user_mss;
    toec_u32 backlog, half_open;
    toec_u32 overflow_at;
    struct toec_tcb *half; /* half-open flows */
    struct toec_tfo_listen fo;
    struct toec_ao_key *ao_keys;
};

struct toec_tcp {
    struct toec_pool flows, tws, listeners;
    struct toec_pool records, gaps, paces, episodes;
    struct toec_pool aos, ao_keys;
    struct toec_eor *eor_of; /* indexed by flow */
    struct toec_ao **ao_of;  /* indexed by flow; allocated only when max_ao_keys is not 0 */
    struct toec_htab flow_tab, tw_tab, listen_tab;
    struct toec_pool holders; /* users of local ports (tcp_bind.c) */
    struct toec_htab holder_tab;
    struct toec_tcb **pending; /* ring of flows with output pending */
    toec_u32 pending_first;    /* index of its first entry */
    toec_u32 pending_n;        /* its entries */
    struct toec_tcb **parked;  /* flows that wait for a neighbour: parked_n */
    toec_u32 parked_n;
    toec_u32 epoch; /* toec_send_epoch() when the parked flows were last checked */
    toec_u32 half_open;
    struct toec_tw *tw_first, *tw_last;
    struct toec_timer tw_timer;
    struct toec_tfo_cache tfo;
    struct toec_wheel pace_wheel;    /* in 2^14 ns, see tcp_pace.h */
    struct toec_tcb **owing;         /* queue of delayed ACKs (tcp_delack.c); 0: removed entry */
    toec_u32 owing_head, owing_tail; /* free-running */
    toec_u32 owing_mask;
    unsigned owing_shift; /* toec_tcb.owing_at counts in units of 1 << owing_shift entries */
};

#define TOEC_TMR_FLOW ((enum toec_timer_kind)TOEC_TMR_TCP)
#define TOEC_TMR_TW   ((enum toec_timer_kind)(TOEC_TMR_TCP + 1))
#define TOEC_TMR_PACE ((enum toec_timer_kind)(TOEC_TMR_TCP + 2))

#endif
