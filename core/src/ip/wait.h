/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - packets without a flow that wait for their neighbour's address (RFC 1122 2.3.2.2, RFC
 * 4861 7.2.2). TCP builds its segments again, but an RST, an echo reply or an ICMP error would be
 * lost.
 */
#ifndef TOEC_WAIT_H
#define TOEC_WAIT_H

#include "ip.h"

#define TOEC_WAIT_MAX  16   /* for the whole stack; the oldest is replaced */
#define TOEC_WAIT_ROOM 1536 /* bytes of a frame; longer ones are not stored */

struct toec_waiting {
    struct toec_path path;
    struct toec_addr dst;
    toec_u16 len;                  /* 0: sent or given up */
    toec_u8 frame[TOEC_WAIT_ROOM]; /* complete except for the neighbour's address */
};

/* A ring in the order of arrival. */
struct toec_wait {
    struct toec_waiting item[TOEC_WAIT_MAX];
    toec_u32 begin, end;
    toec_u32 epoch; /* toec_send_epoch() at the last attempt */
    int again;      /* transmit had no room for one */
};

/* Stores a packet that toec_ip_output() could not send. Returns -1 when it is too long. */
int toec_wait_keep(struct toec_stack *s, const struct toec_path *path, struct toec_outbuf *o);
/* Sends what can be sent now; called at every poll. */
void toec_wait_poll(struct toec_stack *s, toec_time now);

#endif
