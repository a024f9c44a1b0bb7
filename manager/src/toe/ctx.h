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
    TC_LOST    /* the TOE has ended: retried while sockets need it */
};

struct tctx {
    enum tctx_state state;
    struct tconfig cfg;
    bool configured;
    atomic_bool ended; /* by exit(): sends of other threads must not change the exit code */
    uint32_t qps_n;
    struct tqp *qps[TOE_MAX_ENGINES];
    uint32_t next_qp;                 /* round robin of active opens */
    uint32_t generation;              /* counts attaches: epoll instances wire descriptors again */
    uint32_t ip, mask, gw;            /* of the TOE, network order; gw 0: none */
    bool shared;                      /* the kernel uses its addresses too */
    bool stays;                       /* flows stay on their queue pair (TOEDEV_WELCOME_STAYS) */
    bool takes_eor;                   /* SEND may have EOR (TOEDEV_WELCOME_EOR) */
    int placeholder_fd;               /* accepted connections are duplicates of it */
    struct toedev_inline_info inside; /* of an engine in this process, maybe not opened yet */
    bool known;                /* ip, mask, gw and inside are filled though nothing is attached */
    bool polling;              /* a thread polls before it sleeps */
    uint32_t batch_unanswered; /* sockets of the last epoll_wait that are not used since */
    uint32_t batch_size;       /* the same at the beginning */
    uint32_t batch_round;      /* number of that epoll_wait */
    uint64_t sleep_until;      /* direct: when the first sleeper that runs the TOE wakes */
    uint32_t listeners;        /* sockets in TS_LISTEN */
    bool bind_refused;         /* the pending BIND was refused */
    bool elsewhere;            /* some CONNECT must be sent to the next queue pair */
    uint32_t sleepers;         /* threads in the kernel that rely on the interrupt */
    uint32_t idle_looks;       /* progress calls without a command, to check the TOE is alive */
    uint64_t retry_at;         /* TC_LOST: when to try to attach again, tclock_ns() */
    struct tsigurg sigurg;
    char last_error[256];
};
extern TOE_HIDDEN struct tctx tctx;

/* Attaches if that has not been tried. Returns true when queue pairs are attached. */
TOE_HIDDEN bool tctx_need(void);
/* Returns whether the TOE's addresses are known; attaches for that where needed. Does not open an
 * engine in this process: a listener may be for a child of ours. */
TOE_HIDDEN bool tctx_know(void);
/* Attaches again after a loss, at most every 100 ms. Returns true when queue pairs are
 * attached. */
TOE_HIDDEN bool tctx_retry(void);
/* Handles the loss of the TOE: ends every flow with ECONNRESET and frees the queue pairs. */
TOE_HIDDEN void tctx_lost(void);
/* Detaches all queue pairs. */
TOE_HIDDEN void tctx_detach(void);
/* Handles the HW commands of the TOE. Cheap when there are none. Returns their number. */
TOE_HIDDEN uint32_t tctx_progress(void);
/* tqp_settle() for all queue pairs. */
TOE_HIDDEN void tctx_settle(void);
/* Returns whether there is a queue pair to make progress on. */
TOE_HIDDEN bool tctx_attached(void);

/* Returns the time, after progress has just been made. */
static inline uint64_t tctx_now(void)
{
    return tctx.qps_n && tctx.qps[0]->direct ? tctx.qps[0]->now : tclock_ns();
}

/* Returns whether this thread may poll before it sleeps: one at a time with a direct TOE. */
static inline bool tctx_may_poll(void)
{
    return tctx.cfg.busy_poll_us && tctx.qps_n && !(tctx.polling && tctx.qps[0]->direct);
}

#endif
