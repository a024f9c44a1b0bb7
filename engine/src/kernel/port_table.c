/* SPDX-License-Identifier: Apache-2.0 */
/* port_table.c - the table of ports that the TOE has (port_table.h). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <toe/device.h>
#include <toe/netio.h>

#include "bound_sockets.h"
#include "port_table.h"

static uint32_t first_unprivileged(void)
{
    FILE *f = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "re");
    uint32_t n = 1024;

    if (f && fscanf(f, "%u", &n) != 1)
        n = 1024;
    if (f)
        fclose(f);
    return n;
}

struct ports *ports_new(const uint8_t ip[4], unsigned ifindex, const struct ports_ops *ops,
                        void *arg)
{
    struct ports *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->port = calloc(PORTS_ALL, sizeof(*p->port));
    p->bound = bound_new(ip, ifindex);
    if (!p->port || !p->bound) {
        bound_free(p->bound);
        free(p->port);
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    if (ip)
        memcpy(p->ip, ip, sizeof(p->ip));
    p->ip6 = !ip;
    p->ifindex = ifindex;
    p->ops = ops;
    p->arg = arg;
    p->low = first_unprivileged();
    return p;
}

/* ---- configuration of the XDP program ---- */

void port_announce(struct ports *p, uint16_t number)
{
    const struct port *e = &p->port[number];
    unsigned how = 0;

    if (e->listeners || e->chosen || (e->flows && e->fd_plus_1 && !e->lent))
        how = NETIO_TAKE | (e->mixed ? NETIO_TAKE_OTHERS : 0);
    else if (e->flows || e->guarded)
        how = NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_NO_SYN;
    if (how && p->ip6 && !e->wide)
        how |= NETIO_TAKE_SOME;
    p->ops->take(p->arg, p->ip6, number, how);
}

/* ---- IPv6: addresses of a port ---- */

static const struct toec_addr anywhere;

int port_is_any(const struct ports *p, const struct toec_addr *at)
{
    return !p->ip6 || memcmp(at, &anywhere, sizeof(anywhere)) == 0;
}

int port_has_place(const struct ports *p, const struct port *e, const struct toec_addr *at)
{
    uint32_t i;

    for (i = 0; i < e->places; i++)
        if (memcmp(&e->place[i], at, sizeof(*at)) == 0)
            return 1;
    return e->wide || !p->ip6;
}

int port_add_place(struct ports *p, uint16_t number, const struct toec_addr *at)
{
    struct port *e = &p->port[number];

    if (port_is_any(p, at)) {
        e->wide = 1;
        return 0;
    }
    if (port_has_place(p, e, at))
        return 0;
    if (!e->place)
        e->place = calloc(PORT_PLACES, sizeof(*e->place));
    if (!e->place || e->places == PORT_PLACES || p->ops->place(p->arg, at->b, number, 1) != 0)
        return TOE_R_NOBUFS;
    e->place[e->places++] = *at;
    return 0;
}

void port_free_places(struct ports *p, uint16_t number)
{
    struct port *e = &p->port[number];

    while (e->places)
        p->ops->place(p->arg, e->place[--e->places].b, number, 0);
    free(e->place);
    e->place = NULL;
    e->wide = 0;
}

void port_let_go(const struct ports *p, struct port *e)
{
    if (e->fd_plus_1)
        bound_close(p->bound, e->fd_plus_1 - 1);
    e->fd_plus_1 = e->lent = 0;
}

void port_add(struct ports *p, uint16_t number, int fd, uid_t uid)
{
    struct port *e = &p->port[number];

    if (!e->held) {
        e->held = 1;
        e->at = (uint16_t)p->count;
        p->held[p->count++] = number;
    }
    port_let_go(p, e);
    e->fd_plus_1 = fd + 1;
    e->uid = uid;
}

void port_del(struct ports *p, uint16_t number)
{
    struct port *e = &p->port[number];

    port_let_go(p, e);
    port_free_places(p, number);
    p->chosen -= e->chosen;
    p->held[e->at] = p->held[--p->count];
    p->port[p->held[e->at]].at = e->at;
    memset(e, 0, sizeof(*e));
    port_announce(p, number);
}

void ports_free(struct ports *p)
{
    if (!p)
        return;
    while (p->count)
        port_del(p, p->held[p->count - 1]);
    pthread_mutex_destroy(&p->lock);
    bound_free(p->bound);
    free(p->port);
    free(p);
}

int port_bind(const struct ports *p, const struct toec_addr *at, uint16_t *port, uint32_t within,
              int reuse)
{
    int fd = bound_make(p->ip6 ? NULL : p->ip, at, p->ifindex, port, within, reuse);
    const int off = 0;

    /* No other socket may listen there, even one with SO_REUSEADDR. */
    if (fd >= 0 && reuse)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &off, sizeof(off));
    return fd;
}
