/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_memory.h - EFAULT for pointers that are not the program's memory. Addresses that no program
 * can have are found by a comparison. Others are touched by accesses that return -1 after a fault
 * (user_memory.c), while the program's handler of SIGSEGV is one that calls tuser_recover().
 */
#ifndef LIBTOE_USER_MEMORY_H
#define LIBTOE_USER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtoe.h"

/* No program maps the first 64 KiB (vm.mmap_min_addr), nor the kernel's half. */
#define TUSER_BEGIN ((uintptr_t)65536)
#define TUSER_END   (sizeof(void *) == 8 ? (uintptr_t)1 << (sizeof(void *) * 7) : ~(uintptr_t)0xffff)

/* Returns whether p, NULL too, cannot be read or written: EFAULT. */
static inline bool tuser_bad(const void *p)
{
    return (uintptr_t)p - TUSER_BEGIN >= TUSER_END - TUSER_BEGIN;
}

/* Return 0, or -1 when the byte cannot be read, or not be written. */
TOE_HIDDEN int tuser_read(const void *p);
TOE_HIDDEN int tuser_write(void *p);
/* memcpy() from or to the program's memory. 0, or -1 after a fault, when a part may be copied. */
TOE_HIDDEN int tuser_copy(void *to, const void *from, size_t n);
/* Called by a handler of SIGSEGV or SIGBUS with si_addr and its context: lets the access that
 * raised it return -1. Returns false when it is none of the above. */
TOE_HIDDEN bool tuser_recover(const void *address, void *context);

/* The largest object that is checked as a whole by its ends. */
#define TUSER_SMALL 4096u

/* Return whether an object of n bytes cannot be read, or not be written. Of a larger one, its first
 * page counts. n may be 0. */
static inline bool tuser_unreadable(const void *p, size_t n)
{
    size_t last = n < TUSER_SMALL ? n - 1 : TUSER_SMALL - 1;

    return n && (tuser_bad(p) || tuser_read(p) < 0 || tuser_read((const char *)p + last) < 0);
}

static inline bool tuser_unwritable(void *p, size_t n)
{
    size_t last = n < TUSER_SMALL ? n - 1 : TUSER_SMALL - 1;

    return n && (tuser_bad(p) || tuser_write(p) < 0 || tuser_write((char *)p + last) < 0);
}

#endif
