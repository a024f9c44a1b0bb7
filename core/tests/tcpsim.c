/* SPDX-License-Identifier: Apache-2.0 */
/* tcpsim.c - the link between hosts, and virtual time: see tcpsim.h. */
#include "tcpsim_parts.h"

#include <stdlib.h>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p))
#endif

int sim_ip6;

/* ---- the link ---- */

int sim_chance(unsigned of_1024)
{
    return of_1024 && random_below(1024) < of_1024;
}

void sim_inject(struct sim *s, unsigned to, const uint8_t *frame, uint32_t len)
{
    struct frame *f = frame_new(frame, len);

    f->at = s->now;
    f->to = to;
    frames_put(&s->net, f);
}

static void link_put(struct sim *s, unsigned from, const uint8_t *data, uint32_t len,
                     toec_time held)
{
    struct frame *f = frame_new(data, len);
    const struct impair *im = &s->impair;

    f->at = s->now + im->delay + held;
    if (im->jitter)
        f->at += random64() % im->jitter;
    if (sim_chance(im->reorder))
        f->at += im->reorder_by;
    f->to = 1 - from;
    if (sim_chance(im->corrupt)) {
        uint32_t bit = random_below(len * 8);

        f->data[bit / 8] ^= (uint8_t)(1u << (bit & 7));
    }
    if (s->crafted) {
        if ((data[12] == 8 && data[13] == 6 && data[21] == 1 && data[41] == 2) ||
            (data[12] == 0x86 && data[20] == 58 && data[54] == 135 && data[77] == 2))
            s->arp_asked = 1; /* or neighbour discovery */
        assert_true(s->sent_n < 4096);
        s->sent[s->sent_n++] = f;
    } else {
        frames_put(&s->net, f);
    }
}

void sim_link(struct sim *s, unsigned from, uint8_t *data, uint32_t len)
{
    int64_t held = 0;

    if (!s->crafted && sim_chance(s->impair.lose))
        return;
    if (s->router)
        held = s->router(s, from, data, len);
    if (held < 0)
        return;
    link_put(s, from, data, len, (toec_time)held);
    if (!s->crafted && sim_chance(s->impair.duplicate))
        link_put(s, from, data, len, (toec_time)held);
}

/* ---- running ---- */

void sim_address6(uint8_t *b, unsigned host)
{
    memset(b, 0, 16);
    b[0] = 0xfd;
    b[15] = (uint8_t)(host + 1);
}

void sim_init(struct sim *s, unsigned hosts)
{
    unsigned i, j;

    memset(s, 0, sizeof(*s));
    s->hosts = hosts;
    s->now = 1000 * SEC;
    s->impair.delay = 50 * USEC;
    s->retry = 10 * USEC;
    for (i = 0; i < hosts; i++) {
        struct host *h = &s->host[i];

        h->sim = s;
        h->index = i;
        h->tx_buf = 65536;
        h->rx_buf = 65536;
        h->tx_room = -1;
        h->cfg.user = h;
        h->cfg.mac[0] = 2;
        h->cfg.mac[5] = (uint8_t)(i + 1);
        put32(h->cfg.ip, IP_A + i);
        h->cfg.prefix_len = 24;
        if (sim_ip6) {
            put32(h->cfg.ip, 0);
            h->cfg.ip6 = TOEC_IP6_STATIC;
            sim_address6(h->cfg.ip6_addr, i);
            h->cfg.ip6_prefix_len = 64;
        }
        for (j = 0; j < 32; j++)
            h->cfg.secret[j] = (uint8_t)(j * 7 + i * 31 + 1);
    }
}

/* Duplicate address detection on a perfect link, so that a run begins with addresses. */
static void settle_addresses(struct sim *s)
{
    const struct impair perfect = {0, 0, 0, 0, 50 * USEC, 0, 0}, asked = s->impair;
    unsigned i, fail[2];

    s->impair = perfect;
    for (i = 0; i < 2; i++) {
        fail[i] = s->host[i].tx_fail_1024;
        s->host[i].tx_fail_1024 = 0;
    }
    sim_run(s, 4 * SEC);
    for (i = 0; i < 2; i++)
        s->host[i].tx_fail_1024 = fail[i];
    s->impair = asked;
}

/* Keeps the memory of stacks for the next simulation of the same size: mapping it again would
 * dominate a short one. AddressSanitizer detects uses in between. */
static struct {
    void *mem;
    unsigned long size;
} kept[2];

static void *stack_memory(unsigned i, unsigned long size)
{
    void *mem = kept[i].mem;

    if (mem)
        ASAN_UNPOISON_MEMORY_REGION(mem, kept[i].size);
    kept[i].mem = NULL;
    if (mem && kept[i].size == size)
        return mem;
    free(mem);
    return must(aligned_alloc(64, (size + 63) / 64 * 64));
}

static void keep_stack_memory(unsigned i, void *mem, unsigned long size)
{
    if (kept[i].mem) {
        free(mem);
        return;
    }
    kept[i].mem = mem;
    kept[i].size = size;
    ASAN_POISON_MEMORY_REGION(mem, size);
}

void sim_start(struct sim *s)
{
    unsigned i;

    for (i = 0; i < s->hosts; i++) {
        struct host *h = &s->host[i];

        h->mem_size = toec_size(&h->cfg);
        assert_true(h->mem_size > 0);
        h->mem = stack_memory(i, h->mem_size);
        memset(h->mem, 0xa5, h->mem_size);
        h->stack = toec_init(h->mem, h->mem_size, &h->cfg, s->now);
        assert_non_null(h->stack);
        h->deadline = s->now;
    }
    if (sim_ip6)
        settle_addresses(s);
}

void sim_stop(struct sim *s)
{
    unsigned i;

    for (i = 0; i < s->hosts; i++) {
        struct conn *c = s->host[i].conns, *next;

        for (; c; c = next) {
            next = c->next;
            free(c->tx);
            free(c->rx);
            free(c);
        }
        keep_stack_memory(i, s->host[i].mem, s->host[i].mem_size);
    }
    frames_free(&s->net);
    for (i = 0; i < s->sent_n; i++)
        free(s->sent[i]);
}

void sim_input(struct sim *s, struct host *h, const uint8_t *data, uint32_t len)
{
    struct toec_packet p;

    memset(&p, 0, sizeof(p));
    p.data = data;
    p.head_len = len;
    p.len = len;
    if (!s->takes || !s->takes(s, h, &p))
        toec_input(h->stack, &p, s->now);
}

void sim_poll(struct sim *s, struct host *h)
{
    sim_hand_over_now_and_then(h);
    h->deadline = toec_poll(h->stack, s->now);
    if (s->arp_asked && !s->peer_silent) {
        craft_answer(s);
        h->deadline = toec_poll(h->stack, s->now);
    }
    /* `now` requests a call when transmit has room: a little later here. */
    if (h->deadline <= s->now)
        h->deadline = s->now + s->retry;
}

int sim_step(struct sim *s, toec_time until)
{
    toec_time next = TOEC_NEVER;
    unsigned i;

    for (i = 0; i < s->hosts; i++) {
        if (s->host[i].deadline < next)
            next = s->host[i].deadline;
    }
    if (frames_due(&s->net, next))
        next = s->net.heap[0]->at;
    if (next == TOEC_NEVER || next > until) {
        s->now = until;
        return 0;
    }
    if (next > s->now)
        s->now = next;
    while (frames_due(&s->net, s->now)) {
        struct frame *f = frames_take(&s->net);

        sim_input(s, &s->host[f->to], f->data, f->len);
        s->host[f->to].deadline = s->now;
        s->delivered++;
        free(f);
    }
    for (i = 0; i < s->hosts; i++) {
        if (s->host[i].deadline <= s->now)
            sim_poll(s, &s->host[i]);
    }
    return 1;
}

void sim_run(struct sim *s, toec_time duration)
{
    toec_time until = s->now + duration;
    unsigned i;

    for (i = 0; i < s->hosts; i++)
        s->host[i].deadline = s->now;
    while (sim_step(s, until))
        ;
}

toec_time sim_transfer(struct sim *s, struct conn *c, uint64_t goal, toec_time limit)
{
    toec_time began = s->now;

    while (c->acked < goal && s->now - began < limit) {
        struct conn *p = conn_peer(c);

        if (c->sent < goal)
            conn_write(c, (uint32_t)(goal - c->sent), 1);
        if (p)
            conn_read(p, p->rx_size);
        s->host[0].deadline = s->host[1].deadline = s->now;
        sim_step(s, began + limit);
        sim_step(s, began + limit);
    }
    return s->now - began;
}

uint64_t sim_count(const struct sim *s, unsigned host, enum toec_counter c)
{
    return toec_counters(s->host[host].stack)[c];
}

void sim_assert_clean(struct sim *s)
{
    unsigned i;

    for (i = 0; i < s->hosts; i++) {
        struct host *h = &s->host[i];
        struct toec_usage u;
        struct conn *c;

        toec_usage(h->stack, &u);
        assert_int_equal(u.flows, 0);
        assert_int_equal(u.half_open, 0);
        assert_int_equal(u.time_wait, 0);
        for (c = h->conns; c; c = c->next)
            assert_true(c->gone);
        assert_int_equal(h->open_now, 0);
    }
    assert_int_equal(s->place_violations, 0);
}
