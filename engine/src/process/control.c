/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - the attached clients and their lifetime (toe/attach.h). One SOCK_SEQPACKET connection
 * is one queue pair. It ends with the connection or with the process that made it, whichever comes
 * first: a child that inherited the descriptor keeps the connection open, but does not affect the
 * pidfd. TOEDEV_HELLO_MOVED replaces that process by another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <toe/number.h>

#include "attach.h"
#include "base/clock.h"
#include "base/irq.h"
#include "base/log.h"
#include "base/log_limited.h"
#include "capture_area.h"
#include "control.h"
#include "flows_json.h"
#include "frames/engine_state.h"
#include "hosts/stranded.h"
#include "interface_watch.h"
#include "kernel.h"
#include "round/thread.h"
#include "silent.h"
#include "stats.h"
#include "switch.h"
#include "trace_json.h"
#include "trips_json.h"

#define CLIENTS_AT_FIRST 64u
/* How long a connection without a hello is kept. */
#define SILENT_TIME (5 * NS_PER_S)
/* New connections between two looks at the messages of the others. */
#define ACCEPTS_MAX 64u
/* How often interrupt writes are checked while hosts are attached. */
#define WATCH_MS 100
/* How often the settings for ephemeral ports are read, at most. */
#define PORTS_WATCH NS_PER_S

static void drop_in_engine(struct engine *e, void *arg)
{
    (void)e;
    qp_drop(arg);
}

static void client_remove(struct control *c, uint32_t i)
{
    struct client *cl = &c->clients[i];

    if (cl->qp) {
        log_limited("queue pair %u (%s, pid %d) detached", cl->qp->id, cl->qp->name, cl->qp->pid);
        engine_call(cl->engine, drop_in_engine, cl->qp);
    }
    if (cl->captures)
        capture_end(c);
    close(cl->fd);
    if (cl->pidfd >= 0)
        close(cl->pidfd);
    c->clients[i] = c->clients[--c->client_count];
}

/* The poll set of the main thread, in this order; then two descriptors for each client. */
enum { P_SIGNAL, P_LISTEN, P_LOCK, P_WAKE, P_LINK, P_KERNEL, P_ASKED, P_CLIENTS };

/* Allocates room for this many clients and their poll entries, so that serving existing clients
 * needs no allocation. Returns 0, or -1 with nothing changed. */
static int make_room(struct control *c, uint32_t room)
{
    struct client *p = realloc(c->clients, room * sizeof(*p));
    struct pollfd *polled;

    if (!p)
        return -1;
    c->clients = p;
    polled = realloc(c->polled, (P_CLIENTS + 2 * (size_t)room) * sizeof(*polled));
    if (!polled)
        return -1;
    c->polled = polled;
    c->client_room = room;
    return 0;
}

static int room_for_client(struct control *c)
{
    return c->client_count < c->client_room ||
           make_room(c, c->client_room ? c->client_room * 2 : CLIENTS_AT_FIRST) == 0;
}

int control_add_client(struct control *c, const struct client *cl)
{
    if (!room_for_client(c))
        return -1;
    c->clients[c->client_count++] = *cl;
    return 0;
}

static void add_accepted(struct control *c, int fd)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);
    struct client *cl;
    uint32_t victim;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0 || !room_for_client(c)) {
        close(fd);
        c->hung_up++;
        return;
    }
    victim = silent_victim(c->clients, c->client_count, cred.uid);
    if (victim != SILENT_NONE) {
        c->evicted++;
        log_limited_warning(
            "pid %d of user %u: closing its connection without a hello for a newer one",
            c->clients[victim].pid, c->clients[victim].uid);
        client_remove(c, victim);
    }
    cl = &c->clients[c->client_count++];
    memset(cl, 0, sizeof(*cl));
    cl->fd = fd;
    cl->pid = cred.pid;
    cl->uid = cred.uid;
    cl->pidfd = cred.pid > 0 ? (int)syscall(SYS_pidfd_open, cred.pid, 0) : -1;
    cl->deadline = engine_clock() + SILENT_TIME;
}

static void accept_clients(struct control *c)
{
    uint32_t n;
    int fd;

    for (n = 0; n < ACCEPTS_MAX; n++) {
        fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        add_accepted(c, fd);
    }
}

/* Accepts and closes connections to the claim's address (see interlock.c). */
static void accept_claims(struct control *c)
{
    int fd = accept4(c->lock_fd, NULL, NULL, SOCK_CLOEXEC);

    if (fd >= 0)
        close(fd);
}

/* Notes that the process of the connection cannot accept on a port. */
static void note_stranded(struct control *c, const struct client *cl, const char *text)
{
    struct stranded_report r = {0};
    uint64_t port;
    uint32_t i;

    if (!toe_number(text, 1, 65535, &port, NULL, 0)) {
        log_limited("pid %d reports a listener on no port", cl->pid);
        return;
    }
    r.port = (uint16_t)port;
    owner_read(&r.owner, cl->pid, cl->pidfd);
    for (i = 0; i < c->engine_count; i++)
        engine_call(c->engines[i], stranded_note, &r);
    if (r.found)
        log_limited("pid %d cannot accept on port %u, and no other process does: connections there "
                    "are reset",
                    cl->pid, r.port);
}

static void take_over(struct control *c, struct client *cl)
{
    if (c->give)
        c->given_away = c->give(c, cl);
    else
        (void)attach_answer_take_over(c, cl, "nothing here can be handed over");
}

/* Handles a message that requests no queue pair. */
static void answer(struct control *c, struct client *cl, struct hello_message *m)
{
    const char *name = m->hello.name;

    attach_discard(m);
    switch ((enum toedev_hello_kind)m->kind) {
    case TOEDEV_HELLO_QUERY:
        query_answer(cl->fd, stats_json(c, name));
        break;
    case TOEDEV_HELLO_OFFLOAD:
        query_answer(cl->fd, offload_answer(c, cl->fd, name));
        break;
    case TOEDEV_HELLO_TAKE_OVER:
        take_over(c, cl);
        break;
    case TOEDEV_HELLO_RTT:
        query_answer(cl->fd, trips_json(c, name));
        break;
    case TOEDEV_HELLO_FLOWS:
        query_answer(cl->fd, flows_json(c, name));
        break;
    case TOEDEV_HELLO_TRACE:
        query_answer(cl->fd, trace_json(c, name));
        break;
    case TOEDEV_HELLO_STRANDED:
        note_stranded(c, cl, name);
        break;
    case TOEDEV_HELLO_REGISTERS:
        attach_registers(c, cl);
        break;
    case TOEDEV_HELLO_ATTACH:
    case TOEDEV_HELLO_MOVED:
    case TOEDEV_HELLO_CAPTURE:
        break;
    }
}

/* Handles a connection's message. Returns 0 to keep the connection, -1 to end it. */
static int client_message(struct control *c, struct client *cl)
{
    struct hello_message m;
    int got = attach_receive(cl->fd, &m);

    if (got < 0)
        return 0; /* spurious */
    if (got > 0 && cl->qp && m.kind == TOEDEV_HELLO_MOVED) {
        got = attach_moved(cl, &m);
        attach_discard(&m);
        return got;
    }
    if (got > 0 && cl->qp) {
        c->hung_up++;
        log_limited_warning("pid %d: a second message on a queue pair's connection", cl->pid);
    }
    if (got == 0 || cl->qp || cl->captures) {
        attach_discard(&m);
        return -1;
    }
    if (!m.kind || m.kind == TOEDEV_HELLO_ATTACH || m.kind == TOEDEV_HELLO_MOVED)
        return attach_client(c, cl, &m);
    if (m.kind == TOEDEV_HELLO_CAPTURE) {
        attach_discard(&m);
        return attach_capture(c, cl, m.hello.name);
    }
    answer(c, cl, &m);
    return -1;
}

static void set_polled(const struct control *c)
{
    struct pollfd *p = c->polled;
    uint32_t i;

    p[P_SIGNAL] = (struct pollfd){c->signal_fd, POLLIN, 0};
    p[P_LISTEN] = (struct pollfd){c->listen_fd, POLLIN, 0};
    p[P_LOCK] = (struct pollfd){c->lock_fd, POLLIN, 0};
    p[P_WAKE] = (struct pollfd){c->wake_fd, POLLIN, 0};
    p[P_LINK] = (struct pollfd){c->link.fd, POLLIN, 0};
    p[P_KERNEL] = (struct pollfd){c->kernel ? c->kernel->events : -1, POLLIN, 0};
    p[P_ASKED] = (struct pollfd){c->kernel ? c->kernel->asked : -1, POLLIN, 0};
    for (i = 0; i < c->client_count; i++) {
        p[P_CLIENTS + 2 * i] = (struct pollfd){c->clients[i].fd, POLLIN, 0};
        p[P_CLIENTS + 2 * i + 1] = (struct pollfd){c->clients[i].pidfd, POLLIN, 0};
    }
}

static void serve_clients(struct control *c, const struct pollfd *p)
{
    uint64_t now = engine_clock();
    uint32_t i;

    /* backwards: removal moves the last client into the gap, so the rest keep their poll entries */
    for (i = c->client_count; i-- > 0;) {
        struct client *cl = &c->clients[i];
        int pidfd = cl->pidfd, gone = 0;

        if (p[P_CLIENTS + 2 * i].revents)
            gone = client_message(c, cl) != 0;
        if (c->given_away)
            return;
        /* handle its message first: another process may have replaced it (MOVED) */
        gone |= cl->pidfd == pidfd && p[P_CLIENTS + 2 * i + 1].revents != 0;
        if (!gone && client_is_silent(cl) && now > cl->deadline) {
            c->hung_up++;
            gone = 1;
        }
        if (gone)
            client_remove(c, i);
    }
}

void control_qp_unused(void *arg, struct qp *qp)
{
    struct control *c = arg;
    uint64_t one = 1;

    pthread_mutex_lock(&c->lock);
    qp->next_unused = c->unused;
    c->unused = qp;
    pthread_mutex_unlock(&c->lock);
    if (write(c->wake_fd, &one, sizeof(one)) < 0)
        log_error("cannot wake the control thread: %s", strerror(errno));
}

static void free_unused(struct control *c)
{
    struct qp *qp;
    uint64_t n;

    if (read(c->wake_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
        log_error("wake descriptor: %s", strerror(errno));
    pthread_mutex_lock(&c->lock);
    qp = c->unused;
    c->unused = NULL;
    pthread_mutex_unlock(&c->lock);
    while (qp) {
        struct qp *next = qp->next_unused;

        attach_free(c, qp);
        qp = next;
    }
}

static void watch_engines(struct control *c)
{
    uint64_t now = engine_clock();
    uint32_t i;

    for (i = 0; i < c->engine_count; i++)
        engine_unblock(c->engines[i], now - IRQ_TIME);
    polling_unblock(c->polling, now - IRQ_TIME);
}

static void set_ports(struct engine *e, void *arg)
{
    const struct port_range *r = arg;

    toec_set_ports(e->stack, r->first, r->last, r->reserved);
}

/* Follows changes of the machine's ephemeral ports, which no event announces. */
static void watch_ports(struct control *c)
{
    struct port_range *next = &c->ports[!c->ports_at];
    uint64_t now = engine_clock();
    uint32_t i;

    if (now < c->ports_next)
        return;
    c->ports_next = now + PORTS_WATCH;
    port_range_read(PORT_RANGE_SYS, next);
    if (memcmp(next, &c->ports[c->ports_at], sizeof(*next)) == 0)
        return;
    for (i = 0; i < c->engine_count; i++)
        engine_call(c->engines[i], set_ports, next);
    if (c->kernel)
        kernel_set_range(c->kernel, next);
    c->ports_at = !c->ports_at;
}

/* Handles the events of a shared address. Returns non-zero when toed cannot continue. */
static int serve_kernel(struct control *c, const struct pollfd *p, int *tidy)
{
    int end = 0;

    if (!c->kernel)
        return 0;
    if (p[P_KERNEL].revents)
        end = kernel_news(c->kernel);
    if (p[P_ASKED].revents)
        kernel_ask(c->kernel);
    *tidy = kernel_tidy(c->kernel, engine_clock());
    return end;
}

/* Returns the timeout of poll(2), in milliseconds. */
static int patience(const struct control *c, int tidy)
{
    if (c->client_count || tidy)
        return WATCH_MS;
    return c->link.fd >= 0 || c->info.tended ? INTERFACE_WATCH_MS : -1;
}

int control_run(struct control *c)
{
    int tidy = 0;

    if (make_room(c, c->client_room ? c->client_room : CLIENTS_AT_FIRST) != 0) {
        log_error("no memory for %u connections", CLIENTS_AT_FIRST);
        return EXIT_RUNTIME;
    }
    for (;;) {
        struct pollfd *p = c->polled;
        int n, gone;

        set_polled(c);
        n = poll(p, P_CLIENTS + 2 * (nfds_t)c->client_count, patience(c, tidy));
        if (n < 0 && errno != EINTR) {
            log_error("poll: %s", strerror(errno));
            return EXIT_RUNTIME;
        }
        watch_engines(c);
        watch_ports(c);
        if (n >= 0)
            serve_clients(c, p);
        if (c->given_away)
            return 0;
        if (p[P_WAKE].revents)
            free_unused(c);
        if (p[P_LOCK].revents)
            accept_claims(c);
        n = p[P_SIGNAL].revents && control_signalled(c);
        gone = interface_watch(c, p[P_LINK].revents) | serve_kernel(c, p, &tidy);
        if (p[P_LISTEN].revents)
            accept_clients(c); /* last: it changes clients and poll set */
        if (n)
            return 0;
        if (gone)
            return EXIT_RUNTIME;
    }
}

void control_close(struct control *c)
{
    attach_unlink(c);
    while (c->client_count)
        client_remove(c, c->client_count - 1);
    free_unused(c);
    free(c->clients);
    free(c->polled);
    c->clients = NULL;
    c->polled = NULL;
    c->client_room = 0;
    link_close(&c->link);
}
