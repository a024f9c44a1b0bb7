/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - the bottleneck: loss, queue (drop-tail; RED, Floyd and Jacobson 1993; CoDel, RFC 8289;
 * ECN marks above a step, RFC 8257 4.1), delay, jitter, reordering, duplicates.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "link.h"

struct packet *packet_new(struct net *n)
{
    struct packet *p = n->free;

    if (p)
        n->free = p->next;
    else
        p = must(malloc(sizeof(*p)));
    p->next = 0;
    p->off = p->data = 0;
    return p;
}

void packet_free(struct net *n, struct packet *p)
{
    p->next = n->free;
    n->free = p;
}

void link_init(struct link *l, struct net *n)
{
    memset(l, 0, sizeof(*l));
    l->net = n;
    l->limit = 0xffffffffu;
    l->red_p = 0.1;
    l->red_weight = 0.002;
    l->codel_target = 5 * MSEC;
    l->codel_interval = 100 * MSEC;
    l->loss.in_bad = 1;
    l->tail = &l->head;
}

/* ---- loss ---- */

static int is_lost(struct link *l)
{
    struct loss *m = &l->loss;
    struct net *n = l->net;

    if (m->p > 0 && net_chance(n) < m->p)
        return 1;
    if (m->to_bad <= 0)
        return 0;
    if (net_chance(n) < (m->bad ? m->to_good : m->to_bad))
        m->bad = !m->bad;
    return net_chance(n) < (m->bad ? m->in_bad : m->in_good);
}

/* Returns whether drop= of the flow loses this segment. */
static int is_listed(struct packet *p)
{
    struct flow *f = p->from ? p->from->flow : 0;
    unsigned i;

    if (!f || !p->from->sender || p->data == 0 || f->seg == 0)
        return 0;
    for (i = 0; i < f->drops; i++) {
        uint64_t at = (uint64_t)f->drop[i].seg * f->seg;

        if (f->drop[i].times && p->off <= at && at < (uint64_t)p->off + p->data) {
            f->drop[i].times--;
            return 1;
        }
    }
    return 0;
}

/* ---- ECN (RFC 3168): the field has different places in IPv4 and IPv6 ---- */

static int is_ip(const struct packet *p)
{
    return p->from &&
           ((p->hdr[12] == 0x08 && p->hdr[13] == 0) || (p->hdr[12] == 0x86 && p->hdr[13] == 0xdd));
}

/* Sets CE. Returns 0 when the packet is not ECN-capable. */
static int mark(struct link *l, struct packet *p)
{
    int shift = p->hdr[12] == 0x86 ? 4 : 0;

    if (!is_ip(p) || ((p->hdr[15] >> shift) & 3) == 0)
        return 0;
    p->hdr[15] = (uint8_t)(p->hdr[15] | 3 << shift);
    l->marked++;
    return 1;
}

/* ---- queueing ---- */

void link_account(struct link *l)
{
    l->byte_ns += (double)l->bytes * (double)(l->net->now - l->counted_at);
    l->counted_at = l->net->now;
}

/* Returns 1 when RED drops or marks an arriving packet. */
static int red_hits(struct link *l)
{
    double chance;

    l->red_avg += (l->bytes - l->red_avg) * l->red_weight;
    if (l->red_avg < l->red_min) {
        l->red_count = -1;
        return 0;
    }
    l->red_count++;
    if (l->red_avg >= l->red_max)
        chance = 1;
    else
        chance = l->red_p * (l->red_avg - l->red_min) / (l->red_max - l->red_min);
    if (l->red_count * chance < 1)
        chance /= 1 - l->red_count * chance;
    else
        chance = 1;
    if (net_chance(l->net) >= chance)
        return 0;
    l->red_count = 0;
    return 1;
}

/* Returns 1 when the queue drops the packet. */
static int refuse(struct link *l, struct packet *p)
{
    if (l->bytes + p->len > l->limit) {
        l->dropped++;
        return 1;
    }
    if (l->qdisc == Q_STEP && l->bytes > l->step)
        mark(l, p);
    if (l->qdisc == Q_RED && red_hits(l) && !(l->ecn && mark(l, p))) {
        l->aqm_dropped++;
        return 1;
    }
    return 0;
}

static struct packet *pull(struct link *l)
{
    struct packet *p = l->head;

    if (!p)
        return 0;
    link_account(l);
    l->head = p->next;
    if (!l->head)
        l->tail = &l->head;
    l->bytes -= p->len;
    p->next = 0;
    return p;
}

/* Returns whether sojourn times were above the target for an interval (RFC 8289 5.4). */
static int codel_waited(struct link *l, const struct packet *p)
{
    toec_time now = l->net->now;

    if (!p || now - p->queued_at < l->codel_target || l->bytes <= 1514) {
        l->codel_above = 0;
        return 0;
    }
    if (l->codel_above == 0) {
        l->codel_above = now + l->codel_interval;
        return 0;
    }
    return now >= l->codel_above;
}

static toec_time codel_after(const struct link *l, toec_time t)
{
    return t + (toec_time)((double)l->codel_interval / sqrt(l->codel_count));
}

/* Marks p, or drops it and dequeues the next. Returns the packet to send. */
static struct packet *codel_hit(struct link *l, struct packet *p)
{
    if (l->ecn && mark(l, p))
        return p;
    l->aqm_dropped++;
    packet_free(l->net, p);
    return pull(l);
}

static struct packet *codel_go_on(struct link *l, struct packet *p)
{
    toec_time now = l->net->now;

    while (l->codel_dropping && p && now >= l->codel_next) {
        struct packet *goes;

        l->codel_count++;
        l->codel_next = codel_after(l, l->codel_next);
        goes = codel_hit(l, p);
        if (goes == p)
            break; /* marked */
        p = goes;
        if (!codel_waited(l, p))
            l->codel_dropping = 0;
    }
    return p;
}

static struct packet *codel_pull(struct link *l)
{
    toec_time now = l->net->now;
    struct packet *p = pull(l);
    int waited = codel_waited(l, p);

    if (l->codel_dropping) {
        if (!waited)
            l->codel_dropping = 0;
        return codel_go_on(l, p);
    }
    if (waited) {
        uint32_t delta = l->codel_count - l->codel_last;

        p = codel_hit(l, p);
        codel_waited(l, p);
        l->codel_dropping = 1;
        l->codel_count = delta > 1 && now - l->codel_next < 16 * l->codel_interval ? delta : 1;
        l->codel_last = l->codel_count;
        l->codel_next = codel_after(l, now);
    }
    return p;
}

/* Applies delay, jitter, reordering and duplication to a sent packet. */
static void send_off(struct link *l, struct packet *p, toec_time takes)
{
    struct net *n = l->net;
    toec_time at = n->now + takes + l->delay;

    l->out++;
    l->out_bytes += p->len;
    if (!p->from) {
        packet_free(n, p);
        return;
    }
    at += p->from->flow->extra;
    if (l->jitter)
        at += (toec_time)(net_chance(n) * (double)l->jitter);
    if (l->reorder > 0 && net_chance(n) < l->reorder) {
        at += l->reorder_by;
        l->reordered++;
    }
    if (at < l->blocked_until)
        at = l->blocked_until;
    if (l->duplicate > 0 && net_chance(n) < l->duplicate) {
        struct packet *twin = packet_new(n);

        *twin = *p;
        twin->next = 0;
        l->duplicated++;
        event_push(n, at, EV_ARRIVE, twin);
    }
    event_push(n, at, EV_ARRIVE, p);
}

static void transmit(struct link *l)
{
    struct packet *p = l->qdisc == Q_CODEL ? codel_pull(l) : pull(l);
    toec_time takes;

    if (!p) {
        l->busy = 0;
        return;
    }
    l->busy = 1;
    takes = (toec_time)(p->len * 8e9 / l->rate);
    event_push(l->net, l->net->now + takes, EV_LEAVE, l);
    send_off(l, p, takes);
}

void link_leave(struct link *l)
{
    transmit(l);
}

void link_enter(struct link *l, struct packet *p)
{
    l->in++;
    if (is_listed(p) || is_lost(l)) {
        l->lost++;
        packet_free(l->net, p);
        return;
    }
    if (l->rate <= 0) {
        send_off(l, p, 0);
        return;
    }
    if (refuse(l, p)) {
        packet_free(l->net, p);
        return;
    }
    link_account(l);
    p->queued_at = l->net->now;
    p->next = 0;
    *l->tail = p;
    l->tail = &p->next;
    l->bytes += p->len;
    if (l->bytes > l->max_bytes)
        l->max_bytes = l->bytes;
    if (!l->busy)
        transmit(l);
}
