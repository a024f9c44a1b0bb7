/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers_group.h - the group of the workers of one address: its shared memory, the numbers of its
 * members, who steers, and how they wake each other (workers.c).
 *
 * - The memory is a file, locked while a worker joins or leaves.
 * - A number is a bound abstract socket, to which wake-ups are sent. The kernel removes it with its
 *   process, however that ends, so it also shows which members live.
 * - The right to steer is the claim of interface and addresses: abstract sockets too.
 */
#ifndef TOE_NETIO_WORKERS_GROUP_H
#define TOE_NETIO_WORKERS_GROUP_H

#include <stddef.h>

#include "backend.h"
#include "workers_shm.h"

#define GROUP_PATH  256
#define GROUP_CLAIM 88 /* with a worker's number it fits in an address */

struct group {
    char path[GROUP_PATH];
    char claims[NETIO_CLAIMS][GROUP_CLAIM];
    unsigned claim_count;
    int claim_fd[NETIO_CLAIMS]; /* -1: not ours */
    int file;                   /* -1: none */
    int wake_fd;                /* bound to our number; sends wake-ups too */
    struct workers_shm *shm;
    size_t size;
    uint32_t count, stride, number;
    int joined;
};

/* Locks the file, which is created if it is missing, and takes a number. Returns 0, with
 * *first set if no other member lives, or -1 with a sentence. group_leave() must follow in both
 * cases. */
int group_join(struct group *g, const struct netio_group *names, uint32_t count, int *first,
               const struct netio_err *err);
/* Makes the memory for frames of stride bytes; for the first member, which steers. */
int group_create(struct group *g, uint32_t stride, uint64_t options, const struct netio_err *err);
/* Maps the memory of the others. */
int group_attach(struct group *g, uint64_t options, const struct netio_err *err);
/* Enters this process as a member and releases the file for others to join. */
void group_enter(struct group *g);

/* Claims the right to steer. Returns 0, 1: another process has it, -1: with errno. */
int group_claim(struct group *g);
void group_unclaim(struct group *g);
/* Returns the pid of the process that has the claim, 0: unknown. */
uint32_t group_claimant(const struct group *g);
/* Accepts and closes the connections of group_claimant() in other processes. */
void group_answer(const struct group *g);
/* Takes the wake-ups that have arrived. */
void group_drain(const struct group *g);

/* Returns whether the member with this number lives. */
int group_lives(const struct group *g, uint32_t number);
void group_wake(const struct group *g, uint32_t number);

/* Records that a worker serves the port no longer. */
void group_note_closed(const struct group *g, int ip6, uint16_t port);
/* Returns whether that was less than three seconds ago, of this port or of any: another worker may
 * be about to serve it. */
int group_closed_lately(const struct group *g, int ip6, uint16_t port);
int group_any_closed_lately(const struct group *g);
/* CLOCK_MONOTONIC. */
uint64_t group_clock_ms(void);

/* Leaves; the last member removes the file. */
void group_leave(struct group *g);
/* In a child after fork(): closes what would outlive the parent, and touches nothing shared. */
void group_forget(struct group *g);

/* Sleeps for 2 ms. Returns 0 when ten seconds have passed since the first call, at which *since_ms
 * is 0: the caller must give up. */
int group_wait(uint64_t *since_ms);

static inline struct workers_part *group_part(const struct group *g, uint32_t number)
{
    return (struct workers_part *)((uint8_t *)g->shm + workers_part_at(number, g->stride));
}

/* Returns the place of a frame in a ring. */
static inline uint8_t *group_frame(const struct group *g, uint32_t number, unsigned ring,
                                   uint32_t index)
{
    uint8_t *frames = (uint8_t *)(group_part(g, number) + 1);

    return frames + ((size_t)ring * WORKERS_RING + index % WORKERS_RING) * g->stride;
}

#endif
