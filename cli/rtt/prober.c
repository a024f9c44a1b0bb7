/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prober.c - sends probes, receives their answers, and counts both (prober.h). A sample is the
 * stamp of the answer minus that of the probe, both of one clock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <linux/net_tstamp.h>

#include "live.h"
#include "prober.h"
#include "stamps.h"
#include "wire.h"

/* As in linux/icmp.h, which conflicts with net/if.h. */
#define RAW_ICMP_FILTER 1

/* The state of this many last probes is kept. */
#define SLOTS 65536u
/* TX stamps that take longer are lost. */
#define STAMP_MS 200

enum slot_state { FREE, OUT, ANSWERED, LOST };

struct slot {
    uint64_t n;       /* number of the probe */
    uint64_t sent_at; /* rtt_now(), for the time limit */
    uint64_t tx, rx;  /* stamps; 0: missing */
    enum slot_state state;
    bool sampled;
};

struct prober {
    struct rtt *r;
    struct probe_id id;
    bool hardware;
    bool timed_elsewhere; /* another source times the probes */
    int fd;
    int held[SYN_PORTS];   /* sockets that reserve the source ports of SYNs */
    uint64_t next;         /* number of the next probe */
    uint64_t oldest;       /* first probe that may be unanswered */
    uint64_t base;         /* probe whose TX stamp has number 0 */
    uint64_t answered_max; /* highest number answered, plus one */
    uint64_t stamps_due;   /* probes sent whose TX stamp is missing */
    struct slot *slots;
    uint64_t *sent, *answered, *lost, *late, *duplicates, *reordered, *refused, *unstamped;
};

static struct slot *slot_of(struct prober *p, uint64_t n)
{
    return &p->slots[n % SLOTS];
}

static bool fail(struct prober *p, const char *what)
{
    return rtt_fail(p->r, "%s: %s", what, strerror(errno));
}

/* ---- sockets */

static bool open_udp(struct prober *p)
{
    p->fd = socket(p->id.to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return p->fd >= 0 || fail(p, "cannot create a UDP socket");
}

static bool open_icmp(struct prober *p)
{
    bool ip6 = p->id.to.ss_family == AF_INET6;

    p->fd =
        socket(p->id.to.ss_family, SOCK_RAW | SOCK_CLOEXEC, ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
    if (p->fd < 0)
        return fail(p, "cannot create an ICMP socket (needs root or CAP_NET_RAW)");
    if (ip6) {
        struct icmp6_filter f;

        ICMP6_FILTER_SETBLOCKALL(&f);
        ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &f);
        return setsockopt(p->fd, IPPROTO_ICMPV6, ICMP6_FILTER, &f, sizeof f) == 0 ||
               fail(p, "cannot filter ICMPv6");
    } else {
        uint32_t f = ~(1u << ICMP_ECHOREPLY); /* the mask of blocked types */

        return setsockopt(p->fd, SOL_RAW, RAW_ICMP_FILTER, &f, sizeof f) == 0 ||
               fail(p, "cannot filter ICMP");
    }
}

/* Reserves a source port by a bound socket. The kernel resets the SYN+ACKs, so that the peer
 * removes each connection at once. */
static bool hold_port(struct prober *p, unsigned i)
{
    struct sockaddr_storage a = p->id.local;
    socklen_t len =
        a.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);

    p->held[i] = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (a.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&a)->sin6_port = 0;
    else
        ((struct sockaddr_in *)&a)->sin_port = 0;
    if (p->held[i] < 0 || bind(p->held[i], (struct sockaddr *)&a, len) != 0 ||
        getsockname(p->held[i], (struct sockaddr *)&a, &len) != 0)
        return fail(p, "cannot reserve a port for SYNs");
    p->id.syn_port[i] = ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                                      : ((struct sockaddr_in *)&a)->sin_port);
    return true;
}

static bool open_syn(struct prober *p)
{
    p->fd = socket(p->id.to.ss_family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP);
    return p->fd >= 0 || fail(p, "cannot create a raw TCP socket (needs root or CAP_NET_RAW)");
}

/* Connects the socket; raw sockets take no port. */
static bool join(struct prober *p)
{
    struct sockaddr_storage to = p->id.to;
    socklen_t len = sizeof p->id.local;
    unsigned i;

    if (p->r->o.probe != PROBE_UDP && to.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&to)->sin6_port = 0;
    else if (p->r->o.probe != PROBE_UDP)
        ((struct sockaddr_in *)&to)->sin_port = 0;
    if (p->r->o.interface && setsockopt(p->fd, SOL_SOCKET, SO_BINDTODEVICE, p->r->o.interface,
                                        (socklen_t)strlen(p->r->o.interface)) != 0)
        return fail(p, "cannot bind to the interface");
    if (connect(p->fd, (struct sockaddr *)&to, p->r->o.to_len) != 0)
        return fail(p, "cannot connect to the target");
    if (getsockname(p->fd, (struct sockaddr *)&p->id.local, &len) != 0)
        return fail(p, "cannot read the local address");
    for (i = 0; p->r->o.probe == PROBE_SYN && i < SYN_PORTS; i++)
        if (!hold_port(p, i))
            return false;
    return true;
}

static bool open_socket(struct prober *p)
{
    int room = 4 << 20;
    bool ok = p->r->o.probe == PROBE_UDP    ? open_udp(p)
              : p->r->o.probe == PROBE_ICMP ? open_icmp(p)
                                            : open_syn(p);

    if (!ok || !join(p))
        return false;
    if (setsockopt(p->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        setsockopt(p->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (!stamps_enable(p->fd, p->hardware))
        return fail(p, "cannot enable time stamps");
    if (!p->hardware)
        stamps_settle();
    return true;
}

/* ---- answers and stamps */

static void sample(struct prober *p, struct slot *s)
{
    if (s->sampled || !s->tx || !s->rx)
        return;
    s->sampled = true;
    if (p->timed_elsewhere)
        return;
    /* The clock was set back between the two stamps. */
    if (s->rx < s->tx)
        ++*result_count(&p->r->result, "backwards", "answers stamped before their probes");
    else
        result_sample(&p->r->result, rtt_at(p->r), s->rx - s->tx, s->n, 0);
}

static void answer(struct prober *p, uint64_t n, uint64_t stamp)
{
    struct slot *s = slot_of(p, n);

    if (n >= p->next || s->n != n || s->state == FREE)
        return; /* its slot is reused, or it was never sent */
    if (s->state == ANSWERED) {
        ++*p->duplicates;
        return;
    }
    if (s->state == LOST) {
        ++*p->late;
        s->state = ANSWERED; /* still counted as lost; the next answer is a duplicate */
        return;
    }
    s->state = ANSWERED;
    s->rx = stamp;
    ++*p->answered;
    if (n + 1 < p->answered_max)
        ++*p->reordered;
    else
        p->answered_max = n + 1;
    sample(p, s);
}

/* Extends the 32-bit number of a SYN to that of the latest probe below p->next. */
static uint64_t widen(const struct prober *p, uint32_t n)
{
    return p->next - (uint32_t)((uint32_t)p->next - n);
}

static void take_answer(struct prober *p, const uint8_t *data, size_t size, uint64_t stamp)
{
    bool refused = false;
    uint32_t low;
    uint64_t n;

    switch (p->r->o.probe) {
    case PROBE_UDP:
        if (wire_payload_number(&p->id, data, size, &n))
            answer(p, n, stamp);
        break;
    case PROBE_ICMP:
        if (wire_echo_number(&p->id, data, size, &n))
            answer(p, n, stamp);
        break;
    default:
        if (wire_syn_number(&p->id, data, size, &low, &refused)) {
            *p->refused += refused;
            answer(p, widen(p, low), stamp);
        }
    }
}

static void take_stamps(struct prober *p)
{
    uint32_t number;
    uint64_t stamp;
    int rc;

    while ((rc = stamps_sent(p->fd, p->hardware, &number, &stamp)) != 0) {
        uint64_t n = p->base + number;
        struct slot *s = slot_of(p, n);

        if (rc < 0)
            continue; /* an ICMP error: the probe will be lost */
        p->stamps_due -= p->stamps_due > 0;
        if (n < p->next && s->n == n && stamp) {
            s->tx = stamp;
            sample(p, s);
        }
    }
}

static void take_all(struct prober *p)
{
    struct sockaddr_storage from;
    uint8_t data[2048];
    uint64_t stamp;
    ssize_t n;

    for (;;) {
        take_stamps(p); /* before the answers, which complete the samples */
        n = stamps_receive(p->fd, data, sizeof data, p->hardware, &stamp, &from);
        if (n >= 0)
            take_answer(p, data, (size_t)n, stamp);
        else if (errno == ECONNREFUSED)
            ++*p->refused;
        else if (errno != EINTR)
            return;
    }
}

/* ---- sending */

static void lose(struct prober *p, struct slot *s)
{
    s->state = LOST;
    ++*p->lost;
    result_lost(&p->r->result, rtt_at(p->r), s->n);
}

static void time_out(struct prober *p, bool all)
{
    uint64_t now = rtt_now(), limit = (uint64_t)p->r->o.timeout_ms * 1000000u;

    for (; p->oldest < p->next; p->oldest++) {
        struct slot *s = slot_of(p, p->oldest);

        if (s->n != p->oldest || s->state == FREE)
            continue;
        if (s->state == ANSWERED && s->sampled)
            continue;
        if (!all && now - s->sent_at < limit)
            return;
        if (s->state == OUT && rtt_stopped)
            ++*result_count(&p->r->result, "unfinished", "in flight when it was interrupted");
        else if (s->state == OUT)
            lose(p, s);
        else if (s->state == ANSWERED && !s->sampled)
            ++*p->unstamped;
    }
}

static void wait_for(struct prober *p, uint64_t until)
{
    uint64_t now;

    while (!rtt_over(p->r) && (now = rtt_now()) < until) {
        struct pollfd fd = {p->fd, POLLIN, 0};
        uint64_t left = until - now, most = 50000000u; /* so that time_out() runs */
        struct timespec t = {0, (long)(left < most ? left : most)};

        if (ppoll(&fd, 1, &t, NULL) > 0)
            take_all(p);
        time_out(p, false);
    }
}

/* Restarts the numbering of TX stamps: after a failed send it is unknown whether the kernel used a
 * number. */
static bool renumber(struct prober *p)
{
    uint64_t until = rtt_now() + (uint64_t)STAMP_MS * 1000000u;

    while (p->stamps_due && rtt_now() < until)
        wait_for(p, rtt_now() + 1000000u);
    p->stamps_due = 0;
    p->base = p->next;
    return stamps_renumber(p->fd, p->hardware);
}

static bool send_probe(struct prober *p)
{
    uint8_t data[PROBE_MAX + 64];
    struct slot *s = slot_of(p, p->next);
    size_t size = p->r->o.size;
    unsigned tries;

    if (s->state == OUT) /* SLOTS later probes have been sent */
        lose(p, s);
    if (p->r->o.probe == PROBE_SYN)
        size = wire_syn(&p->id, p->next, data);
    else if (p->r->o.probe == PROBE_ICMP)
        size = wire_echo(&p->id, p->next, data, size);
    else
        wire_payload(&p->id, p->next, data, size);
    for (tries = 0; tries < 100; tries++) {
        *s = (struct slot){.n = p->next, .sent_at = rtt_now(), .state = OUT};
        if (send(p->fd, data, size, MSG_NOSIGNAL) >= 0) {
            p->next++;
            p->stamps_due++;
            ++*p->sent;
            return true;
        }
        s->state = FREE;
        if (errno == ECONNREFUSED)
            ++*p->refused; /* an ICMP error of an earlier probe; nothing was sent */
        else if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
            return fail(p, "cannot send");
        if (!renumber(p))
            return fail(p, "cannot enable time stamps again");
    }
    return fail(p, "cannot send");
}

static void counters(struct prober *p)
{
    struct result *r = &p->r->result;

    p->sent = result_count(r, "sent", "probes sent");
    p->answered = result_count(r, "answered", "probes answered");
    p->lost = result_count(r, "lost", "no answer within the timeout");
    p->late = result_count(r, "late", "of those, answered later");
    p->duplicates = result_count(r, "duplicates", "further answers to one probe");
    p->reordered = result_count(r, "reordered", "answered after a later probe");
    p->refused = result_count(r, "refused", "answers that reject the probe (closed port)");
    p->unstamped = result_count(r, "unstamped", "answered, but a time stamp is missing");
}

static struct prober *new_prober(struct rtt *r)
{
    struct prober *p = calloc(1, sizeof *p);
    unsigned i;

    if (!p)
        return NULL;
    p->r = r;
    p->fd = -1;
    for (i = 0; i < SYN_PORTS; i++)
        p->held[i] = -1;
    p->slots = calloc(SLOTS, sizeof *p->slots);
    if (p->slots)
        return p;
    free(p);
    return NULL;
}

static bool begin(struct prober *p)
{
    if (getrandom(&p->id.run, sizeof p->id.run, 0) != sizeof p->id.run ||
        getrandom(&p->id.isn, sizeof p->id.isn, 0) != sizeof p->id.isn)
        return fail(p, "no random numbers");
    p->id.echo = (uint16_t)p->id.run;
    counters(p);
    return open_socket(p);
}

struct prober *prober_start(struct rtt *r, bool hardware)
{
    struct prober *p = new_prober(r);

    if (!p) {
        rtt_fail(r, "no memory for probes");
        return NULL;
    }
    p->hardware = hardware;
    p->timed_elsewhere = r->o.source == SOURCE_REGISTERS;
    p->id.to = r->o.to;
    if (begin(p))
        return p;
    prober_free(p);
    return NULL;
}

bool prober_run(struct prober *p)
{
    uint64_t due = rtt_now();

    while (!rtt_over(p->r) && (!p->r->o.count || p->next < p->r->o.count)) {
        if (!send_probe(p))
            return false;
        due += (uint64_t)p->r->o.interval_us * 1000u;
        wait_for(p, due);
    }
    return true;
}

void prober_finish(struct prober *p)
{
    uint64_t until = rtt_now() + ((uint64_t)p->r->o.timeout_ms + 1) * 1000000u;
    uint64_t stop = p->next ? slot_of(p, p->next - 1)->sent_at : 0;

    /* Probes in flight may be answered until they time out. */
    p->r->end_ns = UINT64_MAX;
    if (stop && stop + (uint64_t)p->r->o.timeout_ms * 1000000u < until)
        until = stop + (uint64_t)p->r->o.timeout_ms * 1000000u;
    while (!rtt_stopped && p->oldest < p->next && rtt_now() < until)
        wait_for(p, rtt_now() + 5000000u);
    take_all(p);
    time_out(p, true);
}

void prober_free(struct prober *p)
{
    unsigned i;

    if (!p)
        return;
    for (i = 0; i < SYN_PORTS; i++)
        if (p->held[i] >= 0)
            close(p->held[i]);
    if (p->fd >= 0)
        close(p->fd);
    free(p->slots);
    free(p);
}
