/* SPDX-License-Identifier: Apache-2.0 */
/* option.c - OPTION commands of flows and listeners (option.h). */
#include "option.h"
#include "ctx.h"
#include "qp.h"
#include "tsock.h"

void tsock_option(struct tsock *s, uint16_t option, uint32_t value)
{
    if (s->state == TS_OPEN || (s->state == TS_CONNECTING && s->fast))
        tqp_send(s->qp, TOE_CMD_OPTION, 0, option, s->slot, value, 0);
    else if (s->state == TS_CONNECTING && s->qp)
        tqp_send(s->qp, TOE_CMD_OPTION, TOE_F_OPTION_CONNECT, option, s->handle, value, 0);
}

/* Waits until every engine has handled what was sent about the listener. Not while it is being
 * announced: that waits once, at its end. */
static void settle(const struct tsock *s)
{
    if (!s->announcing)
        tctx_settle();
}

void tlisten_option(const struct tsock *s, uint16_t option, uint32_t value)
{
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        tqp_send(tctx.qps[q], TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, option, s->handle, value, 0);
    settle(s);
}

static uint32_t word(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

void tfast_announce(const struct tsock *s)
{
    const struct tsock_opts *o = &s->opts;

    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        struct tqp *qp = tctx.qps[q];

        if (o->fastopen_keys) {
            for (uint32_t i = 0; i < 2u * o->fastopen_keys; i++)
                tqp_send(qp, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN_KEY, s->handle,
                         word(o->fastopen_key + 8 * i), word(o->fastopen_key + 8 * i + 4));
            tqp_send(qp, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN_KEYS, s->handle,
                     o->fastopen_keys, 0);
        }
        tqp_send(qp, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN, s->handle,
                 (uint32_t)o->fastopen, o->fastopen_no_cookie);
    }
    settle(s); /* a client that got no cookie does not soon request one again */
}
