/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp.c - the host's side of a queue pair's rings: commands out, commands in (SEEDS S1.10-S1.12).
 */
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctx.h"
#include "urgent.h"
#include "zerocopy.h"

#define SW_ENTRIES       1024u
#define HW_ENTRIES       4096u
#define LOOKS_PER_CHECK  256  /* rounds of waiting between two looks whether the TOE lives */
#define SETTLE_NS        NSEC /* a TOE that works takes commands at once */
#define DRAIN_MAX        1024 /* commands handled in one go: then the tail is published */
#define MODERATION_COUNT 1024 /* commands that end a moderated wait before its time */

struct tqp *tqp_new(const struct tconfig *cfg, uint32_t engine)
{
    struct tqp *qp = calloc(1, sizeof(*qp));

    if (!qp)
        return NULL;
    qp->doorbell_fd = qp->irq_fd = qp->ctl_fd = qp->mem_fd = -1;
    qp->engine = engine;
    qp->cfg = (struct toedev_qp_config){.sw_entries = SW_ENTRIES,
                                        .hw_entries = HW_ENTRIES,
                                        .slots = cfg->slots,
                                        .tx_size = cfg->tx_size,
                                        .rx_size = cfg->rx_size,
                                        .addresses = 2 * SW_ENTRIES};
    qp->slots = calloc(cfg->slots, sizeof(*qp->slots));
    qp->releases = calloc((size_t)TQP_LATER * cfg->slots, sizeof(*qp->releases));
    if (!qp->slots || !qp->releases || toedev_layout(&qp->cfg, &qp->layout) < 0) {
        tqp_detach(qp);
        return NULL;
    }
    return qp;
}

void tqp_use_area(struct tqp *qp, uint8_t *area)
{
    qp->area = area;
    qp->db = (struct toedev_doorbells *)(qp->area + qp->layout.doorbells);
    qp->status = (const struct toedev_status *)(qp->area + qp->layout.status);
    toe_ring_tx_init(&qp->sw, qp->area + qp->layout.sw_ring, qp->cfg.sw_entries,
                     &qp->status->sw_tail);
    toe_ring_rx_init(&qp->hw, qp->area + qp->layout.hw_ring, qp->cfg.hw_entries);
}

void tqp_register(struct tqp *qp)
{
    int saved = errno;

    qp->ordered = toe_ring_load(&qp->status->orders) &&
                  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    errno = saved;
}

void tqp_wake(struct tqp *qp)
{
    uint64_t one = 1;
    int saved = errno;

    qp->belled = qp->sw.head;
    /* EAGAIN: the count is at its maximum, so the TOE has a reason to wake already */
    (void)!sys_write(qp->doorbell_fd, &one, sizeof(one));
    errno = saved;
}

void tqp_breach(struct tqp *qp, const char *what, uint32_t value)
{
    if (!qp->broken)
        tlog("the TOE broke the device contract: %s (%u); its connections are reset", what, value);
    qp->broken = qp->breached = true;
}

bool tqp_make_room(struct tqp *qp)
{
    for (unsigned look = 1; !qp->broken; look++) {
        uint32_t room = toe_ring_room(&qp->sw);

        if (room == TOE_RING_BAD)
            tqp_breach(qp, "SW tail out of range", toe_ring_load(&qp->status->sw_tail));
        else if (room) {
            /* the counts run free: a bell that was heard keeps up with them */
            if ((int32_t)(qp->sw.tail - qp->belled) > 0)
                qp->belled = qp->sw.tail;
            return true;
        }
        tqp_ring(qp);
        /* ring.h: a TOE without room to answer takes no commands, so go on handling answers */
        tqp_drain(qp);
        if (look % LOOKS_PER_CHECK == 0 && (tqp_gone(qp) || toe_ring_load(&qp->status->halted)))
            qp->broken = true;
        if (look > 4)
            thost_yield();
    }
    return false;
}

void tqp_release_later(struct tqp *qp, uint32_t slot)
{
    if (qp->releases_n < TQP_LATER * qp->cfg.slots)
        qp->releases[qp->releases_n++] = slot;
    else
        tqp_breach(qp, "a flow ended twice", slot);
}

void tqp_abort_later(struct tqp *qp, uint32_t slot)
{
    tqp_release_later(qp, slot | TQP_ABORT);
}

void tqp_options_later(struct tqp *qp, uint32_t slot)
{
    tqp_release_later(qp, slot | TQP_OPTIONS);
}

static void say_options(const struct tqp *qp, uint32_t slot)
{
    struct tsock *s = qp->slots[slot];

    if (s && s != TSLOT_CLOSING)
        tconnect_options(s);
}

void tqp_flush(struct tqp *qp)
{
    uint32_t head = qp->sw.head;

    if (likely(!qp->releases_n))
        return;
    /* in order, an abort before the release of the same slot; putting may drain and so append */
    for (uint32_t i = 0; i < qp->releases_n; i++) {
        uint32_t slot = qp->releases[i];

        if (slot & TQP_ABORT) {
            tqp_put(qp, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, slot & ~TQP_ABORT, 0, 0);
        } else if (slot & TQP_OPTIONS) {
            say_options(qp, slot & ~TQP_OPTIONS);
        } else {
            qp->slots[slot] = NULL;
            tqp_put(qp, TOE_CMD_RELEASE, 0, 0, slot, 0, 0);
        }
    }
    qp->releases_n = 0;
    if (qp->sw.head != head)
        tqp_ring(qp);
}

void tqp_arm(struct tqp *qp)
{
    if (qp->direct)
        return; /* twait_arm() does what is needed */
    if (qp->adaptive) {
        uint32_t usec = tmoderation_usec(&qp->moderation, qp->hw.tail, tclock_ns());

        toe_ring_store(&qp->db->irq_usec, usec);
        toe_ring_store(&qp->db->irq_count, usec ? MODERATION_COUNT : 1);
    }
    toe_ring_store(&qp->db->irq_arm, 1);
    toe_ring_store(&qp->db->irq_seq, qp->db->irq_seq + 1);
    qp->armed = true;
    /* Orders the arming before the caller's last look at the ring. No doorbell: a TOE that sleeps
     * has nothing to tell, and looks at the arming when it has. */
    atomic_thread_fence(memory_order_seq_cst);
}

/* The socket of a flow that the TOE names; NULL when nobody wants to know. */
static struct tsock *flow_sock(struct tqp *qp, const struct toe_cmd *c)
{
    uint32_t slot = toe_cmd_flow(c);
    struct tsock *s;

    if (unlikely(slot >= qp->cfg.slots || !qp->slots[slot])) {
        tqp_breach(qp, "a command for a flow that is not there", slot);
        return NULL;
    }
    s = qp->slots[slot];
    return s == TSLOT_CLOSING ? NULL : s;
}

static void data_received(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = flow_sock(qp, c);
    uint32_t n = toe_cmd_arg0(c);

    if (unlikely(!s || s->state != TS_OPEN))
        return;
    if (unlikely(n > s->rx_mask + 1 - s->rx_avail - s->rx_unsaid - s->rx_held)) {
        tqp_breach(qp, "more data than the receive buffer holds", n);
        return;
    }
    /* after shutdown(SHUT_RD) Linux still takes data in; the reader sees end of stream all the same
     */
    s->rx_avail += n;
    if (unlikely(s->oob))
        turgent_data(s);
    tobj_notify(&s->obj, EPOLLIN | EPOLLRDNORM);
}

static void urgent(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = flow_sock(qp, c);

    if (s && s->state == TS_OPEN)
        turgent_told(s, toe_cmd_arg0(c));
}

static void send_complete(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = flow_sock(qp, c);
    uint32_t n = toe_cmd_arg0(c);
    bool was_writable;

    if (unlikely(!s || s->state != TS_OPEN))
        return;
    if (unlikely(n > s->tx_mask + 1 - s->tx_free)) {
        tqp_breach(qp, "more bytes acknowledged than sent", n);
        return;
    }
    was_writable = tsock_writable(s);
    s->tx_free += n;
    if (unlikely(s->zc))
        tzc_acked(s);
    /* Also when no sender was turned away: a poller may have found the socket not writable. */
    if (unlikely((!was_writable && tsock_writable(s)) || s->lingering))
        tobj_notify(&s->obj, EPOLLOUT | EPOLLWRNORM);
}

/* A reset in CLOSE-WAIT is a broken pipe (Linux, tcp_reset()). */
static int end_error(const struct tsock *s, int reason)
{
    if (reason == TOE_R_STALE)
        return ECONNRESET; /* accepted here while another got it */
    return reason == ECONNRESET && s->eof && !(s->shut & TSHUT_WR) ? EPIPE : reason;
}

static void close_event(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = flow_sock(qp, c);
    uint32_t slot = toe_cmd_flow(c);

    if (qp->broken)
        return;
    if (toe_cmd_flags(c) & TOE_F_CLOSE_EVENT_HALF) {
        if (s && s->state == TS_OPEN) {
            s->eof = 1;
            tobj_notify(&s->obj, tsock_events(s) | EPOLLIN | EPOLLRDHUP);
        }
        return;
    }
    if (s) {
        if (s->listener && toe_cmd_aux(c) == TOE_R_STALE)
            tlisten_stale(s);
        else if (s->state == TS_OPEN)
            tflow_gone(s, end_error(s, toe_cmd_aux(c)));
        else if (s->fast)
            tfast_ended(s, toe_cmd_aux(c));
    } else {
        tqp_release_later(qp, slot);
    }
}

static void error_event(struct tqp *qp, const struct toe_cmd *c)
{
    unsigned reason = toe_cmd_aux(c), type = toe_cmd_arg1(c);
    const char *name = toe_cmd_name(type);

    if (type == TOE_CMD_CONNECT) {
        tconnect_failed(toe_cmd_flow(c), (int)reason);
        return;
    }
    if (type == TOE_CMD_LISTEN) {
        struct tsock *s = thandle_get(toe_cmd_flow(c));

        if (s && s->state == TS_LISTEN)
            s->error = (int)reason;
        return;
    }
    if (type == TOE_CMD_BIND) {
        qp->no_bind |= reason == TOE_R_NOSYS;
        tctx.bind_refused |= reason == TOE_R_ADDRINUSE;
        return;
    }
    /* A command for a flow that ended meanwhile: its CLOSE_EVENT is before us in the ring. */
    if (reason == TOE_R_NOTCONN || reason == TOE_R_BADF || reason == TOE_R_NOENT)
        return;
    if (type == TOE_CMD_OPTION)
        return;
    tqp_breach(qp, name ? name : "a command was refused", reason);
}

void tqp_handle(struct tqp *qp, const struct toe_cmd *c)
{
    switch (toe_cmd_type(c)) {
    case TOE_CMD_DATA_RECEIVED:
        data_received(qp, c);
        break;
    case TOE_CMD_SEND_COMPLETE:
        send_complete(qp, c);
        break;
    case TOE_CMD_LISTEN_ESTABLISHED:
        tlisten_established(qp, c);
        break;
    case TOE_CMD_CONNECT_ESTABLISHED:
        tconnect_done(qp, c);
        break;
    case TOE_CMD_CONNECT_READY:
        tconnect_ready(qp, c);
        break;
    case TOE_CMD_URGENT:
        urgent(qp, c);
        break;
    case TOE_CMD_CONNECT_FAILED:
        tconnect_failed(toe_cmd_arg0(c), toe_cmd_aux(c));
        break;
    case TOE_CMD_CLOSE_EVENT:
        close_event(qp, c);
        break;
    case TOE_CMD_ERROR:
        error_event(qp, c);
        break;
    default:
        tqp_breach(qp, "unknown HW command", toe_cmd_type(c));
    }
}

uint32_t tqp_drain(struct tqp *qp)
{
    struct toe_cmd c;
    uint32_t n = 0;

    if (qp->direct)
        return tinline_run(qp);
    while (n < DRAIN_MAX && toe_ring_get(&qp->hw, &c)) {
        tqp_handle(qp, &c);
        n++;
        if (unlikely(qp->broken))
            break;
    }
    if (n) {
        toe_ring_store(&qp->db->hw_tail, qp->hw.tail);
        qp->armed = false;
    }
    return n;
}

void tqp_settle(struct tqp *qp)
{
    uint64_t limit = tclock_ns() + SETTLE_NS;
    uint32_t head = qp->sw.head;

    while (!qp->direct && !qp->broken &&
           (int32_t)(toe_ring_load(&qp->status->sw_tail) - head) < 0 && tclock_ns() < limit) {
        tqp_drain(qp);
        tqp_flush(qp);
        if (tqp_gone(qp))
            qp->broken = true;
        thost_yield();
    }
    tqp_drain(qp);
    tqp_flush(qp);
}
