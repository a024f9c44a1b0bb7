/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_guard.c - a port that the TOE has in TIME-WAIT and that nothing else uses (port_table.h).
 *
 * On Linux a TIME-WAIT entry conflicts with bind(2) like the socket that it comes from: another
 * socket gets the port only if both have SO_REUSEADDR (inet_csk_bind_conflict()). A guard does so
 * for TIME-WAIT of the TOE: a socket of toed that is bound there and neither listens nor connects.
 * Segments without a socket of the kernel's reach the TOE, which answers a repeated FIN; SYNs are
 * the kernel's.
 */
#include <string.h>

#include "base/clock.h"
#include "bound_sockets.h"
#include "port_table.h"

void port_wait(struct port *e, const struct toec_addr *at, int reuse, uint64_t now)
{
    static const struct toec_addr several;
    int first = e->wait_until <= now;

    if (first)
        e->wait_at = *at;
    else if (memcmp(&e->wait_at, at, sizeof(*at)) != 0)
        e->wait_at = several;
    e->wait_reuse = reuse && (first || e->wait_reuse);
    e->wait_until = now + PORT_LINGER;
}

void port_guard(struct ports *p, uint16_t number)
{
    struct port *e = &p->port[number];
    int fd;

    port_let_go(p, e);
    fd = bound_guard(p->ip6 ? NULL : p->ip, &e->wait_at, p->ifindex, number, e->wait_reuse);
    e->fd_plus_1 = fd + 1;
    e->guarded = 1;
    e->free_at = e->wait_until;
    port_announce(p, number);
}

void port_unguard(struct ports *p, uint16_t number)
{
    struct port *e = &p->port[number];

    port_let_go(p, e);
    port_free_places(p, number);
    e->guarded = 0;
    e->free_at = 0;
}
