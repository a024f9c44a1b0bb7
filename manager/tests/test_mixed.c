/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mixed.c - a program of many threads that do different things at the same time: they share
 * libtoe, and the engine if that is within the process (mainly for ThreadSanitizer).
 */
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "harness.h"

#define PORT      7400
#define SERVERS   2
#define CLIENTS   4
#define EXCHANGES 120
#define PER_FLOW  10
#define BYTES     (256 * 1024)

static atomic_int ended;

static int opened(void)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, PORT);
    int fd = toe_socket(AF_INET, SOCK_STREAM, 0);

    if (toe_connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
        return fd;
    toe_close(fd);
    return -1;
}

/* Two threads in accept() of the same listener; each echoes until its peer has ended. */
static void *server(void *arg)
{
    int l = (int)(intptr_t)arg, s;
    char buf[512];
    ssize_t n;

    while ((s = toe_accept(l, NULL, NULL)) >= 0) {
        while ((n = toe_recv(s, buf, sizeof(buf), 0)) > 0)
            if (toe_send(s, buf, (size_t)n, MSG_NOSIGNAL) != n)
                break;
        toe_close(s);
    }
    return NULL;
}

/* Each kind of client waits in its own way. */
static int wait_for(int kind, int ep, int fd)
{
    static const struct timespec t = {0, 200000};
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct epoll_event e;
    fd_set set;

    switch (kind) {
    case 0:
        return toe_poll(&p, 1, 1);
    case 1:
        return toe_epoll_pwait2(ep, &e, 1, &t, NULL);
    case 2:
        FD_ZERO(&set);
        FD_SET(fd, &set);
        return toe_pselect(fd + 1, &set, NULL, NULL, &t, NULL);
    default:
        return 1; /* recv() waits */
    }
}

static int exchange(int kind, int ep, int fd, unsigned n)
{
    size_t len = 1 + n * 7919 % 500, got = 0;
    int flags = kind < 3 ? MSG_DONTWAIT : 0;
    char out[512], in[512];

    memset(out, (int)n, len);
    if (toe_send(fd, out, len, 0) != (ssize_t)len)
        return -1;
    while (got < len) {
        ssize_t r;

        if (wait_for(kind, ep, fd) < 0)
            return -1;
        r = toe_recv(fd, in + got, len - got, flags);
        if (r == 0 || (r < 0 && errno != EAGAIN))
            return -1;
        got += r > 0 ? (size_t)r : 0;
    }
    return memcmp(in, out, len);
}

/* Returns the number of failed rounds. */
static void *client(void *arg)
{
    int kind = (int)(intptr_t)arg, ep = toe_epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN};
    struct linger hard = {1, 0};
    uintptr_t wrong = 0;

    for (unsigned round = 0; round < EXCHANGES; round += PER_FLOW) {
        int fd = opened();

        if (fd < 0)
            return (void *)(uintptr_t)EXCHANGES;
        toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
        for (unsigned i = 0; i < PER_FLOW; i++)
            wrong += exchange(kind, ep, fd, round + i) != 0;
        if (round % (2 * PER_FLOW))
            toe_setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        toe_close(fd);
    }
    toe_close(ep);
    return (void *)wrong;
}

/* Polls the descriptors that other threads use, and reads statistics as `toehold stats` does. */
static void *observer(void *arg)
{
    int fd = (int)(intptr_t)arg;

    while (!ended) {
        struct sockaddr_un where = {.sun_family = AF_UNIX};
        struct tcp_info info;
        struct sockaddr_in a;
        socklen_t len = sizeof(a);
        int s;

        toe_getsockname(fd, (struct sockaddr *)&a, &len);
        len = sizeof(info);
        toe_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
        if (harness_inline()) {
            s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
            snprintf(where.sun_path, sizeof(where.sun_path), "%s", harness_path());
            (void)connect(s, (struct sockaddr *)&where, sizeof(where));
            close(s);
        }
        usleep(300);
    }
    return NULL;
}

struct half {
    int fd;
    char letter;
    ssize_t sent;
};

/* One of two that write to the same connection. */
static void *writer(void *arg)
{
    struct half *h = arg;
    char buf[700];

    memset(buf, h->letter, sizeof(buf));
    while (h->sent < BYTES) {
        size_t n = BYTES - h->sent < (ssize_t)sizeof(buf) ? (size_t)(BYTES - h->sent) : sizeof(buf);
        ssize_t r = toe_send(h->fd, buf, n, 0);

        if (r < 0)
            return NULL;
        h->sent += r;
    }
    return NULL;
}

static void two_write_while_one_reads(void)
{
    struct half h[2] = {{.letter = 'a'}, {.letter = 'b'}};
    size_t seen[2] = {0, 0};
    pthread_t t[2];
    int fd[2];

    harness_pair(fd);
    for (int i = 0; i < 2; i++) {
        h[i].fd = fd[0];
        pthread_create(&t[i], NULL, writer, &h[i]);
    }
    while (seen[0] + seen[1] < 2 * BYTES) {
        char buf[1500];
        ssize_t n = toe_recv(fd[1], buf, sizeof(buf), 0);

        assert_true(n > 0);
        for (ssize_t i = 0; i < n; i++)
            seen[buf[i] == 'b']++;
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(h[i].sent, BYTES);
        assert_int_equal(seen[i], BYTES);
        toe_close(fd[i]);
    }
}

static void all_at_once(void **state)
{
    pthread_t s[SERVERS], c[CLIENTS], o;
    int l = harness_listener(PORT), watched;
    void *wrong;

    (void)state;
    ended = 0;
    for (int i = 0; i < SERVERS; i++)
        pthread_create(&s[i], NULL, server, (void *)(intptr_t)l);
    watched = toe_socket(AF_INET, SOCK_STREAM, 0);
    pthread_create(&o, NULL, observer, (void *)(intptr_t)watched);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&c[i], NULL, client, (void *)(intptr_t)i);
    two_write_while_one_reads();
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(c[i], &wrong);
        assert_int_equal((uintptr_t)wrong, 0);
    }
    ended = 1;
    pthread_join(o, NULL);
    toe_shutdown(l, SHUT_RD); /* ends the accept() of both */
    for (int i = 0; i < SERVERS; i++)
        pthread_join(s[i], NULL);
    toe_close(watched);
    toe_close(l);
}

/* Runs until the process exits. */
static void *restless(void *arg)
{
    int kind = (int)(intptr_t)arg, ep = toe_epoll_create1(0), fd;
    struct epoll_event e = {.events = EPOLLIN};

    for (unsigned n = 0; (fd = opened()) >= 0; n++) {
        toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
        for (unsigned i = 0; i < PER_FLOW; i++)
            (void)exchange(kind, ep, fd, n + i);
        if (kind == 3)
            (void)wait_for(1 + (int)(n & 1), ep, fd);
        toe_close(fd);
    }
    return NULL;
}

static void end_in_the_middle(void)
{
    pthread_t t[SERVERS + CLIENTS];
    int l = harness_listener(PORT);

    for (int i = 0; i < SERVERS; i++)
        pthread_create(&t[i], NULL, server, (void *)(intptr_t)l);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&t[SERVERS + i], NULL, restless, (void *)(intptr_t)i);
    for (int i = 0; i < SERVERS + CLIENTS; i++)
        pthread_detach(t[i]);
    usleep(50000);
    exit(0);
}

/* exit() while other threads wait and send: the teardown runs once and completes. */
static void exits_while_threads_are_busy(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        int status;
        pid_t pid = fork();

        if (pid == 0) {
            alarm(600);
            end_in_the_middle();
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(all_at_once),
        TOE_TEST(exits_while_threads_are_busy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
