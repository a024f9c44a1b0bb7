/* SPDX-License-Identifier: Apache-2.0 */
/*
 * save.h - the image of a stack (toe/image.h): its records, and the structure members in each.
 * save.c writes them, restore.c and restore_flow.c read them.
 *
 * The numbers below, those in save_tables.c, and the values of states, flags and algorithms are the
 * format: they must not change. An addition gets a new number, and its value 0 must mean the
 * earlier behaviour. Where that is impossible, increment TOEC_SAVE_VERSION.
 *
 * Not saved, because TCP works without them: reassembly of datagrams, the state of ICMP rate
 * limits, membership in lists (pending or parked flows), and each flow's next hop, which is looked
 * up again. UDP endpoints are not saved.
 */
#ifndef TOEC_SAVE_H
#define TOEC_SAVE_H

#include <toe/image.h>

#include "../tcp/tcp.h"

#define TOEC_SAVE_VERSION 1u
#define TOEC_MTU_LEAST    200u /* below the lowest value of a path MTU search */

/* Records, in the order of an image, except those of TCP-AO, which come where noted. Records
 * between one flow and the next belong to the former. */
enum {
    TOEC_REC_STACK = 0x5430, /* the first record */
    TOEC_REC_COUNTER,
    TOEC_REC_OWN6,
    TOEC_REC_PREFIX6,
    TOEC_REC_ROUTER6,
    TOEC_REC_REDIRECT6,
    TOEC_REC_NEIGH,
    TOEC_REC_PMTU,
    TOEC_REC_PEER,    /* Fast Open: cached data of a server */
    TOEC_REC_WAITING, /* a packet without a flow that waits for its neighbour */
    TOEC_REC_LISTENER,
    TOEC_REC_FLOW,
    TOEC_REC_CWV, /* first of those of a flow */
    TOEC_REC_NEWRENO,
    TOEC_REC_CUBIC,
    TOEC_REC_DCTCP,
    TOEC_REC_BBR,
    TOEC_REC_RATE,
    TOEC_REC_PACE,
    TOEC_REC_EPISODE,
    TOEC_REC_RUN,
    TOEC_REC_GAP, /* CWV to GAP: of the preceding flow */
    TOEC_REC_TW,
    TOEC_REC_END,         /* the last */
    TOEC_REC_AO_KEY,      /* TCP-AO: a key, before the record of its owner */
    TOEC_REC_AO,          /* TCP-AO: of the preceding flow or TIME-WAIT entry */
    TOEC_REC_AO_LISTENER, /* TCP-AO: of a listener, before flows */
    TOEC_REC_EOR,         /* a record boundary of the preceding flow */
    TOEC_REC_BBR1         /* of the preceding flow, in the place of BBR */
};

/* Fields in addition to those of the tables. */
enum {
    TOEC_TAG_VERSION = 1, /* of the stack */
    TOEC_TAG_TIME,
    TOEC_TAG_FLOWS,
    TOEC_TAG_MAC,
    TOEC_TAG_IP,
    TOEC_TAG_SERIAL,     /* last serial number of listeners with Fast Open */
    TOEC_TAG_USES,       /* use counter of the cache of Fast Open servers */
    TOEC_TAG_TICK = 200, /* when the timer expires, and whether it is set */
    TOEC_TAG_TICK_SET,
    TOEC_TAG_INDEX,
    TOEC_TAG_OWNER,
    TOEC_TAG_CC,
    TOEC_TAG_RECORD,   /* of a flow: whether it has a record of transmissions */
    TOEC_TAG_GAPS,     /* of a flow: whether it has room for many gaps */
    TOEC_TAG_LISTENER, /* of a half-open flow: its listener's index + 1 */
    TOEC_TAG_NAME,     /* of a counter */
    TOEC_TAG_VALUE,
    TOEC_TAG_RS, /* of the stack's timers: ticks + 1 */
    TOEC_TAG_EXPIRY,
    TOEC_TAG_MLD,
    TOEC_TAG_ANNOUNCE,
    TOEC_TAG_FRAME, /* of a packet: pieces of 255 bytes at this tag and the following ones */
    TOEC_TAG_CURRENT = 240, /* of TCP-AO: the index of the key in use, from 0 */
    TOEC_TAG_RNEXT
};

struct toec_table {
    const struct toec_field *row;
    unsigned count;
};

const char *toec_counter_name(unsigned i, unsigned *len);

/* State of a restore. */
struct toec_restoring {
    struct toec_stack *s;
    const struct toec_restorer *by;
    toec_time now;
    struct toec_image_in in;
    struct toec_tw *tw;        /* the last one restored */
    struct toec_ao_key *keys;  /* keys of TCP-AO read so far that have no owner yet */
    struct toec_tcb *flow;     /* the current flow, incomplete while its records are read */
    toec_u32 half_of;          /* its listener's index + 1 */
    toec_u32 flows, announced; /* flows restored; flows that the image announces */
};

#endif
