/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.c - lists of established flows that no host has accepted (waiting.h). */
#include "waiting.h"
#include "events.h"

static struct flow_list *list_of(const struct slot *s)
{
    return s->parked ? &s->member->group->parked : &s->member->announced;
}

static void append(struct slot *s)
{
    struct flow_list *l = list_of(s);

    s->open_next = NULL;
    s->qp->engine->parked += s->parked;
    s->open_prev = l->last ? &l->last->open_next : &l->first;
    *s->open_prev = s;
    l->last = s;
    l->count++;
}

/* Finds the slot before s: its open_next is where s->open_prev points. */
static struct slot *before(const struct slot *s, const struct flow_list *l)
{
    if (s->open_prev == &l->first)
        return NULL;
    return (struct slot *)((char *)s->open_prev - offsetof(struct slot, open_next));
}

static void unlink_slot(struct slot *s)
{
    struct flow_list *l = list_of(s);

    s->qp->engine->parked -= s->parked;
    if (l->last == s)
        l->last = before(s, l);
    *s->open_prev = s->open_next;
    if (s->open_next)
        s->open_next->open_prev = s->open_prev;
    s->open_prev = NULL;
    l->count--;
}

void waiting_add(struct slot *s)
{
    s->counted = 1;
    s->member->used++;
    s->parked = s->member->weak && !s->announced;
    append(s);
}

void waiting_del(struct slot *s)
{
    if (!s->counted)
        return;
    unlink_slot(s);
    s->member->used--;
    s->counted = 0;
    s->parked = 0;
}

void waiting_announce(struct slot *s)
{
    unlink_slot(s);
    s->parked = 0;
    append(s);
    event_pend(s, 0);
}
