/* SPDX-License-Identifier: Apache-2.0 */
/* rights.c - see rights.h. */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rights.h"

#define FRAMES_MEMORY   (8u << 20) /* that AF_XDP locks for the frames of one queue, MTU 1500 */
#define FILES_LEAST     4096       /* toed uses four for each queue pair */
#define QUEUE_PAIR_SIZE (1u << 30) /* 512 MiB of buffers and their rings by default, rounded up */

static bool has(uint64_t caps, unsigned cap)
{
    return caps >> cap & 1;
}

static uint64_t effective(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};

    if (syscall(SYS_capget, &head, data) != 0)
        return 0;
    return (uint64_t)data[1].effective << 32 | data[0].effective;
}

/* Lists the capabilities that toed needs and the caller lacks. CAP_SYS_ADMIN includes CAP_BPF and
 * CAP_PERFMON. */
static void list_missing(uint64_t caps, char *list, size_t size)
{
    static const struct {
        const char *name;
        unsigned cap;
        bool in_admin;
    } needed[] = {{"NET_ADMIN", CAP_NET_ADMIN, false},
                  {"NET_RAW", CAP_NET_RAW, false},
                  {"BPF", CAP_BPF, true},
                  {"PERFMON", CAP_PERFMON, true}};
    size_t i;

    *list = '\0';
    for (i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!has(caps, needed[i].cap) && !(needed[i].in_admin && has(caps, CAP_SYS_ADMIN)))
            snprintf(list + strlen(list), size - strlen(list), "%sCAP_%s", *list ? ", " : "",
                     needed[i].name);
}

static void check_capabilities(struct report *r, uint64_t caps)
{
    char missing[128];

    list_missing(caps, missing, sizeof missing);
    if (!*missing) {
        report_add(r, FOUND_OK, "rights.capabilities", "all capabilities that toed needs");
    } else if (geteuid() != 0) {
        report_add(r, FOUND_NOTE, "rights.capabilities",
                   "user %u cannot start toed: %s missing; to run programs on it none is needed",
                   geteuid(), missing);
        report_advice(r, "start toed as root, with --user or --group for those who may use it");
    } else {
        report_add(r, FOUND_WARNING, "rights.capabilities", "%s missing: toed needs %s", missing,
                   strcmp(missing, "CAP_PERFMON") == 0 ? "it for --ip shared"
                                                       : "them for AF_XDP or TAP");
        report_advice(r, "add them to the container (--cap-add) or the unit "
                         "(CapabilityBoundingSet=)");
    }
}

/* One limit of the caller: what it must permit. */
struct limit {
    int resource;
    const char *id, *name; /* name: of prlimit(1), which counts in bytes as setrlimit(2) */
    rlim_t least;
    const char *most; /* the value that a cure sets if it may */
    const char *needed_for;
};

/* Adds the cure: for the caller's shell if that may raise the limit, else for root to run
 * elsewhere.
 */
static void cure_limit(struct report *r, const struct limit *l, const struct rlimit *is, bool may)
{
    if (may)
        report_cure(r, "prlimit --pid $$ --%s=%s", l->name, l->most);
    else if (is->rlim_max == RLIM_INFINITY)
        report_cure(r, "prlimit --pid $$ --%s=unlimited:", l->name);
    else if (is->rlim_max >= l->least)
        report_cure(r, "prlimit --pid $$ --%s=%llu:", l->name, (unsigned long long)is->rlim_max);
    else
        report_cure(r, "prlimit --pid %d --%s=%s", getppid(), l->name, l->most);
    report_advice(r, may || is->rlim_max >= l->least
                         ? "in this shell; for a service: Limit...= in its unit"
                         : "as root; for a service: Limit...= in its unit");
}

static void check_limit(struct report *r, const struct limit *l, bool may_raise, bool of_hard)
{
    struct rlimit is;
    rlim_t now;

    if (getrlimit((__rlimit_resource_t)l->resource, &is) != 0)
        return;
    now = of_hard ? is.rlim_max : is.rlim_cur;
    if (now >= l->least) { /* RLIM_INFINITY is the largest */
        report_add(r, FOUND_OK, l->id, "the limit permits %s", l->needed_for);
        return;
    }
    report_add(r, FOUND_WARNING, l->id, "the limit %s is %llu: %s can take %llu", l->name,
               (unsigned long long)now, l->needed_for, (unsigned long long)l->least);
    cure_limit(r, l, &is, may_raise);
}

void check_rights(struct facts *f)
{
    static const struct limit lock = {RLIMIT_MEMLOCK, "rights.memlock", "memlock",
                                      FRAMES_MEMORY,  "unlimited",      "the frames of AF_XDP"};
    static const struct limit files = {RLIMIT_NOFILE, "rights.files", "nofile",
                                       FILES_LEAST,   "65536",        "many programs"};
    static const struct limit size = {RLIMIT_FSIZE,    "rights.file_size", "fsize",
                                      QUEUE_PAIR_SIZE, "unlimited",        "a queue pair's memory"};
    static const struct limit space = {RLIMIT_AS,   "rights.address_space", "as", QUEUE_PAIR_SIZE,
                                       "unlimited", "a queue pair's memory"};
    uint64_t caps = effective();
    bool may = has(caps, CAP_SYS_RESOURCE);

    check_capabilities(f->report, caps);
    if (has(caps, CAP_IPC_LOCK)) /* without a limit */
        report_add(f->report, FOUND_OK, lock.id, "the limit permits %s", lock.needed_for);
    else
        check_limit(f->report, &lock, may, may);
    check_limit(f->report, &files, may, true); /* toed raises the soft limit */
    check_limit(f->report, &size, may, false);
    check_limit(f->report, &space, may, false);
}
