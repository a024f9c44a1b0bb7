/* SPDX-License-Identifier: Apache-2.0 */
/* test_vlan.c - VLAN tags (vlan.h): what is removed, dropped and inserted; engines in a VLAN. */
#include <string.h>

#include "bench.h"
#include "frames/gso.h"
#include "frames/vlan.h"

#define VLAN  100u
#define TAGS  3  /* most tags of a frame */
#define BATCH 64 /* frames */
#define SIZE  80u

static struct engine fake; /* its configuration and counters are used */
static uint8_t room[BATCH][SIZE];

/* A frame of n bytes that counts up behind the tags: pairs of TPID and TCI, ended by 0. */
static struct netio_frame make(unsigned which, const uint32_t *tags, uint32_t n)
{
    struct netio_frame f = {.data = room[which], .cap = SIZE, .len = n, .token = which};
    uint32_t i, at = 12;

    for (i = 0; i < 12; i++)
        f.data[i] = (uint8_t)(0xa0 + i);
    for (; *tags; tags++, at += 4) {
        f.data[at] = (uint8_t)(*tags >> 24);
        f.data[at + 1] = (uint8_t)(*tags >> 16);
        f.data[at + 2] = (uint8_t)(*tags >> 8);
        f.data[at + 3] = (uint8_t)*tags;
    }
    for (i = 0; at < n; at++, i++)
        f.data[at] = (uint8_t)(i ? i : 8);
    return f;
}

struct row {
    uint32_t tags[TAGS + 1], n, vlan;
    enum engine_counter drop; /* EC_MAX: taken */
};

#define TAKEN EC_MAX

/* All tags of a frame that is taken are removed: its addresses are in front of what follows them.
 */
static void check_row(const struct row *r)
{
    struct netio_frame f = make(0, r->tags, r->n);
    uint8_t want[SIZE];
    uint32_t gone = 0, i;

    memset(fake.counters, 0, sizeof(fake.counters));
    fake.cfg.vlan = (uint16_t)r->vlan;
    while (r->tags[gone / 4] && 12 + gone + 6 <= r->n)
        gone += 4;
    memcpy(want, f.data, 12);
    memcpy(want + 12, f.data + 12 + gone, r->n - gone - 12);
    assert_int_equal(vlan_receive(&fake, &f, 1), r->drop == TAKEN);
    for (i = 0; i < EC_MAX; i++)
        if (i != EC_vlan_priority)
            assert_int_equal(fake.counters[i], i == r->drop);
    if (r->drop != TAKEN)
        return;
    assert_int_equal(fake.counters[EC_vlan_priority], gone / 4 - (r->vlan != 0));
    assert_int_equal(f.len, r->n - gone);
    assert_int_equal(f.cap, SIZE - gone);
    assert_ptr_equal(f.data, room[0] + gone);
    assert_memory_equal(f.data, want, f.len);
}

static void tags_are_removed_or_the_frame_is_dropped(void **state)
{
    static const struct row rows[] = {
        /* untagged traffic: VLAN ID 0 with any priority and drop-eligible bit is removed */
        {{0}, 60, 0, TAKEN},
        {{0x81000000}, 64, 0, TAKEN},
        {{0x8100a000}, 64, 0, TAKEN},
        {{0x8100f000}, 64, 0, TAKEN},
        {{0x88a80000}, 64, 0, TAKEN}, /* as Linux */
        {{0x81000000, 0x8100e000, 0x88a86000}, 64, 0, TAKEN},
        {{0x81000000}, 18, 0, TAKEN},
        {{0x81000000}, 17, 0, TAKEN}, /* no type behind the tag: core/ drops it */
        {{0x81000007}, 64, 0, EC_vlan_other},
        {{0x81000100}, 64, 0, EC_vlan_other},
        {{0x81000fff}, 64, 0, EC_vlan_other},
        {{0x81000000, 0x81000007}, 64, 0, EC_vlan_other},
        {{0x81000007, 0x81000000}, 64, 0, EC_vlan_other},
        {{0x88a80007}, 64, 0, EC_vlan_stacked},
        {{0x88a80007, 0x81000064}, 64, 0, EC_vlan_stacked},
        /* VLAN 100 */
        {{0x81000064}, 64, VLAN, TAKEN},
        {{0x8100f064}, 64, VLAN, TAKEN},
        {{0x81000000, 0x81000064}, 64, VLAN, TAKEN},
        {{0x81000064, 0x81000000}, 64, VLAN, TAKEN},
        {{0x81000064}, 18, VLAN, TAKEN},
        {{0x81000064}, 17, VLAN, EC_vlan_untagged},
        {{0}, 60, VLAN, EC_vlan_untagged},
        {{0}, 13, VLAN, EC_vlan_untagged},
        {{0x81000000}, 64, VLAN, EC_vlan_untagged},
        {{0x81000065}, 64, VLAN, EC_vlan_other},
        {{0x81000164}, 64, VLAN, EC_vlan_other},
        {{0x81000000, 0x81000065}, 64, VLAN, EC_vlan_other},
        {{0x88a80064}, 64, VLAN, EC_vlan_stacked},
        {{0x88a80064, 0x81000064}, 64, VLAN, EC_vlan_stacked},
        {{0x81000064, 0x81000064}, 64, VLAN, EC_vlan_stacked},
        {{0x81000064, 0x81000005}, 64, VLAN, EC_vlan_stacked},
        {{0x81000064, 0x88a80005}, 64, VLAN, EC_vlan_stacked},
        {{0x81000ffe}, 64, VLAN_ID_MAX, TAKEN},
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_row(&rows[i]);
}

/* What is taken comes first and in order; each frame is still there once, to be released. */
static void a_batch_keeps_its_frames_and_their_order(void **state)
{
    static const uint32_t ours[] = {0x81000064, 0}, other[] = {0x81000065, 0};
    struct netio_frame f[BATCH];
    unsigned bits, i, n, next;

    (void)state;
    fake.cfg.vlan = VLAN;
    for (bits = 0; bits < 64; bits++) {
        uint64_t seen = 0;

        for (i = 0; i < BATCH; i++)
            f[i] = make(i, bits >> i % 6 & 1 ? ours : other, 60);
        n = vlan_receive(&fake, f, BATCH);
        for (i = next = 0; i < n; i++, next++) {
            while (!(bits >> next % 6 & 1))
                next++;
            assert_int_equal(f[i].token, next);
        }
        for (i = 0; i < BATCH; i++) {
            assert_int_equal(bits >> f[i].token % 6 & 1, i < n);
            seen |= UINT64_C(1) << f[i].token;
        }
        assert_true(seen == UINT64_MAX);
    }
}

/* ---- sending ---- */

static const uint8_t addresses[12] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9};

/* The header of a large TCP segment over IPv4 or IPv6. */
static uint16_t make_header(uint8_t *h, int ip4, uint32_t len)
{
    uint32_t i, at = ip4 ? 34 : 54;

    memcpy(h, addresses, 12);
    for (i = 14; i < at + 20; i++)
        h[i] = (uint8_t)(i * 7);
    h[12] = ip4 ? 0x08 : 0x86;
    h[13] = ip4 ? 0x00 : 0xdd;
    h[14] = ip4 ? 0x45 : 0x60;
    h[ip4 ? 16 : 18] = (uint8_t)((len + (ip4 ? 40 : 20)) >> 8);
    h[ip4 ? 17 : 19] = (uint8_t)(len + (ip4 ? 40 : 20));
    h[at + 12] = 0x50;
    return (uint16_t)(at + 20);
}

/* Segments cut from a tagged frame are those of the untagged one, with the tag. */
static void segments_have_the_tag(void **state)
{
    uint8_t hdr[80], plain[80], tagged[84];
    struct vlan_tx v;
    int ip4;

    (void)state;
    for (ip4 = 0; ip4 < 2; ip4++) {
        uint32_t at, len = 5000;
        struct toec_tx tx = {.hdr = hdr, .gso_size = 1460, .csum_offset = 16, .len = len};

        tx.hdr_len = make_header(hdr, ip4, len);
        tx.csum_start = (uint16_t)(tx.hdr_len - 20);
        vlan_tag(&v, &tx, VLAN);
        assert_int_equal(v.tx.hdr_len, tx.hdr_len + 4);
        assert_int_equal(v.tx.csum_start, tx.csum_start + 4);
        for (at = 0; at < len; at += 1460) {
            uint32_t n = len - at < 1460 ? len - at : 1460;

            toec_tx_cut(&tx, at, n, plain);
            toec_tx_cut(&v.tx, at, n, tagged);
            assert_memory_equal(tagged, plain, 12);
            assert_memory_equal(tagged + 12, "\x81\0\0\x64", 4);
            assert_memory_equal(tagged + 16, plain + 12, tx.hdr_len - 12);
        }
    }
}

/* Frames without a checksum to complete (ARP) keep it so. */
static void no_checksum_remains_none(void **state)
{
    uint8_t hdr[42] = {0};
    struct toec_tx tx = {.hdr = hdr, .hdr_len = sizeof(hdr)};
    struct vlan_tx v;

    (void)state;
    vlan_tag(&v, &tx, VLAN_ID_MAX);
    assert_int_equal(v.tx.csum_start, 0);
    assert_int_equal(v.tx.hdr_len, 46);
    assert_memory_equal(v.hdr + 12, "\x81\0\x0f\xfe", 4);
}

/* ---- engines ---- */

struct ear {
    struct memwire_tap tap;
    unsigned frames, tagged, replies;
    uint32_t longest;
};

static void hear(struct memwire_tap *tap, const uint8_t *frame, uint32_t len)
{
    struct ear *ear = (struct ear *)tap;
    uint32_t at = memcmp(frame + 12, "\x81\0\0\x64", 4) == 0 ? 16 : 12;

    ear->frames++;
    ear->tagged += at == 16;
    ear->longest = len > ear->longest ? len : ear->longest;
    ear->replies += len >= at + 30 && frame[at] == 8 && frame[at + 1] == 6 && frame[at + 9] == 2;
}

/* Sends an ARP request with these tags to engine A. Returns the number of answers. */
static unsigned ask(struct bench *t, struct ear *ear, const uint32_t *tags)
{
    static const uint8_t request[30] = {8, 6,  0, 1, 8, 0, 6, 4, 0, 1, 2, 0,  0, 0, 0,
                                        9, 10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1};
    struct netio_frame f = make(0, tags, 64);
    uint32_t at = 12;

    memcpy(f.data, addresses, 12);
    for (; *tags; tags++)
        at += 4;
    memcpy(f.data + at, request, sizeof(request));
    memset(ear, 0, sizeof(*ear));
    ear->tap.seen = hear;
    memwire_watch(t->wire_a, &ear->tap);
    memwire_inject(t->wire_a, f.data, f.len);
    bench_run(t, NS_PER_MS);
    memwire_watch(t->wire_a, NULL);
    assert_int_equal(ear->frames, ear->replies);
    return ear->replies;
}

/* Untagged requests are answered without a tag, those of the VLAN with it, others not. */
static void engine_answers_within_its_vlan(void **state)
{
    static const struct {
        uint32_t tags[TAGS + 1];
        unsigned plain, vlan; /* answers of an engine without and with --vlan 100 */
    } table[] = {
        {{0}, 1, 0},          {{0x81000000}, 1, 0}, {{0x8100a000}, 1, 0},
        {{0x81000064}, 0, 1}, {{0x81000065}, 0, 0}, {{0x81000064, 0x81000064}, 0, 0},
    };
    struct ear ear;
    struct bench t;
    unsigned i;

    (void)state;
    bench_init(&t);
    bench_run(&t, 3 * NS_PER_S); /* the announcements are over */
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        t.a->cfg.vlan = 0;
        assert_int_equal(ask(&t, &ear, table[i].tags), table[i].plain);
        assert_int_equal(ear.tagged, 0);
        t.a->cfg.vlan = VLAN;
        assert_int_equal(ask(&t, &ear, table[i].tags), table[i].vlan);
        assert_int_equal(ear.tagged, ear.frames);
    }
    assert_int_equal(t.a->counters[EC_vlan_untagged], 3);
    assert_int_equal(t.a->counters[EC_vlan_other], 4);
    assert_int_equal(t.a->counters[EC_vlan_stacked], 1);
    bench_free(&t);
}

/* Data both ways, joined and cut by the engines: each frame has the tag, and full segments are
 * those of the MTU. */
static void data_crosses_in_a_vlan(void **state)
{
    struct hosts *h = *state;
    struct ear ears[2] = {{.tap.seen = hear}, {.tap.seen = hear}};
    uint32_t fx, fy, i;

    h->t.a->cfg.vlan = h->t.b->cfg.vlan = VLAN;
    memwire_watch(h->t.wire_a, &ears[0].tap);
    memwire_watch(h->t.wire_b, &ears[1].tap);
    bench_connect(&h->t, &h->x, &h->y, &fx, &fy);
    for (i = 0; i < 2; i++) {
        host_send(i ? &h->y : &h->x, i ? fy : fx, 0, 12000);
        bench_run(&h->t, NS_PER_S);
        assert_true(host_holds(i ? &h->x : &h->y, i ? fx : fy, 0, 12000));
        assert_true(ears[i].frames > 4);
        assert_int_equal(ears[i].tagged, ears[i].frames);
    }
    assert_int_equal(ears[0].longest, 1518);
    assert_int_equal(ears[1].longest, 1518);
    memwire_watch(h->t.wire_a, NULL);
    memwire_watch(h->t.wire_b, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_are_removed_or_the_frame_is_dropped),
        cmocka_unit_test(a_batch_keeps_its_frames_and_their_order),
        cmocka_unit_test(segments_have_the_tag),
        cmocka_unit_test(no_checksum_remains_none),
        cmocka_unit_test(engine_answers_within_its_vlan),
        cmocka_unit_test_setup_teardown(data_crosses_in_a_vlan, hosts_setup, hosts_teardown),
    };

    return cmocka_run_group_tests_name("vlan", tests, NULL, NULL);
}
