/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sockwait.c - calls of libtoe that sleep: timeouts, signals, room, whole buffers; by Linux's
 * rules, over looptoe.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <sys/time.h>

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>

#include "harness.h"

static sigjmp_buf out_of_sleep;

static void leave_sleep(int number)
{
    (void)number;
    siglongjmp(out_of_sleep, 1);
}

static void clobber_stack(void)
{
    volatile uint8_t bytes[16384];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = 0xff;
}

static pthread_t main_thread, other_thread;

/* A signal before the sleep could end a call that has the lock. */
static void *signal_the_sleeper(void *tid)
{
    harness_await_sleep(*(pid_t *)tid);
    pthread_kill(main_thread, SIGALRM);
    return NULL;
}

/* iperf3 leaves its select() by siglongjmp() from the SIGINT handler and continues. */
static void a_sleep_may_be_left_by_siglongjmp(void **state)
{
    struct sigaction act = {.sa_handler = leave_sleep}, before;
    pid_t tid = gettid();
    int fd[2];
    char b;

    (void)state;
    harness_pair(fd);
    sigaction(SIGALRM, &act, &before);
    if (!sigsetjmp(out_of_sleep, 1)) {
        struct pollfd p = {.fd = fd[1], .events = POLLIN};

        main_thread = pthread_self();
        assert_int_equal(pthread_create(&other_thread, NULL, signal_the_sleeper, &tid), 0);
        toe_poll(&p, 1, -1);
        fail();
    }
    clobber_stack();
    pthread_join(other_thread, NULL);
    assert_int_equal(toe_send(fd[0], "x", 1, 0), 1);
    harness_wait(fd[1], POLLIN);
    assert_int_equal(toe_recv(fd[1], &b, 1, 0), 1);
    sigaction(SIGALRM, &before, NULL);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void wait_for_all(void **state)
{
    static char in[3 * RX_SIZE], out[3 * RX_SIZE];
    int fd[2];

    (void)state;
    harness_pair(fd);
    harness_nonblock(fd[0]);
    for (size_t sent = 0, got = 0; got < sizeof(in);) {
        ssize_t r = toe_send(fd[0], out + sent, sizeof(out) - sent, 0);

        sent += r > 0 ? (size_t)r : 0;
        if (sizeof(in) - got <= 2 * TX_SIZE && sent == sizeof(out)) {
            assert_int_equal(toe_recv(fd[1], in + got, sizeof(in) - got, MSG_WAITALL),
                             sizeof(in) - got);
            break;
        }
        r = toe_recv(fd[1], in + got, 1024, MSG_DONTWAIT);
        got += r > 0 ? (size_t)r : 0;
    }
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void timeouts(void **state)
{
    static char big[TX_SIZE + 2 * RX_SIZE];
    struct timeval tv = {.tv_usec = 20000};
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_setsockopt(fd[1], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), 0);
    assert_int_equal(toe_recv(fd[1], big, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(toe_setsockopt(fd[0], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)), 0);
    harness_fill_peer(fd[0]); /* it does not read: as much as fits, then the limit */
    assert_int_equal(toe_send(fd[0], big, sizeof(big), 0), TX_SIZE);
    assert_int_equal(toe_send(fd[0], big, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_false(toe_poll(&(struct pollfd){.fd = fd[0], .events = POLLOUT}, 1, 0));
    harness_await_bytes(fd[1], RX_SIZE);
    assert_int_equal(toe_recv(fd[1], big, RX_SIZE, 0), RX_SIZE);
    assert_true(harness_wait(fd[0], POLLOUT) & POLLOUT);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void on_alarm(int sig)
{
    (void)sig;
}

static void signals_interrupt(void **state)
{
    struct sigaction sa = {.sa_handler = on_alarm};
    struct timespec tick = {0, 20000000};
    struct itimerspec it = {.it_value = tick, .it_interval = tick};
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    char c;
    int fd[2], ep;
    struct epoll_event e;

    (void)state;
    harness_pair(fd);
    sigaction(SIGALRM, &sa, NULL);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &ev, &timer), 0);
    timer_settime(timer, 0, &it, NULL);
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), -1);
    assert_int_equal(errno, EINTR);
    ep = toe_epoll_create1(0);
    assert_int_equal(toe_epoll_wait(ep, &e, 1, -1), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(toe_poll(&(struct pollfd){.fd = fd[1], .events = POLLIN}, 1, -1), -1);
    assert_int_equal(errno, EINTR);
    timer_delete(timer);
    toe_close(ep);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static int alarms;

static void send_later(int sig)
{
    (void)sig;
    alarms++;
}

static void handlers_that_restart_do_not_interrupt(void **state)
{
    struct sigaction sa = {.sa_handler = send_later, .sa_flags = SA_RESTART}, old;
    int fd[2], status;
    char c;
    pid_t pid;

    (void)state;
    harness_pair(fd);
    sigaction(SIGALRM, NULL, &old);
    sigaction(SIGALRM, &sa, NULL);
    looptoe_freeze(harness_toe(), 1);
    assert_int_equal(toe_send(fd[0], "r", 1, 0), 1);
    pid = fork();
    if (pid == 0) {
        usleep(5000);
        kill(getppid(), SIGALRM);
        usleep(5000);
        kill(harness_toe(), SIGCONT);
        _exit(0);
    }
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), 1);
    assert_int_equal(alarms, 1);
    waitpid(pid, &status, 0);
    sigaction(SIGALRM, &old, NULL);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* A program that stops writing by itself, before the buffer refuses it, waits for room too. */
static void room_is_told_without_a_refused_send(void **state)
{
    struct epoll_event e = {.events = EPOLLOUT};
    const size_t rest = TX_SIZE - 500;
    static const char block[TX_SIZE];
    char data[512] = {0};
    int fd[2], ep = toe_epoll_create1(0);
    size_t sent = RX_SIZE + rest;

    (void)state;
    harness_pair(fd);
    harness_nonblock(fd[0]);
    harness_nonblock(fd[1]);
    harness_fill_peer(fd[0]);
    assert_int_equal(toe_send(fd[0], block, rest, 0), rest);
    assert_int_equal(toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e), 0);
    assert_int_equal(toe_epoll_wait(ep, &e, 1, 0), 0);
    while (sent) {
        harness_wait(fd[1], POLLIN);
        sent -= (size_t)toe_recv(fd[1], data, sizeof(data), 0);
    }
    assert_int_equal(toe_epoll_wait(ep, &e, 1, HARNESS_PATIENCE_MS), 1);
    assert_int_equal(e.events, EPOLLOUT);
    toe_close(ep);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void ring_full_waits_for_the_toe(void **state)
{
    char in[64];
    int fd[2], status;
    pid_t pid;

    (void)state;
    harness_pair(fd);
    /* far more commands than the ring holds, while the TOE reads none; a child resumes it */
    looptoe_freeze(harness_toe(), 1);
    pid = fork();
    if (pid == 0) {
        usleep(50000);
        kill(harness_toe(), SIGCONT);
        _exit(0);
    }
    for (int i = 0; i < 3000; i++)
        assert_int_equal(toe_send(fd[0], "x", 1, 0), 1);
    for (int got = 0; got < 3000;) {
        ssize_t r = toe_recv(fd[1], in, sizeof(in), 0);

        assert_true(r > 0);
        got += (int)r;
    }
    waitpid(pid, &status, 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* Number of rings of this process's doorbells since they were last read. */
static uint64_t bells(void)
{
    DIR *folder = opendir("/proc/self/fdinfo");
    struct dirent *entry;
    char path[512], line[128];
    uint64_t all = 0, n;

    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        FILE *f;

        snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
        f = fopen(path, "re");
        while (f && fgets(line, sizeof(line), f))
            if (sscanf(line, "eventfd-count: %" SCNx64, &n) == 1)
                all += n;
        if (f)
            fclose(f);
    }
    closedir(folder);
    return all;
}

/* A system call for each send() would be expensive: until the TOE has read the first doorbell,
 * later sends do not ring. */
static void many_sends_ring_a_sleeper_once(void **state)
{
    uint64_t before, first = 0;
    char in[100];
    int fd[2];

    (void)state;
    if (harness_inline())
        skip(); /* no doorbell is rung */
    harness_pair(fd);
    for (unsigned tries = 0; !first && tries < 1000; tries++) { /* until it was stopped asleep */
        usleep(1000);
        looptoe_freeze(harness_toe(), 1);
        before = bells();
        assert_int_equal(toe_send(fd[0], "x", 1, 0), 1);
        first = bells() - before;
        if (!first) {
            looptoe_freeze(harness_toe(), 0);
            assert_int_equal(toe_recv(fd[1], in, 1, 0), 1);
        }
    }
    assert_int_equal(first, 1);
    for (unsigned i = 1; i < sizeof(in); i++)
        assert_int_equal(toe_send(fd[0], "x", 1, 0), 1);
    assert_int_equal(bells() - before, 1);
    looptoe_freeze(harness_toe(), 0);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_WAITALL), sizeof(in));
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void a_peek_may_wait_for_all_of_the_buffer(void **state)
{
    static char out[RX_SIZE], in[RX_SIZE];
    const size_t few = RX_SIZE / 4 - 1; /* read, and not worth a RECV yet */
    struct timeval limit = {.tv_sec = HARNESS_PATIENCE_MS / 1000};
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[0], out, few, 0), few);
    assert_int_equal(toe_recv(fd[1], in, few, MSG_WAITALL), few);
    for (size_t i = 0; i < sizeof(out); i++)
        out[i] = (char)(i * 7);
    assert_int_equal(toe_setsockopt(fd[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), 0);
    assert_int_equal(toe_setsockopt(fd[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
    assert_int_equal(toe_send(fd[0], out, sizeof(out), 0), sizeof(out));
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_PEEK | MSG_WAITALL), sizeof(in));
    assert_memory_equal(in, out, sizeof(in));
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), 0), sizeof(in));
    toe_close(fd[0]);
    toe_close(fd[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(a_sleep_may_be_left_by_siglongjmp),
        TOE_TEST(a_peek_may_wait_for_all_of_the_buffer),
        TOE_TEST(wait_for_all),
        TOE_TEST(timeouts),
        TOE_TEST(signals_interrupt),
        TOE_TEST(handlers_that_restart_do_not_interrupt),
        TOE_TEST(room_is_told_without_a_refused_send),
        TOE_TEST(ring_full_waits_for_the_toe),
        TOE_TEST(many_sends_ring_a_sleeper_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
