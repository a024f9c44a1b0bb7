/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragments.c - any fragment into any incomplete datagram: bytes are stored within its memory,
 * blocks are marked within the bitmap, a byte received is never stored again, and the state of the
 * datagram stays consistent.
 */
#include "proof.h"

#include "ip/ip4_reass.c"

/* Blocks of one fragment: more would only be more turns of the same loops. The place is any. */
#define MOST_BLOCKS SIZE

static struct toec_stack s;
static struct toec_datagram d;
static toec_u32 stored_at, stored;

void copy(struct toec_stack *stack, void *dst, const struct toec_packet *p, toec_u32 off,
          toec_u32 len)
{
    (void)stack;
    (void)p;
    (void)off;
    stored_at = (toec_u32)((toec_u8 *)dst - d.frame);
    stored = len;
    PROVE(stored_at >= PAYLOAD_AT && len <= sizeof(d.frame) - stored_at);
}

static int consistent(void)
{
    return d.end <= TOEC_REASS_TOTAL && d.total <= TOEC_REASS_TOTAL && d.received <= d.end &&
           (!d.total || d.end <= d.total);
}

void proof(void)
{
    struct toec_ip_in in;
    toec_u32 off = nondet_u32(), byte = nondet_u32();
    int last = nondet_u8() & 1, had;

    ASSUME(off <= 65528 && off % 8 == 0);
    ASSUME(in.l4_len >= 1 && in.l4_len <= 8 * MOST_BLOCKS && off + in.l4_len <= TOEC_REASS_TOTAL);
    ASSUME(last || in.l4_len % 8 == 0);
    ASSUME(byte < off + in.l4_len && byte >= off);
    ANYTHING(d.have);
    ASSUME(consistent());
    had = d.have[byte / 256] >> (byte / 8 % 32) & 1;
    (void)toec_reass_put(&s, &d, &in, off, last);
    if (stored) {
        PROVE(!had);
        PROVE(d.have[byte / 256] >> (byte / 8 % 32) & 1);
        PROVE(stored_at == PAYLOAD_AT + off && stored == in.l4_len);
    }
    PROVE(d.end <= TOEC_REASS_TOTAL && d.total <= TOEC_REASS_TOTAL);
}
