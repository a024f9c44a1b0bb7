/* SPDX-License-Identifier: Apache-2.0 */
/* option_apply.c - sends options that were set earlier (option_apply.h). */
#include <netinet/in.h>

#include "notsent.h"
#include "option.h"
#include "option_apply.h"
#include "tsock.h"

void tpath_option(struct tsock *s, uint16_t option, uint32_t value)
{
    if (s->state != TS_LISTEN) {
        tsock_option(s, option, value);
        return;
    }
    if (s->announced)
        tlisten_option(s, option, value);
}

/* Returns which of two values, of IPv4 and of IPv6, packets of s have. A listener for both families
 * answers SYNs with the value for IPv6, if one is set; its connections get their own. */
static uint8_t of_family(const struct tsock *s, const uint8_t of[2])
{
    if (s->state == TS_LISTEN && s->ip6 && !s->opts.v6only && !of[1])
        return of[0];
    return of[s->ip6 != 0];
}

void tpath_send_tos(struct tsock *s)
{
    tpath_option(s, TOE_OPT_TOS, of_family(s, s->opts.tos));
}

void tpath_send_discover(struct tsock *s)
{
    uint8_t v = of_family(s, s->opts.discover);

    tpath_option(s, TOE_OPT_MTU_DISCOVER, v ? v - 1u : IP_PMTUDISC_WANT);
}

void tpath_apply(struct tsock *s)
{
    if (s->opts.tos[0] || s->opts.tos[1])
        tpath_send_tos(s);
    if (s->opts.discover[0] || s->opts.discover[1])
        tpath_send_discover(s);
    if (s->opts.maxseg)
        tpath_option(s, TOE_OPT_MAXSEG, s->opts.maxseg);
}

void tsock_apply_options(struct tsock *s)
{
    const struct tsock_opts *o = &s->opts;

    if (o->nodelay)
        tsock_option(s, TOE_OPT_NODELAY, 1);
    if (o->cork)
        tsock_option(s, TOE_OPT_CORK, 1);
    if (o->quickack)
        tsock_option(s, TOE_OPT_QUICKACK, o->quickack - 1u);
    if (o->cc)
        tsock_option(s, TOE_OPT_CC, o->cc - 1);
    if (o->notsent_lowat)
        tnotsent_apply(s);
    if (o->max_pacing)
        tsock_option(s, TOE_OPT_MAX_PACING, pacing_value(o->max_pacing));
    /* The times precede the switch, so that the first probe is at the right time. */
    if (o->keepidle)
        tsock_option(s, TOE_OPT_KEEPIDLE, (uint32_t)o->keepidle);
    if (o->keepintvl)
        tsock_option(s, TOE_OPT_KEEPINTVL, (uint32_t)o->keepintvl);
    if (o->keepcnt)
        tsock_option(s, TOE_OPT_KEEPCNT, (uint32_t)o->keepcnt);
    if (o->keepalive)
        tsock_option(s, TOE_OPT_KEEPALIVE, 1);
    if (o->syncnt)
        tsock_option(s, TOE_OPT_SYNCNT, (uint32_t)o->syncnt);
    if (o->uto)
        tsock_option(s, TOE_OPT_ADV_UTO, (uint32_t)o->uto);
    if (o->user_timeout)
        tsock_option(s, TOE_OPT_USER_TIMEOUT, (uint32_t)o->user_timeout);
    if (o->linger2 > 0)
        tsock_option(s, TOE_OPT_LINGER2, (uint32_t)o->linger2);
    tpath_apply(s);
}

void tconnect_options(struct tsock *s)
{
    tsock_apply_options(s);
    if (tsock_reuse(s))
        tsock_option(s, TOE_OPT_REUSE, tsock_reuse(s));
}
