/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_state.h - what an engine is: a core/ stack, a netio queue and queue pairs, run by one
 * thread. round/engine.h has what it does.
 *
 * Ownership: everything reachable from struct engine belongs to its thread, except what is marked
 * shared, which is between it and the control thread. Other threads reach in by engine_call()
 * alone. Two engines have no cache line in common but the hand-over rings': memory of an engine is
 * of lines_calloc() or mapped (engine/tests/test_shared.c).
 */
#ifndef ENGINE_ENGINE_STATE_H
#define ENGINE_ENGINE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <toe/core.h>
#include <toe/device.h>
#include <toe/lines.h>
#include <toe/netio.h>

#include "base/counters.h"
#include "base/spawn.h"
#include "loop.h"
#include "offload.h"

struct engine;
struct common;
struct qp;
struct handover;
struct shared;
struct routes;

/* What an engine is made with. */
struct engine_config {
    uint32_t id, count;      /* this is engine id of count */
    struct netio *netio;     /* given over to the engine */
    struct toec_config core; /* user is set by engine_new() */
    uint32_t scope;          /* index of the interface, for link-local addresses; 0: none */
    uint32_t max_qps;        /* queue pairs at once */
    uint32_t offload;        /* OFFLOAD_* wanted; 0: all done in software, as if there were none */
    uint32_t spin_us;        /* polls this long without work before it sleeps */
    int pinned;              /* its thread runs on cpu, and memory is asked for there */
    uint32_t cpu;
    int inside; /* of a program: its signals are left alone */
    /* What else this thread serves: a descriptor that wakes it (-1: none), and what it calls then
     * and every 10 ms. */
    int side_fd;
    void (*side)(void *arg);
    struct shared *shared;     /* the kernel has the address too (shared.h); NULL: it is ours */
    struct owners *owners;     /* of the process (owner.h); NULL: of one engine alone */
    struct handover *handover; /* shared between the engines; NULL when count is 1 */
    struct common *common;     /* to the polling manager (polling.h); NULL: there is none */
    /* Told when nothing of a dropped queue pair is in use any more, in the engine's thread; in the
     * polling manager's when there is one. */
    void (*qp_unused)(void *arg, struct qp *qp);
    void *arg;
};

/* A function run in the engine's thread by engine_call(). */
typedef void (*engine_fn)(struct engine *e, void *arg);

struct held;

/* Received frames that stay until their payload has been read (rx_hold.h). */
struct hold {
    uint32_t min; /* bytes of payload from which on a frame is; 0: none is */
    uint32_t count, max;
    uint32_t free;      /* of nodes, index + 1 */
    struct held *nodes; /* max of them */
    void (*notify)(void *arg, uint32_t slot);
    void *arg;
    /* The batch that is handled: which of its frames are held, bit by bit. */
    const struct netio_frame *batch;
    uint64_t kept;
    const struct netio_frame *frame; /* that of the packet in core/'s hands; NULL: of several */
    /* What is put off. slot NULL: nothing. */
    struct slot *slot;
    const struct toec_packet *packet;
    uint32_t off, p_off, len;
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): whole cache lines */
struct engine {
    struct engine_config cfg;
    struct toec_stack *stack;
    void *stack_mem;
    unsigned long stack_size;
    struct netio *netio;
    struct offload offload;
    struct hold hold;
    struct loop loop;
    int node;                   /* of NUMA, that its memory is asked for from; NUMA_ANY */
    int orders;                 /* hosts need no fence for a doorbell: see host_fence.h */
    uint64_t now;               /* time of the step that runs */
    uint64_t core_deadline;     /* from toec_poll() */
    uint64_t side_at;           /* when cfg.side is to be called again */
    uint64_t idle_until;        /* see engine_poll_idle() */
    uint32_t ip6_epoch;         /* toec_own_epoch() as last told */
    struct qp **qps;            /* qp_count of them */
    uint32_t qp_count, qp_turn; /* turn: who is served first */
    struct listen_group *groups;
    struct routes *routes;                 /* of a shared address; NULL: none yet */
    struct slot *dirty_first, *dirty_last; /* flow records to refresh, oldest first */
    struct slot *abort_first;              /* flows to reset at the end of the step */
    uint64_t counters[EC_MAX];
    struct trips *trips;           /* NULL: nobody has asked for them */
    uint64_t claims, claim_log_at; /* of our address by other hosts: known; to be told again */

    int epoll_fd, wake_fd;

    /* engine_call(): shared, guarded by lock; call_waiting is looked at without it */
    _Alignas(LINE) pthread_mutex_t lock;
    pthread_cond_t done;
    atomic_int call_waiting;
    engine_fn call_fn;
    void *call_arg;
    int call_running;
    atomic_int quit;
    struct gate gate; /* engine_pause() */
    pthread_t thread;
    int has_thread;

    atomic_ullong irq_since; /* shared: when the interrupt write that is under way began, or 0 */
};

static inline void engine_count(struct engine *e, enum engine_counter c)
{
    e->counters[c]++;
}

#endif
