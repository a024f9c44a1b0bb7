/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.c - fuzz target: two stacks with applications, joined by a link that the input governs:
 * which frame is lost, held back, repeated, and when time passes.
 *
 * Input: [set-up][a list of acts]. In the end the link is good again and both sides close. Checks:
 * each byte arrives once, in order and right; what one side has read is what the other has sent
 * when both have ended well; nothing is placed outside the window; pools are full.
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
    if (s->queued)
        qsort(s->queue, s->queued, sizeof(struct frame *), by_time);
}

static void lose(struct sim *s, unsigned which)
{
    if (!s->queued)
        return;
    which %= s->queued;
    free(s->queue[which]);
    s->queue[which] = s->queue[--s->queued];
    sort(s);
}

static void hold_back(struct sim *s, unsigned which, toec_time by)
{
    if (!s->queued)
        return;
    s->queue[which % s->queued]->at += by;
    sort(s);
}

static void repeat(struct sim *s, unsigned which, toec_time by)
{
    struct frame *f, *copy;

    if (!s->queued || s->queued == s->queue_room)
        return;
    f = s->queue[which % s->queued];
    copy = fuzz_exact(f, sizeof(*f) + f->len);
    copy->at += by;
    copy->order = s->order++;
    s->queue[s->queued++] = copy;
    sort(s);
}

static struct conn *nth(struct host *h, unsigned n)
{
    struct conn *c = h->conns;

    for (n %= MOST_CONNS; c && n; n--)
        c = c->next;
    return c;
}

static int verbose; /* TOE_FUZZ_VERBOSE: each frame, and what became of the connections */

/* Sees each frame; changes nothing. */
static int64_t show_frame(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    const uint8_t *t = f + (f[12] == 8 ? 34 : 54);

    if ((f[12] == 8 ? f[23] : f[20]) == 6)
        fprintf(stderr, "%14.6f from %u: %u>%u flags %02x seq %u ack %u len %u\n",
                (double)s->now / 1e9, from, t[0] << 8 | t[1], t[2] << 8 | t[3], t[13],
                (unsigned)t[4] << 24 | t[5] << 16 | t[6] << 8 | t[7],
                (unsigned)t[8] << 24 | t[9] << 16 | t[10] << 8 | t[11],
                (unsigned)(len - (unsigned)(t - f) - (t[12] >> 4) * 4u));
    return 0;
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
            sim_connect_from(s, h->index, 0, 80, &rc);
        break;
    case 1: /* at once from both sides: simultaneous open */
        if (s->host[0].opened == 0 && s->host[1].opened == 0) {
            sim_connect_from(s, 0, 7000, 7000, &rc);
            sim_connect_from(s, 1, 7000, 7000, &rc);
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
            (void)toec_set_option(h->stack, c->flow, (enum toec_option)(fuzz_u8(in) % 24),
                                  fuzz_u8(in), s->now);
        break;
    case 6:
    case 7:
    case 8:
        if (c && !c->gone)
            conn_read(c, fuzz_u16(in));
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

static void compare(struct sim *s)
{
    struct conn *a, *b;
    unsigned i;

    for (i = 0; verbose && i < 2; i++)
        for (a = s->host[i].conns; a; a = a->next)
            show(a);
    for (a = s->host[0].conns; a; a = a->next) {
        for (b = s->host[1].conns; b; b = b->next) {
            if (a->local_port != b->remote_port || a->remote_port != b->local_port)
                continue;
            /* One may be of an old SYN that came again when TIME-WAIT was no more. */
            if (!a->established || !b->established)
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

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* an assert of the simulation is a finding */
    verbose = getenv("TOE_FUZZ_VERBOSE") != NULL;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    static struct sim s;
    unsigned set_up = fuzz_u8(&in), i, acts;
    struct conn *c;

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
    if (verbose)
        s.router = show_frame;
    sim_start(&s);
    sim_listen(&s, 0, 80, 4, NULL);
    sim_listen(&s, 1, 80, 4, NULL);
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
