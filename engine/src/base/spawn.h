/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.h - threads beside the main one: on the CPU named for them, without its signals, and ended
 * though a host makes their interrupt write block. */
#ifndef ENGINE_SPAWN_H
#define ENGINE_SPAWN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct spawn {
    const char *name; /* as ps shows it */
    int pinned;       /* it runs on cpu */
    uint32_t cpu;
    int inside; /* of a program: its signals are left alone, and no write is ended */
    void *(*run)(void *arg);
    void *arg;
};

/* As pthread_create(). */
int spawn(pthread_t *thread, const struct spawn *s);
/* Ends the interrupt write that the thread has been in since before `before`; since: when it began,
 * 0: it is in none. */
void spawn_unblock(pthread_t thread, const atomic_ullong *since, uint64_t before);
/* Waits for the end of a thread that has been told to end. */
void spawn_join(pthread_t thread, const atomic_ullong *since);

/* A gate that a thread passes again and again; who shuts it has what is the thread's to himself
 * until he opens it. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    atomic_int shut; /* looked at without lock */
    int held;        /* the thread stands there */
};

void gate_init(struct gate *g);
/* The thread stops there from now on. */
void gate_shut(struct gate *g);
/* ... and does so now. since: as spawn_unblock(); NULL: no write is ended. */
void gate_await(struct gate *g, pthread_t thread, const atomic_ullong *since);
void gate_open(struct gate *g);
/* The thread's: waits while it is shut. */
void gate_pass(struct gate *g);
static inline int gate_is_shut(const struct gate *g)
{
    return atomic_load_explicit(&g->shut, memory_order_acquire);
}

#endif
