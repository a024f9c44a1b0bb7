/* SPDX-License-Identifier: Apache-2.0 */
/* relay.c - a flow that other processes use through a Unix socket (relay.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "ctx.h"
#include "dispatch.h"
#include "fdtab.h"
#include "internal.h"
#include "lock.h"
#include "log.h"
#include "relay.h"
#include "share.h"
#include "share_use.h"
#include "tsock.h"
#include "tzc.h"

#define PIECE   16384
#define SOON_MS 10      /* interval of checks while there is a claim on the flow */
#define REST_NS 1000000 /* between two checks that the thread is paused */

/* One direction between a flow and a Unix socket. */
struct way {
    char data[PIECE];
    size_t at, len; /* in data: bytes to write are [at, len) */
    bool end;       /* no more bytes will follow */
    bool fin_sent;  /* the end has been passed on */
};

struct ways {
    struct way to_others, to_peer;
};

struct relay {
    struct relay *next;
    struct tsock *sock;   /* the flow, held; NULL: to be freed */
    struct ways *ways;    /* NULL: an offer */
    int toe_fd;           /* internal descriptor of the flow; -1: an offer */
    int unix_fd;          /* our end */
    bool nonblock;        /* O_NONBLOCK when it was offered */
    int others_end;       /* the others' end, for asks by other offers; or of a pending ask */
    int answer;           /* ... and the descriptor for its answer */
    int flow_at, unix_at; /* their indexes in the poll set, -1: none */
};

static struct relay *relays;
static bool running; /* a thread serves them */
static bool to_rest, rests;
static int kick_fd = -1;

static void kick(void)
{
    if (kick_fd >= 0)
        (void)!sys_write(kick_fd, &(uint64_t){1}, sizeof(uint64_t));
}

/* ---- the list ---- */

bool trelay_offer(struct tsock *s)
{
    struct relay *r = calloc(1, sizeof(*r));
    int ends[2];

    if (!r || sys_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        free(r);
        return false;
    }
    tshare_name(ends[0], s);
    tshare_prepare(ends[1], s);
    *r = (struct relay){.next = relays,
                        .sock = s,
                        .nonblock = s->nonblock,
                        .toe_fd = -1,
                        .unix_fd = tfd_internal(ends[0]),
                        .others_end = -1,
                        .answer = -1,
                        .flow_at = -1,
                        .unix_at = -1};
    sys_fcntl(r->unix_fd, F_SETFL, O_RDWR | O_NONBLOCK);
    s->child_end = tfd_internal(ends[1]) + 1;
    s->relays++;
    tobj_hold(&s->obj);
    relays = r;
    return true;
}

/* Ends a relay. sweep() frees its memory when no loop refers to it. */
static void end(struct relay *r)
{
    struct tsock *s = r->sock;

    if (!s)
        return;
    r->sock = NULL;
    s->relays--;
    if (r->toe_fd >= 0)
        tfd_clear(r->toe_fd);
    tobj_put(&s->obj);
    tfd_internal_close(r->toe_fd);
    tfd_internal_close(r->unix_fd);
    tfd_internal_close(r->others_end);
    tfd_internal_close(r->answer);
    r->toe_fd = r->unix_fd = r->others_end = r->answer = -1;
}

static struct relay *newest(const struct tsock *s)
{
    struct relay *r = relays;

    while (r && r->sock != s)
        r = r->next;
    return r;
}

void trelay_withdraw(struct tsock *s)
{
    struct relay *r = newest(s);

    if (r && !r->ways)
        end(r);
}

/* ---- from an offer to a relay ---- */

static bool begin(struct relay *r)
{
    int fd = tfd_internal(sys_dup(r->unix_fd));
    struct ways *w = fd >= 0 && fd < (int)TFD_MAX ? calloc(1, sizeof(*w)) : NULL;

    if (!w) {
        tfd_internal_close(fd);
        tlog("a connection that a child has cannot be served: no descriptors or no memory");
        return false;
    }
    tfd_set(fd, &r->sock->obj);
    r->toe_fd = fd;
    r->ways = w;
    return true;
}

/* Makes the program's numbers of s the Unix socket, and moves the flow to another socket. */
static void divide(struct tsock *s, bool nonblock, int others_end)
{
    struct tsock *flow = tsock_new();

    if (!flow)
        return; /* this process uses the flow as before: each of two readers gets what it reads */
    tshare_divide(s, nonblock, flow, others_end);
    for (struct relay *r = relays; r; r = r->next)
        if (r->sock == s) {
            r->sock = flow;
            flow->relays++;
            s->relays--;
            tobj_hold(&flow->obj);
            tobj_put(&s->obj);
        }
}

static bool is_claimed(const struct tsock *s)
{
    return s->claims & (TCLAIM_TX | TCLAIM_RX);
}

/* Shares the flow with the owner of the other end. others_end is a duplicate of that end, or -1. */
static void share(struct relay *r, int others_end)
{
    if (others_end >= 0)
        tshare_note(others_end);
    if (others_end >= 0 && tshare_has_number(r->sock))
        divide(r->sock, r->nonblock, others_end);
    if (!begin(r))
        end(r);
    else
        r->others_end = others_end; /* until sweep() finds no other offer */
}

void trelay_share(struct tsock *s)
{
    struct relay *r = newest(s);
    int mine = sys_fcntl(s->child_end - 1, F_DUPFD_CLOEXEC, 0);

    if (r && !r->ways && mine >= 0) {
        share(r, tfd_internal(mine));
        kick();
    } else {
        sys_close(mine);
    }
}

bool trelay_carry(struct tsock *s)
{
    struct relay *r = newest(s);

    if (!r || r->ways)
        return false;
    share(r, -1);
    return r->sock != NULL;
}

/* Returns whether all processes have closed the other end, and nothing is left to read. */
static bool is_unused(const struct relay *r)
{
    struct pollfd p = {.fd = r->unix_fd, .events = POLLIN};
    struct timespec now = {0, 0};

    return sys_ppoll(&p, 1, &now, NULL) > 0 && (p.revents & POLLHUP) && !(p.revents & POLLIN);
}

void trelay_look(struct tsock *s)
{
    unsigned left = 0;

    for (struct relay *r = relays; r; r = r->next)
        if (r->sock == s && !r->ways && is_unused(r))
            end(r);
        else
            left += r->sock == s;
    /* The only other user need not ask, and may not be able to. */
    if (left == 1 && s->obj.refs == 2 && trelay_carry(s))
        (void)trelay_start();
}

bool trelay_any(void)
{
    return relays != NULL;
}

static void pause_unlocked(void)
{
    tctx_unlock();
    sys_ppoll(NULL, 0, &(struct timespec){0, REST_NS}, NULL);
    tctx_lock();
}

void trelay_rest(bool on)
{
    to_rest = on && running;
    kick();
    while (to_rest && running && !rests)
        pause_unlocked();
}

void trelay_forget(void)
{
    running = to_rest = rests = false;
    tfd_internal_close(kick_fd);
    kick_fd = -1;
    while (relays) {
        struct relay *r = relays;

        relays = r->next;
        if (r->sock)
            tshare_orphan(r->sock);
        end(r);
        free(r->ways);
        free(r);
    }
}

/* ---- carrying bytes: by the thread, without the lock ---- */

static void read_flow(struct relay *r)
{
    struct way *w = &r->ways->to_others;
    ssize_t n = toe_recv(r->toe_fd, w->data, PIECE, MSG_DONTWAIT);

    w->at = 0;
    w->len = n > 0 ? (size_t)n : 0;
    w->end = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void read_unix(struct relay *r)
{
    struct way *w = &r->ways->to_peer;
    struct tshare_ask ask;
    ssize_t n = tshare_hear(r->unix_fd, w->data, PIECE, &ask);

    w->at = 0;
    w->len = n > 0 ? (size_t)n : 0;
    w->end = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    /* An ask by another owner of the same end, which is served already. */
    tfd_internal_close(ask.end);
    tfd_internal_close(ask.answer);
}

/* Writes the pending bytes; false when the other side accepts no more. */
static bool drain(struct way *w, int fd, bool toe)
{
    ssize_t n;

    if (w->at < w->len) {
        n = toe ? toe_send(fd, w->data + w->at, w->len - w->at, MSG_DONTWAIT | MSG_NOSIGNAL)
                : sys_sendto(fd, w->data + w->at, w->len - w->at, MSG_DONTWAIT | MSG_NOSIGNAL, NULL,
                             0);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        w->at += (size_t)n;
    }
    if (w->at == w->len && w->end && !w->fin_sent) {
        w->fin_sent = true;
        if (toe)
            toe_shutdown(fd, SHUT_WR);
        else
            sys_shutdown(fd, SHUT_WR);
    }
    return true;
}

static bool is_full(const struct way *w)
{
    return w->at < w->len;
}

/* Runs one turn with the poll() events of both sides; false when the connection has ended. */
static bool turn(struct relay *r, short flow, short others)
{
    struct way *in = &r->ways->to_others, *out = &r->ways->to_peer;

    if (!is_full(in) && !in->end && flow)
        read_flow(r);
    if (!is_full(out) && !out->end && (others & (POLLIN | POLLHUP | POLLERR)))
        read_unix(r);
    /* The others have closed their end and all their bytes are passed on: close the flow too. */
    if (out->end && (others & POLLHUP) && !is_full(out))
        return false;
    if (!drain(in, r->unix_fd, false)) {
        in->at = in->len; /* they read no more; bytes that they have written are still passed on */
        in->end = in->fin_sent = true;
    }
    return drain(out, r->toe_fd, true) && !(in->fin_sent && out->fin_sent);
}

/* ---- the thread ---- */

static struct pollfd *polled;
static size_t polled_room;

/* Frees relays that have ended; false when none is left. */
static bool sweep(void)
{
    for (struct relay **at = &relays; *at;) {
        struct relay *r = *at, *other = relays;

        if (!r->sock) {
            *at = r->next;
            free(r->ways);
            free(r);
            continue;
        }
        while (other && (other->sock != r->sock || other->ways))
            other = other->next;
        if (r->ways && !other) {
            tfd_internal_close(r->others_end); /* so that the close by its last user is detected */
            r->others_end = -1;
        }
        at = &r->next;
    }
    return relays != NULL;
}

static bool make_room(size_t n)
{
    struct pollfd *p = n > polled_room ? realloc(polled, 2 * n * sizeof(*p)) : polled;

    if (!p)
        return false;
    if (n > polled_room)
        polled_room = 2 * n;
    polled = p;
    return true;
}

static int list_one(int fd, int events, nfds_t *n)
{
    polled[*n] = (struct pollfd){.fd = fd, .events = (short)events};
    return (int)(*n)++;
}

/* Lists the descriptors to poll; 0: no memory. *soon: an ask is pending, so poll for a short time.
 */
static nfds_t list(bool *soon)
{
    nfds_t n = 0;
    size_t most = 1;

    for (const struct relay *r = relays; r; r = r->next)
        most += 2;
    if (!make_room(most))
        return 0;
    *soon = false;
    for (struct relay *r = relays; r; r = r->next) {
        const struct way *in, *out;
        int flow, others;

        r->flow_at = r->unix_at = -1;
        if (!r->ways) {
            *soon |= r->answer >= 0;
            if (r->answer < 0)
                r->unix_at = list_one(r->unix_fd, POLLIN, &n);
            continue;
        }
        in = &r->ways->to_others;
        out = &r->ways->to_peer;
        flow = (!is_full(in) && !in->end ? POLLIN : 0) | (is_full(out) ? POLLOUT : 0);
        others = (!is_full(out) && !out->end ? POLLIN : 0) | (is_full(in) ? POLLOUT : 0);
        /* A hang-up, reported without being requested, would wake us again and again. */
        if (flow)
            r->flow_at = list_one(r->toe_fd, flow, &n);
        if (others || !is_full(out))
            r->unix_at = list_one(r->unix_fd, others, &n);
    }
    list_one(kick_fd, POLLIN, &n);
    return n;
}

static short revents_of(int at)
{
    return at < 0 ? 0 : polled[at].revents;
}

/* Returns the end of the same flow that is in use by another offer. */
static int end_in_use(const struct relay *asked)
{
    const struct relay *r = relays;

    while (r && (r->sock != asked->sock || !r->ways || r->others_end < 0))
        r = r->next;
    return r ? r->others_end : -1;
}

/* Handles an ask for an offer, or a write by a process that did not ask. Lock held. */
static void hear(struct relay *r)
{
    struct tshare_ask ask = {r->others_end, r->answer};
    char first;
    ssize_t n = 0;
    int in_use;

    r->others_end = r->answer = -1;
    if (ask.answer < 0)
        n = tshare_hear(r->unix_fd, &first, 1, &ask);
    in_use = end_in_use(r);
    if (ask.answer >= 0 && in_use >= 0) {
        tshare_answer(ask.answer, in_use);
    } else if (ask.answer >= 0 && is_claimed(r->sock)) {
        r->others_end = ask.end;
        r->answer = ask.answer;
        return;
    } else if (ask.answer >= 0) {
        share(r, ask.end);
        ask.end = -1;
    } else if (n > 0) {
        share(r, -1);
        if (r->ways) {
            r->ways->to_peer.data[0] = first;
            r->ways->to_peer.len = 1;
        }
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        end(r);
    }
    tfd_internal_close(ask.end);
    tfd_internal_close(ask.answer); /* the close notifies the asker that it is served */
}

static void handle(void)
{
    for (struct relay *r = relays; r; r = r->next) {
        short flow = revents_of(r->flow_at), others = revents_of(r->unix_at);
        bool more;

        r->flow_at = r->unix_at = -1; /* a relay that another thread has begun has no events yet */
        if (!r->sock)
            continue;
        if (!r->ways) {
            if (others || r->answer >= 0)
                hear(r);
            continue;
        }
        if (!flow && !others)
            continue;
        tctx_unlock();
        more = turn(r, flow, others);
        tctx_lock();
        tctx_progress();
        if (!more)
            end(r);
    }
}

void trelay_serve(void)
{
    uint64_t count;
    bool soon;

    tctx_lock();
    while (sweep()) {
        nfds_t n = list(&soon);

        tctx_unlock();
        toe_poll(polled, n, n && !soon ? -1 : SOON_MS);
        tctx_lock();
        (void)!sys_read(kick_fd, &count, sizeof(count));
        if (n)
            handle();
        while (to_rest) {
            rests = true;
            pause_unlocked();
        }
        rests = false;
    }
    running = false;
    tfd_internal_close(kick_fd);
    kick_fd = -1;
    tctx_unlock();
}

static void *run(void *arg)
{
    trelay_serve();
    return arg;
}

bool trelay_start(void)
{
    if (running) {
        kick();
        return true;
    }
    kick_fd = tfd_internal(sys_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (kick_fd < 0)
        return false;
    running = tctx_thread(run);
    if (!running) {
        tfd_internal_close(kick_fd);
        kick_fd = -1;
    }
    return running;
}
