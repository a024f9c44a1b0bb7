/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moderation.c - how long the TOE may wait before it wakes a sleeping host (SEEDS S3.3: up to 250
 * us cost no throughput and save much CPU, and 100 us save as much).
 *
 * While the host is woken thousands of times a second, the wait becomes one step longer, as long as
 * the rate of commands does not fall. A wait slows down clients that wait for each answer before
 * their next request. If so, the step is undone, and tried again at growing intervals.
 */
#include "moderation.h"

#define NSEC          1000000000ull
#define WINDOW_NS     50000000u /* one step in 50 ms at most */
#define WINDOW_SLEEPS 16u
#define WAKES         4000u /* per second: from here on saving wake-ups is worth it */
#define BATCH         4u    /* commands per wait that make it worth it: two requests, their ACKs */
#define HOLD          40u /* windows after a step that cost throughput: two seconds, then doubled */
#define BACKOFF_MAX   5u
#define STEADY        40u /* windows between two measurements of the rate without a wait */

static const uint8_t wait_usec[TMODERATION_LEVELS] = {0, 50, 100};

/* Lets the best rate decay slowly, so that a load that falls by itself is not blamed on the wait.
 */
static void note_rate(struct tmoderation *m, uint64_t rate)
{
    m->best -= m->best / 16;
    if (rate > m->best)
        m->best = rate;
}

static void rise(struct tmoderation *m, uint8_t level)
{
    m->stepped = level > m->level;
    m->level = level;
}

static void step(struct tmoderation *m, uint64_t wakes, uint32_t batch, uint64_t rate)
{
    int slower = m->stepped && rate < m->best - m->best / 4;
    int worth = m->level ? batch >= BATCH : wakes >= WAKES;

    m->stepped = 0;
    note_rate(m, rate);
    if (slower) {
        m->level = m->probing = 0;
        m->hold = HOLD << m->backoff;
        m->backoff += m->backoff < BACKOFF_MAX;
    } else if (!worth) {
        m->level = m->probing = 0;
    } else if (m->hold) {
        m->hold--;
    } else if (m->probing) {
        rise(m, m->probing);
        m->probing = 0;
    } else if (m->level < TMODERATION_LEVELS - 1) {
        rise(m, (uint8_t)(m->level + 1));
        m->steady = 0;
    } else if (++m->steady >= STEADY) { /* measure the rate without a wait */
        m->steady = m->backoff = 0;
        m->probing = m->level;
        m->level = 0;
    }
}

uint32_t tmoderation_usec(struct tmoderation *m, uint32_t tail, uint64_t now)
{
    uint64_t ns = now - m->since;

    m->sleeps++;
    if (m->sleeps >= WINDOW_SLEEPS && ns >= WINDOW_NS) {
        uint32_t commands = tail - m->tail;

        /* A window that idle time has stretched does not measure the rate. */
        if (ns < 4ull * WINDOW_NS)
            step(m, m->sleeps * NSEC / ns, commands / m->sleeps, commands * NSEC / ns);
        else
            m->level = m->probing = 0;
        m->since = now;
        m->tail = tail;
        m->sleeps = 0;
    }
    return wait_usec[m->level];
}
