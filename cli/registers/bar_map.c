/* SPDX-License-Identifier: Apache-2.0 */
/* bar_map.c - a mapped window: reads, writes, unmaps; keeps the reason of a failure. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bar_map.h"

bool bar_fail(struct bar *bar, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(bar->why, sizeof bar->why, format, args);
    va_end(args);
    return false;
}

bool bar_map(struct bar *bar, uint64_t offset, size_t size)
{
    void *map = mmap(NULL, size, PROT_READ | (bar->write ? PROT_WRITE : 0), MAP_SHARED, bar->fd,
                     (off_t)offset);

    if (map == MAP_FAILED)
        return bar_fail(bar, "cannot map its %zu bytes: %s", size, strerror(errno));
    bar->map = map;
    bar->map_size = size;
    return true;
}

bool bar_map_read(struct bar *bar, uint64_t at, uint32_t *value)
{
    *value = le32toh(*(volatile uint32_t *)(bar->map + at));
    return true;
}

bool bar_map_write(struct bar *bar, uint64_t at, uint32_t value)
{
    *(volatile uint32_t *)(bar->map + at) = htole32(value);
    return true;
}

void bar_map_close(struct bar *bar)
{
    if (bar->map)
        munmap((void *)bar->map, bar->map_size);
    if (bar->fd >= 0)
        close(bar->fd);
    bar->map = NULL;
    bar->fd = -1;
}
