/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failalloc.c - preloaded: fails one of the calls that allocate memory or a descriptor.
 *
 *   FAILALLOC=N          the Nth such call of a process, from 1 on; 0: none
 *   FAILALLOC_IN=NAME    in programs of this name alone
 *   FAILALLOC_COUNT=FILE how many there were is written there at the end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static unsigned calls, which;
static const char *count_file;
static int begun;

/* Runs before the first call of a constructor; another's may run before ours. */
static void begin(void)
{
    const char *in = getenv("FAILALLOC_IN"), *n = getenv("FAILALLOC");

    begun = 1;
    if (in && strcmp(in, program_invocation_short_name) != 0)
        return;
    which = n ? (unsigned)strtoul(n, NULL, 10) : 0;
    count_file = getenv("FAILALLOC_COUNT");
}

/* Not 0 when this call is to fail. */
static int fails(const char *name, int error)
{
    char line[64];
    int n;

    if (!begun && environ)
        begin();
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != which)
        return 0;
    n = snprintf(line, sizeof(line), "failalloc: call %u, %s, fails\n", which, name);
    (void)!write(STDERR_FILENO, line, (size_t)n);
    errno = error;
    return 1;
}

__attribute__((destructor)) static void tell(void)
{
    FILE *f = count_file ? fopen(count_file, "we") : NULL;

    if (f) {
        fprintf(f, "%u\n", calls);
        fclose(f);
    }
}

void *malloc(size_t n)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails("calloc", ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails("realloc", ENOMEM) ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return fails("aligned_alloc", ENOMEM) ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    if (fails("posix_memalign", ENOMEM))
        return ENOMEM;
    *p = __libc_memalign(align, n);
    return *p ? 0 : ENOMEM;
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    if (fails("mmap", ENOMEM))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);
}

int memfd_create(const char *name, unsigned flags)
{
    return fails("memfd_create", ENFILE) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int eventfd(unsigned n, int flags)
{
    return fails("eventfd", ENFILE) ? -1 : (int)syscall(SYS_eventfd2, n, flags);
}

int epoll_create1(int flags)
{
    return fails("epoll_create1", ENFILE) ? -1 : (int)syscall(SYS_epoll_create1, flags);
}

int socket(int domain, int type, int protocol)
{
    return fails("socket", ENFILE) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}
