/* SPDX-License-Identifier: Apache-2.0 */
/* dpdk_pci.c - see dpdk_pci.h. */
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <unistd.h>

#include "dpdk_pci.h"

#define CONFIG_SIZE 256u
#define LIST_MAX    48u /* capabilities that fit behind the header; more are a cycle */

int dpdk_pci_lists_msix(const uint8_t *config, size_t size)
{
    unsigned at, i;

    if (size <= PCI_CAPABILITY_LIST)
        return 1;
    if (!(config[PCI_STATUS] & PCI_STATUS_CAP_LIST))
        return 0;
    at = config[PCI_CAPABILITY_LIST] & ~3u;
    for (i = 0; at && i < LIST_MAX; i++) {
        if (at + PCI_CAP_LIST_NEXT >= size)
            return 1; /* without privilege sysfs has the first 64 bytes only */
        if (config[at] == PCI_CAP_ID_MSIX)
            return 1;
        at = config[at + PCI_CAP_LIST_NEXT] & ~3u;
    }
    return 0;
}

int dpdk_pci_has_msix(const char *address)
{
    uint8_t config[CONFIG_SIZE];
    char path[96];
    ssize_t n = -1;
    int fd;

    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/config", address);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, config, sizeof(config));
        close(fd);
    }
    return dpdk_pci_lists_msix(config, n > 0 ? (size_t)n : 0);
}
