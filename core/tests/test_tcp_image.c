/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_image.c - images of stacks (toec_save()), damaged field by field: each is rejected with
 * a message that names the error, or restores a stack that can be saved again. The images cover
 * every state and every congestion control, losses, gaps, Fast Open, both families.
 */
#include <stdlib.h>

#include "image/save.h"
#include "image/save_tables.h"

#include "tcpsim.h"

#define MOST   64u /* messages */
#define SAMPLE 3u  /* records of a type whose fields are damaged */

static const char *said[MOST];
static unsigned saids;

static void note(const char *sentence)
{
    unsigned i;

    for (i = 0; i < saids; i++)
        if (strcmp(said[i], sentence) == 0)
            return;
    assert_true(saids < MOST);
    said[saids++] = sentence;
}

static void assert_said(const char *part)
{
    unsigned i;

    for (i = 0; i < saids; i++)
        if (strstr(said[i], part))
            return;
    fail_msg("no image was refused with \"%s\"", part);
}

/* ---- a restorer that accepts the flows of its host ---- */

static int take_flow(void *arg, toec_u64 name, struct toec_tcb *flow, const struct toec_open *info,
                     struct toec_buffers *out)
{
    struct host *h = arg;
    struct conn *c = h->conns;

    (void)flow;
    (void)info;
    while (c && (uintptr_t)c != name)
        c = c->next;
    if (!c)
        return -1;
    out->owner = c;
    out->tx_size = c->tx_size;
    out->rx_size = c->rx_size;
    return 0;
}

static int take_listener(void *arg, toec_u64 name, toec_u32 id, const struct toec_addr *addr,
                         toec_u16 port, void **owner)
{
    (void)id;
    (void)addr;
    (void)port;
    *owner = arg;
    return name == 77 ? -1 : 0;
}

static int put_nowhere(void *arg, const void *data, toec_u32 n)
{
    (void)data;
    *(unsigned long *)arg += n;
    return 0;
}

static void name_of(void *arg, void *owner, int listener, toec_u64 *out)
{
    (void)arg;
    (void)listener;
    *out = (uintptr_t)owner;
}

/* Returns 1 when the image was accepted. Afterwards the host has its old stack, unharmed: mem is
 * separate. */
static int try_image(struct host *h, void *mem, const uint8_t *bytes, unsigned long n)
{
    const struct toec_restorer by = {h, take_flow, take_listener};
    unsigned long written = 0;
    const struct toec_saver to = {&written, put_nowhere, name_of};
    uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer detects reads beyond it */
    struct toec_stack *s = toec_init(mem, h->mem_size, &h->cfg, h->sim->now);
    const char *wrong;

    assert_non_null(exact);
    assert_non_null(s);
    memcpy(exact, bytes, n);
    wrong = toec_restore(s, exact, n, &by, h->sim->now);
    free(exact);
    if (wrong) {
        assert_true(strlen(wrong) > 10);
        note(wrong);
        return 0;
    }
    assert_int_equal(toec_save(s, &to, h->sim->now), 0);
    assert_true(written > 100);
    return 1;
}

/* ---- damage ---- */

struct damage {
    struct host *h;
    void *mem;
    const struct image *m;
    uint8_t *copy;
    unsigned taken, refused;
};

/* Replaces `had` bytes at `at` by n bytes of `is`, and adjusts the length of the record at `record`
 * (0: none). */
static void with(struct damage *d, unsigned long at, unsigned long had, const uint8_t *is,
                 unsigned n, unsigned long record)
{
    unsigned long size = d->m->n - had + n;

    memcpy(d->copy, d->m->bytes, at);
    memcpy(d->copy + at, is, n);
    memcpy(d->copy + at + n, d->m->bytes + at + had, d->m->n - at - had);
    if (record) {
        unsigned len = d->copy[record + 2] | (unsigned)d->copy[record + 3] << 8;

        len = len - (unsigned)had + n;
        d->copy[record + 2] = (uint8_t)len;
        d->copy[record + 3] = (uint8_t)(len >> 8);
    }
    if (try_image(d->h, d->mem, d->copy, size))
        d->taken++;
    else
        d->refused++;
}

static void field_is(struct damage *d, unsigned long record, unsigned long at, uint64_t value,
                     unsigned n)
{
    const uint8_t *field = d->m->bytes + at;
    uint8_t is[2 + 16];
    unsigned i;

    is[0] = field[0];
    is[1] = (uint8_t)n;
    for (i = 0; i < n; i++)
        is[2 + i] = i < 8 ? (uint8_t)(value >> 8 * i) : 0xff;
    with(d, at, 2u + field[1], is, 2 + n, record);
}

static void damage_field(struct damage *d, unsigned long record, unsigned long at)
{
    static const uint64_t others[] = {1, 2, 3, 4, 9, 16, 17, 31, 77, 129, 254, 0x8000, 0x10001};
    const uint8_t *field = d->m->bytes + at;
    unsigned n = field[1], i;
    uint64_t value = 0;

    for (i = 0; i < n && i < 8; i++)
        value |= (uint64_t)field[2 + i] << 8 * i;
    with(d, at, 2u + n, field, 0, record); /* absent, which means 0 */
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (n <= 8)
            field_is(d, record, at, others[i], others[i] > 0xffff ? 4 : others[i] > 0xff ? 2 : 1);
    if (n <= 8) {
        field_is(d, record, at, value + 1, n);
        field_is(d, record, at, value - 1, n);
        field_is(d, record, at, value ^ 1ull << (8 * n - 1), n);
        field_is(d, record, at, value + 0x10000, 4);
        field_is(d, record, at, value - 0x10000, 4);
        field_is(d, record, at, value + 0x40000000, 4);
        field_is(d, record, at, UINT64_MAX, n);
        field_is(d, record, at, UINT64_MAX, 4);
        field_is(d, record, at, UINT64_MAX, 8);
    } else {
        for (i = 0; i < 16; i++)
            field_is(d, record, at, i & 1 ? UINT64_MAX : 0, n > 16 ? 16 : i);
    }
    field_is(d, record, at, UINT64_MAX, 9);
    field_is(d, record, at, UINT64_MAX, 16);
}

static void damage_records(struct damage *d)
{
    unsigned long at, end;
    unsigned seen[256] = {0}, type, n;

    for (at = 0; at < d->m->n; at = end) {
        type = d->m->bytes[at] | (unsigned)d->m->bytes[at + 1] << 8;
        n = d->m->bytes[at + 2] | (unsigned)d->m->bytes[at + 3] << 8;
        end = at + 4 + n;
        if (type == TOEC_REC_COUNTER && seen[type & 255])
            continue;
        if (seen[type & 255]++ >= (type == TOEC_REC_FLOW ? 12 : SAMPLE))
            continue;
        with(d, at, end - at, d->m->bytes, 0, 0);                  /* left out */
        with(d, at, 0, d->m->bytes + at, (unsigned)(end - at), 0); /* twice */
        with(d, at, d->m->n - at, d->m->bytes, 0, 0);              /* the last */
        for (at += 4; at < end; at += 2u + d->m->bytes[at + 1])
            damage_field(d, end - 4 - n, at);
    }
}

static void damage(struct host *h)
{
    struct image m = {0};
    struct damage d = {h, NULL, &m, NULL, 0, 0};

    image_save(&m, h);
    d.mem = aligned_alloc(64, (h->mem_size + 63) & ~63ul);
    d.copy = malloc(2 * m.n + 64);
    assert_non_null(d.mem);
    assert_non_null(d.copy);
    assert_int_equal(try_image(h, d.mem, m.bytes, m.n), 1);
    damage_records(&d);
    assert_true(d.taken > 1000);
    assert_true(d.refused > 1000);
    assert_int_equal(try_image(h, d.mem, m.bytes, m.n), 1);
    free(d.mem);
    free(d.copy);
    image_free(&m);
}

/* ---- contents of the images ---- */

static void set(struct conn *c, enum toec_option option, uint32_t value)
{
    assert_int_equal(toec_set_option(c->host->stack, c->flow, option, value, c->host->sim->now), 0);
}

/* Runs transfers in both directions on a lossy link, one connection for each congestion control. */
static void busy(struct sim *s)
{
    struct conn *c[TOEC_CC_BBR1 + 1];
    uint32_t id;
    unsigned i;

    s->host[0].tx_buf = s->host[1].rx_buf = 1u << 18;
    s->impair.delay = 5 * MSEC;
    sim_start(s);
    sim_run(s, 3 * SEC); /* IPv6 addresses are assigned */
    sim_listen(s, 1, 80, 0, &id);
    assert_int_equal(toec_listen_fastopen(s->host[1].stack, id, 8), 0);
    for (i = 0; i <= TOEC_CC_BBR1; i++) {
        c[i] = sim_connect(s, 0, 80);
        set(c[i], TOEC_OPT_CC, i);
    }
    /* Requests the cookie that ending() uses. */
    assert_int_equal(toec_fastopen(s->host[0].stack, c[0]->flow, 0, s->now), 0);
    set(c[1], TOEC_OPT_MAX_PACING, 3000000);
    set(c[2], TOEC_OPT_ECN, 2);
    sim_run(s, 200 * MSEC);
    s->impair.lose = 60;
    for (i = 0; i <= TOEC_CC_BBR1; i++) {
        c[i]->goal = 4000000;
        (void)conn_write(c[i], 200000, 1);
        assert_int_equal(toec_eor(s->host[0].stack, c[i]->flow), 0);
        (void)conn_write(c[i], 1000, 1);
        assert_int_equal(toec_eor(s->host[0].stack, c[i]->flow), 0);
    }
    sim_run(s, 120 * MSEC);
}

/* Opens and closes connections. */
static void ending(struct sim *s)
{
    struct conn *c;
    int result;

    (void)sim_connect(s, 0, 81); /* refused, or still connecting */
    c = sim_connect_from(s, 0, 0, 80, &result);
    assert_true(toec_fastopen(s->host[0].stack, c->flow, 0, s->now) > 0);
    (void)conn_write(c, 300, 1);
    conn_shutdown(sim_connect(s, 0, 80));
    sim_run(s, 7 * MSEC);
    for (c = s->host[1].conns; c; c = c->next)
        if (c->flow && c->established) {
            conn_shutdown(c);
            break;
        }
    for (c = s->host[0].conns; c; c = c->next)
        if (c->flow && c->established) {
            conn_close(c);
            break;
        }
    sim_run(s, 3 * MSEC);
}

static void both_hosts(int ip6)
{
    struct sim s;

    sim_ip6 = ip6;
    sim_init(&s, 2);
    s.host[0].cfg.max_flows = s.host[1].cfg.max_flows = 16;
    busy(&s);
    damage(&s.host[0]);
    damage(&s.host[1]);
    ending(&s);
    damage(&s.host[0]);
    damage(&s.host[1]);
    sim_ip6 = 0;
    sim_stop(&s);
}

static void key(struct sim *s, unsigned host, struct toec_tcb *flow, uint32_t listener, unsigned n)
{
    struct toec_ao_mkt k;

    memset(&k, 0, sizeof(k));
    toec_addr_set4(&k.remote, host == 0 ? IP_B : IP_A);
    k.prefix = 24;
    k.send_id = k.recv_id = (uint8_t)n;
    k.alg = n & 1 ? TOEC_AO_HMAC_SHA1 : TOEC_AO_AES_CMAC;
    k.secret = (const uint8_t *)"damage";
    k.secret_len = 6;
    assert_int_equal(flow ? toec_ao_add(s->host[host].stack, flow, &k)
                          : toec_listen_ao_add(s->host[host].stack, listener, &k),
                     0);
}

/* Opens connections with TCP-AO: SYN sent, half-open, established with two keys, in TIME-WAIT. */
static void keyed(struct sim *s)
{
    struct conn *c[4];
    uint32_t id;
    unsigned i;

    for (i = 0; i < 2; i++) {
        s->host[i].cfg.max_flows = 8;
        s->host[i].cfg.max_ao_keys = 8; /* all of them are in use in the end */
        s->host[i].cfg.ao = &sim_ao;
    }
    sim_start(s);
    sim_listen(s, 1, 80, 0, &id);
    key(s, 1, NULL, id, 1);
    key(s, 1, NULL, id, 2);
    for (i = 0; i < 4; i++) {
        c[i] = sim_connect(s, 0, i == 3 ? 81 : 80);
        key(s, 0, c[i]->flow, 0, 1 + i % 2);
        if (i == 1)
            key(s, 0, c[i]->flow, 0, 1);
        if (i == 2)
            s->impair.delay = SEC;
        if (i < 2)
            sim_run(s, 10 * MSEC);
    }
    assert_true(c[0]->established && c[1]->established);
    conn_close(c[0]);
    conn_close(conn_peer(c[0]));
    sim_run(s, 1500 * MSEC);
}

static void no_room_for_keys(struct host *h)
{
    void *mem = aligned_alloc(64, (h->mem_size + 63) & ~63ul);
    unsigned keys = h->cfg.max_ao_keys;
    struct image m = {0};

    assert_non_null(mem);
    image_save(&m, h);
    h->cfg.max_ao_keys = 1;
    assert_int_equal(try_image(h, mem, m.bytes, m.n), 0);
    h->cfg.max_ao_keys = keys;
    assert_int_equal(try_image(h, mem, m.bytes, m.n), 1);
    image_free(&m);
    free(mem);
}

static void damage_keys(void)
{
    struct sim s;

    sim_init(&s, 2);
    keyed(&s);
    damage(&s.host[0]);
    damage(&s.host[1]);
    sim_run(&s, 3 * SEC); /* ... in TIME-WAIT */
    damage(&s.host[0]);
    damage(&s.host[1]);
    no_room_for_keys(&s.host[0]);
    sim_stop(&s);
}

static void test_damaged(void **state)
{
    (void)state;
    both_hosts(0);
    both_hosts(1);
    damage_keys();
}

/* ---- records that no stack of these tests has written ---- */

struct forge {
    struct sim s;
    struct image m;
    struct toec_image_out o;
    void *mem;
};

/* Saves an image without its last record. */
static void forge_init(struct forge *f, int ip6)
{
    memset(f, 0, sizeof(*f));
    sim_ip6 = ip6;
    sim_init(&f->s, 2);
    sim_start(&f->s);
    sim_ip6 = 0;
    sim_run(&f->s, 3 * SEC);
    image_save(&f->m, &f->s.host[0]);
    f->m.n -= 4;
    f->mem = aligned_alloc(64, (f->s.host[0].mem_size + 63) & ~63ul);
    assert_non_null(f->mem);
    toec_image_start(&f->o, image_put, &f->m);
}

static void forge_end(struct forge *f)
{
    free(f->mem);
    image_free(&f->m);
    sim_stop(&f->s);
}

static void record(struct forge *f, unsigned type, const struct toec_table *t, const void *from)
{
    toec_image_begin(&f->o, type);
    toec_image_fields(&f->o, t->row, t->count, from);
    toec_image_end(&f->o);
    assert_int_equal(f->o.failed, 0);
}

/* Returns whether the image with an end record is accepted; then removes the forged records. */
static int forged(struct forge *f, unsigned long before)
{
    int taken;

    toec_image_begin(&f->o, TOEC_REC_END);
    toec_image_end(&f->o);
    taken = try_image(&f->s.host[0], f->mem, f->m.bytes, f->m.n);
    f->m.n = before;
    return taken;
}

static void test_forged_caches(void **state)
{
    struct toec_redirect6 r = {.dst = {{0xfd, 1}}, .via = {{0xfe, 0x80, [15] = 9}}};
    struct toec_pmtu_entry e = {.dst = {{[10] = 255, 255, 10, 0, 0, 9}}};
    static const unsigned mtus[][3] = {{1400, 0, 1}, {0, 1300, 1}, {100, 0, 0},
                                       {9999, 0, 0}, {0, 9999, 0}, {1280, 1280, 1}};
    struct toec_router6 router = {0};
    struct toec_prefix6 prefix = {0};
    struct toec_stack *stack;
    struct forge f;
    unsigned long n;
    unsigned i;

    (void)state;
    forge_init(&f, 1);
    n = f.m.n;
    r.until = 1;
    record(&f, TOEC_REC_REDIRECT6, &toec_t_redirect6, &r); /* expired */
    assert_true(forged(&f, n));
    stack = f.mem;
    r.until = f.s.now + SEC;
    for (i = 0; i < 2; i++) {
        toec_u32 slot = toec_addr_hash(&stack->keys.flow, &r.dst, 2) % TOEC_IP6_REDIRECTS;

        assert_int_equal(stack->ip6.redirect[slot].until, i ? r.until : 0);
        record(&f, TOEC_REC_REDIRECT6, &toec_t_redirect6, &r);
        assert_true(forged(&f, n));
    }
    for (i = 0; i < sizeof(mtus) / sizeof(mtus[0]); i++) {
        e.mtu = (toec_u16)mtus[i][0];
        e.udp_mtu = (toec_u16)mtus[i][1];
        record(&f, TOEC_REC_PMTU, &toec_t_pmtu, &e);
        assert_int_equal(forged(&f, n), mtus[i][2]);
    }
    /* More than fit: the first ones are kept. */
    router.until = prefix.until = f.s.now + 9 * SEC;
    for (i = 0; i < 2 * TOEC_IP6_PREFIXES; i++) {
        router.addr.b[15] = prefix.prefix.b[15] = (toec_u8)i;
        record(&f, TOEC_REC_ROUTER6, &toec_t_router6, &router);
        record(&f, TOEC_REC_PREFIX6, &toec_t_prefix6, &prefix);
    }
    assert_true(forged(&f, n));
    assert_int_equal(stack->ip6.router[0].addr.b[15], 0);
    assert_int_equal(stack->ip6.router[TOEC_IP6_ROUTERS - 1].addr.b[15], TOEC_IP6_ROUTERS - 1);
    forge_end(&f);
}

static void waiting(struct forge *f, unsigned len, unsigned has)
{
    static const uint8_t frame[255];
    struct toec_waiting w;
    unsigned at, tag = TOEC_TAG_FRAME;

    memset(&w, 0, sizeof(w));
    w.len = (toec_u16)len;
    toec_image_begin(&f->o, TOEC_REC_WAITING);
    toec_image_fields(&f->o, toec_t_waiting.row, toec_t_waiting.count, &w);
    for (at = 0; at < has; at += 255)
        toec_image_bytes(&f->o, tag++, frame, has - at < 255 ? has - at : 255);
    toec_image_end(&f->o);
    assert_int_equal(f->o.failed, 0);
}

static void test_forged_packets(void **state)
{
    static const unsigned sizes[][3] = {{1000, 1000, 1}, {100, 100, 1},   {100, 50, 0},
                                        {100, 200, 0},   {2000, 2000, 0}, {5, 5, 0}};
    struct forge f;
    unsigned long n;
    unsigned i;

    (void)state;
    forge_init(&f, 0);
    n = f.m.n;
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        waiting(&f, sizes[i][0], sizes[i][1]);
        assert_int_equal(forged(&f, n), sizes[i][2]);
    }
    for (i = 0; i < TOEC_WAIT_MAX + 2; i++)
        waiting(&f, 60, 60);
    assert_true(forged(&f, n));
    assert_int_equal(((struct toec_stack *)f.mem)->wait.end, TOEC_WAIT_MAX);
    forge_end(&f);
}

static void test_forged_listeners_and_pairs(void **state)
{
    struct toec_listener l;
    struct toec_tw w;
    struct forge f;
    unsigned long n;
    unsigned i;

    (void)state;
    forge_init(&f, 0);
    n = f.m.n;
    memset(&l, 0, sizeof(l));
    l.port = 80;
    l.ecn = TOEC_ECN_OFF;
    for (i = 0; i < 2; i++) {
        toec_image_begin(&f.o, TOEC_REC_LISTENER);
        toec_image_fields(&f.o, toec_t_listener.row, toec_t_listener.count, &l);
        toec_image_int(&f.o, TOEC_TAG_INDEX, i ? 1u << 20 : 3);
        toec_image_end(&f.o);
        assert_int_equal(forged(&f, n), !i);
    }
    l.user_mss = TOEC_MSS_MIN;
    record(&f, TOEC_REC_LISTENER, &toec_t_listener, &l);
    assert_true(forged(&f, n));
    l.user_mss--;
    record(&f, TOEC_REC_LISTENER, &toec_t_listener, &l);
    assert_false(forged(&f, n));
    memset(&w, 0, sizeof(w));
    w.remote.b[15] = w.local.b[15] = 1;
    w.local_port = w.remote_port = 7;
    record(&f, TOEC_REC_TW, &toec_t_tw, &w);
    assert_true(forged(&f, n));
    record(&f, TOEC_REC_TW, &toec_t_tw, &w);
    record(&f, TOEC_REC_TW, &toec_t_tw, &w);
    assert_false(forged(&f, n));
    for (i = 0; i < f.s.host[0].cfg.max_time_wait + 3u; i++) {
        w.remote_port++;
        record(&f, TOEC_REC_TW, &toec_t_tw, &w);
    }
    assert_true(forged(&f, n)); /* the oldest were evicted */
    forge_end(&f);
}

/* The segment size is recomputed from the negotiated sizes whenever the path changes. It was once 0
 * (tests/fuzz/found/image). */
static void test_sizes_of_segments(void **state)
{
    static const struct {
        toec_u16 peer, user;
        int taken;
    } rows[] = {{TOEC_MSS_MIN, 0, 1},
                {TOEC_MSS_MIN, TOEC_MSS_MIN, 1},
                {TOEC_MSS_MIN - 1, 0, 0},
                {12, 0, 0},
                {0, 0, 0},
                {TOEC_MSS_MIN, TOEC_MSS_MIN - 1, 0},
                {TOEC_MSS_MIN, 12, 0}};
    struct image m;
    struct host *h;
    struct conn *c;
    struct sim s;
    unsigned i;
    uint32_t id;
    void *mem;

    (void)state;
    sim_init(&s, 2);
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, &id);
    c = sim_connect(&s, 0, 80);
    sim_run(&s, 1 * SEC);
    h = &s.host[0];
    assert_int_equal(c->flow->state, TOEC_ESTABLISHED);
    mem = aligned_alloc(64, (h->mem_size + 63) & ~63ul);
    assert_non_null(mem);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(&m, 0, sizeof(m));
        c->flow->pm.peer_mss = rows[i].peer;
        c->flow->pm.user_mss = rows[i].user;
        image_save(&m, h);
        assert_int_equal(try_image(h, mem, m.bytes, m.n), rows[i].taken);
        image_free(&m);
    }
    free(mem);
    sim_stop(&s);
}

/* Connections that need more shared records than the restorer has. */
static void test_no_room_for_flows(void **state)
{
    struct image m = {0};
    struct host *h;
    struct sim s;
    void *mem;

    (void)state;
    sim_init(&s, 2);
    s.host[0].cfg.max_flows = s.host[1].cfg.max_flows = 16;
    busy(&s);
    h = &s.host[0];
    image_save(&m, h);
    mem = aligned_alloc(64, (h->mem_size + 63) & ~63ul);
    assert_non_null(mem);
    h->cfg.max_records = 1;
    assert_int_equal(try_image(h, mem, m.bytes, m.n), 0);
    h->cfg.max_records = 0;
    assert_int_equal(try_image(h, mem, m.bytes, m.n), 1);
    image_free(&m);
    free(mem);
    sim_stop(&s);
}

/* ---- writing ---- */

struct room {
    unsigned long left;
};

static int put_limited(void *arg, const void *data, toec_u32 n)
{
    struct room *r = arg;

    (void)data;
    if (n > r->left)
        return -1;
    r->left -= n;
    return 0;
}

/* The room ends at any byte. */
static void test_no_room_to_write(void **state)
{
    struct room r;
    const struct toec_saver to = {&r, put_limited, name_of};
    struct image m = {0};
    unsigned long n;
    struct sim s;

    (void)state;
    sim_init(&s, 2);
    s.host[0].cfg.max_flows = s.host[1].cfg.max_flows = 16;
    busy(&s);
    image_save(&m, &s.host[0]);
    for (n = 0; n < m.n; n += 1 + n / 16) {
        r.left = n;
        assert_int_equal(toec_save(s.host[0].stack, &to, s.now), TOEC_E_NOBUFS);
    }
    r.left = m.n;
    assert_int_equal(toec_save(s.host[0].stack, &to, s.now), 0);
    assert_int_equal(r.left, 0);
    image_free(&m);
    sim_stop(&s);
}

/* A field or a record that is too long makes the whole image invalid. */
static void test_too_long_to_write(void **state)
{
    static const uint8_t zero[256];
    struct image m = {0};
    struct toec_image_out o;
    unsigned i;

    (void)state;
    toec_image_start(&o, image_put, &m);
    toec_image_begin(&o, 1);
    toec_image_bytes(&o, 1, zero, 256);
    toec_image_end(&o);
    assert_int_equal(o.failed, 1);
    assert_int_equal(m.n, 0);
    toec_image_start(&o, image_put, &m);
    toec_image_begin(&o, 1);
    for (i = 0; i < TOEC_RECORD_MAX / 257; i++)
        toec_image_bytes(&o, 1, zero, 255);
    assert_int_equal(o.failed, 0);
    toec_image_bytes(&o, 1, zero, 255);
    assert_int_equal(o.failed, 1);
    toec_image_end(&o);
    assert_int_equal(m.n, 0);
    image_free(&m);
}

/* ---- which messages were seen ---- */

static void test_every_sentence(void **state)
{
    static const char *const want[] = {
        "no image of a stack",
        "another version",
        "a later time",
        "of another address",
        "another IPv4 address",
        "parameters of IPv6",
        "another IPv6 configuration",
        "a record ends too early",
        "ends too early",
        "more flows than there is room for",
        "more listeners than there is room for",
        "records of transmissions than there is room for",
        "its listeners are in no order",
        "a listener is none",
        "a listener that the host does not know",
        "a flow that the host does not know",
        "a path MTU is none",
        "twice in TIME-WAIT",
        "fewer flows",
        "a key of TCP-AO is none that there is",
        "more keys of TCP-AO than there is room for",
        "keys are there twice, or without an owner",
        "it has keys without an owner",
        "a flow has lost its keys",
        "a flow is there twice",
        "in the middle of a flow",
        "a flow of another address",
        "in no state",
        "buffers of another size",
        "no congestion control",
        "more transmissions recorded",
        "received what it cannot",
        "sent what it cannot",
        "its losses",
        "no congestion window",
        "segments of no size",
        "options that there are not",
        "a flow has no listener",
        "a half-open flow has no listener",
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
        assert_said(want[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged),           cmocka_unit_test(test_forged_caches),
        cmocka_unit_test(test_forged_packets),    cmocka_unit_test(test_forged_listeners_and_pairs),
        cmocka_unit_test(test_sizes_of_segments), cmocka_unit_test(test_no_room_for_flows),
        cmocka_unit_test(test_no_room_to_write),  cmocka_unit_test(test_too_long_to_write),
        cmocka_unit_test(test_every_sentence), /* last: checks the messages that others caused */
    };

    return cmocka_run_group_tests_name("tcp_image", tests, NULL, NULL);
}
