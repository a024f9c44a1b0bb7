/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_numa.c - finds nodes in /sys and binds memory to the given node. A machine with one node
 * tests the kernel's side with that node.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/mempolicy.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/numa.h"

#define PAGE 4096u

static char sys[] = "/tmp/toe-numa-XXXXXX";

static void folder(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", sys, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void no_folder(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", sys, name);
    assert_int_equal(rmdir(path), 0);
}

static void test_nodes_are_found(void **state)
{
    static const char *const one[] = {"node", "node/node0", "cpu", "cpu/cpu0", "cpu/cpu0/node0"};
    static const char *const more[] = {"node/node1", "cpu/cpu9", "cpu/cpu9/node1", "cpu/cpu10"};
    unsigned i;

    (void)state;
    assert_non_null(mkdtemp(sys));
    assert_int_equal(numa_node_of(sys, 0), NUMA_ANY); /* a kernel without NUMA */
    for (i = 0; i < sizeof(one) / sizeof(one[0]); i++)
        folder(one[i]);
    assert_int_equal(numa_node_of(sys, 0), NUMA_ANY); /* nothing to choose */
    for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        folder(more[i]);
    assert_int_equal(numa_node_of(sys, 0), 0);
    assert_int_equal(numa_node_of(sys, 9), 1);
    assert_int_equal(numa_node_of(sys, 10), NUMA_ANY); /* its node is unknown */
    assert_int_equal(numa_node_of(sys, 11), NUMA_ANY); /* there is none */
    for (i = sizeof(more) / sizeof(more[0]); i-- > 0;)
        no_folder(more[i]);
    for (i = sizeof(one) / sizeof(one[0]); i-- > 0;)
        no_folder(one[i]);
    assert_int_equal(rmdir(sys), 0);
}

static int policy(void *at)
{
    int mode = -1;

    assert_int_equal(syscall(SYS_get_mempolicy, &mode, NULL, 0, at, at ? MPOL_F_ADDR : 0), 0);
    return mode;
}

/* Kernels without NUMA, and sandboxes, have no such calls. */
static void need_calls(void)
{
    int mode;

    if (syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) != 0) {
        print_message("get_mempolicy: %s: the kernel's side is not tried\n", strerror(errno));
        skip();
    }
}

static void test_a_thread_prefers_and_goes_back(void **state)
{
    struct numa_policy was;
    int before;

    (void)state;
    need_calls();
    before = policy(NULL);
    assert_int_equal(numa_prefer(0, &was), 0);
    assert_int_equal(policy(NULL), MPOL_PREFERRED);
    numa_restore(&was);
    assert_int_equal(policy(NULL), before);
    assert_int_equal(numa_prefer(NUMA_ANY, &was), 0);
    assert_int_equal(policy(NULL), before);
    numa_restore(&was);
    assert_int_equal(policy(NULL), before);
    assert_int_equal(numa_prefer(NUMA_BITS - 1, &was), EINVAL); /* no such node */
    assert_int_equal(policy(NULL), before);
    numa_restore(&was);
    assert_int_equal(policy(NULL), before);
}

static void test_pages_are_where_they_were_placed(void **state)
{
    unsigned char *p =
        mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *page = p;
    int node = -1;

    (void)state;
    assert_true(p != MAP_FAILED);
    need_calls();
    assert_int_equal(numa_place(p, 4 * PAGE, NUMA_ANY), 0);
    assert_int_equal(policy(p), MPOL_DEFAULT);
    assert_int_equal(numa_place(p, 2 * PAGE, 0), 0);
    assert_int_equal(policy(p), MPOL_PREFERRED);
    assert_int_equal(policy(p + 2 * PAGE), MPOL_DEFAULT);
    *p = 1;
    assert_int_equal(syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0), 0);
    assert_int_equal(node, 0);
    assert_int_equal(numa_place(p, 2 * PAGE, NUMA_BITS - 1), EINVAL);
    munmap(p, 4 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_are_found),
        cmocka_unit_test(test_a_thread_prefers_and_goes_back),
        cmocka_unit_test(test_pages_are_where_they_were_placed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
