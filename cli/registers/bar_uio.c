/* SPDX-License-Identifier: Apache-2.0 */
/* bar_uio.c - a map of a UIO device (/sys/class/uio/uioN/maps). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <toe/number.h>

#include "bar_kinds.h"
#include "bar_map.h"

/* Reads an attribute of a map, such as its size: a hexadecimal number in a file. */
static bool figure(struct bar *bar, unsigned uio, unsigned map, const char *which,
                   unsigned long long *value)
{
    char path[128];
    FILE *f;
    bool ok;

    snprintf(path, sizeof path, "/sys/class/uio/uio%u/maps/map%u/%s", uio, map, which);
    f = fopen(path, "re");
    if (!f)
        return bar_fail(bar, "uio%u has no map %u (%s: %s)", uio, map, path, strerror(errno));
    ok = fscanf(f, "%llx", value) == 1; /* NOLINT(cert-err34-c): the kernel wrote it */
    fclose(f);
    return ok ? true : bar_fail(bar, "%s does not hold a number", path);
}

static bool open_uio(struct bar *bar, const char *name)
{
    uint64_t uio = 0, map = 0;
    unsigned long long size = 0, within = 0;
    char number[16], path[32];
    size_t len = strcspn(name, "/");

    snprintf(number, sizeof number, "%.*s", (int)len, name);
    if (len >= sizeof number || !toe_number(number, 0, 255, &uio, NULL, 0) ||
        (name[len] && !toe_number(name + len + 1, 0, 4, &map, NULL, 0)))
        return bar_fail(
            bar, "want a UIO device by its number, and optionally its map: uio:0 or uio:0/1");
    snprintf(path, sizeof path, "/dev/uio%u", (unsigned)uio);
    bar->fd = open(path, (bar->write ? O_RDWR : O_RDONLY) | O_SYNC | O_CLOEXEC);
    if (bar->fd < 0)
        return bar_fail(bar, "cannot open %s: %s", path, strerror(errno));
    if (!figure(bar, (unsigned)uio, (unsigned)map, "size", &size) ||
        !figure(bar, (unsigned)uio, (unsigned)map, "offset", &within))
        return false;
    /* The registers do not begin at a page boundary: the map's first bytes belong to others. */
    bar->offset += within;
    bar->size = within + size;
    return bar_map(bar, map * (uint64_t)sysconf(_SC_PAGESIZE), (size_t)bar->size);
}

const struct bar_ops bar_uio = {.kind = "uio",
                                .what = "FPGA registers",
                                .open = open_uio,
                                .read = bar_map_read,
                                .write = bar_map_write,
                                .close = bar_map_close};
