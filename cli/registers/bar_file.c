/* SPDX-License-Identifier: Apache-2.0 */
/* bar_file.c - registers in a plain file: an image of a BAR, memory shared with a simulation. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "bar_kinds.h"
#include "bar_map.h"

static bool open_file(struct bar *bar, const char *name)
{
    struct stat st;

    bar->fd = open(name, (bar->write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (bar->fd < 0 || fstat(bar->fd, &st) != 0)
        return bar_fail(bar, "cannot open %s: %s", name, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size < 4)
        return bar_fail(bar, "%s is not a regular file of at least 4 bytes", name);
    bar->size = (uint64_t)st.st_size & ~3ull;
    return bar_map(bar, 0, (size_t)st.st_size);
}

const struct bar_ops bar_file = {.kind = "file",
                                 .what = "register image",
                                 .open = open_file,
                                 .read = bar_map_read,
                                 .write = bar_map_write,
                                 .close = bar_map_close};
