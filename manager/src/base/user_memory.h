/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_memory.h - addresses that cannot be the program's memory, for EFAULT. The kernel finds any
 * bad pointer by its page tables; here the address alone is looked at, which costs one comparison.
 */
#ifndef LIBTOE_USER_MEMORY_H
#define LIBTOE_USER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* No program maps the first 64 KiB (vm.mmap_min_addr), nor the kernel's half. */
#define TUSER_BEGIN ((uintptr_t)65536)
#define TUSER_END   (sizeof(void *) == 8 ? (uintptr_t)1 << (sizeof(void *) * 7) : ~(uintptr_t)0xffff)

/* Returns whether p, NULL too, cannot be read or written: EFAULT. */
static inline bool tuser_bad(const void *p)
{
    return (uintptr_t)p - TUSER_BEGIN >= TUSER_END - TUSER_BEGIN;
}

#endif
