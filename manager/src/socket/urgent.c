/* SPDX-License-Identifier: Apache-2.0 */
/*
 * urgent.c - urgent data as in Linux (tcp(7), RFC 6093): the last urgent byte is the one "out of
 * band". Without SO_OOBINLINE it is not part of the stream, and MSG_OOB reads it. Reading stops
 * once before it, at the mark.
 */
#include <signal.h>
#include <string.h>

#include "ctx.h"
#include "frames.h"
#include "lent_buffers.h"
#include "ready.h"
#include "sigurg.h"
#include "tsock.h"
#include "tzc.h"
#include "urgent.h"

/* Returns the bytes between the reader and the mark. */
static uint32_t ahead(const struct tsock *s)
{
    return s->oob_pos - s->rx_pos;
}

bool turgent_at_mark(const struct tsock *s)
{
    return s->oob && ahead(s) == 0;
}

/* Stores the urgent byte, which has arrived: its place in the buffer will be reused. */
static void arrived(struct tsock *s)
{
    uint32_t one = 1;

    s->oob = TOOB_VALID;
    s->oob_byte = *tframe_at(s, s->oob_pos, &one);
    tobj_notify(&s->obj, EPOLLPRI);
}

void turgent_announced(struct tsock *s, uint32_t end)
{
    /* the earlier mark is dropped, and its byte becomes part of the stream, as on Linux */
    if ((int32_t)(end - 1 - s->rx_pos) < 0)
        return;
    /* ... unless the reader is at it: the byte is still left out */
    if (turgent_at_mark(s) && s->rx_avail && !s->opts.oobinline) {
        s->rx_pos++; /* while draining: the next read frees a frame that ends here */
        s->rx_avail--;
        if (s->claims & TLOANS)
            tloan_behind(s, 1);
        else
            s->rx_unreported++;
        if (s->claims & TCLAIM_RX)
            s->zc->skip = 0;
    }
    s->oob = TOOB_ANNOUNCED;
    s->oob_pos = end - 1;
    tsigurg_owe(s->owner, s->owner_tid);
    if (ahead(s) < s->rx_avail)
        arrived(s);
}

void turgent_data(struct tsock *s)
{
    if (s->oob == TOOB_ANNOUNCED && ahead(s) < s->rx_avail)
        arrived(s);
}

uint32_t turgent_readable(const struct tsock *s)
{
    uint32_t d = ahead(s);

    if (d >= s->rx_avail)
        return s->rx_avail;
    if (d)
        return d;
    return s->opts.oobinline ? s->rx_avail : s->rx_avail - 1;
}

uint32_t turgent_queued(const struct tsock *s)
{
    return !s->opts.oobinline && ahead(s) < s->rx_avail ? ahead(s) : s->rx_avail;
}

void turgent_passed(struct tsock *s)
{
    if ((int32_t)ahead(s) < 0)
        s->oob = TOOB_NONE;
}

ssize_t turgent_recv(struct tsock *s, uint8_t *to, size_t n, int flags)
{
    tctx_progress();
    if (s->opts.oobinline || s->oob == TOOB_NONE || s->oob == TOOB_READ)
        return terr(s->state == TS_OPEN || s->state == TS_DEAD ? EINVAL : ENOTCONN);
    if (s->oob == TOOB_VALID) {
        if (n)
            *to = s->oob_byte;
        if (!(flags & MSG_PEEK))
            s->oob = TOOB_READ;
        return n ? 1 : 0;
    }
    return s->eof || (s->shut & TSHUT_RD) ? 0 : terr(EAGAIN);
}
