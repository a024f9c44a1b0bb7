/* SPDX-License-Identifier: Apache-2.0 */
/* handover.c - connections across fork (handover.h). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ctx.h"
#include "handover.h"
#include "internal.h"

/* A server that forks per connection has few open in the parent. One with more is no such server,
 * and must not pay for it at each fork (redis saves by a child, with thousands of clients). */
#define HANDOVER_MAX 64
#define PIECE        16384

/* What goes one way between a flow and a Unix socket. */
struct way {
    char data[PIECE];
    size_t at, len; /* of data: bytes to write are [at, len) */
    bool end;       /* nothing more comes */
    bool told;      /* the end has been passed on */
};

struct relay {
    int toe_fd;  /* internal, leads to the flow */
    int unix_fd; /* internal, the parent's end */
    struct way to_child, to_peer;
};

static int done_fd = -1; /* told of each relay that ends, in a process that only relays */
static unsigned open_n;  /* open connections at the fork under way */

static struct tsock *open_sock(struct tobj *o)
{
    struct tsock *s = o->kind == TOBJ_SOCK ? (struct tsock *)o : NULL;

    return s && s->state == TS_OPEN && s->qp ? s : NULL;
}

static void count_open(struct tobj *o)
{
    open_n += open_sock(o) != NULL;
}

/* Has everyone closed the child's end, with nothing left to read? */
static bool unused(int unix_fd)
{
    struct pollfd p = {.fd = unix_fd, .events = POLLIN};
    struct timespec now = {0, 0};

    return sys_ppoll(&p, 1, &now, NULL) > 0 && (p.revents & POLLHUP) && !(p.revents & POLLIN);
}

void thandover_end(struct tsock *s)
{
    if (likely(!s->parent_end))
        return;
    tfd_internal_close(s->parent_end - 1);
    s->parent_end = 0;
}

/* ---- around fork ---- */

static void make_pair(struct tobj *o)
{
    struct tsock *s = open_sock(o);
    struct stat st;
    int ends[2];

    if (!s || s->child_end || s->relayed)
        return;
    if (s->parent_end) {
        if (!unused(s->parent_end - 1))
            return; /* a child that lives has it already */
        thandover_end(s);
    }
    if (syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    s->parent_end = tfd_internal(ends[0]) + 1;
    s->child_end = tfd_internal(ends[1]) + 1;
    s->child_inode = fstat(s->child_end - 1, &st) == 0 ? (unsigned long)st.st_ino : 0;
    sys_fcntl(s->parent_end - 1, F_SETFL, O_RDWR | O_NONBLOCK);
}

void thandover_before(void)
{
    open_n = 0;
    tfd_each(count_open);
    if (open_n && open_n <= HANDOVER_MAX)
        tfd_each(make_pair);
}

bool thandover_made(void)
{
    return open_n && open_n <= HANDOVER_MAX;
}

static void drop_child_end(struct tobj *o)
{
    struct tsock *s = open_sock(o);

    if (!s)
        return;
    tfd_internal_close(s->child_end - 1);
    s->child_end = 0;
}

void thandover_in_parent(void)
{
    if (open_n)
        tfd_each(drop_child_end);
}

/* The number becomes the Unix socket, with the flags it had. */
static void replace(int fd, const struct tsock *s)
{
    int own = s->child_end - 1;
    int close_on_exec = sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC;

    if (s->nonblock)
        sys_fcntl(own, F_SETFL, O_RDWR | O_NONBLOCK);
    sys_dup3(own, fd, close_on_exec ? O_CLOEXEC : 0);
}

static void take_number(int fd, struct tobj *o)
{
    struct tsock *s = open_sock(o);

    if (!s || (!s->child_end && !tfd_is_internal(fd)))
        return;
    tobj_hold(o); /* for the last pass, which closes the ends */
    if (tfd_is_internal(fd)) {
        tfd_clear(fd); /* a relay's, whose thread is not here */
        tfd_internal_close(fd);
    } else {
        replace(fd, s);
        tfd_clear(fd);
    }
    if (o->refs == 1) {
        drop_child_end(o);
        s->qp->slots[s->slot] = NULL;
        s->qp = NULL;
        s->state = TS_FOREIGN;
    }
    tobj_put(o);
}

static void close_parent_end(struct tobj *o)
{
    if (o->kind == TOBJ_SOCK)
        thandover_end((struct tsock *)o);
}

void thandover_in_child(void)
{
    tfd_each(close_parent_end);
    tfd_each_number(take_number);
}

/* ---- the relay ---- */

static void read_toe(struct relay *r)
{
    ssize_t n = toe_recv(r->toe_fd, r->to_child.data, PIECE, MSG_DONTWAIT);

    r->to_child.at = 0;
    r->to_child.len = n > 0 ? (size_t)n : 0;
    r->to_child.end = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void read_unix(struct relay *r)
{
    ssize_t n = sys_read(r->unix_fd, r->to_peer.data, PIECE);

    r->to_peer.at = 0;
    r->to_peer.len = n > 0 ? (size_t)n : 0;
    r->to_peer.end = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Writes what is there; false when the other side takes nothing any more. */
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
    if (w->at == w->len && w->end && !w->told) {
        w->told = true;
        if (toe)
            toe_shutdown(fd, SHUT_WR);
        else
            sys_shutdown(fd, SHUT_WR);
    }
    return true;
}

/* One turn; false when the connection has ended. */
static bool turn(struct relay *r)
{
    struct way *in = &r->to_child, *out = &r->to_peer;
    bool in_full = in->at < in->len, out_full = out->at < out->len;
    struct pollfd p[2] = {
        {.fd = r->toe_fd,
         .events = (short)((!in_full && !in->end ? POLLIN : 0) | (out_full ? POLLOUT : 0))},
        {.fd = r->unix_fd,
         .events = (short)((!out_full && !out->end ? POLLIN : 0) | (in_full ? POLLOUT : 0))},
    };

    if (in->told && out->told)
        return false;
    if (!p[0].events)
        p[0].fd = -1; /* a hang-up that nobody waits for would wake us for ever */
    if (toe_poll(p, 2, -1) < 0)
        return errno == EINTR;
    if (!in_full && !in->end && p[0].revents)
        read_toe(r);
    if (!out_full && !out->end && (p[1].revents & (POLLIN | POLLHUP | POLLERR)))
        read_unix(r);
    /* The child has closed it altogether and all it wrote is on its way: so do we. */
    if (out->end && (p[1].revents & POLLHUP) && out->at == out->len)
        return false;
    if (!drain(in, r->unix_fd, false)) {
        in->at = in->len; /* the child reads no more; what it has written still goes */
        in->end = in->told = true;
    }
    return drain(out, r->toe_fd, true);
}

static void *run(void *arg)
{
    struct relay *r = arg;

    while (turn(r))
        ;
    tctx_lock();
    tctx_progress();
    tsock_get(r->toe_fd)->relayed = false;
    tfd_clear(r->toe_fd);
    tctx_unlock();
    tfd_internal_close(r->toe_fd);
    free(r);
    if (done_fd >= 0)
        (void)!sys_write(done_fd, &(uint64_t){1}, sizeof(uint64_t));
    return NULL;
}

static bool start(struct relay *r)
{
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;
    int e;

    tctx_lock_before_thread();
    /* Signals are for the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    e = pthread_create(&thread, &attr, run, r);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e == 0;
}

/* What is to serve the child: a number of libtoe's own leads to the flow. NULL with errno. */
static struct relay *prepare(struct tsock *s, int fd)
{
    struct relay *r = calloc(1, sizeof *r);
    int toe_fd = r ? tfd_internal(sys_dup(fd)) : -1;

    if (toe_fd < 0 || toe_fd >= (int)TFD_MAX) {
        if (toe_fd >= 0)
            errno = EMFILE;
        tfd_internal_close(toe_fd);
        free(r);
        return NULL;
    }
    tfd_set(toe_fd, &s->obj);
    r->toe_fd = toe_fd;
    r->unix_fd = s->parent_end - 1;
    return r;
}

/* Not served (any more); what the flow's last number is gone with ends. */
static void end_relay(struct relay *r)
{
    if (tsock_get(r->toe_fd))
        tfd_clear(r->toe_fd);
    tfd_internal_close(r->toe_fd);
    free(r);
}

/* The child is served from here on. */
static bool start_relay(struct tsock *s, struct relay *r)
{
    s->opts.linger_on = 0; /* the close that lingers is the child's */
    s->relayed = start(r);
    if (!s->relayed)
        end_relay(r);
    return s->relayed;
}

static bool serve(struct tsock *s, int fd)
{
    struct relay *r = prepare(s, fd);

    return r && start_relay(s, r);
}

bool thandover_close(struct tsock *s, int fd)
{
    if (unused(s->parent_end - 1) || !serve(s, fd))
        return false;
    tfd_clear(fd);
    return true;
}

/* ---- another program ---- */

/* A number of this process while the kernel has the child's end in its place. */
struct lent {
    int fd, placeholder;
    struct lent *next;
};

static struct lent *lents;

static void lend(int fd, struct tobj *o)
{
    struct tsock *s = open_sock(o);
    struct lent *l;

    if (!s || !s->child_end || tfd_is_internal(fd) || tfd_is_own(fd))
        return;
    l = malloc(sizeof *l);
    if (!l)
        return;
    l->fd = fd;
    l->placeholder = tfd_internal(sys_dup(fd));
    l->next = lents;
    if (l->placeholder < 0) {
        free(l);
        return;
    }
    lents = l;
    replace(fd, s);
}

static void take_back(void)
{
    while (lents) {
        struct lent *l = lents;
        int close_on_exec = sys_fcntl(l->fd, F_GETFD, 0) & FD_CLOEXEC;

        sys_dup3(l->placeholder, l->fd, close_on_exec ? O_CLOEXEC : 0);
        tfd_internal_close(l->placeholder);
        lents = l->next;
        free(l);
    }
}

static pid_t executed; /* the child that serve_standard() looks at */

/* Who asks for a connection as standard input or output means to use it, and its parent waits. */
static void serve_standard(int fd, struct tobj *o)
{
    struct tsock *s = open_sock(o);
    char path[64], what[64], wanted[64];
    bool gone = true;
    struct pollfd written;

    if (!s || !s->parent_end || s->relayed || tfd_is_internal(fd) || tfd_is_own(fd))
        return;
    snprintf(wanted, sizeof wanted, "socket:[%lu]", s->child_inode);
    for (int i = 0; i <= 2; i++) {
        ssize_t n;

        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)executed, i);
        n = readlink(path, what, sizeof what - 1);
        if (n <= 0)
            continue;
        gone = false;
        what[n] = 0;
        if (strcmp(what, wanted) == 0) {
            serve(s, fd);
            return;
        }
    }
    /* It was quick, and has left what it wrote. */
    written = (struct pollfd){.fd = s->parent_end - 1, .events = POLLIN};
    if (gone && sys_ppoll(&written, 1, &(struct timespec){0, 0}, NULL) > 0 &&
        (written.revents & POLLIN))
        serve(s, fd);
}

bool thandover_lend(void)
{
    thandover_before();
    if (open_n)
        tfd_each_number(lend);
    return lents != NULL;
}

void thandover_take_back(void)
{
    take_back();
    thandover_in_parent();
}

void thandover_spawn_begin(void)
{
    tctx_lock();
    thandover_lend();
}

void thandover_spawn_end(pid_t pid)
{
    take_back();
    executed = pid;
    if (open_n && pid)
        tfd_each_number(serve_standard);
    thandover_in_parent();
    tctx_unlock();
}

bool thandover_any(void)
{
    tctx_lock();
    open_n = 0;
    tfd_each(count_open);
    tctx_unlock();
    return open_n && open_n <= HANDOVER_MAX;
}

void thandover_executed(pid_t pid)
{
    tctx_lock();
    executed = pid;
    tfd_each_number(serve_standard);
    tctx_unlock();
}

/* With an end for the other process: its number. */
static int offer(struct tsock *s, int fd, struct relay **r)
{
    int end = s->child_end - 1;

    if (end < 0)
        return terr(EBUSY); /* another process has it already */
    s->child_end = 0;
    *r = prepare(s, fd);
    if (!*r) {
        tfd_internal_close(end);
        thandover_end(s);
        return -1;
    }
    if (s->nonblock)
        sys_fcntl(end, F_SETFL, O_RDWR | O_NONBLOCK);
    return end;
}

int thandover_offer(int fd, struct relay **r)
{
    struct tsock *s;
    int end;

    tctx_lock();
    s = tsock_get(fd);
    s = s ? open_sock(&s->obj) : NULL;
    if (s)
        make_pair(&s->obj);
    end = s ? offer(s, fd, r) : terr(ENOTCONN);
    tctx_unlock();
    return end;
}

void thandover_settle(struct relay *r, bool passed)
{
    struct tsock *s;

    tctx_lock();
    tctx_progress();
    s = tsock_get(r->toe_fd);
    if (passed && s && s->parent_end) {
        if (!start_relay(s, r))
            thandover_end(s);
    } else {
        if (s)
            thandover_end(s);
        end_relay(r);
    }
    tctx_unlock();
}

static unsigned served;

static void serve_once(int fd, struct tobj *o)
{
    struct tsock *s = open_sock(o);

    if (s && s->parent_end && !s->relayed && !tfd_is_internal(fd) && serve(s, fd))
        served++;
}

unsigned thandover_serve_lent(int fd)
{
    done_fd = fd;
    served = 0;
    tfd_each_number(serve_once);
    return served;
}
