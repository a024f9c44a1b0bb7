/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - times traffic that passes an interface: a packet socket, as tcpdump uses it, with the
 * kernel's stamps of departures and arrivals.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "live.h"
#include "match.h"
#include "watch.h"

#define SNAP 256u /* headers and tags */

static int open_watch(struct rtt *r, unsigned index)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    int fd, one = 1, room = 16 << 20;

    at.sll_ifindex = (int)index;
    if (!at.sll_ifindex) {
        rtt_fail(r, "no interface %s", r->o.interface);
        return -1;
    }
    /* Protocol 0 until it is bound, or it would receive the traffic of all interfaces. */
    fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        rtt_fail(r, "cannot watch (needs root or CAP_NET_RAW): %s", strerror(errno));
        return -1;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one) != 0 ||
        bind(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        rtt_fail(r, "cannot watch %s: %s", r->o.interface, strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

/* Handles one packet. Returns 1; 0: none is pending; -1: errno. */
static int take(int fd, struct matcher *m)
{
    union {
        struct cmsghdr align;
        char room[256];
    } control;
    struct sockaddr_ll from;
    uint8_t data[SNAP];
    struct iovec iov = {data, sizeof data};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_name = &from,
                         .msg_namelen = sizeof from,
                         .msg_control = control.room,
                         .msg_controllen = sizeof control.room};
    ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT);
    struct cmsghdr *cm;
    struct timespec ts = {0, 0};

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    for (cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm))
        if (cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SCM_TIMESTAMPNS)
            memcpy(&ts, CMSG_DATA(cm), sizeof ts);
    if (ts.tv_sec)
        match_packet(m, data, (size_t)n, from.sll_pkttype == PACKET_OUTGOING,
                     (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
    return 1;
}

static uint64_t stamp_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool enough(struct rtt *r)
{
    return r->o.count && result_samples(&r->result) >= r->o.count;
}

/* Handles an error of the packet socket. The socket reports once that its interface went down
 * (packet(7)), and nothing when the interface is removed later, so watch() polls for that.
 * Continues on an interface that is only down, as it may come up. Returns false after a message
 * when the measurement ends; its result covers what was seen until then. */
static bool continues(struct rtt *r, unsigned index, bool *down)
{
    char name[IFNAMSIZ];
    int why = errno;

    if (why == ENETDOWN && if_indextoname(index, name)) {
        fprintf(stderr, "toehold: rtt: %s went down; watching until it is up again\n", name);
        *down = true;
        return true;
    }
    r->code = CLI_FAILURE;
    if (why == ENETDOWN)
        cli_message("rtt: %s was removed; the result so far:", r->o.interface);
    else
        cli_message("rtt: cannot watch %s any more: %s; the result so far:", r->o.interface,
                    strerror(why));
    return false;
}

static bool is_gone(unsigned index)
{
    char name[IFNAMSIZ];

    if (if_indextoname(index, name))
        return false;
    errno = ENETDOWN;
    return true;
}

/* Handles the pending packets, up to a limit, so that the clock is checked. -1: errno. */
static int take_some(struct rtt *r, int fd, struct matcher *m)
{
    unsigned n = 0;
    int got = 1;

    while (n++ < 4096 && !enough(r) && (got = take(fd, m)) > 0)
        ;
    return got < 0 ? -1 : 0;
}

static void watch(struct rtt *r, int fd, unsigned index, struct matcher *m)
{
    bool on = true, down = false;

    fprintf(stderr, "toehold: rtt: watching %s\n", r->o.interface);
    while (on && !rtt_over(r) && !enough(r)) {
        struct pollfd p = {fd, POLLIN, 0};
        int n = poll(&p, 1, 50);

        if (n > 0 ? take_some(r, fd, m) < 0 : down && is_gone(index))
            on = continues(r, index, &down);
        match_expire(m, stamp_now());
    }
    if (on)
        (void)take_some(r, fd, m); /* packets that passed before the end */
    match_expire(m, UINT64_MAX);
}

bool watch_run(struct rtt *r)
{
    unsigned index = if_nametoindex(r->o.interface);
    struct source *s = &r->result.source;
    struct tpacket_stats stats = {0};
    socklen_t len = sizeof stats;
    struct matcher *m;
    int fd;

    if (r->o.source == SOURCE_HARDWARE)
        return rtt_fail(r, "packet sockets get no hardware stamps of what leaves; send probes "
                           "(--udp, --icmp, --syn), or watch with --source software");
    snprintf(s->what, sizeof s->what, "software time stamps of %s by a packet socket",
             r->o.interface);
    snprintf(s->clock, sizeof s->clock,
             "CLOCK_REALTIME, as a packet is handed to the driver and as one enters the stack");
    s->resolution_ns = 1;
    fd = open_watch(r, index);
    if (fd < 0)
        return false;
    m = match_new(r);
    if (!m) {
        close(fd);
        return rtt_fail(r, "no memory to match packets");
    }
    watch(r, fd, index, m);
    if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) == 0)
        *result_count(&r->result, "missed", "packets that the socket dropped") = stats.tp_drops;
    match_free(m);
    close(fd);
    return true;
}
