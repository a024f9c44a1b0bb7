/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - both ends of bench/patterns.py: exchanges of one pattern after the other, over one
 * connection (kept) or each over its own (new), by blocking sockets without TCP_NODELAY.
 *
 *   patterns serve PATTERN new|kept ADDRESS PORT
 *   patterns ask PATTERN new|kept ADDRESS PORT SECONDS_IN_MS WARMUP_MS COUNT
 *
 * ask prints how many exchanges it measured and their times as JSON: for the time, or COUNT of them
 * if COUNT is not 0. The time of an exchange on a new connection includes connect(). With new, the
 * server closes first, so that its end keeps the TIME-WAIT.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <toe/number.h>

#define LARGEST (1u << 20)
#define NS_MS   1000000ull
#define TIMES   (1u << 20) /* exchanges whose times are kept */
#define MS_MAX  3600000
#define WAITING 64

struct pattern {
    const char *name;
    uint32_t writes, write_size;            /* of the client */
    uint32_t steps, read_size, answer_size; /* of the server: reads, and answers */
};

static const struct pattern patterns[] = {
    {"write-write-read", 2, 20, 1, 40, 40},
    {"request-response", 1, 64, 1, 64, 64},
    {"pipelined", 16, 64, 16, 64, 64},
    {"bulk", 16, 65536, 1, LARGEST, 64},
};

static uint8_t sent[LARGEST], got[LARGEST];
static uint64_t times[TIMES];

static int fail(const char *what)
{
    fprintf(stderr, "patterns: %s: %s\n", what, strerror(errno));
    return 1;
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads the bytes from `at` on of an exchange's direction. Returns 1; 0 at the end of the stream
 * before the first one; -1 with errno. */
static int read_all(int fd, size_t at, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t r = read(fd, got + done, n - done);

        if (r < 0 && errno == EINTR)
            continue;
        if (r == 0 && done == 0) {
            errno = EPIPE; /* for those who expect more */
            return 0;
        }
        if (r <= 0) {
            errno = r ? errno : EPIPE;
            return -1;
        }
        done += (size_t)r;
    }
    if (memcmp(got, sent + at, n) == 0)
        return 1;
    errno = EBADMSG; /* other bytes than those sent */
    return -1;
}

static int write_all(int fd, size_t at, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t r = send(fd, sent + at + done, n - done, MSG_NOSIGNAL);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        done += (size_t)r;
    }
    return 0;
}

/* ---- the server ---- */

/* Answers one exchange: 1, 0 at the end of the stream, -1 with errno. */
static int answer(int fd, const struct pattern *p)
{
    uint32_t i;
    int r;

    for (i = 0; i < p->steps; i++) {
        r = read_all(fd, (size_t)i * p->read_size, p->read_size);
        if (r <= 0)
            return i && r == 0 ? (errno = EPIPE, -1) : r;
        if (write_all(fd, (size_t)i * p->answer_size, p->answer_size) != 0)
            return -1;
    }
    return 1;
}

static int serve(const struct pattern *p, int fresh, const struct sockaddr_in *at)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), c, r;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(fd, (const struct sockaddr *)at, sizeof(*at)) != 0 || listen(fd, WAITING) != 0)
        return fail("listen");
    puts("serving");
    fflush(stdout);
    while ((c = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        do
            r = answer(c, p);
        while (r > 0 && !fresh);
        if (r < 0 && errno != ECONNRESET) /* a client that has ended */
            return fail("exchange");
        close(c);
    }
    return fail("accept");
}

/* ---- the client ---- */

static int open_to(const struct sockaddr_in *to)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0)
        return fd;
    close(fd);
    return -1;
}

static int exchange(int fd, const struct pattern *p)
{
    uint32_t i;

    for (i = 0; i < p->writes; i++)
        if (write_all(fd, (size_t)i * p->write_size, p->write_size) != 0)
            return -1;
    for (i = 0; i < p->steps; i++)
        if (read_all(fd, (size_t)i * p->answer_size, p->answer_size) <= 0)
            return -1;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The value below which a part of the sorted times lies, in percent. */
static uint64_t percentile(uint32_t n, uint32_t percent)
{
    return times[((uint64_t)n * percent + 99) / 100 - 1];
}

static void report(const struct pattern *p, uint32_t n, uint64_t ns)
{
    qsort(times, n, sizeof(times[0]), by_value);
    printf(
        "{\"requests\": %u, \"ns\": %llu, \"p50_ns\": %llu, \"p99_ns\": %llu, \"bytes\": %llu}\n",
        n, (unsigned long long)ns, (unsigned long long)percentile(n, 50),
        (unsigned long long)percentile(n, 99), (unsigned long long)n * p->writes * p->write_size);
}

/* One exchange on the connection `*fd`, or on one of its own. Returns its time in ns; 0 after a
 * message. */
static uint64_t timed_exchange(const struct pattern *p, int fresh, const struct sockaddr_in *to,
                               int *fd)
{
    uint64_t start = clock_ns(), end;

    if (*fd < 0 && (*fd = open_to(to)) < 0) {
        fail("connect");
        return 0;
    }
    if (exchange(*fd, p) != 0) {
        fail("exchange");
        return 0;
    }
    end = clock_ns();
    if (fresh) {
        if (read_all(*fd, 0, 1) != 0) {
            fail("end of the connection");
            return 0;
        }
        close(*fd);
        *fd = -1;
    }
    return end - start;
}

static int ask(const struct pattern *p, int fresh, const struct sockaddr_in *to, uint64_t ms,
               uint64_t warmup_ms, uint64_t count)
{
    uint64_t from, until, begin;
    uint32_t n = 0;
    int fd = -1;

    /* The first exchange is not measured: a program in the inline TOE listens before its TOE runs,
     * and a SYN of that moment is repeated after a second. */
    if (!timed_exchange(p, fresh, to, &fd))
        return 1;
    from = clock_ns() + warmup_ms * NS_MS;
    until = from + ms * NS_MS;
    for (begin = clock_ns(); n < TIMES; begin = clock_ns()) {
        uint64_t took;

        if (count ? n == count : begin >= until && n)
            break;
        took = timed_exchange(p, fresh, to, &fd);
        if (!took)
            return 1;
        if (!count && begin < from)
            continue;
        if (n == 0)
            from = begin;
        times[n++] = took;
    }
    if (fd >= 0)
        close(fd);
    report(p, n, begin - from);
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: patterns serve PATTERN new|kept ADDRESS PORT\n"
                    "       patterns ask PATTERN new|kept ADDRESS PORT MS WARMUP_MS COUNT\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    const struct pattern *p = NULL;
    uint64_t port, ms, warmup, count;
    size_t i;
    int fresh;

    if (argc < 6)
        return usage();
    for (i = 0; i < sizeof(sent); i++)
        sent[i] = (uint8_t)(i * 7 + i / 251);
    for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        if (strcmp(argv[2], patterns[i].name) == 0)
            p = &patterns[i];
    fresh = strcmp(argv[3], "new") == 0;
    if (!p || (!fresh && strcmp(argv[3], "kept") != 0) ||
        inet_pton(AF_INET, argv[4], &at.sin_addr) != 1 ||
        !toe_number(argv[5], 1, 65535, &port, NULL, 0))
        return usage();
    at.sin_port = htons((uint16_t)port);
    if (argc == 6 && strcmp(argv[1], "serve") == 0)
        return serve(p, fresh, &at);
    if (argc != 9 || strcmp(argv[1], "ask") != 0 || !toe_number(argv[6], 1, MS_MAX, &ms, NULL, 0) ||
        !toe_number(argv[7], 0, MS_MAX, &warmup, NULL, 0) ||
        !toe_number(argv[8], 0, TIMES, &count, NULL, 0))
        return usage();
    return ask(p, fresh, &at, ms, warmup, count);
}
