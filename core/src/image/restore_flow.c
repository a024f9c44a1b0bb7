/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_flow.c - restores a flow (restore.c): reads it into a TCB with all that it borrows,
 * checks it as a whole, and only then makes it visible to segments and timers.
 */
#include "restore_flow.h"

#include "../cc/cc_bbr.h"
#include "../cc/cc_bbr1.h"
#include "../cc/cc_cubic.h"
#include "../cc/cc_dctcp.h"
#include "../cc/cc_newreno.h"
#include "../cc/tcp_record.h"
#include "../tcp/tcp_bind.h"
#include "../tcp/tcp_eor.h"
#include "../tcp/tcp_listen.h"
#include "../tcp/tcp_runs.h"
#include "../tcp/tcp_sack.h"
#include "restore.h"
#include "save_tables.h"

#define DAMAGED "the image is damaged: a record ends too early, or a value is too large"

/* Flags of membership in lists of the stack. */
#define PLACES (TOEC_F_PENDING | TOEC_F_PARKED | TOEC_F_ARMED)
/* Flags of an episode of loss. */
#define LOSSY     (TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_RTX_HEAD | TOEC_F_TLP | TOEC_F_SACKED)
#define MSS_LEAST 36u /* TOEC_MSS_MIN, less what options take */

static int take(const struct toec_restoring *r, const struct toec_table *t, void *to)
{
    return toec_image_take(&r->in, t->row, t->count, to);
}

/* ---- identity and owner ---- */

static const char *name_sound(const struct toec_restoring *r, const struct toec_tcb *t)
{
    int four = toec_addr_is4(&t->remote);

    if (t->state <= TOEC_CLOSED || t->state >= TOEC_TIME_WAIT || !t->local_port || !t->remote_port)
        return "the image is damaged: a flow is in no state that there is";
    if (toec_addr_is4(&t->local) != four || toec_addr_is_zero(&t->remote) ||
        (four ? toec_addr_get4(&t->local) != toec_get32(r->s->cfg.ip)
              : r->s->cfg.ip6 == TOEC_IP6_OFF))
        return "the image has a flow of another address";
    return 0;
}

/* Attaches the owner, whose buffers must have their old sizes. */
static const char *take_owner(struct toec_restoring *r, struct toec_tcb *t)
{
    struct toec_buffers b;
    struct toec_open info;
    toec_u8 tx = t->tx_log, rx = t->rx_log;

    memset(&b, 0, sizeof(b));
    info.local = t->local;
    info.remote = t->remote;
    info.local_port = t->local_port;
    info.remote_port = t->remote_port;
    info.hash = t->node.hash;
    if (r->by->flow(r->by->arg, toec_image_number(&r->in, TOEC_TAG_OWNER), t, &info, &b) ||
        !toec_buffers_ok(&b))
        return "the image has a flow that the host does not know";
    toec_tcb_buffers(t, &b);
    if (t->tx_log != tx || t->rx_log != rx)
        return "the image is damaged: a flow had buffers of another size";
    return 0;
}

/* Restores the MTU of the path; the next hop is looked up at the next transmission. */
static void take_path(struct toec_restoring *r, struct toec_tcb *t)
{
    toec_u16 mtu = t->path.mtu;

    memset(&t->path, 0, sizeof(t->path));
    t->path.mtu = (toec_u16)TOEC_MIN(mtu, r->s->cfg.mtu);
    t->path.hlen = toec_addr_is4(&t->remote) ? TOEC_IP4_LEN : TOEC_IP6_LEN;
    t->path.epoch = (toec_u16)(r->s->route_epoch - 1);
}

const char *toec_restore_flow(struct toec_restoring *r)
{
    const char *wrong = toec_restore_flow_end(r);
    struct toec_tuple id;
    struct toec_tcb *t, is;
    toec_u32 hash;

    if (wrong)
        return wrong;
    r->tw = 0;
    memset(&is, 0, sizeof(is));
    if (take(r, &toec_t_flow, &is) || (is.rare & TOEC_RARE_EOR))
        return DAMAGED;
    wrong = name_sound(r, &is);
    if (wrong)
        return wrong;
    id.local = &is.local;
    id.remote = &is.remote;
    id.local_port = is.local_port;
    id.remote_port = is.remote_port;
    hash = toec_tuple_hash(r->s, &id);
    if (r->flows == r->announced || r->s->tcp->flows.used == r->s->tcp->flows.total ||
        toec_tcb_find(r->s, hash, &id))
        return "the image is damaged: a flow is there twice, or there are more than it says";
    t = toec_tcb_new(r->s, &id, hash, r->now);
    is.node = t->node;
    is.remote_ip = t->remote_ip;
    if (is.reason)
        is.rare |= TOEC_RARE_SOFT; /* as in settle_reason() */
    is.cc_ops = toec_cc_get((unsigned)toec_image_number(&r->in, TOEC_TAG_CC));
    if (!is.cc_ops)
        return "the image is damaged: a flow has no congestion control that there is";
    *t = is;
    toec_runs_init(t);
    toec_ooo_init(t);
    r->flow = t;
    r->half_of = (toec_u32)toec_image_number(&r->in, TOEC_TAG_LISTENER);
    if (toec_image_number(&r->in, TOEC_TAG_RECORD) && !toec_record_borrow(r->s, t))
        return "the image has more flows with records of transmissions than there is room for";
    if (toec_image_number(&r->in, TOEC_TAG_GAPS) && !toec_ooo_more(r->s, t))
        return "the image has more flows with gaps than there is room for";
    if (t->rack.record)
        memset(&t->rack.record->model, 0,
               sizeof(*t->rack.record) - TOEC_OFFSETOF(struct toec_record, model));
    take_path(r, t);
    return take_owner(r, t);
}

/* ---- borrowed records ---- */

static const char *take_bbr(struct toec_restoring *r, struct toec_tcb *t)
{
    int first = r->in.type == TOEC_REC_BBR1;

    if (t->cc_ops != (first ? &toec_cc_bbr1 : &toec_cc_bbr3) || !t->rack.record)
        return DAMAGED;
    toec_cc_place(t);
    if (first)
        return take(r, &toec_t_bbr1, t->cc.u.bbr1) ? DAMAGED : 0;
    return take(r, &toec_t_bbr, t->cc.u.bbr) ? DAMAGED : 0;
}

static const char *take_cc(struct toec_restoring *r, struct toec_tcb *t)
{
    const struct toec_cc_ops *ops = t->cc_ops;
    int bad = 0;

    switch (r->in.type) {
    case TOEC_REC_NEWRENO:
        bad = ops != &toec_cc_newreno || take(r, &toec_t_newreno, &t->cc.u.newreno);
        break;
    case TOEC_REC_CUBIC:
        bad = ops != &toec_cc_cubic || take(r, &toec_t_cubic, &t->cc.u.cubic);
        break;
    case TOEC_REC_DCTCP:
        bad = ops != &toec_cc_dctcp || take(r, &toec_t_dctcp, &t->cc.u.dctcp);
        break;
    default:
        bad = !t->rack.record || take(r, &toec_t_rate, &t->rack.record->rate);
    }
    return bad ? DAMAGED : 0;
}

static const char *take_pace(struct toec_restoring *r, struct toec_tcb *t)
{
    struct toec_pace *p;
    toec_time at = r->now << TOEC_PACE_SHIFT;

    if (t->pace)
        return DAMAGED;
    p = toec_pace_get(r->s, t);
    if (take(r, &toec_t_pace, p))
        return DAMAGED;
    if (toec_image_number(&r->in, TOEC_TAG_TICK_SET))
        toec_wheel_set(&r->s->tcp->pace_wheel, &p->timer, TOEC_TMR_PACE,
                       toec_deadline_of((toec_u32)toec_image_number(&r->in, TOEC_TAG_TICK), at));
    return 0;
}

static const char *take_episode(struct toec_restoring *r, struct toec_tcb *t)
{
    if (t->rack.episode)
        return DAMAGED;
    return take(r, &toec_t_episode, toec_episode_get(r->s, t, r->now)) ? DAMAGED : 0;
}

static const char *take_run(struct toec_restoring *r, struct toec_tcb *t)
{
    struct toec_run *run;

    if (t->rack.n == t->rack.room)
        return "the image is damaged: a flow has more transmissions recorded than it has room for";
    run = &t->rack.run[t->rack.n++];
    return take(r, &toec_t_run, run) ? DAMAGED : 0;
}

static const char *take_gap(struct toec_restoring *r, struct toec_tcb *t)
{
    struct toec_iv gap;

    if (take(r, &toec_t_gap, &gap) || t->n_ooo == TOEC_OOO_MAX)
        return DAMAGED;
    if (t->n_ooo == t->ooo_room && !toec_ooo_more(r->s, t))
        return "the image has more flows with gaps than there is room for";
    t->ooo[t->n_ooo++] = gap;
    return 0;
}

/* Takes a record boundary, which is within the data not acknowledged. */
static const char *take_eor(struct toec_restoring *r, struct toec_tcb *t)
{
    toec_u64 at = toec_image_number(&r->in, TOEC_TAG_VALUE);
    const struct toec_eor *e = toec_eor_of(r->s, t);

    if (at > 0xffffffffu || (toec_u32)at - t->snd_una - 1 >= t->snd_end - t->snd_una ||
        ((t->rare & TOEC_RARE_EOR) && TOEC_SEQ_LE((toec_u32)at, e->at[e->n - 1])) ||
        !toec_eor_add(r->s, t, (toec_u32)at))
        return DAMAGED;
    return 0;
}

const char *toec_restore_part(struct toec_restoring *r)
{
    struct toec_tcb *t = r->flow;

    if ((r->in.type < TOEC_REC_CWV || r->in.type > TOEC_REC_GAP) && r->in.type != TOEC_REC_EOR &&
        r->in.type != TOEC_REC_BBR1)
        return 0; /* a record of a later version */
    if (!t)
        return "the image is damaged: it begins in the middle of a flow";
    switch (r->in.type) {
    case TOEC_REC_CWV:
        return take(r, &toec_t_cwv, &t->stage.cwv) ? DAMAGED : 0;
    case TOEC_REC_BBR:
    case TOEC_REC_BBR1:
        return take_bbr(r, t);
    case TOEC_REC_PACE:
        return take_pace(r, t);
    case TOEC_REC_EPISODE:
        return take_episode(r, t);
    case TOEC_REC_RUN:
        return take_run(r, t);
    case TOEC_REC_GAP:
        return take_gap(r, t);
    case TOEC_REC_EOR:
        return take_eor(r, t);
    default:
        return take_cc(r, t);
    }
}

/* ---- consistency ---- */

/* Checks the receive stream: its window must be within the buffer. */
static int receive_sound(const struct toec_tcb *t)
{
    toec_u32 size = 1u << t->rx_log;
    unsigned i, j;

    if (t->state == TOEC_SYN_SENT)
        return t->n_ooo == 0;
    if (t->rcv_nxt - t->rcv_read > size + 1 || t->rcv_adv + 1 - t->rcv_read > size + 1 ||
        t->rcv_adv + 1 - t->rcv_nxt > size + 1)
        return 0;
    for (i = 0; i < t->n_ooo; i++) {
        const struct toec_iv *v = &t->ooo[i];

        if (v->start - t->rcv_nxt - 1 >= size || v->end - t->rcv_read > size ||
            TOEC_SEQ_GE(v->start, v->end))
            return 0;
        for (j = 0; j < i; j++)
            if (TOEC_SEQ_LE(v->start, t->ooo[j].end) && TOEC_SEQ_GE(v->end, t->ooo[j].start))
                return 0;
    }
    return 1;
}

/* Checks the send stream: SND.UNA <= SND.NXT <= SND.MAX <= end of the data. */
static int send_sound(const struct toec_tcb *t)
{
    toec_u32 size = 1u << t->tx_log, end = t->snd_end + 1 - t->snd_una;
    unsigned i;
    toec_u32 last;

    if (end > size + 2 || t->snd_max - t->snd_una > end ||
        t->snd_nxt - t->snd_una > t->snd_max - t->snd_una)
        return 0;
    if (t->rack.n == 0)
        return 1;
    last = t->rack.run[0].end;
    if (last - t->snd_una > end && t->snd_una - last > 1u << 30)
        return 0;
    for (i = 1; i < t->rack.n; last = t->rack.run[i++].end)
        if (TOEC_SEQ_LE(t->rack.run[i].end, last))
            return 0;
    return TOEC_SEQ_LE(last, t->snd_max);
}

static toec_u32 marked(const struct toec_tcb *t, unsigned mark)
{
    toec_u32 n = 0, from = t->snd_una;
    unsigned i;

    for (i = 0; i < t->rack.n; i++) {
        const struct toec_run *run = &t->rack.run[i];

        if (TOEC_SEQ_LE(run->end, from))
            continue;
        if (run->marks & mark)
            n += run->end - from;
        from = run->end;
    }
    return n;
}

/* Checks loss recovery, which relies on the state of what it has started. */
static int recovery_sound(const struct toec_tcb *t)
{
    const struct toec_rack *k = &t->rack;

    if (!k->episode && ((t->flags & LOSSY) || k->reo_set || k->sacked || k->lost))
        return 0;
    if (k->episode && k->episode->frto > TOEC_FRTO_NEW)
        return 0;
    return k->sacked == marked(t, TOEC_RUN_SACKED) && k->lost == marked(t, TOEC_RUN_LOST);
}

/* Checks the state of BBR of an established flow. */
static int bbr_sound(const struct toec_tcb *t)
{
    const struct toec_cc_bbr1 *f = t->cc.u.bbr1;
    const struct toec_cc_bbr *b = t->cc.u.bbr;

    if (t->cc_ops == &toec_cc_bbr1)
        return f && f->state < TOEC_BBR1_STATES && f->cycle < TOEC_BBR1_CYCLE &&
               f->extra_acked_now <= 1 && f->lt_bw <= TOEC_PACE_MAX &&
               f->best[0].bw <= TOEC_PACE_MAX && f->best[1].bw <= TOEC_PACE_MAX &&
               f->best[2].bw <= TOEC_PACE_MAX;
    return b && b->state < TOEC_BBR_NONE && b->undo_state <= TOEC_BBR_NONE &&
           b->bw_probe_up_rounds <= 30 && b->bw <= TOEC_PACE_MAX && b->max_bw[0] <= TOEC_PACE_MAX &&
           b->max_bw[1] <= TOEC_PACE_MAX;
}

static int cc_sound(const struct toec_tcb *t)
{
    const struct toec_pace *p = t->pace;

    if (p && p->rate && (p->quantum == 0 || p->rate > TOEC_PACE_MAX || p->rate < 1000))
        return 0;
    if (p && (p->quantum > 1u << 24 || p->max > TOEC_PACE_MAX))
        return 0;
    if (t->cwnd > TOEC_CWND_MAX || t->cc.ssthresh > TOEC_CWND_MAX || t->cc.hs_phase > TOEC_HS_CSS)
        return 0;
    if (t->state < TOEC_ESTABLISHED)
        return !(t->cc_ops->flags & TOEC_CC_RECORD) || (!t->cc.u.bbr && !t->cc.sampling);
    if (t->cwnd == 0 || ((t->cc_ops->flags & TOEC_CC_PACED) && !p))
        return 0;
    if (!(t->cc_ops->flags & TOEC_CC_RECORD))
        return 1;
    return bbr_sound(t);
}

static int segments_sound(const struct toec_tcb *t)
{
    const struct toec_pm *m = &t->pm;
    toec_u32 least = toec_addr_is4(&t->remote) ? TOEC_PMTU_MIN4 : TOEC_PMTU_MIN6;

    if (m->discover > TOEC_MTU_OMIT || t->path.mtu < least)
        return 0;
    if (m->user_mss && m->user_mss < TOEC_MSS_MIN)
        return 0;
    if (t->state == TOEC_SYN_SENT)
        return m->mtu == 0;
    /* t->mss is recomputed from both when the path changes */
    if (m->peer_mss < TOEC_MSS_MIN || t->mss < MSS_LEAST ||
        t->mss + t->path.hlen + TOEC_TCP_LEN + toec_opt_len(t) > t->path.mtu)
        return 0;
    return m->mtu <= t->path.mtu && m->high <= t->path.mtu && m->probe <= t->path.mtu &&
           (m->low == 0 || (m->low >= TOEC_MTU_LEAST && m->low <= t->path.mtu)) &&
           m->watch_size <= t->path.mtu;
}

static int options_sound(const struct toec_tcb *t)
{
    return t->scales >> 4 <= TOEC_WSCALE_MAX && (t->scales & 15u) <= TOEC_WSCALE_MAX &&
           t->backoff <= 16 && t->ecn.policy >= TOEC_ECN_OFF && t->ecn.policy <= TOEC_ECN_PASSIVE &&
           !(t->rare & TOEC_RARE_SOFT) == !t->reason &&
           (t->rare & (TOEC_RARE_ACKED | TOEC_RARE_HALF)) != TOEC_RARE_ACKED &&
           t->fo.syn_len + t->path.hlen + TOEC_TCP_LEN <= t->path.mtu && t->keep_intvl &&
           t->rto <= TOEC_RTO_MAX / 4u + 1u && t->pm.reuse <= TOEC_REUSE_ALL;
}

static const char *flow_sound(const struct toec_restoring *r, const struct toec_tcb *t)
{
    if (!receive_sound(t))
        return "the image is damaged: a flow has received what it cannot have";
    if (!send_sound(t))
        return "the image is damaged: a flow has sent what it cannot have";
    if (!recovery_sound(t))
        return "the image is damaged: what a flow knows of its losses does not fit together";
    if (!cc_sound(t))
        return "the image is damaged: a flow has no congestion window that there is";
    if (!segments_sound(t))
        return "the image is damaged: a flow has segments of no size that there is";
    if (!options_sound(t))
        return "the image is damaged: a flow has options that there are not";
    if ((t->rare & TOEC_RARE_AO) && (!r->s->cfg.max_ao_keys || !toec_ao_of(r->s, t)))
        return "the image is damaged: a flow has lost its keys";
    return 0;
}

/* ---- lists and timers ---- */

static const char *join_listener(struct toec_restoring *r, struct toec_tcb *t)
{
    struct toec_pool *pool = &r->s->tcp->listeners;
    struct toec_listener *l;

    if (t->fo.flags & TOEC_FO_SYN) {
        if (t->state < TOEC_ESTABLISHED || t->fo.listener >= pool->total)
            return "the image is damaged: a flow has no listener";
        toec_restore_reach(r->s, t->fo.listener + 1u);
        l = toec_pool_at(pool, t->fo.listener);
        l->fo.pending += l->live && l->fo.serial == t->fo.serial;
    }
    if ((t->rare & TOEC_RARE_HALF) == 0)
        return r->half_of ? DAMAGED : 0;
    l = r->half_of && r->half_of <= pool->fresh ? toec_pool_at(pool, r->half_of - 1) : 0;
    if (!l || !l->live || t->state != TOEC_SYN_RECEIVED)
        return "the image is damaged: a half-open flow has no listener";
    toec_half_open_add(r->s, t, l);
    return 0;
}

const char *toec_restore_flow_end(struct toec_restoring *r)
{
    struct toec_tcb *t = r->flow;
    toec_u32 flags;
    const char *wrong;

    if (!t)
        return 0;
    wrong = flow_sound(r, t);
    if (!wrong)
        wrong = join_listener(r, t);
    if (wrong)
        return wrong;
    toec_port_hold(r->s, &t->local, t->local_port, t->pm.reuse);
    flags = t->flags;
    t->flags &= ~PLACES;
    if (t->n_ooo == 0 && !toec_dsack_due(t))
        t->flags &= ~TOEC_F_OOO;
    if (flags & TOEC_F_PENDING)
        toec_pend(r->s, t);
    if (flags & TOEC_F_ARMED) {
        t->flags |= TOEC_F_ARMED;
        toec_timer_set(r->s, &t->timer, TOEC_TMR_FLOW, toec_deadline_of(t->timer_due, r->now));
    }
    r->flow = 0;
    r->flows++;
    return 0;
}
