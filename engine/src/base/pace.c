/* SPDX-License-Identifier: Apache-2.0 */
/* pace.c - see pace.h. */
#include "pace.h"
#include "clock.h"

#define BURST (NS_PER_S / 10)

void pace_set(struct pace *p, uint32_t rate)
{
    p->interval = rate ? NS_PER_S / rate : 0;
    if (rate && !p->interval)
        p->interval = 1;
}

void pace_init(struct pace *p, uint32_t rate)
{
    pace_set(p, rate);
    p->due = 0;
}

unsigned pace_room(const struct pace *p, unsigned n, uint64_t now)
{
    uint64_t due = p->due > now ? p->due : now, room;

    if (!p->interval)
        return n;
    if (due > now + BURST)
        return 0;
    room = (now + BURST - due) / p->interval + 1;
    return room < n ? (unsigned)room : n;
}

void pace_took(struct pace *p, unsigned n, uint64_t now)
{
    if (p->interval)
        p->due = (p->due > now ? p->due : now) + n * p->interval;
}

uint64_t pace_at(const struct pace *p)
{
    return p->due > BURST ? p->due - BURST : 0;
}
