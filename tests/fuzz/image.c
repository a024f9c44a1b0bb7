/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.c - fuzz target: images of stacks, deliberately damaged, given to toec_restore().
 *
 * Two stacks have exchanged data over a lossy link until most kinds of record have content: losses,
 * gaps, half-open and half-closed connections, TIME-WAIT, a paced one.
 *
 * Input: [which stack][edits: record, 2 bytes; the edit: 0..247 the number of its field, 248.. the
 * record is dropped, repeated, or made the last; length; value]. A restored stack then runs for a
 * while: time passes, the peer's frames arrive, its flows are used. Checks: a rejected image has an
 * error message; payload is placed and read within the buffers; a restored stack can be saved; all
 * pool entries are free at the end.
 */
#include <toe/core.h>
#include <toe/image.h>

#include "fuzz.h"

#define MS        1000000ull
#define BUFFER    8192u
#define CONNS     8u
#define FRAMES    256u
#define IMAGE     (1u << 18)
#define STACK     (1u << 23)
#define MOST      64u /* edits */
#define SCENES    2u  /* images of each stack */
#define FRAME_MAX 1514u

struct conn {
    struct toec_tcb *flow;
    uint8_t tx[BUFFER], rx[BUFFER];
    uint32_t received;
};

struct frame {
    uint32_t len;
    uint8_t b[FRAME_MAX];
};

struct host {
    struct toec_config cfg;
    struct toec_stack *stack;
    uint8_t *mem;
    unsigned opened;
    struct conn conn[CONNS];
    struct frame out[FRAMES]; /* sent, not delivered yet */
    unsigned outs;
    int silent; /* its output is discarded */
};

struct image {
    uint8_t b[IMAGE];
    uint32_t n;
};

static struct host hosts[2];
static struct image images[2][SCENES];
static struct frame later[2][FRAMES]; /* the next input of each */
static unsigned laters[2];
static struct conn conns[2][SCENES][CONNS];
static uint64_t now = 1000000 * MS;

/* ---- the port ---- */

static void fetch(uint8_t *to, const struct conn *c, uint32_t off, uint32_t len)
{
    uint32_t i;

    FUZZ_CHECK(len <= BUFFER);
    for (i = 0; i < len; i++)
        to[i] = c->tx[(off + i) % BUFFER];
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    struct host *h = user;
    struct frame *f = &h->out[h->outs];

    FUZZ_CHECK(tx->hdr_len <= 128 && tx->len <= BUFFER);
    if (tx->hdr_len + tx->len > FRAME_MAX)
        return 0; /* of a damaged flow; an engine drops it too */
    if (h->outs == FRAMES)
        return h->silent ? 0 : -1;
    f->len = tx->hdr_len + tx->len;
    memcpy(f->b, tx->hdr, tx->hdr_len);
    if (tx->src)
        memcpy(f->b + tx->hdr_len, tx->src->data + tx->off, tx->len);
    else if (tx->len)
        fetch(f->b + tx->hdr_len, tx->owner, tx->off, tx->len);
    toec_tx_finish(tx, f->b, f->len);
    h->outs += !h->silent;
    return 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    struct conn *c = owner;
    uint32_t i;

    (void)user;
    FUZZ_CHECK(len <= BUFFER && p_off + len <= p->len);
    for (i = 0; i < len; i++)
        c->rx[(off + i) % BUFFER] = p->data[p_off + i];
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    return toec_sum(p->data + p_off, len);
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    memcpy(dst, p->data + p_off, len);
}

static void buffers(struct conn *c, struct toec_buffers *b)
{
    b->owner = c;
    b->tx_size = b->rx_size = BUFFER;
}

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    struct host *h = user;

    (void)listener_owner;
    (void)info;
    if (h->opened == CONNS)
        return -1;
    buffers(&h->conn[h->opened++], out);
    return 0;
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    struct conn *c = owner;

    (void)user;
    if (ev == TOEC_EV_ESTABLISHED)
        c->flow = flow;
    if (ev == TOEC_EV_DATA)
        c->received += arg;
    if (ev == TOEC_EV_GONE)
        c->flow = NULL;
}

/* ---- the talk that fills the images ---- */

static void deliver(struct host *to, const struct frame *f)
{
    uint8_t *exact = fuzz_exact(f->b, f->len);
    struct toec_packet p = {.data = exact, .head_len = f->len, .len = f->len};

    toec_input(to->stack, &p, now);
    free(exact);
}

/* For so many milliseconds; one frame in `lose` of the first host gets lost, 0: none. */
static void talk(unsigned ms, unsigned lose)
{
    static unsigned count;
    unsigned i, j;

    while (ms--) {
        now += MS;
        for (i = 0; i < 2; i++) {
            unsigned n = hosts[i].outs;

            hosts[i].outs = 0;
            for (j = 0; j < n; j++)
                if (i || !lose || ++count % lose)
                    deliver(&hosts[1 - i], &hosts[i].out[j]);
        }
        for (i = 0; i < 2; i++)
            toec_poll(hosts[i].stack, now);
    }
}

static void make_host(unsigned i)
{
    struct host *h = &hosts[i];
    const struct toec_config cfg = {.user = h,
                                    .mac = {2, 0, 0, 0, 0, (uint8_t)(i + 1)},
                                    .ip = {10, 0, 0, (uint8_t)(i + 1)},
                                    .prefix_len = 24,
                                    .ip6 = TOEC_IP6_AUTO,
                                    .max_flows = CONNS,
                                    .max_time_wait = 4,
                                    .max_neighbours = 8,
                                    .secret = {7, (uint8_t)i}};

    h->cfg = cfg;
    FUZZ_CHECK(toec_size(&h->cfg) <= STACK);
    h->mem = aligned_alloc(64, STACK);
    FUZZ_CHECK(h->mem);
    h->stack = toec_init(h->mem, STACK, &h->cfg, now);
}

static struct conn *connect_to(unsigned port, enum toec_cc cc)
{
    struct host *h = &hosts[0];
    struct conn *c = &h->conn[h->opened++];
    const struct toec_addr to = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 2}};
    struct toec_buffers b;

    buffers(c, &b);
    FUZZ_CHECK(toec_connect(h->stack, &to, (toec_u16)port, 0, &b, now, &c->flow) == 0);
    FUZZ_CHECK(toec_set_option(h->stack, c->flow, TOEC_OPT_CC, cc, now) == 0);
    return c;
}

static int put(void *arg, const void *data, toec_u32 n)
{
    struct image *m = arg;

    if (n > IMAGE - m->n)
        return -1;
    memcpy(m->b + m->n, data, n);
    m->n += n;
    return 0;
}

static struct host *saved_of; /* whose owners are named */

static void name_of(void *arg, void *owner, int listener, toec_u64 *out)
{
    (void)arg;
    *out = listener ? 1 : (toec_u64)((struct conn *)owner - saved_of->conn);
}

static int save(struct host *h, struct image *m)
{
    const struct toec_saver to = {m, put, name_of};

    saved_of = h;
    m->n = 0;
    return toec_save(h->stack, &to, now);
}

static void keep(unsigned scene)
{
    unsigned i;

    for (i = 0; i < 2; i++) {
        FUZZ_CHECK(save(&hosts[i], &images[i][scene]) == 0);
        memcpy(conns[i][scene], hosts[i].conn, sizeof(hosts[i].conn));
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const struct toec_addr any = {{0}};
    struct conn *c[5];
    unsigned i;
    toec_u32 id;

    (void)argc;
    (void)argv;
    make_host(0);
    make_host(1);
    FUZZ_CHECK(toec_listen(hosts[1].stack, &any, 80, &hosts[1], 2, &id) == 0);
    FUZZ_CHECK(toec_listen_fastopen(hosts[1].stack, id, 4) == 0);
    talk(4000, 0); /* addresses of IPv6 */
    for (i = 0; i < 4; i++)
        c[i] = connect_to(80, (enum toec_cc)i);
    talk(10, 0);
    for (i = 0; i < 4; i++) {
        FUZZ_CHECK(c[i]->flow != NULL);
        (void)toec_send(hosts[0].stack, c[i]->flow, BUFFER, 1, now);
    }
    (void)toec_set_option(hosts[0].stack, c[1]->flow, TOEC_OPT_MAX_PACING, 100000, now);
    talk(5, 3);
    keep(0);
    (void)toec_shutdown(hosts[0].stack, c[0]->flow, now);
    (void)toec_close(hosts[0].stack, c[2]->flow, now);
    (void)toec_urgent(hosts[0].stack, c[3]->flow, now);
    c[4] = connect_to(81, TOEC_CC_BBR1);
    (void)connect_to(80, TOEC_CC_CUBIC);
    talk(3, 2);
    keep(1);
    for (i = 0; i < 2; i++) {
        laters[1 - i] = hosts[i].outs;
        memcpy(later[1 - i], hosts[i].out, hosts[i].outs * sizeof(struct frame));
    }
    return 0;
}

/* ---- edits ---- */

struct record {
    uint32_t at, n; /* with its head */
};

static uint32_t record_of(const struct image *m, uint32_t number, struct record *r)
{
    uint32_t at = 0, count = 0;

    while (at + 4 <= m->n) {
        uint32_t n = 4 + (m->b[at + 2] | (uint32_t)m->b[at + 3] << 8);

        if (count++ == number) {
            r->at = at;
            r->n = n;
        }
        at += n;
    }
    return count;
}

/* Bytes [at, at + had) become n others. */
static void splice(struct image *m, uint32_t at, uint32_t had, const uint8_t *is, uint32_t n)
{
    if (m->n - had + n > IMAGE || at + had > m->n)
        return;
    memmove(m->b + at + n, m->b + at + had, m->n - at - had);
    if (n)
        memcpy(m->b + at, is, n);
    m->n = m->n - had + n;
}

/* Field number `which` of the record gets another value. */
static void edit_field(struct image *m, const struct record *r, unsigned which,
                       const uint8_t *value, uint32_t n)
{
    uint32_t at = r->at + 4, end = r->at + r->n, fields = 0, i, size;

    for (i = at; i < end; i += 2u + m->b[i + 1])
        fields++;
    if (!fields)
        return;
    for (which %= fields; which; which--)
        at += 2u + m->b[at + 1];
    size = r->n - 4 - m->b[at + 1] + n;
    splice(m, at + 2, m->b[at + 1], value, n);
    m->b[at + 1] = (uint8_t)n;
    m->b[r->at + 2] = (uint8_t)size;
    m->b[r->at + 3] = (uint8_t)(size >> 8);
}

static void edit(struct image *m, struct fuzz_in *in)
{
    struct record r = {0}, none;
    uint32_t records = record_of(m, UINT32_MAX, &none), number, what;
    static uint8_t copy[8192];
    const uint8_t *value;
    size_t n;

    number = fuzz_u16(in) % (records ? records : 1);
    what = fuzz_u8(in);
    if (record_of(m, number, &r) == 0 || r.n > sizeof(copy) || r.at + r.n > m->n)
        return;
    memcpy(copy, m->b + r.at, r.n);
    if (what < 248) {
        value = fuzz_bytes(in, fuzz_u8(in) & 15, &n);
        edit_field(m, &r, what, value, (uint32_t)n);
    } else if (what < 251) {
        splice(m, r.at, r.n, NULL, 0);
    } else if (what < 254) {
        splice(m, r.at, 0, copy, r.n);
    } else {
        m->n = r.at;
    }
}

/* ---- the rest of its life ---- */

static int take_flow(void *arg, toec_u64 name, struct toec_tcb *flow, const struct toec_open *info,
                     struct toec_buffers *out)
{
    struct host *h = arg;

    (void)info;
    if (name >= CONNS || h->conn[name].flow)
        return -1;
    h->conn[name].flow = flow;
    buffers(&h->conn[name], out);
    return 0;
}

static int take_listener(void *arg, toec_u64 name, toec_u32 id, const struct toec_addr *addr,
                         toec_u16 port, void **owner)
{
    (void)id;
    (void)addr;
    (void)port;
    *owner = arg;
    return name == 1 ? 0 : -1;
}

static void live(struct host *h, unsigned which)
{
    static const unsigned steps[] = {0, 1, 40, 200, 1000, 5000, 70000, 700000};
    uint64_t began = now;
    unsigned i, j;

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        now += steps[i] * MS;
        for (j = 0; j < 20; j++)
            toec_poll(h->stack, now);
        for (j = 0; i < 3 && j < laters[which]; j++)
            deliver(h, &later[which][j]);
        for (j = 0; j < CONNS; j++) {
            struct toec_info info;

            if (!h->conn[j].flow)
                continue;
            toec_flow_info(h->stack, h->conn[j].flow, &info);
            (void)toec_send(h->stack, h->conn[j].flow, 100, 1, now);
            (void)toec_recv(h->stack, h->conn[j].flow, i, now);
        }
        h->outs = 0;
    }
    for (j = 0; j < CONNS; j++)
        if (h->conn[j].flow)
            (void)toec_abort(h->stack, h->conn[j].flow, now);
    now = began;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct image m, again;
    struct fuzz_in in = {data, size};
    unsigned from = fuzz_u8(&in), which = from & 1, scene = from >> 1 & 1, edits = 0, i;
    struct host *h = &hosts[which];
    const struct toec_restorer by = {h, take_flow, take_listener};
    const char *wrong;
    uint8_t *exact;
    struct toec_usage u;

    m.n = images[which][scene].n;
    memcpy(m.b, images[which][scene].b, m.n);
    while (in.left && edits++ < MOST)
        edit(&m, &in);
    memcpy(h->conn, conns[which][scene], sizeof(h->conn));
    for (i = 0; i < CONNS; i++)
        h->conn[i].flow = NULL;
    h->outs = 0;
    h->silent = 1;
    h->stack = toec_init(h->mem, STACK, &h->cfg, now);
    exact = fuzz_exact(m.b, m.n);
    wrong = toec_restore(h->stack, exact, m.n, &by, now);
    free(exact);
    FUZZ_CHECK(edits || !wrong);
    if (wrong) {
        FUZZ_CHECK(strlen(wrong) > 10);
        return 0;
    }
    FUZZ_CHECK(save(h, &again) == 0);
    live(h, which);
    toec_usage(h->stack, &u);
    FUZZ_CHECK(u.flows == 0 && u.half_open == 0 && u.records == 0 && u.gaps == 0);
    return 0;
}
