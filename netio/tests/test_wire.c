/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wire.c - the shared-memory wire: order and bytes across many laps, sleep and wake-up, two
 * threads and two processes, ends that die and reconnect.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../src/wire_shm.h"
#include "testing.h"

#define MANY 200000u

/* Sleeps as an engine does. A sleep without end is a lost wake-up; in another thread or process
 * cmocka cannot fail the test. */
static void rest(struct netio *n)
{
    struct pollfd p = {.fd = netio_fd(n), .events = POLLIN};
    int timed = netio_next_event(n) != UINT64_MAX;

    if (netio_prepare_sleep(n) == 0 && poll(&p, 1, timed ? 1 : 60000) == 0 && !timed) {
        fprintf(stderr, "wire: the sleeper was not woken\n");
        abort();
    }
}

static void open_both(struct netio **a, struct netio **b)
{
    *a = open_ok(in_folder("wire:@/w,side=a"));
    *b = open_ok(in_folder("wire:@/w,side=b"));
    wait_linked(*a, 1);
    wait_linked(*b, 1);
}

static uint32_t length_of(uint32_t number)
{
    return 60 + (number * 7919u) % 1455u;
}

static void frames_keep_order_and_bytes_over_many_laps(void **state)
{
    struct netio_stats stats;
    struct netio *a, *b;
    struct netio_frame f;
    uint32_t i, j;

    (void)state;
    open_both(&a, &b);
    for (i = 0; i < 5 * WIRE_SLOTS + 3; i++) {
        assert_int_equal(send_number(a, i, length_of(i), 1), 0);
        assert_int_equal(netio_rx(b, &f, 1, 1), 1);
        assert_int_equal(frame_number(&f), i);
        assert_int_equal(f.len, length_of(i));
        assert_int_equal(f.flags, NETIO_F_L4_CSUM_OK);
        for (j = 18; j < f.len; j++)
            assert_int_equal(f.data[j], 0x5a);
        netio_rx_release(b, &f, 1);
    }
    netio_get_stats(a, &stats);
    assert_int_equal(stats.tx_frames, 5 * WIRE_SLOTS + 3);
    assert_int_equal(stats.tx_dropped, 0);
    netio_close(a);
    netio_close(b);
}

static void a_full_ring_refuses_and_goes_on(void **state)
{
    struct netio *a, *b;
    uint32_t i;

    (void)state;
    open_both(&a, &b);
    for (i = 0; i < WIRE_SLOTS; i++)
        assert_int_equal(send_number(a, i, 60, 1), 0);
    assert_int_equal(send_number(a, i, 60, 1), -1);
    assert_true(netio_next_event(a) != UINT64_MAX); /* no wake-up comes when there is room again */
    assert_int_equal(receive_number(b, 1), 0);
    assert_int_equal(send_number(a, i, 60, 1), 0);
    assert_int_equal(send_number(a, i, 60, 1), -1);
    for (i = 1; i <= WIRE_SLOTS; i++)
        assert_int_equal(receive_number(b, 1), i);
    assert_int_equal(receive_number(b, 1), -1);
    netio_close(a);
    netio_close(b);
}

static void frames_may_be_released_in_any_order(void **state)
{
    struct netio_frame f[4];
    struct netio *a, *b;
    uint32_t i;

    (void)state;
    open_both(&a, &b);
    for (i = 0; i < 4; i++)
        assert_int_equal(send_number(a, i, 60, 1), 0);
    assert_int_equal(netio_rx(b, f, 4, 1), 4);
    for (i = 4; i < 3 * WIRE_SLOTS; i++) {
        assert_int_equal(send_number(a, i, 60, 1), 0);
        assert_int_equal(receive_number(b, 1), i);
    }
    for (i = 0; i < 4; i++)
        assert_int_equal(frame_number(&f[i]), i);
    for (i = 4; i-- > 0;)
        netio_rx_release(b, &f[i], 1);
    netio_close(a);
    netio_close(b);
}

static void cancelled_buffers_are_not_sent(void **state)
{
    struct netio_frame f;
    struct netio *a, *b;

    (void)state;
    open_both(&a, &b);
    assert_int_equal(netio_tx_alloc(a, &f), 0);
    netio_tx_cancel(a, &f);
    assert_int_equal(send_number(a, 5, 60, 1), 0);
    assert_int_equal(receive_number(b, 1), 5);
    assert_int_equal(receive_number(b, 1), -1);
    netio_close(a);
    netio_close(b);
}

static void sender_vouches_for_the_checksum(void **state)
{
    struct netio_frame f;
    struct netio *a, *b;

    (void)state;
    open_both(&a, &b);
    assert_int_equal(netio_tx_alloc(a, &f), 0);
    memset(f.data, 0, 60);
    f.len = 60;
    f.flags = 0;
    netio_tx_submit(a, &f, 1);
    netio_tx_flush(a, 1);
    assert_int_equal(netio_rx(b, &f, 1, 1), 1);
    assert_int_equal(f.flags, 0);
    netio_rx_release(b, &f, 1);
    netio_close(a);
    netio_close(b);
}

static void without_the_other_side_sending_drops(void **state)
{
    struct netio_stats stats;
    struct netio *a = open_ok(in_folder("wire:@/w,side=a"));

    (void)state;
    assert_int_equal(send_number(a, 1, 60, 1), 0);
    assert_int_equal(receive_number(a, 1), -1);
    netio_get_stats(a, &stats);
    assert_int_equal(stats.tx_dropped, 1);
    assert_int_equal(stats.tx_frames, 0);
    assert_false(is_linked(a));
    netio_close(a);
}

/* ---- echo by another thread or process, which sleeps when idle ---- */

static void echo(struct netio *n, uint32_t count)
{
    struct netio_frame in[32], out;

    while (count) {
        unsigned got = netio_rx(n, in, 32, clock_now());
        unsigned i;

        for (i = 0; i < got; i++) {
            while (netio_tx_alloc(n, &out)) {
                netio_tx_flush(n, clock_now());
                usleep(100);
            }
            memcpy(out.data, in[i].data, in[i].len);
            out.len = in[i].len;
            netio_tx_submit(n, &out, clock_now());
        }
        netio_rx_release(n, in, got);
        netio_tx_flush(n, clock_now());
        count -= got;
        if (!got)
            rest(n);
    }
}

static void *echo_thread(void *n)
{
    echo(n, MANY);
    return NULL;
}

/* Sends count numbered frames, at most window ahead of the echo, and checks the echo. */
static void send_and_check(struct netio *n, uint32_t count, uint32_t window)
{
    struct netio_frame f[32];
    uint32_t sent = 0, back = 0;

    while (back < count) {
        unsigned got, i;

        while (sent < count && sent - back < window &&
               send_number(n, sent, length_of(sent), clock_now()) == 0)
            sent++;
        got = netio_rx(n, f, 32, clock_now());
        for (i = 0; i < got; i++, back++) {
            assert_int_equal(frame_number(&f[i]), back);
            assert_int_equal(f[i].len, length_of(back));
        }
        netio_rx_release(n, f, got);
        if (!got)
            rest(n);
    }
}

static void two_threads(void **state)
{
    struct netio *a, *b;
    pthread_t thread;

    (void)state;
    open_both(&a, &b);
    assert_int_equal(pthread_create(&thread, NULL, echo_thread, b), 0);
    send_and_check(a, MANY / 100, 1); /* each frame finds the other asleep */
    send_and_check(a, MANY - MANY / 100, 500);
    pthread_join(thread, NULL);
    netio_close(a);
    netio_close(b);
}

static pid_t start_echo(const char *spec, uint32_t count)
{
    const struct netio_config cfg = {.seed = 1};
    pid_t child = fork();
    struct netio *n;
    char err[512];

    assert_true(child >= 0);
    if (child)
        return child;
    n = netio_open(spec, &cfg, err, sizeof(err));
    if (!n)
        _exit(1);
    echo(n, count);
    netio_close(n);
    _exit(0);
}

static void two_processes_b_first(void **state)
{
    pid_t child = start_echo(in_folder("wire:@/w,side=b"), MANY);
    struct netio *a;
    int status;

    (void)state;
    usleep(120000); /* the other side has tried and found no peer; no result depends on it */
    a = open_ok(in_folder("wire:@/w"));
    wait_linked(a, 1);
    send_and_check(a, MANY, 300);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    netio_close(a);
}

static void kill_and_reap(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Either side may be killed and reconnect, any number of times. */
static void death_is_noticed_and_a_new_peer_is_linked(void **state)
{
    static const char *const specs[][2] = {{"wire:@/w,side=a", "wire:@/w,side=b"},
                                           {"wire:@/w,side=b", "wire:@/w,side=a"}};
    unsigned i, round;

    (void)state;
    for (i = 0; i < 2; i++) {
        struct netio *n = open_ok(in_folder(specs[i][0]));

        for (round = 0; round < 3; round++) {
            pid_t child = start_echo(in_folder(specs[i][1]), UINT32_MAX);

            wait_linked(n, 1);
            send_and_check(n, 2000, 50);
            kill_and_reap(child);
            wait_linked(n, 0);
            assert_int_equal(send_number(n, 1, 60, clock_now()),
                             0); /* dropped, without other effects */
        }
        netio_close(n);
        (void)unlink(in_folder("@/w")); /* of the side a that was killed */
    }
}

/* The last frames of a side that ends are resets of its connections: they must arrive. */
static void last_frames_before_the_end_arrive(void **state)
{
    struct netio *ends[2];
    uint32_t i;
    unsigned who;

    (void)state;
    for (who = 0; who < 2; who++) {
        open_both(&ends[0], &ends[1]);
        for (i = 0; i < 5; i++)
            assert_int_equal(send_number(ends[who], i, 60, 1), 0);
        netio_close(ends[who]);
        assert_int_equal(netio_prepare_sleep(ends[!who]), 1);
        for (i = 0; i < 5; i++)
            assert_int_equal(receive_number(ends[!who], clock_now()), i);
        assert_int_equal(send_number(ends[!who], 9, 60, 1), 0); /* dropped */
        wait_linked(ends[!who], 0);
        netio_close(ends[!who]);
    }
}

static void death_wakes_a_sleeper(void **state)
{
    struct netio *a = open_ok(in_folder("wire:@/w,side=a"));
    pid_t child = start_echo(in_folder("wire:@/w,side=b"), UINT32_MAX);
    struct pollfd p = {.fd = netio_fd(a), .events = POLLIN};

    (void)state;
    wait_linked(a, 1);
    assert_int_equal(netio_prepare_sleep(a), 0);
    assert_int_equal(poll(&p, 1, 0), 0);
    kill_and_reap(child);
    assert_int_equal(poll(&p, 1, 20000), 1);
    assert_int_equal(netio_prepare_sleep(a), 1); /* call netio_next_event() again */
    assert_int_equal(netio_prepare_sleep(a), 0);
    assert_false(is_linked(a));
    assert_int_equal(poll(&p, 1, 0), 0); /* and does not keep it awake */
    netio_close(a);
}

static void there_is_one_side_a_and_it_cleans_up(void **state)
{
    struct netio *a, *b;

    (void)state;
    open_both(&a, &b);
    open_fails(in_folder("wire:@/w,side=a"), "another process is side a");
    netio_close(b);
    netio_close(a);
    assert_int_equal(access(in_folder("@/w"), F_OK), -1);
    assert_int_equal(access(in_folder("@/w.lock"), F_OK), -1);
}

/* The owner of the directory cannot make side a create or remove files elsewhere. */
static void links_are_not_followed(void **state)
{
    char target[256];
    struct netio *a;

    (void)state;
    snprintf(target, sizeof(target), "%s", in_folder("@/target"));
    assert_int_equal(symlink(target, in_folder("@/w.lock")), 0);
    open_fails(in_folder("wire:@/w,side=a"), "cannot create");
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(unlink(in_folder("@/w.lock")), 0);
    assert_int_equal(symlink(target, in_folder("@/w")), 0);
    open_fails(in_folder("wire:@/w,side=a"), "is not a socket");
    assert_int_equal(unlink(in_folder("@/w")), 0);
    a = open_ok(in_folder("wire:@/w,side=a"));
    assert_int_equal(unlink(in_folder("@/w")), 0);
    assert_int_equal(unlink(in_folder("@/w.lock")), 0);
    assert_int_equal(mknod(in_folder("@/w"), S_IFREG | 0600, 0), 0);
    assert_int_equal(mknod(in_folder("@/w.lock"), S_IFREG | 0600, 0), 0);
    netio_close(a);
    assert_int_equal(unlink(in_folder("@/w")), 0);
    assert_int_equal(unlink(in_folder("@/w.lock")), 0);
}

static atomic_int served; /* long enough */

static void *service_thread(void *n)
{
    while (!served) {
        (void)netio_prepare_sleep(n);
        usleep(1000);
    }
    return NULL;
}

static void refusals_say_why(void **state)
{
    struct netio *a, *b;
    pthread_t thread;

    (void)state;
    open_both(&a, &b);
    assert_int_equal(pthread_create(&thread, NULL, service_thread, a), 0);
    open_fails(in_folder("wire:@/w,side=b"), "has both its ends already");
    open_fails(in_folder("wire:@/w,side=b,mtu=9000"), "has MTU 1500, this one 9000");
    served = 1;
    pthread_join(thread, NULL);
    netio_close(a);
    netio_close(b);
}

static void another_file_at_the_path_stays(void **state)
{
    int fd = open(in_folder("@/w"), O_CREAT | O_WRONLY, 0600);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    open_fails(in_folder("wire:@/w,side=a"), "is not a socket");
    assert_int_equal(access(in_folder("@/w"), F_OK), 0);
}

static void jumbo_frames(void **state)
{
    struct netio *a = open_ok(in_folder("wire:@/w,side=a,mtu=9000"));
    struct netio *b = open_ok(in_folder("wire:@/w,side=b,mtu=9000"));
    struct netio_frame f;

    (void)state;
    wait_linked(a, 1);
    wait_linked(b, 1);
    assert_int_equal(send_number(a, 3, 9014, 1), 0);
    assert_int_equal(netio_rx(b, &f, 1, 1), 1);
    assert_int_equal(f.len, 9014);
    netio_rx_release(b, &f, 1);
    netio_close(a);
    netio_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(frames_keep_order_and_bytes_over_many_laps),
        WITH_FOLDER(a_full_ring_refuses_and_goes_on),
        WITH_FOLDER(frames_may_be_released_in_any_order),
        WITH_FOLDER(cancelled_buffers_are_not_sent),
        WITH_FOLDER(sender_vouches_for_the_checksum),
        WITH_FOLDER(without_the_other_side_sending_drops),
        WITH_FOLDER(two_threads),
        WITH_FOLDER(two_processes_b_first),
        WITH_FOLDER(death_is_noticed_and_a_new_peer_is_linked),
        WITH_FOLDER(last_frames_before_the_end_arrive),
        WITH_FOLDER(death_wakes_a_sleeper),
        WITH_FOLDER(there_is_one_side_a_and_it_cleans_up),
        WITH_FOLDER(links_are_not_followed),
        WITH_FOLDER(refusals_say_why),
        WITH_FOLDER(another_file_at_the_path_stays),
        WITH_FOLDER(jumbo_frames),
    };

    return cmocka_run_group_tests_name("netio wire", tests, NULL, NULL);
}
