/* SPDX-License-Identifier: Apache-2.0 */
/* privilege.c - see privilege.h; capabilities(7), credentials(7). */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <toe/number.h>

#include "interlock.h"
#include "privilege.h"

#define BIT(cap) (1ull << (cap))
/* (uid_t)-1 and (gid_t)-1 mean "unchanged" to the kernel. */
#define ID_MAX (UINT32_MAX - 1)

/* ---- the user ---- */

static int find_group(const char *name, gid_t *gid)
{
    const struct group *g = getgrnam(name);
    uint64_t n = 0;

    if (!g && !toe_number(name, 0, ID_MAX, &n, NULL, 0))
        return -1;
    *gid = g ? g->gr_gid : (gid_t)n;
    return 0;
}

/* Finds the user; its group too, when the user database has one. */
static int find_user(const char *name, uid_t *uid, gid_t *gid, int *has_group)
{
    const struct passwd *u = getpwnam(name);
    uint64_t n = 0;

    if (!u) {
        if (!toe_number(name, 0, ID_MAX, &n, NULL, 0))
            return -1;
        u = getpwuid((uid_t)n);
    }
    *uid = u ? u->pw_uid : (uid_t)n;
    *gid = u ? u->pw_gid : 0;
    *has_group = u != NULL;
    return 0;
}

static int may_change_user(void)
{
    cap_t has = cap_get_proc();
    cap_flag_value_t uid = CAP_CLEAR, gid = CAP_CLEAR;

    if (has) {
        (void)cap_get_flag(has, CAP_SETUID, CAP_EFFECTIVE, &uid);
        (void)cap_get_flag(has, CAP_SETGID, CAP_EFFECTIVE, &gid);
        cap_free(has);
    }
    return uid == CAP_SET && gid == CAP_SET;
}

int privilege_find(struct options *o, char *err, size_t err_size)
{
    char user[64];
    const char *colon = o->run_as ? strchr(o->run_as, ':') : NULL;
    int has_group = 0;

    if (!o->run_as)
        return -1;
    snprintf(user, sizeof(user), "%.*s", colon ? (int)(colon - o->run_as) : 63, o->run_as);
    if (find_user(user, &o->run_uid, &o->run_gid, &has_group) != 0) {
        snprintf(err, err_size, "--run-as %s: there is no user '%s'", o->run_as, user);
        return EXIT_CONFIG;
    }
    if (colon && find_group(colon + 1, &o->run_gid) != 0) {
        snprintf(err, err_size, "--run-as %s: there is no group '%s'", o->run_as, colon + 1);
        return EXIT_CONFIG;
    }
    if (!colon && !has_group) {
        snprintf(err, err_size,
                 "--run-as %s: user %s is in no user database: name its group too, as USER:GROUP",
                 o->run_as, user);
        return EXIT_CONFIG;
    }
    if (privilege_needed(o->netif, o->shared) == UINT64_MAX) {
        snprintf(err, err_size,
                 "--run-as %s: not with DPDK, whose threads and drivers need root's rights",
                 o->run_as);
        return EXIT_CONFIG;
    }
    if ((o->run_uid != geteuid() || o->run_gid != getegid()) && !may_change_user()) {
        snprintf(err, err_size,
                 "--run-as %s: this process may not change its user: start toed as root "
                 "(CAP_SETUID and CAP_SETGID)",
                 o->run_as);
        return EXIT_CONFIG;
    }
    return -1;
}

int privilege_mark(const struct options *o)
{
    return o->run_as ? setresuid(o->run_uid, (uid_t)-1, (uid_t)-1) : 0;
}

/*
 * Changes user and groups of this thread alone: the C library's functions would change those of
 * all threads, also of the one that makes the socket (door.h). Capabilities survive in the
 * permitted set.
 */
static int change_user(uid_t uid, gid_t gid)
{
    uid_t u[3];
    gid_t g[3];

    if (uid == geteuid() && uid == getuid() && gid == getegid() && !may_change_user())
        return 0; /* that user already */
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || syscall(SYS_setgroups, 1, &gid) != 0 ||
        syscall(SYS_setresgid, gid, gid, gid) != 0 || syscall(SYS_setresuid, uid, uid, uid) != 0)
        return -1;
    errno = EPERM;
    if (getresuid(&u[0], &u[1], &u[2]) != 0 || getresgid(&g[0], &g[1], &g[2]) != 0)
        return -1;
    return u[0] == uid && u[1] == uid && u[2] == uid && g[0] == gid && g[1] == gid && g[2] == gid
               ? 0
               : -1;
}

/* ---- capabilities ---- */

uint64_t privilege_needed(const char *netif, int shared)
{
    const char *spec = interlock_unwrapped(netif);
    uint64_t need = 0;

    if (!spec || strncmp(spec, "dpdk:", 5) == 0)
        return UINT64_MAX;
    if (strncmp(spec, "tap:", 4) == 0)
        need = BIT(CAP_NET_ADMIN);
    /* IPC_LOCK: frame memory beyond RLIMIT_MEMLOCK. */
    if (strncmp(spec, "af_xdp:", 7) == 0)
        need = BIT(CAP_NET_ADMIN) | BIT(CAP_NET_RAW) | BIT(CAP_BPF) | BIT(CAP_IPC_LOCK);
    /* PERFMON: the program's own memory. NET_BIND_SERVICE: toed holds ports for programs in the
     * kernel. SYS_PTRACE and DAC_READ_SEARCH: pidfd_getfd(2) and /proc/PID/fd of programs of other
     * users, to find their bound sockets. */
    if (shared)
        need |= BIT(CAP_PERFMON) | BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_SYS_PTRACE) |
                BIT(CAP_DAC_READ_SEARCH);
    return need;
}

/* Drops the rest from the bounding set. Without CAP_SETPCAP that is impossible, and unnecessary:
 * with no new privileges execve(2) adds none. */
static void bound(uint64_t keep)
{
    cap_value_t cap;

    for (cap = 0; cap < 64 && CAP_IS_SUPPORTED(cap); cap++)
        if (!(keep >> cap & 1) && cap_drop_bound(cap) != 0)
            return;
}

/* Sets the permitted and effective capabilities to those of keep that are permitted. */
static int restrict_capabilities(uint64_t keep)
{
    cap_t has = cap_get_proc(), now = cap_init();
    cap_value_t cap;
    int rc = has && now ? 0 : -1;

    for (cap = 0; rc == 0 && cap < 64 && CAP_IS_SUPPORTED(cap); cap++) {
        cap_flag_value_t permitted = CAP_CLEAR;

        rc = cap_get_flag(has, cap, CAP_PERMITTED, &permitted);
        if (rc == 0 && permitted == CAP_SET && (keep >> cap & 1))
            rc = cap_set_flag(now, CAP_PERMITTED, 1, &cap, CAP_SET) ||
                         cap_set_flag(now, CAP_EFFECTIVE, 1, &cap, CAP_SET)
                     ? -1
                     : 0;
    }
    if (rc == 0)
        rc = cap_set_proc(now);
    if (has)
        cap_free(has);
    if (now)
        cap_free(now);
    return rc;
}

int privilege_drop(const struct options *o, uint64_t keep, char *err, size_t err_size)
{
    const char *what = NULL;

    bound(keep);
    (void)cap_reset_ambient(); /* a kernel without ambient capabilities has none to reset */
    if (o->run_as && change_user(o->run_uid, o->run_gid) != 0)
        what = "cannot become that user";
    else if (restrict_capabilities(keep) != 0)
        what = "cannot drop capabilities";
    else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        what = "cannot renounce new privileges";
    if (what) {
        snprintf(err, err_size, "%s%s%s%s: %s", o->run_as ? "--run-as " : "",
                 o->run_as ? o->run_as : "", o->run_as ? ": " : "", what, strerror(errno));
        return -1;
    }
    /* A change of the user makes /proc/self root's, which the names of threads are written to. As
     * long as a capability is kept, processes of the same user may still not trace this one. */
    if (o->run_as)
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return 0;
}

void privilege_text(char *out, size_t size)
{
    cap_t has = cap_get_proc();
    cap_value_t cap;
    size_t n = (size_t)snprintf(out, size, "user %u, ", geteuid());
    unsigned count = 0;

    for (cap = 0; has && cap < 64 && CAP_IS_SUPPORTED(cap); cap++) {
        cap_flag_value_t on = CAP_CLEAR;
        char *name = cap_to_name(cap);

        if (name && cap_get_flag(has, cap, CAP_EFFECTIVE, &on) == 0 && on == CAP_SET && n < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s", count++ ? " " : "", name);
        if (name)
            cap_free(name);
    }
    if (!count && n < size)
        snprintf(out + n, size - n, "no capabilities");
    if (has)
        cap_free(has);
}
