/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - see memory.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../common/word.h"
#include "file.h"
#include "memory.h"

#define TRANSPARENT  "/sys/kernel/mm/transparent_hugepage/enabled"
#define HUGE         "/proc/sys/vm/nr_hugepages"
#define OVERCOMMIT   "/proc/sys/vm/overcommit_memory"
#define GROUPS       "/sys/fs/cgroup"
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
    report_advice(r, "libtoe and toed share such files: a seccomp filter may forbid the call");
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

/* Finds the file with the memory limit of the process's control group (cgroup v2). */
static bool limit_file(int pid, char *path, size_t size)
{
    char list[64], line[PATH_MAX];
    bool found = false;
    FILE *f;

    snprintf(list, sizeof list, "/proc/%d/cgroup", pid);
    f = fopen(list, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, "0::/", 4) == 0;
    }
    if (f)
        fclose(f);
    return found && (size_t)snprintf(path, size, GROUPS "%s/memory.max", line + 3) < size;
}

/* Where toed runs, or would: in the caller's control group. */
static void check_group(struct report *r, int pid)
{
    char path[PATH_MAX + 32], word[PATH_MAX + 32];
    long long limit; /* "max" is no number */

    if (!limit_file(pid, path, sizeof path) || !file_number(path, &limit) ||
        limit / 1024 >= HEADROOM_KIB) {
        report_add(r, FOUND_OK, "memory.control_group", "the control group has room");
        return;
    }
    report_add(r, FOUND_WARNING, "memory.control_group",
               "the control group is limited to %lld MiB: toed uses up to %d", limit >> 20,
               HEADROOM_KIB / 1024);
    if (cli_word(word, sizeof word, path))
        report_cure(r, "echo max > %s", word);
}

void check_memory(struct facts *f)
{
    check_memfd(f->report);
    check_group(f->report, f->toe.pid > 0 ? f->toe.pid : getpid());
    check_transparent(f->report);
    check_huge(f->report);
    check_overcommit(f->report);
}
