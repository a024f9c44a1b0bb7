/* SPDX-License-Identifier: Apache-2.0 */
/* cards.c - see cards.h. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cards.h"
#include "file.h"

#define DEVICES   "/sys/bus/pci/devices"
#define GROUPS    "/sys/kernel/iommu_groups"
#define NO_IOMMU  "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
#define HUGE      "/proc/sys/vm/nr_hugepages"
#define HUGE_WANT 64   /* pages of 2 MiB: what netio gives DPDK (netio/README.md) */
#define CLASS     0x02 /* PCI class "network controller" */

enum binding { NO_DRIVER, KERNEL_DRIVER, VFIO, UIO };

static bool is_network(const char *address)
{
    char path[PATH_MAX], text[32];

    snprintf(path, sizeof path, DEVICES "/%s/class", address);
    return file_line(path, text, sizeof text) && strtoul(text, NULL, 16) >> 16 == CLASS;
}

static enum binding binding_of(const char *address, char *driver, size_t size)
{
    char path[PATH_MAX], target[PATH_MAX];
    const char *name;
    ssize_t n;

    snprintf(path, sizeof path, DEVICES "/%s/driver", address);
    n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return NO_DRIVER;
    target[n] = '\0';
    name = strrchr(target, '/');
    name = name ? name + 1 : target;
    snprintf(driver, size, "%.63s", name);
    if (strcmp(name, "vfio-pci") == 0)
        return VFIO;
    return !strcmp(name, "uio_pci_generic") || !strcmp(name, "igb_uio") ? UIO : KERNEL_DRIVER;
}

static bool is_empty(const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    bool empty = true;

    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.')
            empty = false;
    if (d)
        closedir(d);
    return empty;
}

/* vfio-pci opens no device without an IOMMU, unless it may do without. */
static void check_iommu(struct report *r)
{
    char text[16] = "";

    if (!is_empty(GROUPS) || (file_line(NO_IOMMU, text, sizeof text) && strchr("Y1", text[0])))
        return;
    report_add(r, FOUND_ERROR, "cards.iommu",
               "vfio-pci has a card, and the machine has no IOMMU: DPDK cannot open it");
    report_cure(r, "echo 1 > " NO_IOMMU);
    report_advice(r, "or switch the IOMMU on (intel_iommu=on), which also isolates the card");
}

static void check_huge(struct report *r)
{
    long long n;

    if (!file_number(HUGE, &n) || n)
        return;
    report_add(r, FOUND_WARNING, "cards.huge_pages",
               "a card is bound for DPDK and there are no huge pages: drivers of cards need them");
    report_cure(r, "sysctl -w vm.nr_hugepages=%d", HUGE_WANT);
}

void check_cards(struct facts *f)
{
    unsigned bound = 0, vfio = 0, network = 0;
    const struct dirent *e;
    DIR *d = opendir(DEVICES);

    while (d && (e = readdir(d))) {
        char driver[64] = "";
        enum binding b;

        if (e->d_name[0] == '.' || !is_network(e->d_name))
            continue;
        network++;
        b = binding_of(e->d_name, driver, sizeof driver);
        vfio += b == VFIO;
        bound += b == VFIO || b == UIO;
        if (b == VFIO || b == UIO)
            report_add(f->report, FOUND_OK, "cards.dpdk", "%s is bound to %s: toed --netif dpdk:%s",
                       e->d_name, driver, e->d_name);
        else if (b == NO_DRIVER)
            report_add(f->report, FOUND_NOTE, "cards.driver", "the network card %s has no driver",
                       e->d_name);
        else
            report_add(f->report, FOUND_OK, "cards.driver", "%s is the kernel's, by %s", e->d_name,
                       driver);
    }
    if (d)
        closedir(d);
    if (!network)
        report_add(f->report, FOUND_OK, "cards.driver", "no network card on PCI");
    if (vfio)
        check_iommu(f->report);
    if (bound)
        check_huge(f->report);
}
