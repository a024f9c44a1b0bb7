/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen_defer.c - deferred listeners (listen_defer.h), where flows stay on the queue pair on which
 * they arrived. They begin by themselves after a second, because libtoe does not see every call
 * that waits.
 */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "announce.h"
#include "ctx.h"
#include "handle.h"
#include "host.h"
#include "listen_defer.h"
#include "lock.h"
#include "tsock.h"

/* A peer whose SYN is dropped in this time retransmits it after a second or later (RFC 6298 2.1).
 */
#define PATIENCE_NS 1000000000u

bool tlisten_later;
static bool running;      /* a thread waits until they begin */
static uint64_t begin_at; /* clock of tclock_ns() */

static void begin_now(struct tsock *s)
{
    if (s->later && s->state == TS_LISTEN && s->weak)
        tlisten_announce(s, false);
    s->later = 0;
}

void tlisten_begin_now(void)
{
    tlisten_later = false;
    if (tctx.state == TC_UP)
        thandle_each(begin_now);
}

static void *wait_for_it(void *arg)
{
    (void)arg;
    tctx_lock();
    for (uint64_t now; tlisten_later && (now = tclock_ns()) < begin_at;) {
        struct timespec rest = {.tv_sec = (time_t)((begin_at - now) / NSEC),
                                .tv_nsec = (long)((begin_at - now) % NSEC)};

        tctx_unlock();
        nanosleep(&rest, NULL);
        tctx_lock();
    }
    if (tlisten_later)
        tlisten_begin_now();
    running = false;
    tctx_unlock();
    return NULL;
}

void tlisten_defer(void)
{
    tlisten_later = true;
    begin_at = tclock_ns() + PATIENCE_NS;
    if (!running)
        running = tctx_thread(wait_for_it);
    if (!running)
        tlisten_begin_now();
}

static void leave_to_children(struct tsock *s)
{
    s->later = 0;
}

void tlisten_leave_to_children(void)
{
    if (tlisten_later)
        thandle_each(leave_to_children);
    tlisten_later = false;
}

void tlisten_later_forget(void)
{
    running = false;
}

/* Returns false for regular files, and devices other than terminals: a program may read these
 * before it forks. */
static bool may_wait_for_others(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !(S_ISCHR(st.st_mode) && !isatty(fd));
}

void tlisten_goes_on(void)
{
    int saved = errno;

    if (tlock_inside()) /* a signal handler within a call of libtoe */
        return;
    tctx_lock();
    tlisten_begin_now();
    tctx_unlock();
    errno = saved;
}

void tlisten_reads(int fd)
{
    int saved = errno;

    if (may_wait_for_others(fd))
        tlisten_goes_on();
    errno = saved;
}
