/* SPDX-License-Identifier: Apache-2.0 */
/* test_vlan.c - priority tags of received frames (vlan.h). */
#include <string.h>

#include "bench.h"
#include "frames/vlan.h"

static uint8_t room[64];

/* A frame of n bytes that counts up behind the tags: pairs of TPID and TCI, ended by 0. */
static struct netio_frame make(const uint32_t *tags, uint32_t n)
{
    struct netio_frame f = {.data = room, .cap = sizeof(room)};
    uint32_t i, at = 12;

    for (i = 0; i < 12; i++)
        room[i] = (uint8_t)(0xa0 + i);
    for (; *tags; tags++, at += 4) {
        room[at] = (uint8_t)(*tags >> 24);
        room[at + 1] = (uint8_t)(*tags >> 16);
        room[at + 2] = (uint8_t)(*tags >> 8);
        room[at + 3] = (uint8_t)*tags;
    }
    for (i = 0; at < n; at++, i++)
        room[at] = (uint8_t)(i ? i : 8);
    f.len = n;
    return f;
}

/* VLAN ID 0 is removed with any priority and drop-eligible bit, also twice; nothing else is. */
static void priority_tags_are_removed(void **state)
{
    static const struct {
        uint32_t tags[3], n, removed;
    } table[] = {
        {{0}, 60, 0},
        {{0x81000000}, 64, 1},
        {{0x8100a000}, 64, 1},
        {{0x8100f000}, 64, 1},
        {{0x81000000, 0x8100e000}, 64, 2},
        {{0x81000000, 0x81000007}, 64, 1}, /* of a VLAN behind it */
        {{0x81000007}, 64, 0},
        {{0x81000100}, 64, 0},
        {{0x88a80000}, 64, 0}, /* a service tag */
        {{0x81000000}, 18, 1},
        {{0x81000000}, 17, 0}, /* too short for a type behind the tag */
    };
    unsigned i, k;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct netio_frame f = make(table[i].tags, table[i].n);
        uint32_t gone = 4 * table[i].removed, left = table[i].n - gone;
        uint8_t want[64];

        memcpy(want, room, 12);
        memcpy(want + 12, room + 12 + gone, left - 12);
        vlan_untag(&f);
        assert_int_equal(f.len, left);
        assert_int_equal(f.cap, sizeof(room) - gone);
        assert_ptr_equal(f.data, room + gone);
        for (k = 0; k < left; k++)
            assert_int_equal(f.data[k], want[k]);
    }
}

struct ear {
    struct memwire_tap tap;
    unsigned replies;
};

static void hear(struct memwire_tap *tap, const uint8_t *frame, uint32_t len)
{
    struct ear *ear = (struct ear *)tap;

    ear->replies += len >= 42 && frame[12] == 8 && frame[13] == 6 && frame[21] == 2;
}

/* A tagged request is answered as an untagged one, without a tag; in a VLAN it is not ours. */
static void engine_answers_priority_tags(void **state)
{
    static const uint8_t request[30] = {8, 6,  0, 1, 8, 0, 6, 4, 0, 1, 2, 0,  0, 0, 0,
                                        9, 10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1};
    static const uint8_t addresses[12] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9};
    static const uint32_t tags[] = {0, 0x81000000, 0x8100a000, 0x81000007};
    struct ear ear = {.tap.seen = hear};
    struct bench t;
    unsigned i;

    (void)state;
    bench_init(&t);
    bench_run(&t, 3 * NS_PER_S); /* the announcements are over */
    memwire_watch(t.wire_a, &ear.tap);
    for (i = 0; i < 4; i++) {
        uint8_t f[64] = {0};
        uint32_t at = 12;

        memcpy(f, addresses, 12);
        if (tags[i]) {
            f[12] = (uint8_t)(tags[i] >> 24);
            f[14] = (uint8_t)(tags[i] >> 8);
            f[15] = (uint8_t)tags[i];
            at += 4;
        }
        memcpy(f + at, request, sizeof(request));
        ear.replies = 0;
        memwire_inject(t.wire_a, f, sizeof(f));
        bench_run(&t, NS_PER_MS);
        assert_int_equal(ear.replies, tags[i] != 0x81000007);
    }
    bench_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priority_tags_are_removed),
        cmocka_unit_test(engine_answers_priority_tags),
    };

    return cmocka_run_group_tests_name("vlan", tests, NULL, NULL);
}
