/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c - see sandbox.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "interlock.h"
#include "privilege.h"
#include "sandbox.h"
#include "sandbox_filter.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

static uint32_t needs_of(const struct options *o)
{
    const char *spec = interlock_unwrapped(o->netif);
    uint32_t needs = IS_SANITIZED ? SANDBOX_SANITIZER : 0;

    if (spec && strncmp(spec, "af_xdp:", 7) == 0)
        needs |= SANDBOX_XDP;
    return o->shared ? needs | SANDBOX_SHARED : needs;
}

/* Installs the filter. Refused calls appear in the kernel's audit log where it can (Linux 4.14).
 * Returns 0, or -1 with errno. */
static int install(uint32_t needs)
{
    struct sock_filter filter[SANDBOX_MOST];
    struct sock_fprog program = {.filter = filter};

    program.len = (unsigned short)sandbox_write(needs, (uint32_t)getpid(), filter, SANDBOX_MOST);
    if (!program.len) {
        errno = ENOTSUP;
        return -1;
    }
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_LOG, &program) == 0)
        return 0;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int sandbox_enter(const struct options *o, char *err, size_t err_size)
{
    uint64_t keep = privilege_needed(o->netif, o->shared);
    char rights[PRIVILEGE_TEXT];
    const char *calls = "system calls filtered";

    if (keep == UINT64_MAX) {
        log_msg("warning: with DPDK toed keeps all rights and system calls");
        return -1;
    }
    if (!o->sandbox)
        log_msg("warning: --no-sandbox: toed keeps %s",
                o->run_as ? "all system calls" : "all rights and system calls");
    if (!o->sandbox && !o->run_as)
        return -1;
    if (privilege_drop(o, keep, err, err_size) != 0)
        return EXIT_RUNTIME;
    privilege_text(rights, sizeof(rights)); /* by calls that the filter refuses */
    if (!o->sandbox) {
        calls = "all system calls";
    } else if (install(needs_of(o)) != 0) {
        calls = "all system calls";
        log_msg("warning: toed keeps all system calls: no filter can be installed (%s)",
                strerror(errno));
    }
    log_msg("rights: %s; %s", rights, calls);
    return -1;
}
