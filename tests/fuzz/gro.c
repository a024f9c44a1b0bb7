/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gro.c - fuzz target: the engine joins segments of one batch (engine/src/frames/gro.c) before they
 * are checked.
 *
 * Input: a list of frames: [flow and family][payload][flags and marks][number of edits][offset,
 * value]. Each continues its flow and is valid except for the edits. Checks: each frame is
 * delivered once, those of a flow in order; joined segments hold the received bytes, in sequence,
 * under a header that describes them, and none had a wrong checksum; nothing is read beyond a
 * frame.
 */
#include "frames/gro.h"

#include "fuzz.h"

#define FLOWS 4u
#define MOST  2048u

struct arrived {
    struct netio_frame f;
    uint8_t as_it_came[MOST];
    int delivered;
};

static struct arrived frames[GRO_PARTS];
static unsigned count, gone;

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) << 16 | get16(p + 2);
}

static uint16_t tcp_sum(const uint8_t *f, uint32_t l4, uint32_t end)
{
    uint8_t pseudo[4] = {0, 6, 0, 0};
    uint16_t addresses = l4 == 34 ? toec_sum(f + 26, 8) : toec_sum(f + 22, 32);

    put16(pseudo + 2, end - l4);
    return toec_sum_add(toec_sum_add(toec_sum(pseudo, 4), addresses, 0), toec_sum(f + l4, end - l4),
                        0);
}

/* A segment of a flow as it ought to be; its length. */
static uint32_t segment(uint8_t *f, unsigned flow, uint32_t seq, uint32_t len, unsigned how,
                        unsigned id)
{
    int ip4 = !(flow & 1);
    uint32_t l4 = ip4 ? 34 : 54, head = l4 + (how & 4 ? 32 : 20), i;
    uint16_t sum;

    memset(f, 0, head);
    f[5] = 1;
    f[11] = 2;
    put16(f + 12, ip4 ? 0x0800 : 0x86dd);
    if (ip4) {
        f[14] = 0x45;
        put16(f + 16, head + len - 14);
        put16(f + 18, id);
        f[20] = 0x40;
        f[22] = 64;
        f[23] = 6;
        put32(f + 26, 0x0a000002);
        put32(f + 30, 0x0a000001);
        sum = (uint16_t)~toec_sum(f + 14, 20);
        memcpy(f + 24, &sum, 2);
    } else {
        f[14] = 0x60;
        put16(f + 18, head + len - 54);
        f[20] = 6;
        f[21] = 64;
        f[22] = f[38] = 0xfd;
        f[37] = 2;
        f[53] = 1;
    }
    put16(f + l4, 5000 + flow);
    put16(f + l4 + 2, 80);
    put32(f + l4 + 4, seq);
    put32(f + l4 + 8, 77);
    f[l4 + 12] = (uint8_t)((head - l4) / 4 << 4);
    f[l4 + 13] = (uint8_t)(0x10 | (how & 1 ? 8 : 0) | (how & 2 ? 0x40 : 0));
    put16(f + l4 + 14, 1000);
    if (how & 4)
        memcpy(f + l4 + 20, ((const uint8_t[]){1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8}), 12);
    for (i = 0; i < len; i++)
        f[head + i] = (uint8_t)(seq + i);
    sum = (uint16_t)~tcp_sum(f, l4, head + len);
    memcpy(f + l4 + 16, &sum, 2);
    return head + len;
}

/* Whole headers of TCP where they are looked for: their length, else 0. */
static uint32_t tcp_at(const struct arrived *a)
{
    const uint8_t *f = a->as_it_came;

    if (get16(f + 12) == 0x0800)
        return a->f.len >= 54 && f[14] == 0x45 && f[23] == 6 && !(get16(f + 20) & 0x3fff) ? 34 : 0;
    return get16(f + 12) == 0x86dd && a->f.len >= 74 && f[14] >> 4 == 6 && f[20] == 6 ? 54 : 0;
}

static int one_flow(const struct arrived *a, const struct arrived *b)
{
    uint32_t l4 = tcp_at(a), from = l4 == 34 ? 26 : 22;

    return l4 && tcp_at(b) == l4 &&
           memcmp(a->as_it_came + from, b->as_it_came + from, l4 + 4 - from) == 0;
}

/* Returns the frame whose bytes are at p; it must not have been delivered before. */
static struct arrived *take(const uint8_t *p)
{
    unsigned i, before;

    for (i = 0; i < count; i++)
        if (p >= frames[i].f.data && p < frames[i].f.data + frames[i].f.len)
            break;
    FUZZ_CHECK(i < count && !frames[i].delivered);
    frames[i].delivered = 1;
    gone++;
    for (before = 0; before < i; before++)
        if (one_flow(&frames[before], &frames[i]))
            FUZZ_CHECK(frames[before].delivered);
    return &frames[i];
}

/* Of a joined packet, the original frame whose payload begins there. */
static void check_part(const struct arrived *a, uint32_t l4, uint32_t head, const uint8_t *payload,
                       uint32_t len, uint32_t seq)
{
    const uint8_t *f = a->as_it_came;

    FUZZ_CHECK(head + len <= a->f.len && memcmp(payload, f + head, len) == 0);
    FUZZ_CHECK(get32(f + l4 + 4) == seq);
    FUZZ_CHECK((a->f.flags & NETIO_F_L4_CSUM_OK) || tcp_sum(f, l4, head + len) == 0xffff);
}

static void delivered(void *arg, const struct toec_packet *p, const struct netio_frame *f)
{
    const struct gro_chain *c = p->opaque;
    struct arrived *a = take(p->data);
    uint32_t l4, head, seq, i, n;
    uint8_t *copy;

    (void)arg;
    FUZZ_CHECK(f == (c ? NULL : &a->f));
    if (!c) {
        FUZZ_CHECK(p->len == a->f.len && p->head_len == p->len);
        FUZZ_CHECK(memcmp(p->data, a->as_it_came, p->len) == 0);
        return;
    }
    l4 = p->data[12] == 8 ? 34 : 54;
    head = l4 + (p->data[l4 + 12] >> 4) * 4u;
    seq = get32(p->data + l4 + 4);
    FUZZ_CHECK(c->count >= 2 && c->count <= GRO_PARTS && p->head_len > head);
    FUZZ_CHECK(p->len == 14 + (l4 == 34 ? get16(p->data + 16) : 40 + get16(p->data + 18)));
    copy = malloc(p->len);
    FUZZ_CHECK(copy);
    gro_copy(copy, p, 0, p->len);
    n = p->head_len - head;
    check_part(a, l4, head, copy + head, n, seq);
    FUZZ_CHECK(c->frame[0] == &a->f);
    for (i = 1; i < c->count; i++) {
        a = take(c->part[i].data);
        FUZZ_CHECK(c->frame[i] == &a->f);
        check_part(a, l4, head, copy + head + n, c->part[i].len, seq + n);
        n += c->part[i].len;
    }
    FUZZ_CHECK(head + n == p->len);
    free(copy);
}

static void arrive(struct gro *g, struct fuzz_in *in, uint32_t *next)
{
    unsigned what = fuzz_u8(in), flow = what % FLOWS, length = fuzz_u8(in), how = fuzz_u8(in);
    unsigned edits = fuzz_u8(in), i;
    uint32_t len = length < 128 ? 100 : length < 192 ? (length - 128) * 20u : length - 192, n, at;
    struct arrived *a = &frames[count];

    n = segment(a->as_it_came, flow, next[flow], len, how, count);
    next[flow] += len;
    for (i = edits < 192 ? 0 : (edits & 7) + 1; i; i--) {
        at = fuzz_u8(in) % n;
        a->as_it_came[at] = (uint8_t)fuzz_u8(in);
    }
    if (how & 16)
        n -= fuzz_u8(in) % n; /* cut */
    else if ((how & 32) && n + 4 <= MOST)
        n += 4; /* padded */
    a->delivered = 0;
    a->f = (struct netio_frame){.data = fuzz_exact(a->as_it_came, n), .len = n, .cap = n};
    a->f.flags = how & 8 ? NETIO_F_L4_CSUM_OK : 0;
    count++;
    gro_frame(g, &a->f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    uint32_t next[FLOWS] = {0, 0xfffffff0u, 0x7ffffff0u, 9};
    static struct gro g;
    unsigned i;

    memset(&g, 0, sizeof(g));
    memset(frames, 0, sizeof(frames));
    count = gone = 0;
    gro_begin(&g, delivered, NULL);
    while (in.left && count < GRO_PARTS)
        arrive(&g, &in, next);
    gro_end(&g);
    FUZZ_CHECK(gone == count);
    for (i = 0; i < count; i++)
        free(frames[i].f.data);
    return 0;
}
