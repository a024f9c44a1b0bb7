/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eor.c - MSG_EOR: counts the boundaries that are not acknowledged, see eor.h. The count is of two
 * groups, each known by its last boundary: a group counts until its last is acknowledged.
 */
#include <toe/attach.h>

#include "ctx.h"
#include "eor.h"

#define GROUP ((TOEDEV_EOR_MAX + 1) / 2)

/* Returns what counts of e, when the bytes before `acked` are acknowledged. */
static struct teor current(struct teor e, uint32_t acked)
{
    for (int i = 0; i < 2 && e.n[0] && (int32_t)(acked - e.end[0]) >= 0; i++)
        e = (struct teor){{e.end[1], 0}, {e.n[1], 0}};
    return e;
}

static uint32_t acked_of(const struct tsock *s)
{
    return s->tx_pos - tsock_unacked(s);
}

bool teor_full(const struct tsock *s)
{
    struct teor e;

    if (!s->eor.n[0])
        return false;
    e = current(s->eor, acked_of(s));
    return e.n[0] + e.n[1] >= (int)TOEDEV_EOR_MAX;
}

uint8_t teor_add(struct tsock *s)
{
    struct teor *e = &s->eor;
    int i;

    if (!tctx.takes_eor)
        return 0;
    *e = current(*e, acked_of(s));
    i = e->n[1] || e->n[0] == GROUP;
    e->n[i]++;
    e->end[i] = s->tx_pos;
    s->bounded = true;
    return TOE_F_SEND_EOR;
}
