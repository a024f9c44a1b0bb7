/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctx.h - the process's connection to the TOE: settings, queue pairs, sleepers (SEEDS S1.10,
 * S1.15).
 *
 * Everything here is guarded by tctx_lock(). A queue pair per engine of toed: the process listens
 * on all of them and spreads its active opens over them.
 */
#ifndef TOE_CTX_H
#define TOE_CTX_H

#include <toe/inline.h>
#include <toe/ring.h>

#include "libtoe.h"
#include "moderation.h"

/* What handlers of signals use of a thread's own: static, because they must not allocate, as the
 * first use of what is dynamic may. */
#ifdef TOE_TLS_DYNAMIC
#define OF_THREAD static __thread
#else
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
#endif

/* Where the TOE runs. */
enum tplace {
    TPLACE_TOED,   /* a process of its own */
    TPLACE_INLINE, /* within our calls */
    TPLACE_THREAD  /* a thread of this process */
};

/* Settings as resolved by tconfig_resolve(): options, then environment, then defaults. */
struct tconfig {
    enum tplace place;
    char socket[108]; /* path of toed's Unix socket, as sun_path takes it */
    char inline_options[1024];
    uint32_t slots, tx_size, rx_size;
    uint32_t busy_poll_us, irq_count, irq_usec;
    uint32_t zerocopy_min; /* pieces of memory smaller than this are copied all the same */
    uint32_t hold_min;     /* received frames with less than this are copied; 0: all are */
    bool busy_poll_given;  /* else an engine in this process has its own time */
    bool batch;            /* what answers several events of one epoll_wait leaves together */
    bool require;          /* what cannot be carried fails */
    bool report;           /* say every pass to the kernel, also the expected ones */
};

/* A queue pair: the device contract's host side (qp.h has the operations). */
struct tqp {
    struct toe_ring_tx sw;
    struct toe_ring_rx hw;
    struct toedev_doorbells *db;
    const struct toedev_status *status;
    uint8_t *area;
    struct tsock **slots; /* flow -> socket, NULL free, TSLOT_CLOSING */
    uint32_t *releases;   /* slots that wait for their RELEASE, or with TQP_* for something else */
    uint32_t releases_n;
    uint32_t belled; /* SW head when the doorbell was last rung */
    uint32_t sends;  /* calls, see is_news() of send.c */
    struct tmoderation moderation;
    bool armed;      /* an interrupt was asked for and may still come; direct: an arrival wakes */
    bool adaptive;   /* interrupt moderation follows the load */
    bool direct;     /* no rings: the TOE is called (inline.c) */
    uint32_t unsent; /* direct: commands since the last flush, whose frames may wait for it */
    bool restless;   /* direct: there is always something to do, so sleep but a moment */
    bool ordered;    /* the TOE does the fence of our doorbells (toe/ring.h) */
    bool broken;     /* the TOE broke the contract or is gone: tctx_progress() tears down */
    bool breached;   /* broken by a breach, which has been said */
    bool no_bind;    /* the TOE has no BIND */
    int doorbell_fd, irq_fd, ctl_fd, mem_fd;
    uint32_t engine, qp_id;
    uint32_t addresses;           /* entries of the address table written, free-running */
    struct toedev_inline *inside; /* the TOE, when it is in this process */
    uint64_t now;                 /* direct: of its last call */
    uint32_t events;              /* direct: notifications handled, free-running */
    struct tkept *kept;           /* the area outlives it (claim.h) */
    struct toedev_qp_config cfg;
    struct toedev_layout layout;
};

/* In releases: the CLOSE that resets it; the OPTIONs of a connection just established. */
#define TQP_ABORT   0x80000000u
#define TQP_OPTIONS 0x40000000u
#define TQP_LATER   3u /* of one slot at a time, at most */

/* The slot's socket has been closed by the application; its final CLOSE_EVENT is to come. */
#define TSLOT_CLOSING ((struct tsock *)1)

enum tctx_state {
    TC_COLD,   /* no attach tried yet */
    TC_UP,     /* queue pairs attached */
    TC_FAILED, /* never reached a TOE: the process runs on the kernel */
    TC_LOST    /* the TOE went away: trying again while sockets want it */
};

/* Who is to have SIGURG when the lock is given back; more at once than this share one signal less.
 */
#define TSIGURG_MAX 16u
struct tsigurg {
    uint32_t n;
    int32_t owner[TSIGURG_MAX];
    bool thread[TSIGURG_MAX]; /* ... is a thread's number (F_OWNER_TID) */
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
    bool known;           /* ip, mask, gw and inside are filled though nothing is attached */
    bool polling;         /* a thread polls before it sleeps */
    uint32_t told;        /* sockets that the last epoll_wait told and nobody has touched yet */
    uint32_t told_most;   /* of how many at first */
    uint32_t told_round;  /* number of that epoll_wait */
    uint64_t sleep_until; /* direct: the earliest end of a sleep that will run the TOE */
    uint32_t listeners;   /* sockets in TS_LISTEN */
    bool bind_refused;    /* the BIND under way */
    bool elsewhere;       /* some CONNECT is to go to the next queue pair */
    uint32_t sleepers;    /* threads in the kernel that rely on the interrupt */
    uint32_t idle_looks;  /* progress calls without a command, for the check of the TOE's life */
    uint64_t retry_at;    /* TC_LOST: when to try to attach again, tclock_ns() */
    struct tsigurg sigurg;
    char last_error[256];
};
extern TOE_HIDDEN struct tctx tctx;

/* ---- config.c ---- */

/* Fills cfg. 0, or -1 with a sentence in err that names the value and what to do. */
TOE_HIDDEN int tconfig_resolve(struct tconfig *cfg, const struct toe_options *opt, char *err,
                               size_t err_size);

/* ---- attach.c: the protocol of attach.h. Lock held. ---- */

struct twelcome {
    uint32_t engines;
    uint32_t ip, mask, gw;
    bool shared, stays;
};
/* A queue pair on the given engine, or NULL with a sentence in err. */
TOE_HIDDEN struct tqp *tqp_attach(const struct tconfig *cfg, uint32_t engine, struct twelcome *w,
                                  char *err, size_t err_size);
/* It is to end with the process of this pidfd. */
TOE_HIDDEN void tqp_moved(const struct tqp *qp, int pidfd);
TOE_HIDDEN void tqp_detach(struct tqp *qp);
/* In a fork child: descriptors closed, memory of the parent's area (not inherited) not touched. */
TOE_HIDDEN void tqp_forget(struct tqp *qp);
/* Has the TOE closed the connection? Asks the kernel. */
TOE_HIDDEN bool tqp_gone(const struct tqp *qp);

/* A queue pair, its host's side of it alone. NULL: no memory. */
TOE_HIDDEN struct tqp *tqp_new(const struct tconfig *cfg, uint32_t engine);
/* Doorbells, status and rings are where the layout says in the area. */
TOE_HIDDEN void tqp_use_area(struct tqp *qp, uint8_t *area);
/* Attached: leaves the fence of doorbells to the TOE, where both it and the kernel can. */
TOE_HIDDEN void tqp_register(struct tqp *qp);

/* ---- inline.c: a TOE in this process (toe/inline.h). Lock held. ---- */

/* In a call of the TOE: what it asks of the kernel is not for us. */
extern TOE_HIDDEN __thread int tinline_inside;

/* Reads the TOE's options and fills what tctx has of them. 0, or -1 with a sentence in err. */
TOE_HIDDEN int tinline_know(const struct tconfig *cfg, char *err, size_t err_size);
/* As tqp_attach(). */
TOE_HIDDEN struct tqp *tinline_attach(const struct tconfig *cfg, struct twelcome *w, char *err,
                                      size_t err_size);
TOE_HIDDEN void tinline_close(struct tqp *qp);
TOE_HIDDEN void tinline_forget(struct tqp *qp);
TOE_HIDDEN void tinline_command(struct tqp *qp, const struct toe_cmd *c);
/* What was sent leaves, unless more is to be expected at once. */
TOE_HIDDEN void tinline_sent(struct tqp *qp);
TOE_HIDDEN uint32_t tinline_run(struct tqp *qp);
/* n bytes of the slot's send stream, from offset `off` on, lie at data. False: they must be copied.
 */
TOE_HIDDEN bool tinline_refer(struct tqp *qp, uint32_t slot, uint32_t off, const uint8_t *data,
                              uint32_t n);
/* Such memory is not read any more when this returns. */
TOE_HIDDEN void tinline_settle(struct tqp *qp, uint32_t slot);
/* Commands for these slots, TOEDEV_EXPECT_MAX at most, will come soon. */
/* Bytes of the send buffer that are in use; more: after asking for more. */
TOE_HIDDEN uint32_t tinline_room(struct tqp *qp, uint32_t slot, bool more);
TOE_HIDDEN void tinline_expect(struct tqp *qp, const uint32_t *slots, unsigned n);
/* What frames.h does for a socket that is framed. */
TOE_HIDDEN uint8_t *tinline_where(struct tqp *qp, uint32_t slot, uint32_t off, uint32_t *n);
TOE_HIDDEN bool tinline_read_to(struct tqp *qp, uint32_t slot, uint32_t off);
TOE_HIDDEN void tinline_gather(struct tqp *qp, uint32_t slot, uint32_t off);
TOE_HIDDEN void tinline_refresh(const struct tqp *qp, uint32_t slot);
/* Rounds before a sleep: until nothing waits and an arrival will wake. Returns notifications. */
TOE_HIDDEN uint32_t tinline_prepare(struct tqp *qp);
/* The time at which the sleep must end: `deadline` or the TOE's. */
TOE_HIDDEN uint64_t tinline_cap(struct tqp *qp, uint64_t deadline);
/* What the lock's holder did may want a sleeper to wake earlier than it means to. */
TOE_HIDDEN void tinline_hurry(void);
/* IPv6 as the options say, while nothing is open. */
TOE_HIDDEN bool tinline_ip6(struct toedev_ip6 *out);

/* ---- ctx.c. Lock held. ---- */

/* Attaches if that has not been tried. True when queue pairs are there. */
TOE_HIDDEN bool tctx_need(void);
/* The TOE's addresses are known; attaches for that where it must. An engine in this process is not
 * opened: a listener may be for a child of ours. */
TOE_HIDDEN bool tctx_know(void);
/* Attaches again after a loss, at most every 100 ms. True when queue pairs are there. */
TOE_HIDDEN bool tctx_retry(void);
/* The process is about to become another user: a fork child with listeners attaches while it may.
 * Takes the lock. */
TOE_HIDDEN void tctx_before_rights_change(void);
/* The TOE is gone: every flow ends with ECONNRESET, queue pairs are dropped. */
TOE_HIDDEN void tctx_lost(void);
/* ---- qp.c: the rings. Lock held. ---- */

/* Room for one command by handling the HW ring meanwhile; false when the TOE is gone. */
TOE_HIDDEN bool tqp_make_room(struct tqp *qp);
TOE_HIDDEN void tqp_wake(struct tqp *qp);
TOE_HIDDEN void tqp_handle(struct tqp *qp, const struct toe_cmd *c);
/* Handles HW commands; never puts SW commands itself (see releases). Returns their number. */
TOE_HIDDEN uint32_t tqp_drain(struct tqp *qp);
/* Sends the RELEASEs, aborts and options that draining left behind. */
TOE_HIDDEN void tqp_flush(struct tqp *qp);
/* Waits until the TOE has handled what was put, so that its refusal is known: a second at most, and
 * a TOE that works takes no time. */
TOE_HIDDEN void tqp_settle(struct tqp *qp);
/* While draining: the slot is free for RELEASE; the flow is to be reset; its options are to be
 * said. */
TOE_HIDDEN void tqp_release_later(struct tqp *qp, uint32_t slot);
TOE_HIDDEN void tqp_abort_later(struct tqp *qp, uint32_t slot);
TOE_HIDDEN void tqp_options_later(struct tqp *qp, uint32_t slot);
/* Asks for an interrupt at the next HW command. */
TOE_HIDDEN void tqp_arm(struct tqp *qp);
/* Notes a breach of the contract by the TOE; the queue pairs are given up at the next progress. */
TOE_HIDDEN void tqp_breach(struct tqp *qp, const char *what, uint32_t value);

/* Writes a command; false when the TOE is gone (then nothing was written and nothing matters). */
static inline bool tqp_put(struct tqp *qp, uint8_t type, uint8_t flags, uint16_t aux, uint32_t flow,
                           uint32_t arg0, uint32_t arg1)
{
    struct toe_cmd c = toe_cmd_make(type, flags, aux, flow, arg0, arg1);

    if (qp->direct) {
        tinline_command(qp, &c);
        return true;
    }
    if (unlikely(!toe_ring_has_room(&qp->sw)) && !tqp_make_room(qp))
        return false;
    toe_ring_put(&qp->sw, &c);
    return true;
}

/*
 * Announces what was put. The fence orders our head before our look at sleeping; the TOE does the
 * opposite (ring.h), so one of the two sees the other. While commands that it was rung for wait,
 * the TOE is on its way and does not sleep before it has looked at the ring again: one bell is
 * enough.
 */
static inline void tqp_ring(struct tqp *qp)
{
    if (qp->direct) {
        tinline_sent(qp);
        return;
    }
    toe_ring_store(&qp->db->sw_head, qp->sw.head);
    if (likely(qp->ordered))
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
    if (unlikely(toe_ring_load(&qp->status->sleeping)) &&
        (int32_t)(toe_ring_load(&qp->status->sw_tail) - qp->belled) >= 0)
        tqp_wake(qp);
}

static inline bool tqp_send(struct tqp *qp, uint8_t type, uint8_t flags, uint16_t aux,
                            uint32_t flow, uint32_t arg0, uint32_t arg1)
{
    if (!tqp_put(qp, type, flags, aux, flow, arg0, arg1))
        return false;
    tqp_ring(qp);
    return true;
}

/*
 * A direct TOE, answers to several events: a program that epoll_wait() tells of several sockets
 * answers one after the other and comes back. What it sends leaves when half of them are answered
 * and when all are, or with its next call that makes progress: few system calls where a back end
 * needs one, and the peer has its first half while we work on the second.
 */
static inline void ttold_begin(void)
{
    tctx.told = 0;
    if (unlikely(!++tctx.told_round))
        tctx.told_round = 1;
}
static inline void ttold_note(struct tsock *s)
{
    if (s->qp && s->told_round != tctx.told_round) {
        s->told_round = tctx.told_round;
        tctx.told_most = ++tctx.told;
    }
}
/* Told by the last epoll_wait(), which looked at the rings, and not answered yet. */
static inline bool ttold_fresh(const struct tsock *s)
{
    return s->told_round && s->told_round == tctx.told_round;
}
static inline void ttold_answered(struct tsock *s)
{
    if (ttold_fresh(s) && tctx.told) {
        s->told_round = 0;
        tctx.told--;
    }
}

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

/* A short rest of a polling thread. */
static inline void tpause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- handle.c: numbers for listeners and connects that go through the TOE and come back ---- */

/* A number never 0 and not soon used again, or 0 when all are taken. */
TOE_HIDDEN uint32_t thandle_new(struct tsock *s);
TOE_HIDDEN struct tsock *thandle_get(uint32_t handle);
TOE_HIDDEN void thandle_free(uint32_t handle);
/* After an exec: s has the number that it had. False: no memory. */
TOE_HIDDEN bool thandle_restore(uint32_t handle, struct tsock *s);
/* Calls f for each socket that has a number. f may free its own. */
TOE_HIDDEN void thandle_each(void (*f)(struct tsock *s));

/* ---- fdtab.c ---- */

TOE_HIDDEN struct tsock *tsock_new(void);
TOE_HIDDEN void tfd_set(int fd, struct tobj *o); /* takes a reference */
TOE_HIDDEN void tfd_clear(int fd);               /* gives it back */
/* A number of libtoe's own for o, as tfd_set(); -1 with errno when all are in use. */
TOE_HIDDEN int tfd_own_new(struct tobj *o);
/* Some descriptor that leads to o other than `except`, or -1. Slow. */
TOE_HIDDEN int tfd_find(const struct tobj *o, int except);
/* Calls f for every object, once per descriptor. Slow. */
TOE_HIDDEN void tfd_each(void (*f)(struct tobj *o));
TOE_HIDDEN void tfd_each_number(void (*f)(int fd, struct tobj *o)); /* f may clear the number */
/* Memory for objects that stay objects for ever (libtoe.h, top). */
struct tpool {
    size_t size;
    void *free;
    uint8_t *chunk;
    size_t left;
    uint32_t chunks; /* so far */
};
TOE_HIDDEN void *tpool_get(struct tpool *p);
TOE_HIDDEN void tpool_put(struct tpool *p, void *object);

/* ---- flow.c: the life of a flow's slot. Lock held. ---- */

/* Binds s to a slot just established. */
TOE_HIDDEN void tflow_open(struct tsock *s, struct tqp *qp, uint32_t slot);
/* The last descriptor is gone, or toe_terminate(): ends what s is in whatever state. */
TOE_HIDDEN void tsock_end(struct tsock *s);
/* Gives the slot back when nothing of it is wanted any more (final close seen, data read). */
TOE_HIDDEN void tflow_release(struct tsock *s);
/* The same as soon as that is so: after a read of a dead socket. Not while draining. */
TOE_HIDDEN void tflow_done(struct tsock *s);
/* The final CLOSE_EVENT or the loss of the TOE, with an errno or 0. */
TOE_HIDDEN void tflow_gone(struct tsock *s, int error);
/* Says RECV for what was read. */
TOE_HIDDEN void tflow_say_read(struct tsock *s);

/* ---- listen.c, connect.c. Lock held. ---- */

TOE_HIDDEN void tlisten_announce(struct tsock *s, bool weak);
/* ... for the first time: WEAK where it may be for another process to serve. */
TOE_HIDDEN void tlisten_begin(struct tsock *s);
/* later.c: one more begins later; all are left to children that this process is about to have. In
 * the child: no thread of the parent's is there. */
TOE_HIDDEN void tlisten_defer(void);
TOE_HIDDEN void tlisten_leave_to_children(void);
TOE_HIDDEN void tlisten_later_forget(void);
/* The listener becomes WEAK. What came before and nobody has accepted is a child's that serves. */
TOE_HIDDEN void tlisten_weaken(struct tsock *s);
TOE_HIDDEN void tlisten_established(struct tqp *qp, const struct toe_cmd *c);
TOE_HIDDEN void tlisten_end(struct tsock *s);
/* Another who listens there has got it: out of the accept queue. */
TOE_HIDDEN void tlisten_stale(struct tsock *s);
TOE_HIDDEN void tlisten_drop_queue(struct tsock *s);
/* The oldest of the accept queue, with the queue's reference; NULL none. */
TOE_HIDDEN struct tsock *tlisten_dequeue(struct tsock *s);
TOE_HIDDEN void tconnect_done(struct tqp *qp, const struct toe_cmd *c);
/* Says its options: those that a SYN follows, how long it tries above all, and what an accepted
 * connection has of its listener. */
TOE_HIDDEN void tconnect_options(struct tsock *s);
/* CONNECT_READY (fastopen.c). */
TOE_HIDDEN void tconnect_ready(struct tqp *qp, const struct toe_cmd *c);
/* A connection that CONNECT_READY had named ends before it is open. */
TOE_HIDDEN void tfast_ended(struct tsock *s, int error);
/* sendto() with MSG_FASTOPEN begins the connection: *kernel as tconnect_begin() of connect.h; 0:
 * data may be sent, -1 with errno. data: there is some, else the SYN waits for none. */
TOE_HIDDEN int tfast_connect(int fd, const struct sockaddr *addr, socklen_t len, bool data,
                             bool *kernel);
TOE_HIDDEN void tconnect_failed(uint32_t cookie, int error);
/* Sends the CONNECTs that another engine is to have. Not while draining. */
TOE_HIDDEN void tconnect_elsewhere(void);

/* ---- epoll.c. Lock held. ---- */

TOE_HIDDEN void tepoll_mark(struct tobj *o, uint32_t events);
TOE_HIDDEN void tepoll_forget_object(struct tobj *o);
/* A descriptor of the instance was closed, others remain. */
TOE_HIDDEN void tepoll_fd_closed(struct tepoll *ep, int fd);
/* In a fork child: what was wired is the parent's. */
TOE_HIDDEN void tepoll_fork_child(struct tepoll *ep);
/* s was the TOE's and is now the kernel's, and so are its registrations. */
TOE_HIDDEN void tepoll_to_kernel(struct tsock *s);
/* s was undecided and is now the TOE's (or the kernel's): moves its registrations. */
TOE_HIDDEN void tepoll_adopt(struct tsock *s);
TOE_HIDDEN void tepoll_abandon(struct tsock *s);
TOE_HIDDEN void tepoll_end(struct tepoll *ep);
/* Is fd an epoll instance with sockets of ours? Takes the lock. */
TOE_HIDDEN bool tepoll_watches(int fd);
TOE_HIDDEN bool tepoll_ready(struct tepoll *ep);

/* ---- ip6.c. Lock held. ---- */

struct tname;

/* What the TOE has of IPv6 now; false: nothing. */
TOE_HIDDEN bool tip6_get(struct toedev_ip6 *out);
/* The index of the TOE's interface; 0: not known, or it has none. */
TOE_HIDDEN uint32_t tip6_interface(void);
/* Is it one of the TOE's own addresses? */
TOE_HIDDEN bool tip6_own(const struct toedev_ip6 *t, const struct tname *n);
/* A link-local address without an interface has that of the socket, where it has one (bind(),
 * SO_BINDTOIFINDEX). */
TOE_HIDDEN void tip6_scope(int fd, struct tname *n);
/* Is it on the link of the TOE? */
TOE_HIDDEN bool tip6_on_link(const struct toedev_ip6 *t, const struct in6_addr *a);
/* Writes an entry of the address table; its index is good for one command. local may be NULL. */
TOE_HIDDEN uint32_t tip6_entry(struct tqp *qp, const struct in6_addr *a,
                               const struct in6_addr *local);
/* The names of a connection of IPv6, from its flow record. */
TOE_HIDDEN void tip6_names(struct tsock *s);

/* ---- policy.c. Lock held. ---- */

enum tcarrier { TCARRY_KERNEL, TCARRY_TOE, TCARRY_BOTH, TCARRY_REFUSED };

struct tname {
    uint32_t ip;         /* of IPv4, network order */
    struct in6_addr ip6; /* of IPv6 */
    uint32_t scope;      /* of a link-local address: index of the interface, or 0 */
    uint16_t port;
    struct in6_addr from; /* what tpolicy_connect() found that the kernel would send from; or :: */
    bool v4;              /* an IPv4 address, plain or v4-mapped; else IPv6 */
    bool wildcard;        /* 0.0.0.0, or :: of a socket that takes IPv4 too */
};
/* Reads an address. 0, or an errno (EAFNOSUPPORT, EINVAL). */
TOE_HIDDEN int tname_read(const struct sockaddr *addr, socklen_t len, struct tname *out);
/* The name the kernel has for the socket that stands in for this one. */
TOE_HIDDEN int tsock_kernel_name(int fd, struct tname *out);
/* After a connect() that failed, or the shutdown of a listener: as new, and the kernel's socket
 * still has what bind() gave it. Not one that began as a duplicate of another's placeholder. */
TOE_HIDDEN bool tsock_is_new(const struct tsock *s, int fd);
TOE_HIDDEN enum tcarrier tpolicy_connect(int fd, struct tname *to);
TOE_HIDDEN enum tcarrier tpolicy_listen(int fd, const struct tname *at, bool v6only);
/* Notes the making of a socket that TCP has nothing to do with. Lock not held. */
TOE_HIDDEN void tpolicy_other(int domain, int kind);
/* The program wants an io_uring: said once. True: it is not to have it. */
TOE_HIDDEN bool tpolicy_ring(void);
/* Turns an undecided socket over to the kernel. */
TOE_HIDDEN void tsock_to_kernel(struct tsock *s, int fd);
/* What the kernel would do with a packet to this address. */
enum troute { TROUTE_NONE, TROUTE_LOCAL, TROUTE_ON_LINK, TROUTE_GATEWAY };
/* ... and how: all 0 where it does not say. */
struct tway {
    uint32_t source; /* address that it would send from, of IPv4 or */
    struct in6_addr source6;
    uint32_t interface; /* ... by */
    bool via6;          /* to a gateway of IPv6 */
};
TOE_HIDDEN enum troute troute_ask(uint32_t ip, struct tway *way);
/* scope: 0, or of a link-local address its interface. */
TOE_HIDDEN enum troute troute_ask6(const struct in6_addr *ip, uint32_t scope, struct tway *way);
/* In a fork child: the parent's netlink socket is not ours. */
TOE_HIDDEN void troute_forget(void);
/* The kernel has accepted a connection: the listener's reason is its own. Returns fd. */
TOE_HIDDEN int tpolicy_accepted(int listener, int fd);
/* The number is given back or made anew: forgets why it was not carried. */
TOE_HIDDEN void tpolicy_clear(int fd);

#endif
