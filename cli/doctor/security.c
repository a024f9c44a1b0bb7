/* SPDX-License-Identifier: Apache-2.0 */
/* security.c - see security.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "file.h"
#include "security.h"

#define SELINUX      "/sys/fs/selinux/enforce"
#define APPARMOR     "/sys/module/apparmor/parameters/enabled"
#define PTRACE_SCOPE "/proc/sys/kernel/yama/ptrace_scope"

static void check_selinux(struct report *r)
{
    long long enforcing;

    if (!file_number(SELINUX, &enforcing)) {
        report_add(r, FOUND_OK, "security.selinux", "SELinux is not active");
    } else if (!enforcing) {
        report_add(r, FOUND_OK, "security.selinux", "SELinux is permissive");
    } else {
        report_add(r, FOUND_NOTE, "security.selinux",
                   "SELinux is enforcing: it may deny AF_XDP, BPF or toed's socket");
        report_advice(r, "denials: ausearch -m avc -ts recent");
    }
}

static void check_apparmor(const struct facts *f)
{
    char text[256] = "", path[64];

    if (!file_line(APPARMOR, text, sizeof text) || text[0] != 'Y') {
        report_add(f->report, FOUND_OK, "security.apparmor", "AppArmor is not active");
        return;
    }
    snprintf(path, sizeof path, "/proc/%d/attr/apparmor/current", f->toe.pid);
    text[0] = '\0';
    if (f->toe.pid <= 0 || !file_line(path, text, sizeof text) || !strstr(text, "(enforce)")) {
        report_add(f->report, FOUND_OK, "security.apparmor",
                   "AppArmor is active and does not confine toed");
        return;
    }
    report_add(f->report, FOUND_NOTE, "security.apparmor", "AppArmor confines toed (pid %d): %s",
               f->toe.pid, text);
    report_advice(f->report, "denials: journalctl -k --grep apparmor=.DENIED");
}

/* --ip shared copies descriptors of programs (pidfd_getfd(2)), which Yama may forbid altogether. */
static void check_yama(const struct facts *f)
{
    const char *address = json_string_value(json_object_get(f->toe.stats, "address"));
    long long scope;

    if (!file_number(PTRACE_SCOPE, &scope))
        return;
    if (scope < 3) {
        report_add(f->report, FOUND_OK, "security.yama", "kernel.yama.ptrace_scope is %lld", scope);
        return;
    }
    report_add(f->report, address && strstr(address, "(shared") ? FOUND_WARNING : FOUND_NOTE,
               "security.yama",
               "kernel.yama.ptrace_scope is %lld: toed --ip shared cannot find the listeners of "
               "programs",
               scope);
    report_advice(f->report,
                  "set kernel.yama.ptrace_scope to 2 or less in /etc/sysctl.d, and boot");
}

void check_security(struct facts *f)
{
    check_selinux(f->report);
    check_apparmor(f);
    check_yama(f);
}
