/* SPDX-License-Identifier: Apache-2.0 */
/* turns.c - when a process waits for connections of a shared listener (turns.h). */
#include "turns.h"
#include "epoll.h"
#include "tsock.h"

static bool waits_for_input(const struct tepitem *i)
{
    return !i->disabled && (i->events & (EPOLLIN | EPOLLRDNORM));
}

static bool is_watched_by(const struct tobj *o, const struct tepoll *ep)
{
    for (const struct tepitem *i = o->items; i; i = i->next_of_obj)
        if (waits_for_input(i) && (i->ep == ep || is_watched_by(&i->ep->obj, ep)))
            return true;
    return false;
}

static bool is_waited_for(const struct tobj *o)
{
    if (o->waiters)
        return true;
    for (const struct tepitem *i = o->items; i; i = i->next_of_obj)
        if (waits_for_input(i) && (i->ep->sleepers || is_waited_for(&i->ep->obj)))
            return true;
    return false;
}

void tturn_begin_watched(const struct tepoll *ep)
{
    bool some_weak = false;

    tlisten_some_weak = false;
    for (struct tsock *s = tlisten_in_turns; s; s = s->turn_next) {
        if ((s->weak || !s->announced) && is_watched_by(&s->obj, ep))
            tsock_use(s);
        some_weak |= s->used && s->weak;
    }
    tlisten_some_weak |= some_weak;
}

void tturn_end_all(void)
{
    for (struct tsock *s = tlisten_in_turns; s; s = s->turn_next)
        if (s->announced && !s->weak && !is_waited_for(&s->obj))
            tlisten_turn_end(s);
}
