/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire_hostile.c - the shared-memory wire with a hostile other side, written by hand. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../src/wire_shm.h"
#include "testing.h"

/* ---- a hostile side b ---- */

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
            assert_int_equal(netio_rx(a, f, 4, clock_now()), 0);
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
    assert_int_equal(netio_rx(a, f, 8, clock_now()), 3);
    assert_int_equal(f[0].len, 14);
    assert_int_equal(f[1].len, 2048);
    assert_int_equal(f[2].len, 60);
    netio_rx_release(a, f, 3);
    netio_get_stats(a, &stats);
    /* 2049 bytes fill two slots: the hostile side's length of the second is not read */
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
    assert_int_equal(netio_rx(a, &f, 1, clock_now()), 1);
    memset(slot, 0x22, 60);
    assert_int_equal(f.data[20], 0x11);
    netio_rx_release(a, &f, 1);
    disconnect_hostile(&h);
    netio_close(a);
}

/* Excess wake-ups, never read by this side, and its own never read by the peer. */
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

/* Sends the descriptor the given number of times; once is valid. */
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

/* Memory that the sender could shrink, that has a wrong size, a wrong magic number, or comes twice:
 * it is closed again. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(impossible_heads_end_the_link),
        WITH_FOLDER(impossible_lengths_are_dropped_and_counted),
        WITH_FOLDER(impossible_tails_cost_only_the_liar),
        WITH_FOLDER(received_frames_are_copies),
        WITH_FOLDER(floods_of_wakeups_block_nobody),
        WITH_FOLDER(unsound_memory_is_not_taken),
    };

    return cmocka_run_group_tests_name("netio wire, hostile", tests, NULL, NULL);
}
