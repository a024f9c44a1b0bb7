/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wire.c - the shared-memory wire: order and bytes across many laps, sleeping and waking, two
 * threads and two processes, ends that die and come back, and a hostile other side.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../src/wire_shm.h"
#include "testing.h"

#define MANY 200000u

static int setup(void **state)
{
    (void)state;
    make_folder();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sleeps as an engine does. That the sleep never ends means a lost wake-up; it may happen in a
 * thread or process of its own, where cmocka cannot fail. */
static void rest(struct netio *n)
{
    struct pollfd p = {.fd = netio_fd(n), .events = POLLIN};
    int timed = netio_next_event(n) != UINT64_MAX;

    if (netio_prepare_sleep(n) == 0 && poll(&p, 1, timed ? 1 : 60000) == 0 && !timed) {
        fprintf(stderr, "wire: nobody woke the sleeper\n");
        abort();
    }
}

static int is_linked(struct netio *n)
{
    struct netio_info info;

    netio_get_info(n, &info);
    return strstr(info.mode, "linked") != NULL;
}

static void wait_linked(struct netio *n, int linked)
{
    unsigned tries = 0;

    while (is_linked(n) != linked) {
        assert_int_equal(netio_rx(n, NULL, 0, now()), 0);
        usleep(1000);
        assert_true(++tries < 20000);
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
    assert_true(netio_next_event(a) != UINT64_MAX); /* nobody wakes us when there is room again */
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

/* ---- echo by another thread or process, which sleeps when there is nothing to do ---- */

static void echo(struct netio *n, uint32_t count)
{
    struct netio_frame in[32], out;

    while (count) {
        unsigned got = netio_rx(n, in, 32, now());
        unsigned i;

        for (i = 0; i < got; i++) {
            while (netio_tx_alloc(n, &out)) {
                netio_tx_flush(n, now());
                usleep(100);
            }
            memcpy(out.data, in[i].data, in[i].len);
            out.len = in[i].len;
            netio_tx_submit(n, &out, now());
        }
        netio_rx_release(n, in, got);
        netio_tx_flush(n, now());
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

/* Sends count numbered frames, at most window ahead of the echo, and checks what comes back. */
static void send_and_check(struct netio *n, uint32_t count, uint32_t window)
{
    struct netio_frame f[32];
    uint32_t sent = 0, back = 0;

    while (back < count) {
        unsigned got, i;

        while (sent < count && sent - back < window &&
               send_number(n, sent, length_of(sent), now()) == 0)
            sent++;
        got = netio_rx(n, f, 32, now());
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
    usleep(120000); /* the other has tried and found nobody; no result depends on it */
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

/* Either side may be killed and come back, any number of times. */
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
            assert_int_equal(send_number(n, 1, 60, now()), 0); /* dropped, and nothing else */
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
            assert_int_equal(receive_number(ends[!who], now()), i);
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
    assert_int_equal(netio_prepare_sleep(a), 1); /* look at netio_next_event() again */
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

static void *service_thread(void *n)
{
    unsigned i;

    for (i = 0; i < 300; i++) {
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

/* ---- a hostile side b, written by hand ---- */

struct hostile {
    int fd;
    struct wire_shm *shm;
};

static int connect_by_hand(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_folder("@/w"));
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static void connect_hostile(struct hostile *h, struct netio *a)
{
    uint32_t hello[3];
    struct iovec iov = {hello, sizeof(hello)};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    int memfd;
    void *shm;

    h->fd = connect_by_hand();
    wait_linked(a, 1);
    assert_int_equal(recvmsg(h->fd, &msg, 0), sizeof(hello));
    assert_true(msg.msg_controllen >= CMSG_LEN(sizeof(int)));
    memcpy(&memfd, CMSG_DATA(&control.header), sizeof(int));
    assert_int_equal(ftruncate(memfd, 4096), -1); /* sealed */
    shm = mmap(NULL, wire_shm_size(1500), PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    assert_true(shm != MAP_FAILED);
    close(memfd);
    h->shm = shm;
}

static void disconnect_hostile(struct hostile *h)
{
    munmap(h->shm, wire_shm_size(1500));
    close(h->fd);
}

/* Claims frames with these lengths, from slot 0. */
static void claim(struct hostile *h, const uint32_t *lens, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++)
        atomic_store(&h->shm->rings[1].slots[i].len, lens[i]);
    atomic_store(&h->shm->rings[1].head, count);
}

static void impossible_heads_end_the_link(void **state)
{
    static const uint32_t heads[] = {WIRE_SLOTS + 1, 0x80000000u, 0xffffffffu};
    struct netio *a = open_ok(in_folder("wire:@/w,side=a"));
    struct netio_frame f[4];
    struct netio_stats stats;
    struct hostile h;
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        connect_hostile(&h, a);
        atomic_store(&h.shm->rings[1].head, heads[i]);
        if (i == 0)
            assert_int_equal(netio_rx(a, f, 4, now()), 0);
        else
            assert_int_equal(netio_prepare_sleep(a), 1);
        assert_false(is_linked(a));
        netio_get_stats(a, &stats);
        assert_int_equal(stats.rx_dropped, i + 1);
        disconnect_hostile(&h);
    }
    netio_close(a);
}

static void impossible_lengths_are_dropped_and_counted(void **state)
{
    static const uint32_t lens[] = {0, 13, 14, 2048, 2049, 0xffffffffu, 60};
    struct netio *a = open_ok(in_folder("wire:@/w,side=a"));
    struct netio_frame f[8];
    struct netio_stats stats;
    struct hostile h;

    (void)state;
    connect_hostile(&h, a);
    claim(&h, lens, 7);
    assert_int_equal(netio_rx(a, f, 8, now()), 3);
    assert_int_equal(f[0].len, 14);
    assert_int_equal(f[1].len, 2048);
    assert_int_equal(f[2].len, 60);
    netio_rx_release(a, f, 3);
    netio_get_stats(a, &stats);
    /* 2049 bytes fill two slots: what the liar says of the second is not read */
    assert_int_equal(stats.rx_dropped, 3);
    assert_true(is_linked(a));
    disconnect_hostile(&h);
    netio_close(a);
}

static void impossible_tails_cost_only_the_liar(void **state)
{
    static const uint32_t tails[] = {1, WIRE_SLOTS, 0x7fffffffu, 0xffffffffu};
    struct netio *a = open_ok(in_folder("wire:@/w,side=a"));
    struct hostile h;
    unsigned i, k;

    (void)state;
    connect_hostile(&h, a);
    for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        atomic_store(&h.shm->rings[0].tail, tails[i]);
        for (k = 0; k < 3 * WIRE_SLOTS; k++)
            (void)send_number(a, k, 1514, 1);
    }
    disconnect_hostile(&h);
    netio_close(a);
}

static void received_frames_are_copies(void **state)
{
    static const uint32_t len = 60;
    struct netio *a = open_ok(in_folder("wire:@/w,side=a"));
    uint8_t *slot;
    struct netio_frame f;
    struct hostile h;

    (void)state;
    connect_hostile(&h, a);
    slot = (uint8_t *)(h.shm + 1) + (size_t)WIRE_SLOTS * wire_slot_size(1500);
    memset(slot, 0x11, 60);
    claim(&h, &len, 1);
    assert_int_equal(netio_rx(a, &f, 1, now()), 1);
    memset(slot, 0x22, 60);
    assert_int_equal(f.data[20], 0x11);
    netio_rx_release(a, &f, 1);
    disconnect_hostile(&h);
    netio_close(a);
}

/* More wake-ups than anyone needs, unread by us, and ours unread by them. */
static void floods_of_wakeups_block_nobody(void **state)
{
    struct netio *a = open_ok(in_folder("wire:@/w,side=a"));
    struct hostile h;
    unsigned i;

    (void)state;
    connect_hostile(&h, a);
    for (i = 0; i < 5000; i++)
        (void)send(h.fd, "x", 1, MSG_DONTWAIT);
    for (i = 0; i < 5000; i++) {
        (void)netio_prepare_sleep(a);
        atomic_store(&h.shm->rings[0].sleeping, 1);
        atomic_store(&h.shm->rings[0].tail, i);
        assert_int_equal(send_number(a, i, 60, 1), 0);
    }
    assert_true(is_linked(a));
    disconnect_hostile(&h);
    netio_close(a);
}

/* ---- a hostile side a ---- */

static unsigned descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* The descriptor as often as asked for, which should be once. */
static void send_memory(int fd, int memfd, uint32_t magic, unsigned count)
{
    int fds[2] = {memfd, memfd};
    uint32_t hello[3] = {magic, 3 /* linked */, 1500};
    struct iovec iov = {hello, sizeof(hello)};
    char control[CMSG_SPACE(sizeof(fds))] = {0};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    assert_int_equal(sendmsg(fd, &msg, 0), sizeof(hello));
}

/* Memory that could vanish under our feet, of a wrong size, behind a wrong word, or twice: it is
 * closed again. */
static void unsound_memory_is_not_taken(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct netio *b;
    unsigned open;
    int i;

    (void)state;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_folder("@/w"));
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 4), 0);
    b = open_ok(in_folder("wire:@/w,side=b"));
    open = descriptors();
    for (i = 0; i < 5; i++) {
        int memfd = memfd_create("test", MFD_ALLOW_SEALING);
        size_t size = i == 1 ? 4096 : wire_shm_size(1500);
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        char byte;
        unsigned k;

        assert_true(fd >= 0);
        assert_int_equal(ftruncate(memfd, (off_t)size), 0);
        if (i != 0)
            assert_int_equal(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
        send_memory(fd, memfd, i == 2 ? 0 : WIRE_MAGIC, i == 3 ? 2 : 1);
        for (k = 0; k < 60; k++) /* some calls until it tries again after a refusal */
            (void)netio_prepare_sleep(b);
        assert_int_equal(is_linked(b), i == 4);
        if (i != 4)
            assert_int_equal(recv(fd, &byte, 1, 0), 0);
        close(fd);
        close(memfd);
        assert_int_equal(descriptors(), open);
    }
    close(listener);
    netio_close(b);
}

#define WITH_FOLDER(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
        WITH_FOLDER(refusals_say_why),
        WITH_FOLDER(another_file_at_the_path_stays),
        WITH_FOLDER(jumbo_frames),
        WITH_FOLDER(impossible_heads_end_the_link),
        WITH_FOLDER(impossible_lengths_are_dropped_and_counted),
        WITH_FOLDER(impossible_tails_cost_only_the_liar),
        WITH_FOLDER(received_frames_are_copies),
        WITH_FOLDER(floods_of_wakeups_block_nobody),
        WITH_FOLDER(unsound_memory_is_not_taken),
    };

    return cmocka_run_group_tests_name("netio wire", tests, NULL, NULL);
}
