/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_options.c - options of flows and listeners (toec_set_option(), toec_listen_option()): a table
 * of the values that each takes and of what sets it.
 */
#include "tcp.h"
#include "tcp_bind.h"
#include "tcp_tables.h"
#include "tcp_timer.h"
#include "tcp_uto.h"

static void set_flag(struct toec_tcb *t, toec_u32 flag, toec_u32 on)
{
    t->flags = on ? t->flags | flag : t->flags & ~flag;
}

/* Sets a flag that held data back, which may be sent now. */
static void set_holding_flag(struct toec_stack *s, struct toec_tcb *t, toec_u32 flag, toec_u32 on)
{
    set_flag(t, flag, on);
    if (t->state >= TOEC_ESTABLISHED)
        toec_pend(s, t);
}

static int set_nodelay(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    /* tcp(7): an explicit flush of pending output, even if TCP_CORK is set */
    if (value && TOEC_SEQ_GT(t->snd_end, t->snd_max))
        t->flags |= TOEC_F_UNCORK;
    set_holding_flag(s, t, TOEC_F_NODELAY, value);
    return 0;
}

static int set_cork(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    /* as Linux: what was sent without push (MSG_MORE) is sent too (__tcp_sock_set_cork()) */
    if (!value && TOEC_SEQ_GT(t->snd_end, t->snd_max))
        t->flags |= TOEC_F_UNCORK;
    set_holding_flag(s, t, TOEC_F_CORK, value);
    return 0;
}

/* As on Linux, of lasting effect only until the flow's data shows which it is: 1: acknowledge what
 * waits, and data until the next answer; 0: let ACKs wait for answers. */
static int set_quickack(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    set_flag(t, TOEC_F_PINGPONG, !value);
    if (value && (t->flags & TOEC_F_DELACK)) {
        t->flags |= TOEC_F_ACK_NOW;
        toec_pend(s, t);
    }
    return 0;
}

/* RFC 9293 MAY-18. */
static int set_cc(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    const struct toec_cc_ops *ops = toec_cc_get(value);

    if (!ops)
        return TOEC_E_INVAL;
    return ops == t->cc_ops ? 0 : toec_cc_change(s, t, ops, now);
}

static int set_max_pacing(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    toec_pace_limit(s, t, value && value != 0xffffffffu ? toec_rate_of_bps(value) : 0);
    return 0;
}

static int set_user_timeout(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)s;
    (void)now;
    value = TOEC_MIN(value, 0x7fffffffu); /* 25 days: the longest span that ticks can compare */
    t->user_timeout = value ? TOEC_MS_LEAST(value) : 0;
    return 0;
}

static int set_syncnt(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)s;
    (void)now;
    t->fo.syn_retries = (toec_u8)value;
    return 0;
}

static int set_adv_uto(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    return toec_uto_set(s, t, value);
}

static int set_linger2(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)s;
    (void)now;
    t->linger2 = (toec_u16)value;
    return 0;
}

/* Returns not 0 when a keep-alive timer runs or has to be started. */
static int keeps_alive(const struct toec_tcb *t)
{
    return (t->flags & TOEC_F_KEEPALIVE) && t->state >= TOEC_ESTABLISHED &&
           !(t->flags & TOEC_F_USER_GONE);
}

static int set_keepalive(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    int ran = keeps_alive(t);

    set_flag(t, TOEC_F_KEEPALIVE, value);
    if (keeps_alive(t) && !ran) {
        t->keep_probes = 0;
        toec_keep_start(s, t, TOEC_MS_LEAST(t->keep_idle * 1000ull), now);
    }
    return 0;
}

/* As on Linux, the new time counts from the peer's last segment, not from the call. */
static int set_keepidle(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    toec_u32 idle = toec_ticks(now) - t->rcv_at, wait = TOEC_MS_LEAST(value * 1000ull);

    t->keep_idle = (toec_u16)value;
    if (keeps_alive(t))
        toec_keep_start(s, t, idle < wait ? wait - idle : 0, now);
    return 0;
}

static int set_keepintvl(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)s;
    (void)now;
    t->keep_intvl = (toec_u16)value; /* of the next probe on: the timer runs on, as on Linux */
    return 0;
}

static int set_keepcnt(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)s;
    (void)now;
    t->keep_cnt = (toec_u8)value;
    return 0;
}

/* Has segments of the flow follow what was set of its path. */
static int sync_path(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->state >= TOEC_ESTABLISHED)
        toec_pm_sync(s, t);
    return 0;
}

static int set_ecn(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    t->ecn.policy = (toec_u8)value;
    return sync_path(s, t);
}

static int set_discover(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    t->pm.discover = (toec_u8)value;
    return sync_path(s, t);
}

static int set_maxseg(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    t->pm.user_mss = (toec_u16)value;
    return sync_path(s, t);
}

/* R1122-06; as on Linux, the ECN field of a TCP segment is TCP's own. */
static int set_tos(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    t->ecn.tos = (toec_u8)(value & ~TOEC_IP_ECN);
    return sync_path(s, t);
}

static int set_reuse(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now)
{
    (void)now;
    toec_set_reuse(s, t, value);
    return 0;
}

#define ANY 0xffffffffu

/* The options of a flow: the values that each takes, and what sets it. */
static const struct option {
    toec_u32 option; /* enum toec_option */
    toec_u32 min, max;
    toec_u8 zero;     /* 0 is valid as well */
    toec_u8 listener; /* toec_listen_option() takes it too */
    int (*set)(struct toec_stack *s, struct toec_tcb *t, toec_u32 value, toec_time now);
} options[] = {
    {TOEC_OPT_NODELAY, 0, 1, 0, 0, set_nodelay},
    {TOEC_OPT_CORK, 0, 1, 0, 0, set_cork},
    {TOEC_OPT_QUICKACK, 0, 1, 0, 0, set_quickack},
    /* RFC 9293 MUST-24, MUST-25, MUST-27, MAY-5 */
    {TOEC_OPT_KEEPALIVE, 0, 1, 0, 0, set_keepalive},
    {TOEC_OPT_KEEPIDLE, 1, 32767, 0, 0, set_keepidle},
    {TOEC_OPT_KEEPINTVL, 1, 32767, 0, 0, set_keepintvl},
    {TOEC_OPT_KEEPCNT, 1, 127, 0, 0, set_keepcnt},
    {TOEC_OPT_CC, 0, ANY, 0, 0, set_cc},
    {TOEC_OPT_MAX_PACING, 0, ANY, 0, 0, set_max_pacing},
    {TOEC_OPT_USER_TIMEOUT, 0, ANY, 0, 0, set_user_timeout},
    {TOEC_OPT_SYNCNT, 0, 127, 0, 0, set_syncnt},
    {TOEC_OPT_ADV_UTO, 0, ANY, 0, 0, set_adv_uto},
    {TOEC_OPT_LINGER2, 0, 65535, 0, 0, set_linger2},
    {TOEC_OPT_ECN, TOEC_ECN_OFF, TOEC_ECN_PASSIVE, 0, 1, set_ecn},
    {TOEC_OPT_MTU_DISCOVER, 0, TOEC_MTU_OMIT, 0, 1, set_discover},
    /* TCP_MIN_MSS and MAX_TCP_WINDOW of Linux */
    {TOEC_OPT_MAXSEG, 88, 32767, 1, 1, set_maxseg},
    {TOEC_OPT_TOS, 0, 255, 0, 1, set_tos}, /* RFC 9293 MUST-48, SHLD-21, SHLD-22 */
    {TOEC_OPT_REUSE, 0, TOEC_REUSE_ALL, 0, 1, set_reuse},
};

/* The option, when the value is one that it takes; else 0. */
static const struct option *find_option(enum toec_option opt, toec_u32 value)
{
    const struct option *o = options;

    while (o < options + sizeof(options) / sizeof(options[0]) && o->option != (toec_u32)opt)
        o++;
    if (o == options + sizeof(options) / sizeof(options[0]))
        return 0;
    return (value >= o->min && value <= o->max) || (o->zero && value == 0) ? o : 0;
}

int toec_set_option(struct toec_stack *s, struct toec_tcb *t, enum toec_option opt, toec_u32 value,
                    toec_time now)
{
    const struct option *o = find_option(opt, value);

    return o ? o->set(s, t, value, now) : TOEC_E_INVAL;
}

static int listen_option_ok(enum toec_option opt, toec_u32 value)
{
    const struct option *o;

    if (opt == TOEC_OPT_DEFER_ACCEPT)
        return value <= 255;
    o = find_option(opt, value);
    return o && o->listener;
}

int toec_listen_option(struct toec_stack *s, toec_u32 id, enum toec_option opt, toec_u32 value)
{
    struct toec_listener *l;
    struct toec_tcb *t;

    if (id >= s->tcp->listeners.fresh)
        return TOEC_E_INVAL;
    l = toec_pool_at(&s->tcp->listeners, id);
    if (!l->live || !listen_option_ok(opt, value))
        return TOEC_E_INVAL;
    if (opt == TOEC_OPT_REUSE) {
        l->reuse = (toec_u8)value;
        for (t = l->half; t; t = t->stage.half.next)
            toec_set_reuse(s, t, value);
    } else if (opt == TOEC_OPT_DEFER_ACCEPT)
        l->defer = (toec_u8)value;
    else if (opt == TOEC_OPT_ECN)
        l->ecn = (toec_u8)value;
    else if (opt == TOEC_OPT_MTU_DISCOVER)
        l->discover = (toec_u8)value;
    else if (opt == TOEC_OPT_MAXSEG)
        l->user_mss = (toec_u16)value;
    else
        l->tos = (toec_u8)(value & ~TOEC_IP_ECN);
    return 0;
}
