/* SPDX-License-Identifier: Apache-2.0 */
/*
 * woken.c - one thread exchanges bytes over a connection while another goes to sleep on a second
 * one. Then the first computes without a socket call until the sleeper has been woken: the kernel
 * alone must wake it.
 *
 *     woken peer IP PORT                  echoes over the first connection, wakes over the second
 *     woken test IP PORT SEED ROUNDS      prints the rounds
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <toe/number.h>

#define LOST_NS    UINT64_C(20000000000)
#define MOST_BYTES 200u    /* exchanged before the other thread may sleep, and after that */
#define MOST_DELAY 400u    /* microseconds until the peer sends; */
#define LONG_DELAY 500000u /* ... or after every timer that could wake the sleeper, too */
#define WAYS       3u      /* of sleeping */

static atomic_uint woken, may_sleep; /* may_sleep: rounds whose sleep may begin */
static uint64_t state;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* splitmix64 */
static uint32_t below(uint32_t n)
{
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) % n);
}

static struct sockaddr_in address(char **argv)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    uint64_t port;
    char err[128];

    if (!toe_number(argv[3], 1, 65535, &port, err, sizeof(err)) ||
        inet_pton(AF_INET, argv[2], &a.sin_addr) != 1) {
        fputs("woken: wrong address or port\n", stderr);
        exit(2);
    }
    a.sin_port = htons((uint16_t)port);
    return a;
}

static void put(int fd, const void *data, size_t n)
{
    if (send(fd, data, n, MSG_NOSIGNAL) != (ssize_t)n)
        fail("send");
}

/* ---- the peer, on Linux ---- */

static int peer(char **argv)
{
    struct sockaddr_in a = address(argv);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, busy, asleep;
    uint32_t delay;
    char c;

    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(listener, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(listener, 2) != 0)
        fail("bind");
    printf("ready\n");
    fflush(stdout);
    busy = accept(listener, NULL, NULL);
    asleep = accept(listener, NULL, NULL);
    while (recv(busy, &c, 1, 0) == 1) {
        if (c == 'e') {
            put(busy, &c, 1);
            continue;
        }
        if (recv(busy, &delay, sizeof(delay), MSG_WAITALL) != (ssize_t)sizeof(delay))
            fail("recv");
        if (delay == LONG_DELAY)
            usleep(LONG_DELAY);
        for (uint64_t until = clock_ns() + delay % LONG_DELAY * 1000; clock_ns() < until;)
            continue;
        put(asleep, &c, 1);
    }
    return 0;
}

/* ---- the program under test ---- */

static int dial(char **argv)
{
    struct sockaddr_in a = address(argv);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
        fail("connect");
    return fd;
}

static void sleep_for_byte(int fd, int ep, unsigned way)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct epoll_event ev;
    char c;

    if (way == 1 && poll(&p, 1, -1) != 1)
        fail("poll");
    if (way == 2 && epoll_wait(ep, &ev, 1, -1) != 1)
        fail("epoll_wait");
    if (recv(fd, &c, 1, 0) != 1)
        fail("recv");
}

static void *sleeper(void *arg)
{
    int fd = *(int *)arg, ep = epoll_create1(0);
    struct epoll_event ev = {.events = EPOLLIN};

    if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) != 0)
        fail("epoll");
    for (unsigned n = 0;; n++) {
        while (atomic_load(&may_sleep) <= n)
            sched_yield();
        sleep_for_byte(fd, ep, n % WAYS);
        atomic_fetch_add(&woken, 1);
    }
    return NULL;
}

/* Polls, or sleeps in the call. */
static void exchange(int fd, int polls)
{
    char c = 'e';

    put(fd, &c, 1);
    for (;;) {
        ssize_t n = recv(fd, &c, 1, polls ? MSG_DONTWAIT : 0);

        if (n == 1)
            return;
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            fail("recv");
    }
}

static int compute_until_woken(unsigned round)
{
    uint64_t until = clock_ns() + LOST_NS;

    while (atomic_load(&woken) <= round)
        if (clock_ns() > until) {
            fprintf(stderr, "woken: round %u: the sleeping thread was not woken\n", round);
            return -1;
        }
    return 0;
}

static int test(char **argv)
{
    uint64_t seed, rounds;
    int busy, asleep;
    char err[128], order[1 + sizeof(uint32_t)] = "g";
    pthread_t t;

    if (!toe_number(argv[4], 0, UINT32_MAX, &seed, err, sizeof(err)) ||
        !toe_number(argv[5], 1, 1000000, &rounds, err, sizeof(err))) {
        fprintf(stderr, "woken: %s\n", err);
        return 2;
    }
    state = seed;
    busy = dial(argv);
    asleep = dial(argv);
    if (pthread_create(&t, NULL, sleeper, &asleep) != 0)
        fail("pthread_create");
    for (unsigned round = 0; round < rounds; round++) {
        uint32_t before = below(MOST_BYTES), after = below(2) * below(MOST_BYTES);
        uint32_t delay = below(4) ? below(MOST_DELAY) : LONG_DELAY;
        int polls = (int)below(2);

        while (before--)
            exchange(busy, polls);
        atomic_store(&may_sleep, round + 1);
        while (after--)
            exchange(busy, polls);
        memcpy(order + 1, &delay, sizeof(delay));
        put(busy, order, sizeof(order));
        if (compute_until_woken(round) != 0)
            return 1;
    }
    printf("%u\n", atomic_load(&woken));
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "peer") == 0)
        return peer(argv);
    if (argc == 6 && strcmp(argv[1], "test") == 0)
        return test(argv);
    fputs("usage: woken peer IP PORT\n       woken test IP PORT SEED ROUNDS\n", stderr);
    return 2;
}
