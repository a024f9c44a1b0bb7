/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bar_sim.c - registers of a simulation over its Unix socket (gateware/sim/README.md). Requests and
 * answers have four little-endian words: {1 read or 2 write, address, value, status}.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "bar_kinds.h"
#include "bar_map.h"

#define OP_READ        1u
#define OP_WRITE       2u
#define ANSWER_SECONDS 10 /* simulations are slow; a stopped one never answers */

static bool open_sim(struct bar *bar, const char *name)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};

    if (!name[0] || strlen(name) >= sizeof addr.sun_path)
        return bar_fail(bar, "want the path of a socket, 1 to %zu bytes", sizeof addr.sun_path - 1);
    memcpy(addr.sun_path, name, strlen(name) + 1);
    bar->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bar->fd < 0)
        return bar_fail(bar, "cannot create a socket: %s", strerror(errno));
    if (connect(bar->fd, (struct sockaddr *)&addr, sizeof addr) != 0)
        return bar_fail(bar, "no simulation answers: %s", strerror(errno));
    if (setsockopt(bar->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0)
        return bar_fail(bar, "cannot set a time limit: %s", strerror(errno));
    return true;
}

/* Receives a whole answer. Signals are handled between answers. */
static ssize_t take(int fd, void *out, size_t size)
{
    size_t got = 0;

    while (got < size) {
        ssize_t n = recv(fd, (char *)out + got, size - got, 0);

        if (n == 0 || (n < 0 && errno != EINTR))
            return n;
        got += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)got;
}

static bool ask(struct bar *bar, uint32_t op, uint64_t at, uint32_t *value)
{
    uint32_t m[4] = {htole32(op), htole32((uint32_t)at), htole32(*value), 0};
    ssize_t n;

    if (at > UINT32_MAX)
        return bar_fail(bar, "addresses of a simulation have 32 bits");
    if (send(bar->fd, m, sizeof m, MSG_NOSIGNAL) != (ssize_t)sizeof m)
        return bar_fail(bar, "cannot send a request to the simulation: %s", strerror(errno));
    n = take(bar->fd, m, sizeof m);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return bar_fail(bar, "the simulation does not answer within %d seconds", ANSWER_SECONDS);
    if (n != (ssize_t)sizeof m)
        return bar_fail(bar, "the simulation has ended");
    if (le32toh(m[0]) != op || le32toh(m[1]) != (uint32_t)at)
        return bar_fail(bar, "the answer does not match the request");
    if (m[3])
        return bar_fail(bar, "its bus returns error %u: no such register", le32toh(m[3]));
    *value = le32toh(m[2]);
    return true;
}

static bool read_sim(struct bar *bar, uint64_t at, uint32_t *value)
{
    *value = 0;
    return ask(bar, OP_READ, at, value);
}

static bool write_sim(struct bar *bar, uint64_t at, uint32_t value)
{
    return ask(bar, OP_WRITE, at, &value);
}

const struct bar_ops bar_sim = {.kind = "sim",
                                .what = "simulation",
                                .open = open_sim,
                                .read = read_sim,
                                .write = write_sim,
                                .close = bar_map_close};
