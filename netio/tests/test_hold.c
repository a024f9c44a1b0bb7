/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hold.c - netio_rx_hold() of the back ends that need no interface: the wire, tee in front of
 * it, and those that cannot hold. (AF_XDP and DPDK: test_af_xdp.c, test_dpdk.c.)
 */
#include <string.h>

#include "testing.h"

#define LARGE 40000u

static void open_both(const char *b_spec, struct netio **a, struct netio **b)
{
    *a = open_ok(in_folder("wire:@/w,side=a"));
    *b = open_ok(in_folder(b_spec));
    wait_linked(*a, 1);
    /* b may be in front of its wire: what it receives shows that it is linked */
    while (send_number(*a, 0, 60, clock_now()) != 0 || receive_number(*b, clock_now()) < 0)
        (void)netio_prepare_sleep(*b);
    while (receive_number(*b, clock_now()) >= 0)
        ;
}

/* Frames 0 to count - 1, each held; then one more, which is refused. */
static struct netio_frame *hold_all(struct netio *a, struct netio *b, uint32_t count, uint32_t len)
{
    struct netio_frame *f = test_calloc(count + 1, sizeof(*f));
    uint32_t i;

    for (i = 0; i <= count; i++) {
        assert_int_equal(send_number(a, i, len, clock_now()), 0);
        assert_int_equal(netio_rx(b, &f[i], 1, clock_now()), 1);
        assert_int_equal(netio_rx_hold(b, &f[i]), i < count ? 0 : -1);
        netio_rx_release(b, &f[i], i < count ? 0 : 1);
    }
    return f;
}

static void unhold_all(struct netio *b, struct netio_frame *f, uint32_t count, uint32_t len)
{
    uint32_t i;

    for (i = count; i-- > 0;) {
        assert_int_equal(frame_number(&f[i]), i);
        assert_int_equal(f[i].len, len);
        assert_int_equal(f[i].data[len - 1], 0x5a);
        netio_rx_unhold(b, f[i].token);
    }
    test_free(f);
}

/* Held buffers never block either side, however often the ring wraps. */
static void wire_goes_on(const char *b_spec)
{
    struct netio *a, *b;
    struct netio_info info;
    struct netio_frame *f;
    uint32_t count = 1024, i, round;

    open_both(b_spec, &a, &b);
    netio_get_info(b, &info);
    assert_true(info.hold_max > count);
    for (round = 0; round < 2; round++) { /* all returned ones can be held again */
        f = hold_all(a, b, count, 1000);
        for (i = 0; i < 5000; i++) {
            assert_int_equal(send_number(a, i, 60, clock_now()), 0);
            assert_int_equal(receive_number(b, clock_now()), i);
        }
        unhold_all(b, f, count, 1000);
    }
    netio_close(a);
    netio_close(b);
}

static void the_wire_holds(void **state)
{
    (void)state;
    wire_goes_on("wire:@/w,side=b");
}

static void a_tee_holds_what_is_behind_it(void **state)
{
    (void)state;
    wire_goes_on("tee(@/x.pcap):wire:@/w,side=b");
}

static void send_large(struct netio *a, uint8_t byte)
{
    static uint8_t bytes[LARGE];
    const struct netio_ref ref = {bytes, LARGE};
    struct netio_frame f;

    memset(bytes, byte, LARGE);
    assert_int_equal(netio_tx_alloc(a, &f), 0);
    assert_true(f.flags & NETIO_F_TSO);
    memset(f.data, 0, 54);
    f.len = 54;
    f.gso_size = 1448;
    f.hdr_len = 54;
    f.csum_start = 34;
    f.csum_offset = 16;
    f.refs = &ref;
    f.ref_count = 1;
    netio_tx_submit(a, &f, clock_now());
    netio_tx_flush(a, clock_now());
}

/* Large frames have fewer buffers and a separate limit. */
static void large_frames_are_held(void **state)
{
    static struct netio_frame f[100];
    struct netio_info info;
    struct netio *a, *b;
    uint32_t count, i;

    (void)state;
    open_both("wire:@/w,side=b", &a, &b);
    netio_get_info(b, &info);
    count = info.hold_max - 1024;
    assert_in_range(count, 1, 99);
    (void)netio_set_features(a, UINT32_MAX);
    (void)netio_set_features(b, UINT32_MAX);
    for (i = 0; i <= count; i++) {
        send_large(a, (uint8_t)i);
        assert_int_equal(netio_rx(b, &f[i], 1, clock_now()), 1);
        assert_int_equal(f[i].len, 54 + LARGE);
        assert_int_equal(netio_rx_hold(b, &f[i]), i < count ? 0 : -1);
    }
    netio_rx_release(b, &f[count], 1);
    for (i = 0; i < 200; i++) {
        struct netio_frame g;

        send_large(a, 0xee);
        assert_int_equal(netio_rx(b, &g, 1, clock_now()), 1);
        netio_rx_release(b, &g, 1);
    }
    for (i = 0; i < count; i++) {
        assert_int_equal(f[i].data[54], i);
        assert_int_equal(f[i].data[53 + LARGE], i);
        netio_rx_unhold(b, f[i].token);
    }
    netio_close(a);
    netio_close(b);
}

/* Frames delayed on an impairing wire use its own bounded memory. */
static void an_impairing_wire_holds_nothing(void **state)
{
    struct netio *a, *b;
    struct netio_info info;
    struct netio_frame f;

    (void)state;
    open_both("impair():wire:@/w,side=b", &a, &b);
    netio_get_info(b, &info);
    assert_int_equal(info.hold_max, 0);
    assert_int_equal(send_number(a, 7, 60, clock_now()), 0);
    assert_int_equal(netio_rx(b, &f, 1, clock_now()), 1);
    assert_int_equal(netio_rx_hold(b, &f), -1);
    netio_rx_release(b, &f, 1);
    netio_close(a);
    netio_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(the_wire_holds),
        WITH_FOLDER(a_tee_holds_what_is_behind_it),
        WITH_FOLDER(large_frames_are_held),
        WITH_FOLDER(an_impairing_wire_holds_nothing),
    };

    return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
