/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings.c - fuzz target: a hostile host writes anything into its command ring, its doorbells and
 * the memory it shares with the engine, beside a well-behaved one (docs/ARCHITECTURE.md rule 5).
 *
 * Input: [set-up: 1 IPv6 too][a list of acts]. Checks: the well-behaved host is notified only of
 * its own flows and keeps its connection; engines and stacks have freed everything at the end
 * (bench_free() asserts it).
 */
#include <sys/mman.h>

#include "bench.h"

#include "fuzz.h"

#define MOST_ACTS 200

struct setting {
    struct bench t;
    struct host good_x, good_y, bad;
    uint32_t fx, fy, sent, acked, got;
    struct fuzz_in in;
};

/* Arguments that mean something more often than not. */
static uint32_t number(struct fuzz_in *in)
{
    static const uint32_t likely[] = {
        0,    1,     2,     3,     7,    15,   16,    17,    80,         443,        1000,
        4096, 16383, 16384, 16385, IP_A, IP_B, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff};
    unsigned how = fuzz_u8(in);

    if (how < 128)
        return how & 15;
    how -= 128;
    return how < sizeof(likely) / sizeof(likely[0]) ? likely[how] : fuzz_u32(in);
}

static void command(struct setting *s, unsigned type)
{
    struct host *h = &s->bad;
    unsigned flags = fuzz_u8(&s->in);
    uint16_t aux = (uint16_t)number(&s->in);
    uint32_t flow = number(&s->in), arg0 = number(&s->in), arg1 = number(&s->in);
    uint32_t room = toe_ring_room(&h->sw);

    if (room == TOE_RING_BAD || room == 0)
        return; /* the engine has halted it, or will soon */
    /* None, a few that mean something, or anything. */
    flags = flags & 128 ? flags : flags & 64 ? flags & 7 : 0;
    host_put(h, (uint8_t)type, (uint8_t)flags, aux, flow, arg0, arg1);
}

static void scribble(struct setting *s)
{
    struct host *h = &s->bad;
    uint64_t at = fuzz_u32(&s->in) % h->layout.buffers;
    size_t n, i;
    const uint8_t *p = fuzz_bytes(&s->in, 1 + (fuzz_u8(&s->in) & 31), &n);

    for (i = 0; i < n; i++)
        h->area[(at + i) % h->layout.buffers] = p[i];
}

/* An address of IPv6 for CONNECT and LISTEN: one of the engines, or the input's. */
static void address(struct setting *s)
{
    struct host *h = &s->bad;
    struct toedev_address *a = (void *)(h->area + h->layout.addresses);
    unsigned how = fuzz_u8(&s->in);

    a += how & (h->cfg.addresses - 1);
    memset(a, 0, sizeof(*a));
    if (how & 16) {
        a->addr[0] = 0xfd;
        a->addr[15] = (uint8_t)fuzz_u8(&s->in);
    }
    if (how & 32) {
        a->local[0] = 0xfd;
        a->local[15] = (uint8_t)fuzz_u8(&s->in);
    }
    if (how & 64)
        a->addr[fuzz_u8(&s->in) & 15] = (uint8_t)fuzz_u8(&s->in);
}

static void doorbell(struct setting *s)
{
    struct toedev_doorbells *d = s->bad.doorbells;
    unsigned which = fuzz_u8(&s->in);
    uint32_t value = number(&s->in);

    switch (which % 6) {
    case 0:
        toe_ring_store(&d->sw_head, which & 128 ? value : s->bad.sw.head + value);
        break;
    case 1:
        toe_ring_store(&d->hw_tail, which & 128 ? value : s->bad.hw.tail + value);
        break;
    case 2:
        toe_ring_store(&d->irq_arm, value);
        break;
    case 3:
        toe_ring_store(&d->irq_seq, value);
        break;
    case 4:
        toe_ring_store(&d->irq_count, value);
        break;
    default:
        toe_ring_store(&d->irq_usec, value);
    }
}

static void attach_bad(struct setting *s)
{
    struct toedev_qp_config cfg = bench_qp_config(16);

    cfg.hw_entries = 64;
    host_attach(&s->t, s->t.a, &s->bad, &cfg);
}

static void reattach(struct setting *s)
{
    struct bench *t = &s->t;

    if (s->t.next_qp > 12)
        return;
    qp_drop(s->bad.qp);
    host_forget(&s->bad);
    bench_run(t, NS_PER_MS);
    while (t->a->qp_count == t->a->cfg.max_qps)
        bench_run(t, 10 * NS_PER_S);
    while (t->unused_count)
        qp_free(t->unused[--t->unused_count]);
    attach_bad(s);
}

static void behave(struct setting *s, uint32_t most)
{
    struct toe_cmd c;
    uint32_t n = s->good_y.cfg.tx_size - (s->sent - s->acked);

    n = n > most ? most : n;
    if (n) {
        host_send(&s->good_y, s->fy, s->sent, n);
        s->sent += n;
    }
    while (host_get(&s->good_y, &c)) {
        FUZZ_CHECK(toe_cmd_type(&c) == TOE_CMD_SEND_COMPLETE && toe_cmd_flow(&c) == s->fy);
        s->acked += toe_cmd_arg0(&c);
        FUZZ_CHECK(s->acked <= s->sent);
    }
    while (host_get(&s->good_x, &c)) {
        FUZZ_CHECK(toe_cmd_type(&c) == TOE_CMD_DATA_RECEIVED && toe_cmd_flow(&c) == s->fx);
        FUZZ_CHECK(host_holds(&s->good_x, s->fx, s->got, toe_cmd_arg0(&c)));
        s->got += toe_cmd_arg0(&c);
        FUZZ_CHECK(s->got <= s->sent);
        host_put(&s->good_x, TOE_CMD_RECV, 0, 0, s->fx, toe_cmd_arg0(&c), 0);
    }
}

static void act(struct setting *s)
{
    unsigned what = fuzz_u8(&s->in), n;
    struct toe_cmd c;

    switch (what & 15) {
    case 8:
        scribble(s);
        break;
    case 9:
        doorbell(s);
        break;
    case 10:
        for (n = what >> 4; n; n--)
            host_get(&s->bad, &c);
        break;
    case 11:
        behave(s, 3000);
        break;
    case 12:
        if (what > 0xe0)
            reattach(s);
        else
            address(s);
        break;
    case 13:
        bench_run(&s->t, (uint64_t)(what >> 4) * 50 * NS_PER_MS);
        break;
    case 14:
        bench_run(&s->t, (uint64_t)(what >> 4) * 20 * NS_PER_US);
        break;
    case 15:
        command(s, fuzz_u8(&s->in));
        break;
    default:
        command(s, 1 + (what & 7) + (what >> 4 & 8));
    }
    if (what < 0xc0)
        bench_run(&s->t, 20 * NS_PER_US);
}

static void connect_good(struct setting *s)
{
    struct toedev_qp_config cfg = bench_qp_config(16);
    struct toe_cmd c;

    host_attach(&s->t, s->t.a, &s->good_x, &cfg);
    host_attach(&s->t, s->t.b, &s->good_y, &cfg);
    host_put(&s->good_x, TOE_CMD_LISTEN, 0, 443, 7, 0, 16);
    bench_run(&s->t, NS_PER_MS);
    host_put(&s->good_y, TOE_CMD_CONNECT, 0, 443, 1, IP_A, 0);
    bench_run(&s->t, 100 * NS_PER_MS);
    c = host_want(&s->good_x, TOE_CMD_LISTEN_ESTABLISHED);
    s->fx = toe_cmd_flow(&c);
    c = host_want(&s->good_y, TOE_CMD_CONNECT_ESTABLISHED);
    s->fy = toe_cmd_flow(&c);
    host_put(&s->good_x, TOE_CMD_ACCEPT, 0, 0, s->fx, 0, 0);
    host_put(&s->good_x, TOE_CMD_UNLISTEN, 0, 0, 7, 0, 0); /* others may have the port */
}

static void end(struct setting *s)
{
    unsigned i;

    for (i = 0; i < 4; i++) {
        behave(s, 0);
        bench_run(&s->t, 2 * NS_PER_S);
    }
    behave(s, 0);
    FUZZ_CHECK(s->got == s->sent && s->acked == s->sent);
    qp_drop(s->bad.qp);
    qp_drop(s->good_x.qp);
    qp_drop(s->good_y.qp);
    host_forget(&s->bad);
    host_forget(&s->good_x);
    host_forget(&s->good_y);
    bench_free(&s->t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct setting s;
    unsigned acts;

    memset(&s, 0, sizeof(s));
    s.in.p = data;
    s.in.left = size;
    bench_flows = 32;
    bench_ip6 = (int)(fuzz_u8(&s.in) & 1);
    bench_init(&s.t);
    connect_good(&s);
    attach_bad(&s);
    for (acts = 0; s.in.left && acts < MOST_ACTS; acts++)
        act(&s);
    end(&s);
    return 0;
}
