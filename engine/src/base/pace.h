/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - a rate that is kept to. */
#ifndef ENGINE_PACE_H
#define ENGINE_PACE_H

#include <stdint.h>

/*
 * Commands of one queue pair, at most `rate` a second (GCRA: a burst of a tenth of a second is let
 * through at once).
 */
struct pace {
    uint64_t interval; /* ns for each; 0: no limit */
    uint64_t due;      /* of the next one, were they evenly spread */
};

void pace_init(struct pace *p, uint32_t rate);
/* Another rate; what is due stays so. */
void pace_set(struct pace *p, uint32_t rate);
/* How many of n may be taken at `now`. */
unsigned pace_room(const struct pace *p, unsigned n, uint64_t now);
void pace_took(struct pace *p, unsigned n, uint64_t now);
/* When there is room for one again. */
uint64_t pace_at(const struct pace *p);

#endif
