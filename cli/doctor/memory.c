/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - see memory.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file.h"
#include "memory.h"

#define TRANSPARENT  "/sys/kernel/mm/transparent_hugepage/enabled"
#define HUGE         "/proc/sys/vm/nr_hugepages"
#define OVERCOMMIT   "/proc/sys/vm/overcommit_memory"
#define HEADROOM_KIB 524288 /* stack and buffers of one engine with default options, rounded up */

/* Makes a memory file as libtoe and toed do, and closes it. */
static void check_memfd(struct report *r)
{
    int fd = memfd_create("toehold-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING), e = errno;

    if (fd >= 0) {
        report_add(r, FOUND_OK, "memory.memfd", "memory files can be shared with toed");
        close(fd);
        return;
    }
    report_add(r, FOUND_ERROR, "memory.memfd", "cannot make a memory file (memfd_create): %s",
               strerror(e));
    if (e == EACCES) /* MFD_NOEXEC_SEAL is required: Linux 6.3, sysctl vm.memfd_noexec */
        report_cure(r, "sysctl -w vm.memfd_noexec=0");
    else
        report_advice(r, "free memory, or raise the limits of this process and its control group");
}

static void check_transparent(struct report *r)
{
    char text[128];

    if (!file_line(TRANSPARENT, text, sizeof text))
        return;
    if (!strstr(text, "[never]")) {
        report_add(r, FOUND_OK, "memory.transparent", "large tables use huge pages");
        return;
    }
    report_add(r, FOUND_WARNING, "memory.transparent",
               "transparent huge pages are off: many flows cost more TLB misses");
    report_cure(r, "echo madvise > " TRANSPARENT);
}

static void check_huge(struct report *r)
{
    long long n;

    if (!file_number(HUGE, &n))
        return;
    report_add(r, FOUND_OK, "memory.huge_pages", "%lld huge pages%s", n,
               n ? "" : "; only DPDK uses them");
}

/* Reads a line of /proc/meminfo, in KiB. */
static bool meminfo(const char *name, long long *kib)
{
    FILE *f = fopen("/proc/meminfo", "re");
    char line[128];
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f))
        found = strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':' &&
                sscanf(line + strlen(name) + 1, "%lld", kib) == 1;
    if (f)
        fclose(f);
    return found;
}

/* With strict accounting, allocations fail long before memory is used. */
static void check_overcommit(struct report *r)
{
    long long mode, limit, used;

    if (!file_number(OVERCOMMIT, &mode))
        return;
    if (mode != 2 || !meminfo("CommitLimit", &limit) || !meminfo("Committed_AS", &used) ||
        limit - used >= HEADROOM_KIB) {
        report_add(r, FOUND_OK, "memory.overcommit", "vm.overcommit_memory is %lld", mode);
        return;
    }
    report_add(r, FOUND_WARNING, "memory.overcommit",
               "vm.overcommit_memory is 2 and %lld MiB can still be committed: toed uses up to %d",
               (limit - used) / 1024, HEADROOM_KIB / 1024);
    report_cure(r, "sysctl -w vm.overcommit_memory=0");
}

void check_memory(struct facts *f)
{
    check_memfd(f->report);
    check_transparent(f->report);
    check_huge(f->report);
    check_overcommit(f->report);
}
