/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - times traffic as it passes an interface: a packet socket as tcpdump has it, with the
 * kernel's stamps of what leaves and what arrives.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "match.h"

#define SNAP 256u /* headers, and tags behind them */

static int open_watch(struct rtt *r)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    int fd, one = 1, room = 16 << 20;

    at.sll_ifindex = (int)if_nametoindex(r->o.interface);
    if (!at.sll_ifindex) {
        rtt_fail(r, "there is no interface %s", r->o.interface);
        return -1;
    }
    /* Of no protocol until it is bound, or it would have what other interfaces carry. */
    fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        rtt_fail(r, "cannot watch (it needs root, or CAP_NET_RAW): %s", strerror(errno));
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

/* One packet. False: there is none now. */
static bool take(int fd, struct matcher *m)
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
        return errno == EINTR;
    for (cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm))
        if (cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SCM_TIMESTAMPNS)
            memcpy(&ts, CMSG_DATA(cm), sizeof ts);
    if (ts.tv_sec)
        match_packet(m, data, (size_t)n, from.sll_pkttype == PACKET_OUTGOING,
                     (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
    return true;
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

bool watch_run(struct rtt *r)
{
    struct source *s = &r->result.source;
    struct tpacket_stats stats = {0};
    socklen_t len = sizeof stats;
    struct matcher *m;
    int fd;

    if (r->o.source == SOURCE_HARDWARE)
        return rtt_fail(r, "Linux shows who watches no hardware stamps of what leaves: send probes "
                           "(--udp, --icmp, --syn), or watch with --source software");
    snprintf(s->what, sizeof s->what, "software time stamps of %s as a packet socket has them",
             r->o.interface);
    snprintf(s->clock, sizeof s->clock,
             "CLOCK_REALTIME, as a packet is handed to the driver and as one enters the stack");
    s->resolution_ns = 1;
    fd = open_watch(r);
    if (fd < 0)
        return false;
    m = match_new(r);
    if (!m) {
        close(fd);
        return rtt_fail(r, "no memory to match packets");
    }
    fprintf(stderr, "toehold: rtt: watching %s\n", r->o.interface);
    while (!rtt_over(r) && !enough(r)) {
        struct pollfd p = {fd, POLLIN, 0};

        unsigned n; /* looks at the time in between, however many there are */

        if (poll(&p, 1, 50) > 0)
            for (n = 0; n < 4096 && !enough(r) && take(fd, m); n++)
                ;
        match_expire(m, stamp_now());
    }
    match_expire(m, UINT64_MAX);
    if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) == 0)
        *result_count(&r->result, "missed", "packets that came too fast to be watched") =
            stats.tp_drops;
    match_free(m);
    close(fd);
    return true;
}
