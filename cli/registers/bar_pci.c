/* SPDX-License-Identifier: Apache-2.0 */
/* bar_pci.c - maps a BAR of a PCI function by its resource file in sysfs. Needs no driver. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <toe/number.h>

#include "bar_kinds.h"
#include "bar_map.h"
#include "bar_pci.h"

#define PCI_DEVICES    "/sys/bus/pci/devices/"
#define DEFAULT_BAR    2u /* OpenNIC's and Corundum's user registers; QEMU's ivshmem's memory */
#define CONFIG_VENDOR  0u
#define CONFIG_COMMAND 4u
#define COMMAND_MEMORY 2u

bool bar_pci_name(struct bar *bar, const char *text, char *device, size_t size, unsigned *number)
{
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    uint64_t n = DEFAULT_BAR;
    bool domain = memchr(text, ':', len) != memrchr(text, ':', len);

    if (len < 7 || len + 6 > size || (slash && !toe_number(slash + 1, 0, 5, &n, NULL, 0)))
        return bar_fail(bar, "want a PCI function as lspci names it, and a BAR from 0 to 5: "
                             "0000:65:00.0/2");
    snprintf(device, size, "%s%.*s", domain ? "" : "0000:", (int)len, text);
    *number = (unsigned)n;
    return true;
}

/* Returns two bytes of the configuration space, or -1 when they cannot be read. */
static int config(const struct bar *bar, unsigned at)
{
    char path[sizeof bar->path + 16];
    unsigned char b[2];
    int fd, value = -1;

    snprintf(path, sizeof path, "%s/config", bar->path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (pread(fd, b, 2, at) == 2)
        value = b[0] | b[1] << 8;
    close(fd);
    return value;
}

void bar_pci_why(struct bar *bar)
{
    int vendor = config(bar, CONFIG_VENDOR), command = config(bar, CONFIG_COMMAND);

    if (vendor == 0xffff)
        bar_fail(bar, "it reads all ones, and so does its configuration: the device is off the bus "
                      "(reset, reprogrammed or without power); rescan the bus");
    else if (command >= 0 && !((unsigned)command & COMMAND_MEMORY))
        bar_fail(bar,
                 "it reads all ones: memory space is disabled in the function's command register; "
                 "echo 1 > %s/enable",
                 bar->path);
    else
        bar_fail(bar,
                 "it reads all ones, though the device is on the bus and memory space is "
                 "enabled: nothing answers at this address; check that it is the right function, "
                 "BAR and @OFFSET, and that the block has a clock");
}

/* Splits "/sys/.../resource2" into folder and file. */
static bool resource_of(struct bar *bar, const char *name, char *path, size_t size)
{
    char device[64];
    unsigned number = 0;

    if (strchr(name, '/') == name) {
        const char *slash = strrchr(name, '/');

        snprintf(bar->path, sizeof bar->path, "%.*s", (int)(slash - name), name);
        snprintf(path, size, "%s", name);
        return true;
    }
    if (!bar_pci_name(bar, name, device, sizeof device, &number))
        return false;
    snprintf(bar->path, sizeof bar->path, PCI_DEVICES "%s", device);
    if (access(bar->path, F_OK) != 0)
        return bar_fail(bar, "no PCI function %s", device);
    snprintf(path, size, "%s/resource%u", bar->path, number);
    if (access(path, F_OK) != 0)
        return bar_fail(bar, "the function has no memory BAR %u", number);
    return true;
}

static bool open_pci(struct bar *bar, const char *name)
{
    char path[sizeof bar->path + 16];
    struct stat st;
    int command;

    if (!resource_of(bar, name, path, sizeof path))
        return false;
    command = config(bar, CONFIG_COMMAND);
    if (command >= 0 && !((unsigned)command & COMMAND_MEMORY))
        return bar_fail(bar,
                        "memory space is disabled in the function's command register; echo 1 > "
                        "%s/enable",
                        bar->path);
    bar->fd = open(path, (bar->write ? O_RDWR : O_RDONLY) | O_SYNC | O_CLOEXEC);
    if (bar->fd < 0 || fstat(bar->fd, &st) != 0)
        return bar_fail(bar, "cannot open %s: %s", path, strerror(errno));
    if (st.st_size < 4)
        return bar_fail(bar, "%s has %lld bytes", path, (long long)st.st_size);
    bar->size = (uint64_t)st.st_size & ~3ull;
    return bar_map(bar, 0, (size_t)st.st_size);
}

const struct bar_ops bar_pci = {.kind = "pci",
                                .what = "FPGA registers",
                                .open = open_pci,
                                .read = bar_map_read,
                                .write = bar_map_write,
                                .close = bar_map_close,
                                .why_ones = bar_pci_why};
