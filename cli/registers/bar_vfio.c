/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bar_vfio.c - maps a BAR of a PCI function bound to vfio-pci: container, group, device, region
 * (linux/vfio.h). No memory is mapped for DMA, as registers need none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "bar_kinds.h"
#include "bar_map.h"
#include "bar_pci.h"

static bool group_of(struct bar *bar, const char *device, char *group, size_t size)
{
    char link[PATH_MAX], to[PATH_MAX];
    ssize_t n;

    snprintf(bar->path, sizeof bar->path, "/sys/bus/pci/devices/%s", device);
    if (access(bar->path, F_OK) != 0)
        return bar_fail(bar, "no PCI function %s", device);
    snprintf(link, sizeof link, "%s/iommu_group", bar->path);
    n = readlink(link, to, sizeof to - 1);
    if (n < 0)
        return bar_fail(bar,
                        "%s is in no IOMMU group; enable the IOMMU (intel_iommu=on) and bind the "
                        "function to vfio-pci",
                        device);
    to[n] = '\0';
    snprintf(group, size, "/dev/vfio/%s", strrchr(to, '/') ? strrchr(to, '/') + 1 : to);
    return true;
}

static bool join(struct bar *bar, const char *group)
{
    struct vfio_group_status status = {.argsz = sizeof status};

    bar->container_fd = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
    if (bar->container_fd < 0)
        return bar_fail(bar, "cannot open /dev/vfio/vfio: %s", strerror(errno));
    if (ioctl(bar->container_fd, VFIO_GET_API_VERSION) != VFIO_API_VERSION)
        return bar_fail(bar, "/dev/vfio/vfio does not have API version %d", VFIO_API_VERSION);
    bar->group_fd = open(group, O_RDWR | O_CLOEXEC);
    if (bar->group_fd < 0)
        return bar_fail(bar, "cannot open %s: %s", group, strerror(errno));
    if (ioctl(bar->group_fd, VFIO_GROUP_GET_STATUS, &status) != 0)
        return bar_fail(bar, "cannot query the state of %s: %s", group, strerror(errno));
    if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE))
        return bar_fail(bar, "%s is not viable: bind every function of the group to vfio-pci",
                        group);
    if (ioctl(bar->group_fd, VFIO_GROUP_SET_CONTAINER, &bar->container_fd) != 0 ||
        ioctl(bar->container_fd, VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU) != 0)
        return bar_fail(bar, "cannot use %s: %s", group, strerror(errno));
    return true;
}

/* vfio-pci disables the memory space of a function without a user. */
static bool enable_memory(struct bar *bar)
{
    struct vfio_region_info config = {.argsz = sizeof config,
                                      .index = VFIO_PCI_CONFIG_REGION_INDEX};
    uint16_t command;

    if (ioctl(bar->fd, VFIO_DEVICE_GET_REGION_INFO, &config) != 0 ||
        pread(bar->fd, &command, 2, (off_t)config.offset + PCI_COMMAND) != 2)
        return bar_fail(bar, "cannot read its configuration: %s", strerror(errno));
    command |= PCI_COMMAND_MEMORY;
    if (pwrite(bar->fd, &command, 2, (off_t)config.offset + PCI_COMMAND) != 2)
        return bar_fail(bar, "cannot enable its memory space: %s", strerror(errno));
    return true;
}

static bool open_vfio(struct bar *bar, const char *name)
{
    struct vfio_region_info region = {.argsz = sizeof region};
    char device[64], group[PATH_MAX + 16];
    unsigned number;

    if (!bar_pci_name(bar, name, device, sizeof device, &number) ||
        !group_of(bar, device, group, sizeof group) || !join(bar, group))
        return false;
    bar->fd = ioctl(bar->group_fd, VFIO_GROUP_GET_DEVICE_FD, device);
    if (bar->fd < 0)
        return bar_fail(bar, "%s: cannot open device %s: %s", group, device, strerror(errno));
    region.index = VFIO_PCI_BAR0_REGION_INDEX + number;
    if (ioctl(bar->fd, VFIO_DEVICE_GET_REGION_INFO, &region) != 0 || region.size < 4)
        return bar_fail(bar, "the function has no BAR %u", number);
    if (!(region.flags & VFIO_REGION_INFO_FLAG_MMAP))
        return bar_fail(bar, "BAR %u cannot be mapped", number);
    bar->size = region.size;
    return enable_memory(bar) && bar_map(bar, region.offset, (size_t)region.size);
}

static void close_vfio(struct bar *bar)
{
    bar_map_close(bar);
    if (bar->group_fd >= 0)
        close(bar->group_fd);
    if (bar->container_fd >= 0)
        close(bar->container_fd);
    bar->group_fd = bar->container_fd = -1;
}

const struct bar_ops bar_vfio = {.kind = "vfio",
                                 .what = "FPGA registers",
                                 .open = open_vfio,
                                 .read = bar_map_read,
                                 .write = bar_map_write,
                                 .close = close_vfio,
                                 .why_ones = bar_pci_why};
