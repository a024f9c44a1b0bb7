/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports_bench.h - ports of a shared address on this machine's kernel: the address is 127.0.0.1, and
 * this process is the requesting host.
 */
#ifndef ENGINE_TESTS_PORTS_BENCH_H
#define ENGINE_TESTS_PORTS_BENCH_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <toe/device.h>
#include <toe/netio.h>

#include "../../device/tests/alone.h"
#include "base/clock.h"
#include "hosts/shared.h"
#include "kernel/bound_sockets.h"
#include "kernel/port_range.h"
#include "kernel/routes.h"

static const uint8_t loopback[4] = {127, 0, 0, 1};
static uint8_t taken[65536]; /* the state that the XDP program would have */

static unsigned places;                /* ... of addresses of IPv6 */
static const struct toec_addr nowhere; /* in particular */

static inline void take(void *arg, int ip6, uint16_t port, unsigned how)
{
    (void)ip6;
    assert_ptr_equal(arg, taken);
    taken[port] = (uint8_t)how;
}

static inline int place(void *arg, const uint8_t addr[16], uint16_t port, int on)
{
    (void)addr;
    (void)port;
    assert_ptr_equal(arg, taken);
    places += on ? 1 : -1u;
    return 0;
}

static const struct ports_ops ops = {take, place};

static inline struct ports *begin(void)
{
    struct ports *p = ports_new(loopback, 1, &ops, taken);

    memset(taken, 0, sizeof(taken));
    assert_non_null(p);
    return p;
}

static struct asker own;                 /* this process */
static __attribute__((unused)) int kept; /* by the call before */

/* Called first. Moves the process to a network namespace of its own; a user without the right
 * stays. Returns whether it moved. */
static inline int begin_alone(void)
{
    own.pid = getpid();
    own.uid = geteuid();
    return move_alone(0);
}

/* Everything is released. */
static inline void end(struct ports *p)
{
    unsigned i;

    ports_free(p);
    for (i = 0; i < sizeof(taken); i++)
        assert_int_equal(taken[i], 0);
}

/* A socket of the kernel's; -errno where that is refused. port 0: the kernel chooses. */
static inline int kernel_socket(uint16_t port, int reuse, int listens)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    memcpy(&a.sin_addr, loopback, 4);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)), 0);
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 || (listens && listen(fd, 1) != 0)) {
        int e = errno;

        close(fd);
        return -e;
    }
    return fd;
}

static inline uint16_t port_of(int fd)
{
    struct sockaddr_in a = {0};
    socklen_t len = sizeof(a);

    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    return ntohs(a.sin_port);
}

static inline uint16_t free_port(void)
{
    int fd = kernel_socket(0, 0, 0);
    uint16_t port = port_of(fd);

    close(fd);
    return port;
}

/* A connection is opened: from a port that the host names, or with 0 from one that is chosen. */
static inline int connect_from(struct ports *p, const struct toec_addr *at, uint16_t *port,
                               const struct asker *who)
{
    struct ports_search search = {0};

    return ports_connect(p, at, port, &search, who);
}

#define NOBODY 65534

/* Another process, of another user, which has only fd (-1: not even that). */
static inline struct asker stranger(int fd)
{
    struct asker who = {.uid = NOBODY};
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    who.pid = fork();
    assert_true(who.pid >= 0);
    if (who.pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || dup2(fd >= 0 ? fd : 0, 3) != 3)
            _exit(1);
        closefrom(fd >= 0 ? 4 : 3);
        pause();
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* it has closed its end */
    close(ready[0]);
    return who;
}

static inline void end_stranger(struct asker who)
{
    kill(who.pid, SIGKILL);
    waitpid(who.pid, NULL, 0);
}

static inline struct ports *begin6(void)
{
    struct ports *p = ports_new(NULL, 1, &ops, taken);

    memset(taken, 0, sizeof(taken));
    places = 0;
    assert_non_null(p);
    return p;
}

static const struct toec_addr loopback6 = {{[15] = 1}}, other6 = {{0xfd, [15] = 9}};

/* A listening socket of the kernel's. *port 0: it chooses. -1: refused. */
static inline int listener6(const struct toec_addr *at, uint16_t *port)
{
    int fd = bound_make(NULL, at, 1, port, 0, 0);

    if (fd >= 0)
        assert_int_equal(listen(fd, 1), 0);
    return fd;
}

#endif
