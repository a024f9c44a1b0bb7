/* SPDX-License-Identifier: Apache-2.0 */
/* headers_test.c - what headers.h reads of frames, whole, cut anywhere, and malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../capture/headers.h"

/* 192.0.2.1.1234 > 192.0.2.2.80: SYN with 4 bytes of options and 3 bytes of data. */
static const uint8_t ip4[] = {
    2,    0,    0,   0,    0,   1,   2,   0, 0,  0, 0, 2, 0x08, 0x00, /* Ethernet */
    0x45, 0,    0,   47,   0,   1,   0,   0, 64, 6, 0, 0, 192,  0,
    2,    1,    192, 0,    2,   2, /* IPv4 */
    0x04, 0xd2, 0,   80,   0,   0,   0,   7, 0,  0, 0, 9, 0x60, 0x12,
    0x10, 0,    0,   0,    0,   0, /* TCP */
    2,    4,    5,   0xb4, 'a', 'b', 'c',
};

/* The same in VLAN 5 over IPv6, behind an empty destination options header. */
static const uint8_t ip6[] = {
    2,    0,    0, 0,  0, 1,  2,  0,  0, 0, 0, 2, 0x81, 0x00, 0,    5, 0x86, 0xdd, /* Ethernet,
                                                                                      802.1Q */
    0x60, 0,    0, 0,  0, 31, 60, 64,                                              /* IPv6 */
    0xfd, 0,    0, 0,  0, 0,  0,  0,  0, 0, 0, 0, 0,    0,    0,    1, 0xfd, 0,    0, 0, 0,
    0,    0,    0, 0,  0, 0,  0,  0,  0, 0, 2, 6, 0,    1,    4,    0, 0,    0,    0, /* destination
                                                                                         options */
    0x04, 0xd2, 0, 80, 0, 0,  0,  7,  0, 0, 0, 9, 0x50, 0x18, 0x10, 0, 0,    0,    0, 0, 'a',
    'b',  'c',
};

static void over_ip4(void **state)
{
    struct headers h;
    char flags[12];

    (void)state;
    headers_read(&h, ip4, sizeof ip4);
    assert_true(h.has_ip && h.has_ports && h.has_tcp && !h.has_vlan && !h.is_fragment);
    assert_string_equal(h.src, "192.0.2.1");
    assert_string_equal(h.dst, "192.0.2.2");
    assert_int_equal(h.sport, 1234);
    assert_int_equal(h.dport, 80);
    assert_int_equal(h.seq, 7);
    assert_int_equal(h.ack, 9);
    assert_int_equal(h.window, 4096);
    assert_int_equal(h.payload, 3);
    headers_flags(h.flags, flags);
    assert_string_equal(flags, "S.");
}

static void over_ip6_in_a_vlan(void **state)
{
    struct headers h;
    char flags[12];

    (void)state;
    headers_read(&h, ip6, sizeof ip6);
    assert_true(h.has_vlan && h.has_ip && h.has_tcp);
    assert_int_equal(h.vlan, 5);
    assert_string_equal(h.src, "fd00::1");
    assert_string_equal(h.dst, "fd00::2");
    assert_int_equal(h.payload, 3);
    headers_flags(h.flags, flags);
    assert_string_equal(flags, "P.");
    headers_flags(0, flags);
    assert_string_equal(flags, "none");
    headers_flags(0xff, flags);
    assert_string_equal(flags, "SFRPUEW.");
}

/* A copy of exactly n bytes: a sanitizer reports what is read beyond them. */
static void read_cut(struct headers *h, const uint8_t *frame, uint32_t n)
{
    uint8_t *copy = malloc(n ? n : 1);

    assert_non_null(copy);
    memcpy(copy, frame, n);
    headers_read(h, copy, n);
    free(copy);
}

static void cut_anywhere(void **state)
{
    struct headers h;
    uint32_t n;

    (void)state;
    for (n = 0; n <= sizeof ip4; n++) {
        read_cut(&h, ip4, n);
        assert_int_equal(h.has_ip, n >= 34);
        assert_int_equal(h.has_tcp, n >= 54);
    }
    for (n = 0; n <= sizeof ip6; n++) {
        read_cut(&h, ip6, n);
        assert_int_equal(h.has_ip, n >= 58);
        assert_int_equal(h.has_tcp, n >= 86);
    }
}

static void later_fragments_have_no_ports(void **state)
{
    uint8_t frame[sizeof ip4];
    struct headers h;

    (void)state;
    memcpy(frame, ip4, sizeof frame);
    frame[21] = 1; /* offset 8 */
    headers_read(&h, frame, sizeof frame);
    assert_true(h.has_ip && h.is_fragment && !h.has_ports);
}

static void any_byte_at_any_place(void **state)
{
    uint8_t frame[sizeof ip6];
    struct headers h;
    uint32_t at, value;

    (void)state;
    for (at = 12; at < sizeof frame; at++)
        for (value = 0; value < 256; value++) {
            memcpy(frame, ip6, sizeof frame);
            frame[at] = (uint8_t)value;
            read_cut(&h, frame, sizeof frame);
            assert_true(!h.has_tcp || h.has_ports);
            assert_true(!h.has_ports || h.has_ip);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_ip4),
        cmocka_unit_test(over_ip6_in_a_vlan),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(later_fragments_have_no_ports),
        cmocka_unit_test(any_byte_at_any_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
