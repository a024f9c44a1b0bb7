/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.c - TCP ports of a shared address (ports.h).
 *
 * A port with a listener, or one that connections are opened from, belongs to the TOE entirely. A
 * port that has connections but no listener any more is free for other programs. The XDP program
 * then looks up every segment in the kernel first, and leaves SYNs to the kernel. A port that
 * nothing but TIME-WAIT uses is guarded (port_guard.c).
 */
#include <toe/device.h>

#include "base/clock.h"
#include "bound_sockets.h"
#include "port_choice.h"
#include "port_table.h"

/* Applies the rule of Linux without capabilities, since those of a process may be of its own user
 * namespace. */
static int may_bind(const struct ports *p, uid_t uid, uint16_t port)
{
    return port >= p->low || uid == 0;
}

static int may_join(const struct port *e, uid_t uid)
{
    return uid == e->uid || uid == 0;
}

/* ---- users of ports ---- */

#define MUST_LOOK (-1) /* the host's sockets must be examined */

/* Binds a socket of toed to a port that the TOE does not have. reuse: although old connections of
 * the kernel use it. Returns -1 when it cannot be bound. */
static int bind_unused(struct ports *p, const struct toec_addr *at, uint16_t port, uid_t uid,
                       int reuse)
{
    int fd = may_bind(p, uid, port) ? port_bind(p, at, &port, 0, reuse) : -1;

    if (fd < 0)
        return -1;
    port_add(p, port, fd, uid);
    return 0;
}

/* Checks whether the user may listen. Returns 0 when the port is his or he may join, MUST_LOOK, or
 * a TOE_R_*. */
static int ask_to_listen(struct ports *p, const struct toec_addr *at, uint16_t port, uid_t uid)
{
    struct port *e = &p->port[port];

    if (e->guarded)
        return MUST_LOOK;
    if (e->listeners && !port_has_place(p, e, at))
        return MUST_LOOK;
    if (e->listeners && e->fd_plus_1 && !e->lent) /* held by toed: no listener in the kernel */
        return may_join(e, uid) ? 0 : TOE_R_ADDRINUSE;
    if (e->listeners)
        return MUST_LOOK;
    if (e->chosen || e->fd_plus_1)
        return TOE_R_ADDRINUSE; /* in use for connections */
    if (bind_unused(p, at, port, uid, 0) != 0)
        return MUST_LOOK;
    e->mixed = e->flows != 0;
    return 0;
}

/* Ends a guard for a host whose socket has the port in spite of it (found), or where Linux would
 * let it have the port: all of TIME-WAIT is of sockets with SO_REUSEADDR. */
static void end_guard(struct ports *p, uint16_t port, int found)
{
    const struct port *e = &p->port[port];

    if (e->guarded && (found >= 0 || e->wait_reuse))
        port_unguard(p, port);
}

/* The same after the search; found: the process's socket, or -1. */
static int answer_to_listen(struct ports *p, const struct toec_addr *at, uint16_t port, uid_t uid,
                            int found)
{
    struct port *e = &p->port[port];

    end_guard(p, port, found);
    if (e->listeners)
        return found >= 0 || (may_join(e, uid) && port_has_place(p, e, at)) ? 0 : TOE_R_ADDRINUSE;
    if (e->chosen || e->fd_plus_1)
        return TOE_R_ADDRINUSE; /* in use since the search */
    if (found >= 0)
        port_add(p, port, -1, uid);
    else if (bind_unused(p, at, port, uid, 1) != 0)
        return TOE_R_ADDRINUSE;
    e->mixed = 1;
    return 0;
}

/* Handles a port that is no longer in use. One chosen by the kernel is kept for a while: its
 * connections may be in TIME-WAIT, and further ones may use it. Another one is guarded until
 * TIME-WAIT ends. */
static void unused(struct ports *p, uint16_t port, uint64_t now)
{
    struct port *e = &p->port[port];

    if (e->chosen && e->opened)
        e->free_at = now + PORT_LINGER;
    else if (e->wait_until > now)
        port_guard(p, port);
    else
        port_del(p, port);
}

/* The same after a request that was refused and may have added the port, or ended its guard. */
static void release(struct ports *p, uint16_t port, uint64_t now)
{
    const struct port *e = &p->port[port];

    if (e->held && !e->listeners && !e->flows && !e->chosen && !e->guarded)
        unused(p, port, now);
}

int ports_listen(struct ports *p, const struct toec_addr *addr, uint16_t port,
                 const struct asker *who, int *kept)
{
    struct port *e = &p->port[port];
    int found = -1, rc;

    pthread_mutex_lock(&p->lock);
    rc = ask_to_listen(p, addr, port, who->uid);
    if (rc == MUST_LOOK) {
        pthread_mutex_unlock(&p->lock);
        found = bound_find(p->bound, who->pid, addr->b, port, BOUND_LISTENS);
        pthread_mutex_lock(&p->lock);
        rc = answer_to_listen(p, addr, port, who->uid, found);
    }
    if (rc == 0)
        rc = port_add_place(p, port, addr);
    if (rc == 0) {
        e->kept += found >= 0;
        e->listeners++;
        port_announce(p, port);
    } else {
        release(p, port, engine_clock());
    }
    pthread_mutex_unlock(&p->lock);
    if (rc && found >= 0) {
        bound_close(p->bound, found);
        found = -1;
    }
    *kept = found;
    return rc;
}

void ports_unlisten(struct ports *p, uint16_t port, int kept)
{
    struct port *e = &p->port[port];

    pthread_mutex_lock(&p->lock);
    e->listeners--;
    if (kept >= 0 && --e->kept == 0 && e->listeners && !e->fd_plus_1) {
        e->fd_plus_1 = kept + 1; /* other listeners of the user have none: kept for them */
        e->lent = 1;
        kept = -1;
    }
    if (kept >= 0)
        bound_close(p->bound, kept);
    if (e->listeners == 0 && !e->flows) {
        unused(p, port, engine_clock());
    } else if (e->listeners == 0) {
        port_let_go(p, e);
        port_announce(p, port);
    }
    pthread_mutex_unlock(&p->lock);
}

/* Checks the use of a port that the host has specified; returns as ask_to_listen(). */
static int ask_to_use(struct ports *p, const struct toec_addr *at, uint16_t port, uid_t uid)
{
    struct port *e = &p->port[port];

    if (e->guarded)
        return MUST_LOOK;
    if (e->listeners || e->chosen || e->fd_plus_1)
        return may_join(e, uid) && port_has_place(p, e, at) ? 0 : MUST_LOOK;
    if (bind_unused(p, at, port, uid, 0) != 0)
        return MUST_LOOK;
    e->mixed = e->flows != 0;
    return 0;
}

/* The same after the search. Keeps the socket found while there are connections, or closes it. */
static int answer_to_use(struct ports *p, const struct toec_addr *at, uint16_t port, uid_t uid,
                         int found)
{
    struct port *e = &p->port[port];

    end_guard(p, port, found);
    if (e->listeners || e->chosen || e->fd_plus_1) {
        int may = found >= 0 || (may_join(e, uid) && port_has_place(p, e, at));

        if (found >= 0)
            bound_close(p->bound, found);
        return may ? 0 : TOE_R_ADDRINUSE;
    }
    if (found >= 0) {
        port_add(p, port, found, uid);
        e->lent = 1;
    } else if (bind_unused(p, at, port, uid, 1) != 0) {
        return TOE_R_ADDRINUSE;
    }
    e->mixed = 1;
    return 0;
}

/* Called with the lock held; the lock is released during the search. */
static int use_own(struct ports *p, const struct toec_addr *at, uint16_t port,
                   const struct asker *who)
{
    int found, rc = ask_to_use(p, at, port, who->uid);

    if (rc != MUST_LOOK)
        return rc;
    pthread_mutex_unlock(&p->lock);
    found = bound_find(p->bound, who->pid, at->b, port, BOUND_HELD);
    pthread_mutex_lock(&p->lock);
    return answer_to_use(p, at, port, who->uid, found);
}

int ports_connect(struct ports *p, const struct toec_addr *from, uint16_t *port,
                  struct ports_search *search, const struct asker *who)
{
    static const struct toec_addr anywhere;
    int rc = 0;

    pthread_mutex_lock(&p->lock);
    if (*port)
        rc = use_own(p, from, *port, who);
    else if ((*port = port_choose(p, search, who->uid, who->within)) == 0)
        rc = TOE_R_ADDRNOTAVAIL;
    if (rc == 0)
        rc = port_add_place(p, *port, p->port[*port].chosen ? &anywhere : from);
    if (rc == 0) {
        p->port[*port].flows++;
        p->port[*port].free_at = 0;
        port_announce(p, *port);
    } else if (*port) {
        release(p, *port, engine_clock());
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void ports_accept(struct ports *p, uint16_t port)
{
    pthread_mutex_lock(&p->lock);
    p->port[port].flows++;
    pthread_mutex_unlock(&p->lock);
}

void ports_leave(struct ports *p, uint16_t port, enum ports_left left, const struct toec_addr *at,
                 uint64_t now)
{
    struct port *e = &p->port[port];

    pthread_mutex_lock(&p->lock);
    e->opened |= left != PORTS_UNOPENED;
    if (left >= PORTS_WAITS)
        port_wait(e, at, left == PORTS_WAITS_REUSE, now);
    if (--e->flows == 0 && !e->listeners)
        unused(p, port, now);
    pthread_mutex_unlock(&p->lock);
}

int ports_tidy(struct ports *p, uint64_t now)
{
    uint32_t i;
    int left = 0;

    pthread_mutex_lock(&p->lock);
    for (i = p->count; i-- > 0;) {
        const struct port *e = &p->port[p->held[i]];

        left |= e->guarded;
        if (e->free_at && now >= e->free_at)
            port_del(p, p->held[i]);
        else if (e->guarded && !e->fd_plus_1)
            port_guard(p, p->held[i]);
    }
    left |= p->chosen != 0;
    pthread_mutex_unlock(&p->lock);
    return left;
}
