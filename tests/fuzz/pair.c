/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.c - fuzz target: two stacks with applications, joined by a link that the input controls:
 * which frames are lost, delayed or repeated, and when time passes.
 *
 * Input: [set-up][set-up of the rarer features, 2 bytes, when its bit 128 is set][a list of acts].
 * In the end the link is good again and both sides close. Checks: each byte arrives once, in order
 * and right; what one side has read is what the other has sent when both have ended well; nothing
 * is placed outside the window; pools are full.
 */
#include "tcpsim.h"

#include "fuzz.h"

#define MOST_ACTS  300
#define MOST_CONNS 4u

/* The queue of frames on the link is a heap, and so is a sorted array. */
static int by_time(const void *a, const void *b)
{
    const struct frame *x = *(struct frame *const *)a, *y = *(struct frame *const *)b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void sort(struct sim *s)
{
    if (s->net.n)
        qsort(s->net.heap, s->net.n, sizeof(struct frame *), by_time);
}

static void lose(struct sim *s, unsigned which)
{
    if (!s->net.n)
        return;
    which %= s->net.n;
    free(s->net.heap[which]);
    s->net.heap[which] = s->net.heap[--s->net.n];
    sort(s);
}

static void hold_back(struct sim *s, unsigned which, toec_time by)
{
    if (!s->net.n)
        return;
    s->net.heap[which % s->net.n]->at += by;
    sort(s);
}

static void repeat(struct sim *s, unsigned which, toec_time by)
{
    struct frame *f, *copy;

    if (!s->net.n || s->net.n == s->net.room)
        return;
    f = s->net.heap[which % s->net.n];
    copy = fuzz_exact(f, sizeof(*f) + f->len);
    copy->at += by;
    copy->order = s->net.order++;
    s->net.heap[s->net.n++] = copy;
    sort(s);
}

static struct conn *nth(struct host *h, unsigned n)
{
    struct conn *c = h->conns;

    for (n %= MOST_CONNS; c && n; n--)
        c = c->next;
    return c;
}

/* The link: its path MTU (0: any), whether it reports it, whether it marks congestion. */
static struct {
    uint32_t mtu;
    int tells, marks;
} link;

static void show_frame(const struct sim *s, unsigned from, const uint8_t *f, uint32_t len)
{
    const uint8_t *t = f + (f[12] == 8 ? 34 : 54);

    if ((f[12] == 8 ? f[23] : f[20]) == 6)
        fprintf(stderr, "%14.6f from %u: %u>%u flags %02x seq %u ack %u len %u\n",
                (double)s->now / 1e9, from, t[0] << 8 | t[1], t[2] << 8 | t[3], t[13],
                (unsigned)t[4] << 24 | t[5] << 16 | t[6] << 8 | t[7],
                (unsigned)t[8] << 24 | t[9] << 16 | t[10] << 8 | t[11],
                (unsigned)(len - (unsigned)(t - f) - (t[12] >> 4) * 4u));
}

/* Sends a router's error to the sender of f, quoting 64 bytes. */
static void too_big(struct sim *s, unsigned to, const uint8_t *f)
{
    uint8_t e[14 + 40 + 8 + 64] = {0}, *ip = e + 14, *icmp = ip + (sim_ip6 ? 40 : 20);
    uint32_t n = (uint32_t)(icmp - e) + 8 + 64;
    uint16_t sum;

    memcpy(e, f + 6, 6);
    memcpy(e + 6, f, 6);
    memcpy(e + 12, f + 12, 2);
    memcpy(icmp + 8, f + 14, 64);
    put16(icmp + 6, link.mtu);
    if (sim_ip6) {
        ip[0] = 0x60;
        put16(ip + 4, 8 + 64);
        ip[6] = 58;
        ip[7] = 64;
        memcpy(ip + 8, f + 14 + 24, 16);
        memcpy(ip + 24, f + 14 + 8, 16);
        icmp[0] = 2;
        sum = toec_sum_add(toec_sum(ip + 8, 32), toec_sum((const uint8_t[]){0, 72, 0, 58}, 4), 0);
        sum = toec_sum_add(sum, toec_sum(icmp, 72), 0);
    } else {
        ip[0] = 0x45;
        put16(ip + 2, 20 + 8 + 64);
        ip[8] = 64;
        ip[9] = 1;
        memcpy(ip + 12, f + 14 + 16, 4);
        memcpy(ip + 16, f + 14 + 12, 4);
        sum = (uint16_t)~toec_sum(ip, 20);
        memcpy(ip + 10, &sum, 2);
        icmp[0] = 3;
        icmp[1] = 4;
        sum = toec_sum(icmp, 72);
    }
    sum = (uint16_t)~sum;
    memcpy(icmp + 2, &sum, 2);
    sim_inject(s, to, e, n);
}

/* ECN-capable packets are marked (RFC 3168). */
static void mark(uint8_t *ip)
{
    uint16_t sum = 0;

    if (sim_ip6) {
        if (ip[1] & 0x30)
            ip[1] |= 0x30;
        return;
    }
    if (!(ip[1] & 3))
        return;
    ip[1] |= 3;
    memcpy(ip + 10, &sum, 2);
    sum = (uint16_t)~toec_sum(ip, 20);
    memcpy(ip + 10, &sum, 2);
}

static int64_t router(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    if (fuzz_verbose)
        show_frame(s, from, f, len);
    if (f[12] == 8 && f[13] == 6)
        return 0;
    if (link.mtu && len > link.mtu + 14) {
        if (link.tells && (f[12] == 0x86 || (f[20] & 0x40)))
            too_big(s, from, f);
        return -1;
    }
    if (link.marks)
        mark(f + 14);
    return 0;
}

static void set_option(struct host *h, struct conn *c, struct fuzz_in *in)
{
    static const uint8_t rare[] = {TOEC_OPT_MTU_DISCOVER, TOEC_OPT_MAXSEG, TOEC_OPT_TOS,
                                   TOEC_OPT_ECN,          TOEC_OPT_CC,     TOEC_OPT_CORK};
    unsigned which = fuzz_u8(in);
    uint32_t value = fuzz_u8(in);
    enum toec_option o = which < 128 ? which % 24 : rare[which % sizeof(rare)];

    if (which >= 192) { /* 64 KiB/s at least, so that all that is written arrives */
        o = TOEC_OPT_MAX_PACING;
        value = (value + 1) << 16;
    }
    (void)toec_set_option(h->stack, c->flow, o, value, h->sim->now);
}

#define MOST_KEYS 12u

/* For every peer; for a connection the KeyIDs are swapped. */
static struct toec_ao_mkt a_key(int active)
{
    struct toec_ao_mkt k;

    memset(&k, 0, sizeof(k));
    if (sim_ip6)
        k.remote.b[0] = 0xfd;
    else
        k.remote.b[10] = k.remote.b[11] = 0xff;
    k.send_id = active ? 1 : 2;
    k.recv_id = active ? 2 : 1;
    k.alg = TOEC_AO_HMAC_SHA1;
    k.secret = (const uint8_t *)"secret";
    k.secret_len = 6;
    return k;
}

/* All may be in use: then the frame is lost. */
static void with_key(struct conn *c)
{
    const struct toec_ao_mkt k = a_key(1);

    if (c->host->cfg.max_ao_keys && c->flow)
        (void)toec_ao_add(c->host->stack, c->flow, &k);
}

/* With data on the SYN when the stack has a cookie for the peer, or none is wanted. */
static void fast_connect(struct host *h, struct fuzz_in *in)
{
    unsigned how = fuzz_u8(in);
    struct conn *c;
    int rc;

    if (h->opened + h->sim->host[1 - h->index].opened >= 2 * MOST_CONNS)
        return;
    c = sim_connect_from(h->sim, h->index, 0, 80, &rc);
    with_key(c);
    if (!c->gone && toec_fastopen(h->stack, c->flow, (int)(how & 1), h->sim->now) > 0)
        conn_write(c, how * 16, 1);
}

static void user(struct sim *s, struct fuzz_in *in)
{
    unsigned what = fuzz_u8(in);
    struct host *h = &s->host[what & 1];
    struct conn *c = nth(h, what >> 1 & 3);
    int rc;

    switch (what >> 3 & 15) {
    case 0:
        if (h->opened + s->host[1 - h->index].opened < 2 * MOST_CONNS)
            with_key(sim_connect_from(s, h->index, 0, 80, &rc));
        break;
    case 1: /* from both sides at the same time: simultaneous open */
        if (s->host[0].opened == 0 && s->host[1].opened == 0) {
            with_key(sim_connect_from(s, 0, 7000, 7000, &rc));
            with_key(sim_connect_from(s, 1, 7000, 7000, &rc));
        }
        break;
    case 2:
        if (c)
            conn_shutdown(c);
        break;
    case 3:
        if (c && (what & 128))
            conn_close(c);
        break;
    case 4:
        if (c && (what & 128) && fuzz_u8(in) == 7)
            conn_abort(c);
        break;
    case 5:
        if (c && c->flow && !c->closed)
            set_option(h, c, in);
        break;
    case 6:
    case 7:
    case 8:
        if (c && !c->gone)
            conn_read(c, fuzz_u16(in));
        break;
    case 14:
        if (c && c->flow && !c->closed)
            (void)toec_urgent(h->stack, c->flow, s->now);
        break;
    case 15:
        fast_connect(h, in);
        break;
    default:
        if (c)
            conn_write(c, fuzz_u16(in), (int)(what >> 7));
    }
}

static void act(struct sim *s, struct fuzz_in *in)
{
    unsigned what = fuzz_u8(in);

    switch (what & 7) {
    case 0:
        lose(s, what >> 3);
        break;
    case 1:
        hold_back(s, what >> 3, (toec_time)fuzz_u8(in) * MSEC / 4);
        break;
    case 2:
        repeat(s, what >> 3, (toec_time)fuzz_u8(in) * MSEC / 4);
        break;
    case 3:
        sim_run(s, (toec_time)(what >> 3) * 20 * USEC);
        break;
    case 4:
        sim_run(s, (toec_time)(what >> 3) * 20 * MSEC);
        break;
    case 5: /* a step: one batch of frames or timers */
        if (what >> 3 == 31)
            link.marks = !link.marks;
        sim_step(s, s->now + SEC);
        break;
    default:
        user(s, in);
    }
    FUZZ_CHECK(s->place_violations == 0);
}

static int all_gone(const struct sim *s)
{
    return s->host[0].open_now + s->host[1].open_now == 0;
}

/* Both sides read, write nothing more and close. */
static void finish(struct sim *s)
{
    struct conn *c;
    unsigned i, round;

    for (round = 0; round < 40 && !all_gone(s); round++) {
        for (i = 0; i < 2; i++) {
            for (c = s->host[i].conns; c; c = c->next) {
                conn_read(c, 1u << 20);
                conn_shutdown(c);
                if (c->peer_closed && c->received == c->read)
                    conn_close(c);
            }
        }
        sim_run(s, 5 * SEC);
    }
    sim_run(s, 300 * SEC);
    for (i = 0; i < 2; i++)
        for (c = s->host[i].conns; c; c = c->next)
            conn_read(c, 1u << 20);
}

static void show(const struct conn *c)
{
    fprintf(stderr, "%u: %u>%u sent %llu acked %llu received %llu gone %d (%u)\n", c->host->index,
            c->local_port, c->remote_port, (unsigned long long)c->sent,
            (unsigned long long)c->acked, (unsigned long long)c->received, c->gone, c->gone_reason);
}

/* Fast Open may give the same SYN's data to a program twice (RFC 7413 2.1). */
static int only_one(const struct conn *c)
{
    const struct conn *o;

    for (o = c->host->conns; o; o = o->next)
        if (o != c && o->established && o->local_port == c->local_port &&
            o->remote_port == c->remote_port)
            return 0;
    return 1;
}

static void compare(struct sim *s)
{
    struct conn *a, *b;
    unsigned i;

    for (i = 0; fuzz_verbose && i < 2; i++)
        for (a = s->host[i].conns; a; a = a->next)
            show(a);
    for (a = s->host[0].conns; a; a = a->next) {
        for (b = s->host[1].conns; b; b = b->next) {
            if (a->local_port != b->remote_port || a->remote_port != b->local_port)
                continue;
            /* One may be from an old SYN that arrived again after TIME-WAIT. */
            if (!a->established || !b->established || !only_one(a) || !only_one(b))
                continue;
            FUZZ_CHECK(a->received <= b->sent && b->received <= a->sent);
            FUZZ_CHECK(a->acked <= b->received && b->acked <= a->received);
            if (a->gone_reason || b->gone_reason || !a->gone || !b->gone)
                continue;
            if (a->established && b->established && a->peer_closed && b->peer_closed) {
                FUZZ_CHECK(a->received == b->sent);
                FUZZ_CHECK(b->received == a->sent);
            }
        }
    }
}

static void set_up_rare(struct sim *s, unsigned what)
{
    static const uint16_t mtu[] = {0, 1400, 1280, 1499};
    unsigned i;

    link.mtu = mtu[what >> 8 & 3];
    link.tells = !!(what & 1024);
    link.marks = !!(what & 2048);
    for (i = 0; i < 2; i++) {
        struct host *h = &s->host[i];

        h->cfg.cc = what & 3;
        h->cfg.ecn = what >> 2 & 3;
        h->cfg.mtu_probing = what >> 4 & 3;
        if (what & 4096)
            h->cfg.max_flows = 3;
        if (what & 8192)
            h->cfg.mtu = 9000;
        if (what & 16384)
            h->tx_buf = h->rx_buf = 1u << 18;
        if (what & 32768) {
            h->cfg.max_ao_keys = MOST_KEYS;
            h->cfg.ao = &sim_ao;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    static struct sim s;
    unsigned set_up = fuzz_u8(&in), rare = set_up & 128 ? fuzz_u16(&in) : 0, i, acts;
    toec_u32 listener;
    struct conn *c;

    memset(&link, 0, sizeof(link));
    sim_ip6 = (set_up & 32) != 0;
    sim_init(&s, 2);
    s.impair.delay = set_up & 1 ? 20 * MSEC : 100 * USEC;
    for (i = 0; i < 2; i++) {
        struct host *h = &s.host[i];

        h->cfg.max_flows = 8;
        h->cfg.max_listeners = 2;
        h->cfg.max_time_wait = 4;
        h->cfg.max_neighbours = 4;
        h->cfg.max_datagrams = 1;
        h->cfg.cc = set_up & 2 ? TOEC_CC_NEWRENO : TOEC_CC_CUBIC;
        h->cfg.max_gso = set_up & 4 ? 16384 : 0;
        h->tx_buf = set_up & 8 ? 65536 : 4096;
        h->rx_buf = set_up & 16 ? 65536 : 4096;
    }
    if (set_up & 128)
        set_up_rare(&s, rare);
    s.router = router;
    sim_start(&s);
    for (i = 0; i < 2; i++) {
        sim_listen(&s, i, 80, 4, &listener);
        if (s.host[i].cfg.max_ao_keys) {
            const struct toec_ao_mkt k = a_key(0);

            FUZZ_CHECK(toec_listen_ao_add(s.host[i].stack, listener, &k) == 0);
        }
        if (rare & 0xc0)
            toec_listen_fastopen(s.host[i].stack, listener,
                                 4 | (rare & 128 ? TOEC_FASTOPEN_NOCOOKIE : 0));
    }
    sim_run(&s, 3 * SEC);
    for (acts = 0; in.left && acts < MOST_ACTS; acts++)
        act(&s, &in);
    finish(&s);
    compare(&s);
    for (i = 0; i < 2; i++)
        for (c = s.host[i].conns; c; c = c->next)
            conn_abort(c);
    sim_run(&s, 300 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
    return 0;
}
