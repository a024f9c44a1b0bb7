/* SPDX-License-Identifier: Apache-2.0 */
/* internal.c - libtoe's own descriptors: high numbers, protected (internal.h). */
#include <sys/resource.h>

#include "fdtab.h"
#include "internal.h"

#define WORD_BITS 64u
#define RESERVE   128u  /* numbers kept free below the limit or the ceiling */
#define CEILING   4096u /* higher numbers enlarge the kernel's table, which fork copies */

static _Atomic uint64_t internal_map[TFD_MAX / WORD_BITS];
static _Atomic pid_t owner;

static unsigned high_numbers(void)
{
    struct rlimit limit;
    unsigned top = CEILING;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < CEILING)
        top = (unsigned)limit.rlim_cur;
    return top >= 2 * RESERVE ? top - RESERVE : top / 2;
}

static void protect(int fd)
{
    if ((unsigned)fd < TFD_MAX)
        atomic_fetch_or(&internal_map[(unsigned)fd / WORD_BITS],
                        1ull << ((unsigned)fd % WORD_BITS));
}

int tfd_internal_again(int fd)
{
    sys_fcntl(fd, F_SETFD, FD_CLOEXEC);
    protect(fd);
    return fd;
}

int tfd_internal(int fd)
{
    int high;

    if (fd < 0)
        return fd;
    high = sys_fcntl(fd, F_DUPFD_CLOEXEC, (long)high_numbers());
    if (high >= 0) {
        sys_close(fd);
        fd = high;
    }
    protect(fd);
    return fd;
}

void tfd_internal_close(int fd)
{
    if (fd < 0)
        return;
    if ((unsigned)fd < TFD_MAX)
        atomic_fetch_and(&internal_map[(unsigned)fd / WORD_BITS],
                         ~(1ull << ((unsigned)fd % WORD_BITS)));
    sys_close(fd);
}

bool tfd_is_internal(int fd)
{
    return (unsigned)fd < TFD_MAX &&
           (atomic_load_explicit(&internal_map[(unsigned)fd / WORD_BITS], memory_order_relaxed) >>
                ((unsigned)fd % WORD_BITS) &
            1);
}

int tfd_next_internal(unsigned from, unsigned to)
{
    unsigned fd;

    for (fd = from; fd < TFD_MAX && fd <= to; fd++) {
        if (fd % WORD_BITS == 0 && atomic_load(&internal_map[fd / WORD_BITS]) == 0)
            fd += WORD_BITS - 1;
        else if (tfd_is_internal((int)fd))
            return (int)fd;
    }
    return -1;
}

void tproc_own(void)
{
    atomic_store(&owner, getpid());
}

bool tproc_borrowed(void)
{
    pid_t noted = atomic_load(&owner);

    return noted != 0 && noted != getpid();
}
