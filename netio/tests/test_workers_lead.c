/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_workers_lead.c - several processes of one address: which one steers, also when others die,
 * and which may join.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/workers_file.h"
#include "several.h"

/* ---- who steers ---- */

static void another_worker_takes_over(void **state)
{
    struct segment data = tcp4(1, PORT, 1, 0x10), ours = tcp4(0, PORT, 1, 0x10), last;
    struct netio_info info;
    struct netio *w[2];

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(open_flow(1, w, 2), 1);
    netio_get_info(w[1], &info);
    assert_non_null(strstr(info.mode, "number 0 steers"));
    assert_int_equal(info.worker, 1);
    assert_int_equal(info.workers, 4);
    send_frame(w[1], &ours); /* waits in the ring */
    netio_close(w[0]);
    assert_int_equal(netio_prepare_sleep(w[1]), 1); /* there is something to do */
    settle(w[1]);
    netio_get_info(w[1], &info);
    assert_non_null(strstr(info.mode, "worker 1 of 4 at most, steers wire"));
    while (!is_linked(peer) || !is_linked(w[1])) {
        now += 20 * MS;
        (void)receive(peer, NULL);
        (void)receive(w[1], NULL);
    }
    send_frame(w[1], &ours);
    assert_true(receive(peer, &last) >= 1);
    assert_memory_equal(last.bytes, ours.bytes, ours.len);
    assert_int_equal(arrives_at(&data, &w[1], 1), 0);
    netio_close(w[1]);
}

/* A child that has joined: writes a byte, then waits for its end. */
static pid_t start_worker(int ready)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    netio_listens(worker(), 0, PORT, NETIO_LISTEN_SERVES);
    (void)!write(ready, "", 1);
    for (;;)
        pause();
}

static void wait_for(int fd)
{
    char byte;

    assert_int_equal(read(fd, &byte, 1), 1);
}

static void kill_worker(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_killed_worker_is_noticed(void **state)
{
    struct segment syn;
    struct netio *w;
    int ready[2];
    unsigned i;
    pid_t pid;

    (void)state;
    open_workers(&w, 1);
    assert_int_equal(pipe(ready), 0);
    pid = start_worker(ready[1]);
    wait_for(ready[0]);
    settle(w);
    assert_int_equal(inside(w)->alive, 3);
    kill_worker(pid);
    settle(w);
    assert_int_equal(inside(w)->alive, 1);
    for (i = 0; i < 16; i++) {
        syn = tcp4(1, PORT, 100 + i, SEEN_SYN);
        assert_int_equal(arrives_at(&syn, &w, 1), 0);
    }
    netio_listens(w, 0, PORT, NETIO_LISTEN_NOT); /* a server starts a worker for the dead one */
    send_frame(peer, &syn);
    assert_int_equal(receive(w, NULL), 0);
    netio_close(w);
    close(ready[0]);
    close(ready[1]);
}

static void a_killed_worker_that_steers_is_replaced(void **state)
{
    struct pollfd p = {.events = POLLIN};
    struct netio_frame f;
    struct netio *w;
    int ready[2];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid = start_worker(ready[1]);
    wait_for(ready[0]);
    w = worker();
    assert_int_equal(inside(w)->steers, 0);
    assert_int_equal(netio_prepare_sleep(w), 0);
    p.fd = netio_fd(w);
    assert_int_equal(poll(&p, 1, 0), 0);
    kill_worker(pid);
    assert_int_equal(poll(&p, 1, 60000), 1); /* its end wakes this one */
    assert_int_equal(netio_rx(w, &f, 1, later()), 0);
    assert_int_equal(inside(w)->steers, 1);
    netio_close(w);
    close(ready[0]);
    close(ready[1]);
}

/* A child of fork() that lives on must not keep the claim of its parent. */
static void a_forked_child_keeps_no_claim(void **state)
{
    struct netio *w;
    int ready[2];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    w = worker();
    pid = fork();
    if (!pid) {
        netio_forget(w);
        (void)!write(ready[1], "", 1);
        for (;;)
            pause();
    }
    wait_for(ready[0]);
    netio_close(w);
    w = worker();
    assert_int_equal(inside(w)->g.number, 0);
    assert_int_equal(inside(w)->steers, 1);
    netio_close(w);
    kill_worker(pid);
    close(ready[0]);
    close(ready[1]);
}

static void sleepers_are_woken(void **state)
{
    struct segment syn = tcp4(1, PORT, 1, SEEN_SYN), answer = tcp4(0, PORT, 1, SEEN_SYN | 0x10);
    struct pollfd p = {.events = POLLIN};
    struct netio *w[2];

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(netio_prepare_sleep(w[1]), 0);
    p.fd = netio_fd(w[1]);
    assert_int_equal(poll(&p, 1, 0), 0);
    send_frame(peer, &syn);
    assert_int_equal(receive(w[0], NULL), 0);
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_int_equal(netio_prepare_sleep(w[1]), 1);
    assert_int_equal(receive(w[1], NULL), 1);
    assert_int_equal(netio_prepare_sleep(w[0]), 0);
    p.fd = netio_fd(w[0]);
    assert_int_equal(poll(&p, 1, 0), 0);
    send_frame(w[1], &answer);
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_int_equal(netio_prepare_sleep(w[0]), 1);
    close_workers(w, 2);
}

/* ---- wrong input, and workers that misbehave ---- */

static void what_does_not_fit_is_refused(void **state)
{
    struct netio *w;

    (void)state;
    open_fails("workers(4):wire:x,side=a", "only for an engine within a program");
    refused("workers():wire:@/w,side=a", "workers(): write workers(N):SPEC, N from 2 to 64");
    refused("workers(1):wire:@/w,side=a", "workers(1): write");
    refused("workers(65):wire:@/w,side=a", "workers(65): write");
    refused("workers(2x):wire:@/w,side=a", "workers(2x): write");
    refused("workers(2)wire:@/w,side=a", "write workers(N):SPEC");
    refused("workers(2):workers(2):wire:@/w,side=a", "not with --ip shared, within itself");
    refused("workers(2):nothing:x", "unknown kind 'nothing'");
    w = worker();
    refused("workers(5):wire:@/w,side=a", "another number in workers()");
    refused("workers(4):wire:@/x,side=a", "another interface or address");
    netio_close(w);
}

static void no_more_workers_than_announced(void **state)
{
    struct netio *w[4];

    (void)state;
    open_workers(w, 4);
    refused(SPEC, "there are 4 already");
    netio_close(w[2]);
    w[2] = worker();
    assert_int_equal(inside(w[2])->g.number, 2);
    close_workers(w, 4);
}

static void a_strange_file_is_refused(void **state)
{
    FILE *f = fopen(group_path, "we");

    (void)state;
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(group_path, 0666), 0);
    refused(SPEC, "its mode is not 0600");
    assert_int_equal(unlink(group_path), 0);
    assert_int_equal(symlink("/dev/null", group_path), 0);
    refused(SPEC, group_path);
    assert_int_equal(unlink(group_path), 0);
}

/* A killed last worker leaves the file; the first one of another group removes it. */
static void what_killed_workers_left_is_removed(void **state)
{
    char dead[sizeof(group_path)], lives[sizeof(group_path)], other[sizeof(group_path)];
    struct netio *w;
    FILE *f;

    (void)state;
    snprintf(dead, sizeof(dead), "%s", in_folder("@/group.dead"));
    snprintf(lives, sizeof(lives), "%s", in_folder("@/group.lives"));
    snprintf(other, sizeof(other), "%s", in_folder("@/grouped"));
    f = fopen(dead, "we");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(dead, 0600), 0);
    f = fopen(other, "we");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    memcpy(group_path, lives, sizeof(group_path));
    w = worker();
    assert_int_not_equal(access(dead, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    workers_file_sweep(dead);
    assert_int_equal(access(lives, F_OK), 0);
    netio_close(w);
    assert_int_not_equal(access(lives, F_OK), 0);
}

/* Another program with the claim, which is no worker. */
static void a_claim_of_others_is_respected(void **state)
{
    struct group other = {.claim_count = 1, .claim_fd = {-1, -1, -1}};
    char words[64];

    (void)state;
    snprintf(other.claims[0], sizeof(other.claims[0]), "%s", claim_name);
    assert_int_equal(group_claim(&other), 0);
    snprintf(words, sizeof(words), "already served by process %d", getpid());
    refused(SPEC, words);
    group_unclaim(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_GROUP(another_worker_takes_over),
        WITH_GROUP(a_killed_worker_is_noticed),
        WITH_GROUP(a_killed_worker_that_steers_is_replaced),
        WITH_GROUP(a_forked_child_keeps_no_claim),
        WITH_GROUP(sleepers_are_woken),
        WITH_GROUP(what_does_not_fit_is_refused),
        WITH_GROUP(no_more_workers_than_announced),
        WITH_GROUP(a_strange_file_is_refused),
        WITH_GROUP(what_killed_workers_left_is_removed),
        WITH_GROUP(a_claim_of_others_is_respected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
