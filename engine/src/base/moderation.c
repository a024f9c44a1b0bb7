/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moderation.c - see moderation.h.
 *
 * A delay is worth its latency when several frames arrive within it. Below ENTER frames per second
 * there is none, below ENTER_BULK if they are mostly full: those belong to streams, to which the
 * wait of one frame matters little. Above, the delay is the shortest that collects BATCH frames,
 * reached one level per window: more frames per wake-up save little, as the wake-up is a small part
 * of their cost by then. The thresholds up and down differ, so that a constant load has one level
 * or two neighbours.
 *
 * Clients that wait for each answer before their next request become slower by the delay, and the
 * rate of frames shows it. So the rate without a delay is measured first, over two windows that
 * agree. If a step costs more than a sixteenth of it, twice in a row, the delay ends, and is tried
 * again at growing intervals. If the rate falls later, by more than a quarter, it is measured
 * again: the load may be another.
 */
#include "moderation.h"

#include <string.h>

#include "clock.h"

#define ENTER        100000u /* frames per second: ten within 100 us */
#define ENTER_BULK   20000u
#define BULK_BYTES   1000u /* of a frame, on average */
#define BATCH        16u   /* frames within a delay that is long enough */
#define BATCH_FEWER  24u   /* ... within the next shorter one, before it is used */
#define SLOW         2u    /* windows in a row: one may be a pause of the machine */
#define HOLD         20u   /* windows after the first step that cost throughput: a second */
#define REFUSALS_MAX 5u    /* the interval doubles so many times: 32 s */
#define PARDON       200u  /* windows at one level that end the growth of the intervals */

static const uint16_t delay_usec[MODERATION_LEVELS] = {0, 25, 50, 100, 250};

static uint64_t frames_within(uint64_t rate, uint8_t level)
{
    return rate * delay_usec[level] / 1000000u;
}

static void to_level(struct moderation *m, uint8_t level)
{
    m->rising = level > m->level;
    m->slow = 0;
    m->parked = level == m->level ? m->parked + 1 : 0;
    m->level = level;
}

/* No delay, and the rate without one is to be measured. */
static void begin(struct moderation *m)
{
    to_level(m, 0);
    m->rate = 0;
}

/* Without a delay: begins one if the load is high, steady and not on hold. */
static void at_rest(struct moderation *m, uint64_t rate, uint32_t enter)
{
    uint64_t last = m->rate, apart = rate > last ? rate - last : last - rate;

    m->rate = apart <= last / 8 ? (rate + last) / 2 : rate;
    if (m->hold)
        m->hold--;
    else if (rate >= enter && apart <= last / 8)
        to_level(m, 1);
}

/* Returns the level that suits the rate, at most one from the current. */
static uint8_t next_level(const struct moderation *m, uint64_t rate)
{
    if (m->level + 1u < MODERATION_LEVELS && frames_within(rate, m->level) < BATCH)
        return (uint8_t)(m->level + 1);
    if (m->level > 1 && frames_within(rate, (uint8_t)(m->level - 1)) >= BATCH_FEWER)
        return (uint8_t)(m->level - 1);
    return m->level;
}

static void refuse(struct moderation *m)
{
    m->hold = HOLD << m->refusals;
    m->refusals += m->refusals < REFUSALS_MAX;
    begin(m);
}

static void while_delayed(struct moderation *m, uint64_t rate)
{
    if (rate < m->rate - m->rate / (m->rising ? 16 : 4)) {
        if (++m->slow < SLOW)
            return;
        if (m->rising)
            refuse(m);
        else
            begin(m);
        return;
    }
    m->slow = 0;
    m->rate += rate / 16 - m->rate / 16; /* follows a load that changes by itself, slowly */
    to_level(m, next_level(m, rate));
    if (m->parked >= PARDON)
        m->refusals = 0;
}

void moderation_decide(struct moderation *m, const struct moderation_sample *s)
{
    uint64_t frames = s->load.frames, rate = s->ns ? frames * NS_PER_S / s->ns : 0;
    uint32_t enter = frames && s->load.bytes / frames >= BULK_BYTES ? ENTER_BULK : ENTER;

    if (m->level == 0)
        at_rest(m, rate, enter);
    else if (rate < enter / 2)
        begin(m);
    else
        while_delayed(m, rate);
}

uint32_t moderation_delay(const struct moderation *m)
{
    return delay_usec[m->level];
}

uint32_t moderation_usec(struct moderation *m, const struct moderation_load *received, uint64_t now)
{
    struct moderation_sample s = {.ns = now - m->since,
                                  .load = {.frames = received->frames - m->before.frames,
                                           .bytes = received->bytes - m->before.bytes}};

    if (s.ns >= MODERATION_WINDOW) {
        moderation_decide(m, &s);
        m->since = now;
        m->before = *received;
    }
    return moderation_delay(m);
}

uint32_t moderation_parse(const char *text)
{
    uint32_t us = 0;

    if (strcmp(text, "auto") == 0)
        return MODERATION_AUTO;
    for (; *text >= '0' && *text <= '9'; text++)
        us = us * 10 + (uint32_t)(*text - '0');
    return us;
}
