/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - select and pselect over TOE sockets and kernel descriptors together (SEEDS S1.14). */
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "pollset.h"
#include "select.h"
#include "tsock.h"
#include "user_memory.h"

#define FEW       64
#define WORD_BITS (8 * (int)sizeof(unsigned long))
#define MAX_FDS   (1 << 20) /* a set larger than any descriptor table holds no open descriptor */

/* Sets may be larger than fd_set, if the caller allocated them so: they are read as words. */
static bool in_set(const fd_set *set, int fd)
{
    const unsigned long *words = (const unsigned long *)set;

    return set && (words[fd / WORD_BITS] >> (fd % WORD_BITS) & 1);
}

static void put_in(fd_set *set, int fd)
{
    ((unsigned long *)set)[fd / WORD_BITS] |= 1ul << (fd % WORD_BITS);
}

static unsigned long word_of(const fd_set *set, int word)
{
    return set ? ((const unsigned long *)set)[word] : 0;
}

/* Returns the bits of one word that are below n. */
static unsigned long members(int n, const fd_set *r, const fd_set *w, const fd_set *e, int word)
{
    unsigned long bits = word_of(r, word) | word_of(w, word) | word_of(e, word);
    int left = n - word * WORD_BITS;

    return left < WORD_BITS ? bits & ((1ul << left) - 1) : bits;
}

static bool bad_set(const fd_set *set, int n)
{
    size_t words = n > 0 ? ((size_t)n + WORD_BITS - 1) / WORD_BITS : 0;

    return set && tuser_unreadable(set, words * sizeof(long));
}

bool tselect_any(int n, const fd_set *r, const fd_set *w, const fd_set *e)
{
    int word;

    if (bad_set(r, n) || bad_set(w, n) || bad_set(e, n))
        return false; /* the kernel returns EFAULT */
    for (word = 0; word * WORD_BITS < n && n <= MAX_FDS; word++) {
        unsigned long bits = members(n, r, w, e, word);

        for (; bits; bits &= bits - 1)
            if (tfd_waits_here(word * WORD_BITS + __builtin_ctzl(bits)))
                return true;
    }
    return false;
}

static nfds_t count_members(int n, const fd_set *r, const fd_set *w, const fd_set *e)
{
    nfds_t count = 0;
    int word;

    for (word = 0; word * WORD_BITS < n; word++)
        count += (nfds_t)__builtin_popcountl(members(n, r, w, e, word));
    return count;
}

static void to_pollfds(int n, const fd_set *r, const fd_set *w, const fd_set *e, struct pollfd *out)
{
    int word;

    for (word = 0; word * WORD_BITS < n; word++) {
        unsigned long bits = members(n, r, w, e, word);

        for (; bits; bits &= bits - 1, out++) {
            int fd = word * WORD_BITS + __builtin_ctzl(bits);

            out->fd = fd;
            out->events = (short)((in_set(r, fd) ? POLLIN : 0) | (in_set(w, fd) ? POLLOUT : 0) |
                                  (in_set(e, fd) ? POLLPRI : 0));
            out->revents = 0;
        }
    }
}

static void clear(fd_set *set, int n)
{
    if (set)
        memset(set, 0, (size_t)((n + WORD_BITS - 1) / WORD_BITS) * sizeof(unsigned long));
}

/* Writes the sets back. Returns the number of bits, or -1 with EBADF and the sets unchanged. */
static int from_pollfds(const struct pollfd *fds, nfds_t count, int n, fd_set *r, fd_set *w,
                        fd_set *e)
{
    nfds_t i;
    int bits = 0;

    for (i = 0; i < count; i++)
        if (fds[i].revents & POLLNVAL)
            return terr(EBADF);
    clear(r, n);
    clear(w, n);
    clear(e, n);
    for (i = 0; i < count; i++) {
        short asked = fds[i].events, got = fds[i].revents;

        if ((asked & POLLIN) && (got & (POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR))) {
            put_in(r, fds[i].fd);
            bits++;
        }
        if ((asked & POLLOUT) && (got & (POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR))) {
            put_in(w, fds[i].fd);
            bits++;
        }
        if ((asked & POLLPRI) && (got & POLLPRI)) {
            put_in(e, fds[i].fd);
            bits++;
        }
    }
    return bits;
}

static int select_until(int n, fd_set *r, fd_set *w, fd_set *e, uint64_t deadline,
                        const sigset_t *mask)
{
    struct pollfd few[FEW], *fds = few;
    nfds_t count = count_members(n, r, w, e);
    int result;

    if (count > FEW) {
        fds = malloc(count * sizeof *fds);
        if (!fds)
            return terr(ENOMEM);
    }
    to_pollfds(n, r, w, e, fds);
    result = tpoll_wait(fds, count, true, deadline, mask);
    if (result >= 0)
        result = from_pollfds(fds, count, n, r, w, e);
    if (fds != few)
        free(fds);
    return result;
}

static int kernel_pselect(int n, fd_set *r, fd_set *w, fd_set *e, struct timespec *timeout,
                          const sigset_t *mask)
{
    /* pselect6(2) takes the mask and its size through one pointer. */
    struct {
        const sigset_t *mask;
        size_t size;
    } set = {mask, 8};

    return (int)sys_call(SYS_pselect6, n, r, w, e, timeout, &set);
}

int toe_pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *timeout,
                const sigset_t *mask)
{
    uint64_t deadline = TWAIT_FOREVER;
    struct timespec copy;

    if (timeout) {
        if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= (long)NSEC)
            return terr(EINVAL);
        copy = *timeout;
        deadline = copy.tv_sec || copy.tv_nsec
                       ? tpoll_deadline((uint64_t)copy.tv_sec, (uint64_t)copy.tv_nsec)
                       : 0;
    }
    if (n < 0)
        return terr(EINVAL);
    if (!tselect_any(n, r, w, e))
        return kernel_pselect(n, r, w, e, timeout ? &copy : NULL, mask);
    return select_until(n, r, w, e, deadline, mask);
}

/* Writes the remaining time to *timeout, as Linux does, also after an error. */
static void time_left(struct timeval *timeout, uint64_t deadline)
{
    uint64_t now = tclock_ns(), left = deadline > now ? (deadline - now) / 1000 : 0;

    if (deadline == TWAIT_FOREVER)
        return;
    timeout->tv_sec = (time_t)(left / 1000000);
    timeout->tv_usec = (suseconds_t)(left % 1000000);
}

int toe_select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout)
{
    uint64_t deadline = TWAIT_FOREVER;
    int result;

    if (n < 0 || (timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0)))
        return terr(EINVAL);
    if (timeout) {
        /* A count of microseconds over a second is carried over, as Linux does. */
        uint64_t usec = (uint64_t)timeout->tv_usec;

        deadline =
            timeout->tv_sec || usec
                ? tpoll_deadline((uint64_t)timeout->tv_sec + usec / 1000000, usec % 1000000 * 1000)
                : 0;
    }
    if (!tselect_any(n, r, w, e)) {
        struct timespec ts;

        if (timeout) {
            ts.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000;
            ts.tv_nsec = timeout->tv_usec % 1000000 * 1000;
        }
        result = kernel_pselect(n, r, w, e, timeout ? &ts : NULL, NULL);
        if (timeout) {
            timeout->tv_sec = ts.tv_sec;
            timeout->tv_usec = ts.tv_nsec / 1000;
        }
        return result;
    }
    result = select_until(n, r, w, e, deadline, NULL);
    if (timeout)
        time_left(timeout, deadline);
    return result;
}
