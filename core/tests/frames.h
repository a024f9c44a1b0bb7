/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - the basis of all simulated networks of core/'s tests: frames ordered by arrival time,
 * and numbers in wire format.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* At `at` to host `to`; those of one time in the order in which they were put in. */
struct frame {
    uint64_t at, order;
    unsigned to;
    int forged; /* the network's own data */
    unsigned life;
    uint32_t len;
    uint8_t data[];
};

/* A heap by time; zeroed it is empty. */
struct frames {
    struct frame **heap;
    unsigned n, room;
    uint64_t order;
};

/* p, or the end of the program when it is NULL. */
void *must(void *p);
/* A copy of data, to be freed by free(). */
struct frame *frame_new(const uint8_t *data, uint32_t len);
void frames_put(struct frames *q, struct frame *f);
/* The earliest; there must be one. */
struct frame *frames_take(struct frames *q);
/* Whether one is due by `now`. */
int frames_due(const struct frames *q, uint64_t now);
void frames_free(struct frames *q);

uint32_t get32(const uint8_t *p);
uint32_t get16(const uint8_t *p);
void put16(uint8_t *p, uint32_t v);
void put32(uint8_t *p, uint32_t v);
/* Ones' complement sum over big-endian words, not complemented. */
uint32_t sum16(const uint8_t *p, size_t n, uint32_t sum);

#endif
