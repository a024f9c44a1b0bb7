/* SPDX-License-Identifier: Apache-2.0 */
/* owned.c - see owned.h. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "owned.h"

#define RANGES 65536u
#define ARENA  ((size_t)256 << 20)
#define LINE   64u
#define PAGE   4096u

void *__real_malloc(size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void __real_free(void *p);
void *__real_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off);
int __real_munmap(void *p, size_t n);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
void __wrap_free(void *p);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *p, size_t n);

struct range {
    uintptr_t at, end;
    unsigned owner, mapped;
};

/* Mapped: static data cannot be written while an owner runs. */
static struct owned {
    enum owned_mode mode;
    unsigned owner, conflicts, seen[OWNERS];
    uint8_t *arena[OWNERS];
    size_t used[OWNERS];
    unsigned runs, away; /* of owned_enter() */
    uint32_t count;
    struct range range[RANGES];
} * o;

extern char __data_start[], _end[];

/* ---- ranges ---- */

static int shares_a_line(const struct range *a, const struct range *b)
{
    return a->at / LINE <= (b->end - 1) / LINE && b->at / LINE <= (a->end - 1) / LINE;
}

static void note(void *p, size_t n, unsigned mapped)
{
    struct range r = {(uintptr_t)p, (uintptr_t)p + (n ? n : 1), o->owner, mapped};
    uint32_t i;

    if (o->count == RANGES) {
        fprintf(stderr, "owned: more than %u allocations\n", RANGES);
        abort();
    }
    for (i = 0; r.owner != OUTSIDE && i < o->count; i++)
        if (o->range[i].owner != OUTSIDE && o->range[i].owner != r.owner &&
            shares_a_line(&o->range[i], &r))
            o->conflicts++;
    o->seen[r.owner]++;
    o->range[o->count++] = r;
}

static void forget(const void *p)
{
    uint32_t i;

    for (i = 0; i < o->count; i++)
        if (o->range[i].at == (uintptr_t)p) {
            o->range[i] = o->range[--o->count];
            return;
        }
}

/* Allocated from the owner's arena; never freed. */
static void *carve(size_t align, size_t n)
{
    size_t at = (o->used[o->owner] + align - 1) / align * align;

    if (at + n > ARENA)
        return NULL;
    o->used[o->owner] = at + n;
    return o->arena[o->owner] + at;
}

static int in_arena(const void *p)
{
    unsigned i;

    for (i = 0; o && i < OWNERS; i++)
        if (o->arena[i] && (const uint8_t *)p >= o->arena[i] &&
            (const uint8_t *)p < o->arena[i] + ARENA)
            return 1;
    return 0;
}

/* ---- in the places of the C library's ---- */

static void *allocate(size_t align, size_t n)
{
    void *p;

    if (!o)
        return align ? __real_aligned_alloc(align, n) : __real_malloc(n);
    if (o->mode == OWNED_ARENAS)
        return carve(align ? align : 16, n);
    p = align ? __real_aligned_alloc(align, n) : __real_malloc(n);
    if (p)
        note(p, n, 0);
    return p;
}

void *__wrap_malloc(size_t n)
{
    return allocate(0, n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return allocate(align, n);
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t n;
    void *p = __builtin_mul_overflow(count, size, &n) ? NULL : allocate(0, n);

    return p ? memset(p, 0, n) : NULL;
}

void *__wrap_realloc(void *p, size_t n)
{
    (void)p;
    (void)n;
    fprintf(stderr, "owned: realloc() keeps no cache lines: lines_calloc(), copy, free()\n");
    abort();
}

void __wrap_free(void *p)
{
    if (in_arena(p))
        return;
    if (o && p)
        forget(p);
    __real_free(p);
}

void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    void *p = __real_mmap64(at, n, prot, flags, fd, off);

    if (o && p != MAP_FAILED)
        note(p, n, 1);
    return p;
}

int __wrap_munmap(void *p, size_t n)
{
    if (o)
        forget(p);
    return __real_munmap(p, n);
}

/* ---- taking memory away ---- */

static void on_fault(int sig, siginfo_t *info, void *context)
{
    char text[160];
    int n = snprintf(text, sizeof(text), "owner %u touched memory that is not its own: %p\n",
                     o->runs, info->si_addr);

    (void)sig;
    (void)context;
    if (write(STDERR_FILENO, text, (size_t)n) != n)
        _exit(1);
    _exit(OWNED_TRESPASS);
}

static void protect(uintptr_t at, uintptr_t end, int prot)
{
    at &= ~(uintptr_t)(PAGE - 1);
    end = (end + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    if (at < end && mprotect((void *)at, end - at, prot) != 0) {
        perror("owned: mprotect");
        _exit(1);
    }
}

static void protect_all(int static_data, int others)
{
    uint32_t i;

    for (i = 0; i < OWNERS; i++)
        if (o->away & 1u << i)
            protect((uintptr_t)o->arena[i], (uintptr_t)o->arena[i] + ARENA, others);
    for (i = 0; i < o->count; i++)
        if (o->range[i].mapped && (o->away & 1u << o->range[i].owner))
            protect(o->range[i].at, o->range[i].end, others);
    protect((uintptr_t)__data_start, (uintptr_t)_end, static_data);
}

void owned_enter(unsigned owner, unsigned away)
{
    o->owner = owner;
    o->runs = owner;
    o->away = away & ~(1u << owner | 1u << OUTSIDE);
    protect_all(PROT_READ, PROT_NONE);
}

void owned_leave(void)
{
    protect_all(PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE);
    o->away = 0;
    o->owner = OUTSIDE;
}

/* ---- */

static void *map(size_t n)
{
    void *p = __real_mmap64(NULL, n, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        abort();
    return p;
}

void owned_begin(enum owned_mode mode)
{
    struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    struct owned *fresh = map(sizeof(*o));
    unsigned i;

    fresh->mode = mode;
    for (i = 0; mode == OWNED_ARENAS && i < OWNERS; i++)
        fresh->arena[i] = map(ARENA);
    o = fresh;
    sigaction(SIGSEGV, &act, NULL);
}

void owned_end(void)
{
    struct owned *was = o;
    unsigned i;

    o = NULL;
    signal(SIGSEGV, SIG_DFL);
    for (i = 0; i < OWNERS; i++)
        if (was->arena[i])
            __real_munmap(was->arena[i], ARENA);
    __real_munmap(was, sizeof(*was));
}

unsigned owned_by(unsigned owner)
{
    unsigned was = o->owner;

    o->owner = owner;
    return was;
}

unsigned owned_conflicts(void)
{
    return o->conflicts;
}

unsigned owned_ranges(unsigned owner)
{
    return o->seen[owner];
}

void *owned_outside(size_t n)
{
    return map(n);
}
