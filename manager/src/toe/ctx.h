/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctx.h - the process's connection to the TOE: settings, queue pairs, sleepers (SEEDS S1.10,
 * S1.15).
 *
 * Everything here is guarded by tctx_lock(). A queue pair per engine of toed: the process listens
 * on all of them and spreads its active opens over them.
 */
#ifndef LIBTOE_CTX_H
#define LIBTOE_CTX_H

#include "host.h"
#include "qp.h"
#include "sigurg.h"

enum tctx_state {
    TC_COLD,   /* no attach tried yet */
    TC_UP,     /* queue pairs attached */
    TC_FAILED, /* never reached a TOE: the process runs on the kernel */
    TC_LOST    /* the TOE went away: trying again while sockets want it */
};

struct tctx {
    enum tctx_state state;
    struct tconfig cfg;
    bool configured;
    atomic_bool ended; /* by exit(): what other threads still send must not change its code */
    uint32_t qps_n;
    struct tqp *qps[TOE_MAX_ENGINES];
    uint32_t next_qp;                 /* round robin of active opens */
    uint32_t generation;              /* counts attaches: epoll instances wire descriptors again */
    uint32_t ip, mask, gw;            /* of the TOE, network order; gw 0: none */
    bool shared;                      /* the kernel has its addresses too */
    bool stays;                       /* flows stay where they came to (TOEDEV_WELCOME_STAYS) */
    int placeholder_fd;               /* what accepted connections are duplicates of */
    struct toedev_inline_info inside; /* of an engine in this process, which may be yet to come */
    bool known;                /* ip, mask, gw and inside are filled though nothing is attached */
    bool polling;              /* a thread polls before it sleeps */
    uint32_t batch_unanswered; /* sockets that the last epoll_wait reported, not used since */
    uint32_t batch_size;       /* of how many at first */
    uint32_t batch_round;      /* number of that epoll_wait */
    uint64_t sleep_until;      /* direct: the earliest end of a sleep that will run the TOE */
    uint32_t listeners;        /* sockets in TS_LISTEN */
    bool bind_refused;         /* the BIND under way */
    bool elsewhere;            /* some CONNECT is to go to the next queue pair */
    uint32_t sleepers;         /* threads in the kernel that rely on the interrupt */
    uint32_t idle_looks; /* progress calls without a command, for the check of the TOE's life */
    uint64_t retry_at;   /* TC_LOST: when to try to attach again, tclock_ns() */
    struct tsigurg sigurg;
    char last_error[256];
};
extern TOE_HIDDEN struct tctx tctx;

/* Attaches if that has not been tried. True when queue pairs are there. */
TOE_HIDDEN bool tctx_need(void);
/* The TOE's addresses are known; attaches for that where it must. An engine in this process is not
 * opened: a listener may be for a child of ours. */
TOE_HIDDEN bool tctx_know(void);
/* Attaches again after a loss, at most every 100 ms. True when queue pairs are there. */
TOE_HIDDEN bool tctx_retry(void);
/* The TOE is gone: every flow ends with ECONNRESET, queue pairs are dropped. */
TOE_HIDDEN void tctx_lost(void);
/* Detaches all queue pairs. */
TOE_HIDDEN void tctx_detach(void);
/* Handles what the TOE has written. Cheap when there is nothing. Returns the number of commands. */
TOE_HIDDEN uint32_t tctx_progress(void);
/* Is there any queue pair to make progress on? */
TOE_HIDDEN bool tctx_attached(void);

/* The time, where progress has just been made. */
static inline uint64_t tctx_now(void)
{
    return tctx.qps_n && tctx.qps[0]->direct ? tctx.qps[0]->now : tclock_ns();
}

/* May this thread poll before it sleeps? One at a time does, where the TOE is called by it. */
static inline bool tctx_may_poll(void)
{
    return tctx.cfg.busy_poll_us && tctx.qps_n && !(tctx.polling && tctx.qps[0]->direct);
}

#endif
