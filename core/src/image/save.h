/* SPDX-License-Identifier: Apache-2.0 */
/*
 * save.h - a stack as an image (toe/image.h): its records, and which members of which structure
 * they hold. save.c writes them, restore.c and restore_flow.c read them.
 *
 * The numbers below, those in save_tables.c, and the values of states, flags and algorithms are the
 * format: they do not change. What is new gets a new number and means with 0 what was before.
 * Where that cannot be, TOEC_SAVE_VERSION rises.
 *
 * Not saved, for TCP is right without: reassembly of datagrams, the state of ICMP rate limits,
 * places in lists (who owes something, who is parked), each flow's next hop, which is found again.
 * UDP endpoints are not saved.
 */
#ifndef TOEC_SAVE_H
#define TOEC_SAVE_H

#include <toe/image.h>

#include "../tcp/tcp.h"

#define TOEC_SAVE_VERSION 1u
#define TOEC_MTU_LEAST    200u /* less than what a search for the path MTU goes down to */

/* Records, in this order. What stands behind a flow until the next is of that flow. */
enum {
    TOEC_REC_STACK = 0x5430, /* the first; ... */
    TOEC_REC_COUNTER,
    TOEC_REC_OWN6,
    TOEC_REC_PREFIX6,
    TOEC_REC_ROUTER6,
    TOEC_REC_REDIRECT6,
    TOEC_REC_NEIGH,
    TOEC_REC_PMTU,
    TOEC_REC_PEER,    /* Fast Open: of a server */
    TOEC_REC_WAITING, /* a packet without a flow, for its neighbour */
    TOEC_REC_LISTENER,
    TOEC_REC_FLOW,
    TOEC_REC_CWV, /* ... */
    TOEC_REC_NEWRENO,
    TOEC_REC_CUBIC,
    TOEC_REC_DCTCP,
    TOEC_REC_BBR,
    TOEC_REC_RATE,
    TOEC_REC_PACE,
    TOEC_REC_EPISODE,
    TOEC_REC_RUN,
    TOEC_REC_GAP, /* ... of a flow */
    TOEC_REC_TW,
    TOEC_REC_END,        /* the last */
    TOEC_REC_AO_KEY,     /* TCP-AO: keys, before the record that they belong to; */
    TOEC_REC_AO,         /* ... of the flow or the entry in TIME-WAIT that stands before; */
    TOEC_REC_AO_LISTENER /* ... of a listener, before flows */
};

/* Fields beside those of the tables. */
enum {
    TOEC_TAG_VERSION = 1, /* of the stack */
    TOEC_TAG_TIME,
    TOEC_TAG_FLOWS,
    TOEC_TAG_MAC,
    TOEC_TAG_IP,
    TOEC_TAG_SERIAL,     /* of listeners with Fast Open, the last */
    TOEC_TAG_USES,       /* of what is known of Fast Open servers */
    TOEC_TAG_TICK = 200, /* when the timer expires, and that it is set */
    TOEC_TAG_TICK_SET,
    TOEC_TAG_INDEX,
    TOEC_TAG_OWNER,
    TOEC_TAG_CC,
    TOEC_TAG_RECORD,   /* of a flow: it has one */
    TOEC_TAG_GAPS,     /* ... and room for many gaps */
    TOEC_TAG_LISTENER, /* of a half-open flow: its listener's index + 1 */
    TOEC_TAG_NAME,     /* of a counter */
    TOEC_TAG_VALUE,
    TOEC_TAG_RS, /* of the stack's timers: ticks + 1 */
    TOEC_TAG_EXPIRY,
    TOEC_TAG_MLD,
    TOEC_TAG_ANNOUNCE,
    TOEC_TAG_FRAME,         /* of a packet: pieces of 255 bytes at this tag and those that follow */
    TOEC_TAG_CURRENT = 240, /* of TCP-AO: the keys in use, the first is 0 */
    TOEC_TAG_RNEXT
};

struct toec_table {
    const struct toec_field *row;
    unsigned count;
};

const char *toec_counter_name(unsigned i, unsigned *len);

/* A stack that is being restored. */
struct toec_restoring {
    struct toec_stack *s;
    const struct toec_restorer *by;
    toec_time now;
    struct toec_image_in in;
    struct toec_tw *tw;       /* the last one restored */
    struct toec_ao_key *keys; /* of TCP-AO, read, and nobody's yet */
    struct toec_tcb *flow;    /* its records are being read, and it is not complete yet */
    toec_u32 half_of;         /* its listener's index + 1 */
    toec_u32 flows, said;     /* restored; that the image says it has */
    toec_u8 has_cc;           /* its algorithm's record has come */
};

#endif
