/* SPDX-License-Identifier: Apache-2.0 */
/* markq.c - see markq.h. */
#include "markq.h"

#define ECN 3u

static uint32_t peek32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void mark(uint8_t *ip)
{
    uint16_t sum;

    ip[1] |= ECN;
    ip[10] = ip[11] = 0;
    sum = (uint16_t)~toec_sum(ip, 20);
    memcpy(ip + 10, &sum, 2);
}

/* R3168-01, R3168-03, R3168-06, R3168-07: only new data is ECN-capable. */
static void check(struct markq *q, const uint8_t *ip)
{
    const uint8_t *tcp = ip + 20;
    uint32_t seq = peek32(tcp + 4);
    uint32_t data = ((uint32_t)ip[2] << 8 | ip[3]) - 20 - (tcp[12] >> 4) * 4u;
    int old = q->top_set && (int32_t)(seq - q->top) < 0;

    if ((ip[1] & ECN) && (data == 0 || (tcp[13] & F_SYN) || old))
        q->bad++;
    if (data == 0)
        return;
    q->data++;
    if (!q->top_set || (int32_t)(seq + data - q->top) > 0)
        q->top = seq + data;
    q->top_set = 1;
}

int64_t markq_router(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    struct markq *q = s->router_state;
    uint8_t *ip = f + 14;
    toec_time start, wait;

    if (from != 0 || f[12] != 8 || f[13] != 0 || ip[9] != 6)
        return 0;
    check(q, ip);
    start = q->free_at > s->now ? q->free_at : s->now;
    wait = start - s->now;
    q->free_at = start + len * q->ns_per_byte;
    q->waited += wait;
    if (wait > q->longest)
        q->longest = wait;
    if (wait > q->mark_above && ((ip[1] & ECN) || q->not_ect)) {
        q->marks++;
        mark(ip);
    }
    return (int64_t)(q->free_at - s->now);
}
