/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_state.h - the state of an engine: a core/ stack, a netio queue and queue pairs, run by one
 * thread. Its operations are in round/engine.h.
 *
 * Ownership: everything reachable from struct engine belongs to its thread, except what is marked
 * shared, which its thread shares with the control thread. Other threads use engine_call(). Two
 * engines share no cache line except those of the hand-over rings: an engine's memory comes from
 * lines_calloc() or is mapped (engine/tests/test_shared.c).
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
#include "base/moderation.h"
#include "base/spawn.h"
#include "loop.h"
#include "offload.h"

struct engine;
struct common;
struct qp;
struct handover;
struct shared;
struct routes;
struct wiretap;
struct traces;
struct exchanges;

/* The parameters of engine_new(). */
struct engine_config {
    uint32_t id, count;      /* this is engine id of count */
    struct netio *netio;     /* owned by the engine from then on */
    struct toec_config core; /* user is set by engine_new() */
    uint16_t vlan;           /* frames are tagged with this VLAN ID; 0: untagged traffic */
    uint32_t scope;          /* index of the interface, for link-local addresses; 0: none */
    uint32_t max_qps;        /* queue pairs at once */
    uint32_t offload;        /* OFFLOAD_* wanted; 0: none, everything in software */
    uint32_t spin_us;        /* polls this long without work before it sleeps */
    uint32_t moderation;     /* microseconds that frames may wait while it sleeps, or
                                MODERATION_AUTO; 0: each wakes it */
    int pinned;              /* its thread runs on cpu, and its memory comes from that CPU's node */
    uint32_t cpu;
    int inside; /* within a program: its signal handling is left unchanged */
    /* Other work of this thread: a descriptor that wakes it (-1: none), and a function that it
     * calls then and every 10 ms. */
    int side_fd;
    void (*side)(void *arg);
    struct shared *shared;     /* the kernel has the address too (shared.h); NULL: the TOE alone */
    struct owners *owners;     /* of the process (owner.h); NULL: a single engine */
    struct handover *handover; /* shared between the engines; NULL when count is 1 */
    struct common *common;     /* to the polling manager (polling.h); NULL: no manager */
    /* Called when a dropped queue pair is no longer in use, in the engine's thread, or in the
     * polling manager's when there is one. */
    void (*qp_unused)(void *arg, struct qp *qp);
    void *arg;
};

/* A function run in the engine's thread by engine_call(). */
typedef void (*engine_fn)(struct engine *e, void *arg);

struct held;

/* Received frames that are kept until the host has read their payload (rx_hold.h). */
struct hold {
    uint32_t min; /* smallest payload to hold, in bytes; 0: hold nothing */
    uint32_t count, max;
    uint32_t free;      /* first free node, index + 1 */
    struct held *nodes; /* max of them */
    void (*notify)(void *arg, uint32_t slot);
    void *arg;
    /* The current batch, and a bit for each of its frames that is held. */
    const struct netio_frame *batch;
    uint64_t kept;
    const struct netio_frame *frame; /* of the packet core/ is processing; NULL: it has several */
    /* The deferred payload (rx_hold.h). slot NULL: none. */
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
    struct wiretap *wiretap; /* of an attached capture (wiretap.h); NULL: none */
    struct offload offload;
    struct hold hold;
    struct loop loop;
    int flush_calls;         /* netio_info.flush_calls */
    uint32_t recent, stream; /* recent batches; full frames since the last SEND (batch.h) */
    struct moderation_load received;
    struct moderation moderation;
    uint64_t seen;              /* received when it last slept */
    uint64_t deaf_until;        /* until then frames do not wake it (moderation.h) */
    int deaf;                   /* the back end's descriptor is not waited for */
    int node;                   /* NUMA node of its memory, or NUMA_ANY */
    int orders;                 /* hosts need no fence for a doorbell (host_fence.h) */
    uint64_t now;               /* time of the current step */
    uint64_t core_deadline;     /* from toec_poll() */
    uint64_t side_at;           /* when to call cfg.side again */
    uint64_t idle_until;        /* see engine_poll_idle() */
    uint32_t ip6_epoch;         /* toec_own_epoch() last reported to back end and hosts */
    struct qp **qps;            /* qp_count of them */
    uint32_t qp_count, qp_turn; /* turn: the one served first */
    struct listen_group *groups;
    int listen_due;                        /* some group of them needs listen_relieve() ... */
    uint32_t parked;                       /* flows of all groups (waiting.h) */
    uint64_t listen_check;                 /* ... or will at this time */
    struct routes *routes;                 /* of a shared address; NULL: none yet */
    struct slot *dirty_first, *dirty_last; /* flow records to refresh, oldest first */
    struct slot *abort_first;              /* flows to reset at the end of the step */
    uint64_t counters[EC_MAX];
    struct traces *traces;         /* events of flows; NULL: no memory for them */
    struct trips *trips;           /* NULL: not requested yet */
    struct slot *timed;            /* its exchanges are timed (exchange.h); NULL: none */
    struct exchanges *exchanges;   /* NULL: not requested yet */
    uint64_t claims, claim_log_at; /* claims of our address by other hosts; when to log again */

    int epoll_fd, wake_fd;

    /* engine_call(): shared, guarded by lock; call_waiting is read without it */
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

    atomic_ullong irq_since; /* shared: start of the interrupt write in progress, or 0 */
};

static inline void engine_count(struct engine *e, enum engine_counter c)
{
    e->counters[c]++;
}

#endif
