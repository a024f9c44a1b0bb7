/* SPDX-License-Identifier: Apache-2.0 */
/* test_threads.c - libtoe used by several threads at once (toe.h, Threads). */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/uio.h>

#include "harness.h"

#define CLIENTS 4
#define WORKERS 2
#define ROUNDS  300
#define PORT    7300

#define PER_CONNECTION 50

static int ep, stop_pipe[2];
static atomic_int served; /* connections that the workers have closed */

/* Returns the number of failed rounds. */
static void *client(void *arg)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, PORT);
    uintptr_t wrong = 0;
    uint32_t n = (uint32_t)(uintptr_t)arg;

    for (int round = 0; round < ROUNDS; round += PER_CONNECTION) {
        int fd = toe_socket(AF_INET, SOCK_STREAM, 0);

        if (toe_connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
            return (void *)(uintptr_t)ROUNDS;
        for (int i = 0; i < PER_CONNECTION; i++) {
            char out[600], in[600];
            size_t len = 1 + (n = n * 1103515245 + 12345) % sizeof(out);

            memset(out, (int)n, len);
            if (toe_send(fd, out, len, 0) != (ssize_t)len ||
                toe_recv(fd, in, len, MSG_WAITALL) != (ssize_t)len || memcmp(in, out, len) != 0)
                wrong++;
        }
        toe_close(fd);
    }
    return (void *)wrong;
}

static void echo(int fd)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = fd};
    char buf[1000];
    ssize_t n;

    while ((n = toe_recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
        for (ssize_t k = 0; k < n;)
            k += toe_send(fd, buf + k, (size_t)(n - k), 0);
    if (n < 0 && errno == EAGAIN) {
        toe_epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e);
    } else {
        toe_close(fd);
        served++;
    }
}

/* One of several threads in the same epoll instance. */
static void *worker(void *arg)
{
    int l = (int)(intptr_t)arg;
    struct epoll_event e;

    for (;;) {
        int n = toe_epoll_wait(ep, &e, 1, -1);

        if (n <= 0)
            continue;
        if (e.data.fd == stop_pipe[0])
            return NULL;
        if (e.data.fd == l) {
            int s = toe_accept4(l, NULL, NULL, SOCK_NONBLOCK);

            e.events = EPOLLIN | EPOLLONESHOT;
            e.data.fd = s;
            if (s >= 0)
                toe_epoll_ctl(ep, EPOLL_CTL_ADD, s, &e);
        } else {
            echo(e.data.fd);
        }
    }
}

static void echo_by_all(void **state)
{
    struct epoll_event e = {.events = EPOLLIN};
    pthread_t c[CLIENTS], w[WORKERS];
    int l = harness_listener(PORT);
    void *wrong;

    (void)state;
    ep = toe_epoll_create1(0);
    harness_nonblock(l);
    assert_int_equal(pipe(stop_pipe), 0);
    e.data.fd = l;
    toe_epoll_ctl(ep, EPOLL_CTL_ADD, l, &e);
    e.data.fd = stop_pipe[0];
    toe_epoll_ctl(ep, EPOLL_CTL_ADD, stop_pipe[0], &e);
    for (intptr_t i = 0; i < WORKERS; i++)
        pthread_create(&w[i], NULL, worker, (void *)(intptr_t)l);
    for (intptr_t i = 0; i < CLIENTS; i++)
        pthread_create(&c[i], NULL, client, (void *)(i + 1));
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(c[i], &wrong);
        assert_int_equal((uintptr_t)wrong, 0);
    }
    while (served < CLIENTS * ROUNDS / PER_CONNECTION)
        sched_yield();
    assert_int_equal(write(stop_pipe[1], "s", 1), 1);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(w[i], NULL);
    close(stop_pipe[0]);
    close(stop_pipe[1]);
    toe_close(ep);
    toe_close(l);
}

struct sleeper {
    int fd, kind;
    ssize_t result;
    int error;
};

static void *sleep_on(void *arg)
{
    struct sleeper *s = arg;
    struct epoll_event e = {.events = EPOLLIN};
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    char c;

    if (s->kind == 0)
        s->result = toe_recv(s->fd, &c, 1, 0);
    else if (s->kind == 1)
        s->result = toe_poll(&p, 1, -1);
    else
        s->result = toe_epoll_wait(s->fd, &e, 1, -1);
    s->error = errno;
    return NULL;
}

static void sleepers_are_woken(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        struct epoll_event e = {.events = EPOLLIN};
        struct sleeper s[3];
        pthread_t t[3];
        int fd[3][2];

        for (int i = 0; i < 3; i++) {
            harness_pair(fd[i]);
            s[i] = (struct sleeper){.fd = fd[i][1], .kind = i};
        }
        s[2].fd = toe_epoll_create1(0);
        for (int i = 0; i < 3; i++)
            pthread_create(&t[i], NULL, sleep_on, &s[i]);
        if (round % 3)
            usleep(2000);
        /* into an instance in which a thread sleeps already */
        assert_int_equal(toe_epoll_ctl(s[2].fd, EPOLL_CTL_ADD, fd[2][1], &e), 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(toe_send(fd[i][0], "w", 1, 0), 1);
        if (round % 2) /* this thread handles the cause of the interrupt */
            for (int i = 0; i < 1000; i++)
                toe_recv(fd[0][0], &e, 1, MSG_DONTWAIT);
        for (int i = 0; i < 3; i++) {
            pthread_join(t[i], NULL);
            assert_int_equal(s[i].result, 1);
            toe_close(fd[i][0]);
            toe_close(fd[i][1]);
        }
        toe_close(s[2].fd);
    }
}

static void shutdown_wakes_a_reader(void **state)
{
    struct sleeper s = {0};
    pthread_t t;
    int fd[2];

    (void)state;
    harness_pair(fd);
    s.fd = fd[1];
    pthread_create(&t, NULL, sleep_on, &s);
    usleep(2000);
    assert_int_equal(toe_shutdown(fd[1], SHUT_RD), 0);
    pthread_join(t, NULL);
    assert_int_equal(s.result, 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void connect_by_another_thread_while_watched(void **state)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, PORT + 1);
    struct sleeper s = {.kind = 2};
    int l = harness_listener(PORT + 1), c = toe_socket(AF_INET, SOCK_STREAM, 0), k;
    struct epoll_event e = {.events = EPOLLIN};
    pthread_t t;

    (void)state;
    s.fd = toe_epoll_create1(0);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), 0);
    k = toe_accept(l, NULL, NULL);
    pthread_create(&t, NULL, sleep_on, &s);
    usleep(2000);
    assert_int_equal(toe_epoll_ctl(s.fd, EPOLL_CTL_ADD, c, &e), 0);
    assert_int_equal(toe_send(k, "x", 1, 0), 1);
    pthread_join(t, NULL);
    assert_int_equal(s.result, 1);
    toe_close(s.fd);
    toe_close(c);
    toe_close(k);
    toe_close(l);
}

/* In a separate process, so that nothing here processes the rings: returns 0 if accepted. */
static int connect_elsewhere(uint16_t port)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, port);
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        char c;

        for (int i = 0; i < HARNESS_PATIENCE_MS / 10; i++) {
            int k = toe_socket(AF_INET, SOCK_STREAM, 0);

            if (toe_connect(k, (struct sockaddr *)&a, sizeof(a)) == 0)
                _exit(toe_recv(k, &c, 1, 0) != 0);
            toe_close(k);
            usleep(10000);
        }
        _exit(2);
    }
    waitpid(pid, &status, 0);
    return status;
}

/* Serves one connection to a listener that is all it watches, and is slow to get a CPU. */
static void *accept_one(void *arg)
{
    struct sched_param none = {0};
    struct epoll_event e = {.events = EPOLLIN};
    int l = *(int *)arg, instance = toe_epoll_create1(0);

    sched_setscheduler(0, SCHED_IDLE, &none);
    toe_epoll_ctl(instance, EPOLL_CTL_ADD, l, &e);
    toe_epoll_wait(instance, &e, 1, -1);
    toe_close(toe_accept(l, NULL, NULL));
    toe_close(instance);
    return NULL;
}

/* Another thread is first to detect that the TOE is lost, attaches again, and does nothing else. */
static void a_sleeping_server_hears_of_the_next_toe(void **state)
{
    cpu_set_t before, one;
    pthread_t t;
    int l, c;
    char b;

    (void)state;
    if (harness_inline())
        skip(); /* looptoe does it */
    sched_getaffinity(0, sizeof(before), &before);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    l = harness_listener(PORT + 2);
    sched_setaffinity(0, sizeof(one), &one); /* the server's thread has to wait for this one */
    pthread_create(&t, NULL, accept_one, &l);
    usleep(20000);
    c = harness_connect_async(LOOPTOE_UNKNOWN);
    while (toe_recv(c, &b, 1, MSG_DONTWAIT) < 0 && errno != ECONNRESET)
        ;
    toe_close(c);
    sched_setaffinity(0, sizeof(before), &before);
    alarm(200);
    assert_int_equal(connect_elsewhere(PORT + 2), 0);
    pthread_join(t, NULL);
    alarm(0);
    toe_close(l);
}

#define BYTES 1000

static atomic_int put, tried, taken; /* of one byte after the other */
static int byte_pipe[2];

/* Tries for each byte at the same time as the other; one of them puts it there. */
static void splice_each(int fd, bool puts)
{
    for (int n = 1; n <= BYTES; n++) {
        ssize_t r;

        while (atomic_load(puts ? &tried : &put) < (puts ? 2 * (n - 1) : n))
            sched_yield(); /* without effect while each thread has its own processor */
        if (puts) {
            (void)!write(byte_pipe[1], "x", 1);
            atomic_store(&put, n);
        }
        r = toe_splice(byte_pipe[0], NULL, fd, NULL, 1, SPLICE_F_NONBLOCK);
        if (r == 1)
            atomic_fetch_add(&taken, 1);
        else if (r != -1 || errno != EAGAIN)
            abort();
        atomic_fetch_add(&tried, 1);
    }
}

static void *splice_too(void *arg)
{
    splice_each(*(int *)arg, false);
    return NULL;
}

/* A thread that loses the race must not sleep in the pipe. */
static void two_splice_from_a_pipe(void **state)
{
    struct iovec v = {&(char){0}, 1};
    int one[2], two[2];
    pthread_t t;

    (void)state;
    assert_int_equal(pipe(byte_pipe), 0);
    if (preadv2(byte_pipe[0], &v, 1, -1, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP)
        skip(); /* Linux before 6.4 */
    harness_pair(one);
    harness_pair(two);
    alarm(200); /* it would sleep for ever */
    pthread_create(&t, NULL, splice_too, &two[0]);
    splice_each(one[0], true);
    pthread_join(t, NULL);
    alarm(0);
    assert_int_equal(atomic_load(&taken), BYTES);
    for (int i = 0; i < 2; i++) {
        toe_close(one[i]);
        toe_close(two[i]);
        close(byte_pipe[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(echo_by_all),
        TOE_TEST(sleepers_are_woken),
        TOE_TEST(shutdown_wakes_a_reader),
        TOE_TEST(connect_by_another_thread_while_watched),
        TOE_TEST(a_sleeping_server_hears_of_the_next_toe),
        TOE_TEST(two_splice_from_a_pipe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
