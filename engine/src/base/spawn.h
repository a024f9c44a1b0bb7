/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.h - threads besides the main one: pinned to a CPU if asked, with signals blocked, and
 * joined even if a host makes their interrupt write block. */
#ifndef ENGINE_SPAWN_H
#define ENGINE_SPAWN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct spawn {
    const char *name; /* as ps shows it */
    int pinned;       /* it is pinned to cpu */
    uint32_t cpu;
    int inside; /* within a program: signals stay as they are, no write is interrupted */
    void *(*run)(void *arg);
    void *arg;
};

/* Like pthread_create(). */
int spawn(pthread_t *thread, const struct spawn *s);
/* Interrupts the thread's interrupt write if it began before `before`. since: when it began; 0: no
 * write is in progress. */
void spawn_unblock(pthread_t thread, const atomic_ullong *since, uint64_t before);
/* Joins a thread that has been asked to end. */
void spawn_join(pthread_t thread, const atomic_ullong *since);

/* A gate that a thread passes in every round. While it is shut, the thread that shut it owns the
 * other thread's data. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    atomic_int shut; /* read without lock */
    int held;        /* the thread waits at the gate */
};

void gate_init(struct gate *g);
/* Shuts the gate: the thread stops at its next pass. */
void gate_shut(struct gate *g);
/* Waits until the thread has stopped at the gate. since: see spawn_unblock(); NULL: no write is
 * interrupted. */
void gate_await(struct gate *g, pthread_t thread, const atomic_ullong *since);
void gate_open(struct gate *g);
/* Called by the thread: waits while the gate is shut. */
void gate_pass(struct gate *g);
static inline int gate_is_shut(const struct gate *g)
{
    return atomic_load_explicit(&g->shut, memory_order_acquire);
}

#endif
