/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notsent.c - TCP_NOTSENT_LOWAT, see notsent.h. What the TOE has not sent follows from the flow
 * record, which OPTION NOTSENT_LOWAT keeps current.
 */
#include "notsent.h"
#include "option.h"
#include "record.h"

#define STEP 65536u /* a write is not checked within 64 KiB, as within one buffer of Linux */

void tnotsent_apply(struct tsock *s)
{
    tnotsent_bound(s);
    tsock_option(s, TOE_OPT_NOTSENT_LOWAT, s->opts.notsent_lowat != 0);
}

/* Returns the bytes not acknowledged less those sent: in flight, or within `permitted`. */
static uint32_t not_sent(uint32_t unacked, const struct toedev_flow_record *r, uint32_t permitted)
{
    uint32_t sent = r->in_flight > permitted ? r->in_flight : permitted;

    return unacked > sent ? unacked - sent : 0;
}

uint32_t tnotsent_bytes(const struct tsock *s)
{
    struct toedev_flow_record r;
    uint32_t unacked = tsock_unacked(s);

    return unacked && tsock_record(s, &r) ? not_sent(unacked, &r, 0) : 0;
}

/* As tnotsent_bytes(), but what both windows permit counts as sent: the TOE may not have seen the
 * last write yet, and no event follows when it sends that. */
static uint32_t waiting(const struct tsock *s)
{
    struct toedev_flow_record r;
    uint32_t unacked = tsock_unacked(s);

    if (!unacked || !tsock_record(s, &r))
        return 0;
    return not_sent(unacked, &r, r.cwnd < r.snd_wnd ? r.cwnd : r.snd_wnd);
}

bool tnotsent_low(const struct tsock *s)
{
    if (teor_full(s))
        return false;
    return !s->opts.notsent_lowat || (uint64_t)waiting(s) << 1 < s->opts.notsent_lowat;
}

uint32_t tnotsent_room(const struct tsock *s)
{
    if (s->state == TS_CONNECTING)
        return s->fast_room ? s->fast_room : UINT32_MAX;
    if (!s->opts.notsent_lowat)
        return UINT32_MAX;
    return waiting(s) < s->opts.notsent_lowat ? STEP : 0;
}
