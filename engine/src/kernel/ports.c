/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.c - TCP ports of a shared address (ports.h).
 *
 * A port with a listener, or one that connections are opened from, belongs to the TOE entirely. A
 * port that has connections but no listener any more is free for other programs. The XDP program
 * then looks up every segment in the kernel first, and leaves SYNs to the kernel.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <toe/device.h>
#include <toe/netio.h>

#include "base/clock.h"
#include "base/takeover_image.h"
#include "bound_sockets.h"
#include "ports.h"

#define PORTS       65536u
#define CHOSEN_MAX  16384u          /* limit of ports chosen by the kernel for connections */
#define LINGER      (61 * NS_PER_S) /* TIME-WAIT plus a margin */
#define REUSE_LOOKS 16u             /* ports examined for one that may be chosen again */
#define REUSE_TRIES 4u              /* attempts with ports already held before a new one */
#define PLACES      TOEC_GIVEN_MAX  /* addresses of one port: as many as there are */

struct port {
    uint32_t listeners, flows;
    uint32_t kept;  /* number of listeners' sockets kept */
    uid_t uid;      /* its first user */
    int fd_plus_1;  /* the socket that holds it, plus 1; 0: the listeners' sockets do, or none */
    uint16_t at;    /* its index in held[] */
    uint8_t held;   /* it is in held[] */
    uint8_t chosen; /* chosen by the kernel, for connections */
    uint8_t opened; /* ... and one was established, so it may be in TIME-WAIT */
    uint8_t mixed;  /* the kernel may have connections with it */
    uint8_t lent;   /* fd_plus_1 is a host's socket; others may share the port */
    uint8_t wide;   /* at every address; else at those in `place` */
    uint8_t places;
    struct toec_addr *place; /* PLACES of them; NULL: none yet */
    uint64_t free_at;        /* when it expires; 0: it is in use */
};

struct ports {
    pthread_mutex_t lock;
    uint8_t ip[4];
    int ip6;
    unsigned ifindex;
    struct bound *bound;
    const struct ports_ops *ops;
    void *arg;
    uint32_t count, chosen;
    uint32_t low;                   /* the first unprivileged port */
    const struct port_range *range; /* NULL: any port */
    struct port *port;
    uint16_t held[PORTS];
};

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
    p->port = calloc(PORTS, sizeof(*p->port));
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

static void announce(struct ports *p, uint16_t number)
{
    const struct port *e = &p->port[number];
    unsigned how = 0;

    if (e->listeners || e->chosen || (e->flows && e->fd_plus_1 && !e->lent))
        how = NETIO_TAKE | (e->mixed ? NETIO_TAKE_OTHERS : 0);
    else if (e->flows)
        how = NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_NO_SYN;
    if (how && p->ip6 && !e->wide)
        how |= NETIO_TAKE_SOME;
    p->ops->take(p->arg, p->ip6, number, how);
}

/* ---- IPv6: addresses of a port ---- */

static const struct toec_addr anywhere;

static int is_any(const struct ports *p, const struct toec_addr *at)
{
    return !p->ip6 || memcmp(at, &anywhere, sizeof(anywhere)) == 0;
}

static int has_place(const struct ports *p, const struct port *e, const struct toec_addr *at)
{
    uint32_t i;

    for (i = 0; i < e->places; i++)
        if (memcmp(&e->place[i], at, sizeof(*at)) == 0)
            return 1;
    return e->wide || !p->ip6;
}

/* Adds an address at which the TOE has the port. Returns 0, or a TOE_R_*. */
static int add_place(struct ports *p, uint16_t number, const struct toec_addr *at)
{
    struct port *e = &p->port[number];

    if (is_any(p, at)) {
        e->wide = 1;
        return 0;
    }
    if (has_place(p, e, at))
        return 0;
    if (!e->place)
        e->place = calloc(PLACES, sizeof(*e->place));
    if (!e->place || e->places == PLACES || p->ops->place(p->arg, at->b, number, 1) != 0)
        return TOE_R_NOBUFS;
    e->place[e->places++] = *at;
    return 0;
}

static void free_places(struct ports *p, uint16_t number)
{
    struct port *e = &p->port[number];

    while (e->places)
        p->ops->place(p->arg, e->place[--e->places].b, number, 0);
    free(e->place);
    e->place = NULL;
}

static void let_go(const struct ports *p, struct port *e)
{
    if (e->fd_plus_1)
        bound_close(p->bound, e->fd_plus_1 - 1);
    e->fd_plus_1 = e->lent = 0;
}

/* Adds a port. fd: the socket that holds it; -1: the host's socket does. */
static void add(struct ports *p, uint16_t number, int fd, uid_t uid)
{
    struct port *e = &p->port[number];

    if (!e->held) {
        e->held = 1;
        e->at = (uint16_t)p->count;
        p->held[p->count++] = number;
    }
    let_go(p, e);
    e->fd_plus_1 = fd + 1;
    e->uid = uid;
}

static void del(struct ports *p, uint16_t number)
{
    struct port *e = &p->port[number];

    let_go(p, e);
    free_places(p, number);
    p->chosen -= e->chosen;
    p->held[e->at] = p->held[--p->count];
    p->port[p->held[e->at]].at = e->at;
    memset(e, 0, sizeof(*e));
    announce(p, number);
}

void ports_free(struct ports *p)
{
    if (!p)
        return;
    while (p->count)
        del(p, p->held[p->count - 1]);
    pthread_mutex_destroy(&p->lock);
    bound_free(p->bound);
    free(p->port);
    free(p);
}

/* ---- binding ---- */

/* Binds a socket that never listens; *port 0: the kernel chooses. Returns it, or -1. */
static int bind_own(const struct ports *p, const struct toec_addr *at, uint16_t *port,
                    uint32_t within, int reuse)
{
    int fd = bound_make(p->ip6 ? NULL : p->ip, at, p->ifindex, port, within, reuse);
    const int off = 0;

    /* No other socket may listen there, even one with SO_REUSEADDR. */
    if (fd >= 0 && reuse)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &off, sizeof(off));
    return fd;
}

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
    int fd = may_bind(p, uid, port) ? bind_own(p, at, &port, 0, reuse) : -1;

    if (fd < 0)
        return -1;
    add(p, port, fd, uid);
    return 0;
}

/* Checks whether the user may listen. Returns 0 when the port is his or he may join, MUST_LOOK, or
 * a TOE_R_*. */
static int ask_to_listen(struct ports *p, const struct toec_addr *at, uint16_t port, uid_t uid)
{
    struct port *e = &p->port[port];

    if (e->listeners && !has_place(p, e, at))
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

/* The same after the search; found: the process's socket, or -1. */
static int answer_to_listen(struct ports *p, const struct toec_addr *at, uint16_t port, uid_t uid,
                            int found)
{
    struct port *e = &p->port[port];

    if (e->listeners)
        return found >= 0 || (may_join(e, uid) && has_place(p, e, at)) ? 0 : TOE_R_ADDRINUSE;
    if (e->chosen || e->fd_plus_1)
        return TOE_R_ADDRINUSE; /* in use since the search */
    if (found >= 0)
        add(p, port, -1, uid);
    else if (bind_unused(p, at, port, uid, 1) != 0)
        return TOE_R_ADDRINUSE;
    e->mixed = 1;
    return 0;
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
        rc = add_place(p, port, addr);
    if (rc == 0) {
        e->kept += found >= 0;
        e->listeners++;
        announce(p, port);
    } else if (e->held && !e->listeners && !e->flows && !e->chosen) {
        del(p, port);
    }
    pthread_mutex_unlock(&p->lock);
    if (rc && found >= 0) {
        bound_close(p->bound, found);
        found = -1;
    }
    *kept = found;
    return rc;
}

/* Handles a port that is no longer in use. One chosen by the kernel is kept for a while: its
 * connections may be in TIME-WAIT, and further ones may use it. */
static void unused(struct ports *p, uint16_t port, uint64_t now)
{
    struct port *e = &p->port[port];

    if (e->chosen && e->opened)
        e->free_at = now + LINGER;
    else
        del(p, port);
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
        del(p, port);
    } else if (e->listeners == 0) {
        let_go(p, e);
        announce(p, port);
    }
    pthread_mutex_unlock(&p->lock);
}

static uint32_t random_below(uint32_t n)
{
    uint32_t r = 0;

    (void)!getrandom(&r, sizeof(r), 0);
    return (uint32_t)((uint64_t)r * n >> 32);
}

void ports_set_range(struct ports *p, const struct port_range *r)
{
    pthread_mutex_lock(&p->lock);
    p->range = r;
    pthread_mutex_unlock(&p->lock);
}

/* Returns whether bind() may choose the port now. */
static int may_choose(const struct ports *p, uint16_t port, uint32_t within)
{
    uint32_t first = p->range && p->range->last ? p->range->first : 1;
    uint32_t last = p->range && p->range->last ? p->range->last : PORTS - 1;
    uint32_t low = within & 0xffff, high = within >> 16;

    if (p->range && (p->range->reserved[port / 8] >> port % 8 & 1))
        return 0;
    /* as inet_sk_get_local_port_range() of Linux */
    low = within && low >= first && low <= last ? low : first;
    high = within && high >= first && high <= last ? high : last;
    return port >= low && port <= high;
}

/* Returns a port that was chosen before, 0 for none. within: 0, or a range, of which few are. */
static uint16_t choose_held(const struct ports *p, uint32_t within)
{
    uint32_t at = random_below(p->count), i;

    for (i = 0; i < p->count && (within || i < REUSE_LOOKS); i++) {
        uint16_t port = p->held[(at + i) % p->count];

        if (p->port[port].chosen && may_choose(p, port, within))
            return port;
    }
    return 0;
}

/* Chooses a port (RFC 6056): one that is held already, or a new one chosen by the kernel. 0:
 * none. */
static uint16_t choose(struct ports *p, unsigned try, uid_t uid, uint32_t within)
{
    uint16_t port = 0;
    int fd;

    if (p->count && (try < REUSE_TRIES || p->chosen >= CHOSEN_MAX))
        port = choose_held(p, within);
    if (port || p->chosen >= CHOSEN_MAX)
        return port;
    fd = bind_own(p, NULL, &port, within, 0);
    if (fd < 0 && errno == EADDRINUSE && p->count)
        return choose_held(p, within); /* a small range, all of it held: for other peers */
    if (fd < 0)
        return 0;
    if (p->port[port].held) { /* its old connections belong to the TOE */
        close(fd);
        return 0;
    }
    add(p, port, fd, uid);
    p->port[port].chosen = 1;
    p->port[port].wide = 1;
    p->chosen++;
    announce(p, port);
    return port;
}

/* Checks the use of a port that the host has specified; returns as ask_to_listen(). */
static int ask_to_use(struct ports *p, const struct toec_addr *at, uint16_t port, uid_t uid)
{
    struct port *e = &p->port[port];

    if (e->listeners || e->chosen || e->fd_plus_1)
        return may_join(e, uid) && has_place(p, e, at) ? 0 : MUST_LOOK;
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

    if (e->listeners || e->chosen || e->fd_plus_1) {
        int may = found >= 0 || (may_join(e, uid) && has_place(p, e, at));

        if (found >= 0)
            bound_close(p->bound, found);
        return may ? 0 : TOE_R_ADDRINUSE;
    }
    if (found >= 0) {
        add(p, port, found, uid);
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

int ports_connect(struct ports *p, const struct toec_addr *from, uint16_t *port, unsigned try,
                  const struct asker *who)
{
    int rc = 0;

    pthread_mutex_lock(&p->lock);
    if (*port)
        rc = use_own(p, from, *port, who);
    else if ((*port = choose(p, try, who->uid, who->within)) == 0)
        rc = TOE_R_ADDRNOTAVAIL;
    if (rc == 0)
        rc = add_place(p, *port, p->port[*port].chosen ? &anywhere : from);
    if (rc == 0) {
        p->port[*port].flows++;
        p->port[*port].free_at = 0;
        announce(p, *port);
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

void ports_leave(struct ports *p, uint16_t port, int opened, uint64_t now)
{
    struct port *e = &p->port[port];

    pthread_mutex_lock(&p->lock);
    e->opened |= opened != 0;
    if (--e->flows == 0 && !e->listeners)
        unused(p, port, now);
    pthread_mutex_unlock(&p->lock);
}

int ports_tidy(struct ports *p, uint64_t now)
{
    uint32_t i;
    int left;

    pthread_mutex_lock(&p->lock);
    for (i = p->count; i-- > 0;) {
        const struct port *e = &p->port[p->held[i]];

        if (e->free_at && now >= e->free_at)
            del(p, p->held[i]);
    }
    left = p->chosen != 0;
    pthread_mutex_unlock(&p->lock);
    return left;
}

/* ---- another toed takes over ---- */

static const struct toec_field rows[] = {
#define N(tag, member)                                                                             \
    TOEC_FIELD(tag, TOEC_FIELD_INT, struct port, member, offsetof(struct port, member))
    N(2, listeners), N(3, flows), N(4, kept),    N(5, uid),   N(6, chosen),
    N(7, mixed),     N(8, lent),  N(9, free_at), N(10, wide), N(11, opened),
#undef N
};
#define ROWS       (sizeof(rows) / sizeof(rows[0]))
#define TAG_NUMBER 1
#define TAG_FD     20
#define TAG_IP6    21
#define TAG_PLACES 22

void ports_save(struct ports *p, struct toec_image_out *o, struct takeover *t)
{
    uint32_t i;

    pthread_mutex_lock(&p->lock);
    for (i = 0; i < p->count; i++) {
        const struct port *e = &p->port[p->held[i]];

        toec_image_begin(o, TREC_PORT);
        toec_image_int(o, TAG_NUMBER, p->held[i]);
        toec_image_fields(o, rows, ROWS, e);
        toec_image_int(o, TAG_FD, takeover_fd(t, e->fd_plus_1 - 1));
        toec_image_int(o, TAG_IP6, (toec_u64)p->ip6);
        if (e->places) /* `place` may be NULL otherwise */
            toec_image_bytes(o, TAG_PLACES, e->place, (unsigned)(e->places * sizeof(*e->place)));
        toec_image_end(o);
    }
    pthread_mutex_unlock(&p->lock);
}

int ports_is_ip6(const struct toec_image_in *in)
{
    return toec_image_number(in, TAG_IP6) != 0;
}

int ports_restore(struct ports *p, const struct toec_image_in *in, struct takeover *t)
{
    uint64_t number = toec_image_number(in, TAG_NUMBER);
    struct port is = {0}, *e;
    struct toec_addr at;
    unsigned n = 0, i;
    int rc = 0;
    const uint8_t *places = toec_image_find(in, TAG_PLACES, &n);
    int fd = takeover_take_fd(t, toec_image_number(in, TAG_FD));

    if (number >= PORTS || p->port[number].held || toec_image_take(in, rows, ROWS, &is) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    pthread_mutex_lock(&p->lock);
    add(p, (uint16_t)number, fd, is.uid);
    e = &p->port[number];
    is.fd_plus_1 = e->fd_plus_1;
    is.at = e->at;
    is.held = 1;
    *e = is;
    p->chosen += e->chosen;
    for (i = 0; places && i < n / sizeof(at) && !rc; i++) {
        memcpy(&at, places + i * sizeof(at), sizeof(at));
        rc = add_place(p, (uint16_t)number, &at) ? -1 : 0;
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void ports_announce(struct ports *p)
{
    uint32_t i;

    pthread_mutex_lock(&p->lock);
    for (i = 0; i < p->count; i++) {
        const struct port *e = &p->port[p->held[i]];
        uint32_t n;

        for (n = 0; n < e->places; n++)
            (void)p->ops->place(p->arg, e->place[n].b, p->held[i], 1); /* there was room before */
        announce(p, p->held[i]);
    }
    pthread_mutex_unlock(&p->lock);
}
