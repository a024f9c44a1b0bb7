/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtoe.h - what the files of libtoe share (SEEDS S1.14). Not for applications: they use toe.h.
 *
 *   fd number --table--> struct tobj: a TOE socket (struct tsock) or an epoll instance (struct
 * tepoll) struct tsock --qp,slot--> struct tqp: a queue pair, one per engine of toed (qp.h) HW
 * command --slots[]/handles--> tsock --items--> tepoll ready list; --waiters--> sleeping threads
 *
 * One lock, tctx_lock(), guards everything but the table lookup. A call looks the number up without
 * the lock; when it finds nothing, the kernel gets the call. Otherwise it takes the lock and looks
 * again: the objects are never returned to malloc, so a stale pointer is a pointer to a tobj.
 */
#ifndef TOE_LIBTOE_H
#define TOE_LIBTOE_H

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <toe/attach.h>
#include <toe/toe.h>

#include "sys.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define TOE_HIDDEN  __attribute__((visibility("hidden")))

#define TOE_MAX_ENGINES 16
#define NSEC            1000000000ull

/* ---- what a descriptor number leads to ---- */

enum tobj_kind { TOBJ_FREE = 0, TOBJ_SOCK = 1, TOBJ_EPOLL = 2 };

struct tepoll;
struct tepitem;
struct tzc;
struct twnode;

/* The part that sockets and epoll instances share: who looks at them. */
struct tobj {
    uint8_t kind;
    uint8_t pad[3];
    uint32_t refs;          /* descriptors that lead here, plus calls that sleep on it */
    struct twnode *waiters; /* threads in poll, select or a blocking call */
    struct tepitem *items;  /* registrations of this object in epoll instances */
};

enum tsock_state {
    TS_NEW,        /* kernel socket; not decided yet who carries it */
    TS_SHARED,     /* a Unix socket, which leads to a flow that others use too (share.h) */
    TS_LISTEN,     /* the TOE listens for it; with .dual the kernel too */
    TS_CONNECTING, /* CONNECT sent, no answer yet */
    TS_OPEN,       /* a flow; see eof, shut */
    TS_DEAD,       /* the flow is gone or never came to be; error tells why */
    TS_FOREIGN     /* a connection of the process this one was forked from */
};

#define TSHUT_RD 1u /* shutdown(SHUT_RD) here */
#define TSHUT_WR 2u /* shutdown(SHUT_WR) here: FIN asked for */

/* What setsockopt() asked for; zero is the system's default unless said. */
struct tsock_opts {
    uint8_t nodelay, keepalive, cork, linger_on;
    uint8_t reuseaddr, reuseport, quickack, v6only;
    int32_t linger_s;
    int32_t keepidle, keepintvl, keepcnt; /* seconds, seconds, count */
    int32_t user_timeout;                 /* milliseconds */
    int32_t linger2;                      /* seconds */
    int32_t syncnt;                       /* 0: default */
    int32_t uto;                          /* seconds to advertise; 0: not */
    int32_t fastopen;                     /* of a listener: TCP_FASTOPEN */
    uint8_t fastopen_connect, fastopen_no_cookie;
    uint8_t fastopen_keys; /* 0, 1 or 2 in fastopen_key */
    uint8_t oobinline;
    uint8_t defer;    /* TCP_DEFER_ACCEPT, in times of the SYN-ACK's timer */
    uint8_t zerocopy; /* SO_ZEROCOPY */
    uint8_t fastopen_key[32];
    uint8_t tos, discover;       /* IP_TOS; 0 default, else 1 + IP_MTU_DISCOVER */
    uint16_t maxseg;             /* TCP_MAXSEG, 0: none */
    uint32_t cc;                 /* 0 default, else 1 + the value of TOE_OPT_CC */
    uint64_t max_pacing;         /* bytes per second, 0: no limit */
    uint64_t rcvtimeo, sndtimeo; /* nanoseconds, 0 for ever */
};

/* Urgent data (urgent.h). */
enum toob { TOOB_NONE, TOOB_TOLD /* and yet to come */, TOOB_VALID, TOOB_READ };

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by what is touched together */
struct tsock {
    struct tobj obj; /* first: a tobj of kind TOBJ_SOCK is a tsock */

    /* data path: with obj the first two cache lines hold all that recv and send touch */
    uint8_t state; /* enum tsock_state */
    uint8_t eof;   /* the peer's FIN is in: after rx_avail comes end of stream */
    uint8_t shut;  /* TSHUT_* */
    uint8_t nonblock;
    uint8_t dual;       /* TS_LISTEN: the kernel socket of this number listens too */
    uint8_t v6;         /* made as AF_INET6: names are sockaddr_in6, of IPv4 mapped */
    uint8_t accepted;   /* the connection came by accept() */
    uint8_t oob;        /* enum toob: there is a mark, at oob_pos */
    int32_t error;      /* pending SO_ERROR, an errno */
    uint32_t slot;      /* in qp */
    struct tqp *qp;     /* NULL unless TS_CONNECTING or a flow holds a slot */
    uint8_t *rx, *tx;   /* the slot's buffers */
    uint32_t rx_pos;    /* stream offset of the next byte to read, modulo 2^32 */
    uint32_t rx_avail;  /* bytes to read */
    uint32_t rx_unsaid; /* bytes read for which no RECV has been sent */
    uint32_t rx_mask, tx_mask;
    uint32_t tx_pos;     /* stream offset of the next byte to send, modulo 2^32 */
    uint32_t tx_free;    /* room in the send buffer, bytes */
    uint32_t told_round; /* the epoll_wait that told it and that nothing has answered, or 0 */
    uint32_t rx_held;    /* bytes read for which no RECV may be sent: some of them are lent */
    uint8_t claims;      /* TCLAIM_*: its buffers are in the application's hands (claim.h) */
    uint8_t lingering;   /* close() waits for the peer's acknowledgements */
    bool framed;         /* some received bytes are not in rx, but in frames (frames.h) */
    int32_t lowat;       /* SO_RCVLOWAT; 0 and 1: 1 byte */
    struct tzc *zc;      /* NULL until it sends or receives without a copy (claim.h) */

    /* names, network byte order */
    uint16_t local_port, remote_port;
    uint32_t local_ip, remote_ip;
    uint8_t ip6; /* IPv6 carries it: these instead */
    struct in6_addr local6, remote6;
    uint32_t scope; /* of link-local addresses */

    uint32_t soft_told; /* the flow record's soft error that SO_ERROR has given */

    struct tsock_opts opts;

    /* TS_LISTEN */
    uint32_t handle;        /* listener id or connect cookie (handle.c), 0 none */
    int32_t backlog;        /* as given to listen() */
    uint32_t queued;        /* connections in the accept queue */
    uint8_t used;           /* this process accepts from it, or watches it */
    uint8_t weak;           /* announced to the TOE with flag WEAK */
    uint8_t later;          /* ... only until it begins (later.c) */
    uint8_t inherited;      /* by fork; TS_NEW: by exec or SCM_RIGHTS, not used yet (inherit.h) */
    uint8_t announced;      /* LISTEN sent on the present queue pairs */
    uint8_t connect_failed; /* TS_DEAD: never connected; connect() may try again */
    uint8_t unconnected;    /* TS_DEAD by shutdown() of a connect or listener: as a new socket */
    uint8_t connect_untold; /* TS_OPEN: connect() has not yet returned 0 for it */
    uint8_t abort;          /* tsock_end() resets the connection, whatever SO_LINGER says */
    uint8_t asked;          /* TS_CONNECTING: queue pairs that had the CONNECT */
    uint8_t elsewhere;      /* TS_CONNECTING: the next queue pair is to have it */
    uint8_t wants_fast;     /* TS_CONNECTING: CONNECT_READY is waited for */
    uint8_t fast;           /* TS_CONNECTING: it has come; the SYN waits for data ... */
    uint8_t fast_sent;      /* ... which is given */
    uint8_t oob_byte;
    uint32_t oob_pos; /* stream offset of the last urgent byte */
    int32_t owner;    /* of F_SETOWN: who gets SIGURG */
    bool owner_tid;   /* ... and it is one thread (F_SETOWN_EX) */
    struct tsock *accept_head, *accept_tail, *accept_next;
    int32_t child_end;         /* at a fork: descriptor + 1 of what the child is to have */
    uint32_t relays;           /* that hold it (relay.h) */
    bool unasked;              /* TS_SHARED: who has the flow does not know that it is used */
    atomic_bool settled;       /* TS_SHARED, and not unasked: waiting for it is the kernel's */
    struct tsock *flow, *face; /* TS_SHARED: what has the flow, when it is here; the other way */
    struct tsock *listener;    /* of a connection that waits in an accept queue */
    uint32_t at_exec;          /* while an exec is prepared: its number + 1 (exec.c) */
};

/* Do its bytes go through the kernel's socket of its number? */
static inline bool tsock_kernels(const struct tsock *s)
{
    return s->state <= TS_SHARED;
}

_Static_assert(sizeof(void *) != 8 || offsetof(struct tsock, local_port) <= 128, "two cache lines");

/* The socket that has the flow: of one in TS_SHARED another, if it is here. */
static inline struct tsock *tflow_of(struct tsock *s)
{
    return s && s->state == TS_SHARED && s->flow ? s->flow : s;
}

/* ---- the table of descriptors (fdtab.c) ---- */

#define TFD_MAX (1u << 20) /* numbers above stay with the kernel, but for */
/* ... those of libtoe's own (toe_own_socket()), which no kernel gives out: its table would need
 * 8 GiB. */
#define TFD_OWN     (1u << 30)
#define TFD_OWN_MAX (1u << 21)

extern TOE_HIDDEN _Atomic(struct tobj *) tfd_table[TFD_MAX], tfd_own_table[TFD_OWN_MAX];

static inline bool tfd_is_own(int fd)
{
    return (unsigned)fd - TFD_OWN < TFD_OWN_MAX;
}

/* The object behind fd, or NULL: then fd is the kernel's. Needs no lock; see the top. */
static inline struct tobj *tobj_get(int fd)
{
    if (unlikely((unsigned)fd >= TFD_MAX))
        return tfd_is_own(fd) ? atomic_load_explicit(&tfd_own_table[(unsigned)fd - TFD_OWN],
                                                     memory_order_acquire)
                              : NULL;
    return atomic_load_explicit(&tfd_table[fd], memory_order_acquire);
}
static inline struct tsock *tsock_get(int fd)
{
    struct tobj *o = tobj_get(fd);
    return o && __atomic_load_n(&o->kind, __ATOMIC_RELAXED) == TOBJ_SOCK ? (struct tsock *)o : NULL;
}
static inline struct tepoll *tepoll_get(int fd)
{
    struct tobj *o = tobj_get(fd);
    return o && __atomic_load_n(&o->kind, __ATOMIC_RELAXED) == TOBJ_EPOLL ? (struct tepoll *)o
                                                                          : NULL;
}

/* Is a wait for fd a matter of libtoe's? */
static inline bool tfd_waits_here(int fd)
{
    struct tobj *o = tobj_get(fd);
    const struct tsock *s = tsock_get(fd);

    return o && !(s && atomic_load_explicit(&s->settled, memory_order_relaxed));
}

/* A reference for the time that a call sleeps, the lock not held. Lock held. */
TOE_HIDDEN void tobj_hold(struct tobj *o);
TOE_HIDDEN void tobj_put(struct tobj *o);

/* ---- the lock (lock.c) ---- */

/* Not recursive; free of cost in a process with one thread. */
TOE_HIDDEN void tctx_lock(void);
TOE_HIDDEN void tctx_unlock(void);
/* Gives it to others for a moment, in a loop that looks at the TOE again. */
TOE_HIDDEN void tctx_relax(void);
/* Between these as while it is held, for handlers of signals: around another lock. */
TOE_HIDDEN void tlock_enter(void);
TOE_HIDDEN void tlock_leave(void);
TOE_HIDDEN bool tlock_inside(void);
/* In a handler, before it does anything: is this thread inside? Then the signal comes again when it
 * is not. mask: of the context that the handler returns to. */
TOE_HIDDEN bool tlock_defer(int sig, siginfo_t *info, sigset_t *mask);
/* Of those that wait for this thread to be outside, the ones that are blocked until then. */
TOE_HIDDEN void tlock_waiting(sigset_t *set);
/* In a fork child: they are the parent's. */
TOE_HIDDEN void tlock_forget(void);
/* A thread of our own, detached, without the program's signals. Lock held. False: there is none. */
TOE_HIDDEN bool tctx_thread(void *(*run)(void *arg));

/* ---- readiness (ready.c). Lock held. ---- */

/* What epoll would say of this object now, EPOLL* bits (the same numbers as POLL*): all that hold,
 * not only those asked for. For a socket in TS_NEW: 0, the kernel answers for it. */
TOE_HIDDEN uint32_t tsock_events(const struct tsock *s);
TOE_HIDDEN uint32_t tobj_events(struct tobj *o);
/* Must the kernel be asked about the same number as well (an undecided socket, a listener that
 * the kernel serves too, the kernel's part of an epoll instance)? */
TOE_HIDDEN bool tobj_kernel_too(const struct tobj *o);
/* Something changed that `events` (EPOLL* bits) describes: fills ready lists, wakes sleepers. */
TOE_HIDDEN void tobj_notify(struct tobj *o, uint32_t events);
/* This process means to serve the listener: announces it to the TOE if that is not done (a listener
 * inherited by fork). poll, select, epoll and accept call it on what they look at. */
TOE_HIDDEN void tsock_use(struct tsock *s);

/*
 * Where flows stay with the queue pair that they came to, those that come before a program forks
 * the children that are to accept them would wait in it for ever. So a listener there is WEAK at
 * first, and gets none: until it is accepted from or watched, or the program waits for something
 * else, or a second has passed. A fork leaves it to the children.
 */
extern TOE_HIDDEN bool tlisten_later; /* there are such listeners */
/* They begin; commands are handled meanwhile. */
TOE_HIDDEN void tlisten_begin_now(void);
/* This process waits for something. True: what was looked at before is to be looked at again. */
static inline bool tlisten_begun_by_wait(void)
{
    if (likely(!tlisten_later))
        return false;
    tlisten_begin_now();
    return true;
}
/* The program waits; or does so if it has to for what it reads. Take the lock. */
TOE_HIDDEN void tlisten_goes_on(void);
TOE_HIDDEN void tlisten_reads(int fd);

/* ---- the rings (progress.c). Lock held. ---- */

/* Handles what the TOE has written. Cheap when there is nothing. Returns the number of commands. */
TOE_HIDDEN uint32_t tctx_progress(void);
/* Is there any queue pair to make progress on? */
TOE_HIDDEN bool tctx_attached(void);

/* ---- sleeping (wait.c). Lock held unless said. ----
 *
 *     struct twaiter *w = twait_begin(most);
 *     if (!w) return -1;
 *     twait_add(w, obj);                       (so many times at most)
 *     for (;;) {
 *         ... look whether it is done (tobj_events); leave the loop ...
 *         r = twait_sleep(w, kfds, n, deadline, mask);
 *         if (r < 0 || now >= deadline) ...
 *     }
 *     twait_end(w);
 *
 * Waiter and nodes are the thread's, not on its stack: a signal handler may leave a sleep for good
 * by siglongjmp() (iperf3 does at SIGINT). The thread's next wait then ends the one left behind.
 */
struct twaiter {
    int kick_fd;          /* this thread's eventfd */
    bool kicked;          /* something on a watched object changed since twait_sleep began */
    bool asleep;          /* in the kernel: whoever kicks must write kick_fd */
    struct twnode *nodes; /* chained by .own */
    struct twnode *room;  /* nodes for twait_add(), so many of them in use */
    size_t used;
};
struct twnode {
    struct twaiter *waiter;
    struct tobj *obj; /* held */
    struct twnode *prev, *next, *own;
};

#define TWAIT_EXTRA   (2 + 2 * TOE_MAX_ENGINES) /* room twait_sleep needs behind kfds[n] */
#define TWAIT_FOREVER UINT64_MAX

/* NULL with errno: no descriptor left for the thread's eventfd, or no memory. */
TOE_HIDDEN struct twaiter *twait_begin(size_t most);
TOE_HIDDEN void twait_add(struct twaiter *w, struct tobj *o);
TOE_HIDDEN void twait_end(struct twaiter *w);
/*
 * Sleeps until a watched object changes, one of the n kernel descriptors in kfds is ready (kfds has
 * room for n + TWAIT_EXTRA; may be NULL with n 0), a signal comes, or `deadline` (tclock_ns() time)
 * passes. Polls for busy_poll_us first. The lock is released meanwhile and rings are handled after.
 * mask as ppoll's, may be NULL. Returns the number of kernel descriptors with revents
 * (kfds[].revents valid), 0 when there is something new to look at or time has passed, -1 with
 * errno EINTR.
 */
TOE_HIDDEN int twait_sleep(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline,
                           const sigset_t *mask);
/* Sleeps for one object: begin, add, sleep, end. `deadline` as above. 0 or -1 with errno. */
TOE_HIDDEN int twait_one(struct tobj *o, uint64_t deadline);

/* ---- the machine (host.c; tests/virtual/ has another). Lock not held when they may sleep. ---- */

/* CLOCK_MONOTONIC in nanoseconds. */
TOE_HIDDEN uint64_t tclock_ns(void);
/* As sys_ppoll() and sys_epoll_pwait(), on that clock. note: of tsig_note() (wait.h), or NULL. */
TOE_HIDDEN int thost_ppoll(struct pollfd *fds, nfds_t n, struct timespec *ts, const sigset_t *mask,
                           const volatile sig_atomic_t *note);
TOE_HIDDEN int thost_epoll_pwait(int ep, struct epoll_event *ev, int max, int timeout_ms,
                                 const sigset_t *mask);
/* As epoll_pwait2(): until a time of that clock, UINT64_MAX for ever. */
TOE_HIDDEN int thost_epoll_until(int ep, struct epoll_event *ev, int max, uint64_t deadline,
                                 const sigset_t *mask, const volatile sig_atomic_t *note);
/* Gives the TOE a chance to go on while this thread waits for it by looking. */
TOE_HIDDEN void thost_yield(void);
/* Connects the Unix socket fd to toed, which listens at path. 0, or -1 with errno. */
TOE_HIDDEN int thost_attach(int fd, const char *path);
static inline uint64_t tclock_deadline(uint64_t ns) /* 0: for ever */
{
    return ns ? tclock_ns() + ns : TWAIT_FOREVER;
}

/* ---- what setsockopt and getsockopt need (sockopt.c uses; sock.c has). Lock held. ---- */

/* An undecided socket listens in the kernel: decides who carries it. 0, or -1 with errno. */
TOE_HIDDEN int tsock_listens(struct tsock *s, int fd, int backlog);
/* Says a listener's O_NONBLOCK to who may inherit it. accept() asks the kernel's half of one that
 * is served by both without waiting, so there F_SETSIG, of no use else, has what the program wants:
 * SIGIO to wait. */
TOE_HIDDEN void tsock_note_flags(const struct tsock *s, int fd);
/* Sends OPTION for this flow, or remembers it in s->opts alone when there is no flow yet. */
TOE_HIDDEN void tsock_option(struct tsock *s, uint16_t option, uint32_t value);
/* Sends OPTION for all of s->opts that is not the default: at establishment. In sockopt.c. */
TOE_HIDDEN void tsock_apply_options(struct tsock *s);
/* Tells the TOE the listener's TCP_FASTOPEN. */
TOE_HIDDEN void tfast_announce(const struct tsock *s);
/* An option of the flows that a listener will have, told to all queue pairs. */
TOE_HIDDEN void tlisten_option(const struct tsock *s, uint16_t option, uint32_t value);
/* pathopt.c: remembers and tells what is an option of the path; anything else is left alone. */
TOE_HIDDEN void tpath_set(struct tsock *s, int level, int name, const void *value, socklen_t len);
/* Tells the TOE what has been set: of a flow before its SYN, or of a listener's flows. */
TOE_HIDDEN void tpath_apply(struct tsock *s);
/* IP_MTU: bytes, or -1 with ENOTCONN. */
TOE_HIDDEN int tpath_mtu(const struct tsock *s);
/* TCP_DEFER_ACCEPT as Linux rounds it: how often the SYN-ACK's timer expires in so many seconds,
 * and the seconds of so many times. */
TOE_HIDDEN uint8_t tdefer_times(int seconds);
TOE_HIDDEN int tdefer_seconds(uint8_t times);
/* The flow's record copied (torn reads retried), false when there is no flow. */
TOE_HIDDEN bool tsock_record(const struct tsock *s, struct toedev_flow_record *out);
/* The pending error, cleared (SO_ERROR). */
TOE_HIDDEN int tsock_take_error(struct tsock *s);
/* Room enough to tell a sender of: at least half as much as is in use (sk_stream_is_writeable). */
/* How it lets others have its port, as OPTION REUSE says it. */
static inline uint32_t tsock_reuse(const struct tsock *s)
{
    return (s->opts.reuseaddr ? 1u : 0u) | (s->opts.reuseport ? 2u : 0u);
}

static inline bool tsock_writable(const struct tsock *s)
{
    return s->tx_free && s->tx_free >= (s->tx_mask + 1 - s->tx_free) >> 1;
}
/* Bytes sent that the peer has not acknowledged (SIOCOUTQ). */
static inline uint32_t tsock_unacked(const struct tsock *s)
{
    return s->tx ? s->tx_mask + 1 - s->tx_free : 0;
}
/* Fills a sockaddr of the socket's family (v4-mapped when s->v6), as the kernel truncates it. */
TOE_HIDDEN int tsock_name(const struct tsock *s, bool peer, struct sockaddr *addr, socklen_t *len);

/* ---- what cannot be carried (policy.c) ---- */

/* Notes why fd stays with the kernel (toe_why_not) and says it once per reason on stderr where
 * settings ask for that. `why` is a string constant. True: TOEHOLD_REQUIRE, so the call must fail.
 */
TOE_HIDDEN bool tpolicy_pass(int fd, const char *why);
/* One line on stderr, "toehold: ...", at most once per process for the same `fmt`. */
TOE_HIDDEN void tlog_once(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, each time. */
TOE_HIDDEN void tlog(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* In an out call: sets errno, returns -1. */
static inline int terr(int e)
{
    errno = e;
    return -1;
}

#endif
