/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of signals: they wait while their thread is inside libtoe (lock.c), and one that runs
 * before a sleep ends it, at any instruction (interrupt.c). */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <cmocka.h>

#include "host.h"
#include "interrupt.h"
#include "lock.h"

static volatile sig_atomic_t called, ran[NSIG], sum;
static bool restarts, mask_is_ignored;

/* As preload_signal.c's. */
static void handler(int sig, siginfo_t *info, void *context)
{
    sigset_t other;

    called++;
    if (tlock_defer(sig, info, mask_is_ignored ? &other : &((ucontext_t *)context)->uc_sigmask))
        return;
    tsig_ran(restarts, context);
    ran[sig]++;
    sum += info->si_value.sival_int;
}

static void handle(int sig)
{
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

    assert_int_equal(sigaction(sig, &a, NULL), 0);
}

static int before(void **state)
{
    (void)state;
    called = sum = 0;
    memset((void *)ran, 0, sizeof ran);
    restarts = mask_is_ignored = false;
    return 0;
}

static void queue(int sig, int value)
{
    assert_int_equal(sigqueue(getpid(), sig, (union sigval){.sival_int = value}), 0);
}

/* As under valgrind: the handler's mask is not applied. The signal must not be delivered again in
 * an endless loop. */
static void test_waits_where_the_mask_does_not_hold(void **state)
{
    (void)state;
    mask_is_ignored = true;
    handle(SIGUSR1);
    handle(SIGUSR2);
    tlock_enter();
    queue(SIGUSR1, 1);
    queue(SIGUSR2, 10);
    queue(SIGUSR1, 100); /* one waits already */
    assert_int_equal(called, 3);
    assert_int_equal(ran[SIGUSR1] + ran[SIGUSR2], 0);
    tlock_leave();
    assert_int_equal(ran[SIGUSR1], 1);
    assert_int_equal(ran[SIGUSR2], 1);
    assert_int_equal(sum, 11);
    tlock_enter();
    tlock_leave();
    assert_int_equal(called, 5);
}

/* More signals than there is room for; of counted ones, all are delivered. */
static void test_many_wait(void **state)
{
    sigset_t blocked;
    int signals[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGQUIT, SIGTERM, SIGINT};

    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        handle(signals[i]);
    handle(SIGRTMIN + 1);
    tlock_enter();
    for (int i = 0; i < 3; i++)
        queue(SIGRTMIN + 1, 1);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        queue(signals[i], 10);
    assert_int_equal(sum, 0);
    tlock_leave();
    assert_int_equal(ran[SIGRTMIN + 1], 3);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        assert_int_equal(ran[signals[i]], 1);
    assert_int_equal(sum, 63);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    assert_true(sigisemptyset(&blocked));
}

/* A forked child does not get signals sent to its parent. */
static void test_the_child_forgets(void **state)
{
    pid_t child;
    int status;

    (void)state;
    handle(SIGUSR1);
    tlock_enter();
    queue(SIGUSR1, 1);
    child = fork();
    if (child == 0) {
        tlock_leave();
        _exit(ran[SIGUSR1]);
    }
    tlock_leave();
    assert_int_equal(ran[SIGUSR1], 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int sleep_once(bool may_restart)
{
    return thost_ppoll(NULL, 0, NULL, NULL, tsig_note(may_restart));
}

/* Each would sleep for ever. */
static void test_a_handler_before_the_sleep_ends_it(void **state)
{
    (void)state;
    handle(SIGUSR1);
    tlock_enter();
    tsig_begin();
    queue(SIGUSR1, 1);
    tlock_leave();
    assert_int_equal(sleep_once(false), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(sleep_once(true), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(thost_epoll_until(-1, NULL, 1, TWAIT_FOREVER, NULL, tsig_note(false)), -1);
    assert_int_equal(errno, EINTR);
}

static void test_one_that_restarts_does_not_end_what_restarts(void **state)
{
    struct timespec soon = {0, 1000};

    (void)state;
    restarts = true;
    handle(SIGUSR1);
    tsig_begin();
    queue(SIGUSR1, 1);
    assert_int_equal(thost_ppoll(NULL, 0, &soon, NULL, tsig_note(true)), 0);
    assert_int_equal(sleep_once(false), -1);
    assert_int_equal(errno, EINTR);
    tsig_begin();
    soon = (struct timespec){0, 1000};
    assert_int_equal(thost_ppoll(NULL, 0, &soon, NULL, tsig_note(false)), 0);
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern const char tsleep_look[], tsleep_done[];

static uintptr_t stands_at(pid_t child)
{
    struct user_regs_struct r;

    assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &r), 0);
    return r.rip;
}

static void wait_stopped(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSTOPPED(status));
}

/* Its exit code: 0 when the sleep ended with EINTR after a signal that came `after` instructions
 * beyond tsleep_look; *at: where that was. */
static int interrupted(unsigned after, uintptr_t *at)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(200); /* it slept: killed */
        tsig_begin();
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        _exit(sleep_once(false) == -1 && errno == EINTR && ran[SIGUSR1] == 1 ? 0 : 1);
    }
    wait_stopped(child);
    while (stands_at(child) != (uintptr_t)tsleep_look) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        wait_stopped(child);
    }
    for (; after; after--) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        wait_stopped(child);
    }
    *at = stands_at(child);
    assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, (void *)(intptr_t)SIGUSR1), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* At each instruction between the look and the kernel. */
static void test_a_handler_between_look_and_sleep(void **state)
{
    uintptr_t at;

    (void)state;
    handle(SIGUSR1);
    for (unsigned after = 0; after < 3; after++) {
        assert_int_equal(interrupted(after, &at), 0);
        assert_in_range(at, (uintptr_t)tsleep_look, (uintptr_t)tsleep_done - 1);
    }
    assert_int_equal(at, (uintptr_t)tsleep_done - 2); /* the system call itself */
}
#else
static void test_a_handler_between_look_and_sleep(void **state)
{
    (void)state;
    skip(); /* counts instructions */
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_waits_where_the_mask_does_not_hold, before),
        cmocka_unit_test_setup(test_many_wait, before),
        cmocka_unit_test_setup(test_the_child_forgets, before),
        cmocka_unit_test_setup(test_a_handler_before_the_sleep_ends_it, before),
        cmocka_unit_test_setup(test_one_that_restarts_does_not_end_what_restarts, before),
        cmocka_unit_test_setup(test_a_handler_between_look_and_sleep, before),
    };

    alarm(600); /* one slept: killed */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
