/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - listeners: announcing them, the accept queue, accept (SEEDS S1.11, S1.12).
 */
#include <string.h>

#include "ancillary.h"
#include "announce.h"
#include "ctx.h"
#include "dispatch.h"
#include "fdtab.h"
#include "flow.h"
#include "handle.h"
#include "host.h"
#include "ip6.h"
#include "listen.h"
#include "listen_defer.h"
#include "lock.h"
#include "name.h"
#include "option_apply.h"
#include "policy.h"
#include "qp.h"
#include "ready.h"
#include "signals.h"
#include "sock.h"
#include "tsock.h"
#include "turns.h"
#include "wait.h"

#define OWN_NUMBER 0x40000000 /* distinct from the SOCK_* of accept4() */

void tlisten_established(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *l = thandle_get(toe_cmd_arg1(c)), *s;
    uint32_t slot = toe_cmd_flow(c);

    if (slot >= qp->cfg.slots || qp->slots[slot]) {
        tqp_breach(qp, "an established flow on a slot in use", slot);
        return;
    }
    /* the listener was closed in the meantime: the TOE ends the flow itself (UNLISTEN) */
    qp->slots[slot] = TSLOT_CLOSING;
    if (!l || l->state != TS_LISTEN)
        return;
    s = tsock_new();
    if (!s) {
        tqp_abort_later(qp, slot); /* no memory */
        return;
    }
    tflow_open(s, qp, slot);
    s->obj.refs = 1; /* the accept queue's reference */
    s->accepted = 1;
    s->v6 = l->v6;
    s->opts = l->opts;
    s->opts.defer = 0; /* for listeners only */
    s->lowat = l->lowat;
    tancillary_options(s);
    s->remote_port = htons(toe_cmd_aux(c));
    s->remote_ip = htonl(toe_cmd_arg0(c));
    s->local_port = l->local_port;
    s->local_ip = tctx.ip;
    if (!s->remote_ip && s->v6)
        tip6_names(s);
    s->listener = l;
    if (l->accept_tail)
        l->accept_tail->accept_next = s;
    else
        l->accept_head = s;
    l->accept_tail = s;
    l->queued++;
    tobj_notify(&l->obj, EPOLLIN | EPOLLRDNORM);
}

void tlisten_refused(struct tsock *s, int reason)
{
    s->error = reason;
    s->refused = (uint16_t)reason;
    tobj_notify(&s->obj, EPOLLERR);
}

struct tsock *tlisten_dequeue(struct tsock *l)
{
    struct tsock *s = l->accept_head;

    if (!s)
        return NULL;
    l->accept_head = s->accept_next;
    if (!l->accept_head)
        l->accept_tail = NULL;
    s->accept_next = s->listener = NULL;
    l->queued--;
    return s;
}

void tlisten_drop_queue(struct tsock *l)
{
    struct tsock *s;

    while ((s = tlisten_dequeue(l))) {
        /* RST, as Linux does for connections not yet accepted */
        s->opts.linger_on = 1;
        s->opts.linger_s = 0;
        tobj_put(&s->obj);
    }
}

/* Forgets the first connection of the queue, which is the TOE's again. */
static void leave_first(struct tsock *l)
{
    struct tsock *s = tlisten_dequeue(l);

    if (s->state == TS_OPEN) {
        s->qp->slots[s->slot] = TSLOT_CLOSING;
        s->qp = NULL;
        s->state = TS_DEAD;
    }
    tobj_put(&s->obj);
}

/* At UNLISTEN, connections not yet accepted return to the TOE: another listener gets them, or they
 * are reset. */
static void leave_queue(struct tsock *l)
{
    while (l->accept_head)
        leave_first(l);
}

void tlisten_stale(struct tsock *s)
{
    struct tsock *l = s->listener, *before = NULL;

    for (struct tsock *c = l->accept_head; c != s; c = c->accept_next)
        before = c;
    *(before ? &before->accept_next : &l->accept_head) = s->accept_next;
    if (l->accept_tail == s)
        l->accept_tail = before;
    s->accept_next = s->listener = NULL;
    l->queued--;
    tflow_release(s);
    s->state = TS_DEAD;
    tobj_put(&s->obj);
}

void tlisten_end(struct tsock *s)
{
    uint32_t handle = s->handle;

    tlisten_no_turns(s);
    if (s->announced || s->refused)
        leave_queue(s);
    else
        tlisten_drop_queue(s);
    thandle_free(handle); /* later commands find no socket */
    s->handle = 0;
    tctx.listeners--;
    if (!s->announced && !s->refused) /* of several engines some may have accepted LISTEN */
        return;
    s->refused = 0;
    /* Waits: a peer that connects after close() must not reach it. */
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        if (tqp_send(tctx.qps[q], TOE_CMD_UNLISTEN, 0, 0, handle, 0, 0))
            tqp_settle(tctx.qps[q]);
}

/* Gives s a descriptor, a duplicate of the placeholder. Returns it, or -1 with errno. */
static int number_for(struct tsock *s, int flags)
{
    int fd = sys_fcntl(tctx.placeholder_fd, flags & SOCK_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);

    if (fd >= (int)TFD_MAX) {
        sys_close(fd);
        return terr(EMFILE);
    }
    if (fd >= 0)
        tfd_set(fd, &s->obj);
    return fd;
}

/* Takes a connection from the queue and gives it a descriptor. */
static int take(struct tsock *l, struct sockaddr *addr, socklen_t *len, int flags)
{
    struct tsock *s = l->accept_head;
    int fd;

    if (addr && (!len || (int)*len < 0))
        return terr(len ? EINVAL : EFAULT);
    fd = flags & OWN_NUMBER ? tfd_own_new(&s->obj) : number_for(s, flags);
    if (fd < 0)
        return -1;
    tlisten_dequeue(l);
    s->nonblock = (flags & SOCK_NONBLOCK) != 0;
    s->obj.refs--; /* the queue's reference */
    if (s->state == TS_OPEN) {
        tqp_send(s->qp, TOE_CMD_ACCEPT, 0, 0, s->slot, 0, 0);
        tsock_apply_options(s);
    }
    tturn_end();
    if (addr)
        tsock_name(s, true, addr, len);
    return fd;
}

/* Returns the field of the flow record that decides between this process and the TOE, which may
 * move a connection to another process. NULL: it does not move. */
static uint32_t *claim_of(const struct tsock *s)
{
    struct toedev_flow_record *records;

    if (s->state != TS_OPEN || s->qp->direct)
        return NULL;
    records = (struct toedev_flow_record *)(s->qp->area + s->qp->layout.records);
    return &records[s->slot].claim;
}

/* Claims the oldest connection of the queue, and leaves those that the TOE is moving. False: there
 * is none. */
static bool claim(struct tsock *l)
{
    while (l->accept_head) {
        uint32_t *claim = claim_of(l->accept_head);

        if (!claim ||
            __atomic_exchange_n(claim, TOEDEV_CLAIM_HOST, __ATOMIC_ACQ_REL) != TOEDEV_CLAIM_TOE)
            return true;
        leave_first(l);
    }
    return false;
}

/* Gives a connection that was claimed, but could not be accepted, up for others. */
static void unclaim(const struct tsock *l)
{
    uint32_t *claim = l->accept_head ? claim_of(l->accept_head) : NULL;

    if (claim)
        __atomic_store_n(claim, TOEDEV_CLAIM_NONE, __ATOMIC_RELEASE);
}

/* Sleeps until the listener or its kernel half is ready. */
static int wait_both(struct tsock *s, int fd, uint64_t deadline)
{
    struct pollfd k[2 + TWAIT_EXTRA] = {{.fd = fd, .events = POLLIN}};
    struct twaiter *w;
    int r;

    if (tlisten_begun_by_wait())
        return 0;
    w = twait_begin(1);
    if (!w)
        return -1;
    twait_add(w, &s->obj);
    r = twait_call(w, k, s->dual ? 1 : 0, deadline);
    twait_end(w);
    return r;
}

/* Ends an accept() from a listener that the TOE has refused. A waiting program gets the error each
 * time, as it would sleep for ever; one that polls gets it once for each LISTEN. */
static int refused(struct tsock *s)
{
    int error = s->refused;

    if (!tsock_take_error(s) && s->nonblock)
        error = EAGAIN;
    return terr(error);
}

static int accept_locked(struct tsock *s, int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    uint64_t deadline = 0;
    int r;

    for (;;) {
        if (!claim(s)) {
            tsock_use(s);
            if (s->nonblock)
                tlisten_settle();
            tctx_progress();
        }
        if (claim(s)) {
            r = take(s, addr, len, flags);
            if (r < 0)
                unclaim(s);
            return r;
        }
        if (s->state != TS_LISTEN)
            return terr(EINVAL);
        if (s->dual) {
            /* never blocks: toe_listen() made the kernel's half non-blocking */
            r = sys_accept4(fd, addr, len, flags & ~OWN_NUMBER);
            tpolicy_accepted(fd, r);
            if (r >= 0 || errno != EAGAIN)
                return r;
        }
        if (unlikely(s->refused))
            return refused(s);
        if (s->nonblock)
            return terr(EAGAIN);
        if (!deadline)
            deadline = tclock_deadline(s->opts.rcvtimeo);
        else if (deadline != TWAIT_FOREVER && tclock_ns() >= deadline)
            return terr(EAGAIN);
        if (wait_both(s, fd, deadline) < 0)
            return -1;
    }
}

static int accept_any(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    struct tsock *s;
    int r;

    tctx_lock();
    if (tinherit_use(fd) < 0) {
        tctx_unlock();
        return -1;
    }
    s = tsock_get(fd);
    if (!s || tsock_kernels(s)) {
        tctx_unlock();
        return sys_accept4(fd, addr, len, flags & ~OWN_NUMBER);
    }
    if (s->state != TS_LISTEN) {
        r = terr(EINVAL);
    } else {
        tobj_hold(&s->obj);
        r = accept_locked(s, fd, addr, len, flags);
        tobj_put(&s->obj);
    }
    tctx_unlock();
    return r;
}

int toe_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    if (!tsock_get(fd))
        return sys_accept4(fd, addr, len, flags);
    if (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC))
        return terr(EINVAL);
    return accept_any(fd, addr, len, flags);
}

int toe_own_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    if (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC))
        return terr(EINVAL);
    return accept_any(fd, addr, len, flags | OWN_NUMBER);
}

int toe_accept(int fd, struct sockaddr *addr, socklen_t *len)
{
    return toe_accept4(fd, addr, len, 0);
}
