/* SPDX-License-Identifier: Apache-2.0 */
/* respond.c - `toehold rtt --respond`: returns each UDP datagram to its sender. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "respond.h"

static void echo(int fd, uint64_t *echoed)
{
    struct sockaddr_storage from;
    uint8_t data[65536];
    socklen_t len = sizeof from;
    ssize_t n;

    while ((n = recvfrom(fd, data, sizeof data, MSG_DONTWAIT, (struct sockaddr *)&from, &len)) >=
           0) {
        if (sendto(fd, data, (size_t)n, MSG_NOSIGNAL, (struct sockaddr *)&from, len) == n)
            ++*echoed;
        len = sizeof from;
    }
}

int respond_run(const struct rtt_options *o)
{
    int fd = socket(o->to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1, zero = 0;
    uint64_t end = o->seconds ? rtt_now() + o->seconds * 1000000000ull : UINT64_MAX, echoed = 0;

    if (fd >= 0 && o->to.ss_family == AF_INET6) /* the wildcard address accepts both families */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(fd, (const struct sockaddr *)&o->to, o->to_len) != 0) {
        cli_message("rtt: cannot respond at %s: %s", o->to_name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return CLI_FAILURE;
    }
    fprintf(stderr, "toehold: rtt: responding at %s\n", o->to_name);
    while (!rtt_stopped && rtt_now() < end) {
        struct pollfd p = {fd, POLLIN, 0};

        if (poll(&p, 1, 100) > 0)
            echo(fd, &echoed);
    }
    close(fd);
    printf(o->json ? "{\"echoed\": %" PRIu64 "}\n" : "echoed %" PRIu64 "\n", echoed);
    return CLI_OK;
}
