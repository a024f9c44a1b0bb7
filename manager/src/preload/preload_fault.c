/* SPDX-License-Identifier: Apache-2.0 */
/* preload_fault.c - see preload_fault.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"
#include "preload_fault.h"

static sets_action libc_sigaction;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction its[2]; /* the program's actions: SIGSEGV, SIGBUS */

static struct sigaction *program_action(int sig)
{
    return &its[sig == SIGBUS];
}

static bool is_handled(const struct sigaction *a)
{
    return a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN;
}

/* The default action, as if there were no handler: an instruction that faults does so again when
 * the handler returns; a signal that was sent is sent again, and waits until then. */
static void by_default(int sig, siginfo_t *info)
{
    struct sigaction dfl = {.sa_handler = SIG_DFL};

    (void)libc_sigaction(sig, &dfl, NULL);
    if (info->si_code <= 0)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), sig, info);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    struct sigaction *a = program_action(sig), its_action;

    if (info->si_code > 0 && tuser_recover(info->si_addr, context))
        return;
    its_action = *a;
    if (!is_handled(&its_action)) {
        if (info->si_code > 0 || its_action.sa_handler == SIG_DFL)
            by_default(sig, info);
        return;
    }
    if (its_action.sa_flags & SA_RESETHAND)
        a->sa_handler = SIG_DFL;
    its_action.sa_sigaction(sig, info, context);
}

bool preload_is_fault_handler(void (*h)(int))
{
    void (*ours)(int, siginfo_t *, void *) = on_fault;

    return memcmp(&h, &ours, sizeof h) == 0;
}

/* Our action in place of the program's: with its flags and mask. The default action needs no
 * stack of the program, which may have overflowed. */
static struct sigaction in_place_of(const struct sigaction *a)
{
    struct sigaction ours = {.sa_flags = SA_ONSTACK};

    if (is_handled(a))
        ours = *a;
    ours.sa_sigaction = on_fault;
    ours.sa_flags = (int)(((unsigned)ours.sa_flags | SA_SIGINFO) & ~(unsigned)SA_RESETHAND);
    return ours;
}

int preload_fault_action(sets_action next, int sig, const struct sigaction *new,
                         struct sigaction *old)
{
    struct sigaction before = *program_action(sig), ours;
    int r = 0;

    if (!libc_sigaction)
        return next(sig, new, old);
    if (new) {
        ours = in_place_of(new);
        pthread_mutex_lock(&lock);
        before = *program_action(sig);
        *program_action(sig) = *new;
        r = next(sig, &ours, NULL);
        if (r < 0)
            *program_action(sig) = before;
        pthread_mutex_unlock(&lock);
    }
    if (r == 0 && old)
        *old = before;
    return r;
}

void preload_fault_again(int sig)
{
    sets_action next = libc_sigaction;
    struct sigaction now;

    if (next && next(sig, NULL, &now) == 0 && !preload_is_fault_handler(now.sa_handler))
        (void)preload_fault_action(next, sig, &now, NULL);
}

void preload_fault_start(void)
{
    void *found = dlsym(RTLD_NEXT, "sigaction");

    if (!found)
        return;
    memcpy(&libc_sigaction, &found, sizeof found);
    preload_fault_again(SIGSEGV);
    preload_fault_again(SIGBUS);
}
