/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fastopen.c - Fast Open with the interface of Linux (RFC 7413; tcp(7)): MSG_FASTOPEN,
 * TCP_FASTOPEN_CONNECT, and listeners with TCP_FASTOPEN.
 *
 * The call waits for the answer to CONNECT, which a working TOE gives at once: CONNECT_READY when
 * data may go with the SYN. The socket is then TS_CONNECTING with a slot (s->fast), and the first
 * bytes put into its buffer trigger the SYN.
 */
#include <string.h>

#include "connect.h"
#include "ctx.h"
#include "dispatch.h"
#include "fastopen.h"
#include "fdtab.h"
#include "flow.h"
#include "handle.h"
#include "ip6.h"
#include "notsent.h"
#include "qp.h"
#include "ready.h"
#include "tsock.h"

void tconnect_ready(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = thandle_get(toe_cmd_arg0(c));
    uint32_t slot = toe_cmd_flow(c);

    if (slot >= qp->cfg.slots || qp->slots[slot]) {
        tqp_breach(qp, "a connection on a slot in use", slot);
        return;
    }
    qp->slots[slot] = TSLOT_CLOSING;
    if (!s || s->state != TS_CONNECTING || s->qp != qp) {
        tqp_abort_later(qp, slot);
        return;
    }
    if (!s->wants_fast) { /* the caller has given up, so nothing would trigger its SYN */
        tqp_abort_later(qp, slot);
        tconnect_failed(s->handle, ETIMEDOUT);
        return;
    }
    tflow_open(s, qp, slot);
    s->state = TS_CONNECTING;
    s->fast = 1;
    s->fast_room = toe_cmd_arg1(c);
    s->bounded = true;
}

bool tfast_established(struct tqp *qp, const struct toe_cmd *c)
{
    uint32_t slot = toe_cmd_flow(c);
    struct tsock *s = slot < qp->cfg.slots ? qp->slots[slot] : NULL;

    if (!s)
        return false;
    if (s == TSLOT_CLOSING) /* closed in the meantime; CLOSE_EVENT will follow */
        return true;
    if (!s->fast || s->handle != toe_cmd_arg0(c))
        return false;
    thandle_free(s->handle);
    s->handle = 0;
    s->fast = s->fast_sent = 0;
    s->local_port = htons(toe_cmd_aux(c));
    s->state = TS_OPEN;
    tnotsent_bound(s);
    if (s->ip6)
        tip6_names(s);
    tobj_notify(&s->obj, EPOLLOUT | EPOLLWRNORM);
    return true;
}

void tfast_ended(struct tsock *s, int error)
{
    thandle_free(s->handle);
    s->handle = 0;
    s->fast = s->fast_sent = 0;
    s->connect_failed = 1;
    tflow_gone(s, error ? error : ECONNREFUSED);
}

void tfast_settle(struct tsock *s)
{
    for (uint32_t n = 0; n <= tctx.qps_n && s->state == TS_CONNECTING && s->qp; n++) {
        tqp_settle(s->qp);
        if (!s->elsewhere)
            break;
        tconnect_elsewhere();
    }
    s->wants_fast = 0;
}

int tfast_connect(int fd, const struct sockaddr *addr, socklen_t len, int flags, bool *kernel)
{
    struct tsock *s = tsock_get(fd);
    bool nonblock;
    int r;

    *kernel = true;
    if (!s)
        return 0;
    tctx_progress();
    nonblock = s->nonblock || (flags & MSG_DONTWAIT);
    *kernel = s->state == TS_NEW;
    if (addr && len >= sizeof(sa_family_t) && addr->sa_family == AF_UNSPEC)
        return *kernel ? 0 : terr(EOPNOTSUPP);
    if (s->state == TS_CONNECTING && s->fast && !s->fast_sent)
        return 0;
    r = tconnect_again(s, nonblock);
    if (r <= 0)
        return r; /* 0: connected in the meantime */
    if (!addr)
        return terr(EINVAL);
    if (tconnect_begin(s, fd, addr, len, true, kernel) < 0 || *kernel)
        return *kernel ? 0 : -1;
    return s->fast ? 0 : tconnect_result(s, nonblock);
}
