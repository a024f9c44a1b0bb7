/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moderation.h - how long a sleeping engine lets frames wait, so that one wake-up serves several
 * (SEEDS S3.1, S3.3): a fixed delay, or one that follows the load, as net_dim does for the
 * interrupts of a card in Linux. Pure functions of counts and times.
 */
#ifndef ENGINE_MODERATION_H
#define ENGINE_MODERATION_H

#include <stdint.h>

#define MODERATION_LEVELS 5u
#define MODERATION_WINDOW (50u * 1000000u) /* nanoseconds; one decision per window */

/* In place of a delay in microseconds: it follows the load. */
#define MODERATION_AUTO UINT32_MAX

/* What an engine has received, in all or in a window. */
struct moderation_load {
    uint64_t frames, bytes;
};

struct moderation_sample {
    uint64_t ns;
    struct moderation_load load;
};

/* All zero: no load seen yet. */
struct moderation {
    uint64_t since;                /* when the current window began, nanoseconds */
    struct moderation_load before; /* received until then */
    uint64_t rate;                 /* frames per second without a delay; 0: not measured yet */
    uint32_t hold;                 /* windows until a delay is tried again */
    uint32_t parked;               /* windows since the level last changed */
    uint8_t level;                 /* index of the delay */
    uint8_t refusals;              /* consecutive delays that cost throughput */
    uint8_t rising;                /* the last step was to a longer delay */
    uint8_t slow;                  /* consecutive windows whose rate is too low */
};

/* Decides on the delay of the next window from what was received in this one. */
void moderation_decide(struct moderation *m, const struct moderation_sample *s);
/* Returns the delay of the current level in microseconds, 0: none. */
uint32_t moderation_delay(const struct moderation *m);
/* Called before each sleep with what was received so far: decides once per window. Returns the
 * delay in microseconds. */
uint32_t moderation_usec(struct moderation *m, const struct moderation_load *received,
                         uint64_t now);

/* Parses "auto", "off", or a delay in microseconds, as the table of settings has them. Returns the
 * delay, or MODERATION_AUTO. */
uint32_t moderation_parse(const char *text);

#endif
