/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netsim.c - flows of core/ over a simulated bottleneck, in virtual time.
 *
 *   netsim --fwd rate=100mbit,delay=10ms,queue=250kB --rev delay=10ms --flow cc=cubic,n=2 --json -
 *
 * Exit codes: 0; 1 output failed; 2 wrong arguments; 3 core/ refuses a congestion control.
 */
#include <math.h>
#include <stdio.h>

#include "app.h"
#include "event.h"
#include "host.h"
#include "link.h"
#include "report.h"
#include "scenario.h"

/* ---- cross traffic ---- */

static void cross_send(struct net *n)
{
    struct cross *c = &n->cross;
    double gap = c->size * 8e9 / c->rate;
    toec_time next, phase;
    struct packet *p;

    if (c->stop && n->now >= c->stop)
        return;
    p = packet_new(n);
    p->from = 0;
    p->len = c->size;
    link_enter(&n->fwd, p);
    if (c->poisson)
        gap *= -log(1 - net_chance(n));
    next = n->now + (toec_time)gap + 1;
    phase = c->on ? (next - c->start) % (c->on + c->off) : 0;
    if (c->on && phase >= c->on)
        next += c->on + c->off - phase;
    event_push(n, next, EV_CROSS, n);
}

/* ---- changes of the links ---- */

static void change(struct net *n, const struct change *c)
{
    if (c->rate >= 0)
        c->link->rate = c->rate;
    if (c->delay != TOEC_NEVER)
        c->link->delay = c->delay;
    if (c->spike)
        c->link->blocked_until = n->now + c->spike;
}

/* ---- the run ---- */

static void sample(struct net *n)
{
    report_sample(n);
    event_push(n, n->now + n->sample, EV_SAMPLE, n);
}

static void handle(struct net *n, const struct event *e)
{
    struct host *h = e->what;
    struct packet *p = e->what;
    struct flow *f = e->what;

    switch (e->kind) {
    case EV_POLL:
        if (h->scheduled == n->now) {
            h->scheduled = 0;
            host_poll(h);
        }
        break;
    case EV_ENTER:
        link_enter(p->from->flow->fwd, p);
        break;
    case EV_LEAVE:
        link_leave(e->what);
        break;
    case EV_ARRIVE:
        host_arrive(p);
        break;
    case EV_APP:
        if (!f->open)
            flow_start(f);
        else if (app_write(f))
            host_poll(&f->a);
        break;
    case EV_READ:
        app_read(f);
        host_poll(&f->b);
        break;
    case EV_CROSS:
        cross_send(n);
        break;
    case EV_CHANGE:
        change(n, e->what);
        break;
    case EV_SAMPLE:
        sample(n);
        break;
    }
}

/* Handles the events up to `until`, and sets the time to it. */
static void run_to(struct net *n, toec_time until)
{
    struct event e;

    while (event_pop(n, until, &e)) {
        n->now = e.at;
        n->events++;
        handle(n, &e);
    }
    n->now = until;
}

static void run(struct net *n)
{
    unsigned i;

    n->now = START;
    n->random = n->seed;
    n->fwd.counted_at = n->rev.counted_at = START;
    for (i = 0; i < n->flows; i++)
        event_push(n, n->flow[i]->start, EV_APP, n->flow[i]);
    for (i = 0; i < n->changes; i++)
        event_push(n, n->change[i].at, EV_CHANGE, &n->change[i]);
    if (n->cross.rate > 0)
        event_push(n, n->cross.start, EV_CROSS, n);
    if (n->sample)
        event_push(n, START, EV_SAMPLE, n);
    run_to(n, START + n->warmup);
    for (i = 0; i < n->flows; i++)
        n->flow[i]->acked_at_warmup = n->flow[i]->acked;
    run_to(n, START + n->duration);
    link_account(&n->fwd);
    link_account(&n->rev);
    for (i = 0; i < n->flows; i++) {
        if (n->flow[i]->a.tcb)
            toec_flow_info(n->flow[i]->a.stack, n->flow[i]->a.tcb, &n->flow[i]->last);
    }
}

int main(int argc, char **argv)
{
    static struct net n;
    struct output o = {0, 0};
    unsigned i;
    int bad = 0;

    scenario_read(&n, &o, argc, argv);
    run(&n);
    if (o.json)
        bad |= report_json(&n, o.json, argc, argv);
    if (o.csv)
        bad |= report_csv(&n, o.csv);
    if (!o.json && !o.csv) {
        for (i = 0; i < n.flows; i++)
            printf("flow %u (%s): %.3f Mbit/s, %u retransmits\n", i, n.flow[i]->cc,
                   (double)(n.flow[i]->acked - n.flow[i]->acked_at_warmup) * 8e3 /
                       (double)(n.duration - n.warmup),
                   n.flow[i]->last.retransmits);
    }
    return bad ? 1 : 0;
}
