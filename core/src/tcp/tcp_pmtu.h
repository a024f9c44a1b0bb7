/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_pmtu.h - the size of a flow's segments: path MTU discovery by ICMP (RFC 1191, RFC 8201, with
 * the defences of RFC 5927 7.2) and by probing (RFC 4821). See tcp_pmtu.c.
 */
#ifndef TOE_TCP_PMTU_H
#define TOE_TCP_PMTU_H

#include "../base/base.h"

struct toec_stack;
struct toec_tcb;
struct toec_seg;

/* Sizes are of IP datagrams. */
struct toec_pm {
    toec_u32 gen;      /* toec_pmtu.gen at the last cache lookup */
    toec_u16 mtu;      /* MTU in use for segments; 0: not established yet */
    toec_u16 peer_mss; /* the MSS option of the peer's SYN */
    toec_u16 user_mss; /* TOEC_OPT_MAXSEG; 0: none */
    toec_u8 discover;  /* enum toec_mtu_discover */
    toec_u8 no_df;     /* segments are sent without DF */
    /* Delayed reduction (RFC 5927 7.2, its names in brackets). */
    toec_u16 carried;    /* the largest datagram known to have arrived [maxsizeacked] */
    toec_u16 claim;      /* next-hop MTU of an unconfirmed ICMP error; 0: none [claimedmtu] */
    toec_u32 claim_seq;  /* ... which quotes this segment [claimedtcpseq] */
    toec_u32 watch_end;  /* a segment of watch_size ends here; its ACK makes it `carried` */
    toec_u16 watch_size; /* 0: none is watched */
    toec_u8 claim_no_df;
    toec_u8 old_set; /* the MSS was lowered: segments below old_end may be too large */
    toec_u32 old_end;
    /* Search (RFC 4821 7). */
    toec_u16 low, high; /* largest known to pass, largest not known to fail; low 0: no search */
    toec_u16 probe;     /* size of the probe in flight; 0: none */
    toec_u8 sending;    /* ... is being sent: do not segment it */
    toec_u8 reuse;      /* TOEC_REUSE_* of the flow; here only because the TCB has a free byte */
    toec_u32 probe_start, probe_end;
    toec_u32 search_at; /* tick: no probe before this time */
};

/* Sets up the MTU once the peer's options are known, before the flow is established. */
void toec_pm_start(struct toec_stack *s, struct toec_tcb *t);
/* Recomputes mtu and mss from the cache, the search, the options and the peer's MSS. */
void toec_pm_sync(struct toec_stack *s, struct toec_tcb *t);
/* Handles "Fragmentation needed" or "Packet Too Big" that quotes the outstanding segment at seq. */
void toec_pm_too_big(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq, toec_u32 mtu,
                     toec_time now);
/* Returns not 0 when toec_pm_acked() must see the next ACK. */
TOEC_INLINE int toec_pm_watches(const struct toec_pm *p)
{
    return (p->probe | p->watch_size | p->claim | p->old_set) != 0;
}
/* Handles an ACK that advanced SND.UNA. */
void toec_pm_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Records that new data up to `end` was sent; len: payload of its largest segment. */
void toec_pm_sent(struct toec_tcb *t, toec_u32 end, toec_u32 len);
/* Returns the payload of a probe that may be sent now, larger than an MSS, or 0. ready: bytes of
 * new data; room: bytes left in the congestion window; wnd: in the peer's window. */
toec_u32 toec_pm_probe(const struct toec_tcb *t, toec_u32 ready, toec_u32 room, toec_u32 wnd,
                       toec_time now);
/* Records that the probe was sent: the last len bytes before SND.MAX. */
void toec_pm_probed(struct toec_stack *s, struct toec_tcb *t, toec_u32 len);
/* Called when losses were detected. Returns not 0 when only the probe was lost, which is no sign of
 * congestion. */
int toec_pm_probe_lost(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Handles a retransmission timeout. */
void toec_pm_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Returns the largest payload of a segment in a datagram of this size. */
toec_u32 toec_pm_payload(const struct toec_tcb *t, toec_u32 size);

#endif
