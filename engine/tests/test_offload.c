/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_offload.c - cutting (gso.c) and joining (gro.c) of segments: segments equal those of TSO,
 * joining restores the original, and nothing else is ever joined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../device/tests/seed.h"
#include "frames/gro.h"
#include "frames/gso.h"
#include "frames/offload.h"

#define ETH     14u
#define MOST    61440u
#define FRAMES  GRO_PARTS
#define FRAME   2048u
#define MSS_MAX 1460u

static uint64_t seed, rng;

static uint32_t below(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 16) % n);
}

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) << 16 | get16(p + 2);
}

/* A large segment as core/ hands it to transmit. */
struct large {
    int ip4, ts;
    struct toec_tx tx;
    uint8_t hdr[ETH + 40 + 32];
    uint8_t data[MOST];
    struct offload_payload parts;
};

static uint16_t pseudo(const uint8_t *frame, uint32_t l4_len)
{
    const uint8_t *ip = frame + ETH;
    uint8_t tail[4] = {0, 6, 0, 0};

    put16(tail + 2, l4_len);
    return toec_sum_add(ip[0] >> 4 == 4 ? toec_sum(ip + 12, 8) : toec_sum(ip + 8, 32),
                        toec_sum(tail, 4), 0);
}

static void make_ip(struct large *l, uint32_t l4_len)
{
    uint8_t *ip = l->hdr + ETH;
    uint16_t sum;
    uint32_t i;

    put16(l->hdr + 12, l->ip4 ? 0x0800 : 0x86dd);
    if (!l->ip4) {
        ip[0] = 0x60;
        put16(ip + 4, l4_len);
        ip[6] = 6;
        ip[7] = 64;
        for (i = 8; i < 40; i++)
            ip[i] = (uint8_t)below(256);
        return;
    }
    ip[0] = 0x45;
    put16(ip + 2, 20 + l4_len);
    put16(ip + 4, below(65536));
    ip[6] = below(2) ? 0x40 : 0;
    ip[8] = 64;
    ip[9] = 6;
    for (i = 12; i < 20; i++)
        ip[i] = (uint8_t)below(256);
    sum = (uint16_t)~toec_sum(ip, 20);
    memcpy(ip + 10, &sum, 2);
}

static void make_large(struct large *l, uint32_t len, uint32_t mss, unsigned flags)
{
    uint32_t l4 = l->ip4 ? ETH + 20 : ETH + 40, tcp_len = l->ts ? 32 : 20, i;
    uint8_t *tcp = l->hdr + l4;
    uint32_t first = len ? below(len) : 0;
    uint16_t sum;

    memset(l->hdr, 0, sizeof(l->hdr));
    l->hdr[0] = 2;
    make_ip(l, tcp_len + len);
    put32(tcp, below(~0u));
    put32(tcp + 4, below(8) ? below(~0u) : 0xffffff00u); /* across the wrap, too */
    put32(tcp + 8, below(~0u));
    tcp[12] = (uint8_t)(tcp_len / 4 << 4);
    tcp[13] = (uint8_t)flags;
    put16(tcp + 14, 1000);
    if (l->ts) {
        put32(tcp + 20, 0x0101080a);
        put32(tcp + 24, below(~0u));
        put32(tcp + 28, below(~0u));
    }
    sum = pseudo(l->hdr, tcp_len + len);
    memcpy(tcp + 16, &sum, 2);
    for (i = 0; i < len; i++)
        l->data[i] = (uint8_t)below(256);
    l->tx = (struct toec_tx){.hdr = l->hdr,
                             .hdr_len = (uint16_t)(l4 + tcp_len),
                             .csum_start = (uint16_t)l4,
                             .csum_offset = 16,
                             .gso_size = (uint16_t)mss,
                             .len = len};
    l->parts.count = 2; /* as where a send buffer ends */
    l->parts.ref[0] = (struct netio_ref){l->data, first};
    l->parts.ref[1] = (struct netio_ref){l->data + first, len - first};
}

struct batch {
    uint32_t count;
    struct netio_frame f[FRAMES];
    uint8_t mem[FRAMES][FRAME];
};

/* Cuts it as offload.c does. Returns the number of frames added. */
static uint32_t cut(const struct large *l, struct batch *b)
{
    uint32_t at = 0, begun = b->count;

    while (at < l->tx.len) {
        uint32_t n = l->tx.len - at < l->tx.gso_size ? l->tx.len - at : l->tx.gso_size;
        uint8_t *to = b->mem[b->count];

        assert_in_range(b->count, 0, FRAMES - 1);
        toec_tx_cut(&l->tx, at, n, to);
        gso_gather(to + l->tx.hdr_len, &l->parts, at, n);
        toec_tx_finish(&l->tx, to, l->tx.hdr_len + n);
        b->f[b->count++] = (struct netio_frame){.data = to, .len = l->tx.hdr_len + n, .cap = FRAME};
        at += n;
    }
    return b->count - begun;
}

/* Each segment is valid alone, and together they are the whole. */
static void check_segments(const struct large *l, const struct batch *b)
{
    const uint8_t *whole = l->hdr + l->tx.csum_start;
    uint32_t at = 0, i;

    for (i = 0; i < b->count; i++) {
        const uint8_t *p = b->f[i].data, *ip = p + ETH, *tcp = p + l->tx.csum_start;
        uint32_t n = b->f[i].len - l->tx.hdr_len, l4_len = b->f[i].len - l->tx.csum_start;
        int last = at + n == l->tx.len;

        assert_int_equal(n, last ? l->tx.len - at : l->tx.gso_size);
        if (l->ip4) {
            assert_int_equal(toec_sum(ip, 20), 0xffff);
            assert_int_equal(get16(ip + 2), b->f[i].len - ETH);
            assert_int_equal(get16(ip + 4),
                             (get16(l->hdr + ETH + 4) + (ip[6] & 0x40 ? 0 : i)) & 0xffff);
        } else {
            assert_int_equal(get16(ip + 4), b->f[i].len - ETH - 40);
        }
        assert_int_equal(toec_sum_add(pseudo(p, l4_len), toec_sum(tcp, l4_len), 0), 0xffff);
        assert_true(get32(tcp + 4) == get32(whole + 4) + at);
        assert_int_equal(tcp[13] & 0x09, last ? whole[13] & 0x09 : 0);
        assert_int_equal(tcp[13] & 0x80, at ? 0 : whole[13] & 0x80);
        assert_memory_equal(p + l->tx.hdr_len, l->data + at, n);
        at += n;
    }
    assert_int_equal(at, l->tx.len);
}

/* ---- the output of joining ---- */

struct sink {
    uint32_t packets, joined, len, pushes;
    uint32_t next; /* sequence number expected; it is checked */
    int in_order;
    uint8_t data[FRAMES * FRAME];
};

static void collect(void *arg, const struct toec_packet *p, const struct netio_frame *f)
{
    struct sink *k = arg;
    const uint8_t *ip = p->data + ETH, *tcp = ip + (ip[0] >> 4 == 4 ? 20 : 40);
    uint32_t head = (uint32_t)(tcp - p->data) + (tcp[12] >> 4) * 4u;
    uint32_t end = ETH + (ip[0] >> 4 == 4 ? get16(ip + 2) : 40 + get16(ip + 4));

    assert_true(p->opaque ? f == NULL : f->data == p->data);
    k->packets++;
    k->joined += p->opaque != NULL;
    k->pushes += (tcp[13] & 8) != 0;
    assert_true(p->head_len <= p->len);
    assert_true(head <= p->head_len);
    assert_in_range(end, head, p->len);
    if (p->opaque)
        assert_int_equal(p->flags, TOEC_RX_L4_CSUM_OK | TOEC_RX_IP_CSUM_OK);
    if (k->packets > 1 && get32(tcp + 4) != k->next)
        k->in_order = 0;
    k->next = get32(tcp + 4) + end - head;
    gro_copy(k->data + k->len, p, head, end - head);
    k->len += end - head;
}

static void join(struct batch *b, struct sink *k)
{
    struct gro g;
    uint32_t i;

    memset(k, 0, sizeof(*k));
    k->in_order = 1;
    gro_begin(&g, collect, k);
    for (i = 0; i < b->count; i++)
        gro_frame(&g, &b->f[i]);
    gro_end(&g);
    assert_true(g.merged == b->count - k->packets);
}

static struct large large;
static struct batch batch;
static struct sink sink;

static void make_any(unsigned flags)
{
    uint32_t mss = 100 + below(MSS_MAX - 99), most = FRAMES * mss < MOST ? FRAMES * mss : MOST;

    large.ip4 = (int)below(2);
    large.ts = (int)below(2);
    make_large(&large, 1 + below(most), mss, flags);
    batch.count = 0;
    cut(&large, &batch);
}

static void what_is_cut_is_good_and_joins_to_the_same(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 2000; i++) {
        unsigned push = below(2) ? 8 : 0;

        make_any(0x10 | push | (below(4) ? 0 : 0x80));
        check_segments(&large, &batch);
        make_any(0x10 | push);
        check_segments(&large, &batch);
        join(&batch, &sink);
        assert_int_equal(sink.packets, 1);
        assert_int_equal(sink.joined, batch.count > 1);
        assert_int_equal(sink.pushes, push != 0);
        assert_int_equal(sink.len, large.tx.len);
        assert_memory_equal(sink.data, large.data, sink.len);
    }
}

/* The last segment carries the FIN, and that one is not joined. */
static void a_fin_is_on_the_last_and_stays_alone(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 200; i++) {
        make_any(0x11);
        check_segments(&large, &batch);
        join(&batch, &sink);
        assert_int_equal(sink.packets, batch.count > 1 ? 2 : 1);
        assert_int_equal(sink.len, large.tx.len);
        assert_memory_equal(sink.data, large.data, sink.len);
    }
}

/* The segment of n bytes at payload offset `at` of large. */
static void add_segment(uint32_t at, uint32_t n)
{
    uint8_t *to = batch.mem[batch.count];

    toec_tx_cut(&large.tx, at, n, to);
    gso_gather(to + large.tx.hdr_len, &large.parts, at, n);
    toec_tx_finish(&large.tx, to, large.tx.hdr_len + n);
    batch.f[batch.count++] = (struct netio_frame){.data = to, .len = large.tx.hdr_len + n};
}

/* One that is larger than the first is not joined, one that is smaller is the last. */
static void sizes_tell_where_a_chain_ends(void **state)
{
    (void)state;
    large.ip4 = 0; /* no identifications, which would distinguish them */
    make_large(&large, 4000, 1000, 0x10);
    batch.count = 0;
    add_segment(0, 500);
    add_segment(500, 1000);
    join(&batch, &sink);
    assert_int_equal(sink.packets, 2);
    batch.count = 0;
    add_segment(0, 1000);
    add_segment(1000, 999);
    add_segment(1999, 1000);
    add_segment(2999, 1000);
    join(&batch, &sink);
    assert_int_equal(sink.packets, 2);
    assert_int_equal(sink.joined, 2);
    assert_memory_equal(sink.data, large.data, 3999);
}

/* Recomputes a frame's checksums after a header change. */
static void seal(uint8_t *p, uint32_t len)
{
    uint32_t l4 = p[ETH] >> 4 == 4 ? ETH + 20 : ETH + 40;
    uint16_t sum;

    if (l4 == ETH + 20) {
        memset(p + ETH + 10, 0, 2);
        sum = (uint16_t)~toec_sum(p + ETH, 20);
        memcpy(p + ETH + 10, &sum, 2);
    }
    memset(p + l4 + 16, 0, 2);
    sum = (uint16_t)~toec_sum_add(pseudo(p, len - l4), toec_sum(p + l4, len - l4), 0);
    memcpy(p + l4 + 16, &sum, 2);
}

/* Each of these makes the second of three segments another kind: none is joined across it. */
enum strange {
    TTL,
    TOS,
    DF_BIT,
    ID,
    ACK,
    WINDOW,
    ECE,
    CWR,
    URG_BIT,
    SYN,
    RST,
    OPTION,
    SEQ,
    MAC,
    RESERVED,
    STRANGE_COUNT
};

static void make_strange(struct netio_frame *f, enum strange how)
{
    uint8_t *ip = f->data + ETH, *tcp = f->data + large.tx.csum_start;
    const uint8_t bit[] = {[ECE] = 0x40, [CWR] = 0x80, [URG_BIT] = 0x20, [SYN] = 2, [RST] = 4};

    switch (how) {
    case TTL:
        ip[large.ip4 ? 8 : 7]--;
        break;
    case TOS:
        ip[1] ^= large.ip4 ? 3 : 0x30; /* CE */
        break;
    case DF_BIT:
        ip[large.ip4 ? 6 : 1] ^= large.ip4 ? 0x40 : 1;
        break;
    case ID:
        ip[large.ip4 ? 5 : 3] ^= 0x20;
        break;
    case ACK:
        tcp[11]++;
        break;
    case WINDOW:
        tcp[15]++;
        break;
    case OPTION: /* another timestamp, or one that is none */
        tcp[large.ts ? 27 : 12] ^= large.ts ? 1 : 0;
        if (!large.ts)
            tcp[9]++;
        break;
    case SEQ:
        tcp[7]++;
        break;
    case MAC:
        f->data[7]++;
        break;
    case RESERVED:
        tcp[12] ^= 4;
        break;
    default:
        tcp[13] |= bit[how];
    }
    seal(f->data, f->len);
}

static void what_differs_is_not_joined(void **state)
{
    unsigned how, k;

    (void)state;
    for (how = 0; how < STRANGE_COUNT; how++)
        for (k = 0; k < 4; k++) {
            large.ip4 = k & 1;
            large.ts = k >> 1;
            make_large(&large, 3000, 1000, 0x10);
            batch.count = 0;
            cut(&large, &batch);
            make_strange(&batch.f[1], (enum strange)how);
            join(&batch, &sink);
            if (sink.packets != 3)
                fail_msg("strange %u of kind %u: %u packets", how, k, sink.packets);
            assert_int_equal(sink.len, 3000);
            assert_memory_equal(sink.data, large.data, 3000);
        }
}

/* A bad checksum, of TCP or IPv4, in any of the segments: it stays alone for core/ to count. */
static void bad_checksums_stay_alone(void **state)
{
    unsigned k, which;

    (void)state;
    for (k = 0; k < 8; k++)
        for (which = 0; which < 3; which++) {
            large.ip4 = k & 1;
            large.ts = k >> 1 & 1;
            make_large(&large, 3000, 1000, 0x10);
            batch.count = 0;
            cut(&large, &batch);
            if (k & 4 && large.ip4)
                batch.mem[which][ETH + 10] ^= 1;
            else
                batch.mem[which][large.tx.hdr_len + below(1000)] ^= 1;
            join(&batch, &sink);
            /* segments before or after it join */
            assert_int_equal(sink.packets, which == 1 ? 3 : 2);
            /* marked as verified: the TCP checksum is not checked */
            if (!(k & 4 && large.ip4)) {
                unsigned i;

                batch.count = 0;
                cut(&large, &batch);
                batch.mem[which][large.tx.hdr_len] ^= 1;
                for (i = 0; i < 3; i++)
                    batch.f[i].flags = NETIO_F_L4_CSUM_OK;
                join(&batch, &sink);
                assert_int_equal(sink.packets, 1);
            }
        }
}

/* Any order, losses, repeats, strange frames, several flows: the output equals the input, frame by
 * frame in the order of its flow. */
static struct large flows[12];

static void any_mixture_comes_out_whole(void **state)
{
    unsigned round, i;

    (void)state;
    for (round = 0; round < 500; round++) {
        uint32_t bytes = 0;

        batch.count = 0;
        for (i = 0; i < 12; i++) {
            flows[i].ip4 = (int)below(2);
            flows[i].ts = (int)below(2);
            make_large(&flows[i], 1 + below(5000), 1000 + below(400), 0x10 | (below(2) ? 8 : 0));
            cut(&flows[i], &batch);
            if (batch.count > FRAMES - 6)
                break;
        }
        for (i = 0; i < batch.count; i++) { /* shuffled a little */
            uint32_t with = below(4) ? i : below(batch.count);
            struct netio_frame f = batch.f[i];

            batch.f[i] = batch.f[with];
            batch.f[with] = f;
        }
        for (i = 0; i < batch.count; i++) {
            const uint8_t *ip = batch.f[i].data + ETH;

            bytes += batch.f[i].len - ETH - (ip[0] >> 4 == 4 ? 20 : 40) -
                     (ip[ip[0] >> 4 == 4 ? 32 : 52] >> 4) * 4u;
        }
        join(&batch, &sink);
        assert_int_equal(sink.len, bytes);
    }
}

static void count_packet(void *arg, const struct toec_packet *p, const struct netio_frame *f)
{
    uint8_t all[FRAME * FRAMES];

    (void)f;
    gro_copy(all, p, 0, p->len);
    ++*(uint32_t *)arg;
}

/* Short, cut and foreign frames do no harm, and none is lost. */
static void rubbish_passes(void **state)
{
    unsigned i, k;

    (void)state;
    for (i = 0; i < 2000; i++) {
        uint32_t out = 0;
        struct gro g;

        make_any(0x10);
        gro_begin(&g, count_packet, &out);
        for (k = 0; k < batch.count; k++) {
            struct netio_frame *f = &batch.f[k];

            if (below(6) == 0)
                f->data[below(f->len < 80 ? f->len : 80)] = (uint8_t)below(256);
            if (below(6) == 0)
                f->len = below(f->len + 1);
            gro_frame(&g, f);
        }
        gro_end(&g);
        assert_true(out + g.merged == batch.count);
    }
}

static int set_up(void **state)
{
    (void)state;
    seed = seed_of_run(20261121, UINT64_MAX);
    rng = seed | 1;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cut_is_good_and_joins_to_the_same),
        cmocka_unit_test(a_fin_is_on_the_last_and_stays_alone),
        cmocka_unit_test(sizes_tell_where_a_chain_ends),
        cmocka_unit_test(what_differs_is_not_joined),
        cmocka_unit_test(bad_checksums_stay_alone),
        cmocka_unit_test(any_mixture_comes_out_whole),
        cmocka_unit_test(rubbish_passes),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
