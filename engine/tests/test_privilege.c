/* SPDX-License-Identifier: Apache-2.0 */
/* test_privilege.c - the rights that toed keeps; each drop happens in a child of its own. */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/door.h"
#include "process/privilege.h"

#define BIT(cap) (1ull << (cap))
#define USER     54321u
#define GROUP    54322u

static void test_needed(void **state)
{
    const uint64_t xdp = BIT(CAP_NET_ADMIN) | BIT(CAP_NET_RAW) | BIT(CAP_BPF) | BIT(CAP_IPC_LOCK);
    const uint64_t shared = xdp | BIT(CAP_PERFMON) | BIT(CAP_NET_BIND_SERVICE) |
                            BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH);

    (void)state;
    assert_int_equal(privilege_needed("tap:tap0", 0), BIT(CAP_NET_ADMIN));
    assert_int_equal(privilege_needed("af_xdp:eth0,mode=native", 0), xdp);
    assert_int_equal(privilege_needed("af_xdp:eth0", 1), shared);
    assert_int_equal(privilege_needed("impair(loss=1):tee(/x/y):af_xdp:eth0", 0), xdp);
    assert_int_equal(privilege_needed("wire:/x,side=a", 0), 0);
    assert_int_equal(privilege_needed("pcap:/x", 0), 0);
    assert_true(privilege_needed("dpdk:net_ring0", 0) == UINT64_MAX);
    assert_true(privilege_needed("impair(loss=1):dpdk:net_ring0", 0) == UINT64_MAX);
}

static void find(const char *run_as, int want, const char *sentence)
{
    struct options o = {.netif = "tap:tap0", .run_as = run_as};
    char err[256] = "";

    assert_int_equal(privilege_find(&o, err, sizeof(err)), want);
    if (sentence)
        assert_non_null(strstr(err, sentence));
}

static void test_find(void **state)
{
    struct options o = {.netif = "tap:tap0", .run_as = "54321:54322"};
    char err[256];

    (void)state;
    find("no-such-user", EXIT_CONFIG, "--run-as no-such-user: there is no user 'no-such-user'");
    find("root:no-such-group", EXIT_CONFIG, "there is no group 'no-such-group'");
    find("54321", EXIT_CONFIG, "name its group too, as USER:GROUP");
    find("4294967295:0", EXIT_CONFIG, "there is no user '4294967295'"); /* "unchanged" */
    find("0:4294967295", EXIT_CONFIG, "there is no group '4294967295'");
    find("-1:0", EXIT_CONFIG, "there is no user '-1'");
    if (geteuid() != 0)
        skip();
    find("root", -1, NULL);
    assert_int_equal(privilege_find(&o, err, sizeof(err)), -1);
    assert_int_equal(o.run_uid, USER);
    assert_int_equal(o.run_gid, GROUP);
    o.netif = "dpdk:net_ring0";
    assert_int_equal(privilege_find(&o, err, sizeof(err)), EXIT_CONFIG);
    assert_non_null(strstr(err, "not with DPDK"));
}

/* ---- drops ---- */

/* Runs fn in a child; fails unless it returns 0. */
static void in_child(int (*fn)(void))
{
    int status = 0;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(fn());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int has_exactly(cap_flag_t flag, uint64_t want)
{
    cap_t c = cap_get_proc();
    cap_value_t cap;

    for (cap = 0; cap < 64 && CAP_IS_SUPPORTED(cap); cap++) {
        cap_flag_value_t on = CAP_CLEAR;

        if (cap_get_flag(c, cap, flag, &on) != 0 || (on == CAP_SET) != (want >> cap & 1))
            return 0;
    }
    cap_free(c);
    return 1;
}

static int bounded_to(uint64_t want)
{
    cap_value_t cap;

    for (cap = 0; cap < 64 && CAP_IS_SUPPORTED(cap); cap++)
        if ((cap_get_bound(cap) == 1) != (want >> cap & 1))
            return 0;
    return 1;
}

/* Returns 0 when the process has exactly these rights, and cannot get others back. */
static int check(uid_t uid, gid_t gid, uint64_t want)
{
    uid_t u[3];
    gid_t g[3], groups[64];
    int n = getgroups(64, groups);

    if (getresuid(&u[0], &u[1], &u[2]) != 0 || u[0] != uid || u[1] != uid || u[2] != uid)
        return 1;
    if (getresgid(&g[0], &g[1], &g[2]) != 0 || g[0] != gid || g[1] != gid || g[2] != gid)
        return 2;
    if (uid != 0 && (n != 1 || groups[0] != gid))
        return 3;
    if (!has_exactly(CAP_EFFECTIVE, want) || !has_exactly(CAP_PERMITTED, want) ||
        !has_exactly(CAP_INHERITABLE, 0))
        return 4;
    if (!bounded_to(want))
        return 5;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return 6;
    if (uid != 0 && (setuid(0) == 0 || setgid(0) == 0))
        return 7;
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1 ? 0 : 8;
}

static int drop_to_user(void)
{
    const struct options o = {
        .netif = "tap:tap0", .run_as = "x", .run_uid = USER, .run_gid = GROUP};
    char err[256];

    if (privilege_drop(&o, BIT(CAP_NET_ADMIN), err, sizeof(err)) != 0)
        return 100;
    return check(USER, GROUP, BIT(CAP_NET_ADMIN));
}

static int drop_all(void)
{
    const struct options o = {.netif = "wire:/x", .run_as = "x", .run_uid = USER, .run_gid = GROUP};
    char err[256];

    return privilege_drop(&o, 0, err, sizeof(err)) != 0 ? 100 : check(USER, GROUP, 0);
}

static int stay_root(void)
{
    const struct options o = {.netif = "tap:tap0"};
    char err[256], text[PRIVILEGE_TEXT];

    if (privilege_drop(&o, BIT(CAP_NET_ADMIN) | BIT(CAP_NET_RAW), err, sizeof(err)) != 0)
        return 100;
    privilege_text(text, sizeof(text));
    if (strcmp(text, "user 0, cap_net_admin cap_net_raw") != 0)
        return 101;
    return check(0, getegid(), BIT(CAP_NET_ADMIN) | BIT(CAP_NET_RAW));
}

/* After a mark, the process of the user of --run-as may end this one, and nothing is lost yet. */
static int mark(void)
{
    const struct options o = {.run_as = "x", .run_uid = USER, .run_gid = GROUP};
    char before[PRIVILEGE_TEXT], after[PRIVILEGE_TEXT];

    privilege_text(before, sizeof(before));
    if (privilege_mark(&o) != 0 || getuid() != USER || geteuid() != 0)
        return 100;
    privilege_text(after, sizeof(after));
    if (strcmp(before, after) != 0)
        return 101;
    return drop_to_user();
}

static void note_user(void *arg)
{
    *(uid_t *)arg = geteuid();
}

/* The thread of the door keeps the rights of the start. */
static int door(void)
{
    const struct options o = {.run_as = "x", .run_uid = USER, .run_gid = GROUP};
    struct door d;
    uid_t in_thread = USER, here = 0;
    char err[256];

    if (door_start(&d) != 0 || privilege_drop(&o, 0, err, sizeof(err)) != 0)
        return 100;
    door_use(&d, note_user, &in_thread);
    door_use(&d, note_user, &here); /* has ended: in the caller's thread */
    door_shut(&d);
    return in_thread == 0 && here == USER ? 0 : 101;
}

static int door_unused(void)
{
    struct door d;

    if (door_start(&d) != 0)
        return 100;
    door_shut(&d);
    return d.has_thread;
}

static void test_drops(void **state)
{
    (void)state;
    in_child(door_unused);
    if (geteuid() != 0)
        skip();
    in_child(drop_to_user);
    in_child(drop_all);
    in_child(stay_root);
    in_child(mark);
    in_child(door);
}

/* Without the right to change the user. */
static int cannot(void)
{
    const struct options o = {.netif = "tap:tap0"};
    struct options other = {.netif = "tap:tap0", .run_as = "54321:54322"};
    char err[256] = "";

    if (privilege_drop(&o, 0, err, sizeof(err)) != 0)
        return 100;
    if (privilege_find(&other, err, sizeof(err)) != EXIT_CONFIG ||
        !strstr(err, "may not change its user: start toed as root"))
        return 101;
    other.run_uid = USER;
    if (privilege_drop(&other, 0, err, sizeof(err)) == 0)
        return 102;
    return strstr(err, "--run-as 54321:54322: cannot become that user") ? 0 : 103;
}

static void test_without_the_right(void **state)
{
    (void)state;
    in_child(cannot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needed),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_drops),
        cmocka_unit_test(test_without_the_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
