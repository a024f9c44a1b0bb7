/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - one engine: a core/ stack, a netio queue and queue pairs, run by one thread.
 *
 * Ownership: everything reachable from struct engine belongs to its thread, except what is marked
 * shared, which is between it and the control thread. Other threads reach in by engine_call()
 * alone. Two engines have no cache line in common but the hand-over rings': memory of an engine is
 * of lines_calloc() or mapped (engine/tests/test_shared.c). A test may own an engine and step it in
 * virtual time without any thread.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

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
#include "frames/loop.h"
#include "frames/offload.h"

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

/* An interrupt write that takes longer than this is ended and its queue pair halted. */
#define IRQ_TIME (50 * NS_PER_MS)

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
    void (*told)(void *arg, uint32_t slot);
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
    uint64_t glance_until;      /* see engine_glance() */
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

/*
 * Makes an engine; on failure returns NULL and puts a sentence for people into err. cfg->netio is
 * closed by engine_free(), not on failure. now: the stack's origin of time.
 */
struct engine *engine_new(const struct engine_config *cfg, uint64_t now, char *err,
                          size_t err_size);
/* Frees it. All queue pairs must have become unused, or they are leaked to their owner. */
void engine_free(struct engine *e);

/*
 * One round: frames, handed-over frames, commands, timers, notifications, transmission. Returns
 * what it found to do (0: nothing).
 */
unsigned engine_step(struct engine *e, uint64_t now);
/* The same by one that looks all the time, and alone: when no frame has come, nothing is due and
 * e->glance_until has not been set to 0 because something else was done, that is all. */
unsigned engine_glance(struct engine *e, uint64_t now);
/* When engine_step() must be called at the latest, given no arrivals. UINT64_MAX: no need. */
uint64_t engine_deadline(const struct engine *e);

/* Calls cfg.side when its time has come. */
void engine_side(struct engine *e, uint64_t now);

/* Starts and ends the thread. engine_start() returns 0 or an errno. */
int engine_start(struct engine *e);
void engine_join(struct engine *e);
/* Its thread stops between two rounds, and the engine is the caller's, as if it had none; nobody
 * may call it. Before engine_start(): the thread begins so. */
void engine_pause(struct engine *e);
/* ... goes on. */
void engine_resume(struct engine *e);
/* Runs fn in the engine's thread and waits for it; directly when the engine has no thread. */
void engine_call(struct engine *e, engine_fn fn, void *arg);
/* Between two looks of one who polls. */
void engine_relax(void);
/* Wakes the engine when it sleeps. Any thread. */
void engine_wake(struct engine *e);
/* For the one who watches: ends an interrupt write that has blocked since before `before`. */
void engine_unblock(struct engine *e, uint64_t before);
uint64_t engine_clock(void);
struct epoll_event;
/* As epoll_wait(), for ns nanoseconds; rounded up to milliseconds where the kernel has no other. */
int engine_epoll(int ep, struct epoll_event *ev, int max, uint64_t ns);

/* The same without telling its host anything, who knows all. */
int engine_enlist(struct engine *e, struct qp *qp);
/* Without a thread, or paused: another back end from now on; NULL: the one it has is closed, and it
 * is not to be stepped until it has one again. 0, or -1 and errno. */
int engine_set_netio(struct engine *e, struct netio *n);
/* In the engine's thread: takes a queue pair into service; -1 when there are max_qps already. */
int engine_adopt(struct engine *e, struct qp *qp);
/* In the engine's thread: resets every flow, so that peers learn of it. Step until it is idle. */
void engine_stop(struct engine *e);
/* Flows that still live: 0 when engine_stop() has done its work. */
uint32_t engine_flows(const struct engine *e);

static inline void engine_count(struct engine *e, enum engine_counter c)
{
    e->counters[c]++;
}

#endif
