/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impair_path.h - one direction of an impairing wire: frames go in, and come out later, changed,
 * twice or never. Independent of back ends and clocks.
 */
#ifndef TOE_NETIO_IMPAIR_PATH_H
#define TOE_NETIO_IMPAIR_PATH_H

#include "pool.h"
#include "toe/impair.h"

/* Probabilities are in units of 2^-32: 2^32 is "always". */
#define IMPAIR_ALWAYS (UINT64_C(1) << 32)

struct impair_options {
    uint64_t loss, burst_enter, burst_leave, reorder, duplicate, corrupt;
    uint64_t delay_ns, jitter_ns, hold_ns;
    uint64_t rate; /* bit/s, 0: no line */
    uint64_t seed;
    uint32_t gap, bits, queue, memory;
    unsigned direction; /* IMPAIR_BOTH ... */
};

enum { IMPAIR_BOTH, IMPAIR_RX, IMPAIR_TX };

struct impair_entry {
    uint64_t line_ns; /* when it leaves the line */
    uint64_t due_ns;
    uint32_t offset; /* in the pool */
    uint32_t len;
    uint32_t flags; /* NETIO_F_* */
};

#define IMPAIR_HELD 64u

struct impair_held {
    struct impair_entry entry;
    uint64_t after; /* count of frames that precede it */
};

struct impair_path {
    struct impair_options options;
    struct netio_impair_stats stats;
    struct pool pool;
    uint64_t random;
    int bad; /* Gilbert-Elliott state */
    uint64_t line_free_ns;
    uint64_t last_due_ns;
    struct impair_entry *ring; /* frames in order; ring_size is a power of two */
    uint32_t ring_size;
    uint32_t head, line, tail; /* [tail, line) have left the line, [line, head) wait for it */
    uint64_t released;         /* frames that came out of the ring */
    struct impair_held held[IMPAIR_HELD];
    unsigned held_count;
};

/* Parses the options between the parentheses; default_seed applies when they name none. Returns 0,
 * or -1. */
struct netio_err;
int impair_options_parse(struct impair_options *o, const char *text, uint64_t default_seed,
                         const struct netio_err *err);

/* salt distinguishes paths with the same seed. spare: additional frames, for those in the caller's
 * hands. Returns 0, or -1 without memory. */
int impair_path_init(struct impair_path *p, const struct impair_options *o, uint64_t salt,
                     uint32_t frame_size, uint32_t spare);
void impair_path_free(struct impair_path *p);
/* Takes over a filled frame of the path's pool. */
void impair_path_put(struct impair_path *p, uint32_t offset, uint32_t len, uint32_t flags,
                     uint64_t now_ns);
/* Takes the next frame that is due; the caller returns it to the pool. Returns 0, or -1: none. */
int impair_path_take(struct impair_path *p, uint64_t now_ns, struct impair_entry *out);
/* Returns the time at which the next frame is due, UINT64_MAX: none. */
uint64_t impair_path_next(const struct impair_path *p);

#endif
