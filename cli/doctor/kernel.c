/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - see kernel.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "file.h"
#include "kernel.h"

#define LEAST_MAJOR 6 /* README.md: Linux 6.1, that of Debian 12 */
#define LEAST_MINOR 1
#define BPF_JIT     "/proc/sys/net/core/bpf_jit_enable"
#define TUN         "/dev/net/tun"

static void check_version(struct report *r)
{
    unsigned major = 0, minor = 0;
    struct utsname u;

    if (uname(&u) != 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
        return;
    if (major > LEAST_MAJOR || (major == LEAST_MAJOR && minor >= LEAST_MINOR)) {
        report_add(r, FOUND_OK, "kernel.version", "Linux %s on %s", u.release, u.machine);
        return;
    }
    report_add(r, FOUND_WARNING, "kernel.version",
               "Linux %s: Toehold is tested with Linux %u.%u and later", u.release, LEAST_MAJOR,
               LEAST_MINOR);
    report_advice(r, "boot a later kernel; on an earlier one use tap:IFNAME");
}

static void check_af_xdp(struct report *r)
{
    int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0), e = errno;

    if (fd >= 0 || e == EPERM) { /* rights.capabilities reports EPERM */
        report_add(r, FOUND_OK, "kernel.af_xdp", "the kernel has AF_XDP");
        if (fd >= 0)
            close(fd);
        return;
    }
    report_add(r, FOUND_WARNING, "kernel.af_xdp", "the kernel has no AF_XDP: %s", strerror(e));
    report_advice(r, "use tap:IFNAME, or a kernel with CONFIG_XDP_SOCKETS");
}

static void check_jit(struct report *r)
{
    long long on;

    if (!file_number(BPF_JIT, &on))
        return;
    if (on) {
        report_add(r, FOUND_OK, "kernel.bpf_jit", "the kernel compiles BPF programs");
        return;
    }
    report_add(r, FOUND_WARNING, "kernel.bpf_jit",
               "net.core.bpf_jit_enable is 0: the XDP program is interpreted for each frame");
    report_cure(r, "sysctl -w net.core.bpf_jit_enable=1");
}

static void check_tun(struct report *r)
{
    int fd = open(TUN, O_RDWR | O_CLOEXEC), e = errno;

    if (fd >= 0) {
        report_add(r, FOUND_OK, "kernel.tun", "the kernel has TAP devices");
        close(fd);
        return;
    }
    report_add(r, FOUND_WARNING, "kernel.tun", TUN ": %s: toed --netif tap:IFNAME cannot start",
               strerror(e));
    if (e == ENOENT)
        report_cure(r, "mkdir -p /dev/net && mknod -m 666 " TUN " c 10 200");
    else if (e == EACCES)
        report_cure(r, "chmod a+rw " TUN);
    else
        report_cure(r, "modprobe tun");
}

static void check_cpus(struct report *r)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;

    if (n != 1) {
        report_add(r, FOUND_OK, "kernel.cpus", "%d CPUs", n);
        return;
    }
    report_add(r, FOUND_NOTE, "kernel.cpus", "1 CPU: toed and its programs share it");
    report_advice(r, "start toed with --spin-us 0, or use toehold run --engine inline");
}

void check_kernel(struct facts *f)
{
    check_version(f->report);
    check_af_xdp(f->report);
    check_jit(f->report);
    check_tun(f->report);
    check_cpus(f->report);
}
