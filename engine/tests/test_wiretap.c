/* SPDX-License-Identifier: Apache-2.0 */
/* test_wiretap.c - what a capture records of an engine: frames, directions, flows, reasons for
 * drops; the ring when it is full or its tail is wrong. */
#include <stdlib.h>
#include <string.h>

#include <toe/counters.h>

#include "bench.h"
#include "frames/vlan.h"
#include "frames/wiretap.h"
#include "hosts/trace.h"

#define RING    (1u << 16)
#define MANY    512
#define SNAPLEN 4096u

/* A ring that is not mapped twice, but has room for the largest record behind its end. */
static _Alignas(64) uint8_t room[RING + 2 * SNAPLEN];
static struct toecap_ring ring;
static uint64_t taken;
static struct toecap_record seen[MANY];
static uint8_t frames[MANY][SNAPLEN];
static unsigned count;

static void name(const void *owner, struct wiretap_flow *flow)
{
    const struct slot *s = owner;

    flow->qp = s->qp->id;
    flow->slot = s->index;
    trace_id(s, &flow->ring, &flow->serial);
}

static void tap(struct engine *e, uint32_t snaplen)
{
    const struct wiretap_config cfg = {
        .ring = &ring, .data = room, .ring_size = RING, .snaplen = snaplen, .name = name};

    memset(&ring, 0, sizeof(ring));
    taken = count = 0;
    e->wiretap = wiretap_new(&cfg);
    assert_non_null(e->wiretap);
}

static void untap(struct engine *e)
{
    free(e->wiretap);
    e->wiretap = NULL;
}

/* Reads the records so far, in the same thread as the engine: none may wrap. */
static void take(void)
{
    uint64_t head = atomic_load(&ring.head);

    count = 0;
    while (taken != head) {
        const uint8_t *at = room + taken % RING;

        assert_true(count < MANY && taken % RING + sizeof(seen[0]) + SNAPLEN <= sizeof(room));
        memcpy(&seen[count], at, sizeof(seen[count]));
        assert_int_equal(seen[count].size % 8, 0);
        assert_true(seen[count].cap <= SNAPLEN && seen[count].size <= head - taken);
        memcpy(frames[count], at + sizeof(seen[0]), seen[count].cap);
        taken += seen[count].size;
        count += !(seen[count].flags & TOECAP_VOID);
    }
    atomic_store(&ring.tail, taken);
}

static const char *reason(const struct toecap_record *r)
{
    static struct toecap_reason all[DROP_REASONS - 1];

    wiretap_reasons(all);
    return r->reason ? all[r->reason - 1].name : "";
}

/* ---- the table */

/* Counters whose descriptions mention drops, of other things than an arriving frame. */
static const char *const others[] = {"tx_unresolved_drop", "ip4_frag_timeout", "ip4_frag_evicted",
                                     "ip6_frag_timeout"};

static int is_listed(const char *counter)
{
    struct toecap_reason all[DROP_REASONS - 1];
    size_t i;

    wiretap_reasons(all);
    for (i = 0; i < DROP_REASONS - 1; i++)
        if (strcmp(all[i].name, counter) == 0)
            return 1;
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(others[i], counter) == 0)
            return 1;
    return 0;
}

static void every_drop_has_a_reason(void **state)
{
    static const struct {
        const char *name, *help;
    } counters[] = {
#define X(name, description) {#name, description},
        TOEC_COUNTERS(X) ENGINE_COUNTERS(X)
#undef X
    };
    struct toecap_reason all[DROP_REASONS - 1];
    size_t i, k;

    (void)state;
    for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        if (strstr(counters[i].help, "dropped") && !is_listed(counters[i].name))
            fail_msg("%s (%s) is not in toe/drops.h or drops.h", counters[i].name,
                     counters[i].help);
    wiretap_reasons(all);
    for (i = 0; i < DROP_REASONS - 1; i++) {
        assert_true(all[i].name[0] && all[i].text[0]);
        assert_int_equal(all[i].name[sizeof(all[i].name) - 1], 0);
        assert_int_equal(all[i].text[sizeof(all[i].text) - 1], 0);
        for (k = 0; k < i; k++)
            assert_string_not_equal(all[i].name, all[k].name);
    }
}

/* ---- frames */

static void both_directions_with_their_flow(void **state)
{
    struct hosts *h = *state;
    unsigned i, in = 0, out = 0, named = 0;
    uint32_t fx, fy;

    tap(h->t.a, SNAPLEN);
    bench_connect(&h->t, &h->x, &h->y, &fx, &fy);
    host_send(&h->y, fy, 0, 100);
    bench_run(&h->t, 1000000000);
    take();
    for (i = 0; i < count; i++) {
        const uint8_t *type = frames[i] + 12;

        in += !(seen[i].flags & TOECAP_OUT);
        out += seen[i].flags & TOECAP_OUT;
        assert_int_equal(seen[i].cap, seen[i].len);
        assert_int_equal(seen[i].reason, 0);
        assert_true(i == 0 || seen[i].time_ns >= seen[i - 1].time_ns);
        if (type[0] == 0x08 && type[1] == 0x00 && seen[i].qp != TOECAP_NONE) {
            assert_int_equal(seen[i].qp, h->x.qp->id);
            assert_int_equal(seen[i].slot, fx);
            assert_ptr_equal(&h->t.a->traces->rings[seen[i].ring], h->x.qp->traces[fx]);
            assert_int_equal(seen[i].serial, 1);
            named++;
        }
    }
    assert_true(in >= 3 && out >= 2);
    assert_true(named >= 5); /* SYN, SYN-ACK, ACK, data, ACK */
    assert_int_equal(atomic_load(&ring.lost), 0);
    untap(h->t.a);
}

/* Each frame that arrives is recorded before the answer to it. */
static void an_answer_follows_its_cause(void **state)
{
    struct hosts *h = *state;
    static const uint8_t arp[42] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,  0, 0, 0,
                                    0,    9,    0x08, 0x06, /* to all */
                                    0,    1,    8,    0,    6,    4,    0,  1, 2, 0,
                                    0,    0,    0,    9,    10,   0,    0,  9, /* request */
                                    0,    0,    0,    0,    0,    0,    10, 0, 0, 1};

    tap(h->t.a, SNAPLEN);
    memwire_inject(h->t.wire_a, arp, sizeof(arp));
    bench_step_a(&h->t);
    take();
    assert_int_equal(count, 2);
    assert_int_equal(seen[0].flags & TOECAP_OUT, 0);
    assert_memory_equal(frames[0], arp, sizeof(arp));
    assert_int_equal(seen[1].flags & TOECAP_OUT, TOECAP_OUT);
    untap(h->t.a);
}

static void what_is_sent_is_visible_at_once(void **state)
{
    struct hosts *h = *state;
    uint32_t fx, fy;

    bench_connect(&h->t, &h->x, &h->y, &fx, &fy);
    bench_run(&h->t, 1000000000);
    tap(h->t.a, SNAPLEN);
    bench_step_a(&h->t); /* a round in which nothing arrives */
    host_send(&h->x, fx, 0, 100);
    bench_step_a(&h->t);
    take();
    assert_int_equal(count, 1);
    assert_int_equal(seen[0].flags & TOECAP_OUT, TOECAP_OUT);
    assert_int_equal(seen[0].slot, fx);
    untap(h->t.a);
}

/* ---- drops */

static void put_ip4(uint8_t *f, uint8_t checksum)
{
    static const uint8_t head[] = {2,  0,    0,  0,  0, 1,    2, 0,  0, 0, 0, 9,  0x08, 0x00, 0x45,
                                   0,  0,    40, 0,  1, 0x40, 0, 64, 6, 0, 0, 10, 0,    0,    9,
                                   10, 0,    0,  1,  4, 210,  0, 80, 0, 0, 0, 1,  0,    0,    0,
                                   0,  0x50, 2,  16, 0, 0,    0, 0,  0, 0, 0, 0,  0,    0,    0};
    uint16_t sum;

    memcpy(f, head, sizeof(head));
    sum = (uint16_t)~toec_sum(f + 14, 20);
    memcpy(f + 24, &sum, 2);
    f[24] = (uint8_t)(f[24] ^ checksum);
}

static void own_mac(struct hosts *h, uint8_t mac[6])
{
    struct netio_info info;

    netio_get_info(h->t.wire_a, &info);
    memcpy(mac, info.mac, 6);
}

static void drops_have_their_reason(void **state)
{
    struct hosts *h = *state;
    uint8_t f[3][60];
    unsigned i;

    for (i = 0; i < 3; i++)
        put_ip4(f[i], i == 0 ? 0xff : 0);
    for (i = 0; i < 2; i++)
        own_mac(h, f[i]);
    memcpy(f[2], "\2\0\0\0\0\x77", 6); /* to another's Ethernet address */
    tap(h->t.a, SNAPLEN);
    for (i = 0; i < 3; i++)
        memwire_inject(h->t.wire_a, f[i], sizeof(f[i]));
    bench_step_a(&h->t);
    take();
    for (i = 0; i < 3; i++)
        assert_memory_equal(frames[i], f[i], sizeof(f[i]));
    assert_string_equal(reason(&seen[0]), "ip4_bad_checksum");
    assert_string_equal(reason(&seen[1]), "tcp_bad_checksum");
    assert_string_equal(reason(&seen[2]), "eth_not_ours");
    for (i = 0; i < 3; i++)
        assert_int_equal(seen[i].qp, TOECAP_NONE);
    untap(h->t.a);
}

/* As on the wire: with the tags that the engine removes. */
static void a_frame_of_another_vlan(void **state)
{
    struct hosts *h = *state;
    uint8_t f[2][64] = {{0}};
    unsigned i;

    for (i = 0; i < 2; i++) {
        own_mac(h, f[i]);
        memcpy(f[i] + 12, i ? "\x81\x00\x00\x07\x08\x00" : "\x81\x00\xe0\x00\x08\x00", 6);
    }
    tap(h->t.a, SNAPLEN);
    for (i = 0; i < 2; i++)
        memwire_inject(h->t.wire_a, f[i], sizeof(f[i]));
    bench_step_a(&h->t);
    take();
    assert_int_equal(count, 2);
    for (i = 0; i < 2; i++)
        assert_memory_equal(frames[i], f[i], sizeof(f[i]));
    assert_string_equal(reason(&seen[0]), "ip4_bad_version");
    assert_string_equal(reason(&seen[1]), "vlan_other");
    untap(h->t.a);
}

/* ---- the ring */

static void what_does_not_fit_is_counted(void **state)
{
    struct hosts *h = *state;
    uint8_t f[1000];
    unsigned i, fit;

    memset(f, 0, sizeof(f));
    put_ip4(f, 0);
    own_mac(h, f);
    tap(h->t.a, SNAPLEN);
    for (i = 0; i < 100; i++) {
        memwire_inject(h->t.wire_a, f, sizeof(f));
        bench_step_a(&h->t);
    }
    fit = RING / (sizeof(struct toecap_record) + sizeof(f));
    assert_int_equal(atomic_load(&ring.lost), 100 - fit);
    take();
    assert_int_equal(count, fit);
    memwire_inject(h->t.wire_a, f, sizeof(f)); /* there is room again */
    bench_step_a(&h->t);
    take();
    assert_int_equal(count, 1);
    assert_int_equal(atomic_load(&ring.lost), 100 - fit);
    untap(h->t.a);
}

static void a_tail_that_is_wrong_harms_nothing(void **state)
{
    static const uint64_t tails[] = {1, UINT64_MAX - RING, RING, 1u << 31};
    struct hosts *h = *state;
    uint8_t f[60], before[sizeof(room)];
    unsigned i;

    put_ip4(f, 0);
    own_mac(h, f);
    for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        tap(h->t.a, SNAPLEN);
        atomic_store(&ring.tail, tails[i]);
        memcpy(before, room, sizeof(room));
        memwire_inject(h->t.wire_a, f, sizeof(f));
        bench_step_a(&h->t);
        assert_int_equal(atomic_load(&ring.lost), 1);
        assert_int_equal(atomic_load(&ring.head), 0);
        assert_memory_equal(before, room, sizeof(room));
        untap(h->t.a);
    }
}

static void no_more_than_snaplen(void **state)
{
    struct hosts *h = *state;
    uint8_t f[1000];

    memset(f, 0, sizeof(f));
    put_ip4(f, 0);
    own_mac(h, f);
    tap(h->t.a, 64);
    memwire_inject(h->t.wire_a, f, sizeof(f));
    bench_step_a(&h->t);
    take();
    assert_int_equal(count, 1);
    assert_int_equal(seen[0].cap, 64);
    assert_int_equal(seen[0].len, sizeof(f));
    assert_memory_equal(frames[0], f, 64);
    untap(h->t.a);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, hosts_setup, hosts_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_drop_has_a_reason),
        TEST(both_directions_with_their_flow),
        TEST(an_answer_follows_its_cause),
        TEST(what_is_sent_is_visible_at_once),
        TEST(drops_have_their_reason),
        TEST(a_frame_of_another_vlan),
        TEST(what_does_not_fit_is_counted),
        TEST(a_tail_that_is_wrong_harms_nothing),
        TEST(no_more_than_snaplen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
