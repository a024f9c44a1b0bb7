/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover_watch.c - a child of fork executes a program on a connection that its parent keeps, and
 * the parent waits for it (a shell's `cat <&3`).
 *
 * Each such fork has a pipe: the child says its number into it, and its exec closes it. Who waits
 * for a child (wait() and its kin) does nothing else meanwhile: then a thread looks at the pipes,
 * and serves the child that has executed as one of vfork is served, when the connection is its
 * standard input, output or error. A parent that never waits has no thread for that.
 */
#include <pthread.h>
#include <sys/eventfd.h>

#include "ctx.h"
#include "handover.h"
#include "internal.h"

#define WATCHED_MAX 64 /* forks whose child has not executed; of more the first are forgotten */

static int watched[WATCHED_MAX]; /* read ends */
static unsigned watched_n;
static int fork_ends[2] = {-1, -1}; /* of a fork under way */
static int kick_fd = -1;            /* there are new ones */
static bool running;

void thandover_watch_before(void)
{
    int ends[2];

    if (!thandover_made() || syscall(SYS_pipe2, ends, O_CLOEXEC) < 0)
        return;
    fork_ends[0] = tfd_internal(ends[0]);
    fork_ends[1] = tfd_internal(ends[1]);
}

static void forget(unsigned i)
{
    tfd_internal_close(watched[i]);
    for (watched_n--; i < watched_n; i++)
        watched[i] = watched[i + 1];
}

void thandover_watch_in_parent(void)
{
    if (fork_ends[0] < 0)
        return;
    tfd_internal_close(fork_ends[1]);
    if (watched_n == WATCHED_MAX)
        forget(0);
    watched[watched_n++] = fork_ends[0];
    fork_ends[0] = fork_ends[1] = -1;
}

void thandover_watch_in_child(void)
{
    pid_t pid = getpid();

    while (watched_n)
        forget(watched_n - 1);
    running = false;
    tfd_internal_close(kick_fd);
    kick_fd = -1;
    if (fork_ends[0] < 0)
        return;
    (void)!sys_write(fork_ends[1], &pid, sizeof(pid));
    tfd_internal_close(fork_ends[0]);
    fork_ends[0] = fork_ends[1] = -1; /* the other is for exec to close */
}

/* A child that has executed or ended, 0 none. */
static pid_t next_executed(void)
{
    for (unsigned i = 0; i < watched_n; i++) {
        struct pollfd p = {.fd = watched[i], .events = 0}; /* POLLHUP: all its writers are gone */
        struct timespec now = {0, 0};
        pid_t pid;

        if (sys_ppoll(&p, 1, &now, NULL) <= 0)
            continue;
        if (sys_read(watched[i], &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
            pid = 0;
        forget(i);
        if (pid)
            return pid;
        i--;
    }
    return 0;
}

static void *watch(void *arg)
{
    struct pollfd p[WATCHED_MAX + 1];
    uint64_t n;
    pid_t pid;

    tctx_lock();
    while (watched_n) {
        nfds_t count = 0;

        for (unsigned i = 0; i < watched_n; i++)
            p[count++] = (struct pollfd){.fd = watched[i]};
        p[count++] = (struct pollfd){.fd = kick_fd, .events = POLLIN};
        tctx_unlock();
        sys_ppoll(p, count, NULL, NULL);
        tctx_lock();
        (void)!sys_read(kick_fd, &n, sizeof(n));
        while ((pid = next_executed())) {
            tctx_unlock();
            thandover_executed(pid);
            tctx_lock();
        }
    }
    running = false;
    tctx_unlock();
    return arg;
}

/* With the lock held by a process that is about to have a second thread. */
static bool start(void)
{
    sigset_t all, before;
    pthread_t thread;
    int e;

    if (kick_fd < 0)
        kick_fd = tfd_internal(sys_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (kick_fd < 0)
        return false;
    tctx_lock_before_thread();
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    e = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (e == 0)
        pthread_detach(thread);
    return e == 0;
}

void thandover_waits(void)
{
    int saved = errno;

    if (!__atomic_load_n(&watched_n, __ATOMIC_RELAXED))
        return;
    tctx_lock();
    if (watched_n && running)
        (void)!sys_write(kick_fd, &(uint64_t){1}, sizeof(uint64_t));
    else if (watched_n)
        running = start();
    tctx_unlock();
    errno = saved;
}
