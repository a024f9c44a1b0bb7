/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_choice.c - which port a connection gets whose host has named none (RFC 6056): at random
 * while that is quick, then each port of the range once, so that the last free one is found.
 */
#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include "port_choice.h"

#define CHOSEN_MAX  16384u /* limit of ports chosen by the kernel for connections */
#define REUSE_LOOKS 16u    /* ports examined for one that may be chosen again */
#define REUSE_TRIES 4u     /* attempts with ports already held before a new one */
#define NEW_TRIES   28u    /* attempts with new ones before every port is tried */

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

/* Sets the ports that bind() may choose now, as inet_sk_get_local_port_range() of Linux. */
static void range_of(const struct ports *p, uint32_t within, uint32_t *first, uint32_t *last)
{
    uint32_t low = within & 0xffff, high = within >> 16;

    *first = p->range && p->range->last ? p->range->first : 1;
    *last = p->range && p->range->last ? p->range->last : PORTS_ALL - 1;
    low = within && low >= *first && low <= *last ? low : *first;
    high = within && high >= *first && high <= *last ? high : *last;
    *first = low;
    *last = high;
}

static int is_reserved(const struct ports *p, uint32_t port)
{
    return p->range && (p->range->reserved[port / 8] >> port % 8 & 1);
}

static int may_choose(const struct ports *p, uint16_t port, uint32_t within)
{
    uint32_t first, last;

    range_of(p, within, &first, &last);
    return port >= first && port <= last && !is_reserved(p, port);
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

/* Binds a port that is not held: `port`, or with 0 one of the kernel's choice. Returns it; 0 with
 * errno. The kernel's may be reserved when the setting has changed since it was read. */
static uint16_t choose_new(struct ports *p, uint16_t port, uid_t uid, uint32_t within)
{
    int fd = port_bind(p, NULL, &port, port ? 0 : within, 0);

    if (fd < 0)
        return 0;
    if (p->port[port].held || /* its old connections belong to the TOE */
        is_reserved(p, port)) {
        close(fd);
        errno = EAGAIN;
        return 0;
    }
    port_add(p, port, fd, uid);
    p->port[port].chosen = 1;
    p->port[port].wide = 1;
    p->chosen++;
    port_announce(p, port);
    return port;
}

static void begin_walk(const struct ports *p, struct ports_search *s, uint32_t within)
{
    uint32_t first, last;

    range_of(p, within, &first, &last);
    s->first = first;
    s->count = s->left = first <= last ? last - first + 1 : 0;
    s->at = random_below(s->count);
    s->walks = 1;
}

/* Returns the next port that may be chosen, each once; 0 at the end. */
static uint16_t walk(struct ports *p, struct ports_search *s, uid_t uid)
{
    while (s->left) {
        uint16_t port = (uint16_t)(s->first + s->at);

        s->left--;
        s->at = s->at + 1 < s->count ? s->at + 1 : 0;
        if (is_reserved(p, port))
            continue;
        if (p->port[port].chosen)
            return port;
        if (!s->no_new && !p->port[port].held && p->chosen < CHOSEN_MAX &&
            choose_new(p, port, uid, 0))
            return port;
    }
    return 0;
}

uint16_t port_choose(struct ports *p, struct ports_search *s, uid_t uid, uint32_t within)
{
    uint16_t port = 0;

    if (!s->walks && s->tries++ < REUSE_TRIES && p->count)
        port = choose_held(p, within);
    while (!port && !s->walks) {
        if (p->chosen < CHOSEN_MAX && s->tries++ < REUSE_TRIES + NEW_TRIES) {
            port = choose_new(p, 0, uid, within);
            if (port || errno == EAGAIN)
                continue;
            s->no_new = 1; /* the kernel has no port left */
        }
        begin_walk(p, s, within);
    }
    /* without a known range, no port of a certain number is bound: it may be a service's */
    s->no_new |= !p->range || !p->range->last;
    return port ? port : walk(p, s, uid);
}
