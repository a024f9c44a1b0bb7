/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_pmtu.h - how large a flow's segments are: path MTU discovery (RFC 1191, RFC 8201, with the
 * defences of RFC 5927 7.2) and discovery by what gets through (RFC 4821). See tcp_pmtu.c.
 */
#ifndef TOE_TCP_PMTU_H
#define TOE_TCP_PMTU_H

#include "../base/base.h"

struct toec_stack;
struct toec_tcb;
struct toec_seg;

/* Sizes are of IP datagrams. */
struct toec_pm {
    toec_u32 gen;      /* toec_pmtu.gen when the cache was looked at */
    toec_u16 mtu;      /* what segments are made for now; 0: not established yet */
    toec_u16 peer_mss; /* the MSS option of the peer's SYN */
    toec_u16 user_mss; /* TOEC_OPT_MAXSEG; 0: none */
    toec_u8 discover;  /* enum toec_mtu_discover */
    toec_u8 no_df;     /* segments go without DF */
    /* Delayed reduction (RFC 5927 7.2, its names in brackets). */
    toec_u16 carried;    /* the largest datagram known to have arrived [maxsizeacked] */
    toec_u16 claim;      /* next-hop MTU of an ICMP error that is doubted; 0: none [claimedmtu] */
    toec_u32 claim_seq;  /* ... which quotes this segment [claimedtcpseq] */
    toec_u32 watch_end;  /* a segment of watch_size ends here; its ACK makes it `carried` */
    toec_u16 watch_size; /* 0: none is watched */
    toec_u8 claim_no_df;
    toec_u8 old_set; /* another flow's discovery left segments below old_end too large */
    toec_u32 old_end;
    /* Search (RFC 4821 7). */
    toec_u16 low, high; /* known to pass, not known to fail; low 0: no search */
    toec_u16 probe;     /* a probe of this size is out; 0: none */
    toec_u8 sending;    /* ... is being sent: not to be cut */
    toec_u8 reuse; /* TOEC_REUSE_* of the flow: nothing of the path, but a TCB has no other room */
    toec_u32 probe_start, probe_end;
    toec_u32 search_at; /* tick: when all is found, when to look again */
};

/* The peer's options are known (before the flow is established). */
void toec_pm_start(struct toec_stack *s, struct toec_tcb *t);
/* Makes mtu and mss what cache, search, options and peer allow. */
void toec_pm_sync(struct toec_stack *s, struct toec_tcb *t);
/* "Fragmentation needed" or "Packet Too Big" quotes the segment at seq, which is under way. */
void toec_pm_too_big(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq, toec_u32 mtu,
                     toec_time now);
/* Is there anything that an ACK may decide? */
TOEC_INLINE int toec_pm_watches(const struct toec_pm *p)
{
    return (p->probe | p->watch_size | p->claim | p->old_set) != 0;
}
/* SND.UNA has moved. */
void toec_pm_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* New data up to `end`, `len` bytes of payload in its largest segment, has gone out. */
void toec_pm_sent(struct toec_tcb *t, toec_u32 end, toec_u32 len);
/* Payload of the probe that may go now, larger than an MSS, or 0; room: of the congestion window,
 * wnd: of the peer's, ready: bytes of new data. */
toec_u32 toec_pm_probe(const struct toec_tcb *t, toec_u32 ready, toec_u32 room, toec_u32 wnd,
                       toec_time now);
/* It has gone: the last len bytes before SND.MAX. */
void toec_pm_probed(struct toec_stack *s, struct toec_tcb *t, toec_u32 len);
/* Losses have been found. Not 0 when the probe is all that was lost: no sign of congestion. */
int toec_pm_probe_lost(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* A retransmission timeout. */
void toec_pm_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The largest payload a segment may have for a datagram of size. */
toec_u32 toec_pm_payload(const struct toec_tcb *t, toec_u32 size);

#endif
