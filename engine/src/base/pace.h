/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - a rate limiter. */
#ifndef ENGINE_PACE_H
#define ENGINE_PACE_H

#include <stdint.h>

/*
 * Limits the commands of one queue pair to `rate` a second (GCRA, with a burst of a tenth of a
 * second).
 */
struct pace {
    uint64_t interval; /* ns for each; 0: no limit */
    uint64_t due;      /* theoretical arrival time of the next command */
};

void pace_init(struct pace *p, uint32_t rate);
/* Changes the rate; `due` is kept. */
void pace_set(struct pace *p, uint32_t rate);
/* Returns how many of n commands may be taken at `now`. */
unsigned pace_room(const struct pace *p, unsigned n, uint64_t now);
void pace_took(struct pace *p, unsigned n, uint64_t now);
/* Returns when the next command may be taken. */
uint64_t pace_at(const struct pace *p);

#endif
