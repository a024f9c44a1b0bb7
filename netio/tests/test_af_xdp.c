/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_af_xdp.c - the data path of AF_XDP over rings of the test's own: valid and invalid entries
 * from the kernel. In all cases no buffer is lost or doubled.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../src/af_xdp.h"
#include "testing.h"

#define CHUNKS 512u
#define CHUNK  LARGE_FRAME
#define ROOM   (CHUNK - SEND_HEADROOM)
#define MTU    9000u

/* The kernel's side of the rings. */
static struct {
    uint32_t produced, consumed, flags;
    uint64_t addr[XSOCK_RING];
    struct xdp_desc desc[XSOCK_RING];
} fill, completion, rx, tx;

static struct af_xdp x;

#define RING(r, side, entries)                                                                     \
    do {                                                                                           \
        memset(&(side), 0, sizeof(side));                                                          \
        (r).mask = XSOCK_RING - 1;                                                                 \
        (r).size = XSOCK_RING;                                                                     \
        (r).producer = &(side).produced;                                                           \
        (r).consumer = &(side).consumed;                                                           \
        (r).flags = &(side).flags;                                                                 \
        (r).ring = (side).entries;                                                                 \
    } while (0)

static int open_rings(void **state)
{
    (void)state;
    memset(&x, 0, sizeof(x));
    x.n.ops = &af_xdp_ops;
    x.n.fd = x.sock.fd = x.groups_fd = x.announcements_fd = -1;
    x.n.info.mtu = MTU;
    x.n.info.offered =
        NETIO_O_TX_CSUM | NETIO_O_SG | NETIO_O_RX_CSUM | NETIO_O_PARTIAL | NETIO_O_LRO;
    x.n.info.hold_max = CHUNKS / HOLD_SHARE;
    x.frame_max = x.send_max = MTU + ETH_HEADER;
    x.send_pieces = (x.frame_max + ROOM - 1) / ROOM;
    x.scratch = malloc(x.frame_max);
    RING(x.sock.fill, fill, addr);
    RING(x.sock.tx, tx, desc);
    RING(x.sock.completion, completion, addr);
    RING(x.sock.rx, rx, desc);
    x.sock.fill.cached_cons = x.sock.tx.cached_cons = XSOCK_RING;
    return !x.scratch || pool_init(&x.pool, CHUNK, CHUNKS) ? -1 : 0;
}

static int close_rings(void **state)
{
    (void)state;
    pool_free(&x.pool);
    pool_free(&x.big);
    free(x.scratch);
    return 0;
}

/* Each buffer is in the pool, or the kernel's to receive into, and in no other place or twice. */
static void assert_all_there(uint32_t out)
{
    static uint8_t seen[FRAME_COUNT];
    uint32_t i, n = 0;

    memset(seen, 0, sizeof(seen));
    for (i = 0; i < x.pool.top; i++)
        seen[x.pool.stack[i] / CHUNK]++;
    for (i = fill.consumed; i != fill.produced; i++)
        seen[fill.addr[i % XSOCK_RING] / CHUNK]++;
    for (i = 0; i < x.pool.count; i++) {
        assert_true(seen[i] <= 1);
        n += seen[i];
    }
    assert_int_equal(n, x.pool.count - out);
}

/* Takes a receive buffer, as the kernel does. */
static uint64_t kernel_takes(void)
{
    assert_true(fill.consumed != fill.produced);
    return fill.addr[fill.consumed++ % XSOCK_RING];
}

static void kernel_says(uint64_t addr, uint32_t len, uint32_t options)
{
    rx.desc[rx.produced++ % XSOCK_RING] = (struct xdp_desc){addr, len, options};
}

static void kernel_receives(uint8_t byte, uint32_t len, uint32_t options)
{
    uint64_t addr = kernel_takes() + XDP_HEADROOM;

    memset(x.pool.mem + addr, byte, len);
    kernel_says(addr, len, options);
}

static unsigned receive(struct netio_frame *f, unsigned max)
{
    return netio_rx(&x.n, f, max, 1);
}

static void frames_of_one_and_of_several(void **state)
{
    struct netio_frame f[8];
    unsigned i;

    (void)state;
    af_xdp_refill(&x);
    kernel_receives(1, 60, 0);
    kernel_receives(2, 3840, XDP_PKT_CONTD);
    kernel_receives(3, 3840, XDP_PKT_CONTD);
    assert_int_equal(receive(f, 1), 1); /* the first, and the next ones are cut in two */
    assert_int_equal(f[0].len, 60);
    netio_rx_release(&x.n, f, 1);
    assert_int_equal(receive(f, 1), 0);
    assert_int_equal(receive(f, 8), 0);
    kernel_receives(4, 7, 0);
    kernel_receives(5, 61, 0);
    assert_int_equal(receive(f, 8), 2);
    assert_int_equal(f[0].len, 2 * 3840 + 7);
    for (i = 0; i < f[0].len; i++)
        assert_int_equal(f[0].data[i], 2 + i / 3840);
    assert_int_equal(f[1].data[0], 5);
    netio_rx_release(&x.n, f, 2);
    assert_all_there(0);
    assert_int_equal(x.n.stats.rx_frames, 3);
    assert_int_equal(x.n.stats.rx_dropped, 0);
}

static void what_cannot_be_is_dropped_and_counted(void **state)
{
    struct netio_frame f[8];

    (void)state;
    af_xdp_refill(&x);
    kernel_says((uint64_t)CHUNKS * CHUNK, 60, 0); /* beyond the memory */
    kernel_says(UINT64_MAX - 10, 60, XDP_PKT_CONTD);
    kernel_says(kernel_takes() + 256, CHUNK - 255, 0); /* into the next buffer */
    kernel_says(kernel_takes() + 256, UINT32_MAX, 0);
    kernel_receives(9, 60, 0);
    assert_int_equal(receive(f, 8), 1);
    assert_int_equal(f[0].data[0], 9);
    netio_rx_release(&x.n, f, 1);
    assert_int_equal(x.n.stats.rx_dropped, 4);
    assert_all_there(0);
}

static void too_long_and_without_end(void **state)
{
    struct netio_frame f[80];
    unsigned i;

    (void)state;
    af_xdp_refill(&x);
    for (i = 0; i < 3; i++) /* over the MTU */
        kernel_receives(1, 3840, XDP_PKT_CONTD);
    kernel_receives(1, 1, 0);
    assert_int_equal(receive(f, 80), 0);
    assert_int_equal(x.n.stats.rx_dropped, 1);
    assert_all_there(0);
    netio_set_features(&x.n, UINT32_MAX);
    for (i = 0; i < 500; i++) { /* larger than any frame, and buffers are returned in between */
        kernel_receives(1, 3840, XDP_PKT_CONTD);
        assert_int_equal(receive(f, 80), 0);
    }
    kernel_receives(1, 1, 0);
    kernel_receives(2, 100, 0);
    assert_int_equal(receive(f, 80), 1);
    assert_int_equal(f[0].data[0], 2);
    assert_int_equal(x.n.stats.rx_dropped, 2);
    netio_rx_release(&x.n, f, 1);
    assert_all_there(0);
}

/* More large frames than memory allows, all held by the caller. */
static void no_memory_for_a_large_one(void **state)
{
    struct netio_frame f[BIG_COUNT + 1];
    unsigned i;

    (void)state;
    netio_set_features(&x.n, UINT32_MAX);
    af_xdp_refill(&x);
    for (i = 0; i <= BIG_COUNT; i++) {
        kernel_receives((uint8_t)i, 3840, XDP_PKT_CONTD);
        kernel_receives((uint8_t)i, 10, 0);
        assert_int_equal(receive(&f[i], 2), i < BIG_COUNT);
    }
    assert_int_equal(x.n.stats.rx_dropped, 1);
    for (i = 0; i < BIG_COUNT; i++)
        assert_int_equal(f[i].data[3845], i);
    netio_rx_release(&x.n, f, BIG_COUNT);
    assert_all_there(0);
    kernel_receives(77, 3840, XDP_PKT_CONTD);
    kernel_receives(77, 10, 0);
    assert_int_equal(receive(f, 2), 1);
    netio_rx_release(&x.n, f, 1);
}

/* The frame whose descriptors in the ring begin at `at`. */
static uint32_t sent(uint32_t at, uint8_t *out)
{
    uint32_t len = 0;

    for (;; at++) {
        const struct xdp_desc *d = &tx.desc[at % XSOCK_RING];

        assert_true(at != tx.produced);
        assert_true(d->len > 0 && d->len <= ROOM && d->addr % CHUNK == SEND_HEADROOM);
        memcpy(out + len, x.pool.mem + d->addr, d->len);
        len += d->len;
        if (!(d->options & XDP_PKT_CONTD))
            return len;
    }
}

static void kernel_completes(void)
{
    for (; tx.consumed != tx.produced; tx.consumed++)
        completion.addr[completion.produced++ % XSOCK_RING] =
            tx.desc[tx.consumed % XSOCK_RING].addr;
    netio_tx_flush(&x.n, 1);
}

static void sends_what_one_buffer_does_not_hold(void **state)
{
    static uint8_t payload[MTU], out[2 * MTU];
    const struct tx_metadata *m;
    uint32_t sizes[] = {1, ROOM - 54, ROOM - 53, 2 * ROOM - 54, MTU - 40}, i, k;

    (void)state;
    netio_set_features(&x.n, UINT32_MAX);
    for (i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)rand();
    for (i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint32_t n = sizes[i / 2], first = n / 3, at = tx.produced;
        const struct netio_ref refs[] = {{payload, first}, {payload + first, n - first}};
        struct netio_frame f;

        assert_int_equal(netio_tx_alloc(&x.n, &f), 0);
        assert_int_equal(f.flags, NETIO_F_CSUM_PARTIAL | NETIO_F_SG);
        assert_true(f.cap >= MTU + ETH_HEADER);
        memset(f.data, 0xee, 54);
        f.len = 54;
        if (i % 2) { /* by reference, and all of it built by the caller */
            f.refs = refs;
            f.ref_count = 2;
        } else {
            memcpy(f.data + 54, payload, n);
            f.len += n;
        }
        f.csum_start = 34;
        f.csum_offset = 16;
        netio_tx_submit(&x.n, &f, 1);
        assert_int_equal(sent(at, out), 54 + n);
        for (k = 0; k < 54; k++)
            assert_int_equal(out[k], 0xee);
        assert_memory_equal(out + 54, payload, n);
        assert_true(tx.desc[at % XSOCK_RING].options & XDP_TX_METADATA);
        m = (const void *)(x.pool.mem + tx.desc[at % XSOCK_RING].addr - XSOCK_TX_METADATA);
        assert_int_equal(m->flags, XDP_TXMD_FLAGS_CHECKSUM);
        assert_int_equal(m->csum_start, 34);
        assert_int_equal(m->csum_offset, 16);
        for (at++; at != tx.produced; at++)
            assert_false(tx.desc[at % XSOCK_RING].options & XDP_TX_METADATA);
    }
    kernel_completes();
    assert_all_there(0);
}

static void no_room_and_wrong_completions(void **state)
{
    struct netio_frame f;
    uint32_t n = 0;

    (void)state;
    while (netio_tx_alloc(&x.n, &f) == 0) {
        memset(f.data, 1, MTU);
        f.len = MTU;
        f.flags = 0;
        netio_tx_submit(&x.n, &f, 1);
        n++;
    }
    assert_int_equal(n, CHUNKS / x.send_pieces);
    assert_int_equal(x.n.stats.tx_dropped, 0);
    completion.addr[completion.produced++ % XSOCK_RING] = UINT64_MAX;
    completion.addr[completion.produced++ % XSOCK_RING] = (uint64_t)CHUNKS * CHUNK;
    kernel_completes();
    assert_all_there(0);
    completion.addr[completion.produced++ % XSOCK_RING] = 5 * CHUNK + 64; /* was returned */
    netio_tx_flush(&x.n, 1);
    assert_all_there(0);
}

/* Holds the maximum number of buffers. Held buffers are not reused; the kernel keeps half of its
 * receive buffers, and sending keeps all of its own. */
static void held_buffers_are_left_alone_and_come_back(void **state)
{
    static uintptr_t held[FRAME_COUNT / HOLD_SHARE];
    static const uint8_t *where[FRAME_COUNT / HOLD_SHARE];
    const uint32_t most = FRAME_COUNT / HOLD_SHARE, to_send = FRAME_COUNT - XSOCK_RING;
    struct netio_frame f;
    uint32_t i, k;

    (void)state;
    pool_free(&x.pool);
    assert_int_equal(pool_init(&x.pool, CHUNK, FRAME_COUNT), 0);
    x.n.info.hold_max = most;
    af_xdp_refill(&x);
    for (i = 0; i < 4 * FRAME_COUNT; i++) {
        kernel_receives((uint8_t)(i < most ? i : 0xee), 1514, 0);
        assert_int_equal(receive(&f, 1), 1);
        if (i < most) {
            assert_int_equal(netio_rx_hold(&x.n, &f), 0);
            held[i] = f.token;
            where[i] = f.data;
            netio_rx_release(&x.n, &f, 0);
        } else {
            assert_int_equal(netio_rx_hold(&x.n, &f), -1);
            netio_rx_release(&x.n, &f, 1);
        }
        assert_int_equal(x.pool.top, to_send);
        assert_int_equal(fill.produced - fill.consumed, XSOCK_RING - (i < most ? i + 1 : most));
    }
    assert_all_there(most);
    for (i = 0; i < most; i++) {
        k = (i * 277) % most; /* in any order: 277 and a power of two have no factor in common */
        assert_int_equal(where[k][0], k & 0xff);
        assert_int_equal(where[k][1513], k & 0xff);
        netio_rx_unhold(&x.n, held[k]);
    }
    netio_rx_release(&x.n, &f, 0);
    assert_int_equal(fill.produced - fill.consumed, XSOCK_RING);
    assert_all_there(0);
}

static void what_was_joined_is_not_held(void **state)
{
    struct netio_frame f;

    (void)state;
    af_xdp_refill(&x);
    kernel_receives(1, 3840, XDP_PKT_CONTD);
    kernel_receives(1, 9, 0);
    assert_int_equal(receive(&f, 2), 1);
    assert_int_equal(netio_rx_hold(&x.n, &f), -1);
    netio_rx_release(&x.n, &f, 1);
    assert_all_there(0);
}

/* ---- sleeping: an eventfd in place of the socket ---- */

static unsigned controls; /* calls of epoll_ctl() */

int epoll_ctl(int set, int op, int fd, struct epoll_event *ev)
{
    controls++;
    return (int)syscall(SYS_epoll_ctl, set, op, fd, ev);
}

static int open_watched(void **state)
{
    if (open_rings(state) != 0)
        return -1;
    x.sock.fd = eventfd(1, EFD_CLOEXEC); /* readable: a frame has arrived */
    if (x.sock.fd < 0 || watch_open(&x.watch, x.sock.fd) != 0)
        return -1;
    x.n.fd = x.watch.set;
    controls = 0;
    return 0;
}

static int close_watched(void **state)
{
    watch_close(&x.watch);
    close(x.sock.fd);
    return close_rings(state);
}

static int wakes(void)
{
    struct pollfd p = {.fd = netio_fd(&x.n), .events = POLLIN};

    return poll(&p, 1, 0);
}

static void frames_arrive(unsigned n)
{
    struct netio_frame f;

    while (n--) {
        kernel_receives(1, 60, 0);
        assert_int_equal(receive(&f, 1), 1);
        netio_rx_release(&x.n, &f, 1);
    }
}

static void arrivals_wake_only_a_sleeper(void **state)
{
    (void)state;
    af_xdp_refill(&x);
    assert_int_equal(wakes(), 0);
    frames_arrive(3 * WATCH_FRAMES);
    assert_int_equal(controls, 0);
    assert_int_equal(netio_prepare_sleep(&x.n), 0);
    assert_int_equal(wakes(), 1);
    frames_arrive(WATCH_FRAMES - 1); /* few: it is cheaper to leave the socket where it is */
    assert_int_equal(wakes(), 1);
    assert_int_equal(netio_prepare_sleep(&x.n), 0);
    assert_int_equal(controls, 1);
    frames_arrive(WATCH_FRAMES);
    assert_int_equal(wakes(), 0);
    assert_int_equal(controls, 2);
    frames_arrive(10 * WATCH_FRAMES);
    assert_int_equal(controls, 2);
    assert_int_equal(netio_prepare_sleep(&x.n), 0);
    assert_int_equal(wakes(), 1);
}

static void a_frame_before_the_sleep_is_found(void **state)
{
    (void)state;
    af_xdp_refill(&x);
    assert_int_equal(netio_prepare_sleep(&x.n), 0);
    frames_arrive(WATCH_FRAMES);
    kernel_receives(1, 60, 0);
    assert_int_equal(netio_prepare_sleep(&x.n), 1);
    assert_int_equal(wakes(), 1);
}

static void other_sleepers_are_always_woken(void **state)
{
    (void)state;
    af_xdp_refill(&x);
    netio_keep_waking(&x.n, 1);
    assert_int_equal(netio_prepare_sleep(&x.n), 0);
    frames_arrive(5 * WATCH_FRAMES);
    assert_int_equal(wakes(), 1);
    netio_keep_waking(&x.n, 0);
    frames_arrive(WATCH_FRAMES);
    assert_int_equal(wakes(), 0);
}

static void without_a_wake_up_it_does_not_sleep(void **state)
{
    (void)state;
    af_xdp_refill(&x);
    x.watch.fd = -1;
    assert_int_equal(netio_prepare_sleep(&x.n), 1);
}

#define RINGS_TEST(f) cmocka_unit_test_setup_teardown(f, open_rings, close_rings)
#define SLEEP_TEST(f) cmocka_unit_test_setup_teardown(f, open_watched, close_watched)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RINGS_TEST(frames_of_one_and_of_several),
        RINGS_TEST(what_cannot_be_is_dropped_and_counted),
        RINGS_TEST(too_long_and_without_end),
        RINGS_TEST(no_memory_for_a_large_one),
        RINGS_TEST(sends_what_one_buffer_does_not_hold),
        RINGS_TEST(no_room_and_wrong_completions),
        RINGS_TEST(held_buffers_are_left_alone_and_come_back),
        RINGS_TEST(what_was_joined_is_not_held),
        SLEEP_TEST(arrivals_wake_only_a_sleeper),
        SLEEP_TEST(a_frame_before_the_sleep_is_found),
        SLEEP_TEST(other_sleepers_are_always_woken),
        SLEEP_TEST(without_a_wake_up_it_does_not_sleep),
    };

    return cmocka_run_group_tests_name("af_xdp", tests, NULL, NULL);
}
