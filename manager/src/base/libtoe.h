/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtoe.h - what every file of libtoe includes (SEEDS S1.14). Not for applications: they use
 * toe.h.
 *
 * How the structures refer to each other (clang-format would join these lines):
 */
// clang-format off
/*
 *   descriptor --table (fdtab.h)--> struct tobj: a TOE socket (struct tsock, tsock.h)
 *                                                or an epoll instance (struct tepoll, epoll.h)
 *   struct tsock --qp, slot--> struct tqp: a queue pair, one per engine of toed (qp.h)
 *   HW command --slots[], handles--> struct tsock --items--> ready list of an epoll instance
 *                                                 --waiters--> sleeping threads (wait.h)
 */
// clang-format on
/*
 * One lock, tctx_lock() of lock.h, guards everything but the table lookup. A call looks the number
 * up without the lock. When it finds nothing, the call is passed to the kernel. Otherwise it takes
 * the lock and looks again: objects are never returned to malloc, so a stale pointer still points
 * to a tobj.
 */
#ifndef LIBTOE_LIBTOE_H
#define LIBTOE_LIBTOE_H

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <toe/attach.h>
#include <toe/toe.h>

#include "sys.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define TOE_HIDDEN  __attribute__((visibility("hidden")))

/* Thread-local data that signal handlers use. It is static: handlers must not allocate, as the
 * first use of dynamic thread-local storage may. */
#ifdef TOE_TLS_DYNAMIC
#define OF_THREAD static __thread
#else
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
#endif

#define TOE_MAX_ENGINES 16
#define NSEC            1000000000ull
#define TWAIT_FOREVER   UINT64_MAX /* a deadline that never passes */

/* Sets errno and returns -1, for use in an exported call. */
static inline int terr(int e)
{
    errno = e;
    return -1;
}

/* Pauses a polling thread for a moment. */
static inline void tpause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
