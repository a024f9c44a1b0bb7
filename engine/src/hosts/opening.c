/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opening.c - finds unanswered CONNECTs by cookie: for CANCEL, and for OPTIONs before the host
 * knows the slot. The host chooses the cookies, so the hash has a secret salt: the host cannot
 * choose cookies that share a bucket. Among equal cookies the newest is found.
 */
#include "opening.h"
#include "qp.h"

static struct slot **bucket(const struct qp *qp, uint32_t cookie)
{
    uint64_t h = (cookie ^ qp->opening_salt) * 0x9e3779b97f4a7c15ull;

    h ^= h >> 29;
    h = (h + qp->opening_salt) * 0xbf58476d1ce4e5b9ull;
    return (struct slot **)&qp->opening[(h >> 40) & (OPENING_BUCKETS - 1)];
}

void opening_add(struct slot *s)
{
    struct slot **at = bucket(s->qp, s->cookie);

    s->open_next = *at;
    s->open_prev = at;
    if (*at)
        (*at)->open_prev = &s->open_next;
    *at = s;
}

void opening_del(struct slot *s)
{
    if (!s->active || !s->open_prev)
        return;
    *s->open_prev = s->open_next;
    if (s->open_next)
        s->open_next->open_prev = s->open_prev;
    s->open_prev = NULL;
}

struct slot *opening_find(const struct qp *qp, uint32_t cookie)
{
    struct slot *s = *bucket(qp, cookie);

    while (s && s->cookie != cookie)
        s = s->open_next;
    return s;
}
